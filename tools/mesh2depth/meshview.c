#include "meshview.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"
#include "mesh/raster.h"

#define BANDS_MOST 64
#define BAND_ROWS 16		/* at least */
#define LARGEST 1e30 /* coordinates whose products must stay far from overflow in float */

struct box {
	double low[3], high[3];		/* low > high: empty */
};

struct view {
	double axes[3][3];		/* right, down, forward */
	double center[3];		/* in model coordinates */
	double scale;
};

/* The triangles that reach into each band of rows, in their own order. */
struct bands {
	size_t rows, n;			/* rows of a band, number of bands */
	size_t first[BANDS_MOST + 1];
	uint32_t *triangle;		/* NULL: not worth it, every band looks at all */
};

struct scene {
	const struct triangles *triangles;
	struct raster raster;
	struct bands bands;
};

/* ---- axes ---- */

static double
dot(const double a[3], const double b[3])
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void
cross(const double a[3], const double b[3], double out[3])
{
	for (int k = 0; k < 3; k++)
		out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* Unit length; false if there is none to speak of. */
static bool
normalise(double v[3])
{
	double most = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2])), length;

	if (!(most > 0 && most < INFINITY))
		return false;
	for (int k = 0; k < 3; k++)
		v[k] /= most;
	length = sqrt(dot(v, v));
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
	along = dot(down, forward);
	for (int k = 0; k < 3; k++)
		down[k] = along * forward[k] - down[k];
	if (sqrt(dot(down, down)) < 1e-9 || !normalise(down))
		return fail_usage("--up", "is parallel to the view's direction; give another");
	cross(down, forward, right);
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
meshview_check(const struct meshview_options *options)
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

/* ---- the mesh in the view ---- */

static bool
finite_triangle(const struct triangles *triangles, size_t i)
{
	for (int k = 0; k < 9; k++)
		if (!isfinite(triangles->point[triangles->corner[i][k / 3]][k % 3]))
			return false;
	return true;
}

/* Of the points that triangles use, and only of whole ones. */
static struct box
box_of(const struct triangles *triangles)
{
	struct box box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };

	for (size_t i = 0; i < triangles->n; i++) {
		if (!finite_triangle(triangles, i))
			continue;
		for (int k = 0; k < 9; k++) {
			double v = triangles->point[triangles->corner[i][k / 3]][k % 3];

			box.low[k % 3] = fmin(box.low[k % 3], v);
			box.high[k % 3] = fmax(box.high[k % 3], v);
		}
	}
	return box;
}

static void
turn(const double axes[3][3], double v[3])
{
	const double in[3] = { v[0], v[1], v[2] };

	for (int k = 0; k < 3; k++)
		v[k] = dot(axes[k], in);
}

