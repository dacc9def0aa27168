/* How much more light one exposure lets through than another, out of the images: whatever the
 * camera calls its times. Looks at a whole measurement before its rows. */
#ifndef EXPOSURE_GAINS_H
#define EXPOSURE_GAINS_H

#include "phasewrap.h"

/*
 * Sets the gains of wrap->exposures that no times give: from the brightest exposure down by the
 * amplitudes of fringes in pixels of a coarse grid that are unsaturated in both. Refuses exposures
 * whose images are in another order than is given, warns where two are equally bright. -1 after
 * fail().
 */
int exposure_gains_find(struct phasewrap *, const struct frame *in);
/* Prints the gains, once in a run. */
void exposure_gains_note(const struct exposures *);

#endif
