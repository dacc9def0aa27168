#define _GNU_SOURCE
#include "residual_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PIXELS 16384		/* about as many are looked at: a share is then sure to 0.01 */
#define LATER 2			/* from the second frame on so many times fewer rows: to 0.014 */
#define PIXELS_LEAST 256	/* of fewer no warning is given */

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

/* One of two phases that begins an image early or late: the shift is sharp, and known. */
#define SHARP 0.75
#define SHARP_SHIFT 0.06
#define LATE_NEAR 0.025
#define BOTH 4U			/* of the bits of phases that may be late */
#define BOTH_NEAR 0.0125	/* what moves from one set to the next has any shift */
#define ALIKE_FAR 0.15		/* of the way to the next order */
#define ALIKE_SPREAD 1.5

/* Cells of a Gray code leave residuals up to half a cell, on both sides of 0 where phase and code
 * have one origin: right captures of three rigs are off by 0.000 to 0.016. */
#define TAIL 0.05		/* on each side: noise, pixels in the dark */
#define EDGE_SHIFT 0.035
#define BEYOND 0.03		/* a cell seen in part may lie on one side, but not beyond */

int
residual_check_plan(struct residual_check *check, size_t w, size_t h, float chance)
{
	free(check->count);
	check->step = coarse_grid_step(w, h, PIXELS);
	check->rows = coarse_grid_count(h, check->step);
	check->every = check->step;
	check->positive = chance > 0;
	/* what lies beyond the middle to the next order is kept as 0.5: larger ones are no less */
	check->scale = chance > 0 ? fmaxf(1, (float)FAR / chance) : 1;
	check->count = calloc(check->rows + 1, sizeof(*check->count));
	return check->count ? 0 : fail_memory();
}

void
residual_check_free(struct residual_check *check)
{
	free(check->count);
	check->count = NULL;
}

bool
residual_check_wanted(const struct residual_check *check, size_t y)
{
	return !check->off && y % check->every == 0;
}

void
residual_check_add(const struct residual_check *check, size_t x, size_t y, const float *residual,
    const uint32_t *bad, size_t n, uint32_t count[RESIDUAL_CHECK_BINS])
{
	size_t first = (check->step - x % check->step) % check->step;

	if (!residual_check_wanted(check, y))
		return;
	for (size_t i = first; i < n; i += check->step) {
		float at = (residual[i] * check->scale + 0.5f) * RESIDUAL_CHECK_BINS;

		if (!(bad && bad[i]) && at >= 0)
			count[at < RESIDUAL_CHECK_BINS ? (size_t)at : RESIDUAL_CHECK_BINS - 1]++;
	}
}

/* Bands share rows at their ends: both store the same. */
void
residual_check_keep(const struct residual_check *check, size_t y,
    const uint32_t count[RESIDUAL_CHECK_BINS])
{
	if (!residual_check_wanted(check, y))
		return;
	for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++)
		__atomic_store_n(&check->count[y / check->step][b], count[b],
		    __ATOMIC_RELAXED);
}

/* Where a share of the residuals lies below, counted from `middle` once round the circle. */
static double
quantile(const double *share, double middle, double below)
{
	double start = middle - 0.5, sum = 0;

	for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++) {
		double at = (start + 0.5) * RESIDUAL_CHECK_BINS + (double)b;
		size_t bin = (size_t)(at + RESIDUAL_CHECK_BINS) % RESIDUAL_CHECK_BINS;

		if (sum + share[bin] >= below)
			return start + ((double)b + (below - sum) / share[bin]) /
			    RESIDUAL_CHECK_BINS;
		sum += share[bin];
	}
	return start + 1;
}

/* How far phase and Gray code lie beside each other, in turns: the middle between the ends of the
 * residuals. 0 where they do not reach beyond a cell. */
static double
edge_shift(const double *share, double mean, double cell)
{
	double middle, lo, hi, end = (0.5 - TAIL) * cell + BEYOND;

	middle = round(mean * RESIDUAL_CHECK_BINS) / RESIDUAL_CHECK_BINS; /* ends of bins */
	lo = quantile(share, middle, TAIL);
	hi = quantile(share, middle, 1 - TAIL);
	return hi > end || lo < -end ? (lo + hi) / 2 : 0;
}

/* Which of the phases, one image early or late, shifts all residuals so? One bit for each, one for
 * both together, which do not move the beat. */
