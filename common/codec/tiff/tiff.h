/* The functions of the codec for TIFF. */
#ifndef TIFF_H
#define TIFF_H

#include "io/codec.h"

/*
 * Pages of one channel each make one frame again: a line of this key in their ImageDescription says
 * "CHANNEL CHANNELS", from 0. The first one has the frame's own lines as well.
 */
#define TIFF_CHANNEL_KEY "tiff_channel"

struct tiff_options {
	bool one_page;
};

extern const struct opt tiff_options[];

int tiff_load(struct loader *, struct frame **out);
void tiff_load_end(struct loader *);
int tiff_save(struct saver *, const struct frame *);
int tiff_save_end(struct saver *);

#endif
