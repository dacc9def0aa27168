#include "phase_views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "io/source.h"
#include "phase_map.h"

#define FEWEST_POINTS 6		/* of a view, as of a camera's */
#define RIPPLE_PX 0.02		/* what fringes' own errors, as rms, are worth a word from */
#define RIPPLE_NOISE 0.3	/* and as a share of the noise */

int
phase_crop_find(const struct frame_head *head, const char *path, struct phase_crop *crop)
{
	struct numbers origin = { 0 }, bin = { 0 };
	bool wrong;

	if (meta_numbers(&head->meta, "origin_px", &origin) < 0 ||
	    meta_numbers(&head->meta, "bin", &bin) < 0) {
		numbers_free(&origin);
		fail_prefix(path);
		return -1;
	}
	wrong = (origin.n != 0 && origin.n != 2) || bin.n > 2;
	for (size_t k = 0; k < 2 && !wrong; k++) {
		crop->bin[k] = bin.n ? bin.v[bin.n == 2 ? k : 0] : 1;
		crop->first[k] = (origin.n ? origin.v[k] : 0) + (crop->bin[k] - 1) / 2;
		wrong = !(crop->bin[k] > 0) || !isfinite(crop->first[k] + crop->bin[k]);
	}
	crop->given = origin.n || bin.n;
	numbers_free(&origin);
	numbers_free(&bin);
	return wrong ? fail(path, "keys origin_px and bin must be numbers of pixels") : 0;
}

static int
find_crop(const struct frame *frame, const char *path, const struct calib_device *camera,
    struct phase_crop *crop)
{
	if (phase_crop_find(&frame->head, path, crop) < 0)
		return -1;
	if (!crop->given && (frame->head.w != camera->w || frame->head.h != camera->h))
		return fail(path, "has %zux%zu pixels and %s %zux%zu: a crop needs the key "
		    "origin_px", frame->head.w, frame->head.h, camera->name, camera->w, camera->h);
	return 0;
}

int
phase_projector_size(const struct frame_head *head, const char *path,
    struct calib_device *projector)
{
	struct numbers size;
	bool there, same;

	if (meta_numbers(&head->meta, "projector_px", &size) < 0) {
		fail_prefix(path);
		return -1;
	}
	there = size.n == 2 && size.v[0] >= 1 && size.v[1] >= 1 && size.v[0] < 65536 &&
	    size.v[1] < 65536;
	if (there && !projector->w) {
		projector->w = (size_t)size.v[0];
		projector->h = (size_t)size.v[1];
	}
	same = !there || ((size_t)size.v[0] == projector->w && (size_t)size.v[1] == projector->h);
	numbers_free(&size);
	return same ? 0 : fail(path, "is of patterns for a projector of %s px (key projector_px), "
	    "not %zux%zu", meta_get(&head->meta, "projector_px"), projector->w, projector->h);
}

static const struct calib_view *
find_view(const struct calib_problem *problem, size_t device, size_t pose)
{
	for (size_t v = 0; v < problem->views; v++)
		if (problem->view[v].device == device && problem->view[v].pose == pose)
			return &problem->view[v];
	return NULL;
}

/* The sigma of a projector's coordinate: the fit's, and the corner's along the slope of the phase;
 * of a corner whose sigma is not known the fit's alone. */
static double
whole_sigma(const struct projector_point *point, size_t axis, const struct calib_point *corner,
    bool corner_known)
{
	double sum = point->sigma[axis] * point->sigma[axis];

	for (size_t k = 0; k < 2 && corner_known; k++) {
		double moved = point->gradient[axis][k] * corner->sigma[k];

		sum += moved * moved;
	}
	return sqrt(sum);
}

static int
check_inside(const struct calib_device *projector, const struct calib_point *point, size_t pose,
    const char *path)
{
	if (point->u >= -0.5 && point->u <= (double)projector->w - 0.5 && point->v >= -0.5 &&
	    point->v <= (double)projector->h - 0.5)
		return 0;
	return fail(path, "pose %zu: corner %d %d lies at %.1f %.1f of the projector, outside of "
	    "its %zux%zu px: another --projector, another period_px, or wrong fringe orders",
	    pose + 1, point->i, point->j, point->u, point->v, projector->w, projector->h);
}

