/* The functions of the codec for TIFF. */
#ifndef TIFF_H
#define TIFF_H

#include "io/codec.h"

int tiff_load(struct loader *, struct frame **out);
void tiff_load_end(struct loader *);
int tiff_save(struct saver *, const struct frame *);
int tiff_save_end(struct saver *);

#endif
