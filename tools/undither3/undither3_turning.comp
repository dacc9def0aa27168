#include "fit.glsl"

/* The turn between the phasors one pixel before and behind, in a row (cosine, sine) and in a column,
 * averaged along the row. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	float v[4][7];

	if (gpu_outside(x, y))
		return;
	for (int k = -FIT_SMOOTH; k <= FIT_SMOOTH; k++)
		for (int down = 0; down < 2; down++) {
			int dx = 1 - down, dy = down;
			float s0 = near(FIT_SINE, x, y, k - dx, -dy);
			float c0 = near(FIT_COSINE, x, y, k - dx, -dy);
			float s1 = near(FIT_SINE, x, y, k + dx, dy);
			float c1 = near(FIT_COSINE, x, y, k + dx, dy);

			v[2 * down][k + FIT_SMOOTH] = undither3_turn_cosine(s0, c0, s1, c1);
			v[2 * down + 1][k + FIT_SMOOTH] = undither3_turn_sine(s0, c0, s1, c1);
		}
	for (uint i = 0; i < 4; i++)
		gpu_scratch_put(FIT_SPARE + i, x, y, smooth_of(at, v[i]));
}
