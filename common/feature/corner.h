/* Derivatives of Gaussians, saddle points and blobs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct derivative_plane;

/*
 * Derivatives of an image smoothed by a Gaussian: d/dx, d/dy, d2/dx2, d2/dxdy, d2/dy2 in samples'
 * units per px and px^2, x to the right, y down, pixel centres at whole numbers (methods.md
 * section 11).
 *
 * Weights are the Gaussian and its two derivatives, each integrated over a pixel. A cut kernel
 * misses a little, and so the weights get a small part of the Gaussian times a parabola that makes
 * the moments right: a constant, a ramp and a parabola give exactly 1, their slope and their second
 * derivative. Beyond its border an image goes on with its last pixel. A pixel that is NaN makes NaN
 * of all within the radius.
 */

/* Order of results of derivatives_row(). */
enum { DERIVATIVE_X, DERIVATIVE_Y, DERIVATIVE_XX, DERIVATIVE_XY, DERIVATIVE_YY, DERIVATIVES };

/* The least standard deviation, in px, whose derivatives pixels can carry. */
#define DERIVATIVES_SIGMA_LEAST 0.8
#define DERIVATIVES_RADIUS_MOST 256

struct derivative_kernels {
	double sigma;		/* px */
	size_t radius;		/* px */
	/* derivatives_row(), or the same from a file that is compiled for the machine. */
	void (*row)(const struct derivative_kernels *, const struct derivative_plane *, size_t y,
	    float *work, float *const out[DERIVATIVES]);
	/* Weights of pixels at distance 0 to radius: smoothing (even), first derivative (odd: of
	 * the pixel to the right, that to the left has the opposite one), second one (even). */
	float weight[3][DERIVATIVES_RADIUS_MOST + 1];
};

/* A plane of floats in rows on 64-byte boundaries, as frame_floats() gives them. */
struct derivative_plane {
	const float *v;
	size_t w, h;
	size_t stride;		/* floats from row to row: a multiple of 16 */
};

struct derivatives {
	double x, y, xx, xy, yy;
};

/* The radius that the toolchain uses: ceil(4 sigma). */
size_t derivatives_radius(double sigma);
/* Kernels of that radius; 0: derivatives_radius(). -1 after fail(): sigma below
 * DERIVATIVES_SIGMA_LEAST, a radius below 2 sigma or above DERIVATIVES_RADIUS_MOST. */
int derivative_kernels_init(struct derivative_kernels *, double sigma, size_t radius);
/*
 * The weights (smoothing, first, second derivative) of the 2 radius + 1 pixels about pixel 0 for
 * the point at `offset` px from it; weight[order][radius + j] is that of the pixel at j.
 */
void derivative_weights(double sigma, size_t radius, double offset, double *const weight[3]);
/*
 * The five derivatives of row y: out[DERIVATIVE_X] etc. have room for w rounded up to 16 floats, on
 * 64-byte boundaries; NULL: not wanted. work: derivatives_work() floats, 64-byte aligned, of the
 * caller's thread. Rows are independent, and do not depend on who computes them.
 */
void derivatives_row(const struct derivative_kernels *, const struct derivative_plane *, size_t y,
    float *work, float *const out[DERIVATIVES]);
size_t derivatives_work(const struct derivative_kernels *, size_t w);

/* The five at a point of the image, |x| and |y| < 1e9, with weights for its true offset from the
 * nearest pixel: exact, but slow (some microseconds). */
void derivatives_at(const struct derivative_kernels *, const struct derivative_plane *, double x,
    double y, struct derivatives *);

/*
 * ---- points that may be of a board, where the determinant of the Hessian H has an extremum ----
 *
 * Saddles, det H < 0, are where four squares of a chessboard meet (methods.md section 16); dark or
 * bright blobs, det H > 0, are circles.
 */

enum feature_kind { FEATURE_SADDLE, FEATURE_DARK, FEATURE_BRIGHT };

struct feature {
	double x, y;     /* px */
	double strength; /* sigma^2 sqrt(|det H|): for a corner of two square edges a third of its
			  * contrast */
	/* Of a saddle; NaN of a blob. */
	double light;    /* direction of its bright quarters, rad, 0 <= light < pi */
	double open;     /* half the angle of a bright quarter, rad: edges run at light +-
			  * open; saddle_refine() leaves a right angle */
};

struct features {
	size_t n;
	struct feature *v; /* strongest first */
};

/*
 * The strongest `most` of one kind in an image, those of less than `least` of the strongest one's
 * strength left out. Places are within some 0.1 px. The caller frees v.
 */
void features_find(const struct derivative_plane *, const struct derivative_kernels *,
    enum feature_kind, size_t most, double least, struct features *);
/*
 * Fits an ellipse to the edge of a blob, which lies within `reach` px of its centre: the least
 * squares of a conic through the places where rays from the centre cross the level half-way between
 * inside and outside. *sd: standard deviation of x and of y. False: there is no such edge.
 */
bool blob_measure(const struct derivative_plane *, double reach, struct feature *, double *sd);
/*
 * Moves a saddle to where the gradient is zero, by Newton's steps with kernels at the true place,
 * until one is shorter than last_step_px: what is left is its square. False, and it stays where it
 * was, where that does not end within `reach` px of the start in a saddle.
 */
bool saddle_refine(const struct derivative_plane *, const struct derivative_kernels *, double reach,
    double last_step_px, struct feature *);
/*
 * The standard deviation of x and of y of a refined saddle (the root of their mean variance), from
 * the image's own noise: how far it differs from itself turned by half a turn about the saddle.
 */
double saddle_sigma(const struct derivative_plane *, const struct derivative_kernels *,
    const struct feature *);
