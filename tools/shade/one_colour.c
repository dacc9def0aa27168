#include "one_colour.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

#define STEP 4			/* one pixel of so many along rows and columns */
#define POINTS_LEAST 100	/* fewer say too little */
/*
 * A surface has more than one colour where at least such a share of its points lies within the
 * range, be it the tip of something. A flat plate in the range of what stood on it lies at the
 * range's end, within a few hundredths of its extent, and not BESIDE; ranges in another unit leave
 * most points there. What all frames show counts: an object may come later, before a background
 * that is out of range.
 */
#define INSIDE_LEAST 1e-4
#define BESIDE_LEAST 0.1
#define BESIDE 0.1		/* of the range's extent */
#define BEYOND_MOST 0.1		/* of what lies within: more is the noise of what lies at the end */
#define CELLS_LEAST 3		/* of SHADE_CELLS: half a level of 256, of what is not one number */

/* The value's cell of the range, the first or last one where it lies outside. */
static size_t
cell_of(float value, float low, float high)
{
	float cell = (value - low) / (high - low) * SHADE_CELLS;

	return cell > 0 ? cell < SHADE_CELLS ? (size_t)cell : SHADE_CELLS - 1 : 0;
}

/* Several threads may. */
static void
raise_to(float *most, float value)
{
	float old;

	__atomic_load(most, &old, __ATOMIC_RELAXED);
	while (value > old && !__atomic_compare_exchange(most, &old, &value, true,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void
one_colour_look(const struct run *run, const struct frame *in, size_t y0, size_t y1)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct colour_counts *counts = &priv->counts;
	float low = priv->low, high = priv->high, away = (float)BESIDE * (high - low);
	size_t n = 0, inside = 0, below = 0, above = 0;
	uint64_t cells[SHADE_CELLS / 64] = { 0 };
	uint32_t set = 0, unset = 0;
	float depth = 0, beyond = 0;

	if (!p->range.n || priv->value == NO_CHANNEL)
		return;
	for (size_t y = (y0 + STEP - 1) / STEP * STEP; y < y1; y += STEP) {
		const float *value = frame_floats(in, priv->value, y);

		for (size_t x = 0; x < in->head.w; x += STEP) {
			size_t cell = cell_of(value[x], low, high);
			float from_end = fminf(value[x] - low, high - value[x]);
			uint32_t bits;

			if (!shade_there(value[x]))
				continue;
			memcpy(&bits, &value[x], sizeof(bits));
			set |= bits;
			unset |= ~bits;
			cells[cell / 64] |= (uint64_t)1 << cell % 64;
			n++;
			depth = fmaxf(depth, from_end);
			beyond = fmaxf(beyond, -from_end);
			inside += (value[x] > low) & (value[x] < high);
			below += value[x] < low - away;
			above += value[x] > high + away;
		}
	}
	for (size_t i = 0; i < SHADE_CELLS / 64; i++)
		if (cells[i])
			__atomic_fetch_or(&counts->cells[i], cells[i], __ATOMIC_RELAXED);
	raise_to(&counts->depth, depth);
	raise_to(&counts->beyond, beyond);
	__atomic_fetch_or(&counts->set, set, __ATOMIC_RELAXED);
	__atomic_fetch_or(&counts->unset, unset, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->points, n, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->inside, inside, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->below, below, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->above, above, __ATOMIC_RELAXED);
}

/* Does so little of the range hold all values that it shows one colour? What is one number, such as
 * an ideal plane, has one colour in any range. */
static bool
warn_wide(const struct parameters *p, const struct colour_counts *counts)
{
	double low = p->range.v[0], cell = (p->range.v[1] - p->range.v[0]) / SHADE_CELLS;
	size_t first = SHADE_CELLS, end = 0;

	for (size_t i = 0; i < SHADE_CELLS; i++)
		if (counts->cells[i / 64] >> i % 64 & 1) {
			first = first < i ? first : i;
			end = i + 1;
		}
	if (end >= first + CELLS_LEAST || !(counts->set & counts->unset))
		return false;
	warn("--range", "all of the surface lies within %.4g to %.4g, of %g to %g: it shows one "
	    "colour; is the range in the unit of the values?", low + cell * (double)first,
	    low + cell * (double)end, p->range.v[0], p->range.v[1]);
	return true;
}

int
one_colour_end(struct run *run)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	const struct colour_counts *counts = &priv->counts;
	double n = (double)counts->points;

	if (counts->points < POINTS_LEAST || !p->range.n)
		return 0;
	if (counts->beyond <= (float)BEYOND_MOST * counts->depth && warn_wide(p, counts))
		return 0;
	if ((double)counts->inside >= INSIDE_LEAST * n ||
	    (double)(counts->below + counts->above) < BESIDE_LEAST * n)
		return 0;
	warn("--range", "%.0f %% of the surface lie far %s %g to %g, and nothing within: it shows "
	    "one colour; is the range in the unit of the values?",
	    100 * (double)(counts->below + counts->above) / n,
	    !counts->below ? "above" :
	    !counts->above ? "below" : "outside of", p->range.v[0], p->range.v[1]);
	return 0;
}
