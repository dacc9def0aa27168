#include "gauss.glsl"

/* What is summed: cos and sin of a phase, the parts of a vector, or a value. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 a, b;

	if (gpu_outside(x, y))
		return;
	a = gpu_in4(at.b.from[0], x, y);
	b = at.b.kind == GAUSS_VECTOR ? gpu_in4(at.b.from[1], x, y) : a;
	for (uint i = 0; i < 4; i++) {
		uint there = at.b.kind == GAUSS_PHASE ? gauss_phase_there(a[i]) :
		    gauss_there(a[i]) & gauss_there(b[i]);
		PX_F part0 = gauss_part(a[i], there), part1 = gauss_part(b[i], there);

		if (at.b.kind == GAUSS_PHASE) {
			part1 = px_sin(part0);
			part0 = px_cos(part0);
		}
		a[i] = px_select(there != 0, part0, px_from_bits(GAUSS_MISSING));
		b[i] = part1;
	}
	gpu_scratch4_put(at.b.scratch + GAUSS_PART, x, y, a);
	if (at.b.kind != GAUSS_PLAIN)
		gpu_scratch4_put(at.b.scratch + GAUSS_PART + 1, x, y, b);
}
