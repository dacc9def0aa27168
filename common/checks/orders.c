/*
 * Checks of fringe orders: do those that unwrap2f found look right, and if not, why?
 *
 * `beat`: the residual of two phases grows with the position, as where a period is slightly wrong.
 * `field`: pixels fit no order of the field, but one outside. `residuals`: they look like chance,
 * or are all shifted. `jumps`: the absolute phase jumps by whole turns between neighbours.
 * `gray-of`: the Gray code belongs to another phase. `offset`: all phases are off by the angle of
 * one image. Each is weighed against right captures of several rigs; the limits say what those
 * have.
 */
#include "checks/checks.h"

#include <math.h>

#include "base/process.h"
#include "image/statistics.h"

#define TURN_RAD (2 * M_PI)
#define MIN_PIXELS 256		/* valid ones, from which on a share tells something */

static bool
is_ordered(const struct check_facts *facts, const struct check_heads *heads)
{
	return facts->orders && heads->out->c >= 2;
}

/* The absolute phase and its residual, of the output. */
enum { ABSPHASE, RESIDUAL };

static void
mark_phases(const struct fringe_orders *orders, bool *in)
{
	for (size_t i = 0; i < orders->phases; i++)
		in[orders->channel[i]] = true;
}

static bool
has_all_phases(const struct fringe_orders *orders, const struct frame *in, size_t i, size_t x)
{
	bool all = true;

	for (size_t k = 0; k < orders->phases; k++)
		all &= !isnan(frame_floats(in, orders->channel[k], i)[x]);
	return all;
}

/* ---- the phases next to the absolute one ---- */

#define PHASES_PIXELS 1024	/* of the grid, about */

/* How far the phases of other periods than absphase differ from it, of sampled pixels. */
struct pixel_phases {
	size_t others, channel[CHECK_PHASES_MOST];
	double ratio[CHECK_PHASES_MOST];	/* of the period of absphase to theirs */
	size_t pixels;
	/* Of each pixel, absphase and then each difference less whole turns, in turns; NaN: none.
	 * Owned. */
	double *turns;
};

static double *
phases_of(const struct pixel_phases *phases, size_t pixel)
{
	return phases->turns + pixel * (phases->others + 1);
}

static struct pixel_phases
list_pixel_phases(const struct fringe_orders *orders, const struct check_sample *sample)
{
	const struct check_rows *rows = &sample->out;
	struct check_grid grid = check_grid(rows, PHASES_PIXELS);
	double period_px = orders->period_px[orders->target];
	struct pixel_phases phases = { .others = 0 };

	for (size_t k = 0; k < orders->phases; k++)
		if (orders->period_px[k] != period_px) {
			phases.channel[phases.others] = orders->channel[k];
			phases.ratio[phases.others++] = period_px / orders->period_px[k];
		}
	phases.turns = must_resize(NULL, grid.columns * grid.rows * (phases.others + 1),
	    sizeof(*phases.turns));
	for (size_t i = 0; i < grid.rows; i++)
		for (size_t x = check_grid_shift(&grid, i); x < rows->frame.head.w;
		    x += grid.step) {
			double *to = phases_of(&phases, phases.pixels++);
			double absolute = (double)frame_floats(&rows->frame, ABSPHASE, i)[x];

			to[0] = absolute / TURN_RAD;
			for (size_t k = 0; k < phases.others; k++)
				to[k + 1] = remainder(((double)frame_floats(&sample->in.frame,
				    phases.channel[k], i)[x] - absolute * phases.ratio[k]) /
				    TURN_RAD, 1);
		}
	return phases;
}

/* The distance of a pixel's phases from the order so much further, squared, in turns. */
static double
order_distance(const struct pixel_phases *phases, const double *pixel, double orders)
{
	double square = 0, along = 0, norm = 1;

	for (size_t k = 0; k < phases->others; k++) {
		double off = remainder(pixel[k + 1] - orders * phases->ratio[k], 1);

		square += off * off;
		along += off * phases->ratio[k];
		norm += phases->ratio[k] * phases->ratio[k];
	}
	return square - along * along / norm;
}

/*
 * ---- residuals ----
 *
 * Wrong or swapped periods and a forgotten phase origin give orders without an error; only the
 * rounded-away rest shows it.
 */

#define RESIDUAL_PIXELS 8192	/* of the grid, about: a share is then sure to 0.01 */
#define RESIDUAL_BINS 40	/* over [-0.5, 0.5] turns */

/* Of random orders half the residuals are larger than 1/4 and a fifth larger than 0.4, more where
 * several orders build on each other. Captures whose background is not masked have a seventh beyond
 * 1/4. Scatter passes both limits only where it leaves few orders right. */
#define RESIDUAL_FAR 0.25
#define RESIDUAL_FAR_SHARE 0.45
#define RESIDUAL_VERY_FAR 0.4
#define RESIDUAL_VERY_FAR_SHARE 0.15

/* An error that all have in common: its size in turns, and how much the residuals agree in it (the
 * length of their mean on the circle; half periods of a Gray code alone reduce it to 0.64). */
#define SHIFT_TURNS 0.125
#define SHIFT_AGREEMENT 0.4

/* One of two phases begins an image early or late: the residuals agree more, and the shift, in
 * turns, is known. */
#define LATE_AGREEMENT 0.75
#define LATE_SHIFT_TURNS 0.06
#define LATE_NEAR_TURNS 0.025
#define BOTH_LATE 4U		/* find_late(): both phases together */
#define BOTH_NEAR_TURNS 0.0125	/* a surface that moves between sets gives any shift */

/* Distances from the best order that are all large and alike. */
#define ALIKE_LEAST 0.15	/* of the way to the next order */
#define ALIKE_SPREAD 1.5	/* the largest over the least */

/* Cells of a Gray code leave residuals up to half a cell, evenly on both sides of 0 where phase and
 * code have one origin: right captures of three rigs are off by 0.000 to 0.016 turns. */
#define TAIL_SHARE 0.05		/* left out on each side: noise, pixels in the dark */
/* 13 degrees. BEYOND_CELL_TURNS bounds the warning, too: an end must lie that far outside. */
#define EDGE_SHIFT_TURNS 0.035
#define BEYOND_CELL_TURNS 0.03	/* a cell seen in part may lie on one side, but not beyond */

/* How many residuals lie in each bin, in part of all. */
struct histogram {
	const struct fringe_orders *orders;
	double share[RESIDUAL_BINS];
	bool positive;		/* residuals are distances from the best order, without a sign */
	double scale;		/* of residuals, so that random ones have the same median */
};

