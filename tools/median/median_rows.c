/*
 * The loops of median on the processor. Most phases have no spikes, and small steps between
 * neighbours are found faster than medians: rows and tiles without larger steps are copied.
 */
#include "median.h"

#include "image/median.px.h"

#define TILE 128		/* pixels that are computed together */
#define SMALL_STEP 1.5f		/* rad: two such steps are less than half a turn */

struct rows_of_five {
	const float *restrict row[5];
};

/* The bits of a step's magnitude. They are in the order of the magnitudes, with NaN above all. */
static inline uint
step_size(float a, float b)
{
	return px_bits(px_abs(a - b));
}

/* Are all steps from a to b small? A NaN is a large one. */
static bool
is_near(const float *restrict a, const float *restrict b, size_t n)
{
	uint most = 0;

	_Pragma("omp simd reduction(max:most)")
	for (size_t x = 0; x < n; x++)
		most = step_size(a[x], b[x]) > most ? step_size(a[x], b[x]) : most;
	return most < px_bits(SMALL_STEP);
}

/* Do the n >= 1 pixels from column x on differ from all their neighbours by less than half a turn,
 * so that they are no spikes? */
static bool
is_smooth(const struct rows_of_five *in, enum median_shape shape, size_t x, size_t n)
{
	const float *const *row = (const float *const *)in->row;
	bool near = true;

	for (size_t k = shape == SHAPE_BOX; near && k < (shape == SHAPE_BOX ? 3 : 4); k++)
		near = is_near(row[k] + x, row[k + 1] + x, n);
	for (size_t k = 1; near && shape == SHAPE_BOX && k < 4; k++)
		near = is_near(row[k] + x - 1, row[k] + x, n + 1);
	return near;
}

/* Copies pixels x0 <= x < x1 of a row of w. Returns true if they are near their neighbours in it,
 * and the mirrored ones at its ends. */
static bool
copy_smooth(const float *restrict in, float *restrict out, size_t x0, size_t x1, size_t w)
{
	size_t first = x0 > 2 ? x0 - 2 : 0, last = x1 + 1 < w ? x1 + 1 : w - 1;
	uint most = 0;

	_Pragma("omp simd reduction(max:most)")
	for (size_t x = x0; x < (x1 < w ? x1 : last); x++) {
		uint step = step_size(in[x], in[x + 1]);

		out[x] = in[x];
		most = step > most ? step : most;
	}
	out[x1 - 1] = in[x1 - 1];
	return most < px_bits(SMALL_STEP) && is_near(in + first, in + first + 1, x0 - first) &&
	    (last < x1 || is_near(in + x1, in + x1 + 1, last - x1));
}

static void
unspike_row(const float *restrict in, float *restrict out, size_t x0, size_t x1)
{
	CPU_SIMD
	for (size_t x = x0; x < x1; x++)
		out[x] = median_unspike(in[x],
		    median_of_5(in[x - 2], in[x - 1], in[x], in[x + 1], in[x + 2]));
}

static void
unspike_column(const struct rows_of_five *in, float *restrict out, size_t x0, size_t x1)
{
	const float *restrict a = in->row[0], *restrict b = in->row[1], *restrict c = in->row[2];
	const float *restrict d = in->row[3], *restrict e = in->row[4];

	CPU_SIMD
	for (size_t x = x0; x < x1; x++)
		out[x] = median_unspike(c[x], median_of_5(a[x], b[x], c[x], d[x], e[x]));
}

static void
unspike_box(const struct rows_of_five *in, float *restrict out, size_t x0, size_t x1)
{
	const float *restrict a = in->row[1], *restrict b = in->row[2], *restrict c = in->row[3];

	CPU_SIMD
	for (size_t x = x0; x < x1; x++)
		out[x] = median_unspike(b[x], median_of_9(a[x - 1], a[x], a[x + 1], b[x - 1], b[x],
		    b[x + 1], c[x - 1], c[x], c[x + 1]));
}

/* Index i + by, mirrored about i if it is outside 0 to n - 1. A border that repeated itself would
 * outvote its neighbours with its own spike. */
static size_t
mirrored(size_t i, ptrdiff_t by, size_t n)
{
	ptrdiff_t there = (ptrdiff_t)i + by, mirror = (ptrdiff_t)i - by;

	if (there >= 0 && there < (ptrdiff_t)n)
		return (size_t)there;
	return mirror >= 0 && mirror < (ptrdiff_t)n ? (size_t)mirror : i;
}

/* A pixel at the left or right border. */
static float
unspike_border(const struct rows_of_five *in, size_t x, size_t w, bool box)
{
	size_t l = mirrored(x, -1, w), ll = mirrored(x, -2, w);
	size_t r = mirrored(x, 1, w), rr = mirrored(x, 2, w);
	const float *a = in->row[1], *b = in->row[2], *c = in->row[3];

	if (box)
		return median_unspike(
		    b[x], median_of_9(a[l], a[x], a[r], b[l], b[x], b[r], c[l], c[x], c[r]));
	return median_unspike(b[x], median_of_5(b[ll], b[l], b[x], b[r], b[rr]));
}

/* Filters pixels x0 <= x < x1 that have all their neighbours. */
static void
unspike_inner(const struct rows_of_five *in, float *out, enum median_shape shape, size_t x0,
    size_t x1)
{
	if (shape == SHAPE_ROW)
		unspike_row(in->row[2], out, x0, x1);
	else if (is_smooth(in, shape, x0, x1 - x0))
		memcpy(out + x0, in->row[2] + x0, (x1 - x0) * sizeof(*out));
	else if (shape == SHAPE_COLUMN)
		unspike_column(in, out, x0, x1);
	else
		unspike_box(in, out, x0, x1);
}

/* Filters pixels x0 <= x < x1 of a row of w. */
static void
unspike_tile(const struct rows_of_five *in, float *out, size_t w, enum median_shape shape,
    size_t x0, size_t x1)
{
	size_t border = shape == SHAPE_ROW ? 2 : shape == SHAPE_BOX;
	size_t x = x0, inner_end = w > border && w - border < x1 ? w - border : x1;

	for (; x < x1 && x < border; x++)
		out[x] = unspike_border(in, x, w, shape == SHAPE_BOX);
	if (x < inner_end) {
		unspike_inner(in, out, shape, x, inner_end);
		x = inner_end;
	}
	for (; x < x1; x++)
		out[x] = unspike_border(in, x, w, shape == SHAPE_BOX);
}

/* Filters a row. Testing a whole row for large steps takes half the time of testing its tiles. */
static void
unspike(const struct rows_of_five *in, float *out, size_t w, enum median_shape shape)
{
	if (shape == SHAPE_ROW && copy_smooth(in->row[2], out, 0, w, w))
		return;
	for (size_t x = 0; x < w; x += TILE) {
		size_t end = w - x < TILE ? w : x + TILE;

		if (shape != SHAPE_ROW || !copy_smooth(in->row[2], out, x, end, w))
			unspike_tile(in, out, w, shape, x, end);
	}
}

static void
median_filter(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *)
{
	const struct median *median = run->priv;
	size_t w = in->head.w, h = in->head.h;
	struct rows_of_five around;

	for (size_t y = y0; y < y1; y++) {
		for (ptrdiff_t k = 0; k < 5; k++)
			around.row[k] = frame_floats(in, median->phase, mirrored(y, k - 2, h));
		unspike(&around, frame_floats(out, median->out, y), w, median->shape);
	}
}

const struct median_rows AT_LEVEL(median_rows) = {
	.filter = median_filter,
};
