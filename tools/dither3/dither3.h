/*
 * What the files of dither3 share: what it keeps of its options and of a picture's keys, the memory
 * of frames that are dithered as a whole, and the loops of dither3_rows.c and search_rows.c.
 */
#pragma once

#include "holo/dither.h"
#include "holo/holo.h"
#include "run/stage.h"

/* Memory of error diffusion for pictures of a size, kept from frame to frame; at first {0}. */
struct diffusion {
	size_t w, h;
	unsigned char *bit[4];		/* the result: [c][y w + x]; the texture's where it is kept
					 * as bits */
	float *work;			/* of each plane */
};

/*
 * What the search takes over from the frame before, so that the noise of its bits stands still
 * where the depth does: it begins from that frame's bits where levels are nearly the same.
 */
struct previous_frame {
	size_t w, h;			/* of the frame before; 0: there is none */
	float *share[3];		/* as levels, before any diffusion */
	unsigned char *bit[3];
};

struct priv {
	float price;			/* of a bit off the ordered pattern */
	struct dither_keys keys;
	bool to_circle;			/* R and G were rounded together, to the nearest angle */
	size_t channel[4];		/* sine, cosine, stair, texture; NO_CHANNEL: none is kept */
	float threshold[4][DITHER_TILE_PIXELS];
	struct bits_code bits;		/* of pictures that are marked */
	struct previous_frame previous;		/* of the frame before, by the search */
	struct diffusion diffusion;	/* by the methods fs */
	unsigned char *mark;		/* bits to turn over, of each pixel; mark_find() */
	bool judged;			/* the fringes of a frame were looked at */
	struct { long level; } png;	/* of the file */
};

/* Planes that are dithered: R, G, B and the texture, if it is kept as bits. */
static inline size_t
bit_planes(const struct dither_keys *keys)
{
	return keys->texture_bits == 1 ? 4 : 3;
}

/* ---- for dither3_rows.c ---- */

/* The points of a frame that were looked at. */
struct fringes_seen {
	size_t points, off;	/* off: far from the circle that all fringes lie on */
	struct fringe_circle circle;
};

#define MARK_ROWS 16	/* rows that a thread marks at a time */
#define MARK_BORDER 4	/* pixels without a surface around the turns */

struct marking {
	struct priv *priv;
	const struct frame *in;
	float *turns;		/* NaN in the background and on the border */
	size_t stride;
	int pass;		/* 0: surfaces in front of a pixel are looked at, 1: those behind */
	unsigned char *before;	/* marks of the pass before, which this one reads */
};

/* Whole planes of a picture, for the search. */
struct picture {
	size_t w, h;
	float *share[4];		/* as levels; [c][y w + x] */
	unsigned char *bit[4], *black;
	float *cosine, *sine;		/* of the phase */
	float *start;			/* turns that the search starts from */
};

/* The bits of a frame that decode best, near those of the frame before. -1 after fail(). The
 * picture is {0} at first; picture_free() in either case. */
int picture_search(struct priv *, const struct frame *in, struct picture *);
void picture_free(struct picture *);
void previous_free(struct previous_frame *);

#define PACKED_ROWS 16	/* rows that a thread packs at a time */

/* A frame that is dithered as a whole: its bits, which are packed into `out`. */
struct packing {
	const struct priv *priv;
	unsigned char *const *bit;
	const struct frame *in;
	struct frame *out;
};

struct dither3_rows {
	/* A body's `rows`, by ordered dithering. */
	body_rows *ordered;
	/* Looks at some rows and columns of a frame; channel: sine and cosine. */
	void (*look_at_fringes)(const struct frame *in, const size_t channel[2],
	    struct fringes_seen *);
	/* For run_for(), with a struct marking, by blocks of MARK_ROWS rows. */
	void (*mark_turns)(void *marking, size_t block);
	void (*mark_rows)(void *marking, size_t block);
	/* Floats of memory that error diffusion needs to process rows of w pixels; set to 0. */
	size_t (*diffusion_floats)(size_t w);
	/* For run_for(), with a struct packing: plane c, all rows from left to right. */
	void (*diffuse_plane)(void *packing, size_t c);
	/* All planes, every second row from right to left. */
	void (*diffuse_serpentine)(const struct priv *, const struct frame *in);
	/* Shares and background of a picture. */
	void (*load_picture)(const struct priv *, const struct frame *in, struct picture *);
	/* The phase, and the bits that the search starts from. work: diffusion_floats(). */
	void (*start_bits)(const struct priv *, struct picture *, float *work);
	/* For run_for(), with a struct packing, by blocks of PACKED_ROWS rows. */
	void (*pack_rows)(void *packing, size_t block);
};
LEVELS_OF(dither3_rows)

/* ---- the search ---- */

#define SEARCH_LANES 8	/* sums keep their order on all machines */
#define SEARCH_TILE 8	/* pixels; a tile that no turned bit reaches is not searched anew */
#define SEARCH_KERNEL_MOST \
	((2 * DITHER_REACH_MOST + 1) * (2 * DITHER_REACH_MOST + 1 + SEARCH_LANES))

/* One error, as seen through one kernel. The plane has a margin of reach, and SEARCH_LANES more
 * behind. */
struct seen {
	float kernel[SEARCH_KERNEL_MOST];
	float square;		/* sum of the squares of the kernel */
	float weight;
	float *error;
};

struct search {
	size_t w, h, reach, width, stride;
	const unsigned char *black;
	float *inside;		/* 1 where a pixel counts; with the margins of `seen` */
	float price;		/* of a bit that is not the pattern's */
	size_t across, tiles;	/* tiles of a row, and of the picture */
	unsigned char *turned[2];	/* of each tile: a bit near it turned now, before */
	struct seen tangential, radial;
};

/* The fringes: R and G together. */
struct fringes {
	const float *cosine, *sine;	/* of the phase */
	unsigned char *red, *green;
	const unsigned char *pattern[2];	/* of red and green; NULL: none, at no price */
};

/* For a picture of w x h pixels; sigma: of the widest kernel. search_end() in either case. */
void search_start(struct search *, size_t w, size_t h, double sigma, const unsigned char *black);
void search_end(struct search *);
/* Turns over bits of R and G. */
void search_fringes(struct search *, const struct fringes *, double sigma);
/* The same of the stair by itself; share: its levels; pattern: NULL, or bits to stay near to. */
void search_stair(struct search *, const float *share, unsigned char *bit,
    const unsigned char *pattern, double sigma);

struct search_rows {
	/* Bits of the frame before where it was nearly the same; black: the background of this
	 * one. */
	void (*take_previous)(const struct previous_frame *, float *const share[3],
	    const unsigned char *black, unsigned char *const bit[3], size_t w, size_t h);
	void (*fill_inside)(struct search *);
	/* search_fringes() and search_stair(), after they have set up what is seen. */
	void (*turn_fringes)(struct search *, const struct fringes *);
	void (*turn_stair)(struct search *, const float *share, unsigned char *bit,
	    const unsigned char *pattern);
};
LEVELS_OF(search_rows)
