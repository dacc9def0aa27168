/*
 * Checks of the phase shifts that images are taken for.
 *
 * `steps`: do the images of a fringe set fit their shifts? Of N >= 4 images
 * I_n = A + B cos(phi + d_n) the fit leaves N - 3 numbers over. Noise and harmonics leave some
 * 0.01 to 0.3 of the amplitude there, and about as much whatever other shifts are tried. Where
 * there is a duplicate, two images are exchanged or one was left out, other shifts leave much less
 * (fringe/phase_steps.h). The pixels must have phases of the whole circle, else a cut-out of square
 * fringes looks like other shifts. Three images fit always; four cannot tell the first exchanged
 * with the third.
 *
 * `assumed-shifts`: three images whose shifts nothing states.
 *
 * `direction`: does the phase fall from left to right, or from top to bottom, where its sign is
 * only assumed? It rises where camera and projector stand upright, whatever the surface, and
 * three, four and more equal steps fit either sign.
 */
#include "checks/checks.h"

#include <math.h>
#include <stdio.h>

#include "base/process.h"
#include "base/px.h"
#include "checks/image_names.h"
#include "fringe/capture_set.h"
#include "fringe/phase_steps.h"

/* ---- for all checks of fringe images (checks.h) ---- */

void
check_fringe_channels(const struct check_facts *facts, const struct check_heads *, bool *in, bool *)
{
	for (size_t k = 0; k < facts->captures->fringes; k++)
		for (size_t i = 0; i < facts->captures->fringe[k].n; i++)
			in[facts->captures->fringe[k].plane[i]] = true;
}

void
check_phase_channels(const struct check_facts *facts, const struct check_heads *heads, bool *in,
    bool *out)
{
	check_fringe_channels(facts, heads, in, out);
	out[0] = true;
}

struct check_wave
check_wave(const struct capture_fringe *fringe, const struct phase_shift_fit *fit,
    const struct frame *frame, size_t i, size_t x, double *left)
{
	double first = (double)frame_sample(frame, fringe->plane[0], i, x), rise[fringe->n];
	struct check_wave wave = { 0 };
	double mean = 0;

	rise[0] = 0;
	for (size_t k = 1; k < fringe->n; k++) {
		rise[k] = (double)frame_sample(frame, fringe->plane[k], i, x) - first;
		wave.cosine += rise[k] * (double)fit->weights[k].c;
		wave.sine += rise[k] * (double)fit->weights[k].s;
	}
	if (!left)
		return wave;
	for (size_t k = 1; k < fringe->n; k++)
		mean += rise[k] / (double)fringe->n;
	*left = 0;
	for (size_t k = 0; k < fringe->n && fringe->n > 3 && !fringe->two_plus_one; k++) {
		double d = rise[k] - mean - wave.cosine * (double)fit->model[k].cosine -
		    wave.sine * (double)fit->model[k].sine;

		*left += d * d / (double)(fringe->n - 3);
	}
	return wave;
}

/* ---- steps ---- */

#define FIT_PIXELS 600		/* looked at, about */
#define MIN_FIT_PIXELS 24	/* pixels with fringes that a warning needs */
#define SECTORS 8		/* of the circle of phases */
#define MIN_SECTOR_PIXELS 2	/* pixels in each */

/* The pixels of a frame that are looked at. */
struct fit_check {
	struct check_grid grid;
	const struct check_rows *rows;
	float *sample;		/* [pixel][image of the set] */
	float *work;		/* for the fits */
	float least_amplitude;	/* below which a pixel is unlit */
	float max_value;	/* saturated pixels do not count */
	bool notes;		/* how well the images fit is wanted */
};

static bool
is_checkable(const struct capture_fringe *fringe)
{
	return !fringe->two_plus_one && fringe->n >= 4 && fringe->n <= STEP_FIT_MOST;
}

static size_t
count_pixels(const struct fit_check *check)
{
	return check->grid.columns * check->grid.rows;
}

/* The values of the pixels of a fringe set. */
static void
take_pixels(const struct fit_check *check, const struct capture_fringe *fringe)
{
	const struct frame *frame = &check->rows->frame;

	for (size_t i = 0; i < check->grid.rows; i++)
		for (size_t k = 0; k < fringe->n; k++) {
			size_t c = fringe->plane[k], x = check_grid_shift(&check->grid, i);
			float *to = check->sample + i * check->grid.columns * fringe->n + k;

			for (size_t column = 0; column < check->grid.columns; column++) {
				*to = x < frame->head.w ? frame_sample(frame, c, i, x) : NAN;
				to += fringe->n;
				x += check->grid.step;
			}
		}
}

