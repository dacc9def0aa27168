/*
 * Which images show the same fringes, moved? Images whose fringes have the same period and a fixed
 * distance belong to one set.
 *
 * From top to bottom: lines of samples, in which single images' fringes are counted; steps, the
 * shifts of a set's images by least squares (Wang and Han 2004); what the shifts mean; a set and
 * its phase; which images belong to it; sets whose fringes cannot be counted; sets of a sine, a
 * cosine and a flat image (Zhang and others 2006); all sets; how their frequencies are related.
 */
#include "fringeprobe.h"

#include <stdlib.h>
#include <string.h>

#include "base/process.h"

/* ---- lines of samples, and the fringes of single images in them ---- */

/* Of n images of one size. -1 after fail(); free with field_free(), also then. */
static int
field_new(struct image *const *image, size_t n, int axis, struct field *field)
{
	size_t pixels;

	*field = (struct field){ .axis = axis, .n = n, .lines = image[0]->lines[axis] };
	field->length = axis ? image[0]->head.h : image[0]->head.w;
	pixels = field->lines * field->length;
	field->v = calloc(n, sizeof(*field->v));
	field->mid = calloc(pixels, sizeof(*field->mid));
	field->half = calloc(pixels, sizeof(*field->half));
	field->lit = calloc(pixels, sizeof(*field->lit));
	field->gram = calloc(n * n, sizeof(*field->gram));
	field->scratch = malloc(3 * pixels * sizeof(*field->scratch));
	field->pair = malloc(2 * pixels * sizeof(*field->pair));
	if (!field->v || !field->mid || !field->half || !field->lit || !field->gram ||
	    !field->scratch || !field->pair)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		field->v[i] = image[i]->line[axis];
	fringeprobe_rows()->field_measure(field);
	return 0;
}

static void
field_free(struct field *field)
{
	free(field->v);
	free(field->mid);
	free(field->half);
	free(field->lit);
	free(field->gram);
	free(field->scratch);
	free(field->pair);
	*field = (struct field){ 0 };
}

/* ---- steps: images of one fringe pattern that was moved ---- */

#define FIT_ROUNDS 30
#define FIT_SETTLED_RAD 1e-4	/* rad */

/* Refines the shifts so that they fit best (Wang and Han 2004: pixels and shifts in turn, by least
 * squares), the first one staying 0; then fills in how the images fit them. */
static void
steps_fit(const struct field *field, struct steps *steps)
{
	double change_rad = INFINITY;

	if (steps->n > 3) {
		fringeprobe_rows()->steps_gram(field, steps);
		for (int round = 0; round < FIT_ROUNDS && change_rad >= FIT_SETTLED_RAD; round++)
			if (!step_search_round(field->gram, steps->n, false, steps->shift_rad,
			    &change_rad))
				break;
		for (size_t k = steps->n; k-- > 0;)
			steps->shift_rad[k] =
			    remainder(steps->shift_rad[k] - steps->shift_rad[0], 2 * M_PI);
	}
	fringeprobe_rows()->steps_measure(field, steps);
}

/* ---- what shifts mean: steps of an n-th of a turn, in order or not, all or with gaps ---- */

#define TWIN_GAP_SHARE 0.25	/* of the median distance of neighbouring shifts */
#define MAX_STEP_ERROR 0.12	/* of a step: shifts are multiples of it */
#define MAX_STEP_ERROR_RAD (3.5 * M_PI / 180)
/* Three images fit any shifts, four any a, b, a + 180, b + 180: only crossings of the middle tell
 * theirs. */
#define MAX_STEP_ERROR_FEW_RAD (8 * M_PI / 180)
#define MAX_STEPS_OF_TURN 72		/* or as many as there are images */

static double
turn(double rad)
{
	double positive = fmod(rad, 2 * M_PI);

	return positive < 0 ? positive + 2 * M_PI : positive;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The distance from shift i to the next larger one that is farther than `least`. */
static double
gap_after(const struct steps *steps, size_t i, double least)
{
	double gap = 2 * M_PI;

	for (size_t j = 0; j < steps->n; j++) {
		double d = turn(steps->shift_rad[j] - steps->shift_rad[i]);

		if (j != i && d > least)
			gap = fmin(gap, d);
	}
	return gap;
}

/* The median distance from a shift to the next larger one. */
static double
median_gap(const struct steps *steps)
{
	double gap[STEPS_MOST];

	for (size_t i = 0; i < steps->n; i++)
		gap[i] = gap_after(steps, i, M_PI / fmax(MAX_STEPS_OF_TURN, (double)steps->n));
	qsort(gap, steps->n, sizeof(*gap), compare_doubles);
	return gap[steps->n / 2];
}

/* twin[i]: an image before i that has the same shift, or i. Returns how many have none. */
static size_t
steps_twins(const struct steps *steps, size_t twin[STEPS_MOST])
{
	double limit = TWIN_GAP_SHARE * median_gap(steps);
	size_t single = 0;

	for (size_t i = 0; i < steps->n; i++) {
		twin[i] = i;
		for (size_t j = 0; j < i && twin[i] == i; j++)
			if (twin[j] == j && fabs(remainder(steps->shift_rad[i] -
			    steps->shift_rad[j], 2 * M_PI)) < limit)
				twin[i] = j;
		single += twin[i] == i;
	}
	return single;
}

/* Are the shifts multiples of 360/of degrees, all different? Their rms distance; NaN: no. */
static double
fit_multiples(const struct steps *steps, size_t of, size_t place[STEPS_MOST])
{
	double step = 2 * M_PI / (double)of, re = 0, im = 0, origin, squares = 0, rms, most;
	bool taken[STEPS_MOST] = { false };

	for (size_t i = 0; i < steps->n; i++) {
		re += cos((double)of * steps->shift_rad[i]);
		im += sin((double)of * steps->shift_rad[i]);
	}
	origin = atan2(im, re) / (double)of;
	for (size_t i = 0; i < steps->n; i++) {
		double at = (steps->shift_rad[i] - origin) / step;

		place[i] = (size_t)(((long)round(at) % (long)of + (long)of) % (long)of);
		squares += pow(at - round(at), 2);
		if (taken[place[i]])
			return (double)NAN;
		taken[place[i]] = true;
	}
	for (size_t i = steps->n; i-- > 0;)
		place[i] = (place[i] + of - place[0]) % of;
	rms = sqrt(squares / (double)steps->n);
	most = steps->n > 4 ? MAX_STEP_ERROR_RAD : MAX_STEP_ERROR_FEW_RAD;
	return rms < MAX_STEP_ERROR && rms * step < most ? rms * step : (double)NAN;
}

/* Steps that n images may have: a turn's n-th part; with one or two missing; a usual angle. */
static bool
is_usual(size_t of, size_t n)
{
	static const size_t usual[] = { 4, 6, 8, 9, 10, 12, 16, 18, 20, 24, 36, 72 };
	bool found = of <= n + 2;

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		found |= usual[i] == of;
	return found;
}

/* How many steps it takes to go through the images in their order, one way. */
static size_t
travel(const struct steps_order *order, size_t n, int sign)
{
	size_t sum = 0;

	for (size_t i = 1; i < n; i++) {
		size_t up = (order->place[i] + order->of - order->place[i - 1]) % order->of;

		sum += sign > 0 ? up : order->of - up;
	}
	return sum;
}

/* Images that are where the order has them, if image `start` begins a turn. */
static size_t
in_place(const struct steps_order *order, size_t n, int sign, size_t start, bool at[STEPS_MOST])
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t want = sign > 0 ? start + i : start + order->of * n - i;

		at[i] = want % order->of == order->place[i];
		sum += at[i];
	}
	return sum;
}

