/* Circles: blobs of the smoothed image, det H > 0, then an ellipse through their edge. */
#ifndef BLOB_H
#define BLOB_H

#include <stdbool.h>

#include "feature/derivatives.h"

struct blob {
	double x, y;     /* px */
	double strength; /* sigma^2 sqrt(det H) */
};

struct blobs {
	size_t n;
	struct blob *blob; /* strongest first */
};

/* The strongest `most` dark or bright blobs, those of less than `least` of the strongest one's
 * strength left out. -1 after fail(). */
int blobs_find(const struct derivative_plane *, const struct derivative_kernels *, bool bright,
    size_t most, double least, struct blobs *);
void blobs_free(struct blobs *);
/*
 * Fits an ellipse to the edge of a blob, which lies within `reach` px of its centre: the least
 * squares of a conic through the places where rays from the centre cross the level half-way between
 * inside and outside. *sd: standard deviation of x and of y. False: there is no such edge.
 */
bool blob_measure(const struct derivative_plane *, double reach, struct blob *, double *sd);

#endif
