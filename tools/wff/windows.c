#include "windows.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/px.h"

#define REACH 3.2		/* in sigma: the window has 0.006 of its height there */
#define HOP 1.0			/* in sigma from window to window; 0.25 is at most 4 % better */
#define SEGMENT 128		/* pixels of a row of windows that one thread takes, at least */
#define SAMPLES 1024		/* of the transform, whose median is taken */
#define LN2 0.69314718055994530942

/* ---- setting up ---- */

static size_t
size_for(double pixels)
{
	size_t n = 8;

	while (n < WINDOWS_SIZE_MOST && (double)n < pixels)
		n *= 2;
	return n;
}

static void
fill_band(const struct numbers *band, const struct patch_fft *fft, float *keep)
{
	for (size_t i = 0; i < 2 * fft->n; i++) {
		double k = (double)fft->frequency[i % fft->n], n = (double)fft->n;
		double rad = 2 * M_PI * (k < n / 2 ? k : k - n) / n;
		const double *edge = band->v + 2 * (i / fft->n), half = M_PI / n;

		keep[i] = !band->n || (rad >= edge[0] - half && rad <= edge[1] + half);
	}
}

int
windows_new(const struct windows_options *options, struct windows *windows)
{
	double sigma = options->sigma_px, step = isnan(options->step) ? 1 / sigma : options->step;
	size_t n = size_for(fmax(2 * M_PI / step, 5.6 * sigma));
	size_t reach = (size_t)ceil(REACH * sigma);

	if (patch_fft_new(n, &windows->fft) < 0)
		return -1;
	windows->reach = reach < n / 2 - 1 ? reach : n / 2 - 1;
	windows->hop = (size_t)fmax(1, floor(sigma * HOP));
	windows->weight = malloc((2 * windows->reach + 1) * sizeof(*windows->weight));
	windows->keep = malloc(2 * n * sizeof(*windows->keep));
	if (!windows->weight || !windows->keep)
		return fail_memory();
	for (size_t i = 0; i <= 2 * windows->reach; i++) {
		double x = (double)i - (double)windows->reach;

		windows->weight[i] = (float)exp(-0.5 * x * x / (sigma * sigma));
	}
	fill_band(&options->band, &windows->fft, windows->keep);
	/* |c|^2 of noise has an exponential distribution: its mean is the median by ln 2 */
	if (isnan(options->noise_rad))
		windows->share = options->threshold * options->threshold / LN2;
	else	/* exp(i noise) scatters by 1 - exp(-noise^2) about its mean */
		windows->power = options->threshold * options->threshold *
		    -expm1(-options->noise_rad * options->noise_rad);
	return 0;
}

void
windows_free(struct windows *windows)
{
	patch_fft_free(&windows->fft);
	free(windows->weight);
	free(windows->keep);
	*windows = (struct windows){ 0 };
}

double
windows_sum(const struct windows *windows)
{
	double line = 0, n = (double)windows->fft.n, hop = (double)windows->hop;

	for (size_t i = 0; i <= 2 * windows->reach; i++)
		line += (double)(windows->weight[i] * windows->weight[i]);
	return n * n * line * line / (hop * hop);
}

/* ---- one window ---- */

struct workspace {
	struct patch a, b;
	float *power;		/* sum of squares of each column; then samples */
};

static void
take_row(const float *restrict from, const float *restrict weight, float scale,
    float *restrict to, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		to[x] = from[x] * (weight[x] * scale);
}

static void
square_row(const float *restrict re, const float *restrict im, float *restrict sum, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		sum[x] += re[x] * re[x] + im[x] * im[x];
}

static void
add_row(const float *restrict from, const float *restrict weight, float scale,
    float *restrict to, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		to[x] += from[x] * (weight[x] * scale);
}

/* What of a window around (x, y) lies in the image: columns and rows of the patch, and of the image
 * at its first one. */
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

/* The sum of squared weights of the valid pixels. */
static double
take(const struct windows *windows, const struct windows_map *map, const struct cut *cut,
    struct workspace *work)
{
	size_t n = windows->fft.n, wide = cut->x1 - cut->x0;
	const float *weight = windows->weight;
	double sum = 0;

