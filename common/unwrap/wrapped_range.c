#include "unwrap/wrapped_range.h"

#define ROUNDING 1.02	/* turns */
#define WHOLE 0.95	/* of a turn */

bool
wrapped_range_fits(double least, double most, double turn)
{
	return most - least <= ROUNDING * turn;
}

bool
wrapped_range_is_turns(double least, double most)
{
	return ((least >= 0 && most <= 1) || (least >= -0.5 && most <= 0.5)) &&
	    most - least > WHOLE;
}
