#include "feature/board_search.h"

#include <math.h>
#include <stdio.h>
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

/* ---- the search ---- */

void
board_search_free(struct board_search *s)
{
	free(s->point);
	grid_free(&s->grid);
}

int
board_kernels_init(const struct board_options *options, double sigma,
    struct derivative_kernels *kernels)
{
	if (derivative_kernels_init(kernels, sigma, 0) < 0)
		return -1;
	if (options->row)
		kernels->row = options->row;
	return 0;
}

static int
search(struct board_search *s, struct corners *corners, char reason[BOARD_REASON])
{
	const struct board *board = s->board;
	size_t least = board_least(board), all = board->w * board->h;
	bool chess = board->kind == BOARD_CHESS;
	const char *points = chess ? "corners" : "circles";
	struct placement placement;
	int status = chess ? board_chess_grid(s) : board_circles_grid(s);

	if (status < 0)
		return -1;
	if (s->grid.n < least) {
		if (s->grid.n)
			snprintf(reason, BOARD_REASON, "the largest grid of %s has %zu of %zu",
			    points, s->grid.n, all);
		else
			snprintf(reason, BOARD_REASON, "there is no grid of %s", points);
		return 1;
	}
	status = board_place(board, s->point, s->points, &s->grid, (double)s->gray->head.w,
	    (double)s->gray->head.h, &placement, reason);
	if (status == 0)
		status = chess ? board_chess_measure(s, &placement, corners) :
		    board_circles_measure(s, &placement, corners);
	if (status == 0 && corners->n < least) {
		snprintf(reason, BOARD_REASON, "only %zu of %zu %s can be measured", corners->n,
		    all, points);
		return 1;
	}
	return status;
}

int
board_find(const struct board *board, const struct board_options *options, const struct frame *gray,
    struct corners *corners, char reason[BOARD_REASON])
{
	struct board_search s = { .board = board, .options = options, .gray = gray };
	int status;

	*corners = (struct corners){ 0 };
	*reason = '\0';
	status = search(&s, corners, reason);
	board_search_free(&s);
	if (status != 0)
		corners_free(corners);
	else
		corners_sort(corners);
	return status;
}
