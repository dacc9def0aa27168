/*
 * The simulated scene of a run: reads its options, places scene, board or stereo pair before the
 * rig, and looks at every sample for what the projector or the laser lights there.
 */
#include "fringesim.h"

#include "frame/samples.h"
#include "io/source.h"
#include "optics/camera_model.h"

/* ---- the scene ---- */

/* SCENE_FILE from the channel `depth`, or the only one, of an image. -1 after fail(). */
static int
scene_load(struct scene *scene, const char *path)
{
	struct frame *all, *floats;
	size_t c;
	int status;

	if (source_load(path, &all) < 0)
		return -1;
	c = all->head.c == 1 ? 0 : head_channel(&all->head, "depth");
	if (c == NO_CHANNEL) {
		frame_free(all);
		return fail(path, "has several channels and none is named depth");
	}
	status = frame_to_float(all, &floats);
	frame_free(all);
	if (status < 0)
		return -1;
	status = frame_select(floats, &c, 1, &scene->file);
	frame_free(floats);
	return status;
}

/*
 * Completes a scene of which kind, width, length, rise and radius are set; NaN for rise or radius
 * is the standard one: radius 0.3 width; rise 0 (plane), 0.2 width (tilt, steps), radius (sphere),
 * 0.4 width (relief), 0.02 width (cylinder). -1 after fail().
 */
static int
scene_init(struct scene *scene)
{
	/* in widths of the field, by kind */
	static const double standard_rise[] = { 0, 0.2, 0.2, 0.3, 0.4, 0, 0, 0.02 };

	if (isnan(scene->radius))
		scene->radius = 0.3 * scene->width;
	if (isnan(scene->rise))
		scene->rise = scene->kind == SCENE_SPHERE ? scene->radius :
		    standard_rise[scene->kind] * scene->width;
	if (scene->kind == SCENE_SPHERE && !(scene->rise > 0 && scene->rise <= scene->radius))
		return fail_usage("--height", "a cap is at most its radius %g high, not %g",
		    scene->radius, scene->rise);
	if (scene->kind == SCENE_CYLINDER && !(fabs(scene->rise) < 0.5 * scene->radius))
		return fail_usage("--height", "waves on a cylinder of radius %g are less than half "
		    "of that, not %g", scene->radius, scene->rise);
	fringesim_rows()->scene_bounds(scene);
	return 0;
}

/* ---- the board ---- */

/* A rotation matrix from a rotation vector in degrees: Rodrigues' formula. */
static void
rotate(const double pose[3], double R[9])
{
	double r[3], angle, c, s;

	for (int k = 0; k < 3; k++)
		r[k] = pose[k] * M_PI / 180;
	angle = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
	c = cos(angle);
	s = angle > 0 ? sin(angle) / angle : 1;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			R[3 * i + k] = (i == k ? c : 0) +
			    (angle > 0 ? (1 - c) / (angle * angle) * r[i] * r[k] : 0);
	R[1] -= s * r[2];
	R[2] += s * r[1];
	R[3] += s * r[2];
	R[5] -= s * r[0];
	R[6] -= s * r[1];
	R[7] += s * r[0];
}

/* On which side of the board a point of the camera's frame is: negative before it. */
static double
side(const struct board_scene *scene, const double x[3])
{
	double sum = 0;

	for (int k = 0; k < 3; k++)
		sum += scene->R[3 * k + 2] * (x[k] - scene->T[k]);
	return sum;
}

/* The board's sides, and the radius of its circles. */
static void
board_measure(struct board_scene *scene)
{
	const struct board *board = &scene->board;
	double around = board->kind == BOARD_CHESS ? 2 : 1.25, middle[2];

	board_middle(board, middle);
	for (int k = 0; k < 2; k++)
		scene->half[k] = (middle[k] + around) * board->spacing_mm;
	scene->radius = board->spacing_mm * (board->kind == BOARD_ACIRCLES ? 0.25 * sqrt(2) : 0.25);
}

/*
 * pose: a rotation vector in degrees, and where its middle is in the camera's frame, mm. -1 after
 * fail_usage() where the board does not face the camera.
 */
