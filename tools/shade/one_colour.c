#include "one_colour.h"

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

void
one_colour_look(const struct run *run, const struct frame *in, size_t y0, size_t y1)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	struct colour_counts *counts = &priv->counts;
	float low = priv->low, high = priv->high, away = (float)BESIDE * (high - low);
	size_t n = 0, inside = 0, below = 0, above = 0;

	if (!p->range.n || priv->value == NO_CHANNEL)
		return;
	for (size_t y = (y0 + STEP - 1) / STEP * STEP; y < y1; y += STEP) {
		const float *value = frame_floats(in, priv->value, y);

		for (size_t x = 0; x < in->head.w; x += STEP) {
			n += shade_there(value[x]);
			inside += (value[x] > low) & (value[x] < high);
			below += value[x] < low - away;
			above += value[x] > high + away;
		}
	}
	__atomic_fetch_add(&counts->points, n, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->inside, inside, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->below, below, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counts->above, above, __ATOMIC_RELAXED);
}

int
one_colour_end(struct run *run)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	const struct colour_counts *counts = &priv->counts;
	double n = (double)counts->points;

	if (counts->points < POINTS_LEAST || (double)counts->inside >= INSIDE_LEAST * n ||
	    (double)(counts->below + counts->above) < BESIDE_LEAST * n)
		return 0;
	warn("--range", "%.0f %% of the surface lie far %s %g to %g, and nothing within: it shows "
	    "one colour; is the range in the unit of the values?",
	    100 * (double)(counts->below + counts->above) / n,
	    !counts->below ? "above" :
	    !counts->above ? "below" : "outside of", p->range.v[0], p->range.v[1]);
	return 0;
}
