/* What the shaders of phasewrap share: their block, the sums that standard deviations are computed
 * from, and the judgement of a pixel's sums. */
#include "gpu/gpu.glsl"
#include "phasewrap.px.h"
#include "fringe/phase_noise.px.h"
#include "phasewrap.block.h"

layout(buffer_reference, std430) readonly buffer block_at {
	phasewrap_block b;
	phasewrap_image image[];
};

/* The sums of a fit over the images: number i of this constant. */
phase_noise_terms
phase_terms(uint constant, uint i)
{
	gpu_floats v = gpu_floats(gpu_constant(constant));
	uint at = 9 * i;

	return phase_noise_terms(v.at[at], v.at[at + 1], v.at[at + 2], v.at[at + 3], v.at[at + 4],
	    v.at[at + 5], v.at[at + 6], v.at[at + 7], v.at[at + 8]);
}

/* What the sums of a pixel over `images` images give: cosine and sine are B cos and B sin as shares
 * of B, mean is their number times A. */
struct judged {
	float mean, cosine, sine, texture, modulation;
	bool good;
};

judged
judge_sums(block_at at, float images, float first, float most, float sum, float c, float s)
{
	PX_F mean = phasewrap_mean(first, sum, images);
	PX_F amplitude = phasewrap_amplitude(s, c), amplitude_sum = amplitude * images;
	PX_F divisor = px_max(mean, PHASEWRAP_LEAST_MEAN);
	PX_F product = amplitude * divisor, inverse = px_divide(1.0f, product);
	PX_F modulation = phasewrap_modulation(mean, amplitude, amplitude_sum, product, inverse);
	PX_F unit = divisor * inverse, least_mean = at.b.least_mean * images;
	PX_F texture = phasewrap_texture(mean, amplitude_sum, at.b.crest) * px_divide(1.0f, images);
	PX_F cosine = c * unit, sine = s * unit;
	bool good = phasewrap_good(amplitude, mean, product, modulation, at.b.least_amplitude,
	    least_mean, at.b.least_modulation) && (most < at.b.max_value);

	return judged(mean, cosine, sine, texture, modulation, good);
}