/* The order in which the fewest images are out of place. */
static void
find_exchanged(struct steps_order *order, size_t n)
{
	size_t best = 0;
	bool at[STEPS_MOST];

	for (int sign = 1; sign >= -1; sign -= 2)
		for (size_t start = 0; start < order->of; start++) {
			size_t found = in_place(order, n, sign, start, at), out = 0;

			if (found <= best)
				continue;
			best = found;
			order->sign = sign;
			order->start = start;
			order->exchanged[0] = order->exchanged[1] = 0;
			for (size_t i = 0; i < n && found + 2 == n; i++)
				if (!at[i])
					order->exchanged[out++] = i;
		}
}

/* Of images with different shifts. */
static void
steps_read(const struct steps *steps, struct steps_order *order)
{
	size_t n = steps->n, most = n > MAX_STEPS_OF_TURN ? n : MAX_STEPS_OF_TURN, up, down;

	*order = (struct steps_order){ .sign = 1, .ordered = true };
	for (size_t of = n; of <= most && of <= 12 * n && !order->of; of++) {
		order->error_rad = is_usual(of, n) ? fit_multiples(steps, of, order->place) :
		    (double)NAN;
		if (!isnan(order->error_rad))
			order->of = of;
	}
	for (size_t i = 0; i < n; i++)	/* two of one shift leave no gap */
		order->gap_rad = fmax(order->gap_rad, gap_after(steps, i, -1));
	if (!order->of) {
		double sum = 0;

		for (size_t i = 1; i < n; i++)
			sum += remainder(steps->shift_rad[i] - steps->shift_rad[i - 1], 2 * M_PI);
		order->sign = sum < 0 ? -1 : 1;
		return;
	}
	up = travel(order, n, 1);
	down = travel(order, n, -1);
	order->sign = up <= down ? 1 : -1;
	order->ordered = (up < down ? up : down) < order->of;
	if (!order->ordered)
		find_exchanged(order, n);
	/* all but one or two of a turn: these are missing; fewer are meant as they are */
	if (order->of > n && (order->of - n) * 3 <= n)
		order->missing = order->of - n;
	for (size_t i = 1; i <= n && order->missing && order->ordered; i++) {
		size_t from = order->place[i - 1], to = order->place[i % n];
		size_t gap = order->sign > 0 ? to + order->of - from : from + order->of - to;

		if (gap % order->of != 1) {
			order->first_missing = i - 1;
			break;
		}
	}
}

/* ---- a set and its phase ---- */

#define MAX_RUN_STEP_RAD 2.0f	/* rad: more from pixel to pixel ends a run */
#define MAX_UNEQUAL_RESIDUAL 0.2	/* of shifts that are no equal steps */

/* Room for phase and mean. -1 after fail(). */
static int
fringe_set_new(const struct field *field, struct fringe_set *set)
{
	size_t pixels = field->lines * field->length;

	set->phase = malloc(pixels * sizeof(float));
	set->mean = malloc(pixels * sizeof(float));
	return set->phase && set->mean ? 0 : fail_memory();
}

static void
fringe_set_free(struct fringe_set *set)
{
	free(set->phase);
	free(set->mean);
	*set = (struct fringe_set){ 0 };
}

/* Fills phase and mean from the steps. */
static void
fringe_set_phase(const struct field *field, struct fringe_set *set)
{
	fringeprobe_rows()->steps_fill(field, &set->steps, set->phase, set->mean, NULL);
	fringeprobe_rows()->field_unwrap(field->lines, field->length, MAX_RUN_STEP_RAD, set->phase);
}

/* The images in the order of their shifts, if they are not; and the shifts as they are meant, which
 * are found only about. Each is counted from the first image. */
static void
arrange(struct fringe_set *set)
{
	struct steps *steps = &set->steps, old = *steps;
	struct steps_order *order = &set->order, found = *order;
	size_t n = 0, of = order->of;

	memcpy(order->was, old.image, sizeof(order->was));
	for (size_t j = 0; j < of; j++)
		for (size_t k = 0; k < steps->n; k++) {
			size_t from = order->ordered ? 0 : found.start;
			size_t at = order->sign > 0 ? found.place[k] + of - from :
			    from + of - found.place[k];

			if (at % of != j)
				continue;
			steps->image[n] = old.image[k];
			order->place[n] = j;
			steps->shift_rad[n] = order->sign * 2 * M_PI * (double)j / (double)of;
			n++;
		}
	for (size_t k = of ? n : 0; k-- > 0;) {
		steps->shift_rad[k] -= steps->shift_rad[0];
		order->place[k] -= order->place[0];
	}
}

/* Three images fit any shifts, and any three images fit some: only usual shifts are taken. */
static bool
is_plausible(const struct fringe_set *set)
{
	if (set->steps.n == 3)
		return set->order.of == 3 || set->order.of == 4;
	return set->order.of || (set->steps.residual < MAX_UNEQUAL_RESIDUAL && set->fringes > 2);
}

