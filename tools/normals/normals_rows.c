/*
 * The loops of normals on the processor, strip by strip: lines of points, the products in the
 * squares between two lines, and the normals between two rows of squares.
 */
#include "normals.h"

#include "normals.px.h"

#define TILE 416		/* columns of a strip, at most */
#define LEFT 16			/* index of a strip's column 0, where a vector begins */
#define SPAN (TILE + 32)
#define SQUARES(n) (((n) + 16) / 16 * 16)	/* at least n + 1; the surplus is not read */

/* A piece of a row with one more column on each side; 0 where a coordinate is missing. */
struct line {
	float x[SPAN], y[SPAN], z[SPAN], there[SPAN];
	/* a depth map's fall from column i - 1 to i, and its square plus 1, for two rows of
	 * squares */
	float fall[SPAN], fall_square[SPAN];
	bool whole;			/* no point of the image is missing; there[] is not set */
} __attribute__((aligned(64)));

/* The fall of a depth map from one line to the next, for two squares each. */
struct falls {
	float fall[SPAN], square[SPAN];
} __attribute__((aligned(64)));

/* Squares of four pixels between two lines: the products for corners A and D, and for B and C. */
struct squares {
	float ad_x[SPAN], ad_y[SPAN], ad_z[SPAN], bc_x[SPAN], bc_y[SPAN], bc_z[SPAN];
} __attribute__((aligned(64)));

/* Copies n coordinates. Returns true if none is missing. */
static bool
copy_whole(const float *restrict from, float *restrict to, size_t n)
{
	uint largest = 0;

	for (size_t i = 0; i < n; i++) {
		uint size = px_bits(from[i]) & 0x7fffffffu;

		to[i] = from[i];
		largest = size > largest ? size : largest;
	}
	return normals_there(px_from_bits(largest));
}

static void
clean_points(const float *restrict x, const float *restrict y, const float *restrict z,
    struct line *restrict line, size_t at, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = normals_there(x[i]) && normals_there(y[i]) && normals_there(z[i]);

		line->x[at + i] = px_select(there, x[i], 0.0f);
		line->y[at + i] = px_select(there, y[i], 0.0f);
		line->z[at + i] = px_select(there, z[i], 0.0f);
		line->there[at + i] = px_select(there, 1.0f, 0.0f);
	}
}

static void
clean_depth(const float *restrict z, struct line *restrict line, size_t at, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = normals_there(z[i]);

		line->z[at + i] = px_select(there, z[i], 0.0f);
		line->there[at + i] = px_select(there, 1.0f, 0.0f);
	}
}

/* Sets there[] of a whole line, for squares with a line that is not whole. */
static void
set_there(struct line *line, size_t n)
{
	for (size_t i = 0; i < n + 2; i++)
		line->there[LEFT - 1 + i] = 1;
}

static inline __attribute__((always_inline)) void
put_square(struct squares *restrict out, size_t i, struct normals_vector ad,
    struct normals_vector bc)
{
	out->ad_x[i] = ad.x;
	out->ad_y[i] = ad.y;
	out->ad_z[i] = ad.z;
	out->bc_x[i] = bc.x;
	out->bc_y[i] = bc.y;
	out->bc_z[i] = bc.z;
}

/* Squares between two lines of n pixels; all corners are there if `whole`. */
static inline __attribute__((always_inline)) void
squares_of_points(const struct line *restrict upper, const struct line *restrict lower,
    struct squares *restrict out, size_t n, bool whole)
{
	CPU_SIMD
	for (size_t i = 0; i < SQUARES(n); i++) {
		size_t r = LEFT + i, l = r - 1;
		struct normals_vector h0 = { upper->x[l] - upper->x[r], upper->y[l] - upper->y[r],
			upper->z[l] - upper->z[r] };
		struct normals_vector h1 = { lower->x[l] - lower->x[r], lower->y[l] - lower->y[r],
			lower->z[l] - lower->z[r] };
		struct normals_vector v0 = { upper->x[l] - lower->x[l], upper->y[l] - lower->y[l],
			upper->z[l] - lower->z[l] };
		struct normals_vector v1 = { upper->x[r] - lower->x[r], upper->y[r] - lower->y[r],
			upper->z[r] - lower->z[r] };
		float a = whole ? 1 : upper->there[l], b = whole ? 1 : upper->there[r];
		float c = whole ? 1 : lower->there[l], d = whole ? 1 : lower->there[r];
		struct normals_vector sum_ad = normals_sum(normals_product(v1, h0, a * d * b),
		    normals_product(v0, h1, a * d * c));
		struct normals_vector sum_bc = normals_sum(normals_product(v0, h0, b * c * a),
		    normals_product(v1, h1, b * c * d));

		put_square(out, i, sum_ad, sum_bc);
	}
}