/* A pixel's n values become those less their mean. The mean of their squares; 0 where the pixel
 * does not count. */
static float
centre(float *v, size_t n, float max_value)
{
	float mean = 0, square = 0;

	for (size_t i = 0; i < n; i++) {
		if (!(v[i] < max_value) || !(v[i] > -INFINITY))
			return 0;
		mean += v[i] / (float)n;
	}
	for (size_t i = 0; i < n; i++) {
		v[i] -= mean;
		square += v[i] * v[i];
	}
	return square / (float)n;
}

static void
add_gram(double *gram, const float *v, double weight, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			gram[i * n + j] += weight * (double)v[i] * (double)v[j];
}

/* The Gram matrix of the pixels with fringes, and how many they are. Their values become those less
 * their mean, divided by their root mean square; work becomes 0 for others. */
static size_t
select_pixels(const struct fit_check *check, const struct capture_fringe *fringe,
    double *gram)
{
	size_t pixels = count_pixels(check), n = fringe->n, used = 0;
	float least;

	for (size_t p = 0; p < pixels; p++)
		check->work[p] = centre(check->sample + p * n, n, check->max_value);
	least = fmaxf(step_fit_lit_square(check->work, pixels),
	    check->least_amplitude * check->least_amplitude / 2);
	memset(gram, 0, n * n * sizeof(*gram));
	for (size_t p = 0; p < pixels; p++) {
		float size = sqrtf(check->work[p]), *v = check->sample + p * n;

		if (!(check->work[p] > 0) || !(check->work[p] >= least)) {
			check->work[p] = 0;
			continue;
		}
		for (size_t i = 0; i < n; i++)
			v[i] /= size;
		add_gram(gram, v, 1, n);
		used++;
	}
	return used;
}

/* Gives each sector of phases the same weight in the Gram matrix of the selected pixels: where some
 * phases are rare, the rest that harmonics leave looks like other shifts. False: some hardly
 * occur. */
static bool
weigh_phases(const struct fit_check *check, const struct capture_fringe *fringe,
    double *gram, size_t used)
{
	size_t pixels = count_pixels(check), n = fringe->n, count[SECTORS] = { 0 };
	struct step_plane plane = step_plane_find(gram, n);
	const float *v = check->sample;

	for (size_t p = 0; p < pixels; p++)
		if (check->work[p] > 0)
			count[(size_t)(step_plane_turns(&plane, v + p * n) * SECTORS)]++;
	for (size_t i = 0; i < SECTORS; i++)
		if (count[i] < MIN_SECTOR_PIXELS)
			return false;
	memset(gram, 0, n * n * sizeof(*gram));
	for (size_t p = 0; p < pixels; p++)
		if (check->work[p] > 0)
			add_gram(gram, v + p * n, (double)used / (SECTORS * (double)count[(size_t)
			    (step_plane_turns(&plane, v + p * n) * SECTORS)]), n);
	return true;
}

/* Means over all pixels, in root mean squares: that of an image far below or above all others,
 * whatever the phases, and those of the others. In a cut-out of few phases at least one other image
 * lies as far from the mean. */
#define MIN_ODD_MEAN 0.9
#define MAX_OTHER_MEAN 0.6

/* Is one image darker or brighter than all others? Then the verdict names it. Its weight hides the
 * phases, so that weigh_phases() fails. */
static bool
find_odd_image(const struct fit_check *check, const struct capture_fringe *fringe,
    const double *gram, size_t used, struct step_verdict *verdict)
{
	double mean[STEP_FIT_MOST] = { 0 }, rest[STEP_FIT_MOST * STEP_FIT_MOST];
	double shift_rad[STEP_FIT_MOST];
	size_t pixels = count_pixels(check), n = fringe->n, odd = 0, m = 0;

	for (size_t p = 0; p < pixels; p++)
		for (size_t i = 0; check->work[p] > 0 && i < n; i++)
			mean[i] += (double)check->sample[p * n + i] / (double)used;
	for (size_t i = 1; i < n; i++)
		if (fabs(mean[i]) > fabs(mean[odd]))
			odd = i;
	if (fabs(mean[odd]) < MIN_ODD_MEAN)
		return false;
	for (size_t i = 0; i < n; i++)
		if (i != odd && fabs(mean[i]) > MAX_OTHER_MEAN)
			return false;
	for (size_t i = 0; i < n; i++) {
		if (i == odd)
			continue;
		shift_rad[m] = fringe->shift_rad[i];
		for (size_t j = 0, k = 0; j < n; j++)
			if (j != odd)
				rest[m * (n - 1) + k++] = gram[i * n + j];
		m++;
	}
	*verdict = (struct step_verdict){ .fault = STEPS_OUTLIER, .a = odd,
		.misfit = verdict->misfit,
		.better = n > 4 ? step_fit_judge(rest, shift_rad, n - 1).misfit : 0 };
	return true;
}

