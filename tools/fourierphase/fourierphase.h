/* What the files of fourierphase share; the loops over pixels, struct fourierphase_rows, stand at
 * the end. */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "base/numbers.h"
#include "base/process.h"
#include "frame/frame.h"
#include "frame/pixel_store.h"
#include "fringe/measurement.h"
#include "fringe/phase_noise.h"

struct run;

enum phase_form { AS_PHASE, AS_VECTOR };

struct parameters {
	struct measurement_options measurement;
	struct numbers carrier;		/* camera px along x and y; n = 0: not given */
	int transform, window, as;
	int removal;			/* -1: not given */
	double width;			/* half-width of the window, over the carrier */
	bool mirrored;
	struct noise_options noise;
};

/* How many items of so many rows, or columns, n of them are. */
static inline size_t
fourier_items(size_t n, size_t rows)
{
	return (n + rows - 1) / rows;
}

/* ---- the signal: what is transformed ---- */

enum fourier_removal { REMOVAL_QUOTIENT, REMOVAL_DIFFERENCE };

/* Which planes of a measurement; what makes a sample a hole. */
struct fourier_source {
	const struct frame *in;
	size_t fringe;
	size_t flats, flat[2];	/* none; half way between white and black; white, black */
	enum fourier_removal removal;
	float max_value;
	float least_unit;	/* a quotient's divisor is no less; see fourier_signal_make() */
};

/* h lines of w samples, which are rows of the image, or columns. */
struct fourier_signal {
	size_t w, h;
	float *v;
	size_t along, apart;	/* floats from sample to sample of a line, and from line to line */
	size_t holes;
	struct pixel_store *store;
};

/* The least divisor of a quotient, a tenth of the mean of all: darker pixels, whose quotient would
 * be noise, count for less. Sets source->least_unit. -1 after fail(). */
int fourier_signal_find_least(struct run *, struct fourier_source *);
/* Makes the signal, of rows; the caller drops its store. */
void fourier_signal_make(struct run *, const struct fourier_source *, struct fourier_signal *);
/* Lines that are rows become columns, and the reverse. */
void fourier_signal_turn(struct fourier_signal *);

#define FOURIER_ROWS 16	/* of an image, that a thread takes at once */

struct signal_job {
	const struct fourier_source *source;
	struct fourier_signal *signal;
	double *sum;
	size_t *count;
};

/* ---- transforms of lines ---- */

#define FFT_LANES 16
#define FFT_SAMPLE ((size_t)2 * FFT_LANES)	/* floats: real parts, imaginary parts */
#define FFT_FACTORS 32

struct line_fft {
	size_t n;			/* samples of a line */
	size_t factors, factor[FFT_FACTORS];
	float *cos, *sin;		/* of -2 pi k / n */
	size_t *place;			/* where the result has frequency k */
};

/* The least 2^a 3^b 5^c that is n or more; 0 where it is beyond INT_MAX. */
size_t line_fft_length(size_t n);
/* n: such a length. */
void line_fft_new(size_t n, struct line_fft *);
void line_fft_free(struct line_fft *);

/* Floats, aligned to 64; pixel_store_drop() them. Never NULL. */
struct pixel_store *fourier_scratch(size_t floats, float **v);
/* Of floats, so many that the next ones are aligned to 64 as well. */
static inline size_t
fourier_aligned(size_t floats)
{
	return (floats + 15) / 16 * 16;
}

/* ---- the carrier ---- */

/* A frequency in turns per camera pixel, along the rows and down. */
struct fourier_carrier {
	double x, y;
};

#define FOURIER_RINGS 64	/* of frequencies, each wider than the one before */
#define SPECTRUM_TILE 512	/* pixels along each side of a piece of the image, or less */
#define FOURIER_LEAST_CYCLES 2.5	/* in a piece: less is the light, not fringes */

/* The power of the frequencies k = 0 .. w / 2 across and l = 0 .. h - 1 (or negative) down. */
struct fourier_spectrum {
	size_t w, h, columns;	/* of the transform; w / 2 + 1 */
	size_t tile_w, tile_h;	/* pixels of a piece */
	float *power, *smooth;	/* the second is the mean over 3 x 3 frequencies */
	double ring[FOURIER_RINGS];	/* the median power in each; NaN: not found yet */
	double *sorted;		/* room for all of them */
	struct pixel_store *store;
};

/* Two pieces of the image are the real and the imaginary part of a plane that is transformed. */
struct spectrum_piece {
	const float *from;	/* its first sample */
	float mean;
	float *counts;		/* how much its samples count; NULL: all alike */
};

