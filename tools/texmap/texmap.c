/*
 * A colour for every point, from the picture of another camera: that camera, the channels of the
 * output, the picture, clouds of points as discs, points of rectified cameras, the check of the
 * picture by edges, options, plan and frames. texmap_rows.c has the loops.
 */
#include "texmap.h"

#include <stdio.h>

#include "base/numbers.h"
#include "base/px.h"
#include "optics/calib.h"
#include "optics/laser.h"
#include "optics/stereo.h"
#include "run/stage.h"

/* ---- the camera of a calibration that took the picture ---- */

struct colour_camera {
	struct pinhole pinhole;		/* from the calibration's world */
	char unit[16];			/* of its lengths */
	double origin_px[2];		/* on its sensor, of pictures without the key */
};

/* Counts the cameras among the devices, and lists their names for a message. */
static size_t
list_cameras(const struct number_file *numbers, char text[200])
{
	size_t n, letters, length = 0;
	const char *name;

	text[0] = '\0';
	for (n = 0; (name = calib_camera(numbers, n, &letters)); n++)
		if (length < 150)
			length += (size_t)snprintf(text + length, 200 - length, "%s%.*s",
			    n ? ", " : "", letters < 40 ? (int)letters : 40, name);
	return n;
}

static int
load_side(const char *path, const char *name, struct colour_camera *camera)
{
	struct stereo stereo;
	enum stereo_side side = strcmp(name, "left") ? STEREO_RIGHT : STEREO_LEFT;

	if (stereo_load(path, &stereo) < 0)
		return -1;
	camera->pinhole = stereo.camera[side];
	strcpy(camera->unit, "mm");
	return 0;
}

/* The camera of a file that names only one. */
static int
load_single(const char *path, const char *name, struct colour_camera *camera)
{
	struct laser laser;

	if (laser_load(path, name, &laser) < 0)
		return -1;
	camera->pinhole = laser.camera;
	memcpy(camera->unit, laser.unit, sizeof(camera->unit));
	memcpy(camera->origin_px, laser.origin_px, sizeof(camera->origin_px));
	return 0;
}

/* name: devices.NAME of kind camera, or left or right of a pair (optics/stereo.h); NULL: the only
 * camera. -1 after fail(), which names the cameras of the file. */
static int
colour_camera_load(const char *path, const char *name, struct colour_camera *camera)
{
	struct number_file numbers;
	char text[200];
	size_t n;
	bool devices, pair, is_device;

	*camera = (struct colour_camera){ 0 };
	if (number_file_load(path, &numbers) < 0)
		return -1;
	n = list_cameras(&numbers, text);
	devices = calib_device_entry(&numbers, NULL, NULL);
	is_device = name && calib_device_entry(&numbers, name, NULL);
	pair = calib_has(&numbers, "K2|M2|cameraMatrix2");
	number_file_free(&numbers);
	if (name && !is_device && pair && (!strcmp(name, "left") || !strcmp(name, "right")))
		return load_side(path, name, camera);
	if (name && !devices)
		return fail(path, pair ? "has no camera %.40s: its two are left and right" :
		    "has no camera %.40s: its only camera has no name", name);
	if (name)
		return load_single(path, name, camera);
	if (n > 1)
		return fail(path, "has %zu cameras, %s: say which one took the picture, by "
		    "--camera", n, text);
	if (n == 0 && pair)
		return fail(path, "has two cameras: say which one took the picture, by --camera "
		    "left or right");
	return load_single(path, n == 1 ? text : NULL, camera);
}

/* ---- the channels of the output ---- */

/* The first `own` channels of a frame but r g b, as floats. -1 after fail(). */
static int
channels_keep(const struct frame *in, size_t own, struct frame **kept)
{
	static const char *const colours[] = { "r", "g", "b" };
	size_t *channel = must_alloc(own, sizeof(*channel)), n = 0;
	struct frame *chosen;
	int status;

	for (size_t c = 0; c < own; c++) {
		bool is_colour = false;

		for (size_t k = 0; k < 3; k++)
			is_colour |= !strcmp(in->head.channel[c], colours[k]);
		if (!is_colour)
			channel[n++] = c;
	}
	status = frame_select(in, channel, n, &chosen);
	free(channel);
	if (status < 0)
		return -1;
	status = frame_to_float(chosen, kept);
	frame_free(chosen);
	return status;
}

