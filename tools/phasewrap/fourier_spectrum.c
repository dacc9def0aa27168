/* The power spectrum of an image, tile by tile: where its carrier is looked for. */
#include "fourier_spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "base/px.h"
#include "frame/pixel_store.h"
#include "image/statistics.h"
#include "lanes.h"
#include "line_fft.h"
#include "run/run.h"

#define TILE 512	/* pixels along each side of a piece of the image, or less */
#define TILES 3		/* of them along each side of the image, or less */
#define RING_RATIO 1.25
#define HOLE 8		/* samples */
#define PARTS 16	/* sums of a row */
#define BLOCK 64	/* samples that change places at once */

/* Two pieces of the image are the real and the imaginary part of a plane that is transformed. */
struct piece {
	const float *from;	/* its first sample */
	float mean;
	float *counts;		/* how much its samples count; NULL: all alike */
};

struct job {
	const struct fourier_signal *signal;
	const struct fourier_spectrum *spectrum;
	struct line_fft across, down;
	struct piece piece[2];
	size_t pieces;			/* 1 or 2 */
	float fade_x[TILE], fade_y[TILE];
	float *re, *im, *power;		/* of the plane, h rows of stride floats */
	size_t stride;
	bool failed;
};

/* A wave that fades n samples out towards both ends. */
static void
make_fade(float *fade, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fade[i] = (float)pow(sin(M_PI * ((double)i + 0.5) / (double)n), 2);
}

/* Means over 2 HOLE + 1 samples along a line of n, those beyond its ends being as the last one. */
static void
blur(const float *from, size_t stride, size_t n, float *to)
{
	float sum = 0;

	for (long i = -HOLE; i <= HOLE; i++)
		sum += from[(size_t)(i < 0 ? 0 : i < (long)n ? i : (long)n - 1) * stride];
	for (size_t i = 0; i < n; i++) {
		size_t out = i < HOLE ? 0 : i - HOLE, in = i + HOLE + 1 < n ? i + HOLE + 1 : n - 1;

		to[i * stride] = sum / (2 * HOLE + 1);
		sum += from[in * stride] - from[out * stride];
	}
}

/* How much samples count beside holes, whose sharp edges would spread the light and the fringes
 * over other frequencies: nothing at the edge, all of them HOLE samples away. NULL after fail(). */
static float *
fade_holes(const float *from, size_t stride, size_t w, size_t h)
{
	float *known = calloc(2 * w * h, sizeof(*known)), *rows;

	if (!known) {
		fail_memory();
		return NULL;
	}
	rows = known + w * h;
	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++)
			known[y * w + x] = !px_isnan(from[y * stride + x]);
	for (size_t y = 0; y < h; y++)
		blur(known + y * w, 1, w, rows + y * w);
	for (size_t x = 0; x < w; x++)
		blur(rows + x, w, h, known + x);
	for (size_t i = 0; i < w * h; i++)
		known[i] = px_max(2 * known[i] - 1, 0);
	return known;
}

/* The sum of a row's samples, and how many there are. */
static double
sum_row(const float *restrict v, size_t n, size_t *count)
{
	float sums[PARTS] = { 0 };
	uint32_t known = 0;
	double sum = 0;
	size_t x = 0;

	for (; x + PARTS <= n; x += PARTS)
		for (size_t i = 0; i < PARTS; i++) {
			bool good = !px_isnan(v[x + i]);

			sums[i] += px_select(good, v[x + i], 0);
			known += good;
		}
	for (; x < n; x++) {
		sum += px_isnan(v[x]) ? 0 : (double)v[x];
		known += !px_isnan(v[x]);
	}
	for (size_t i = 0; i < PARTS; i++)
		sum += (double)sums[i];
	*count += known;
	return sum;
}

/* Finds the mean of a piece, and what counts of it. */
static void
prepare(void *arg, size_t item)
{
	struct job *job = arg;
	const struct fourier_spectrum *spectrum = job->spectrum;
	struct piece *piece = &job->piece[item];
	double sum = 0;
	size_t count = 0;

	if (job->signal->holes &&
	    !(piece->counts = fade_holes(piece->from, job->signal->w, spectrum->tile_w,
		spectrum->tile_h)))
		__atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
	for (size_t y = 0; y < spectrum->tile_h; y++)
		sum += sum_row(piece->from + y * job->signal->w, spectrum->tile_w, &count);
	piece->mean = count ? (float)(sum / (double)count) : 0;
}