/* Weighing the phases takes as long as all else: it is done where there is something to tell.
 * False: there are too few pixels, or phases. */
static bool
judge_set(const struct fit_check *check, const struct capture_fringe *fringe,
    struct step_verdict *verdict)
{
	double gram[STEP_FIT_MOST * STEP_FIT_MOST];
	size_t used = select_pixels(check, fringe, gram);
	bool fits;

	if (used < MIN_FIT_PIXELS)
		return false;
	*verdict = step_fit_judge(gram, fringe->shift_rad, fringe->n);
	fits = verdict->fault == STEPS_FIT;
	if (fits && !check->notes)
		return true;
	if (!fits && find_odd_image(check, fringe, gram, used, verdict))
		return true;
	if (!weigh_phases(check, fringe, gram, used))
		return false;
	*verdict = step_fit_judge(gram, fringe->shift_rad, fringe->n);
	if (fits)
		verdict->fault = STEPS_FIT;
	return true;
}

/* "image 3 (phase_02)": its place in the fringe set, and what is known of it: in the first
 * measurement its key alone. */
static const char *
image_name(const struct image_names *names, const struct capture_fringe *fringe, size_t i,
    char text[IMAGE_NAME_SIZE])
{
	char name[IMAGE_NAME_SIZE] = "";

	if (names->words || names->measurement)
		image_names_of(names, fringe->plane[i], name);
	snprintf(text, IMAGE_NAME_SIZE, "image %zu%.270s", i + 1, name);
	return text;
}

/* Fires with what is wrong; each line ends with how much the fit is off, and would be. */
static bool
fire(struct check_line *line, const struct image_names *names,
    const struct capture_fringe *fringe, const struct step_verdict *verdict)
{
	char set[CAPTURE_SET_NAME_SIZE], a[IMAGE_NAME_SIZE], b[IMAGE_NAME_SIZE], off[100];
	char other[60] = "", moved[80] = "";

	capture_set_name(fringe, set);
	snprintf(off, sizeof(off), "(the fit is off by %.3f of the amplitude, else by %.3f)",
	    verdict->misfit, verdict->better);
	if (verdict->drift_rad != 0)
		snprintf(moved, sizeof(moved), ", or the surface moved evenly, by %+.1f degrees "
		    "an image", verdict->drift_rad * 180 / M_PI);
	switch (verdict->fault) {
	case STEPS_FIT:
		return false;
	case STEPS_ALIKE:
		return check_fire(line, NULL, "%s: %s and %s show the same: one of them is a "
		    "duplicate%s", set, image_name(names, fringe, verdict->a, a),
		    image_name(names, fringe, verdict->b, b), moved);
	case STEPS_EXCHANGED:
		if (verdict->c != verdict->d)
			snprintf(other, sizeof(other), ", or images %zu and %zu,", verdict->c + 1,
			    verdict->d + 1);
		return check_fire(line, NULL, "%s: %s and %s%s seem to be exchanged %s", set,
		    image_name(names, fringe, verdict->a, a),
		    image_name(names, fringe, verdict->b, b), other, off);
	case STEPS_SORTED:
		return check_fire(line, NULL, "%s: the images seem to be sorted as text, "
		    "1 10 11 2, and not as numbers %s", set, off);
	case STEPS_MISSING:
		return check_fire(line, NULL, "%s: an image of %zu seems to be missing after "
		    "%s%s %s", set, fringe->n + 1,
		    image_name(names, fringe, verdict->a - 1, a), moved, off);
	case STEPS_OTHER:
		return check_fire(line, NULL, "%s: %zu images, but steps of about 360/%zu "
		    "degrees: --steps or --shift is another%s %s", set, fringe->n, verdict->a,
		    moved, off);
	case STEPS_DRIFT:
		return check_fire(line, NULL, "%s: the steps seem to be %.1f degrees %s: the "
		    "surface moved evenly, or --shift is another %s", set,
		    fabs(verdict->drift_rad) * 180 / M_PI,
		    verdict->drift_rad > 0 ? "longer" : "shorter", off);
	case STEPS_OUTLIER:
		return check_fire(line, NULL, "%s: %s does not fit the others %s", set,
		    image_name(names, fringe, verdict->a, a), off);
	case STEPS_UNFIT:
		return check_fire(line, NULL, "%s: the images do not fit %zu steps, by %.2f of the "
		    "amplitude: are --steps, --shift and the order of the images right?", set,
		    fringe->n, verdict->misfit);
	}
	return false;
}

