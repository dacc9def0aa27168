/*
 * Sets up splatxyz by the first frames of all views: where the grid lies, which channels
 * are merged, where the cameras stand, and whether a calibration's cameras see the points.
 */
#include "splatxyz.h"

#include <float.h>
#include <stdio.h>

#include "base/linear.h"
#include "base/numbers.h"
#include "optics/number_file.h"
#include "optics/stereo.h"
#include "points/ordered_view.h"

/* ---- the grid ---- */

#define FIELD_TRIM 0.005	/* of the points, left out on each side */
#define FIELD_MARGIN 0.05	/* of their extent, on each side */

/* An orthographic grid: choose_field() or the caller sets corner_mm and pixel_mm. */
void
splat_grid_ortho(struct splat_grid *grid, const struct pinhole *projector, size_t w, size_t h)
{
	*grid = (struct splat_grid){ .w = w, .h = h, .ortho = true, .projector = *projector,
		.bin = { 1, 1 } };
	memcpy(grid->pose.R, projector->R, sizeof(grid->pose.R));
	memcpy(grid->pose.T, projector->T, sizeof(grid->pose.T));
}

/* The projector's picture of size_px, on w x h cells. -1 after fail(). splat_grid_free() it. */
int
splat_grid_picture(struct splat_grid *grid, const struct pinhole *projector,
    const double size_px[2], size_t w, size_t h)
{
	size_t n, bytes;

	splat_grid_ortho(grid, projector, w, h);
	grid->ortho = false;
	grid->bin[0] = size_px[0] / (double)w;
	grid->bin[1] = size_px[1] / (double)h;
	if (size_multiply(w, h, &n) < 0 || size_multiply(n, sizeof(float), &bytes) < 0)
		return -1;
	for (size_t k = 0; k < 2; k++)
		grid->ray[k] = must_alloc(1, bytes);
	for (size_t i = 0; i < n; i++) {
		double uv[2] = { ((double)(i % w) + 0.5) * grid->bin[0] - 0.5,
			((double)(i / w) + 0.5) * grid->bin[1] - 0.5 };
		double xy[2];

		if (!pinhole_undistort(projector, uv, xy))
			xy[0] = xy[1] = NAN;
		grid->widest = fmax(grid->widest, xy[0] * xy[0] + xy[1] * xy[1]);
		for (size_t k = 0; k < 2; k++)
			grid->ray[k][i] = (float)xy[k];
	}
	return 0;
}

void
splat_grid_free(struct splat_grid *grid)
{
	for (size_t k = 0; k < 2; k++) {
		free(grid->ray[k]);
		grid->ray[k] = NULL;
	}
}

double
splat_grid_pixel(const struct splat_grid *grid, double depth)
{
	const double *K = grid->projector.K;

	return grid->ortho ? grid->pixel_mm :
	    depth * fmax(grid->bin[0] / K[0], grid->bin[1] / K[4]);
}

/*
 * Chooses corner_mm and pixel_mm. pixel_mm NaN: such that the n points (columns u, rows v in mm,
 * which it sorts) fit, without the outermost and with a margin. center_mm NaN: the middle of those.
 * -1 after fail() where all lie in one place.
 */
static int
choose_field(struct splat_grid *grid, float *u, float *v, size_t n, double pixel_mm,
    const double center_mm[2])
{
	float *const place[2] = { u, v };
	const double cells[2] = { (double)grid->w, (double)grid->h };
	double pixel = 0, middle[2], low, high;
	size_t trim = (size_t)(FIELD_TRIM * (double)n);

	for (size_t k = 0; k < 2; k++) {
		qsort(place[k], n, sizeof(float), numbers_compare);
		low = n ? (double)place[k][trim] : NAN;
		high = n ? (double)place[k][n - 1 - trim] : NAN;
		middle[k] = isnan(center_mm[k]) ? (low + high) / 2 : center_mm[k];
		/* the farther side counts where the middle is given */
		pixel = fmax(pixel, (2 + 4 * FIELD_MARGIN) *
		    fmax(high - middle[k], middle[k] - low) / cells[k]);
	}
	grid->pixel_mm = isnan(pixel_mm) ? pixel : pixel_mm;
	if (!(grid->pixel_mm > FLT_MIN) || !isfinite(grid->pixel_mm) ||
	    !(fabs(middle[0]) + fabs(middle[1]) < FLT_MAX))
		return fail(NULL, "the points lie in one place, or there are none: "
		    "say --pixel and --center");
	for (size_t k = 0; k < 2; k++)
		grid->corner_mm[k] = middle[k] - (cells[k] - 1) / 2 * grid->pixel_mm;
	return 0;
}

