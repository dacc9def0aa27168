/*
 * The loops over pixels of gauss.c. A tile of columns goes down the band with the rows of one
 * window: columns are summed first, then rows. Rows of a channel or a vector are read where they
 * lie as long as nothing is missing in the window. LANES columns beside a hole are mended: where
 * few pixels are missing, what their mirror images gave is taken off again, else all pairs are
 * summed.
 */
#include "frame/frame.h"
#include "gauss.px.h"
#include "base/cpu_level.h"

#include <string.h>

#if CPU_VECTOR_BYTES == 64
#include <immintrin.h>
#endif

#define SIZE_MOST 101
#define RADIUS_MOST (SIZE_MOST / 2)
#define LANES 16		/* columns that are mended together */
#define TILE 272		/* columns filtered together: 11 rows of them stay in an L1 cache */
#define EDGE 80			/* columns beside a tile: radius in whole LANES, and LANES */
#define ACROSS (EDGE + TILE + EDGE)
/* So many missing pixels are taken off one by one, which costs less than all pairs and keeps most
 * of them: what remains is no small difference of large sums. */
#define FEW(size) ((size) * (size) / 6)
#define WORDS ((SIZE_MOST + 31) / 32)

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
#define BY_RADIUS(function, radius, ...) ((radius) == 5 ? function(5, __VA_ARGS__) : \
    (radius) == 4 ? function(4, __VA_ARGS__) : (radius) == 3 ? function(3, __VA_ARGS__) : \
    (radius) == 2 ? function(2, __VA_ARGS__) : function(radius, __VA_ARGS__))

enum kind { KIND_PHASE, KIND_VECTOR, KIND_PLAIN };

/* One thing that is filtered. */
struct job {
	enum kind kind;
	size_t in[2];		/* phase; cos and sin; the channel, twice */
	size_t out[2];		/* phase; cos and sin; the channel */
};

struct priv {
	size_t radius, jobs, passes;
	float kernel[2 * EDGE + 1];	/* along one axis, 1 at EDGE, 0 beyond the radius */
	struct job *job;
	size_t (*pass)[2];		/* input and output channel of what is not filtered */
	bool vectors;			/* what comes out for a phase or a vector */
};

/* A row of the window. Of these and the like, column x0 of the image is number EDGE. */
struct row {
	ptrdiff_t y;
	const float *tap[2];	/* column x0, here or in the input; only columns of the image */
	bool filled;				/* what follows; 0 outside the image */
	ALIGNED float part[2][ACROSS];		/* cos and sin, or the value */
	float valid[ACROSS];			/* 1 or 0 */
};

struct hole {
	uint32_t row, column;
};

struct strip {
	struct row ring[SIZE_MOST], *row[SIZE_MOST];	/* the window's, from the top */
	ALIGNED uint32_t missing[WORDS][ACROSS];	/* a bit for each row of the window */
	ALIGNED float column[2][ACROSS];		/* sums over columns */
	ALIGNED float sum[2][TILE], weight[TILE];	/* from here on column x0 is number 0 */
	float columns_weight[TILE];		/* of a row of the kernel, shortened at borders */
	int32_t reach[TILE];				/* and its radius */
	const struct frame *in;
	const struct priv *priv;
	const struct job *job;
	size_t x0, n, margin, size;
	size_t whole_rows;				/* since the last one with a hole */
	bool holed;					/* there was one: `missing` is valid */
};

/* ---- rows into the ring; they tell how many pixels are missing ---- */

