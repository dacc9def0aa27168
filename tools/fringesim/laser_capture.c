/*
 * Captures of a laser's line on a simulated scene (--laser), and where the line truly is: options,
 * the rig, the stage that moves the scene from picture to picture, the truth's table.
 */
#include "fringesim.h"

#include "frame/samples.h"

/* ---- options and the rig ---- */

/* The laser itself is at most this far off its plane, in parts of its distance. */
#define OFF_PLANE 1e-3

int
laser_options_check(const struct laser_options *options, bool calibrated, bool shadow,
    bool cylinder, long frames)
{
	bool step = !isnan(options->stage_step), angle = !isnan(options->stage_angle);
	const char *foreign = options->reflection.n ? "--reflection" :
	    options->from.n ? "--laser-from" : step ? "--stage-step" : angle && !cylinder ?
	    "--stage-angle" : options->speckle > 0 ? "--speckle" : !isnan(options->thickness) ?
	    "--thickness" : options->profile ? "--profile" : options->stage_start != 0 ?
	    "--stage-start" : NULL;

	if (!options->on && cylinder && angle && frames < 2)
		return fail_usage("--stage-angle", "turns between measurements: give --frames");
	if (!options->on)
		return foreign ? fail_usage(foreign, "is only for --laser%s",
		    strcmp(foreign, "--stage-angle") ? "" : " and --scene cylinder") : 0;
	if (!calibrated)
		return fail_usage("--laser", "needs --calib with a camera and laser_plane");
	if (step && angle)
		return fail_usage("--stage-step", "and --stage-angle are two stages");
	if (options->stage_start != 0 && !step)
		return fail_usage("--stage-start", "needs --stage-step");
	if ((step || angle) && frames < 2)
		return fail_usage(step ? "--stage-step" : "--stage-angle", "moves from picture to "
		    "picture: give --frames");
	if (options->reflection.n && !(options->reflection.v[0] >= 0))
		return fail_usage("--reflection", "must be its share of the light and its "
		    "distance in mm");
	return shadow && !options->from.n ? fail_usage("--shadow", "needs --laser-from") : 0;
}

/* The plane's distance from the camera along its axis; NaN where it is not before it. */
static double
axis_distance(const struct laser *laser)
{
	struct laser straight = *laser;
	double uv[2] = { laser->camera.K[2], laser->camera.K[5] }, near[2], X[3], depth;

	straight.camera.distorted = false;
	return laser_meet(&straight, uv, near, X, &depth) == LASER_MET ? depth : NAN;
}

static int
check_source(const struct laser *laser, const struct numbers *from)
{
	const double *p = laser->plane, *v = from->v;
	double off, away;

	if (!from->n)
		return 0;
	off = fabs(vector3_dot(p, v) + p[3]);
	away = sqrt(vector3_dot(v, v)) + 1;
	return off <= OFF_PLANE * away ? 0 : fail_usage("--laser-from", "lies %.3g %s off the "
	    "laser's plane", off, laser->unit);
}

/* Reads the calibration. distance: NaN becomes where the plane meets the camera's axis. -1 after
 * fail(). */
static int
laser_light_open(struct laser_light *light, const struct laser_options *options,
    const char *calib, double *distance)
{
	const struct laser *laser = &light->laser;

	if (laser_load(calib, NULL, &light->laser) < 0)
		return -1;
	if (!laser->has_plane)
		return fail(calib, "has no laser_plane");
	if (!isnan(options->stage_step) && !laser->has_direction)
		return fail(calib, "has no scan_direction, which --stage-step needs");
	if (!isnan(options->stage_angle) && !laser->has_axis)
		return fail(calib, "has no axis_point_mm and axis_direction, which --stage-angle "
		    "needs");
	if (check_source(laser, &options->from) < 0)
		return -1;
	if (isnan(*distance))
		*distance = axis_distance(laser);
	if (isnan(*distance))
		return fail_usage("--calib", "the laser's plane does not meet the camera's axis: "
		    "--distance is needed");
	light->profile = (enum laser_profile)options->profile;
	light->thickness = isnan(options->thickness) ? 2 * *distance / laser->camera.K[0] :
	    options->thickness;
	light->speckle = options->speckle;
	light->share = options->reflection.n ? options->reflection.v[0] : 0;
	light->shift = options->reflection.n ? options->reflection.v[1] : 0;
	return 0;
}

