/* The points of a frame that a shape is fitted to, in double and about a point near all of them. */
#ifndef FITSHAPE_CLOUD_H
#define FITSHAPE_CLOUD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers.h"
#include "frame/frame.h"

enum along { ALONG_RAY, ALONG_Z, ALONG_NORMAL };	/* where a point's sigma lies */

struct cloud {
	size_t n;
	double (*x)[3];		/* coordinates less `about` */
	double *sigma;		/* standard deviation of each point along `along`; NULL: unknown */
	size_t *pixel;		/* y w + x of each, in rising order */
	double about[3];	/* the middle of the points */
	enum along along;
};

/* Which part of the frames counts: all (n = 0), or a rectangle of pixels or a box. */
struct region {
	size_t n;		/* 0, 4 (x, y, w, h in pixels) or 6 (x0, y0, z0, x1, y1, z1) */
	const double *v;
};

/* Where a frame's coordinates are. */
struct cloud_channels {
	size_t x[3], sigma;	/* x[0] = x[1] = NO_CHANNEL: column and row times the spacing */
	double spacing[2];
	bool towards;		/* z points towards the camera */
	char unit[16];
};

/* Finds them. pixel: the distance of columns and of rows (one number for both), none: the frame's
 * spacing. -1 after fail(): no coordinates, or pixels for lengths. */
int cloud_find(const struct numbers *pixel, const struct frame_head *, struct cloud_channels *);
/*
 * The finite points of a frame of floats in a region, with their standard deviations unless
 * weighted is false or the frame has none. -1 after fail(): the region lies outside, sigma is not
 * positive. n may be 0. cloud_free() in either case.
 */
int cloud_take(const struct frame *, const struct cloud_channels *, const struct region *,
    bool weighted, struct cloud *);
/* Without the points whose `drop` is not 0. */
int cloud_without(const struct cloud *, const unsigned char *drop, struct cloud *out);
void cloud_free(struct cloud *);

#endif