static int
board_scene_init(struct board_scene *scene, const struct board *board, const double pose[6],
    const struct calib *calib)
{
	double center[3], x[3], zero[3] = { 0 };

	scene->board = *board;
	rotate(pose, scene->R);
	memcpy(scene->T, pose + 3, sizeof(scene->T));
	board_measure(scene);
	if (!(scene->T[2] > 0))
		return fail_usage("--board-pose", "the board's middle is behind the camera: "
		    "z is %g mm", scene->T[2]);
	if (!(side(scene, zero) < 0))
		return fail_usage("--board-pose", "the board turns its back to the camera");
	pinhole_center(&calib->projector, center);
	pinhole_from_world(&calib->camera, center, x);
	scene->lit_from_behind = !(side(scene, x) < 0);
	return 0;
}

/* The distance along the camera's axis where the projector's axis comes nearest; NaN if nowhere. */
static double
rig_axes_meet(const struct calib *calib)
{
	double axis[3] = { 0, 0, 1 }, zero[3] = { 0 };
	double center[3], p[3], q[3], d[3], base[3], away, along;

	pinhole_center(&calib->projector, center);
	pinhole_from_world(&calib->camera, center, p);
	matrix3_apply_transposed(calib->projector.R, axis, center);
	pinhole_from_world(&calib->camera, center, q);
	pinhole_from_world(&calib->camera, zero, base);
	for (int i = 0; i < 3; i++)
		d[i] = q[i] - base[i];
	/* nearest points of (0, 0, s) and p + t d; d is a unit vector */
	away = d[2];
	along = p[2] - away * vector3_dot(p, d);
	along /= 1 - away * away;
	return 1 - away * away > 1e-8 && along > 0 ? along : NAN;
}

/* ---- a stereo pair: the scene stands before the left camera ---- */

#define PROJECTOR_MARGIN 1.25	/* an assumed projector's field, in fields of the left camera */

/* Adds the direction of the middle of a camera's picture, in the world. */
static void
add_middle(const struct pinhole *camera, double sum[3])
{
	double size[2], ray[3] = { 0, 0, 1 };

	pinhole_picture_size(camera, size);
	if (!pinhole_undistort(camera, (double[2]){ (size[0] - 1) / 2, (size[1] - 1) / 2 }, ray))
		ray[0] = ray[1] = 0;
	vector3_normalise(ray);
	for (size_t i = 0; i < 3; i++)
		sum[i] += camera->R[i] * ray[0] + camera->R[3 + i] * ray[1] +
		    camera->R[6 + i] * ray[2];
}

/* Midway between the cameras, looking midway between their pictures' middles, its columns across
 * the baseline; it lights more than the left camera sees. */
static void
assume_projector(const struct stereo *stereo, const double size_px[2], struct pinhole *projector)
{
	const struct pinhole *left = &stereo->camera[STEREO_LEFT];
	double center[3], x[3], z[3] = { 0, 0, 0 }, along, size[2];
	double *R = projector->R;

	pinhole_center(&stereo->camera[STEREO_RIGHT], center);
	add_middle(left, z);
	add_middle(&stereo->camera[STEREO_RIGHT], z);
	vector3_normalise(z);
	along = vector3_dot(center, z);
	for (size_t i = 0; i < 3; i++)
		x[i] = (center[i] - along * z[i]) * (center[0] < 0 ? -1 : 1);
	vector3_normalise(x);
	memcpy(R, x, sizeof(x));
	vector3_cross(z, x, R + 3);
	memcpy(R + 6, z, sizeof(z));
	for (size_t i = 0; i < 3; i++)
		projector->T[i] = -vector3_dot(R + 3 * i, center) / 2;
	pinhole_picture_size(left, size);
	projector->K[0] = projector->K[4] = fmin(size_px[0] / size[0] * left->K[0],
	    size_px[1] / size[1] * left->K[4]) / PROJECTOR_MARGIN;
	projector->K[2] = (size_px[0] - 1) / 2;
	projector->K[5] = (size_px[1] - 1) / 2;
	projector->K[8] = 1;
	projector->w = size_px[0];
	projector->h = size_px[1];
	pinhole_complete(projector);
}

