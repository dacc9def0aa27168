#version 450
#extension GL_GOOGLE_include_directive : require
#include "fit.glsl"

/* fit.c: what is kept, and its levels. */
int
alike(uint x, uint y, float here)
{
	int n = 0;

	for (int way = 0; way < 9; way++) {
		int dx = way % 3 - 1, dy = way / 3 - 1;
		PX_F apart = near(FIT_MENDED, x, y, dx, dy) - here;

		if (way != 4 && near(FIT_KEPT, x, y, dx, dy) > 0.0f && px_abs(apart) < 0.5f)
			n++;
	}
	return n;
}

float
checked(block_at at, uint x, uint y)
{
	float turns = gpu_scratch(FIT_MENDED, x, y);
	bool stays = at.b.keep != 0 ||
	    (gpu_scratch(FIT_KEPT, x, y) > 0.0f && alike(x, y, turns) >= FIT_ALIKE);

	return px_select(stays, turns, PX_NAN);
}

float
mended(block_at at, uint x, uint y)
{
	if (at.b.keep != 0 || gpu_scratch(FIT_TRUSTED, x, y) > 0.0f ||
	    gpu_scratch(FIT_INSIDE, x, y) == 0.0f)
		return gpu_scratch(FIT_TURNS, x, y);
	return mend(x, y);
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	undither3_levels levels;
	float turns;

	if (outside(x, y))
		return;
	turns = at.b.checked != 0 ? checked(at, x, y) : mended(at, x, y);
	levels = undither3_encode(turns, at.b.order_most, at.b.height, at.b.base, at.b.swing,
	    at.b.waves);
	gpu_out(at.b.place[0], x, y, levels.sine);
	gpu_out(at.b.place[1], x, y, levels.cosine);
	gpu_out(at.b.place[2], x, y, levels.stair);
}
