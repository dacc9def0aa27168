#define _GNU_SOURCE
#include "scene.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "io/source.h"

/* ---- the face ---- */

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

double
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

/* The steepest slope of the face and its largest and least height, from a grid fine against its
 * smallest bump; with a margin, since a ray may only be stepped safely with too large a slope. */
static void
survey_relief(struct scene *scene)
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

static void
survey_file(struct scene *scene)
{
	const struct frame *file = scene->file;

	scene->spacing = scene->width / file->head.w;
	scene->length = scene->spacing * file->head.h;
	scene->low = INFINITY;
	scene->high = -INFINITY;
	for (size_t y = 0; y < file->head.h; y++)
		for (size_t x = 0; x < file->head.w; x++) {
			float z = frame_floats(file, 0, y)[x];

			if (!isfinite(z))
				continue;
			scene->low = fmin(scene->low, z);
			scene->high = fmax(scene->high, z);
		}
}

/* The standard rise of each kind, in widths of the field. */
static const double standard_rise[] = { 0, 0.2, 0.2, 0.3, 0.4, 0 };

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
	scene->low = fmin(0, scene->rise);
	scene->high = fmax(0, scene->rise);
	if (scene->kind == SCENE_FILE)
		survey_file(scene);
	if (scene->kind == SCENE_RELIEF)
		survey_relief(scene);
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

/* A coordinate in samples of the file; rounding on the way must not make a mixture of a sample. */
static double
in_samples(double at, double spacing, size_t n)
{
	double sample = at / spacing + 0.5 * (double)(n - 1), whole = floor(sample + 0.5);

	return fabs(sample - whole) < 1e-9 ? whole : sample;
}

static double
file_sample(const struct scene *scene, ptrdiff_t i, ptrdiff_t j)
{
	const struct frame_head *head = &scene->file->head;
	float z;

	if (i < 0 || j < 0 || i >= (ptrdiff_t)head->w || j >= (ptrdiff_t)head->h)
		return NAN;
	z = frame_floats(scene->file, 0, (size_t)j)[i];
	return isfinite(z) ? z : NAN;
}

/* Bilinear between samples; on a line of samples only that line counts. */
static double
file_height(const struct scene *scene, double x, double y)
{
	double u = in_samples(x, scene->spacing, scene->file->head.w);
	double v = in_samples(y, scene->spacing, scene->file->head.h);
	double fu = u - floor(u), fv = v - floor(v), row[2] = { 0, 0 };
	const struct frame_head *head = &scene->file->head;
	ptrdiff_t i, j;

	if (!(u >= 0 && v >= 0 && u < (double)head->w && v < (double)head->h))
		return NAN;
	i = (ptrdiff_t)u;
	j = (ptrdiff_t)v;
	for (int k = 0; k < (fv > 0 ? 2 : 1); k++) {
		row[k] = file_sample(scene, i, j + k);
		if (fu > 0)
			row[k] += fu * (file_sample(scene, i + 1, j + k) - row[k]);
	}
	return fv > 0 ? row[0] + fv * (row[1] - row[0]) : row[0];
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
		return scene->rise * scene_relief(x / scene->width, y / scene->width);
	default:
		return file_height(scene, x, y);
	}
}

/* ---- rays ---- */

struct ray {
	const double *from, *along;
	double t0, t1;
};

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

/* The root between t0, where the ray is `over0` over the surface, and t1, where it is under it:
 * false position, with the Illinois rule (Dowell and Jarratt 1971). */
