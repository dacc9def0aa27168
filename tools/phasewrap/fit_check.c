/* Which fault the images of a fringe set have, by the fits of their steps on a coarse grid of
 * pixels, and the words for it. */
#define _GNU_SOURCE
#include "fit_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "step_plane.h"

#define PIXELS 600		/* looked at, about */
#define LEAST 24		/* pixels with fringes that a warning needs */
#define SECTORS 8		/* of the circle of phases */
#define SECTOR_LEAST 2		/* pixels in each */

static bool
is_checkable(const struct capture_fringe *fringe)
{
	return !fringe->two_plus_one && fringe->n >= 4 && fringe->n <= STEP_FIT_MOST;
}

int
fit_check_plan(struct fit_check *check, const struct capture_set *captures,
    const struct frame_head *head, float least_amplitude)
{
	bool any = false;

	fit_check_free(check);
	for (size_t k = 0; k < captures->fringes; k++)
		any |= is_checkable(&captures->fringe[k]);
	check->off = check->warned || !any;
	check->grid = coarse_grid(head->w, head->h, PIXELS);
	check->planes = head->c;
	check->least_amplitude = least_amplitude;
	if (head->type != SAMPLE_FLOAT)	/* fewer grey levels do not tell fringes from noise */
		check->least_amplitude = fmaxf(check->least_amplitude, 2);
	if (check->off)
		return 0;
	check->sample = calloc(coarse_grid_pixels(&check->grid), head->c * sizeof(*check->sample));
	check->work = calloc(coarse_grid_pixels(&check->grid), sizeof(*check->work));
	return check->sample && check->work ? 0 : fail_memory();
}

void
fit_check_free(struct fit_check *check)
{
	free(check->sample);
	free(check->work);
	check->sample = check->work = NULL;
}

/* Bands may share rows: both store the same. */
void
fit_check_row(const struct fit_check *check, const struct capture_set *captures,
    const struct frame *frame, size_t y)
{
	if (check->off || y % check->grid.step)
		return;
	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];

		if (!is_checkable(fringe))
			continue;
		for (size_t i = 0; i < fringe->n; i++) {
			size_t c = fringe->plane[i];
			float *to = check->sample + coarse_grid_row(&check->grid, y) *
			    check->planes + c;

			for (size_t column = 0; column < check->grid.columns; column++) {
				size_t x = coarse_grid_shift(&check->grid, y) +
				    column * check->grid.step;
				float value = x < frame->head.w ?
				    frame_sample(frame, c, y, x) : NAN;

				__atomic_store(to, &value, __ATOMIC_RELAXED);
				to += check->planes;
			}
		}
	}
}

/* A pixel's values less their mean, and the mean of their squares; 0 where it does not count. */
static float
centre(const float *sample, const struct capture_fringe *fringe, float max_value, float *v)
{
	float mean = 0, square = 0;

	for (size_t i = 0; i < fringe->n; i++) {
		float value = sample[fringe->plane[i]];

		if (!(value < max_value) || !(value > -INFINITY))
			return 0;
		mean += value / (float)fringe->n;
		v[i] = value;
	}
	for (size_t i = 0; i < fringe->n; i++) {
		v[i] -= mean;
		square += v[i] * v[i];
	}
	return square / (float)fringe->n;
}

/* What a pixel must have to belong to the fringes: a quarter of what those in light have. */
static float
least_square(const struct fit_check *check, size_t pixels)
{
	double least = 0;		/* at first as all that counts */

	for (int round = 0; round < 2; round++) {
		double sum = 0, n = 0;

		for (size_t p = 0; p < pixels; p++)
			if (check->work[p] > least) {
				sum += (double)check->work[p];
				n++;
			}
		least = n > 0 ? (round ? 0.25 : 0.5) * sum / n : 0;
	}
	return (float)least;
}

/* A pixel's values less their mean, divided by their root mean square. */
static void
take_unit(const struct fit_check *check, const struct capture_fringe *fringe, float max_value,
    size_t pixel, float *v)
{
	float size = sqrtf(check->work[pixel]);

	centre(check->sample + pixel * check->planes, fringe, max_value, v);
	for (size_t i = 0; i < fringe->n; i++)
		v[i] /= size;
}

static void
add_gram(double *gram, const float *v, double weight, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			gram[i * n + j] += weight * (double)v[i] * (double)v[j];
}

