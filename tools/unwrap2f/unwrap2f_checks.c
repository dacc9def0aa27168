/*
 * The checks of unwrap2f: do the fringe orders look right, and if not, why? What each check looks
 * at is kept by the rows (unwrap2f_rows.c) on a coarse grid, row by row, so that no warning depends
 * on threads or bands. unwrap2f_after() judges the frame; where several fire, the
 * first one prints.
 */
#include "unwrap2f.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"
#include "run/stage.h"

#define CHECK_PIXELS_LEAST 256	/* fewer valid pixels give no warning */

/*
 * ---- residuals ----
 *
 * Do they look as if the fringe orders were found, or like chance? Wrong or swapped periods and a
 * forgotten phase origin give orders without an error; only the rounded-away rest shows it. The
 * rows count sampled pixels into a histogram for each row, so that rows computed twice count once.
 */

#define RESIDUAL_PIXELS 16384		/* sampled, about: a share is then sure to 0.01 */
#define LATER_FRAMES_ROWS 2		/* times fewer from the second frame on: sure to 0.014 */

/* Of random orders half the residuals are larger than 1/4 and a fifth larger than 0.4, more where
 * several orders build on each other. Captures whose background is not masked have a seventh beyond
 * 1/4. Scatter passes both limits only where it leaves few orders right. */
#define RESIDUAL_FAR 0.25
#define RESIDUAL_FAR_SHARE 0.45
#define RESIDUAL_VERY_FAR 0.4
#define RESIDUAL_VERY_FAR_SHARE 0.15

/* An error that all have in common: its size in turns, and how much the residuals agree in it (the
 * length of their mean on the circle; half periods of a Gray code alone reduce it to 0.64). */
#define SHIFT 0.125
#define SHIFT_AGREEMENT 0.4

/* One of two phases begins an image early or late: the residuals agree more, and the shift, in
 * turns, is known. */
#define LATE_AGREEMENT 0.75
#define LATE_SHIFT 0.06
#define LATE_NEAR 0.025
#define BOTH_LATE 4U		/* late_phases(): both phases together */
#define BOTH_NEAR 0.0125	/* narrower: a surface that moves between sets gives any shift */

/* Distances from the best order that are all large and alike. */
#define ALIKE_FAR 0.15		/* the least, of the way to the next order */
#define ALIKE_SPREAD 1.5	/* the largest over the least */

/* Cells of a Gray code leave residuals up to half a cell, evenly on both sides of 0 where phase and
 * code have one origin: right captures of three rigs are off by 0.000 to 0.016 turns. */
#define TAIL 0.05		/* share left out on each side: noise, pixels in the dark */
/* 13 degrees. BEYOND_CELL bounds the warning, too: an end must lie outside the cell by that. */
#define EDGE_SHIFT 0.035
#define BEYOND_CELL 0.03	/* a cell seen in part may lie on one side, but not beyond */

/*
 * For frames of w x h pixels. chance: the median of residuals that are a root mean square, in
 * turns, where the phases are random; 0 for rounding errors in [-0.5, 0.5], whose median size then
 * is a quarter.
 */
static int
residual_check_plan(struct residual_check *check, size_t w, size_t h, float chance)
{
	free(check->count);
	check->step = coarse_grid_step(w, h, RESIDUAL_PIXELS);
	check->rows = coarse_grid_count(h, check->step);
	check->every = check->step;
	check->positive = chance > 0;
	/* a residual beyond half way to the next order is counted as 0.5 */
	check->scale = chance > 0 ? fmaxf(1, (float)RESIDUAL_FAR / chance) : 1;
	check->count = calloc(check->rows + 1, sizeof(*check->count));
	return check->count ? 0 : fail_memory();
}

/* The residual below which the share `below` lies, counted from half a turn below `middle` once
 * round the circle. */
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

/* How far phase and Gray code are misaligned, in turns: the middle between the ends of the
 * residuals. 0 where they do not reach beyond a cell. */
static double
edge_shift(const double *share, double mean, double cell)
{
	double middle, lo, hi, end = (0.5 - TAIL) * cell + BEYOND_CELL;

	middle = round(mean * RESIDUAL_CHECK_BINS) / RESIDUAL_CHECK_BINS; /* ends of bins */
	lo = quantile(share, middle, TAIL);
	hi = quantile(share, middle, 1 - TAIL);
	return hi > end || lo < -end ? (lo + hi) / 2 : 0;
}

/* Which phase, an image early or late, shifts all residuals by so much? A bit for each, and
 * BOTH_LATE for both together, which do not move the beat. */
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
		late |= BOTH_LATE;
	return late;
}

