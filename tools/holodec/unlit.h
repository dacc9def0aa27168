/*
 * Boundaries of the lowest stairs, where luma does not tell the surface from black: a block's
 * fringes are as much weaker as its pixels are background, which says how many are.
 */
#ifndef HOLODEC_UNLIT_H
#define HOLODEC_UNLIT_H

#include "halving.h"

/* Makes UNTOLD pixels those of the surface, 1, or of the background, 0. */
void unlit_tell(struct run *, struct halving *);

#endif
