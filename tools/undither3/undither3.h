/* What undither3 keeps of its options and of a picture's keys; planes of a picture with a
 * margin. */
#ifndef UNDITHER3_UNDITHER3_H
#define UNDITHER3_UNDITHER3_H

#include "holo/bits.h"
#include "holo/holo.h"
#include "run/stage.h"

#define MARGIN 24 /* pixels of background around all planes; at least the kernel's reach */
#define SPAN 256 /* pixels of a row that are worked on together */
#define BLOCK 8 /* rows that a thread takes at a time */
#define SMOOTH_REACH 3 /* of the papers' 7x7 Gaussian */

enum filter { FILTER_FIT, FILTER_GAUSS };

struct kernels {
	size_t reach, width;
	float fringe[(2 * DITHER_REACH_MOST + 1) * (2 * DITHER_REACH_MOST + 1)];
	float stair[(2 * DITHER_REACH_MOST + 1) * (2 * DITHER_REACH_MOST + 1)];
};

struct priv {
	enum filter filter;
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
	struct frame_head out;
	size_t w, h;			/* of the output */
};

/* Whole planes with MARGIN around; the pixel (x, y) is at [(y + MARGIN) stride + x + MARGIN]. */
struct planes {
	size_t w, h, stride;
	float *sine, *cosine;	/* bits as +-1/2, 0 in the background */
	float *inside;		/* 1; 0 in the background */
	float *rest;		/* of the turns, after a first smoothing, [0, 1) */
	float *order;		/* by the bit of the stair: far from whole */
	float *right, *down;	/* frequency, in turns per pixel */
	float *turns;		/* as found; NaN in the background */
	float *trusted;		/* 1 or 0 */
	float *certainty;	/* of the order, 0 to 1; NaN in the background */
};

/* A picture being read. Planes are of `priv` size, with MARGIN around. */
struct job {
	const struct priv *priv;
	struct frame *out;
	struct planes planes;
	float *bit[3];			/* 0 or 1, of sine, cosine, stair */
	float *smooth[3];		/* scratch; after the first smoothing: sine, cosine */
	void *memory;
};

#endif
