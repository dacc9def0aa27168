#include "views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optics/sensor_crop.h"
#include "optics/sensor_fit.h"

/* A larger distance of the corners from where board and camera put them is a mistake. */
#define RMS_MOST_PX 2
/* A line counts so far beyond the outer corners, in spacings. */
#define MARGIN 0.75
/* Near the edge of a square. */
#define EDGE_SIGMAS 3
#define EDGE_SQUARES 0.3

/* Where the pixels of a frame lie on the sensor. */
struct crop {
	double origin_px[2], bin[2];
};

static int
find_crop(struct views *views, const struct run *run, const struct frame_head *head,
    bool is_picture, struct crop *crop)
{
	struct sensor_fit fit = { .placed = views->origin.n || meta_get(&head->meta, "origin_px") };

	if (sensor_crop_origin(run, &views->origin, head, views->laser->origin_px,
		crop->origin_px, crop->bin) < 0)
		return -1;
	memcpy(fit.origin_px, crop->origin_px, sizeof(fit.origin_px));
	memcpy(fit.bin, crop->bin, sizeof(fit.bin));
	return sensor_fit_check(&views->laser->camera, head, is_picture, &fit,
	    &views->size_warned);
}

static void
on_sensor(const struct crop *crop, double u, double v, double uv[2])
{
	uv[0] = crop->origin_px[0] + (u + 0.5) * crop->bin[0] - 0.5;
	uv[1] = crop->origin_px[1] + (v + 0.5) * crop->bin[1] - 0.5;
}

int
views_add_empty(struct views *views)
{
	if (views->n == views->room) {
		size_t room = views->room ? 2 * views->room : 16;
		struct view *more = reallocarray(views->view, room, sizeof(*more));

		if (!more)
			return fail_memory();
		views->view = more;
		views->room = room;
	}
	views->view[views->n++] = (struct view){ 0 };
	return 0;
}

/* ---- boards ---- */

/* Boards are in mm, and what is found with them is written into the calibration. */
static int
check_unit(const struct views *views)
{
	return !strcmp(views->laser->unit, "mm") ? 0 : fail(NULL, "the calibration's length_unit "
	    "is %s, and the board's points are mm apart: write the calibration in mm",
	    views->laser->unit);
}

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

static int
fill_corners(struct views *views, const struct frame *frame, size_t w, const size_t c[4],
    const struct crop *crop, struct board_points *corners)
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
		board_point(board, (long)i, (long)j, corners->place[corners->n]);
		corners->place[corners->n][0] *= board->spacing_mm;
		corners->place[corners->n][1] *= board->spacing_mm;
		on_sensor(crop, u, v, corners->uv[corners->n++]);
	}
	return 0;
}

static int
solve_board(const struct views *views, struct view *view)
{
	char name[32];

	if (check_unit(views) < 0)
		return -1;
	snprintf(name, sizeof(name), "view %zu", views->n - 1);
	if (board_pose_find(&views->laser->camera, &view->corners, &view->board) < 0) {
		fail_prefix(name);
		return -1;
	}
	view->has_board = true;
	return view->board.rms_px <= RMS_MOST_PX ? 0 : fail(name, "corners are %.3g px rms from "
	    "where a board would be: --board, --origin or the camera's calibration is another "
	    "one", view->board.rms_px);
}

int
views_add_corners(struct views *views, const struct run *run, const struct frame_head *head,
    const struct corners *found)
{
	struct board_points *corners;
	struct crop crop;

	if (views_add_empty(views) < 0 || find_crop(views, run, head, true, &crop) < 0)
		return -1;
	corners = &views->view[views->n - 1].corners;
	corners->place = calloc(found->n, sizeof(*corners->place));
	corners->uv = calloc(found->n, sizeof(*corners->uv));
	if (!corners->place || !corners->uv)
		return fail_memory();
	for (size_t k = 0; k < found->n; k++) {
		const struct corner *corner = &found->corner[k];

		board_point(&views->board, corner->i, corner->j, corners->place[k]);
		corners->place[k][0] *= views->board.spacing_mm;
		corners->place[k][1] *= views->board.spacing_mm;
		on_sensor(&crop, corner->u, corner->v, corners->uv[k]);
	}
	corners->n = found->n;
	return solve_board(views, &views->view[views->n - 1]);
}

