#ifndef TEXMAP_CLOUD_SURFACE_H
#define TEXMAP_CLOUD_SURFACE_H

/* The surface that the points of a cloud lie on: how far they lie apart, and its normals. */
#include <stddef.h>

#include "run/run.h"

#define CLOUD_NEAREST 8		/* points around one that tell */

struct cloud_surface {
	size_t n;
	float *apart;		/* of each point: mean distance of the nearest; NaN: it is alone */
	float *normal[3];	/* unit vectors of either sign; NaN where it is alone */
	double spacing;		/* median of apart */
	double noise;		/* standard deviation of the points along the normals */
};

/* Of n finite points. cloud_surface_free() in either case; -1 after fail(). */
int cloud_surface_make(struct run *, const float *const xyz[3], size_t n, struct cloud_surface *);
void cloud_surface_free(struct cloud_surface *);

#endif
