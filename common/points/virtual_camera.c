/*
 * Triangle meshes seen from afar, as an orthographic depth frame, for mesh2depth and holoserve.
 *
 * A view has three axes in the coordinates of the model: right (columns), down (rows) and forward,
 * away from the viewer. A point p is at v = axes (p - center): at pixel ((w - 1)/2 + v_right/scale,
 * (h - 1)/2 + v_down/scale), at depth v_forward, or -v_forward where depth grows towards the
 * viewer.
 */
#include "points/virtual_camera.h"

#include "base/linear.h"
#include "base/process.h"
#include "mesh/raster.h"
#include "points/cloud.h"

#define MAX_COORDINATE 1e30	/* keeps products far from overflow in float */

struct view {
	double axes[3][3];		/* right, down, forward */
	double center[3];		/* in model coordinates */
	double scale;
	bool warned;			/* of a scale at which hardly anything can be seen */
};

#define PIECE 8192		/* points or triangles that a thread takes together */

/* The points of finite triangles. */
struct points {
	const struct triangles *triangles;
	bool *used;
	struct grid_extent *box;		/* of each piece */
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

/* ---- points on their way into the view ---- */

static size_t
piece_end(size_t piece, size_t n)
{
	return (piece + 1) * PIECE < n ? (piece + 1) * PIECE : n;
}

static bool
finite_triangle(const struct triangles *triangles, size_t i)
{
	double none = 0;

	/* 0 times infinity or NaN is NaN */
	for (int k = 0; k < 9; k++)
		none += 0 * triangles->point[triangles->corner[i][k / 3]][k % 3];
	return none == 0;
}

/* Several threads may mark one point. */
static void
mark_piece(void *arg, size_t piece)
{
	const struct points *points = arg;
	const struct triangles *triangles = points->triangles;

	for (size_t i = piece * PIECE; i < piece_end(piece, triangles->n); i++)
		if (finite_triangle(triangles, i))
			for (int k = 0; k < 3; k++)
				__atomic_store_n(&points->used[triangles->corner[i][k]], true,
				    __ATOMIC_RELAXED);
}

static void
box_piece(void *arg, size_t piece)
{
	const struct points *points = arg;
	const struct triangles *triangles = points->triangles;
	struct grid_extent box = GRID_NOWHERE;

	for (size_t i = piece * PIECE; i < piece_end(piece, triangles->points); i++)
		if (points->used[i])
			grid_widen(&box, triangles->point[i], triangles->point[i]);
	points->box[piece] = box;
}

static void
turn_piece(void *arg, size_t piece)
{
	const struct placing *placing = arg;

	for (size_t i = piece * PIECE; i < piece_end(piece, placing->triangles->points); i++) {
		double *p = placing->triangles->point[i];

		for (int k = 0; k < 3; k++)
			p[k] -= placing->from[k];
		turn(placing->axes, p);
	}
}

static void
place_piece(void *arg, size_t piece)
{
	const struct placing *placing = arg;

	for (size_t i = piece * PIECE; i < piece_end(piece, placing->triangles->points); i++)
		place_point(placing, placing->triangles->point[i]);
}

/* ---- the picture ---- */

#define ROUNDED 1e-6		/* px: more than drawing moves a corner */

/* The rows of pixel centres that a triangle reaches, or nearly reaches. False: there are none.
 * raster_triangle() finds them exactly, for far fewer triangles. */
static bool
find_rows(const double y[3], size_t h, size_t *from, size_t *to)
{
	double low = y[0] < y[1] ? y[0] : y[1], high = y[0] < y[1] ? y[1] : y[0];

	low = y[2] < low ? y[2] : low;
	high = y[2] > high ? y[2] : high;
	low -= ROUNDED;
	high += ROUNDED;
	/* a triangle with a NaN is not drawn, whatever its rows */
	if (!(low < (double)h) || !(high >= 0))
		return false;
	*from = low > 0 ? (size_t)low : 0;
	*from += (double)*from < low;
	*to = high < (double)h ? (size_t)high : h - 1;
	return *from <= *to;
}

/* The first and the last band that a triangle reaches into; the last is before the first where it
 * covers no row of pixels. */
static void
find_reach(struct scene *scene, size_t i)
{
	const struct triangles *t = scene->triangles;
	const uint32_t *corner = t->corner[i];
	const double y[3] = { t->point[corner[0]][1], t->point[corner[1]][1],
		t->point[corner[2]][1] };
	size_t from, to;
	bool covers = find_rows(y, scene->raster.h, &from, &to);

	scene->reach[i][0] = covers ? (unsigned char)(from / scene->rows) : 1;
	scene->reach[i][1] = covers ? (unsigned char)(to / scene->rows) : 0;
}

static void
count_piece(void *arg, size_t piece)
{
	struct scene *scene = arg;
	size_t *count = scene->place[piece];

	for (size_t i = piece * PIECE; i < piece_end(piece, scene->triangles->n); i++) {
		find_reach(scene, i);
		for (size_t b = scene->reach[i][0]; b <= scene->reach[i][1]; b++)
			count[b]++;
	}
}

static void
sort_piece(void *arg, size_t piece)
{
	struct scene *scene = arg;
	size_t *place = scene->place[piece];

	for (size_t i = piece * PIECE; i < piece_end(piece, scene->triangles->n); i++)
		for (size_t b = scene->reach[i][0]; b <= scene->reach[i][1]; b++)
			scene->triangle[place[b]++] = (uint32_t)i;
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
	size_t y0 = band * scene->rows, y1 = y0 + scene->rows;

	raster_clear(&scene->raster, y0, y1);
	if (scene->triangle)
		for (size_t i = scene->first[band]; i < scene->first[band + 1]; i++)
			draw_triangle(scene, scene->triangle[i], y0, y1);
	else
		for (size_t i = 0; i < scene->triangles->n; i++)
			draw_triangle(scene, i, y0, y1);
}

static void
fill_row(void *arg, size_t y)
{
	struct scene *scene = arg;
	const struct raster *raster = &scene->raster;
	bool hits = false;

	for (size_t x = 0; x < raster->w; x++) {
		size_t i = y * raster->w + x;
		bool hit = raster->z[i] < INFINITY;
		float depth = scene->away ? raster->z[i] : 0 - raster->z[i];

		frame_floats(scene->out, 0, y)[x] = hit ? depth : NAN;
		if (raster->attributes)
			frame_floats(scene->out, 1, y)[x] = hit ? raster->attribute[i] : NAN;
		hits |= hit;
	}
	if (hits)
		__atomic_store_n(&scene->hit, true, __ATOMIC_RELAXED);
}

/* ---- axes ---- */

/* To unit length. False: the length is 0 or infinite. */
static bool
normalise(double v[3])
{
	double most = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));

	if (!(most > 0 && most < INFINITY))
		return false;
	for (int k = 0; k < 3; k++)
		v[k] /= most;
	vector3_normalise(v);
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
	if (vector3_length(down) < 1e-9 || !normalise(down))
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
static struct grid_extent
box_of(struct run *run, struct points *points)
{
	struct grid_extent box = GRID_NOWHERE;

	run_for(run, points->pieces, box_piece, points);
	for (size_t i = 0; i < points->pieces; i++)
		grid_widen(&box, points->box[i].low, points->box[i].high);
	return box;
}

