#include "gpu/gpu.glsl"
#include "rectify.px.h"
#include "rectify.block.h"

layout(buffer_reference, std430) readonly buffer block_at { rectify_block b; };

#define PLAIN 0u		/* enum rectify_kind */
#define WRAPPED 1u
#define SIGMA 2u
#define NEAREST 3u

float
sample_at(block_at at, uint x, uint y)
{
	return gpu_sample(at.b.channel, x, y, at.b.type);
}

float
plain(float v, float least, float greatest, bool valid, block_at at)
{
	return valid ? rectify_limit(v, least, greatest, at.b.max_step, at.b.saturated) : PX_NAN;
}

float
linear(block_at at, uint u, uint v)
{
	uint x = rectify_whole(u), y = rectify_whole(v);
	uint right = x + rectify_step(u), down = y + rectify_step(v);
	float fx = rectify_rest(u), fy = rectify_rest(v);
	float a = sample_at(at, x, y), b = sample_at(at, right, y);
	float c = sample_at(at, x, down), d = sample_at(at, right, down);
	bool valid = !px_isnan(a) && !px_isnan(b) && !px_isnan(c) && !px_isnan(d);
	float value, e, f, g;

	if (!valid)
		return PX_NAN;
	if (at.b.kind == SIGMA)
		return rectify_sigma(a, b, c, d, fx, fy);
	if (at.b.kind == PLAIN)
		return plain(rectify_linear(a, b, c, d, fx, fy),
		    px_min(px_min(a, b), px_min(c, d)), px_max(px_max(a, b), px_max(c, d)), true,
		    at);
	value = rectify_direction(
	    rectify_linear(px_sin(a), px_sin(b), px_sin(c), px_sin(d), fx, fy),
	    rectify_linear(px_cos(a), px_cos(b), px_cos(c), px_cos(d), fx, fy));
	e = rectify_turn(b, a);
	f = rectify_turn(d, a);
	g = rectify_turn(c, a);
	return plain(value, px_min(px_min(0.0f, e), px_min(f, g)),
	    px_max(px_max(0.0f, e), px_max(f, g)), true, at);
}

void
weigh(float f, out float weight[4])
{
	weight[0] = rectify_weight_before(f);
	weight[1] = rectify_weight_at(f);
	weight[2] = rectify_weight_next(f);
	weight[3] = rectify_weight_beyond(f);
}

float
cubic(block_at at, uint u, uint v)
{
	int x = int(rectify_whole(u)), y = int(rectify_whole(v));
	int right = int(rectify_step(u)), down = int(rectify_step(v));
	float wx[4], wy[4], first = sample_at(at, x, y);
	precise float sum = 0.0f, sines = 0.0f, cosines = 0.0f;
	float least = px_from_bits(0x7f800000u), greatest = px_from_bits(0xff800000u);
	bool valid = true;

	weigh(rectify_rest(u), wx);
	weigh(rectify_rest(v), wy);
	for (int j = 0; j < 4; j++) {
		precise float row = 0.0f, row_sines = 0.0f, row_cosines = 0.0f;

		for (int i = 0; i < 4; i++) {
			float s = sample_at(at, uint(x + (i - 1) * right),
			    uint(y + (j - 1) * down)), compared = s;

			valid = valid && !px_isnan(s);
			if (at.b.kind == WRAPPED) {
				row_sines = row_sines + wx[i] * px_sin(s);
				row_cosines = row_cosines + wx[i] * px_cos(s);
				compared = rectify_turn(s, first);
			} else if (at.b.kind == SIGMA) {
				row = row + wx[i] * wx[i] * (s * s);
			} else {
				row = row + wx[i] * s;
			}
			least = px_min(least, compared);
			greatest = px_max(greatest, compared);
		}
		sines = sines + wy[j] * row_sines;
		cosines = cosines + wy[j] * row_cosines;
		sum = sum + (at.b.kind == SIGMA ? wy[j] * wy[j] * row : wy[j] * row);
	}
	if (at.b.kind == SIGMA)
		return valid ? px_sqrt(sum) : PX_NAN;
	if (at.b.kind == WRAPPED)
		sum = rectify_direction(sines, cosines);
	return plain(sum, least, greatest, valid, at);
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y(), u, v;
	block_at at = block_at(gpu.block);
	uint64_t map = gpu_constant(0);
	float value = PX_NAN;

	if (gpu_outside(x, y))
		return;
	if (y < at.b.rows) {
		uint i = y * at.b.stride + x;

		u = gpu_words(map).at[i];
		v = gpu_words(map).at[i + at.b.rows * at.b.stride];
		if (u == RECTIFY_NOWHERE)
			value = PX_NAN;
		else if (at.b.kind == NEAREST)
			value = sample_at(at, rectify_nearest(u), rectify_nearest(v));
		else
			value = at.b.cubic != 0u ? cubic(at, u, v) : linear(at, u, v);
	}
	gpu_out(at.b.channel, x, y, value);
}
