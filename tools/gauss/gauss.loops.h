/* The loops over pixels of gauss.c. */
#include "frame.h"
#include "gauss.px.h"
#include "rows.h"

#include <string.h>

#define SIZE_MOST 101
#define RADIUS_MOST (SIZE_MOST / 2)
#define TILE 256		/* columns that are filtered together */
#define RING 24576		/* floats for the rows of a window over one tile */
#define LANES 16		/* columns that are filtered together where pixels are missing */

/* Columns of a buffer, as many as the machine takes at once. The sums stay in registers over a whole
 * window, which compilers do not manage with a loop over columns inside one over neighbours. */
#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
typedef float vector __attribute__((vector_size(WIDTH * sizeof(float)), aligned(4), may_alias));
#define VECTOR(p) (*(vector *)(p))
#define VECTOR_IN(p) (*(const vector *)(p))

enum kind { KIND_PHASE, KIND_VECTOR, KIND_PLAIN };

/* One thing that is filtered. */
struct job {
	enum kind kind;
	size_t in[2];		/* phase; cos and sin; the channel */
	size_t out[2];		/* phase; cos and sin; the channel */
};

struct priv {
	size_t radius, jobs, passes;
	float weight[RADIUS_MOST + 1];	/* of distance 0, 1, ..; all of the kernel together 1 */
	struct job *job;
	size_t (*pass)[2];		/* input and output channel of what is not filtered */
	bool vectors;			/* what comes out for a phase or a vector */
};

/* The rows of a window over one tile, each `stride` floats from column x0 - radius on, in a ring. */
struct strip {
	const struct frame *in;
	const struct priv *priv;
	const struct job *job;
	size_t x0, n, stride, parts;
	float part[2][RING], valid[RING];		/* cos and sin, or the value; 1 or 0 */
	float missing[TILE + 2 * RADIUS_MOST + LANES];	/* pixels in the window's part of a column */
	bool holed[SIZE_MOST];
	size_t holed_rows;
	float column[2][TILE + 2 * RADIUS_MOST + LANES];	/* sums over columns */
	float sum[2][TILE], weight[TILE];
};

/* ---- rows into the ring ---- */

static void
load_phase(const float *restrict phase, float *restrict cosine, float *restrict sine,
    float *restrict valid, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F p = phase[i];
		uint there = gauss_there(p);

		p = gauss_part(p, there);
		valid[i] = gauss_part(1, there);
		cosine[i] = gauss_part(px_cos(p), there);
		sine[i] = px_sin(p);
	}
}

static void
load_vector(const float *restrict a, const float *restrict b, float *restrict cosine,
    float *restrict sine, float *restrict valid, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F c = a[i], s = b[i];
		uint there = gauss_there(c) & gauss_there(s);

		valid[i] = gauss_part(1, there);
		cosine[i] = gauss_part(c, there);
		sine[i] = gauss_part(s, there);
	}
}

static void
load_plain(const float *restrict in, float *restrict part, float *restrict valid, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F p = in[i];
		uint there = gauss_there(p);

		valid[i] = gauss_part(1, there);
		part[i] = gauss_part(p, there);
	}
}

static bool
add_missing(const float *restrict valid, float *restrict missing, size_t n, float sign)
{
	float sum = 0;

	#pragma omp simd reduction(+:sum)
	for (size_t i = 0; i < n; i++) {
		missing[i] += sign * (1 - valid[i]);
		sum += 1 - valid[i];
	}
	return sum > 0;
}

static float *
ring_row(struct strip *strip, float *ring, size_t y)
{
	return ring + y % (2 * strip->priv->radius + 1) * strip->stride;
}

/* The columns of the strip that lie in the image: from `first` of the strip on. */
static size_t
columns(const struct strip *strip, size_t *first)
{
	size_t radius = strip->priv->radius, w = strip->in->head.w;
	size_t end = strip->x0 + strip->n + radius;

	*first = strip->x0 < radius ? radius - strip->x0 : 0;
	return (end < w ? end : w) + radius - strip->x0 - *first;
}

