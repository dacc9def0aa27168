/* A picture of three bits a pixel: its background, and a first smoothing of its bits. */
#ifndef UNDITHER3_FIRST_SMOOTHING_H
#define UNDITHER3_FIRST_SMOOTHING_H

#include "undither3.h"

#define CLOSE 2 /* px; dots of a surface are nowhere farther apart than twice this */

/* From job->bit to sine, cosine, inside, rest, order, right and down; the smoothed sine and
 * cosine are left in job->smooth. */
void first_smoothing(struct job *job);

#endif
