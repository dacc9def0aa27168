#include "fit.glsl"

/* window_sum(): the average around a pixel, along the carrier that it has there. */
struct carrier {
	float cosine[2 * FIT_REACH_MOST + 1], sine[2 * FIT_REACH_MOST + 1];
};

void
fill(float frequency, int reach, out carrier c)
{
	for (int k = -reach; k <= reach; k++) {
		float turn = undither3_carrier(float(k), frequency);

		c.cosine[k + reach] = px_cos(turn);
		c.sine[k + reach] = px_sin(turn);
	}
}

undither3_neighbour
neighbour(uint x, uint y)
{
	PX_F inside = gpu_scratch(FIT_INSIDE, x, y);
	PX_F sine = (bit_of(0, x, y) - 0.5f) * inside, cosine = (bit_of(1, x, y) - 0.5f) * inside;
	undither3_neighbour there = { sine, cosine, inside, gpu_scratch(FIT_REST, x, y),
		gpu_scratch(FIT_ORDER, x, y) };

	return there;
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	int reach = int(at.b.reach);
	float inside, rest, right, down;
	undither3_sums sums;
	undither3_found found;
	carrier along, across;

	if (gpu_outside(x, y))
		return;
	inside = gpu_scratch(FIT_INSIDE, x, y);
	if (inside == 0.0f) {
		gpu_scratch_put(FIT_TURNS, x, y, PX_NAN);
		gpu_scratch_put(FIT_TRUSTED, x, y, 0.0f);
		return;
	}
	rest = gpu_scratch(FIT_REST, x, y);
	right = gpu_scratch(FIT_RIGHT, x, y);
	down = gpu_scratch(FIT_DOWN, x, y);
	fill(right, reach, along);
	fill(down, reach, across);
	sums.cosine = sums.sine = sums.fringe = sums.order = sums.weight = 0.0f;
	for (int ky = 0; ky <= 2 * reach; ky++)
		for (int kx = 0; kx <= 2 * reach; kx++) {
			uint i = uint(ky) * at.b.width + uint(kx);

			sums = undither3_add(sums,
			    neighbour(column(x, kx - reach), row(y, ky - reach)), rest, right, down,
			    along.cosine[kx], along.sine[kx], across.cosine[ky], across.sine[ky],
			    float(kx - reach), float(ky - reach),
			    gpu_floats(gpu_constant(FIT_OF_FRINGE)).at[i],
			    gpu_floats(gpu_constant(FIT_OF_STAIR)).at[i]);
		}
	found = undither3_find(sums, rest, right, down, inside, at.b.to_right, at.b.to_down,
	    at.b.order_most);
	gpu_scratch_put(FIT_TURNS, x, y, found.turns);
	gpu_scratch_put(FIT_TRUSTED, x, y, found.trusted);
}
