#define _GNU_SOURCE
#include "residual_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define PIXELS 16384		/* about as many are looked at: a share is then sure to 0.01 */
#define PIXELS_LEAST 256	/* of fewer nothing is said */

/* Of random orders half the residuals are larger than 1/4 and a fifth larger than 0.4; where
 * several orders build on each other, more. Captures whose background is not masked have a seventh
 * beyond 1/4. Scatter passes both limits only where it leaves few orders right. */
#define FAR 0.25
#define FAR_SHARE 0.45
#define VERY_FAR 0.4
#define VERY_FAR_SHARE 0.15

/* An error that all have in common: its size, and how much the residuals agree in it (the length of
 * their mean on the circle; half periods of a Gray code alone spread it to 0.64). */
#define SHIFT 0.125
#define AGREEMENT 0.4

int
residuals_plan(struct residuals *residuals, size_t w, size_t h, float chance)
{
	double step = sqrt((double)w * (double)h / PIXELS);

	free(residuals->count);
	residuals->step = step > 1 ? (size_t)step : 1;
	residuals->rows = (h + residuals->step - 1) / residuals->step;
	residuals->positive = chance > 0;
	residuals->scale = chance > 0 ? (float)FAR / chance : 1;
	residuals->count = calloc(residuals->rows + 1, sizeof(*residuals->count));
	return residuals->count ? 0 : fail_memory();
}

void
residuals_free(struct residuals *residuals)
{
	free(residuals->count);
	residuals->count = NULL;
}

bool
residuals_wanted(const struct residuals *residuals, size_t y)
{
	return !residuals->off && y % residuals->step == 0;
}

void
residuals_add(const struct residuals *residuals, size_t x, const float *residual,
    const uint32_t *bad, size_t n, uint32_t count[RESIDUALS_BINS])
{
	size_t first = (residuals->step - x % residuals->step) % residuals->step;

	for (size_t i = first; i < n; i += residuals->step) {
		float at = (residual[i] * residuals->scale + 0.5f) * RESIDUALS_BINS;

		if (!(bad && bad[i]) && at >= 0)
			count[at < RESIDUALS_BINS ? (size_t)at : RESIDUALS_BINS - 1]++;
	}
}

/* Bands share rows at their ends: both store the same. */
void
residuals_keep(const struct residuals *residuals, size_t y, const uint32_t count[RESIDUALS_BINS])
{
	for (size_t b = 0; b < RESIDUALS_BINS; b++)
		__atomic_store_n(&residuals->count[y / residuals->step][b], count[b],
		    __ATOMIC_RELAXED);
}

static void
judge(struct residuals *residuals, const char *object, const double *share)
{
	double far = 0, very_far = 0, cosine = 0, sine = 0, shift;

	for (size_t b = 0; b < RESIDUALS_BINS; b++) {
		double r = (b + 0.5) / RESIDUALS_BINS - 0.5;

		far += fabs(r) > FAR ? share[b] : 0;
		very_far += fabs(r) > VERY_FAR ? share[b] : 0;
		cosine += share[b] * cos(2 * M_PI * r);
		sine += share[b] * sin(2 * M_PI * r);
	}
	shift = atan2(sine, cosine) / (2 * M_PI);
	if (!residuals->positive && hypot(sine, cosine) > AGREEMENT && fabs(shift) > SHIFT)
		warn(object, "all are off by about %.2f turns: do --period and phasewrap "
		    "--phase-origin fit the patterns?", shift);
	else if (far > FAR_SHARE && very_far > VERY_FAR_SHARE)
		warn(object, "as large as from random fringe orders: wrong or swapped periods, a "
		    "wrong phase origin, or mostly unlit pixels (phasewrap --min-amplitude)");
	else
		return;
	residuals->off = true;
}

void
residuals_tell(struct residuals *residuals, const char *object)
{
	double share[RESIDUALS_BINS] = { 0 }, n = 0;

	for (size_t y = 0; y < residuals->rows; y++)
		for (size_t b = 0; b < RESIDUALS_BINS; b++)
			share[b] += residuals->count[y][b];
	memset(residuals->count, 0, residuals->rows * sizeof(*residuals->count));
	for (size_t b = 0; b < RESIDUALS_BINS; b++)
		n += share[b];
	for (size_t b = 0; b < RESIDUALS_BINS; b++)
		share[b] /= n > 0 ? n : 1;
	if (!residuals->off && n >= PIXELS_LEAST)
		judge(residuals, object, share);
}