/* ---- where the grid lies, and how deep the points are ---- */

#define FIELD_POINTS 40000	/* sampled in a view, at most, plus one row */

struct field_sample {
	float *place[4];		/* u v d, in mm on an orthographic grid; and to the next */
	size_t n, unlit;
};

/* Every so many rows are sampled, from half as many on. */
static size_t
sampled_step(const struct splat_source *source)
{
	return source->w * source->h / FIELD_POINTS + 1;
}

/* Does a point of the grid's frame lie outside the projector's picture? */
static bool
is_unlit(const struct pinhole *projector, const double picture_px[2], const double X[3])
{
	struct pinhole here = *projector;
	double uv[2];

	for (size_t i = 0; i < 9; i++)
		here.R[i] = i % 4 == 0;
	here.T[0] = here.T[1] = here.T[2] = 0;
	return picture_px[0] > 0 && (!pinhole_project(&here, X, uv) || !(uv[0] >= -1 &&
	    uv[1] >= -1 && uv[0] <= picture_px[0] && uv[1] <= picture_px[1]));
}

/* Adds all points of every step-th row. */
static void
add_view(const struct splat_grid *grid, const struct splat_source *source,
    const double picture_px[2], struct field_sample *sample)
{
	size_t step = sampled_step(source);

	for (size_t y = step / 2 < source->h ? step / 2 : 0; y < source->h; y += step) {
		const float *x[3];
		float *to[3];
		size_t n = 0;

		for (size_t k = 0; k < 3; k++) {
			x[k] = frame_floats(source->frame, source->xyz[k], y);
			to[k] = sample->place[k] + sample->n;
		}
		splatxyz_rows()->grid_project(grid, &source->pose, x[0], x[1], x[2], source->w,
		    to[0], to[1], to[2]);
		for (size_t i = 0; i < source->w; i++) {
			if (!isfinite(to[0][i]) || !isfinite(to[1][i]) || !isfinite(to[2][i]))
				continue;
			for (size_t k = 0; k < 3; k++)
				to[k][n] = to[k][i];
			sample->place[3][sample->n + n] = n ? fmaxf(fabsf(to[0][n] - to[0][n - 1]),
			    fabsf(to[1][n] - to[1][n - 1])) : 0;
			if (grid->ortho)
				sample->unlit += is_unlit(&grid->projector, picture_px,
				    (double[3]){ (double)to[0][n], (double)to[1][n],
				    (double)to[2][n] });
			n++;
		}
		sample->n += n;
	}
}

/* Columns u and rows v are in mm, and sorted. */
static void
find_covered(const struct splat_grid *grid, const struct field_sample *sample,
    struct splat_field *field)
{
	const double cells[2] = { (double)grid->w, (double)grid->h };
	size_t trim = sample->n / 200;

	for (size_t k = 0; k < 2; k++) {
		double extent = (double)sample->place[k][sample->n - 1 - trim] -
		    (double)sample->place[k][trim];

		field->covered[k] = extent / grid->pixel_mm;
		field->fitting_mm = fmax(field->fitting_mm, 1.1 * extent / cells[k]);
	}
}

/* Chooses an orthographic grid's field (choose_field()) by the points of all views. picture_px:
 * the projector's size; 0: not known, and unlit is 0. -1 after fail(). */
int
splat_field_choose(struct splat_grid *grid, const struct splat_source *source, size_t views,
    double pixel_mm, const double center_mm[2], const double picture_px[2],
    struct splat_field *field)
{
	struct splat_grid in_mm = *grid;
	struct field_sample sample = { .n = 0 };
	size_t room = 0;
	int status = 0;

	for (size_t k = 0; k < views; k++)
		room += source[k].w * (source[k].h / sampled_step(&source[k]) + 1);
	sample.place[0] = must_alloc(room + 1, 4 * sizeof(float));
	for (size_t k = 1; k < 4; k++)
		sample.place[k] = sample.place[k - 1] + room;
	if (grid->ortho) {
		in_mm.pixel_mm = 1;
		in_mm.corner_mm[0] = in_mm.corner_mm[1] = 0;
	}
	for (size_t k = 0; k < views; k++)
		add_view(&in_mm, &source[k], picture_px, &sample);
	if (grid->ortho)
		status = choose_field(grid, sample.place[0], sample.place[1], sample.n,
		    pixel_mm, center_mm);
	for (size_t k = 2; k < 4 && sample.n; k++)
		qsort(sample.place[k], sample.n, sizeof(float), numbers_compare);
	*field = (struct splat_field){ .depth = 1 };
	if (sample.n)
		*field = (struct splat_field){ .depth = (double)sample.place[2][sample.n / 2],
			.apart = (double)sample.place[3][sample.n / 2] /
			    (grid->ortho ? grid->pixel_mm : 1),
			.unlit = (double)sample.unlit / (double)sample.n };
	if (status == 0 && grid->ortho && sample.n)
		find_covered(grid, &sample, field);
	free(sample.place[0]);
	return status;
}

