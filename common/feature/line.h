/*
 * Centres of bright (or dark) lines in an image, to a small part of a pixel: Steger's detector (Steger
 * 1998; Liu 2016 eq 11-12; methods.md section 11) with a Newton step at the point that it gives.
 *
 * A pixel holds a point where the second derivative across the line is strong enough and the first
 * one vanishes within the pixel. Tiles whose grey levels vary too little to hold one are not
 * filtered; the result is the same to the bit. Points are linked to lines.
 *
 * Coordinates: u to the right, v down, pixel centres at whole numbers.
 */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "feature/derivatives.h"
#include "run/run.h"

/* A plane, whose rows are `stride` bytes apart; v NULL: none. */
struct line_plane {
	const void *v;
	size_t stride;
	enum sample type;
};

/* The image less its background, where there is one (of the same size, of any type). */
struct line_image {
	size_t w, h;
	struct line_plane image, background;
	bool dark;		/* lines are darker than what is beside them: signs are turned */
};

struct line_options {
	double sigma;		/* px, DERIVATIVES_SIGMA_LEAST at least */
	/* The second derivative across a line, its sign turned, in grey levels per px^2: of every
	 * point, and of at least one of a line. 0 <= low <= high. */
	double low, high;
	size_t min_length;	/* lines of fewer points go */
	bool plain;		/* the paper's point, without the Newton step */
	bool asymmetric;	/* correct for sides that differ */
	bool all_tiles;		/* skip nothing */
	size_t roi[4];		/* x, y, w, h: only points of these pixels; w 0: the whole image */
};

struct line_point {
	float u, v;		/* px */
	float nu, nv;		/* unit normal, to the left of who walks along the line */
	float response;		/* grey levels per px^2, positive */
	/* px: twice the standard deviation of a Gaussian line; NaN where it has no end within three
	 * sigma */
	float width;
	uint32_t line;		/* from 1, by the strongest point of each */
};

struct line_points {
	struct line_point *v;	/* ordered by line and along it: down, or to the right */
	size_t n, lines;
	size_t found;	/* points before those of short and weak lines went */
};

/* The loops over pixels at one instruction level: line_level.h. */
struct line_level;
extern const struct line_level line_level_any;	/* that of all machines */

struct line_finder;

/* A finder for many images. level: &line_level_any, or a tool's own. -1 after fail(). */
int line_finder_new(const struct line_options *, const struct line_level *, struct line_finder **);
void line_finder_free(struct line_finder *);
/* Other thresholds from now on. */
void line_finder_set_thresholds(struct line_finder *, double low, double high);
/* The points of an image, on all threads of the run; valid until the next call. -1 after fail(). */
int line_find(struct line_finder *, struct run *, const struct line_image *, struct line_points *);
/* The strongest response in the region, in whatever direction. -1 after fail(). */
int line_strongest(struct line_finder *, struct run *, const struct line_image *, double *response);
/* Of the last image: do most points have a partner at one distance, with no gap between the two, as
 * the edges of one wide line have? *distance: in px. */
bool line_points_paired(struct line_finder *, const struct line_image *,
    const struct line_points *, double *distance);

/* Grey levels: the standard deviation of noise, from the median of neighbours' differences; 0 where
 * most neighbours of a plane of floats are equal. -1 after fail(). */
int line_noise(const struct line_image *, double *sigma);
/* The least threshold with which noise of that deviation is skipped. */
double line_threshold(double sigma_noise, double sigma);
/* The largest second derivative, its sign turned, that grey levels within a range of 1 can give. */
double line_response_bound(const struct derivative_kernels *);

#endif
