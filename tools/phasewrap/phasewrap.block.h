/* What phasewrap.comp reads, in C and in GLSL. */
#ifndef PHASEWRAP_BLOCK_H
#define PHASEWRAP_BLOCK_H

#include "base/px.h"

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
	uint fits, qualities;		/* 1: the misfit is computed; channels before the index */
	uint fringes, codes, flats;
	uint flat_0, flat_1;
	uint bits[2], inverse[2], reference[2];	/* of each code */
	uint markers, marker[2];	/* their planes, which are the last qualities */
	float max_value, least_amplitude, least_mean, least_modulation;
	float most_misfit;
	uint corrects;			/* 1: constant 0 has the corrections of all fringe sets */
	uint writes_fit, sigmas;	/* 1: these channels stand behind texture */
	float variance, gain, least;	/* struct phase_noise_model */
};

#endif
