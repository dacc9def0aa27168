/* What a laser's sheet of light does on the surface, for simulated captures (fringesim --laser). */
#ifndef FRINGESIM_LASER_LIGHT_H
#define FRINGESIM_LASER_LIGHT_H

#include "optics/laser.h"
#include "run/run.h"

enum laser_profile { LASER_GAUSS, LASER_BAR };

struct laser_options {
	bool on;
	int profile;			/* enum laser_profile */
	double thickness;		/* mm: standard deviation, or half of a bar's; NaN: 2 px */
	double speckle;			/* contrast */
	struct numbers reflection;	/* share, mm: n = 0 without */
	struct numbers from;		/* where it comes from, x y z; n = 0: not given */
	double stage_step, stage_angle;	/* mm, rad from picture to picture; NaN: it stands still */
	double stage_start;		/* mm, of the first picture */
};

struct laser_light {
	struct laser laser;
	enum laser_profile profile;
	double thickness, speckle;
	double share, shift;		/* of the reflection: 0 without */
};

/* Do the options go together, and with a calibration? -1 after fail_usage(). */
int laser_options_check(const struct laser_options *, bool calibrated, bool shadow, bool cylinder,
    long frames);
/* Reads the calibration. distance: NaN becomes where the plane meets the camera's axis. -1 after
 * fail(). */
int laser_light_open(struct laser_light *, const struct laser_options *, const char *calib,
    double *distance);
/* The mean of the light, 1 in the middle of the line, from distance a to b of the plane. */
double laser_light_mean(const struct laser_light *, double a, double b);
/* A distance of the plane beyond which there is no light. */
double laser_light_reach(const struct laser_light *);

#endif
