#define _GNU_SOURCE
#include "epipolar_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"
#include "unwrap/phase_anchor.h"

#define PIXELS 4096		/* of the grid, about */
#define LEAST 200		/* pixels from which on they tell something */
#define DISTANCE_PX 2.0		/* half of the pixels: in right rigs 0.05 to 0.5; or */
#define CAMERA_PX 1.0		/* as large as so many pixels of the camera are there */
#define NOISE 3.0		/* times that of neighbours: phases without light are noise alone */
#define FARTHER 1.001		/* along the camera's ray, for the direction of the line */
#define STRAYS 0.05		/* of the pixels: wrong orders, which the rms leaves out */

/* Both phases must be of one capture's pixels, and of different axes. -1 after fail(). */
static int
check_head(const struct frame_head *in, const struct frame_head *across, bool along_y)
{
	static const char *const keys[] = { "origin_px", "bin" };
	const char *axis = meta_get(&across->meta, "axis");

	if (axis && !strcmp(axis, along_y ? "y" : "x"))
		return fail("--across", "is of the same axis, %s, as the input: wanted is the "
		    "absolute phase of the other one (unwrap2f -a %c)", axis, along_y ? 'x' : 'y');
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *own = meta_get(&in->meta, keys[i]);
		const char *its = meta_get(&across->meta, keys[i]);

		if (own && its && strcmp(own, its))
			return fail("--across", "does not go with the input: its %s is %.60s, the "
			    "input's %.60s", keys[i], its, own);
	}
	return !phase_anchor_is_relative(&across->meta) ? 0 : fail("--across", "is known up to "
	    "whole turns only: --anchor or a marker makes it absolute");
}

int
epipolar_check_plan(struct run *run, struct epipolar_check *check, const struct calib *calib,
    const struct triangulation *rays, bool centered, const struct frame_head *in)
{
	const struct frame_head *across = run_second_input_head(run, "across", 0);
	double period_px, size_px = rays->along_y ? calib->projector.w : calib->projector.h;

	epipolar_check_free(check);
	check->on = across;
	if (!across)
		return 0;
	if (run_second_input(run, in, "across", "absphase", &check->across) < 0 ||
	    check_head(in, across, rays->along_y) < 0 ||
	    meta_number(&across->meta, "period_px", NAN, &period_px) < 0)
		return -1;
	if (!(period_px > 0 && isfinite(period_px)))
		return fail("--across", "has no key period_px: framecat --set period_px=PX says "
		    "what its fringes are");
	if (rays->projector_px[!rays->along_y] > 0)
		size_px = rays->projector_px[!rays->along_y];
	check->px_per_rad = period_px / (2 * M_PI);
	check->code0_px = centered ? size_px / 2 : 0;
	check->calib = calib;
	check->limit_px = fmax(DISTANCE_PX,
	    CAMERA_PX * fabs(calib->projector.K[0] / calib->camera.K[0]));
	check->verbose = run->verbose;
	pinhole_center(&calib->camera, check->center);
	check->grid = coarse_grid(in->w, in->h, PIXELS);
	check->kept = malloc(epipolar_check_bytes(check));
	return check->kept ? 0 : fail_memory();
}

void
epipolar_check_free(struct epipolar_check *check)
{
	free(check->kept);
	check->kept = NULL;
}

size_t
epipolar_check_bytes(const struct epipolar_check *check)
{
	return check->on ? coarse_grid_pixels(&check->grid) * sizeof(*check->kept) : 0;
}

/*
 * The point has the projector's coordinate that its own phase gives, so that the place by both
 * phases lies beside the point's picture along the other axis alone. The epipolar line is where the
 * points of the pixel's ray are seen; the distance is that of the place from it.
 */
