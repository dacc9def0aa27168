/* A fringe image on its way to a phase: its carrier, and the analytic signal round it. */
#ifndef FOURIER_IMAGE_H
#define FOURIER_IMAGE_H

#include "fourier_filter.h"
#include "fourier_report.h"
#include "phasewrap.h"
#include "run/run.h"

struct fourier_image {
	struct fourier_source source;
	struct fourier_result result;
	struct fourier_carrier carrier;	/* the phase rises along it */
	bool transposed, falling; /* lines are columns; the phase falls along them */
	float cosine, sine;	/* of what is taken off the phase */
	float *variance;	/* of the signal's component across its phase; NULL: not wanted */
	double window_px;	/* within which neighbours share their noise */
};

/* Along which camera axis are the fringes of image k looked for? 1: y; -1: along either. */
int fourier_image_axis(
    const struct run *, const struct phasewrap *, const struct frame_head *, size_t k);
/* Image k of a measurement, whose phase is turn_rad too large. fourier_image_free() it, also after
 * a failure. -1 after fail(). */
int fourier_image_make(struct run *, const struct phasewrap *, struct fourier_report *,
    const struct frame *in, size_t k, double turn_rad, struct fourier_image *);
void fourier_image_free(struct fourier_image *);

#endif
