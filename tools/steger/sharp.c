#include "sharp.h"

#include <math.h>

/* The kernels' radius for SHARP_WIDTH_MOST, and one pixel more. */
#define RADIUS_MOST 15
#define SIZE (2 * RADIUS_MOST + 1)
#define STRIDE 32
#define STEPS 4
#define SHIFT_MOST 0.1	/* px: more is no aliasing */

struct correction {
	const struct derivative_kernels *kernels;
	double half_width;	/* px */
	struct line_points *points;
};

static double
half_square(double x)
{
	return x > 0 ? x * x / 2 : 0;
}

/* The part of a pixel's area less than d along the unit normal (a, b) from its middle. */
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

/* How far along the normal from p the slope of a bar through p + shift vanishes, by a Newton
 * step at p. */
static double
step(const struct correction *correction, const struct line_point *p, double shift)
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
correct(void *arg, size_t i)
{
	const struct correction *correction = arg;
	struct line_point *p = &correction->points->v[i];
	double shift = 0;

	for (int k = 0; k < STEPS; k++)
		shift -= step(correction, p, shift);
	if (!(fabs(shift) < SHIFT_MOST))
		return;
	p->u += (float)(shift * (double)p->nu);
	p->v += (float)(shift * (double)p->nv);
}

void
sharp_correct(struct run *run, const struct derivative_kernels *kernels, double width,
    struct line_points *points)
{
	struct correction correction = { kernels, width / 2, points };

	run_for(run, points->n, correct, &correction);
}