/* n samples from x on of row y of a piece, its mean taken off and its borders faded out, as a part
 * of the lane of lines. */
static void
take_row(const struct job *job, const struct piece *piece, size_t x, size_t n, size_t y, float *to)
{
	const float *restrict v = piece->from + y * job->signal->w + x;
	const float *counts = piece->counts ? piece->counts + y * job->spectrum->tile_w + x : NULL;
	float mean = piece->mean, down = job->fade_y[y];

	for (size_t i = 0; i < n; i++) {
		float fade = job->fade_x[x + i] * down * (counts ? counts[i] : 1);

		to[(x + i) * LINE_FFT_SAMPLE] = px_select(px_isnan(v[i]), 0, fade * (v[i] - mean));
	}
}

static float *
new_lines(struct job *job, size_t n, struct pixel_store **store)
{
	void *memory = NULL;

	*store = pixel_store_scratch(n * LINE_FFT_SAMPLE * sizeof(float), &memory);
	if (!*store) {
		fail_memory();
		__atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
	}
	return memory;
}

static void
transform_rows(void *arg, size_t item)
{
	struct job *job = arg;
	const struct fourier_spectrum *spectrum = job->spectrum;
	size_t y = item * LINE_FFT_LANES, w = spectrum->w;
	const struct lanes lanes = { w, spectrum->h - y < LINE_FFT_LANES ? spectrum->h - y :
		LINE_FFT_LANES, 1, job->stride };
	struct pixel_store *store;
	float *v = new_lines(job, w, &store);

	if (!v)
		return;
	if (y + LINE_FFT_LANES > spectrum->tile_h || job->pieces < 2)
		memset(v, 0, w * LINE_FFT_SAMPLE * sizeof(*v));
	memset(v + spectrum->tile_w * LINE_FFT_SAMPLE, 0,
	    (w - spectrum->tile_w) * LINE_FFT_SAMPLE * sizeof(*v));
	for (size_t x = 0; x < spectrum->tile_w; x += BLOCK) {
		size_t n = spectrum->tile_w - x < BLOCK ? spectrum->tile_w - x : BLOCK;

		for (size_t i = 0; i < LINE_FFT_LANES && y + i < spectrum->tile_h; i++)
			for (size_t part = 0; part < job->pieces; part++)
				take_row(job, &job->piece[part], x, n, y + i,
				    v + part * LINE_FFT_LANES + i);
	}
	line_fft_run(&job->across, v);
	lanes_write(&lanes, v, job->across.place, 1, job->re + y * job->stride);
	lanes_write(&lanes, v + LINE_FFT_LANES, job->across.place, 1, job->im + y * job->stride);
	pixel_store_drop(store);
}

/* Adds |Z(k)|^2 of some columns. */
static void
transform_columns(void *arg, size_t item)
{
	struct job *job = arg;
	size_t x = item * LINE_FFT_LANES, h = job->spectrum->h, n = LINE_FFT_LANES;
	struct pixel_store *store;
	float *v = new_lines(job, h, &store);

	if (!v)
		return;
	for (size_t y = 0; y < h; y++) {
		memcpy(v + y * LINE_FFT_SAMPLE, job->re + y * job->stride + x, n * sizeof(*v));
		memcpy(v + y * LINE_FFT_SAMPLE + n, job->im + y * job->stride + x, n * sizeof(*v));
	}
	line_fft_run(&job->down, v);
	for (size_t y = 0; y < h; y++) {
		const float *restrict from = v + job->down.place[y] * LINE_FFT_SAMPLE;
		float *restrict to = job->power + y * job->stride + x;

		CPU_SIMD
		for (size_t i = 0; i < LINE_FFT_LANES; i++)
			to[i] += from[i] * from[i] + from[n + i] * from[n + i];
	}
	pixel_store_drop(store);
}

/* Of two real pieces, one real and one imaginary, |Z(k)|^2 + |Z(-k)|^2 is twice both powers. */
static void
join_powers(void *arg, size_t y)
{
	const struct job *job = arg;
	const struct fourier_spectrum *spectrum = job->spectrum;
	const float *a = job->power + y * job->stride;
	const float *b = job->power + (y ? spectrum->h - y : 0) * job->stride + spectrum->w;
	float *to = spectrum->power + y * spectrum->columns;

	to[0] = a[0] + b[-(ptrdiff_t)spectrum->w];
	for (size_t x = 1; x < spectrum->columns; x++)
		to[x] = a[x] + b[-(ptrdiff_t)x];
}

