/*
 * What the files of undither3 share: what it keeps of its options and of a picture's keys, planes
 * of a picture with a margin, pixels that surfaces grow into, and the loops of both rows files.
 */
#pragma once

#include "holo/holo.h"
#include "run/stage.h"

#define MARGIN 24 /* pixels of background around all planes; at least the kernel's reach */
#define SMOOTH_REACH 3 /* of the papers' 7x7 Gaussian */
#define CLOSE 2 /* px; dots of a surface are nowhere farther apart than twice this */
#define REFINE_STEPS 80
#define REFINE_BOUNDS 20 /* steps until bounds are looked for anew */
#define MEND_REACH 8 /* px; how far a trusted neighbour may be */
#define MEND_LEAST 4 /* neighbours that must agree */
#define ORDERS_REACH 5 /* px; how far bits of the stair are asked for a pixel's order */

enum filter { FILTER_FIT, FILTER_GAUSS };

struct kernels {
	size_t reach, width;
	float fringe[(2 * DITHER_REACH_MOST + 1) * (2 * DITHER_REACH_MOST + 1)];
	float stair[(2 * DITHER_REACH_MOST + 1) * (2 * DITHER_REACH_MOST + 1)];
};

struct priv {
	bool compared;			/* options with the keys of the picture */
	bool warned;			/* of bits that are not as the thresholds make them */
	bool keep;			/* all pixels, and how certain each is */
	float least;			/* certainty of what is kept */
	struct dither_keys keys;
	struct holo holo;
	struct holo_code code;
	struct kernels kernels;
	float smooth[2 * SMOOTH_REACH + 1];
	float moved[2];
	bool ordered;			/* thresholds are known */
	bool checked;			/* and the stair is so slow that its bits give orders */
	struct bits_code bits;
	size_t w, h;			/* of the output */
};

/* Whole planes with MARGIN around; the pixel (x, y) is at [(y + MARGIN) stride + x + MARGIN]. */
struct planes {
	size_t w, h, stride, pixels;	/* pixels: with the margins */
	ptrdiff_t way[BITS_WAYS];	/* from a pixel to its neighbours, as bits_way */
	float *sine, *cosine;	/* bits as +-1/2, 0 in the background */
	float *inside;		/* 1; 0 in the background */
	float *rest;		/* of the turns, after a first smoothing, [0, 1) */
	float *order;		/* by the bit of the stair: far from whole */
	float *right, *down;	/* frequency, in turns per pixel */
	float *turns;		/* as found; NaN in the background */
	float *trusted;		/* 1 or 0 */
	float *certainty;	/* of the order, 0 to 1; NaN in the background */
};

static inline size_t
planes_at(const struct planes *planes, size_t x, size_t y)
{
	return (y + MARGIN) * planes->stride + x + MARGIN;
}

/* A picture being read. Planes are of `priv` size, with MARGIN around. */
struct job {
	const struct priv *priv;
	struct frame *out;
	struct planes planes;
	float *bit[3];			/* 0 or 1, of sine, cosine, stair */
	float *smooth[3];		/* scratch; after the first smoothing: sine, cosine */
	void *memory;
};

/* Fills the channels of out that are levels, and that of certainty. -1 after fail(). */
int fit(struct run *run, const struct frame *in, struct frame *out);
/* The same on a device, for a body's passes. */
int fit_passes(struct run *, struct passes *);

/* A pixel that was not trusted. */
struct waiting {
	size_t at;		/* in the planes */
	size_t place;		/* in the tile of thresholds */
	float turns;
	int round;		/* in which it was taken; 0: not yet */
	bool taken;		/* in this round */
	bool hole;		/* may be background: it has no bits, nor has a surface near by */
	float low, high, next;	/* for settle() */
};

struct island_pixel {
	uint64_t arc;		/* steps of a turn that give its bits of R and G */
	float rest;		/* of the plane at the pixel; NaN: none */
	float right, down;	/* its slopes */
	float turns;		/* counted from the surface's first pixel */
	bool asked;
};

struct growing {
	struct job *job;
	struct waiting *waiting;
	size_t n;
	struct island_pixel *island_pixel;	/* as waiting; of marked pictures */
	int *index;			/* in both, of each pixel of the planes; NOBODY */
	size_t *queue;			/* the pixels of an island's surface */
	size_t rule;		/* of rounds */
	int island;		/* the round that takes islands */
	size_t surface, trusted;	/* pixels, before anything has grown */
};

struct undither3_rows {
	/* A body's `rows`: the papers' Gaussian. */
	body_rows *gauss;
	/* The texture, of one bit or of eight. */
	void (*texture)(const struct priv *, const struct frame *in, struct frame *out, size_t y0,
	    size_t y1);
	/* The first sample that can be none of three bits a pixel, if there is any. */
	bool (*find_bad)(const struct priv *, const struct frame *in, size_t *x, size_t *y);
	/* The bits of the picture into job->bit. */
	void (*unpack)(const struct job *, const struct frame *in);
	/* The same into one plane with its margin, a bit of a sample for each; out is 0. */
	void (*pack)(const struct priv *, const struct frame *in, struct frame *out);
	/* Turns of all pixels, and which are trusted. */
	void (*find_turns)(struct run *, struct job *);
	/* The same, as a device has found them. */
	void (*take_turns)(struct job *, const struct frame *found);
	/* What is certain enough becomes levels. */
	void (*levels)(struct run *, struct job *);
};
LEVELS_OF(undither3_rows)

struct growing_rows {
	/* Drops what is background, and counts what is surface, trusted, and waiting. */
	void (*begin)(struct growing *);
	/* Grows, with all memory. */
	void (*grow)(struct run *, struct growing *);
	/* Fills planes->certainty. */
	void (*find_certainty)(const struct growing *, bool bits);
};
LEVELS_OF(growing_rows)
