#include "points/icp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"

#define COARSE 4		/* pixels from one to the next at first */
#define WIDE_FREE 5e-4		/* eigenvalues that the bends of a surface make of wide normals */
#define COARSE_TIMES 30		/* what is rest then */
#define OVERLAP_STEP 8
#define NEAR_PITCHES 20		/* distances of points within which views overlap */
#define COMMON_LEAST 1000
#define STEPS_MOST 100
#define COARSE_MOST 40		/* which need not come to rest */
#define TURN_RAD 1e-6
#define SHIFT 1e-4
#define STANDARD_ERRORS 0.05	/* of a step, below which it is noise alone */
#define CIRCLE_STEPS 16		/* after which a fit that only circles has come to rest */
#define CIRCLE 0.2		/* standard errors that it may have moved in them */
#define NOISES 3		/* times the noise of the views that a fit may have */
#define PITCHES 0.1		/* of the points' distance, which always is */
#define AGREE_LEAST 0.5		/* share of the common points */

struct fitting {
	const struct ordered_view *target, *source;
	struct pose pose;
	size_t step, columns;		/* pixels of the source that are looked at */
	struct rigid_pair *pair;	/* columns x rows */
	float (*other)[3];		/* its second normal */
	/* of each pair; where there are two, the pair has the first one */
	enum { ONE_NORMAL, NEAR_NORMALS, WIDE_NORMALS } normals;
};

/* Are both sides of the surface that a camera sees on the same side? Two views never see the front
 * and the back of one place. */
static bool
faces(const double R[9], const float from[3], const float to[3])
{
	double dot = 0;

	for (size_t k = 0; k < 3; k++)
		dot += to[k] * (R[3 * k] * from[0] + R[3 * k + 1] * from[1] + R[3 * k + 2] *
		    from[2]);
	return dot > 0;
}

/* Pair i, of a pixel of the source. Its partner is found from the mean of its neighbours: with its
 * own noise the place and the normal there would go with the residual, and pull the pose. */
static void
find_pair(const struct fitting *fitting, const struct ordered_pixel *from, size_t i)
{
	struct rigid_pair *pair = &fitting->pair[i];
	const struct ordered_view *target = fitting->target;
	double X[3] = { from->mean[0], from->mean[1], from->mean[2] }, uv[2], foot[3], d = 0;
	double own[3] = { from->point[0], from->point[1], from->point[2] };
	const struct ordered_pixel *to;
	size_t partner;

	pair->residual = PX_NAN;
	if (isnan(from->normal[0]))
		return;
	pose_apply(&fitting->pose, X, X);
	pose_apply(&fitting->pose, own, own);
	if (!ordered_view_project(target, X, uv) || !ordered_view_surface(target, uv, foot))
		return;
	partner = (size_t)(uv[1] + 0.5) * target->w + (size_t)(uv[0] + 0.5);
	to = &target->pixel[partner];
	if (isnan(to->normal[0]) || !faces(fitting->pose.R, from->normal, to->normal))
		return;
	for (size_t k = 0; k < 3; k++) {
		pair->point[k] = (float)X[k];
		pair->normal[k] = to->normal[k];
		d += to->normal[k] * (foot[k] - own[k]);
	}
	pair->residual = (float)d;
	if (fitting->normals != ONE_NORMAL && !ordered_view_two_normals(target, partner,
	    fitting->normals == WIDE_NORMALS, pair->normal, fitting->other[i]))
		fitting->other[i][0] = PX_NAN;
}

static void
find_row(void *arg, size_t row)
{
	const struct fitting *fitting = arg;
	const struct ordered_view *source = fitting->source;
	const struct ordered_pixel *from = source->pixel + row * fitting->step * source->w;

	for (size_t i = 0; i < fitting->columns; i++)
		find_pair(fitting, &from[i * fitting->step], row * fitting->columns + i);
}

static size_t
find_pairs(struct run *run, struct fitting *fitting, size_t step)
{
	size_t rows = (fitting->source->h + step - 1) / step;

	fitting->step = step;
	fitting->columns = (fitting->source->w + step - 1) / step;
	run_for(run, rows, find_row, fitting);
	return rows * fitting->columns;
}

static size_t
count_pairs(const struct fitting *fitting, size_t n)
{
	size_t common = 0;

	for (size_t i = 0; i < n; i++)
		common += !px_isnan(fitting->pair[i].residual);
	return common;
}

static int
begin(struct fitting *fitting)
{
	size_t n = fitting->source->w * fitting->source->h;

	fitting->pair = malloc(n * sizeof(*fitting->pair));
	fitting->other = malloc(n * sizeof(*fitting->other));
	if (fitting->pair && fitting->other)
		return 0;
	free(fitting->pair);
	free(fitting->other);
	return fail_memory();
}

static void
end(struct fitting *fitting)
{
	free(fitting->pair);
	free(fitting->other);
}

size_t
icp_overlap(struct run *run, const struct ordered_view *target, const struct ordered_view *source,
    const struct pose *pose)
{
	struct fitting fitting = { .target = target, .source = source, .pose = *pose };
	size_t common = 0, n;

	if (begin(&fitting) < 0) {
		fail_clear();
		return 0;
	}
	n = find_pairs(run, &fitting, OVERLAP_STEP);
	for (size_t i = 0; i < n; i++)
		common += fabsf(fitting.pair[i].residual) <= NEAR_PITCHES * target->pitch;
	end(&fitting);
	return common;
}

