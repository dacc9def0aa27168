/*
 * What a calibration takes from each picture: the board's corners and pose, and the laser's line on
 * it. A board's pose comes from the homography of its corners, refined by least squares.
 */
#include "lasercal.h"

#include "points/icp.h"

/* ---- least squares of a few parameters by Levenberg and Marquardt ---- */

#define MAX_ROUNDS 50

/* Takes a step that makes the squares smaller. False: there is none. *much: by more than rounding
 * does. */
static bool
improve(const struct levenberg *fit, struct linearised *space, double *lambda, double *squares,
    bool *much)
{
	size_t n = fit->parameters;

	for (; *lambda < 1e12; *lambda *= 10) {
		double a[MAX_PARAMETERS * MAX_PARAMETERS], step[MAX_PARAMETERS], now;

		memcpy(a, space->normal, n * n * sizeof(*a));
		memcpy(step, space->gradient, n * sizeof(*step));
		for (size_t i = 0; i < n; i++)
			a[i * n + i] *= 1 + *lambda;
		if (!symmetric_factor(n, a, 1e-14))
			continue;
		symmetric_solve(n, a, step, 1);
		fit->residual(fit->state, step, space->plus);
		now = vector_dot(space->plus, space->plus, fit->residuals);
		if (!(now < *squares))
			continue;
		*much = now < *squares * (1 - 1e-12);
		*squares = now;
		fit->take(fit->state, step);
		fit->residual(fit->state, (double[MAX_PARAMETERS]){ 0 }, space->r);
		*lambda = fmax(*lambda / 10, 1e-12);
		return true;
	}
	return false;
}

double
levenberg_fit(const struct levenberg *fit)
{
	size_t n = fit->parameters, m = fit->residuals;
	struct linearised space;
	double *memory = must_alloc((n + 3) * m, sizeof(*memory)), lambda = 1e-4, squares;
	bool much = true;

	space.r = memory;
	space.plus = memory + m;
	space.minus = memory + 2 * m;
	space.jacobian = memory + 3 * m;
	fit->residual(fit->state, (double[MAX_PARAMETERS]){ 0 }, space.r);
	squares = vector_dot(space.r, space.r, m);
	for (int i = 0; i < MAX_ROUNDS && much; i++) {
		lasercal_rows()->linearise(fit, &space);
		if (!improve(fit, &space, &lambda, &squares, &much))
			break;
	}
	free(memory);
	return squares;
}

/* ---- rotations and poses ---- */

void
board_pose_turn(const struct board_pose *a, const struct board_pose *b, double w[3])
{
	struct pose turn = pose_identity;
	double turned[9];

	matrix3_transpose(b->R, turned);
	matrix3_product(a->R, turned, turn.R);
	pose_turn(&turn, w);
}

void
board_pose_step(const struct board_pose *pose, const double step[6], struct board_pose *out)
{
	double angle = vector3_length(step), axis[3] = { 1, 0, 0 };

	*out = *pose;
	for (int i = 0; i < 3; i++) {
		out->t[i] += step[3 + i];
		if (angle > 0)
			axis[i] = step[i] / angle;
	}
	laser_rotate_matrix(axis, angle, out->R);
}

/* ---- a board's pose: the homography ---- */

/* R and t of H ~ (r1 r2 t); t in front of the camera. */
static void
pose_of(const double H[9], struct board_pose *pose)
{
	double length = 0, r[3][3];

	for (int k = 0; k < 2; k++)
		length += sqrt(H[k] * H[k] + H[3 + k] * H[3 + k] + H[6 + k] * H[6 + k]) / 2;
	length = copysign(length, H[8]);
	for (int i = 0; i < 3; i++) {
		r[0][i] = H[3 * i] / length;
		r[1][i] = H[3 * i + 1] / length;
		pose->t[i] = H[3 * i + 2] / length;
	}
	for (int k = 0; k < 2; k++) {
		double along = k ? vector3_dot(r[0], r[1]) : 0;

		for (int i = 0; i < 3; i++)
			r[k][i] -= along * r[0][i];
		vector3_normalise(r[k]);
	}
	vector3_cross(r[0], r[1], r[2]);
	for (int i = 0; i < 9; i++)
		pose->R[i] = r[i % 3][i / 3];
}

void
camera_alone(const struct pinhole *camera, struct pinhole *own)
{
	*own = *camera;
	memset(own->T, 0, sizeof(own->T));
	for (int i = 0; i < 9; i++)
		own->R[i] = i % 4 == 0;
	pinhole_complete(own);
}