static void
note_fit(const struct fit_check *check, const struct capture_fringe *fringe, double misfit)
{
	char set[CAPTURE_SET_NAME_SIZE];

	if (check->notes && isnan(misfit))
		note(capture_set_name(fringe, set), "too few pixels have fringes, or too few "
		    "phases occur, to tell how well they fit");
	else if (check->notes)
		note(capture_set_name(fringe, set), "the fit is off by %.3f of the amplitude",
		    misfit);
}

/* The first fringe set that has a fault; where nothing but no fit is found, the first of these. */
static bool
judge_sets(const struct fit_check *check, const struct capture_set *captures,
    const struct image_names *names, struct check_line *line)
{
	bool unfit = false;

	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		struct step_verdict verdict;

		if (!is_checkable(fringe))
			continue;
		take_pixels(check, fringe);
		if (!judge_set(check, fringe, &verdict)) {
			note_fit(check, fringe, NAN);
			continue;
		}
		note_fit(check, fringe, verdict.misfit);
		if (verdict.fault != STEPS_FIT && (verdict.fault != STEPS_UNFIT || !unfit))
			fire(line, names, fringe, &verdict);
		if (verdict.fault != STEPS_FIT && verdict.fault != STEPS_UNFIT)
			return true;
		unfit |= verdict.fault == STEPS_UNFIT;
	}
	return unfit;
}

static bool
steps_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct frame_head *head = &sample->in.frame.head;
	struct image_names names = image_names_sampled(facts, sample);
	struct fit_check check = { .rows = &sample->in, .notes = line->notes,
		.grid = check_grid(&sample->in, FIT_PIXELS), .max_value = (float)facts->max_value,
		.least_amplitude = (float)facts->min_amplitude };
	size_t pixels = count_pixels(&check);
	bool fires;

	if (head->type != SAMPLE_FLOAT)	/* fewer grey levels do not tell fringes from noise */
		check.least_amplitude = fmaxf(check.least_amplitude, 2);
	check.sample = must_resize(NULL, pixels * (head->c + 1), sizeof(*check.sample));
	check.work = check.sample + pixels * head->c;
	fires = judge_sets(&check, facts->captures, &names, line);
	free(check.sample);
	return fires;
}

static bool
steps_apply(const struct check_facts *facts, const struct check_heads *)
{
	for (size_t k = 0; facts->captures && k < facts->captures->fringes; k++)
		if (is_checkable(&facts->captures->fringe[k]))
			return true;
	return false;
}

/* With wrong steps the phase may run backwards, too. */
const struct check check_steps = {
	.name = "steps", .rank = 1, .looks = CHECK_INPUT, .explains = CHECK_NAMES("direction"),
	.applies = steps_apply, .channels = check_fringe_channels, .judge = steps_judge
};

/* ---- assumed-shifts ---- */

/* Three steps have other shifts than any other number of them: as fringegen projects them, and as
 * the papers have them. */
static bool
assumed_shifts_judge(const struct check_facts *facts, const struct check_sample *,
    struct check_line *line)
{
	if (line->notes)
		note(NULL, "three images of a period fit in any order: nothing in them tells "
		    "whether theirs is right");
	if (facts->shifts_stated || facts->roles_stated)
		return false;
	return check_fire(line, NULL, "no shifts are stated for three images, -120,0,120 is "
	    "assumed: many systems project --shift 0,120,240");
}

static bool
assumed_shifts_apply(const struct check_facts *facts, const struct check_heads *)
{
	for (size_t k = 0; facts->captures && k < facts->captures->fringes; k++)
		if (facts->captures->fringe[k].n == 3 && !facts->captures->fringe[k].two_plus_one)
			return true;
	return false;
}