/* A frame of the kept channels and r g b, whose pixels are in `colours`. The caller fills those,
 * and frees both frames, also after a failure. -1 after fail(). */
static int
channels_begin(const struct frame *kept, double white, struct frame **colours, struct frame **out)
{
	size_t c = kept->head.c;
	struct frame_head head;
	int status;

	if (frame_new_named(kept->head.w, kept->head.h, 3, SAMPLE_FLOAT, NULL, colours) < 0)
		return -1;
	head_copy(&head, &kept->head);
	status = head_add_channels(&head, "r g b");
	meta_set_number(&head.meta, "max_value", white);
	if (status == 0)
		status = frame_new_empty(&head, out);
	head_free(&head);
	for (size_t k = 0; k < c + 3 && status == 0; k++)
		frame_share(*out, k, k < c ? kept : *colours, k < c ? k : k - c);
	return status;
}

/* ---- the channels of the picture ---- */

/* Finds r g b, or the only channel, by the picture's head. In frames they come after the input's
 * `own` channels. -1 after fail(). */
static int
picture_plan(struct picture *picture, const struct frame_head *head, size_t own)
{
	static const char *const names[] = { "r", "g", "b" };
	char seen[300];
	size_t grey = head->c == 1 ? 0 : NO_CHANNEL;

	*picture = (struct picture){ .w = head->w, .h = head->h, .type = head->type,
		.alpha = head_channel(head, "a") };
	if (head->c == 2 && picture->alpha != NO_CHANNEL)
		grey = !picture->alpha;
	for (size_t k = 0; k < 3; k++) {
		size_t c = grey != NO_CHANNEL ? grey : head_channel(head, names[k]);

		if (c == NO_CHANNEL)
			return fail("--image", "has %zu channels, %s: wanted are r g b, or a "
			    "single one, and alpha (framecat --channels chooses)", head->c,
			    head_channels_hint(head, seen));
		picture->channel[k] = own + c;
	}
	if (head->c == 1)
		picture->alpha = NO_CHANNEL;
	if (picture->alpha != NO_CHANNEL)
		picture->alpha += own;
	return 0;
}

/* ---- clouds: points without an order, as discs in the depth buffer of a picture ---- */

#define BANDS_MOST 64
#define BAND_ROWS 16		/* at least */
#define WIDER 1.5		/* cells than cloud_scale()'s: points are sparse on steep sides */

/* A frame of the table's x y z, and nx ny nz, all NaN. */
static int
begin_surface(const struct frame *table, struct frame **surface)
{
	size_t xyz[3];

	if (frame_new_named(table->head.w, 1, 6, SAMPLE_FLOAT, "x y z nx ny nz", surface) < 0)
		return -1;
	head_xyz(&table->head, xyz);
	for (size_t k = 0; k < 6; k++)
		for (size_t x = 0; x < table->head.w; x++)
			frame_floats(*surface, k, 0)[x] =
			    k < 3 ? frame_floats(table, xyz[k], 0)[x] : NAN;
	return 0;
}

/* Draws the discs of all points into the depth buffer. */
static void
draw_discs(struct drawing *drawing, struct run *run)
{
	size_t n = drawing->cloud.n, h = drawing->visible->depth.h;

	drawing->disc = must_alloc(n + 1, sizeof(*drawing->disc));
	run_for(run, (n + DRAWN_POINTS - 1) / DRAWN_POINTS, texmap_rows()->see_points, drawing);
	drawing->rows = (h + BANDS_MOST - 1) / BANDS_MOST;
	if (drawing->rows < BAND_ROWS)
		drawing->rows = BAND_ROWS;
	run_for(run, (h + drawing->rows - 1) / drawing->rows, texmap_rows()->draw_band, drawing);
	free(drawing->disc);
}

