/*
 * The loops of fringesim: what each sample of a simulated picture sees, and the light that the
 * camera gets from there.
 *
 * From top to bottom: the scenes, as heights and as surfaces that rays meet; their paint; the print
 * of a board; the rig, which casts the rays (methods §8); rows of samples; the camera's noise;
 * exposures of fringes; exposures of a laser's line. All geometry is in double.
 */
#include "fringesim.h"

#include "base/px.h"

/* The points from + t along of t0 < t < t1. */
struct ray {
	const double *from, *along;
	double t0, t1;
};

/* ---- SCENE_RELIEF: a face ---- */

/* No bump reaches farther from the middle, in widths of the field. */
#define REACH_X 0.36
#define REACH_Y 0.375
/* After this many steps a ray is tested for being outside all bumps, where the surface is flat: a
 * grazing ray would need very many steps there. Rays of ordinary pictures need fewer than these. */
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
	double dx = x - bump->x, dy = y - bump->y, u, v, inside;

	if (!(fabs(dx) < bump->rx && fabs(dy) < bump->ry))	/* most are: divisions take time */
		return 0;
	u = dx / bump->rx;
	v = dy / bump->ry;
	inside = 1 - u * u - v * v;
	return inside > 0 ? bump->rise * inside * inside * inside : 0;
}

/* The face for a field 1 wide: a sum of bumps (1 - r^2)^3, r an elliptic radius; 0 .. about 1. */
static double
relief(double x, double y)
{
	double z = 0;

	for (size_t i = 0; i < sizeof(bumps) / sizeof(*bumps); i++) {
		z += bump(&bumps[i], x, y);
		if (bumps[i].pair)
			z += bump(&bumps[i], -x, y);
	}
	return 1.274 * z;
}

/* The steepest slope of relief() and its highest point, over a grid of 1/512; the lowest is 0. */
#define RELIEF_STEEPEST 0x1.35b0c8e1352ap+3	/* 9.678 */
#define RELIEF_HIGHEST 0x1.0003070e09cf2p+0	/* 1.00005 */

static void
relief_bounds(struct scene *scene)
{
	const double below = -0.01 * scene->rise, above = (RELIEF_HIGHEST + 0.01) * scene->rise;

	scene->slope = 1.1 * RELIEF_STEEPEST * fabs(scene->rise) / scene->width;
	scene->low = fmin(below, above);
	scene->high = fmax(below, above);
}

static double
relief_height(const struct scene *scene, double x, double y)
{
	return scene->rise * relief(x / scene->width, y / scene->width);
}

