/* What the shaders of undither3's fit have in common. A pixel per invocation. */
#include "gpu/gpu.glsl"
#include "undither3.px.h"
#include "fit.block.h"

layout(buffer_reference, std430) readonly buffer block_at { undither3_fit b; };

/* The column or row so far off, but none outside of the planes: what is there counts nowhere. */
uint
column(uint x, int by)
{
	return uint(clamp(int(x) + by, 0, int(gpu.w) - 1));
}

uint
row(uint y, int by)
{
	return uint(clamp(int(y) + by, 0, int(gpu.h) - 1));
}

float
near(uint plane, uint x, uint y, int dx, int dy)
{
	return gpu_scratch(plane, column(x, dx), row(y, dy));
}

/* A pixel's bit of sine, cosine or stair: 0 or 1. */
float
bit_of(uint c, uint x, uint y)
{
	return float(uint(gpu_sample(0, x, y, GPU_UCHAR)) >> c & 1u);
}

/* Entry of the pixel's place in a table of tiles; for pixels of the picture. */
float
in_tile(uint table, uint x, uint y)
{
	uint u = (x - FIT_MARGIN) % FIT_TILE, v = (y - FIT_MARGIN) % FIT_TILE;

	return gpu_floats(gpu_constant(table)).at[v * FIT_TILE + u];
}

/* The stair of order 0 at a rest. */
float
profile(float rest)
{
	PX_F place = rest * HOLO_PROFILE;

	return gpu_floats(gpu_constant(FIT_PROFILE)).at[uint(place)];
}

float
smooth_of(block_at at, float v[7])
{
	return undither3_smooth(v[3], v[0], v[1], v[2], v[4], v[5], v[6], at.b.kernel[0],
	    at.b.kernel[1], at.b.kernel[2], at.b.kernel[3]);
}

/* Down a column of a plane. */
float
smooth_down(block_at at, uint plane, uint x, uint y)
{
	float v[7];

	for (int k = -FIT_SMOOTH; k <= FIT_SMOOTH; k++)
		v[k + FIT_SMOOTH] = near(plane, x, y, 0, k);
	return smooth_of(at, v);
}

bits_bounds
bound(float turns, uint x, uint y)
{
	return bits_bound(turns, bit_of(0, x, y), bit_of(1, x, y),
	    in_tile(FIT_ARC_SINE, x, y), in_tile(FIT_ARC_COSINE, x, y));
}

/* As carry() and mend() of undither3_rows.c. */
float
carry(uint x, uint y, int dx, int dy, float here)
{
	for (int k = 1; k <= FIT_MEND; k++) {
		uint u = column(x, k * dx), v = row(y, k * dy);

		if (gpu_scratch(FIT_TRUSTED, u, v) > 0.0f)
			return undither3_carry(gpu_scratch(FIT_TURNS, u, v),
			    gpu_scratch(FIT_RIGHT, u, v), gpu_scratch(FIT_DOWN, u, v), float(k),
			    float(dx), float(dy), here);
	}
	return PX_NAN;
}

float
mend(uint x, uint y)
{
	float here = gpu_scratch(FIT_TURNS, x, y), turns = PX_NAN;
	int agreeing = 0;

	for (int way = 0; way < 9; way++) {
		float carried = way == 4 ? PX_NAN : carry(x, y, way % 3 - 1, way / 3 - 1, here);
		PX_F apart = turns - carried;

		if (px_isnan(carried))
			continue;
		if (!px_isnan(turns) && px_abs(apart) > 0.5f)
			return PX_NAN;
		turns = carried;
		agreeing++;
	}
	return px_select(agreeing < FIT_MEND_LEAST || turns < 0.0f, PX_NAN, turns);
}