static int
start_pose(const struct pinhole *camera, const struct board_points *points,
    struct board_pose *pose)
{
	size_t n = points->n;
	struct homography_pair *pair = must_alloc(n, sizeof(*pair));
	double H[9], rms;
	int status = 0;

	for (size_t i = 0; i < n && status == 0; i++) {
		memcpy(pair[i].from, points->place[i], sizeof(pair[i].from));
		if (!pinhole_undistort(camera, points->uv[i], pair[i].to))
			status = fail(NULL, "the lens model has no ray for the corner at %.1f %.1f",
			    points->uv[i][0], points->uv[i][1]);
	}
	if (status == 0 && !homography_fit(pair, n, H, &rms))
		status = fail(NULL, "the corners lie on one line");
	free(pair);
	if (status < 0)
		return -1;
	pose_of(H, pose);
	return 0;
}

/* ---- a board's pose: refinement ---- */

static void
take_step(void *state, const double *step)
{
	struct refining *refining = state;
	struct board_pose pose = refining->pose;

	board_pose_step(&pose, step, &refining->pose);
}

/*
 * Homography of the undistorted corners, then least squares of the distances in pixels, the
 * camera's matrix and lens as they are. -1 after fail(NULL, ...): fewer than 4 corners, or all on a
 * line.
 */
static int
board_pose_find(const struct pinhole *camera, const struct board_points *points,
    struct board_pose *pose)
{
	struct pinhole own;
	struct refining refining = { &own, points, { { 0 } } };
	double scale[6] = { 1e-6, 1e-6, 1e-6, 0, 0, 0 };
	struct levenberg fit = { 6, 2 * points->n, scale,
		lasercal_rows()->corner_residual, take_step, &refining };

	if (points->n < 4)
		return fail(NULL, "%zu corners: a board's pose needs 4", points->n);
	camera_alone(camera, &own);
	if (start_pose(camera, points, &refining.pose) < 0)
		return -1;
	scale[3] = scale[4] = scale[5] = 1e-6 * refining.pose.t[2];
	refining.pose.rms_px = sqrt(levenberg_fit(&fit) / (double)points->n);
	*pose = refining.pose;
	return 0;
}

/* ---- views ---- */

#define MAX_RMS_PX 2		/* of corners from their places: more is a mistake */

/* Where the frame's pixels lie on the sensor. Warns where the frame does not fit it. */
static int
find_crop(struct views *views, const struct run *run, const struct frame_head *head,
    bool is_picture, struct sensor_fit *crop)
{
	crop->placed = views->origin.n || meta_get(&head->meta, "origin_px");
	if (sensor_crop_origin(run, &views->origin, head, views->laser->origin_px,
	    crop->origin_px, crop->bin) < 0)
		return -1;
	return sensor_fit_check(&views->laser->camera, head, is_picture, crop,
	    &views->size_warned);
}

/* Adds a view without a board. */
static struct view *
add_view(struct views *views)
{
	views->view = must_resize(views->view, views->n + 1, sizeof(*views->view));
	views->view[views->n] = (struct view){ 0 };
	return &views->view[views->n++];
}

/* ---- boards ---- */

/* The board that a table of corners names, unless --board did. */
static int
find_board(struct views *views, const struct frame_head *head)
{
	struct board named = { .kind = BOARD_CHESS }, *board = &views->board;

	if (board_read_keys(NULL, &head->meta, &named) < 0)
		return -1;
	if (!board->w && (!named.w || named.spacing_mm == 0))
		return fail(NULL, "corners without the keys board_size and board_spacing_mm: give "
		    "--board WxH,MM");
	if (!board->w)
		*board = named;
	return named.spacing_mm == 0 || fabs(named.spacing_mm / board->spacing_mm - 1) < 0.01 ? 0 :
	    fail(NULL, "--board has points %g mm apart, the corners' key board_spacing_mm %g",
		board->spacing_mm, named.spacing_mm);
}

static void
new_corners(size_t n, struct board_points *corners)
{
	corners->place = must_alloc(n, sizeof(*corners->place));
	corners->uv = must_alloc(n, sizeof(*corners->uv));
}

/* Adds corner i j of the board, at pixel (u, v). */
static void
add_corner(const struct board *board, long i, long j, const struct sensor_fit *crop, double u,
    double v, struct board_points *corners)
{
	double *place = corners->place[corners->n];

	board_point(board, i, j, place);
	place[0] *= board->spacing_mm;
	place[1] *= board->spacing_mm;
	on_sensor(crop, u, v, corners->uv[corners->n++]);
}

