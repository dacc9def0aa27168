/*
 * The Gaussian filter on the processor, which is separable: a tile of columns moves down the band
 * with the rows of one window; columns are summed first, then rows. Sums with missing pixels are
 * corrected. Standard deviations are not separable: sum_pairs() goes over whole windows.
 */
#include "gauss.h"

#include "base/px.h"
#include "run/stage.h"
#include "gauss.px.h"
#if CPU_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

/* ---- the window ---- */

/*
 * The rows of one window while it goes down a tile of columns. Rows of a channel or a vector are
 * read where they lie as long as nothing is missing in them; rows of a phase, and rows with holes,
 * are copied into the window's ring. The window stands in the scratch memory: where the next call
 * makes the rows below, it goes on with what the last call left there.
 */

/* Words of 32 bits with one bit for each row of the largest window. */
#define GAUSS_WORDS ((GAUSS_SIZE_MOST + 31) / 32)

#define GAUSS_TILE 272		/* columns filtered together: 11 rows of them stay in an L1 cache */
#define GAUSS_ACROSS (GAUSS_EDGE + GAUSS_TILE + GAUSS_EDGE)

/* Columns of a buffer, as many as the machine takes at once. The sums stay in registers over a
 * whole window, which compilers do not manage with a loop over columns inside one over
 * neighbours. */
#define WIDTH (CPU_VECTOR_BYTES / sizeof(float))
#define VECTOR_TYPE __attribute__((vector_size(CPU_VECTOR_BYTES), aligned(4), may_alias))
typedef float vector VECTOR_TYPE;
typedef int32_t whole VECTOR_TYPE;
#define VECTOR(p) (*(vector *)(p))
#define VECTOR_IN(p) (*(const vector *)(p))
#define WHOLE_IN(p) (*(const whole *)(p))
#define ALIGNED __attribute__((aligned(64)))
#define INLINED static inline __attribute__((always_inline))
/* Calls an INLINED function; for common windows the radius is a constant there. */
#define COMMON_RADIUS 5			/* the largest of these; 2 is the smallest */
#define IS_COMMON(radius) ((radius) >= 2 && (radius) <= COMMON_RADIUS)
#define BY_COMMON_RADIUS(function, radius, ...) ((radius) == 5 ? function(5, __VA_ARGS__) : \
    (radius) == 4 ? function(4, __VA_ARGS__) : (radius) == 3 ? function(3, __VA_ARGS__) : \
    function(2, __VA_ARGS__))
#define BY_RADIUS(function, radius, ...) (!IS_COMMON(radius) ? function(radius, __VA_ARGS__) : \
    BY_COMMON_RADIUS(function, radius, __VA_ARGS__))

/* Rows whose sums over columns are made together, where there are registers for all that they are
 * sums of: of a window of 11 rows, 14 loads do for what took 44. */
#if CPU_VECTOR_BYTES == 64
#define GAUSS_TOGETHER 4
#else
#define GAUSS_TOGETHER 1
#endif
/* Rows below the window that these need. */
#define GAUSS_BELOW (GAUSS_TOGETHER - 1)

/* A row of the window. Of these and the like, column x0 of the image is number GAUSS_EDGE. */
struct gauss_row {
	ptrdiff_t y;
	const float *tap[2];	/* column x0, here or in the input; only columns of the image */
	bool loaded;			/* what stands here is of this row */
	bool holed;		/* something is missing */
	bool filled;				/* what follows; 0 outside the image */
	ALIGNED float part[2][GAUSS_ACROSS];	/* cos and sin, or the value */
	float valid[GAUSS_ACROSS];		/* 1 or 0 */
};

/* 20 to 30 KiB, and 5 KiB for each row. */
struct gauss_window {
	/* from the top; then those below the window */
	struct gauss_row *row[GAUSS_SIZE_MOST + GAUSS_BELOW];
	ALIGNED uint32_t missing[GAUSS_WORDS][GAUSS_ACROSS];	/* a bit for each row */
	ALIGNED float column[GAUSS_TOGETHER][2][GAUSS_ACROSS];	/* sums over columns, by rows */
	/* from here on column x0 is number 0 */
	ALIGNED float sum[2][GAUSS_TILE], weight[GAUSS_TILE];
	float columns_weight[GAUSS_TILE];	/* of a row of the kernel, shortened at borders */
	int32_t reach[GAUSS_TILE];			/* and its radius */
	const struct frame *in;
	const struct gauss *gauss;
	const struct gauss_job *job;
	size_t x0, n, margin, size;
	bool copies;			/* rows without holes, too */
	size_t whole_rows;				/* since the last one with a hole */
	bool holed;					/* there was one: `missing` is valid */
	const float (*columns)[GAUSS_ACROSS];		/* that of the row at hand */
	struct gauss_row ring[];			/* memory of the rows */
};

/* How far a kernel of this radius reaches on both sides of pixel `at` of 0 .. n - 1. */
static size_t
gauss_window_reach(size_t at, size_t n, size_t radius)
{
	size_t to_border = at < n - 1 - at ? at : n - 1 - at;

	return to_border < radius ? to_border : radius;
}

/* Does any of the GAUSS_LANES columns from column i of the tile on lack a whole window? */
static bool
gauss_window_near_border(const struct gauss_window *window, size_t i)
{
	size_t x = window->x0 + i, radius = window->gauss->radius;

	return x < radius || x + GAUSS_LANES + radius > window->in->head.w;
}

/* Rows into the ring; these return how many pixels are missing. */

static uint
load_phase(const float *restrict phase, float *restrict cosine, float *restrict sine,
    float *restrict valid, size_t n)
{
	uint missing = 0;

	#pragma omp simd reduction(+:missing) aligned(phase, cosine, sine, valid: 64)
	for (size_t i = 0; i < n; i++) {
		PX_F p = phase[i];
		uint there = gauss_phase_there(p);

		p = gauss_part(p, there);
		missing += there + 1;
		valid[i] = gauss_part(1, there);
		cosine[i] = gauss_part(px_cos(p), there);
		sine[i] = px_sin(p);
	}
	return missing;
}