/*
 * Draws a table of points into visible->depth, each one as a disc in the plane of its neighbours.
 * Sets visible->points to a frame `surface` of the channels x y z nx ny nz: the normals of those
 * planes, on the side of the table's own normals, else towards the camera; NaN at points without
 * neighbours, which draw nothing. The caller frees both, also after a failure. -1 after fail().
 */
static int
cloud_draw(struct visible *visible, struct run *run, const struct visible_view *view,
    const struct frame *table, struct frame **surface)
{
	struct drawing drawing = { .visible = visible, .cloud.keeps = true };
	double cell = NAN, noise = 0, none;
	int status;

	*visible = (struct visible){ .view = *view };
	*surface = NULL;
	status = raster_new(&visible->depth, view->w, view->h, 0);
	if (status == 0)
		raster_clear(&visible->depth, 0, view->h);
	if (status == 0)
		status = begin_surface(table, surface);
	if (status == 0)
		status = cloud_take(table, &drawing.cloud);
	if (status == 0 && drawing.cloud.n > 0) {
		status = cloud_scale(run, &drawing.cloud, &cell, &noise);
		cell *= WIDER;
		if (status == 0)
			status = cloud_scale(run, &drawing.cloud, &cell, &none);
		if (status == 0)
			status = cloud_normals(run, &drawing.cloud, false);
	}
	if (status == 0) {
		drawing.surface = *surface;
		draw_discs(&drawing, run);
		visible->points = (struct visible_points){ *surface, { 0, 1, 2 },
			drawing.cloud.spacing, noise };
	}
	cloud_free(&drawing.cloud);
	return status;
}

/* ---- points in the axes of a rectified camera, which is the calibration's world ---- */

#define NEAR_PX 0.5
#define NEAR_WHOLE_PX 0.05

/* Does the rectified camera see a point, of these axes, at this pixel? NULL: at a whole one? */
static bool
is_at(const struct stereo_view *view, const double X[3], const size_t pixel[2])
{
	const double u = view->f_px * X[0] / X[2] + view->cx_px;
	const double v = view->f_px * X[1] / X[2] + view->cy_px;
	const double near_px = pixel ? NEAR_PX : NEAR_WHOLE_PX;

	return X[2] > 0 && fabs(u - (pixel ? (double)pixel[0] : round(u))) < near_px &&
	    fabs(v - (pixel ? (double)pixel[1] : round(v))) < near_px;
}

/* *found: the points of a rectified left picture (stereo_view()) are in its own axes, not turned
 * back. Judged by their pixels, within half a pixel; of a table by whole pixels, where most points
 * must lie: -1 after fail() if they do in neither. False if both are possible. */
static int
rectified_points(const struct visible_points *points, const struct stereo_view *view, bool *found)
{
	const struct frame_head *head = &points->frame->head;
	const bool table = head_is_table(head);
	size_t pixels = head->w * head->h, as_they_are = 0, turned = 0, n = 0;

	for (size_t i = 0; i < pixels && view->side == STEREO_LEFT; i++) {
		const size_t pixel[2] = { i % head->w, i / head->w };
		double X[3], to[3];

		if (!visible_points_at(points, pixel[0], pixel[1], X))
			continue;
		matrix3_apply(view->R, X, to);
		as_they_are += is_at(view, X, table ? NULL : pixel);
		turned += is_at(view, to, table ? NULL : pixel);
		n++;
	}
	*found = as_they_are > turned;
	return !table || 2 * (*found ? as_they_are : turned) >= n ? 0 :
	    fail(NULL, "the table does not tell whether its points are in the axes of the "
	    "rectified picture (key rect_rotation) or turned back: take the frames they come from");
}

/* ---- does the picture show what the points' own camera saw? ---- */

#define EDGES_LEAST 1000
#define NOISE_SAMPLES 65536		/* for the noise */
#define LIKE 0.7		/* correlation; that of the right camera is 0.9 and more */

