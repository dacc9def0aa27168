/* What phasewrap.comp reads, in C and in GLSL. */
#ifndef PHASEWRAP_BLOCK_H
#define PHASEWRAP_BLOCK_H

#include "base/px.h"

/* The channels of an output frame: the first one of each kind that it has. */
struct phasewrap_channels {
	uint phases;			/* how many; they begin with channel 0 */
	uint modulation, texture, fit_residual, exposure, sigma, marker, index;
	uint edge;			/* of all codes, then their edge_sigma */
};

#define EXPOSURE_GAINS 8		/* EXPOSURES_MOST */
#define DOUBLE_OPPOSITE 1e-3f	/* the sum of two unit vectors that has no direction */

/*
 * An image of a fringe set, with its weights; or a plane and the one that it is compared with. The
 * block is followed by the images of all fringe sets and then the planes of the Gray codes, most
 * significant first. phasewrap.comp: before each set one whose plane is their number.
 * phasewrap_exposures.comp: the same, of one exposure; each set, and each plane, in all exposures;
 * then white and black of each. phasewrap_double.comp: of each set the six of its two sets of
 * three, then the six of the fit of all.
 */
struct phasewrap_image {
	uint plane, inverse;
	float mean, c, s;
	float cosine, sine;		/* of the fit */
};

/* What all shaders of phasewrap read. */
struct phasewrap_block {
	uint type;			/* of the samples, as GPU_UCHAR in gpu.glsl */
	uint vectors;			/* 1: cos and sin come out, 0: the phase */
	uint fits;			/* 1: the misfit is computed */
	uint crest;			/* of phasewrap_texture() */
	uint fringes, codes, flats;
	uint flat_0, flat_1;
	uint bits[2], inverse[2], reference[2], along_y[2];	/* of each code */
	uint markers, marker[2];	/* their planes */
	uint code_alone, judges_codes;	/* 1: planes and inverses tell which pixels are lit */
	float max_value, least_amplitude, least_mean, least_modulation;
	float most_misfit;
	/* 1: constant 0 has the corrections of all fringe sets, then their levels; the next one has
	 * the sigmas' terms */
	uint corrects;
	uint writes_fit, sigmas, map;	/* 1: there are such channels */
	float variance, gain, least;	/* struct phase_noise_model */
	float least_code_variance;	/* of a plane less its inverse */
	uint exposures, shortest;
	float exposure_gain[EXPOSURE_GAINS];
	float least_images;	/* unsaturated, that an exposure must have; 0: all */
	PX_STRUCT phasewrap_channels channels;
};

#endif
