#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector3.h"
#include "mesh/raster.h"

#define POINTS 8192		/* or triangles: a thread's piece */
#define LARGEST 1e30 /* coordinates whose products must stay far from overflow in float */

struct box {
	double low[3], high[3];		/* low > high: empty */
};

/* ---- axes ---- */

/* To unit length; false if the length is 0 or infinite. */
static bool
normalise(double v[3])
{
	double most = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2])), length;

	if (!(most > 0 && most < INFINITY))
		return false;
	for (int k = 0; k < 3; k++)
		v[k] /= most;
	length = sqrt(vector3_dot(v, v));
	for (int k = 0; k < 3; k++)
		v[k] /= length;
	return true;
}

/* Right, down, forward; -1 after fail_usage() if up is forward or backward. */
static int
base_axes(const struct meshview_options *options, enum mesh_axes kind, double axes[3][3])
{
	static const double forwards[3][3] = { { 0, 0, -1 }, { 0, 0, 1 }, { 0, 0, -1 } };
	static const double ups[3][3] = { { 0, 1, 0 }, { 0, -1, 0 }, { 0, -1, 0 } };
	double *right = axes[0], *down = axes[1], *forward = axes[2], along;

	memcpy(forward, options->forward.n ? options->forward.v : forwards[kind], sizeof(axes[0]));
	memcpy(down, options->up.n ? options->up.v : ups[kind], sizeof(axes[0]));
	if (!normalise(forward) || !normalise(down))
		return fail_usage(NULL, "--forward and --up must have a length");
	along = vector3_dot(down, forward);
	for (int k = 0; k < 3; k++)
		down[k] = along * forward[k] - down[k];
	if (sqrt(vector3_dot(down, down)) < 1e-9 || !normalise(down))
		return fail_usage("--up", "is parallel to the view's direction; give another");
	vector3_cross(down, forward, right);
	/* with z towards the camera, x right and y down are no right-handed system */
	for (int k = 0; k < 3; k++)
		right[k] = kind == AXES_CAMERA_TOWARDS ? -right[k] : right[k];
	return 0;
}

/* Turns the model as the viewer sees it: about its vertical, then its horizontal, then the line of
 * sight. */
static void
turn_axes(const struct numbers *view, double axes[3][3])
{
	const double yaw = view->n ? view->v[0] : 0, pitch = view->n ? view->v[1] : 0;
	const double roll = view->n > 2 ? view->v[2] : 0, turn[3] = { yaw, pitch, roll };
	static const int plane[3][2] = { { 0, 2 }, { 2, 1 }, { 1, 0 } };

	for (int i = 0; i < 3; i++) {
		double c = cos(turn[i]), s = sin(turn[i]);
		double *p = axes[plane[i][0]], *q = axes[plane[i][1]];

		for (int k = 0; k < 3; k++) {
			double a = p[k], b = q[k];

			p[k] = c * a + s * b;
			q[k] = c * b - s * a;
		}
	}
	/* right angles are meant exactly */
	for (int i = 0; i < 9; i++)
		if (fabs(axes[i / 3][i % 3]) < 1e-15)
			axes[i / 3][i % 3] = 0;
}

int
view_check(const struct meshview_options *options)
{
	const struct {
		const char *name;
		const struct numbers *v;
	} lists[] = {
		{ "--view", &options->view }, { "--up", &options->up },
		{ "--forward", &options->forward }, { "--center", &options->center },
	};
	double axes[3][3];

	for (int i = 0; i < 4; i++) {
		if (lists[i].v->n != 0 && lists[i].v->n != 3)
			return fail_usage(
			    lists[i].name, "wants three numbers, not %zu", lists[i].v->n);
		for (size_t k = 0; k < lists[i].v->n; k++)
			if (!(fabs(lists[i].v->v[k]) < LARGEST))
				return fail_usage(
				    lists[i].name, "must be finite, not %g", lists[i].v->v[k]);
	}
	if (!(2 * options->margin_px < (double)(options->w < options->h ? options->w : options->h)))
		return fail_usage("--margin", "%g px on each side leave nothing of %zu x %zu",
		    options->margin_px, options->w, options->h);
	return options->forward.n && options->up.n ? base_axes(options, AXES_MODEL, axes) : 0;
}