/* Pixels whose residual is beyond --max-residual count as spread evenly up to half a turn. */
static void
add_rejected(struct histogram *histogram, double rejected)
{
	double limit = histogram->orders->max_residual * histogram->scale, bins = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t b = 0; b < RESIDUAL_BINS; b++) {
			double at = ((double)b + 0.5) / RESIDUAL_BINS - 0.5;
			bool beyond = (histogram->positive ? at : fabs(at)) > limit;

			if (pass == 0)
				bins += beyond;
			else if (beyond)
				histogram->share[b] += rejected / bins;
		}
}

/* Returns the number of residuals. */
static double
count_residuals(struct histogram *histogram, const struct check_sample *sample)
{
	const struct fringe_orders *orders = histogram->orders;
	const struct check_rows *rows = &sample->out;
	struct check_grid grid = check_grid(rows, RESIDUAL_PIXELS);
	size_t w = rows->frame.head.w;
	bool limited = orders->max_residual < 0.5 && !orders->other_losses;
	uint32_t count[RESIDUAL_BINS + 1] = { 0 };
	float scale = (float)histogram->scale;
	double n = 0, rejected = 0;

	for (size_t i = 0; i < grid.rows; i++) {
		const float *residual = frame_floats(&rows->frame, RESIDUAL, i);

		for (size_t x = check_grid_shift(&grid, i); x < w; x += grid.step) {
			float at = (residual[x] * scale + 0.5f) * RESIDUAL_BINS;

			if (at >= 0)
				count[at < RESIDUAL_BINS ? (size_t)at : RESIDUAL_BINS]++;
			else if (limited && has_all_phases(orders, &sample->in.frame, i, x))
				rejected++;
		}
	}
	count[RESIDUAL_BINS - 1] += count[RESIDUAL_BINS];
	for (size_t b = 0; b < RESIDUAL_BINS; b++)
		histogram->share[b] = count[b];
	add_rejected(histogram, rejected);
	for (size_t b = 0; b < RESIDUAL_BINS; b++)
		n += histogram->share[b];
	for (size_t b = 0; b < RESIDUAL_BINS && n > 0; b++)
		histogram->share[b] /= n;
	return n;
}

/* The residual below which the share `below` lies, counted from half a turn below `middle` once
 * round the circle. */
static double
quantile(const double *share, double middle, double below)
{
	double start = middle - 0.5, sum = 0;

	for (size_t b = 0; b < RESIDUAL_BINS; b++) {
		double at = (start + 0.5) * RESIDUAL_BINS + (double)b;
		size_t bin = (size_t)(at + RESIDUAL_BINS) % RESIDUAL_BINS;

		if (sum + share[bin] >= below)
			return start + ((double)b + (below - sum) / share[bin]) / RESIDUAL_BINS;
		sum += share[bin];
	}
	return start + 1;
}

/* How far phase and Gray code are misaligned, in turns: the middle between the ends of the
 * residuals. 0 where they do not reach beyond a cell. */
static double
edge_shift(const double *share, double mean, double cell_turns)
{
	double middle, low, high, end = (0.5 - TAIL_SHARE) * cell_turns + BEYOND_CELL_TURNS;

	middle = round(mean * RESIDUAL_BINS) / RESIDUAL_BINS;	/* ends of bins */
	low = quantile(share, middle, TAIL_SHARE);
	high = quantile(share, middle, 1 - TAIL_SHARE);
	return high > end || low < -end ? (low + high) / 2 : 0;
}

/* All residuals are about half a turn. */
#define HALF_TURN_NEAR 0.04	/* turns */
#define HALF_TURN_BETTER 0.25	/* of the cost: pixels that a half turn of all phases explains */
#define HALF_TURN_SHARE 0.9	/* of the pixels */
#define HALF_TURN_PIXELS 256	/* looked at, about */

/* Of two phases: the number of fringes of the ordered one in their beat, and which is the other. */
static double
fringes_in_beat(const struct fringe_orders *orders)
{
	return orders->beat_px / orders->period_px[orders->ordered];
}

static bool
is_shorter(const struct fringe_orders *orders)
{
	return orders->period_px[orders->ordered] < orders->period_px[!orders->ordered];
}

/* Which of two phases, an image early or late, shifts all residuals by so much? Bit 0 is the
 * ordered one, bit 1 the other, BOTH_LATE both together, which do not move the beat. */
static unsigned
find_late(const struct fringe_orders *orders, double shift)
{
	double beat = fringes_in_beat(orders);
	double weight[2] = { beat + (is_shorter(orders) ? -1 : 1), beat };
	unsigned late = 0;

	if (orders->beat_px == 0 || !orders->steps)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		double step = weight[i] / (double)orders->steps;

		if (fabs(remainder(shift - step, 1)) < LATE_NEAR_TURNS ||
		    fabs(remainder(shift + step, 1)) < LATE_NEAR_TURNS)
			late |= 1U << i;
	}
	if (fabs(fabs(shift) - 1 / (double)orders->steps) < BOTH_NEAR_TURNS)
		late |= BOTH_LATE;
	return late;
}

static bool
fire_late(const struct fringe_orders *orders, double shift, unsigned late, bool is_half,
    struct check_line *line)
{
	const char *origin = is_half ? "; or all fringes begin half a turn late: phasewrap "
	    "--phase-origin 180" : "";
	static const char *const others[] = { [1] = " begins one of its",
		[2] = " begins one of its",
		[3] = " or the other one begins one of its", [5] = " or both begin one of their",
		[6] = " or both begin one of their",
		[7] = ", the other one or both begin one of their" };

	if (late == BOTH_LATE)
		return check_fire(line, "residual", "all are off by %.2f turns, as where both "
		    "phases begin one of their %zu images early or late%s", shift, orders->steps,
		    origin);
	return check_fire(line, "residual", "all are off by %.2f turns, as where phase%zu%s %zu "
	    "images early or late%s", shift,
	    orders->number[late & 1 ? orders->ordered : !orders->ordered], others[late],
	    orders->steps, origin);
}

/* Do distances from the best order lie close together and far from 0? From the 5 % to the 75 %
 * point scatter spreads them by a factor of 5 with three phases, of 1.58 with 16. */
static bool
are_alike(const struct histogram *histogram)
{
	double low = quantile(histogram->share, 0.5, TAIL_SHARE);
	double high = quantile(histogram->share, 0.5, 0.75);

	return histogram->positive && low > ALIKE_LEAST * histogram->scale &&
	    high < ALIKE_SPREAD * low;
}

/* Of three and more phases: do orders fit once every phase is moved by half a turn? A start of the
 * fringes at another phase than 0 does that. */