/* The size of the view's camera where the file has it under its name. */
static int
find_size(const char *path, const char *view, struct pinhole *camera)
{
	struct number_file numbers;
	struct pinhole device = { 0 };
	int status = 0;

	if (number_file_load(path, &numbers) < 0)
		return -1;
	if (calib_device_entry(&numbers, view, NULL))
		status = calib_get_device(path, &numbers, view, &device);
	number_file_free(&numbers);
	if (device.w > 0 && device.h > 0) {
		camera->w = device.w;
		camera->h = device.h;
	}
	return status;
}

/*
 * Reads a rig and sets the view's camera and the projector, whose world is the left camera's frame.
 * projector_px: its size where one is to be assumed. view: left, right or a name
 * (stereo_find_side). -1 after fail().
 */
static int
pair_open(struct pair *pair, const char *path, const char *view, const double projector_px[2],
    struct calib *calib)
{
	struct stereo *stereo = &pair->stereo;

	if (stereo_load(path, stereo) < 0)
		return -1;
	if (stereo_find_side(path, view, &pair->side) < 0)
		return -1;
	pair->given = true;
	if (!stereo->has_projector)
		assume_projector(stereo, projector_px, &stereo->projector);
	*calib = (struct calib){ .camera = stereo->camera[pair->side],
		.projector = stereo->projector, .unit = "mm" };
	return find_size(path, view, &calib->camera);
}

/* ---- options that do not go together ---- */

#define MIN_BLUR_PX 0.5

/* Options that do not go with a board, or only with one. -1 after fail_usage(). */
static int
check_board(const struct simulated_scene_options *options, enum scene_kind kind)
{
	if (options->blur > 0 && options->blur < MIN_BLUR_PX)
		return fail_usage("--blur", "must be 0 or at least %g px, not %g", MIN_BLUR_PX,
		    options->blur);
	if (kind != SCENE_BOARD)
		return options->board || options->board_pose.n ||
		    options->board_kind != BOARD_CHESS ? fail_usage(options->board ? "--board" :
			options->board_pose.n ? "--board-pose" : "--board-kind",
			"is only for --scene board") : 0;
	if (!options->calib)
		return fail_usage("--scene", "board needs the camera of --calib");
	if (!options->board)
		return fail_usage("--scene", "board needs --board WxH,MM");
	if (!isnan(options->height))
		return fail_usage("--height", "is not for --scene board: see --board-pose");
	if (!isnan(options->field))
		return fail_usage("--field", "is not for --scene board: see --board");
	if (options->shadow)
		return fail_usage("--shadow", "is not for --scene board: a plane casts none on "
		    "itself");
	if (options->board_pose.n && !isnan(options->distance))
		return fail_usage("--distance", "--board-pose says how far away the board is");
	return 0;
}

static int
check_scene(const struct simulated_scene_options *options, enum scene_kind kind)
{
	if (kind == SCENE_FILE && !options->depth)
		return fail_usage("--scene", "file needs --depth");
	if (kind != SCENE_FILE && options->depth)
		return fail_usage("--depth", "is only for --scene file");
	if (kind != SCENE_SPHERE && kind != SCENE_CYLINDER && !isnan(options->radius))
		return fail_usage("--radius", "is only for --scene sphere and cylinder");
	if (kind == SCENE_CYLINDER && !options->calib)
		return fail_usage("--scene", "cylinder stands before the camera of --calib");
	if (kind == SCENE_FILE && !isnan(options->height))
		return fail_usage("--height", "the heights of a depth image are taken as they are");
	return check_board(options, kind);
}

/* NULL or the option of the other geometry that was given. */
static const char *
foreign_option(const struct simulated_scene_options *options)
{
	if (options->calib)
		return options->ref_plane.n ? "--ref-plane" : !isnan(options->c) ? "--c" :
		    !isnan(options->pixel) ? "--pixel" : NULL;
	return options->origin.n ? "--origin" : !isnan(options->distance) ? "--distance" :
	    options->view ? "--view" : options->camera ? "--camera" : NULL;
}

static int
check_rig(const struct simulated_scene_options *options)
{
	const char *foreign = foreign_option(options);

	if (foreign && options->calib)
		return fail_usage(foreign, "has no meaning with --calib");
	if (foreign)
		return fail_usage(foreign, "is only for --calib");
	if (options->c == 0)
		return fail_usage("--c", "must not be 0");
	return 0;
}

/* ---- setting up ---- */

