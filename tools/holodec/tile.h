/* A piece of a row of a Holoimage, with pixels to both sides: levels, and what each pixel reads. */
#ifndef HOLODEC_TILE_H
#define HOLODEC_TILE_H

#include "holo/holo.h"
#include "run/stage.h"

#define TILE 512 /* pixels of a row that are decoded together */
#define MARGIN 3 /* more on each side, for medians */
#define TILE_STEP 16 /* pixels that are read together, each time */
#define TILE_WIDTH (TILE + 2 * MARGIN + TILE_STEP)

/* How a picture is to be read. */
struct reading {
	struct holo_code code;
	size_t channel[4];             /* sine, cosine, stair, texture */
	bool rgb;                      /* the layout: luma is of all three channels */
	float half_step;               /* 1/2 where plain decoding rounds */
	float stair[HOLO_PROFILE + 1]; /* of order 0 */
};

struct tile { /* pixel x of the row is at [MARGIN] */
	float sine[TILE_WIDTH], cosine[TILE_WIDTH], stair[TILE_WIDTH];
	float rest[TILE_WIDTH];         /* NaN in the background */
	float order[TILE_WIDTH];        /* as read: not whole; NaN in the background */
	size_t first, end;              /* before and behind there is nothing but background */
} __attribute__((aligned(64)));

/* Bytes as floats. */
void tile_load_bytes(const unsigned char *restrict in, float *restrict out, size_t n);
/* Samples x .. x + n - 1 of a row, as levels. */
void tile_load_samples(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *out);
/* NaN before `first` and from `end` on. */
void tile_fill_ends(float *row, size_t n, size_t first, size_t end);
/* Pixels x .. x + n - 1 of row y and MARGIN to both sides; beyond the image is background. */
void tile_load(const struct frame *in, const struct reading *reading, size_t y, size_t x, size_t n,
    struct tile *tile);
/* Rest and order of each pixel by itself. n counts the margins. */
void tile_read(struct tile *restrict tile, const struct reading *restrict reading, size_t n);

#endif