/* The scale at which the box, with its point `middle` in the middle, leaves the margin free. */
static double
fitting_scale(const struct view_options *options, const struct grid_extent *box,
    const double middle[3])
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
check_scale(const char *name, const struct view_options *options, const struct grid_extent *box)
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
	struct grid_extent box = box_of(run, points);
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
	run_for(run, (triangles->n + PIECE - 1) / PIECE, mark_piece, &points);
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
	run_for(run, pieces, count_piece, scene);
	find_places(scene, pieces);
	if (scene->first[scene->bands] > MAX_ENTRIES(scene->triangles->n))
		return;
	scene->triangle = must_large(scene->first[scene->bands] + 1, sizeof(*scene->triangle));
	run_for(run, pieces, sort_piece, scene);
}

static void
write_keys(const struct view *view, bool away, struct meta *meta)
{
	double rotation[9];

	for (int k = 0; k < 9; k++) {
		double v = view->axes[k / 3][k % 3];

		rotation[k] = k >= 6 && !away ? 0 - v : v;
	}
	/* these describe the image, or the table, that the points came from */
	meta_remove(meta, "points");
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
	struct frame_head *head;

	if (frame_new_named(raster->w, raster->h, 1 + raster->attributes, SAMPLE_FLOAT,
	    raster->attributes ? "depth texture" : "depth", out) < 0)
		return -1;
	head = &(*out)->head;
	head->spacing[0] = head->spacing[1] = view->scale;
	if (meta)
		meta_copy(&head->meta, meta);
	write_keys(view, scene->away, &head->meta);
	return 0;
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
		run_for(run, scene.bands, draw_band, &scene);
		run_for(run, scene.raster.h, fill_row, &scene);
		if (!scene.hit && !view.warned)
			warn(name, "no pixel is hit");
	}
	free_all(scene.triangle, scene.reach, scene.place);
	raster_free(&scene.raster);
	return status;
}

