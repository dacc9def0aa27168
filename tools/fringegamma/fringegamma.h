/* What the files of fringegamma share: pixels, responses, fits, findings, and the loops. */
#pragma once

#include <math.h>
#include <stdio.h>

#include "base/cpu_level.h"
#include "base/numbers.h"
#include "base/process.h"
#include "frame/frame.h"
#include "fringe/step_search.h"

struct run;

/* ---- harmonic_fit.c: the pixels that take part ---- */

#define PIXELS_SIDE 4
#define PIXELS_PARTS (2 * PIXELS_SIDE * PIXELS_SIDE)	/* of the picture, the dark and the bright
							 * pixels of each */

struct pixels {
	size_t images;
	size_t total;			/* of the picture */
	size_t lit;			/* above the least swing, and no sample is NaN */
	size_t saturated;		/* of the lit ones, in any image */
	size_t n;			/* that take part */
	double *v;			/* [n][images], sorted by part; the caller frees it */
	size_t first[PIXELS_PARTS + 1];	/* part i: pixels first[i] to first[i + 1] */
	double place[PIXELS_PARTS][2];	/* of a part: the mean x and y of its pixels, from the
					 * picture's middle */
};

/*
 * Takes pixels whose swing, the difference of their largest and smallest sample, is at least
 * `least_swing` (NaN: a quarter of the 90 % quantile), and that no image saturates at `most`. -1
 * after fail(), also where there is no swing, or most pixels are saturated.
 */
int pixels_take(const struct frame *, const size_t *plane, size_t images, double most,
    double least_swing, struct pixels *out);

/* ---- response.c ---- */

#define RESPONSE_HIGHEST 24	/* harmonic */
#define RESPONSE_ROWS 1025	/* of a table */

/* Harmonics over the fundamental, [k] from 2 up; a standard error of 0: not measured. */
struct response_harmonics {
	long highest;
	double cosine[RESPONSE_HIGHEST + 1], sine[RESPONSE_HIGHEST + 1];
	double error[RESPONSE_HIGHEST + 1];
};

struct response_gamma {
	double gamma, gamma_error;
	double blur, blur_error;	/* sigma over the period */
	bool finds_blur;		/* there were two harmonics */
	double left;			/* share of the harmonics' rms that it leaves */
	bool fits;
};

/* The levels of the fringes, as shares of full scale. */
struct response_levels {
	double mean, amplitude;
};

/* Harmonic k = 2 ... highest of a gamma, over the fundamental, into out[k]. */
void response_predict(struct response_levels, double gamma, double blur, long highest, double *out);
/* The gamma that fits best, and the blur where two harmonics are measured. */
struct response_gamma response_fit(struct response_levels, const struct response_harmonics *);

/* Tables: the level to send for each of RESPONSE_ROWS wanted ones, as shares of full scale. */
/* By the polynomial of the cosines: light rises evenly from level mean - amplitude to mean +
 * amplitude. -1 after fail() where the response does not rise. */
int response_table_harmonics(struct response_levels, const struct response_harmonics *,
    double *level);

/* The phase error of N equal steps by these harmonics: rms over a turn, rad. */
double response_phase_error(const struct response_harmonics *, size_t steps);

struct flats {
	size_t n;
	double *level, *light;		/* one memory; rising; shares of full scale, mean grey
					 * levels */
	double light_error;		/* standard, the largest; over the range of light */
	/* offset + gain level^gamma; left: the rms that it leaves, over the range of light */
	struct response_gamma gamma;
};

/* pixels: of as many images as there are levels. -1 after fail(), also where light does not rise.
 * The caller frees out->level, also after a failure. */
int flats_fit(const struct pixels *, const struct numbers *level, double full, struct flats *out);
/* A table by the flats themselves: a monotone cubic between them (Fritsch and Carlson 1980). */
void response_table_flats(const struct flats *, double *level);
/* The harmonics of fringes of these levels. False where flats do not reach as far as they do. */
bool flats_harmonics(const struct flats *, struct response_levels, struct response_harmonics *);

