#include "fourier_spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "image/fft.h"
#include "image/statistics.h"
#include "run/run.h"

#define TILE 512	/* pixels along each side of a piece of the image, or less */
#define TILES 3		/* of them along each side of the image, or less */
#define RING_RATIO 1.25
#define HOLE 8		/* samples */

struct job {
	const struct fourier_signal *signal;
	const struct fourier_spectrum *spectrum;
	struct fft *across, *down;
	struct fft_complex *v;		/* a plane for every two pieces */
	size_t tiles, x[TILES], y[TILES], across_n, down_n;
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

/* Piece i, its mean taken off and its borders faded out, becomes a part of the plane's samples. */
static int
take_tile(const struct job *job, size_t i, bool imaginary, struct fft_complex *v)
{
	const struct fourier_spectrum *spectrum = job->spectrum;
	const struct fourier_signal *signal = job->signal;
	const float *from = signal->v + job->y[i / job->across_n] * signal->w +
	    job->x[i % job->across_n];
	float fade_x[TILE], fade_y[TILE], mean;
	float *counts = NULL;
	double sum = 0;
	size_t n = 0;

	if (signal->holes &&
	    !(counts = fade_holes(from, signal->w, spectrum->tile_w, spectrum->tile_h)))
		return -1;
	make_fade(fade_x, spectrum->tile_w);
	make_fade(fade_y, spectrum->tile_h);
	for (size_t y = 0; y < spectrum->tile_h; y++)
		for (size_t x = 0; x < spectrum->tile_w; x++) {
			bool known = !px_isnan(from[y * signal->w + x]);

			sum += known ? (double)from[y * signal->w + x] : 0;
			n += known;
		}
	mean = n ? (float)(sum / (double)n) : 0;
	for (size_t y = 0; y < spectrum->tile_h; y++)
		for (size_t x = 0; x < spectrum->tile_w; x++) {
			float sample = from[y * signal->w + x];
			float share = counts ? counts[y * spectrum->tile_w + x] : 1;

			*(&v[y * spectrum->w + x].re + imaginary) = px_select(
			    px_isnan(sample), 0, fade_x[x] * fade_y[y] * share * (sample - mean));
		}
	free(counts);
	return 0;
}

static void
transform(void *arg, size_t item)
{
	struct job *job = arg;
	size_t n = job->spectrum->w * job->spectrum->h;
	struct fft_plane plane = { job->spectrum->w, job->spectrum->h, job->v + item * n };

	memset(plane.v, 0, n * sizeof(*plane.v));
	for (size_t i = 2 * item; i < job->tiles && i < 2 * item + 2; i++)
		if (take_tile(job, i, i % 2, plane.v) < 0)
			__atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
	if (fft_rows(NULL, job->across, FFT_FORWARD, &plane) < 0 ||
	    fft_columns(NULL, job->down, FFT_FORWARD, &plane, 0, plane.w) < 0)
		__atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
}

/* Of two real pieces, one real and one imaginary, |Z(k)|^2 + |Z(-k)|^2 is twice both powers. */
static void
add_powers(const struct job *job, size_t planes)
{
	const struct fourier_spectrum *spectrum = job->spectrum;
	size_t w = spectrum->w, h = spectrum->h;

	for (size_t i = 0; i < planes; i++) {
		const struct fft_complex *v = job->v + i * w * h;

		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < spectrum->columns; x++) {
				struct fft_complex a = v[y * w + x];
				struct fft_complex b = v[(y ? h - y : 0) * w + (x ? w - x : 0)];

				spectrum->power[y * spectrum->columns + x] += a.re * a.re +
				    a.im * a.im + b.re * b.re + b.im * b.im;
			}
	}
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

static void
smooth_rows(void *arg, size_t y)
{
	struct fourier_spectrum *spectrum = arg;

	for (size_t x = 0; x < spectrum->columns; x++)
		spectrum->smooth[y * spectrum->columns + x] =
		    (float)fourier_spectrum_mean(spectrum, (double)x, (double)y, 1);
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

size_t
fourier_spectrum_ring(struct fourier_carrier f)
{
	double i = -log(hypot(f.x, f.y)) / log(RING_RATIO);

	return i < 0 ? 0 : i < FOURIER_RINGS - 1 ? (size_t)i : FOURIER_RINGS - 1;
}

/* The median of each ring of frequencies. */
static int
find_rings(struct fourier_spectrum *spectrum)
{
	size_t all = spectrum->columns * spectrum->h;
	size_t n[FOURIER_RINGS] = { 0 }, first[FOURIER_RINGS];
	double *v = calloc(all, sizeof(*v));

	if (!v)
		return fail_memory();
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0, sum = 0; pass && i < FOURIER_RINGS; i++) {
			first[i] = sum;
			sum += n[i];
			n[i] = 0;
		}
		for (size_t i = 1; i < all; i++) {
			size_t r = fourier_spectrum_ring(fourier_spectrum_frequency(
			    spectrum, i % spectrum->columns, i / spectrum->columns));

			if (pass)
				v[first[r] + n[r]] = (double)spectrum->smooth[i];
			n[r]++;
		}
	}
	for (size_t i = 0; i < FOURIER_RINGS; i++)
		spectrum->ring[i] = n[i] ? statistics_quantile(v + first[i], n[i], 0.5) : 0;
	free(v);
	return 0;
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

int
fourier_spectrum_make(struct run *run, const struct fourier_signal *signal,
    struct fourier_spectrum *spectrum)
{
	struct job job = { .signal = signal, .spectrum = spectrum };
	size_t planes, all;
	int status = -1;

	spectrum->tile_w = signal->w < TILE ? signal->w : TILE;
	spectrum->tile_h = signal->h < TILE ? signal->h : TILE;
	spectrum->w = fft_fast_length(spectrum->tile_w);
	spectrum->h = fft_fast_length(spectrum->tile_h);
	spectrum->columns = spectrum->w / 2 + 1;
	all = spectrum->columns * spectrum->h;
	job.across_n = place_tiles(signal->w, spectrum->tile_w, job.x);
	job.down_n = place_tiles(signal->h, spectrum->tile_h, job.y);
	job.tiles = job.across_n * job.down_n;
	planes = (job.tiles + 1) / 2;
	spectrum->power = calloc(all, sizeof(*spectrum->power));
	spectrum->smooth = calloc(all, sizeof(*spectrum->smooth));
	job.v = calloc(planes, spectrum->w * spectrum->h * sizeof(*job.v));
	if (!spectrum->power || !spectrum->smooth || !job.v)
		fail_memory();
	else if (fft_new(spectrum->w, &job.across) == 0 && fft_new(spectrum->h, &job.down) == 0) {
		run_for(run, planes, transform, &job);
		status = job.failed ? -1 : 0;
	}
	if (status == 0) {
		add_powers(&job, planes);
		run_for(run, spectrum->h, smooth_rows, spectrum);
		status = find_rings(spectrum);
	}
	fft_free(job.across);
	fft_free(job.down);
	free(job.v);
	return status;
}

void
fourier_spectrum_free(struct fourier_spectrum *spectrum)
{
	free(spectrum->power);
	free(spectrum->smooth);
}
