/* The scene of kind SCENE_FILE: heights of a depth image. */
#include "scene_kinds.h"

#include <math.h>

void
scene_file_survey(struct scene *scene)
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

double
scene_file_height(const struct scene *scene, double x, double y)
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

double
scene_file_hit(const struct scene *scene, const struct ray *ray)
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
