#include "gauss.glsl"

/* The part of a pixel, as the sum of phases sees it; there: 0 in holes and outside the image. */
vec2
part_at(block_at at, int x, int y, out bool there)
{
	float part0, part1 = 0.0f;

	there = false;
	if (x < 0 || y < 0 || x >= int(gpu.w) || y >= int(gpu.h))
		return vec2(0);
	part0 = gpu_scratch(at.b.scratch + GAUSS_PART, uint(x), uint(y));
	there = !is_missing(part0);
	if (at.b.kind == GAUSS_PLAIN)
		part0 = 1.0f;
	else
		part1 = gpu_scratch(at.b.scratch + GAUSS_PART + 1, uint(x), uint(y));
	return vec2(part0, part1);
}

/* The standard deviation of one pixel's phase: all pairs, as the processor adds them. */
void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	int radius;
	PX_F c = 0.0f, s = 0.0f, cc = 0.0f, cs = 0.0f, ss = 0.0f;
	bool valid, there, mirrored;

	if (gpu_outside(x, y))
		return;
	radius = int(at.b.radius);
	part_at(at, int(x), int(y), valid);
	for (int k = -radius; k <= radius; k++)
		for (int j = -radius; j <= radius; j++) {
			vec2 part = part_at(at, int(x) + j, int(y) + k, there);
			PX_F w = at.b.kernel[k < 0 ? -k : k] * at.b.kernel[j < 0 ? -j : j];
			PX_F variance, own, q, qc, qs, product;

			part_at(at, int(x) - j, int(y) - k, mirrored);
			if (!there || !mirrored)
				continue;
			own = gpu_in(at.b.sigma_from, uint(int(x) + j), uint(int(y) + k));
			variance = at.b.kind == GAUSS_PLAIN ? gauss_variance(own, 0xffffffffu) :
			    gauss_phase_variance(own, 0xffffffffu);
			q = w * w;
			q = q * variance;
			qc = q * part.x;
			qs = q * part.y;
			product = w * part.x;
			c = c + product;
			product = w * part.y;
			s = s + product;
			product = qc * part.x;
			cc = cc + product;
			product = qc * part.y;
			cs = cs + product;
			product = qs * part.y;
			ss = ss + product;
		}
	gpu_out(at.b.sigma_to, x, y,
	    gauss_sigma_of(c, s, cc, cs, ss, at.b.sharing, px_select(valid, 1.0f, 0.0f)));
}
