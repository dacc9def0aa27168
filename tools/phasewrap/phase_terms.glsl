/* The sums over the images that standard deviations are made of, as shaders read them. */
#include "fringe/phase_noise.px.h"

/* Of a fit: number i of this constant. */
phase_noise_terms
phase_terms(uint constant, uint i)
{
	gpu_floats v = gpu_floats(gpu_constant(constant));
	uint at = 9 * i;

	return phase_noise_terms(v.at[at], v.at[at + 1], v.at[at + 2], v.at[at + 3], v.at[at + 4],
	    v.at[at + 5], v.at[at + 6], v.at[at + 7], v.at[at + 8]);
}
