/* What the pixels of a line with sharp edges do to its points. */
#ifndef STEGER_SHARP_H
#define STEGER_SHARP_H

#include "feature/line.h"

/* px: wider lines need no correction. */
#define SHARP_WIDTH_MOST 12

/*
 * Pixels cannot carry sharp edges: their sums alias, and where a bar's smoothed image has no slope
 * lies beside its middle, by up to 0.015 px for 3 px along an axis. Moves every point to the middle
 * of the bar of that width (px, up to SHARP_WIDTH_MOST), along the point's normal, whose exact
 * areas of pixels have no slope where the image has none. kernels: those that found the points.
 */
void sharp_correct(struct run *, const struct derivative_kernels *, double width,
    struct line_points *);

#endif