/* Does the picture lie on the calibration's camera, and does --origin say where, if on a part? */
static int
check_crop(const struct rig *rig, const struct pinhole *camera,
    const struct simulated_scene_options *options)
{
	const double *origin = rig->origin_px, w = (double)rig->w, h = (double)rig->h;

	if (camera->w > 0 && (origin[0] < -0.5 || origin[1] < -0.5 ||
	    origin[0] + w > camera->w + 0.5 || origin[1] + h > camera->h + 0.5))
		return fail_usage(options->size.w ? "--size" : "--origin", "%zux%zu px from %g,%g "
		    "on do not lie on the calibration's camera of %gx%g px", rig->w, rig->h,
		    origin[0], origin[1], camera->w, camera->h);
	if (options->origin.n)
		return 0;
	if (!(camera->w > 0))
		device_check_resolution(options->calib, camera, DEVICE_CAMERA, "camera", w, h);
	else if (w < camera->w || h < camera->h)
		warn("--size", "%zux%zu px are the upper left part of the calibration's camera of "
		    "%gx%g px: leave --size out for the whole picture, or say where the part lies, "
		    "by --origin", rig->w, rig->h, camera->w, camera->h);
	return 0;
}

static int
choose_size(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	const struct pinhole *camera = &simulated->calib.camera;
	const struct frame *file = simulated->scene.file;
	struct rig *rig = &simulated->rig;
	double rest[2] = { camera->w - rig->origin_px[0], camera->h - rig->origin_px[1] };

	rig->w = 640;
	rig->h = 480;
	if (rig->calib && camera->w > 0) {
		if (rest[0] < 1 || rest[1] < 1)
			return fail_usage("--origin", "lies outside the %gx%g camera", camera->w,
			    camera->h);
		rig->w = (size_t)rest[0];
		rig->h = (size_t)rest[1];
	} else if (!rig->calib && file) {
		rig->w = file->head.w;
		rig->h = file->head.h;
	}
	if (options->size.w) {
		rig->w = options->size.w;
		rig->h = options->size.h;
	}
	if (rig->calib && check_crop(rig, camera, options) < 0)
		return -1;
	if (!rig->calib && file && (rig->w != file->head.w || rig->h != file->head.h))
		return fail(options->depth, "is %zux%zu, --size is %zux%zu", file->head.w,
		    file->head.h, rig->w, rig->h);
	return 0;
}

static void
choose_projector(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	const struct pinhole *projector = &simulated->calib.projector;
	struct rig *rig = &simulated->rig;

	rig->projector_px[0] = 1920;
	rig->projector_px[1] = 1080;
	if (rig->calib && projector->w > 0) {
		rig->projector_px[0] = projector->w;
		rig->projector_px[1] = projector->h;
	}
	simulated->projector_given = rig->calib || options->projector.w;
	if (options->projector.w) {
		if (rig->calib && projector->w > 0 &&
		    ((double)options->projector.w != projector->w ||
		    (double)options->projector.h != projector->h))
			warn("--projector", "says %zux%zu px, and the calibration's projector has "
			    "%gx%g px: leave it out", options->projector.w, options->projector.h,
			    projector->w, projector->h);
		rig->projector_px[0] = (double)options->projector.w;
		rig->projector_px[1] = (double)options->projector.h;
	}
}

static int
set_ortho(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	struct rig *rig = &simulated->rig;
	struct scene *scene = &simulated->scene;
	double w = (double)rig->w, h = (double)rig->h, move[2];

	rig->c = isnan(options->c) ? 5 : options->c;
	rig->pixel = !isnan(options->pixel) ? options->pixel :
	    (isnan(options->field) ? 100 : options->field) / w;
	scene->width = isnan(options->field) ? rig->pixel * w : options->field;
	scene->length = scene->width * h / w;
	for (int k = 0; k < 2; k++)
		rig->ref_plane[k][1 + k] = TWO_PI / rig->period_px;
	if (options->ref_plane.n)
		memcpy(rig->ref_plane[rig->used[0] ? 0 : 1], options->ref_plane.v,
		    sizeof(rig->ref_plane[0]));
	fringesim_rows()->light_direction(rig, move);
	if (rig->shadow && !(isfinite(move[0]) && isfinite(move[1])))
		return fail_usage("--shadow", "needs a --ref-plane that is not level");
	return 0;
}