/* The Gram matrix of the pixels with fringes, and how many they are; work becomes 0 for others. */
static size_t
select_pixels(const struct fit_check *check, const struct capture_fringe *fringe, float max_value,
    double *gram)
{
	size_t pixels = coarse_grid_pixels(&check->grid), n = fringe->n, used = 0;
	float v[STEP_FIT_MOST], least;

	for (size_t p = 0; p < pixels; p++)
		check->work[p] = centre(check->sample + p * check->planes, fringe, max_value, v);
	least = fmaxf(least_square(check, pixels),
	    check->least_amplitude * check->least_amplitude / 2);
	memset(gram, 0, n * n * sizeof(*gram));
	for (size_t p = 0; p < pixels; p++) {
		if (!(check->work[p] > 0) || !(check->work[p] >= least)) {
			check->work[p] = 0;
			continue;
		}
		take_unit(check, fringe, max_value, p, v);
		add_gram(gram, v, 1, n);
		used++;
	}
	return used;
}

/*
 * Weighs the sectors of the circle of phases alike in the Gram matrix of the pixels that were
 * selected: where some phases are rare, what harmonics leave over looks like other shifts. False:
 * some hardly occur.
 */
static bool
weigh_phases(const struct fit_check *check, const struct capture_fringe *fringe, float max_value,
    double *gram, size_t used)
{
	size_t pixels = coarse_grid_pixels(&check->grid), n = fringe->n, count[SECTORS] = { 0 };
	struct step_plane plane = step_plane_find(gram, n);
	float v[STEP_FIT_MOST];

	for (size_t p = 0; p < pixels; p++)
		if (check->work[p] > 0) {
			take_unit(check, fringe, max_value, p, v);
			count[(size_t)(step_plane_turns(&plane, v) * SECTORS)]++;
		}
	for (size_t i = 0; i < SECTORS; i++)
		if (count[i] < SECTOR_LEAST)
			return false;
	memset(gram, 0, n * n * sizeof(*gram));
	for (size_t p = 0; p < pixels; p++)
		if (check->work[p] > 0) {
			take_unit(check, fringe, max_value, p, v);
			add_gram(gram, v, (double)used / (SECTORS *
			    (double)count[(size_t)(step_plane_turns(&plane, v) * SECTORS)]), n);
		}
	return true;
}

/* Of an image that lies far below or above all others in all pixels, whatever their phases: at
 * least so far, in root mean squares, and the others' means no farther. Where the phases of a
 * cut-out are few, at least one other image lies as far on the same side or on the other. */
#define ALONE_LEAST 0.9
#define OTHERS_MOST 0.6

/* Is one image darker or brighter than all others? Then the verdict names it. Its weight hides the
 * phases, so that weigh_phases() fails. */
