/*
 * The loops of wff: Fourier transforms of patches, the filter of one window, and the rows of a
 * phase before and after it.
 */
#include "wff.h"

#include "base/transpose.h"
#include "wff.px.h"

/* ---- transforms ---- */

#define BLOCK 16		/* of a transposition */

/* exp(-2 pi i j/len) for j = i, 2 i, 3 i. */
static struct wff_twiddles
twiddles(const struct patch_fft *fft, size_t i, size_t len)
{
	size_t k = i * (fft->n / len), m = fft->n - 1;

	return (struct wff_twiddles){ fft->cos[k], fft->sin[k], fft->cos[2 * k & m],
		fft->sin[2 * k & m], fft->cos[3 * k & m], fft->sin[3 * k & m] };
}

/* A step of the transform of n columns: name() does to four rows what `of` does to four samples. */
#define FOUR_ROWS(name, of) \
	static void \
	name(float *restrict ar, float *restrict ai, float *restrict br, float *restrict bi, \
	    float *restrict cr, float *restrict ci, float *restrict dr, float *restrict di, \
	    struct wff_twiddles w, size_t n) \
	{ \
		CPU_SIMD \
		for (size_t x = 0; x < n; x++) { \
			struct wff_four v = of((struct wff_four){ ar[x], ai[x], br[x], bi[x], \
				cr[x], ci[x], dr[x], di[x] }, w); \
\
			ar[x] = v.ar; \
			ai[x] = v.ai; \
			br[x] = v.br; \
			bi[x] = v.bi; \
			cr[x] = v.cr; \
			ci[x] = v.ci; \
			dr[x] = v.dr; \
			di[x] = v.di; \
		} \
	}

FOUR_ROWS(split_rows, wff_split)
FOUR_ROWS(join_rows, wff_join)

static void
sum_rows(float *restrict a, float *restrict b, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float sum = a[x] + b[x];

		b[x] = a[x] - b[x];
		a[x] = sum;
	}
}

static void
pairs(const struct patch_fft *fft, struct patch v)
{
	size_t n = fft->n;

	for (size_t y = 0; y < n; y += 2) {
		sum_rows(v.re + y * n, v.re + (y + 1) * n, n);
		sum_rows(v.im + y * n, v.im + (y + 1) * n, n);
	}
}

static void
fours(const struct patch_fft *fft, struct patch v, size_t len,
    void (*butterfly)(float *restrict, float *restrict, float *restrict, float *restrict,
    float *restrict, float *restrict, float *restrict, float *restrict, struct wff_twiddles,
    size_t))
{
	size_t n = fft->n, q = len / 4 * n;

	for (size_t i = 0; i < len / 4; i++) {
		struct wff_twiddles w = twiddles(fft, i, len);

		for (size_t block = 0; block < n; block += len) {
			float *re = v.re + (block + i) * n, *im = v.im + (block + i) * n;

			butterfly(re, im, re + q, im + q, re + 2 * q, im + 2 * q, re + 3 * q,
			    im + 3 * q, w, n);
		}
	}
}

static void
columns_forward(const struct patch_fft *fft, struct patch v)
{
	size_t len = fft->n;

	for (; len >= 4; len /= 4)
		fours(fft, v, len, split_rows);
	if (len == 2)
		pairs(fft, v);
}

static void
columns_inverse(const struct patch_fft *fft, struct patch v)
{
	size_t len = fft->n;

	while (len > 4)
		len /= 4;
	if (len == 2)
		pairs(fft, v);
	for (len = len == 2 ? 8 : 4; len <= fft->n; len *= 4)
		fours(fft, v, len, join_rows);
}

/* Transposes four rows of four samples. */
static inline void
transpose_block(const float *restrict from, float *restrict to, size_t n)
{
	transpose_four v[4];

	for (size_t k = 0; k < 4; k++)
		v[k] = transpose_load(from + k * n);
	transpose_lines(v);
	for (size_t k = 0; k < 4; k++)
		transpose_store(to + k * n, v[k]);
}

static void
transpose(const float *restrict from, float *restrict to, size_t n)
{
	size_t step = n < BLOCK ? n : BLOCK;

	for (size_t y0 = 0; y0 < n; y0 += step)
		for (size_t x0 = 0; x0 < n; x0 += step)
			for (size_t y = y0; y < y0 + step; y += 4)
				for (size_t x = x0; x < x0 + step; x += 4)
					transpose_block(from + y * n + x, to + x * n + y, n);
}