/* The projector's points, their number in *n, out of what was found at n_corners corners. */
static int
collect(struct phase_views *views, const struct calib_problem *problem, size_t projector,
    const struct calib_view *view, const struct projector_point *found, const char *path,
    struct calib_point *out, size_t *n)
{
	*n = 0;
	for (size_t k = 0; k < view->n; k++) {
		const struct calib_point *corner = &problem->point[view->first + k];
		struct calib_point *point = &out[*n];

		views->corners++;
		views->count[found[k].fault]++;
		if (found[k].fault != PROJECTOR_POINT_GOOD)
			continue;
		*point = *corner;
		point->u = found[k].uv[0];
		point->v = found[k].uv[1];
		for (size_t axis = 0; axis < 2; axis++)
			point->sigma[axis] = whole_sigma(&found[k], axis, corner,
			    !problem->device[view->device].sigma_unknown);
		if (check_inside(&problem->device[projector], point, view->pose, path) < 0)
			return -1;
		++*n;
	}
	return 0;
}

static int
add_points(struct phase_views *views, struct calib_problem *problem, size_t projector,
    const struct calib_view *view, const struct coordinate_map map[2],
    const struct phase_crop *crop, const char *path)
{
	double (*corner)[2] = calloc(view->n + 1, sizeof(*corner));
	struct projector_point *found = calloc(view->n + 1, sizeof(*found));
	struct calib_point *point = calloc(view->n + 1, sizeof(*point));
	size_t n = 0, pose = view->pose, camera = view->device;
	int status = corner && found && point ? 0 : fail_memory();

	for (size_t k = 0; k < view->n && status == 0; k++) {
		corner[k][0] = (problem->point[view->first + k].u - crop->first[0]) / crop->bin[0];
		corner[k][1] = (problem->point[view->first + k].v - crop->first[1]) / crop->bin[1];
	}
	if (status == 0)
		status = projector_points(map, (const double (*)[2])corner, view->n,
		    &projector_points_usual, found, views->ripple);
	for (size_t k = 0; k < view->n && status == 0; k++)
		for (size_t axis = 0; axis < 2; axis++) {	/* per pixel of the full frame */
			found[k].gradient[axis][0] /= crop->bin[0];
			found[k].gradient[axis][1] /= crop->bin[1];
		}
	if (status == 0)
		status = collect(views, problem, projector, view, found, path, point, &n);
	if (status == 0 && n >= FEWEST_POINTS)	/* which may move the list of views */
		status = calib_problem_add_view(problem, projector, pose, camera, point, n);
	free(corner);
	free(found);
	free(point);
	return status;
}

static size_t
lost_corners(const struct phase_views *views)
{
	return views->corners - views->count[PROJECTOR_POINT_GOOD];
}

int
phase_views_add(struct phase_views *views, struct calib_problem *problem, size_t projector,
    size_t camera, size_t pose, const struct frame *const phase[2], const char *const path[2])
{
	const struct calib_view *view = find_view(problem, camera, pose);
	struct coordinate_map map[2] = { 0 };
	struct phase_crop crop[2];
	size_t before = lost_corners(views);
	int status = 0;

	if (!view)
		return 0;
	if (phase[0]->head.w != phase[1]->head.w || phase[0]->head.h != phase[1]->head.h)
		return fail(path[1], "pose %zu has %zux%zu pixels, and %zux%zu along x", pose + 1,
		    phase[1]->head.w, phase[1]->head.h, phase[0]->head.w, phase[0]->head.h);
	for (size_t axis = 0; axis < 2 && status == 0; axis++) {
		status = find_crop(phase[axis], path[axis], &problem->device[camera], &crop[axis]);
		if (status == 0)
			status = phase_projector_size(&phase[axis]->head, path[axis],
			    &problem->device[projector]);
		if (status == 0)
			status = phase_map_make(phase[axis], path[axis], axis ? 'y' : 'x',
			    &map[axis]);
	}
	if (status == 0)
		status = add_points(views, problem, projector, view, map, &crop[0], path[0]);
	phase_map_free(&map[0]);
	phase_map_free(&map[1]);
	if (lost_corners(views) - before > views->most_lost) {
		views->most_lost = lost_corners(views) - before;
		views->worst = pose;
	}
	return status;
}

