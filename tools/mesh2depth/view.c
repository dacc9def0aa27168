/*
 * Triangle meshes seen from afar, as an orthographic depth frame.
 *
 * A view has three axes in the coordinates of the model: right (columns), down (rows) and forward,
 * away from the viewer. A point p is at v = axes (p - center): at pixel ((w - 1)/2 + v_right/scale,
 * (h - 1)/2 + v_down/scale), at depth v_forward, or -v_forward where depth grows towards the
 * viewer.
 */
#include "mesh2depth.h"

#include <stdlib.h>
#include <string.h>

#include "base/process.h"

#define MAX_COORDINATE 1e30	/* keeps products far from overflow in float */

struct view {
	double axes[3][3];		/* right, down, forward */
	double center[3];		/* in model coordinates */
	double scale;
	bool warned;			/* of a scale at which hardly anything can be seen */
};

/* ---- axes ---- */

/* To unit length. False: the length is 0 or infinite. */
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
base_axes(const struct view_options *options, enum mesh_axes kind, double axes[3][3])
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
	/* x right, y down and z towards the camera are a left-handed system */
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
view_check(const struct view_options *options)
{
	const struct {
		const char *name;
		const struct numbers *v;
	} lists[] = {
		{ "--view", &options->view }, { "--up", &options->up },
		{ "--forward", &options->forward }, { "--center", &options->center },
	};
	double axes[3][3];

	for (int i = 0; i < 4; i++)
		for (size_t k = 0; k < lists[i].v->n; k++)
			if (!(fabs(lists[i].v->v[k]) < MAX_COORDINATE))
				return fail_usage(
				    lists[i].name, "must be finite, not %g", lists[i].v->v[k]);
	if (!(2 * options->margin_px < (double)(options->w < options->h ? options->w : options->h)))
		return fail_usage("--margin", "%g px on each side leave nothing of %zu x %zu",
		    options->margin_px, options->w, options->h);
	return options->forward.n && options->up.n ? base_axes(options, AXES_MODEL, axes) : 0;
}

/* ---- the mesh in the view ---- */

/* The box of the marked points. */
static struct box
box_of(struct run *run, struct points *points)
{
	struct box box = empty_box;

	run_for(run, points->pieces, mesh2depth_rows()->box_piece, points);
	for (size_t i = 0; i < points->pieces; i++)
		widen(&box, points->box[i].low, points->box[i].high);
	return box;
}

/* The scale at which the box, with its point `middle` in the middle, leaves the margin free. */
static double
fitting_scale(const struct view_options *options, const struct box *box, const double middle[3])
{
	const double room[2] = { (double)options->w - 2 * options->margin_px,
		(double)options->h - 2 * options->margin_px };
	double scale = 0;

	for (int k = 0; k < 2; k++)
		scale = fmax(
		    scale, 2 * fmax(box->high[k] - middle[k], middle[k] - box->low[k]) / room[k]);
	return scale > 1e-30 ? scale : 1;
}

#define MAX_SCALE_FACTOR 20.0	/* between mesh and picture; --center shows a detail on purpose */

/* Warns of a --scale at which the mesh is a spot in the picture, or the picture a spot on the mesh.
 * True: it did. box: in pixels. */
static bool
check_scale(const char *name, const struct view_options *options, const struct box *box)
{
	double x = box->high[0] - box->low[0], y = box->high[1] - box->low[1];
	double w = (double)options->w, h = (double)options->h;

	if (isnan(options->scale) || !(fmax(x, y) > 0))
		return false;
	if (fmax(x / w, y / h) >= 1 / MAX_SCALE_FACTOR &&
	    (fmin(x / w, y / h) <= MAX_SCALE_FACTOR || options->center.n))
		return false;
	warn("--scale", "%g a pixel: %s is %.3g x %.3g px large, and the picture %zu x %zu: is it "
	    "the length of a pixel in the unit of the mesh?", options->scale, name, x, y,
	    options->w, options->h);
	return true;
}

