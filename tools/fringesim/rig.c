#include "rig.h"

#include <math.h>

#define TWO_PI 6.28318530717958647692

/* Beyond the point itself, in widths of the field: rays towards the light start there. */
#define AWAY 1e-9

static bool
in_projector(const struct rig *rig, const double column[2], int k)
{
	return column[k] >= -0.5 && column[k] < rig->projector_px[k] - 0.5;
}

/* A vector of the camera's frame (or of the picture) in scene coordinates, and back. */
static void
turn(double turn_rad, const double from[2], double to[2])
{
	double c = cos(turn_rad), s = sin(turn_rad);

	to[0] = c * from[0] + s * from[1];
	to[1] = c * from[1] - s * from[0];
}

/* ---- orthographic ---- */

/* How far a projector ray moves in the picture, in pixels, per mm that it rises. */
static void
light_direction(const struct rig *rig, double move[2])
{
	const double *first = rig->ref_plane[rig->used[0] ? 0 : 1], *second = rig->ref_plane[1];

	if (rig->used[0] && rig->used[1]) {
		double det = first[1] * second[2] - first[2] * second[1];

		move[0] = (first[2] - second[2]) / (det * rig->c);
		move[1] = (second[1] - first[1]) / (det * rig->c);
	} else {
		double steep = first[1] * first[1] + first[2] * first[2];

		move[0] = -first[1] / (steep * rig->c);
		move[1] = -first[2] / (steep * rig->c);
	}
}

bool
rig_has_light_direction(const struct rig *rig)
{
	double move[2];

	light_direction(rig, move);
	return isfinite(move[0]) && isfinite(move[1]);
}

static bool
ortho_shadowed(const struct rig *rig, const struct rig_pose *pose, const double at[3])
{
	double move[2], away = AWAY * rig->scene->width, along[3] = { 0, 0, 1 }, t;

	light_direction(rig, move);
	turn(pose->turn_rad, (double[2]){ rig->pixel * move[0], rig->pixel * move[1] }, along);
	return scene_hit(rig->scene, at, along, away, INFINITY, &t);
}

static void
ortho_look(const struct rig *rig, const struct rig_pose *pose, double x, double y,
    struct rig_point *point)
{
	double centred[2] = { (x - 0.5 * (double)(rig->w - 1)) * rig->pixel,
		(y - 0.5 * (double)(rig->h - 1)) * rig->pixel };
	double z;

	turn(pose->turn_rad, centred, point->painted);
	z = scene_height(rig->scene, point->painted[0], point->painted[1]);
	point->surface = point->lit = !isnan(z);
	point->X[0] = x * rig->pixel;
	point->X[1] = y * rig->pixel;
	point->X[2] = point->depth = z + pose->lift;
	for (int k = 0; k < 2; k++) {
		const double *plane = rig->ref_plane[k];
		double phase = plane[0] + plane[1] * x + plane[2] * y + point->depth / rig->c;

		point->column[k] = rig->used[k] ? rig->period_px * phase / TWO_PI : k ? y : x;
		if (rig->used[k] && !in_projector(rig, point->column, k))
			point->lit = false;
	}
	if (point->lit && rig->shadow)
		point->lit = !ortho_shadowed(rig, pose,
		    (double[3]){ point->painted[0], point->painted[1], z });
}

/* ---- pinhole ---- */

/* A direction of a device's own frame in the world. */
static void
to_world(const struct pinhole *device, const double x[3], double X[3])
{
	for (int i = 0; i < 3; i++)
		X[i] = device->R[i] * x[0] + device->R[3 + i] * x[1] + device->R[6 + i] * x[2];
}

static void
to_device(const struct pinhole *device, const double X[3], double x[3])
{
	for (int i = 0; i < 3; i++)
		x[i] = device->R[3 * i] * X[0] + device->R[3 * i + 1] * X[1] +
		    device->R[3 * i + 2] * X[2] + device->T[i];
}

double
rig_axes_meet(const struct calib *calib)
{
	double axis[3] = { 0, 0, 1 }, zero[3] = { 0 };
	double center[3], p[3], q[3], d[3], base[3], away, along;

	pinhole_center(&calib->projector, center);
	to_device(&calib->camera, center, p);
	to_world(&calib->projector, axis, center);
	to_device(&calib->camera, center, q);
	to_device(&calib->camera, zero, base);
	for (int i = 0; i < 3; i++)
		d[i] = q[i] - base[i];
	/* nearest points of (0, 0, s) and p + t d; d is a unit vector */
	away = d[2];
	along = p[2] - away * (p[0] * d[0] + p[1] * d[1] + p[2] * d[2]);
	along /= 1 - away * away;
	return 1 - away * away > 1e-8 && along > 0 ? along : NAN;
}

/* Where the scene stands, seen from the camera: heights come towards it. */
static void
to_scene(const struct rig *rig, const struct rig_pose *pose, const double x[3], double s[3])
{
	double before[3];

	if (pose->stage) {
		for (int i = 0; i < 3; i++)
			before[i] = pose->stage->R[3 * i] * x[0] +
			    pose->stage->R[3 * i + 1] * x[1] + pose->stage->R[3 * i + 2] * x[2] +
			    pose->stage->t[i];
		x = before;
	}
	turn(pose->turn_rad, x, s);
	s[2] = rig->distance - pose->lift - x[2];
}

