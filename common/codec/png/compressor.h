/* libdeflate's compressors, kept from image to image: small images take a tenth longer where each
 * makes its own. */
#ifndef COMPRESSOR_H
#define COMPRESSOR_H

#include <libdeflate.h>

/* A compressor of a level from 1 to 12, which no other thread has; NULL: out of memory (nothing
 * recorded). */
struct libdeflate_compressor *compressor_take(int level);
/* It is kept for the next who takes this level, or freed. NULL is allowed. */
void compressor_give(struct libdeflate_compressor *, int level);

#endif
