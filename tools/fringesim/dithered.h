/*
 * A dithered pattern out of focus: the projector's pixels, bright or dark, each a square, through a
 * Gaussian blur (methods §1).
 */
#ifndef FRINGESIM_DITHERED_H
#define FRINGESIM_DITHERED_H

#include "fringe/levels.h"
#include "fringe/patterns.h"
#include "rig.h"
#include "run/stage.h"

#define DITHERED_SIGMA 64	/* px; the work grows with its square */

struct dithered {
	struct frame *image;	/* samples 0 and 1 */
	double sigma_px;
};

/* Makes pattern i as fringegen does, as large as the projector; along an axis that the rig knows no
 * projector pixels of, as large as the picture. -1 after fail(). */
int dithered_make(struct run *, struct dithered *, const struct pattern_spec *,
    const struct patterns *, size_t i, const struct rig *, enum dither);
/* The share of the light that bright pixels contribute at a projector column and row; beyond its
 * edges the last pixels go on. Within 1e-7. */
double dithered_share(const struct dithered *, double column, double row);

#endif
