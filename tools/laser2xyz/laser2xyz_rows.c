/* The loop of laser2xyz over the points of a slice: where a pixel's ray meets the laser's plane. */
#include "laser2xyz.h"

/* Is a full-frame pixel in the calibration's picture, or is no size known? */
static bool
is_in_picture(const struct laser *laser, const double uv[2])
{
	const struct pinhole *camera = &laser->camera;

	return !(camera->w > 0) || !(camera->h > 0) || (uv[0] > -1 && uv[1] > -1 &&
	    uv[0] < camera->w && uv[1] < camera->h);
}

/* Counts the point, and why it is lost. */
static bool
is_kept(const struct slice *slice, enum laser_meeting meeting, double depth,
    struct counts *counts)
{
	bool near = depth < slice->min_depth, far = depth > slice->max_depth;

	counts->no_ray += meeting == LASER_NO_RAY;
	counts->parallel += meeting == LASER_PARALLEL;
	counts->behind += meeting == LASER_BEHIND;
	if (meeting != LASER_MET)
		return false;
	counts->near += near;
	counts->far += far;
	counts->met += !near && !far;
	counts->deepest = fmax(counts->deepest, depth);
	return !near && !far;
}

static void
fill(void *arg, size_t part)
{
	const struct slice *slice = arg;
	const struct frame_head *head = &slice->in->head;
	size_t end = (part + 1) * SLICE_POINTS, n = head->w * head->h, c = head->c;
	double near[2] = { NAN, NAN };
	struct counts *counts = &slice->counts[part];

	for (size_t i = part * SLICE_POINTS; i < end && i < n; i++) {
		size_t x = i % head->w, y = i / head->w;
		double u = frame_floats(slice->in, slice->u, y)[x];
		double v = frame_floats(slice->in, slice->v, y)[x];
		double X[3] = { NAN, NAN, NAN }, depth = NAN;
		double uv[2] = { slice->origin_px[0] + (u + 0.5) * slice->bin[0] - 0.5,
			slice->origin_px[1] + (v + 0.5) * slice->bin[1] - 0.5 };
		bool given = !isnan(u) && !isnan(v);
		enum laser_meeting meeting = laser_meet(slice->laser, uv, near, X, &depth);

		counts->points += given;
		counts->outside += given && !is_in_picture(slice->laser, uv);
		if (!given || !is_kept(slice, meeting, depth, counts))
			X[0] = X[1] = X[2] = NAN;
		else
			stage_pose_undo(slice->pose, slice->laser, X);
		for (size_t k = 0; k < 3; k++)
			frame_floats(slice->out, c + k, y)[x] = (float)X[k];
	}
}

const struct laser2xyz_rows AT_LEVEL(laser2xyz_rows) = { .fill = fill };