static unsigned
late_phases(const struct residual_check *check, double shift)
{
	unsigned late = 0;

	if (!check->steps)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		double step = check->weight[i] / (double)check->steps;

		if (fabs(remainder(shift - step, 1)) < LATE_NEAR ||
		    fabs(remainder(shift + step, 1)) < LATE_NEAR)
			late |= 1U << i;
	}
	if (fabs(fabs(shift) - 1 / (double)check->steps) < BOTH_NEAR)
		late |= BOTH;
	return late;
}

static void
warn_late(const struct residual_check *check, const char *object, double shift, unsigned late)
{
	static const char *const others[] = { [1] = " begins one of its",
		[2] = " begins one of its",
		[3] = " or the other one begins one of its", [5] = " or both begin one of their",
		[6] = " or both begin one of their",
		[7] = ", the other one or both begin one of their" };

	if (late == BOTH)
		warn(object, "all are off by %.2f turns, as where both phases begin one of their "
		    "%zu images early or late", shift, check->steps);
	else
		warn(object, "all are off by %.2f turns, as where phase%zu%s %zu images early or "
		    "late", shift, check->number[!(late & 1)], others[late], check->steps);
}

/*
 * Do distances from the best order, which are positive, lie close together and far from 0? Scatter
 * of three phases spreads them by 5 from the twentieth part to the third quarter, of 16 by 1.58.
 */
static bool
are_alike(const struct residual_check *check, const double *share)
{
	double lo = quantile(share, 0.5, TAIL);
	double hi = quantile(share, 0.5, 0.75);

	return check->positive && lo > ALIKE_FAR * (double)check->scale && hi < ALIKE_SPREAD * lo;
}

static void
judge(struct residual_check *check, const char *object, const double *share)
{
	double far = 0, very_far = 0, cosine = 0, sine = 0, shift;
	unsigned late;

	for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++) {
		double r = (b + 0.5) / RESIDUAL_CHECK_BINS - 0.5;

		far += fabs(r) > FAR ? share[b] : 0;
		very_far += fabs(r) > VERY_FAR ? share[b] : 0;
		cosine += share[b] * cos(2 * M_PI * r);
		sine += share[b] * sin(2 * M_PI * r);
	}
	shift = atan2(sine, cosine) / (2 * M_PI);
	if (check->cell > 0)
		shift = edge_shift(share, shift, check->cell);
	late = late_phases(check, shift);
	if (!check->positive && late && hypot(sine, cosine) > SHARP && fabs(shift) > SHARP_SHIFT)
		warn_late(check, object, shift, late);
	else if (!check->positive && hypot(sine, cosine) > AGREEMENT && fabs(shift) > SHIFT)
		warn(object, "all are off by about %.2f turns: do --period and phasewrap "
		    "--phase-origin and --sign fit the patterns?", shift);
	else if (check->cell > 0 && hypot(sine, cosine) > AGREEMENT && fabs(shift) > EDGE_SHIFT)
		warn(object, "phase and Gray code lie about %.0f degrees beside each other: a "
		    "phasewrap --phase-origin that is %s by as much fits (or --gray-offset)",
		    360 * fabs(shift), shift < 0 ? "larger" : "smaller");
	else if (are_alike(check, share))
		warn(object, "all lie alike far from the best order, as where one of the phases "
		    "begins an image early or late, or with wrong or swapped periods");
	else if (far > FAR_SHARE && check->positive && check->assumed_px > 0)
		warn(object, "as large as from random fringe orders: no --field, so that orders "
		    "were looked for over %.5g px; wrong or swapped periods, a wrong phase origin, "
		    "mostly unlit pixels (phasewrap --min-amplitude)", check->assumed_px);
	else if (far > FAR_SHARE && (check->positive || very_far > VERY_FAR_SHARE))
		warn(object, "as large as from random fringe orders: wrong or swapped periods, a "
		    "wrong phase origin, mostly unlit pixels (phasewrap --min-amplitude), or "
		    "a curved response (gamma) of few steps a period");
	else
		return;
	check->off = check->warned = true;
}

void
residual_check_warn(struct residual_check *check, const char *object)
{
	double share[RESIDUAL_CHECK_BINS] = { 0 }, n = 0;

	for (size_t y = 0; y < check->rows; y++)
		for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++)
			share[b] += check->count[y][b];
	memset(check->count, 0, check->rows * sizeof(*check->count));
	check->every = LATER * check->step;
	for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++)
		n += share[b];
	for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++)
		share[b] /= n > 0 ? n : 1;
	if (!check->off && n >= PIXELS_LEAST)
		judge(check, object, share);
}
