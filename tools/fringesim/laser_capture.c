#include "laser_capture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frame/table_rows.h"

/* A pixel is so many strips, in each of which the light is integrated along x; a bar has edges,
 * which may lie along x. */
#define STRIPS_GAUSS 8
#define STRIPS_BAR 32
/* Surfaces whose depths differ by more, of the depth, from pixel to pixel are two. */
#define JUMP 0.02
#define DEGREES 57.29577951308232

struct picture {
	const struct laser_scan *scan;
	const struct laser_light *light;
	struct rig rig;			/* with the board where the stage has it */
	struct board_scene board;
	struct rig_stage stage;
	struct rig_pose pose;
	double travel, turn;
	uint32_t number;
	struct seen *middle;		/* what the pixels' centres see, row by row */
	struct frame *out;
};

struct seen {
	bool surface, lit;
	double off;			/* from the laser's plane, mm */
	double depth;
	struct rig_point point;
};

static void
look(const struct picture *picture, double x, double y, struct seen *sample)
{
	const double *plane = picture->light->laser.plane;
	const double *X = sample->point.X;

	rig_look(&picture->rig, &picture->pose, x, y, &sample->point);
	sample->surface = sample->point.surface;
	sample->lit = sample->surface && (!picture->scan->options->from.n || sample->point.lit);
	sample->depth = sample->point.depth;
	sample->off = sample->surface ?
	    plane[0] * X[0] + plane[1] * X[1] + plane[2] * X[2] + plane[3] : NAN;
}

static bool
is_one_surface(const struct seen *a, const struct seen *b)
{
	return a->surface && b->surface && fabs(a->depth - b->depth) <= JUMP * a->depth;
}

/* ---- light ---- */

/* The light from place a to place b beside it. */
static double
between(const struct laser_light *light, const struct seen *a, const struct seen *b)
{
	double sum = 0;

	if (is_one_surface(a, b) && a->lit && b->lit)
		return laser_light_mean(light, a->off, b->off);
	if (a->lit)
		sum += 0.5 * laser_light_mean(light, a->off, a->off);
	if (b->lit)
		sum += 0.5 * laser_light_mean(light, b->off, b->off);
	return sum;
}

/* The share of light that the surface at a pixel sends back. */
static double
share_of(const struct picture *picture, size_t x, size_t y, const struct seen *at)
{
	const struct simulated_scene *simulated = picture->scan->simulated;
	double step[4] = { 0 };

	if (!at->surface)
		return 0;
	if (!picture->rig.board)
		return simulated_scene_share(simulated, &at->point, (double)x, (double)y);
	for (int k = 0; k < 2; k++) {
		struct seen next = { 0 };

		look(picture, (double)x + (k == 0), (double)y + (k == 1), &next);
		step[2 * k] = next.surface ? next.point.painted[0] - at->point.painted[0] : 1;
		step[2 * k + 1] = next.surface ? next.point.painted[1] - at->point.painted[1] : 1;
	}
	return board_scene_share(picture->rig.board, at->point.painted, step,
	    simulated->pixel_blur);
}

/* Speckle multiplies by a number of mean 1 and the standard deviation `contrast`, never negative:
 * of the log-normal distribution. */
static double
speckle(const struct picture *picture, double x, double y)
{
	double contrast = picture->light->speckle, variance = log(1 + contrast * contrast);
	struct camera_capture capture = { picture->number, 0 };

	return exp(sqrt(variance) * camera_random(picture->scan->camera, &capture, x, y,
	    CAMERA_SPECKLE) - 0.5 * variance);
}

static void
look_row(void *arg, size_t y)
{
	const struct picture *picture = arg;

	for (size_t x = 0; x < picture->rig.w; x++)
		look(picture, (double)x, (double)y, &picture->middle[y * picture->rig.w + x]);
}

/* Is the pixel sure to get no light? Its surface goes on to the next pixel, and its middle is
 * farther from the light than several times its own breadth. */
static bool
is_unlit(const struct picture *picture, size_t x, size_t y)
{
	size_t w = picture->rig.w, other = x + 1 < w ? x + 1 : x - 1;
	const struct seen *row = &picture->middle[y * w], *at = &row[x];

	if (w < 2 || !is_one_surface(at, &row[other]))
		return false;
	return fabs(at->off) > laser_light_reach(picture->light) +
	    4 * fabs(row[other].off - at->off) + 4 * picture->light->thickness;
}