static bool
is_half_a_turn(const struct fringe_orders *orders, const struct check_sample *sample)
{
	struct pixel_phases phases = list_pixel_phases(orders, sample);
	double field_px = orders->searched_px > 0 ? orders->searched_px : orders->field_px > 0 ?
	    orders->field_px : orders->first_period_px;
	double last = field_px / orders->period_px[orders->target];
	size_t step = phases.pixels / HALF_TURN_PIXELS + 1, n = 0, better = 0;

	for (size_t i = 0; phases.others > 1 && i < phases.pixels; i += step) {
		double *pixel = phases_of(&phases, i), own = order_distance(&phases, pixel, 0);
		double least = INFINITY;

		if (isnan(own))
			continue;
		for (size_t k = 0; k < phases.others; k++)
			pixel[k + 1] += 0.5 * (1 - phases.ratio[k]);
		for (double k = ceil(-pixel[0] - 1); k < last - pixel[0]; k++)
			least = fmin(least, order_distance(&phases, pixel, k));
		n++;
		better += least < HALF_TURN_BETTER * HALF_TURN_BETTER * own;
	}
	free(phases.turns);
	return n > 0 && (double)better > HALF_TURN_SHARE * (double)n;
}

static bool
judge_residuals(const struct histogram *histogram, const struct check_sample *sample,
    struct check_line *line)
{
	const struct fringe_orders *orders = histogram->orders;
	double far = 0, very_far = 0, cosine = 0, sine = 0, agreement, shift;
	bool positive = histogram->positive, is_half;
	unsigned late;

	for (size_t b = 0; b < RESIDUAL_BINS; b++) {
		double r = ((double)b + 0.5) / RESIDUAL_BINS - 0.5, share = histogram->share[b];

		far += fabs(r) > RESIDUAL_FAR ? share : 0;
		very_far += fabs(r) > RESIDUAL_VERY_FAR ? share : 0;
		cosine += share * cos(TURN_RAD * r);
		sine += share * sin(TURN_RAD * r);
	}
	agreement = hypot(sine, cosine);
	shift = atan2(sine, cosine) / TURN_RAD;
	if (orders->gray_cell_turns > 0)
		shift = edge_shift(histogram->share, shift, orders->gray_cell_turns);
	late = find_late(orders, shift);
	/* of several errors the residual is the largest, which tells less */
	is_half = fabs(fabs(shift) - 0.5) < HALF_TURN_NEAR && (orders->gray_cell_turns > 0 ||
	    (orders->phases == 2 ? agreement > LATE_AGREEMENT : !positive &&
	    orders->phases > 2 && is_half_a_turn(orders, sample)));
	if (!positive && late && agreement > LATE_AGREEMENT && fabs(shift) > LATE_SHIFT_TURNS)
		return fire_late(orders, shift, late, is_half, line);
	if (!positive && agreement > SHIFT_AGREEMENT && is_half)
		return check_fire(line, "residual", "all are off by about half a turn: give "
		    "phasewrap --phase-origin 180, or 180 more than now%s",
		    orders->gray_cell_turns > 0 ? "; where the phase falls as the code grows, the "
		    "other --sign" : "");
	if (!positive && agreement > SHIFT_AGREEMENT && fabs(shift) > SHIFT_TURNS)
		return check_fire(line, "residual", "all are off by about %.2f turns: do --period "
		    "and phasewrap --phase-origin and --sign fit the patterns?", shift);
	if (orders->gray_cell_turns > 0 && agreement > SHIFT_AGREEMENT &&
	    fabs(shift) > EDGE_SHIFT_TURNS)
		return check_fire(line, "residual", "phase and Gray code are misaligned by about "
		    "%.0f degrees: %s phasewrap --phase-origin (or use --gray-offset)",
		    360 * fabs(shift), shift < 0 ? "add them to" : "subtract them from");
	if (are_alike(histogram))
		return check_fire(line, "residual", "all lie alike far from the best order, as "
		    "where one of the phases begins an image early or late, or with wrong or "
		    "swapped periods");
	if (far > RESIDUAL_FAR_SHARE && positive && orders->assumed_field_px > 0)
		return check_fire(line, "residual", "as large as from random fringe orders: no "
		    "--field, so that orders were looked for over %.5g px; wrong or swapped "
		    "periods, a wrong phase origin, mostly unlit pixels (phasewrap "
		    "--min-amplitude)", orders->assumed_field_px);
	if (far > RESIDUAL_FAR_SHARE && (positive || very_far > RESIDUAL_VERY_FAR_SHARE))
		return check_fire(line, "residual", "as large as from random fringe orders: %s"
		    "wrong or swapped periods, a wrong phase origin, mostly unlit pixels "
		    "(phasewrap --min-amplitude), or a curved response (gamma) of few steps a "
		    "period",
		    orders->gray_cell_turns > 0 ? "a Gray plane that is missing or out of place, " :
		    "");
	return false;
}

static bool
residuals_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct histogram histogram = { .orders = facts->orders, .scale = 1,
		.positive = facts->orders->method == ORDERS_BEST };

	if (histogram.positive)
		histogram.scale = fmax(1, RESIDUAL_FAR / facts->orders->random_residual);
	line->undecided = count_residuals(&histogram, sample) < MIN_PIXELS;
	if (!line->undecided && are_alike(&histogram) && is_half_a_turn(facts->orders, sample))
		return check_fire(line, "residual", "all lie alike far from the best order, and "
		    "fit when all phases are moved by half a turn: give phasewrap "
		    "--phase-origin 180, or 180 more than now");
	return !line->undecided && judge_residuals(&histogram, sample, line);
}

static bool
residuals_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return is_ordered(facts, heads) && !isnan(facts->orders->gray_cell_turns);
}

static void
residuals_channels(const struct check_facts *facts, const struct check_heads *, bool *in, bool *out)
{
	out[RESIDUAL] = true;
	out[ABSPHASE] = true;
	if (facts->orders->max_residual < 0.5 || facts->orders->phases > 2)
		mark_phases(facts->orders, in);
}

const struct check check_residuals = {
	.name = "residuals", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT,
	.explains = CHECK_NAMES("jumps", "offset", "period-key"), .applies = residuals_applies,
	.channels = residuals_channels, .judge = residuals_judge
};

/*
 * ---- the beat ----
 *
 * Where a period is slightly wrong (65 for 66 px), the residual grows in proportion to the
 * position, by a turn where the order goes wrong by one. The slope gives the true number of fringes
 * in a beat, and so the period that would fit.
 */

#define BEAT_PIXELS 1024	/* of the grid, about */
#define MIN_BEAT_PIXELS 128

/* How much the residuals agree, the length of their mean on the circle. Right orders leave 0.8 and
 * more, up to a scatter of 0.1 turns. */
