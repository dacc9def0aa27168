/* --colormap, and what --bar, --scale-bar and --axes put around the picture. */
#ifndef FRAMECAT_PAINT_H
#define FRAMECAT_PAINT_H

#include "convert.h"
#include "image/annotate.h"

#define PAINT_LABELS (COLORMAP_DEVIATION + 1)	/* behind the maps of colormap.h */

struct paint_options {
	int map;			/* PAINT_LABELS; -1: nothing is painted */
	bool bar, scale_bar, axes;
	struct numbers nan;
};

struct paint {
	struct painting painting;
	struct annotation annotation;
};

/* From the options and the range of --scale. -1 after fail_usage(). */
int paint_init(struct paint *, const struct paint_options *, const struct sample_range *);
/* Of a frame with all its channels: how long its pixels are, of which `bin` become one. -1 after
 * fail(). */
int paint_measure(struct paint *, const struct frame *, size_t bin);
/* Replaces a frame of one float channel by its picture. -1 after fail(); *frame is the caller's. */
int paint_frame(struct run *, struct paint *, struct frame **frame);

#endif