static uint
load_vector(const float *restrict a, const float *restrict b, float *restrict cosine,
    float *restrict sine, float *restrict valid, size_t n)
{
	uint missing = 0;

	#pragma omp simd reduction(+:missing) aligned(a, b, cosine, sine, valid: 64)
	for (size_t i = 0; i < n; i++) {
		PX_F c = a[i], s = b[i];
		uint there = gauss_there(c) & gauss_there(s);

		missing += there + 1;
		valid[i] = gauss_part(1, there);
		cosine[i] = gauss_part(c, there);
		sine[i] = gauss_part(s, there);
	}
	return missing;
}

static void
clear(struct gauss_row *row, size_t from, size_t to)
{
	memset(row->part[0] + from, 0, (to - from) * sizeof(float));
	memset(row->part[1] + from, 0, (to - from) * sizeof(float));
	memset(row->valid + from, 0, (to - from) * sizeof(float));
}

static bool
is_inside(const struct gauss_window *window, const struct gauss_row *row)
{
	return row->y >= 0 && (size_t)row->y < window->in->head.h;
}

/* The first of the tile's columns with their neighbours, and their number, as far as they are in
 * the image. */
static size_t
gauss_window_columns(const struct gauss_window *window, size_t *n)
{
	size_t x0 = window->x0, margin = window->margin, w = window->in->head.w;
	size_t x = x0 < margin ? 0 : x0 - margin, end = x0 + window->n + margin;

	*n = (end < w ? end : w) - x;
	return x;
}

/* Copies the row out of the input; true if something is missing. */
static bool
fill(const struct gauss_window *window, struct gauss_row *row)
{
	size_t n, x = gauss_window_columns(window, &n), first = GAUSS_EDGE + x - window->x0;
	size_t y = (size_t)row->y;
	float *part0 = row->part[0] + first, *part1 = row->part[1] + first;
	const float *in0, *in1;

	row->filled = true;
	if (!is_inside(window, row)) {
		clear(row, 0, GAUSS_ACROSS);
		return false;
	}
	in0 = frame_floats(window->in, window->job->in[0], y) + x;
	in1 = frame_floats(window->in, window->job->in[1], y) + x;
	row->tap[0] = row->part[0] + GAUSS_EDGE;
	row->tap[1] = row->part[1] + GAUSS_EDGE;
	clear(row, GAUSS_EDGE - window->margin - GAUSS_LANES, first);
	clear(row, first + n, GAUSS_EDGE + window->n + window->margin + GAUSS_LANES);
	if (window->job->kind == KIND_PHASE)
		return load_phase(in0, part0, part1, row->valid + first, n);
	return load_vector(in0, in1, part0, part1, row->valid + first, n);
}

static bool
is_whole(const float *restrict a, const float *restrict b, size_t n)
{
	int most = 0;

	#pragma omp simd reduction(max:most) aligned(a, b: 64)
	for (size_t i = 0; i < n; i++) {
		int size_a = gauss_size(a[i]), size_b = gauss_size(b[i]);
		int larger = size_a > size_b ? size_a : size_b;

		most = most > larger ? most : larger;
	}
	return most < GAUSS_TOO_LARGE;
}

/* Rows that lie a multiple of 4096 bytes apart fall into the same lines of the first cache, which
 * holds WAYS of them: where they are copied, windows of 31 rows take two thirds of the time, those
 * of 11 as long. */
#define SAME_LINES 4096
#define WAYS 12

/* Are the input's rows better copied than read where they lie? */
static bool
gauss_window_must_copy(const struct frame *in, const struct gauss_job *job, size_t radius)
{
	return in->plane[job->in[0]].stride % SAME_LINES == 0 && 2 * radius + 1 > WAYS;
}

static void
tap_input(const struct gauss_window *window, struct gauss_row *row)
{
	for (size_t p = 0; p < 2; p++)
		row->tap[p] = window->x0 +
		    frame_floats(window->in, window->job->in[p], (size_t)row->y);
}

/* Loads row y, unless it is loaded already. */
static void
load(const struct gauss_window *window, struct gauss_row *row, ptrdiff_t y)
{
	size_t n, x = gauss_window_columns(window, &n);

	if (row->loaded)
		return;
	row->y = y;
	row->loaded = true;
	row->filled = row->holed = false;
	if (!is_inside(window, row))
		return;
	if (window->job->kind == KIND_PHASE) {
		row->holed = fill(window, row);
		return;
	}
	tap_input(window, row);
	if (window->copies ||
	    !is_whole(row->tap[0] - window->x0 + x, row->tap[1] - window->x0 + x, n))
		row->holed = fill(window, row);
}

/* The window's rows of missing pixels go up by one; `valid` comes in at the bottom, or NULL. Only
 * pixels of the image are missing. */
static void
shift_missing(struct gauss_window *window, const float *restrict valid)
{
	size_t last = (window->size - 1) / 32, n, x = gauss_window_columns(window, &n);
	size_t first = GAUSS_EDGE + x - window->x0;
	uint32_t *restrict missing = window->missing[last];
	uint32_t bit = (uint32_t)1 << (window->size - 1) % 32;

	if (!window->holed)
		memset(window->missing, 0, sizeof(window->missing));
	window->holed = true;
	for (size_t k = 0; k < last; k++)
		for (size_t i = 0; i < GAUSS_ACROSS; i++)
			window->missing[k][i] =
			    window->missing[k][i] >> 1 | window->missing[k + 1][i] << 31;
	for (size_t i = 0; i < GAUSS_ACROSS; i++)
		missing[i] >>= 1;
	for (size_t i = first; valid && i < first + n; i++)
		missing[i] |= valid[i] == 0 ? bit : 0;
}

/* No row is loaded yet. */
static void
gauss_window_empty(struct gauss_window *window)
{
	for (size_t k = 0; k < window->size + GAUSS_BELOW; k++) {
		window->row[k] = &window->ring[k];
		window->row[k]->loaded = false;
	}
}

/* Before the first row of a call that continues: the input's rows may lie elsewhere now. */
static void
gauss_window_resume(struct gauss_window *window)
{
	/* the first row leaves next, and need not be in the input any more */
	for (size_t k = 1; k < window->size + GAUSS_BELOW; k++) {
		struct gauss_row *row = window->row[k];

		if (row->loaded && !row->filled && is_inside(window, row))
			tap_input(window, row);
	}
}

/* Several top rows leave the window, at most GAUSS_TOGETHER; gauss_window_take() then adds row y at
 * its bottom. */