static void
expose_row(void *arg, size_t y)
{
	const struct picture *picture = arg;
	const struct laser_scan *scan = picture->scan;
	const struct rig *rig = &picture->rig;
	size_t strips = picture->light->profile == LASER_BAR ? STRIPS_BAR : STRIPS_GAUSS;
	struct seen left[STRIPS_BAR];
	bool known = false;		/* left */

	for (size_t x = 0; x < rig->w; x++) {
		double sum = 0, level, at[2] = { (double)x + rig->origin_px[0],
			(double)y + rig->origin_px[1] };
		const struct seen *middle = &picture->middle[y * rig->w + x];
		bool unlit = is_unlit(picture, x, y);

		for (size_t s = 0; s < strips && !unlit; s++) {
			double strip = (double)y + ((double)s + 0.5) / (double)strips - 0.5;
			struct seen right = { 0 };

			if (!known)
				look(picture, (double)x - 0.5, strip, &left[s]);
			look(picture, (double)x + 0.5, strip, &right);
			sum += between(picture->light, &left[s], &right) / (double)strips;
			left[s] = right;
		}
		known = !unlit;
		level = sum * scan->level;
		if (sum > 0 && picture->light->speckle > 0)
			level *= speckle(picture, at[0], at[1]);
		level = share_of(picture, x, y, middle) * (scan->ambient + level);
		level = camera_level(scan->camera, &(struct camera_capture){ picture->number, 0 },
		    at[0], at[1], level);
		camera_store(scan->camera, level, frame_row(picture->out, 0, y), x);
	}
}

/* ---- truth ---- */

/* Where the plane crosses the surface between two pixels; false where it does not. */
static bool
crossing(const struct picture *picture, const size_t from[2], const size_t to[2], double uv[2],
    double X[3])
{
	const struct seen *a = &picture->middle[from[1] * picture->rig.w + from[0]];
	const struct seen *b = &picture->middle[to[1] * picture->rig.w + to[0]];
	struct seen c = { 0 };
	double low = 0, high = 1;

	if (!is_one_surface(a, b) || (a->off < 0) == (b->off < 0))
		return false;
	for (int i = 0; i < 60; i++) {
		double t = 0.5 * (low + high);

		for (int k = 0; k < 2; k++)
			uv[k] = (double)from[k] + t * ((double)to[k] - (double)from[k]);
		look(picture, uv[0], uv[1], &c);
		if (!c.surface)
			return false;
		if ((c.off < 0) == (a->off < 0))
			low = t;
		else
			high = t;
	}
	memcpy(X, c.point.X, sizeof(c.point.X));
	return c.lit && fabs(c.off) < 1e-3 * c.depth;
}