static void
warn_late(const struct residual_check *check, double shift, unsigned late)
{
	static const char *const others[] = { [1] = " begins one of its",
		[2] = " begins one of its",
		[3] = " or the other one begins one of its", [5] = " or both begin one of their",
		[6] = " or both begin one of their",
		[7] = ", the other one or both begin one of their" };

	if (late == BOTH_LATE)
		warn("residual", "all are off by %.2f turns, as where both phases begin one of "
		    "their %zu images early or late", shift, check->steps);
	else
		warn("residual", "all are off by %.2f turns, as where phase%zu%s %zu images early "
		    "or late", shift, check->number[!(late & 1)], others[late], check->steps);
}

/* Do distances from the best order lie close together and far from 0? From the 5 % to the 75 %
 * point scatter spreads them by a factor of 5 with three phases, of 1.58 with 16. */
static bool
are_alike(const struct residual_check *check, const double *share)
{
	double lo = quantile(share, 0.5, TAIL);
	double hi = quantile(share, 0.5, 0.75);

	return check->positive && lo > ALIKE_FAR * (double)check->scale && hi < ALIKE_SPREAD * lo;
}

static void
judge_residuals(struct residual_check *check, const double *share)
{
	double far = 0, very_far = 0, cosine = 0, sine = 0, agreement, shift;
	unsigned late;

	for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++) {
		double r = (b + 0.5) / RESIDUAL_CHECK_BINS - 0.5;

		far += fabs(r) > RESIDUAL_FAR ? share[b] : 0;
		very_far += fabs(r) > RESIDUAL_VERY_FAR ? share[b] : 0;
		cosine += share[b] * cos(2 * M_PI * r);
		sine += share[b] * sin(2 * M_PI * r);
	}
	agreement = hypot(sine, cosine);
	shift = atan2(sine, cosine) / (2 * M_PI);
	if (check->cell > 0)
		shift = edge_shift(share, shift, check->cell);
	late = late_phases(check, shift);
	if (!check->positive && late && agreement > LATE_AGREEMENT && fabs(shift) > LATE_SHIFT)
		warn_late(check, shift, late);
	else if (!check->positive && agreement > SHIFT_AGREEMENT && fabs(shift) > SHIFT)
		warn("residual", "all are off by about %.2f turns: do --period and phasewrap "
		    "--phase-origin and --sign fit the patterns?", shift);
	else if (check->cell > 0 && agreement > SHIFT_AGREEMENT && fabs(shift) > EDGE_SHIFT)
		warn("residual", "phase and Gray code are misaligned by about %.0f degrees: %s "
		    "phasewrap --phase-origin (or use --gray-offset)", 360 * fabs(shift),
		    shift < 0 ? "add them to" : "subtract them from");
	else if (are_alike(check, share))
		warn("residual", "all lie alike far from the best order, as where one of the "
		    "phases begins an image early or late, or with wrong or swapped periods");
	else if (far > RESIDUAL_FAR_SHARE && check->positive && check->assumed_px > 0)
		warn("residual", "as large as from random fringe orders: no --field, so that "
		    "orders were looked for over %.5g px; wrong or swapped periods, a wrong phase "
		    "origin, mostly unlit pixels (phasewrap --min-amplitude)", check->assumed_px);
	else if (far > RESIDUAL_FAR_SHARE &&
	    (check->positive || very_far > RESIDUAL_VERY_FAR_SHARE))
		warn("residual", "as large as from random fringe orders: wrong or swapped periods, "
		    "a wrong phase origin, mostly unlit pixels (phasewrap --min-amplitude), or "
		    "a curved response (gamma) of few steps a period");
	else
		return;
	check->off = check->warned = true;
}

/* Warns, once in a run, if the orders look like chance or shifted. Begins the next frame. */
static void
residual_check_warn(struct residual_check *check)
{
	double share[RESIDUAL_CHECK_BINS] = { 0 }, n = 0;

	for (size_t y = 0; y < check->rows; y++)
		for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++)
			share[b] += check->count[y][b];
	memset(check->count, 0, check->rows * sizeof(*check->count));
	check->every = LATER_FRAMES_ROWS * check->step;
	for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++)
		n += share[b];
	for (size_t b = 0; b < RESIDUAL_CHECK_BINS; b++)
		share[b] /= n > 0 ? n : 1;
	if (!check->off && n >= CHECK_PIXELS_LEAST)
		judge_residuals(check, share);
}

/*
 * ---- the beat ----
 *
 * Do the periods of two phases fit their beat? Where a period is slightly wrong (65 for 66 px), the
 * residual grows in proportion to the position, by a turn where the order goes wrong by one. The
 * slope gives the true number of fringes in a beat, and so the period that would fit.
 */

