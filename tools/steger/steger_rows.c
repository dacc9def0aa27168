/*
 * The loops of steger: those of the line detector (feature/line_loops.h), samples for the noise and
 * the checks, and the correction of points for sharp edges.
 */
#include "steger.h"

#include "feature/line_loops.h"

/* ---- samples ---- */

static double
plane_sample(const struct line_plane *plane, size_t y, size_t x)
{
	return (double)frame_sample_in(plane->type,
	    (const unsigned char *)plane->v + y * plane->stride, x);
}

static size_t
common_divisor(const struct line_image *image, const struct line_plane *plane, size_t common)
{
	for (size_t y = 0; y < image->h && common != 1; y++)
		for (size_t x = 0; x < image->w && common != 1; x++) {
			size_t v = (size_t)plane_sample(plane, y, x);

			while (v) {
				size_t rest = common % v;

				common = v;
				v = rest;
			}
		}
	return common;
}

static double
float_range(const struct line_image *image)
{
	double least = HUGE_VAL, largest = -HUGE_VAL;

	for (size_t y = 0; y < image->h; y++) {
		const void *start = (const unsigned char *)image->image.v + y * image->image.stride;
		const float *row = start;

		for (size_t x = 0; x < image->w; x++) {
			if (!isfinite(row[x]))
				continue;
			least = fmin(least, (double)row[x]);
			largest = fmax(largest, (double)row[x]);
		}
	}
	return largest - least;
}

#define PIXELS 20000		/* that are sampled, about */
#define MIN_PIXELS 100
#define ACROSS 3		/* sigma from a line's middle to its edge */
#define PLACES 400		/* points that are looked for in wide lines, about */

/* Less the background, if there is one. */
static double
level(const struct line_image *image, size_t y, size_t x)
{
	return plane_sample(&image->image, y, x) -
	    (image->background.v ? plane_sample(&image->background, y, x) : 0);
}

static double
differing(const struct line_image *image, double least)
{
	size_t step = (size_t)sqrt((double)image->w * (double)image->h / PIXELS) + 1, n = 0,
	    differ = 0;

	for (size_t y = 0; y < image->h; y += step)
		for (size_t x = 0; x < image->w; x += step) {
			double d = fabs(level(image, y, x));

			n += isfinite(d);
			differ += isfinite(d) && d > least;
		}
	return n >= MIN_PIXELS ? (double)differ / (double)n : 0;
}

static void
halve(const struct line_image *image, float *v)
{
	size_t w = image->w / 2, h = image->h / 2;

	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++)
			v[y * w + x] = (float)((level(image, 2 * y, 2 * x) +
			    level(image, 2 * y, 2 * x + 1) + level(image, 2 * y + 1, 2 * x) +
			    level(image, 2 * y + 1, 2 * x + 1)) / 4);
}

/* Is a point of an image within a line of an image of 1/scale of the size? */
static bool
is_within(const struct line_point *point, const struct line_points *wide, double scale,
    double sigma)
{
	double reach = ACROSS * sigma;
	double u = ((double)point->u + 0.5) / scale - 0.5;
	double v = ((double)point->v + 0.5) / scale - 0.5;

	for (size_t k = 0; k < wide->n; k++) {
		double du = (double)wide->v[k].u - u, dv = (double)wide->v[k].v - v;

		if (du * du + dv * dv <= reach * reach)
			return true;
	}
	return false;
}

static bool
hold_most(const struct line_points *wide, double scale, double sigma,
    const struct line_points *seen)
{
	size_t step = seen->n / PLACES + 1, within = 0, n = 0;

	for (size_t i = 0; i < seen->n; i += step, n++)
		within += is_within(&seen->v[i], wide, scale, sigma);
	return 2 * within > n;
}

/* ---- sharp edges ---- */

#define RADIUS_MOST 15	/* of the kernels for SHARP_WIDTH_MOST, and one pixel more */
#define SIZE (2 * RADIUS_MOST + 1)
#define STRIDE 32
#define STEPS 4		/* of Newton's method */
#define SHIFT_MOST 0.1	/* px: larger shifts are no aliasing */

static double
half_square(double x)
{
	return x > 0 ? x * x / 2 : 0;
}

/* The part of a pixel's area that is less than d from its middle along the unit normal (a, b). */
static double
area_below(double d, double a, double b)
{
	double most = fmax(fabs(a), fabs(b)), least = fmin(fabs(a), fabs(b));
	double outer = (most + least) / 2, inner = (most - least) / 2;

	if (least < 1e-9)
		return fmin(fmax(d / most + 0.5, 0), 1);
	return (half_square(d + outer) - half_square(d + inner) - half_square(d - inner) +
	    half_square(d - outer)) / (most * least);
}

/* The distance along the normal from p where the slope of a bar through p + shift vanishes, by a
 * Newton step at p. */
static double
newton_step(const struct correction *correction, const struct line_point *p, double shift)
{
	float v[SIZE * STRIDE];
	struct derivative_plane bar = { v, SIZE, SIZE, STRIDE };
	double u0 = floor((double)p->u + 0.5), v0 = floor((double)p->v + 0.5);
	double at[2] = { (double)p->u - u0, (double)p->v - v0 }, n[2] = { p->nu, p->nv };
	double middle = at[0] * n[0] + at[1] * n[1] + shift, h = correction->half_width;
	struct derivatives d;

	for (int y = 0; y < SIZE; y++)
		for (int x = 0; x < SIZE; x++) {
			double off = (x - RADIUS_MOST) * n[0] + (y - RADIUS_MOST) * n[1] - middle;

			v[y * STRIDE + x] = (float)(area_below(h - off, n[0], n[1]) -
			    area_below(-h - off, n[0], n[1]));
		}
	derivatives_at(correction->kernels, &bar, RADIUS_MOST + at[0], RADIUS_MOST + at[1], &d);
	return -(d.x * n[0] + d.y * n[1]) /
	    (d.xx * n[0] * n[0] + 2 * d.xy * n[0] * n[1] + d.yy * n[1] * n[1]);
}

static void
correct_point(void *arg, size_t i)
{
	const struct correction *correction = arg;
	struct line_point *p = &correction->points->v[i];
	double shift = 0;

	for (int k = 0; k < STEPS; k++)
		shift -= newton_step(correction, p, shift);
	if (!(fabs(shift) < SHIFT_MOST))
		return;
	p->u += (float)(shift * (double)p->nu);
	p->v += (float)(shift * (double)p->nv);
}

const struct steger_rows AT_LEVEL(steger_rows) = {
	.line = LINE_LEVEL_FUNCTIONS,
	.common_divisor = common_divisor,
	.float_range = float_range,
	.correct_point = correct_point,
	.differing = differing,
	.halve = halve,
	.hold_most = hold_most,
};
