/* A wrapped phase of a frame, through windowed Fourier filtering and back. */
#ifndef WFF_PHASE_MAP_H
#define WFF_PHASE_MAP_H

#include "windows.h"

/* A phase, or its cosine and sine. */
struct phase_channels {
	size_t channel, sine;	/* sine: NO_CHANNEL where it is a phase */
};

struct phase_map {
	const struct frame *in;
	struct frame *out;	/* float; its channel `to` gets the phase in rad */
	struct phase_channels from;
	size_t to;
	double turn;		/* in samples; NaN: 2 pi */
};

/* NaN stays, and is where nothing stood out of the noise, of which more than a tenth makes a
 * warning. -1 after fail(): samples that are no wrapped phase. */
int phase_map_filter(struct run *, const struct windows *, const struct phase_map *);

#endif
