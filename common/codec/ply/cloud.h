/*
 * Tables (frame(5)) as clouds of points: PLY with an element vertex, whose properties are the
 * channels, and without faces. `r g b` are the properties red green blue, as uchar where all of
 * them are whole numbers from 0 to 255 or the key max_value is 255 (rounded then, no colour as
 * black), else as float; all others are float. The keys are comments.
 */
#ifndef CODEC_PLY_CLOUD_H
#define CODEC_PLY_CLOUD_H

#include "io/codec.h"

/* A frame that is a table. -1 after fail(). */
int cloud_save(struct saver *, const struct frame *, bool ascii);
/* As load of struct codec; a file with faces is an error. */
int cloud_load(struct loader *, struct frame **out);

#endif
