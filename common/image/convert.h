/*
 * Sample types and ranges. A frame with the keys sample_scale and sample_offset (one number, or one
 * per channel) stands for values: value = sample * sample_scale + sample_offset; where it has the
 * key invalid, that sample stands for none.
 * Every function replaces *frame; after a failure *frame is as it was and still the caller's.
 */
#ifndef CONVERT_H
#define CONVERT_H

#include "image/colormap.h"
#include "run/stage.h"

enum range_kind { RANGE_NONE, RANGE_GIVEN, RANGE_AUTO };

struct sample_range {	/* RANGE_AUTO: the smallest to the largest finite sample of a channel */
	enum range_kind kind;
	double low, high;
};

struct encoding {		/* how values become samples */
	enum sample type;
	struct sample_range range;	/* what the whole range of an integer type stands for */
	double fill;			/* what NaN becomes; NaN: 0 in integers, NaN in floats */
};

/* What is being done; for the rows of convert_rows.h. */
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
};

/* One row of a conversion each, at the tool's level of instructions. */
struct convert_rows {
	void (*decode)(const struct conversion *, size_t y);
	void (*encode)(const struct conversion *, size_t y);
	void (*fill)(const struct conversion *, size_t y);
	void (*colour)(const struct conversion *, size_t y);
};

/* "auto" or "LOW,HIGH". -1 after fail_usage(option, ...). */
int range_parse(const char *option, const char *text, struct sample_range *);

/* Float samples, with NaN where they equal `invalid` (NaN: nowhere). */
int convert_to_float(struct run *, const struct convert_rows *, struct frame **frame,
    double invalid);
/* The values that sample_scale, sample_offset and invalid tell of, as float; drops the keys. */
int convert_unscale(struct run *, const struct convert_rows *, struct frame **frame);
/*
 * Float samples to another type: rounded to the nearest (halves upward), clamped. With a range,
 * sample_scale and sample_offset keep what is needed to compute back; with a fill, the key invalid
 * does, and no valid sample becomes the fill.
 */
int convert_encode(struct run *, const struct convert_rows *, struct frame **frame,
    const struct encoding *);
/*
 * The one channel of a float frame as colours, r g b; NaN is black. Without a range, the phase map
 * takes -pi to pi, the others the channel's own. The phase map goes round; the others are clamped.
 */
int convert_colour(struct run *, const struct convert_rows *, struct frame **frame, enum colormap,
    struct sample_range);

#endif
