#include "direction.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "phasewrap.px.h"
#include "pixel_wave.h"

#define PIXELS 1024		/* on the coarse grid, about */
#define LEAST 200		/* pairs of valid neighbours from which on they tell something */
#define FALLING 0.85		/* of all differences, by size: right captures 0 to 0.1 */
#define ACROSS 0.5		/* of the fall, what the phase may change in the other direction */

int
direction_plan(struct direction *direction, const struct phasewrap *wrap,
    const struct frame_head *head)
{
	const struct capture_set *captures = &wrap->captures;
	const struct capture_fringe *fringe = captures->fringe;
	size_t step;

	direction_free(direction);
	/* a Gray code tells unwrap2f what fits */
	direction->off |= !captures->fringes || captures->codes > 0 || wrap->halves ||
	    wrap->exposures.n > 1;
	if (direction->off)
		return 0;
	direction->set = 0;
	for (size_t k = 1; k < captures->fringes; k++)
		if (fringe[k].axis == fringe[0].axis &&
		    fringe[k].period_px < fringe[direction->set].period_px)
			direction->set = k;
	direction->off = fringe[direction->set].two_plus_one;
	if (direction->off)
		return 0;
	step = coarse_grid_step(head->w, head->h, PIXELS);
	step = step < 2 ? 2 : step;	/* room for the row below */
	direction->grid = coarse_grid_every(head->w, head->h, step);
	direction->pixel =
	    malloc(coarse_grid_pixels(&direction->grid) * sizeof(*direction->pixel));
	if (!direction->pixel)
		return fail_memory();
	for (size_t i = 0; i < coarse_grid_pixels(&direction->grid); i++)
		direction->pixel[i].cosine = direction->pixel[i].below_cosine = NAN;
	return 0;
}

void
direction_free(struct direction *direction)
{
	free(direction->pixel);
	direction->pixel = NULL;
}

static void
store(float value, float *to)
{
	__atomic_store(to, &value, __ATOMIC_RELAXED);
}

/* Bands may share rows: both store the same. */
void
direction_row(const struct direction *direction, const struct phasewrap *wrap,
    const struct frame *in, const struct frame *out, size_t y)
{
	const struct capture_fringe *fringe = &wrap->captures.fringe[direction->set];
	const struct phase_shift_fit *fit = &wrap->fit[direction->set];
	bool below = y % direction->grid.step == 1;
	const float *made;

	if (direction->off || y % direction->grid.step > 1)
		return;
	made = frame_floats(out, 0, y);
	for (size_t i = 0; i < direction->grid.columns; i++) {
		size_t x = i * direction->grid.step;
		struct direction_pixel *to =
		    &direction->pixel[coarse_grid_row(&direction->grid, y) + i];
		struct pixel_wave wave, next;

		if (x + 1 >= in->head.w || px_isnan(made[x]) || px_isnan(made[x + 1]))
			continue;
		wave = pixel_wave_fit(fringe, fit, in, y, x);
		store(wave.cosine, below ? &to->below_cosine : &to->cosine);
		store(wave.sine, below ? &to->below_sine : &to->sine);
		if (below)
			continue;
		next = pixel_wave_fit(fringe, fit, in, y, x + 1);
		store(next.cosine, &to->beside_cosine);
		store(next.sine, &to->beside_sine);
	}
}

/* Sums over all pairs of neighbours in one direction of the sine of the phase difference, times
 * both amplitudes, so that the dark does not count. */
struct slope {
	double rising, falling;
};

static void
add_pair(double cosine, double sine, double next_cosine, double next_sine, struct slope *slope)
{
	double turn = cosine * next_sine - sine * next_cosine;

	slope->rising += fmax(turn, 0);
	slope->falling += fmax(-turn, 0);
}

void
direction_warn(struct direction *direction, const struct phasewrap *wrap)
{
	bool along_y;
	struct slope x = { 0 }, y = { 0 }, along, across;
	size_t n = 0;

	if (direction->off)
		return;
	direction->off = true;
	for (size_t i = 0; i < coarse_grid_pixels(&direction->grid); i++) {
		const struct direction_pixel *p = &direction->pixel[i];

		if (px_isnan(p->cosine) || px_isnan(p->below_cosine))
			continue;
		n++;
		add_pair((double)p->cosine, (double)p->sine, (double)p->beside_cosine,
		    (double)p->beside_sine, &x);
		add_pair((double)p->cosine, (double)p->sine, (double)p->below_cosine,
		    (double)p->below_sine, &y);
	}
	along_y = wrap->captures.fringe[direction->set].axis == 'y';
	along = along_y ? y : x;
	across = along_y ? x : y;
	if (n < LEAST || !(along.falling > FALLING * (along.rising + along.falling)) ||
	    fabs(across.rising - across.falling) > ACROSS * (along.falling - along.rising))
		return;
	warn("--sign", "is not stated, and with +1 the phase falls from %s of the picture "
	    "(%.0f %%): give --sign -1, or +1 where camera or projector stands upside down or the "
	    "picture is mirrored", along_y ? "top to bottom" : "left to right",
	    100 * along.falling / (along.rising + along.falling));
}
