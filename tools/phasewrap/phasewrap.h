/* What phasewrap makes of a measurement, and the two ways: rows on the processor, a pass on the
 * device. */
#ifndef PHASEWRAP_H
#define PHASEWRAP_H

#include "exposures.h"
#include "fringe/capture_set.h"
#include "fringe/phase_noise.h"
#include "fringe/phase_shift_weights.h"
#include "phasewrap.block.h"

struct harmonics;
struct passes;

/* What makes a pixel invalid. */
struct phasewrap_limits {
	float max_value, least_amplitude, least_mean, least_modulation;
	float most_misfit;
};

/* What is planned for a measurement. */
struct phasewrap {
	struct capture_set captures;
	struct phase_shift_fit *fit;	/* of each fringe set */
	struct double_three *halves;	/* of each fringe set; NULL: not --kind double */
	double sign, origin_rad;	/* of the shifts and phases that the fits are for */
	size_t reference[2];		/* fringe set whose mean is the threshold of a code */
	float *per_light;	/* of each plane, 1 over its light; 0: no fringes; NULL: all even */
	bool vector;
	struct exposures exposures;	/* all of them; `captures` is the first */
	bool warned_ratio;		/* of their light, once in a run */
	bool fits, writes_fit;	/* the misfit is computed; it is a channel */
	struct phasewrap_limits limits;
	/* of each fringe set (harmonics.h), then the levels of each; NULL: none */
	float *correction;
	/* of each fringe set, along x then y (harmonics.h); NULL: the same all over the picture */
	float *correction_slopes;
	bool sigmas;		/* channels behind fit_residual: the phases' standard deviations */
	struct phase_noise_model noise;
	/* of each fringe set, or each half of one; NULL without sigmas */
	struct phase_noise_terms *terms;
	struct phasewrap_channels channels;
};

/* Lays out the channels of a frame, names them and sets its keys: phases, what stands between them
 * and the indices, indices. -1 after fail(). */
int phasewrap_describe(struct phasewrap *, struct frame_head *out);
/* The fits of all fringe sets, see phase_shift_weights_solve(). -1 after fail(). */
int phasewrap_solve(struct phasewrap *, double sign, double origin_rad);
/* The corrections of all fringe sets, see harmonics_correction(), if harmonics were read; sigmas:
 * with the levels that standard deviations need. -1 after fail(). */
int phasewrap_correct(struct phasewrap *, const struct harmonics *, bool sigmas, double sign,
    double origin_rad);
/* Frees all that is planned. */
void phasewrap_forget(struct phasewrap *);
/* Row y of the output. */
void phasewrap_row(const struct phasewrap *, const struct frame *in, struct frame *out, size_t y);
int phasewrap_passes(struct passes *, const struct phasewrap *);

#endif
