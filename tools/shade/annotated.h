/* Pictures with --bar, --scale-bar or --axes: they are larger than what they show. */
#ifndef SHADE_ANNOTATED_H
#define SHADE_ANNOTATED_H

#include "shade.h"

/* A new picture r g b with the metadata of its input. -1 after fail(). */
int annotated_new(const struct frame_head *in, size_t w, size_t h, struct frame **);
/* Hands a picture on, which it owns, with the annotations of the options. -1 after fail(). */
int annotated_emit(struct run *run, struct frame *);
/* A picture from the camera, as a flow. Owns `in`; NULL at the end. -1 after fail(). */
int annotated_frame(struct run *run, struct frame *in);

#endif