int
views_add_board(struct views *views, const struct run *run, const struct frame *frame,
    const char *prefix)
{
	static const char *const names[4] = { "u", "v", "i", "j" };
	const struct frame_head *head = *prefix ? run_second_input_head(run, "corners", 0) :
	    &frame->head;
	struct view *view;
	struct crop crop;
	size_t c[4], points;

	if (views_add_empty(views) < 0 || find_board(views, head) < 0 ||
	    find_crop(views, run, head, false, &crop) < 0 || head_points(head, &points) < 0)
		return -1;
	view = &views->view[views->n - 1];
	for (int k = 0; k < 4; k++)
		if ((*prefix ? run_second_input(run, &frame->head, "corners", names[k], &c[k]) :
		    run_channel(run, head, names[k], &c[k])) < 0)
			return -1;
	view->corners.place = calloc(head->w, sizeof(*view->corners.place));
	view->corners.uv = calloc(head->w, sizeof(*view->corners.uv));
	if (!view->corners.place || !view->corners.uv)
		return fail_memory();
	if (fill_corners(views, frame, points, c, &crop, &view->corners) < 0)
		return -1;
	return solve_board(views, view);
}

void
views_to_world(const struct views *views, const double x[3], double X[3])
{
	const struct pinhole *camera = &views->laser->camera;
	double d[3] = { x[0] - camera->T[0], x[1] - camera->T[1], x[2] - camera->T[2] };

	for (int i = 0; i < 3; i++)
		X[i] = camera->R[i] * d[0] + camera->R[3 + i] * d[1] + camera->R[6 + i] * d[2];
}

/* The middle of a view's board, to the camera. */
static void
middle_to_camera(const struct views *views, const struct view *view, double x[3])
{
	double middle[3] = { 0 };

	board_middle(&views->board, middle);
	middle[0] *= views->board.spacing_mm;
	middle[1] *= views->board.spacing_mm;
	board_pose_apply(&view->board, middle, x);
}

