#include "period_conflict.h"

#include <math.h>

#include "base/fail.h"

#define SAME 1e-3		/* of a period: few digits, which change no order */

int
period_conflict_find(struct period_conflict *conflict, const struct temporal_options *options,
    const struct temporal *temporal, const struct frame_head *head)
{
	struct numbers own;

	conflict->found = false;
	if (conflict->off || (!options->period_px.n && !options->count.n))
		return 0;
	if (meta_numbers(&head->meta, "period_px", &own) < 0) {
		if (fail_is_memory())
			return -1;
		fail_clear();		/* what the option is there for */
		return 0;
	}
	for (size_t i = 0; i < temporal->phases && !conflict->found; i++) {
		size_t number = temporal->number[i];

		if (number > own.n || fabs(temporal->period_px[i] / own.v[number - 1] - 1) < SAME)
			continue;
		*conflict = (struct period_conflict){ .found = true, .counted = options->count.n,
			.says_px = temporal->period_px[i], .own_px = own.v[number - 1],
			.number = number };
	}
	numbers_free(&own);
	return 0;
}

void
period_conflict_warn(struct period_conflict *conflict)
{
	if (!conflict->found || conflict->off)
		return;
	conflict->off = true;
	warn(conflict->counted ? "--count" : "--period", "says %.6g px for phase %zu, and the "
	    "frame itself says period_px %.6g: the option counts", conflict->says_px,
	    conflict->number, conflict->own_px);
}
