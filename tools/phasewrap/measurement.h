/* What the images of a measurement are, by options, manifest and their own keys. */
#ifndef MEASUREMENT_H
#define MEASUREMENT_H

#include "options.h"
#include "phasewrap.h"

struct measurement {
	struct capture_options captures;	/* without --shift auto */
	struct manifest manifest;	/* the rows of one measurement; the names are others' */
	bool manifest_read;
	bool compared;			/* the options were, with the images' own keys */
	double sign, origin_rad;	/* of the phases, once they are sorted */
};

/* NULL without one. */
static inline const struct manifest *
measurement_manifest(const struct measurement *measurement)
{
	return measurement->manifest_read ? &measurement->manifest : NULL;
}

/* Sorts the planes of a measurement and solves the fits of its fringes: wrap->captures, fit,
 * exposures and halves; the Fourier way has no fit. -1 after fail(). */
int measurement_sort(struct measurement *, const struct parameters *, const struct frame_head *in,
    struct phasewrap *);

#endif
