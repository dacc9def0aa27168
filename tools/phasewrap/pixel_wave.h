/* The wave that the images of one pixel hold, for detectors that look at some pixels only. */
#ifndef PIXEL_WAVE_H
#define PIXEL_WAVE_H

#include "phasewrap.h"

struct pixel_wave {
	float cosine, sine;	/* amplitude times that of the phase */
	float left;		/* what the fit leaves, squared, per degree of freedom; 0: none */
};

/* Of pixel x, y by the fit of its fringe set. */
struct pixel_wave pixel_wave_fit(const struct capture_fringe *, const struct phase_shift_fit *,
    const struct frame *, size_t y, size_t x);

#endif