/* The falls from the left, for squares i < n + 1. */
static void
fall_right(struct line *restrict line, size_t n, float per_column)
{
	CPU_SIMD
	for (size_t i = LEFT; i < LEFT + SQUARES(n); i++) {
		float fall = (line->z[i - 1] - line->z[i]) * per_column;

		line->fall[i] = fall;
		line->fall_square[i] = normals_fall_square(fall);
	}
}

static void
fall_down(const struct line *restrict upper, const struct line *restrict lower,
    struct falls *restrict falls, size_t n, float per_row)
{
	CPU_SIMD
	for (size_t i = 0; i < LEFT + SQUARES(n); i++) {
		float fall = (upper->z[i] - lower->z[i]) * per_row;

		falls->fall[i] = fall;
		falls->square[i] = fall * fall;
	}
}

static inline __attribute__((always_inline)) void
squares_of_depth(const struct line *restrict upper, const struct line *restrict lower,
    const struct falls *restrict down, struct squares *restrict out, size_t n, bool whole)
{
	CPU_SIMD
	for (size_t i = 0; i < SQUARES(n); i++) {
		size_t r = LEFT + i, l = r - 1;
		float h0 = upper->fall[r], h1 = lower->fall[r];
		float v0 = down->fall[l], v1 = down->fall[r];
		float h0_square = upper->fall_square[r], h1_square = lower->fall_square[r];
		float v0_square = down->square[l], v1_square = down->square[r];
		float a = whole ? 1 : upper->there[l], b = whole ? 1 : upper->there[r];
		float c = whole ? 1 : lower->there[l], d = whole ? 1 : lower->there[r];
		struct normals_vector sum_ad = normals_sum(
		    normals_of_falls(v1, h0, v1_square, h0_square, a * d * b),
		    normals_of_falls(v0, h1, v0_square, h1_square, a * d * c));
		struct normals_vector sum_bc = normals_sum(
		    normals_of_falls(v0, h0, v0_square, h0_square, b * c * a),
		    normals_of_falls(v1, h1, v1_square, h1_square, b * c * d));

		put_square(out, i, sum_ad, sum_bc);
	}
}

/* The normals of a line, from the squares above and below it. */
static inline __attribute__((always_inline)) void
unit_normals(const struct squares *restrict above, const struct squares *restrict below,
    const float *restrict there, float *restrict nx, float *restrict ny, float *restrict nz,
    float sign, size_t n, bool whole)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct normals_vector upper = { above->ad_x[i] + above->bc_x[i + 1],
			above->ad_y[i] + above->bc_y[i + 1], above->ad_z[i] + above->bc_z[i + 1] };
		struct normals_vector lower = { below->bc_x[i] + below->ad_x[i + 1],
			below->bc_y[i] + below->ad_y[i + 1], below->bc_z[i] + below->ad_z[i + 1] };
		struct normals_vector normal =
		    normals_unit(normals_sum(upper, lower), whole ? 1 : there[i], sign);

		nx[i] = normal.x;
		ny[i] = normal.y;
		nz[i] = normal.z;
	}
}

/* Not inlined, as not all of its pointers would stay in registers. */
static __attribute__((noinline)) void
unit_normals_whole(const struct squares *above, const struct squares *below,
    float *const normal[3], float sign, size_t n)
{
	unit_normals(above, below, NULL, normal[0], normal[1], normal[2], sign, n, true);
}

static void
clear_square(struct squares *squares, size_t i)
{
	squares->ad_x[i] = squares->ad_y[i] = squares->ad_z[i] = 0;
	squares->bc_x[i] = squares->bc_y[i] = squares->bc_z[i] = 0;
}