/* The field is what the whole camera sees at the distance, so that a crop shows a part of it. */
static int
set_pinhole(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	const struct pinhole *camera = &simulated->calib.camera;
	struct rig *rig = &simulated->rig;
	struct scene *scene = &simulated->scene;
	double size[2] = { camera->w > 0 ? camera->w : (double)rig->w,
		camera->w > 0 ? camera->h : (double)rig->h };
	double w, h;

	if (simulated->pair.given) {	/* both views are of one scene */
		pinhole_picture_size(&simulated->pair.stereo.camera[STEREO_LEFT], size);
		rig->before = camera = &simulated->pair.stereo.camera[STEREO_LEFT];
		rig->other = &simulated->pair.stereo.camera[!simulated->pair.side];
	}
	w = size[0];
	h = size[1];
	if (!options->laser.on)
		rig->distance = options->board_pose.n ? options->board_pose.v[5] :
		    options->distance;
	if (isnan(rig->distance))
		rig->distance = rig_axes_meet(simulated->pair.given ?
		    &(struct calib){ .camera = simulated->pair.stereo.camera[STEREO_LEFT],
		    .projector = simulated->pair.stereo.camera[STEREO_RIGHT] } : &simulated->calib);
	if (isnan(rig->distance))
		return fail_usage("--calib", "the axes meet nowhere: --distance is needed");
	scene->width = isnan(options->field) ? w / camera->K[0] * rig->distance : options->field;
	scene->length = scene->width * h / w;
	if (scene->file && (scene->file->head.w < 2 || scene->file->head.h < 2))
		return fail(options->depth, "is %zux%zu, rays need at least 2x2 heights",
		    scene->file->head.w, scene->file->head.h);
	return 0;
}

static int
set_paint(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	static const char *const words[] = { "none", "checker", "noise" };
	const struct rig *rig = &simulated->rig;
	struct frame *image;

	simulated->colour = SCENE_COLOURS;
	if (options->paint >= 0) {
		if (strcmp(options->albedo, "none"))
			return fail_usage("--paint", "takes the place of --albedo %.40s: give one",
			    options->albedo);
		if (simulated->scene.kind == SCENE_BOARD)
			return fail_usage("--paint", "is not for --scene board, which is printed");
		simulated->paint = PAINT_COLOURS;
		simulated->colours = (enum scene_paint)options->paint;
		return 0;
	}
	for (int i = 0; i < 3; i++)
		if (!strcmp(options->albedo, words[i])) {
			simulated->paint = (enum paint)i;
			return 0;
		}
	if (options->view)
		return fail_usage("--albedo", "an image is of one view: with --view it is none, "
		    "checker or noise");
	simulated->paint = PAINT_FILE;
	if (source_load(options->albedo, &image) < 0)
		return -1;
	simulated->white = image->head.type == SAMPLE_UCHAR ? 255 :
	    image->head.type == SAMPLE_USHORT ? 65535 : 1;
	if (image->head.c != 1 || image->head.w != rig->w || image->head.h != rig->h) {
		fail(options->albedo, "is %zux%zu with %zu channels, wanted %zux%zu with one",
		    image->head.w, image->head.h, image->head.c, rig->w, rig->h);
		frame_free(image);
		return -1;
	}
	if (frame_to_float(image, &simulated->albedo) < 0)
		simulated->albedo = NULL;
	frame_free(image);
	return simulated->albedo ? 0 : -1;
}

#define USUAL_BOARD_BLUR_PX 0.7
#define SAMPLES_PER_PX 2	/* along each axis where the camera blurs */
#define BLUR_REACH 5		/* in sigma */

static int
place_board(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	double straight[6] = { 0, 0, 0, 0, 0, simulated->rig.distance };
	const double *pose = options->board_pose.n ? options->board_pose.v : straight;
	struct board board;

	if (simulated->paint != PAINT_NONE)
		return fail_usage("--albedo", "is not for --scene board: the board is printed");
	for (int k = 0; k < 6; k++)
		if (!isfinite(pose[k]))
			return fail_usage("--board-pose", "must be six numbers, not %g", pose[k]);
	if (board_parse("--board", options->board, (enum board_kind)options->board_kind,
	    &board) < 0)
		return -1;
	if (board.spacing_mm == 0)
		return fail_usage("--board", "wants the distance of its points too: WxH,MM");
	simulated->rig.board = &simulated->board;
	return board_scene_init(&simulated->board, &board, pose, &simulated->calib);
}

