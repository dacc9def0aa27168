/* What is wrong with the images. */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include "probe.h"

/* Records what does not fit in the chosen sets and the Gray codes. -1 after fail(). */
int problems_find(struct probe *);

#endif