/* Its images are unknown again; returns 0. */
static int
fringe_set_drop(struct sets *sets, struct fringe_set *set)
{
	for (size_t i = 0; i < sets->images; i++)
		if (sets->set[i] == sets->n)
			sets->kind[i] = KIND_UNKNOWN;
	fringe_set_free(set);
	return 0;
}

/* Completes the set after the last of *sets, whose images and shifts are found; its phase grows. 1:
 * it is a set; 0: it shows no fringes, or steps that nobody makes; -1 after fail(). */
static int
fringe_set_make(struct sets *sets, const struct field *field, struct fringe_set *set)
{
	struct steps *steps = &set->steps;

	if (fringe_set_new(field, set) < 0)
		return -1;
	fringe_set_phase(field, set);
	if (!fringeprobe_rows()->fringe_set_period(field, set)) {
		for (size_t k = 0; k < steps->n; k++)
			steps->shift_rad[k] = -steps->shift_rad[k];
		fringe_set_phase(field, set);
		fringeprobe_rows()->fringe_set_period(field, set);
	}
	steps_read(steps, &set->order);
	if (!is_plausible(set) || fringeprobe_rows()->fringe_set_rough(field, set))
		return fringe_set_drop(sets, set);
	arrange(set);
	fringe_set_phase(field, set);
	for (size_t k = 0; k < steps->n; k++) {
		sets->kind[steps->image[k]] = KIND_FRINGE;
		sets->set[steps->image[k]] = sets->n;
	}
	sets->n++;
	return 1;
}

/* Do images fit so well that the residual is not worse? */
static bool
fringe_set_fits(const struct steps *steps, double worst)
{
	return steps->pixels >= FRINGE_SET_PIXELS_LEAST && !(steps->residual > worst);
}

/* ---- which images belong to a set: those that fit its phases ---- */

/* of the amplitude: residual of a set that was complete before */
#define MAX_EXTENDED_RESIDUAL 0.2
#define JOIN_RESIDUAL_FACTOR 2	/* of the set's residual: an image fits it, too */
#define MIN_JOIN_RESIDUAL 0.06
#define MAX_JOIN_THREE_RESIDUAL 0.25	/* of the amplitude, where three images have no residual */
#define MAX_DRIFT_RAD 0.25	/* rad, from half to half of the lines: other fringes */
#define STRANGER_SHARE 0.6	/* of the residual is left without an image that is no step */
#define MIN_STRANGER_RESIDUAL 0.04
#define MAX_STRANGER_IMAGES 24	/* images: it takes time in proportion to the square */

static bool
is_member(const struct steps *steps, size_t i)
{
	for (size_t k = 0; k < steps->n; k++)
		if (steps->image[k] == i)
			return true;
	return false;
}

/* Images that were not recognised but fit the set's phases about as well as its own do. */
static void
join_images(const struct sets *sets, const struct field *field, struct steps *steps)
{
	size_t n = steps->n;
	double limit = n == 3 ? MAX_JOIN_THREE_RESIDUAL :
	    JOIN_RESIDUAL_FACTOR * fmax(steps->residual, MIN_JOIN_RESIDUAL);

	for (size_t i = 0; i < sets->images && steps->n < STEPS_MOST; i++) {
		double shift, drift;

		if (sets->kind[i] != KIND_UNKNOWN || is_member(steps, i) ||
		    !(fringeprobe_rows()->steps_try(field, steps, i, &shift, &drift) < limit) ||
		    fabs(drift) > MAX_DRIFT_RAD)
			continue;
		steps->image[steps->n] = i;
		steps->shift_rad[steps->n++] = shift;
	}
	if (steps->n > n)
		steps_fit(field, steps);
}

/* Takes out images whose fringes are not the set's: their shift grows along the lines. */
static void
drop_drifting(const struct field *field, struct steps *steps)
{
	struct steps old = *steps;

	if (steps->n < 5)
		return;
	steps->n = 0;
	for (size_t k = 0; k < old.n; k++) {
		double shift, drift;

		fringeprobe_rows()->steps_try(field, &old, old.image[k], &shift, &drift);
		if (fabs(drift) > MAX_DRIFT_RAD)
			continue;
		steps->image[steps->n] = old.image[k];
		steps->shift_rad[steps->n++] = old.shift_rad[k];
	}
	if (steps->n < 3)
		*steps = old;
	if (steps->n < old.n)
		steps_fit(field, steps);
}

static void
remove_image(struct steps *steps, size_t k)
{
	steps->n--;
	memmove(steps->image + k, steps->image + k + 1, (steps->n - k) * sizeof(*steps->image));
	memmove(steps->shift_rad + k, steps->shift_rad + k + 1,
	    (steps->n - k) * sizeof(*steps->shift_rad));
}

/* Four images that are three steps and a Gray plane of their period: which one? */
static void
find_three(struct steps *steps)
{
	for (size_t k = 0; k < 4; k++) {
		struct steps three = *steps;
		struct steps_order order;

		remove_image(&three, k);
		steps_read(&three, &order);
		if (order.of != 3)
			continue;
		*steps = three;
		return;
	}
}

/* Takes out an image without which the others fit much better: a Gray plane of their period.
 * images: the steps before they were fitted, as that image spoilt the shifts. */
static void
drop_stranger(const struct field *field, const struct steps *images, struct steps *steps)
{
	struct steps best = *steps;

	for (size_t k = 0; k < steps->n; k++) {
		struct steps without = *images;

		remove_image(&without, k);
		steps_fit(field, &without);
		if (without.residual < best.residual)
			best = without;
	}
	if (best.residual < STRANGER_SHARE * steps->residual)
		*steps = best;
}

/* In the order of the files, the first one's shift 0. */
static void
sort_images(struct steps *steps)
{
	for (size_t i = 1; i < steps->n; i++)
		for (size_t k = i; k > 0 && steps->image[k] < steps->image[k - 1]; k--) {
			size_t image = steps->image[k];
			double shift = steps->shift_rad[k];

			steps->image[k] = steps->image[k - 1];
			steps->shift_rad[k] = steps->shift_rad[k - 1];
			steps->image[k - 1] = image;
			steps->shift_rad[k - 1] = shift;
		}
	for (size_t k = steps->n; k-- > 0;)
		steps->shift_rad[k] =
		    remainder(steps->shift_rad[k] - steps->shift_rad[0], 2 * M_PI);
}