static int
fill_corners(struct views *views, const struct frame *frame, size_t w, const size_t c[4],
    const struct sensor_fit *crop, struct board_points *corners)
{
	const struct board *board = &views->board;

	for (size_t x = 0; x < w; x++) {
		double u = frame_floats(frame, c[0], 0)[x], v = frame_floats(frame, c[1], 0)[x];
		double i = frame_floats(frame, c[2], 0)[x], j = frame_floats(frame, c[3], 0)[x];

		if (isnan(u) || isnan(v))
			continue;
		if (i != floor(i) || j != floor(j) || !(i >= 0 && i < (double)board->w) ||
		    !(j >= 0 && j < (double)board->h))
			return fail(NULL, "corner i j = %g %g is not on a board of %zux%zu", i, j,
			    board->w, board->h);
		add_corner(board, (long)i, (long)j, crop, u, v, corners);
	}
	return 0;
}

/* Finds the pose of the last view's board. */
static int
solve_board(const struct views *views, struct view *view)
{
	char name[32];

	if (strcmp(views->laser->unit, "mm"))
		return fail(NULL, "the calibration's length_unit is %s, and the board's points are "
		    "mm apart: write the calibration in mm", views->laser->unit);
	snprintf(name, sizeof(name), "view %zu", views->n - 1);
	if (board_pose_find(&views->laser->camera, &view->corners, &view->board) < 0)
		return fail_prefix(name);
	view->has_board = true;
	return view->board.rms_px <= MAX_RMS_PX ? 0 : fail(name, "corners are %.3g px rms from "
	    "where a board would be: --board, --origin or the camera's calibration is another "
	    "one%s", view->board.rms_px, views->lit && views->board.kind != BOARD_CHESS ?
	    ", or the laser's line lies across its circles: --off" : "");
}

int
views_add_picture_board(struct views *views, const struct run *run, const struct frame *picture)
{
	struct board_options options = { .sigma_px = NAN };
	struct corners found = { 0 };
	struct view *view;
	struct frame *gray;
	struct sensor_fit crop;
	char reason[BOARD_REASON], name[32];
	int status;

	if (!views->board.w)
		return fail_usage("--board", "is needed with pictures");
	status = board_picture(picture, NULL, &gray);
	if (status == 0) {
		status = board_find(&views->board, &options, gray, &found, reason);
		frame_free(gray);
		if (status > 0)
			status = fail(NULL, "no board: %s", reason);
	}
	if (status < 0) {
		snprintf(name, sizeof(name), "view %zu", views->n);
		return fail_prefix(name);
	}
	view = add_view(views);
	new_corners(found.n, &view->corners);
	status = find_crop(views, run, &picture->head, true, &crop);
	for (size_t k = 0; k < found.n && status == 0; k++) {
		const struct corner *c = &found.corner[k];

		add_corner(&views->board, c->i, c->j, &crop, c->u, c->v, &view->corners);
	}
	corners_free(&found);
	return status < 0 ? -1 : solve_board(views, view);
}

int
views_add_board(struct views *views, const struct run *run, const struct frame *frame,
    const char *prefix)
{
	static const char *const names[4] = { "u", "v", "i", "j" };
	const struct frame_head *head = *prefix ? run_second_input_head(run, "corners", 0) :
	    &frame->head;
	struct view *view;
	struct sensor_fit crop;
	size_t c[4], points;

	view = add_view(views);
	if (find_board(views, head) < 0 || find_crop(views, run, head, false, &crop) < 0 ||
	    head_points(head, &points) < 0)
		return -1;
	for (int k = 0; k < 4; k++)
		if ((*prefix ? run_second_input(run, &frame->head, "corners", names[k], &c[k]) :
		    run_channel(run, head, names[k], &c[k])) < 0)
			return -1;
	new_corners(head->w, &view->corners);
	if (fill_corners(views, frame, points, c, &crop, &view->corners) < 0)
		return -1;
	return solve_board(views, view);
}

/* The middle of a view's board, to the camera. */
static void
middle_to_camera(const struct views *views, const struct view *view, double x[3])
{
	double middle[3] = { 0 };

	board_middle(&views->board, middle);
	middle[0] *= views->board.spacing_mm;
	middle[1] *= views->board.spacing_mm;
	matrix3_apply_add(view->board.R, middle, view->board.t, x);
}