int
laser_scene_open(struct simulated_scene *simulated,
    const struct simulated_scene_options *options)
{
	struct pinhole *projector = &simulated->calib.projector;
	const struct pinhole *camera = &simulated->calib.camera;
	double center[3], z[3];

	simulated->rig.distance = options->distance;
	if (laser_light_open(&simulated->light, &options->laser, options->calib,
	    &simulated->rig.distance) < 0)
		return -1;
	simulated->calib.camera = simulated->light.laser.camera;
	simulated->pixel_blur = isnan(options->blur) ? 0.7 : fmax(options->blur, 0.3);
	strcpy(simulated->calib.unit, simulated->light.laser.unit);
	if (!options->laser.from.n)
		return 0;
	pinhole_center(camera, center);
	for (int i = 0; i < 3; i++)
		z[i] = center[i] + simulated->rig.distance * camera->R[6 + i] -
		    options->laser.from.v[i];
	if (!(vector3_dot(z, z) > 0))
		return fail_usage("--laser-from", "is within the scene");
	for (int i = 0; i < 3; i++) {
		projector->R[6 + i] = z[i] / sqrt(vector3_dot(z, z));
		projector->T[2] -= projector->R[6 + i] * options->laser.from.v[i];
	}
	laser_across(&projector->R[6], &projector->R[0], &projector->R[3]);
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 3; i++)
			projector->T[k] -= projector->R[3 * k + i] * options->laser.from.v[i];
		projector->K[4 * k] = 1;
		projector->K[3 * k + 2] = 5e8;
	}
	projector->K[8] = 1;
	projector->w = projector->h = 1e9;
	pinhole_complete(projector);
	return 0;
}

/* ---- truth ---- */

#define DEGREES 57.29577951308232

/* The crossings of every row's centre line, or every column's. */
static int
cross_all(const struct laser_picture *picture, bool columns, struct table_rows *rows)
{
	const struct rig *rig = &picture->rig;
	size_t lines = columns ? rig->w : rig->h, along = columns ? rig->h : rig->w;
	const struct fringesim_rows *loops = fringesim_rows();

	for (size_t i = 0; i < lines; i++)
		for (size_t k = 0; k + 1 < along; k++) {
			size_t from[2] = { columns ? i : k, columns ? k : i };
			size_t to[2] = { from[0] + !columns, from[1] + columns };
			double uv[2], X[3];
			float *row;

			if (!loops->laser_crossing(picture, from, to, uv, X))
				continue;
			stage_pose_undo(&picture->stands, &picture->light->laser, X);
			row = table_rows_add(rows);
			if (!row)
				return -1;
			row[0] = (float)uv[0];
			row[1] = (float)uv[1];
			for (int c = 0; c < 3; c++)
				row[2 + c] = (float)X[c];
		}
	return 0;
}

static void
describe_line(const struct laser_picture *picture, struct frame_head *head)
{
	const struct stage_pose *stands = &picture->stands;

	meta_set_numbers(&head->meta, "origin_px", picture->rig.origin_px, 2);
	if (stands->kind == STAGE_POSE_TRAVEL)
		meta_set_number(&head->meta, "stage_mm", stands->travel);
	if (stands->kind == STAGE_POSE_TURN)
		meta_set_number(&head->meta, "stage_deg",
		    round(stands->turn_rad * DEGREES * 1e9) / 1e9);
}

