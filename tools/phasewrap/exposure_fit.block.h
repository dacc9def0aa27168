/* What phasewrap_exposures.comp reads, in C and in GLSL. */
#ifndef EXPOSURE_FIT_BLOCK_H
#define EXPOSURE_FIT_BLOCK_H

#include "phasewrap.block.h"

#define EXPOSURE_GAINS 8		/* EXPOSURES_MOST */

/* Behind it phasewrap_images. Of each fringe set one whose plane is their number in an exposure,
 * then the images of one exposure after another; of each Gray plane those of all exposures; white
 * and black of each exposure. */
struct exposure_block {
	uint type;			/* of the samples, as GPU_UCHAR in gpu.glsl */
	uint vectors, fits, writes_fit, map, sigmas;	/* 0 or 1 */
	uint fringes, exposures, codes, flats, shortest;
	uint bits[2], inverse[2], reference[2];	/* of each code */
	float least;			/* unsaturated images that an exposure must have; 0: all */
	float max_value, least_amplitude, least_mean, least_modulation;
	float most_misfit;
	float gain[EXPOSURE_GAINS];
	float noise_variance, noise_gain, noise_least;	/* struct phase_noise_model */
	PX_STRUCT phasewrap_channels channels;
};

#endif
