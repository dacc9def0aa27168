#include "scene_kinds.h"

#include <math.h>

#include "base/fail.h"
#include "base/px.h"
#include "io/source.h"

/* ---- setting up ---- */

int
scene_load(struct scene *scene, const char *path)
{
	struct frame *all, *floats;
	size_t c;
	int status;

	if (source_load(path, &all) < 0)
		return -1;
	c = all->head.c == 1 ? 0 : head_channel(&all->head, "depth");
	if (c == NO_CHANNEL) {
		frame_free(all);
		return fail(path, "has several channels and none is named depth");
	}
	status = frame_to_float(all, &floats);
	frame_free(all);
	if (status < 0)
		return -1;
	status = frame_select(floats, &c, 1, &scene->file);
	frame_free(floats);
	return status;
}

/* The standard rise of each kind, in widths of the field. */
static const double standard_rise[] = { 0, 0.2, 0.2, 0.3, 0.4, 0, 0, 0.02 };

int
scene_init(struct scene *scene)
{
	if (isnan(scene->radius))
		scene->radius = 0.3 * scene->width;
	if (isnan(scene->rise))
		scene->rise = scene->kind == SCENE_SPHERE ? scene->radius :
		    standard_rise[scene->kind] * scene->width;
	if (scene->kind == SCENE_SPHERE && !(scene->rise > 0 && scene->rise <= scene->radius))
		return fail_usage("--height", "a cap is at most its radius %g high, not %g",
		    scene->radius, scene->rise);
	if (scene->kind == SCENE_CYLINDER && !(fabs(scene->rise) < 0.5 * scene->radius))
		return fail_usage("--height", "waves on a cylinder of radius %g are less than half "
		    "of that, not %g", scene->radius, scene->rise);
	scene->low = fmin(0, scene->rise);
	scene->high = fmax(0, scene->rise);
	if (scene->kind == SCENE_FILE)
		scene_file_survey(scene);
	if (scene->kind == SCENE_RELIEF)
		scene_relief_survey(scene);
	if (scene->kind == SCENE_CYLINDER)
		scene_cylinder_survey(scene);
	return 0;
}

void
scene_free(struct scene *scene)
{
	frame_free(scene->file);
	scene->file = NULL;
}

/* ---- heights ---- */

static double
terrace(const struct scene *scene, int i)
{
	return scene->rise * i / (SCENE_TERRACES - 1);
}

static double
steps_height(const struct scene *scene, double x)
{
	double i = floor((x / scene->width + 0.5) * SCENE_TERRACES);

	return terrace(scene, (int)fmin(fmax(i, 0), SCENE_TERRACES - 1));
}

static double
cap_height(const struct scene *scene, double x, double y)
{
	double up = scene->radius * scene->radius - x * x - y * y;

	return fmax(0, sqrt(fmax(0, up)) - (scene->radius - scene->rise));
}

double
scene_height(const struct scene *scene, double x, double y)
{
	switch (scene->kind) {
	case SCENE_PLANE:
		return scene->rise;
	case SCENE_TILT:
		return scene->rise * (0.5 + 0.5 * (x / scene->width + y / scene->length));
	case SCENE_STEPS:
		return steps_height(scene, x);
	case SCENE_SPHERE:
		return cap_height(scene, x, y);
	case SCENE_RELIEF:
		return scene_relief_height(scene, x, y);
	default:
		return scene_file_height(scene, x, y);
	}
}

/* ---- rays ---- */

static double
ray_z(const struct ray *ray, double t)
{
	return ray->from[2] + t * ray->along[2];
}

static double
ray_over(const struct scene *scene, const struct ray *ray, double t)
{
	return ray_z(ray, t) - scene_height(scene, ray->from[0] + t * ray->along[0],
	    ray->from[1] + t * ray->along[1]);
}

/* Takes t if it lies on the ray before the best so far. */
static void
offer(const struct ray *ray, double t, double *best)
{
	if (t > ray->t0 && t < ray->t1 && t < *best)
		*best = t;
}

/* Plane and tilt: one linear equation. A ray that starts below is under the surface at once. */
static double
hit_linear(const struct scene *scene, const struct ray *ray)
{
	double a = ray_over(scene, ray, 0), b = ray_over(scene, ray, 1) - a, best = INFINITY;

	if (a + ray->t0 * b < 0)
		return ray->t0;
	offer(ray, -a / b, &best);
	return best;
}

