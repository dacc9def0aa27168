#include "laser_light.h"

#include <math.h>

#include "base/fail.h"

/* A Gaussian ends there, in standard deviations. */
#define END 6
#define ROOT_HALF 0.70710678118654752440
#define ROOT_PI_HALF 1.25331413731550025121
/* The laser itself is at most so far off its plane, of its distance. */
#define OFF_PLANE 1e-3

int
laser_options_check(const struct laser_options *options, bool calibrated, bool shadow,
    bool cylinder, long frames)
{
	bool step = !isnan(options->stage_step), angle = !isnan(options->stage_angle);

	if (!options->on && cylinder) {
		if (angle && frames < 2)
			return fail_usage("--stage-angle", "turns between measurements: give "
			    "--frames");
		angle = false;
	}
	if (!options->on)
		return options->reflection.n ? fail_usage("--reflection", "is only for --laser") :
		    options->from.n ? fail_usage("--laser-from", "is only for --laser") :
		    step || angle ? fail_usage(step ? "--stage-step" : "--stage-angle",
			step ? "is only for --laser" :
			"is only for --laser and --scene cylinder") :
		    options->speckle > 0 ? fail_usage("--speckle", "is only for --laser") :
		    !isnan(options->thickness) ? fail_usage("--thickness", "is only for --laser") :
		    options->profile ? fail_usage("--profile", "is only for --laser") :
		    options->stage_start != 0 ?
		    fail_usage("--stage-start", "is only for --laser") : 0;
	if (!calibrated)
		return fail_usage("--laser", "needs --calib with a camera and laser_plane");
	if (step && angle)
		return fail_usage("--stage-step", "and --stage-angle are two stages");
	if (options->stage_start != 0 && !step)
		return fail_usage("--stage-start", "needs --stage-step");
	if ((step || angle) && frames < 2)
		return fail_usage(step ? "--stage-step" : "--stage-angle", "moves from picture to "
		    "picture: give --frames");
	if (options->reflection.n && (options->reflection.n != 2 ||
	    !(options->reflection.v[0] >= 0)))
		return fail_usage("--reflection", "must be its share of the light and its "
		    "distance in mm");
	if (options->from.n && options->from.n != 3)
		return fail_usage("--laser-from", "must be three numbers, not %zu",
		    options->from.n);
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
	off = fabs(p[0] * v[0] + p[1] * v[1] + p[2] * v[2] + p[3]);
	away = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 1;
	return off <= OFF_PLANE * away ? 0 : fail_usage("--laser-from", "lies %.3g %s off the "
	    "laser's plane", off, laser->unit);
}

int
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

double
laser_light_reach(const struct laser_light *light)
{
	double reach = light->profile == LASER_BAR ? light->thickness : END * light->thickness;

	return light->share > 0 ? reach + fabs(light->shift) : reach;
}

static double
profile(const struct laser_light *light, double d)
{
	double t = d / light->thickness;

	return light->profile == LASER_BAR ? fabs(t) <= 1 : exp(-0.5 * t * t);
}

/* The integral of the profile from 0 to d. */
static double
integral(const struct laser_light *light, double d)
{
	double h = light->thickness;

	return light->profile == LASER_BAR ? fmin(fmax(d, -h), h) :
	    h * ROOT_PI_HALF * erf(ROOT_HALF * d / h);
}

static double
mean(const struct laser_light *light, double a, double b)
{
	return fabs(b - a) > 1e-6 * light->thickness ?
	    (integral(light, b) - integral(light, a)) / (b - a) : profile(light, 0.5 * (a + b));
}

double
laser_light_mean(const struct laser_light *light, double a, double b)
{
	double sum = mean(light, a, b);

	if (light->share > 0)
		sum += light->share * mean(light, a - light->shift, b - light->shift);
	return sum;
}