/* Gets columns x0 - 1 to x0 + n of row y; points outside of the image are missing. */
static void
get_line(const struct normals *normals, const struct frame *in, struct line *line, ptrdiff_t y,
    size_t x0, size_t n)
{
	size_t before = x0 > 0, after = x0 + n < in->head.w;
	size_t first = x0 - before, at = LEFT - before, m = before + n + after;
	const float *x, *yy, *z;

	if (y < 0 || y >= (ptrdiff_t)in->head.h) {
		memset(line, 0, sizeof(*line));
		fall_right(line, n, normals->per_column);
		return;
	}
	for (size_t i = LEFT - 1; i <= LEFT + n; i += n + 1)
		line->x[i] = line->y[i] = line->z[i] = line->there[i] = 0;
	z = frame_floats(in, normals->channel[2], (size_t)y) + first;
	line->whole = copy_whole(z, line->z + at, m);
	if (normals->depth) {
		if (!line->whole)
			clean_depth(z, line, at, m);
		fall_right(line, n, normals->per_column);
		return;
	}
	x = frame_floats(in, normals->channel[0], (size_t)y) + first;
	yy = frame_floats(in, normals->channel[1], (size_t)y) + first;
	line->whole = line->whole && copy_whole(x, line->x + at, m) &&
	    copy_whole(yy, line->y + at, m);
	if (!line->whole)
		clean_points(x, yy, z, line, at, m);
}

/* The squares between two lines of n pixels from column x0 on. */
static void
get_squares(const struct normals *normals, struct line *upper, struct line *lower,
    struct squares *squares, size_t x0, size_t n, size_t w)
{
	bool whole = upper->whole && lower->whole;
	struct falls down;

	if (!whole && upper->whole)
		set_there(upper, n);
	if (!whole && lower->whole)
		set_there(lower, n);
	if (normals->depth)
		fall_down(upper, lower, &down, n, normals->per_row);
	if (normals->depth && whole)
		squares_of_depth(upper, lower, &down, squares, n, true);
	else if (normals->depth)
		squares_of_depth(upper, lower, &down, squares, n, false);
	else if (whole)
		squares_of_points(upper, lower, squares, n, true);
	else
		squares_of_points(upper, lower, squares, n, false);
	if (x0 == 0)
		clear_square(squares, 0);
	if (x0 + n == w)
		clear_square(squares, n);
}

/* A strip n <= TILE columns wide: computes each line and each row of squares once. */
static void
strip(const struct normals *normals, const struct frame *in, struct frame *out, size_t x0, size_t n,
    size_t y0, size_t y1)
{
	struct line line[2];
	struct squares squares[2];
	size_t c = normals->first;
	float *normal[3];

	get_line(normals, in, &line[0], (ptrdiff_t)y0 - 1, x0, n);
	get_line(normals, in, &line[1], (ptrdiff_t)y0, x0, n);
	get_squares(normals, &line[0], &line[1], &squares[0], x0, n, in->head.w);
	for (size_t y = y0, k = 0; y < y1; y++, k = !k) {
		frame_write_soon(out, c, y + 1, x0, n);
		get_line(normals, in, &line[k], (ptrdiff_t)y + 1, x0, n);
		frame_write_soon(out, c + 1, y + 1, x0, n);
		get_squares(normals, &line[!k], &line[k], &squares[!k], x0, n, in->head.w);
		frame_write_soon(out, c + 2, y + 1, x0, n);
		for (size_t i = 0; i < 3; i++)
			normal[i] = frame_floats(out, c + i, y) + x0;
		if (line[!k].whole)
			unit_normals_whole(&squares[k], &squares[!k], normal, normals->sign, n);
		else
			unit_normals(&squares[k], &squares[!k], line[!k].there + LEFT,
			    normal[0], normal[1], normal[2], normals->sign, n, false);
	}
}

static void
normals_compute(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *)
{
	const struct normals *normals = run->priv;
	size_t w = in->head.w, strips = (w + TILE - 1) / TILE;
	size_t n = ((w + strips - 1) / strips + 15) / 16 * 16;	/* no narrow strip at the end */

	for (size_t x = 0; x < w; x += n)
		strip(normals, in, out, x, w - x < n ? w - x : n, y0, y1);
}

const struct normals_rows AT_LEVEL(normals_rows) = {
	.compute = normals_compute,
};
