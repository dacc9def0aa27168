/* Centres of laser lines by Steger's method. */
#pragma once

#include <string.h>

#include "base/cpu_level.h"
#include "feature/corner.h"
#include "run/run.h"

struct line_asymmetry;
struct line_finder;
struct line_level;

/*
 * Centres of bright (or dark) lines in an image, to a small part of a pixel: Steger's detector
 * (Steger 1998; Liu 2016 eq 11-12; methods.md section 11) with a Newton step at the point that it
 * gives.
 *
 * A pixel holds a point where the second derivative across the line is strong enough and the first
 * one vanishes within the pixel. Tiles whose grey levels vary too little to hold one are not
 * filtered; the result is the same to the bit. Points are linked to lines.
 *
 * Coordinates: u to the right, v down, pixel centres at whole numbers.
 */

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
	bool border;		/* also points within LINE_BORDER_SIGMAS of the image's border */
	size_t roi[4];		/* x, y, w, h: only points of these pixels; w 0: the whole image */
};

/* Nearer to the border the smoothing reaches over it, where the image goes on with its last pixel:
 * that turns and moves a slanted line. */
#define LINE_BORDER_SIGMAS 3

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

extern const struct line_level line_level_any;	/* that of all machines */

/* A finder for many images. level: &line_level_any, or a tool's own. -1 after fail(). */
int line_finder_new(const struct line_options *, const struct line_level *, struct line_finder **);
void line_finder_free(struct line_finder *);
/* Other thresholds from now on. */
void line_finder_set_thresholds(struct line_finder *, double low, double high);
/* The region that points of an image of that size may come from, as of line_filter.region. Else the
 * calls below set it. */
void line_finder_set_region(struct line_finder *, size_t w, size_t h);
/* The points of an image, on all threads of the run; valid until the next call. Points of a line
 * that bends are moved outwards by what smoothing moved them inwards, but with `plain`. */
void line_find(struct line_finder *, struct run *, const struct line_image *, struct line_points *);
/* The strongest response in the region, in whatever direction. */
double line_strongest(struct line_finder *, struct run *, const struct line_image *);
/* Of the last image: do most points have a partner at one distance, with no gap between the two, as
 * the edges of one wide line have? *distance: in px. */
bool line_points_paired(struct line_finder *, const struct line_image *,
    const struct line_points *, double *distance);

/* Grey levels: the standard deviation of noise, from the median of neighbours' differences; 0 where
 * most neighbours of a plane of floats are equal. */
void line_noise(const struct line_image *, double *sigma);
/* The least threshold with which noise of that deviation is skipped. */
double line_threshold(double sigma_noise, double sigma);

/* ---- pixels of a line image as floats: the image less its background ---- */

#define LINE_CONVERT(type, operation)								\
	do {											\
		const type *restrict p = (const void *)from;					\
												\
		CPU_SIMD									\
		for (size_t i = 0; i < n; i++)							\
			to[i] operation (float)p[i];						\
	} while (0)

/* n samples of row y from column x on, less the background, with the sign of bright lines. */
static inline void
line_span(const struct line_image *image, size_t y, size_t x, size_t n, float *restrict to)
{
	const struct line_plane *plane = &image->image;
	const unsigned char *from = (const unsigned char *)plane->v + y * plane->stride +
	    x * sample_size(plane->type);

	if (plane->type == SAMPLE_UCHAR)
		LINE_CONVERT(uint8_t, =);
	else if (plane->type == SAMPLE_USHORT)
		LINE_CONVERT(uint16_t, =);
	else
		memcpy(to, from, n * sizeof(float));
	plane = &image->background;
	if (plane->v) {
		from = (const unsigned char *)plane->v + y * plane->stride +
		    x * sample_size(plane->type);
		if (plane->type == SAMPLE_UCHAR)
			LINE_CONVERT(uint8_t, -=);
		else if (plane->type == SAMPLE_USHORT)
			LINE_CONVERT(uint16_t, -=);
		else
			LINE_CONVERT(float, -=);
	}
	if (image->dark) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			to[i] = -to[i];
	}
}

/* The same where row and columns may lie outside, where the image goes on with its last pixel. */
static inline void
line_span_beyond(const struct line_image *image, ptrdiff_t y, ptrdiff_t x, size_t n,
    float *restrict to)
{
	ptrdiff_t w = (ptrdiff_t)image->w, h = (ptrdiff_t)image->h;
	size_t before = x < 0 ? (size_t)-x : 0, inside;

	y = y < 0 ? 0 : y < h ? y : h - 1;
	before = before < n ? before : n;
	inside = x + (ptrdiff_t)n > w ? (size_t)(w - (x < 0 ? 0 : x)) : n - before;
	if (x >= w)
		inside = 0;
	inside = inside < n - before ? inside : n - before;
	if (inside)
		line_span(image, (size_t)y, (size_t)(x < 0 ? 0 : x), inside, to + before);
	if (before) {
		line_span(image, (size_t)y, 0, 1, to);
		for (size_t i = 1; i < before; i++)
			to[i] = to[0];
	}
	if (before + inside < n) {
		line_span(image, (size_t)y, image->w - 1, 1, to + before + inside);
		for (size_t i = before + inside + 1; i < n; i++)
			to[i] = to[before + inside];
	}
}