static int
place(struct run *run, const char *name, struct triangles *triangles, struct points *points,
    const struct view_options *options, struct view *view)
{
	struct box box = box_of(run, points);
	double first[3], middle[3] = { 0 };
	bool empty = box.low[0] > box.high[0];
	struct placing placing = { .triangles = triangles, .axes = view->axes, .from = first,
		.half = { ((double)options->w - 1) / 2, ((double)options->h - 1) / 2 } };

	for (int k = 0; k < 3; k++) {
		if (!empty && !(fmax(fabs(box.low[k]), fabs(box.high[k])) < MAX_COORDINATE))
			return fail(
			    name, "coordinates are too large: %g to %g", box.low[k], box.high[k]);
		first[k] = empty ? 0 : box.low[k] + (box.high[k] - box.low[k]) / 2;
	}
	run_for(run, points->pieces, mesh2depth_rows()->turn_piece, &placing);
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
	run_for(run, points->pieces, mesh2depth_rows()->place_piece, &placing);
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

/*
 * Turns the points into columns, rows and distances from the viewer, in steps that keep their
 * digits: about the middle of the mesh, then about the middle of the view. Sets center and scale.
 * -1 after fail(name, ...).
 */
static int
view_place(struct run *run, const char *name, struct triangles *triangles,
    const struct view_options *options, struct view *view)
{
	struct points points = { .triangles = triangles,
		.pieces = (triangles->points + PIECE - 1) / PIECE };
	int status;

	points.used = must_alloc(triangles->points + 1, sizeof(*points.used));
	points.box = must_alloc(points.pieces + 1, sizeof(*points.box));
	run_for(run, (triangles->n + PIECE - 1) / PIECE, mesh2depth_rows()->mark_piece, &points);
	status = place(run, name, triangles, &points, options, view);
	free(points.used);
	free(points.box);
	return status;
}

/* ---- the picture ---- */

#define MIN_BAND_ROWS 16
#define MAX_ENTRIES(n) (2 * (n) + 1000)	/* of all bands, for n triangles */

/* Turns the number of triangles of each piece in each band into the place of the first. */
static void
find_places(struct scene *scene, size_t pieces)
{
	size_t at = 0;

	for (size_t b = 0; b < scene->bands; b++) {
		scene->first[b] = at;
		for (size_t i = 0; i < pieces; i++) {
			size_t n = scene->place[i][b];

			scene->place[i][b] = at;
			at += n;
		}
	}
	scene->first[scene->bands] = at;
}

static void
sort_into_bands(struct run *run, struct scene *scene)
{
	size_t pieces = (scene->triangles->n + PIECE - 1) / PIECE;

	scene->rows = (scene->raster.h + MAX_BANDS - 1) / MAX_BANDS;
	if (scene->rows < MIN_BAND_ROWS)
		scene->rows = MIN_BAND_ROWS;
	scene->bands = (scene->raster.h + scene->rows - 1) / scene->rows;
	scene->reach = must_large(scene->triangles->n + 1, sizeof(*scene->reach));
	scene->place = must_alloc(pieces + 1, sizeof(*scene->place));
	run_for(run, pieces, mesh2depth_rows()->count_piece, scene);
	find_places(scene, pieces);
	if (scene->first[scene->bands] > MAX_ENTRIES(scene->triangles->n))
		return;
	scene->triangle = must_large(scene->first[scene->bands] + 1, sizeof(*scene->triangle));
	run_for(run, pieces, mesh2depth_rows()->sort_piece, scene);
}

static void
write_keys(const struct view *view, bool away, struct meta *meta)
{
	double rotation[9];

	for (int k = 0; k < 9; k++) {
		double v = view->axes[k / 3][k % 3];

		rotation[k] = k >= 6 && !away ? 0 - v : v;
	}
	/* these describe the image that the points came from */
	meta_remove(meta, "origin_px");
	meta_remove(meta, "bin");
	meta_set(meta, "z_axis", away ? "away" : "towards");
	meta_set_number(meta, "scale_mm", view->scale);
	meta_set_numbers(meta, "center_mm", view->center, 3);
	meta_set_numbers(meta, "view_rotation", rotation, 9);
}

static int
make_frame(const struct scene *scene, const struct view *view, const struct meta *meta,
    struct frame **out)
{
	const struct raster *raster = &scene->raster;
	struct frame_head head;
	int status;

	head_init(&head, raster->w, raster->h, 1 + raster->attributes, SAMPLE_FLOAT);
	head.spacing[0] = head.spacing[1] = view->scale;
	if (meta)
		meta_copy(&head.meta, meta);
	status = head_set_channels(&head, raster->attributes ? "depth texture" : "depth");
	if (status == 0)
		write_keys(view, scene->away, &head.meta);
	if (status == 0)
		status = frame_new(&head, out);
	head_free(&head);
	return status;
}

int
view_draw(struct run *run, const char *name, struct triangles *triangles,
    const struct view_options *options, const struct meta *meta, struct frame **out)
{
	struct scene scene = { .triangles = triangles, .away = options->away };
	struct view view = { .warned = false };
	int status;

	*out = NULL;
	if (base_axes(options, triangles->axes, view.axes) < 0)
		return -1;
	turn_axes(&options->view, view.axes);
	if (view_place(run, name, triangles, options, &view) < 0)
		return -1;
	status = raster_new(&scene.raster, options->w, options->h, triangles->texture != NULL);
	if (status == 0)
		sort_into_bands(run, &scene);
	if (status == 0)
		status = make_frame(&scene, &view, meta, out);
	if (status == 0) {
		scene.out = *out;
		run_for(run, scene.bands, mesh2depth_rows()->draw_band, &scene);
		run_for(run, scene.raster.h, mesh2depth_rows()->fill_row, &scene);
		if (!scene.hit && !view.warned)
			warn(name, "no pixel is hit");
	}
	free(scene.triangle);
	free(scene.reach);
	free(scene.place);
	raster_free(&scene.raster);
	return status;
}
