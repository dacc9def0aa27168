/* What a picture of a surface is to look like, and the colours of its pixels. */
#ifndef SHADE_LOOK_H
#define SHADE_LOOK_H

#include "image/colormap.h"
#include "mesh/mesh.h"
#include "shade.px.h"
#include "run/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static struct shade_vector
colour_of(const struct priv *priv, float value)
{
	float rgb[3];

	colormap_rgb(priv->map, (value - priv->low) / (priv->high - priv->low), rgb);
	return (struct shade_vector){ rgb[0], rgb[1], rgb[2] };
}

/* The 1st and 99th percentile of n values, which lose their order. */
static void
take_range(struct priv *priv, float *value, size_t n)
{
	float limit[2] = { 0, 1 };

	if (n)
		numbers_ranks(value, n, (size_t[2]){ n / 100, n - 1 - n / 100 }, 2, limit);
	priv->low = limit[0];
	priv->high = limit[1] > limit[0] ? limit[1] : limit[0] + 1;
}

#endif