/* The next frames of both streams: 1; 0 where both end; -1 after fail(). */
static int
next_frames(struct source *const source[2], const char *const path[2], size_t pose, size_t poses,
    struct frame *phase[2])
{
	int more[2];

	for (size_t axis = 0; axis < 2; axis++) {
		phase[axis] = NULL;
		more[axis] = source_next(source[axis], &phase[axis]);
		if (more[axis] < 0)
			return -1;
		if (!more[axis] != (pose == poses))
			return fail(path[axis], "has %s phases than there are poses, %zu",
			    more[axis] ? "more" : "fewer", poses);
	}
	return more[0];
}

int
phase_views_read(struct phase_views *views, struct calib_problem *problem, size_t projector,
    size_t camera, size_t poses, const char *const path[2])
{
	struct source *source[2] = { source_open(path[0]), NULL };
	int status = -1;

	if (source[0])
		source[1] = source_open(path[1]);
	for (size_t pose = 0; source[0] && source[1] && pose <= poses; pose++) {
		struct frame *phase[2] = { NULL, NULL };

		status = next_frames(source, path, pose, poses, phase);
		if (status > 0)
			status = phase_views_add(views, problem, projector, camera, pose,
			    (const struct frame *const *)phase, path);
		for (size_t axis = 0; axis < 2; axis++)
			if (phase[axis])
				frame_free(phase[axis]);
		if (status < 0)
			break;
	}
	for (size_t axis = 0; axis < 2; axis++)
		if (source[axis])
			source_close(source[axis]);
	return status;
}

bool
phase_views_residual(const struct phase_views *views, size_t axis, char text[200])
{
	const struct projector_ripple *r = &views->ripple[axis];
	int harmonic;
	double rms = projector_ripple_rms(r, &harmonic);
	double noise = r->weight > 0 ? sqrt(fmax(0, r->square / r->weight - rms * rms)) : 0;

	snprintf(text, 200, "errors that repeat %d times a fringe, %.2g px rms, beside noise of "
	    "%.2g px", harmonic, rms, noise);
	return rms > RIPPLE_PX && rms > RIPPLE_NOISE * noise;
}

/* Are there fringes that are no sinusoids? */
static bool
warn_ripple(const struct phase_views *views)
{
	bool warned = false;

	for (size_t axis = 0; axis < 2; axis++) {
		char text[200];

		if (!phase_views_residual(views, axis, text))
			continue;
		warn(NULL, "fringes along %c are no sinusoids: %s: fringegamma measures the "
		    "projector's response, and fringegen --lut takes it out (or project more "
		    "steps)", axis ? 'y' : 'x', text);
		warned = true;
	}
	return warned;
}

int
phase_views_finish(const struct phase_views *views, const char *const *pose_name)
{
	size_t lost = lost_corners(views);
	bool rippled = warn_ripple(views);
	char number[32];

	if (!views->corners)
		return fail(NULL, "no pose shows the board");
	if (lost == views->corners)
		return fail(NULL, "none of %zu corners has a projector point: %zu lie outside of "
		    "the phases, %zu have too few valid pixels around them, of %zu the phase is "
		    "not smooth%s", views->corners, views->count[PROJECTOR_POINT_OUTSIDE],
		    views->count[PROJECTOR_POINT_INVALID], views->count[PROJECTOR_POINT_RESIDUAL],
		    rippled ? " (the projector's response: fringegamma)" : "");
	snprintf(number, sizeof(number), "%zu", views->worst + 1);
	if (lost)
		warn(NULL, "%zu of %zu corners have no projector point: %zu lie outside of the "
		    "phases, %zu have too few valid pixels around them, of %zu the phase is not "
		    "smooth; pose %s has the most of them, %zu", lost, views->corners,
		    views->count[PROJECTOR_POINT_OUTSIDE], views->count[PROJECTOR_POINT_INVALID],
		    views->count[PROJECTOR_POINT_RESIDUAL],
		    pose_name ? pose_name[views->worst] : number, views->most_lost);
	return 0;
}
