/* The parts of a frame into which jumps of a whole turn cut a surface. */
#ifndef HALF_TURN_PARTS_H
#define HALF_TURN_PARTS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/px.h"

struct depthfit;
struct frame;

#define HALF_TURN_SMOOTH 3	/* pixels on each side of a jump that must be alike */
#define HALF_TURN_ALIKE 0.785f	/* rad between neighbours at most, an eighth of a turn */
#define HALF_TURN_JUMP 4.712f	/* rad at least, three quarters of a turn */

/* Are there smooth pixels before and behind the one at d, and a whole turn between? */
static inline bool
half_turn_is_jump(const float *d, ptrdiff_t step)
{
	bool smooth = true;

	for (ptrdiff_t i = 1; i < HALF_TURN_SMOOTH; i++)
		smooth &= px_both(fabsf(d[-i * step] - d[-(i + 1) * step]) < HALF_TURN_ALIKE,
		    fabsf(d[i * step] - d[(i - 1) * step]) < HALF_TURN_ALIKE);
	return px_both(smooth, fabsf(d[0] - d[-step]) > HALF_TURN_JUMP);
}

struct half_turn_found {
	size_t marked;		/* pixels */
	size_t contending;	/* of groups of parts of which nothing tells the right one */
};

/*
 * Marks pixels that may be whole turns off: a part is pixels whose neighbours differ by less than
 * an eighth of a turn; of a group of parts between which the phase jumps, all but one are marked,
 * and specks of a few pixels beside them. That one is the part in which the reference itself is
 * seen, as an area on it; where in none or in several is, the group contends. beyond: w x h, set
 * to 1 or 0. -1 after fail().
 */
int half_turn_parts(const struct frame *in, const struct depthfit *above, unsigned char *beyond,
    struct half_turn_found *);

#endif
