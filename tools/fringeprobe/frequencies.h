/* How the fringe sets' frequencies are related: counts of fringes, or periods of the projector. */
#ifndef FREQUENCIES_H
#define FREQUENCIES_H

#include "gray.h"

enum frequency_source {
	FREQUENCY_UNKNOWN,		/* no numbers are known */
	FREQUENCY_RATIO,		/* counts: the only small whole numbers of this ratio */
	FREQUENCY_NAMES,		/* counts, or periods, that names say, of this ratio */
	FREQUENCY_GRAY			/* periods: a Gray code counts projector columns */
};

struct frequencies {
	enum frequency_source source;
	bool periods;			/* value is in projector pixels; else counts of fringes */
	double value[SETS_MOST];	/* of the sets chosen, in their order */
	double ratio[SETS_MOST];	/* to the finest of them, 0 to 1; NaN: unknown */
	double error[SETS_MOST];
	size_t finest;
	bool origin_known;		/* by the beats: */
	double origin_rad;		/* phase of all sets where they begin, by their shifts */
	double origin_coherence;
};

/* Of n sets along one axis; code: along that axis, or NULL. -1 after fail(). */
int frequencies_find(const struct sets *, const size_t *set, size_t n, const struct gray_code *code,
    struct frequencies *);

#endif
