/* What the shaders of a turned view share: where the processor has loops over vectors
 * (turned_rows.c), they do the same operations in the same order. */
#include "gpu/gpu.glsl"
#include "shade_view.block.h"

layout(buffer_reference, std430) readonly buffer block_at { view_block b; };

#define VIEW block_at(gpu.block).b

/* ---- invocations are counted through, whatever pixels the runner meant them for ---- */

uint
view_group()
{
	return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

uint
view_groups()
{
	return gl_NumWorkGroups.x * gl_NumWorkGroups.y;
}

uint
view_invocation()
{
	return view_group() * VIEW_GROUP + gl_LocalInvocationID.x;
}

/* ---- memory ---- */

uint
view_samples()
{
	return VIEW.columns * VIEW.rows;
}

/* Rows of pixels; the output has one more for results. */
uint
view_height()
{
	return VIEW.rows / VIEW.samples;
}

/* The memory of the scratch planes from a plane of samples on, and so many words further. */
uint64_t
view_memory(uint plane, uint words)
{
	return gpu.planes.at[gpu.scratches].address +
	    (uint64_t(plane) * view_samples() + uint64_t(words)) * 4u;
}

gpu_words
view_plane(uint k)
{
	return gpu_words(view_memory(k, 0u));
}

gpu_words
view_bins()
{
	return view_plane(VIEW_ATTRIBUTES);
}

gpu_words
view_words()
{
	return gpu_words(view_memory(VIEW_ATTRIBUTES, 2u * VIEW_LISTS * VIEW_BINS));
}

float
view_float(uint word)
{
	return px_from_bits(view_words().at[word]);
}

/* Normals of the frame's points that triangles give: planes nx ny nz. */
gpu_floats
view_normals(uint k)
{
	return gpu_floats(view_memory(VIEW_ATTRIBUTES, 2u * VIEW_LISTS * VIEW_BINS + VIEW_WORDS) +
	    uint64_t(k) * VIEW.own_w * VIEW.h * 4u);
}

/* Lit samples keep their value and light where they had their key and a part of their normal. */
#define VIEW_VALUES 0u
#define VIEW_LIGHTS 1u

/* The number of sample i, from left to right and down, of pixel x of row y. */
uint
view_sample(uint x, uint y, uint i)
{
	uint n = VIEW.samples;

	return (y * n + i / n) * VIEW.columns + x * n + i % n;
}

/* ---- floats as whole numbers of the same order; NaN is the last one, and 0 and -0 are one ---- */

#define VIEW_UNSET 0xffffffffu

uint
view_order(float v)
{
	uint u = px_bits(v);

	if (px_isnan(v))
		return VIEW_UNSET - 1u;
	if ((u & 0x7fffffffu) == 0u)
		u = 0u;
	return (u & 0x80000000u) != 0u ? ~u : u | 0x80000000u;
}

float
view_value(uint order)
{
	if (order >= VIEW_UNSET - 1u)
		return PX_NAN;
	return px_from_bits((order & 0x80000000u) != 0u ? order & 0x7fffffffu : ~order);
}

/* ---- light: shares of the colour and of white in 16 bits each ---- */

#define VIEW_LIGHT 32767.0f	/* TURNED_LIGHT */
#define VIEW_EMPTY 0xffffffffu	/* TURNED_EMPTY */
#define VIEW_LIT_ONCE 0xfffffffeu	/* of a pixel's second sample: the first one is the pixel's */

bool
view_is_once(uint x, uint y)
{
	return VIEW.samples == 2u &&
	    view_plane(VIEW_LIGHTS).at[view_sample(x, y, 1u)] == VIEW_LIT_ONCE;
}
