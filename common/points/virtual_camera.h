/* Triangles, and the points of a table as discs, seen from afar: orthographic depth. */
#pragma once

#include <math.h>

#include "base/numbers.h"
#include "mesh/mesh.h"
#include "run/run.h"

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

/* The points of a table as squares in the planes of their normals, which cover discs of their
 * spacing (points/cloud.h), with their grey value. To be freed also after a failure, -1 after
 * fail(). */
int table_triangles(struct run *, const struct frame *table, struct triangles *);