static uint
load_phase(const float *restrict phase, float *restrict cosine, float *restrict sine,
    float *restrict valid, size_t n)
{
	uint missing = 0;

	#pragma omp simd reduction(+:missing) aligned(phase, cosine, sine, valid: 64)
	for (size_t i = 0; i < n; i++) {
		PX_F p = phase[i];
		uint there = gauss_there(p);

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
clear(struct row *row, size_t from, size_t to)
{
	memset(row->part[0] + from, 0, (to - from) * sizeof(float));
	memset(row->part[1] + from, 0, (to - from) * sizeof(float));
	memset(row->valid + from, 0, (to - from) * sizeof(float));
}

static bool
is_inside(const struct strip *strip, const struct row *row)
{
	return row->y >= 0 && (size_t)row->y < strip->in->head.h;
}

/* The tile's columns with their neighbours, as far as they are in the image. */
static size_t
columns(const struct strip *strip, size_t *n)
{
	size_t x0 = strip->x0, margin = strip->margin, w = strip->in->head.w;
	size_t x = x0 < margin ? 0 : x0 - margin, end = x0 + strip->n + margin;

	*n = (end < w ? end : w) - x;
	return x;
}

/* Copies the row out of the input; true if something is missing. */
static bool
fill(const struct strip *strip, struct row *row)
{
	size_t n, x = columns(strip, &n), first = EDGE + x - strip->x0, y = (size_t)row->y;
	float *part0 = row->part[0] + first, *part1 = row->part[1] + first;
	const float *in0, *in1;

	row->filled = true;
	if (!is_inside(strip, row)) {
		clear(row, 0, ACROSS);
		return false;
	}
	in0 = frame_floats(strip->in, strip->job->in[0], y) + x;
	in1 = frame_floats(strip->in, strip->job->in[1], y) + x;
	row->tap[0] = row->part[0] + EDGE;
	row->tap[1] = row->part[1] + EDGE;
	clear(row, EDGE - strip->margin - LANES, first);
	clear(row, first + n, EDGE + strip->n + strip->margin + LANES);
	if (strip->job->kind == KIND_PHASE)
		return load_phase(in0, part0, part1, row->valid + first, n);
	return load_vector(in0, in1, part0, part1, row->valid + first, n);
}

static bool
is_whole(const float *restrict a, const float *restrict b, size_t n)
{
	uint missing = 0;

	#pragma omp simd reduction(|:missing) aligned(a, b: 64)
	for (size_t i = 0; i < n; i++)
		missing |= (uint)__builtin_isunordered(a[i], b[i]);
	return missing == 0;
}

/* Gets a row of the image; true if something is missing. */
static bool
load(const struct strip *strip, struct row *row)
{
	size_t n, x = columns(strip, &n);
	const float *in[2];

	if (strip->job->kind == KIND_PHASE)
		return fill(strip, row);
	for (size_t p = 0; p < 2; p++) {
		in[p] = frame_floats(strip->in, strip->job->in[p], (size_t)row->y);
		row->tap[p] = in[p] + strip->x0;
	}
	if (is_whole(in[0] + x, in[1] + x, n))
		return false;
	return fill(strip, row);
}

/* The window's rows of missing pixels go up by one; `valid` comes in at the bottom, or NULL. Only
 * pixels of the image are missing. */
static void
shift_missing(struct strip *strip, const float *restrict valid)
{
	size_t last = (strip->size - 1) / 32, w = strip->in->head.w;
	size_t first = strip->x0 < EDGE ? EDGE - strip->x0 : 0;
	size_t end = w - strip->x0 < ACROSS - EDGE ? EDGE + w - strip->x0 : ACROSS;
	uint32_t *restrict missing = strip->missing[last];
	uint32_t bit = (uint32_t)1 << (strip->size - 1) % 32;

	if (!strip->holed)
		memset(strip->missing, 0, sizeof(strip->missing));
	strip->holed = true;
	for (size_t k = 0; k < last; k++)
		for (size_t i = 0; i < ACROSS; i++)
			strip->missing[k][i] =
			    strip->missing[k][i] >> 1 | strip->missing[k + 1][i] << 31;
	for (size_t i = 0; i < ACROSS; i++)
		missing[i] >>= 1;
	for (size_t i = first; valid && i < end; i++)
		missing[i] |= valid[i] == 0 ? bit : 0;
}

/* Row y comes in at the bottom of the window. */
static void
advance(struct strip *strip, ptrdiff_t y)
{
	struct row *row = strip->row[0];
	bool holed = false;

	memmove(strip->row, strip->row + 1, (strip->size - 1) * sizeof(*strip->row));
	strip->row[strip->size - 1] = row;
	row->y = y;
	row->filled = false;
	if (is_inside(strip, row))
		holed = load(strip, row);
	strip->whole_rows = holed ? 0 : strip->whole_rows + 1;
	if (strip->whole_rows <= strip->size)
		shift_missing(strip, holed ? row->valid : NULL);
}

/* ---- nothing is missing: columns, then rows ---- */

/* Neighbours lie in the same column of row[-radius] .. row[radius] (part p, from column x0 + first
 * on). */
INLINED void
sum_columns(size_t radius, struct row *const *row, size_t p, ptrdiff_t first, size_t n,
    const float *kernel, float *restrict sum)
{
	const float *tap[2 * RADIUS_MOST + 1];

	for (size_t k = 0; k <= 2 * radius; k++)
		tap[k] = row[k - radius]->tap[p] + first;
	for (size_t i = 0; i < n; i += WIDTH) {
		vector total = VECTOR_IN(tap[radius] + i);

		#pragma GCC unroll 5
		for (size_t k = 1; k <= radius; k++)
			total += kernel[k] *
			    (VECTOR_IN(tap[radius - k] + i) + VECTOR_IN(tap[radius + k] + i));
		VECTOR(sum + i) = total;
	}
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

INLINED void
sum_row(size_t radius, const float *column, size_t n, const float *kernel, float *restrict sum)
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
		VECTOR(sum + i) = total;
		before = middle;
		middle = after;
	}
}

/* If not all LANES columns from i on have a whole window. */
static bool
near_border(const struct strip *strip, size_t i)
{
	size_t x = strip->x0 + i, radius = strip->priv->radius;

	return x < radius || x + LANES + radius > strip->in->head.w;
}

/* LANES columns near the left or right border: a shorter kernel. */
INLINED void
sum_border(size_t radius, const float *column, const int32_t *reaches, const float *kernel,
    float *restrict sum)
{
	for (size_t i = 0; i < LANES; i += WIDTH) {
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

static size_t
reach(size_t at, size_t n, size_t radius)
{
	size_t to_border = at < n - 1 - at ? at : n - 1 - at;

	return to_border < radius ? to_border : radius;
}

static float
kernel_sum(const struct priv *priv, size_t radius)
{
	float sum = 0;

	for (size_t k = radius; k > 0; k--)
		sum += 2 * priv->kernel[EDGE + k];
	return sum + 1;
}

/* Sums over the columns of row y's window. What lies outside the image is not used. */
static void
sum_all_columns(struct strip *strip, size_t p, size_t y)
{
	size_t n, x = columns(strip, &n), first = EDGE + x - strip->x0;

	BY_RADIUS(sum_columns, reach(y, strip->in->head.h, strip->priv->radius),
	    strip->row + strip->priv->radius, p, (ptrdiff_t)(first - EDGE), n,
	    strip->priv->kernel + EDGE, strip->column[p] + first);
}

static void
weigh_window(struct strip *strip, size_t y)
{
	size_t far = reach(y, strip->in->head.h, strip->priv->radius);
	float rows_weight = kernel_sum(strip->priv, far);

	for (size_t i = 0; i < strip->n; i++)
		strip->weight[i] = rows_weight * strip->columns_weight[i];
}

static void
sum_window(struct strip *strip, size_t p)
{
	const float *kernel = strip->priv->kernel + EDGE, *column = strip->column[p] + EDGE;
	size_t radius = strip->priv->radius, x0 = strip->x0, w = strip->in->head.w;

	BY_RADIUS(sum_row, radius, column, strip->n, kernel, strip->sum[p]);
	for (size_t i = 0; i < strip->n; i += LANES)
		if (near_border(strip, i))
			BY_RADIUS(sum_border, radius, column + i, strip->reach + i, kernel,
			    strip->sum[p] + i);
		else	/* so are all up to the last one before the right border */
			i = (w - radius - LANES - x0) / LANES * LANES;
}

/* ---- something is missing ---- */

struct sums {
	vector part[2], weight;
};

/* A row of the window from column `from` on, with its mirror image. */
INLINED void
add_mirrored(struct sums *sums, const struct row *above, const struct row *below,
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
sum_mirrored(size_t radius, struct strip *strip, size_t i)
{
	const float *kernel = strip->priv->kernel + EDGE;
	struct row *const *row = strip->row + radius;
	size_t at = EDGE + i;
	struct sums sums = { { VECTOR_IN(row[0]->part[0] + at), VECTOR_IN(row[0]->part[1] + at) },
		VECTOR_IN(row[0]->valid + at) };

	add_mirrored(&sums, row[0], row[0], kernel, 1, radius + 1, radius, at);
	for (size_t k = 1; k <= radius; k++)
		add_mirrored(&sums, row[-(ptrdiff_t)k], row[k], kernel, kernel[k], 0, radius, at);
	VECTOR(strip->sum[0] + i) = sums.part[0];
	VECTOR(strip->sum[1] + i) = sums.part[1];
	VECTOR(strip->weight + i) = sums.weight;
}

/* Of 2 WIDTH numbers those with even index. */
static vector
even(const float *v)
{
	static const int32_t index[] =
	    { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 };

	return __builtin_shuffle(VECTOR_IN(v), VECTOR_IN(v + WIDTH), WHOLE_IN(index));
}

/* The mirror images of n missing pixels do not count. */
static void
take_off(struct strip *strip, const struct hole *hole, size_t n, size_t i0)
{
	const float *kernel = strip->priv->kernel;

	for (size_t i = i0 + EDGE; i < i0 + EDGE + LANES; i += WIDTH) {
		vector all = VECTOR_IN(strip->weight + i - EDGE);
		vector sum0 = VECTOR_IN(strip->sum[0] + i - EDGE);
		vector sum1 = VECTOR_IN(strip->sum[1] + i - EDGE);

		for (size_t k = 0; k < n; k++) {
			const struct row *mirror = strip->row[strip->size - 1 - hole[k].row];
			size_t at = 2 * i - hole[k].column;
			vector w = kernel[EDGE + hole[k].row - strip->priv->radius] *
			    VECTOR_IN(kernel + EDGE + i - hole[k].column);

			sum0 -= w * even(mirror->part[0] + at);
			sum1 -= w * even(mirror->part[1] + at);
			all -= w * (even(mirror->valid + at) + 1);
		}
		VECTOR(strip->sum[0] + i - EDGE) = sum0;
		VECTOR(strip->sum[1] + i - EDGE) = sum1;
		VECTOR(strip->weight + i - EDGE) = all;
	}
}

static uint64_t
two_columns(const uint32_t *missing)
{
	return missing[0] | (uint64_t)missing[1] << 32;
}

/* How many are missing in the windows of LANES columns from i0 on. */
static size_t
count_holes(const struct strip *strip, size_t i0)
{
	size_t first = EDGE + i0 - strip->priv->radius, n = 0;

	for (size_t k = 0; k <= (strip->size - 1) / 32; k++)
		for (size_t i = 0; i < LANES + strip->size - 1; i += 2)
			n += (size_t)__builtin_popcountll(
			    two_columns(strip->missing[k] + first + i));
	return n;
}

static void
list_holes(const struct strip *strip, size_t i0, struct hole *hole)
{
	size_t first = EDGE + i0 - strip->priv->radius;

	for (uint k = 0; k <= (strip->size - 1) / 32; k++)
		for (size_t i = first; i < first + LANES + strip->size - 1; i += 2) {
			uint64_t bits = two_columns(strip->missing[k] + i);

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
	for (size_t i = 0; i < LANES; i++)
		any |= px_bits(valid[i]);
	return any;
}

static void
mend_holes(struct strip *strip, size_t y)
{
	size_t radius = strip->priv->radius;
	bool cut = reach(y, strip->in->head.h, radius) < radius;
	struct hole hole[FEW(SIZE_MOST)];

	for (size_t i = 0; i < strip->n; i += LANES) {
		size_t n = count_holes(strip, i);

		if (n == 0 || !any_there(strip->row[radius]->valid + EDGE + i))
			continue;
		if (n > FEW(strip->size) || cut || near_border(strip, i)) {
			for (size_t k = i; k < i + LANES; k += WIDTH)
				BY_RADIUS(sum_mirrored, radius, strip, k);
		} else {
			list_holes(strip, i, hole);
			take_off(strip, hole, n, i);
		}
	}
}

/* ---- out ---- */

/* `valid`: of the pixels in the middle, or NULL where nothing is missing. */
static void
put_phase(const struct strip *restrict strip, const float *restrict valid, float *restrict phase)
{
	const float *restrict cosine = strip->sum[0], *restrict sine = strip->sum[1];

	if (!valid) {
		#pragma omp simd aligned(phase, sine, cosine: 64)
		for (size_t i = 0; i < strip->n; i++)
			phase[i] = gauss_phase(sine[i], cosine[i], 1);
		return;
	}
	#pragma omp simd aligned(phase, sine, cosine, valid: 64)
	for (size_t i = 0; i < strip->n; i++)
		phase[i] = gauss_phase(sine[i], cosine[i], valid[i]);
}

static void
put_mean(const struct strip *restrict strip, size_t p, const float *restrict valid,
    float *restrict mean)
{
	if (!valid) {
		#pragma omp simd aligned(mean: 64)
		for (size_t i = 0; i < strip->n; i++)
			mean[i] = gauss_mean(strip->sum[p][i], strip->weight[i], 1);
		return;
	}
	#pragma omp simd aligned(mean, valid: 64)
	for (size_t i = 0; i < strip->n; i++)
		mean[i] = gauss_mean(strip->sum[p][i], strip->weight[i], valid[i]);
}

static void
put(struct strip *strip, struct frame *out, size_t y, const float *valid)
{
	const size_t *to = strip->job->out;

	if (strip->job->kind != KIND_PLAIN && !strip->priv->vectors) {
		put_phase(strip, valid, frame_floats(out, to[0], y) + strip->x0);
		return;
	}
	put_mean(strip, 0, valid, frame_floats(out, to[0], y) + strip->x0);
	if (strip->job->kind != KIND_PLAIN)
		put_mean(strip, 1, valid, frame_floats(out, to[1], y) + strip->x0);
}

static void
filter_row(struct strip *strip, struct frame *out, size_t y)
{
	bool whole = strip->whole_rows >= strip->size;

	for (size_t k = 0; k < strip->size && !whole; k++)
		if (!strip->row[k]->filled)
			fill(strip, strip->row[k]);
	for (size_t p = 0; p < (strip->job->kind == KIND_PLAIN ? 1 : 2); p++) {
		sum_all_columns(strip, p, y);
		sum_window(strip, p);
	}
	if (!whole || strip->job->kind == KIND_PLAIN || strip->priv->vectors)
		weigh_window(strip, y);
	if (!whole)
		mend_holes(strip, y);
	put(strip, out, y, whole ? NULL : strip->row[strip->priv->radius]->valid + EDGE);
}

static void
shorten(struct strip *strip, size_t x)
{
	size_t far = reach(x, strip->in->head.w, strip->priv->radius);

	strip->reach[x - strip->x0] = (int32_t)far;
	strip->columns_weight[x - strip->x0] = kernel_sum(strip->priv, far);
}

/* How far the kernel reaches in the tile's columns, and its sum. */
static void
measure_columns(struct strip *strip)
{
	size_t radius = strip->priv->radius, x0 = strip->x0, n = strip->n, w = strip->in->head.w;
	float whole = kernel_sum(strip->priv, radius);

	for (size_t i = 0; i < TILE; i++) {
		strip->reach[i] = (int32_t)radius;
		strip->columns_weight[i] = whole;
	}
	for (size_t x = x0; x < x0 + n && x < radius; x++)
		shorten(strip, x);
	for (size_t x = x0 + n; x > x0 && x + radius > w; x--)
		shorten(strip, x - 1);
}

static void
filter_tile(struct strip *strip, struct frame *out, size_t y0, size_t y1)
{
	ptrdiff_t radius = (ptrdiff_t)strip->priv->radius;

	strip->size = 2 * strip->priv->radius + 1;
	strip->margin = (strip->priv->radius + LANES - 1) / LANES * LANES;
	strip->whole_rows = strip->size;
	strip->holed = false;
	memset(strip->column, 0, sizeof(strip->column));
	for (size_t k = 0; k < strip->size; k++)
		strip->row[k] = &strip->ring[k];
	measure_columns(strip);
	for (ptrdiff_t y = (ptrdiff_t)y0 - radius; y < (ptrdiff_t)y0 + radius; y++)
		advance(strip, y);
	for (size_t y = y0; y < y1; y++) {
		advance(strip, (ptrdiff_t)y + radius);
		filter_row(strip, out, y);
	}
}