#define BEAT_AGREEMENT 0.8
#define SLOPED_AGREEMENT 0.6	/* once the slope is taken out ... */
#define MORE_AGREEMENT 0.25	/* ... and so much more than without */
#define MIN_SLOPED_TURNS 0.35	/* of the residual over the image */
#define MAX_SLOPE 1.0		/* turns of residual per turn of position */
#define MAX_SLOPES 1000		/* tried on each side, at first */
#define FINE_SLOPES 16		/* then from one of these to the next */

struct beat_pixel {
	double position, residual;	/* turns; sorted by the first */
};

/* The length of the pixels' mean on the circle, once the slope is taken out. */
static double
agreement_at(const struct beat_pixel *pixel, size_t n, double slope)
{
	double cosine = 0, sine = 0;

	for (size_t i = 0; i < n; i++) {
		double angle = TURN_RAD * (pixel[i].residual - slope * pixel[i].position);

		cosine += cos(angle);
		sine += sin(angle);
	}
	return hypot(cosine, sine) / (double)n;
}

/* A residual as a unit vector, and the turn of this vector from one slope to the next. */
struct arrow {
	double x, y, turn_x, turn_y;
};

/*
 * The slope of best agreement among `slopes` on each side of `middle`. From one to the next each
 * vector turns by the same angle, so that four products do instead of a sine and a cosine; they are
 * off by 1e-13 after 2000 slopes.
 */
static double
best_slope(const struct beat_pixel *pixel, size_t n, struct arrow *arrow, double middle,
    double step, int slopes)
{
	double best = middle, most = 0;

	for (size_t i = 0; i < n; i++) {
		double first = middle - slopes * step, position = pixel[i].position;
		double angle = TURN_RAD * (pixel[i].residual - first * position);

		arrow[i] = (struct arrow){ cos(angle), sin(angle), cos(TURN_RAD * step * position),
			-sin(TURN_RAD * step * position) };
	}
	for (int k = -slopes; k <= slopes; k++) {
		double x = 0, y = 0;

		for (size_t i = 0; i < n; i++) {
			struct arrow a = arrow[i];

			x += a.x;
			y += a.y;
			arrow[i].x = a.x * a.turn_x - a.y * a.turn_y;
			arrow[i].y = a.x * a.turn_y + a.y * a.turn_x;
		}
		if (hypot(x, y) > most) {
			most = hypot(x, y);
			best = middle + k * step;
		}
	}
	return best;
}

static bool
judge_beat(const struct fringe_orders *orders, struct beat_pixel *pixel, size_t n,
    struct arrow *arrow, struct check_line *line)
{
	double range, step, slope, level = agreement_at(pixel, n, 0), sloped, beat, other_px;
	double period_px = orders->period_px[orders->ordered], planned = fringes_in_beat(orders);

	if (level > BEAT_AGREEMENT)
		return false;
	qsort(pixel, n, sizeof(*pixel), numbers_compare_doubles);
	range = pixel[n - 1 - n / 20].position - pixel[n / 20].position;
	if (!(range > 1))
		return false;
	step = 0.25 / range;
	slope = best_slope(pixel, n, arrow, 0, step, (int)fmin(MAX_SLOPE / step, MAX_SLOPES));
	slope = best_slope(pixel, n, arrow, slope, step / FINE_SLOPES, FINE_SLOPES);
	sloped = agreement_at(pixel, n, slope);
	beat = planned * (1 - slope);
	if (sloped < SLOPED_AGREEMENT || sloped < level + MORE_AGREEMENT ||
	    fabs(slope) * range < MIN_SLOPED_TURNS || !(beat > 1.5))
		return false;
	other_px = period_px * beat / (is_shorter(orders) ? beat - 1 : beat + 1);
	return check_fire(line, "residual", "changes by %.2g turns over the image, as where a "
	    "period is wrong: the phases have %.4g fringes in a beat, these periods %.4g; beside "
	    "%.6g px the other one would be %.4g px", fabs(slope) * range, beat, planned,
	    period_px, other_px);
}

static bool
beat_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct fringe_orders *orders = facts->orders;
	const struct check_rows *rows = &sample->out;
	struct check_grid grid = check_grid(rows, BEAT_PIXELS);
	struct beat_pixel *pixel = must_alloc(grid.columns * grid.rows, sizeof(*pixel));
	struct arrow *arrow = must_alloc(grid.columns * grid.rows, sizeof(*arrow));
	double turns_per_rad = orders->period_px[orders->target] /
	    orders->period_px[orders->ordered] / TURN_RAD;
	size_t n = 0;
	bool fires = false;

	for (size_t i = 0; i < grid.rows; i++)
		for (size_t x = check_grid_shift(&grid, i); x < rows->frame.head.w;
		    x += grid.step) {
			double absolute = (double)frame_floats(&rows->frame, ABSPHASE, i)[x];
			double residual = (double)frame_floats(&rows->frame, RESIDUAL, i)[x];

			if (isfinite(absolute) && !isnan(residual))
				pixel[n++] = (struct beat_pixel){
					absolute * turns_per_rad + residual, residual };
		}
	line->undecided = n < MIN_BEAT_PIXELS;
	if (!line->undecided)
		fires = judge_beat(orders, pixel, n, arrow, line);
	free(pixel);
	free(arrow);
	return fires;
}

static bool
beat_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return is_ordered(facts, heads) && facts->orders->beat_px > 0;
}

static void
beat_channels(const struct check_facts *, const struct check_heads *, bool *, bool *out)
{
	out[ABSPHASE] = out[RESIDUAL] = true;
}

const struct check check_beat = {
	.name = "beat", .rank = 1, .looks = CHECK_OUTPUT | CHECK_FIRST,
	.explains = CHECK_NAMES("residuals", "jumps", "offset", "period-key"),
	.applies = beat_applies, .channels = beat_channels, .judge = beat_judge
};