static void
gauss_window_shift(struct gauss_window *window, size_t rows)
{
	size_t rest = window->size + GAUSS_BELOW - rows;
	struct gauss_row *first[GAUSS_TOGETHER];

	memcpy(first, window->row, rows * sizeof(*first));
	memmove(window->row, window->row + rows, rest * sizeof(*first));
	for (size_t k = 0; k < rows; k++) {
		window->row[rest + k] = first[k];
		first[k]->loaded = false;
	}
}

static void
gauss_window_take(struct gauss_window *window, ptrdiff_t y)
{
	struct gauss_row *lowest = window->row[window->size - 1];

	load(window, lowest, y);
	window->whole_rows = lowest->holed ? 0 : window->whole_rows + 1;
	if (window->whole_rows <= window->size)
		shift_missing(window, lowest->holed ? lowest->valid : NULL);
}

/* In place of gauss_window_take(), for row y of the output: the row that comes in and GAUSS_BELOW
 * more are read where they lie in the input. False if they are to be copied, or are loaded
 * already. */
static bool
gauss_window_tap_ahead(struct gauss_window *window, size_t y)
{
	if (window->job->kind == KIND_PHASE || window->copies)
		return false;
	for (size_t k = 0; k < GAUSS_TOGETHER; k++) {
		struct gauss_row *row = window->row[window->size - 1 + k];

		if (row->loaded)
			return false;
		row->y = (ptrdiff_t)(y + window->gauss->radius + k);
		row->filled = row->holed = false;
		tap_input(window, row);
	}
	return true;
}

/* The same rows, loaded. False if something is missing in them. */
static bool
gauss_window_load_ahead(struct gauss_window *window, size_t y)
{
	bool holed = false;

	for (size_t k = 0; k < GAUSS_TOGETHER; k++) {
		struct gauss_row *row = window->row[window->size - 1 + k];

		load(window, row, (ptrdiff_t)(y + window->gauss->radius + k));
		holed = holed || row->holed;
	}
	return !holed;
}

/* After one of the two above, where nothing is missing: the rows count as loaded. */
static void
gauss_window_keep_ahead(struct gauss_window *window)
{
	for (size_t k = 0; k < GAUSS_TOGETHER; k++)
		window->row[window->size - 1 + k]->loaded = true;
	window->whole_rows += GAUSS_TOGETHER;
}

/* Copies all rows that are not yet copied out of the input. */
static void
gauss_window_fill(struct gauss_window *window)
{
	for (size_t k = 0; k < window->size; k++)
		if (!window->row[k]->filled)
			fill(window, window->row[k]);
}

/* ---- sums where pixels are missing ---- */

/*
 * Windows with missing pixels: a pixel counts only if its mirror image about the centre is there
 * too. Where few are missing, what their mirror images gave is taken off the sums again; else all
 * pairs are summed. GAUSS_LANES columns are corrected together.
 */

/* A missing pixel: row of the window, column as in struct gauss_row. */
struct hole {
	uint32_t row, column;
};

struct sums {
	vector part[2], weight;
};

/* A row of the window from column `from` on, with its mirror image. */
INLINED void
add_mirrored(struct sums *sums, const struct gauss_row *above, const struct gauss_row *below,
    const float *kernel, float row_weight, size_t from, size_t radius, size_t i)
{
	struct sums row = { 0 };

	#pragma GCC unroll 11
	for (size_t x = from; x <= 2 * radius; x++) {
		size_t a = i + radius - x, b = i + x - radius;
		vector both = VECTOR_IN(above->valid + a) * VECTOR_IN(below->valid + b);

		both *= kernel[x < radius ? radius - x : x - radius];
		for (size_t p = 0; p < 2; p++)
			row.part[p] += both *
			    (VECTOR_IN(above->part[p] + a) + VECTOR_IN(below->part[p] + b));
		row.weight += both;
	}
	for (size_t p = 0; p < 2; p++)
		sums->part[p] += row_weight * row.part[p];
	sums->weight += 2 * row_weight * row.weight;
}

/* Every pixel of the window with its mirror image. */
INLINED void
sum_mirrored(size_t radius, struct gauss_window *window, size_t i)
{
	const float *kernel = window->gauss->kernel + GAUSS_EDGE;
	struct gauss_row *const *row = window->row + radius;
	size_t at = GAUSS_EDGE + i;
	struct sums sums = { { VECTOR_IN(row[0]->part[0] + at), VECTOR_IN(row[0]->part[1] + at) },
		VECTOR_IN(row[0]->valid + at) };

	add_mirrored(&sums, row[0], row[0], kernel, 1, radius + 1, radius, at);
	for (size_t k = 1; k <= radius; k++)
		add_mirrored(&sums, row[-(ptrdiff_t)k], row[k], kernel, kernel[k], 0, radius, at);
	VECTOR(window->sum[0] + i) = sums.part[0];
	VECTOR(window->sum[1] + i) = sums.part[1];
	VECTOR(window->weight + i) = sums.weight;
}

#if CPU_VECTOR_BYTES == 64
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#elif CPU_VECTOR_BYTES == 32
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#else
#define EVEN 0, 2, 4, 6
#endif

/* Of 2 WIDTH numbers those with even index. */
static vector
even(const float *v)
{
	return __builtin_shufflevector(VECTOR_IN(v), VECTOR_IN(v + WIDTH), EVEN);
}

/* The mirror images of n missing pixels do not count. */
static void
take_off(struct gauss_window *window, const struct hole *hole, size_t n, size_t i0)
{
	const float *kernel = window->gauss->kernel;

	for (size_t i = i0 + GAUSS_EDGE; i < i0 + GAUSS_EDGE + GAUSS_LANES; i += WIDTH) {
		vector all = VECTOR_IN(window->weight + i - GAUSS_EDGE);
		vector sum0 = VECTOR_IN(window->sum[0] + i - GAUSS_EDGE);
		vector sum1 = VECTOR_IN(window->sum[1] + i - GAUSS_EDGE);

		for (size_t k = 0; k < n; k++) {
			const struct gauss_row *mirror =
			    window->row[window->size - 1 - hole[k].row];
			size_t at = 2 * i - hole[k].column;
			vector w = kernel[GAUSS_EDGE + hole[k].row - window->gauss->radius] *
			    VECTOR_IN(kernel + GAUSS_EDGE + i - hole[k].column);

			sum0 -= w * even(mirror->part[0] + at);
			sum1 -= w * even(mirror->part[1] + at);
			all -= w * (even(mirror->valid + at) + 1);
		}
		VECTOR(window->sum[0] + i - GAUSS_EDGE) = sum0;
		VECTOR(window->sum[1] + i - GAUSS_EDGE) = sum1;
		VECTOR(window->weight + i - GAUSS_EDGE) = all;
	}
}

