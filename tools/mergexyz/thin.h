/* One point per cube. */
#ifndef MERGEXYZ_THIN_H
#define MERGEXYZ_THIN_H

#include <stdint.h>

#include "frame/frame.h"
#include "run/run.h"

/*
 * A table with one point per cube floor(p/size) in the place of a table of points: the mean of each
 * channel over its valid values, normals of unit length again, sigma that of the mean, and of
 * channels that count something (label, line, frame, ...) the first point's value. The cubes come
 * in the order of their first points. Frees the old table. -1 after fail().
 */
int thin_cloud(struct run *, double size, struct frame **cloud);

/* For cube_sums.c, which does the same frame by frame. */
enum thin_kind { THIN_MEAN, THIN_SIGMA, THIN_FIRST };

/* What becomes of a channel's values; of sigma the squares are added up. */
enum thin_kind thin_kind(const char *channel);
/* Adds the valid ones of n points' values, and their number; not for THIN_FIRST. */
void thin_add(enum thin_kind, const float *v, const uint32_t *point, size_t n, double *sum,
    size_t *valid);
/* Of a sum over `valid` values; NaN of none. */
float thin_mean(enum thin_kind, double sum, size_t valid);
/* Makes normals of rows begin to end - 1 unit ones, where the cloud has them. */
void thin_normals(struct frame *cloud, size_t begin, size_t end);
/* Widens low and high by the points. */
void thin_extent(const float *const xyz[3], size_t points, double low[3], double high[3]);
/* One line where cubes are large or small for the cloud. Cubes of another unit, or of a slipped
 * decimal, leave a few points of it, or all. */
void thin_check_size(size_t points, size_t cells, double size, const double low[3],
    const double high[3]);

#endif