static void
pixel_phases_channels(const struct check_facts *facts, const struct check_heads *, bool *in,
    bool *out)
{
	mark_phases(facts->orders, in);
	out[ABSPHASE] = true;
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
#define OFFSET_NEAR_TURNS 0.012
#define OFFSET_MAX_STEPS 16	/* images: of more, the angle of one is too near to 0 */
#define OFFSET_DEVIATIONS 4.0	/* standard errors within OFFSET_NEAR_TURNS */
#define OFFSET_MISFIT 0.3	/* of several phases from one angle, over the angle */
#define OFFSET_SPREAD_TURNS 0.25	/* between the quartiles; random ones have 0.5 */

/* The median difference of one phase, and its standard error. False where pixels are too few
 * (*undecided), or scatter as random ones. */
static bool
find_median(const struct pixel_phases *phases, size_t other, double *turns, double *median,
    double *error, bool *undecided)
{
	double between;
	size_t n = 0;

	for (size_t i = 0; i < phases->pixels; i++) {
		double v = phases_of(phases, i)[1 + other];

		if (!isnan(v))
			turns[n++] = v;
	}
	*undecided |= n < MIN_PIXELS;
	if (n < MIN_PIXELS)
		return false;
	*median = statistics_ranked(turns, n, n / 2);
	between = statistics_ranked(turns, n, n - 1 - n / 4) - statistics_ranked(turns, n, n / 4);
	*error = 0.93 * between / sqrt((double)n);	/* of normal errors: 1.25/1.35 */
	return between < OFFSET_SPREAD_TURNS;
}

/* Fits one angle to all phases by least squares. turns: room for a number of each pixel. */
static bool
judge_offset(const struct pixel_phases *phases, size_t steps, double *turns,
    struct check_line *line)
{
	double median[CHECK_PHASES_MOST], up = 0, down = 0, variance = 0, left = 0, shift;

	for (size_t k = 0; k < phases->others; k++) {
		double part = 1 - phases->ratio[k], error;

		if (!find_median(phases, k, turns, &median[k], &error, &line->undecided))
			return false;
		up += part * median[k];
		down += part * part;
		variance += part * part * error * error;
	}
	shift = up / down;
	for (size_t k = 0; k < phases->others; k++) {
		double misfit = median[k] - shift * (1 - phases->ratio[k]);

		left += misfit * misfit;
	}
	if (fabs(fabs(shift) - 1 / (double)steps) > OFFSET_NEAR_TURNS ||
	    OFFSET_DEVIATIONS * sqrt(variance) / down > OFFSET_NEAR_TURNS ||
	    left > OFFSET_MISFIT * OFFSET_MISFIT * shift * shift * down)
		return false;
	return check_fire(line, "absphase", "all phases are off by %.2f turns, as where each "
	    "begins one of its %zu images early or late (or the surface moved from one to the "
	    "next): is phasewrap --phase-origin right?", fabs(shift), steps);
}

static bool
offset_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct pixel_phases phases = list_pixel_phases(facts->orders, sample);
	double *turns = must_alloc(phases.pixels, sizeof(*turns));
	bool fires = phases.others && judge_offset(&phases, facts->orders->steps, turns, line);

	free(turns);
	free(phases.turns);
	return fires;
}

/* Orders that come from the phases alone: does the result belong to one of them? */
static bool
is_by_phases(const struct check_facts *facts, const struct check_heads *heads)
{
	const struct fringe_orders *orders = facts->orders;

	return is_ordered(facts, heads) && orders->phases > 1 && !orders->averaged &&
	    (orders->method == ORDERS_BEST ||
	    (orders->method == ORDERS_BY_SEQUENCE && orders->first_period_px > 0));
}

static bool
offset_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return is_by_phases(facts, heads) && facts->orders->steps >= 3 &&
	    facts->orders->steps <= OFFSET_MAX_STEPS;
}

const struct check check_offset = {
	.name = "offset", .rank = 2, .looks = CHECK_INPUT | CHECK_OUTPUT | CHECK_FIRST,
	.explains = CHECK_NAMES("period-key"), .applies = offset_applies,
	.channels = pixel_phases_channels, .judge = offset_judge
};

/*
 * ---- the field ----
 *
 * Is more of the projector seen than the field in which orders are searched? Pixels beyond its ends
 * get an order inside, which they fit badly, but fit one outside well.
 */

#define OUTSIDE_FAR 0.25	/* of the least distance of two orders: right pixels lie nearer */
#define OUTSIDE_BETTER 3.0	/* times nearer, an order outside: a tenth of random phases are */
#define OUTSIDE_EXPLAINED 0.6	/* share of the far pixels that an order outside fits, */
#define OUTSIDE_SHARE 0.005	/* and of all */
#define OUTSIDE_MIN_TURNS 0.25	/* from the field: the slack of the search */
#define OUTSIDE_CLEARLY 0.99	/* of the cost: phases that repeat cost the same */
#define OUTSIDE_TRIED_PIXELS 256	/* at most */
#define OUTSIDE_STRAY 20	/* one in so many is left out at each end of the range reported */

struct field {
	double low, high;	/* positions in turns */
};

/*
 * The position of the best order outside that is OUTSIDE_BETTER; NaN: there is none. Where the
 * phases repeat it is the one above the field: a projector has no columns below 0.
 */
static double
find_outside(const struct pixel_phases *phases, const double *pixel, double own,
    const struct field *field)
{
	double width = field->high - field->low, found = NAN;
	double least = own / (OUTSIDE_BETTER * OUTSIDE_BETTER);
	double first = ceil(field->low - width - pixel[0]);

	for (double k = floor(field->high + width - pixel[0]); k >= first; k--) {
		double at = pixel[0] + k, now;

		if (at > field->low - OUTSIDE_MIN_TURNS && at < field->high + OUTSIDE_MIN_TURNS)
			continue;
		now = order_distance(phases, pixel, k);
		if (now < least * (isnan(found) ? 1 : OUTSIDE_CLEARLY)) {
			least = now;
			found = at;
		}
	}
	return found;
}

static bool
judge_field(const struct fringe_orders *orders, const struct pixel_phases *phases,
    struct check_line *line)
{
	double period_px = orders->period_px[orders->target], share;
	double limit = OUTSIDE_FAR * OUTSIDE_FAR * orders->order_distance * orders->order_distance;
	struct field field = { -0.5 / period_px, (orders->searched_px - 0.5) / period_px };
	double found[OUTSIDE_TRIED_PIXELS];
	size_t all = 0, far = 0, tried = 0, explained = 0, strays, stride;
	char from[32], to[32];

