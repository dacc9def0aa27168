/* What shade keeps of its options and of a frame. */
#ifndef SHADE_SHADE_H
#define SHADE_SHADE_H

#include <stdint.h>

#include "image/annotate.h"
#include "image/colormap.h"
#include "mesh/mesh.h"
#include "run/stage.h"
#include "shade.px.h"

enum colour_by { BY_NONE, BY_DEPTH, BY_TEXTURE };
enum lighting { LIGHTING_FULL, LIGHTING_SOFT, LIGHTING_NONE };

struct parameters {
	struct numbers view, light, range, nan;
	struct opt_size size;
	int by, map, lighting;
	long samples, background;
	double ambient, diffuse, specular, shininess, jump;
	bool bar, scale_bar, axes;
};

#define SHADE_CELLS 1024		/* of --range, a multiple of 64 */

/* Of the pixels that are looked at: the surface's points, between the ends of --range, beyond them,
 * and far beyond; a bit for each cell of the range that has one; the bits that some value has, and
 * that some value lacks; how far values lie within the range, from its nearer end, and beyond it,
 * at most. */
struct colour_counts {
	size_t points, inside, below, above;
	uint64_t cells[SHADE_CELLS / 64];
	uint32_t set, unset;
	float depth, beyond;
};

struct priv {
	struct shade_light light;
	struct shade_vector background;	/* levels of 255 */
	struct shade_vector nan;	/* the colour of no value, in [0, 1] */
	bool lone;			/* points without a triangle have their colour, too */
	bool annotates;
	struct annotation annotation;
	enum colormap map;
	float low, high;		/* values of the first and the last colour */
	/* of pictures from the camera */
	struct mesh mesh;		/* its channels */
	size_t value;			/* input channel to colour by; NO_CHANNEL */
	float jump;
	bool jump_checked;
	struct colour_counts counts;
};

#define PLASTER 0.9f			/* the colour of a surface without colours */

/* What a device does, for the body's passes. */
int shade_passes(struct run *, struct passes *);

#endif
