/*
 * The grid that points are splatted on, in a projector's frame (methods §14): orthographic, cells
 * of equal size across the projector's axis, or the projector's own picture.
 */
#ifndef SPLAT_GRID_H
#define SPLAT_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "optics/calib.h"
#include "points/pose.h"

struct splat_grid {
	size_t w, h;			/* cells */
	bool ortho;
	struct pose pose;		/* takes points of the world to the grid's frame */
	/* orthographic: the centre of cell (0, 0), and the side of a cell, in mm */
	double corner_mm[2], pixel_mm;
	/* the projector's picture */
	struct pinhole projector;
	double bin[2];			/* a cell is so many of its pixels */
	double widest;			/* (x/z)^2 + (y/z)^2 at the picture's farthest corner */
	float *ray[2];			/* x/z, y/z of each cell, w h of them; NULL: orthographic */
};

/* An orthographic grid: splat_grid_field() or the caller sets corner_mm and pixel_mm. */
void splat_grid_ortho(struct splat_grid *, const struct pinhole *projector, size_t w, size_t h);
/* The projector's picture of size_px, on w x h cells. -1 after fail(). splat_grid_free() it. */
int splat_grid_picture(struct splat_grid *, const struct pinhole *projector,
    const double size_px[2], size_t w, size_t h);
void splat_grid_free(struct splat_grid *);
/*
 * n points, which the pose takes to the grid's frame: the column and row that they lie on (0, 0 is
 * the centre of the first cell) and their depth along the projector's axis. NaN: no point, or
 * behind the projector.
 */
void splat_grid_project(const struct splat_grid *, const struct pose *, const float *x,
    const float *y, const float *z, size_t n, float *column, float *row, float *depth);
/* A cell of this depth as a point of the grid's frame. */
void splat_grid_point(const struct splat_grid *, size_t column, size_t row, float depth,
    float *x, float *y);
/* A row of cells: NaN where there is no depth. */
void splat_grid_points(const struct splat_grid *, size_t row, const float *depth, float *x,
    float *y);
/* How much longer the way to a cell is than its depth. */
float splat_grid_slant(const struct splat_grid *, size_t column, size_t row);
/* The side of a cell, in mm, at this depth: the longer one. */
double splat_grid_pixel(const struct splat_grid *, double depth);
/*
 * Chooses corner_mm and pixel_mm. pixel_mm NaN: such that the n points (columns u, rows v in mm,
 * which are sorted) fit, but for 0.5 % on each side, with 5 % of their extent beside them.
 * center_mm NaN: the middle of those. -1 after fail() where all lie in one place.
 */
int splat_grid_field(struct splat_grid *, float *u, float *v, size_t n, double pixel_mm,
    const double center_mm[2]);

#endif
