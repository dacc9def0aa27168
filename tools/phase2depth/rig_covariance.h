/* What fringecal(1) writes beside a rig: the covariance of its numbers, and where its board was. */
#ifndef RIG_COVARIANCE_H
#define RIG_COVARIANCE_H

#include "optics/calib_volume.h"

struct rig_device {
	struct pinhole pinhole;		/* the world is the first device's frame */
	size_t intrinsics, count;	/* where fx fy cx cy k1 .. begin among the parameters */
	size_t pose;	/* where rotation vector and translation begin; SIZE_MAX: the first's */
};

struct rig_covariance {
	struct rig_device camera, projector;
	struct rig_device frame;	/* whose coordinates results are in */
	size_t n;			/* parameters */
	double *C;			/* n x n */
	double X[CALIB_VOLUME_POINTS][3];	/* where the board was, in the first's frame */
	size_t points;
};

/*
 * Of the camera and in the frame of the device of that name; NULL: those that calib_load_device()
 * takes. -1 after fail(), also where the file has no covariance.
 */
int rig_covariance_load(const char *path, const char *camera, const char *frame,
    struct rig_covariance *);
void rig_covariance_free(struct rig_covariance *);

#endif