static uint64_t
two_columns(const uint32_t *missing)
{
	return missing[0] | (uint64_t)missing[1] << 32;
}

/* How many are missing in the windows of GAUSS_LANES columns from i0 on. */
static size_t
count_holes(const struct gauss_window *window, size_t i0)
{
	size_t first = GAUSS_EDGE + i0 - window->gauss->radius, n = 0;

	for (size_t k = 0; k <= (window->size - 1) / 32; k++)
		for (size_t i = 0; i < GAUSS_LANES + window->size - 1; i += 2)
			n += (size_t)__builtin_popcountll(
			    two_columns(window->missing[k] + first + i));
	return n;
}

static void
list_holes(const struct gauss_window *window, size_t i0, struct hole *hole)
{
	size_t first = GAUSS_EDGE + i0 - window->gauss->radius;

	for (uint k = 0; k <= (window->size - 1) / 32; k++)
		for (size_t i = first; i < first + GAUSS_LANES + window->size - 1; i += 2) {
			uint64_t bits = two_columns(window->missing[k] + i);

			for (; bits; bits &= bits - 1) {
				uint bit = (uint)__builtin_ctzll(bits);

				*hole++ = (struct hole){ 32 * k + bit % 32, (uint)i + bit / 32 };
			}
		}
}

static bool
any_there(const float *valid)
{
	uint any = 0;

	#pragma omp simd reduction(|:any)
	for (size_t i = 0; i < GAUSS_LANES; i++)
		any |= px_bits(valid[i]);
	return any;
}

/* Corrects the sums of row y, where something is missing in the window, all of whose rows are
 * filled. */
static void
gauss_holes_mend(struct gauss_window *window, size_t y)
{
	size_t radius = window->gauss->radius;
	bool cut = gauss_window_reach(y, window->in->head.h, radius) < radius;
	struct hole hole[GAUSS_FEW(GAUSS_SIZE_MOST)];

	for (size_t i = 0; i < window->n; i += GAUSS_LANES) {
		size_t n = count_holes(window, i);

		if (n == 0 || !any_there(window->row[radius]->valid + GAUSS_EDGE + i))
			continue;
		if (n > GAUSS_FEW(window->size) || cut || gauss_window_near_border(window, i)) {
			for (size_t k = i; k < i + GAUSS_LANES; k += WIDTH)
				BY_RADIUS(sum_mirrored, radius, window, k);
		} else {
			list_holes(window, i, hole);
			take_off(window, hole, n, i);
		}
	}
}

/* ---- standard deviations ---- */

/*
 * The standard deviation of a filtered phase (gauss.px.h), in one go over all pairs of the window:
 * a sum over columns and rows one after the other would lack the pairs at holes. A thread keeps the
 * rows of the window for all columns, so that cos and sin are computed once.
 */

enum sigma_plane { COS, SIN, VARIANCE, VALID, PLANES };

/* Floats of a row of a plane, with GAUSS_EDGE on both sides. */
static size_t
span(size_t w)
{
	return (w + 2 * GAUSS_EDGE + 2 * GAUSS_LANES) / GAUSS_LANES * GAUSS_LANES;
}

static size_t
sigma_floats(const struct gauss *gauss, size_t w)
{
	return (2 * gauss->radius + 1) * PLANES * span(w);
}

static size_t
gauss_sigma_bytes(const struct gauss *gauss, size_t w)
{
	return gauss->sigmas * sigma_floats(gauss, w) * sizeof(float);
}

static void
fill_linear(const float *restrict value, const float *restrict sigma, size_t w, size_t stride,
    float *restrict to)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		uint there = gauss_there(value[x]);

		to[COS * stride + x] = gauss_part(1.0f, there);
		to[SIN * stride + x] = 0.0f;
		to[VARIANCE * stride + x] = gauss_variance(sigma[x], there);
		to[VALID * stride + x] = gauss_part(1.0f, there);
	}
}

static void
fill_phase(const float *restrict phase, const float *restrict sigma, size_t w, size_t stride,
    float *restrict to)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		uint there = gauss_phase_there(phase[x]);
		PX_F angle = gauss_part(phase[x], there);

		to[COS * stride + x] = px_cos(angle);
		to[SIN * stride + x] = px_sin(angle);
		to[VARIANCE * stride + x] = gauss_phase_variance(sigma[x], there);
		to[VALID * stride + x] = gauss_part(1.0f, there);
	}
}

static void
fill_vector(const float *restrict cosine, const float *restrict sine, const float *restrict sigma,
    size_t w, size_t stride, float *restrict to)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		uint there = gauss_there(cosine[x]) & gauss_there(sine[x]);

		to[COS * stride + x] = gauss_part(cosine[x], there);
		to[SIN * stride + x] = gauss_part(sine[x], there);
		to[VARIANCE * stride + x] = gauss_phase_variance(sigma[x], there);
		to[VALID * stride + x] = gauss_part(1.0f, there);
	}
}

/* Row y of the image into its place in the ring; outside the image nothing is there. */
static void
fill_sigmas(const struct gauss *gauss, const struct gauss_sigma *sigma, const struct frame *in,
    ptrdiff_t y, float *ring)
{
	const struct gauss_job *job = &gauss->job[sigma->job];
	size_t w = in->head.w, stride = span(w), size = 2 * gauss->radius + 1;
	float *to = ring + (size_t)(y + (ptrdiff_t)size) % size * PLANES * stride + GAUSS_EDGE;
	const float *a, *b, *deviation;

	if (y < 0 || y >= (ptrdiff_t)in->head.h) {
		memset(to - GAUSS_EDGE, 0, PLANES * stride * sizeof(*to));
		return;
	}
	a = frame_floats(in, job->in[0], (size_t)y);
	b = frame_floats(in, job->in[1], (size_t)y);
	deviation = frame_floats(in, sigma->in, (size_t)y);
	if (job->kind == KIND_PHASE)
		fill_phase(a, deviation, w, stride, to);
	else if (job->kind == KIND_VECTOR)
		fill_vector(a, b, deviation, w, stride, to);
	else
		fill_linear(a, deviation, w, stride, to);
}

