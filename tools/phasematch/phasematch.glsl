/* What the shaders of phasematch share. */
#include "gpu/gpu.glsl"
#include "phasematch.px.h"
#include "phasematch.block.h"

/* Entry i of a list. */
float
list_at(uint list, uint i, uint y)
{
	return gpu_scratch(list + i / gpu.w, i % gpu.w, y);
}

void
list_put(uint list, uint i, uint y, float v)
{
	gpu_scratch_put(list + i / gpu.w, i % gpu.w, y, v);
}