/* Row y takes the place of row y - size. A row outside the image has nothing that could be missed. */
static void
advance(struct strip *strip, size_t y)
{
	size_t slot = y % (2 * strip->priv->radius + 1), first, n = columns(strip, &first);
	float *valid = ring_row(strip, strip->valid, y) + first;
	float *part0 = ring_row(strip, strip->part[0], y) + first;
	float *part1 = ring_row(strip, strip->part[1], y) + first;
	size_t x = strip->x0 + first - strip->priv->radius;
	const float *in0, *in1;

	if (strip->holed[slot])
		add_missing(valid, strip->missing + first, n, -1);
	strip->holed_rows -= strip->holed[slot];
	strip->holed[slot] = false;
	if (y >= strip->in->head.h)
		return;
	in0 = frame_floats(strip->in, strip->job->in[0], y) + x;
	in1 = frame_floats(strip->in, strip->job->in[1], y) + x;
	if (strip->job->kind == KIND_PHASE)
		load_phase(in0, part0, part1, valid, n);
	else if (strip->job->kind == KIND_VECTOR)
		load_vector(in0, in1, part0, part1, valid, n);
	else
		load_plain(in0, part0, valid, n);
	strip->holed[slot] = add_missing(valid, strip->missing + first, n, 1);
	strip->holed_rows += strip->holed[slot];
}

/* ---- nothing is missing: columns, then rows ---- */

struct pairs {
	const float *centre, *before[RADIUS_MOST], *after[RADIUS_MOST];
	size_t n;
};