void
views_middle(const struct views *views, const struct view *view, double X[3])
{
	double x[3];

	middle_to_camera(views, view, x);
	views_to_world(views, x, X);
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

/* ---- lines ---- */

static int
add_point(struct views *views, const double X[3])
{
	if (views->points == views->points_room) {
		size_t room = views->points_room ? 2 * views->points_room : 1024;
		struct plane_point *more = reallocarray(views->point, room, sizeof(*more));

		if (!more)
			return fail_memory();
		views->point = more;
		views->points_room = room;
	}
	views->point[views->points] = (struct plane_point){ { X[0], X[1], X[2] }, views->n - 1 };
	views->points++;
	views->view[views->n - 1].used++;
	return 0;
}

/* Where a pixel's ray meets the board: in the camera's frame and on the board, mm. False where it
 * does not. */
static bool
meet_board(const struct views *views, const struct board_pose *pose, const double uv[2],
    double x[3], double place[2])
{
	double ray[3] = { 0, 0, 1 }, along = 0, off = 0, s;

	if (!isfinite(uv[0]) || !isfinite(uv[1]) ||
	    !pinhole_undistort(&views->laser->camera, uv, ray))
		return false;
	for (int i = 0; i < 3; i++) {
		along += pose->R[3 * i + 2] * ray[i];
		off += pose->R[3 * i + 2] * pose->t[i];
	}
	s = off / along;
	if (!(fabs(along) > 1e-6) || !(s > 0))
		return false;
	place[0] = place[1] = 0;
	for (int i = 0; i < 3; i++) {
		x[i] = s * ray[i];
		place[0] += pose->R[3 * i] * (x[i] - pose->t[i]);
		place[1] += pose->R[3 * i + 1] * (x[i] - pose->t[i]);
	}
	return true;
}

static bool
is_on_board(const struct board *board, const double place[2])
{
	double middle[2], reach = MARGIN * board->spacing_mm;

	board_middle(board, middle);
	for (int k = 0; k < 2; k++) {
		double half = middle[k] * board->spacing_mm;

		if (fabs(place[k] - half) > half + reach)
			return false;
	}
	return true;
}

/* Is a place of a chessboard near an edge of its squares? */
static bool
is_near_edge(const struct views *views, const double place[2], double depth, double sigma_px)
{
	double spacing = views->board.spacing_mm;
	double px = views->laser->camera.K[0] / depth * spacing, off = INFINITY;

	for (int k = 0; k < 2; k++) {
		double at = place[k] / spacing;

		off = fmin(off, fabs(at - floor(at + 0.5)) * px);
	}
	return views->board.kind == BOARD_CHESS &&
	    off < fmin(EDGE_SIGMAS * sigma_px, EDGE_SQUARES * px);
}

static int
add_ray(struct views *views, const struct crop *crop, double u, double v, double sigma_px)
{
	struct view *view = &views->view[views->n - 1];
	double uv[2], x[3], place[2], X[3];

	view->seen++;
	on_sensor(crop, u, v, uv);
	if (!meet_board(views, &view->board, uv, x, place) ||
	    !is_on_board(&views->board, place) ||
	    is_near_edge(views, place, x[2], sigma_px)) {
		views->lost++;
		return 0;
	}
	views_to_world(views, x, X);
	return add_point(views, X);
}

int
views_add_found(struct views *views, const struct run *run, const struct frame_head *head,
    const struct line_points *points, double sigma_px)
{
	struct crop crop;

	if (find_crop(views, run, head, true, &crop) < 0)
		return -1;
	for (size_t i = 0; i < points->n; i++)
		if (add_ray(views, &crop, points->v[i].u, points->v[i].v, sigma_px) < 0)
			return -1;
	return 0;
}

int
views_add_line(struct views *views, const struct run *run, const struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	struct crop crop;
	double sigma_px;
	size_t u, v;

	if (meta_number(&head->meta, "line_sigma_px", 0, &sigma_px) < 0 ||
	    find_crop(views, run, head, false, &crop) < 0 || run_channel(run, head, "u", &u) < 0 ||
	    run_channel(run, head, "v", &v) < 0)
		return -1;
	for (size_t i = 0; i < head->w * head->h; i++) {
		double at_u = frame_floats(frame, u, i / head->w)[i % head->w];
		double at_v = frame_floats(frame, v, i / head->w)[i % head->w];

		if (!isnan(at_u) && !isnan(at_v) && add_ray(views, &crop, at_u, at_v, sigma_px) < 0)
			return -1;
	}
	return 0;
}

int
views_add_points(struct views *views, const struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	size_t c[3];

	for (size_t k = 0; k < 3; k++)
		c[k] = head_channel(head, (char[2]){ "xyz"[k] });
	for (size_t i = 0; i < head->w * head->h; i++) {
		double X[3];

		for (int k = 0; k < 3; k++)
			X[k] = frame_floats(frame, c[k], i / head->w)[i % head->w];
		if (!isfinite(X[0]) || !isfinite(X[1]) || !isfinite(X[2]))
			continue;
		views->view[views->n - 1].seen++;
		if (add_point(views, X) < 0)
			return -1;
	}
	return 0;
}

void
views_free(struct views *views)
{
	for (size_t i = 0; i < views->n; i++) {
		free(views->view[i].corners.place);
		free(views->view[i].corners.uv);
	}
	free(views->view);
	free(views->point);
	views->view = NULL;
	views->point = NULL;
	views->n = views->points = 0;
}
