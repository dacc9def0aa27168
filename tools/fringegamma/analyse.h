/* From a measurement's images to what was found of each set of fringes, or of flats. */
#ifndef ANALYSE_H
#define ANALYSE_H

#include "report.h"
#include "run/run.h"

struct analysis {
	double most;			/* a sample that reaches it is saturated */
	double least_swing;		/* NaN: see pixels_take() */
	long highest;			/* harmonic; LONG_MIN: all that are seen, 10 at most */
	double sign, origin_rad;	/* of the shifts */
	double full;			/* of levels */
	bool vary;			/* harmonics over the picture */
};

/* Of one set of fringes. -1 after fail(). Free with analyse_free, also after a failure. */
int analyse_fringes(struct run *, const struct analysis *, const struct frame *,
    const struct capture_fringe *, struct response_levels, struct finding *out);
/* Of flats, in the order of their levels. */
int analyse_flats(const struct analysis *, const struct frame *, const struct numbers *level,
    struct response_levels, struct finding *out);
void analyse_free(struct finding *);
/* The table of the finding whose fringes are blurred least. -1 after fail(), NULL where none was
 * made. */
const struct finding *analyse_table(const struct findings *, double *table);

#endif