float
fourier_spectrum_power(const struct fourier_spectrum *spectrum, const float *power, long k, long l)
{
	long w = (long)spectrum->w, h = (long)spectrum->h;

	k = (k % w + w) % w;
	if (k > w / 2) {
		k = w - k;
		l = -l;
	}
	return power[(size_t)((l % h + h) % h) * spectrum->columns + (size_t)k];
}

double
fourier_spectrum_mean(const struct fourier_spectrum *spectrum, double k, double l, long radius)
{
	long at_k = lround(k), at_l = lround(l);
	double sum = 0;

	for (long i = -radius; i <= radius; i++)
		for (long j = -radius; j <= radius; j++)
			sum += (double)fourier_spectrum_power(
			    spectrum, spectrum->power, at_k + i, at_l + j);
	return sum / (double)((2 * radius + 1) * (2 * radius + 1));
}

/* Row y of the means; beyond the ends the frequencies go on. */
static void
smooth_row(void *arg, size_t y)
{
	struct fourier_spectrum *spectrum = arg;
	size_t n = spectrum->columns;
	float sum[TILE + 2], *restrict to = spectrum->smooth + y * n;
	const float *restrict own = spectrum->power + y * n;
	const float *restrict above = spectrum->power + (y ? y - 1 : spectrum->h - 1) * n;
	const float *restrict below = spectrum->power + (y + 1 < spectrum->h ? y + 1 : 0) * n;

	for (size_t x = 0; x < n; x++)
		sum[x + 1] = above[x] + own[x] + below[x];
	sum[0] = sum[n + 1] = 0;
	for (long j = -1; j <= 1; j++) {
		sum[0] += fourier_spectrum_power(spectrum, spectrum->power, -1, (long)y + j);
		sum[n + 1] += fourier_spectrum_power(
		    spectrum, spectrum->power, (long)n, (long)y + j);
	}
	for (size_t x = 0; x < n; x++)
		to[x] = (sum[x] + sum[x + 1] + sum[x + 2]) * (1.0f / 9);
}

struct fourier_carrier
fourier_spectrum_frequency(const struct fourier_spectrum *spectrum, size_t x, size_t y)
{
	double h = (double)spectrum->h;

	return (struct fourier_carrier){ (double)x / (double)spectrum->w,
		(2 * y < spectrum->h ? (double)y : (double)y - h) / h };
}

double
fourier_spectrum_cycles(const struct fourier_spectrum *spectrum, struct fourier_carrier f)
{
	return hypot(f.x * (double)spectrum->tile_w, f.y * (double)spectrum->tile_h);
}

/* How many frequencies of a row lie within this square of their size. */
static size_t
columns_within(const struct fourier_spectrum *spectrum, double fy, double square)
{
	double room = square - fy * fy, x = room < 0 ? -1 : sqrt(room) * (double)spectrum->w;

	return x < 0 ? 0 : x < (double)spectrum->columns ? (size_t)x + 1 : spectrum->columns;
}

double
fourier_spectrum_ring(struct fourier_spectrum *spectrum, struct fourier_carrier f)
{
	double i = floor(-log(hypot(f.x, f.y)) / log(RING_RATIO));
	size_t r = i < 0 ? 0 : i < FOURIER_RINGS - 1 ? (size_t)i : FOURIER_RINGS - 1, n = 0;
	double inner = r < FOURIER_RINGS - 1 ? pow(RING_RATIO, -2 * (double)(r + 1)) : 0;
	double outer = pow(RING_RATIO, -2 * (double)r);

	if (!isnan(spectrum->ring[r]))
		return spectrum->ring[r];
	for (size_t y = 0; y < spectrum->h; y++) {
		double fy = fourier_spectrum_frequency(spectrum, 0, y).y;
		size_t x = columns_within(spectrum, fy, inner);
		size_t end = columns_within(spectrum, fy, outer);

		for (x += y == 0 && x == 0; x < end; x++)
			spectrum->sorted[n++] =
			    (double)spectrum->smooth[y * spectrum->columns + x];
	}
	spectrum->ring[r] = n ? statistics_quantile(spectrum->sorted, n, 0.5) : 0;
	return spectrum->ring[r];
}

