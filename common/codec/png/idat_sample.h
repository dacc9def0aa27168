/* A sample of an image's rows, by which is chosen how all are packed. */
#ifndef IDAT_SAMPLE_H
#define IDAT_SAMPLE_H

#include "codec/png/idat_image.h"

/* What makes least of a sample, of the methods that the image's options allow. 0, or -1 after
 * fail(). */
int idat_sample_packing(const struct idat_image *, struct idat_packing *);

#endif
