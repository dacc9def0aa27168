/* Error diffusion of Holoimages, and the circle of fringe values. */
#pragma once

#include "base/px.h"
#include "frame/meta.h"

/*
 * Red and green of a Holoimage lie on a circle about 127.5, of radius 127.5. Where brightness,
 * contrast or gamma were changed it has another centre or radius; lossy formats leave both nearly
 * as they are, where fringes change little from pixel to pixel.
 */

#define FRINGE_CIRCLE_SECTORS 16
/* Turns from pixel to pixel, at most: colour of half the resolution then takes 7 % off the radius
 * at most. */
#define FRINGE_CIRCLE_FLAT 0.035f

struct fringe_circle {		/* all zero before the first pixel */
	size_t n[FRINGE_CIRCLE_SECTORS];
	double radius[FRINGE_CIRCLE_SECTORS];
};

/* A pixel: holo_rest() of its sine and cosine, and their distance from the centre. */
void fringe_circle_count(struct fringe_circle *, float rest, double radius);
/* One line where the circle is not that of an encoder. False where it is, or where too few sectors
 * have enough pixels; the centre is told by all of them only. */
bool fringe_circle_warn(const struct fringe_circle *);

/*
 * Dithering to one bit (methods §13; Karpinsky thesis ch. 8), and how a Holoimage of three bits a
 * pixel is packed into a picture.
 */

/*
 * Floyd and Steinberg's error diffusion of one row to the right (step 1) or to the left (-1): row
 * becomes 1 where the level is at least 1/2, else 0; of the error 7/16 go ahead, 3/16 down behind,
 * 5/16 down, 1/16 down ahead; what falls outside is lost. below is NULL under the last row.
 */
void dither_diffuse_row(float *restrict row, float *restrict below, size_t w, ptrdiff_t step);

/*
 * Threshold (M + 1/2)/4^n of an ordered dither of 2^n x 2^n, M_{n+1} = [[4M, 4M+2], [4M+3, 4M+1]]
 * [thesis eq 8.11-8.13].
 */
PX_FN float
dither_bayer(uint x, uint y, uint n)
{
	uint m = 0;

	for (uint i = 0; i < n; i++)
		m = m << 2 | (((x ^ y) >> i & 1u) << 1) | (y >> i & 1u);
	return (px_float(m) + 0.5f) / px_float(1u << (2 * n));
}

/* Thresholds in (0, 1) of blue noise, DITHER_TILE x DITHER_TILE, seamless (void and cluster). */
#define DITHER_TILE 64
#define DITHER_TILE_PIXELS (DITHER_TILE * DITHER_TILE)

/* How far to the right and down Floyd and Steinberg move a picture, in pixels (measured). */
#define DITHER_FS_RIGHT 0.180f
#define DITHER_FS_DOWN 0.327f
#define DITHER_SERPENTINE_DOWN 0.335f

/*
 * The decoder's kernel, through which the encoder's search measures errors: a Gaussian of sigma
 * times (a - b r^2), of sum 1 and second moment 0, so that curved phase keeps its place; 2 reach +
 * 1 rows of `width` floats, zero beyond 2 reach + 1. And the plain Gaussian of sum 1.
 */
#define DITHER_REACH_MOST 18
size_t dither_reach(double sigma);
void dither_kernel(double sigma, size_t reach, size_t width, bool flat, float *kernel);

enum dither_pack { DITHER_MSB, DITHER_PLANAR, DITHER_RGB };
enum dither_method {
	DITHER_BY_BAYER,
	DITHER_BY_FS,
	DITHER_BY_SERPENTINE,
	DITHER_BY_BLUE,
	DITHER_BY_SEARCH,
	DITHER_BY_SMALL
};

extern const char *const dither_packs[], *const dither_methods[];

/* R, G, B and the texture in a sample that holds them all. */
#define DITHER_BIT(plane) (0x80u >> (plane))

/*
 * The keys of such a picture; the kernel's sigma is 0 where the encoder used none, the order of
 * Bayer's matrix is 0 where that is not known.
 */
struct dither_keys {
	enum dither_pack pack;
	enum dither_method method;
	long texture_bits;
	double sigma_px;
	long order;
	bool marked;		/* pixels beside jumps never have the bits of the other surface */
};

#define DITHER_ORDER_MOST 6

/* A picture that is dithered by thresholds alone, which are known. */
bool dither_ordered(const struct dither_keys *);
/*
 * These thresholds, by plane: R, G, B, texture. Small files have fringes of few thresholds, and a
 * stair of many, which its averages need.
 */
void dither_thresholds(const struct dither_keys *, float threshold[4][DITHER_TILE_PIXELS]);

void dither_write(const struct dither_keys *, struct meta *);
void dither_remove(struct meta *);
/* Options (-1, or LONG_MIN, or NaN: not given), else keys; -1 after fail(). */
int dither_read(struct dither_keys *, const struct dither_keys *options, const struct meta *);
/* One line for each of these options, but the kernel's size, that differs from its key. */
void dither_warn_overruled(const struct dither_keys *options, const struct meta *);
