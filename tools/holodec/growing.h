/* What grow.c and its helpers know of the pixels that wait for an order. */
#ifndef HOLODEC_GROWING_H
#define HOLODEC_GROWING_H

#include "edges.h"
#include "smooth.h"

#define STRICT 4	/* rounds in which three neighbours must agree; then odds decide */
#define CERTAINTY_LEAST 0.43f	/* what is less certain is dropped in any picture */
#define PIXELS 256	/* that a thread takes at a time */

struct pixel {
	int32_t at, x, y;
	float turns;		/* as found, or as the neighbours' best guess */
	float read;		/* turns by the pixel's own stair */
	float certainty;
	float margin;		/* of the best order over the next one, as a log of odds; weigh.c */
	unsigned char round;
	bool taken, dark;
};

struct growing {
	struct regions *regions;
	const struct reading *reading;
	const struct frame *in, *stored;	/* mended, halved.h; and as it came */
	const unsigned char *surface;	/* of each pixel, halved.h; or NULL */
	float *turns;			/* as voted; then as grown */
	unsigned char *state;
	struct pixel *pixel;
	size_t n;
	int round;
	float noise;			/* of stairs, in orders */
	float coarser;			/* luma, than at quality 75, in levels; quantised.h */
	float misread;			/* by trusted pixels' stairs, in orders, on average */
	struct {
		float zero, times;
	} odds;				/* of what the pixels say, for this picture; odds.c */
	float blue[HOLO_PROFILE + 1];	/* of order 0, and whether it is halved; mixing.c */
	bool halved[2];			/* along rows, down columns */
};

/* The index of the pixel so far off; -1 outside of the picture. */
static inline ptrdiff_t
growing_beside(const struct growing *growing, const struct pixel *pixel, int dx, int dy)
{
	ptrdiff_t x = pixel->x + dx, y = pixel->y + dy;
	ptrdiff_t w = (ptrdiff_t)growing->regions->w, h = (ptrdiff_t)growing->regions->h;

	return x < 0 || y < 0 || x >= w || y >= h ? -1 : y * w + x;
}

static inline bool
growing_is_trusted(const struct growing *growing, ptrdiff_t at)
{
	return at >= 0 && growing->state[at] >= TRUSTED && growing->state[at] != BACKGROUND;
}

#endif
