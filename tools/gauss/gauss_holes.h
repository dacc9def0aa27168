#ifndef GAUSS_HOLES_H
#define GAUSS_HOLES_H

#include "gauss_window.h"

/* Corrects the sums of row y, where something is missing in the window, all of whose rows are
 * filled. */
void gauss_holes_mend(struct gauss_window *, size_t y);

#endif
