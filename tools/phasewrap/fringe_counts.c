#include "fringe_counts.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define AGREES 1e-4		/* of a period: they are written with few digits */

static int
check_agreement(const struct numbers *count, double field_px, const struct numbers *period_px)
{
	if (period_px->n != count->n)
		return fail_usage("--count", "has %zu numbers, --period %zu", count->n,
		    period_px->n);
	for (size_t i = 0; i < count->n; i++)
		if (!(fabs(period_px->v[i] * count->v[i] / field_px - 1) < AGREES))
			return fail_usage("--period", "%g px is not %g px / %g fringes = %g px",
			    period_px->v[i], field_px, count->v[i], field_px / count->v[i]);
	return 0;
}

int
fringe_counts_apply(const struct numbers *count, double field_px, struct numbers *period_px)
{
	if (count->n == 0 && isnan(field_px))
		return 0;
	if (count->n == 0 || isnan(field_px))
		return fail_usage(count->n ? "--count" : "--field", "wants %s beside it",
		    count->n ? "--field" : "--count");
	if (period_px->n)
		return check_agreement(count, field_px, period_px);
	period_px->v = calloc(count->n, sizeof(*period_px->v));
	if (!period_px->v)
		return fail_memory();
	period_px->n = count->n;
	for (size_t i = 0; i < count->n; i++)
		period_px->v[i] = field_px / count->v[i];
	return 0;
}