/* n is rounded up to whole LANES. */
static void
sum_pairs(const struct pairs *pairs, const float *weight, float *sum, size_t n)
{
	for (size_t i = 0; i < n; i += WIDTH) {
		vector total = weight[0] * VECTOR_IN(pairs->centre + i);

		for (size_t k = 0; k < pairs->n; k++)
			total += weight[k + 1] *
			    (VECTOR_IN(pairs->before[k] + i) + VECTOR_IN(pairs->after[k] + i));
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
kernel_sum(const float *weight, size_t radius)
{
	float sum = 0;

	for (size_t k = radius; k > 0; k--)
		sum += 2 * weight[k];
	return sum + weight[0];
}

static void
sum_columns(struct strip *strip, size_t p, size_t y)
{
	struct pairs pairs = { .n = reach(y, strip->in->head.h, strip->priv->radius) };

	pairs.centre = ring_row(strip, strip->part[p], y);
	for (size_t k = 0; k < pairs.n; k++) {
		pairs.before[k] = ring_row(strip, strip->part[p], y - k - 1);
		pairs.after[k] = ring_row(strip, strip->part[p], y + k + 1);
	}
	sum_pairs(&pairs, strip->priv->weight, strip->column[p], strip->stride);
}

/* Columns i0 .. i1 - 1 near the left or right border: a shorter kernel. */
static void
sum_border(struct strip *strip, size_t p, size_t i0, size_t i1)
{
	const float *column = strip->column[p] + strip->priv->radius, *weight = strip->priv->weight;

	for (size_t i = i0; i < i1; i++) {
		size_t radius = reach(strip->x0 + i, strip->in->head.w, strip->priv->radius);
		float sum = weight[0] * column[i];

		for (size_t k = 1; k <= radius; k++)
			sum += gauss_pair(weight[k], column[i - k], column[i + k]);
		strip->sum[p][i] = sum;
		strip->weight[i] = kernel_sum(weight, radius);
	}
}

static void
sum_rows(struct strip *strip, size_t p)
{
	size_t radius = strip->priv->radius, w = strip->in->head.w, n = strip->n;
	size_t left = strip->x0 < radius ? radius - strip->x0 : 0;
	size_t right = w < radius + strip->x0 ? 0 : w - radius - strip->x0;
	const float *column = strip->column[p] + radius;
	struct pairs pairs = { .centre = column, .n = radius };

	for (size_t k = 0; k < radius; k++) {
		pairs.before[k] = column - k - 1;
		pairs.after[k] = column + k + 1;
	}
	sum_pairs(&pairs, strip->priv->weight, strip->sum[p], n);
	sum_border(strip, p, 0, left < n ? left : n);
	sum_border(strip, p, right < n ? right : n, n);
}

static void
sum_window(struct strip *strip, size_t y)
{
	const float *weight = strip->priv->weight;
	size_t radius = strip->priv->radius;
	float rows = kernel_sum(weight, reach(y, strip->in->head.h, radius));
	float all = kernel_sum(weight, radius);

	for (size_t i = 0; i < strip->n; i++)
		strip->weight[i] = all;
	for (size_t p = 0; p < strip->parts; p++) {
		sum_columns(strip, p, y);
		sum_rows(strip, p);
	}
	for (size_t i = 0; i < strip->n; i++)
		strip->weight[i] *= rows;
}

/* ---- something is missing: every pixel of the window with its mirror image ---- */

static void
sum_mirrored(struct strip *strip, size_t y, size_t i0)
{
	const float *weight = strip->priv->weight, *valid = strip->valid;
	const float *part0 = strip->part[0], *part1 = strip->part[1];
	size_t radius = strip->priv->radius, size = 2 * radius + 1, stride = strip->stride;
	size_t far = reach(y, strip->in->head.h, radius), centre = y % size * stride + radius + i0;
	float w = weight[0] * weight[0];
	vector all = w * VECTOR_IN(valid + centre);
	vector sum0 = w * VECTOR_IN(part0 + centre), sum1 = w * VECTOR_IN(part1 + centre);

	for (size_t dy = 0; dy <= far; dy++) {
		size_t above = (y - dy) % size * stride + i0, below = (y + dy) % size * stride + i0;

		for (size_t x = dy ? 0 : radius + 1; x < size; x++) {
			size_t a = above + size - 1 - x, b = below + x;
			vector both = VECTOR_IN(valid + a) * VECTOR_IN(valid + b);

			w = weight[dy] * weight[x < radius ? radius - x : x - radius];
			both *= w;
			sum0 += both * (VECTOR_IN(part0 + a) + VECTOR_IN(part0 + b));
			sum1 += both * (VECTOR_IN(part1 + a) + VECTOR_IN(part1 + b));
			all += both + both;
		}
	}
	VECTOR(strip->sum[0] + i0) = sum0;
	VECTOR(strip->sum[1] + i0) = sum1;
	VECTOR(strip->weight + i0) = all;
}

static bool
any_positive(const float *v, size_t n)
{
	float sum = 0;

	#pragma omp simd reduction(+:sum)
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum > 0;
}

static void
mend_holes(struct strip *strip, size_t y)
{
	const float *valid = ring_row(strip, strip->valid, y) + strip->priv->radius;

	for (size_t i = 0; i < strip->n; i += LANES) {
		size_t n = strip->n - i < LANES ? strip->n - i : LANES;

		if (any_positive(strip->missing + i, n + 2 * strip->priv->radius) &&
		    any_positive(valid + i, n))
			for (size_t k = 0; k < n; k += WIDTH)
				sum_mirrored(strip, y, i + k);
	}
}

/* ---- out ---- */

static void
put_phase(const struct strip *restrict strip, const float *restrict valid, float *restrict phase)
{
	ROWS_SIMD
	for (size_t i = 0; i < strip->n; i++)
		phase[i] = gauss_phase(strip->sum[1][i], strip->sum[0][i], valid[i]);
}

static void
put_mean(const struct strip *restrict strip, size_t p, const float *restrict valid,
    float *restrict mean)
{
	ROWS_SIMD
	for (size_t i = 0; i < strip->n; i++)
		mean[i] = gauss_mean(strip->sum[p][i], strip->weight[i], valid[i]);
}

static void
put(struct strip *strip, struct frame *out, size_t y)
{
	const float *valid = ring_row(strip, strip->valid, y) + strip->priv->radius;
	size_t x = strip->x0;

	if (strip->job->kind == KIND_PLAIN) {
		put_mean(strip, 0, valid, frame_floats(out, strip->job->out[0], y) + x);
	} else if (strip->priv->vectors) {
		put_mean(strip, 0, valid, frame_floats(out, strip->job->out[0], y) + x);
		put_mean(strip, 1, valid, frame_floats(out, strip->job->out[1], y) + x);
	} else {
		put_phase(strip, valid, frame_floats(out, strip->job->out[0], y) + x);
	}
}

static void
filter_tile(struct strip *strip, struct frame *out, size_t y0, size_t y1)
{
	size_t radius = strip->priv->radius, size = 2 * radius + 1;
	size_t bytes = size * strip->stride * sizeof(float);

	memset(strip->part[0], 0, bytes);
	memset(strip->part[1], 0, bytes);
	memset(strip->valid, 0, bytes);
	memset(strip->missing, 0, sizeof(strip->missing));
	memset(strip->holed, 0, sizeof(strip->holed));
	strip->holed_rows = 0;
	for (size_t y = y0 < radius ? 0 : y0 - radius; y < y0 + radius; y++)
		advance(strip, y);
	for (size_t y = y0; y < y1; y++) {
		advance(strip, y + radius);
		sum_window(strip, y);
		if (strip->holed_rows)
			mend_holes(strip, y);
		put(strip, out, y);
	}
}