static double
relief_clearance(const struct scene *scene, const struct ray *ray, double t)
{
	double x = ray->from[0] + t * ray->along[0], y = ray->from[1] + t * ray->along[1];

	return ray->from[2] + t * ray->along[2] - relief_height(scene, x, y);
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
		double over = relief_clearance(scene, ray, t);

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
 * A ray that is over the surface at t. True if it then meets the flat part around the bumps, or
 * nothing, before it is over the bumps: *next is where, or INFINITY. Else *next is where it is over
 * the bumps first, t itself if it is there already.
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

/* How far along the ray the surface is; INFINITY where it does not meet it. */
static double
relief_hit(const struct scene *scene, const struct ray *ray)
{
	double across = hypot(ray->along[0], ray->along[1]), up = fabs(ray->along[2]);
	double fastest = up + scene->slope * across;
	double least = 1e-5 * scene->width / hypot(across, up);
	double t = ray->t0, over = relief_clearance(scene, ray, t);

	if (over <= 0)
		return t;
	for (int i = 0; t < ray->t1; i++) {
		double next, then;

		if (i % STEPS_FLAT == STEPS_FLAT - 1) {
			if (pass_flat(scene, ray, t, &next))
				return next;
			t = next;
			over = relief_clearance(scene, ray, t);
		}
		next = t + fmax(over / fastest, least);
		then = relief_clearance(scene, ray, next);
		if (then <= 0) {
			next = close_in(scene, ray, t, over, next, then);
			return next < ray->t1 ? next : INFINITY;
		}
		t = next;
		over = then;
	}
	return INFINITY;
}

/*
 * ---- SCENE_CYLINDER ----
 *
 * A relief of waves all around a cylinder that stands along y, its front in the reference plane,
 * its axis `radius` behind.
 */

/* Waves around the cylinder (a whole number of them) and along it, per width of the field. */
static const struct wave {
	double share, around, along, phase;
} cylinder_waves[] = {
	{ 0.34, 3, 1.5, 0.4 },
	{ 0.26, 5, -2.5, 1.9 },
	{ 0.22, 8, 1, 3.3 },
	{ 0.18, 2, 4, 5.1 },
};

#define HALVINGS 200

/* How far a place of the ray is from the cylinder's surface. */
static double
cylinder_clearance(const struct scene *scene, const struct ray *ray, double t)
{
	double x = ray->from[0] + t * ray->along[0], y = ray->from[1] + t * ray->along[1];
	double z = ray->from[2] + t * ray->along[2] + scene->radius;
	double turn = atan2(x, z), rise = 0;

	for (size_t i = 0; i < sizeof(cylinder_waves) / sizeof(*cylinder_waves); i++)
		rise += cylinder_waves[i].share * sin(cylinder_waves[i].around * turn +
		    TWO_PI * cylinder_waves[i].along * y / scene->width + cylinder_waves[i].phase);
	return hypot(x, z) - scene->radius - scene->rise * rise;
}

static void
cylinder_bounds(struct scene *scene)
{
	double around = 0, along = 0, height = fabs(scene->rise);

	for (size_t i = 0; i < sizeof(cylinder_waves) / sizeof(*cylinder_waves); i++) {
		around += cylinder_waves[i].share * cylinder_waves[i].around;
		along += cylinder_waves[i].share * fabs(cylinder_waves[i].along);
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

static double
cylinder_hit(const struct scene *scene, const struct ray *ray)
{
	double length = sqrt(vector3_dot(ray->along, ray->along));
	double fastest = length * (1 + scene->slope), least = 1e-6 * scene->width / length;
	double t, end, over, next;

	if (!enter(scene, ray, &t, &end))
		return INFINITY;
	over = cylinder_clearance(scene, ray, t);
	if (over <= 0)
		return t;
	for (;; t = next) {
		next = t + fmax(cylinder_clearance(scene, ray, t) / fastest, least);
		if (next >= end)
			return INFINITY;
		if (cylinder_clearance(scene, ray, next) <= 0)
			break;
	}
	/* halves the piece between outside and inside until it has no digits left */
	for (int i = 0; i < HALVINGS && next > t; i++) {
		double middle = t + (next - t) / 2;

		if (middle == t || middle == next)
			break;
		if (cylinder_clearance(scene, ray, middle) > 0)
			t = middle;
		else
			next = middle;
	}
	return t;
}

/* ---- SCENE_FILE: heights of a depth image ---- */

static void
file_bounds(struct scene *scene)
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
file_hit(const struct scene *scene, const struct ray *ray)
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

#define SCENE_TERRACES 5

/* ---- all scenes: heights ---- */

static double
terrace(const struct scene *scene, int i)
{
	return scene->rise * i / (SCENE_TERRACES - 1);
}

/* Height of the surface over (x, y); NaN where there is none. */
static double
scene_height(const struct scene *scene, double x, double y)
{
	switch (scene->kind) {
	case SCENE_PLANE:
		return scene->rise;
	case SCENE_TILT:
		return scene->rise * (0.5 + 0.5 * (x / scene->width + y / scene->length));
	case SCENE_STEPS:
		return terrace(scene, (int)fmin(fmax(floor((x / scene->width + 0.5) *
		    SCENE_TERRACES), 0), SCENE_TERRACES - 1));
	case SCENE_SPHERE:
		return fmax(0, sqrt(fmax(0, scene->radius * scene->radius - x * x - y * y)) -
		    (scene->radius - scene->rise));
	case SCENE_RELIEF:
		return relief_height(scene, x, y);
	default:
		return file_height(scene, x, y);
	}
}

static void
scene_bounds(struct scene *scene)
{
	scene->low = fmin(0, scene->rise);
	scene->high = fmax(0, scene->rise);
	if (scene->kind == SCENE_FILE)
		file_bounds(scene);
	if (scene->kind == SCENE_RELIEF)
		relief_bounds(scene);
	if (scene->kind == SCENE_CYLINDER)
		cylinder_bounds(scene);
}

/* ---- all scenes: rays ---- */

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
	double a = vector3_dot(d, d), b = vector3_dot(d, o);
	double c = vector3_dot(o, o) - scene->radius * scene->radius;
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

/*
 * The first t0 < t < t1 at which from + t along lies in or under the surface; false if there is
 * none.
 * The ray need not be normalised. Within 1e-12 of the field's width of the true point.
 */
static bool
scene_hit(const struct scene *scene, const double from[3], const double along[3], double t0,
    double t1, double *t)
{
	static double (*const hit[])(const struct scene *, const struct ray *) = {
		[SCENE_PLANE] = hit_linear, [SCENE_TILT] = hit_linear, [SCENE_STEPS] = hit_steps,
		[SCENE_SPHERE] = hit_sphere, [SCENE_RELIEF] = relief_hit, [SCENE_FILE] = file_hit,
		[SCENE_BOARD] = NULL, [SCENE_CYLINDER] = cylinder_hit };
	struct ray ray = { from, along, t0, t1 };
	double in = (scene->high - from[2]) / along[2], out = (scene->low - from[2]) / along[2];

	/* Only between the highest and the lowest point; a hair more, so that neither is missed. */
	if (scene->kind >= SCENE_RELIEF && along[2] != 0) {
		double hair = 1e-9 * fabs(out - in) + 1e-12 * scene->width / fabs(along[2]);

		ray.t0 = fmax(t0, fmin(in, out) - hair);
		ray.t1 = fmin(t1, fmax(in, out) + hair);
	}
	*t = hit[scene->kind] ? hit[scene->kind](scene, &ray) : INFINITY;
	return *t < INFINITY;
}

/* ---- paint ---- */

/* Painted on the scene: squares of a 20th of the field's width, 1 and 0.4. */
static double
scene_checker(const struct scene *scene, double x, double y)
{
	double square = scene->width / 20, i = floor(x / square), j = floor(y / square);

	return fmod(fabs(i + j), 2) < 0.5 ? 1 : 0.4;
}

/* The same in colour, as shares of red, green and blue light: two colours on those squares, or
 * waves of a fifth, a seventh and an eleventh of the width, 0.1 to 0.9. */
static double
scene_colour(const struct scene *scene, enum scene_paint paint, double x, double y, size_t colour)
{
	static const double squares[2][3] = { { 0.2, 0.55, 0.95 }, { 1, 0.4, 0.1 } };
	static const double waves[3] = { 5, 7, 11 };
	double turn = 2 * M_PI * waves[colour % 3] / scene->width;

	if (paint == SCENE_PAINT_CHECKER)
		return squares[scene_checker(scene, x, y) > 0.5][colour % 3];
	return 0.5 + 0.2 * (sin(turn * x) + cos(turn * y));
}

static double
grid_random(unsigned seed, double i, double j)
{
	uint hash = px_hash(seed ^ 0x7e57u);

	hash = px_hash(px_hash(hash ^ (uint)(int32_t)fmod(i, 1e9)) ^ (uint)(int32_t)fmod(j, 1e9));
	return 0.3 + 0.7 * (double)px_uniform(hash);
}

/* Random texture, 0.3 to 1, bilinear between random numbers on a grid of a 64th of the width. */
static double
scene_texture(const struct scene *scene, unsigned seed, double x, double y)
{
	double u = 64 * x / scene->width, v = 64 * y / scene->width, i = floor(u), j = floor(v);
	double a = grid_random(seed, i, j), b = grid_random(seed, i + 1, j);
	double c = grid_random(seed, i, j + 1), d = grid_random(seed, i + 1, j + 1);

	a += (u - i) * (b - a);
	c += (u - i) * (d - c);
	return a + (v - j) * (c - a);
}

/* ---- a board: place and print ---- */

#define BOARD_BLACK 0.12	/* the share of light that its black sends back */

/* Where the ray (x, y, 1) of the camera's frame meets the board: z, and mm from the middle. */
static bool
board_scene_hit(const struct board_scene *scene, const double ray[3], double *z, double at[2])
{
	const double *R = scene->R, *T = scene->T;
	double down = R[2] * ray[0] + R[5] * ray[1] + R[8];
	double far = R[2] * T[0] + R[5] * T[1] + R[8] * T[2], on[3];

	*z = far / down;
	if (!(down > 0) || !(*z > 0))
		return false;
	for (int k = 0; k < 3; k++)
		on[k] = *z * (k < 2 ? ray[k] : 1) - T[k];
	for (int k = 0; k < 2; k++)
		at[k] = R[k] * on[0] + R[3 + k] * on[1] + R[6 + k] * on[2];
	return fabs(at[0]) <= scene->half[0] && fabs(at[1]) <= scene->half[1];
}

/* Point (i, j) in the camera's frame. */
static void
board_scene_point(const struct board_scene *scene, long i, long j, double x[3])
{
	double middle[2], at[2];

	board_middle(&scene->board, middle);
	board_point(&scene->board, i, j, at);
	for (int k = 0; k < 2; k++)
		at[k] = (at[k] - middle[k]) * scene->board.spacing_mm;
	for (int k = 0; k < 3; k++)
		x[k] = scene->R[3 * k] * at[0] + scene->R[3 * k + 1] * at[1] + scene->T[k];
}

/* How much of a step at 0 has been taken at x, blurred by sigma. */
static double
step_at(double x, double sigma)
{
	return sigma > 0 ? 0.5 * erfc(-x / (sigma * sqrt(2))) : x >= 0;
}

/*
 * Along one side of a chessboard with n corners: the colours' sign, -1 before the first corner, and
 * in *in whether the squares go so far. x in spacings from the first corner.
 */
static double
alternate(double x, size_t n, double sigma, double *in)
{
	double k = fmin(fmax(floor(x + 0.5), -1), (double)n);
	double sign = fmod(k + 2, 2) < 0.5 ? 1 : -1;

	*in = k < 0 ? step_at(x - k, sigma) : k >= (double)n ? step_at(k - x, sigma) : 1;
	if (k < 0)
		return -1;
	if (k >= (double)n)
		return -sign;
	return sign * (2 * step_at(x - k, sigma) - 1);
}

static double
chess_black(const struct board_scene *scene, const double x[2], const double sigma[2])
{
	double in[2];
	double a = alternate(x[0], scene->board.w, sigma[0], &in[0]);
	double b = alternate(x[1], scene->board.h, sigma[1], &in[1]);

	return in[0] * in[1] * (1 + a * b) / 2;
}

static double
nearest(double x, size_t n)
{
	return fmin(fmax(floor(x + 0.5), 0), (double)n - 1);
}

/* Inside the circle whose centre is nearest, in spacings. Rows come first: of asymmetric circles
 * the nearest is in one of three. */
static double
circles_black(const struct board_scene *scene, const double x[2], const double step[4],
    double sigma)
{
	const struct board *board = &scene->board;
	bool shifted = board->kind == BOARD_ACIRCLES;
	double near = INFINITY, to[2] = { 0, 0 }, blur = 0, radius;

	for (int row = shifted ? -1 : 0; row <= (shifted ? 1 : 0); row++) {
		double j = nearest(x[1] + row, board->h), odd = shifted ? fmod(j, 2) : 0;
		double i = nearest(shifted ? (x[0] - odd) / 2 : x[0], board->w);
		double at[2] = { (shifted ? 2 * i + odd : i) - x[0], j - x[1] };

		if (hypot(at[0], at[1]) < near) {
			near = hypot(at[0], at[1]);
			memcpy(to, at, sizeof(to));
		}
	}
	radius = scene->radius / board->spacing_mm;
	if (near > 0)
		blur = sigma * hypot(to[0] * step[0] + to[1] * step[1], to[0] * step[2] +
		    to[1] * step[3]) / (near * board->spacing_mm);
	return step_at(radius - near, blur);
}

/*
 * The share of light that the board sends back at a place, its edges blurred by a Gaussian of
 * `sigma` px; step: mm on the board for a px along x, then y (dx/du dy/du dx/dv dy/dv).
 */
static double
board_scene_share(const struct board_scene *scene, const double at[2], const double step[4],
    double sigma)
{
	double spacing = scene->board.spacing_mm, middle[2], x[2], blur[2], black;

	board_middle(&scene->board, middle);
	for (int k = 0; k < 2; k++) {
		x[k] = at[k] / spacing + middle[k];
		blur[k] = sigma * hypot(step[k], step[2 + k]) / spacing;
	}
	black = scene->board.kind == BOARD_CHESS ? chess_black(scene, x, blur) :
	    circles_black(scene, x, step, sigma);
	return 1 - (1 - BOARD_BLACK) * black;
}

/* ---- the rig: where a camera pixel looks, and what lights that point ---- */

/* Rays from a point towards the light start this far beyond it, in widths of the field. */
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

/* Where the scene stands, seen from the camera: heights come towards it. */
static void
to_scene(const struct rig *rig, const struct rig_pose *pose, const double x[3], double s[3])
{
	double before[3];

	if (pose->stage) {
		matrix3_apply_add(pose->stage->R, x, pose->stage->t, before);
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
	pinhole_from_world(before(rig), center, x);
	to_scene(rig, pose, x, eye);
	for (int i = 0; i < 3; i++)
		along[i] = eye[i] - s[i];
	far = sqrt(vector3_dot(along, along));
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
	matrix3_apply_transposed(camera->R, ray, way);
	pinhole_from_world(first, center, x);
	to_scene(rig, pose, x, from);
	for (int i = 0; i < 3; i++)
		beyond[i] = center[i] + way[i];
	pinhole_from_world(first, beyond, x);
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
	matrix3_apply_transposed(camera->R, on, seen);
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

static bool
board_point_seen(const struct rig *rig, long i, long j, struct rig_point *point, double uv[2])
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

/* The point of a place of the picture, pixels from the centre of the first. */
static void
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

/* The disparity x_left - x_right of a point of the world after rectification; false where the other
 * camera does not see it. That camera's picture has w x h pixels from the origin on unless the file
 * has its size. */
static bool
pair_disparity(const struct pair *pair, const double X[3], const double origin_px[2], size_t w,
    size_t h, double *disparity)
{
	const struct stereo *stereo = &pair->stereo;
	const struct pinhole *other = &stereo->camera[!pair->side];
	double seen[3], rectified[2][2], uv[2];
	double at[2] = { other->w > 0 ? 0 : origin_px[0], other->w > 0 ? 0 : origin_px[1] };
	double size[2] = { other->w > 0 ? other->w : (double)w, other->w > 0 ? other->h :
		(double)h };

	pinhole_from_world(&stereo->camera[STEREO_RIGHT], X, seen);
	if (!pinhole_project(other, X, uv) ||
	    !stereo_project(stereo, STEREO_LEFT, X, rectified[0]) ||
	    !stereo_project(stereo, STEREO_RIGHT, seen, rectified[1]))
		return false;
	*disparity = rectified[0][0] - rectified[1][0];
	for (size_t i = 0; i < 2; i++)
		if (!(uv[i] >= at[i] - 0.5 && uv[i] < at[i] + size[i] - 0.5))
			return false;
	return true;
}

/* ---- rows of samples ---- */

/* The sample of an image of the picture's size that a place of the picture lies on. */
static double
file_paint(const struct simulated_scene *simulated, double x, double y)
{
	const struct frame *image = simulated->albedo;
	double column = fmin(fmax(floor(x + 0.5), 0), (double)image->head.w - 1);
	double row = fmin(fmax(floor(y + 0.5), 0), (double)image->head.h - 1);

	return frame_floats(image, 0, (size_t)row)[(size_t)column] / simulated->white;
}

static double
colour_share(const struct simulated_scene *simulated, const double at[2], size_t colour)
{
	double sum = 0;

	if (colour < SCENE_COLOURS)
		return scene_colour(&simulated->scene, simulated->colours, at[0], at[1], colour);
	for (size_t k = 0; k < SCENE_COLOURS; k++)
		sum += scene_colour(&simulated->scene, simulated->colours, at[0], at[1], k);
	return sum / SCENE_COLOURS;
}

/* The share of light that the surface at a place of the picture sends back; not of boards. */
static double
surface_share(const struct simulated_scene *simulated, const struct rig_point *point,
    double x, double y)
{
	const double *at = point->painted;

	switch (simulated->paint) {
	case PAINT_CHECKER:
		return scene_checker(&simulated->scene, at[0], at[1]);
	case PAINT_NOISE:
		return scene_texture(&simulated->scene, simulated->seed, at[0], at[1]);
	case PAINT_FILE:
		return file_paint(simulated, x, y);
	case PAINT_COLOURS:
		return colour_share(simulated, at, simulated->colour);
	default:
		return 1;
	}
}

static void
fill_truth(const struct simulated_scene *simulated, const struct rig_point *point,
    struct frame *truth, size_t x, size_t y)
{
	const struct rig *rig = &simulated->rig;
	double phase = TWO_PI * point->column[rig->used[0] ? 0 : 1] / rig->period_px;
	double value[] = { phase, point->depth, point->X[0], point->X[1], point->X[2] };
	double disparity;

	for (size_t c = 0; c < 5; c++)
		frame_floats(truth, c, y)[x] = point->lit ? (float)value[c] : NAN;
	frame_floats(truth, 5, y)[x] = point->lit;
	if (simulated->pair.given)
		frame_floats(truth, 6, y)[x] = point->lit && point->seen && pair_disparity(
		    &simulated->pair, point->X, rig->origin_px, rig->w, rig->h, &disparity) ?
		    (float)disparity : NAN;
	for (size_t k = 0; k < SCENE_COLOURS && simulated->paint == PAINT_COLOURS; k++)
		frame_floats(truth, truth->head.c - SCENE_COLOURS + k, y)[x] = point->lit ?
		    (float)colour_share(simulated, point->painted, k) : NAN;
}

static void
look_row(void *arg, size_t row)
{
	const struct look *look = arg;
	struct simulated_scene *simulated = look->simulated;
	const struct rig *rig = &simulated->rig;
	double y = rig_sample(rig, row);
	struct rig_point point;

	for (size_t column = 0; column < simulated->columns; column++) {
		size_t i = row * simulated->columns + column;
		double x = rig_sample(rig, column);

		rig_look(rig, look->pose, x, y, &point);
		simulated->visibility[i] = point.lit ? VISIBILITY_LIT :
		    point.surface ? VISIBILITY_DARK : VISIBILITY_NONE;
		simulated->share[i] = point.surface ?
		    surface_share(simulated, &point, x, y) : 0;
		for (int k = 0; k < 2; k++) {
			if (simulated->column[k])
				simulated->column[k][i] = point.column[k];
			if (simulated->painted[k])
				simulated->painted[k][i] = point.painted[k];
		}
		if (look->truth && rig->samples == 1)
			fill_truth(simulated, &point, look->truth, column, row);
	}
}

/* Where pixels are made of several samples, the truth is that of their centres. */
static void
truth_row(void *arg, size_t y)
{
	const struct look *look = arg;
	const struct rig *rig = &look->simulated->rig;
	struct rig_point point;

	for (size_t x = 0; x < rig->w; x++) {
		rig_look(rig, look->pose, (double)x, (double)y, &point);
		fill_truth(look->simulated, &point, look->truth, x, y);
	}
}

/* How many mm on the board a px is, along the samples of a row (step 1) or column (`columns`). */
static double
painted_slope(const double *painted, size_t i, size_t at, size_t n, size_t step, double samples)
{
	double before = at > 0 ? painted[i - step] : NAN, here = painted[i];
	double behind = at + 1 < n ? painted[i + step] : NAN;

	if (!isnan(before) && !isnan(behind))
		return samples * (behind - before) / 2;
	return !isnan(before) ? samples * (here - before) :
	    !isnan(behind) ? samples * (behind - here) : 0;
}

static void
paint_board_row(void *arg, size_t row)
{
	struct simulated_scene *simulated = arg;
	const struct rig *rig = &simulated->rig;
	size_t columns = simulated->columns;
	double *const *painted = simulated->painted;

	for (size_t column = 0; column < columns; column++) {
		size_t i = row * columns + column;
		double at[2] = { painted[0][i], painted[1][i] }, step[4];

		if (simulated->visibility[i] == VISIBILITY_NONE)
			continue;
		for (int k = 0; k < 2; k++) {
			step[k] = painted_slope(painted[k], i, column, columns, 1,
			    (double)rig->samples);
			step[2 + k] = painted_slope(painted[k], i, row, simulated->rows, columns,
			    (double)rig->samples);
		}
		simulated->share[i] = board_scene_share(&simulated->board, at, step,
		    rig->samples > 1 ? EDGE_BLUR : 0);
	}
}

/*
 * ---- the camera: noise and rounding ----
 *
 * Noise has no state but is a hash of seed, measurement, image and place on the sensor: the same
 * numbers come on any number of threads.
 */

enum camera_use { CAMERA_NOISE, CAMERA_SPECKLE };

/* A number of the normal distribution (Box and Muller 1958); |it| < 5.8. */
static float
normal(uint hash)
{
	float radius = px_sqrt(-2.0f * px_log(px_uniform(px_hash(hash ^ 0x9e3779b9u))));

	return radius * px_cos(PX_TWO_PI * px_uniform(px_hash(hash ^ 0x85ebca6bu)));
}

/* The same at a place of a capture; each use has numbers of its own. */
static double
camera_random(const struct camera *camera, const struct camera_capture *capture, double x, double y,
    enum camera_use what)
{
	uint hash = px_hash(px_hash((uint)camera->seed) ^ capture->measurement);

	hash = px_hash(hash ^ capture->image ^ capture->view << 31);
	hash = px_hash(px_hash(hash ^ (uint)(int32_t)x) ^ (uint)(int32_t)y);
	return (double)normal(what == CAMERA_NOISE ? hash : px_hash(hash ^ 0x5bec71e5u));
}

/* Exposes place (x, y) of the sensor to `light`: grey levels with noise. */
static double
camera_level(const struct camera *camera, const struct camera_capture *capture, double x, double y,
    double light)
{
	double signal = camera->exposure * light;
	double variance = camera->noise * camera->noise + camera->shot * fmax(signal, 0);

	if (variance == 0)
		return signal;
	return signal + sqrt(variance) * camera_random(camera, capture, x, y, CAMERA_NOISE);
}

/* Stores sample x of a row: rounded, halves upward, and held to 0 .. full; float as it is. */
static void
camera_store(const struct camera *camera, double level, void *row, size_t x)
{
	double sample = fmin(fmax(floor(level + 0.5), 0), camera_full(camera));

	if (camera->bits == CAMERA_FLOAT)
		((float *)row)[x] = (float)level;
	else if (camera->bits == CAMERA_8)
		((uint8_t *)row)[x] = (uint8_t)sample;
	else
		((uint16_t *)row)[x] = (uint16_t)sample;
}

/* ---- dithered patterns (methods §1) ---- */

#define DITHERED_REACH 5.5	/* in sigma; less than 4e-8 of the light lies beyond */
#define WINDOW (2 * (int)(DITHERED_REACH * DITHERED_SIGMA) + 4)

/* The shares of pixels `first` on in the light at `at`; returns how many there are. */
static int
weigh(double at, double sigma, double *first, double weight[WINDOW])
{
	double end = floor(at + DITHERED_REACH * sigma + 0.5), before = 0;
	int n;

	*first = floor(at - DITHERED_REACH * sigma + 0.5);
	n = (int)(end - *first) + 1;
	for (int i = 0; i < n; i++) {
		double upto = i == n - 1 ? 1 :
		    0.5 * erfc((at - (*first + i + 0.5)) / (sigma * sqrt(2)));

		weight[i] = upto - before;
		before = upto;
	}
	return n;
}

static void
add_row(const unsigned char *restrict pixel, double weight, double *restrict sum, int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++)
		sum[x] += weight * (double)pixel[x];
}

static size_t
within(double v, size_t n)
{
	return (size_t)fmin(fmax(v, 0), (double)n - 1);
}

/* The share of the light that bright pixels contribute at a projector column and row; beyond its
 * edges the last pixels go on. Within 1e-7. Not inline: its arrays would slow down sinusoids. */
static __attribute__((noinline)) double
dithered_share(const struct dithered *dithered, double column, double row)
{
	const struct frame *image = dithered->image;
	double wx[WINDOW], wy[WINDOW], sum[WINDOW], x0, y0, share = 0;
	size_t w = image->head.w, h = image->head.h;
	unsigned char edge[WINDOW];
	int nx = weigh(column, dithered->sigma_px, &x0, wx);
	int ny = weigh(row, dithered->sigma_px, &y0, wy);
	bool inside = x0 >= 0 && x0 + nx <= (double)w;

	for (int x = 0; x < nx; x++)
		sum[x] = 0;
	for (int y = 0; y < ny; y++) {
		const unsigned char *pixel = frame_row(image, 0, within(y0 + y, h));

		for (int x = 0; x < nx && !inside; x++)
			edge[x] = pixel[within(x0 + x, w)];
		add_row(inside ? pixel + (size_t)x0 : edge, wy[y], sum, nx);
	}
	for (int x = 0; x < nx; x++)
		share += wx[x] * sum[x];
	return share;
}

/* ---- exposures of patterns ---- */

/* What sample i of the scene sends to the camera. */
static double
sample_light(const struct exposure *exposure, size_t i)
{
	const struct simulated_scene *simulated = exposure->simulated;
	char axis = exposure->projected.pattern->axis;	/* none in flat images */
	const double *column = axis ? simulated->column[axis == 'y'] : NULL;
	double light = exposure->ambient;

	if (simulated->visibility[i] == VISIBILITY_LIT) {
		if (exposure->projected.pattern->wave == WAVE_DITHERED)
			light += projected_pattern_level(&exposure->projected,
			    dithered_share(&exposure->dithered, simulated->column[0][i],
			    simulated->column[1][i]));
		else
			light += projected_pattern_at(&exposure->projected, column ? column[i] : 0);
	}
	return simulated->share[i] * light;
}

static void
expose_pixel(const struct exposure *exposure, size_t x, size_t y, double light)
{
	const struct camera *camera = exposure->camera;
	const double *origin = exposure->simulated->rig.origin_px;
	double level = camera_level(camera, &exposure->capture, (double)x + origin[0],
	    (double)y + origin[1], light);

	camera_store(camera, level, frame_row(exposure->out, exposure->plane, y), x);
}

static void
expose_row(void *arg, size_t y)
{
	const struct exposure *exposure = arg;
	size_t w = exposure->simulated->rig.w;

	for (size_t x = 0; x < w; x++)
		expose_pixel(exposure, x, y, sample_light(exposure, y * w + x));
}

static void
blur_row(void *arg, size_t row)
{
	struct exposure *exposure = arg;
	const struct simulated_scene *simulated = exposure->simulated;
	const struct camera_blur *blur = &exposure->blur;
	double *light = blur->line + row * simulated->columns;

	for (size_t i = 0; i < simulated->columns; i++)
		light[i] = sample_light(exposure, row * simulated->columns + i);
	/* in place: light[x] and what precedes it are not needed by the next pixels */
	for (size_t x = 0; x < simulated->rig.w; x++) {
		double sum = 0;

		for (size_t k = 0; k < blur->n; k++)
			sum += blur->weight[k] * light[x * simulated->rig.samples + k];
		light[x] = sum;
	}
}

static void
expose_blurred_row(void *arg, size_t y)
{
	const struct exposure *exposure = arg;
	const struct simulated_scene *simulated = exposure->simulated;
	const struct camera_blur *blur = &exposure->blur;
	const double *line = blur->line + y * simulated->rig.samples * simulated->columns;

	for (size_t x = 0; x < simulated->rig.w; x++) {
		double sum = 0;

		for (size_t k = 0; k < blur->n; k++)
			sum += blur->weight[k] * line[k * simulated->columns + x];
		expose_pixel(exposure, x, y, sum);
	}
}

/* ---- a laser's sheet of light on the surface ---- */

#define GAUSS_END 6		/* a Gaussian's light ends there, in standard deviations */
#define ROOT_HALF 0.70710678118654752440
#define ROOT_PI_HALF 1.25331413731550025121

/* A distance of the plane beyond which there is no light. */
static double
laser_light_reach(const struct laser_light *light)
{
	double reach = (light->profile == LASER_BAR ? 1 : GAUSS_END) * light->thickness;

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

/* The mean of the light, 1 in the middle of the line, from distance a to b of the plane. */
static double
laser_light_mean(const struct laser_light *light, double a, double b)
{
	double sum = mean(light, a, b);

	if (light->share > 0)
		sum += light->share * mean(light, a - light->shift, b - light->shift);
	return sum;
}

/* ---- exposures of a laser's line ---- */

/* Strips of a pixel, in each of which the light is integrated along x. A bar has edges, which may
 * be parallel to x: it needs more. */
#define STRIPS_GAUSS 8
#define STRIPS_BAR 32
/* Two surfaces: the depth changes by more than this share from pixel to pixel. */
#define DEPTH_JUMP 0.02

static void
laser_look(const struct laser_picture *picture, double x, double y, struct seen *sample)
{
	const double *plane = picture->light->laser.plane;
	struct rig_point *point = &sample->point;

	rig_look(&picture->rig, &picture->pose, x, y, point);
	point->lit = point->surface && (!picture->scan->options->from.n || point->lit);
	sample->off = point->surface ? vector3_dot(plane, point->X) + plane[3] : NAN;
}

static bool
is_one_surface(const struct seen *a, const struct seen *b)
{
	const struct rig_point *p = &a->point, *q = &b->point;

	return p->surface && q->surface && fabs(p->depth - q->depth) <= DEPTH_JUMP * p->depth;
}

/* The light from place a to place b beside it. */
static double
between(const struct laser_light *light, const struct seen *a, const struct seen *b)
{
	double sum = 0;

	if (is_one_surface(a, b) && a->point.lit && b->point.lit)
		return laser_light_mean(light, a->off, b->off);
	if (a->point.lit)
		sum += 0.5 * laser_light_mean(light, a->off, a->off);
	if (b->point.lit)
		sum += 0.5 * laser_light_mean(light, b->off, b->off);
	return sum;
}

/* The share of light that the surface at a pixel sends back. */
static double
share_of(const struct laser_picture *picture, size_t x, size_t y, const struct rig_point *at)
{
	const struct simulated_scene *simulated = picture->scan->simulated;
	double step[4] = { 0 };

	if (!at->surface)
		return 0;
	if (!picture->rig.board)
		return surface_share(simulated, at, (double)x, (double)y);
	for (int k = 0; k < 2; k++) {
		struct rig_point next = { 0 };

		rig_look(&picture->rig, &picture->pose, (double)x + (k == 0), (double)y + (k == 1),
		    &next);
		step[2 * k] = next.surface ? next.painted[0] - at->painted[0] : 1;
		step[2 * k + 1] = next.surface ? next.painted[1] - at->painted[1] : 1;
	}
	return board_scene_share(picture->rig.board, at->painted, step, simulated->pixel_blur);
}

/* Speckle multiplies by a number of mean 1 and the standard deviation `contrast`, never negative:
 * of the log-normal distribution. */
static double
speckle(const struct laser_picture *picture, double x, double y)
{
	double contrast = picture->light->speckle, variance = log(1 + contrast * contrast);
	struct camera_capture capture = { picture->number, 0 };

	return exp(sqrt(variance) * camera_random(picture->scan->camera, &capture, x, y,
	    CAMERA_SPECKLE) - 0.5 * variance);
}

static void
laser_look_row(void *arg, size_t y)
{
	const struct laser_picture *picture = arg;

	for (size_t x = 0; x < picture->rig.w; x++)
		laser_look(picture, (double)x, (double)y, &picture->middle[y * picture->rig.w + x]);
}

/* Is the pixel sure to get no light? Its surface goes on to the next pixel, and its middle is
 * farther from the light than several times its own breadth. */
static bool
is_unlit(const struct laser_picture *picture, size_t x, size_t y)
{
	size_t w = picture->rig.w, other = x + 1 < w ? x + 1 : x - 1;
	const struct seen *row = &picture->middle[y * w], *at = &row[x];

	if (w < 2 || !is_one_surface(at, &row[other]))
		return false;
	return fabs(at->off) > laser_light_reach(picture->light) +
	    4 * fabs(row[other].off - at->off) + 4 * picture->light->thickness;
}

static void
laser_expose_row(void *arg, size_t y)
{
	const struct laser_picture *picture = arg;
	const struct laser_scan *scan = picture->scan;
	const struct rig *rig = &picture->rig;
	size_t strips = picture->light->profile == LASER_BAR ? STRIPS_BAR : STRIPS_GAUSS;
	struct seen left[STRIPS_BAR];
	bool known = false;		/* left */

	for (size_t x = 0; x < rig->w; x++) {
		double sum = 0, level, at[2] = { (double)x + rig->origin_px[0],
			(double)y + rig->origin_px[1] };
		const struct seen *middle = &picture->middle[y * rig->w + x];
		bool unlit = is_unlit(picture, x, y);

		for (size_t s = 0; s < strips && !unlit; s++) {
			double strip = (double)y + ((double)s + 0.5) / (double)strips - 0.5;
			struct seen right = { 0 };

			if (!known)
				laser_look(picture, (double)x - 0.5, strip, &left[s]);
			laser_look(picture, (double)x + 0.5, strip, &right);
			sum += between(picture->light, &left[s], &right) / (double)strips;
			left[s] = right;
		}
		known = !unlit;
		level = sum * scan->level;
		if (sum > 0 && picture->light->speckle > 0)
			level *= speckle(picture, at[0], at[1]);
		level = share_of(picture, x, y, &middle->point) * (scan->ambient + level);
		level = camera_level(scan->camera, &(struct camera_capture){ picture->number, 0 },
		    at[0], at[1], level);
		camera_store(scan->camera, level, frame_row(picture->out, 0, y), x);
	}
}

static bool
laser_crossing(const struct laser_picture *picture, const size_t from[2], const size_t to[2],
    double uv[2], double X[3])
{
	const struct seen *a = &picture->middle[from[1] * picture->rig.w + from[0]];
	const struct seen *b = &picture->middle[to[1] * picture->rig.w + to[0]];
	struct seen c = { 0 };
	double low = 0, high = 1;

	if (!is_one_surface(a, b) || (a->off < 0) == (b->off < 0))
		return false;
	for (int i = 0; i < 60; i++) {
		double t = 0.5 * (low + high);

		for (int k = 0; k < 2; k++)
			uv[k] = (double)from[k] + t * ((double)to[k] - (double)from[k]);
		laser_look(picture, uv[0], uv[1], &c);
		if (!c.point.surface)
			return false;
		if ((c.off < 0) == (a->off < 0))
			low = t;
		else
			high = t;
	}
	memcpy(X, c.point.X, sizeof(c.point.X));
	return c.point.lit && fabs(c.off) < 1e-3 * c.point.depth;
}

const struct fringesim_rows AT_LEVEL(fringesim_rows) = {
	.scene_bounds = scene_bounds,
	.light_direction = light_direction,
	.board_point = board_point_seen,
	.look_row = look_row,
	.truth_row = truth_row,
	.paint_board_row = paint_board_row,
	.expose_row = expose_row,
	.blur_row = blur_row,
	.expose_blurred_row = expose_blurred_row,
	.laser_look_row = laser_look_row,
	.laser_expose_row = laser_expose_row,
	.laser_crossing = laser_crossing,
};
