/* What is wrong with the images. */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include "probe.h"

/* Records what does not fit in the chosen sets and the Gray codes. -1 after fail(). */
int problems_find(struct probe *);
/* Nothing fits: "; a.png to d.png look like fringes, ...", or "" where nothing looks like them. The
 * names are cut to what fits. */
const char *problems_guess(const struct probe *, char text[480]);

#endif
