/*
 * Sample types and ranges. A frame with the keys sample_scale and sample_offset (one number, or one
 * per channel) stands for values: value = sample * sample_scale + sample_offset; where it has the
 * key invalid, that sample stands for none.
 * Every function replaces *frame; after a failure *frame is as it was and still the caller's.
 */
#ifndef FRAMECAT_CONVERT_H
#define FRAMECAT_CONVERT_H

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

struct painting {		/* how values become colours */
	enum colormap map;
	struct sample_range range;
	float nan[3];			/* the colour of NaN, r g b in [0, 1] */
	bool labels;	/* of `map` nothing is used: every whole number has a colour of its own */
};

/* "auto" or "LOW,HIGH". -1 after fail_usage(option, ...). */
int range_parse(const char *option, const char *text, struct sample_range *);

/* Float samples, with NaN where they equal `invalid` (NaN: nowhere). */
int convert_to_float(struct run *, struct frame **frame,
    double invalid);
/* The values by sample_scale, sample_offset and invalid, as float; drops the keys. */
int convert_unscale(struct run *, struct frame **frame);
/*
 * Float samples to another type: rounded to the nearest (halves upward), clamped. With a range,
 * sample_scale and sample_offset keep what is needed to compute back; with a fill, the key invalid
 * does, and no valid sample becomes the fill.
 */
int convert_encode(struct run *, struct frame **frame,
    const struct encoding *);
/*
 * The one channel of a float frame as colours, r g b. Without a range, the phase map takes -pi to
 * pi, the others the 1st to the 99th percentile (colormap.h). The phase map goes round; the others
 * are clamped. ends: the values of the first and the last colour.
 */
int convert_colour(struct run *, struct frame **frame, const struct painting *, double ends[2]);
/* Numbers that name something, 1 and up: each gets a colour; 0 and NaN that of NaN. */
int convert_labels(struct run *, struct frame **frame, const struct painting *);

#endif
