#include "phasewrap.glsl"

struct state {
	vec4 mean, texture, modulation, misfit;
	bvec4 bad, missing;
};

struct sums {
	vec4 first, most, mean, c, s;
};

vec4
samples(block_at at, uint plane, uint x, uint y, inout state st)
{
	vec4 v = gpu_samples4(plane, x, y, at.b.type);

	for (int i = 0; i < 4; i++)
		st.missing[i] = st.missing[i] || phasewrap_missing(v[i]);
	return v;
}

/* A pixel's sums are complete; gives B cos and B sin as shares of B. */
vec2
judge(block_at at, inout state st, int i, float images, float first, float most, float sum, float c,
    float s)
{
	judged of = judge_sums(at, images, first, most, sum, c, s);
	PX_F texture = st.texture[i] + of.texture;

	st.mean[i] = of.mean;
	st.bad[i] = st.bad[i] || !of.good;
	st.texture[i] = texture;
	st.modulation[i] = px_min(st.modulation[i], of.modulation);
	return vec2(of.cosine, of.sine);
}

sums
add_images(block_at at, uint first, uint n, uint x, uint y, inout state st)
{
	sums t;

	t.first = samples(at, at.image[first].plane, x, y, st);
	t.most = t.first;
	t.mean = t.c = t.s = vec4(0);
	for (uint k = 1; k < n; k++) {
		vec4 v = samples(at, at.image[first + k].plane, x, y, st);

		for (int i = 0; i < 4; i++) {
			PX_F d = v[i] - t.first[i];

			t.most[i] = px_max(t.most[i], v[i]);
			t.mean[i] = phasewrap_add(t.mean[i], d, at.image[first + k].mean);
			t.c[i] = phasewrap_add(t.c[i], d, at.image[first + k].c);
			t.s[i] = phasewrap_add(t.s[i], d, at.image[first + k].s);
		}
	}
	return t;
}

/* The misfit of a set whose sums are t. */
void
add_misfit(block_at at, uint first, uint n, sums t, uint x, uint y, inout state st)
{
	vec4 squares = vec4(0);

	for (uint k = 0; k < n; k++) {
		vec4 v = gpu_samples4(at.image[first + k].plane, x, y, at.b.type);

		for (int i = 0; i < 4; i++) {
			PX_F d = v[i] - t.first[i], rise = t.mean[i] * px_divide(1.0f, float(n));
			PX_F left = phasewrap_left(d, rise, t.c[i], t.s[i],
			    at.image[first + k].cosine, at.image[first + k].sine);

			squares[i] = phasewrap_add(squares[i], left, left);
		}
	}
	for (int i = 0; i < 4; i++) {
		PX_F misfit = phasewrap_misfit(squares[i],
		    phasewrap_amplitude(t.s[i], t.c[i]), px_divide(1.0f, float(n - 3)));

		st.misfit[i] = px_max(st.misfit[i], misfit);
	}
}

/* A phase, corrected by the table of its fringe set. */
float
correct(uint set, float phase)
{
	PX_F place = phasewrap_place(phase), cell = px_floor(place);
	uint at = min(px_uint(cell), PHASEWRAP_CELLS - 1u) + set * (PHASEWRAP_CELLS + 1u);
	gpu_floats table = gpu_floats(gpu_constant(0));

	return phasewrap_corrected(phase, place, cell, table.at[at], table.at[at + 1]);
}

