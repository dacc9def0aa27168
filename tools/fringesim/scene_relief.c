/* The scene of kind SCENE_RELIEF: a face. */
#include "scene_kinds.h"

#include <math.h>

/* No bump reaches farther from the middle, in widths of the field. */
#define REACH_X 0.36
#define REACH_Y 0.375
/* Steps of a ray before it is asked whether it is beside all bumps, where the surface is flat: an
 * oblique one would take the more the flatter it falls; one in ordinary pictures takes fewer. */
#define STEPS_FLAT 64

struct bump {
	double x, y, rx, ry, rise;	/* centre and half axes in widths of the field */
	bool pair;			/* also at -x */
};

static const struct bump bumps[] = {
	{ 0, 0, 0.36, 0.375, 0.62, false },		/* head */
	{ 0, -0.16, 0.26, 0.17, 0.10, false },		/* forehead */
	{ 0.09, -0.085, 0.11, 0.04, 0.035, true },	/* brows */
	{ 0.105, -0.045, 0.085, 0.055, -0.075, true },	/* eye sockets */
	{ 0.105, -0.045, 0.050, 0.030, 0.035, true },	/* eyes */
	{ 0, 0.005, 0.060, 0.130, 0.13, false },	/* bridge of the nose */
	{ 0, 0.070, 0.065, 0.060, 0.15, false },	/* tip of the nose */
	{ 0.045, 0.085, 0.040, 0.035, 0.045, true },	/* nostrils */
	{ 0.150, 0.050, 0.120, 0.120, 0.060, true },	/* cheeks */
	{ 0, 0.148, 0.090, 0.024, 0.040, false },	/* upper lip */
	{ 0, 0.184, 0.075, 0.026, 0.042, false },	/* lower lip */
	{ 0, 0.262, 0.110, 0.070, 0.110, false },	/* chin */
};

static double
bump(const struct bump *bump, double x, double y)
{
	double u = (x - bump->x) / bump->rx, v = (y - bump->y) / bump->ry;
	double inside = 1 - u * u - v * v;

	return inside > 0 ? bump->rise * inside * inside * inside : 0;
}

/* The face for a field 1 wide: a sum of bumps (1 - r^2)^3, r an elliptic radius; 0 .. about 1. */
static double
scene_relief(double x, double y)
{
	double z = 0;

	for (size_t i = 0; i < sizeof(bumps) / sizeof(*bumps); i++) {
		z += bump(&bumps[i], x, y);
		if (bumps[i].pair)
			z += bump(&bumps[i], -x, y);
	}
	return 1.274 * z;
}

void
scene_relief_survey(struct scene *scene)
{
	const double step = 1.0 / 512;
	double steepest = 0, low = 0, high = 0;

	for (int j = -200; j <= 200; j++)
		for (int i = -200; i <= 200; i++) {
			double x = i * step, y = j * step, z = scene_relief(x, y);
			double dx = scene_relief(x + step / 2, y) - scene_relief(x - step / 2, y);
			double dy = scene_relief(x, y + step / 2) - scene_relief(x, y - step / 2);

			steepest = fmax(steepest, hypot(dx, dy) / step);
			low = fmin(low, z);
			high = fmax(high, z);
		}
	scene->slope = 1.1 * steepest * fabs(scene->rise) / scene->width;
	scene->low = fmin((low - 0.01) * scene->rise, (high + 0.01) * scene->rise);
	scene->high = fmax((low - 0.01) * scene->rise, (high + 0.01) * scene->rise);
}

double
scene_relief_height(const struct scene *scene, double x, double y)
{
	return scene->rise * scene_relief(x / scene->width, y / scene->width);
}

static double
over_relief(const struct scene *scene, const struct ray *ray, double t)
{
	double x = ray->from[0] + t * ray->along[0], y = ray->from[1] + t * ray->along[1];

	return ray->from[2] + t * ray->along[2] - scene_relief_height(scene, x, y);
}

/* The root between t0, where the ray is `over0` over the surface, and t1, where it is under it:
 * false position, with the Illinois rule (Dowell and Jarratt 1971). */
static double
close_in(const struct scene *scene, const struct ray *ray, double t0, double over0, double t1,
    double over1)
{
	double close = 1e-13 * scene->width;

	for (int i = 0; i < 100; i++) {
		double t = (t0 * over1 - t1 * over0) / (over1 - over0);
		double over = over_relief(scene, ray, t);

		if (fabs(over) <= close)
			return t;
		if (over < 0) {
			t1 = t;
			over1 = over;
			over0 /= 2;
		} else {
			t0 = t;
			over0 = over;
			over1 /= 2;
		}
	}
	return t0;
}

/* Narrows low .. high, of the ray, to where it is within `reach` of the middle along one axis. */
static void
narrow(double from, double along, double reach, double *low, double *high)
{
	double a = (-reach - from) / along, b = (reach - from) / along;

	if (along == 0 && fabs(from) > reach)
		*high = -INFINITY;
	if (along == 0)
		return;
	*low = fmax(*low, fmin(a, b));
	*high = fmin(*high, fmax(a, b));
}

/*
 * From t on, where the ray is over the surface: true if it meets the flat part beside the bumps, or
 * nothing, before it is over the bumps, *next being where, or INFINITY. Else *next is where it is
 * over them for the first time, t itself if it is there already.
 */
static bool
pass_flat(const struct scene *scene, const struct ray *ray, double t, double *next)
{
	double low = t, high = ray->t1;
	double flat = ray->along[2] < 0 ? -ray->from[2] / ray->along[2] : INFINITY;

	narrow(ray->from[0], ray->along[0], REACH_X * scene->width, &low, &high);
	narrow(ray->from[1], ray->along[1], REACH_Y * scene->width, &low, &high);
	if (low < high && low < flat) {
		*next = low;
		return false;
	}
	*next = flat < ray->t1 ? flat : INFINITY;
	return true;
}

double
scene_relief_hit(const struct scene *scene, const struct ray *ray)
{
	double across = hypot(ray->along[0], ray->along[1]), up = fabs(ray->along[2]);
	double fastest = up + scene->slope * across;
	double least = 1e-5 * scene->width / hypot(across, up);
	double t = ray->t0, over = over_relief(scene, ray, t);

	if (over <= 0)
		return t;
	for (int i = 0; t < ray->t1; i++) {
		double next, then;

		if (i % STEPS_FLAT == STEPS_FLAT - 1) {
			if (pass_flat(scene, ray, t, &next))
				return next;
			t = next;
			over = over_relief(scene, ray, t);
		}
		next = t + fmax(over / fastest, least);
		then = over_relief(scene, ray, next);
		if (then <= 0) {
			next = close_in(scene, ray, t, over, next, then);
			return next < ray->t1 ? next : INFINITY;
		}
		t = next;
		over = then;
	}
	return INFINITY;
}
