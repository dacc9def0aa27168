/*
 * The phase of pixels whose images do not all count: of several exposures those that are not
 * saturated, each with the weight of its light; or, of one that is, the steps that are not.
 *
 * Image n of exposure e is t_e (A + B cos(phi + d_n)), t_e being the exposure's gain (1 for the
 * longest), with noise alike in all. Each exposure has a mean of its own, so that a camera's black
 * level does no harm; what remains is linear in c = B cos phi and s = B sin phi:
 *
 *	F = sum_e t_e^2 sum_n (x_n - x)(x_n - x)'
 *	F (c s)' = sum_e t_e sum_n (x_n - x) I_en
 *
 * with x_n = (cosine_n, sine_n) of the model of phase_shift_weights.h and x its mean, sums over the
 * images that count. An exposure counts where none of its images is saturated; with --saturated
 * solve also where three or more are not.
 *
 * With noise of variance V_en in image n of exposure e, and u = (-sin phi, cos phi), the variance
 * of the phase is sum_e t_e^2 sum_n (u' F^-1 (x_n - x))^2 V_en / B^2, B in grey levels of the
 * longest exposure. Where V is the same for all it is V u' F^-1 u / B^2: all images unsaturated and
 * one exposure 2/N V / B^2, as usual.
 */
#ifndef EXPOSURE_FIT_H
#define EXPOSURE_FIT_H

#include "phasewrap.h"

/* Is it needed for this measurement? */
bool exposure_fit_used(const struct phasewrap *);
/* Its pass on the device. -1 after fail(). */
int exposure_passes(struct passes *, const struct phasewrap *);
/* Row y of all output channels. */
void exposure_fit_row(const struct phasewrap *, const struct frame *in, struct frame *out,
    size_t y);

#endif