/* Places the board, if there is one, and chooses the samples of a pixel. -1 after fail(). */
static int
set_board(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	bool board = simulated->scene.kind == SCENE_BOARD;
	double blur = !isnan(options->blur) ? options->blur : board ? USUAL_BOARD_BLUR_PX : 0;
	struct rig *rig = &simulated->rig;

	if (board && place_board(simulated, options) < 0)
		return -1;
	if (blur == 0)
		return 0;
	simulated->blur = board ? sqrt(blur * blur - EDGE_BLUR * EDGE_BLUR) : blur;
	rig->samples = SAMPLES_PER_PX;
	rig->margin = (size_t)ceil(BLUR_REACH * simulated->blur);
	return 0;
}

/* Room for what the samples see. */
static int
new_view(struct simulated_scene *simulated)
{
	const struct rig *rig = &simulated->rig;
	size_t n, bytes;

	if (size_multiply(rig->w + 2 * rig->margin, rig->samples, &simulated->columns) < 0 ||
	    size_multiply(rig->h + 2 * rig->margin, rig->samples, &simulated->rows) < 0 ||
	    size_multiply(simulated->columns, simulated->rows, &n) < 0 ||
	    size_multiply(n, sizeof(double), &bytes) < 0)
		return -1;
	for (int k = 0; k < 2; k++)
		if (((rig->used[k] || simulated->both) &&
			!(simulated->column[k] = malloc(bytes))) ||
		    (rig->board && !(simulated->painted[k] = malloc(bytes))))
			return fail_memory();
	simulated->share = malloc(n * sizeof(*simulated->share));
	simulated->visibility = malloc(n);
	return simulated->share && simulated->visibility ? 0 : fail_memory();
}

static int
load_rig(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	double size[2] = { 1920, 1080 };

	if (!options->view)
		return calib_load_device(options->calib, options->camera, NULL, &simulated->calib);
	if (options->camera || options->board)
		return fail_usage("--view", "is for two cameras that see a scene: it goes with "
		    "neither --camera nor --board");
	if (options->projector.w) {
		size[0] = (double)options->projector.w;
		size[1] = (double)options->projector.h;
	}
	return pair_open(&simulated->pair, options->calib, options->view, size,
	    &simulated->calib);
}

int
simulated_scene_open(struct simulated_scene *simulated,
    const struct simulated_scene_options *options, double period_px, uint32_t seed,
    const bool axis[2])
{
	struct scene *scene = &simulated->scene;
	struct rig *rig = &simulated->rig;

	scene->kind = options->scene >= 0 ? (enum scene_kind)options->scene :
	    options->depth ? SCENE_FILE : SCENE_RELIEF;
	scene->rise = options->height;
	scene->radius = options->radius;
	*rig = (struct rig){ .scene = scene, .used = { axis[0], axis[1] },
		.shadow = options->shadow, .period_px = period_px, .samples = 1 };
	if (check_scene(options, scene->kind) < 0 || check_rig(options) < 0)
		return -1;
	if (options->laser.on ? laser_scene_open(simulated, options) < 0 :
	    options->calib && load_rig(simulated, options) < 0)
		return -1;
	simulated->seed = seed;
	rig->calib = options->calib ? &simulated->calib : NULL;
	for (int k = 0; k < 2 && options->origin.n; k++)
		rig->origin_px[k] = options->origin.v[k];
	if (options->depth && scene_load(scene, options->depth) < 0)
		return -1;
	if (choose_size(simulated, options) < 0)
		return -1;
	choose_projector(simulated, options);
	if ((rig->calib ? set_pinhole(simulated, options) : set_ortho(simulated, options)) < 0)
		return -1;
	if (scene_init(scene) < 0 || set_paint(simulated, options) < 0 ||
	    set_board(simulated, options) < 0)
		return -1;
	return new_view(simulated);
}

