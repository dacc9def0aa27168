#include "pixel.glsl"

/* The sums of one exposure, and the means of all. */
struct sums {
	float first, n, c, s, cc, cs, ss, d, dc, ds;
};
struct means {
	float n, first, d, c, s;
};

/* The normal equations of a fringe set, and what its shortest exposure gives with nothing left
 * out. */
struct normal {
	float cc, cs, ss, rc, rs, light, value, cosine, sine, most, number;
	float first, clipped_a, clipped_c, clipped_s;
};

void
add(inout sums t, float v, phasewrap_image image, float max_value)
{
	bool counts = v < max_value;
	PX_F one = px_select(counts, 1.0f, 0.0f), d = px_select(counts, v - t.first, 0.0f);
	PX_F c = one * image.cosine, s = one * image.sine;
	PX_F n = t.n + one, sum_c = t.c + c, sum_s = t.s + s;
	PX_F cc = t.cc + c * image.cosine, cs = t.cs + c * image.sine, ss = t.ss + s * image.sine;
	PX_F sum_d = t.d + d, dc = t.dc + d * image.cosine, ds = t.ds + d * image.sine;

	t = sums(t.first, n, sum_c, sum_s, cc, cs, ss, sum_d, dc, ds);
}

means
add_exposure(inout normal m, sums t, float gain, float number, float least)
{
	bool counts = t.n >= least;
	PX_F light = px_select(counts, gain, 0.0f), square = light * gain;
	PX_F per_image = px_divide(1.0f, px_max(t.n, 1.0f));
	PX_F c = t.c * per_image, s = t.s * per_image, d = t.d * per_image;
	PX_F cc = m.cc + square * exposure_about_means(t.cc, t.c, c);
	PX_F cs = m.cs + square * exposure_about_means(t.cs, t.c, s);
	PX_F ss = m.ss + square * exposure_about_means(t.ss, t.s, s);
	PX_F rc = m.rc + light * exposure_about_means(t.dc, t.d, c);
	PX_F rs = m.rs + light * exposure_about_means(t.ds, t.d, s);
	PX_F sum_light = m.light + square * t.n;
	PX_F value = m.value + light * (t.d + t.n * t.first);
	PX_F cosine = m.cosine + square * t.c, sine = m.sine + square * t.s;

	m.number = px_select(light > m.most, number, m.number);
	m.most = px_max(m.most, light);
	m.cc = cc;
	m.cs = cs;
	m.ss = ss;
	m.rc = rc;
	m.rs = rs;
	m.light = sum_light;
	m.value = value;
	m.cosine = cosine;
	m.sine = sine;
	return means(px_select(counts, t.n, 0.0f), t.first, d, c, s);
}

