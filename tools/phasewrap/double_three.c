#include "double_three.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "double_three.block.h"
#include "fringe_sums.h"
#include "phasewrap.px.h"

#define SAME 0.01		/* rad */
#define DOUBLE_OPPOSITE 1e-3f		/* the sum of two unit vectors that has no direction */

/* How far apart the angles are, modulo a third of a turn. */
static double
apart(double a, double b)
{
	return fabs(remainder(a - b, 2 * M_PI / 3));
}

/* Do three shifts stand a third of a turn apart? */
static bool
are_thirds(const double *shift_rad)
{
	for (size_t i = 0; i < 3; i++) {
		double step = fabs(remainder(shift_rad[(i + 1) % 3] - shift_rad[i], 2 * M_PI));

		if (fabs(step - 2 * M_PI / 3) > SAME)
			return false;
	}
	return true;
}

/* Puts the images into two sets, by their shifts. */
static int
split(const struct capture_fringe *fringe, struct double_three *out)
{
	size_t n[2] = { 0 };
	char name[CAPTURE_SET_NAME_SIZE];

	for (size_t i = 0; i < fringe->n; i++) {
		size_t h = apart(fringe->shift_rad[i], fringe->shift_rad[0]) > SAME;

		if (fringe->n != 6 || n[h] == 3)
			break;
		out->plane[h][n[h]] = fringe->plane[i];
		out->shift_rad[h][n[h]++] = fringe->shift_rad[i];
	}
	if (n[0] != 3 || n[1] != 3 || !are_thirds(out->shift_rad[0]) ||
	    !are_thirds(out->shift_rad[1]) ||
	    fabs(apart(out->shift_rad[0][0], out->shift_rad[1][0]) - M_PI / 3) > SAME)
		return fail("--kind", "double wants two sets of three steps of 120 degrees, 60 "
		    "degrees apart, as --shift=-120,0,120,-60,60,180: those of %s are no such",
		    capture_set_name(fringe, name));
	for (size_t h = 0; h < 2; h++)
		out->half[h] = (struct capture_fringe){ .axis = fringe->axis,
			.period_px = fringe->period_px, .n = 3, .plane = out->plane[h],
			.shift_rad = out->shift_rad[h] };
	return 0;
}

int
double_three_plan(struct phasewrap *wrap)
{
	size_t n = wrap->captures.fringes;

	wrap->halves = calloc(n + 1, sizeof(*wrap->halves));
	if (!wrap->halves)
		return fail_memory();
	if (n == 0)
		return fail("--kind", "double wants six images of a period");
	for (size_t k = 0; k < n; k++) {
		struct double_three *own = &wrap->halves[k];

		if (split(&wrap->captures.fringe[k], own) < 0)
			return -1;
		for (size_t h = 0; h < 2; h++)
			if (phase_shift_weights_solve(&own->half[h], wrap->sign, wrap->origin_rad,
			    &own->fit[h]) < 0)
				return -1;
	}
	return 0;
}

void
double_three_forget(struct phasewrap *wrap)
{
	for (size_t k = 0; wrap->halves && k < wrap->captures.fringes; k++)
		for (size_t h = 0; h < 2; h++)
			phase_shift_weights_free(&wrap->halves[k].fit[h]);
	free(wrap->halves);
	wrap->halves = NULL;
}

/* The mean of two phases, the short way round: where the sum of their unit vectors points. */
static void
join(const float (*restrict c)[TILE_SPAN], const float (*restrict s)[TILE_SPAN],
    struct tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F cosine = c[0][x] + c[1][x], sine = s[0][x] + s[1][x];
		PX_F length = phasewrap_amplitude(sine, cosine);

		tile->bad[x] |= !(length > DOUBLE_OPPOSITE);
		tile->c[x] = cosine / length;
		tile->s[x] = sine / length;
	}
}

void
double_three_wrap(const struct phasewrap *wrap, const struct frame *in, struct frame *out,
    size_t y, size_t x, size_t n, struct tile *tile)
{
	float c[2][TILE_SPAN], s[2][TILE_SPAN];

	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		const struct double_three *own = &wrap->halves[k];

		for (size_t h = 0; h < 2; h++) {
			fringe_sums_of_set(in, &own->half[h], &own->fit[h], wrap->limits, y, x, n,
			    tile, c[h], s[h]);
			for (size_t i = 0; i < wrap->captures.codes; i++)
				for (size_t p = 0; wrap->reference[i] == k && p < n; p++)
					tile->threshold[i][p] =
					    (h ? tile->threshold[i][p] : 0) + tile->mean[p] / 6;
		}
		join(c, s, tile, n);
		tile_write_set(tile, wrap->vector, out, k, y, x, n);
	}
}
