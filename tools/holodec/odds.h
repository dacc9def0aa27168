/*
 * How certain the order of each pixel is. A wrong order is one of a patch, since pixels follow
 * their neighbours: what tells is the mean by which the stairs of the pixels around are read off
 * those that all orders together would make (mixing.h).
 */
#ifndef HOLODEC_ODDS_H
#define HOLODEC_ODDS_H

#include "growing.h"

/* After growing: fills regions->certainty, 1 where nothing was doubtful, NaN in the background. */
void odds_find(struct run *, struct growing *);

#endif
