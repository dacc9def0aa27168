/*
 * Triangle meshes seen from afar: an orthographic depth frame.
 *
 * A view has three axes in the coordinates of the model: right (columns), down (rows) and forward,
 * away from the viewer. A point p lies at v = axes (p - center), which is pixel ((w - 1)/2 +
 * v_right/scale, (h - 1)/2 + v_down/scale) and depth v_forward, or -v_forward where depth grows
 * towards the viewer.
 */
#ifndef MESHVIEW_H
#define MESHVIEW_H

#include "mesh/mesh_file.h"
#include "run/stage.h"

struct meshview_options {
	size_t w, h;
	struct numbers view;		/* yaw, pitch, roll in rad */
	struct numbers up, forward;	/* in model coordinates; n = 0: by the mesh's axes */
	struct numbers center; /* in model coordinates; n = 0: so that the mesh is in the middle */
	double scale;			/* model units per pixel; NaN: so that the mesh fits */
	double margin_px;		/* what a fitting scale leaves free on each side */
	bool away;			/* depth grows away from the viewer */
};

/*
 * A frame of depth, and texture where the mesh has one, NaN where nothing is hit, with the keys
 * scale_mm, center_mm, view_rotation, z_axis. The triangles' points are overwritten by pixel
 * coordinates. meta (or NULL) is what the frame's metadata begins with. 0, or -1 after fail(name,
 * ...).
 */
int meshview_draw(struct run *, const char *name, struct triangles *,
    const struct meshview_options *, const struct meta *meta, struct frame **out);

#endif
