#include "image/pixel_option.h"

#include <math.h>

#include "base/fail.h"

#define APART 0.01	/* a share: options are rounded */

bool
pixel_option_differs(const struct numbers *option, const struct frame_head *head)
{
	for (size_t i = 0; i < 2 && option->n; i++) {
		double given = option->v[i < option->n ? i : 0], own = head->spacing[i];

		if (!(own > 0) || fabs(given / own - 1) <= APART)
			continue;
		warn("--pixel", "says that %s are %g apart, the frame itself %g%s%s: the option "
		    "counts", i ? "rows" : "columns", given, own, *head->unit ? " " : "",
		    head->unit);
		return true;
	}
	return false;
}
