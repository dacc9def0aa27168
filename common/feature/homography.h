/* Perspective maps from a plane to a picture: 3x3 matrices, row-major, up to a factor. */
#ifndef HOMOGRAPHY_H
#define HOMOGRAPHY_H

#include <stdbool.h>
#include <stddef.h>

struct homography_pair {
	double from[2], to[2];
};

/* The place that it takes x, y to. */
void homography_apply(const double H[9], const double xy[2], double uv[2]);
/*
 * Of n pairs, 4 at least: least squares of the equations without denominators, points scaled about
 * their middles, which must not lie on the line that goes to infinity. *rms: of u and of v, in the
 * unit of `to`. False where the pairs do not determine it.
 */
bool homography_fit(const struct homography_pair *, size_t n, double H[9], double *rms);

#endif
