/* The search for the shifts of a measurement, and what is doubtful about them. */
#include "shift_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "shift_gram.h"
#include "shift_look.h"
#include "shift_ripple.h"

#define LEAST 200		/* of them with fringes */
#define SECTOR_LEAST 0.02	/* of them in each sector: less than a fringe leaves some out */
#define WEIGHINGS 40		/* at most, where the phases are taken to be spread evenly */
#define WEIGHED 1e-4		/* rad that a shift may change by in the last round but one */
#define OVERLAP (4 / 3.0)	/* 1 over the root mean square of overlapping blocks' shares */
#define UNCERTAIN (2 * M_PI / 180)	/* by what the picture shows, */
#define UNCERTAIN_LIGHT (5 * M_PI / 180)	/* and with what it cannot show */
#define FEW_TURNS 3.0		/* of the phase along a lit piece of a line */
#define SENSE_LEAST 1.1
#define FLICKER 0.004		/* rms of what the fit leaves of the images' mean levels */

int
shift_search_plan(struct shift_search *search, const struct phasewrap *wrap, struct meta *meta)
{
	size_t n = 0, k = 0;
	int status;

	shift_search_free(search);
	if (!search->on)
		return 0;
	for (size_t f = 0; f < wrap->captures.fringes; f++) {
		const struct capture_fringe *fringe = &wrap->captures.fringe[f];

		if (fringe->two_plus_one)
			return fail("--shift", "auto is for steps, and these are 2+1 images");
		if (fringe->n > SHIFT_IMAGES_MOST)
			return fail("--shift", "auto finds those of %d images at most, not %zu",
			    SHIFT_IMAGES_MOST, fringe->n);
		n += fringe->n;
	}
	if (n == 0)
		return fail("--shift", "without fringe images there are none to find");
	search->expected = calloc(n, sizeof(*search->expected));
	if (!search->expected)
		return fail_memory();
	for (size_t f = 0; f < wrap->captures.fringes; f++)
		for (size_t i = 0; i < wrap->captures.fringe[f].n; i++)
			search->expected[k++] = wrap->captures.fringe[f].shift_rad[i];
	status = meta_set_numbers(meta, "found_shift_rad", search->expected, n);
	return status;
}

void
shift_search_free(struct shift_search *search)
{
	free(search->expected);
	search->expected = NULL;
}

static void
print(const struct capture_fringe *fringe, const struct shift_found *found)
{
	char set[CAPTURE_SET_NAME_SIZE], list[SHIFT_IMAGES_MOST * 16], light[64] = "";
	bool free_of_pixels = fringe->n >= SHIFT_FREE_LEAST;
	size_t used = 0;

	if (free_of_pixels)
		snprintf(light, sizeof(light), " by the pixels and up to %.2g by the light",
		    found->total_rad * 180 / M_PI);
	for (size_t i = 0; i < fringe->n; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, " %.2f",
		    fringe->shift_rad[i] * 180 / M_PI);
	note(capture_set_name(fringe, set),
	    "found the shifts%s degrees, +- %.2g%s, in %zu rounds%s", list,
	    (free_of_pixels ? found->error_rad : found->total_rad) * 180 / M_PI, light,
	    found->rounds, found->assumed ?
	    ", if the amplitude does not depend on the phase" : "");
}

/* What the fit with the shifts found leaves of the images' mean levels, as a root mean square over
 * the mean of all: light that differs from image to image, and not from pixel to pixel. */
static double
flicker_of(const struct shift_look *look, const struct phase_shift_fit *fit)
{
	const double *level = look->level;
	double mean = 0, c = 0, s = 0, square = 0, own = 0;
	size_t n = look->fringe->n;

	for (size_t i = 0; i < n; i++)
		own += level[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = level[i] - level[0];

		mean += d * (double)fit->weights[i].mean / (double)n;
		c += d * (double)fit->weights[i].c;
		s += d * (double)fit->weights[i].s;
	}
	for (size_t i = 0; i < n; i++) {
		double left = level[i] - level[0] - mean - c * (double)fit->model[i].cosine -
		    s * (double)fit->model[i].sine;

		square += left * left;
	}
	return n > 3 && own > 0 ? sqrt(square / (double)(n - 3)) / own : 0;
}

/* What the light of n images, of which the fit leaves `flicker`, can do to their shifts, in rad. Of
 * 60 simulated sets of 5 to 12 images, whose light differed by 0 to 3 %, the worst shift was off by
 * 0.3 to 2 degrees for each per cent of it. The fit has n - 3 values to tell the light from: of two
 * it may leave a third of what there is. */