static size_t
place_tiles(size_t n, size_t tile, size_t *at)
{
	size_t count = (n + tile - 1) / tile;

	count = count < TILES ? count : TILES;
	for (size_t i = 0; i < count; i++)
		at[i] = count > 1 ? i * (n - tile) / (count - 1) : 0;
	return count;
}

/* Adds up the powers of all pieces, whose first columns and rows are at x and y. */
static void
add_pieces(struct run *run, struct job *job, const size_t *x, size_t across_n, const size_t *y,
    size_t down_n)
{
	const struct fourier_spectrum *spectrum = job->spectrum;
	const size_t n = across_n * down_n, lanes = LINE_FFT_LANES;

	for (size_t i = 0; i < n && !job->failed; i += 2) {
		job->pieces = n - i < 2 ? 1 : 2;
		for (size_t k = 0; k < job->pieces; k++)
			job->piece[k] = (struct piece){ job->signal->v +
				y[(i + k) / across_n] * job->signal->w + x[(i + k) % across_n] };
		run_for(run, job->pieces, prepare, job);
		if (!job->failed)
			run_for(run, (spectrum->h + lanes - 1) / lanes, transform_rows, job);
		if (!job->failed)
			run_for(run, (spectrum->w + lanes - 1) / lanes, transform_columns, job);
		for (size_t k = 0; k < job->pieces; k++)
			free(job->piece[k].counts);
	}
}

int
fourier_spectrum_make(struct run *run, const struct fourier_signal *signal,
    struct fourier_spectrum *spectrum)
{
	struct job job = { .signal = signal, .spectrum = spectrum };
	size_t stride, plane, all, x[TILES], y[TILES], across_n, down_n;
	struct pixel_store *store = NULL;
	void *memory = NULL;
	int status = -1;

	spectrum->tile_w = signal->w < TILE ? signal->w : TILE;
	spectrum->tile_h = signal->h < TILE ? signal->h : TILE;
	spectrum->w = line_fft_length(spectrum->tile_w);
	spectrum->h = line_fft_length(spectrum->tile_h);
	spectrum->columns = spectrum->w / 2 + 1;
	/* rows a power of two apart would share a few places of the cache */
	stride = (spectrum->w + LINE_FFT_LANES - 1) / LINE_FFT_LANES * LINE_FFT_LANES;
	job.stride = stride + LINE_FFT_LANES;
	plane = job.stride * spectrum->h;
	all = spectrum->columns * spectrum->h;
	across_n = place_tiles(signal->w, spectrum->tile_w, x);
	down_n = place_tiles(signal->h, spectrum->tile_h, y);
	make_fade(job.fade_x, spectrum->tile_w);
	make_fade(job.fade_y, spectrum->tile_h);
	for (size_t i = 0; i < FOURIER_RINGS; i++)
		spectrum->ring[i] = NAN;
	spectrum->store = pixel_store_scratch(all * (2 * sizeof(float) + sizeof(double)), &memory);
	spectrum->sorted = memory;
	if (spectrum->store) {
		spectrum->power = (void *)((char *)memory + all * sizeof(*spectrum->sorted));
		spectrum->smooth = spectrum->power + all;
	}
	store = pixel_store_scratch(3 * plane * sizeof(float), &memory);
	if (!spectrum->store || !store) {
		fail_memory();
	} else if (line_fft_new(spectrum->w, &job.across) == 0 &&
	    line_fft_new(spectrum->h, &job.down) == 0) {
		job.re = memory;
		job.im = job.re + plane;
		job.power = job.im + plane;
		memset(memory, 0, 3 * plane * sizeof(float));
		add_pieces(run, &job, x, across_n, y, down_n);
		status = job.failed ? -1 : 0;
	}
	if (status == 0) {
		run_for(run, spectrum->h, join_powers, &job);
		run_for(run, spectrum->h, smooth_row, spectrum);
	}
	line_fft_free(&job.across);
	line_fft_free(&job.down);
	pixel_store_drop(store);
	return status;
}

void
fourier_spectrum_free(struct fourier_spectrum *spectrum)
{
	pixel_store_drop(spectrum->store);
}