	memset(work->a.re, 0, n * n * sizeof(float));
	memset(work->a.im, 0, n * n * sizeof(float));
	memset(work->power, 0, n * sizeof(float));
	for (size_t y = cut->y0; y < cut->y1; y++) {
		size_t from = (cut->at_y + y - cut->y0) * map->w + cut->at_x;
		float *re = work->a.re + y * n + cut->x0, *im = work->a.im + y * n + cut->x0;

		take_row(map->re + from, weight + cut->x0, weight[y], re, wide);
		take_row(map->im + from, weight + cut->x0, weight[y], im, wide);
		square_row(re, im, work->power, wide);
	}
	for (size_t x = 0; x < wide; x++)
		sum += (double)work->power[x];
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

/* The k-th least of v, none of which is negative, bit by bit from the top: comparisons of whole
 * vectors, where sorting would branch at each sample as nobody can foretell. */
static float
select_least(const float *v, size_t n, size_t k)
{
	uint32_t bits = 0;

	for (uint32_t bit = 0x40000000; bit; bit >>= 1)
		if (count_at_most(v, n, px_from_bits(bits + bit - 1)) <= k)
			bits += bit;
	return px_from_bits(bits);
}

/* The median of |c|^2: few frequencies hold the phase, so that it is one of the noise. */
static float
median_power(const struct windows *windows, struct workspace *work)
{
	size_t n = windows->fft.n, step = n * n / SAMPLES, samples = 0;

	step = step < 1 ? 1 : step;
	for (size_t y = 0; y < n; y++)
		for (size_t x = (5 * y) % step; x < n; x += step, samples++) {
			float re = work->b.re[y * n + x], im = work->b.im[y * n + x];

			work->power[samples] = re * re + im * im;
		}
	return samples ? select_least(work->power, samples, samples / 2) : 0;
}

static size_t
pass_row(float *restrict re, float *restrict im, const float *restrict keep, float least, size_t n)
{
	int passed = 0;

	_Pragma("omp simd reduction(+ : passed)")
	for (size_t x = 0; x < n; x++) {
		float factor = re[x] * re[x] + im[x] * im[x] > least ? keep[x] : 0.0f;

		re[x] *= factor;
		im[x] *= factor;
		passed += factor > 0;
	}
	return (size_t)passed;
}

/* Leaves out frequencies that do not stand out of the noise; how many are left. */
static size_t
pass(const struct windows *windows, double squares, struct workspace *work)
{
	size_t n = windows->fft.n, passed = 0;
	double least = windows->share > 0 ? windows->share * (double)median_power(windows, work) :
	    windows->power * squares;

	for (size_t k = 0; k < n; k++)
		if (windows->keep[k] > 0)
			passed += pass_row(work->b.re + k * n, work->b.im + k * n,
			    windows->keep + n, (float)least, n);
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
	double squares = take(windows, map, &cut, work);
	size_t n = windows->fft.n, wide = cut.x1 - cut.x0;
	const float *weight = windows->weight;

	if (squares <= 0)
		return;
	patch_fft_forward(&windows->fft, work->a, work->b);
	if (pass(windows, squares, work) == 0)
		return;
	patch_fft_inverse(&windows->fft, work->b, work->a);
	for (size_t row = cut.y0; row < cut.y1; row++) {
		size_t to = (cut.at_y + row - cut.y0) * map->w + cut.at_x;
		size_t from = row * n + cut.x0;

		add_row(work->a.re + from, weight + cut.x0, weight[row], map->sum_re + to, wide);
		add_row(work->a.im + from, weight + cut.x0, weight[row], map->sum_im + to, wide);
	}
}

/* ---- all windows ---- */

/* Segments of rows of windows of which no two touch the same pixels. */
struct windows_job {
	const struct windows *windows;
	const struct windows_map *map;
	size_t row, rows;		/* the first one, from one to the next */
	size_t segment, segments;	/* the first one, how many of them are in a row */
	size_t length;			/* windows of a segment */
	atomic_bool failed;
};

static int
new_workspace(size_t n, struct workspace *work)
{
	size_t plane = n * n, samples = n > SAMPLES ? n : SAMPLES;

	*work = (struct workspace){ 0 };
	work->a.re = aligned_alloc(64, (4 * plane + 2 * samples) * sizeof(float));
	if (!work->a.re)
		return fail_memory();
	work->a.im = work->a.re + plane;
	work->b.re = work->a.im + plane;
	work->b.im = work->b.re + plane;
	work->power = work->b.im + plane;
	return 0;
}

static void
filter_segment(void *arg, size_t i)
{
	struct windows_job *job = arg;
	const struct windows *windows = job->windows;
	const struct windows_map *map = job->map;
	size_t hop = windows->hop, across = (map->w + hop - 1) / hop;
	size_t row = job->row + i / job->segments * job->rows;
	size_t first = (job->segment + 2 * (i % job->segments)) * job->length;
	size_t y = row * hop + (hop - 1) / 2;
	struct workspace work;

	if (new_workspace(windows->fft.n, &work) < 0) {
		atomic_store(&job->failed, true);
		return;
	}
	for (size_t k = first; k < across && k < first + job->length; k++) {
		size_t x = k * hop + (hop - 1) / 2;

		filter_window(windows, map, x < map->w ? x : map->w - 1,
		    y < map->h ? y : map->h - 1, &work);
	}
	free(work.a.re);
}

int
windows_filter(struct run *run, const struct windows *windows, const struct windows_map *map)
{
	size_t hop = windows->hop, width = 2 * windows->reach + 1;
	size_t down = (map->h + hop - 1) / hop, across = (map->w + hop - 1) / hop;
	size_t apart = (width + hop - 1) / hop + 1;	/* windows to the next one untouched */
	size_t length = SEGMENT / hop > apart ? SEGMENT / hop : apart;
	size_t segments = (across + length - 1) / length;
	struct windows_job job = { windows, map, .rows = apart, .length = length };

	for (size_t row = 0; row < apart && row < down; row++)
		for (size_t segment = 0; segment < 2 && segment < segments; segment++) {
			job.row = row;
			job.segment = segment;
			job.segments = (segments - segment + 1) / 2;
			run_for(run, (down - row + apart - 1) / apart * job.segments,
			    filter_segment, &job);
			if (atomic_load(&job.failed))
				return -1;
		}
	return 0;
}
