#ifndef TEXMAP_PICTURE_H
#define TEXMAP_PICTURE_H

/* The picture that colours come from. */
#include "run/run.h"

struct picture {
	const struct frame *frame;	/* its channels stand behind the input's own */
	size_t channel[3], alpha;	/* in the frame; alpha: NO_CHANNEL without */
	size_t w, h;
	enum sample type;
};

/* Finds r g b, or the only channel, in the frame's wide head; `head` is the picture's own. `own`:
 * the number of the input's channels. -1 after fail(). */
int picture_plan(struct picture *, const struct frame_head *head, size_t own);
/* The colour of a pixel; false where it has none: a NaN, or an alpha of 0. */
bool picture_pixel(const struct picture *, size_t x, size_t y, float colour[3]);
/* The white of a picture of floats by its largest sample, which may be somewhat brighter: 1 up to
 * 2, 255 up to 512, else 65535. */
double picture_white(const struct picture *, float *largest);

#endif