static float
distance_px(const struct epipolar_check *check, bool along_y, const float *const xyz[3],
    const float *phase, size_t x)
{
	double point[3], farther[3], uv[2], on[2], other;

	for (size_t k = 0; k < 3; k++) {
		point[k] = (double)xyz[k][x];
		farther[k] = check->center[k] + FARTHER * (point[k] - check->center[k]);
	}
	if (!isfinite(point[0] + point[1] + point[2]) || !isfinite(phase[x]) ||
	    !pinhole_project(&check->calib->projector, point, uv) ||
	    !pinhole_project(&check->calib->projector, farther, on))
		return NAN;
	other = check->px_per_rad * (double)phase[x] + check->code0_px;
	return (float)((other - uv[!along_y]) * fabs(on[along_y] - uv[along_y]) /
	    hypot(on[0] - uv[0], on[1] - uv[1]));
}

/* Bands may share rows: both store the same. */
void
epipolar_check_row(const struct epipolar_check *check, bool along_y, const struct frame *in,
    const float *const xyz[3], size_t y)
{
	const float *phase;

	if (!check->on || check->off || y % check->grid.step)
		return;
	phase = frame_floats(in, check->across, y);
	for (size_t i = 0; i < check->grid.columns; i++) {
		size_t x = i * check->grid.step, last = in->head.w - 1;
		float *to = check->kept[coarse_grid_row(&check->grid, y) + i];
		float own = distance_px(check, along_y, xyz, phase, x);
		float next = distance_px(check, along_y, xyz, phase, x < last ? x + 1 : last);

		__atomic_store(&to[0], &own, __ATOMIC_RELAXED);
		__atomic_store(&to[1], &next, __ATOMIC_RELAXED);
	}
}

/* The root mean square of the distances, whose sizes these are, without strays. Their order
 * changes. */
static double
find_rms(double *size, size_t n)
{
	double limit = statistics_ranked(size, n, n - 1 - (size_t)(STRAYS * (double)n)), sum = 0;
	size_t taken = 0;

	for (size_t i = 0; i < n; i++) {
		if (size[i] > limit)
			continue;
		sum += size[i] * size[i];
		taken++;
	}
	return sqrt(sum / (double)taken);
}

static void
judge(const struct epipolar_check *check, double *value, bool warned)
{
	size_t pixels = coarse_grid_pixels(&check->grid), n = 0, pairs = 0;
	double half, rms, middle, noise;

	for (size_t i = 0; i < pixels; i++) {
		double change = (double)check->kept[i][1] - (double)check->kept[i][0];

		if (!isnan(change))
			value[pairs++] = fabs(change);
	}
	if (pairs < LEAST)
		return;
	noise = statistics_ranked(value, pairs, pairs / 2) / M_SQRT2;
	for (size_t i = 0; i < pixels; i++)
		if (!isnan(check->kept[i][0]))
			value[n++] = (double)check->kept[i][0];
	middle = statistics_ranked(value, n, n / 2);
	for (size_t i = 0; i < n; i++)
		value[i] = fabs(value[i]);
	half = statistics_ranked(value, n, n / 2);
	rms = find_rms(value, n);
	if (!warned && half > check->limit_px && half > NOISE * noise)
		warn("--across", "its phase puts the pixels %.3g px (rms) beside their epipolar "
		    "lines on the projector, %.3g by the median; neighbours differ by %.3g: do "
		    "calibration and capture belong together (--calib, --origin, --period), and "
		    "both phases (phasewrap --sign, --phase-origin)?", rms, middle, noise);
	else if (check->verbose)
		note("--across", "its phase puts the pixels %.3g px (rms) beside their epipolar "
		    "lines on the projector, %.3g by the median; neighbours differ by %.3g", rms,
		    middle, noise);
}

void
epipolar_check_warn(struct epipolar_check *check, bool warned)
{
	double *value;

	if (!check->on || check->off)
		return;
	check->off = true;
	value = malloc(coarse_grid_pixels(&check->grid) * sizeof(*value));
	if (value)
		judge(check, value, warned);
	free(value);
}
