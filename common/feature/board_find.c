#include "feature/board_find.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/px.h"

/* ---- the picture ---- */

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

static void
mix_row(const struct frame *picture, const size_t c[3], size_t n, size_t y, float *to)
{
	static const float luma[] = { 0.299f, 0.587f, 0.114f };

	for (size_t x = 0; x < picture->head.w; x++) {
		float v = frame_sample(picture, c[0], y, x);

		if (n == 3)
			v = luma[0] * v + luma[1] * frame_sample(picture, c[1], y, x) +
			    luma[2] * frame_sample(picture, c[2], y, x);
		/* squares of squares of them must be finite, too */
		to[x] = fabsf(v) < 1e8f ? v : NAN;
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

static void
bin_row(const struct frame *gray, size_t bin, size_t y, struct frame *out)
{
	float *to = frame_floats(out, 0, y), part = 1 / (float)(bin * bin);

	for (size_t x = 0; x < out->head.w; x++)
		to[x] = 0;
	for (size_t j = 0; j < bin; j++) {
		const float *from = frame_floats(gray, 0, y * bin + j);

		for (size_t x = 0; x < out->head.w; x++)
			for (size_t i = 0; i < bin; i++)
				to[x] += part * from[x * bin + i];
	}
}

int
board_binned(const struct frame *gray, size_t bin, struct frame **out)
{
	struct frame_head head;
	int status;

	if (bin == 1)
		return frame_duplicate(gray, out);
	if (head_init(&head, gray->head.w / bin, gray->head.h / bin, 1, SAMPLE_FLOAT) < 0)
		return -1;
	status = frame_new(&head, out);
	for (size_t y = 0; y < head.h && status == 0; y++)
		bin_row(gray, bin, y, *out);
	head_free(&head);
	return status;
}

/* ---- boards ---- */

size_t
board_least(const struct board *board)
{
	size_t all = board->w * board->h, quarter = (all + 3) / 4;

	return quarter > 24 ? 24 : quarter > 9 ? quarter : 9;
}

static int
compare(const void *a, const void *b)
{
	const struct corner *p = a, *q = b;

	if (p->j != q->j)
		return p->j < q->j ? -1 : 1;
	return p->i < q->i ? -1 : p->i > q->i;
}

void
corners_sort(struct corners *corners)
{
	qsort(corners->corner, corners->n, sizeof(*corners->corner), compare);
}

int
board_find(const struct board *board, const struct board_options *options, const struct frame *gray,
    struct corners *corners, char reason[BOARD_REASON])
{
	int status;

	*corners = (struct corners){ 0 };
	*reason = '\0';
	status = board->kind == BOARD_CHESS
	    ? board_find_chess(board, options, gray, corners, reason)
	    : board_find_circles(board, options, gray, corners, reason);
	if (status != 0)
		corners_free(corners);
	else
		corners_sort(corners);
	return status;
}