/* A row of the window from column `at` of the planes on, with its mirror image. */
INLINED void
add_row(size_t radius, const float *row, const float *mirror, size_t stride, const float *kernel,
    float row_weight, size_t at, vector sum[5])
{
	#pragma GCC unroll 4
	for (size_t j = 0; j <= 2 * radius; j++) {
		const float *here = row + at + j - radius;
		vector both = VECTOR_IN(here + VALID * stride) *
		    VECTOR_IN(mirror + VALID * stride + at + radius - j);
		vector w = both * (row_weight * kernel[j]), c = VECTOR_IN(here + COS * stride);
		vector s = VECTOR_IN(here + SIN * stride);
		vector q = w * w * VECTOR_IN(here + VARIANCE * stride), qc = q * c, qs = q * s;

		sum[0] += w * c;
		sum[1] += w * s;
		sum[2] += qc * c;
		sum[3] += qc * s;
		sum[4] += qs * s;
	}
}

INLINED void
sum_pairs(size_t radius, const float *const *row, size_t stride, const float *kernel, size_t at,
    float sums[5][WIDTH])
{
	vector sum[5] = { 0 };

	for (size_t k = 0; k <= 2 * radius; k++)
		add_row(radius, row[k], row[2 * radius - k], stride, kernel, kernel[k], at, sum);
	for (size_t p = 0; p < 5; p++)
		VECTOR(sums[p]) = sum[p];
}

static void
filter_row(const struct gauss *gauss, const float *ring, size_t w, size_t y, float *sigma)
{
	const float *row[2 * GAUSS_RADIUS_MOST + 1], *kernel = gauss->kernel + GAUSS_EDGE;
	size_t radius = gauss->radius, size = 2 * radius + 1, stride = span(w);
	float sums[5][WIDTH];

	kernel -= radius;
	for (size_t k = 0; k < size; k++)
		row[k] = ring + (y + k + size - radius) % size * PLANES * stride;
	for (size_t x = 0; x < w; x += WIDTH) {
		size_t n = w - x < WIDTH ? w - x : WIDTH;
		const float *valid = row[radius] + VALID * stride + GAUSS_EDGE + x;

		BY_RADIUS(sum_pairs, radius, row, stride, kernel, GAUSS_EDGE + x, sums);
		for (size_t i = 0; i < n; i++)
			sigma[x + i] = gauss_sigma_of(sums[0][i], sums[1][i], sums[2][i],
			    sums[3][i], sums[4][i], gauss->sharing, valid[i]);
	}
}

/* Rows y0 <= y < y1 of all sigmas; continues as in struct row_scratch. */
static void
gauss_sigma_rows(const struct gauss *gauss, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, void *memory, bool continues)
{
	ptrdiff_t radius = (ptrdiff_t)gauss->radius;

	if (!continues)
		memset(memory, 0, gauss_sigma_bytes(gauss, in->head.w));
	for (size_t i = 0; i < gauss->sigmas; i++) {
		const struct gauss_sigma *sigma = &gauss->sigma[i];
		float *ring = (float *)memory + i * sigma_floats(gauss, in->head.w);

		for (ptrdiff_t y = (ptrdiff_t)y0 - radius; y < (ptrdiff_t)y0 + radius; y++)
			if (!continues)
				fill_sigmas(gauss, sigma, in, y, ring);
		for (size_t y = y0; y < y1; y++) {
			fill_sigmas(gauss, sigma, in, (ptrdiff_t)y + radius, ring);
			filter_row(gauss, ring, in->head.w, y, frame_floats(out, sigma->out, y));
		}
	}
}

/*
 * What the windows of all tiles may take of a thread's memory, so that each is kept from call to
 * call. Measured for windows of up to 28 MiB: phases are up to 5 % faster for a size of 11, 2 to
 * 15 % for 31 and more, most for wide images, which are made a few rows a call; vectors and
 * channels, of which only rows with holes are copied, are as fast within 3 %. Beyond, one window
 * serves all tiles and is filled anew in each call, so that the memory does not grow with the width
 * of an image.
 */
#define KEPT_MOST ((size_t)32 << 20)
#define ROWS_AHEAD 2		/* that are prefetched; 4 and 8 are no faster */

/* ---- sums where nothing is missing: columns, then rows ---- */

/* Neighbours lie in the same column of row[-radius] .. row[radius] (part p, columns from .. end - 1
 * counted from x0). One index for all of them: pointers to the first column would have to be
 * computed for each row, 6 % of the time for a window of 11. */
INLINED void
sum_columns(size_t radius, struct gauss_row *const *row, size_t p, ptrdiff_t from, ptrdiff_t end,
    const float *kernel, float *restrict sum)
{
	const float *tap[2 * GAUSS_RADIUS_MOST + 1];

	for (size_t k = 0; k <= 2 * radius; k++)
		tap[k] = row[k - radius]->tap[p];
	for (ptrdiff_t i = from; i < end; i += (ptrdiff_t)WIDTH) {
		vector total = VECTOR_IN(tap[radius] + i);

		#pragma GCC unroll 5
		for (size_t k = 1; k <= radius; k++)
			total += kernel[k] *
			    (VECTOR_IN(tap[radius - k] + i) + VECTOR_IN(tap[radius + k] + i));
		VECTOR(sum + i) = total;
	}
}

/*
 * a + b; if `by_product`, as a 1 + b, rounded once, which is the same number: two of four pipes of
 * a processor add, the other two multiply, and a window has twice as many additions as products.
 */
#if CPU_VECTOR_BYTES == 64
#define ADD_BY_PRODUCT(by_product, a, b, one) ((by_product) ? \
    (vector)_mm512_fmadd_ps((__m512)(a), one, (__m512)(b)) : (vector)((a) + (b)))
#define ONES __m512 one = _mm512_set1_ps(1)
#else
#define ADD_BY_PRODUCT(by_product, a, b, one) ((a) + (b))
#define ONES
#endif

