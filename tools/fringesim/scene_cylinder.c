/* The scene of kind SCENE_CYLINDER: a relief of waves all around a cylinder that stands along y,
 * its front in the reference plane, its axis `radius` behind. */
#include "scene_kinds.h"

#include <math.h>

/* Waves around the cylinder (a whole number of them) and along it, per width of the field. */
static const struct wave {
	double share, around, along, phase;
} waves[] = {
	{ 0.34, 3, 1.5, 0.4 },
	{ 0.26, 5, -2.5, 1.9 },
	{ 0.22, 8, 1, 3.3 },
	{ 0.18, 2, 4, 5.1 },
};

#define TWO_PI 6.28318530717958647692
#define ROUNDS 200

static double
distance(const struct scene *scene, const struct ray *ray, double t)
{
	double x = ray->from[0] + t * ray->along[0], y = ray->from[1] + t * ray->along[1];
	double z = ray->from[2] + t * ray->along[2] + scene->radius;
	double turn = atan2(x, z), rise = 0;

	for (size_t i = 0; i < sizeof(waves) / sizeof(*waves); i++)
		rise += waves[i].share * sin(waves[i].around * turn +
		    TWO_PI * waves[i].along * y / scene->width + waves[i].phase);
	return hypot(x, z) - scene->radius - scene->rise * rise;
}

void
scene_cylinder_survey(struct scene *scene)
{
	double around = 0, along = 0, height = fabs(scene->rise);

	for (size_t i = 0; i < sizeof(waves) / sizeof(*waves); i++) {
		around += waves[i].share * waves[i].around;
		along += waves[i].share * fabs(waves[i].along);
	}
	scene->slope = hypot(height * around / (scene->radius - height),
	    height * along * TWO_PI / scene->width);
	scene->low = -2 * scene->radius - height;
	scene->high = height;
}

/* Where the ray is in the cylinder around all waves; false where it is not. */
static bool
enter(const struct scene *scene, const struct ray *ray, double *t0, double *t1)
{
	double outer = scene->radius + fabs(scene->rise);
	double x = ray->from[0], z = ray->from[2] + scene->radius;
	double dx = ray->along[0], dz = ray->along[2];
	double a = dx * dx + dz * dz, b = x * dx + z * dz, c = x * x + z * z - outer * outer;
	double root = b * b - a * c;

	if (!(root > 0 && a > 0))
		return false;
	*t0 = fmax((-b - sqrt(root)) / a, ray->t0);
	*t1 = fmin((-b + sqrt(root)) / a, ray->t1);
	return *t0 < *t1;
}

double
scene_cylinder_hit(const struct scene *scene, const struct ray *ray)
{
	double length = sqrt(ray->along[0] * ray->along[0] + ray->along[1] * ray->along[1] +
	    ray->along[2] * ray->along[2]);
	double fastest = length * (1 + scene->slope), least = 1e-6 * scene->width / length;
	double t, end, over, next;

	if (!enter(scene, ray, &t, &end))
		return INFINITY;
	over = distance(scene, ray, t);
	if (over <= 0)
		return t;
	for (;; t = next) {
		next = t + fmax(distance(scene, ray, t) / fastest, least);
		if (next >= end)
			return INFINITY;
		if (distance(scene, ray, next) <= 0)
			break;
	}
	/* halves the piece between outside and inside until it has no digits left */
	for (int i = 0; i < ROUNDS && next > t; i++) {
		double middle = t + (next - t) / 2;

		if (middle == t || middle == next)
			break;
		if (distance(scene, ray, middle) > 0)
			t = middle;
		else
			next = middle;
	}
	return t;
}