static double
close_in(const struct scene *scene, const struct ray *ray, double t0, double over0, double t1,
    double over1)
{
	double close = 1e-13 * scene->width;

	for (int i = 0; i < 100; i++) {
		double t = (t0 * over1 - t1 * over0) / (over1 - over0);
		double over = ray_over(scene, ray, t);

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

/*
 * Steps so short that the surface, which is nowhere steeper than `slope`, cannot be passed; but
 * none shorter than a 1e-5th of the field: what a ray grazes for less is not seen.
 */
static double
hit_relief(const struct scene *scene, const struct ray *ray)
{
	double across = hypot(ray->along[0], ray->along[1]), up = fabs(ray->along[2]);
	double fastest = up + scene->slope * across;
	double least = 1e-5 * scene->width / hypot(across, up);
	double t = ray->t0, over = ray_over(scene, ray, t);

	if (over <= 0)
		return t;
	while (t < ray->t1) {
		double next = t + fmax(over / fastest, least), then = ray_over(scene, ray, next);

		if (then <= 0) {
			next = close_in(scene, ray, t, over, next, then);
			return next < ray->t1 ? next : INFINITY;
		}
		t = next;
		over = then;
	}
	return INFINITY;
}

/* The first root of a + b t + c t^2 in [t0, t1]. */
static double
first_root(double a, double b, double c, double t0, double t1)
{
	double root = b * b - 4 * a * c, q, r1, r2;

	if (root < 0)
		return INFINITY;
	q = -0.5 * (b + copysign(sqrt(root), b));
	r1 = fmin(q / c, a / q);
	r2 = fmax(q / c, a / q);
	if (r1 >= t0 && r1 <= t1)
		return r1;
	if (a / q >= t0 && a / q <= t1)		/* c = 0: the other root is infinite */
		return a / q;
	return r2 >= t0 && r2 <= t1 ? r2 : INFINITY;
}

/* Inside the cell of four samples the surface is bilinear, over the ray a quadratic in t. p and d:
 * the ray in samples. */
static double
hit_cell(const struct scene *scene, const double p[3], const double d[3], ptrdiff_t i, ptrdiff_t j,
    double t0, double t1)
{
	double z00 = file_sample(scene, i, j), zx = file_sample(scene, i + 1, j) - z00;
	double zy = file_sample(scene, i, j + 1) - z00;
	double zxy = file_sample(scene, i + 1, j + 1) - z00 - zx - zy;
	double x = p[0] - (double)i, y = p[1] - (double)j;
	double a = p[2] - (z00 + zx * x + zy * y + zxy * x * y);
	double b = d[2] - (zx * d[0] + zy * d[1] + zxy * (x * d[1] + y * d[0]));
	double c = -zxy * d[0] * d[1];

	if (isnan(a))
		return INFINITY;
	if (a + t0 * (b + t0 * c) < 0)
		return t0;
	return first_root(a, b, c, t0, t1);
}

/* Where the ray leaves column (or row) i. */
static double
leaves(double p, double d, ptrdiff_t i)
{
	if (d == 0)
		return INFINITY;
	return ((double)i + (d > 0) - p) / d;
}

static double
hit_file(const struct scene *scene, const struct ray *ray)
{
	const struct frame_head *head = &scene->file->head;
	double p[3], d[3], t = ray->t0, t1 = ray->t1;
	ptrdiff_t i, j;

	for (int k = 0; k < 3; k++) {
		double n = k == 0 ? (double)head->w : (double)head->h;

		p[k] = k < 2 ? ray->from[k] / scene->spacing + 0.5 * (n - 1) : ray->from[2];
		d[k] = k < 2 ? ray->along[k] / scene->spacing : ray->along[2];
		if (k < 2 && d[k] != 0) {	/* the part of the ray over the samples */
			t = fmax(t, fmin(-p[k] / d[k], (n - 1 - p[k]) / d[k]));
			t1 = fmin(t1, fmax(-p[k] / d[k], (n - 1 - p[k]) / d[k]));
		} else if (k < 2 && (p[k] < 0 || p[k] > n - 1)) {
			return INFINITY;
		}
	}
	i = (ptrdiff_t)floor(fmin(fmax(p[0] + t * d[0], 0), (double)head->w - 2));
	j = (ptrdiff_t)floor(fmin(fmax(p[1] + t * d[1], 0), (double)head->h - 2));
	while (t < t1) {
		double tx = leaves(p[0], d[0], i), ty = leaves(p[1], d[1], j);
		double end = fmin(fmin(tx, ty), t1), hit = hit_cell(scene, p, d, i, j, t, end);

		if (hit <= t1)
			return hit;
		t = fmax(t, end);
		if (tx < ty)
			i += d[0] > 0 ? 1 : -1;
		else
			j += d[1] > 0 ? 1 : -1;
	}
	return INFINITY;
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
		*t = hit_relief(scene, &ray);
		break;
	case SCENE_FILE:
		*t = hit_file(scene, &ray);
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