static bool
is_complete(const struct steps *steps)
{
	struct steps_order order;

	steps_read(steps, &order);
	return order.of == steps->n && order.ordered;
}

/*
 * Images that were not recognised join, others leave. Where the steps were all of a turn, or three,
 * which fit any others, more of them stay only if they are all of a turn again. The images are in
 * the order of the files then, the first one's shift is 0.
 */
static void
members_settle(const struct sets *sets, const struct field *field, struct steps *steps)
{
	struct steps before = *steps;
	bool complete;

	sort_images(&before);
	complete = before.n == 3 || is_complete(&before);
	for (int round = 0; round < 2; round++) {
		drop_drifting(field, steps);
		join_images(sets, field, steps);
	}
	sort_images(steps);
	if (complete && steps->n > before.n &&
	    (!is_complete(steps) || !(steps->residual < MAX_EXTENDED_RESIDUAL)))
		*steps = before;
}

/* Fits the steps of some images, without one that spoils them. */
static void
members_fit(const struct field *field, const struct steps *images, struct steps *steps)
{
	struct steps_order order;

	*steps = *images;
	steps_fit(field, steps);
	if (steps->n > 4 && steps->n <= MAX_STRANGER_IMAGES &&
	    steps->residual > MIN_STRANGER_RESIDUAL) {
		drop_stranger(field, images, steps);
	} else if (steps->n == 4) {
		steps_read(steps, &order);
		if (order.of == 4)
			return;
		*steps = *images;
		find_three(steps);
		steps_fit(field, steps);
	}
}

/* ---- sets of equal steps whose fringes cannot be counted ---- */

#define MAX_COARSE_RESIDUAL 0.25
#define MAX_AMONG_RESIDUAL 0.1	/* of equal steps with other images behind them */
#define MIN_BLOCK_SHARE 0.5	/* of the lit ones have the fringes of a block of images, */
#define MIN_BLOCK_AMPLITUDE 0.4	/* and another block's amplitude is at least that part of it */
#define MAX_RATIO_ERROR 0.05	/* of the ratio of two frequencies: its error from line to line */
#define MIN_WIDER_AMPLITUDE 0.6	/* of the amplitude of finer fringes: wider ones have more */
#define MAX_MEAN_DIFFERENCE 0.2	/* of the amplitude: difference of two sets' means, rms */

/* Takes images for a set with the shifts as they are, which a part of a fringe does not tell. 1 if
 * they fit, 0, -1 after fail(). */
static int
equal_steps_set(struct sets *sets, int axis, const struct steps *images)
{
	const struct field *field = &sets->field[axis];
	struct fringe_set *set = &sets->fringe[sets->n];

	if (sets->n == SETS_MOST)
		return 0;
	*set = (struct fringe_set){ .axis = axis, .steps = *images };
	fringeprobe_rows()->steps_measure(field, &set->steps);
	return fringe_set_fits(&set->steps, MAX_COARSE_RESIDUAL) ?
	    fringe_set_make(sets, field, set) : 0;
}

/* The last set, which was taken for equal steps, must have all n images in order, and have the mean
 * of others or grow with them; three images, which fit always, are none without them, unless they
 * are `known`. */
static void
check_equal(struct sets *sets, int axis, size_t n, bool known)
{
	struct fringe_set *set = &sets->fringe[sets->n - 1];
	const struct field *field = &sets->field[axis];
	struct growth growth = { .ratio = (double)NAN };
	bool weak = false;		/* blurred Gray planes */

	for (size_t k = 0; k + 1 < sets->n; k++) {
		const struct fringe_set *other = &sets->fringe[k];

		if (other->axis != axis)
			continue;
		weak = weak || (set->period_px > other->period_px &&
		    set->steps.amplitude < MIN_WIDER_AMPLITUDE * other->steps.amplitude);
		known = known || fringeprobe_rows()->mean_difference(field, other->mean,
		    set->mean) < MAX_MEAN_DIFFERENCE * other->steps.amplitude;
		if (isnan(growth.ratio))
			fringeprobe_rows()->growth_find(field->lines, field->length, other->phase,
			    set->phase, &growth);
	}
	known = known || (isnan(growth.ratio) ? n > 3 :
	    growth.error < MAX_RATIO_ERROR * fabs(growth.ratio));
	if (set->steps.n == n && set->order.ordered && !weak && known)
		return;
	sets->n--;
	fringe_set_drop(sets, set);
}

/* n of some images, from one on, as equal steps of a turn. */
static void
equal_steps_take(const struct steps *images, size_t from, size_t n, struct steps *block)
{
	*block = (struct steps){ .n = n };
	for (size_t k = 0; k < n; k++) {
		block->image[k] = images->image[from + k];
		block->shift_rad[k] = 2 * M_PI * (double)k / (double)n;
	}
}

/* Images from the first one on that are left, of one group of names, `most` at most; as equal
 * steps. */
static void
gather_left(const struct sets *sets, size_t first, size_t most, struct steps *steps)
{
	struct steps left = { 0 };

	for (size_t i = first; i < sets->images && left.n < most; i++)
		if (sets->kind[i] == KIND_UNKNOWN &&
		    names_same_group(sets->image[first]->name, sets->image[i]->name))
			left.image[left.n++] = i;
	equal_steps_take(&left, 0, left.n, steps);
}

/* Are they no Gray planes: do half of them have much between bright and dark? */
static bool
are_sinusoids(const struct sets *sets, const struct steps *steps)
{
	size_t n = 0;

	for (size_t k = 0; k < steps->n; k++)
		n += sets->carrier[0][steps->image[k]].between > SINUSOID;
	return 2 * n >= steps->n && steps->n >= 3 &&
	    (sets->n == 0 || steps->n == sets->fringe[0].steps.n);
}

/* Are the images sets of n equal steps each, one after another: do they leave no larger residual,
 * with one mean? */
