/* Colour images become planes, as the stage that reads them wants (enum colour). */
#ifndef COLOUR_H
#define COLOUR_H

#include "run/stage.h"

/* Replaces the frame by one of the planes that run->colour asks for. -1 after fail(). */
int colour_reduce(const struct run *, struct frame **);

#endif