static double
light_error(size_t n, double flicker)
{
	return 2 * flicker * (1 + 4.0 / (double)(n - 3));
}

static void
warn_doubts(struct shift_search *search, const struct capture_fringe *fringe,
    const struct shift_found *found, double flicker)
{
	char set[CAPTURE_SET_NAME_SIZE];
	bool lamp = fringe->n >= SHIFT_FREE_LEAST && flicker > FLICKER;

	capture_set_name(fringe, set);
	if (search->warned)
		return;
	if (found->assumed && !found->checked) {
		warn("--shift", "no lit part of the picture has a fringe and more across: the "
		    "shifts found for %s may be many degrees off: give them, or take five "
		    "different ones and more", set);
		search->warned = true;
	} else if (!(found->error_rad <= UNCERTAIN) ||
	    (found->total_rad > UNCERTAIN_LIGHT && !lamp)) {
		warn("--shift", "the shifts found for %s are uncertain by %.2g degrees%s", set,
		    found->total_rad * 180 / M_PI, found->assumed ?
		    ": five different ones and more tell better" : "");
		search->warned = true;
	} else if (lamp || flicker > FLICKER) {
		warn("--shift", "the images of %s differ in brightness by %.1f %%, as a whole: if "
		    "it is the lamp or the exposure, the shifts found are off by up to %.2g "
		    "degrees", set, 100 * flicker, found->total_rad * 180 / M_PI);
		search->warned = true;
	} else if (found->sense < SENSE_LEAST) {
		warn("--shift", "the shifts found for %s are as near to the expected ones in one "
		    "sense as in the other: the phase may run backwards", set);
		search->warned = true;
	}
}

/* Solves the fit of a set with the shifts that were found, whose sense is that of the captures. */
static int
apply(struct phasewrap *wrap, size_t k, const struct shift_found *found)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];

	for (size_t i = 0; i < fringe->n; i++)
		fringe->shift_rad[i] = wrap->sign * found->shift_rad[i];
	phase_shift_weights_free(&wrap->fit[k]);
	return phase_shift_weights_solve(fringe, wrap->sign, wrap->origin_rad, &wrap->fit[k]);
}

/* By the sums as they are. */
static int
find_once(struct phasewrap *wrap, size_t k, const double *own, const struct shift_look *look,
    struct shift_found *found)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];
	char set[CAPTURE_SET_NAME_SIZE];

	capture_set_name(fringe, set);
	if (!shift_gram_find(look->block, fringe->n, own, found))
		return fail("--shift", "the images of %s tell no shifts: too few pixels have "
		    "fringes, or images are alike", set);
	if (!shift_gram_settled(found))
		return fail("--shift", "the shifts of %s do not settle: they still change by %.2g "
		    "degrees after %zu rounds: give them", set, found->settled_rad * 180 / M_PI,
		    found->rounds);
	return apply(wrap, k, found);
}

/* Are there enough pixels, of all phases? */
static int
check_phases(const struct shift_look *look, const struct phase_shift_fit *fit, const char *set)
{
	size_t used;
	double share = shift_look_emptiest_sector(look, fit, &used);

	if (used < LEAST)
		return fail("--shift", "too few pixels of %s have fringes, to tell the shifts: "
		    "give them", set);
	return share >= SECTOR_LEAST ? 0 : fail("--shift", "the phases of %s leave a part of the "
	    "circle out: of less than a fringe nothing tells the shifts from the phase: give them",
	    set);
}

static double
farthest(const double *a, const double *b, size_t n)
{
	double far = 0;

	for (size_t i = 0; i < n; i++)
		far = fmax(far, fabs(remainder(a[i] - b[i], 2 * M_PI)));
	return far;
}

/* Three and four images: the shifts of which the phase has no ripple, where it tells more than the
 * even spread of the phases does. */
static int
smooth(struct run *run, struct phasewrap *wrap, size_t k, const struct shift_look *look,
    float least_amplitude, struct shift_found *found)
{
	struct shift_found better = *found;
	struct shift_ripple ripple;

	if (shift_ripple_refine(run, look->in, look->fringe, look->max_value,
	    shift_look_dark(look, least_amplitude), better.shift_rad, &ripple) < 0)
		return -1;
	found->checked = ripple.known;
	if (!ripple.known || (ripple.error_rad > found->error_rad &&
	    ripple.moved_rad < 2 * ripple.error_rad)) {
		found->total_rad = hypot(found->error_rad, ripple.systematic_rad);
		return 0;
	}
	*found = better;
	found->checked = true;
	/* a surface may bend as a ripple of so few turns does */
	found->error_rad = ripple.turns < FEW_TURNS ?
	    hypot(ripple.error_rad, ripple.moved_rad) : ripple.error_rad;
	found->total_rad = hypot(found->error_rad, ripple.systematic_rad);
	return apply(wrap, k, found);
}

