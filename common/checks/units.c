/*
 * Checks of units: is a quantity given in the one that it is taken for?
 *
 * `units`: is the translation of a calibration in metres? `phase-samples`: is a phase in whole
 * numbers or in coarse steps, as a picture is, and does 0 mark holes? `period-key`: an option gives
 * another period than the frame itself.
 */
#include "checks/checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "optics/calib.h"
#include "optics/camera_model.h"

/* ---- is it in metres? ---- */

/* Is the rig so small that T, of which no unit is stated, is hardly in mm? */
static bool
fire_small(const struct check_facts *facts, const struct check_sample *sample, double apart,
    struct check_line *line)
{
	struct check_ray point[CHECK_RAYS];
	size_t n = check_rays(facts, sample, point), near = 0;
	double nearest = INFINITY, farthest = 0;

	for (size_t i = 0; i < n; i++) {
		double distance = 1 / point[i].inverse;

		near += distance < SMALL_RANGE_MM;
		nearest = fmin(nearest, distance);
		farthest = fmax(farthest, distance);
	}
	line->undecided = n == 0;
	return near > n / 2 && check_fire(line, facts->calibration_path, "camera and projector are "
	    "%.3g apart and the points %.3g to %.3g away, taken for mm as nothing says the unit of "
	    "T: is it cm, or squares of a board? length_unit says what it is, mm too", apart,
	    nearest, farthest);
}

static bool
units_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct calib *calib = facts->calibration;
	const char *path = facts->calibration_path, *unit = calib->unit;
	double apart = check_baseline(calib), apart_mm = apart * length_unit_mm(unit);

	if (length_unit_mm(unit) == 0)
		return false;
	if (apart_mm >= BASELINE_LEAST_MM && apart_mm <= BASELINE_MOST_MM)
		return !calib->unit_stated && !strcmp(unit, "mm") && apart < SMALL_RIG_MM &&
		    fire_small(facts, sample, apart, line);
	if (strcmp(unit, "mm"))
		return check_fire(line, path, "camera and projector are %.3g %s apart: is T in %s?",
		    apart, unit, unit);
	if (apart_mm < BASELINE_LEAST_MM)
		return check_fire(line, path, "camera and projector are %.3g mm apart: is T in "
		    "metres? Then say length_unit: m there", apart_mm);
	return check_fire(line, path, "camera and projector are %.3g m apart: is T in micrometres? "
	    "Then say length_unit: um there", apart_mm / 1000);
}

const struct check check_units = {
	.name = "units", .rank = 1, .looks = CHECK_OUTPUT | CHECK_FIRST,
	.explains = CHECK_NAMES("calibration", "turned", "epipolar", "rig-fault"),
	.applies = check_has_points, .channels = check_point_channels, .judge = units_judge
};

/*
 * ---- samples of a phase ----
 *
 * Has an absolute phase steps, as of integers in a picture, or zeros for holes? Neighbours of a
 * measured phase hardly ever have the same number.
 */

#define SAMPLES 1024		/* of the grid, about */
#define MIN_SAMPLES 100		/* phases that a warning needs, */
#define MIN_DISTINCT 4		/* and different ones */
#define MAX_PHASE_RAD 1e9f	/* what is larger is none */
#define EQUAL_SHARE 0.1		/* of the neighbours; measured phases: 0, after a median some */
#define ZERO_SHARE 0.02		/* right captures: 0 */
#define ZERO_NEAR_RAD 1.0f	/* from 0 */
#define ZERO_TIMES 3		/* times as many are exactly 0 */
#define STEP_ROUNDING 1e-6	/* of the largest phase: two numbers so near are the same */
#define STEP_COARSE 100		/* times that: a step */
#define STEP_OFF 0.02		/* of a step: the largest difference from whole steps */

/* The phases of a grid, and how many of them have an equal right neighbour. Rounding of the grid's
 * step may double their number. */
struct samples {
	float value[2 * SAMPLES + CHECK_GROUPS * CHECK_GROUP_MOST];
	size_t n, zeros, whole, pairs, equal;
};

/* Leaves out pairs where the row does not vary from one pixel of the grid to the next. */
static void
look_at_samples(const struct check_rows *rows, size_t channel, struct samples *samples)
{
	struct check_grid grid = check_grid(rows, SAMPLES);
	size_t w = rows->frame.head.w, room = sizeof(samples->value) / sizeof(*samples->value);

	samples->n = samples->zeros = samples->whole = samples->pairs = samples->equal = 0;
	for (size_t i = 0; i < grid.rows; i++) {
		const float *v = frame_floats(&rows->frame, channel, i);

		for (size_t x = check_grid_shift(&grid, i); x < w; x += grid.step) {
			if (!(fabsf(v[x]) < MAX_PHASE_RAD) || samples->n == room)
				continue;
			samples->value[samples->n++] = v[x];
			samples->zeros += v[x] == 0;
			samples->whole += v[x] == (float)(int32_t)v[x];
			if (x + grid.step >= w || v[x + grid.step] == v[x] || isnan(v[x + 1]))
				continue;
			samples->pairs++;
			samples->equal += v[x + 1] == v[x];
		}
	}
}