static bool
equal_steps_blocks(const struct field *field, const struct steps *images, size_t n, double worst)
{
	const struct fringeprobe_rows *rows = fringeprobe_rows();
	float *mean = field->pair, *next = mean + field->lines * field->length;
	double amplitude = 0;

	for (size_t from = 0; from < images->n; from += n) {
		struct steps block;

		equal_steps_take(images, from, n, &block);
		rows->steps_measure(field, &block);
		rows->steps_fill(field, &block, NULL, from ? next : mean, NULL);
		if (!fringe_set_fits(&block, worst) ||
		    (double)block.pixels < MIN_BLOCK_SHARE * (double)field->lit_pixels ||
		    (from && (block.amplitude < MIN_BLOCK_AMPLITUDE * amplitude ||
		    amplitude < MIN_BLOCK_AMPLITUDE * block.amplitude ||
		    !(rows->mean_difference(field, mean, next) < MAX_MEAN_DIFFERENCE * amplitude))))
			return false;
		amplitude = block.amplitude;
	}
	return true;
}

/* How many steps have the images that are left from the first one on, where no set is known? 0:
 * nothing tells. *several: they are several sets of so many. */
static size_t
count_steps(const struct sets *sets, size_t first, bool *several)
{
	const struct field *field = &sets->field[0];
	struct steps left;

	gather_left(sets, first, STEPS_MOST, &left);
	*several = true;
	for (size_t n = first ? 4 : 3; 2 * n <= left.n; n++)
		if (left.n % n == 0 && equal_steps_blocks(field, &left, n, MAX_COARSE_RESIDUAL))
			return n;
	*several = false;
	while (left.n > 4) {
		left.n--;
		if (equal_steps_blocks(field, &left, left.n, MAX_AMONG_RESIDUAL))
			return left.n;
	}
	return 0;
}

/* Along which axis does the phase of equal steps grow more? */
static int
find_axis(const struct sets *sets, const struct steps *images)
{
	double period[2];

	for (int axis = 0; axis < 2; axis++) {
		const struct field *field = &sets->field[axis];
		struct fringe_set set = { .axis = axis, .steps = *images, .phase = field->pair,
			.mean = field->pair + field->lines * field->length };

		fringeprobe_rows()->steps_measure(field, &set.steps);
		fringe_set_phase(field, &set);
		fringeprobe_rows()->fringe_set_period(field, &set);
		period[axis] = set.period_px;
	}
	return period[1] < period[0];
}

/* Adds the sets that fit equal steps, of images that are left: too few of their fringes are in a
 * line, or they run back and forth. Their shifts are equal steps at first. -1 after fail(). */
static int
equal_steps_find(struct sets *sets)
{
	size_t block = 0;
	bool several = false;

	for (size_t i = 0; i < sets->images; i++) {
		struct steps steps;
		int taken, axis;

		if (sets->kind[i] != KIND_UNKNOWN)
			continue;
		if (sets->n == 0)
			block = count_steps(sets, i, &several);
		gather_left(sets, i, sets->n ? sets->fringe[0].steps.n :
		    block ? block : STEPS_MOST, &steps);
		if (!(several && block == steps.n) && !are_sinusoids(sets, &steps))
			continue;
		axis = find_axis(sets, &steps);
		taken = equal_steps_set(sets, axis, &steps);
		if (taken < 0)
			return -1;
		if (taken)
			check_equal(sets, axis, steps.n, several && block == steps.n);
	}
	return 0;
}

/* ---- 2+1: a sine, a cosine and a flat image ---- */

/* The first two lie on a circle about the third, whose radius is in proportion to it. */

#define MIN_FRINGES 1		/* in view */

/* The set of three images along one axis; 0: they are none, -1 after fail(). */
static int
make_two_plus_one(const struct sets *sets, int axis, const struct steps *images, size_t flat,
    struct fringe_set *set)
{
	const struct field *field = &sets->field[axis];
	size_t pixels = field->lines * field->length;

	*set = (struct fringe_set){ .axis = axis, .steps = *images, .flat = flat + 1 };
	set->order = (struct steps_order){ .sign = 1, .ordered = true };
	if (fringe_set_new(field, set) < 0)
		return -1;
	if (!fringeprobe_rows()->two_plus_one_fill(field, set))
		return 0;
	fringeprobe_rows()->field_unwrap(field->lines, field->length, MAX_RUN_STEP_RAD, set->phase);
	if (!fringeprobe_rows()->fringe_set_period(field, set)) {
		for (size_t p = 0; p < pixels; p++)
			set->phase[p] = -set->phase[p];
		set->order.sign = -1;
	}
	return set->fringes > MIN_FRINGES && !fringeprobe_rows()->fringe_set_rough(field, set);
}

/* The set that three images are, along the axis along which its phase grows more; 1, 0, -1 after
 * fail(). */
static int
find_two_plus_one(const struct sets *sets, const struct steps *images, struct fringe_set *out)
{
	*out = (struct fringe_set){ 0 };
	for (size_t flat = 3; flat-- > 0 && !out->phase;)
		for (int axis = 0; axis < 2; axis++) {
			struct fringe_set set;
			int status = make_two_plus_one(sets, axis, images, flat, &set);

			if (status > 0 && (!out->phase || set.period_px < out->period_px)) {
				fringe_set_free(out);
				*out = set;
				continue;
			}
			fringe_set_free(&set);
			if (status < 0) {
				fringe_set_free(out);
				return -1;
			}
		}
	return out->phase != NULL;
}

/* Three images of one group of names, from one on, of which two are no Gray planes. */
static bool
gather_three(const struct sets *sets, size_t first, struct steps *images)
{
	size_t sinusoids = 0;

	*images = (struct steps){ .n = 3 };
	for (size_t k = 0; k < 3; k++) {
		size_t i = first + k;

		if (i >= sets->images || sets->kind[i] != KIND_UNKNOWN)
			return false;
		images->image[k] = i;
		sinusoids += sets->carrier[0][i].between > SINUSOID;
	}
	return sinusoids >= 2 || sets->images == 3;	/* as the range of three says nothing */
}

/* Are the three images of a set that was found none of equal steps, but 2+1? */
static int
replace_set(struct sets *sets, size_t k)
{
	struct fringe_set *set = &sets->fringe[k], found;
	size_t lowest = set->steps.image[0];
	struct steps images = { .n = 3 };
	int status;

	for (size_t i = 1; i < 3; i++)
		lowest = set->steps.image[i] < lowest ? set->steps.image[i] : lowest;
	for (size_t i = 0; i < 3; i++) {
		images.image[i] = lowest + i;
		if (lowest + i >= sets->images || sets->kind[lowest + i] != KIND_FRINGE ||
		    sets->set[lowest + i] != k)
			return 0;
	}
	status = find_two_plus_one(sets, &images, &found);
	if (status <= 0)
		return status;
	fringe_set_free(set);
	*set = found;
	return 0;
}

