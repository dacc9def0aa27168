/*
 * Checks of where points lie.
 *
 * `epipolar`: does the phase of the other axis (phase2depth --across) put points on the projector
 * where the calibration does? A phase of one axis has a point for every pixel, whatever is wrong;
 * with both, a pixel's place on the projector must lie on its epipolar line.
 */
#define _GNU_SOURCE
#include "checks/checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"
#include "optics/calib.h"

#define PIXELS 4096		/* of the grid, about */
#define LEAST 200		/* pixels from which on they tell something */
#define DISTANCE_PX 2.0		/* half of the pixels: in right rigs 0.05 to 0.5; or */
#define CAMERA_PX 1.0		/* as large as so many pixels of the camera are there */
#define NOISE 3.0		/* times that of neighbours: phases without light are noise alone */
#define FARTHER 1.001		/* along the camera's ray, for the direction of the line */
#define STRAYS 0.05		/* of the pixels: wrong orders, which the rms leaves out */

/* What is known for all pixels. */
struct epipolar {
	const struct check_facts *facts;
	double center[3];		/* of the camera, in the world */
	double px_per_rad;		/* place on the projector by the other phase */
};

/*
 * The point has the projector's coordinate that its own phase gives, so that the place by both
 * phases lies beside the point's picture along the other axis alone. The epipolar line is where the
 * points of the pixel's ray are seen; the distance is that of the place from it.
 */
static float
distance_px(const struct epipolar *check, const float *const xyz[3], const float *phase, size_t x)
{
	bool along_y = check->facts->along_y;
	double point[3], farther[3], uv[2], on[2], other;

	for (size_t k = 0; k < 3; k++) {
		point[k] = (double)xyz[k][x];
		farther[k] = check->center[k] + FARTHER * (point[k] - check->center[k]);
	}
	if (!isfinite(point[0] + point[1] + point[2]) || !isfinite(phase[x]) ||
	    !pinhole_project(&check->facts->calibration->projector, point, uv) ||
	    !pinhole_project(&check->facts->calibration->projector, farther, on))
		return NAN;
	other = check->px_per_rad * (double)phase[x] + check->facts->code0_px;
	return (float)((other - uv[!along_y]) * fabs(on[along_y] - uv[along_y]) /
	    hypot(on[0] - uv[0], on[1] - uv[1]));
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

/* Distances of the pixels of a grid, and of their right neighbours, in projector pixels; NaN:
 * none. */
static void
measure(const struct epipolar *check, const struct check_sample *sample,
    const struct check_rows *across, const struct check_grid *grid, float (*distance)[2])
{
	size_t last = sample->out.frame.head.w - 1;

	for (size_t i = 0; i < grid->rows; i++) {
		const float *const xyz[3] = { frame_floats(&sample->out.frame, 0, i),
			frame_floats(&sample->out.frame, 1, i),
			frame_floats(&sample->out.frame, 2, i) };
		const float *phase = frame_floats(&across->frame,
		    head_channel(&across->frame.head, "absphase"), i);

		for (size_t column = 0; column < grid->columns; column++, distance++) {
			size_t x = column * grid->step + check_grid_shift(grid, i);

			x = x < last ? x : last;
			(*distance)[0] = distance_px(check, xyz, phase, x);
			(*distance)[1] = distance_px(check, xyz, phase, x < last ? x + 1 : last);
		}
	}
}

/* value: room for as many numbers as there are pixels. */
static bool
judge(const struct check_facts *facts, float (*distance)[2], size_t pixels, double *value,
    struct check_line *line)
{
	double limit_px = fmax(DISTANCE_PX, CAMERA_PX *
	    fabs(facts->calibration->projector.K[0] / facts->calibration->camera.K[0]));
	double half, rms, middle, noise;
	size_t n = 0, pairs = 0;

	for (size_t i = 0; i < pixels; i++) {
		double change = (double)distance[i][1] - (double)distance[i][0];

		if (!isnan(change))
			value[pairs++] = fabs(change);
	}
	line->undecided = pairs < LEAST;
	if (line->undecided)
		return false;
	noise = statistics_ranked(value, pairs, pairs / 2) / M_SQRT2;
	for (size_t i = 0; i < pixels; i++)
		if (!isnan(distance[i][0]))
			value[n++] = (double)distance[i][0];
	middle = statistics_ranked(value, n, n / 2);
	for (size_t i = 0; i < n; i++)
		value[i] = fabs(value[i]);
	half = statistics_ranked(value, n, n / 2);
	rms = find_rms(value, n);
	if (half > limit_px && half > NOISE * noise)
		return check_fire(line, "--across", "puts the pixels %.3g px (rms) off their "
		    "epipolar lines on the projector (median %.3g px, noise between neighbours "
		    "%.3g px): do calibration and capture belong together (--calib, "
		    "--origin, --period), and both phases (phasewrap --sign, --phase-origin)?", rms,
		    middle, noise);
	if (line->notes)
		note("--across", "puts the pixels %.3g px (rms) off their epipolar lines on the "
		    "projector (median %.3g px, noise between neighbours %.3g px)", rms, middle,
		    noise);
	return false;
}

static bool
epipolar_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct check_rows *across = check_second(sample, "across");
	struct check_grid grid = check_grid(&sample->out, PIXELS);
	size_t pixels = grid.columns * grid.rows;
	struct epipolar check = { .facts = facts };
	float (*distance)[2] = malloc(pixels * sizeof(*distance));
	double *value = malloc(pixels * sizeof(*value)), period_px;
	bool fires = false;

	if (distance && value &&
	    meta_number(&across->frame.head.meta, "period_px", NAN, &period_px) == 0) {
		check.px_per_rad = period_px / (2 * M_PI);
		pinhole_center(&facts->calibration->camera, check.center);
		measure(&check, sample, across, &grid, distance);
		fires = judge(facts, distance, pixels, value, line);
	}
	free(distance);
	free(value);
	return fires;
}

/* The other phase, and points in the first three channels. */
static bool
epipolar_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return facts->calibration && head_channel(heads->in, "across.absphase") != NO_CHANNEL;
}

static void
epipolar_channels(const struct check_facts *facts, const struct check_heads *heads, bool *in,
    bool *out)
{
	(void)facts;
	(void)heads;
	(void)in;
	out[0] = out[1] = out[2] = true;
}

const struct check check_epipolar = {
	.name = "epipolar", .rank = 1, .looks = CHECK_OUTPUT | CHECK_SECOND | CHECK_FIRST,
	.applies = epipolar_applies, .channels = epipolar_channels, .judge = epipolar_judge
};