static int
put_truth(const struct laser_picture *picture)
{
	struct table_rows by_row = { .c = 5 }, by_column = { .c = 5 }, *most;
	struct frame_head head;
	struct frame *table;
	int status = cross_all(picture, false, &by_row) < 0 ||
	    cross_all(picture, true, &by_column) < 0 ? -1 :
	    head_init(&head, 1, 1, 1, SAMPLE_FLOAT);

	if (status == 0) {
		most = by_column.n > by_row.n ? &by_column : &by_row;
		head_set_channels(&head, "u v x y z");
		describe_line(picture, &head);
		meta_set(&head.meta, "length_unit", picture->light->laser.unit);
		status = table_rows_frame(most, &head, &table);
		head_free(&head);
	}
	if (status == 0) {
		status = target_put(picture->scan->truth, table);
		frame_free(table);
	}
	table_rows_free(&by_row);
	table_rows_free(&by_column);
	return status;
}

/* ---- the stage ---- */

/* x0 = R x + t takes a place of the camera's frame back to where it was with the stage at 0. */
static void
set_stage(struct laser_picture *picture)
{
	const struct laser *laser = &picture->light->laser;
	struct rig_stage *stage = &picture->stage;
	double v[3], p[3];

	*stage = (struct rig_stage){ .R = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
	if (picture->stands.kind == STAGE_POSE_TRAVEL) {
		matrix3_apply(laser->camera.R, laser->direction, v);
		for (int i = 0; i < 3; i++)
			stage->t[i] = -picture->stands.travel * v[i];
	} else if (picture->stands.kind == STAGE_POSE_TURN) {
		stage->turns = true;
		matrix3_apply(laser->camera.R, laser->axis_direction, v);
		pinhole_from_world(&laser->camera, laser->axis_point, p);
		laser_rotate_matrix(v, -picture->stands.turn_rad, stage->R);
		for (int i = 0; i < 3; i++)
			stage->t[i] = p[i] - stage->R[3 * i] * p[0] -
			    stage->R[3 * i + 1] * p[1] - stage->R[3 * i + 2] * p[2];
	}
}

/* A board stands where the stage has brought it: x = R'(x0 - t). */
static void
move_board(struct laser_picture *picture)
{
	const struct rig_stage *stage = &picture->stage;
	struct board_scene *board = &picture->board;
	const struct board_scene *first = picture->rig.board;
	double back[9];

	if (!first)
		return;
	*board = *first;
	matrix3_transpose(stage->R, back);
	matrix3_product(back, first->R, board->R);
	matrix3_apply(back, (double[3]){ first->T[0] - stage->t[0], first->T[1] - stage->t[1],
		first->T[2] - stage->t[2] }, board->T);
	picture->rig.board = board;
}

/* ---- pictures ---- */

static int
take_picture(struct run *run, struct laser_picture *picture)
{
	const struct rig *rig = &picture->rig;
	struct frame_head head;
	int status;

	head_init(&head, rig->w, rig->h, 1, SAMPLE_FLOAT);
	describe_line(picture, &head);
	camera_describe(picture->scan->camera, &head);	/* sets the type */
	meta_setf(&head.meta, "name", "line%04u", picture->number);
	if (frame_new_if(0, &head, &picture->out) < 0)
		return -1;
	picture->middle = must_resize(NULL, rig->w * rig->h, sizeof(*picture->middle));
	run_for(run, rig->h, fringesim_rows()->laser_look_row, picture);
	run_for(run, rig->h, fringesim_rows()->laser_expose_row, picture);
	status = picture->scan->truth ? put_truth(picture) : 0;
	free(picture->middle);
	return run_emit_if(run, status, picture->out);
}

int
laser_scan_take(struct run *run, const struct laser_scan *scan)
{
	for (long i = 0; i < scan->pictures; i++) {
		struct laser_picture picture = { .scan = scan, .light = &scan->simulated->light,
			.rig = scan->simulated->rig, .number = (uint32_t)i };

		if (!isnan(scan->options->stage_step))
			picture.stands = (struct stage_pose){ STAGE_POSE_TRAVEL,
				scan->options->stage_start + (double)i * scan->options->stage_step,
				0 };
		else if (!isnan(scan->options->stage_angle))
			picture.stands = (struct stage_pose){ STAGE_POSE_TURN, 0,
				(double)i * scan->options->stage_angle };
		set_stage(&picture);
		move_board(&picture);
		picture.pose.stage = &picture.stage;
		if (take_picture(run, &picture) < 0)
			return -1;
	}
	return 0;
}