/* The crossings of every row's centre line, or every column's. */
static int
cross_all(const struct picture *picture, bool columns, struct table_rows *rows)
{
	const struct rig *rig = &picture->rig;
	size_t lines = columns ? rig->w : rig->h, along = columns ? rig->h : rig->w;

	for (size_t i = 0; i < lines; i++)
		for (size_t k = 0; k + 1 < along; k++) {
			size_t from[2] = { columns ? i : k, columns ? k : i };
			size_t to[2] = { from[0] + !columns, from[1] + columns };
			double uv[2], X[3];
			float *row;

			if (!crossing(picture, from, to, uv, X))
				continue;
			if (picture->stage.turns)
				laser_unturn(&picture->light->laser, picture->turn, X);
			else if (picture->travel != 0)
				laser_unmove(&picture->light->laser, picture->travel, X);
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

static int
describe(const struct picture *picture, struct frame_head *head)
{
	const struct laser_options *options = picture->scan->options;

	if (meta_set_numbers(&head->meta, "origin_px", picture->rig.origin_px, 2) < 0)
		return -1;
	if (!isnan(options->stage_step) &&
	    meta_set_number(&head->meta, "stage_mm", picture->travel) < 0)
		return -1;
	return isnan(options->stage_angle) ? 0 :
	    meta_set_number(&head->meta, "stage_deg", round(picture->turn * DEGREES * 1e9) / 1e9);
}

static int
put_truth(const struct picture *picture)
{
	struct table_rows by_row = { .c = 5 }, by_column = { .c = 5 }, *most;
	struct frame_head head;
	struct frame *table;
	int status = cross_all(picture, false, &by_row) < 0 ||
	    cross_all(picture, true, &by_column) < 0 ? -1 :
	    head_init(&head, 1, 1, 1, SAMPLE_FLOAT);

	if (status == 0) {
		most = by_column.n > by_row.n ? &by_column : &by_row;
		status = head_set_channels(&head, "u v x y z") < 0 ||
		    describe(picture, &head) < 0 ||
		    meta_set(&head.meta, "length_unit", picture->light->laser.unit) < 0 ? -1 :
		    table_rows_frame(most, &head, &table);
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

/* The camera's own frame: a vector or a point of the world in it. */
static void
world_to_camera(const struct pinhole *camera, const double X[3], bool point, double x[3])
{
	for (int i = 0; i < 3; i++)
		x[i] = camera->R[3 * i] * X[0] + camera->R[3 * i + 1] * X[1] +
		    camera->R[3 * i + 2] * X[2] + (point ? camera->T[i] : 0);
}

/* x0 = R x + t takes a place of the camera's frame back to where it was with the stage at 0. */
static void
set_stage(struct picture *picture)
{
	const struct laser *laser = &picture->light->laser;
	struct rig_stage *stage = &picture->stage;
	double v[3], p[3];

	*stage = (struct rig_stage){ .R = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
	if (!isnan(picture->scan->options->stage_step)) {
		world_to_camera(&laser->camera, laser->direction, false, v);
		for (int i = 0; i < 3; i++)
			stage->t[i] = -picture->travel * v[i];
	} else if (!isnan(picture->scan->options->stage_angle)) {
		stage->turns = true;
		world_to_camera(&laser->camera, laser->axis_direction, false, v);
		world_to_camera(&laser->camera, laser->axis_point, true, p);
		for (int k = 0; k < 3; k++) {
			double e[3] = { k == 0, k == 1, k == 2 };

			laser_rotate(v, -picture->turn, e);
			for (int i = 0; i < 3; i++)
				stage->R[3 * i + k] = e[i];
		}
		for (int i = 0; i < 3; i++)
			stage->t[i] = p[i] - stage->R[3 * i] * p[0] -
			    stage->R[3 * i + 1] * p[1] - stage->R[3 * i + 2] * p[2];
	}
}

/* A board stands where the stage has brought it: x = R'(x0 - t). */
static void
move_board(struct picture *picture)
{
	const struct rig_stage *stage = &picture->stage;
	struct board_scene *board = &picture->board;
	const struct board_scene *first = picture->rig.board;

	if (!first)
		return;
	*board = *first;
	for (int i = 0; i < 3; i++) {
		board->T[i] = 0;
		for (int k = 0; k < 3; k++) {
			board->T[i] += stage->R[3 * k + i] * (first->T[k] - stage->t[k]);
			board->R[3 * i + k] = stage->R[i] * first->R[k] +
			    stage->R[3 + i] * first->R[3 + k] + stage->R[6 + i] * first->R[6 + k];
		}
	}
	picture->rig.board = board;
}

/* ---- pictures ---- */

static int
take_picture(struct run *run, struct picture *picture)
{
	const struct rig *rig = &picture->rig;
	struct frame_head head;
	int status;

	if (head_init(&head, rig->w, rig->h, 1, camera_type(picture->scan->camera)) < 0)
		return -1;
	status = describe(picture, &head) < 0 || (picture->scan->camera->bits == CAMERA_12 &&
	    meta_set(&head.meta, "max_value", "4095") < 0) ||
	    meta_setf(&head.meta, "name", "line%04u", picture->number) < 0 ? -1 :
	    frame_new(&head, &picture->out);
	head_free(&head);
	if (status < 0)
		return -1;
	picture->middle = reallocarray(NULL, rig->w * rig->h, sizeof(*picture->middle));
	if (!picture->middle) {
		frame_free(picture->out);
		return fail_memory();
	}
	run_for(run, rig->h, look_row, picture);
	run_for(run, rig->h, expose_row, picture);
	status = picture->scan->truth ? put_truth(picture) : 0;
	free(picture->middle);
	if (status == 0)
		return run_emit(run, picture->out);
	frame_free(picture->out);
	return -1;
}

int
laser_scan(struct run *run, const struct laser_scan *scan)
{
	for (long i = 0; i < scan->pictures; i++) {
		struct picture picture = { .scan = scan, .light = &scan->simulated->light,
			.rig = scan->simulated->rig, .number = (uint32_t)i };

		if (!isnan(scan->options->stage_step))
			picture.travel = scan->options->stage_start +
			    (double)i * scan->options->stage_step;
		if (!isnan(scan->options->stage_angle))
			picture.turn = (double)i * scan->options->stage_angle;
		set_stage(&picture);
		move_board(&picture);
		picture.pose.stage = &picture.stage;
		if (take_picture(run, &picture) < 0)
			return -1;
	}
	return 0;
}