/* The largest gauss_size() of each column so far. */
INLINED whole
larger_sizes(whole most, vector v)
{
	whole size = (whole)v & 0x7fffffff;
#if CPU_VECTOR_BYTES == 64
	return (whole)_mm512_max_epi32((__m512i)most, (__m512i)size);
#else
	whole larger = size > most;

	return (size & larger) | (most & ~larger);
#endif
}

INLINED int
largest_of(whole sizes)
{
#if CPU_VECTOR_BYTES == 64
	return _mm512_reduce_max_epi32((__m512i)sizes);
#else
	int most = 0;

	for (size_t i = 0; i < WIDTH; i++)
		most = sizes[i] > most ? sizes[i] : most;
	return most;
#endif
}

/* The same of GAUSS_TOGETHER rows, from all the rows that these need. The largest gauss_size() in
 * the last GAUSS_TOGETHER of these. */
INLINED int
sum_columns_together(size_t radius, const float *const *tap, ptrdiff_t from, ptrdiff_t end,
    const float *kernel, float *restrict sum)
{
	whole most = { 0 };
	ONES;

	for (ptrdiff_t i = from; i < end; i += (ptrdiff_t)WIDTH) {
		vector row[2 * COMMON_RADIUS + GAUSS_TOGETHER];

		#pragma GCC unroll 14
		for (size_t k = 0; k < 2 * radius + GAUSS_TOGETHER; k++)
			row[k] = VECTOR_IN(tap[k] + i);
		#pragma GCC unroll 4
		for (size_t y = 0; y < GAUSS_TOGETHER; y++) {
			vector total = row[y + radius];

			most = larger_sizes(most, row[2 * radius + y]);
			#pragma GCC unroll 5
			for (size_t k = 1; k <= radius; k++)
				total += kernel[k] * ADD_BY_PRODUCT(k <= 2,
				    row[y + radius - k], row[y + radius + k], one);
			VECTOR(sum + y * 2 * GAUSS_ACROSS + i) = total;
		}
	}
	return largest_of(most);
}

/* Loads across cache lines cost more than a shift of two registers, so the nearest neighbours come
 * from these where there is such an instruction. */
#if CPU_VECTOR_BYTES == 64
#define SHIFT(v, w, n) (vector)_mm512_alignr_epi32((__m512i)(w), (__m512i)(v), n)
#define NEAR 3
#else
#define SHIFT(v, w, n) (v)
#define NEAR 0
#endif
#define ADD_NEAR(k) do { \
	if ((k) <= NEAR && (k) <= radius) \
		total += kernel[k] * (SHIFT(before, middle, (WIDTH - (k)) % WIDTH) + \
		    SHIFT(middle, after, k)); \
} while (false)

/* Sums, or their means: a division here hides behind the loads. */
INLINED void
sum_row(size_t radius, const float *column, size_t n, const float *kernel, bool mean, float weight,
    float *restrict out)
{
	vector before = VECTOR_IN(column - WIDTH), middle = VECTOR_IN(column);

	for (size_t i = 0; i < n; i += WIDTH) {
		vector after = VECTOR_IN(column + i + WIDTH), total = middle;

		ADD_NEAR(1);
		ADD_NEAR(2);
		ADD_NEAR(3);
		#pragma GCC unroll 5
		for (size_t k = NEAR + 1; k <= radius; k++)
			total += kernel[k] *
			    (VECTOR_IN(column + i - k) + VECTOR_IN(column + i + k));
		if (mean)
			total /= weight;
		VECTOR(out + i) = total;
		before = middle;
		middle = after;
	}
}

/* GAUSS_LANES columns near the left or right border: a shorter kernel. */
INLINED void
sum_border(size_t radius, const float *column, const int32_t *reaches, const float *kernel,
    float *restrict sum)
{
	for (size_t i = 0; i < GAUSS_LANES; i += WIDTH) {
		vector total = VECTOR_IN(column + i);

		#pragma GCC unroll 5
		for (size_t k = 1; k <= radius; k++) {
			vector pair = VECTOR_IN(column + i - k) + VECTOR_IN(column + i + k);

			pair = (vector)((whole)pair & (WHOLE_IN(reaches + i) >= (int32_t)k));
			total += kernel[k] * pair;
		}
		VECTOR(sum + i) = total;
	}
}

/* Sums over the columns of row y's window. What lies outside the image is not used. */
static void
sum_all_columns(struct gauss_window *window, size_t p, size_t y)
{
	size_t n, x = gauss_window_columns(window, &n);
	ptrdiff_t from = (ptrdiff_t)x - (ptrdiff_t)window->x0;

	BY_RADIUS(sum_columns, gauss_window_reach(y, window->in->head.h, window->gauss->radius),
	    window->row + window->gauss->radius, p, from, from + (ptrdiff_t)n,
	    window->gauss->kernel + GAUSS_EDGE, window->column[0][p] + GAUSS_EDGE);
}

/* Likewise of GAUSS_TOGETHER rows from the window's own on. The largest gauss_size() in the lowest
 * rows of these windows: if it is too large, the sums are wrong. */
static int
sum_columns_ahead(struct gauss_window *window, size_t p)
{
	const float *tap[2 * COMMON_RADIUS + GAUSS_TOGETHER];
	size_t n, x = gauss_window_columns(window, &n), radius = window->gauss->radius;
	ptrdiff_t from = (ptrdiff_t)x - (ptrdiff_t)window->x0;

	for (size_t k = 0; k < 2 * radius + GAUSS_TOGETHER; k++)
		tap[k] = window->row[k]->tap[p];
	return BY_COMMON_RADIUS(sum_columns_together, radius, tap, from, from + (ptrdiff_t)n,
	    window->gauss->kernel + GAUSS_EDGE, window->column[0][p] + GAUSS_EDGE);
}

static size_t
parts_of(const struct gauss_window *window)
{
	return window->job->kind == KIND_PLAIN ? 1 : 2;
}

/*
 * The sums over columns for row y and those below it of GAUSS_TOGETHER rows, none of which is at a
 * border or at y1, before the lowest rows of their windows are loaded: these are read once, for the
 * sums and to see that nothing is missing in them. False if something is, or was a while ago: the
 * rows are made one by one.
 */