/* The standard deviations of the phases of a set whose sums are t, after a correction. */
void
write_sigma(block_at at, uint set, uint n, sums t, uint x, uint y)
{
	phase_noise_terms terms = phase_terms(at.b.corrects, set);
	gpu_floats table = gpu_floats(gpu_constant(0));
	vec4 sigma;

	for (int i = 0; i < 4; i++) {
		PX_F sum = phasewrap_mean(t.first[i], t.mean[i], float(n)), added = 0.0f;
		PX_F mean = sum * px_divide(1.0f, float(n)), stretch = 1.0f;

		if (at.b.corrects != 0) {
			uint cell = min(px_uint(px_floor(phasewrap_place(phasewrap_phase(
			    t.s[i], t.c[i])))),
			    PHASEWRAP_CELLS - 1u), here = cell + set * (PHASEWRAP_CELLS + 1u);
			uint level = at.b.fringes * (PHASEWRAP_CELLS + 1u) +
			    set * PHASEWRAP_LEVELS + cell / (PHASEWRAP_CELLS / PHASEWRAP_LEVELS);

			added = table.at[level] * phasewrap_amplitude(t.s[i], t.c[i]);
			stretch = phasewrap_stretch(table.at[here], table.at[here + 1]);
		}
		sigma[i] = phase_noise_sigma(terms, mean + added, t.c[i], t.s[i], at.b.variance,
		    at.b.gain, at.b.least);
		if (at.b.corrects != 0) {
			PX_F stretched = sigma[i] * stretch;

			sigma[i] = px_select(px_isnan(sigma[i]), PX_NAN,
			    px_min(stretched, PHASE_NOISE_MOST));
		}
	}
	gpu_out4(at.b.channels.sigma + set, x, y, sigma);
}

void
wrap_set(block_at at, uint set, uint first, uint n, uint x, uint y, inout state st)
{
	sums t = add_images(at, first, n, x, y, st);
	vec4 cosine, sine, phase;

	for (int i = 0; i < 4; i++) {
		vec2 unit = judge(at, st, i, float(n), t.first[i], t.most[i], t.mean[i], t.c[i],
		    t.s[i]);

		cosine[i] = unit.x;
		sine[i] = unit.y;
		phase[i] = phasewrap_phase(unit.y, unit.x);
	}
	if (at.b.sigmas != 0)
		write_sigma(at, set, n, t, x, y);
	if (at.b.corrects != 0)
		for (int i = 0; i < 4; i++) {
			phase[i] = correct(set, phase[i]);
			cosine[i] = px_cos(phase[i]);
			sine[i] = px_sin(phase[i]);
		}
	if (at.b.fits != 0 && n > 3)
		add_misfit(at, first, n, t, x, y, st);
	if (at.b.vectors != 0) {
		gpu_out4(2 * set, x, y, cosine);
		gpu_out4(2 * set + 1, x, y, sine);
	} else {
		gpu_out4(set, x, y, phase);
	}
}

vec4
read_flats(block_at at, uint x, uint y, inout state st)
{
	vec4 white = samples(at, at.b.flat_0, x, y, st);
	vec4 black = samples(at, at.b.flat_1, x, y, st);
	vec4 between;

	for (int i = 0; i < 4; i++) {
		PX_F sum = white[i] + black[i], rise = white[i] - black[i];
		PX_F half_sum = sum * 0.5f, amplitude = px_max(rise, 0.0f) * 0.5f;

		between[i] = half_sum;
		if (at.b.fringes == 0 && at.b.flats == 2)
			judge(at, st, i, 1.0f, half_sum, 0.0f, 0.0f, amplitude, 0.0f);
	}
	return between;
}

/* The index of a Gray code whose planes begin with image number `first`. */
vec4
decode(block_at at, uint code, uint first, vec4 threshold, uint x, uint y, inout state st)
{
	uvec4 value = uvec4(0);
	precise vec4 light = vec4(0), base = vec4(0), total = vec4(0), square = vec4(0);
	vec4 most = vec4(0);

	for (uint k = 0; k < at.b.bits[code]; k++) {
		vec4 plane = samples(at, at.image[first + k].plane, x, y, st), other = threshold;

		if (at.b.inverse[code] != 0)
			other = samples(at, at.image[first + k].inverse, x, y, st);
		for (int i = 0; i < 4; i++)
			value[i] = phasewrap_binary(value[i], phasewrap_bit(plane[i], other[i]));
		for (int i = 0; i < 4; i++) {
			PX_F both = plane[i] + other[i], d = plane[i] - other[i];

			base[i] = k == 0 ? both : base[i];
			PX_F more = both - base[i];

			light[i] = light[i] + both;
			most[i] = px_max(most[i], phasewrap_contrast(d));
			total[i] = total[i] + more;
			square[i] = square[i] + more * more;
		}
	}
	for (int i = 0; i < 4 && at.b.code_alone != 0; i++) {
		PX_F variance = phasewrap_code_variance(total[i], square[i],
		    float(at.b.bits[code]), at.b.least_code_variance);

		st.bad[i] = st.bad[i] || phasewrap_is_faint(most[i], variance);
	}
	for (int i = 0; i < 4 && at.b.judges_codes != 0; i++) {
		PX_F mean = light[i] * px_divide(0.5f, float(at.b.bits[code]));
		PX_F amplitude = most[i] * 0.5f;

		judge(at, st, i, 1.0f, mean, 0.0f, 0.0f, amplitude, 0.0f);
	}
	return vec4(value);
}

