#include "gpu/gpu.glsl"
#include "teststate.px.h"

layout(buffer_reference, std430) readonly buffer block_at { teststate_block b; };

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 value, mean, count;

	if (gpu_outside(x, y))
		return;
	value = gpu_in4(0, x, y);
	mean = gpu_state4(0, x, y);
	count = gpu_state4(1, x, y);
	for (int i = 0; i < 4; i++) {
		PX_F more = count[i] + 1.0;

		mean[i] = teststate_mean(mean[i], value[i], at.b.gain);
		count[i] = px_select(px_isnan(count[i]), 1.0, more);
	}
	gpu_state4_put(0, x, y, mean);
	gpu_state4_put(1, x, y, count);
	gpu_out4(0, x, y, mean);
	gpu_out4(1, x, y, count);
}
