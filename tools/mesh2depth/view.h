/* How a mesh is seen: the axes, the centre and the scale of a view. */
#ifndef MESH2DEPTH_VIEW_H
#define MESH2DEPTH_VIEW_H

#include "meshview.h"

struct view {
	double axes[3][3];		/* right, down, forward */
	double center[3];		/* in model coordinates */
	double scale;
	bool warned;			/* of a scale at which hardly anything is seen */
};

/* What cannot be meant. 0, or -1 after fail_usage(). */
int view_check(const struct meshview_options *);
/* Sets the axes; kind: those of the model. -1 after fail_usage() if up is forward or backward. */
int view_turn(struct view *, const struct meshview_options *, enum mesh_axes kind);
/*
 * Turns the points into columns, rows and distances from the viewer, in steps that keep their
 * digits: about the middle of the mesh, then about the middle of the view. Sets center and scale.
 * -1 after fail(name, ...).
 */
int view_place(struct run *, const char *name, struct triangles *triangles,
    const struct meshview_options *options, struct view *view);

#endif