void
simulated_scene_close(struct simulated_scene *simulated)
{
	frame_free(simulated->scene.file);
	frame_free(simulated->albedo);
	for (int k = 0; k < 2; k++) {
		free(simulated->column[k]);
		free(simulated->painted[k]);
	}
	free(simulated->share);
	free(simulated->visibility);
	*simulated = (struct simulated_scene){ 0 };
}

/* ---- looking ---- */

void
simulated_scene_look(struct simulated_scene *simulated, struct run *run,
    const struct rig_pose *pose, struct frame *truth)
{
	struct look look = { simulated, pose, truth };

	run_for(run, simulated->rows, fringesim_rows()->look_row, &look);
	if (truth && simulated->rig.samples > 1)
		run_for(run, simulated->rig.h, fringesim_rows()->truth_row, &look);
	if (simulated->rig.board)
		run_for(run, simulated->rows, fringesim_rows()->paint_board_row, simulated);
}

void
simulated_scene_describe(const struct simulated_scene *simulated, struct frame_head *head)
{
	const struct rig *rig = &simulated->rig;

	/* unwrap2f would take a size that was only assumed for a field that the fringes fill */
	if (!simulated->projector_given && !meta_get(&head->meta, "gray_cell"))
		meta_remove(&head->meta, "projector_px");
	else
		meta_set_numbers(&head->meta, "projector_px", rig->projector_px, 2);
	if (rig->calib) {
		meta_set_numbers(&head->meta, "origin_px", rig->origin_px, 2);
		return;
	}
	head->spacing[0] = head->spacing[1] = rig->pixel;
	strcpy(head->unit, "mm");
	meta_set_number(&head->meta, "c_mm_per_rad", rig->c);
	meta_set_numbers(&head->meta, "ref_plane_rad", rig->ref_plane[rig->used[0] ? 0 : 1], 3);
}

int
simulated_scene_new_truth(const struct simulated_scene *simulated, struct frame **out)
{
	const struct rig *rig = &simulated->rig;
	struct frame_head head;
	char channels[64];

	head_init(&head, rig->w, rig->h, 1, SAMPLE_FLOAT);
	snprintf(channels, sizeof(channels), "absphase depth x y z mask%s%s",
	    simulated->pair.given ? " disparity" : "",
	    simulated->paint == PAINT_COLOURS ? " r g b" : "");
	head_set_channels(&head, channels);
	meta_set_number(&head.meta, "period_px", rig->period_px);
	meta_set(&head.meta, "axis", rig->used[0] ? "x" : "y");
	meta_set(&head.meta, "length_unit", rig->calib ? simulated->calib.unit : "mm");
	meta_set(&head.meta, "z_axis", rig->calib ? "away" : "towards");
	simulated_scene_describe(simulated, &head);
	return frame_new_if(0, &head, out);
}

static int
add_corners(const struct simulated_scene *simulated, struct table_rows *rows)
{
	const struct board *board = &simulated->board.board;

	for (long j = 0; j < (long)board->h; j++)
		for (long i = 0; i < (long)board->w; i++) {
			struct rig_point point;
			double uv[2];
			float *row;

			if (!fringesim_rows()->board_point(&simulated->rig, i, j, &point, uv))
				continue;
			row = table_rows_add(rows);
			if (!row)
				return -1;
			row[0] = (float)uv[0];
			row[1] = (float)uv[1];
			row[2] = (float)i;
			row[3] = (float)j;
			for (int k = 0; k < 2; k++)
				row[4 + k] = point.lit ? (float)point.column[k] : NAN;
		}
	return 0;
}

int
simulated_scene_corners(const struct simulated_scene *simulated, struct frame **out)
{
	struct table_rows rows = { .c = 6 };
	struct frame_head head;
	int status;

	head_init(&head, 1, 1, 1, SAMPLE_FLOAT);
	head_set_channels(&head, "u v i j projector_u projector_v");
	board_describe(&simulated->board.board, (double)simulated->rig.w,
	    (double)simulated->rig.h, &head.meta);
	meta_set_numbers(&head.meta, "origin_px", simulated->rig.origin_px, 2);
	status = add_corners(simulated, &rows) < 0 ? -1 : table_rows_frame(&rows, &head, out);
	table_rows_free(&rows);
	head_free(&head);
	return status;
}