#define GRID_PIXELS 1024	/* kept, about, here and for the check of an offset */
#define BEAT_PIXELS_LEAST 128

/* How much the residuals agree, the length of their mean on the circle. Right orders leave 0.8 and
 * more, up to a scatter of 0.1 turns. */
#define BEAT_AGREEMENT 0.8
#define SLOPED_AGREEMENT 0.6	/* once the slope is taken out ... */
#define MORE_AGREEMENT 0.25	/* ... and so much more than without */
#define TURNS_LEAST 0.35	/* of the residual over the image */
#define SLOPE_MOST 1.0		/* turns of residual per turn of position */

#define TURN (2 * M_PI)

struct beat_sample {
	double position, residual;	/* turns */
};

/* For frames of w x h pixels. -1 after fail(). */
static int
beat_check_plan(struct beat_check *check, size_t w, size_t h)
{
	free(check->kept);
	check->kept = NULL;
	if (!check->on)
		return 0;
	check->grid = coarse_grid(w, h, GRID_PIXELS);
	check->kept = calloc(coarse_grid_pixels(&check->grid), sizeof(*check->kept));
	return check->kept ? 0 : fail_memory();
}

/* The length of the samples' mean on the circle, once the slope is taken out. */
static double
agreement(const struct beat_sample *sample, size_t n, double slope)
{
	double cosine = 0, sine = 0;

	for (size_t i = 0; i < n; i++) {
		double angle = TURN * (sample[i].residual - slope * sample[i].position);

		cosine += cos(angle);
		sine += sin(angle);
	}
	return hypot(cosine, sine) / (double)n;
}

