/* What the shaders of wff read, in C and in GLSL, and how windows lie in scratch memory. */
#ifndef WFF_BLOCK_H
#define WFF_BLOCK_H

#include "base/px.h"

#define WFF_GROUP 128u		/* invocations of a workgroup */
#define WFF_SHARED 2048u	/* complex samples of shared memory, 16 KiB: all devices have it */
#define WFF_SAMPLES 1024u	/* of a transform, for the median */

/* The table, of floats: cosines, sines, keep, weights (struct windows). */
#define WFF_COS 0u
#define WFF_SIN(n) (n)
#define WFF_KEEP(n) (2u * (n))
#define WFF_WEIGHT(n) (4u * (n))

/* A window's floats: real parts, imaginary parts, rows of n; sums of squares of its n columns; the
 * least |c|^2 that passes. */
#define WFF_IM(n) ((n) * (n))
#define WFF_SQUARES(n) (2u * (n) * (n))
#define WFF_LEAST(n) (2u * (n) * (n) + (n))
#define WFF_WINDOW(n) (2u * (n) * (n) + 2u * (n))

struct wff_block {
	uint n, reach, hop, weights;	/* struct windows; weights: 2 reach + 1 */
	uint across, apart, segment;	/* struct windows_grid */
	uint row, rows;		/* of the windows at hand: rows row, row + apart, ..., so many */
	uint lines, items;	/* lines that a workgroup transforms; such items of a column */
	uint along_rows, inverse;	/* the direction of a step */
	uint begins;			/* the sums begin at 0 */
	float share, power;
};

#endif
