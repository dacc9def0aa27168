/* The length of a pixel on the object, from an option or from metadata. */
#include "image/pixel_length.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/process.h"

#define APART 0.01	/* a share: options are rounded */

bool
pixel_option_differs(const struct numbers *option, const struct frame_head *head)
{
	for (size_t i = 0; i < 2 && option->n; i++) {
		double given = option->v[i < option->n ? i : 0], own = head->spacing[i];

		if (!(own > 0) || fabs(given / own - 1) <= APART)
			continue;
		warn("--pixel", "says that %s are %g apart, the frame itself %g%s%s: the option "
		    "counts", i ? "rows" : "columns", given, own, *head->unit ? " " : "",
		    head->unit);
		return true;
	}
	return false;
}

/* The distances of neighbours in row y that both have points; how many there are. */
static size_t
row_distances(const struct frame *frame, const size_t channel[2], size_t y, float *distance)
{
	const float *px = frame_floats(frame, channel[0], y);
	const float *py = frame_floats(frame, channel[1], y);
	size_t n = 0;

	for (size_t x = 0; x + 1 < frame->head.w; x++) {
		float d = hypotf(px[x + 1] - px[x], py[x + 1] - py[x]);

		if (isfinite(d))
			distance[n++] = d;
	}
	return n;
}

static int
median_distance(const struct frame *frame, const size_t channel[2], double *length)
{
	size_t pixels, n = 0;
	float *distance, median;

	if (size_multiply(frame->head.w, frame->head.h, &pixels) < 0)
		return -1;
	distance = must_alloc(pixels, sizeof(*distance));
	for (size_t y = 0; y < frame->head.h; y++)
		n += row_distances(frame, channel, y, distance + n);
	median = numbers_median(distance, n);
	*length = median > 0 ? median : NAN;
	free(distance);
	return 0;
}

int
pixel_length_of(const struct frame *frame, double *length, const char **unit)
{
	const struct frame_head *head = &frame->head;
	size_t channel[2] = { head_channel(head, "x"), head_channel(head, "y") };

	if (head->spacing[0] > 0) {
		*length = head->spacing[0];
		*unit = *head->unit ? head->unit : NULL;
		return 0;
	}
	*unit = meta_get(&head->meta, "length_unit");
	if (head->type == SAMPLE_FLOAT && channel[0] != NO_CHANNEL && channel[1] != NO_CHANNEL)
		return median_distance(frame, channel, length);
	return fail("--scale-bar", "the length of a pixel is not known: the input has neither "
	    "spacings nor channels x y");
}