/* Makes 2+1 of sets of three images that are no equal steps, and adds those of three images, one
 * after another, that are left, if no other sets are known. -1 after fail(). */
static int
two_plus_one_find(struct sets *sets)
{
	for (size_t k = 0; k < sets->n; k++)
		if (sets->fringe[k].steps.n == 3 && replace_set(sets, k) < 0)
			return -1;
	if (sets->n && !sets->fringe[0].flat)
		return 0;
	for (size_t i = 0; i + 3 <= sets->images && sets->n < SETS_MOST; i++) {
		struct steps images;
		int found;

		if (!gather_three(sets, i, &images))
			continue;
		found = find_two_plus_one(sets, &images, &sets->fringe[sets->n]);
		if (found < 0)
			return -1;
		for (size_t k = 0; k < 3 && found; k++) {
			sets->kind[i + k] = KIND_FRINGE;
			sets->set[i + k] = sets->n;
		}
		sets->n += (size_t)found;
	}
	return 0;
}

/* ---- all sets ---- */

/* Fringes are fine enough to be counted: crossings in a line, and a known phase in this share of
 * the lit pixels. */
#define MIN_CROSSINGS 2.5
#define MIN_KNOWN_SHARE 0.3
/* Two images have the same fringes: by this the ratio of their frequencies, and crossings at the
 * ends of a line, rad, may be off. */
#define MAX_RATIO_DIFFERENCE 0.003
#define MAX_END_ERROR_RAD 0.08
#define MIN_SAME_COHERENCE 0.75
#define MIN_SAME_SHARE 0.4
#define MIN_MIDDLE_SHARE 0.5	/* of what the set's images have between bright and dark */
#define MAX_FEW_CROSSINGS 30	/* in a line: two periods may seem to be one */
#define MAX_RESIDUAL 0.5	/* of the amplitude: the residual of a set */

int
sets_axis(const struct sets *sets, size_t i)
{
	return sets->carrier[1][i].per_line * (double)sets->field[1].lit_pixels >
	    sets->carrier[0][i].per_line * (double)sets->field[0].lit_pixels &&
	    sets->carrier[1][i].density > sets->carrier[0][i].density;
}

static bool
is_fine(const struct carrier *carrier)
{
	return carrier->per_line >= MIN_CROSSINGS && carrier->known >= MIN_KNOWN_SHARE;
}

/* Has image j the fringes of image i? Then *shift is its shift from that. */
static bool
same_fringes(const struct sets *sets, int axis, size_t i, size_t j, double *shift)
{
	const struct field *field = &sets->field[axis];
	const struct carrier *a = &sets->carrier[axis][i], *b = &sets->carrier[axis][j];
	double known = fmin(a->known, b->known) * (double)field->lit_pixels;
	struct growth growth;

	if (!is_fine(b) || b->density > 1.5 * a->density || a->density > 1.5 * b->density)
		return false;
	fringeprobe_rows()->growth_find(field->lines, field->length, a->theta, b->theta, &growth);
	*shift = growth.offset;
	return growth.shared > MIN_SAME_SHARE * known && growth.coherence > MIN_SAME_COHERENCE &&
	    fabs(growth.ratio - 1) <
	    MAX_RATIO_DIFFERENCE + MAX_END_ERROR_RAD / growth.spread +
	    3 * fmin(growth.error, MAX_RATIO_DIFFERENCE);
}

/* A Gray plane may have the fringes' period: it is two-valued where they are not. */
static void
drop_two_valued(const struct sets *sets, int axis, struct steps *steps)
{
	double between[STEPS_MOST], limit;
	size_t n = 0;

	for (size_t k = 0; k < steps->n; k++)
		between[k] = sets->carrier[axis][steps->image[k]].between;
	qsort(between, steps->n, sizeof(*between), compare_doubles);
	limit = MIN_MIDDLE_SHARE * between[steps->n / 2];
	for (size_t k = 0; k < steps->n; k++)
		if (sets->carrier[axis][steps->image[k]].between >= limit) {
			steps->image[n] = steps->image[k];
			steps->shift_rad[n++] = steps->shift_rad[k];
		}
	if (n >= 3)
		steps->n = n;
	for (size_t k = steps->n; k-- > 0;)
		steps->shift_rad[k] =
		    remainder(steps->shift_rad[k] - steps->shift_rad[0], 2 * M_PI);
}

/* An image that shows what another one shows is taken out of the set. */
static void
drop_twins(struct sets *sets, struct steps *steps)
{
	size_t twin[STEPS_MOST], n = 0;

	if (steps_twins(steps, twin) < 3)
		return;
	for (size_t k = 0; k < steps->n; k++) {
		size_t i = steps->image[k];

		sets->set[i] = sets->n;
		sets->kind[i] = twin[k] == k ? KIND_FRINGE : KIND_TWIN;
		sets->other[i] = steps->image[twin[k]];
	}
	for (size_t k = 0; k < steps->n; k++)
		if (twin[k] == k) {
			steps->image[n] = steps->image[k];
			steps->shift_rad[n++] = steps->shift_rad[k];
		}
	steps->n = n;
}

/* Takes images for a set, if they fit: 1 if they do, 0, -1 after fail(). */
static int
take_set(struct sets *sets, int axis, const struct steps *images)
{
	const struct field *field = &sets->field[axis];
	struct fringe_set *set = &sets->fringe[sets->n];
	struct steps *steps = &set->steps;

	if (sets->n == SETS_MOST || images->n < 3)
		return 0;
	*set = (struct fringe_set){ .axis = axis, .steps = *images };
	members_fit(field, images, steps);
	if (!fringe_set_fits(steps, MAX_RESIDUAL))
		return 0;
	members_settle(sets, field, steps);
	drop_twins(sets, steps);
	steps_fit(field, steps);
	return fringe_set_make(sets, field, set);
}