	for (size_t i = 0; i < phases->pixels; i++) {
		double own = order_distance(phases, phases_of(phases, i), 0);

		all += isnan(own) ? 0 : 1;
		far += own >= limit;
	}
	line->undecided = all < MIN_PIXELS;
	stride = far / OUTSIDE_TRIED_PIXELS + 1;
	far = 0;
	for (size_t i = 0; i < phases->pixels && !line->undecided; i++) {
		double own = order_distance(phases, phases_of(phases, i), 0), at;

		if (!(own >= limit) || far++ % stride)
			continue;
		tried++;
		at = find_outside(phases, phases_of(phases, i), own, &field);
		if (!isnan(at))
			found[explained++] = at;
	}
	share = tried ? (double)explained / (double)tried : 0;
	if (line->undecided || share < OUTSIDE_EXPLAINED ||
	    share * (double)far < OUTSIDE_SHARE * (double)all || explained < 4)
		return false;
	strays = explained / OUTSIDE_STRAY;
	snprintf(from, sizeof(from), "%.4g", statistics_ranked(found, explained, strays) *
	    period_px);
	snprintf(to, sizeof(to), "%.4g", statistics_ranked(found, explained,
	    explained - 1 - strays) * period_px);
	return check_fire(line, "absphase", "%.*f %% of the pixels fit no order of the field of "
	    "%.4g px, but one outside, at %s%s%s px: is more of the projector seen (--field)?",
	    share * (double)far < 0.1 * (double)all, 100 * share * (double)far / (double)all,
	    orders->searched_px, from,
	    strcmp(from, to) ? " to " : "", strcmp(from, to) ? to : "");
}

static bool
field_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	struct pixel_phases phases = list_pixel_phases(facts->orders, sample);
	bool fires = phases.others > 1 && judge_field(facts->orders, &phases, line);

	free(phases.turns);
	return fires;
}

static bool
field_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return is_by_phases(facts, heads) && facts->orders->method == ORDERS_BEST;
}

const struct check check_field = {
	.name = "field", .rank = 2, .looks = CHECK_INPUT | CHECK_OUTPUT | CHECK_FIRST,
	/* residuals name no cause */
	.explains = CHECK_NAMES("residuals", "jumps", "offset", "period-key"),
	.applies = field_applies, .channels = pixel_phases_channels, .judge = field_judge
};

/*
 * ---- jumps ----
 *
 * Where a fringe order is wrong the absolute phase jumps by whole turns from a pixel to the next,
 * while the wrapped phase is continuous. At the edge of an object jumps have any size. Pairs of
 * neighbours are weighted by the product of their squared amplitudes, where modulation and texture
 * are given, so that the dark, where all phases are noise, does not count. Neighbours lie in a row,
 * or in a column for phases that vary along y.
 *
 * Where the field is wider than the beat that begins the sequence, the absolute phase falls by the
 * turns of a beat, once in a row and nowhere else. Such jumps are counted by themselves.
 */

#define JUMP_PAIRS 8192		/* about */
#define MIN_JUMP_ROWS 8
#define MIN_JUMPS 6		/* pairs that jump by whole turns: fewer may be chance */
#define PAIR_BLOCK 64		/* pairs; in most rows no block has one that jumps */
#define WHOLE_NEAR_TURNS 0.125	/* from a whole number, for a jump by whole turns */

/* Shares of the weight that jump by whole turns: 0.0004 at most on right captures of seven rigs,
 * 0.01 to 0.1 with wrong orders. Of jumps of any size a quarter count as whole numbers. */
#define WHOLE_SHARE 0.004
#define GRAY_FAR_SHARE 0.001	/* by more than one: a Gray code's first planes have few edges */

/* Jumps by a beat lie between pixels so far apart, for scatter lets pixels near the beat's end
 * change sides. */
#define BEAT_APART_PX 24
#define MIN_BEAT_ROWS 5		/* rows, or columns, that have one */
/* The excess of one direction, squared, over all jumps: random is 9. Each is found from as many
 * pixels as lie in between. */
#define BEAT_EXCESS_SQUARE 90
#define BEAT_EXCESS_SQUARE_APART 20	/* of pixels of rows that are farther apart */
#define REPEATS_NEAR 2e-3	/* relative: all phases repeat with the first signal */
#define BEAT_SHARE 0.8		/* of its turns, in a jump: the phase rises in between */

/* Weights of pairs, but for the numbers. */
struct jumps {
	double all;
	double up, down;	/* by one turn */
	double far;		/* by more, a whole number */
	double loose;		/* by half a turn or more, no whole number */
	double whole_pairs;	/* number of those that jump by whole turns */
	double beat_up, beat_down;	/* number of those, further apart, that jump by a beat */
};

/* A line of pixels; modulation and texture may be NULL. */
struct pixels {
	const float *absolute, *modulation, *texture;
};

static struct pixels
pixels_at(const struct check_sample *sample, size_t i, size_t x)
{
	size_t modulation = head_channel(&sample->in.frame.head, "modulation");
	size_t texture = head_channel(&sample->in.frame.head, "texture");
	bool known = modulation != NO_CHANNEL && texture != NO_CHANNEL;

	return (struct pixels){ frame_floats(&sample->out.frame, ABSPHASE, i) + x,
		known ? frame_floats(&sample->in.frame, modulation, i) + x : NULL,
		known ? frame_floats(&sample->in.frame, texture, i) + x : NULL };
}

/* 0 where an amplitude is not known. `weighted`: there are modulation and texture; a constant where
 * speed matters. */
static inline float
pair_weight(const struct pixels *a, const struct pixels *b, size_t x, bool weighted)
{
	float amplitudes, weight;

	if (!weighted)
		return 1;
	amplitudes = a->modulation[x] * a->texture[x] * (b->modulation[x] * b->texture[x]);
	weight = amplitudes * amplitudes;
	return weight < INFINITY ? weight : 0;
}

/* Adds a pair that differs by half a turn or more, less what the phase rises by on both sides
 * within a turn. Left out are pixels that differ from both their neighbours: noise does that, and
 * the edge of a Gray plane. */
static void
add_jump(struct jumps *jumps, const struct pixels line[4], size_t x)
{
	const float turn_rad = (float)TURN_RAD;
	float before = line[0].absolute[x], a = line[1].absolute[x], b = line[2].absolute[x];
	float after = line[3].absolute[x];
	float weight = pair_weight(&line[1], &line[2], x, line[1].modulation);
	float rise = (remainderf(a - before, turn_rad) + remainderf(after - b, turn_rad)) / 2;
	float apart = (b - a - rise) / turn_rad, turns = rintf(apart);
	bool whole = fabsf(apart - turns) < (float)WHOLE_NEAR_TURNS;

	if (weight == 0 || fabsf(b - before) < turn_rad / 2 || fabsf(after - a) < turn_rad / 2)
		return;
	*(!whole ? &jumps->loose : turns == 1 ? &jumps->up : turns == -1 ? &jumps->down :
	    &jumps->far) += (double)weight;
	jumps->whole_pairs += whole;
}

