/* What phasewrap.comp reads, in C and in GLSL. */
#ifndef PHASEWRAP_BLOCK_H
#define PHASEWRAP_BLOCK_H

#include "base/px.h"

/* The channels of an output frame: the first one of each kind that it has. */
struct phasewrap_channels {
	uint phases;			/* how many; they begin with channel 0 */
	uint modulation, texture, fit_residual, exposure, sigma, marker, index;
};

/* An image of a fringe set; before each set one whose plane is their number. Then the planes of the
 * Gray codes, most significant first. */
struct phasewrap_image {
	uint plane, inverse;
	float mean, c, s;
	float cosine, sine;		/* of the fit */
};

struct phasewrap_block {
	uint type;			/* of the samples, as GPU_UCHAR in gpu.glsl */
	uint vectors;			/* 1: cos and sin come out, 0: the phase */
	uint fits;			/* 1: the misfit is computed */
	uint fringes, codes, flats;
	uint flat_0, flat_1;
	uint bits[2], inverse[2], reference[2];	/* of each code */
	uint markers, marker[2];	/* their planes */
	float max_value, least_amplitude, least_mean, least_modulation;
	float most_misfit;
	/* 1: constant 0 has the corrections of all fringe sets, then their levels; the next one has
	 * the sigmas' terms */
	uint corrects;
	uint writes_fit, sigmas;	/* 1: there are such channels */
	float variance, gain, least;	/* struct phase_noise_model */
	PX_STRUCT phasewrap_channels channels;
};

#endif
