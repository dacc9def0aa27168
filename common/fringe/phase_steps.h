/* Weights of phase steps, fits of shifts, keys of periods. */
#pragma once

#include "frame/meta.h"
#include "fringe/capture_set.h"

/* Keys that count in radians of a fringe period: behind another period they mean another number. */

/* Converts c_mm_per_rad and ref_plane_rad, which are for a phase of one period, to a phase of
 * another one. -1 after fail(). */
int period_keys_convert(struct meta *, double from_px, double to_px);
/* Takes them away, as of another axis. */
void period_keys_remove(struct meta *);

/* Least squares over phase steps (methods §2): weights that turn images into A, B cos, B sin. */

/* Of one image: A = I_0 + sum mean (I - I_0) / n, B cos phi = sum c (I - I_0), and
 * B sin phi = sum s (I - I_0). */
struct phase_shift_weights {
	float mean, c, s;
};

/* Of one image: I = A + B cos phi cosine + B sin phi sine. */
struct phase_shift_model {
	float cosine, sine;
};

/* weights[i] and model[i] belong to plane[i] of the fringe set. */
struct phase_shift_fit {
	size_t n;
	struct phase_shift_weights *weights;
	struct phase_shift_model *model;
};

/*
 * For I = A + B cos(phi + origin + sign * shift); any shifts that determine a phase, equal or not.
 * *out is overwritten; free with phase_shift_weights_free, also after a failure. -1 after fail().
 */
int phase_shift_weights_solve(const struct capture_fringe *, double sign, double origin_rad,
    struct phase_shift_fit *out);
void phase_shift_weights_free(struct phase_shift_fit *);
/* The inverse of a symmetric 3x3 matrix, as normal equations have one; its determinant, 0 where
 * there is no inverse. */
double phase_shift_invert(double m[3][3], double inverse[3][3]);

/*
 * How well do images fit phase shifts, and which other shifts would they fit better? All that
 * matters of the images is their Gram matrix: G_ij = sum over pixels of v_i v_j, where v are the
 * values of a pixel less their mean, divided by their root mean square. A fit leaves trace(G) -
 * sum q'G q, over an orthonormal basis q of the constant, the cosine and the sine of the shifts;
 * what it leaves without one image follows as in linear regression, from residual and leverage.
 */

#define STEP_FIT_MOST 64	/* images of one period; callers check no more */

enum step_fault {
	STEPS_FIT,		/* as well as noise and harmonics let them */
	STEPS_ALIKE,		/* image b shows what image a shows */
	STEPS_EXCHANGED,	/* images a and b are in each other's place, or c and d: with few
				   steps what one leaves may be the other's mirror image */
	STEPS_SORTED,		/* numbers without zeros were sorted as text: 1, 10, 11, 2 */
	STEPS_MISSING,		/* one is missing after image a - 1 */
	STEPS_OTHER,		/* equal steps of 360 / a degrees fit better */
	STEPS_DRIFT,		/* each image lies drift_rad farther than the one before should */
	STEPS_OUTLIER,		/* image a fits none of the others */
	STEPS_UNFIT		/* nothing of these, and no fit either */
};

struct step_verdict {
	enum step_fault fault;
	size_t a, b, c, d;	/* images from 0, or as above; c = d: there are no others */
	double misfit;		/* rms that the fit leaves, over the amplitude */
	double better;		/* the same of the fit that the fault names, if any; else 0 */
	double drift_rad;	/* an even motion that explains as much as the fault; else 0 */
};

/* gram: n x n, of n images, 4 to STEP_FIT_MOST; shift_rad: of each. */
struct step_verdict step_fit_judge(const double *gram, const double *shift_rad, size_t n);
/* The least mean square about the mean of a pixel that belongs to the fringes: a quarter of what
 * those in light have. square: of each pixel; 0: it does not count. */
float step_fit_lit_square(const float *square, size_t pixels);

/*
 * The phases of pixels without the shifts of the images: whatever these are, the values of all
 * pixels lie near one plane, that of the two largest eigenvectors of their Gram matrix
 * (struct step_verdict), and go round it once with the phase. The sense and the origin are left
 * open.
 */

struct step_plane {
	size_t n;
	double axis[2][STEP_FIT_MOST];	/* divided by their standard deviations */
};

/* own: the products of n images less their mean image, from those of the images; n x n each, 3 to
 * STEP_FIT_MOST. */
void step_plane_center(const double *gram, size_t n, double *own);
/* gram: n x n, of n images, 3 to STEP_FIT_MOST. */
struct step_plane step_plane_find(const double *gram, size_t n);
/* The phase of n values less their mean, in turns, 0 <= phase < 1. */
double step_plane_turns(const struct step_plane *, const float *v);