/* Returns the weight of n pairs; *jump: some differ by half a turn or more. */
static inline __attribute__((always_inline)) float
sum_weights(const struct pixels *a, const struct pixels *b, size_t first, size_t end,
    bool weighted, bool *jump)
{
	const struct pixels near = *a, next = *b;
	const float half_turn = (float)TURN_RAD / 2;
	uint32_t far = 0;
	float all = 0;

	#pragma omp simd reduction(+:all) reduction(|:far)
	for (size_t x = first; x < end; x++) {
		float apart = fabsf(next.absolute[x] - near.absolute[x]);
		float weight = pair_weight(&near, &next, x, weighted);

		all += apart >= 0 ? weight : 0;
		far |= apart >= half_turn;
	}
	*jump = far;
	return all;
}

/* Adds n pairs of neighbours, which lie in the second and the third of four neighbouring lines. */
static void
add_pairs(struct jumps *jumps, const struct pixels line[4], size_t n)
{
	const struct pixels *a = &line[1], *b = &line[2];

	for (size_t first = 0, end; first < n; first = end) {
		bool jump;

		end = n - first < PAIR_BLOCK ? n : first + PAIR_BLOCK;
		jumps->all += (double)(a->modulation ? sum_weights(a, b, first, end, true, &jump) :
		    sum_weights(a, b, first, end, false, &jump));
		for (size_t x = first; jump && x < end; x++)
			if (fabsf(b->absolute[x] - a->absolute[x]) >= (float)TURN_RAD / 2)
				add_jump(jumps, line, x);
	}
}

static void
add_beat_jumps(struct jumps *jumps, const float *a, const float *b, float beat_rad, size_t n)
{
	uint32_t up = 0, down = 0;

	#pragma omp simd reduction(+:up, down)
	for (size_t x = 0; x < n; x++) {
		up += b[x] - a[x] > beat_rad;
		down += a[x] - b[x] > beat_rad;
	}
	jumps->beat_up += up;
	jumps->beat_down += down;
}

/* Returns how many pairs of a row, or sampled rows, lie between those that jump by a beat. */
static size_t
count_in_rows(const struct check_sample *sample, float beat_rad, struct jumps *jumps)
{
	size_t w = sample->out.frame.head.w, rows = sample->out.frame.head.h, step;

	step = rows * w / JUMP_PAIRS;
	step = step > rows / MIN_JUMP_ROWS ? rows / MIN_JUMP_ROWS : step;
	for (size_t i = 0; i < rows; i += step > 0 ? step : 1) {
		struct pixels line[4];

		for (size_t k = 0; k < 4; k++)
			line[k] = pixels_at(sample, i, k);
		add_pairs(jumps, line, w > 3 ? w - 3 : 0);
		if (isfinite(beat_rad) && w > BEAT_APART_PX)
			add_beat_jumps(jumps, line[0].absolute, line[0].absolute + BEAT_APART_PX,
			    beat_rad, w - BEAT_APART_PX);
	}
	return BEAT_APART_PX;
}

/* The same of columns. */
static size_t
count_in_columns(const struct check_sample *sample, float beat_rad, struct jumps *jumps)
{
	const struct check_rows *rows = &sample->out;
	size_t w = rows->frame.head.w, groups = rows->frame.head.h / rows->group, apart, step;

	step = groups > 1 ? rows->y[rows->frame.head.h - 1] / (groups - 1) : 1;
	apart = step < BEAT_APART_PX ? BEAT_APART_PX / (step > 0 ? step : 1) : 1;
	for (size_t g = 0; g < groups && rows->group == 4; g++) {
		struct pixels line[4];

		for (size_t k = 0; k < 4; k++)
			line[k] = pixels_at(sample, 4 * g + k, 0);
		add_pairs(jumps, line, w);
		if (isfinite(beat_rad) && g + apart < groups)
			add_beat_jumps(jumps, line[0].absolute, frame_floats(&rows->frame, ABSPHASE,
			    4 * (g + apart)), beat_rad, w);
	}
	return apart;
}

/* What to look at. repeats: all phases do so with the first signal. */
static const char *
jump_cause(const struct jumps *jumps, bool gray, bool repeats)
{
	double near = jumps->up + jumps->down;

	if (!gray && repeats && jumps->far > near)
		return "is more of the projector seen than the longest period? On a continuous "
		    "surface --coarse spatial unwraps these; else are the periods right?";
	if (!gray)
		return "are the periods right, and in the order of the images?";
	if (jumps->far > near)
		return "are all Gray planes there, in order, the most significant first, and not "
		    "inverted (phasewrap --order, or the rows of its manifest)?";
	if (fabs(jumps->up - jumps->down) < 0.2 * near)
		return "do --gray-cell and phasewrap --phase-origin (or --gray-offset) fit the "
		    "patterns?";
	return "are all Gray planes there, and do --gray-cell, --period and phasewrap --sign fit "
	    "the patterns?";
}

static bool
jumps_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct fringe_orders *orders = facts->orders;
	double beat_turns = orders->first_period_px / orders->period_px[orders->target];
	double beat_rad = beat_turns >= 2 ? TURN_RAD * BEAT_SHARE * beat_turns : INFINITY;
	bool gray = orders->method == ORDERS_BY_GRAY;
	double whole, excess, least;
	bool repeats = true;
	struct jumps jumps = { 0 };
	size_t apart = (orders->axis == 'y' ? count_in_columns : count_in_rows)(sample,
	    (float)beat_rad, &jumps);

	for (size_t k = 0; k < orders->phases; k++) {
		double turns = orders->first_period_px / orders->period_px[k];

		repeats &= fabs(turns - round(turns)) < REPEATS_NEAR * turns;
	}
	whole = jumps.up + jumps.down + jumps.far;
	excess = fabs(jumps.beat_up - jumps.beat_down);
	least = fmax(BEAT_EXCESS_SQUARE_APART, BEAT_EXCESS_SQUARE * (double)apart / BEAT_APART_PX);
	if (excess >= (double)(MIN_BEAT_ROWS * apart) &&
	    excess * excess > least * (jumps.beat_up + jumps.beat_down))
		return check_fire(line, "absphase", "%s by %.3g turns from a pixel to the next, as "
		    "at the end of a beat that is too short: is more than %.5g px of the projector "
		    "seen? %s, a Gray code or --line tells%s", jumps.beat_up > jumps.beat_down ?
		    "rises" : "falls", beat_turns, orders->first_period_px, orders->phases > 2 &&
		    orders->field_px == 0 && !repeats ? "Their number (--field)" :
		    "Another period", repeats ?
		    "; on a continuous surface --coarse spatial unwraps these" : "");
	if (jumps.whole_pairs < MIN_JUMPS || whole < jumps.loose ||
	    (whole - jumps.loose / 3 < WHOLE_SHARE * jumps.all &&
	    !(gray && jumps.far - jumps.loose > GRAY_FAR_SHARE * jumps.all)))
		return false;
	return check_fire(line, "absphase", "%.2g %% of neighbours differ by whole turns, as wrong "
	    "fringe orders do: %s", 100 * whole / jumps.all, jump_cause(&jumps, gray, repeats));
}

