/* Which of the three images of a 2+1 set is the flat one (methods §2; Zhang 2006 eq 11). */
#ifndef FLATNESS_H
#define FLATNESS_H

#include "run/stage.h"

/*
 * Finds the plane with the least sum |dI/dx| + sum |dI/dy| (the last of equal ones) and turns the
 * three plane numbers round until it stands last: their cyclic order stays. NaN takes no part. The
 * sums are taken row by row, so that they do not depend on threads. -1 after fail().
 */
int flatness_turn(struct run *, const struct frame *, size_t plane[3]);

#endif
