#include "holodec.glsl"

/* Turns as read; whole ones that a pixel lies off the median of five in its row are taken out. */
vec4
unspiked(uint x, uint y)
{
	vec4 turns = gpu_scratch4(HOLODEC_ORDER, x, y);
	float v[8];

	for (uint k = 0; k < 8; k++) {
		uint there = x + k - 2;		/* below 0: large */

		v[k] = there < gpu.w ? gpu_scratch(HOLODEC_ORDER, there, y) : PX_NAN;
	}
	for (uint i = 0; i < 4; i++) {
		PX_F median = median_of_5(v[i], v[i + 1], v[i + 2], v[i + 3], v[i + 4]);

		turns[i] = px_select(
		    px_isnan(turns[i]), PX_NAN, holo_unspike(turns[i], median));
	}
	return turns;
}

/* Medians of seven medians along rows down the column, each as seen from the row in the middle. */
reading
medians(uint x, uint y)
{
	float seen[4][7];
	reading r;

	r.rest = gpu_scratch4(HOLODEC_REST, x, y);
	for (uint k = 0; k < 7; k++) {
		uint there = y + k - 3;		/* above 0: large */
		bool inside = there < gpu.h;
		vec4 rest = gpu_scratch4(HOLODEC_REST, x, inside ? there : y);
		vec4 order = gpu_scratch4(HOLODEC_ALONG, x, inside ? there : y);

		for (uint i = 0; i < 4; i++) {
			float as_seen = k == 3 ? order[i] : seen_from(r.rest[i], order[i], rest[i]);

			seen[i][k] = px_select(inside, as_seen, PX_NAN);
		}
	}
	for (uint i = 0; i < 4; i++)
		r.order[i] = holodec_median_of_7(seen[i][0], seen[i][1], seen[i][2], seen[i][3],
		    seen[i][4], seen[i][5], seen[i][6]);
	return r;
}

vec4
find_turns(block_at at, uint x, uint y)
{
	reading r;
	vec4 turns;

	if (at.b.decode == HOLODEC_PLAIN)
		return unspiked(x, y);
	if (at.b.decode == HOLODEC_MEDIAN)
		r = medians(x, y);
	else
		r = read4(at, x, y);
	for (uint i = 0; i < 4; i++) {
		PX_F order = holo_nearest_order(r.order[i], 0.0f, 1.0f, at.b.order_most);
		PX_F sum = r.rest[i] + order;
		bool missing = px_isnan(r.rest[i]) || px_isnan(r.order[i]);

		turns[i] = px_select(missing, PX_NAN, sum);
	}
	return turns;
}

/* Has the square around these pixels background? */
bvec4
near_black(block_at at, uint x, uint y)
{
	uint edge = at.b.edge;
	bvec4 is_near = bvec4(false);

	if (edge == 0)
		return is_near;
	for (uint row = y - min(y, edge); row < min(y + edge + 1, gpu.h); row++) {
		vec4 black = gpu_scratch4(HOLODEC_BLACK, x, row);

		for (int i = 0; i < 4; i++)
			is_near[i] = is_near[i] || black[i] > 0.0f;
	}
	return is_near;
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	precise vec4 depth, texture;
	bvec4 drop;

	if (gpu_outside(x, y))
		return;
	depth = find_turns(at, x, y);
	drop = near_black(at, x, y);
	for (uint i = 0; i < 4; i++) {
		depth[i] = holodec_depth(depth[i], float(x + i), at.b.turns_per_column,
		    at.b.per_turn, at.b.zero, at.b.range, at.b.slack);
		depth[i] = px_select(drop[i], PX_NAN, depth[i]);
	}
	gpu_out4(at.b.depth, x, y, depth);
	if (at.b.texture == HOLODEC_NONE)
		return;
	texture = gpu_samples4(at.b.texture, x, y, at.b.type);
	for (uint i = 0; i < 4; i++) {
		PX_F grey = texture[i] * at.b.texture_scale;

		/* the NaN that it was, as the processor's product is */
		texture[i] = px_select(px_isnan(texture[i]),
		    px_from_bits(px_bits(texture[i]) | 0x400000u), grey);
	}
	gpu_out4(at.b.depth + 1, x, y, texture);
}