struct uneven_gamma {
	double gamma, gamma_error;
	double by_density, by_amplitude;	/* the two answers */
};

/* shift_rad: of the three images, 120 degrees apart. -1 after fail(), also where the phases of
 * neighbours are independent. */
int uneven_fit(const struct frame *, const size_t plane[3], const struct pixels *,
    const double shift_rad[3], struct response_levels, struct uneven_gamma *out);

/* ---- harmonic_fit.c: the fit ---- */

#define FIT_IMAGES 64		/* of a set, at most */
#define FIT_HIGHEST 24		/* harmonic that can be fitted */

struct harmonic_fit {
	size_t images;
	double shift_rad[FIT_IMAGES];	/* d_n, of the phase that phasewrap gives */
	long highest;			/* harmonic to fit */
	long known;			/* harmonics that are not seen count up to this one */
	bool seen[FIT_HIGHEST + 1];
	double cosine[FIT_HIGHEST + 1], sine[FIT_HIGHEST + 1];
	double cosine_error[FIT_HIGHEST + 1], sine_error[FIT_HIGHEST + 1];	/* standard */
	/* The rise of each cosine and sine per pixel along x [0] and along y [1]; 0 where they are
	 * not asked for. */
	bool slopes;
	double cosine_slope[2][FIT_HIGHEST + 1], sine_slope[2][FIT_HIGHEST + 1];
	double gain[FIT_IMAGES], gain_error;
	double shift[FIT_IMAGES], shift_error;	/* e_n, rad */
	/* Shares of the fundamental's amplitude (root mean square): */
	double sinusoid_misfit;	/* left by sinusoids: noise and harmonics */
	double misfit;		/* left by this fit: noise */
	double unexplained;	/* left of the mean at each phase and image, less noise */
	double spread;		/* of the harmonics between parts of the picture, less noise */
	double amplitude;	/* root mean square, grey levels */
};

/* The highest harmonic, up to FIT_HIGHEST, with all from 2 up to it seen; 1: none. */
long harmonic_fit_reach(const double *shift_rad, size_t images);
/*
 * Fits, with images, shift_rad and highest set. Sets `seen`; cosines of harmonics that are not seen
 * count as known. -1 after fail(), also where the phases leave parts of the circle out, or the
 * images have no fringes.
 */
int fit_harmonics(struct run *, const struct pixels *, struct harmonic_fit *);

/* ---- findings, and report.c, which prints them ---- */

enum method { BY_HARMONICS, BY_GAMMA, BY_UNEVEN, BY_FLATS };

/* Of one set of fringes, or of flats. */
struct finding {
	enum method method;		/* BY_GAMMA: few steps; harmonics are the gamma's */
	char axis;			/* 0: of flats */
	double period_px;		/* NaN: not known */
	size_t images;
	struct pixels pixels;		/* their values are freed */
	size_t w, h;			/* of the picture */
	double sign, origin_rad;	/* of the shifts */
	struct harmonic_fit *fit;	/* NULL: not by harmonics */
	struct response_harmonics harmonics;
	bool has_harmonics;
	bool of_gamma;			/* they are the gamma's: measured ones agree with them */
	struct response_gamma gamma;	/* by whatever method */
	struct uneven_gamma uneven;
	struct flats flats;
};

struct findings {
	size_t n;
	struct finding *finding;
	struct response_levels levels;
	char compensation[1024];		/* of the patterns; "": none */
};

void report_text(const struct findings *, FILE *);
void report_json(const struct findings *, FILE *);
/* The table for phasewrap --harmonics. */
void report_harmonics(const struct findings *, FILE *);
/* The table for fringegen --lut, and the finding that it comes from. */
void report_lut(const struct findings *, const struct finding *, const double *table, FILE *);

/* ---- fringegamma_rows.c ---- */

