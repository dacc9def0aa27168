/* What a picture from the camera takes from the whole frame: the range of values, and the jump. */
#ifndef SHADE_SURVEY_H
#define SHADE_SURVEY_H

#include "shade.h"

/* For the body of a map. -1 after fail(). */
int survey_frame(struct run *run, const struct frame *in);

#endif