static void
jumps_channels(const struct check_facts *, const struct check_heads *heads, bool *in, bool *out)
{
	size_t modulation = head_channel(heads->in, "modulation");
	size_t texture = head_channel(heads->in, "texture");

	out[ABSPHASE] = true;
	if (modulation != NO_CHANNEL && texture != NO_CHANNEL)
		in[modulation] = in[texture] = true;
}

const struct check check_jumps = {
	.name = "jumps", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT, .group_along_y = 4,
	.explains = CHECK_NAMES("offset", "period-key"), .applies = is_ordered,
	.channels = jumps_channels, .judge = jumps_judge
};

/*
 * ---- the phase that a Gray code belongs to ----
 *
 * A code of periods changes once a turn of its own phase (or once half a turn), always at the same
 * place of it, wherever the phase's origin lies. Of another phase a cell has another number of
 * turns, or the changes fall on all places of a turn.
 */

#define CODE_MIN_CHANGES 64	/* pairs of neighbours between which the code changes */
#define CODE_RATE 1.6		/* turns in a cell, over those that it should have, or under */
#define CODE_MULTIPLE 1.9	/* periods that divide each other are 2 apart at least */
#define CODE_SPREAD 0.2		/* 1 less the length of the places' mean on the circle: it fits */
#define CODE_OTHER_SPREAD 4.0	/* that of the other phase, over that of the one that fits */
#define SAME_CODE 1e-3		/* relative: phases of one period */

/* Weights of pairs of neighbours that differ by at most a cell; the turns of each phase between
 * them, and where in its turn the code changes. */
struct code_changes {
	double cells, changed;
	double turns[CHECK_PHASES_MOST], x[CHECK_PHASES_MOST], y[CHECK_PHASES_MOST];
	size_t pairs;		/* that change */
};

/* Adds the n pairs of pixels x of sampled row i and x + apart of row k. */
static void
add_changes(const struct fringe_orders *orders, const struct check_sample *sample, size_t i,
    size_t k, size_t apart, size_t n, struct code_changes *changes)
{
	const struct frame *in = &sample->in.frame;
	const float *a = frame_floats(in, orders->index, i);
	const float *b = frame_floats(in, orders->index, k) + apart;
	const struct pixels near = pixels_at(sample, i, 0), next = pixels_at(sample, k, apart);

	for (size_t x = 0; x < n; x++) {
		double cells = (double)b[x] - (double)a[x], weight;

		if (!(fabs(cells) <= 1) || !has_all_phases(orders, in, i, x) ||
		    !has_all_phases(orders, in, k, x + apart))
			continue;
		weight = (double)pair_weight(&near, &next, x, near.modulation);
		changes->cells += weight * cells;
		changes->changed += weight * fabs(cells);
		changes->pairs += cells != 0;
		for (size_t p = 0; p < orders->phases; p++) {
			double from = (double)frame_floats(in, orders->channel[p], i)[x];
			double to = (double)frame_floats(in, orders->channel[p], k)[x + apart];
			double way = remainder(to - from, TURN_RAD);
			double place = (from + way / 2) / orders->code_turns;

			changes->turns[p] += weight * way / TURN_RAD;
			changes->x[p] += cells != 0 ? weight * cos(place) : 0;
			changes->y[p] += cells != 0 ? weight * sin(place) : 0;
		}
	}
}

/* How much the places in a phase's turn agree where the code changes, 0 to 1. */
static double
code_agreement(const struct code_changes *changes, size_t p)
{
	return hypot(changes->x[p], changes->y[p]) / changes->changed;
}

/* Has a cell about as many turns of a phase as it should? */
static bool
has_code_rate(const struct code_changes *changes, const struct fringe_orders *orders, size_t p)
{
	double rate = fabs(changes->turns[p] / changes->cells) / orders->code_turns;

	return rate > 1 / CODE_RATE && rate < CODE_RATE;
}

/* Does the code change with phase p, and not with the one that it is taken to belong to? */
static bool
is_code_of(const struct code_changes *changes, const struct fringe_orders *orders, size_t p)
{
	size_t taken = orders->gray_of;
	double ratio = orders->period_px[p] / orders->period_px[taken];
	double spread = 1 - code_agreement(changes, p);

	if (fabs(ratio - 1) < SAME_CODE || !has_code_rate(changes, orders, p) ||
	    spread > CODE_SPREAD)
		return false;
	/* periods that divide each other agree in their places */
	return 1 - code_agreement(changes, taken) > CODE_OTHER_SPREAD * spread ||
	    (!has_code_rate(changes, orders, taken) && fmax(ratio, 1 / ratio) > CODE_MULTIPLE);
}

static bool
code_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct fringe_orders *orders = facts->orders;
	size_t w = sample->in.frame.head.w, h = sample->in.frame.head.h, best = orders->gray_of;
	bool along_y = orders->axis == 'y';
	struct code_changes changes = { 0 };

	for (size_t i = 0; i < h; i++)
		if (!along_y)
			add_changes(orders, sample, i, i, 1, w - 1, &changes);
		else if (sample->in.group > 1 && (i + 1) % sample->in.group && i + 1 < h)
			add_changes(orders, sample, i, i + 1, 0, w, &changes);
	line->undecided = changes.pairs < CODE_MIN_CHANGES || changes.changed == 0;
	if (line->undecided)
		return false;
	for (size_t p = 0; p < orders->phases; p++)
		if (is_code_of(&changes, orders, p) && (best == orders->gray_of ||
		    code_agreement(&changes, p) > code_agreement(&changes, best)))
			best = p;
	if (best == orders->gray_of)
		return false;
	return check_fire(line, "index", "the Gray code changes once %s of phase%zu, not of "
	    "phase%zu: give --gray-of %zu", orders->code_turns < 1 ? "half a turn" : "a turn",
	    orders->number[best], orders->number[orders->gray_of], orders->number[best]);
}

static bool
code_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return is_ordered(facts, heads) && facts->orders->code_turns > 0 &&
	    facts->orders->phases > 1;
}

static void
code_channels(const struct check_facts *facts, const struct check_heads *heads, bool *in,
    bool *out)
{
	jumps_channels(facts, heads, in, out);
	mark_phases(facts->orders, in);
	in[facts->orders->index] = true;
}

const struct check check_gray_of = {
	.name = "gray-of", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT | CHECK_FIRST,
	.group_along_y = 4, .explains = CHECK_NAMES("jumps", "residuals"),
	.applies = code_applies, .channels = code_channels, .judge = code_judge
};