/* The camera that the scene stands before. */
static const struct pinhole *
before(const struct rig *rig)
{
	return rig->before ? rig->before : &rig->calib->camera;
}

/* Does the scene stand between its point s and a device? */
static bool
pinhole_hidden(const struct rig *rig, const struct rig_pose *pose, const double s[3],
    const struct pinhole *device)
{
	double center[3], x[3], eye[3], along[3], t, far;

	pinhole_center(device, center);
	to_device(before(rig), center, x);
	to_scene(rig, pose, x, eye);
	for (int i = 0; i < 3; i++)
		along[i] = eye[i] - s[i];
	far = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
	return scene_hit(rig->scene, s, along, AWAY * rig->scene->width / far, 1, &t);
}

/* The ray of a camera that the scene does not stand before. */
static void
ray_of_other(const struct rig *rig, const struct rig_pose *pose, const double ray[3],
    double from[3], double along[3])
{
	const struct pinhole *camera = &rig->calib->camera, *first = before(rig);
	double center[3], way[3], x[3], beyond[3], to[3];

	pinhole_center(camera, center);
	to_world(camera, ray, way);
	to_device(first, center, x);
	to_scene(rig, pose, x, from);
	for (int i = 0; i < 3; i++)
		beyond[i] = center[i] + way[i];
	to_device(first, beyond, x);
	to_scene(rig, pose, x, to);
	for (int i = 0; i < 3; i++)
		along[i] = to[i] - from[i];
}

/* A point of the camera's frame, in the world and on the projector. */
static void
light(const struct rig *rig, const double on[3], struct rig_point *point)
{
	const struct pinhole *camera = &rig->calib->camera;
	double seen[3], center[3];

	pinhole_center(camera, center);
	to_world(camera, on, seen);
	for (int i = 0; i < 3; i++)
		point->X[i] = center[i] + seen[i];
	point->lit = pinhole_project(&rig->calib->projector, point->X, point->column) &&
	    in_projector(rig, point->column, 0) && in_projector(rig, point->column, 1);
}

static void
board_look(const struct rig *rig, double x, double y, struct rig_point *point)
{
	double uv[2] = { x + rig->origin_px[0], y + rig->origin_px[1] };
	double ray[3] = { 0, 0, 1 };

	if (!pinhole_undistort(&rig->calib->camera, uv, ray) ||
	    !board_scene_hit(rig->board, ray, &point->depth, point->painted))
		return;
	point->surface = true;
	light(rig, (double[3]){ point->depth * ray[0], point->depth * ray[1], point->depth },
	    point);
	point->lit = point->lit && !rig->board->lit_from_behind;
}

bool
rig_board_point(const struct rig *rig, long i, long j, struct rig_point *point, double uv[2])
{
	double on[3];

	*point = (struct rig_point){ .surface = true, .column = { NAN, NAN } };
	board_scene_point(rig->board, i, j, on);
	point->depth = on[2];
	light(rig, on, point);
	point->lit = point->lit && !rig->board->lit_from_behind;
	if (!pinhole_project(&rig->calib->camera, point->X, uv))
		return false;
	for (int k = 0; k < 2; k++)
		uv[k] -= rig->origin_px[k];
	return uv[0] >= -0.5 && uv[1] >= -0.5 && uv[0] <= (double)rig->w - 0.5 &&
	    uv[1] <= (double)rig->h - 0.5;
}

static void
pinhole_look(const struct rig *rig, const struct rig_pose *pose, double x, double y,
    struct rig_point *point)
{
	const struct pinhole *camera = &rig->calib->camera;
	double uv[2] = { x + rig->origin_px[0], y + rig->origin_px[1] }, zero[3] = { 0 };
	double ray[3] = { 0, 0, 1 }, from[3], s[3], along[3], on[3], t;

	if (!pinhole_undistort(camera, uv, ray))
		return;
	to_scene(rig, pose, zero, from);
	turn(pose->turn_rad, ray, along);
	along[2] = -1;
	if (rig->before && rig->before != camera)
		ray_of_other(rig, pose, ray, from, along);
	else if (pose->stage) {
		to_scene(rig, pose, ray, along);
		for (int i = 0; i < 3; i++)
			along[i] -= from[i];
	}
	if (!scene_hit(rig->scene, from, along, 0, INFINITY, &t))
		return;
	point->surface = true;
	point->depth = t;		/* the ray has z = 1 in the camera's frame */
	for (int i = 0; i < 3; i++) {
		s[i] = from[i] + t * along[i];
		on[i] = t * ray[i];
	}
	point->painted[0] = s[0];
	point->painted[1] = s[1];
	light(rig, on, point);
	if (rig->shadow && pinhole_hidden(rig, pose, s, &rig->calib->projector))
		point->lit = false;
	point->seen = rig->other && !pinhole_hidden(rig, pose, s, rig->other);
}

void
rig_look(const struct rig *rig, const struct rig_pose *pose, double x, double y,
    struct rig_point *point)
{
	*point = (struct rig_point){ .column = { NAN, NAN }, .painted = { NAN, NAN } };
	if (rig->board)
		board_look(rig, x, y, point);
	else if (rig->calib)
		pinhole_look(rig, pose, x, y, point);
	else
		ortho_look(rig, pose, x, y, point);
}

double
rig_sample(const struct rig *rig, size_t k)
{
	return ((double)k + 0.5) / (double)rig->samples - 0.5 - (double)rig->margin;
}