/* ---- where the camera of an ordered frame of points stands ---- */

#define EYE_POINTS 2500		/* that the camera is fitted to, about */
#define EYE_RMS_MOST_PX 1.0	/* more: no pinhole sees the points */

/* The point that a 3x4 matrix takes to 0: Cramer's rule. */
static void
find_center(const double P[12], double center[3])
{
	double m[9], of[4];		/* determinants: with column k exchanged, and without */

	for (size_t k = 0; k < 4; k++) {
		for (size_t i = 0; i < 9; i++)
			m[i] = i % 3 == k ? -P[i / 3 * 4 + 3] : P[i / 3 * 4 + i % 3];
		of[k] = matrix3_determinant(m);
	}
	for (size_t k = 0; k < 3; k++)
		center[k] = of[k] / of[3];
}

/* Up to EYE_POINTS of its points, X Y Z and column and row each; the caller frees them in either
 * case. */
static void
splat_eye_sample(const struct splat_source *source, double (**samples)[5], size_t *n)
{
	size_t step = (size_t)sqrt((double)source->w * (double)source->h / EYE_POINTS) + 1;
	size_t room = (source->w / step + 1) * (source->h / step + 1);
	double (*sample)[5] = must_alloc(room, sizeof(*sample));

	*n = 0;
	*samples = sample;
	for (size_t y = 0; y < source->h; y += step)
		for (size_t x = 0; x < source->w; x += step) {
			for (size_t k = 0; k < 3; k++)
				sample[*n][k] = (double)((const float *)frame_floats(source->frame,
				    source->xyz[k], y))[x];
			sample[*n][3] = (double)x;
			sample[*n][4] = (double)y;
			*n += isfinite(sample[*n][0] + sample[*n][1] + sample[*n][2]);
		}
}

/* The camera's centre in the frame of the points; NaN where no pinhole sees them in this order. */
void
splat_eye_find(const struct splat_source *source, double eye[3])
{
	double (*sample)[5];
	struct ordered_camera camera;
	size_t n;

	splat_eye_sample(source, &sample, &n);
	ordered_camera_fit((const double (*)[5])sample, n, &camera);
	free(sample);
	find_center(camera.P, eye);
	if (!(camera.rms_px <= EYE_RMS_MOST_PX) || !isfinite(eye[0] + eye[1] + eye[2]))
		eye[0] = eye[1] = eye[2] = NAN;
}

/* ---- which channels are merged, and the weight ---- */

/* Channels of which means are useful; normals come first. */
static const char *const merged[SPLAT_ATTRIBUTES] = { "nx", "ny", "nz", "texture", "modulation",
	"gray", "image", "r", "g", "b", "a" };

static size_t
count_having(struct frame *const *view, size_t views, const char *channel)
{
	size_t n = 0;

	for (size_t k = 0; k < views; k++)
		n += head_channel(&view[k]->head, channel) != NO_CHANNEL;
	return n;
}

static bool
all_have(struct frame *const *view, size_t views, const char *channel)
{
	return count_having(view, views, channel) == views;
}

static int
check_view(const struct frame_head *head, size_t view, const char *unit)
{
	const char *own = meta_get(&head->meta, "length_unit");
	char text[300];

	for (size_t k = 0; k < 3; k++)
		if (head_channel(head, (char[2]){ "xyz"[k] }) == NO_CHANNEL)
			return fail(NULL, "view %zu has no channel %c, but %s", view, "xyz"[k],
			    head_channels_hint(head, text));
	if (head_is_table(head))
		return fail(NULL, "view %zu is a table: --splat wants points that have an image's "
		    "shape", view);
	if (own && strcmp(own, unit))
		return fail(NULL, "view %zu is in %s, the calibration in %s", view, own, unit);
	return 0;
}

