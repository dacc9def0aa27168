/* The rows of conversions: what convert.c hands to all threads. */
#ifndef FRAMECAT_CONVERT_ROWS_H
#define FRAMECAT_CONVERT_ROWS_H

#include "image/colormap.h"
#include "run/stage.h"

struct conversion {
	void (*row)(const struct conversion *, size_t y);
	const struct frame *in;
	struct frame *out;
	struct line {			/* of one channel: value = sample * scale + offset */
		double scale, offset;
	} *line;			/* one per channel; NULL: samples are values */
	double invalid;			/* NaN: none */
	double largest;			/* sample of the output type */
	double fill, around;	/* what NaN becomes; what a valid sample becomes that would be it */
	enum colormap map;
	const float *nan;		/* its colour, r g b in [0, 1] */
};

/* One row of a conversion each. */
void convert_rows_decode(const struct conversion *conversion, size_t y);
void convert_rows_encode(const struct conversion *conversion, size_t y);
void convert_rows_fill(const struct conversion *conversion, size_t y);
void convert_rows_colour(const struct conversion *conversion, size_t y);
void convert_rows_labels(const struct conversion *conversion, size_t y);

#endif
