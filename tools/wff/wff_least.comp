#include "wff.glsl"

/* What frequencies of a window must exceed; a workgroup for each. */

shared uint sample_bits[WFF_SAMPLES];
shared uint count;

/* The median of some |c|^2: the samples of median_power(), and its search bit by bit. */
float
median(gpu_floats window, uint n)
{
	uint samples = min(n * n, WFF_SAMPLES), step = n * n / samples, row = n / step, bits = 0u;

	for (uint i = gl_LocalInvocationID.x; i < samples; i += WFF_GROUP) {
		uint x = i / row, y = 5u * x % step + i % row * step;

		sample_bits[i] = px_bits(wff_power(window.at[y * n + x],
		    window.at[WFF_IM(n) + y * n + x]));
	}
	for (uint bit = 0x40000000u; bit != 0u; bit >>= 1) {
		uint own = 0u;

		if (gl_LocalInvocationID.x == 0u)
			count = 0u;
		barrier();
		for (uint i = gl_LocalInvocationID.x; i < samples; i += WFF_GROUP)
			own += sample_bits[i] < bits + bit ? 1u : 0u;
		atomicAdd(count, own);
		barrier();
		bits += count <= samples / 2u ? bit : 0u;
		barrier();
	}
	return px_from_bits(bits);
}

void
main()
{
	block_at at = block_at(gpu.block);

	for (uint j = gl_WorkGroupID.y; j < at.b.rows; j += gl_NumWorkGroups.y) {
		gpu_floats window = window_at(at, j, gl_WorkGroupID.x);
		float found = 0.0f;
		PX_F squares = 0.0f;

		if (at.b.share > 0.0f)
			found = median(window, at.b.n);
		else if (gl_LocalInvocationID.x == 0u)
			for (uint x = 0u; x < at.b.n; x++)
				squares = squares + window.at[WFF_SQUARES(at.b.n) + x];
		if (gl_LocalInvocationID.x == 0u)
			window.at[WFF_LEAST(at.b.n)] =
			    wff_least(at.b.share, found, at.b.power, squares);
	}
}
