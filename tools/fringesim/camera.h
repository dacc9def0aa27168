/*
 * A simulated camera: exposure, noise, rounding. Its noise has no state but is a hash of seed,
 * measurement, image and place on the sensor: the same numbers come on any number of threads.
 */
#ifndef CAMERA_H
#define CAMERA_H

#include "frame/frame.h"

enum camera_bits { CAMERA_8, CAMERA_12, CAMERA_16, CAMERA_FLOAT };

struct camera {
	int bits;			/* enum camera_bits */
	double exposure;		/* factor on all light */
	double noise;			/* read noise, sigma in grey levels */
	double shot;			/* the variance of shot noise is this times the signal */
	long seed;
};

/* Which of the captures; they all have noise of their own. */
struct camera_capture {
	uint32_t measurement, image, view;	/* view: 0, or 1 for the right one of a pair */
};

/* The largest sample; float captures are in the levels of 8 bits and may go beyond. */
double camera_full(const struct camera *);
enum sample camera_type(const struct camera *);
/* Exposes place (x, y) of the sensor to `light`: grey levels with noise. */
double camera_level(const struct camera *, const struct camera_capture *, double x, double y,
    double light);
/* A number of the normal distribution that belongs to a place of a capture, |it| < 5.8; `what` has
 * numbers of its own. */
enum camera_use { CAMERA_NOISE, CAMERA_SPECKLE };
double camera_random(const struct camera *, const struct camera_capture *, double x, double y,
    enum camera_use what);
/* Stores sample x of a row: rounded, halves upward, and held to 0 .. full; float as it is. */
void camera_store(const struct camera *, double level, void *row, size_t x);

#endif
