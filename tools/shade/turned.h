/* A surface seen from elsewhere: its triangles are drawn with a depth buffer. A flow. */
#ifndef SHADE_TURNED_H
#define SHADE_TURNED_H

#include "shade.h"

/* Owns `in`; NULL at the end. -1 after fail(). */
int turned_frame(struct run *run, struct frame *in);

#endif
