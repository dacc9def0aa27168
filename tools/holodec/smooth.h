/* Where a picture is smooth: no jump and no background near by. */
#ifndef HOLODEC_SMOOTH_H
#define HOLODEC_SMOOTH_H

#include "runs.h"

struct growing;

#define REACH 2 /* pixels around a pixel that must be smooth, none of them background */

/* Of a pixel: trusted from the beginning, or since a round of growing, TRUSTED + round. */
enum { WAITING, TRUSTED, BACKGROUND = 255 };

/* Makes regions->turns, NaN in the background, and regions->state of rests and orders. */
void smooth_find(struct run *run, struct growing *growing);

#endif