int
view_turn(struct view *view, const struct meshview_options *options, enum mesh_axes kind)
{
	if (base_axes(options, kind, view->axes) < 0)
		return -1;
	turn_axes(&options->view, view->axes);
	return 0;
}

/* ---- the mesh in the view ---- */

static bool
finite_triangle(const struct triangles *triangles, size_t i)
{
	double none = 0;

	/* 0 times what is not finite is NaN */
	for (int k = 0; k < 9; k++)
		none += 0 * triangles->point[triangles->corner[i][k / 3]][k % 3];
	return none == 0;
}

/* The points that triangles use, and only whole ones. */
struct points {
	const struct triangles *triangles;
	bool *used;
	struct box *box;		/* of each piece of POINTS */
	size_t pieces;
};

/* Several threads may mark one point. */
static void
mark_piece(void *arg, size_t piece)
{
	const struct points *points = arg;
	const struct triangles *triangles = points->triangles;
	size_t end = (piece + 1) * POINTS;

	for (size_t i = piece * POINTS; i < triangles->n && i < end; i++)
		if (finite_triangle(triangles, i))
			for (int k = 0; k < 3; k++)
				__atomic_store_n(&points->used[triangles->corner[i][k]], true,
				    __ATOMIC_RELAXED);
}

static void
widen(struct box *box, const double low[3], const double high[3])
{
	for (int k = 0; k < 3; k++) {
		box->low[k] = low[k] < box->low[k] ? low[k] : box->low[k];
		box->high[k] = high[k] > box->high[k] ? high[k] : box->high[k];
	}
}

static const struct box nothing = { { INFINITY, INFINITY, INFINITY },
	{ -INFINITY, -INFINITY, -INFINITY } };

static void
box_piece(void *arg, size_t piece)
{
	const struct points *points = arg;
	const struct triangles *triangles = points->triangles;
	size_t end = (piece + 1) * POINTS;
	struct box box = nothing;

	for (size_t i = piece * POINTS; i < triangles->points && i < end; i++)
		if (points->used[i])
			widen(&box, triangles->point[i], triangles->point[i]);
	points->box[piece] = box;
}

static struct box
box_of(struct run *run, struct points *points)
{
	struct box box = nothing;

	run_for(run, points->pieces, box_piece, points);
	for (size_t i = 0; i < points->pieces; i++)
		widen(&box, points->box[i].low, points->box[i].high);
	return box;
}

static void
turn(const double axes[3][3], double v[3])
{
	const double in[3] = { v[0], v[1], v[2] };

	for (int k = 0; k < 3; k++)
		v[k] = vector3_dot(axes[k], in);
}

/* Points on their way into the view: relative to `from`, along its axes; then in its pixels. */
struct placing {
	struct triangles *triangles;
	const double (*axes)[3];
	const double *from;
	double half[2], middle[3], scale;
};

static size_t
piece_end(const struct placing *placing, size_t piece)
{
	size_t end = (piece + 1) * POINTS, points = placing->triangles->points;

	return end < points ? end : points;
}

static void
turn_piece(void *arg, size_t piece)
{
	const struct placing *placing = arg;

	for (size_t i = piece * POINTS; i < piece_end(placing, piece); i++) {
		double *p = placing->triangles->point[i];

		for (int k = 0; k < 3; k++)
			p[k] -= placing->from[k];
		turn(placing->axes, p);
	}
}

static void
place_point(const struct placing *placing, double p[3])
{
	for (int k = 0; k < 2; k++)
		p[k] = placing->half[k] + (p[k] - placing->middle[k]) / placing->scale;
	p[2] -= placing->middle[2];
}

static void
place_piece(void *arg, size_t piece)
{
	const struct placing *placing = arg;

	for (size_t i = piece * POINTS; i < piece_end(placing, piece); i++)
		place_point(placing, placing->triangles->point[i]);
}

