#include "gpu/gpu.glsl"
#include "dither3.px.h"
#include "dither3.block.h"

layout(buffer_reference, std430) readonly buffer block_at { dither3_block b; };

/* Where in the table the threshold of a place in the tile is. */
uint
place_of(uint plane, uint x, uint y)
{
	return (plane * DITHER3_TILE + y % DITHER3_TILE) * DITHER3_TILE + x % DITHER3_TILE;
}

/* ---- images side by side: pixel by pixel ---- */

float
share(block_at at, uint plane, uint x, uint y)
{
	return dither3_share(gpu_sample(at.b.channel[plane], x, y, at.b.type));
}

float
side_by_side(block_at at, uint x, uint y)
{
	uint plane = x / at.b.w, column = x % at.b.w;

	if (x >= gpu.w)
		return 0.0f;
	precise float here = share(at, plane, column, y);
	if (plane < 3 && dither3_black(share(at, 0, column, y), share(at, 1, column, y)))
		return 0.0f;
	if (plane < 2 && at.b.to_circle != 0u)
		here = dither3_to_circle(here, share(at, 1 - plane, column, y));
	return px_select(here >=
	    gpu_floats(gpu_constant(0)).at[place_of(plane, column, y)], 1.0f, 0.0f);
}

/* ---- the upper bits of a sample: four pixels at once ---- */

vec4
shares4(block_at at, uint plane, uint x, uint y)
{
	vec4 v = gpu_samples4(at.b.channel[plane], x, y, at.b.type);

	for (uint i = 0; i < 4; i++)
		v[i] = dither3_share(v[i]);
	return v;
}

/* `one` where a level reaches its threshold, else 0. */
vec4
compare4(uint plane, vec4 share, uint x, uint y, float one)
{
	vec4 threshold = gpu_fours(gpu_constant(0)).at[place_of(plane, x, y) >> 2];

	for (int i = 0; i < 4; i++)
		share[i] = px_select(share[i] >= threshold[i], one, 0.0f);
	return share;
}

/* Fringes and stair. */
vec4
packed4(block_at at, uint x, uint y)
{
	vec4 sine = shares4(at, 0, x, y), cosine = shares4(at, 1, x, y);
	vec4 stair = shares4(at, 2, x, y), s = sine, c = cosine;

	for (uint i = 0; i < 4 && at.b.to_circle != 0u; i++) {
		s[i] = dither3_to_circle(sine[i], cosine[i]);
		c[i] = dither3_to_circle(cosine[i], sine[i]);
	}
	precise vec4 value = compare4(0, s, x, y, 128.0f) + compare4(1, c, x, y, 64.0f) +
	    compare4(2, stair, x, y, 32.0f);

	for (uint i = 0; i < 4; i++)
		value[i] = px_select(dither3_black(sine[i], cosine[i]), 0.0f, value[i]);
	return value;
}

/* The texture: its bit, or its level. */
vec4
texture4(block_at at, uint x, uint y, float one)
{
	vec4 share;

	if (at.b.texture_bits == 0)
		return vec4(0);
	share = shares4(at, 3, x, y);
	if (at.b.texture_bits == 1)
		return compare4(3, share, x, y, one);
	for (uint i = 0; i < 4; i++)
		share[i] = px_floor(dither3_level(share[i]));
	return share;
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	precise vec4 value;

	if (gpu_outside(x, y))
		return;
	if (at.b.pack == DITHER3_PLANAR) {
		for (uint i = 0; i < 4; i++)
			value[i] = side_by_side(at, x + i, y);
		gpu_out4_uchar(0, x, y, value);
		return;
	}
	value = packed4(at, x, y);
	if (at.b.pack == DITHER3_MSB) {
		value = value + texture4(at, x, y, 16.0f);
		gpu_out4_uchar(0, x, y, value);
		return;
	}
	gpu_out4_uchar(0, x, y, value);
	gpu_out4_uchar(1, x, y, texture4(at, x, y, 255.0f));
	gpu_out4_uchar(2, x, y, vec4(0));
}