/*
 * What the loops over pixels share with line.c, and the functions that exist once per instruction
 * level: a file that includes line_loops.h is compiled at one.
 */

/* A pixel that holds a point, and the point. */
struct line_candidate {
	uint32_t x, y;
	float du, dv;		/* from the pixel's centre, px */
	float nu, nv, response, width;
};

struct line_candidates {
	struct line_candidate *v;
	size_t n, room;
};

/* Offsets of kernels between pixels: steps of 1/LINE_STEPS px. */
#define LINE_STEPS 64
#define LINE_LANES 16	/* weights and rows of patches come in so many; at every level */

struct line_filter {
	struct line_options options;
	struct derivative_kernels kernels;
	float low, skip_range;	/* tiles that vary by less hold no point */
	size_t region[4];	/* x, y, w, h: of the image at hand, what may hold points */
	size_t tile_w, tile_h;
	float limit;		/* of a candidate's offset from its pixel, px */
	/* Kernels for points between pixels, of radius + 1: [step + LINE_STEPS / 2][order][tap]. */
	size_t taps, room;	/* room: taps rounded up to LINE_LANES */
	float *weight;
	/* How far from a point its sides are sought, px: at first, and at most. */
	size_t near_reach, reach;
	const struct line_asymmetry *asymmetry;	/* NULL: no correction */
};

struct line_level {
	/* Floats of memory that a thread needs for the calls below. */
	size_t (*work)(const struct line_filter *, size_t w);
	/* The least and the largest sample of each tile of a row of tiles. */
	void (*ranges)(const struct line_filter *, const struct line_image *, size_t tile_row,
	    float *work, float *least, float *largest);
	/* Appends the candidates of the active tiles of a row of tiles that are points, with their
	 * widths, in the order of rows and columns. With `strongest`, which holds the largest
	 * response up to now, it keeps that alone. */
	void (*search)(const struct line_filter *, const struct line_image *, size_t tile_row,
	    const bool *active, float *work, float *strongest, struct line_candidates *);
};

/*
 * What sides of different height do to a line's place, and back (Steger 1998, section 3.4; the
 * profile is that of Liu 2016, eq 10). All lengths are over the kernels' sigma.
 */

#define LINE_ASYMMETRY_RATIOS 33
#define LINE_ASYMMETRY_WIDTHS 33

/* By the ratio of the gradients on both sides, and half the distance of the inflection points. */
struct line_asymmetry {
	float shift[LINE_ASYMMETRY_RATIOS][LINE_ASYMMETRY_WIDTHS];
};

/* Takes the shift of an asymmetric line off a candidate, if the filter asks for it; half_width in
 * px. */
void line_asymmetry_correct(const struct line_filter *, struct line_candidate *, float half_width,
    float left, float right);

/* Which candidate a pixel holds, and memory for linking. All zero at first. */
struct line_map {
	size_t w, h;
	uint32_t *at;		/* of w * h pixels: the candidate's number + 1; 0: none */
	uint32_t *order, *chain;	/* room for `room` candidates each */
	unsigned char *used;
	size_t room;
	struct line_point *point;
	struct line_way *way;
	size_t point_room;
};

/* How far a point is from its line's first one, along it, px, and how far the normal has turned
 * there, rad. */
struct line_way {
	double along, turned;
};

/* ---- what a finder keeps from image to image; steger finds candidates on a device ---- */

struct line_finder {
	struct line_filter filter;
	const struct line_level *level;
	struct line_asymmetry asymmetry;
	/* of the image at hand */
	size_t w, h, tiles_x, tiles_y;
	float *least, *largest;		/* of each tile */
	bool *active;
	struct line_candidates *found;	/* of each row of tiles */
	struct line_candidates all;
	float *work;			/* `threads` pieces of work_size */
	size_t work_size;
	int threads;
	struct line_map map;
};

/* Room for n candidates in a list, whose own stay. */
void line_candidates_room(struct line_candidates *, size_t n);
/* The points of an image from its candidates in `all`, which are in the order of rows and columns.
 * As line_find(). */
void line_find_listed(struct line_finder *, const struct line_image *, struct line_points *);