/* The step that all gaps between sorted phases are whole multiples of; 0: there is none. */
static double
find_step(const float *value, size_t n)
{
	double same = STEP_ROUNDING * fmax(fabs((double)value[0]), fabs((double)value[n - 1]));
	double least = INFINITY, step = 0;
	size_t gaps = 0;

	for (size_t i = 1; i < n; i++) {
		double gap = (double)value[i] - (double)value[i - 1];

		if (gap > same)
			least = fmin(least, gap);
	}
	if (!(least < INFINITY) || least < STEP_COARSE * same)
		return 0;
	for (size_t i = 1; i < n; i++) {	/* the mean of the gaps of one step */
		double gap = (double)value[i] - (double)value[i - 1];

		if (gap > same && gap < 1.5 * least) {
			step = (step * (double)gaps + gap) / (double)(gaps + 1);
			gaps++;
		}
	}
	for (size_t i = 1; i < n; i++) {
		double gap = (double)value[i] - (double)value[i - 1];

		if (fabs(gap / step - round(gap / step)) > STEP_OFF + 2 * same / step)
			return 0;
	}
	return gaps >= MIN_DISTINCT ? step : 0;
}

/* Are there more zeros than phases near zero, as where zeros mark holes? */
static bool
zeros_apart(const struct samples *samples)
{
	size_t near = 0;

	for (size_t i = 0; i < samples->n; i++)
		near += samples->value[i] != 0 && fabsf(samples->value[i]) < ZERO_NEAR_RAD;
	return samples->zeros > ZERO_TIMES * near;
}

static bool
judge_samples(struct samples *samples, struct check_line *line)
{
	size_t n = samples->n, distinct = 1;
	bool equal = (double)samples->equal > EQUAL_SHARE * (double)samples->pairs &&
	    samples->pairs > MIN_SAMPLES;
	bool zeros = (double)samples->zeros > ZERO_SHARE * (double)n;
	double step;

	if (n < MIN_SAMPLES || samples->zeros == n || !(samples->whole == n || equal || zeros))
		return false;		/* nearly every frame: the phases need no sorting */
	qsort(samples->value, n, sizeof(*samples->value), numbers_compare);
	for (size_t i = 1; i < n; i++)
		distinct += samples->value[i] > samples->value[i - 1];
	if (samples->whole == n && distinct >= MIN_DISTINCT)
		return check_fire(line, "the phase", "holds whole numbers only, as pictures do: "
		    "wanted is the phase in radians as unwrap2f writes it, stored as float (.nrrd, "
		    ".tif)");
	step = equal ? find_step(samples->value, n) : 0;
	if (step > 0)
		return check_fire(line, "the phase", "has steps of %.3g rad, as of a picture of "
		    "few bits, and depth gets steps with it: store phases as float (.nrrd, .tif)",
		    step);
	return zeros && zeros_apart(samples) && check_fire(line, "the phase", "is exactly 0 at "
	    "%.0f %% of the pixels that have one: if that marks holes, framecat --invalid 0 makes "
	    "them NaN", 100.0 * (double)samples->zeros / (double)n);
}

size_t
check_phase_channel(const struct check_facts *facts, const struct frame_head *head)
{
	size_t c = facts->wrapped ? NO_CHANNEL : head_channel(head, "absphase");

	if (c == NO_CHANNEL)
		c = head_channel(head, "phase");
	return c == NO_CHANNEL && head->c == 1 ? 0 : c;
}

void
check_phase_input(const struct check_facts *facts, const struct check_heads *heads, bool *in,
    bool *)
{
	in[check_phase_channel(facts, heads->in)] = true;
}

static bool
phase_samples_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct check_rows *ref = check_second(sample, "ref");
	size_t ref_channel = ref ? check_phase_channel(facts, &ref->frame.head) : NO_CHANNEL;
	struct samples samples;

	look_at_samples(&sample->in, check_phase_channel(facts, &sample->in.frame.head), &samples);
	if (judge_samples(&samples, line))
		return true;
	if (ref_channel == NO_CHANNEL)
		return false;
	look_at_samples(ref, ref_channel, &samples);
	return samples.n > 0 && samples.whole == samples.n && samples.zeros < samples.n &&
	    check_fire(line, "--ref", "holds whole numbers only, as captured images do: wanted is "
	    "the phase of the plane in radians, as unwrap2f, or of wrapped phases phasewrap, "
	    "writes it");
}

static bool
phase_samples_applies(const struct check_facts *facts, const struct check_heads *heads)
{
	return check_phase_channel(facts, heads->in) < heads->own;
}

const struct check check_phase_samples = {
	.name = "phase-samples", .rank = 1, .looks = CHECK_INPUT | CHECK_SECOND,
	.explains = CHECK_NAMES("calibration", "coordinates", "turned", "units", "epipolar",
	    "rig-fault", "reference-plane"), .applies = phase_samples_applies,
	.channels = check_phase_input, .judge = phase_samples_judge
};

/* ---- --period or --count against the frame's own key ---- */

/* Orders may fit both where all periods are wrong by one factor, or a Gray code gives them. */
static bool
period_key_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	char phase[40] = "";

	for (size_t i = 0; i < facts->periods; i++) {
		if (isnan(facts->key_px[i]))
			continue;
		if (facts->orders)
			snprintf(phase, sizeof(phase), " for phase %zu", i + 1);
		return check_fire(line, facts->period_option, "says %.6g px%s, and the frame "
		    "itself says period_px %.6g: the option counts", facts->given_px[i], phase,
		    facts->key_px[i]);
	}
	return false;
}

const struct check check_period_key = {
	.name = "period-key", .rank = 1, .looks = CHECK_FIRST,
	.explains = CHECK_NAMES("calibration", "coordinates", "turned", "units", "epipolar",
	    "rig-fault"), .judge = period_key_judge
};
