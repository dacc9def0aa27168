/* One point per cube. */
#ifndef MERGEXYZ_THIN_H
#define MERGEXYZ_THIN_H

#include "frame/frame.h"
#include "run/run.h"

/*
 * A table with one point per cube floor(p/size) in the place of a table of points: the mean of each
 * channel over its valid values, normals of unit length again, sigma that of the mean, and of
 * channels that count something (label, line, frame, ...) the first point's value. The cubes come
 * in the order of their first points. Frees the old table. -1 after fail().
 */
int thin_cloud(struct run *, double size, struct frame **cloud);

#endif