/* Points relative to `from`, along the view's axes. */
static void
turn_points(struct triangles *triangles, const double axes[3][3], const double from[3])
{
	for (size_t i = 0; i < triangles->points; i++) {
		double *p = triangles->point[i];

		for (int k = 0; k < 3; k++)
			p[k] -= from[k];
		turn(axes, p);
	}
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

/*
 * Turns the points into columns, rows and distances from the viewer, in steps that keep their
 * digits: about the middle of the mesh, then about the middle of the view.
 */
static int
place(const char *name, struct triangles *triangles, const struct meshview_options *options,
    struct view *view)
{
	struct box box = box_of(triangles);
	double first[3], middle[3] = { 0 };
	bool empty = box.low[0] > box.high[0];

	for (int k = 0; k < 3; k++) {
		if (!empty && !(fmax(fabs(box.low[k]), fabs(box.high[k])) < LARGEST))
			return fail(
			    name, "coordinates are too large: %g to %g", box.low[k], box.high[k]);
		first[k] = empty ? 0 : box.low[k] + (box.high[k] - box.low[k]) / 2;
	}
	turn_points(triangles, view->axes, first);
	box = box_of(triangles);
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
	for (size_t i = 0; i < triangles->points; i++) {
		double *p = triangles->point[i];

		p[0] = ((double)options->w - 1) / 2 + (p[0] - middle[0]) / view->scale;
		p[1] = ((double)options->h - 1) / 2 + (p[1] - middle[1]) / view->scale;
		p[2] -= middle[2];
	}
	box = box_of(triangles);
	if (!empty && fmax(fmax(fabs(box.low[0]), fabs(box.high[0])), fmax(fabs(box.low[1]),
	    fabs(box.high[1]))) > RASTER_FARTHEST)
		return fail(name,
		    "reaches further than %g px from the picture; give a larger --scale",
		    RASTER_FARTHEST);
	return 0;
}

/* ---- drawing ---- */

/* The bands that triangle i reaches into; false if it covers no row of pixels. */
static bool
bands_of(const struct scene *scene, size_t i, size_t *from, size_t *to)
{
	const struct triangles *t = scene->triangles;
	const double y[3] = { t->point[t->corner[i][0]][1], t->point[t->corner[i][1]][1],
		t->point[t->corner[i][2]][1] };

	if (!raster_rows(y, scene->raster.h, from, to))
		return false;
	*from /= scene->bands.rows;
	*to /= scene->bands.rows;
	return true;
}

static int
sort_into_bands(struct scene *scene)
{
	struct bands *bands = &scene->bands;
	size_t fill[BANDS_MOST] = { 0 }, from, to;

	bands->rows = (scene->raster.h + BANDS_MOST - 1) / BANDS_MOST;
	if (bands->rows < BAND_ROWS)
		bands->rows = BAND_ROWS;
	bands->n = (scene->raster.h + bands->rows - 1) / bands->rows;
	for (size_t i = 0; i < scene->triangles->n; i++)
		if (bands_of(scene, i, &from, &to))
			for (size_t b = from; b <= to; b++)
				bands->first[b + 1]++;
	for (size_t b = 0; b < bands->n; b++) {
		bands->first[b + 1] += bands->first[b];
		fill[b] = bands->first[b];
	}
	if (bands->first[bands->n] > 2 * scene->triangles->n + 1000)
		return 0;
	bands->triangle = calloc(bands->first[bands->n] + 1, sizeof(*bands->triangle));
	if (!bands->triangle)
		return fail_memory();
	for (size_t i = 0; i < scene->triangles->n; i++)
		if (bands_of(scene, i, &from, &to))
			for (size_t b = from; b <= to; b++)
				bands->triangle[fill[b]++] = (uint32_t)i;
	return 0;
}

static void
draw_triangle(struct scene *scene, size_t i, size_t y0, size_t y1)
{
	const struct triangles *t = scene->triangles;
	struct raster_vertex v[3];

	for (int k = 0; k < 3; k++) {
		uint32_t at = t->corner[i][k];

		v[k].x = t->point[at][0];
		v[k].y = t->point[at][1];
		v[k].z = t->point[at][2];
		v[k].attribute[0] = t->texture ? t->texture[at] : 0;
	}
	raster_triangle(&scene->raster, y0, y1, &v[0], &v[1], &v[2]);
}

static void
draw_band(void *arg, size_t band)
{
	struct scene *scene = arg;
	const struct bands *bands = &scene->bands;
	size_t y0 = band * bands->rows, y1 = y0 + bands->rows;

	if (!bands->triangle) {
		for (size_t i = 0; i < scene->triangles->n; i++)
			draw_triangle(scene, i, y0, y1);
		return;
	}
	for (size_t i = bands->first[band]; i < bands->first[band + 1]; i++)
		draw_triangle(scene, bands->triangle[i], y0, y1);
}

/* ---- the frame ---- */

static int
write_keys(const struct view *view, bool away, struct meta *meta)
{
	double rotation[9];

	for (int k = 0; k < 9; k++) {
		double v = view->axes[k / 3][k % 3];

		rotation[k] = k >= 6 && !away ? 0 - v : v;
	}
	/* of the image that the points came from */
	meta_remove(meta, "origin_px");
	meta_remove(meta, "bin");
	return meta_set(meta, "z_axis", away ? "away" : "towards") < 0 ||
	    meta_set_number(meta, "scale_mm", view->scale) < 0 ||
	    meta_set_numbers(meta, "center_mm", view->center, 3) < 0 ||
	    meta_set_numbers(meta, "view_rotation", rotation, 9) < 0 ? -1 : 0;
}

static int
make_frame(const struct scene *scene, const struct view *view, bool away, const struct meta *meta,
    struct frame **out)
{
	const struct raster *raster = &scene->raster;
	struct frame_head head;
	int status;

	if (head_init(&head, raster->w, raster->h, 1 + raster->attributes, SAMPLE_FLOAT) < 0)
		return -1;
	head.spacing[0] = head.spacing[1] = view->scale;
	if (meta)
		meta_copy(&head.meta, meta);
	status = head_set_channels(&head, raster->attributes ? "depth texture" : "depth");
	if (status == 0)
		status = write_keys(view, away, &head.meta);
	if (status == 0)
		status = frame_new(&head, out);
	head_free(&head);
	return status;
}

/* Returns the number of pixels that are hit. */
static size_t
fill_frame(const struct scene *scene, bool away, struct frame *out)
{
	const struct raster *raster = &scene->raster;
	size_t hits = 0;

	for (size_t y = 0; y < raster->h; y++)
		for (size_t x = 0; x < raster->w; x++) {
			size_t i = y * raster->w + x;
			bool hit = raster->z[i] < INFINITY;
			float depth = away ? raster->z[i] : 0 - raster->z[i];

			frame_floats(out, 0, y)[x] = hit ? depth : NAN;
			if (raster->attributes)
				frame_floats(out, 1, y)[x] = hit ? raster->attribute[i] : NAN;
			hits += hit;
		}
	return hits;
}

int
meshview_draw(struct run *run, const char *name, struct triangles *triangles,
    const struct meshview_options *options, const struct meta *meta, struct frame **out)
{
	struct scene scene = { .triangles = triangles };
	struct view view;
	int status;

	*out = NULL;
	if (base_axes(options, triangles->axes, view.axes) < 0)
		return -1;
	turn_axes(&options->view, view.axes);
	if (place(name, triangles, options, &view) < 0)
		return -1;
	status = raster_new(&scene.raster, options->w, options->h, triangles->texture != NULL);
	if (status == 0)
		status = sort_into_bands(&scene);
	if (status == 0)
		status = make_frame(&scene, &view, options->away, meta, out);
	if (status == 0) {
		run_for(run, scene.bands.n, draw_band, &scene);
		if (fill_frame(&scene, options->away, *out) == 0)
			warn(name, "no pixel is hit");
	}
	free(scene.bands.triangle);
	raster_free(&scene.raster);
	return status;
}

/* ---- frames of points ---- */

static int
add_points(struct triangles *triangles, const char *name, const struct mesh *mesh)
{
	const size_t *colour = mesh->colour;

	for (size_t y = 0; y < mesh->h; y++)
		for (size_t x = 0; x < mesh->w; x++) {
			struct vertex vertex;
			float c[3];

			if (mesh->number[y * mesh->w + x] == MESH_NONE)
				continue;
			mesh_vertex(mesh, x, y, &vertex);
			if (triangles_add_point(triangles, name, (const double[3]){ vertex.point[0],
			    vertex.point[1], vertex.point[2] }) < 0)
				return -1;
			if (!mesh_has_colours(mesh))
				continue;
			for (int k = 0; k < 3; k++)
				c[k] = frame_floats(mesh->floats, colour[k], y)[x];
			if (triangles_add_texture(triangles, colour[0] == colour[1] ? c[0] :
			    triangles_luma(c[0], c[1], c[2])) < 0)
				return -1;
		}
	return 0;
}

static int
add_cells(struct triangles *triangles, const char *name, const struct mesh *mesh)
{
	uint32_t cell[2][3];

	for (size_t y = 0; y + 1 < mesh->h; y++)
		for (size_t x = 0; x + 1 < mesh->w; x++)
			for (size_t i = 0, n = mesh_cell(mesh, x, y, cell); i < n; i++) {
				const uint64_t corner[3] = { cell[i][0], cell[i][1], cell[i][2] };

				if (triangles_add(triangles, name, corner) < 0)
					return -1;
			}
	return 0;
}

int
meshview_of_frame(const char *name, const struct frame *frame, double jump,
    struct triangles *triangles)
{
	struct mesh_options options = { .jump = jump };
	struct mesh mesh;
	int status = mesh_init(&mesh, name, frame, &options);

	*triangles = (struct triangles){ 0 };
	if (status == 0)
		status = add_points(triangles, name, &mesh);
	if (status == 0)
		status = add_cells(triangles, name, &mesh);
	if (status == 0)
		status = triangles_check(triangles, name);
	triangles->axes = mesh.towards ? AXES_CAMERA_TOWARDS : AXES_CAMERA_AWAY;
	mesh_free(&mesh);
	return status;
}