struct spectrum_job {
	const struct fourier_signal *signal;
	const struct fourier_spectrum *spectrum;
	struct line_fft across, down;
	struct spectrum_piece piece[2];
	size_t pieces;			/* 1 or 2 */
	float fade_x[SPECTRUM_TILE], fade_y[SPECTRUM_TILE];
	float *re, *im, *power;		/* of the plane, h rows of stride floats */
	size_t stride;
};

/* The value at a frequency of either sign, of power or of smooth. */
static inline float
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

/* The frequency at place x, y of the spectrum. */
static inline struct fourier_carrier
fourier_spectrum_frequency(const struct fourier_spectrum *spectrum, size_t x, size_t y)
{
	double h = (double)spectrum->h;

	return (struct fourier_carrier){ (double)x / (double)spectrum->w,
		(2 * y < spectrum->h ? (double)y : (double)y - h) / h };
}

/* In turns a pixel along either axis: above are patterns of compression and colour sensors, which
 * are not looked at. */
#define FOURIER_CARRIER_MOST 0.334

/* A peak of the spectrum; contrast 0: there is none. */
struct fourier_peak {
	struct fourier_carrier carrier;	/* its centre of mass */
	double power, contrast;		/* over what lies round it */
};

struct fourier_peaks {
	bool few;	/* the image has too few rows or columns to tell fringes from the rest */
	struct fourier_peak best[2];	/* of fringes along x (|x| >= |y|, x > 0) and along y */
	struct fourier_peak other[2];	/* the best one of another frequency than those */
};

/* Has the first more power, weighted by its contrast? */
bool fourier_carrier_better(const struct fourier_peak *, const struct fourier_peak *);
/* In turns per pixel; a frequency and its negative are the same. */
double fourier_carrier_distance(struct fourier_carrier, struct fourier_carrier);
/* Memory is short: */
void fourier_carrier_find(struct run *, const struct fourier_signal *, struct fourier_peaks *);

/* ---- the filter: the analytic signal round a carrier ---- */

enum fourier_shape { WINDOW_TUKEY, WINDOW_HANN, WINDOW_GAUSS };

enum fourier_transform { TRANSFORM_2D, TRANSFORM_LINES };

struct fourier_filter {
	struct fourier_carrier carrier;	/* x along the lines: positive, no less than |y| */
	enum fourier_shape shape;
	enum fourier_transform transform;
	double half_width;		/* in turns per pixel */
};

/* Rows of the image, of w samples, h of them. */
struct fourier_result {
	size_t w, h;
	float *re, *im;		/* B/2 exp(i phi) */
	float *mean;		/* of the signal over two periods, or NULL */
	/* The variance of z is this times that of a white signal: the integral of the window's
	 * square over the frequencies. */
	double noise_bandwidth;
	struct pixel_store *store;
};

/* mean: is it wanted? The caller drops the result's store, also after a failure. -1 after fail().
 */
int fourier_filter_run(struct run *, const struct fourier_filter *, const struct fourier_signal *,
    bool mean, struct fourier_result *);
/* The standard deviation, along an axis and in pixels, of the square of the window's response, over
 * which neighbours share their noise. */
double fourier_sigma_reach(const struct fourier_filter *);
/*
 * The variance of the component of the analytic signal across its phase, in rows of the image, in
 * memory of its own; *variance is freed by the caller. The noise is that of the samples in grey
 * levels; the lines run along x, or, with `down`, along y.
 */
void fourier_sigma_make(struct run *, const struct fourier_source *, struct phase_noise_model,
    const struct fourier_filter *, double noise_bandwidth, bool down, float **variance);

/* How lines of one length go on beyond their ends and in their holes. */
struct fourier_extend {
	size_t n, total;	/* samples, and of the cyclic line with what is added after them */
	size_t channels;	/* 1: real; 2: real and imaginary part */
	size_t lanes;		/* lines, a multiple of EXTEND_LANES_LEAST (fourierphase_rows.c) */
	size_t reach;		/* from the last sample to where nothing is left of it */
	size_t fit;		/* samples that the prediction is taken from */
};

#define FILTER_ROWS FFT_SAMPLE	/* that a thread takes at once: two of a lane */

struct filter_job {
	const struct fourier_filter *how;
	const struct fourier_signal *signal;
	struct fourier_result *result;
	struct line_fft across, down;	/* down: of no samples for lines alone */
	struct fourier_extend row, column;
	long first;		/* frequency of the first column of the narrow plane */
	size_t n, stride;	/* its columns: frequencies that the window keeps; a row */
	struct pixel_store *store;	/* of the narrow plane, signal->h rows, and window */
	float *re, *im;
	float *window;		/* a row of stride, or one for each frequency down */
	unsigned char *known;	/* of each line: it has samples enough */
};

