/*
 * Calibration boards: their types and sizes, tables of detected points, and pictures that show
 * them.
 */
#include "feature/board.h"

#include <math.h>
#include <stdio.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/text.h"

#define FIELDS "u v sigma i j"
#define N_FIELDS 5

void
board_describe(const struct board *board, double w_px, double h_px, struct meta *meta)
{
	meta_set(meta, "board_kind", board_kinds[board->kind]);
	meta_set_numbers(meta, "board_size", (double[2]){ (double)board->w, (double)board->h }, 2);
	meta_remove(meta, "board_spacing_mm");
	if (board->spacing_mm > 0)
		meta_set_number(meta, "board_spacing_mm", board->spacing_mm);
	meta_set(meta, "length_unit", board->spacing_mm > 0 ? "mm" : "board");
	meta_set_numbers(meta, "image_size_px", (double[2]){ w_px, h_px }, 2);
}

/* ---- writing ---- */

int
board_table(const struct board *board, const struct corners *corners,
    const struct frame_head *image, struct frame **out)
{
	struct frame_head head;

	head_init(&head, 1, 1, 1, SAMPLE_FLOAT);
	meta_free(&head.meta);
	meta_copy(&head.meta, &image->meta);
	head_set_channels(&head, FIELDS);
	board_describe(board, (double)image->w, (double)image->h, &head.meta);
	meta_setf(&head.meta, "board_numberings", "%zu", corners->others + 1);
	head_set_points(&head, corners->n);
	if (frame_new_if(0, &head, out) < 0)
		return -1;
	for (size_t c = 0; c < N_FIELDS; c++)
		frame_floats(*out, c, 0)[0] = NAN;
	for (size_t k = 0; k < corners->n; k++) {
		const struct corner *corner = &corners->corner[k];
		double v[N_FIELDS] = { corner->u, corner->v, corner->sigma, (double)corner->i,
			(double)corner->j };

		for (size_t c = 0; c < N_FIELDS; c++)
			frame_floats(*out, c, 0)[k] = (float)v[c];
	}
	return 0;
}

/* ---- reading ---- */

static int
read_sides(const char *path, const struct meta *meta, struct board *board)
{
	struct numbers side;
	bool right;

	board->w = board->h = 0;
	if (meta_numbers(meta, "board_size", &side) < 0)
		return -1;
	right = side.n == 2 || side.n == 0;
	for (size_t k = 0; k < side.n && right; k++)
		right = side.v[k] >= 2 && side.v[k] <= 10000 && side.v[k] == floor(side.v[k]);
	if (right && side.n) {
		board->w = (size_t)side.v[0];
		board->h = (size_t)side.v[1];
	}
	numbers_free(&side);
	return right ? 0 : fail(path, "key board_size: must be two numbers of points, not '%.40s'",
	    meta_get(meta, "board_size"));
}

int
board_read_keys(const char *path, const struct meta *meta, struct board *board)
{
	const char *kind = meta_get(meta, "board_kind");
	int k = word_find(board_kinds, kind);

	if (read_sides(path, meta, board) < 0 ||
	    meta_number(meta, "board_spacing_mm", 0, &board->spacing_mm) < 0)
		return -1;
	if (!(board->spacing_mm >= 0 && isfinite(board->spacing_mm)))
		return fail(path, "key board_spacing_mm: must be positive, not %g",
		    board->spacing_mm);
	if (kind && k < 0)
		return fail(path, "key board_kind: '%.40s' is none that is known", kind);
	if (kind)
		board->kind = (enum board_kind)k;
	return 0;
}

#define SIDE_LEAST 3
#define SIDE_MOST 100

const char *const board_kinds[] = { "chess", "circles", "acircles", NULL };

/* "11x8" in the first `n` bytes of text. */
static int
parse_size(const char *option, const char *text, size_t n, long side[2])
{
	char word[64];
	char *x;

	snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word)), text);
	x = strchr(word, 'x');
	if (x)
		*x = '\0';
	if (!x || integer_parse(word, &side[0]) < 0 || integer_parse(x + 1, &side[1]) < 0)
		return fail_usage(option, "wants the points along both sides and their distance, "
		    "as 11x8,15, not '%.60s'", text);
	for (size_t k = 0; k < 2; k++)
		if (side[k] < SIDE_LEAST || side[k] > SIDE_MOST)
			return fail_usage(option, "%ld points along a side: a board has %d to %d",
			    side[k], SIDE_LEAST, SIDE_MOST);
	return 0;
}

int
board_parse(const char *option, const char *text, enum board_kind kind, struct board *board)
{
	const char *comma = strchr(text, ',');
	size_t n = comma ? (size_t)(comma - text) : strlen(text);
	bool turned;
	long side[2];

	*board = (struct board){ .kind = kind };
	if (parse_size(option, text, n, side) < 0)
		return -1;
	if (comma &&
	    (number_parse(comma + 1, &board->spacing_mm) < 0 ||
		!(board->spacing_mm >= 1e-6 && board->spacing_mm <= 1e6)))
		return fail_usage(option,
		    "the distance of the points must be 1e-6 to 1e6 mm, not '%.60s'", comma + 1);
	turned = kind != BOARD_ACIRCLES && side[0] < side[1];
	board->w = (size_t)side[turned];
	board->h = (size_t)side[!turned];
	return 0;
}

void
board_point(const struct board *board, long i, long j, double xy[2])
{
	xy[0] = board->kind == BOARD_ACIRCLES ? 2.0 * (double)i + (double)(j & 1) : (double)i;
	xy[1] = (double)j;
}

void
board_middle(const struct board *board, double xy[2])
{
	xy[0] =
	    board->kind == BOARD_ACIRCLES ? (double)board->w - 0.5 : 0.5 * (double)(board->w - 1);
	xy[1] = 0.5 * (double)(board->h - 1);
}

void
corners_free(struct corners *corners)
{
	free(corners->corner);
	*corners = (struct corners){ 0 };
}

/* ---- the pictures that boards are looked for in ---- */

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
	const struct frame_head *head = &picture->head;
	size_t c[3], n;

	if (head_is_table(head))
		return fail(NULL, "the input is a table, not a picture");
	if (choose_channels(head, channel, c, &n) < 0 ||
	    frame_new_named(head->w, head->h, 1, SAMPLE_FLOAT, NULL, gray) < 0)
		return -1;
	for (size_t y = 0; y < head->h; y++)
		mix_row(picture, c, n, y, frame_floats(*gray, 0, y));
	return 0;
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
	float *sum;

	if (bin == 1)
		return frame_duplicate(gray, out);
	if (frame_new_named(gray->head.w / bin, gray->head.h / bin, 1, SAMPLE_FLOAT, NULL, out) < 0)
		return -1;
	sum = must_alloc(gray->head.w, sizeof(*sum));
	for (size_t y = 0; y < (*out)->head.h; y++)
		bin_row(gray, bin, y, sum, *out);
	free(sum);
	return 0;
}
