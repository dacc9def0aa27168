/* Pixels of a row that are worked on together, and what is known of them so far. */
#ifndef TILE_H
#define TILE_H

#include "base/px.h"
#include "frame/frame.h"

#define TILE_PIXELS 832	/* whole 64 bytes of a type */
/* of arrays, so that they do not lie at the same place of 4 KiB pages */
#define TILE_SPAN (TILE_PIXELS + 16)
#define TILE_IMAGES 4	/* of a fringe set that are worked on together */
#define TILE_SETS 2	/* fringe sets, likewise */

struct tile {
	/* of one fringe set: I_0, N A, the other sums; the largest sample of its images */
	float first[TILE_SPAN], mean[TILE_SPAN], c[TILE_SPAN], s[TILE_SPAN], most[TILE_SPAN];
	float modulation[TILE_SPAN], texture[TILE_SPAN], threshold[2][TILE_SPAN];
	float plane[TILE_SPAN], inverse[TILE_SPAN];
	uint missing[TILE_SPAN], bad[TILE_SPAN], value[TILE_SPAN];
	/* of the fringe sets that are taken at once */
	float image[TILE_SETS][TILE_IMAGES][TILE_SPAN], pair[TILE_SETS][2][TILE_SPAN];
} __attribute__((aligned(64)));

/* Nothing is missing or bad. */
void tile_start(struct tile *, size_t n);
/* n samples of plane c from column x of row y on, as floats; those that are missing are noted. */
void tile_load(struct tile *, const struct frame *, size_t c, size_t y, size_t x, size_t n,
    float *v);
/* The phase of the fringe set whose cosine and sine are c and s; as the channels of set k, with
 * `vector` these two. */
void tile_write_phase(const struct tile *, float *phase, size_t n);
void tile_write_set(const struct tile *, bool vector, struct frame *out, size_t k, size_t y,
    size_t x, size_t n);
/* The modulation and the texture of all fringe sets. */
void tile_write_quality(const struct tile *, float sets, float *modulation, float *texture,
    size_t n);
/* Missing pixels are bad too; is there a bad one? */
bool tile_any_bad(struct tile *, size_t n);
/* NaN where a pixel is bad. */
void tile_mask(const struct tile *, float *v, size_t n);

#endif
