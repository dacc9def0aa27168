/* What the shaders of a turned view read, in C and in GLSL, and how they lay out their memory. */
#ifndef SHADE_VIEW_BLOCK_H
#define SHADE_VIEW_BLOCK_H

#include "shade.px.h"

#define VIEW_NONE 0xffffffffu	/* no channel */
#define VIEW_COLUMN 0xfffffffeu	/* instead of a channel: the place of the column or the row, */
#define VIEW_ROW 0xfffffffdu
#define VIEW_FOUND 0xfffffffcu	/* or the normal that the triangles around a point give */
#define VIEW_GROUP 256u		/* invocations of a workgroup */
#define VIEW_TILE 16u		/* a side of the pixels that there is a workgroup for */
#define VIEW_COUNT_TILE 64u	/* that of those that count values, in bins of their own */
#define VIEW_ATTRIBUTES 5u	/* enum turned_attribute */

/* Values of which two ranks each are found together; the first three are lists 0 to 3 of a survey,
 * the next one lists 0 and 1, and the last one is alone. */
#define VIEW_STEPS 0u		/* between neighbours: in z, and in the image plane */
#define VIEW_LOOK 1u		/* turned X and Y of some rows */
#define VIEW_TOLERANCE 3u	/* values of some points */
#define VIEW_ALL 4u		/* the same of all points, where the look finds some far out */
#define VIEW_COLOURS 6u		/* of what is seen */
#define VIEW_LISTS 4u		/* at most, that are found together */
#define VIEW_LOOK_ROWS 64u
#define VIEW_TOLERANCE_PARTS 64.0f	/* of the range of values */
#define VIEW_TOLERANCE_SAMPLES 2039u
#define VIEW_TOLERANCE_LEAST 100u	/* fewer give no range */

/* The scratch planes are one array of words: a plane of samples for each attribute, the counts of
 * values that are in each bin, for two ranks of each list, the words below, and normals. */
#define VIEW_BINS 2048u

/* All four samples of mixed pixels count where there is more than one to VIEW_MIXED_SHARE others,
 * but not more than VIEW_MIXED_MOST: one each gives the same percentiles then. */
#define VIEW_MIXED_SHARE 16u
#define VIEW_MIXED_MOST 65536u

/* Words that the shaders leave to each other, */
#define VIEW_VALID 0u		/* has the frame a point? */
#define VIEW_LOW 1u		/* values of the first and the last colour: floats */
#define VIEW_HIGH 2u
#define VIEW_SCALE 3u		/* samples of a unit of length, a float */
#define VIEW_SEEN 4u		/* pixels of which something is seen */
#define VIEW_FAILED 5u		/* not 0: the processor has to draw the picture */
#define VIEW_RESULTS 6u		/* so far in the output's last row, too: no row of pixels */
#define VIEW_ORIGIN 6u		/* of the points the number from the middle on; VIEW_UNSET: none */
#define VIEW_ONCE 7u		/* pixels that are lit once and have a value */
#define VIEW_MIXED 8u		/* pixels whose samples are lit one by one */
#define VIEW_LEAST 9u		/* of turned X and Y, as view_order() has them */
#define VIEW_MOST 11u
#define VIEW_OUTLIES 13u	/* has X, Y points that are far out? */
#define VIEW_JUMP 15u
#define VIEW_TOLERATED 16u	/* difference of the values of a pixel that is lit once */
#define VIEW_FACTOR 17u		/* of own x, y and z in picture x, and 1; in picture y */
#define VIEW_COUNTED 25u	/* values of each list */
#define VIEW_PREFIX 29u		/* of each rank: its first bits, */
#define VIEW_REST 37u		/* and how many values with the same ones precede it */
#define VIEW_WORDS 45u

struct view_block {
	uint w, h;			/* points: a few columns at least, the others missing */
	uint own_w;			/* columns of the frame */
	uint x, y, z;			/* channels; x VIEW_NONE: columns and rows */
	uint value;			/* the channel to colour by; VIEW_NONE */
	uint channel[5];		/* of attributes; VIEW_NONE: the value is the key */
	uint samples, columns, rows;	/* a side of a pixel; in all */
	uint step;			/* of passes in a row: the attribute, or the digits */
	uint list;			/* of values that are counted: the first, */
	uint lists;			/* and how many */
	uint jump_stride;		/* of the pixels whose steps count */
	uint scaled;			/* x and y are lengths like z */
	float rotation[6];		/* of x, y and z away from the camera in turned X; in Y */
	float axis[6];			/* the same of columns and rows, if they are x and y */
	float sign;			/* of z, so that it points away from the camera */
	float right, down;		/* distances of a depth map's pixels */
	float facing;
	float jump;			/* 0: to be found */
	float tolerance;		/* less than 0: to be found */
	float same;
	float lamp[3], away[3];
	uint by_value, finds, diverging;	/* finds: low and high are not given */
	uint paints;			/* the only channel to paint; VIEW_NONE: all */
	float low, high;
	float last;			/* number of the last anchor */
	float plaster;
	PX_STRUCT shade_vector background;	/* levels of 255 */
	PX_STRUCT shade_vector nan;	/* the colour of no value */
	PX_STRUCT shade_light light;
};

#endif