/* ---- tables ---- */

#define AS_LARGE 1.2533		/* sqrt(pi/2): half a diagonal of a square of area pi */

/* A square about p across a normal. -1 after fail(). */
static int
add_square(struct triangles *triangles, const double p[3], const double normal[3], double half)
{
	const uint64_t n = triangles->points;
	double along[2][3], corner[3], other[3] = { 0 };

	other[fabs(normal[0]) < 0.6 ? 0 : 1] = 1;
	vector3_cross(normal, other, along[0]);
	normalise(along[0]);
	vector3_cross(normal, along[0], along[1]);
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 3; k++)
			corner[k] = p[k] + (i < 2 ? half : -half) * along[i % 2][k];
		if (triangles_add_point(triangles, "table", corner) < 0)
			return -1;
	}
	return triangles_add(triangles, "table", (uint64_t[3]){ n, n + 1, n + 2 }) < 0 ? -1 :
	    triangles_add(triangles, "table", (uint64_t[3]){ n, n + 2, n + 3 });
}

/* A point without a normal has a square across each axis. */
static int
add_point(struct triangles *triangles, const struct cloud *cloud, size_t i)
{
	double p[3], normal[3], half = AS_LARGE * CLOUD_DISC * cloud->spacing;
	size_t squares;

	for (int k = 0; k < 3; k++) {
		p[k] = (double)cloud->xyz[k][i];
		normal[k] = (double)cloud->normal[k][i];
	}
	squares = vector3_dot(normal, normal) > 0 ? 1 : 3;
	for (size_t s = 0; s < squares; s++) {
		if (squares > 1)
			for (size_t k = 0; k < 3; k++)
				normal[k] = k == s;
		if (add_square(triangles, p, normal, half) < 0)
			return -1;
		for (size_t k = 0; cloud->values && k < 4; k++)
			triangles->texture[triangles->points - 4 + k] = cloud->values == 1 ?
			    cloud->value[0][i] : triangles_luma((double)cloud->value[0][i],
			    (double)cloud->value[1][i], (double)cloud->value[2][i]);
	}
	return 0;
}

int
table_triangles(struct run *run, const struct frame *table, struct triangles *triangles)
{
	const char *towards = meta_get(&table->head.meta, "z_axis");
	struct cloud cloud;
	int status = cloud_of_table(run, table, &cloud);

	*triangles = (struct triangles){ .axes = towards && !strcmp(towards, "towards") ?
		AXES_CAMERA_TOWARDS : AXES_CAMERA_AWAY };
	if (status == 0 && cloud.values)
		triangles->texture = must_large(12 * cloud.n, sizeof(*triangles->texture));
	for (size_t i = 0; i < cloud.n && status == 0; i++)
		status = add_point(triangles, &cloud, i);
	cloud_free(&cloud);
	return status;
}
