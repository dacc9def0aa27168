#include "picture.h"

#include <math.h>

#include "base/fail.h"

int
picture_plan(struct picture *picture, const struct frame_head *head, size_t own)
{
	static const char *const names[] = { "r", "g", "b" };
	char seen[300];
	size_t grey = head->c == 1 ? 0 : NO_CHANNEL;

	*picture = (struct picture){ .w = head->w, .h = head->h, .type = head->type,
		.alpha = head_channel(head, "a") };
	if (head->c == 2 && picture->alpha != NO_CHANNEL)
		grey = !picture->alpha;
	for (size_t k = 0; k < 3; k++) {
		size_t c = grey != NO_CHANNEL ? grey : head_channel(head, names[k]);

		if (c == NO_CHANNEL)
			return fail("--image", "has %zu channels, %s: wanted are r g b, or a "
			    "single one, and alpha (framecat --channels chooses)", head->c,
			    head_channels_hint(head, seen));
		picture->channel[k] = own + c;
	}
	if (head->c == 1)
		picture->alpha = NO_CHANNEL;
	if (picture->alpha != NO_CHANNEL)
		picture->alpha += own;
	return 0;
}

static float
sample(const struct picture *picture, size_t c, size_t x, size_t y)
{
	return frame_sample_in(picture->type, frame_row(picture->frame, c, y), x);
}

bool
picture_pixel(const struct picture *picture, size_t x, size_t y, float colour[3])
{
	for (size_t k = 0; k < 3; k++)
		colour[k] = sample(picture, picture->channel[k], x, y);
	return isfinite(colour[0]) && isfinite(colour[1]) && isfinite(colour[2]) &&
	    (picture->alpha == NO_CHANNEL || sample(picture, picture->alpha, x, y) > 0);
}

double
picture_white(const struct picture *picture, float *largest)
{
	float most = 0, colour[3];

	for (size_t y = 0; y < picture->h; y++)
		for (size_t x = 0; x < picture->w; x++)
			if (picture_pixel(picture, x, y, colour))
				for (size_t k = 0; k < 3; k++)
					most = colour[k] > most ? colour[k] : most;
	*largest = most;
	return most <= 2 ? 1 : most <= 512 ? 255 : 65535;
}
