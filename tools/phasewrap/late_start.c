#include "late_start.h"

#include <math.h>

#include "base/fail.h"

#define SEEN 0.06	/* turns of offset that unwrap2f tells from none */

/* The orders of set i that follow from the beat with set k, if set i began so many images late. */
static double
orders_off(const struct capture_fringe *i, const struct capture_fringe *k, size_t late)
{
	return (double)late / (double)i->n * i->period_px / fabs(k->period_px - i->period_px);
}

/*
 * How many images late the fringe set may have begun without an offset between it and any other
 * period along its axis, the fewest; 0: any such start would show, or there is a Gray code to hold
 * the phases against, or nothing is known. orders: by how many fringes the orders would be off.
 */
static size_t
late_start_unseen(const struct capture_set *captures, size_t set, double *orders)
{
	const struct capture_fringe *own = &captures->fringe[set];

	for (size_t a = 0; a < captures->codes; a++)
		if (captures->code[a].axis == own->axis)
			return 0;
	for (size_t late = 1; late < own->n && !own->two_plus_one; late++) {
		bool seen = false, compared = false;

		for (size_t k = 0; k < captures->fringes; k++) {
			const struct capture_fringe *other = &captures->fringe[k];
			double off = orders_off(own, other, late);

			if (k == set || other->axis != own->axis || !isfinite(off))
				continue;
			if (!compared)
				*orders = round(off);
			compared = true;
			seen |= fabs(off - round(off)) > SEEN;
		}
		if (compared && !seen)
			return late;
	}
	return 0;
}

void
late_start_note(const struct capture_set *captures)
{
	for (size_t k = 0; k < captures->fringes; k++) {
		const struct capture_fringe *fringe = &captures->fringe[k];
		char name[CAPTURE_SET_NAME_SIZE];
		double orders;
		size_t late = late_start_unseen(captures, k, &orders);

		if (!late)
			continue;
		note(capture_set_name(fringe, name), "nothing in the images tells whether they "
		    "began %zu of %zu late, or early: fringe orders would be off by %g, and fit",
		    late, fringe->n, orders);
		return;
	}
}