static bool
find_odd_image(const struct fit_check *check, const struct capture_fringe *fringe, float max_value,
    const double *gram, size_t used, struct step_verdict *verdict)
{
	double mean[STEP_FIT_MOST] = { 0 }, rest[STEP_FIT_MOST * STEP_FIT_MOST];
	double shift_rad[STEP_FIT_MOST];
	size_t pixels = coarse_grid_pixels(&check->grid), n = fringe->n, odd = 0, m = 0;
	float v[STEP_FIT_MOST];

	for (size_t p = 0; p < pixels; p++)
		if (check->work[p] > 0) {
			take_unit(check, fringe, max_value, p, v);
			for (size_t i = 0; i < n; i++)
				mean[i] += (double)v[i] / (double)used;
		}
	for (size_t i = 1; i < n; i++)
		if (fabs(mean[i]) > fabs(mean[odd]))
			odd = i;
	if (fabs(mean[odd]) < ALONE_LEAST)
		return false;
	for (size_t i = 0; i < n; i++)
		if (i != odd && fabs(mean[i]) > OTHERS_MOST)
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
judge_set(const struct fit_check *check, const struct capture_fringe *fringe, float max_value,
    struct step_verdict *verdict)
{
	double gram[STEP_FIT_MOST * STEP_FIT_MOST];
	size_t used = select_pixels(check, fringe, max_value, gram);
	bool fits;

	if (used < LEAST)
		return false;
	*verdict = step_fit_judge(gram, fringe->shift_rad, fringe->n);
	fits = verdict->fault == STEPS_FIT;
	if (fits && !check->verbose)
		return true;
	if (!fits && find_odd_image(check, fringe, max_value, gram, used, verdict))
		return true;
	if (!weigh_phases(check, fringe, max_value, gram, used))
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

/* Says what is wrong; each line ends with how much the fit is off, and would be. */
static void
say(const struct image_names *names, const struct capture_fringe *fringe,
    const struct step_verdict *verdict)
{
	char set[CAPTURE_SET_NAME_SIZE], a[IMAGE_NAME_SIZE], b[IMAGE_NAME_SIZE], off[100];
	char other[60] = "", moved[80] = "", where[IMAGE_NAME_SIZE];
	const char *object = image_names_where(names, where);

	capture_set_name(fringe, set);
	snprintf(off, sizeof(off), "(the fit is off by %.3f of the amplitude, else by %.3f)",
	    verdict->misfit, verdict->better);
	if (verdict->drift_rad != 0)
		snprintf(moved, sizeof(moved), ", or the surface moved evenly, by %+.1f degrees "
		    "an image", verdict->drift_rad * 180 / M_PI);
	switch (verdict->fault) {
	case STEPS_FIT:
		return;
	case STEPS_ALIKE:
		warn(object, "%s: %s and %s show the same: one of them is no step of its own%s",
		    set, image_name(names, fringe, verdict->a, a),
		    image_name(names, fringe, verdict->b, b), moved);
		return;
	case STEPS_EXCHANGED:
		if (verdict->c != verdict->d)
			snprintf(other, sizeof(other), ", or images %zu and %zu,", verdict->c + 1,
			    verdict->d + 1);
		warn(object, "%s: %s and %s%s seem to be exchanged %s", set,
		    image_name(names, fringe, verdict->a, a),
		    image_name(names, fringe, verdict->b, b), other, off);
		return;
	case STEPS_SORTED:
		warn(object, "%s: the images seem to be sorted as text, 1 10 11 2, and not as "
		    "numbers %s", set, off);
		return;
	case STEPS_MISSING:
		warn(object, "%s: an image of %zu seems to be missing behind %s%s %s", set,
		    fringe->n + 1, image_name(names, fringe, verdict->a - 1, a), moved, off);
		return;
	case STEPS_OTHER:
		warn(object, "%s: %zu images, but steps of about 360/%zu degrees: --steps or "
		    "--shift is another%s %s", set, fringe->n, verdict->a, moved, off);
		return;
	case STEPS_DRIFT:
		warn(object, "%s: the steps seem to be %+.1f degrees longer: the surface moved "
		    "evenly, or --shift is another %s", set, verdict->drift_rad * 180 / M_PI, off);
		return;
	case STEPS_OUTLIER:
		warn(object, "%s: %s does not fit the others %s", set,
		    image_name(names, fringe, verdict->a, a), off);
		return;
	case STEPS_UNFIT:
		warn(object, "%s: the images do not fit %zu steps, by %.2f of the amplitude: are "
		    "--steps, --shift and the order of the images right?", set, fringe->n,
		    verdict->misfit);
		return;
	}
}

static void
report(const struct fit_check *check, const struct capture_fringe *fringe, double misfit)
{
	char set[CAPTURE_SET_NAME_SIZE];

	if (check->verbose && isnan(misfit))
		note(capture_set_name(fringe, set), "too few pixels have fringes, or too few "
		    "phases occur, to tell how well they fit");
	else if (check->verbose)
		note(capture_set_name(fringe, set), "the fit is off by %.3f of the amplitude",
		    misfit);
}

/* Three steps have other shifts than any other number of them: as fringegen projects them, and as
 * the papers have them. */
static void
warn_assumed(struct fit_check *check, const struct capture_set *captures)
{
	bool three = false;

	for (size_t k = 0; k < captures->fringes; k++)
		three |= captures->fringe[k].n == 3 && !captures->fringe[k].two_plus_one;
	if (three && check->verbose)
		note(NULL, "three images of a period fit in any order: nothing in them tells "
		    "whether theirs is right");
	if (three && check->assumed && !check->guess_warned)
		warn(NULL, "three images are taken for the shifts -120,0,120, as nothing says "
		    "others: many systems project --shift 0,120,240");
	check->guess_warned = true;
}

void
fit_check_warn(struct fit_check *check, const struct capture_set *captures, float max_value,
    const struct image_names *names)
{
	warn_assumed(check, captures);
	for (size_t k = 0; k < captures->fringes && !check->off; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		struct step_verdict verdict;

		if (!is_checkable(fringe))
			continue;
		if (!judge_set(check, fringe, max_value, &verdict)) {
			report(check, fringe, NAN);
			continue;
		}
		report(check, fringe, verdict.misfit);
		check->off = check->warned =
		    verdict.fault != STEPS_FIT && verdict.fault != STEPS_UNFIT;
		if (verdict.fault != STEPS_UNFIT || !check->unfit)
			say(names, fringe, &verdict);
		check->unfit |= verdict.fault == STEPS_UNFIT;
	}
	check->verbose = false;
}
