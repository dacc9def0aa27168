#define _GNU_SOURCE
#include "beat_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define PIXELS 1024		/* about as many are kept */
#define PIXELS_LEAST 128
#define FRAMES 4		/* only the first ones are judged: the periods do not change */

/* How much the residuals agree, the length of their mean on the circle: right orders leave 0.8 and
 * more up to a scatter of 0.1 turns. */
#define AGREEMENT 0.8
#define SLOPED_AGREEMENT 0.6	/* once the slope is taken out ... */
#define MORE_AGREEMENT 0.25	/* ... and so much more than without */
#define TURNS_LEAST 0.35	/* of the residual over the image */
#define SLOPE_MOST 1.0

#define TURN (2 * M_PI)

#define LANES 8

struct sample {
	double position, residual;	/* turns */
};

/* Of some samples an arrow of length 1 at the angle of the residual without the slope, and its turn
 * from one slope to the next. */
struct arrows {
	double x[LANES], y[LANES], turn_x[LANES], turn_y[LANES];
};

int
beat_check_plan(struct beat_check *check, size_t w, size_t h)
{
	beat_check_free(check);
	if (!check->on)
		return 0;
	check->grid = coarse_grid(w, h, PIXELS);
	check->kept = calloc(coarse_grid_pixels(&check->grid), sizeof(*check->kept));
	return check->kept ? 0 : fail_memory();
}

void
beat_check_free(struct beat_check *check)
{
	free(check->kept);
	check->kept = NULL;
}

bool
beat_check_wanted(const struct beat_check *check, size_t y)
{
	return check->on && !check->warned && check->frames < FRAMES && y % check->grid.step == 0;
}

void
beat_check_add(const struct beat_check *check, size_t x, size_t y, const float *absolute,
    const float *residual, const uint32_t *bad, size_t n)
{
	size_t first;

	if (!beat_check_wanted(check, y))
		return;
	first = (check->grid.step - x % check->grid.step) % check->grid.step;
	for (size_t i = first; i < n; i += check->grid.step) {
		float *to = check->kept[coarse_grid_row(&check->grid, y) +
		    (x + i) / check->grid.step];
		float value = bad && bad[i] ? NAN : absolute[i];

		/* bands may share rows: both store the same */
		__atomic_store(&to[0], &value, __ATOMIC_RELAXED);
		__atomic_store(&to[1], &residual[i], __ATOMIC_RELAXED);
	}
}

/* Of n samples the length of their mean on the circle, once the slope is taken out. */
static double
agreement(const struct sample *sample, size_t n, double slope)
{
	double cosine = 0, sine = 0;

	for (size_t i = 0; i < n; i++) {
		double angle = TURN * (sample[i].residual - slope * sample[i].position);

		cosine += cos(angle);
		sine += sin(angle);
	}
	return hypot(cosine, sine) / (double)n;
}

/* At the slope of a first trial; those beyond n add nothing. */
static void
set_arrows(struct arrows *arrows, const struct sample *sample, size_t n, double slope, double step)
{
	for (size_t l = 0; l < LANES; l++) {
		const bool there = l < n;
		const double angle = there ? TURN *
		    (sample[l].residual - slope * sample[l].position) : 0;
		const double turn = there ? -TURN * step * sample[l].position : 0;

		arrows->x[l] = there ? cos(angle) : 0;
		arrows->y[l] = there ? sin(angle) : 0;
		arrows->turn_x[l] = cos(turn);
		arrows->turn_y[l] = sin(turn);
	}
}

/* The length of the arrows' sum; turns them on to the next trial. The lanes' sums are added in one
 * order, however wide the processor's vectors are. */
static double
sum_arrows(struct arrows *arrows, size_t blocks)
{
	double x[LANES] = { 0 }, y[LANES] = { 0 }, all_x = 0, all_y = 0;

	for (size_t b = 0; b < blocks; b++) {
		struct arrows *a = &arrows[b];

		for (size_t l = 0; l < LANES; l++) {
			const double now_x = a->x[l], now_y = a->y[l];

			x[l] += now_x;
			y[l] += now_y;
			a->x[l] = now_x * a->turn_x[l] - now_y * a->turn_y[l];
			a->y[l] = now_x * a->turn_y[l] + now_y * a->turn_x[l];
		}
	}
	for (size_t l = 0; l < LANES; l++) {
		all_x += x[l];
		all_y += y[l];
	}
	return hypot(all_x, all_y);
}

/*
 * The slope of best agreement among `steps` on each side of `middle`. The trials are evenly apart,
 * so that each sample turns by the same angle from one to the next: four products instead of a sine
 * and a cosine, off by 1e-13 after 2000 trials.
 */
static double
best_slope(const struct sample *sample, size_t n, struct arrows *arrows, double middle, double step,
    int steps)
{
	const size_t blocks = (n + LANES - 1) / LANES;
	double best = middle, most = 0;

	for (size_t b = 0; b < blocks; b++)
		set_arrows(&arrows[b], sample + b * LANES, n - b * LANES, middle - steps * step,
		    step);
	for (int k = -steps; k <= steps; k++) {
		const double now = sum_arrows(arrows, blocks);

		if (now > most) {
			most = now;
			best = middle + k * step;
		}
	}
	return best;
}

static int
compare_positions(const void *a, const void *b)
{
	const struct sample *left = a, *right = b;

	return (left->position > right->position) - (left->position < right->position);
}

static void
judge(struct beat_check *check, struct sample *sample, size_t n, struct arrows *arrows)
{
	double range, step, slope, level = agreement(sample, n, 0), sloped, span, other_px;

	if (level > AGREEMENT)
		return;
	qsort(sample, n, sizeof(*sample), compare_positions);
	range = sample[n - 1 - n / 20].position - sample[n / 20].position;
	if (!(range > 1))
		return;
	step = 0.25 / range;
	slope = best_slope(sample, n, arrows, 0, step, (int)fmin(SLOPE_MOST / step, 1000));
	slope = best_slope(sample, n, arrows, slope, step / 16, 16);
	sloped = agreement(sample, n, slope);
	if (sloped < SLOPED_AGREEMENT || sloped < level + MORE_AGREEMENT ||
	    fabs(slope) * range < TURNS_LEAST)
		return;
	span = check->span * (1 - slope);
	if (!(span > 1.5))
		return;
	other_px = check->period_px * span / (check->shorter ? span - 1 : span + 1);
	warn("residual",
	    "changes by %.2g turns over the image, as where a period is wrong: the phases have "
	    "%.4g fringes in a beat, these periods %.4g; beside %.6g px the other one would be "
	    "%.4g px", fabs(slope) * range, span, check->span, check->period_px, other_px);
	check->warned = true;
}

void
beat_check_warn(struct beat_check *check)
{
	size_t n = 0, all = coarse_grid_pixels(&check->grid);
	struct sample *sample;
	struct arrows *arrows;

	if (!check->on || check->warned || check->frames++ >= FRAMES)
		return;
	sample = malloc(all * sizeof(*sample));
	arrows = malloc((all + LANES - 1) / LANES * sizeof(*arrows));
	for (size_t i = 0; sample && arrows && i < all; i++) {
		double turns = (double)check->kept[i][0] / TURN;

		if (isnan(turns) || isinf(turns) || isnan(check->kept[i][1]))
			continue;
		sample[n].residual = (double)check->kept[i][1];
		sample[n].position = turns + sample[n].residual;
		n++;
	}
	if (n >= PIXELS_LEAST)
		judge(check, sample, n, arrows);
	free(arrows);
	free(sample);
}
