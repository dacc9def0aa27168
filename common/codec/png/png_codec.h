/* The functions of the codec for PNG. */
#ifndef PNG_CODEC_H
#define PNG_CODEC_H

#include "io/codec.h"

struct png_options {
	bool fast;
	long level;
};

extern const struct opt png_options[];

int png_load(struct loader *, struct frame **out);
/* The same by libpng alone: what png_load() returns is this, and so are its messages. */
int png_load_by_libpng(struct loader *, struct frame **out);
int png_save(struct saver *, const struct frame *);

#endif
