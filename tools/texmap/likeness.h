/* Does the picture show what the points' own camera saw? If not, it is another camera's. */
#ifndef TEXMAP_LIKENESS_H
#define TEXMAP_LIKENESS_H

#include "points/visible_points.h"
#include "run/run.h"

/*
 * Compares the edges that are printed on the surface, in the channel texture, gray or image of the
 * points' frame, with the colours found there: one line warns where their correlation, the best of
 * r, g and b, is low; verbose prints it. Without such a channel, or next to no print: nothing.
 */
void likeness_check(const struct run *, const struct visible_points *,
    const struct frame *colours);

#endif
