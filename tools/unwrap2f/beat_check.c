#define _GNU_SOURCE
#include "beat_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

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

struct sample {
	double position, residual;	/* turns */
};

int
beat_check_plan(struct beat_check *check, size_t w, size_t h)
{
	beat_check_free(check);
	if (!check->on)
		return 0;
	check->step = coarse_grid_step(w, h, PIXELS);
	check->rows = coarse_grid_count(h, check->step);
	check->columns = coarse_grid_count(w, check->step);
	check->kept = calloc(check->rows * check->columns, sizeof(*check->kept));
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
	return check->on && !check->warned && check->frames < FRAMES && y % check->step == 0;
}

void
beat_check_add(const struct beat_check *check, size_t x, size_t y, const float *absolute,
    const float *residual, const uint32_t *bad, size_t n)
{
	size_t first;

	if (!beat_check_wanted(check, y))
		return;
	first = (check->step - x % check->step) % check->step;
	for (size_t i = first; i < n; i += check->step) {
		float *to = check->kept[y / check->step * check->columns + (x + i) / check->step];
		float value = bad && bad[i] ? NAN : absolute[i];

		/* bands may share rows: both store the same */
		__atomic_store(&to[0], &value, __ATOMIC_RELAXED);
		__atomic_store(&to[1], &residual[i], __ATOMIC_RELAXED);
	}
}

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

/* The slope of best agreement among `steps` on each side of `middle`. */
static double
best_slope(const struct sample *sample, size_t n, double middle, double step, int steps)
{
	double best = middle, most = 0;

	for (int k = -steps; k <= steps; k++) {
		double now = agreement(sample, n, middle + k * step);

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
judge(struct beat_check *check, struct sample *sample, size_t n)
{
	double range, step, slope, level = agreement(sample, n, 0), sloped, span, other_px;

	if (level > AGREEMENT)
		return;
	qsort(sample, n, sizeof(*sample), compare_positions);
	range = sample[n - 1 - n / 20].position - sample[n / 20].position;
	if (!(range > 1))
		return;
	step = 0.25 / range;
	slope = best_slope(sample, n, 0, step, (int)fmin(SLOPE_MOST / step, 1000));
	slope = best_slope(sample, n, slope, step / 16, 16);
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
	size_t n = 0, all = check->rows * check->columns;
	struct sample *sample;

	if (!check->on || check->warned || check->frames++ >= FRAMES)
		return;
	sample = malloc(all * sizeof(*sample));
	for (size_t i = 0; sample && i < all; i++) {
		double turns = (double)check->kept[i][0] / TURN;

		if (isnan(turns) || isinf(turns) || isnan(check->kept[i][1]))
			continue;
		sample[n].residual = (double)check->kept[i][1];
		sample[n].position = turns + sample[n].residual;
		n++;
	}
	if (n >= PIXELS_LEAST)
		judge(check, sample, n);
	free(sample);
}
