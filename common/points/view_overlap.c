#include "points/view_overlap.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"

#define STEP 8

/* The depth of a point of the target's frame as its camera counts it: larger is farther. */
static double
depth(const struct ordered_view *target, const double X[3])
{
	const double *P = target->camera.P + 8;

	return (P[0] * X[0] + P[1] * X[1] + P[2] * X[2] + P[3]) * target->camera.side;
}

static void
add(const struct ordered_view *target, const struct ordered_pixel *from, const struct pose *pose,
    struct view_overlap *overlap, float *off)
{
	double X[3] = { from->point[0], from->point[1], from->point[2] }, uv[2], foot[3];
	double away = 0, along = 0;
	const struct ordered_pixel *to;

	pose_apply(pose, X, X);
	if (!ordered_view_project(target, X, uv))
		return;
	overlap->seen++;
	if (!ordered_view_surface(target, uv, foot))
		return;
	to = &target->pixel[(size_t)(uv[1] + 0.5) * target->w + (size_t)(uv[0] + 0.5)];
	if (px_isnan(to->normal[0]))
		return;
	overlap->common++;
	for (size_t k = 0; k < 3; k++) {
		away += (foot[k] - X[k]) * (foot[k] - X[k]);
		along += to->normal[k] * (foot[k] - X[k]);
	}
	if (fabs(along) <= VIEW_OVERLAP_PITCHES * target->pitch)
		off[overlap->near++] = (float)fabs(along);
	else if (sqrt(away) > VIEW_OVERLAP_PITCHES * target->pitch &&
	    depth(target, X) < depth(target, foot))
		overlap->before++;
}

int
view_overlap_find(const struct ordered_view *target, const struct ordered_view *source,
    const struct pose *pose, struct view_overlap *overlap)
{
	float *off = malloc((source->w / STEP + 1) * (source->h / STEP + 1) * sizeof(*off));
	size_t middle;
	float median;

	*overlap = (struct view_overlap){ .median = NAN };
	if (!off)
		return fail_memory();
	for (size_t y = 0; y < source->h; y += STEP)
		for (size_t x = 0; x < source->w; x += STEP) {
			const struct ordered_pixel *from = &source->pixel[y * source->w + x];

			if (px_isnan(from->point[0]))
				continue;
			overlap->points++;
			add(target, from, pose, overlap, off);
		}
	middle = overlap->near / 2;
	if (overlap->near) {
		numbers_ranks(off, overlap->near, &middle, 1, &median);
		overlap->median = median;
	}
	free(off);
	return 0;
}