/* The channel that weighs; NULL: all points have the same weight. */
static int
choose_weight(struct frame *const *view, size_t views, int weight, const char **name)
{
	static const char *const names[] = { "sigma", "modulation" };

	*name = NULL;
	if (weight == SPLAT_ALIKE)
		return 0;
	for (int i = 0; i < 2; i++) {
		if (weight < 0 ? !all_have(view, views, names[i]) : weight != i)
			continue;
		*name = names[i];
		break;
	}
	for (size_t k = 0; k < views && *name; k++)
		if (head_channel(&view[k]->head, *name) == NO_CHANNEL)
			return fail("--weight", "view %zu has no channel %s", k + 1, *name);
	return 0;
}

/* Warns where some views have a channel to weigh by, and others have none. */
static void
warn_weight(struct frame *const *view, size_t views, int weight, const char *name)
{
	const char *better = weight >= 0 || (name && !strcmp(name, "sigma")) ? NULL :
	    count_having(view, views, "sigma") ? "sigma" :
	    !name && count_having(view, views, "modulation") ? "modulation" : NULL;

	if (better)
		warn(NULL, "some views have a channel %s and some have none: points are weighted "
		    "by %s", better, name ? name : "nothing");
}

static void
append_name(struct splat_channels *channels, const char *name)
{
	size_t n = strlen(channels->names);

	snprintf(channels->names + n, sizeof(channels->names) - n, "%s%s", n ? " " : "", name);
}

static void
find_attributes(struct frame *const *view, size_t views, struct splat_channels *channels,
    struct splat_source *source)
{
	bool normals = all_have(view, views, "nx") && all_have(view, views, "ny") &&
	    all_have(view, views, "nz");

	for (size_t i = normals ? 0 : 3; i < SPLAT_ATTRIBUTES && merged[i]; i++) {
		if (!all_have(view, views, merged[i]))
			continue;
		append_name(channels, merged[i]);
		for (size_t k = 0; k < views; k++)
			source[k].attribute[source[k].attributes++] =
			    head_channel(&view[k]->head, merged[i]);
	}
	for (size_t k = 0; k < views; k++)
		source[k].normal = normals ? 0 : NO_CHANNEL;
}

/*
 * Finds in one frame of each view x y z, the attributes that all have, and the weight (enum
 * splat_weight, -1: the first that all have). unit: of the calibration. Sets all of the sources but
 * pose and eye. -1 after fail().
 */
int
splat_channels_find(struct frame *const *view, size_t views, int weight, const char *unit,
    struct splat_channels *channels, struct splat_source *source)
{
	const char *name;

	*channels = (struct splat_channels){ .names = "x y z" };
	for (size_t k = 0; k < views; k++)
		if (check_view(&view[k]->head, k + 1, unit) < 0)
			return -1;
	if (choose_weight(view, views, weight, &name) < 0)
		return -1;
	warn_weight(view, views, weight, name);
	channels->sigma = all_have(view, views, "sigma");
	if (channels->sigma)
		append_name(channels, "sigma");
	for (size_t k = 0; k < views; k++) {
		const struct frame_head *head = &view[k]->head;

		source[k] = (struct splat_source){ .frame = view[k], .w = head->w, .h = head->h,
			.weight = name ? head_channel(head, name) : NO_CHANNEL,
			.smoothed = meta_get(&head->meta, "sigma_window_px"),
			.sigma = channels->sigma ? head_channel(head, "sigma") : NO_CHANNEL };
		head_xyz(head, source[k].xyz);
	}
	find_attributes(view, views, channels, source);
	return 0;
}

/*
 * ---- cameras ----
 *
 * Does a camera of the calibration see the points of a view where they are in their frame?
 */

#define CAMERA_OFF_PX 3.0	/* median, of the frame's pixels, that calibrations agree within */
#define CAMERA_POINTS_LEAST 1000

static void
add_camera(struct splat_cameras *cameras, const struct pinhole *pinhole, const double origin_px[2],
    const char *name, size_t length)
{
	struct splat_camera *camera = &cameras->v[cameras->n];

	if (cameras->n == SPLAT_CAMERAS_MOST)
		return;
	cameras->n++;
	camera->pinhole = *pinhole;
	memcpy(camera->origin_px, origin_px, sizeof(camera->origin_px));
	snprintf(camera->name, sizeof(camera->name), "%.*s", (int)length, name);
}

/* The entries devices.NAME of kind camera. */
static int
load_devices(const char *path, const char *frame, const struct number_file *numbers,
    struct splat_cameras *cameras)
{
	const char *own;
	size_t n;

	for (size_t i = 0; (own = calib_camera(numbers, i, &n)); i++) {
		struct calib calib;
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)n, own);
		if (calib_load_device(path, name, frame, &calib) < 0)
			return -1;
		add_camera(cameras, &calib.camera, calib.origin_px, name, n);
	}
	return 0;
}