/* The scale at which all of the box, about its point `middle`, is at least the margin inside. */
static double
fitting_scale(const struct meshview_options *options, const struct box *box, const double middle[3])
{
	const double room[2] = { (double)options->w - 2 * options->margin_px,
		(double)options->h - 2 * options->margin_px };
	double scale = 0;

	for (int k = 0; k < 2; k++)
		scale = fmax(
		    scale, 2 * fmax(box->high[k] - middle[k], middle[k] - box->low[k]) / room[k]);
	return scale > 1e-30 ? scale : 1;
}

/* Pixels and the mesh, by a factor that no picture needs: its detail is chosen by --center. */
#define SCALE_MOST 20.0

/* Warns, and returns whether it has, of a --scale at which the mesh is a spot in the picture, or
 * the picture a spot on the mesh. box: in pixels. */
static bool
check_scale(const char *name, const struct meshview_options *options, const struct box *box)
{
	double x = box->high[0] - box->low[0], y = box->high[1] - box->low[1];
	double w = (double)options->w, h = (double)options->h;

	if (isnan(options->scale) || !(fmax(x, y) > 0))
		return false;
	if (fmax(x / w, y / h) >= 1 / SCALE_MOST &&
	    (fmin(x / w, y / h) <= SCALE_MOST || options->center.n))
		return false;
	warn("--scale", "%g a pixel: %s is %.3g x %.3g px large, and the picture %zu x %zu: is it "
	    "the length of a pixel in the unit of the mesh?", options->scale, name, x, y,
	    options->w, options->h);
	return true;
}

static int
place(struct run *run, const char *name, struct triangles *triangles, struct points *points,
    const struct meshview_options *options, struct view *view)
{
	struct box box = box_of(run, points);
	double first[3], middle[3] = { 0 };
	bool empty = box.low[0] > box.high[0];
	struct placing placing = { .triangles = triangles, .axes = view->axes, .from = first,
		.half = { ((double)options->w - 1) / 2, ((double)options->h - 1) / 2 } };

	for (int k = 0; k < 3; k++) {
		if (!empty && !(fmax(fabs(box.low[k]), fabs(box.high[k])) < LARGEST))
			return fail(
			    name, "coordinates are too large: %g to %g", box.low[k], box.high[k]);
		first[k] = empty ? 0 : box.low[k] + (box.high[k] - box.low[k]) / 2;
	}
	run_for(run, points->pieces, turn_piece, &placing);
	box = box_of(run, points);
	for (int k = 0; k < 3; k++)
		middle[k] = options->center.n ? options->center.v[k] - first[k] :
		    empty ? 0 : box.low[k] + (box.high[k] - box.low[k]) / 2;
	if (options->center.n)
		turn(view->axes, middle);
	for (int k = 0; k < 3; k++)
		view->center[k] = options->center.n ? options->center.v[k] : first[k] +
		    view->axes[0][k] * middle[0] + view->axes[1][k] * middle[1] +
		    view->axes[2][k] * middle[2];
	view->scale = !isnan(options->scale) ? options->scale :
	    empty ? 1 : fitting_scale(options, &box, middle);
	memcpy(placing.middle, middle, sizeof(middle));
	placing.scale = view->scale;
	run_for(run, points->pieces, place_piece, &placing);
	place_point(&placing, box.low);
	place_point(&placing, box.high);
	if (!empty && fmax(fmax(fabs(box.low[0]), fabs(box.high[0])), fmax(fabs(box.low[1]),
	    fabs(box.high[1]))) > RASTER_FARTHEST)
		return fail(name,
		    "reaches further than %g px from the picture; give a larger --scale",
		    RASTER_FARTHEST);
	view->warned = !empty && check_scale(name, options, &box);
	return 0;
}

int
view_place(struct run *run, const char *name, struct triangles *triangles,
    const struct meshview_options *options, struct view *view)
{
	struct points points = { .triangles = triangles,
		.pieces = (triangles->points + POINTS - 1) / POINTS };
	int status = -1;

	points.used = calloc(triangles->points + 1, sizeof(*points.used));
	points.box = calloc(points.pieces + 1, sizeof(*points.box));
	if (points.used && points.box) {
		run_for(run, (triangles->n + POINTS - 1) / POINTS, mark_piece, &points);
		status = place(run, name, triangles, &points, options, view);
	} else {
		fail_memory();
	}
	free(points.used);
	free(points.box);
	return status;
}