/* columns_forward: the sum over x, y of v exp(-2 pi i (k x + l y)/n); row r and column c of `to`
 * have k = frequency[r] and l = frequency[c]. columns_inverse: the inverse, times n^2. Destroys
 * `from`. */
static void
patch_fft(const struct patch_fft *fft, struct patch from, struct patch to,
    void (*columns)(const struct patch_fft *, struct patch))
{
	columns(fft, from);
	transpose(from.re, to.re, fft->n);
	transpose(from.im, to.im, fft->n);
	columns(fft, to);
}

/* ---- one window ---- */

static void
take_row(const float *restrict from, const float *restrict weight, float scale,
    float *restrict to, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		to[x] = wff_weighted(from[x], weight[x], scale);
}

static void
square_row(const float *restrict re, const float *restrict im, float *restrict sum, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sum[x] += wff_power(re[x], im[x]);
}

static void
add_row(const float *restrict from, const float *restrict weight, float scale,
    float *restrict to, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		to[x] += wff_weighted(from[x], weight[x], scale);
}

/* The part of a window that is within the image: columns and rows of the patch, and the first ones
 * of the image. */
struct cut {
	size_t x0, x1, y0, y1, at_x, at_y;
};

static struct cut
cut_at(const struct windows *windows, const struct windows_map *map, size_t x, size_t y)
{
	size_t r = windows->reach;
	struct cut cut = { x < r ? r - x : 0, map->w - x > r ? 2 * r + 1 : r + map->w - x,
		y < r ? r - y : 0, map->h - y > r ? 2 * r + 1 : r + map->h - y, 0, 0 };

	cut.at_x = x + cut.x0 - r;
	cut.at_y = y + cut.y0 - r;
	return cut;
}

/* Takes a window's pixels, weighted. Returns the sum of squared weights of the valid ones. */
static float
take(const struct windows *windows, const struct windows_map *map, const struct cut *cut,
    struct workspace *work)
{
	size_t n = windows->fft.n, wide = cut->x1 - cut->x0;
	const float *weight = windows->weight;
	float sum = 0;

	memset(work->a.re, 0, n * n * sizeof(float));
	memset(work->a.im, 0, n * n * sizeof(float));
	memset(work->power, 0, n * sizeof(float));
	for (size_t y = cut->y0; y < cut->y1; y++) {
		size_t from = (cut->at_y + y - cut->y0) * map->stride + cut->at_x;
		float *re = work->a.re + y * n + cut->x0, *im = work->a.im + y * n + cut->x0;

		take_row(map->re + from, weight + cut->x0, weight[y], re, wide);
		take_row(map->im + from, weight + cut->x0, weight[y], im, wide);
		square_row(re, im, work->power, wide);
	}
	for (size_t x = 0; x < wide; x++)
		sum += work->power[x];
	return sum;
}

static size_t
count_at_most(const float *restrict v, size_t n, float limit)
{
	int count = 0;

	_Pragma("omp simd reduction(+ : count)")
	for (size_t i = 0; i < n; i++)
		count += v[i] <= limit;
	return (size_t)count;
}

/* The k-th least of v, none of which is negative, bit by bit from the top: it compares whole
 * vectors, while sorting would mispredict a branch at each sample. */
static float
select_least(const float *v, size_t n, size_t k)
{
	uint32_t bits = 0;

	for (uint32_t bit = 0x40000000; bit; bit >>= 1)
		if (count_at_most(v, n, px_from_bits(bits + bit - 1)) <= k)
			bits += bit;
	return px_from_bits(bits);
}

/* The median of |c|^2, which is that of the noise, as few frequencies contain the phase. */
static float
median_power(const struct windows *windows, struct workspace *work)
{
	size_t n = windows->fft.n, step = n * n / WFF_SAMPLES, samples = 0;

	step = step < 1 ? 1 : step;
	for (size_t y = 0; y < n; y++)
		for (size_t x = (5 * y) % step; x < n; x += step, samples++)
			work->power[samples] =
			    wff_power(work->b.re[y * n + x], work->b.im[y * n + x]);
	return samples ? select_least(work->power, samples, samples / 2) : 0;
}

static size_t
pass_row(float *restrict re, float *restrict im, const float *restrict keep, float least, size_t n)
{
	int passed = 0;

	_Pragma("omp simd reduction(+ : passed)")
	for (size_t x = 0; x < n; x++) {
		float factor = wff_power(re[x], im[x]) > least ? keep[x] : 0.0f;

		re[x] *= factor;
		im[x] *= factor;
		passed += factor > 0;
	}
	return (size_t)passed;
}

