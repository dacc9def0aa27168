/* Cross-sections: the curves of the channels of each frame along a line. */
#ifndef SECTION_H
#define SECTION_H

#include "frameplot.h"

/* Adds the curves of one frame. -1 after fail(). */
int section_add(struct run *run, const struct frame *);
/* Draws all of them. -1 after fail(). */
int section_draw(struct run *run);
void section_free(struct priv *);

#endif
