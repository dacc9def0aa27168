/* What median.comp reads, in C and in GLSL. */
#ifndef MEDIAN_BLOCK_H
#define MEDIAN_BLOCK_H

#include "base/px.h"

#define MEDIAN_ROW 0u		/* five in a row, five in a column, 3x3 */
#define MEDIAN_COLUMN 1u
#define MEDIAN_BOX 2u

struct median_block {
	uint channel, to, shape;		/* of the input, of the output */
};

#endif
