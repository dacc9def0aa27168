/* The line detector's loops, compiled once per instruction level. */
#ifndef STEGER_LOOPS_H
#define STEGER_LOOPS_H

#include "feature/line_level.h"

extern const struct line_level steger_loops;

#endif
