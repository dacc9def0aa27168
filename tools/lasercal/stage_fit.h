/* How a stage moves what stands on it, from a board's poses. */
#ifndef LASERCAL_STAGE_FIT_H
#define LASERCAL_STAGE_FIT_H

#include "views.h"

struct direction_fit {
	double direction[3];	/* of the board's middle, per mm of travel, in the world */
	double sd[3];		/* its standard deviation; NaN for two views */
	double rms[3];		/* of the middles from the line, per axis */
	double turn_rad;	/* the board's turn from first to last view */
};

/* Least squares of the board's middles over the travel, or (plain) the mean of successive
 * differences by that of the travel (Liu 2016 eq 7-8), which is the end points alone. off: 3
 * numbers per view, of each middle from the line. -1 after fail(). */
int direction_fit(const struct views *, bool plain, struct direction_fit *, double *off);

struct axis_fit {
	double point[3], direction[3];	/* in the world; the point nearest to the boards' middle */
	double rms_px;			/* of the corners' distances */
	double alone_px;		/* the same of each board by itself */
	double radius_mm;		/* of the middle of the board about the axis */
	double angle_rms_rad;		/* of the boards' own turns from those of the stage */
	/* What the boards turned per what the stage did; 1 if all is well. */
	double gain;
};

/* The boards' own turns give the direction, a circle of known angles through their origins the
 * point; then both and the board on the stage are refined jointly over the corners of all
 * pictures. -1 after fail(). */
int axis_fit(const struct views *, struct axis_fit *);

#endif