#define APART 4			/* pixels between the two ends of an edge */
#define EDGE_LEVEL 0.05		/* least step, as a part of the level */
#define EDGE_NOISES 6.0		/* least step, in standard deviations of the noise */
#define EDGE_FLATNESS 3		/* factor by which both sides change less: shading is no edge */
#define STEPS 3.0		/* largest step of depth, in usual distances of points */

/* Edges on the surface, in a channel of the points and in the colours. */
struct likeness {
	const struct visible_points *points;
	const struct frame *colours;
	size_t channel, w, h;
	double noise;
	double tt, tc[3], cc[3];	/* sums of products, of the channel and of r g b */
	size_t n;
};

static double
level(const struct likeness *likeness, size_t x, size_t y)
{
	return (double)frame_floats(likeness->points->frame, likeness->channel, y)[x];
}

/* The standard deviation of the noise, from second differences along rows; infinite if there are
 * none. */
static double
find_noise(const struct likeness *likeness)
{
	float *v = must_alloc(NOISE_SAMPLES, sizeof(*v)), median;
	size_t pixels = likeness->w * likeness->h, stride = pixels / NOISE_SAMPLES + 1, n = 0;

	for (size_t i = 0; i < pixels && n < NOISE_SAMPLES; i += stride) {
		size_t x = i % likeness->w, y = i / likeness->w;

		if (x == 0 || x + 1 == likeness->w)
			continue;
		v[n] = (float)fabs(level(likeness, x - 1, y) - 2 * level(likeness, x, y) +
		    level(likeness, x + 1, y));
		n += !isnan(v[n]);
	}
	median = n ? numbers_median(v, n) : INFINITY;
	free(v);
	return (double)median / 0.6745 / sqrt(6);
}

/* The edge from a pixel to the one APART from it along a row or a column. */
static void
add_edge(struct likeness *likeness, size_t x, size_t y, size_t right, size_t down)
{
	double a = level(likeness, x, y), b = level(likeness, x + right, y + down);
	double step = fabs(b - a), X[3], Y[3], d[3];

	if (!(step > EDGE_LEVEL * (fabs(a) + fabs(b)) / 2) ||
	    !(step > EDGE_NOISES * likeness->noise) ||
	    !(EDGE_FLATNESS * fabs(a - level(likeness, x - right, y - down)) < step) ||
	    !(EDGE_FLATNESS * fabs(b - level(likeness, x + 2 * right, y + 2 * down)) < step) ||
	    !visible_points_at(likeness->points, x, y, X) ||
	    !visible_points_at(likeness->points, x + right, y + down, Y) ||
	    !(visible_points_distance(X, Y) <= STEPS * APART * likeness->points->spacing))
		return;
	for (size_t k = 0; k < 3; k++)
		d[k] = (double)frame_floats(likeness->colours, k, y + down)[x + right] -
		    (double)frame_floats(likeness->colours, k, y)[x];
	if (isnan(d[0]))
		return;
	likeness->n++;
	likeness->tt += (b - a) * (b - a);
	for (size_t k = 0; k < 3; k++) {
		likeness->tc[k] += (b - a) * d[k];
		likeness->cc[k] += d[k] * d[k];
	}
}

static double
edge_correlation(const struct visible_points *points, const struct frame *colours)
{
	static const char *const names[] = { "texture", "gray", "image" };
	const struct frame_head *head = &points->frame->head;
	struct likeness likeness = { .points = points, .colours = colours, .w = head->w,
		.h = head->h, .channel = NO_CHANNEL };
	double best = -1;

	for (size_t i = 0; i < 3 && likeness.channel == NO_CHANNEL; i++)
		likeness.channel = head_channel(head, names[i]);
	if (likeness.channel == NO_CHANNEL)
		return NAN;
	likeness.noise = find_noise(&likeness);
	for (size_t y = 0; y < head->h; y++)
		for (size_t x = 0; x < head->w; x++) {
			if (x >= APART && x + 2 * APART < head->w)
				add_edge(&likeness, x, y, APART, 0);
			if (y >= APART && y + 2 * APART < head->h)
				add_edge(&likeness, x, y, 0, APART);
		}
	if (likeness.n < EDGES_LEAST)
		return NAN;
	for (size_t k = 0; k < 3; k++)
		best = fmax(best, likeness.cc[k] > 0 ?
		    likeness.tc[k] / sqrt(likeness.tt * likeness.cc[k]) : 0);
	return best;
}

