#extension GL_EXT_control_flow_attributes : require
#include "steger.glsl"

/* Each candidate of the tile's list: the Newton step, its sides, its width. The order of sums is
 * that of line_at() in line_loops.h. */

struct steger_window {
	block_at at;
	int x, y;			/* the candidate's pixel */
};

struct line_place {
	float du, dv;			/* from the pixel, px */
	float x, y, xx, xy, yy;
};

/* A pixel less its background. */
float
difference(block_at at, int x, int y)
{
	uint u = steger_clamped(x, gpu.w), v = steger_clamped(y, gpu.h);
	PX_F d = gpu_sample(at.b.image, u, v, gpu.planes.at[at.b.image].type);

	if (at.b.background != STEGER_NONE)
		d = d - gpu_sample(at.b.background, u, v,
		    gpu.planes.at[at.b.background].type);
	return at.b.dark != 0u ? -d : d;
}

/* The weights at a point: tables' places of the kernels along and down, the window's first pixel. */
struct steger_kernels {
	int along, down, x0, y0;
};

/* The share of column i of the window in the sums of xy (w: yy last) of the five derivatives. */
void
add_column(block_at at, steger_kernels k, int i, inout precise vec4 four, inout precise float yy)
{
	gpu_floats weight = gpu_floats(gpu_constant(STEGER_WEIGHTS));
	int taps = int(at.b.taps), room = int(at.b.room);
	PX_F a = difference(at, k.x0 + i, k.y0);
	PX_F a0 = a * weight.at[k.down], a1 = a * weight.at[k.down + room];
	PX_F a2 = a * weight.at[k.down + 2 * room], b0 = a - a, b1 = b0, b2 = b0;
	PX_F g = weight.at[k.along + i], g1 = weight.at[k.along + room + i];
	PX_F g2 = weight.at[k.along + 2 * room + i];

	[[dont_unroll]] for (int j = 1; j + 1 < taps; j += 2) {
		PX_F b = difference(at, k.x0 + i, k.y0 + j);

		a = difference(at, k.x0 + i, k.y0 + j + 1);
		b0 += b * weight.at[k.down + j];
		b1 += b * weight.at[k.down + room + j];
		b2 += b * weight.at[k.down + 2 * room + j];
		a0 += a * weight.at[k.down + j + 1];
		a1 += a * weight.at[k.down + room + j + 1];
		a2 += a * weight.at[k.down + 2 * room + j + 1];
	}
	a0 = a0 + b0;
	a1 = a1 + b1;
	a2 = a2 + b2;
	four += vec4(a0, a1, a0, a1) * vec4(g1, g, g2, g1);
	yy += a2 * g;
}

/* Sums of the columns of each of 16 lanes, and of the lanes by halves: lanes come in the order
 * 0 8 4 12 2 10 ..., and wait in pairs, fours and eights for their partners. */
line_place
line_at(steger_window window, float du, float dv)
{
	block_at at = window.at;
	int taps = int(at.b.taps), room = int(at.b.room), iu = int(px_floor(du + 0.5f));
	int iv = int(px_floor(dv + 0.5f));
	PX_F from_u = (du - float(iu)) * float(STEGER_STEPS) + 0.5f;
	PX_F from_v = (dv - float(iv)) * float(STEGER_STEPS) + 0.5f;
	int qu = int(px_floor(from_u)), qv = int(px_floor(from_v));
	PX_F at_u = float(iu) + float(qu) * (1.0f / float(STEGER_STEPS));
	PX_F at_v = float(iv) + float(qv) * (1.0f / float(STEGER_STEPS));
	steger_kernels k = steger_kernels((qu + STEGER_STEPS / 2) * 3 * room,
	    (qv + STEGER_STEPS / 2) * 3 * room, window.x + iu - taps / 2,
	    window.y + iv - taps / 2);
	precise vec4 four, one = vec4(0.0f), two = one, pairs = one, fours = one;
	precise vec4 yys = one;
	precise float yy;

	[[dont_unroll]] for (int i = 0; i < STEGER_LANES; i++) {
		four = vec4(0.0f);
		yy = 0.0f;
		[[dont_unroll]] for (int c = bitfieldReverse(i) >> 28 & 15; c < taps;
		    c += STEGER_LANES)
			add_column(at, k, c, four, yy);
		four = (i & 1) != 0 ? one + four : four;
		yy = (i & 1) != 0 ? yys.x + yy : yy;
		one = four;
		yys.x = yy;
		if ((i & 1) != 0) {
			four = (i & 2) != 0 ? two + four : four;
			yy = (i & 2) != 0 ? yys.y + yy : yy;
			two = four;
			yys.y = yy;
		}
		if ((i & 3) == 3) {
			four = (i & 4) != 0 ? pairs + four : four;
			yy = (i & 4) != 0 ? yys.z + yy : yy;
			pairs = four;
			yys.z = yy;
		}
		if ((i & 7) == 7) {
			four = (i & 8) != 0 ? fours + four : four;
			yy = (i & 8) != 0 ? yys.w + yy : yy;
			fours = four;
			yys.w = yy;
		}
	}
	line_place p = { at_u, at_v, four.x, four.y, four.z, four.w, yy };

	return p;
}

#define LINE_WINDOW steger_window
#define LINE_LOOP [[dont_unroll]]
#include "feature/line_steps.px.h"

void
put(gpu_words list, uint at, float v)
{
	list.at[at] = floatBitsToUint(v);
}

void
main()
{
	uint i = gl_WorkGroupID.y * gpu.w + gl_GlobalInvocationID.x;
	gpu_words list = gpu_words(steger_list());
	uint n = min(list.at[0], steger_room()), at = STEGER_HEADER + i * STEGER_RECORD;
	steger_window window;
	line_edge left, right;
	line_found c;

	if (gl_GlobalInvocationID.x >= gpu.w || i >= n)
		return;
	window.at = block_at(gpu.block);
	window.x = int(list.at[at]);
	window.y = int(list.at[at + 1u]);
	c.du = uintBitsToFloat(list.at[at + 2u]);
	c.dv = uintBitsToFloat(list.at[at + 3u]);
	c.nu = uintBitsToFloat(list.at[at + 4u]);
	c.nv = uintBitsToFloat(list.at[at + 5u]);
	c.response = uintBitsToFloat(list.at[at + 6u]);
	c.is = true;
	if (window.at.b.plain == 0u)
		c = line_newton(window, c, window.at.b.low);
	if (!c.is) {
		put(list, at + 6u, 0.0f);
		return;
	}
	[[dont_unroll]] for (int far = 0; far < 2; far++) {
		float reach = far != 0 ? window.at.b.reach : window.at.b.near_reach;

		/* a loop, so that there is one copy of the code */
		[[dont_unroll]] for (int side = 0; side < 2; side++) {
			right = line_inflection(window, c, window.at.b.sigma, reach,
			    side != 0 ? 1.0f : -1.0f);
			if (side == 0)
				left = right;
		}
		if (!px_isnan(left.distance) && !px_isnan(right.distance))
			break;
	}
	PX_F d = (left.distance + right.distance) * 0.5f;

	put(list, at + 2u, c.du);
	put(list, at + 3u, c.dv);
	put(list, at + 4u, c.nu);
	put(list, at + 5u, c.nv);
	put(list, at + 6u, c.response);
	put(list, at + 7u, line_width(d, window.at.b.variance));
	put(list, at + STEGER_HALF, d);
	put(list, at + STEGER_LEFT, left.gradient);
	put(list, at + STEGER_RIGHT, right.gradient);
}
