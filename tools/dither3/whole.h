/* Frames that are dithered as a whole: error diffusion, and the search. */
#ifndef DITHER3_WHOLE_H
#define DITHER3_WHOLE_H

#include "dither3.h"

/* For the body of a flow. */
int whole_frame(struct run *, struct frame *in);

#endif