/*
 * Compares the edges that are printed on the surface, in the channel texture, gray or image of the
 * points' frame, with the colours found there. Warns if their correlation, the best of r, g and b,
 * is low; -v prints it. Does nothing without such a channel, or with too few edges.
 */
static void
likeness_check(const struct run *run, const struct visible_points *points,
    const struct frame *colours)
{
	double likeness = edge_correlation(points, colours);

	if (run->verbose && !isnan(likeness))
		note(NULL, "edges on the surface have a correlation of %.2f with those of the "
		    "points' own picture", likeness);
	if (likeness < LIKE)
		warn("--image", "shows other edges on the surface than the points' own picture "
		    "(correlation %.2f): was it this camera that took it?", likeness);
}

/* ---- colours for the points of a frame, part by part ---- */

/* The number of parts. */
static size_t
colouring_parts(const struct colouring *colouring)
{
	const struct frame_head *head = &colouring->visible->points.frame->head;

	return (head->w + COLOURED_POINTS - 1) / COLOURED_POINTS * head->h;
}

static void
add_counts(const struct colouring_counts *part, size_t parts, struct colouring_counts *all)
{
	for (size_t i = 0; i < parts; i++) {
		all->points += part[i].points;
		for (size_t k = 0; k < FATES; k++)
			all->of[k] += part[i].of[k];
	}
}

/* ---- options ---- */

struct parameters {
	const char *calib, *camera, *image;
	double jump, grazing, max_value;
	bool supersample;
	struct numbers origin;
};

struct priv {
	struct colour_camera camera;
	struct visible_view view;
	struct picture picture;
	double white;			/* the colour's largest level; 0: found from the floats */
	double found_white;		/* so far */
	size_t own;			/* channels of the input */
	struct stereo_view rectified;	/* of frames that are a rectified picture's */
	bool has_rectified;
	bool warned, warned_white, checked_likeness;
	struct colouring_counts all;
};

static const struct opt options[] = {
	{ 0, "calib", "FILE", OPT_FILE, AT(calib), NULL, 0, 0, NULL,
	  "the camera that took the picture, in the world of the points" },
	{ 0, "camera", "NAME", OPT_TEXT, AT(camera), NULL, 0, 0, NULL,
	  "devices.NAME of a calibration of several, left or right of a pair" },
	{ 0, "image", "FILE", OPT_PICTURE, AT(image), NULL, 0, 0, NULL,
	  "its picture: one for all frames, or as many as the input has" },
	FLAG_ROW(0, "supersample", supersample,
	    "the mean over each point's piece of the surface, not the colour at its middle"),
	{ 0, "jump", "Z", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	  "surfaces farther apart are two, and the nearer one hides; 0: found from the points" },
	{ 0, "grazing", "DEG", OPT_ANGLE, AT(grazing), "80", 1, 90, NULL,
	  "no colour where the camera looks on at a larger angle to the normal" },
	{ 0, "max-value", "LEVEL", OPT_NUMBER, AT(max_value), NULL, 1e-30, 1e30, NULL,
	  "the picture's white; by its key or its type if not given" },
	{ 0, "origin", "X,Y", OPT_NUMBERS, AT(origin), NULL, -1e6, 1e6, "px",
	  "first pixel of a picture that was cut out, on the calibrated sensor" },
	{ 0 },
};

/* ---- the plan ---- */

static int
plan_white(struct run *run, const struct frame_head *picture)
{
	static const double usual[] = { 255, 65535, 0 };
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (run_number(run, parameters->max_value, picture, "max_value", usual[picture->type],
	    &priv->white) < 0)
		return -1;
	return priv->white > 0 || !meta_get(&picture->meta, "max_value") ? 0 :
	    fail("--image", "its key max_value must be more than 0, not %g", priv->white);
}

