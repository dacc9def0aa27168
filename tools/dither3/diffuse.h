/*
 * Floyd's and Steinberg's error diffusion of all planes. A pixel waits for the one before it, but
 * planes do not wait for each other, nor does a row for more of the row above it than two pixels
 * beyond: what does not wait is done together, in vectors. Sums keep the order of the plain loop
 * of dither_diffuse_row(), which gives the same bits.
 */
#ifndef DITHER3_DIFFUSE_H
#define DITHER3_DIFFUSE_H

#include "run/stage.h"

/* Memory for pictures of a size, kept from frame to frame; at first {0}. */
struct diffusion {
	size_t w, h;
	unsigned char *bit[4];		/* the result: [c][y w + x]; the texture's where it is kept
					 * as bits */
	float *work;			/* of each plane */
};

/* All rows from left to right. -1 after fail(). */
int diffuse_raster(struct run *, struct diffusion *, const struct frame *in);
/* Every second row from right to left. -1 after fail(). */
int diffuse_serpentine(struct run *, struct diffusion *, const struct frame *in);
void diffusion_free(struct diffusion *);

/* Floats that diffuse_planes() needs for rows of w pixels. */
size_t diffuse_work(size_t w);
/* Shares of h rows of w pixels, every second row from right to left. The texture, plane 3, has no
 * background. work: set to 0. */
void diffuse_planes(float *const share[4], const unsigned char *black, size_t w, size_t h,
    float *work, unsigned char *const bit[4]);

#endif
