/* What shade keeps of its options and of a frame. */
#ifndef SHADE_SHADE_H
#define SHADE_SHADE_H

#include "image/colormap.h"
#include "mesh/mesh.h"
#include "run/stage.h"
#include "shade.px.h"

enum colour_by { BY_NONE, BY_DEPTH, BY_TEXTURE };

struct parameters {
	struct numbers view, light, range;
	struct opt_size size;
	int by, map;
	long samples, background;
	double ambient, diffuse, specular, shininess, jump;
};

struct priv {
	struct shade_light light;
	enum colormap map;
	float low, high;		/* values of the first and the last colour */
	/* of pictures from the camera */
	struct mesh mesh;		/* its channels */
	size_t value;			/* input channel to colour by; NO_CHANNEL */
	float jump;
};

#define PLASTER 0.9f			/* the colour of a surface without colours */

/* What a device does, for the body's passes. */
int shade_passes(struct run *, struct passes *);

#endif
