/* What the files of steger share. */
#ifndef STEGER_H
#define STEGER_H

#include "options.h"

struct passes;

struct priv {
	struct line_options line;
	struct line_finder *finder;
	struct derivative_kernels kernels;	/* for --sharp */
	bool automatic;			/* the threshold comes from the first frame */
	bool thresholds_set;
	double noise;			/* grey levels; NaN: not measured */
	struct frame_head out;
	size_t channel, background;	/* NO_CHANNEL: none */
	size_t frames, points, found;	/* found: with those of lines that are too short */
	double strongest;		/* of frames without a point, until there is one */
	double other;			/* of the other sign, in the same one; 0: not much more */
	bool pairs_warned, role_warned;
	bool many;	/* an image had more candidates than a list of bytes holds */
};

/* The points of an image by the device, if one is demanded and can; *made: it has, which an image
 * with a candidate for every 11 pixels prevents. -1 after fail(). */
int steger_find_on_device(struct run *, struct frame *in, const struct line_image *,
    struct line_points *, bool *made);
int steger_passes(struct run *, struct passes *);

#endif
