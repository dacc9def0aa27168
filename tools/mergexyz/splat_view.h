/*
 * One camera's points before they are splatted: where each lies on the grid, the plane that its
 * neighbours in the camera's picture put through it, how far its footprint reaches, its weight.
 */
#ifndef SPLAT_VIEW_H
#define SPLAT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame/frame.h"
#include "splat_grid.h"

#define SPLAT_ATTRIBUTES 12	/* channels that are merged beside x y z, at most */
#define SPLAT_SEGMENT 128	/* points of a row that are worked on together */
#define SPLAT_NEAR 1.5f	/* cells between points up to which a footprint is 2 x 2 cells */
#define SPLAT_REACH 4.0f	/* cells: points that lie farther apart leave holes */

/* What a view hands in: planes of a frame, of its own size. */
struct splat_source {
	const struct frame *frame;
	size_t w, h;
	size_t xyz[3];
	size_t weight, sigma;		/* NO_CHANNEL: all alike; not known */
	bool smoothed;			/* the errors of neighbours are nearly the same */
	size_t attributes, attribute[SPLAT_ATTRIBUTES];
	size_t normal;		/* the attribute that nx is, before ny and nz; NO_CHANNEL: none */
	struct pose pose;		/* takes its points to the grid's frame */
	double eye[3];			/* the camera's centre in the grid's frame, or NaN */
};

/* The rows of the grid that a segment of points reaches. */
struct splat_span {
	float low, high;		/* row, of the points; low > high: there are none */
	float reach;			/* rows that a footprint reaches beyond its point */
};

/* Places, with a margin of NaN: splat_view_row(). */
struct splat_view {
	size_t w, h, stride, segments;	/* of a row */
	float *u, *v, *d;
	float jump;			/* mm: neighbours farther apart in depth are none */
	struct splat_span *span;	/* h rows of segments */
	/* per row of points: with x y z; outside of the grid; farther from their neighbours than
	 * the footprint reaches */
	uint32_t *points, *lost;
};

/* Makes room for w x h points; the room is kept where the size has not changed. -1 after fail(). */
int splat_view_resize(struct splat_view *, size_t w, size_t h);
void splat_view_free(struct splat_view *);
static inline size_t
splat_view_at(const struct splat_view *view, size_t y)
{
	return (y + 1) * view->stride + 16;
}

/* Row y of the source: u v d, span, points, lost. */
void splat_view_project(struct splat_view *, const struct splat_grid *,
    const struct splat_source *, size_t y);

/* Points of a segment, ready to be splatted. */
struct splat_points {
	const float *u, *v, *d;		/* the view's */
	float gx[SPLAT_SEGMENT], gy[SPLAT_SEGMENT];	/* mm of depth per cell */
	float su[SPLAT_SEGMENT], sv[SPLAT_SEGMENT];	/* cells from point to point, 1 .. REACH */
	float taper[SPLAT_SEGMENT];	/* of the weight: 1 but for the edges of a surface */
	float weight[SPLAT_SEGMENT];	/* not > 0: the point does not count */
	float noise[SPLAT_SEGMENT];	/* weight times the variance of the depth at a cell */
};

/* Sets the reach of the spans of row y; all rows are projected. */
void splat_view_reach(struct splat_view *, size_t y);
/* Points x0 .. x0 + n - 1 of row y, n <= SPLAT_SEGMENT; all rows are projected. */
void splat_view_points(const struct splat_view *, const struct splat_grid *,
    const struct splat_source *, size_t x0, size_t y, size_t n, struct splat_points *);

#endif
