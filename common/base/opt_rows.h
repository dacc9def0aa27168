/* What opt.c and opt_help.c share: properties of a table's rows. */
#ifndef OPT_ROWS_H
#define OPT_ROWS_H

#include "base/opt.h"

/* Limits beyond these only keep the arithmetic safe; help and messages leave them out. */
#define OPT_LOW_SAFE 1e-5		/* a least value so near to 0 means: positive */
#define OPT_HIGH_SAFE 1e9

/* Rows of a table; NULL is a table without rows. */
static inline size_t
opt_count(const struct opt *table)
{
	size_t n = 0;

	while (table && table[n].name)
		n++;
	return n;
}

static inline bool
opt_is_angle(const struct opt *opt)
{
	return opt->type == OPT_ANGLE || opt->type == OPT_ANGLES;
}

static inline bool
opt_has_range(const struct opt *opt)
{
	return opt->min != 0.0 || opt->max != 0.0;
}

/* "2 to 4096", "at least 0", "more than 0", or "" where there is no limit to name. */
const char *opt_range_text(const struct opt *, char text[80]);

#endif
