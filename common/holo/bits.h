/*
 * Pictures of three bits a pixel whose thresholds are known: surfaces carried on from pixel to
 * pixel, and what a pixel's bits have against that. The encoder and the decoder ask the same.
 */
#ifndef HOLO_BITS_H
#define HOLO_BITS_H

#include "holo/bits.px.h"
#include "holo/dither.h"
#include "holo/holo.h"

/* Thresholds, and stairs. */
struct bits_code {
	float arc[2][DITHER_TILE_PIXELS];	/* where sine and cosine pass them, in turns */
	float threshold[DITHER_TILE_PIXELS];	/* of the stair, as a level */
	float stair[HOLO_PROFILE + 1];		/* of order 0 */
	float height, order_most;
};

/* A pixel's bits, 0 or 1, and its place in the tile of thresholds. */
struct bits_pixel {
	float red, green, stair;
	size_t place;
};

/* The eight neighbours of a pixel, for bits_carry(). */
#define BITS_WAYS 8
extern const int bits_way[BITS_WAYS][2];	/* x, y */

/*
 * Thresholds: where sine and cosine pass each pixel's, in turns: asin and acos of it. Holoimages
 * have whole levels: the threshold is halfway between two of them. -1 after fail().
 */
int bits_thresholds(struct bits_code *, const struct dither_keys *);
/* The stairs; arcs and thresholds stay. */
void bits_stairs(struct bits_code *, const struct holo_code *);
/* Can a pixel of a surface have neither bit of the fringes at this place of the tile? */
bool bits_may_lack(const struct bits_code *, size_t place);
/*
 * Turns, moved by `tolerance` at most, that give the pixel's bits; NaN where there are none such.
 */
float bits_fit(const struct bits_code *, const struct bits_pixel *, float turns, float tolerance);

#endif