static int
plan_picture(struct run *run, const struct frame_head *head)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct visible_view *view = &priv->view;
	const struct pinhole *camera = &priv->camera.pinhole;
	struct sensor_fit fit;

	if (sensor_crop_origin(run, &parameters->origin, head, priv->camera.origin_px,
	    view->origin_px, view->bin) < 0)
		return -1;
	fit = (struct sensor_fit){ .placed = parameters->origin.n ||
		meta_get(&head->meta, "origin_px") };
	memcpy(fit.origin_px, view->origin_px, sizeof(fit.origin_px));
	memcpy(fit.bin, view->bin, sizeof(fit.bin));
	if (!fit.placed && camera->w > 0 &&
	    (fabs((double)head->w * fit.bin[0] - camera->w) >= fit.bin[0] ||
	    fabs((double)head->h * fit.bin[1] - camera->h) >= fit.bin[1]))
		return fail("--image", "the picture, %zux%zu px, has another size than the "
		    "calibration's camera, %gx%g px: if it is cut out say where, by --origin; if "
		    "its pixels were joined, by framecat --set bin=2", head->w, head->h, camera->w,
		    camera->h);
	view->camera = camera;
	view->w = head->w;
	view->h = head->h;
	view->reach = visible_reach(camera);
	return sensor_fit_check(camera, head, true, &fit, &priv->warned) < 0 ? -1 :
	    plan_white(run, head);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *)
{
	static const char *const names[] = { "x", "y", "z" };
	struct priv *priv = run->priv;
	const struct frame_head *picture = run_second_input_head(run, "image", 0);
	const char *unit = meta_get(&in->meta, "length_unit");

	priv->own = in->c - picture->c;
	for (size_t k = 0; k < 3; k++) {
		size_t c;

		if (run_channel(run, in, names[k], &c) < 0)
			return -1;
	}
	if (head_is_table(picture))
		return fail("--image", "is a table, not a picture");
	if (head_is_table(in) && ((const struct parameters *)run->parameters)->supersample)
		return fail("--supersample", "wants ordered points, whose neighbours tell how much "
		    "surface is a point's; these are a table");
	if (unit && strcmp(unit, priv->camera.unit))
		return fail(NULL, "the points are in %.16s (key length_unit), the calibration's "
		    "lengths in %s", unit, priv->camera.unit);
	if (picture_plan(&priv->picture, picture, priv->own) < 0)
		return -1;
	if (stereo_view(run, in, &priv->rectified, &priv->has_rectified) < 0)
		return -1;
	return plan_picture(run, picture);
}

/* ---- one frame ---- */

#define LONE_FEW 10	/* more than one in so many points without neighbours gives a warning */
#define FATES_TEXT "%zu behind it or beyond its lens, %zu outside of its picture, %zu without "\
	"neighbours, %zu face away or are grazed, %zu hidden, %zu where the picture has no colour"

/* Draws the depth buffer of the points. *surface: the points and normals of a table, else NULL. */
static int
draw(struct run *run, const struct frame *kept, struct visible_view *view,
    struct pinhole *camera, struct visible *visible, struct frame **surface)
{
	struct priv *priv = run->priv;
	const struct frame_head *head = &kept->head;
	struct visible_points points;
	bool rectified = false;

	*surface = NULL;
	visible_points_init(&points, kept, (size_t[3]){ head_channel(head, "x"),
	    head_channel(head, "y"), head_channel(head, "z") });
	if (priv->has_rectified && rectified_points(&points, &priv->rectified, &rectified) < 0)
		return -1;
	if (rectified) {
		/* the camera in those axes instead of the world's */
		pinhole_between(priv->rectified.R, (double[3]){ 0, 0, 0 }, camera->R, camera->T,
		    camera->R, camera->T);
		pinhole_complete(camera);
	}
	return head_is_table(head) ? cloud_draw(visible, run, view, kept, surface) :
	    visible_draw(visible, run, view, &points);
}

