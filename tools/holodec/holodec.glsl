/* What the shaders of holodec that make depths have in common. */
#define HOLODEC_NO_DOUBLES
#include "gpu/gpu.glsl"
#include "holodec.px.h"
#include "holodec.block.h"

layout(buffer_reference, std430) readonly buffer block_at { holodec_block b; };

/* The readings of four pixels by themselves. */
struct reading {
	vec4 rest, order;		/* NaN in the background */
};

vec4
levels4(block_at at, uint c, uint x, uint y)
{
	vec4 level = gpu_samples4(c, x, y, at.b.type);

	for (uint i = 0; i < 4; i++)
		level[i] = holodec_level(level[i]);
	return level;
}

reading
read4(block_at at, uint x, uint y)
{
	vec4 sine = levels4(at, at.b.sine, x, y), cosine = levels4(at, at.b.cosine, x, y);
	vec4 level = levels4(at, at.b.stair, x, y);
	gpu_floats profile = gpu_floats(gpu_constant(0));
	reading r;

	for (uint i = 0; i < 4; i++) {
		PX_F s = sine[i] - 127.5f, c = cosine[i] - 127.5f;
		PX_F rest = holo_rest(s, c), place = rest * HOLO_PROFILE;
		PX_F order = holodec_order(level[i], profile.at[uint(place)], at.b.per_height);
		PX_F turns = rest + holo_plain_order(level[i], at.b.per_height, at.b.half_step);
		bool missing = holodec_missing(sine[i], cosine[i], level[i]);

		order = px_select(at.b.decode == HOLODEC_PLAIN, turns, order);
		r.rest[i] = px_select(missing, PX_NAN, rest);
		r.order[i] = px_select(missing, PX_NAN, order);
	}
	return r;
}

/* A neighbour's reading as seen from a pixel of this rest; NaN where it has none. */
float
seen_from(float rest, float order, float neighbour_rest)
{
	return px_select(px_isnan(order), PX_NAN, holodec_seen_from(rest, order, neighbour_rest));
}