static int
find(struct shift_search *search, struct run *run, struct phasewrap *wrap, size_t k,
    const double *expected, struct shift_look *look, float least_amplitude)
{
	struct capture_fringe *fringe = &wrap->captures.fringe[k];
	char set[CAPTURE_SET_NAME_SIZE];
	double own[SHIFT_IMAGES_MOST];
	struct shift_found found, before;
	double moved = 0, flicker;

	capture_set_name(fringe, set);
	for (size_t i = 0; i < fringe->n; i++) {
		own[i] = wrap->sign * expected[i];
		look->level[i] = 0;
		for (size_t b = 0; b < SHIFT_BLOCKS; b++)
			look->level[i] += look->block[b].image[i];
	}
	if (find_once(wrap, k, own, look, &found) < 0 ||
	    check_phases(look, &wrap->fit[k], set) < 0)
		return -1;
	for (size_t round = 0; fringe->n < SHIFT_FREE_LEAST && round < WEIGHINGS; round++) {
		bool last = round == WEIGHINGS - 1 || (round > 0 && moved < WEIGHED);

		before = found;
		if (shift_look_weigh(look, run, &wrap->fit[k], least_amplitude, last) < 0 ||
		    find_once(wrap, k, own, look, &found) < 0)
			return -1;
		moved = farthest(found.shift_rad, before.shift_rad, fringe->n);
		found.rounds = round + 1;
		found.error_rad *= OVERLAP;
		if (last)
			break;
	}
	found.total_rad = found.error_rad;
	if (check_phases(look, &wrap->fit[k], set) < 0)
		return -1;
	if (found.assumed && fringe->n >= SHIFT_FREE_LEAST)
		return fail("--shift", "the %zu images of %s have no five shifts that are "
		    "different enough to be found: give them, or take images over the whole turn",
		    fringe->n, set);
	if ((fringe->n < SHIFT_FREE_LEAST && smooth(run, wrap, k, look, least_amplitude, &found) <
	    0))
		return -1;
	flicker = flicker_of(look, &wrap->fit[k]);
	if (fringe->n >= SHIFT_FREE_LEAST)
		found.total_rad = hypot(found.error_rad, light_error(fringe->n, flicker));
	if (search->verbose)
		print(fringe, &found);
	warn_doubts(search, fringe, &found, flicker);
	return 0;
}

static int
find_set(struct shift_search *search, struct run *run, struct phasewrap *wrap, size_t k,
    const double *expected, const struct frame *in)
{
	struct shift_look look = { .in = in, .fringe = &wrap->captures.fringe[k],
		.max_value = wrap->limits.max_value };
	float least_amplitude = wrap->limits.least_amplitude;
	int status;

	/* fewer grey levels do not tell fringes from noise */
	if (in->head.type != SAMPLE_FLOAT)
		least_amplitude = fmaxf(least_amplitude, 2);
	status = shift_look_begin(&look, run, least_amplitude);
	if (status == 0)
		status = find(search, run, wrap, k, expected, &look, least_amplitude);
	shift_look_free(&look);
	return status;
}

int
shift_search_run(struct shift_search *search, struct run *run, struct phasewrap *wrap,
    const struct frame *in)
{
	size_t n = 0, k = 0;
	double *shift_rad;
	int status = 0;

	if (!search->on)
		return 0;
	for (size_t f = 0; f < wrap->captures.fringes && status == 0; f++) {
		status = find_set(search, run, wrap, f, search->expected + n, in);
		n += wrap->captures.fringe[f].n;
	}
	if (status < 0)
		return -1;
	shift_rad = calloc(n, sizeof(*shift_rad));
	if (!shift_rad)
		return fail_memory();
	for (size_t f = 0; f < wrap->captures.fringes; f++)
		for (size_t i = 0; i < wrap->captures.fringe[f].n; i++)
			shift_rad[k++] = wrap->captures.fringe[f].shift_rad[i];
	status = meta_set_numbers(run_output_meta(run), "found_shift_rad", shift_rad, n);
	free(shift_rad);
	return status;
}