static int
colour(struct run *run, const struct frame *kept, const struct picture *picture,
    struct frame *colours)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct visible visible = { 0 };
	struct colouring colouring = { .visible = &visible, .picture = picture,
		.jump = parameters->jump, .least_cosine = cos(parameters->grazing),
		.supersample = parameters->supersample, .out = colours };
	struct colouring_counts all = { 0 };
	struct visible_view view = priv->view;
	struct pinhole camera = *view.camera;
	struct frame *surface;
	int status;

	view.camera = &camera;
	status = draw(run, kept, &view, &camera, &visible, &surface);
	head_three(surface ? &surface->head : &kept->head, "n", "xyz", colouring.normal);
	if (status == 0) {
		colouring.counts = must_alloc(colouring_parts(&colouring),
		    sizeof(*colouring.counts));
		run_for(run, colouring_parts(&colouring), texmap_rows()->colouring_part,
		    &colouring);
		add_counts(colouring.counts, colouring_parts(&colouring), &all);
		add_counts(&all, 1, &priv->all);
		if (!all.of[COLOURED] && all.points)
			status = fail(NULL, "the camera sees none of %zu points: " FATES_TEXT,
			    all.points, all.of[BEHIND], all.of[OUTSIDE], all.of[LONE],
			    all.of[GRAZED], all.of[HIDDEN], all.of[BLANK]);
	}
	if (status == 0 && !surface && !priv->checked_likeness) {
		priv->checked_likeness = true;
		likeness_check(run, &visible.points, colours);
	}
	visible_free(&visible);
	frame_free(surface);
	free(colouring.counts);
	return status;
}

static void
find_white(struct priv *priv, const struct picture *picture)
{
	float most;

	priv->found_white = fmax(priv->found_white, texmap_rows()->picture_white(picture, &most));
	if (priv->found_white > 255 && most < 32768 && !priv->warned_white) {
		warn("--image", "its floats go up to %g, of which 65535 is taken for white: say "
		    "what is by --max-value", (double)most);
		priv->warned_white = true;
	}
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	struct picture picture = priv->picture;
	struct frame *kept = NULL, *colours = NULL, *out = NULL;
	int status;

	picture.frame = in;
	if (!(priv->white > 0))
		find_white(priv, &picture);
	status = channels_keep(in, priv->own, &kept);
	if (status == 0)
		status = channels_begin(kept, priv->white > 0 ? priv->white : priv->found_white,
		    &colours, &out);
	if (status == 0)
		status = colour(run, kept, &picture, colours);
	frame_free(in);
	frame_free(kept);
	frame_free(colours);
	return run_emit_if(run, status, out);
}

static int
end(struct run *run)
{
	const struct priv *priv = run->priv;
	const struct colouring_counts *all = &priv->all;
	const size_t *of = all->of;

	if (of[LONE] > all->points / LONE_FEW)
		warn(NULL, "%zu of %zu points have too few others around them to say what they "
		    "hide, and no colour: a cloud of even density has them", of[LONE],
		    all->points);
	if (run->verbose)
		note(NULL, "%zu of %zu points have a colour; " FATES_TEXT, of[COLOURED],
		    all->points, of[BEHIND], of[OUTSIDE], of[LONE], of[GRAZED], of[HIDDEN],
		    of[BLANK]);
	return 0;
}

static const struct body body = { .frame = take_frame, .end = end,
	.no_passes = "edges of the depth buffer's triangles are exact in 128 bits" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	if (!parameters->calib)
		return fail_usage("--calib", "is needed: the camera that took the picture");
	if (!parameters->image)
		return fail_usage("--image", "is needed: the picture that colours come from");
	return colour_camera_load(parameters->calib, parameters->camera, &priv->camera);
}

const struct stage stage_texmap = {
	.name = "texmap",
	.summary = "a colour for every point, from another camera's picture",
	.hint = "--calib, --camera",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE | STAGE_UNITS | STAGE_TABLES,
	.init = init,
	.plan = plan,
};
