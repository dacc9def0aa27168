/*
 * At a jump of the surface the average around a pixel sees both sides. A pixel that cannot be
 * trusted is compared with the trusted ones nearest to it in eight directions, each carried on to
 * it by its own slope: it stays where the ones that have its phase agree on its order, else it is
 * dropped.
 */
#ifndef UNDITHER3_MEND_H
#define UNDITHER3_MEND_H

#include "window.h"

#define MEND_REACH 8		/* px; how far a trusted neighbour may be */
#define MEND_LEAST 4		/* neighbours that must agree */

/* The turns that the nearest trusted pixel in a direction, carried on to here, speaks for; NaN if
 * there is none, or if it has another phase. */
static float
carry(const struct planes *planes, size_t at, int dx, int dy)
{
	for (int k = 1; k <= MEND_REACH; k++) {
		size_t to = at + (size_t)(k * (dy * (ptrdiff_t)planes->stride + dx));

		if (planes->trusted[to] > 0)
			return undither3_carry(planes->turns[to], planes->right[to],
			    planes->down[to], (float)k, (float)dx, (float)dy,
			    planes->turns[at]);
	}
	return PX_NAN;
}

/* The turns of a pixel that is not trusted; NaN: dropped. */
static float
mend(const struct planes *planes, size_t at)
{
	float turns = PX_NAN;
	int speaking = 0;

	for (int way = 0; way < 9; way++) {
		float said = way == 4 ? PX_NAN : carry(planes, at, way % 3 - 1, way / 3 - 1);

		if (px_isnan(said))
			continue;
		if (px_abs(turns - said) > 0.5f)
			return PX_NAN;
		turns = said;
		speaking++;
	}
	return px_select(speaking < MEND_LEAST || turns < 0.0f, PX_NAN, turns);
}

/* Row y. */
static void
mend_row(const struct planes *planes, size_t y, bool keep, float *turns)
{
	for (size_t x = 0; x < planes->w; x++) {
		size_t at = (y + MARGIN) * planes->stride + x + MARGIN;
		bool stays = keep || planes->trusted[at] > 0 || planes->inside[at] == 0;

		turns[x] = stays ? planes->turns[at] : mend(planes, at);
	}
}

#endif
