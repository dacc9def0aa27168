#include "wff.glsl"

/* Adds the windows at hand to a pixel's sums, in the processor's order: first those of even
 * segments. Two rows of them have no pixel in common. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y(), n, first, row_y = 0u, j;
	block_at at = block_at(gpu.block);
	PX_F sum_re = 0.0f, sum_im = 0.0f;

	if (gpu_outside(x, y))
		return;
	n = at.b.n;
	if (at.b.begins == 0u) {
		sum_re = gpu_floats(gpu_row(gpu.outputs, y)).at[x];
		sum_im = gpu_floats(gpu_row(gpu.outputs + 1u, y)).at[x];
	}
	first = (y - min(y, at.b.reach)) / at.b.hop;
	for (j = (first - min(first, at.b.row)) / at.b.apart; j < at.b.rows; j++) {
		row_y = y + at.b.reach - centre_of(at, at.b.row + j * at.b.apart, gpu.h);
		if (row_y < at.b.weights)
			break;
	}
	first = (x - min(x, at.b.reach)) / at.b.hop;
	for (uint odd = 0u; odd < 2u && j < at.b.rows; odd++)
		for (uint k = first; k < at.b.across; k++) {
			uint row_x = x + at.b.reach - centre_of(at, k, gpu.w);
			gpu_floats window = window_at(at, j, k);

			if (centre_of(at, k, gpu.w) > x + at.b.reach)
				break;
			if ((k / at.b.segment & 1u) != odd || row_x >= at.b.weights)
				continue;
			float across = table(WFF_WEIGHT(n) + row_x);
			float down = table(WFF_WEIGHT(n) + row_y);

			sum_re = sum_re + wff_weighted(window.at[row_y * n + row_x], across, down);
			sum_im = sum_im + wff_weighted(window.at[WFF_IM(n) + row_y * n + row_x],
			    across, down);
		}
	gpu_out(0, x, y, sum_re);
	gpu_out(1, x, y, sum_im);
}
