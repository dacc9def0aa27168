/* The pictures that boards are looked for in. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "feature/board_search.h"

static int
choose_channels(const struct frame_head *head, const char *channel, size_t c[3], size_t *n)
{
	static const char *const colours[] = { "r", "g", "b" };
	char text[300];

	*n = 1;
	if (channel) {
		c[0] = head_channel(head, channel);
		return c[0] != NO_CHANNEL ? 0
					  : fail(NULL, "the picture has no channel %.40s: %s",
						channel, head_channels_hint(head, text));
	}
	c[0] = head->c == 1 ? 0 : head_channel(head, "image");
	if (c[0] != NO_CHANNEL)
		return 0;
	for (*n = 0; *n < 3; (*n)++) {
		c[*n] = head_channel(head, colours[*n]);
		if (c[*n] == NO_CHANNEL)
			return fail(NULL,
			    "the input has several channels: --channel says which one "
			    "is the picture (%s)",
			    head_channels_hint(head, text));
	}
	return 0;
}

/* The loops are compiled once for each type. */
static inline void
mix_samples(enum sample type, const void *const row[3], size_t n, size_t w, float *restrict to)
{
	static const float luma[] = { 0.299f, 0.587f, 0.114f };

	if (n == 1)
		for (size_t x = 0; x < w; x++)
			to[x] = frame_sample_in(type, row[0], x);
	else
		for (size_t x = 0; x < w; x++)
			to[x] = luma[0] * frame_sample_in(type, row[0], x) +
			    luma[1] * frame_sample_in(type, row[1], x) +
			    luma[2] * frame_sample_in(type, row[2], x);
	/* squares of squares of them must be finite, too */
	for (size_t x = 0; x < w; x++)
		to[x] = fabsf(to[x]) < 1e8f ? to[x] : NAN;
}

static void
mix_row(const struct frame *picture, const size_t c[3], size_t n, size_t y, float *to)
{
	const void *row[3] = { NULL };
	size_t w = picture->head.w;

	for (size_t k = 0; k < n; k++)
		row[k] = frame_row(picture, c[k], y);
	switch (picture->head.type) {
	case SAMPLE_UCHAR:
		mix_samples(SAMPLE_UCHAR, row, n, w, to);
		break;
	case SAMPLE_USHORT:
		mix_samples(SAMPLE_USHORT, row, n, w, to);
		break;
	case SAMPLE_FLOAT:
		mix_samples(SAMPLE_FLOAT, row, n, w, to);
		break;
	}
}

int
board_picture(const struct frame *picture, const char *channel, struct frame **gray)
{
	struct frame_head head;
	size_t c[3], n;
	int status;

	if (head_is_table(&picture->head))
		return fail(NULL, "the input is a table, not a picture");
	if (choose_channels(&picture->head, channel, c, &n) < 0 ||
	    head_init(&head, picture->head.w, picture->head.h, 1, SAMPLE_FLOAT) < 0)
		return -1;
	status = frame_new(&head, gray);
	head_free(&head);
	for (size_t y = 0; y < picture->head.h && status == 0; y++)
		mix_row(picture, c, n, y, frame_floats(*gray, 0, y));
	return status;
}

struct derivative_plane
board_plane(const struct frame *gray)
{
	return (struct derivative_plane){ frame_floats(gray, 0, 0), gray->head.w, gray->head.h,
		gray->plane[0].stride / sizeof(float) };
}

/* sum: room for a row of the picture. */
static void
bin_row(const struct frame *gray, size_t bin, size_t y, float *restrict sum, struct frame *out)
{
	float *restrict to = frame_floats(out, 0, y);
	const float part = 1 / (float)(bin * bin);
	size_t w = out->head.w * bin;

	for (size_t j = 0; j < bin; j++) {
		const float *restrict from = frame_floats(gray, 0, y * bin + j);

		for (size_t x = 0; x < w; x++)
			sum[x] = (j ? sum[x] : 0) + from[x];
	}
	for (; bin > 1; bin /= 2, w /= 2)
		for (size_t x = 0; x < w / 2; x++)
			sum[x] = sum[2 * x] + sum[2 * x + 1];
	for (size_t x = 0; x < w; x++)
		to[x] = part * sum[x];
}

int
board_binned(const struct frame *gray, size_t bin, struct frame **out)
{
	struct frame_head head;
	float *sum;
	int status;

	if (bin == 1)
		return frame_duplicate(gray, out);
	if (head_init(&head, gray->head.w / bin, gray->head.h / bin, 1, SAMPLE_FLOAT) < 0)
		return -1;
	sum = malloc(gray->head.w * sizeof(*sum));
	status = sum ? frame_new(&head, out) : fail_memory();
	for (size_t y = 0; y < head.h && status == 0; y++)
		bin_row(gray, bin, y, sum, *out);
	free(sum);
	head_free(&head);
	return status;
}
