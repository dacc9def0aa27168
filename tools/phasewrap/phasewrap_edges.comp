#include "phasewrap.glsl"

/* As edges_tile() in phasewrap_rows.c, of the code whose planes begin with image number `first`. */
void
code_edge(block_at at, uint code, uint first, uint x, uint y)
{
	bool along_y = at.b.along_y[code] != 0;
	int here = int(along_y ? y : x), n = int(along_y ? gpu.h : gpu.w);
	uint planes = at.b.bits[code], value[2] = uint[2](0, 0), crossings = 0;
	precise float base[2] = float[2](0, 0), total[2] = float[2](0, 0);
	precise float square[2] = float[2](0, 0), share = 0.0f, variance = 0.0f;
	float most[2], a[2], b[2], noise[2], edge = PX_NAN, sigma = PX_NAN;
	precise float light[2][2];

	for (uint bit = 0; bit < planes; bit++) {
		uint plane = at.image[first + bit].plane, inverse = at.image[first + bit].inverse;
		uint set[2];
		precise float d[4], both_of[4], amplitude = 0;

		for (int j = 0; j < 4; j++) {
			uint k = uint(clamp(here + j - 1, 0, n - 1));
			uint px = along_y ? x : k, py = along_y ? k : y;
			PX_F p = gpu_sample(plane, px, py, at.b.type);
			PX_F q = gpu_sample(inverse, px, py, at.b.type);
			PX_F both = p + q, difference = p - q;

			d[j] = phasewrap_light_share(difference, both);
			both_of[j] = both;
			amplitude = px_max(amplitude, phasewrap_contrast(d[j]));
			if (j != 1 && j != 2)
				continue;
			base[j - 1] = bit == 0 ? both : base[j - 1];
			PX_F more = both - base[j - 1];

			total[j - 1] = total[j - 1] + more;
			square[j - 1] = square[j - 1] + more * more;
			set[j - 1] = phasewrap_bit(p, q);
			value[j - 1] = phasewrap_binary(value[j - 1], set[j - 1]);
		}
		if (set[0] == set[1])
			continue;
		if (crossings < 2) {
			most[crossings] = amplitude;
			light[crossings][0] = both_of[1];
			light[crossings][1] = both_of[2];
			a[crossings] = d[1];
			b[crossings] = d[2];
		}
		crossings++;
	}
	for (int j = 0; j < 2; j++)
		noise[j] = phasewrap_code_variance(total[j], square[j], float(planes),
		    at.b.least_code_variance);
	if ((crossings == 1 || crossings == 2) && here + 1 < n &&
	    abs(int(value[0]) - int(value[1])) == int(crossings)) {
		PX_F mean_noise = (noise[0] + noise[1]) * 0.5f;
		PX_F per = px_divide(1.0f, float(crossings));

		for (uint i = 0; i < crossings; i++) {
			PX_F where = phasewrap_crossing(a[i], b[i], most[i]);

			share = share + where * per;
			variance = variance + phasewrap_crossing_error(a[i], b[i], most[i], where,
			    mean_noise, light[i][0], light[i][1]) * (per * per);
		}
		edge = share;
		sigma = px_sqrt(variance);
	}
	edge = px_select(px_isnan(edge) || px_isnan(sigma), PX_NAN, edge);
	gpu_out(at.b.channels.edge + code, x, y, edge);
	gpu_out(at.b.channels.edge + at.b.codes + code, x, y, px_select(px_isnan(edge), PX_NAN, sigma));
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y(), first = 0;
	block_at at = block_at(gpu.block);

	if (gpu_outside(x, y))
		return;
	for (uint code = 0; code < at.b.codes; code++) {
		code_edge(at, code, first, x, y);
		first += at.b.bits[code];
	}
}
