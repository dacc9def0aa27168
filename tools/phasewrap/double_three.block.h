/* What phasewrap_double.comp reads, in C and in GLSL. */
#ifndef DOUBLE_THREE_BLOCK_H
#define DOUBLE_THREE_BLOCK_H

#include "phasewrap.block.h"

#define DOUBLE_OPPOSITE 1e-3f	/* the sum of two unit vectors that has no direction */

/* Behind it phasewrap_images: of each fringe set the six of its two sets of three, then the six of
 * the fit of all; then the Gray planes. */
struct double_block {
	uint type;			/* of the samples, as GPU_UCHAR in gpu.glsl */
	uint vectors, fits, writes_fit, sigmas;	/* 0 or 1; constant 0: their terms */
	uint fringes, codes, flats;
	uint flat_0, flat_1;
	uint bits[2], inverse[2], reference[2];	/* of each code */
	float max_value, least_amplitude, least_mean, least_modulation;
	float most_misfit;
	float variance, gain, least;	/* struct phase_noise_model */
	PX_STRUCT phasewrap_channels channels;
};

#endif