const struct check check_assumed_shifts = {
	.name = "assumed-shifts", .rank = 2, .looks = CHECK_FIRST,
	.applies = assumed_shifts_apply, .judge = assumed_shifts_judge
};

/* ---- direction ---- */

#define DIRECTION_PIXELS 1024	/* looked at, about, with their neighbours */
#define MIN_DIRECTION_PAIRS 200	/* pairs of valid neighbours from which on they tell something */
#define FALLING 0.85		/* of all differences, by size: right captures 0 to 0.1 */
#define ACROSS 0.5		/* of the fall, what the phase may change in the other direction */

/* Sums over all pairs of neighbours in one direction of the sine of the phase difference, times
 * both amplitudes, so that the dark does not count. */
struct slope {
	double rising, falling;
};

static void
add_pair(struct check_wave wave, struct check_wave next, struct slope *slope)
{
	double turn = wave.cosine * next.sine - wave.sine * next.cosine;

	slope->rising += fmax(turn, 0);
	slope->falling += fmax(-turn, 0);
}

/* The set of the shortest period along the axis of the first. */
static const struct capture_fringe *
shortest_period(const struct capture_set *captures)
{
	const struct capture_fringe *shortest = captures->fringe;

	for (size_t k = 1; k < captures->fringes; k++)
		if (captures->fringe[k].axis == captures->fringe->axis &&
		    captures->fringe[k].period_px < shortest->period_px)
			shortest = &captures->fringe[k];
	return shortest;
}

static size_t
add_slopes(const struct check_sample *sample, const struct capture_fringe *fringe,
    const struct phase_shift_fit *fit, struct slope *along_x, struct slope *along_y)
{
	const struct check_rows *rows = &sample->in;
	struct check_grid grid = check_grid(rows, DIRECTION_PIXELS * rows->group);
	size_t n = 0;

	for (size_t i = 0; i + 1 < grid.rows; i += rows->group) {
		const float *made = frame_floats(&sample->out.frame, 0, i);
		const float *below = frame_floats(&sample->out.frame, 0, i + 1);

		for (size_t x = 0; x + 1 < rows->frame.head.w; x += grid.step) {
			struct check_wave wave;

			if (px_isnan(made[x]) || px_isnan(made[x + 1]) || px_isnan(below[x]) ||
			    px_isnan(below[x + 1]))
				continue;
			wave = check_wave(fringe, fit, &rows->frame, i, x, NULL);
			n++;
			add_pair(wave, check_wave(fringe, fit, &rows->frame, i, x + 1, NULL),
			    along_x);
			add_pair(wave, check_wave(fringe, fit, &rows->frame, i + 1, x, NULL),
			    along_y);
		}
	}
	return n;
}

static bool
direction_judge(const struct check_facts *facts, const struct check_sample *sample,
    struct check_line *line)
{
	const struct capture_fringe *fringe = shortest_period(facts->captures);
	bool along_y = fringe->axis == 'y';
	struct slope x = { 0 }, y = { 0 }, along, across;
	size_t n;

	if (sample->in.group < 2)
		return false;
	n = add_slopes(sample, fringe, &facts->fit[fringe - facts->captures->fringe], &x, &y);
	along = along_y ? y : x;
	across = along_y ? x : y;
	line->undecided = n < MIN_DIRECTION_PAIRS;
	if (line->undecided || !(along.falling > FALLING * (along.rising + along.falling)) ||
	    fabs(across.rising - across.falling) > ACROSS * (along.falling - along.rising))
		return false;
	return check_fire(line, "--sign", "is not stated, and with +1 the phase falls from %s of "
	    "the picture (%.0f %%): give --sign -1, or +1 where camera or projector stands upside "
	    "down or the picture is mirrored", along_y ? "top to bottom" : "left to right",
	    100 * along.falling / (along.rising + along.falling));
}

/* A Gray code tells unwrap2f what fits. */
static bool
direction_applies(const struct check_facts *facts, const struct check_heads *)
{
	return facts->captures && facts->captures->fringes && facts->fit &&
	    !facts->captures->codes && !facts->sign_stated && !facts->roles_stated &&
	    !facts->several_exposures && !shortest_period(facts->captures)->two_plus_one;
}

const struct check check_direction = {
	.name = "direction", .rank = 1, .looks = CHECK_INPUT | CHECK_OUTPUT | CHECK_FIRST,
	.group = 2, .applies = direction_applies, .channels = check_phase_channels,
	.judge = direction_judge
};
