/* What stages took and are expected to take, for -v and for -d auto. */
#ifndef TIMES_H
#define TIMES_H

#include "run/segment.h"

/* How much longer the processor takes than measured, with fewer threads than were measured. */
double times_fewer_threads(const struct chain *);
/* Expected seconds for a frame; NaN where it is not known. */
double times_expected(const struct link *, bool on_device);
/* " NAME 0.123 ms (0.120 expected)": a frame of a map that ran on that side. */
void times_print(const char *before, const struct link *, bool on_device);
/* Under -v: the processor's times, frames and frames per second. */
void times_report(const struct chain *);

#endif
