#ifndef TEXMAP_COLOUR_CAMERA_H
#define TEXMAP_COLOUR_CAMERA_H

/* The camera of a calibration that took the picture. */
#include "optics/calib.h"

struct colour_camera {
	struct pinhole pinhole;		/* from the calibration's world */
	char unit[16];			/* of its lengths */
	double origin_px[2];		/* where pictures without the key lie on its sensor */
};

/*
 * name: devices.NAME of kind camera, or left or right of a pair (optics/stereo.h); NULL: the only
 * camera. -1 after fail(path, ...), which names the cameras there are.
 */
int colour_camera_load(const char *path, const char *name, struct colour_camera *);

#endif