void
views_middle(const struct views *views, const struct view *view, double X[3])
{
	double x[3];

	middle_to_camera(views, view, x);
	pinhole_to_world(&views->laser->camera, x, X);
}

bool
views_depths(const struct views *views, double *nearest, double *farthest)
{
	double x[3];
	bool any = false;

	for (size_t i = 0; i < views->n && views->view[i].has_board; i++) {
		middle_to_camera(views, &views->view[i], x);
		*nearest = any ? fmin(*nearest, x[2]) : x[2];
		*farthest = any ? fmax(*farthest, x[2]) : x[2];
		any = true;
	}
	return any;
}

/* ---- the line's points ---- */

/* Room for n more points. */
static void
reserve_points(struct views *views, size_t n)
{
	struct plane_points *line = &views->line[views->channel];

	line->v = must_resize(line->v, line->n + n, sizeof(*line->v));
}

#define MIN_NOISE 0.289		/* grey levels: that of rounding to whole numbers */
#define MIN_LINE_POINTS 5

static struct line_plane
line_plane_of(const struct frame *frame, size_t channel)
{
	size_t c = frame && frame->head.c > 1 ? channel : 0;

	return frame ? (struct line_plane){ frame_row(frame, c, 0), frame->plane[c].stride,
		frame->plane[c].type } : (struct line_plane){ 0 };
}

int
views_add_picture_line(struct views *views, struct run *run, const struct frame *on,
    const struct frame *off)
{
	struct line_options options = { .sigma = views->sigma_px, .low = 1, .high = 1,
		.min_length = MIN_LINE_POINTS };
	bool colour = on->head.c > 1;
	struct line_points points;
	struct sensor_fit crop;

	if ((!views->finder && line_finder_new(&options, &line_level_any, &views->finder) < 0) ||
	    find_crop(views, run, &on->head, true, &crop) < 0)
		return -1;
	views->colour |= colour;
	/* a grey picture among those in colour counts for each channel */
	for (size_t c = 0; c < LASER_CHANNELS; c++) {
		struct line_image image = { on->head.w, on->head.h, line_plane_of(on, c),
			line_plane_of(off, c), false };

		if (c == 0 || colour) {
			double threshold = line_threshold(fmax(line_noise(&image), MIN_NOISE),
			    views->sigma_px);

			line_finder_set_thresholds(views->finder, threshold, threshold);
			line_find(views->finder, run, &image, &points);
		}
		views->channel = c;
		reserve_points(views, points.n);
		for (size_t i = 0; i < points.n; i++)
			lasercal_rows()->add_ray(views, &crop, (double)points.v[i].u,
			    (double)points.v[i].v, views->sigma_px);
	}
	views->channel = 0;
	return 0;
}

int
views_add_line(struct views *views, const struct run *run, const struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	struct sensor_fit crop;
	double sigma_px;
	size_t u, v;

	if (meta_number(&head->meta, "line_sigma_px", 0, &sigma_px) < 0 ||
	    find_crop(views, run, head, false, &crop) < 0 || run_channel(run, head, "u", &u) < 0 ||
	    run_channel(run, head, "v", &v) < 0)
		return -1;
	reserve_points(views, head->w * head->h);
	for (size_t i = 0; i < head->w * head->h; i++) {
		double at_u = (double)frame_floats(frame, u, i / head->w)[i % head->w];
		double at_v = (double)frame_floats(frame, v, i / head->w)[i % head->w];

		if (!isnan(at_u) && !isnan(at_v))
			lasercal_rows()->add_ray(views, &crop, at_u, at_v, sigma_px);
	}
	return 0;
}

void
views_add_points(struct views *views, const struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	size_t c[3];

	add_view(views);
	head_xyz(head, c);
	reserve_points(views, head->w * head->h);
	for (size_t i = 0; i < head->w * head->h; i++) {
		double X[3];

		for (size_t k = 0; k < 3; k++)
			X[k] = (double)frame_floats(frame, c[k], i / head->w)[i % head->w];
		if (!isfinite(X[0]) || !isfinite(X[1]) || !isfinite(X[2]))
			continue;
		views->view[views->n - 1].seen[views->channel]++;
		views_add_point(views, X);
	}
}

void
views_free(struct views *views)
{
	for (size_t i = 0; i < views->n; i++) {
		free(views->view[i].corners.place);
		free(views->view[i].corners.uv);
	}
	free(views->view);
	for (size_t c = 0; c < LASER_CHANNELS; c++)
		free(views->line[c].v);
	line_finder_free(views->finder);
}