/* Removes frequencies that do not exceed the noise. Returns the number of the others. */
static size_t
pass(const struct windows *windows, float squares, struct workspace *work)
{
	size_t n = windows->fft.n, passed = 0;
	float median = windows->share > 0 ? median_power(windows, work) : 0;
	float least = wff_least(windows->share, median, windows->power, squares);

	for (size_t k = 0; k < n; k++)
		if (windows->keep[k] > 0)
			passed += pass_row(work->b.re + k * n, work->b.im + k * n,
			    windows->keep + n, least, n);
		else {
			memset(work->b.re + k * n, 0, n * sizeof(float));
			memset(work->b.im + k * n, 0, n * sizeof(float));
		}
	return passed;
}

static void
filter_window(const struct windows *windows, const struct windows_map *map, size_t x, size_t y,
    struct workspace *work)
{
	struct cut cut = cut_at(windows, map, x, y);
	float squares = take(windows, map, &cut, work);
	size_t n = windows->fft.n, wide = cut.x1 - cut.x0;
	const float *weight = windows->weight;

	if (squares <= 0)
		return;
	patch_fft(&windows->fft, work->a, work->b, columns_forward);
	if (pass(windows, squares, work) == 0)
		return;
	patch_fft(&windows->fft, work->b, work->a, columns_inverse);
	for (size_t row = cut.y0; row < cut.y1; row++) {
		size_t to = (cut.at_y + row - cut.y0) * map->stride + cut.at_x;
		size_t from = row * n + cut.x0;

		add_row(work->a.re + from, weight + cut.x0, weight[row], map->sum_re + to, wide);
		add_row(work->a.im + from, weight + cut.x0, weight[row], map->sum_im + to, wide);
	}
}

/* ---- a phase ---- */

static void
read_row(void *arg, size_t y)
{
	const struct map_job *job = arg;
	const struct phase_channels *from = &job->phase->from;
	const struct frame *in = job->phase->in;
	bool vector = from->sine != NO_CHANNEL;
	float *restrict re = job->map.re + y * job->map.stride;
	float *restrict im = job->map.im + y * job->map.stride;
	const float *v = frame_floats(in, from->channel, y);
	const float *sine = vector ? frame_floats(in, from->sine, y) : v;
	float low = INFINITY, high = -INFINITY;
	double turn = vector ? INFINITY : job->turn;

	_Pragma("omp simd reduction(min : low) reduction(max : high)")
	for (size_t x = 0; x < job->map.w; x++) {
		double turns = (double)v[x] / turn;
		float rad = (float)((turns - floor(turns)) * 2 * M_PI), place = (float)turns;
		float c = px_cos(rad), s = px_sin(rad), length;
		bool ok = (fabsf(v[x]) < INFINITY) & (fabsf(sine[x]) < INFINITY) &
		    (fabs(turns) < 1e6);

		c = vector ? v[x] : c;
		s = vector ? sine[x] : s;
		length = (float)sqrt((double)c * (double)c + (double)s * (double)s);
		ok &= length > 0;
		re[x] = ok ? c / length : 0;
		im[x] = ok ? s / length : 0;
		low = (ok & (place < low)) ? place : low;
		high = (ok & (place > high)) ? place : high;
	}
	job->row[y] = (struct row_counts){ low, high, 0, 0 };
}

static void
write_row(void *arg, size_t y)
{
	const struct map_job *job = arg;
	const struct windows_map *map = &job->map;
	float *restrict out = frame_floats(job->phase->out, job->phase->to, y);
	const float *re = map->re + y * map->stride, *im = map->im + y * map->stride;
	const float *sum_re = map->sum_re + y * map->stride;
	const float *sum_im = map->sum_im + y * map->stride;
	double least = job->least * job->least;
	int all = 0, none = 0;

	_Pragma("omp simd reduction(+ : all, none)")
	for (size_t x = 0; x < map->w; x++) {
		double a = (double)sum_re[x], b = (double)sum_im[x];
		bool valid = (re[x] != 0) | (im[x] != 0), passed = a * a + b * b > least;
		float phase = px_atan2(sum_im[x], sum_re[x]);

		out[x] = (valid & passed) ? phase : PX_NAN;
		all += valid;
		none += valid & !passed;
	}
	job->row[y].valid = (size_t)all;
	job->row[y].lost = (size_t)none;
}

const struct wff_rows AT_LEVEL(wff_rows) = {
	.filter_window = filter_window,
	.read_row = read_row,
	.write_row = write_row,
};
