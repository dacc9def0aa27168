/*
 * Finds the fringes of an image in its power spectrum: where it stands out from what lies round it
 * on all sides (texture, noise) and from what lies before and behind it (the trail of an edge).
 */
#ifndef FOURIER_CARRIER_H
#define FOURIER_CARRIER_H

#include <stdbool.h>

#include "fourier_signal.h"
#include "fourier_window.h"

struct run;

/* From where on it stands out; noise and texture reach a third of it (tests). */
#define FOURIER_CARRIER_LEAST 10

/* In turns a pixel along either axis: above are patterns of compression and colour sensors, which
 * are not looked at. */
#define FOURIER_CARRIER_MOST 0.334

/* A peak of the spectrum; contrast 0: there is none. */
struct fourier_peak {
	struct fourier_carrier carrier;	/* its centre of mass */
	double power, contrast;		/* over what lies round it */
};

struct fourier_peaks {
	bool few;	/* the image has too few rows or columns to tell fringes from the rest */
	struct fourier_peak best[2];	/* of fringes along x (|x| >= |y|, x > 0) and along y */
	struct fourier_peak other[2];	/* the best one of another frequency than those */
};

/* Has the first more power, weighted by its contrast? */
bool fourier_carrier_better(const struct fourier_peak *, const struct fourier_peak *);
/* Memory is short: -1 after fail(). */
int fourier_carrier_find(struct run *, const struct fourier_signal *, struct fourier_peaks *);

#endif