/* Have the blocks of n images phases of different periods? */
static bool
periods_differ(const struct field *field, const struct steps *images, size_t n)
{
	const struct fringeprobe_rows *rows = fringeprobe_rows();
	float *phase = field->pair, *next = phase + field->lines * field->length;

	for (size_t from = 0; from < images->n; from += n) {
		float *to = from ? next : phase;
		struct growth growth;
		struct steps block;

		equal_steps_take(images, from, n, &block);
		rows->steps_measure(field, &block);
		rows->steps_fill(field, &block, to, NULL, NULL);
		rows->field_unwrap(field->lines, field->length, MAX_RUN_STEP_RAD, to);
		if (from == 0)
			continue;
		rows->growth_find(field->lines, field->length, phase, to, &growth);
		if (fabs(growth.ratio - 1) >
		    MAX_RATIO_DIFFERENCE + 3 * (growth.error + growth.wobble))
			return true;
	}
	return false;
}

/* Where few fringes are in view, sets of nearly one period pass for one: the images of the first of
 * them; none: nothing tells that they are several. */
static void
find_block(const struct sets *sets, int axis, size_t first, struct steps *block)
{
	const struct field *field = &sets->field[axis];
	const struct carrier *carrier = sets->carrier[axis];
	struct steps images = { 0 };

	for (size_t i = first; i < sets->images && images.n < STEPS_MOST; i++)
		if (sets->kind[i] == KIND_UNKNOWN && sets_axis(sets, i) == axis &&
		    is_fine(&carrier[i]) && carrier[i].density < 1.5 * carrier[first].density &&
		    carrier[first].density < 1.5 * carrier[i].density)
			images.image[images.n++] = i;
	block->n = 0;
	for (size_t k = 3; 2 * k <= images.n && !block->n; k++)
		if (images.n % k == 0 && equal_steps_blocks(field, &images, k, MAX_RESIDUAL) &&
		    periods_differ(field, &images, k))
			equal_steps_take(&images, 0, k, block);
}

/* Images that have the fringes of image i. */
static void
gather_same(const struct sets *sets, int axis, size_t i, struct steps *steps)
{
	*steps = (struct steps){ .n = 1, .image = { i } };
	for (size_t j = i + 1; j < sets->images && steps->n < STEPS_MOST; j++) {
		double shift;

		if (sets->kind[j] == KIND_UNKNOWN && sets_axis(sets, j) == axis &&
		    same_fringes(sets, axis, i, j, &shift)) {
			steps->shift_rad[steps->n] = shift;
			steps->image[steps->n++] = j;
		}
	}
}

/* Sets of fringes that can be counted, along one axis. */
static int
find_fine(struct sets *sets, int axis)
{
	for (size_t i = 0; i < sets->images; i++) {
		struct steps steps, block = { 0 };

		if (sets->kind[i] != KIND_UNKNOWN || sets_axis(sets, i) != axis ||
		    !is_fine(&sets->carrier[axis][i]))
			continue;
		gather_same(sets, axis, i, &steps);
		if (sets->carrier[axis][i].per_line < MAX_FEW_CROSSINGS && steps.n > 3)
			find_block(sets, axis, i, &block);
		if (block.n && block.n < steps.n) {
			if (equal_steps_set(sets, axis, &block) < 0)
				return -1;
			continue;
		}
		if (steps.n < 3)
			continue;
		drop_two_valued(sets, axis, &steps);
		if (take_set(sets, axis, &steps) < 0)
			return -1;
	}
	return 0;
}

int
sets_find(struct image *const *image, size_t n, struct sets *sets)
{
	*sets = (struct sets){ .images = n, .image = image };
	sets->kind = must_alloc(n, sizeof(*sets->kind));
	sets->set = must_alloc(n, sizeof(*sets->set));
	sets->other = must_alloc(n, sizeof(*sets->other));
	for (size_t i = 0; i < n; i++)
		sets->set[i] = SIZE_MAX;
	for (int axis = 0; axis < 2; axis++) {
		sets->carrier[axis] = must_alloc(n, sizeof(struct carrier));
		if (field_new(image, n, axis, &sets->field[axis]) < 0)
			return -1;
		for (size_t i = 0; i < n; i++) {
			const struct field *field = &sets->field[axis];
			struct carrier *carrier = &sets->carrier[axis][i];

			carrier->theta = malloc(field->lines * field->length * sizeof(float));
			if (!carrier->theta)
				return fail_memory();
			fringeprobe_rows()->carrier_measure(field, i, carrier);
		}
	}
	for (int axis = 0; axis < 2; axis++)
		if (find_fine(sets, axis) < 0)
			return -1;
	if (equal_steps_find(sets) < 0)
		return -1;
	return two_plus_one_find(sets);
}

void
sets_free(struct sets *sets)
{
	for (size_t i = 0; i < sets->images; i++)
		for (int axis = 0; axis < 2; axis++)
			if (sets->carrier[axis])
				free(sets->carrier[axis][i].theta);
	for (int axis = 0; axis < 2; axis++) {
		field_free(&sets->field[axis]);
		free(sets->carrier[axis]);
	}
	for (size_t k = 0; k < SETS_MOST; k++)
		fringe_set_free(&sets->fringe[k]);
	free(sets->kind);
	free(sets->set);
	free(sets->other);
	*sets = (struct sets){ 0 };
}

/* ---- frequencies: whole numbers, or numbers in names, of the measured ratio ---- */

#define MIN_RATIO_TOLERANCE 2.5e-4	/* of the finest frequency: no ratio is known better */
/* rad, by which three steps of light that is not linear are off */
#define THREE_STEP_ERROR_RAD 0.007
#define MAX_COUNT 200
#define MIN_PERIOD_PX 4	/* px: smaller numbers in names are no periods */
#define MIN_COHERENCE 0.6

static double
tolerance(const struct frequencies *all, size_t k)
{
	return fmax(MIN_RATIO_TOLERANCE, 3 * all->error[k]);
}

static void
measure_ratios(const struct sets *sets, const size_t *set, size_t n, struct frequencies *all)
{
	const struct field *field = &sets->field[sets->fringe[set[0]].axis];
	const struct fringe_set *finest;

	for (size_t k = 1; k < n; k++)
		if (sets->fringe[set[k]].fringes > sets->fringe[set[all->finest]].fringes)
			all->finest = k;
	finest = &sets->fringe[set[all->finest]];
	for (size_t k = 0; k < n; k++) {
		struct growth growth;

		all->ratio[k] = 1;
		all->error[k] = 0;
		if (k == all->finest)
			continue;
		fringeprobe_rows()->growth_find(field->lines, field->length, finest->phase,
		    sets->fringe[set[k]].phase, &growth);
		all->ratio[k] = growth.ratio;
		all->error[k] = growth.error;
		if (sets->fringe[set[k]].steps.n == 3)
			all->error[k] += THREE_STEP_ERROR_RAD / growth.spread;
		all->error[k] += growth.wobble;
	}
}