/* What the choice of pixels works on. */
struct choice {
	const struct frame *in;
	const size_t *plane;
	size_t images;
	double most;
	float *swing, *mean;		/* of every pixel; swing NaN: a sample is missing */
	size_t *saturated;		/* lit pixels that each image saturates */
};

#define FITTING_UNKNOWNS (2 * FIT_HIGHEST + 2 * FIT_IMAGES)
#define FITTING_BINS 32			/* of the circle, for what remains unexplained */

/* A pixel's own unknowns. */
struct pixel {
	double mean, amplitude, phase;
};

/* Sums over a part of the picture. */
struct part {
	double normal[FITTING_UNKNOWNS * FITTING_UNKNOWNS], right[FITTING_UNKNOWNS];
	double squares, sinusoid_squares;	/* that this fit and sinusoids leave */
	double power;				/* sum of B^2 */
	double bin[FITTING_BINS][FIT_IMAGES];	/* sums of B times what is left */
	double bin_power[FITTING_BINS];		/* of B^2 */
	size_t pixels;
};

/* A fit at work. */
struct fitting {
	struct harmonic_fit *fit;
	const struct pixels *pixels;
	struct pixel *pixel;
	struct part *part;
	long k[FIT_HIGHEST + 1];	/* harmonics that are seen */
	size_t n, unknowns;		/* their number; cosines and sines, gains, shifts */
	double turn[FIT_IMAGES][2];	/* cosine and sine of the shifts, errors included */
	double weight[3][STEP_SEARCH_MOST];	/* images times these: A, B cos phi, B sin phi */
};

/* Averages over phases: of cos(m phi) and sin(m phi), and their covariance with the amplitude's
 * logarithm; m from 0 to 5. Of even phases and sinusoids all are 0 but for m = 0. */
struct averages {
	double density[6][2], amplitude[6][2], logarithm, n;
};

struct fringegamma_rows {
	/* The swing and the mean of every pixel. */
	void (*find_swings)(const struct choice *);
	/* The quantile of the values that are not NaN; 0 where there are none. space: n numbers. */
	double (*quantile)(const float *v, size_t n, double share, float *space);
	/* Counts lit pixels and saturated ones, which lose their swing. */
	void (*drop_saturated)(const struct choice *, double least, struct pixels *);
	/* Counts every `stride`th pixel whose swing is at least `least`, into first[] and n. The
	 * other pixels lose their mean. Returns the median, above which pixels are bright. */
	double (*count_parts)(const struct choice *, double least, size_t stride, struct pixels *,
	    float *space);
	/* Copies these pixels, sorted by part, and finds the places of parts. */
	void (*copy_pixels)(const struct choice *, double least, double middle, size_t stride,
	    struct pixels *);
	/* The mean of image i over all pixels, and its standard error, for which each pixel's own
	 * brightness is removed. */
	double (*light_of)(const struct pixels *, size_t i, double *error);
	/* For even phases and a gamma; of pixels. */
	struct averages (*predict_averages)(struct response_levels, double gamma);
	struct averages (*average)(const struct pixels *, const double shift_rad[3]);
	/* How much a pixel's phase tells about its neighbours': 1 where they differ by the same
	 * everywhere, 0 where they are independent. Of every third row. */
	double (*coherence)(const struct frame *, const size_t plane[3], const double shift_rad[3]);
	/* Replaces the symmetric and positive definite n x n matrix by its inverse. False where a
	 * pivot is below 1e-9 of its diagonal element. */
	bool (*invert)(double *m, size_t n);
	/* Every pixel's own unknowns by sinusoids, where a fit starts. */
	void (*begin_pixels)(const struct fitting *);
	/* For run_for(): the sums of part i, whose pixels' own unknowns it improves. */
	void (*add_part)(void *fitting, size_t i);
	/* The sum of all parts, in their order. */
	void (*sum_parts)(const struct fitting *, struct part *sum);
};
LEVELS_OF(fringegamma_rows)
