/*
 * The projector's image points of a board's corners: absolute phases along x and y around each
 * corner (methods §16).
 *
 * Around each corner u and v are fitted by a quadratic in (x, y), each pixel weighted by its own
 * sigma, so that black squares, whose fringes are weak, count little. A bilinear value at the
 * corner has 18 times the error and an affine fit 7 times.
 */
#ifndef PROJECTOR_POINTS_H
#define PROJECTOR_POINTS_H

#include <stdbool.h>
#include <stddef.h>

/* Projector coordinates that a camera's pixels see along one axis, rows from the top. */
struct coordinate_map {
	size_t w, h;
	float *px;		/* the coordinate in projector pixels; NaN: invalid */
	float *sigma;		/* its standard deviation, or what is proportional to it */
	bool absolute;		/* sigma is in projector pixels; else its scale is not known */
	double period_px;	/* of the fringes whose phase it comes from */
};

struct projector_points_options {
	size_t window;		/* pixels a side, odd, at least 5; 31 */
	double least_valid;	/* share of a window's pixels that must be valid; 0.6 */
	double most_residual;	/* of a fit over what sigma predicts; 3 */
};

extern const struct projector_points_options projector_points_usual;

/* Why a corner has no projector point. */
enum projector_point_fault {
	PROJECTOR_POINT_GOOD,
	PROJECTOR_POINT_OUTSIDE,	/* its window is cut by the picture, or it is no number */
	PROJECTOR_POINT_INVALID,	/* too few valid pixels */
	PROJECTOR_POINT_RESIDUAL,	/* the quadratic does not fit */
	PROJECTOR_POINT_FAULTS
};

struct projector_point {
	double uv[2];		/* projector pixels; NaN where there is a fault */
	double sigma[2];	/* of uv: the fit's own, grown where it fits badly */
	double gradient[2][2];	/* of u, of v: projector pixels a camera pixel along x, along y */
	double residual[2];	/* rms of the fit over what sigma predicts */
	enum projector_point_fault fault;
};

/*
 * Sums over the residuals of all good windows of one axis, for what the fringes themselves leave in
 * them: a projector that is not linear gives phase errors that repeat with the fringe.
 */
#define PROJECTOR_HARMONICS 12
struct projector_ripple {
	double re[PROJECTOR_HARMONICS], im[PROJECTOR_HARMONICS]; /* harmonic 1 is place 0 */
	double square;		/* of residuals, in projector pixels squared */
	double predicted;	/* the same from sigma; 0 where its scale is not known */
	double weight;
};

/*
 * A point for each of n corners (camera pixels, (0, 0) the centre of the first; NaN: no such
 * corner) from the maps of u and of v. No window reaches past the nearest other corner. Adds to
 * ripple[0] (of u) and ripple[1] (of v); NULL: not wanted. Where the scale of sigma is not known,
 * the median corner's residual gives it. -1 after fail(): out of memory.
 */
int projector_points(const struct coordinate_map map[2], const double (*corner)[2], size_t n,
    const struct projector_points_options *, struct projector_point *out,
    struct projector_ripple ripple[2]);

/* The rms that the harmonics 2 and up have, in projector pixels; *strongest: the one with the
 * largest share. 0 without a good point. */
double projector_ripple_rms(const struct projector_ripple *, int *strongest);

#endif
