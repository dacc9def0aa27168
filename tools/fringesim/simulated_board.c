#define _GNU_SOURCE
#include "simulated_board.h"

#include <math.h>

#include "frame/table_rows.h"

#define USUAL_BLUR 0.7
#define SAMPLES 2 /* of a pixel along each axis where the camera blurs */
/*
 * Blur of the print's edges, in px, before they are sampled: at 2 samples a pixel 8e-4 of what the
 * samples cannot hold is left, which moves an edge by 1e-4 px at most. The samples lack the rest.
 */
#define EDGE_BLUR 0.3
#define BLUR_LEAST 0.5
#define REACH 5 /* in sigma */

int
simulated_board_check(const struct simulated_scene_options *options, enum scene_kind kind)
{
	if (options->blur > 0 && options->blur < BLUR_LEAST)
		return fail_usage(
		    "--blur", "must be 0 or at least %g px, not %g", BLUR_LEAST, options->blur);
	if (kind != SCENE_BOARD)
		return options->board || options->board_pose.n || options->board_kind != BOARD_CHESS
		    ? fail_usage(options->board       ? "--board"
			      : options->board_pose.n ? "--board-pose"
						      : "--board-kind",
			  "is only for --scene board")
		    : 0;
	if (!options->calib)
		return fail_usage("--scene", "board needs the camera of --calib");
	if (!options->board)
		return fail_usage("--scene", "board needs --board WxH,MM");
	if (!isnan(options->height))
		return fail_usage("--height", "is not for --scene board: see --board-pose");
	if (!isnan(options->field))
		return fail_usage("--field", "is not for --scene board: see --board");
	if (options->shadow)
		return fail_usage(
		    "--shadow", "is not for --scene board: a plane casts none on itself");
	if (options->board_pose.n && !isnan(options->distance))
		return fail_usage("--distance", "--board-pose says how far away the board is");
	if (options->board_pose.n && options->board_pose.n != 6)
		return fail_usage("--board-pose",
		    "must be six numbers (three angles, three lengths), "
		    "not %zu",
		    options->board_pose.n);
	return 0;
}

static int
place(struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	double straight[6] = { 0, 0, 0, 0, 0, simulated->rig.distance };
	const double *pose = options->board_pose.n ? options->board_pose.v : straight;
	struct board board;

	if (simulated->paint != PAINT_NONE)
		return fail_usage("--albedo", "is not for --scene board: the board is printed");
	for (int k = 0; k < 6; k++)
		if (!isfinite(pose[k]))
			return fail_usage("--board-pose", "must be six numbers, not %g", pose[k]);
	if (board_parse("--board", options->board, (enum board_kind)options->board_kind, &board) <
	    0)
		return -1;
	if (board.spacing_mm == 0)
		return fail_usage("--board", "wants the distance of its points too: WxH,MM");
	simulated->rig.board = &simulated->board;
	return board_scene_init(&simulated->board, &board, pose, &simulated->calib);
}

int
simulated_board_open(
    struct simulated_scene *simulated, const struct simulated_scene_options *options)
{
	bool board = simulated->scene.kind == SCENE_BOARD;
	double blur = !isnan(options->blur) ? options->blur : board ? USUAL_BLUR : 0;
	struct rig *rig = &simulated->rig;

	if (board && place(simulated, options) < 0)
		return -1;
	if (blur == 0)
		return 0;
	simulated->blur = board ? sqrt(blur * blur - EDGE_BLUR * EDGE_BLUR) : blur;
	rig->samples = SAMPLES;
	rig->margin = (size_t)ceil(REACH * simulated->blur);
	return 0;
}

/* ---- paint ---- */

/* mm on the board for a px, along the samples of a row (step 1) or a column (step `columns`). */
static double
slope(const double *painted, size_t i, size_t at, size_t n, size_t step, double samples)
{
	double before = at > 0 ? painted[i - step] : NAN, here = painted[i];
	double behind = at + 1 < n ? painted[i + step] : NAN;

	if (!isnan(before) && !isnan(behind))
		return samples * (behind - before) / 2;
	return !isnan(before) ? samples * (here - before)
	    : !isnan(behind)  ? samples * (behind - here)
			      : 0;
}

static void
paint_row(void *arg, size_t row)
{
	struct simulated_scene *simulated = arg;
	const struct rig *rig = &simulated->rig;
	size_t columns = simulated->columns;
	double *const *painted = simulated->painted;

	for (size_t column = 0; column < columns; column++) {
		size_t i = row * columns + column;
		double at[2] = { painted[0][i], painted[1][i] }, step[4];

		if (simulated->visibility[i] == VISIBILITY_NONE)
			continue;
		for (int k = 0; k < 2; k++) {
			step[k] = slope(painted[k], i, column, columns, 1, (double)rig->samples);
			step[2 + k] = slope(
			    painted[k], i, row, simulated->rows, columns, (double)rig->samples);
		}
		simulated->share[i] = board_scene_share(
		    &simulated->board, at, step, rig->samples > 1 ? EDGE_BLUR : 0);
	}
}

void
simulated_board_paint(struct simulated_scene *simulated, struct run *run)
{
	run_for(run, simulated->rows, paint_row, simulated);
}

/* ---- truth ---- */

static int
add_corners(const struct simulated_scene *simulated, struct table_rows *rows)
{
	const struct board *board = &simulated->board.board;

	for (long j = 0; j < (long)board->h; j++)
		for (long i = 0; i < (long)board->w; i++) {
			struct rig_point point;
			double uv[2];
			float *row;

			if (!rig_board_point(&simulated->rig, i, j, &point, uv))
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

	if (head_init(&head, 1, 1, 1, SAMPLE_FLOAT) < 0)
		return -1;
	status = head_set_channels(&head, "u v i j projector_u projector_v") < 0 ||
		board_describe(&simulated->board.board, (double)simulated->rig.w,
		    (double)simulated->rig.h, &head.meta) < 0 ||
		meta_set_numbers(&head.meta, "origin_px", simulated->rig.origin_px, 2) < 0 ||
		add_corners(simulated, &rows) < 0
	    ? -1
	    : table_rows_frame(&rows, &head, out);
	table_rows_free(&rows);
	head_free(&head);
	return status;
}