static bool
sum_ahead(struct gauss_window *window, size_t y, size_t y1)
{
	size_t radius = window->gauss->radius;
	bool tapped;
	int most = 0;

	if (GAUSS_TOGETHER == 1 || !IS_COMMON(radius) || window->whole_rows <= window->size ||
	    y < radius || y + GAUSS_TOGETHER + radius > window->in->head.h ||
	    y + GAUSS_TOGETHER > y1)
		return false;
	tapped = gauss_window_tap_ahead(window, y);
	if (!tapped && !gauss_window_load_ahead(window, y))
		return false;
	for (size_t p = 0; p < parts_of(window); p++) {
		int largest = sum_columns_ahead(window, p);

		most = largest > most ? largest : most;
	}
	if (tapped && most >= GAUSS_TOO_LARGE)
		return false;
	gauss_window_keep_ahead(window);
	return true;
}

static void
weigh_window(struct gauss_window *window, size_t y)
{
	size_t far = gauss_window_reach(y, window->in->head.h, window->gauss->radius);
	float rows_weight = gauss_kernel_sum(window->gauss, far);

	for (size_t i = 0; i < window->n; i++)
		window->weight[i] = rows_weight * window->columns_weight[i];
}

/* Sums of GAUSS_LANES columns near the border, of a shorter kernel; and the means of these, unless
 * `mean` is NULL. */
static void
sum_border_lanes(
    struct gauss_window *window, size_t p, size_t i, float rows_weight, float *restrict mean)
{
	size_t end = i + GAUSS_LANES < window->n ? i + GAUSS_LANES : window->n;

	BY_RADIUS(sum_border, window->gauss->radius, window->columns[p] + GAUSS_EDGE + i,
	    window->reach + i, window->gauss->kernel + GAUSS_EDGE, window->sum[p] + i);
	for (size_t k = i; mean && k < end; k++)
		mean[k] = gauss_mean(
		    window->sum[p][k], rows_weight * window->columns_weight[k], 1);
}

static void
sum_borders(struct gauss_window *window, size_t p, float rows_weight, float *restrict mean)
{
	size_t radius = window->gauss->radius, x0 = window->x0, w = window->in->head.w, i = 0;

	for (; x0 + i < radius && i < window->n; i += GAUSS_LANES)
		sum_border_lanes(window, p, i, rows_weight, mean);
	if (x0 + i + GAUSS_LANES + radius <= w)		/* GAUSS_LANES that have a whole window */
		i = ((w - radius - GAUSS_LANES - x0) / GAUSS_LANES + 1) * GAUSS_LANES;
	for (; i < window->n; i += GAUSS_LANES)
		sum_border_lanes(window, p, i, rows_weight, mean);
}

static void
sum_window(struct gauss_window *window, size_t p)
{
	BY_RADIUS(sum_row, window->gauss->radius, window->columns[p] + GAUSS_EDGE, window->n,
	    window->gauss->kernel + GAUSS_EDGE, false, 0, window->sum[p]);
	sum_borders(window, p, 1, NULL);
}

/* The same and the means, where nothing is missing. Columns of the image's last, unfinished
 * GAUSS_LANES are near its border. */
static void
mean_window(struct gauss_window *window, size_t p, size_t y, float *restrict mean)
{
	size_t radius = window->gauss->radius;
	size_t far = gauss_window_reach(y, window->in->head.h, radius);
	float rows_weight = gauss_kernel_sum(window->gauss, far);
	float weight = rows_weight * gauss_kernel_sum(window->gauss, radius);

	BY_RADIUS(sum_row, radius, window->columns[p] + GAUSS_EDGE,
	    window->n / GAUSS_LANES * GAUSS_LANES, window->gauss->kernel + GAUSS_EDGE, true,
	    weight, mean);
	sum_borders(window, p, rows_weight, mean);
}

/* ---- out ---- */

/* `valid`: of the pixels in the middle, or NULL where nothing is missing. */
static void
put_phase(const struct gauss_window *restrict window, const float *restrict valid,
    float *restrict phase)
{
	const float *restrict cosine = window->sum[0], *restrict sine = window->sum[1];
	ALIGNED float tangent[GAUSS_TILE];

	#pragma omp simd aligned(sine, cosine: 64)
	for (size_t i = 0; i < window->n; i++)
		tangent[i] = px_atan2_tangent(sine[i], cosine[i]);
	if (!valid) {
		#pragma omp simd aligned(phase, sine, cosine: 64)
		for (size_t i = 0; i < window->n; i++)
			phase[i] = gauss_phase_by(tangent[i], sine[i], cosine[i], 1);
		return;
	}
	#pragma omp simd aligned(phase, sine, cosine, valid: 64)
	for (size_t i = 0; i < window->n; i++)
		phase[i] = gauss_phase_by(tangent[i], sine[i], cosine[i], valid[i]);
}

static void
put_mean(const struct gauss_window *restrict window, size_t p, const float *restrict valid,
    float *restrict mean)
{
	#pragma omp simd aligned(mean, valid: 64)
	for (size_t i = 0; i < window->n; i++)
		mean[i] = gauss_mean(window->sum[p][i], window->weight[i], valid[i]);
}

/* Asks for columns x .. x + n - 1 of a row, which are read soon, unless the plane is a window of a
 * band, which is in the cache. */
INLINED void
prefetch_row(const struct frame *frame, size_t c, size_t y, size_t x, size_t n)
{
	const float *row;

	if (y >= frame->head.h || frame->plane[c].rows > 0)
		return;
	row = frame_floats(frame, c, y) + x;
	for (size_t i = 0; i < n; i += 64 / sizeof(*row))
		__builtin_prefetch(row + i);
}

/*
 * What comes after row y: of the input below all that is read for it, and of the output. A tile
 * takes 1 KiB of a row, too little for the processor's own prefetching, so that a frame that no
 * cache holds is waited for: vectors of 2048x2048 pixels take 1.3 times as long without this, of
 * 800x600 as long as with it.
 */
static void
prefetch_rows(const struct gauss_window *window, size_t parts, size_t outputs,
    const struct frame *out, size_t y)
{
	size_t n, x = gauss_window_columns(window, &n);

	for (size_t p = 0; p < parts; p++)
		prefetch_row(window->in, window->job->in[p],
		    y + window->gauss->radius + GAUSS_BELOW + ROWS_AHEAD, x, n);
	for (size_t p = 0; p < outputs; p++)
		frame_write_soon(out, window->job->out[p], y + ROWS_AHEAD, window->x0, window->n);
}