/* Noise and the cut do not let few points rest, but what then moves is less than they know. */
static bool
is_done(const struct rigid_step *last, size_t step)
{
	double coarse = step > 1 ? COARSE_TIMES : 1;

	return (last->turn_rad < coarse * TURN_RAD && last->shift < coarse * SHIFT) ||
	    last->standard_errors < STANDARD_ERRORS;
}

/* Has it come back to where it was? As points hop over the cut, and from one normal to the next,
 * the steps of few noisy points can go around in a circle, far smaller than what they know. */
static bool
has_circled(const struct rigid_step *last, const struct pose *before, const struct pose *now)
{
	struct pose motion;

	pose_invert(before, &motion);
	pose_compose(now, &motion, &motion);
	return rigid_step_standard_errors(last, &motion) < CIRCLE;
}

/* Iterates on every so many pixels. 1 where it has come to rest, 0 where not; -1 after fail(). */
static int
iterate(struct run *run, const char *name, struct fitting *fitting, size_t step,
    struct rigid_step *last, struct icp_result *result)
{
	size_t most = result->steps + (step > 1 ? COARSE_MOST : STEPS_MOST);
	struct pose before = fitting->pose;

	for (size_t steps = 1; result->steps < most; steps++) {
		size_t n = find_pairs(run, fitting, step), common = count_pairs(fitting, n);

		if (common * step * step < COMMON_LEAST)
			return fail(name, "has only %zu common points, %d are needed: does it "
			    "overlap, is its pose near?", common * step * step, COMMON_LEAST);
		if (rigid_step_solve_noisy(run, fitting->pair, fitting->normals != ONE_NORMAL ?
		    (const float (*)[3])fitting->other : NULL, n, INFINITY, last) < 0)
			return -1;
		pose_compose(&last->motion, &fitting->pose, &fitting->pose);
		result->steps++;
		if (is_done(last, step))
			return 1;
		if (steps % CIRCLE_STEPS > 0)
			continue;
		if (has_circled(last, &before, &fitting->pose))
			return 1;
		before = fitting->pose;
	}
	return 0;
}

static int
find_freedom(struct run *run, struct fitting *fitting, double least, struct rigid_freedom *freedom)
{
	size_t n = find_pairs(run, fitting, 1);
	struct rigid_step step;

	return rigid_step_solve(run, fitting->pair, n, INFINITY, &step) < 0 ? -1 :
	    rigid_step_freedom_below(run, fitting->pair, (const float (*)[3])fitting->other, n,
	    &step, least, freedom);
}

/* Does the overlap leave a motion free? Near normals are right and noisy; where noise hides what
 * they see, wide ones may see it. -1 after fail(). */
static int
check_freedom(struct run *run, const char *name, struct fitting *fitting)
{
	struct rigid_freedom freedom, wide = { 0 };

	fitting->normals = NEAR_NORMALS;
	if (find_freedom(run, fitting, RIGID_STEP_FREE, &freedom) < 0)
		return -1;
	fitting->normals = WIDE_NORMALS;
	if (freedom.free && find_freedom(run, fitting, WIDE_FREE, &wide) < 0)
		return -1;
	fitting->normals = ONE_NORMAL;
	return wide.free == 0 ? 0 : fail(name, "the overlap leaves %zu motion%s free, most of "
	    "all %s (eigenvalue %.2g of the largest)", freedom.free, freedom.free > 1 ? "s" : "",
	    freedom.motion, fmax(freedom.eigenvalue[5], 0) / freedom.eigenvalue[0]);
}

static int
check_fit(const char *name, const struct icp_result *result, const struct rigid_step *step,
    double max_rms, bool done)
{
	double agree = (double)step->used / (double)step->pairs;
	double most = isnan(max_rms) ? NOISES * result->expected : max_rms;

	if (!done || !(result->rms <= most) || agree < AGREE_LEAST)
		return fail(name, "does not fit: rms %.4g over an overlap of %.1f %%, where %.4g "
		    "is %s; %s", result->rms, 100 * result->overlap, most,
		    isnan(max_rms) ? "what noise explains" : "--max-rms",
		    done ? "start nearer (--pose), or say --max-rms" : "no rest after 100 steps");
	return 0;
}

static int
fit(struct run *run, const char *name, struct fitting *fitting, double max_rms,
    struct icp_result *result)
{
	const struct ordered_view *target = fitting->target, *source = fitting->source;
	struct rigid_step last;
	int done;

	fitting->normals = WIDE_NORMALS;
	if (iterate(run, name, fitting, COARSE, &last, result) < 0 ||
	    check_freedom(run, name, fitting) < 0)
		return -1;
	done = iterate(run, name, fitting, 1, &last, result);
	if (done < 0)
		return -1;
	result->pose = fitting->pose;
	result->common = last.pairs;
	result->overlap = (double)last.used / (double)source->points;
	result->rms = last.rms;
	result->cut = 3 * last.sigma;
	result->expected = sqrt(source->noise * source->noise + target->noise * target->noise +
	    pow(PITCHES * target->pitch, 2));
	return check_fit(name, result, &last, max_rms, done);
}

int
icp_fit(struct run *run, const char *name, const struct ordered_view *target,
    const struct ordered_view *source, const struct pose *start, double max_rms,
    struct icp_result *result)
{
	struct fitting fitting = { .target = target, .source = source, .pose = *start };
	int status;

	*result = (struct icp_result){ .pose = *start };
	if (begin(&fitting) < 0)
		return -1;
	status = fit(run, name, &fitting, max_rms, result);
	end(&fitting);
	pose_orthonormalize(&result->pose);
	return status;
}