/* Arrows at the slope of the first trial; those beyond n add nothing. */
static void
set_arrows(struct arrows *arrows, const struct beat_sample *sample, size_t n, double slope,
    double step)
{
	for (size_t l = 0; l < ARROW_LANES; l++) {
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

/*
 * The slope of best agreement among `steps` on each side of `middle`. From one trial to the next
 * each sample turns by the same angle, so that four products do instead of a sine and a cosine;
 * they are off by 1e-13 after 2000 trials.
 */
static double
best_slope(const struct beat_sample *sample, size_t n, struct arrows *arrows, double middle,
    double step, int steps)
{
	const size_t blocks = (n + ARROW_LANES - 1) / ARROW_LANES;
	double best = middle, most = 0;

	for (size_t b = 0; b < blocks; b++)
		set_arrows(&arrows[b], sample + b * ARROW_LANES, n - b * ARROW_LANES,
		    middle - steps * step, step);
	for (int k = -steps; k <= steps; k++) {
		const double now = unwrap2f_rows()->sum_arrows(arrows, blocks);

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
	const struct beat_sample *left = a, *right = b;

	return (left->position > right->position) - (left->position < right->position);
}

static void
judge_beat(struct beat_check *check, struct beat_sample *sample, size_t n, struct arrows *arrows)
{
	double range, step, slope, level = agreement(sample, n, 0), sloped, span, other_px;

	if (level > BEAT_AGREEMENT)
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

/* Warns, once in a run, where the residual grows with the position. Begins the next frame. */
static void
beat_check_warn(struct beat_check *check)
{
	size_t n = 0, all = coarse_grid_pixels(&check->grid);
	struct beat_sample *sample;
	struct arrows *arrows;

	if (!check->on || check->warned || check->frames++ >= BEAT_CHECK_FRAMES)
		return;
	sample = malloc(all * sizeof(*sample));
	arrows = malloc((all + ARROW_LANES - 1) / ARROW_LANES * sizeof(*arrows));
	for (size_t i = 0; sample && arrows && i < all; i++) {
		double turns = (double)check->kept[i][0] / TURN;

		if (isnan(turns) || isinf(turns) || isnan(check->kept[i][1]))
			continue;
		sample[n].residual = (double)check->kept[i][1];
		sample[n].position = turns + sample[n].residual;
		n++;
	}
	if (n >= BEAT_PIXELS_LEAST)
		judge_beat(check, sample, n, arrows);
	free(arrows);
	free(sample);
}

/*
 * ---- an offset of all phases ----
 *
 * Does every phase begin one of its images early or late? Then all are off by the same angle; beats
 * and orders do not change. The absolute phase is off by that angle, and another phase differs from
 * it by a part of the angle: 1 less the ratio of the periods.
 */

/* How near the angle lies to that of one image, in turns. Right captures of two real rigs are off
 * by 0.005 to 0.009; a surface that moves from one set to the next gives any angle. */
#define OFFSET_NEAR 0.012
#define OFFSET_STEPS_MOST 16	/* images: of more, the angle of one is too near to 0 */
#define OFFSET_SURE 4.0		/* standard errors within OFFSET_NEAR */
#define OFFSET_MISFIT 0.3	/* of several phases from one angle, over the angle */
#define OFFSET_SPREAD 0.25	/* turns between the quartiles; random ones have 0.5 */

/* Of check->kept. */
static size_t
offset_check_bytes(const struct offset_check *check)
{
	return check->on ?
	    coarse_grid_pixels(&check->grid) * (check->others + 1) * sizeof(float) : 0;
}

static int
offset_check_plan(struct offset_check *check, const struct temporal *temporal,
    const struct frame_head *head)
{
	double period_px = temporal->period_px[temporal->target], n;

	free(check->kept);
	if (!meta_get(&head->meta, "steps") || meta_number(&head->meta, "steps", 0, &n) < 0) {
		fail_clear();
		n = 0;
	}
	check->late = n >= 3 && n <= OFFSET_STEPS_MOST;
	check->steps = check->late ? (size_t)n : 0;
	check->others = 0;
	for (size_t k = 0; k < temporal->phases; k++) {
		if (k == temporal->target || temporal->period_px[k] == period_px)
			continue;
		check->channel[check->others] = temporal->channel[k];
		check->ratio[check->others++] = period_px / temporal->period_px[k];
	}
	check->grid = coarse_grid(head->w, head->h, GRID_PIXELS);
	check->kept = malloc(offset_check_bytes(check) + 1);
	return check->kept ? 0 : fail_memory();
}

/* The median difference of one phase, and its standard error; false where pixels are too few, or
 * scatter as random ones. */
static bool
find_median(const struct offset_check *check, size_t other, double *turns, double *median,
    double *error)
{
	size_t n = 0, all = coarse_grid_pixels(&check->grid);
	double between;

	for (size_t i = 0; i < all; i++) {
		double v = (double)check->kept[i * (check->others + 1) + 1 + other];

		if (!isnan(v))
			turns[n++] = v;
	}
	if (n < CHECK_PIXELS_LEAST)
		return false;
	*median = statistics_ranked(turns, n, n / 2);
	between = statistics_ranked(turns, n, n - 1 - n / 4) - statistics_ranked(turns, n, n / 4);
	*error = 0.93 * between / sqrt((double)n);	/* of normal errors: 1.25/1.35 */
	return between < OFFSET_SPREAD;
}

/* Fits one angle to all phases by least squares. */
static void
judge_offset(struct offset_check *check, double *turns)
{
	double median[UNWRAP_PHASES_MOST], up = 0, down = 0, variance = 0, left = 0, shift;

	for (size_t k = 0; k < check->others; k++) {
		double part = 1 - check->ratio[k], error;

		if (!find_median(check, k, turns, &median[k], &error))
			return;
		up += part * median[k];
		down += part * part;
		variance += part * part * error * error;
	}
	shift = up / down;
	for (size_t k = 0; k < check->others; k++) {
		double misfit = median[k] - shift * (1 - check->ratio[k]);

		left += misfit * misfit;
	}
	if (fabs(fabs(shift) - 1 / (double)check->steps) > OFFSET_NEAR ||
	    OFFSET_SURE * sqrt(variance) / down > OFFSET_NEAR ||
	    left > OFFSET_MISFIT * OFFSET_MISFIT * shift * shift * down)
		return;
	warn("absphase", "all phases are off by %.2f turns, as where each begins one of its %zu "
	    "images early or late (or the surface moved from one to the next): is phasewrap "
	    "--phase-origin right?", fabs(shift), check->steps);
	check->off = true;
}

/* Warns, once in a run, where all are off by the same angle. Begins the next frame. */
static void
offset_check_warn(struct offset_check *check)
{
	double *turns;

	if (!check->on || check->off || check->frames++ >= OFFSET_CHECK_FRAMES || !check->late ||
	    !check->others)
		return;
	turns = malloc(coarse_grid_pixels(&check->grid) * sizeof(*turns) + 1);
	if (turns)
		judge_offset(check, turns);
	free(turns);
}

/*
 * ---- the field ----
 *
 * Is more of the projector seen than the field in which orders are searched? Pixels beyond its ends
 * get an order inside, which they fit badly, but fit one outside well. Pixels that the check of an
 * offset has kept, and that lie far from their order, are compared with orders outside.
 */

#define OUTSIDE_FAR 0.25	/* of the least distance of two lines: right pixels lie nearer */
#define OUTSIDE_BETTER 3.0	/* times nearer, an order outside: a tenth of random phases are */
#define OUTSIDE_EXPLAINED 0.6	/* share of the far pixels that an order outside fits, */
#define OUTSIDE_SHARE 0.005	/* and of all */
#define OUTSIDE_LEAST 0.25	/* turns outside: the slack of the search */
#define OUTSIDE_CLEARLY 0.99	/* of the cost: phases that repeat cost the same */
#define OUTSIDE_TRIED_MOST 256	/* pixels */
#define OUTSIDE_STRAY 20	/* one in so many is left out at each end of the range reported */

/* The distance of a pixel's phases from the line `orders` further, squared, in turns. */
static double
line_distance(const struct offset_check *check, const float *beside, double orders)
{
	double square = 0, along = 0, norm = 1;

	for (size_t k = 0; k < check->others; k++) {
		double off = remainder((double)beside[k] - orders * check->ratio[k], 1);

		square += off * off;
		along += off * check->ratio[k];
		norm += check->ratio[k] * check->ratio[k];
	}
	return square - along * along / norm;
}

struct field {
	double lo, hi;		/* positions in turns */
};

/*
 * The position of the best order outside that is OUTSIDE_BETTER; NaN: there is none. Where the
 * phases repeat it is the one above the field: a projector has no columns below 0.
 */
static double
find_outside(const struct offset_check *check, const float *pixel, double own,
    const struct field *field)
{
	double width = field->hi - field->lo, position = (double)pixel[0], found = NAN;
	double least = own / (OUTSIDE_BETTER * OUTSIDE_BETTER);
	double first = ceil(field->lo - width - position);
	double last = floor(field->hi + width - position);

	for (double k = last; k >= first; k--) {
		double at = position + k, now;

		if (at > field->lo - OUTSIDE_LEAST && at < field->hi + OUTSIDE_LEAST)
			continue;
		now = line_distance(check, pixel + 1, k);
		if (now < least * (isnan(found) ? 1 : OUTSIDE_CLEARLY)) {
			least = now;
			found = at;
		}
	}
	return found;
}

/* Warns where many pixels fit an order outside. The periods are those of the search's base and of
 * the phase that is unwrapped. True after a warning. */
static bool
field_check_warn(const struct offset_check *check, const struct order_search *search,
    double base_period_px, double period_px)
{
	double scale = base_period_px / period_px, limit;
	struct field field = { (double)search->lo * scale, (double)search->hi * scale };
	double found[OUTSIDE_TRIED_MOST], share;
	char from[32], to[32];
	size_t all = 0, far = 0, tried = 0, explained = 0, strays, stride;
	size_t pixels = coarse_grid_pixels(&check->grid);

	if (!check->on || check->off || check->frames >= OFFSET_CHECK_FRAMES || check->others < 2)
		return false;
	limit = OUTSIDE_FAR * OUTSIDE_FAR * (double)search->distance * (double)search->distance;
	for (size_t i = 0; i < pixels; i++) {
		double own = line_distance(check, check->kept + i * (check->others + 1) + 1, 0);

		all += !isnan(own);
		far += own >= limit;
	}
	stride = far / OUTSIDE_TRIED_MOST + 1;
	far = 0;
	for (size_t i = 0; i < pixels; i++) {
		const float *pixel = check->kept + i * (check->others + 1);
		double own = line_distance(check, pixel + 1, 0), at;

		if (!(own >= limit) || far++ % stride)
			continue;
		tried++;
		at = find_outside(check, pixel, own, &field);
		if (isnan(at))
			continue;
		found[explained++] = at;
	}
	share = tried ? (double)explained / (double)tried : 0;
	if (all < CHECK_PIXELS_LEAST || share < OUTSIDE_EXPLAINED ||
	    share * (double)far < OUTSIDE_SHARE * (double)all || explained < 4)
		return false;
	strays = explained / OUTSIDE_STRAY;
	snprintf(from, sizeof(from), "%.4g", statistics_ranked(found, explained, strays) *
	    period_px);
	snprintf(to, sizeof(to), "%.4g", statistics_ranked(found, explained,
	    explained - 1 - strays) * period_px);
	warn("absphase", "%.2g %% of the pixels fit no order of the field of %.4g px, but one "
	    "outside, at %s%s%s px: is more of the projector seen (--field)?",
	    100 * share * (double)far / (double)all, (field.hi - field.lo) * period_px, from,
	    strcmp(from, to) ? " to " : "", strcmp(from, to) ? to : "");
	return true;
}

/*
 * ---- jumps ----
 *
 * Does the absolute phase jump by whole turns from a pixel to the next? Where a fringe order is
 * wrong it does, while the wrapped phase is continuous. At the edge of an object jumps have any
 * size. Pairs of neighbours in some rows are weighted by the product of their squared amplitudes,
 * where modulation and texture are given, so that the dark, where all phases are noise, does not
 * count. Neighbours lie in a row, or in a column for phases that vary along y.
 *
 * Where the field is wider than the beat that begins the sequence, the absolute phase falls by the
 * turns of a beat, once in a row and nowhere else. Such jumps are counted by themselves.
 */

#define JUMP_PAIRS 8192		/* sampled, about */
#define JUMPS_LEAST 6		/* pairs that jump by whole turns: fewer may be chance */

/* Shares of the weight that jump by whole turns: 0.0004 at most on right captures of seven rigs,
 * 0.01 to 0.1 with wrong orders. Of jumps of any size a quarter count as whole numbers. */
#define WHOLE_SHARE 0.004
#define GRAY_FAR_SHARE 0.001	/* by more than one: a Gray code's first planes have few edges */

/* Jumps by a beat lie between pixels so far apart, for scatter lets pixels near the beat's end
 * change sides. */
#define BEAT_APART 24
#define BEATS_LEAST 5		/* rows, or columns, that have one */
#define BEATS_SQUARE 90		/* the excess of one direction, squared, over all: random is 9 */

/* For frames of this head that vary along `axis`. */
static int
jump_check_plan(struct jump_check *check, const struct frame_head *head, char axis)
{
	size_t rows = JUMP_PAIRS / head->w + 1;

	free(check->row);
	free(check->kept);
	check->row = NULL;
	check->kept = NULL;
	check->along_y = axis == 'y';
	check->w = head->w;
	check->step = head->h > rows ? head->h / rows : 1;
	if (check->along_y && check->step < JUMP_KEPT_ROWS)
		check->step = JUMP_KEPT_ROWS;
	check->rows = coarse_grid_count(head->h, check->step);
	check->apart = !check->along_y ? BEAT_APART :
	    check->step < BEAT_APART ? BEAT_APART / check->step : 1;
	check->modulation = head_channel(head, "modulation");
	check->texture = head_channel(head, "texture");
	if (check->modulation == NO_CHANNEL || check->texture == NO_CHANNEL)
		check->modulation = check->texture = NO_CHANNEL;
	check->off = check->warned;
	check->row = calloc(check->rows, sizeof(*check->row));
	if (!check->row)
		return fail_memory();
	if (!check->along_y)
		return 0;
	check->kept = calloc(check->rows * 2 * JUMP_KEPT_ROWS, check->w * sizeof(*check->kept));
	if (!check->kept)
		return fail_memory();
	for (size_t i = 0; i < check->rows * 2 * JUMP_KEPT_ROWS * check->w; i++)
		check->kept[i] = NAN;	/* also of rows below the image */
	return 0;
}

static size_t
jump_check_kept_bytes(const struct jump_check *check)
{
	return check->rows * 2 * JUMP_KEPT_ROWS * check->w * sizeof(*check->kept);
}

/* What to look at. */
static const char *
jump_cause(const struct jump_sums *sums, bool gray)
{
	double near = sums->up + sums->down;

	if (!gray)
		return "are the periods right, and in the order of the images?";
	if (sums->far > near)
		return "are the Gray planes in order, the most significant first, and not "
		    "inverted (phasewrap --order, or the rows of its manifest)?";
	if (fabs(sums->up - sums->down) < 0.2 * near)
		return "do --gray-cell and phasewrap --phase-origin (or --gray-offset) fit the "
		    "patterns?";
	return "do --gray-cell, --period and phasewrap --sign fit the patterns?";
}

/* Do jumps by a beat go in one direction, in several rows or columns? */
static bool
passes_beat(const struct jump_check *check, const struct jump_sums *sums)
{
	double excess = fabs(sums->beat_up - sums->beat_down);

	return excess >= (double)(BEATS_LEAST * check->apart) &&
	    excess * excess > BEATS_SQUARE * (sums->beat_up + sums->beat_down);
}

/* Warns, once in a run, where too many neighbours jump. gray: the orders are those of a Gray code.
 * Begins the next frame. */
static void
jump_check_warn(struct jump_check *check, bool gray)
{
	struct jump_sums sums = { 0 };
	double whole;

	if (check->off)
		return;
	if (check->along_y)
		unwrap2f_rows()->jump_columns(check);
	for (size_t i = 0; i < check->rows; i++) {
		sums.all += check->row[i].all;
		sums.up += check->row[i].up;
		sums.down += check->row[i].down;
		sums.far += check->row[i].far;
		sums.loose += check->row[i].loose;
		sums.pairs += check->row[i].pairs;
		sums.beat_up += check->row[i].beat_up;
		sums.beat_down += check->row[i].beat_down;
	}
	memset(check->row, 0, check->rows * sizeof(*check->row));
	whole = sums.up + sums.down + sums.far;
	if (passes_beat(check, &sums)) {
		check->off = check->warned = true;
		warn("absphase",
		    "%s by %.3g turns from a pixel to the next, as at the end of a beat that is "
		    "too short: is more than %.5g px of the projector seen? %s, a Gray code or "
		    "--line tells",
		    sums.beat_up > sums.beat_down ? "rises" : "falls", check->beat_turns,
		    check->beat_px, check->field_tells ? "Their number (--field)" :
		    "A third period");
		return;
	}
	if (sums.pairs < JUMPS_LEAST || whole < sums.loose ||
	    (whole - sums.loose / 3 < WHOLE_SHARE * sums.all &&
		!(gray && sums.far - sums.loose > GRAY_FAR_SHARE * sums.all)))
		return;
	check->off = check->warned = true;
	warn("absphase", "%.2g %% of neighbours differ by whole turns, as wrong fringe orders do: "
	    "%s", 100 * whole / sums.all, jump_cause(&sums, gray));
}

/* ---- --period or --count against the frame's own key ---- */

/* Orders may fit both where all periods are wrong by one factor, or a Gray code gives them. */

#define SAME_PERIOD 1e-3	/* relative: few digits, which change no order */

static int
period_conflict_find(struct period_conflict *conflict, const struct temporal_options *options,
    const struct temporal *temporal, const struct frame_head *head)
{
	struct numbers own;

	conflict->found = false;
	if (conflict->off || (!options->period_px.n && !options->count.n))
		return 0;
	if (meta_numbers(&head->meta, "period_px", &own) < 0) {
		if (fail_is_memory())
			return -1;
		fail_clear();		/* the option replaces it */
		return 0;
	}
	for (size_t i = 0; i < temporal->phases && !conflict->found; i++) {
		size_t number = temporal->number[i];

		if (number > own.n || fabs(temporal->period_px[i] / own.v[number - 1] - 1) <
		    SAME_PERIOD)
			continue;
		*conflict = (struct period_conflict){ .found = true, .counted = options->count.n,
			.says_px = temporal->period_px[i], .own_px = own.v[number - 1],
			.number = number };
	}
	numbers_free(&own);
	return 0;
}

/* Warns, once in a run. */
static void
period_conflict_warn(struct period_conflict *conflict)
{
	if (!conflict->found || conflict->off)
		return;
	conflict->off = true;
	warn(conflict->counted ? "--count" : "--period", "says %.6g px for phase %zu, and the "
	    "frame itself says period_px %.6g: the option counts", conflict->says_px,
	    conflict->number, conflict->own_px);
}

/* ---- planning and judging them all ---- */

/* A code of periods leaves residuals of any size, however right it is. */
static int
plan_residuals(const struct temporal *temporal, const struct frame_head *in,
    struct unwrap2f *unwrap)
{
	bool best = unwrap->method == METHOD_BEST;

	if (unwrap->method == METHOD_GRAY && temporal->cell == GRAY_PERIOD)
		unwrap->check.off = true;
	unwrap->check.cell = 0;
	if (unwrap->method == METHOD_GRAY && temporal->cell != GRAY_PERIOD)
		unwrap->check.cell = temporal->cell == GRAY_HALF ? 0.5 :
		    1 / temporal->period_px[temporal->target];
	return residual_check_plan(&unwrap->check, in->w, in->h, best ? unwrap->search.chance : 0);
}

/* Two phases: their number of fringes in a beat, and how a turn of each moves the residual.
 * `ordered` has the phase that the sequence ends in as its target. */
static int
plan_beat(const struct temporal *temporal, const struct temporal *ordered,
    const struct frame_head *in, struct unwrap2f *unwrap)
{
	const struct unwrap_steps *steps = &unwrap->steps;
	bool beat = temporal->phases == 2 && unwrap->method != METHOD_GRAY && steps->n == 2 &&
	    steps->step[0].n == 2 && steps->start != START_SPATIAL;
	size_t wanted = ordered->target, other = 1 - wanted;
	double period_px = temporal->period_px[wanted], n;

	unwrap->jumps.beat_turns = 0;
	unwrap->jumps.field_tells = temporal->phases > 2 && temporal->field_px == 0;
	unwrap->check.assumed_px = unwrap->jumps.field_tells && steps->n ? steps->field_px : 0;
	if (steps->n && steps->start == START_FIELD) {
		unwrap->jumps.beat_px = steps->period_px;
		unwrap->jumps.beat_turns =
		    steps->period_px / temporal->period_px[temporal->target];
	}
	unwrap->beat.on = beat && unwrap->method != METHOD_BEST;
	unwrap->check.steps = 0;
	if (!unwrap->beat.on)
		return beat_check_plan(&unwrap->beat, in->w, in->h);
	unwrap->beat.span = steps->period_px / period_px;
	unwrap->beat.period_px = period_px;
	unwrap->beat.shorter = period_px < temporal->period_px[other];
	if (!meta_get(&in->meta, "steps") || meta_number(&in->meta, "steps", 0, &n) < 0)
		fail_clear();
	else
		unwrap->check.steps = n >= 3 && n <= 1000 ? (size_t)n : 0;
	unwrap->check.number[0] = temporal->number[wanted];
	unwrap->check.number[1] = temporal->number[other];
	unwrap->check.weight[0] = unwrap->beat.span + (unwrap->beat.shorter ? -1 : 1);
	unwrap->check.weight[1] = unwrap->beat.span;
	return beat_check_plan(&unwrap->beat, in->w, in->h);
}

static int
plan_offset(const struct temporal *temporal, const struct frame_head *in,
    struct unwrap2f *unwrap)
{
	unwrap->offset.on = temporal->phases > 1 && !unwrap->orders.fuse &&
	    (unwrap->method == METHOD_BEST ||
	    (unwrap->method != METHOD_GRAY && unwrap->steps.start == START_FIELD));
	unwrap->period_px[0] = temporal->period_px[temporal_shortest(temporal)];
	unwrap->period_px[1] = temporal->period_px[temporal->target];
	return offset_check_plan(&unwrap->offset, temporal, in);
}

/* Names what rows keep of a frame for unwrap2f_after(). */
static int
plan_memory(struct run *run, struct unwrap2f *unwrap)
{
	const struct residual_check *check = &unwrap->check;
	const struct jump_check *jumps = &unwrap->jumps;
	const struct beat_check *beat = &unwrap->beat;

	if (run_frame_memory(run, &unwrap->check.count,
		check->rows * sizeof(*check->count)) < 0 ||
	    run_frame_memory(run, &unwrap->jumps.row, jumps->rows * sizeof(*jumps->row)) < 0 ||
	    run_frame_memory(run, &unwrap->jumps.kept, jump_check_kept_bytes(jumps)) < 0 ||
	    run_frame_memory(run, &unwrap->offset.kept, offset_check_bytes(&unwrap->offset)) < 0)
		return -1;
	return run_frame_memory(run, &unwrap->beat.kept,
	    coarse_grid_pixels(&beat->grid) * sizeof(*beat->kept));
}

/* After the sequence or search is planned. `ordered` has the phase that it unwraps as its target.
 * -1 after fail(). */
int
unwrap2f_plan_checks(struct run *run, const struct temporal_options *options,
    const struct temporal *temporal, const struct temporal *ordered, const struct frame_head *in)
{
	struct unwrap2f *unwrap = run->priv;

	if (period_conflict_find(&unwrap->conflict, options, temporal, in) < 0 ||
	    plan_residuals(temporal, in, unwrap) < 0 ||
	    plan_beat(temporal, ordered, in, unwrap) < 0 ||
	    jump_check_plan(&unwrap->jumps, in, temporal->axis) < 0 ||
	    plan_offset(temporal, in, unwrap) < 0)
		return -1;
	return plan_memory(run, unwrap);
}

void
unwrap2f_free_checks(struct unwrap2f *unwrap)
{
	free(unwrap->check.count);
	free(unwrap->jumps.row);
	free(unwrap->jumps.kept);
	free(unwrap->beat.kept);
	free(unwrap->offset.kept);
}

/* struct body's `after`: of the checks that fire, the first one warns. */
void
unwrap2f_after(struct run *run)
{
	struct unwrap2f *unwrap = run->priv;

	beat_check_warn(&unwrap->beat);
	if (unwrap->method == METHOD_BEST)	/* before the residuals, which name no cause */
		unwrap->offset.off |= field_check_warn(&unwrap->offset, &unwrap->search,
		    unwrap->period_px[0], unwrap->period_px[1]);
	unwrap->check.off |= unwrap->beat.warned | unwrap->offset.off;
	residual_check_warn(&unwrap->check);
	unwrap->offset.off |= unwrap->check.warned;
	unwrap->jumps.off |= unwrap->offset.off | unwrap->beat.warned;
	jump_check_warn(&unwrap->jumps, unwrap->method == METHOD_GRAY);
	unwrap->offset.off |= unwrap->jumps.off;
	offset_check_warn(&unwrap->offset);
	if (!unwrap->offset.off && !unwrap->beat.warned)
		period_conflict_warn(&unwrap->conflict);
}
