/* What the files of mesh2depth share: views, and the loops. */
#ifndef MESH2DEPTH_H
#define MESH2DEPTH_H

#include <math.h>

#include "base/cpu_level.h"
#include "base/linear.h"
#include "mesh/mesh_file.h"
#include "mesh/raster.h"
#include "run/stage.h"

struct mesh;

/* ---- view.c ---- */

struct view_options {
	size_t w, h;
	struct numbers view;		/* yaw, pitch, roll in rad */
	struct numbers up, forward;	/* in model coordinates; n = 0: by the mesh's axes */
	struct numbers center; /* in model coordinates; n = 0: so that the mesh is in the middle */
	double scale;			/* model units per pixel; NaN: so that the mesh fits */
	double margin_px;		/* that a fitting scale leaves free on each side */
	bool away;			/* depth grows away from the viewer */
};

/* Refuses options that make no view. -1 after fail_usage(). */
int view_check(const struct view_options *);
/*
 * Draws a frame of depth, and texture where the mesh has one, NaN where nothing is hit, with the
 * keys scale_mm, center_mm, view_rotation, z_axis. The triangles' points are overwritten by pixel
 * coordinates. meta (or NULL): of the frame before these keys. -1 after fail(name, ...).
 */
int view_draw(struct run *, const char *name, struct triangles *, const struct view_options *,
    const struct meta *meta, struct frame **out);

/* ---- mesh2depth_rows.c ---- */

struct box {
	double low[3], high[3];		/* low > high: empty */
};

static const struct box empty_box = { { INFINITY, INFINITY, INFINITY },
	{ -INFINITY, -INFINITY, -INFINITY } };

static inline void
widen(struct box *box, const double low[3], const double high[3])
{
	for (int k = 0; k < 3; k++) {
		box->low[k] = low[k] < box->low[k] ? low[k] : box->low[k];
		box->high[k] = high[k] > box->high[k] ? high[k] : box->high[k];
	}
}

#define LISTED_ROWS 16		/* of a frame, that a thread takes together */

/* A frame as triangles. */
struct listing {
	const struct mesh *mesh;
	struct triangles *triangles;
	size_t bands, *first;	/* of each band of LISTED_ROWS rows its first triangle */
};

#define PIECE 8192		/* points or triangles that a thread takes together */

/* The points of finite triangles. */
struct points {
	const struct triangles *triangles;
	bool *used;
	struct box *box;		/* of each piece */
	size_t pieces;
};

/* Points on their way into the view: relative to `from`, along its axes; then in its pixels. */
struct placing {
	struct triangles *triangles;
	const double (*axes)[3];
	const double *from;
	double half[2], middle[3], scale;
};

static inline void
turn(const double axes[3][3], double v[3])
{
	const double in[3] = { v[0], v[1], v[2] };

	for (int k = 0; k < 3; k++)
		v[k] = vector3_dot(axes[k], in);
}

static inline void
place_point(const struct placing *placing, double p[3])
{
	for (int k = 0; k < 2; k++)
		p[k] = placing->half[k] + (p[k] - placing->middle[k]) / placing->scale;
	p[2] -= placing->middle[2];
}

#define MAX_BANDS 64		/* of rows of the picture */

/* A picture that is drawn, in bands. */
struct scene {
	const struct triangles *triangles;
	struct raster raster;
	size_t rows, bands;		/* rows of a band, number of bands */
	/* The triangles that reach into each band, in their own order. NULL: the list would be too
	 * long, and every band goes through all triangles. */
	uint32_t *triangle;
	size_t first[MAX_BANDS + 1];
	unsigned char (*reach)[2];	/* of each triangle: its first and last band */
	size_t (*place)[MAX_BANDS];	/* of each piece: its next triangle in each band */
	bool away;
	struct frame *out;
	bool hit;			/* any pixel */
};

/* All are for run_for(). */
struct mesh2depth_rows {
	/* A struct listing's points, and first[band + 1], the number of triangles; triangles. */
	void (*begin_band)(void *listing, size_t band);
	void (*list_band)(void *listing, size_t band);
	/* Marks the struct points of finite triangles; finds the box of marked ones. */
	void (*mark_piece)(void *points, size_t piece);
	void (*box_piece)(void *points, size_t piece);
	/* Turns the points of a struct placing; moves them to pixels. */
	void (*turn_piece)(void *placing, size_t piece);
	void (*place_piece)(void *placing, size_t piece);
	/* Of a struct scene: counts the triangles of a piece in each band, into place; sorts them;
	 * draws a band; fills row y of the frame. */
	void (*count_piece)(void *scene, size_t piece);
	void (*sort_piece)(void *scene, size_t piece);
	void (*draw_band)(void *scene, size_t band);
	void (*fill_row)(void *scene, size_t y);
};
LEVELS_OF(mesh2depth_rows)

#endif
