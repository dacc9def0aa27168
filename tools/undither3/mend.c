#include "mend.h"

#include "undither3.px.h"

/* The turns of the nearest trusted pixel in a direction, carried on to here; NaN if there is none,
 * or if it has another phase. */
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
	int agreeing = 0;

	for (int way = 0; way < 9; way++) {
		float carried = way == 4 ? PX_NAN : carry(planes, at, way % 3 - 1, way / 3 - 1);

		if (px_isnan(carried))
			continue;
		if (px_abs(turns - carried) > 0.5f)
			return PX_NAN;
		turns = carried;
		agreeing++;
	}
	return px_select(agreeing < MEND_LEAST || turns < 0.0f, PX_NAN, turns);
}

void
mend_row(const struct planes *planes, size_t y, bool keep, float *turns)
{
	for (size_t x = 0; x < planes->w; x++) {
		size_t at = (y + MARGIN) * planes->stride + x + MARGIN;
		bool stays = keep || planes->trusted[at] > 0 || planes->inside[at] == 0;

		turns[x] = stays ? planes->turns[at] : mend(planes, at);
	}
}
