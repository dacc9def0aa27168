#include "gpu/gpu.glsl"
#include "gpu/float_results.px.h"

layout(buffer_reference, std430, buffer_reference_align = 4) buffer results_at {
	float_results at[];
};

/* gpu.w pairs of floats at gpu.block; behind them the results. */
void
main()
{
	uint i = gl_GlobalInvocationID.x;
	gpu_floats pairs = gpu_floats(gpu.block);

	if (i < gpu.w)
		results_at(gpu.block + 8u * uint64_t(gpu.w)).at[i] =
		    float_results_of(pairs.at[2u * i], pairs.at[2u * i + 1u]);
}