/* Row y, from its sums over columns, which stand in column[at]. */
static void
filter_columns(struct gauss_window *window, struct frame *out, size_t y, size_t at)
{
	bool whole = window->whole_rows >= window->size;
	bool means = window->job->kind == KIND_PLAIN || window->gauss->vectors;
	const float *valid = window->row[window->gauss->radius]->valid + GAUSS_EDGE;
	size_t parts = parts_of(window), outputs = means ? parts : 1;
	float *to[2];

	prefetch_rows(window, window->job->kind == KIND_VECTOR ? 2 : 1, outputs, out, y);
	for (size_t p = 0; p < outputs; p++)
		to[p] = frame_floats(out, window->job->out[p], y) + window->x0;
	window->columns = (const float (*)[GAUSS_ACROSS])window->column[at];
	for (size_t p = 0; p < parts; p++) {
		if (whole && means)
			mean_window(window, p, y, to[p]);
		else
			sum_window(window, p);
	}
	if (!whole) {
		weigh_window(window, y);
		gauss_holes_mend(window, y);
	}
	if (!means)
		put_phase(window, whole ? NULL : valid, to[0]);
	else if (!whole)
		for (size_t p = 0; p < parts; p++)
			put_mean(window, p, valid, to[p]);
}

static void
filter_single_row(struct gauss_window *window, struct frame *out, size_t y)
{
	gauss_window_take(window, (ptrdiff_t)(y + window->gauss->radius));
	if (window->whole_rows < window->size)
		gauss_window_fill(window);
	/* all columns first: loads over two stores wait for these */
	for (size_t p = 0; p < parts_of(window); p++)
		sum_all_columns(window, p, y);
	filter_columns(window, out, y, 0);
}

static void
shorten(struct gauss_window *window, size_t x)
{
	size_t far = gauss_window_reach(x, window->in->head.w, window->gauss->radius);

	window->reach[x - window->x0] = (int32_t)far;
	window->columns_weight[x - window->x0] = gauss_kernel_sum(window->gauss, far);
}

/* How far the kernel reaches in the tile's columns, and its sum. */
static void
measure_columns(struct gauss_window *window)
{
	size_t radius = window->gauss->radius, w = window->in->head.w;
	size_t x0 = window->x0, n = window->n;
	float whole = gauss_kernel_sum(window->gauss, radius);

	for (size_t i = 0; i < GAUSS_TILE; i++) {
		window->reach[i] = (int32_t)radius;
		window->columns_weight[i] = whole;
	}
	for (size_t x = x0; x < x0 + n && x < radius; x++)
		shorten(window, x);
	for (size_t x = x0 + n; x > x0 && x + radius > w; x--)
		shorten(window, x - 1);
}

/* The window before it comes to row y0. */
static void
begin(struct gauss_window *window, size_t y0)
{
	ptrdiff_t radius = (ptrdiff_t)window->gauss->radius;

	window->size = 2 * window->gauss->radius + 1;
	window->margin = (window->gauss->radius + GAUSS_LANES - 1) / GAUSS_LANES * GAUSS_LANES;
	window->whole_rows = window->size;
	window->holed = false;
	memset(window->column, 0, sizeof(window->column));
	gauss_window_empty(window);
	measure_columns(window);
	for (ptrdiff_t y = (ptrdiff_t)y0 - radius; y < (ptrdiff_t)y0 + radius; y++) {
		gauss_window_shift(window, 1);
		gauss_window_take(window, y);
	}
}

static size_t
window_bytes(const struct gauss *gauss)
{
	return sizeof(struct gauss_window) +
	    (2 * gauss->radius + 1 + GAUSS_BELOW) * sizeof(struct gauss_row);
}

static size_t
gauss_plan_tiles(struct gauss *gauss, size_t w)
{
	size_t tiles = (w + GAUSS_TILE - 1) / GAUSS_TILE, bytes = window_bytes(gauss);

	gauss->tile = (w + tiles * GAUSS_LANES - 1) / (tiles * GAUSS_LANES) * GAUSS_LANES;
	gauss->tiles = (w + gauss->tile - 1) / gauss->tile;
	gauss->keeps = gauss->jobs <= KEPT_MOST / bytes / gauss->tiles;
	return gauss->keeps ? gauss->jobs * gauss->tiles * bytes : bytes;
}

/* Rows y0 <= y < y1 of a tile; if it continues, those behind the rows of the last call. */
static void
filter_tile(struct gauss_window *window, struct frame *out, size_t y0, size_t y1, bool continues)
{
	if (continues)
		gauss_window_resume(window);
	else
		begin(window, y0);
	for (size_t y = y0; y < y1; y++) {
		gauss_window_shift(window, 1);
		if (!sum_ahead(window, y, y1)) {
			filter_single_row(window, out, y);
			continue;
		}
		for (size_t at = 0; at < GAUSS_TOGETHER; at++)
			filter_columns(window, out, y + at, at);
		gauss_window_shift(window, GAUSS_BELOW);
		y += GAUSS_BELOW;
	}
}

static void
gauss_filter(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct gauss *gauss = run->priv;
	size_t w = in->head.w, tile = gauss->tile;

	for (size_t i = 0; i < gauss->jobs * gauss->tiles; i++) {
		struct gauss_window *window = (struct gauss_window *)((char *)scratch->memory +
		    (gauss->keeps ? i : 0) * window_bytes(gauss));

		window->in = in;
		window->gauss = gauss;
		window->job = &gauss->job[i / gauss->tiles];
		window->copies = gauss_window_must_copy(in, window->job, gauss->radius);
		window->x0 = i % gauss->tiles * tile;
		window->n = w - window->x0 < tile ? w - window->x0 : tile;
		filter_tile(window, out, y0, y1, gauss->keeps && scratch->continues);
	}
	if (gauss->sigmas)
		gauss_sigma_rows(gauss, in, out, y0, y1,
		    (char *)scratch->memory + gauss->sigma_offset, scratch->continues);
}

const struct gauss_rows AT_LEVEL(gauss_rows) = {
	.sigma_bytes = gauss_sigma_bytes,
	.plan_tiles = gauss_plan_tiles,
	.filter = gauss_filter,
};