/* Variances of a measurement on their way through the window. */
struct sigma_job {
	const struct fourier_source *source;
	struct phase_noise_model noise;
	size_t w, h, radius;
	float *kernel;			/* radius + 1, from the middle outwards */
	float *v, *n, *to_v, *to_n;	/* variances and how many pixels count; what they become */
	bool down;
};

/* ---- a measurement ---- */

/* A fringe image on its way to a phase: its carrier, and the analytic signal round it. */
struct fourier_image {
	struct fourier_source source;
	struct fourier_result result;
	struct fourier_carrier carrier;	/* the phase rises along it */
	bool transposed, falling; /* lines are columns; the phase falls along them */
	float cosine, sine;	/* of what is taken off the phase */
	float *variance;	/* of the signal's component across its phase; NULL: not wanted */
	double window_px;	/* within which neighbours share their noise */
};

/* By which test a pixel is invalid, the first that it fails; those with a phase, and of these the
 * ones of a small amplitude. */
enum fourier_lost {
	LOST_MISSING,
	LOST_SATURATION,
	LOST_DARKNESS,
	LOST_MODULATION,
	LOST_AMPLITUDE,
	LOST_NONE,
	LOST_KINDS
};

struct output_job {
	const struct fourierphase *fourier;
	const struct fourier_image *image;
	const struct frame *in;
	struct frame *frame;
	double *amplitude;	/* of every step-th pixel: of all images the smallest, or NaN */
	size_t step;
	uint64_t (*lost)[LOST_KINDS];	/* of each row */
};

struct fourier_sample {
	float re, im;
};

#define FOURIER_GRID 48	/* points across and down at which measurements are compared */

/* The stage's own: what is planned for a measurement, and what is known of the previous ones. */
struct fourierphase {
	struct measurement measurement;
	struct capture_set captures;
	struct measurement_limits limits;
	struct phase_noise_model noise;		/* of --sigma */
	/* The first channel of each kind; phases or vectors, which come first, end at modulation,
	 * sigmas at marker. */
	size_t modulation, texture, sigma, marker;
	bool vector;
	double *turn_rad;	/* of each fringe image: what its phase has too much */
	size_t number;		/* of the measurement */
	char name[40];		/* of all but the first: "measurement 2" */
	/* once in a run */
	bool warned_two, warned_weak, warned_steps, warned_unlit, warned_saturated;
	bool flats_checked;
	bool most_known;	/* the value of saturated pixels */
	struct fourier_sample before[FOURIER_GRID * FOURIER_GRID];
};

/* The loops of fourierphase_rows.c; those that take a void pointer are for run_for(). */
struct fourierphase_rows {
	/* In place: v has fft->n samples of FFT_SAMPLE floats, aligned to 64. */
	void (*line_fft)(const struct line_fft *fft, float *v);
	/* FOURIER_ROWS rows of a struct signal_job's source become signal, or what their units sum
	 * to. */
	void (*signal)(void *job, size_t item);
	/* A struct spectrum_job: finds the mean of a piece, and what counts of it. */
	void (*spectrum_piece)(void *job, size_t item);
	/* Transforms FFT_LANES rows of the pieces. */
	void (*spectrum_rows)(void *job, size_t item);
	/* Adds |Z(k)|^2 of FFT_LANES columns. */
	void (*spectrum_columns)(void *job, size_t item);
	/* Row y of the power: of two real pieces, one real and one imaginary, |Z(k)|^2 + |Z(-k)|^2
	 * is twice both powers. */
	void (*spectrum_power)(void *job, size_t y);
	/* Row y of a struct fourier_spectrum's means; beyond the ends the frequencies go on. */
	void (*spectrum_smooth)(void *spectrum, size_t y);
	/* The greatest power of all but the light. */
	double (*spectrum_greatest)(const struct fourier_spectrum *);
	/* A struct filter_job: FILTER_ROWS rows to the narrow plane. */
	void (*filter_forward)(void *job, size_t item);
	/* FFT_LANES columns of the narrow plane, times the window. */
	void (*filter_columns)(void *job, size_t item);
	/* FFT_LANES rows of the narrow plane become those of the result. */
	void (*filter_back)(void *job, size_t item);
	/* A struct sigma_job: FOURIER_ROWS rows of the variance of the signal's samples. */
	void (*sigma_read)(void *job, size_t item);
	/* Smooths FOURIER_ROWS rows across or down. */
	void (*sigma_smooth)(void *job, size_t item);
	/* What the sums come to, times `scale`. */
	void (*sigma_variance)(const struct sigma_job *, float scale, float *restrict variance);
	/* FOURIER_ROWS rows of a struct output_job's frame. */
	void (*output)(void *job, size_t item);
};
LEVELS_OF(fourierphase_rows)
