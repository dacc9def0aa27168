/*
 * Gamma from three steps, which every pixel fits: harmonics gather the measured phases about some
 * of the circle, and raise and lower the amplitude with the phase. Both are seen where the true
 * phases lie evenly on the circle and the surface's brightness has nothing to do with them. (Guo,
 * He and Chen 2004; Hoang, Pan, Nguyen and Wang 2010 find a gamma from the phases' distribution.)
 */
#ifndef UNEVEN_H
#define UNEVEN_H

#include "pixels.h"
#include "response.h"

struct uneven_gamma {
	double gamma, gamma_error;
	double by_density, by_amplitude;	/* the two answers */
};

/* shift_rad: of the three images, 120 degrees apart. -1 after fail(), also where the phases of
 * pixels have nothing to do with those beside them. */
int uneven_fit(const struct frame *, const size_t plane[3], const struct pixels *,
    const double shift_rad[3], struct response_levels, struct uneven_gamma *out);

#endif
