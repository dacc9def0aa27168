/* Can samples be a wrapped phase, by the range that they take? */
#ifndef WRAPPED_RANGE_H
#define WRAPPED_RANGE_H

#include <stdbool.h>

/* Do they span one turn at most, in their own unit, but for noise and rounding? */
bool wrapped_range_fits(double least, double most, double turn);
/* Do they span 0 to 1 or -1/2 to 1/2, as a phase in turns does and one in radians does not? */
bool wrapped_range_is_turns(double least, double most);

#endif
