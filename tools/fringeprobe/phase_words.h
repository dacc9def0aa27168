/* The words of the command that say what the fringe images are. */
#ifndef PHASE_WORDS_H
#define PHASE_WORDS_H

#include "probe.h"

/* The Gray code along the axis of the first set, or the only one; NULL: none. */
const struct gray_code *phase_words_code(const struct probe *);
/* --steps or --kind; periods; --axis; shifts, --sign and --phase-origin. -1 after fail(). */
int phase_words_steps(struct probe *);
int phase_words_periods(struct probe *);
int phase_words_axis(struct probe *);
int phase_words_shifts(struct probe *);

#endif