/* A number that all names of a set have in common: the one before the last, or the last one. */
static bool
common_number(const struct sets *sets, const struct fringe_set *set, bool last, double *out)
{
	for (size_t k = 0; k < set->steps.n; k++) {
		const char *name = sets->image[set->steps.image[k]]->name;
		size_t n = names_stem(name);
		double v;

		while (last && name[n] >= '0' && name[n] <= '9')
			n++;
		if (!names_number(name, n, &v) || !(v > 0) || (k && v != *out))
			return false;
		*out = v;
	}
	return true;
}

/* Do the names' numbers have the measured ratio, as counts or as periods? */
static bool
take_names(const struct sets *sets, const size_t *set, size_t n, bool last, struct frequencies *all)
{
	double v[SETS_MOST];
	bool counts = true, periods = true;

	for (size_t k = 0; k < n; k++) {
		if (!common_number(sets, &sets->fringe[set[k]], last, &v[k]))
			return false;
		for (size_t j = 0; j < k; j++)
			if (v[j] == v[k])
				return false;
	}
	for (size_t k = 0; k < n; k++) {
		double at = v[k] / v[all->finest], limit = 2 * tolerance(all, k);

		counts = counts && fabs(at - all->ratio[k]) < limit;
		periods = periods && fabs(1 / at - all->ratio[k]) < limit && v[k] >= MIN_PERIOD_PX;
	}
	if (!counts && !periods)
		return false;
	all->source = FREQUENCY_NAMES;
	all->periods = periods;
	for (size_t k = 0; k < n; k++)
		all->value[k] = v[k];
	return true;
}

static double
common_divisor(double a, double b)
{
	while (b > 0.5) {
		double rest = fmod(a, b);

		a = b;
		b = rest;
	}
	return a;
}

/* Are all frequencies count/finest, or all periods count/finest (inverse), for whole counts? */
static bool
fits_whole(const struct frequencies *all, size_t n, size_t finest, bool inverse)
{
	bool other = false;

	for (size_t k = 0; k < n; k++) {
		double ratio = inverse ? 1 / all->ratio[k] : all->ratio[k];
		double count = round(ratio * (double)finest), at = count / (double)finest;

		if (!(count >= 1) ||
		    fabs((inverse ? 1 / at : at) - all->ratio[k]) > tolerance(all, k))
			return false;
		other |= k != all->finest && count == (double)finest;
	}
	return !other;
}

/* The smallest whole number of the finest set, if no other less than twice as large fits; or 0. */
static size_t
find_whole(const struct frequencies *all, size_t n, bool inverse)
{
	size_t found = 0;

	for (size_t finest = 1; finest <= MAX_COUNT && !(found && finest >= 2 * found); finest++) {
		if (!fits_whole(all, n, finest, inverse))
			continue;
		if (found)
			return 0;
		found = finest;
	}
	return 2 * found <= MAX_COUNT ? found : 0;
}

/* Small counts of this ratio; or else, of three and more sets, small periods, of which the counts
 * are those over their least common multiple. */
static void
take_whole_numbers(size_t n, struct frequencies *all)
{
	size_t found = find_whole(all, n, false);
	double period[SETS_MOST], multiple = 1;

	if (found)
		for (size_t k = 0; k < n; k++)
			all->value[k] = round(all->ratio[k] * (double)found);
	all->source = found ? FREQUENCY_RATIO : FREQUENCY_UNKNOWN;
	if (found || n < 3 || !(found = find_whole(all, n, true)))
		return;
	for (size_t k = 0; k < n; k++) {
		period[k] = round((double)found / all->ratio[k]);
		multiple *= period[k] / common_divisor(multiple, period[k]);
	}
	for (size_t k = 0; k < n && multiple < 1e9; k++) {
		all->value[k] = multiple / period[k];
		all->source = FREQUENCY_RATIO;
	}
}

/* Periods out of the columns that a Gray code counts in a period of the first set. */
static void
take_columns(const struct gray_code *code, size_t n, struct frequencies *all)
{
	double first = code->cells * all->ratio[0];

	all->source = FREQUENCY_GRAY;
	all->periods = true;
	for (size_t k = 0; k < n; k++) {
		double period = first / all->ratio[k], whole = round(period);

		all->value[k] = fabs(period - whole) < fmax(2e-3 * period, 3 * code->cells_error) ?
		    whole : period;
	}
}

/*
 * Phases a and b of n and m fringes begin together: m a - n b is (m - n) times the phase that both
 * have there. It is looked for among pairs where that is the phase itself.
 */
static void
find_origin(const struct sets *sets, const size_t *set, size_t n, struct frequencies *all)
{
	const struct field *field = &sets->field[sets->fringe[set[0]].axis];
	size_t pixels = field->lines * field->length;
	double sums[3] = { 0 };

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double a = all->value[i], b = all->value[j], d = common_divisor(a, b);
			const float *p = sets->fringe[set[i]].phase;
			const float *q = sets->fringe[set[j]].phase;

			if (all->periods || fabs(b - a - d) > 1e-9)
				continue;
			fringeprobe_rows()->beat_origin(pixels, p, q, (double[3]){ b, a, d }, sums);
		}
	if (sums[2] > 0) {
		all->origin_rad = atan2(sums[1], sums[0]);
		all->origin_coherence = hypot(sums[0], sums[1]) / sums[2];
		all->origin_known = all->origin_coherence > MIN_COHERENCE;
	}
}

void
frequencies_find(const struct sets *sets, const size_t *set, size_t n, const struct gray_code *code,
    struct frequencies *all)
{
	*all = (struct frequencies){ 0 };
	for (size_t k = 0; k < n; k++)
		all->value[k] = (double)NAN;
	measure_ratios(sets, set, n, all);
	if (code && code->cell == GRAY_CELL_COLUMN) {
		take_columns(code, n, all);
		return;
	}
	if (n < 2)
		return;
	if (!take_names(sets, set, n, false, all) && !take_names(sets, set, n, true, all))
		take_whole_numbers(n, all);
	if (all->source != FREQUENCY_UNKNOWN && !code)
		find_origin(sets, set, n, all);
}