static double
hit_steps(const struct scene *scene, const struct ray *ray)
{
	double best = INFINITY;

	if (ray_over(scene, ray, ray->t0) < 0)
		return ray->t0;
	for (int i = 0; i < SCENE_TERRACES; i++) {
		double t = (terrace(scene, i) - ray->from[2]) / ray->along[2];
		double at = (ray->from[0] + t * ray->along[0]) / scene->width + 0.5;
		double left = i > 0 ? (double)i / SCENE_TERRACES : -INFINITY;
		double right = i < SCENE_TERRACES - 1 ? (i + 1.0) / SCENE_TERRACES : INFINITY;

		if (at >= left && at < right)
			offer(ray, t, &best);
	}
	for (int i = 1; i < SCENE_TERRACES; i++) {
		double wall = ((double)i / SCENE_TERRACES - 0.5) * scene->width;
		double t = (wall - ray->from[0]) / ray->along[0], z = ray_z(ray, t);
		double a = terrace(scene, i - 1), b = terrace(scene, i);

		if (z > fmin(a, b) && z < fmax(a, b))
			offer(ray, t, &best);
	}
	return best;
}

/* The sphere where it is above the plane, else the plane. */
static double
hit_sphere(const struct scene *scene, const struct ray *ray)
{
	const double *d = ray->along;
	double o[3] = { ray->from[0], ray->from[1], ray->from[2] + scene->radius - scene->rise };
	double a = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
	double b = d[0] * o[0] + d[1] * o[1] + d[2] * o[2];
	double c = o[0] * o[0] + o[1] * o[1] + o[2] * o[2] - scene->radius * scene->radius;
	double root = b * b - a * c, best = INFINITY;

	if (ray_over(scene, ray, ray->t0) < 0)
		return ray->t0;
	if (root >= 0) {
		double q = -(b + copysign(sqrt(root), b)), near = fmin(q / a, c / q);

		if (ray_z(ray, near) >= 0)
			offer(ray, near, &best);
	}
	offer(ray, -ray->from[2] / d[2], &best);
	return best;
}

bool
scene_hit(const struct scene *scene, const double from[3], const double along[3], double t0,
    double t1, double *t)
{
	struct ray ray = { from, along, t0, t1 };
	double in = (scene->high - from[2]) / along[2], out = (scene->low - from[2]) / along[2];

	/* Only between the highest and the lowest point; a hair more, so that neither is missed. */
	if (scene->kind >= SCENE_RELIEF && along[2] != 0) {
		double hair = 1e-9 * fabs(out - in) + 1e-12 * scene->width / fabs(along[2]);

		ray.t0 = fmax(t0, fmin(in, out) - hair);
		ray.t1 = fmin(t1, fmax(in, out) + hair);
	}
	switch (scene->kind) {
	case SCENE_PLANE:
	case SCENE_TILT:
		*t = hit_linear(scene, &ray);
		break;
	case SCENE_STEPS:
		*t = hit_steps(scene, &ray);
		break;
	case SCENE_SPHERE:
		*t = hit_sphere(scene, &ray);
		break;
	case SCENE_RELIEF:
		*t = scene_relief_hit(scene, &ray);
		break;
	case SCENE_FILE:
		*t = scene_file_hit(scene, &ray);
		break;
	case SCENE_BOARD:
		*t = INFINITY;
		break;
	case SCENE_CYLINDER:
		*t = scene_cylinder_hit(scene, &ray);
		break;
	}
	return *t < INFINITY;
}

/* ---- paint ---- */

double
scene_checker(const struct scene *scene, double x, double y)
{
	double square = scene->width / 20, i = floor(x / square), j = floor(y / square);

	return fmod(fabs(i + j), 2) < 0.5 ? 1 : 0.4;
}

static double
grid_random(unsigned seed, double i, double j)
{
	uint hash = px_hash(seed ^ 0x7e57u);

	hash = px_hash(px_hash(hash ^ (uint)(int32_t)fmod(i, 1e9)) ^ (uint)(int32_t)fmod(j, 1e9));
	return 0.3 + 0.7 * (double)px_uniform(hash);
}

double
scene_texture(const struct scene *scene, unsigned seed, double x, double y)
{
	double u = 64 * x / scene->width, v = 64 * y / scene->width, i = floor(u), j = floor(v);
	double a = grid_random(seed, i, j), b = grid_random(seed, i + 1, j);
	double c = grid_random(seed, i, j + 1), d = grid_random(seed, i + 1, j + 1);

	a += (u - i) * (b - a);
	c += (u - i) * (d - c);
	return a + (v - j) * (c - a);
}
