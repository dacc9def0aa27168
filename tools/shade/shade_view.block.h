/* What the shaders of a turned view read, in C and in GLSL, and how they lay out their memory. */
#ifndef SHADE_VIEW_BLOCK_H
#define SHADE_VIEW_BLOCK_H

#include "shade.px.h"

#define VIEW_NONE 0xffffffffu	/* no channel */
#define VIEW_GROUP 256u		/* invocations of a workgroup */
#define VIEW_TILE 16u		/* a side of the pixels that there is a workgroup for */
#define VIEW_COUNT_TILE 64u	/* that of those that count values, in bins of their own */
#define VIEW_ATTRIBUTES 5u	/* enum turned_attribute */

/* The scratch planes are one array of words: a plane of samples for each attribute, and then the
 * counts of values that are in each bin, for the lower and for the upper percentile. */
#define VIEW_BINS 2048u

/* All four samples of mixed pixels count where there is more than one to VIEW_MIXED_SHARE others,
 * but not more than VIEW_MIXED_MOST: one each gives the same percentiles then. */
#define VIEW_MIXED_SHARE 16u
#define VIEW_MIXED_MOST 65536u

/* Words in the last row of the output, which is no row of the picture. */
#define VIEW_LOW 0u		/* values of the first and the last colour: floats */
#define VIEW_HIGH 1u
#define VIEW_SEEN 2u		/* pixels of which something is seen */
#define VIEW_FAILED 3u		/* not 0: the processor has to draw the picture */
#define VIEW_ONCE 4u		/* pixels that are lit once and have a value */
#define VIEW_MIXED 5u		/* pixels whose samples are lit one by one */
#define VIEW_PREFIX 6u		/* of each percentile: its first bits, */
#define VIEW_REST 8u		/* and how many values with the same ones precede it */
#define VIEW_RESULTS 10u

struct view_block {
	uint w, h;			/* points */
	uint x, y, z;			/* channels; x VIEW_NONE: columns and rows */
	uint channel[5];		/* channels; the last one VIEW_NONE: the value is the key */
	uint samples, columns, rows;	/* a side of a pixel; in all */
	uint step;			/* of passes in a row: the attribute, or the digits */
	float factor[8];		/* of own x, y and z in picture x, and 1; in picture y */
	float origin[3];
	float jump, facing, tolerance, same;
	float lamp[3], away[3];
	uint by_value, finds, diverging;	/* finds: low and high are not given */
	float low, high;
	float last;			/* number of the last anchor */
	float plaster;
	PX_STRUCT shade_vector background;	/* levels of 255 */
	PX_STRUCT shade_vector nan;	/* the colour of no value */
	PX_STRUCT shade_light light;
};

#endif