/* Results of bad pixels are taken back. */
void
mask(uint c, bvec4 bad, uint x, uint y)
{
	gpu_fours row = gpu_fours(gpu_row(gpu.outputs + c, y));
	vec4 v = row.at[x >> 2];

	for (int i = 0; i < 4; i++)
		v[i] = px_select(bad[i], PX_NAN, v[i]);
	row.at[x >> 2] = v;
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y(), image = 0;
	block_at at = block_at(gpu.block);
	vec4 threshold[2] = vec4[2](vec4(0), vec4(0)), modulation, texture;
	phasewrap_channels to = at.b.channels;
	state st;

	if (gpu_outside(x, y))
		return;
	st.mean = st.texture = st.misfit = vec4(0);
	st.modulation = vec4(3e38f);
	st.bad = st.missing = bvec4(false);
	for (uint set = 0; set < at.b.fringes; set++) {
		uint n = at.image[image].plane;

		wrap_set(at, set, image + 1, n, x, y, st);
		image += n + 1;
		for (int k = 0; k < 2; k++)
			if (at.b.reference[k] == set)
				for (int i = 0; i < 4; i++) {
					PX_F mean = px_divide(st.mean[i], float(n));

					threshold[k][i] = mean;
				}
	}
	if (at.b.flats != 0 && at.b.codes != 0)
		threshold[0] = threshold[1] = read_flats(at, x, y, st);
	for (uint code = 0; code < at.b.codes; code++) {
		vec4 index = decode(at, code, image, threshold[code], x, y, st);

		gpu_out4(to.index + code, x, y, index);
		image += at.b.bits[code];
	}
	for (int i = 0; i < 4; i++) {
		PX_F mean = px_divide(st.texture[i], float(at.b.fringes));

		modulation[i] = px_select(st.missing[i], PX_NAN, st.modulation[i]);
		texture[i] = px_select(st.missing[i], PX_NAN, mean);
		st.bad[i] = st.bad[i] || st.missing[i];
		if (at.b.fits != 0)
			st.bad[i] = st.bad[i] || !(st.misfit[i] <= at.b.most_misfit);
		st.misfit[i] = px_select(st.missing[i] || st.misfit[i] == PHASEWRAP_MOST_MISFIT,
		    PX_NAN, st.misfit[i]);
	}
	for (uint i = 0; i < at.b.markers; i++)
		gpu_out4(to.marker + i, x, y, gpu_samples4(at.b.marker[i], x, y, at.b.type));
	if (at.b.writes_fit != 0)
		gpu_out4(to.fit_residual, x, y, st.misfit);
	if (at.b.fringes != 0) {
		gpu_out4(to.modulation, x, y, modulation);
		gpu_out4(to.texture, x, y, texture);
	}
	if (!any(st.bad))
		return;
	for (uint c = 0; c < to.phases; c++)
		mask(c, st.bad, x, y);
	for (uint set = 0; set < at.b.fringes * at.b.sigmas; set++)
		mask(to.sigma + set, st.bad, x, y);
	for (uint code = 0; code < at.b.codes; code++)
		mask(to.index + code, st.bad, x, y);
}
