/* Is the picture a Holoimage, with the levels that it was encoded with? Bits tell little of it. */
#ifndef DITHER3_FRINGES_H
#define DITHER3_FRINGES_H

#include "dither3.h"

/* Looks at the first frame that has enough points; one line where its fringes are none, or where
 * their levels were changed. */
int fringes_judge(struct run *, const struct frame *in);

#endif