/* The two cameras of a pair, or the only one. */
static int
load_named(const char *path, const struct number_file *numbers, struct splat_cameras *cameras)
{
	struct stereo stereo;
	struct calib calib;

	if (calib_has(numbers, "K1|M1|cameraMatrix1") && calib_has(numbers,
	    "projector_K|M4")) {
		if (stereo_load(path, &stereo) < 0)
			return -1;
		for (int side = 0; side < 2; side++)
			add_camera(cameras, &stereo.camera[side], (double[2]){ 0, 0 },
			    side ? "right" : "left", 5);
		return 0;
	}
	if (calib_load(path, &calib) < 0)
		return -1;
	add_camera(cameras, &calib.camera, calib.origin_px, "camera", 6);
	return 0;
}

/* frame: the device whose coordinates the points have; NULL: the file's own world. -1 after
 * fail(). */
int
splat_cameras_load(const char *path, const char *frame, struct splat_cameras *cameras)
{
	struct number_file numbers;
	int status;

	*cameras = (struct splat_cameras){ .path = path, .frame = frame };
	if (number_file_load(path, &numbers) < 0)
		return -1;
	status = load_devices(path, frame, &numbers, cameras);
	if (status == 0 && cameras->n == 0)
		status = load_named(path, &numbers, cameras);
	number_file_free(&numbers);
	return status;
}

/* The median distance, in pixels of the frame, of points from where a camera sees them. */
static int
find_off(const struct splat_camera *camera, const struct run *run, const struct frame_head *head,
    const double (*sample)[5], size_t n, float *work, double *off)
{
	double origin[2], bin[2];

	if (sensor_crop_origin(run, &(struct numbers){ 0 }, head, camera->origin_px, origin,
	    bin) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		double uv[2], square = 0;

		work[i] = INFINITY;
		if (!pinhole_project(&camera->pinhole, sample[i], uv))
			continue;
		for (size_t k = 0; k < 2; k++)
			square += pow((uv[k] - origin[k] + 0.5) / bin[k] - 0.5 - sample[i][3 + k],
			    2);
		work[i] = (float)sqrt(square);
	}
	*off = numbers_median(work, n);
	return 0;
}

static int
find_best(const struct splat_cameras *cameras, const struct run *run,
    const struct splat_source *source, const double (*sample)[5], size_t n, size_t *best,
    double *least)
{
	float *work = must_alloc(n + 1, sizeof(*work));
	int status = 0;

	*least = INFINITY;
	for (size_t i = 0; i < cameras->n && status == 0; i++) {
		double off = INFINITY;

		status = find_off(&cameras->v[i], run, &source->frame->head, sample, n, work, &off);
		if (off < *least) {
			*least = off;
			*best = i;
		}
	}
	free(work);
	return status;
}

/*
 * Warns where no camera sees the points: in coordinates of another device they are not on the rays
 * of their pixels; and where one camera sees two views. Frames that no pinhole sees in this order,
 * rectified ones and those of fewer than CAMERA_POINTS_LEAST points tell nothing. -1 after fail().
 */
int
splat_cameras_check(struct splat_cameras *cameras, const struct run *run,
    const struct splat_source *source, size_t view)
{
	double eye[3], off = INFINITY, (*sample)[5];
	size_t n, best = 0;
	int status;

	if (cameras->n == 0 || source->w * source->h < CAMERA_POINTS_LEAST ||
	    meta_get(&source->frame->head.meta, "rect_f_px"))
		return 0;
	splat_eye_find(source, eye);
	if (isnan(eye[0]))
		return 0;
	splat_eye_sample(source, &sample, &n);
	status = find_best(cameras, run, source, (const double (*)[5])sample, n, &best, &off);
	free(sample);
	if (status < 0)
		return status;
	if (off <= CAMERA_OFF_PX) {
		if (cameras->v[best].view)
			warn(cameras->path, "views %zu and %zu are both where its camera %s sees "
			    "them: is one in a frame of its own?", cameras->v[best].view, view,
			    cameras->v[best].name);
		cameras->v[best].view = view;
	} else if (isinf(off))
		warn(cameras->path, "none of its cameras has the points of view %zu before it: are "
		    "they in the frame of %s?", view, cameras->frame ? cameras->frame :
		    "this calibration");
	else
		warn(cameras->path, "none of its cameras sees the points of view %zu where they "
		    "are in the frame, %s %.3g px off: are they in the frame of %s?", view,
		    cameras->v[best].name, off, cameras->frame ? cameras->frame :
		    "this calibration");
	return 0;
}