means
sum_exposure(block_at at, uint set, uint e, uint first, uint n, uint x, uint y, inout normal m,
    inout state st)
{
	PX_F per_image = px_divide(1.0f, float(n));
	float least = at.b.least_images > 0.0f ? at.b.least_images : float(n);
	sums t;

	for (uint i = 0; i < n; i++) {
		phasewrap_image image = at.image[first + i];
		float v = sample_of(at, image.plane, x, y, st);

		if (i == 0)
			t = sums(v, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		add(t, v, image, at.b.max_value);
		if (e == at.b.shortest) {
			PX_F d = v - t.first, a = phasewrap_add(m.clipped_a, d, image.mean);
			PX_F c = phasewrap_add(m.clipped_c, d, image.c);
			PX_F s = phasewrap_add(m.clipped_s, d, image.s);

			m.first = t.first;
			m.clipped_a = a;
			m.clipped_c = c;
			m.clipped_s = s;
		}
		for (uint k = 0; k < at.b.codes; k++)
			if (at.b.reference[k] == set) {
				PX_F sum = st.threshold[k] + v * per_image;

				st.threshold[k] = sum;
			}
	}
	return add_exposure(m, t, at.b.exposure_gain[e], float(e + 1), least);
}

/* B cos phi, B sin phi as shares of B, and B. */
vec3
solve(block_at at, normal m, float images, inout state st)
{
	PX_F most = px_divide(EXPOSURE_VARIANCE_MOST, images), per_image = px_divide(1.0f, images);
	PX_F per_light = px_divide(1.0f, at.b.exposure_gain[at.b.shortest]);
	PX_F determinant = exposure_determinant(m.cc, m.cs, m.ss);
	PX_F inverse = px_divide(1.0f, determinant);
	PX_F c = exposure_unknown(m.rc, m.rs, m.ss, m.cs, inverse);
	PX_F s = exposure_unknown(m.rs, m.rc, m.cc, m.cs, inverse);
	PX_F variance = exposure_variance(m.cc, m.cs, m.ss, c, s) * m.most * m.most;
	bool solved = exposure_solved(determinant, m.cc, m.ss, variance, most);
	PX_F a = exposure_mean(m.value, c, m.cosine, s, m.sine, m.light);
	PX_F clipped = (m.first + m.clipped_a * per_image) * per_light;
	PX_F clipped_c = m.clipped_c * per_light, clipped_s = m.clipped_s * per_light;
	PX_F cosine = px_select(solved, c, clipped_c), sine = px_select(solved, s, clipped_s);
	PX_F mean = px_select(solved, a, clipped), amplitude = phasewrap_amplitude(sine, cosine);
	PX_F product = amplitude * px_max(mean, PHASEWRAP_LEAST_MEAN);
	PX_F modulation = phasewrap_modulation(mean, amplitude, amplitude, product,
	    px_divide(1.0f, product));
	PX_F unit = px_divide(1.0f, amplitude);
	PX_F texture = st.texture + phasewrap_texture(mean, amplitude, at.b.crest);
	PX_F unit_c = cosine * unit, unit_s = sine * unit;
	bool good = solved && phasewrap_good(amplitude, mean, product, modulation,
	    at.b.least_amplitude, at.b.least_mean, at.b.least_modulation);

	st.bad = st.bad || !good;
	st.texture = texture;
	st.modulation = px_min(st.modulation, modulation);
	st.number = px_min(st.number, px_select(solved, m.number, PX_NAN));
	return vec3(unit_c, unit_s, amplitude);
}

void
find_misfit(block_at at, uint first, uint n, vec3 found, means mean[EXPOSURE_GAINS], uint x, uint y,
    inout state st)
{
	PX_F squares = 0.0f, freedom = -2.0f;

	for (uint e = 0; e < at.b.exposures; e++) {
		PX_F c = found.x * found.z * at.b.exposure_gain[e];
		PX_F s = found.y * found.z * at.b.exposure_gain[e];

		freedom = freedom + px_max(mean[e].n - 1.0f, 0.0f);
		for (uint i = 0; i < n; i++) {
			phasewrap_image image = at.image[first + e * n + i];
			float v = gpu_sample(image.plane, x, y, at.b.type);
			PX_F cosine = image.cosine - mean[e].c, sine = image.sine - mean[e].s;
			PX_F left = exposure_left(v, mean[e].first, mean[e].d, c, cosine, s, sine);
			PX_F square = left * left;

			squares = squares + px_select(v < at.b.max_value && mean[e].n > 0.0f,
			    square, 0.0f);
		}
	}
	st.misfit = px_max(st.misfit, px_select(freedom > 0.5f, phasewrap_misfit(squares, found.z,
	    px_divide(1.0f, px_max(freedom, 1.0f))), EXPOSURE_NO_MISFIT));
}

/* The standard deviation of the phase of a set whose unit vector and B were found. */
float
find_sigma(block_at at, uint first, uint n, normal m, vec3 found, means mean[EXPOSURE_GAINS], uint x,
    uint y)
{
	PX_F determinant = exposure_determinant(m.cc, m.cs, m.ss), along = 0.0f - found.y;
	PX_F dc = exposure_direction(m.ss, m.cs, along, found.x, determinant);
	PX_F ds = exposure_direction(m.cc, m.cs, found.x, along, determinant);
	PX_F squares = 0.0f;

	for (uint e = 0; e < at.b.exposures; e++) {
		PX_F light = at.b.exposure_gain[e], c = found.x * found.z * light;
		PX_F s = found.y * found.z * light, level = mean[e].first + mean[e].d;

		for (uint i = 0; i < n; i++) {
			phasewrap_image image = at.image[first + e * n + i];
			float v = gpu_sample(image.plane, x, y, at.b.type);
			PX_F cosine = image.cosine - mean[e].c, sine = image.sine - mean[e].s;
			PX_F added = exposure_noise(dc, ds, light, cosine, sine, level, c, s,
			    at.b.variance, at.b.gain, at.b.least);

			squares = squares + px_select(v < at.b.max_value && mean[e].n > 0.0f,
			    added, 0.0f);
		}
	}
	return exposure_sigma(squares, found.z);
}

void
wrap_set(block_at at, uint set, uint first, uint n, uint x, uint y, inout state st)
{
	normal m = normal(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	means mean[EXPOSURE_GAINS];
	vec3 found;

	for (uint e = 0; e < at.b.exposures; e++)
		mean[e] = sum_exposure(at, set, e, first + e * n, n, x, y, m, st);
	found = solve(at, m, float(n), st);
	if (at.b.fits != 0)
		find_misfit(at, first, n, found, mean, x, y, st);
	if (at.b.sigmas != 0)
		gpu_out(at.b.channels.sigma + set, x, y,
		    find_sigma(at, first, n, m, found, mean, x, y));
	write_phase(at, set, x, y, found.x, found.y);
}

void
read_flats(block_at at, uint image, uint x, uint y, inout state st)
{
	PX_F sum = 0.0f;

	for (uint e = 0; e < at.b.exposures; e++) {
		sum = sum + 0.5f * sample_of(at, at.image[image + e].plane, x, y, st);
		sum = sum + 0.5f * sample_of(at, at.image[image + e].inverse, x, y, st);
	}
	st.threshold[0] = st.threshold[1] = sum;
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y(), image = 0, flats;
	block_at at = block_at(gpu.block);
	state st = state(0, 3e38f, EXPOSURE_NO_MISFIT, float(EXPOSURE_GAINS), float[2](0, 0), false,
	    false);

	if (gpu_outside(x, y))
		return;
	for (uint set = 0; set < at.b.fringes; set++) {
		uint n = at.image[image].plane;

		wrap_set(at, set, image + 1, n, x, y, st);
		image += n * at.b.exposures + 1;
	}
	flats = image;
	for (uint k = 0; k < at.b.codes; k++)
		flats += at.b.bits[k] * at.b.exposures;
	if (at.b.flats != 0)
		read_flats(at, flats, x, y, st);
	finish(at, image, float(at.b.fringes), x, y, st);
	if (at.b.map != 0)
		gpu_out(at.b.channels.exposure, x, y, px_select(st.bad, PX_NAN, st.number));
}
