/* Whole planes of a picture: for error diffusion, and for the search. */
#ifndef DITHER3_PICTURE_H
#define DITHER3_PICTURE_H

#include "dither3.h"

struct picture {
	size_t w, h;
	float *share[4];		/* as levels; [c][y w + x] */
	unsigned char *bit[4], *black;
	float *cosine, *sine;		/* of the phase, for the search */
	float *start;			/* turns that the search starts from */
};

/* -1 after fail(); picture_end() in either case. */
int picture_start(struct picture *picture, const struct priv *priv, const struct frame *in);
void picture_end(struct picture *picture);
/* The bits that decode best, near those of the frame before. -1 after fail(). */
int picture_search(struct priv *priv, struct picture *picture);

#endif
