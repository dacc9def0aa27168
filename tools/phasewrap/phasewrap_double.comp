#include "pixel.glsl"

struct sums {
	float first, most, mean, c, s;
};

sums
add_images(block_at at, uint first, uint n, uint x, uint y, inout state st)
{
	float zero = sample_of(at, at.image[first].plane, x, y, st);
	sums t = sums(zero, zero, 0, 0, 0);

	for (uint k = 1; k < n; k++) {
		phasewrap_image image = at.image[first + k];
		float v = sample_of(at, image.plane, x, y, st);
		PX_F d = v - zero, mean = phasewrap_add(t.mean, d, image.mean);
		PX_F c = phasewrap_add(t.c, d, image.c), s = phasewrap_add(t.s, d, image.s);

		t = sums(zero, px_max(t.most, v), mean, c, s);
	}
	return t;
}

/* B cos phi and B sin phi of three images as shares of B, and 3 A. */
vec3
judge(block_at at, sums t, inout state st)
{
	judged of = judge_sums(at, 3.0f, t.first, t.most, t.mean, t.c, t.s);
	PX_F texture = st.texture + of.texture;

	st.bad = st.bad || !of.good;
	st.texture = texture;
	st.modulation = px_min(st.modulation, of.modulation);
	return vec3(of.cosine, of.sine, of.mean);
}

/* The standard deviation of the phase of a half, by its sums. */
float
sigma_of(block_at at, uint half_set, sums t)
{
	PX_F sum = phasewrap_mean(t.first, t.mean, 3.0f), mean = sum * px_divide(1.0f, 3.0f);

	return phase_noise_sigma(phase_terms(0, half_set), mean, t.c, t.s, at.b.variance, at.b.gain,
	    at.b.least);
}

/* What the fit of all six images leaves. */
void
add_misfit(block_at at, uint first, uint x, uint y, inout state st)
{
	sums t = add_images(at, first, 6, x, y, st);
	PX_F squares = 0.0f, rise = t.mean * px_divide(1.0f, 6.0f);

	for (uint k = 0; k < 6; k++) {
		phasewrap_image image = at.image[first + k];
		PX_F d = gpu_sample(image.plane, x, y, at.b.type) - t.first;
		PX_F left = phasewrap_left(d, rise, t.c, t.s, image.cosine, image.sine);

		squares = phasewrap_add(squares, left, left);
	}
	st.misfit = px_max(st.misfit, phasewrap_misfit(squares, phasewrap_amplitude(t.s, t.c),
	    px_divide(1.0f, 3.0f)));
}

void
wrap_set(block_at at, uint set, uint first, uint x, uint y, inout state st)
{
	sums one = add_images(at, first, 3, x, y, st), two = add_images(at, first + 3, 3, x, y, st);
	vec3 a = judge(at, one, st), b = judge(at, two, st);
	PX_F cosine = a.x + b.x, sine = a.y + b.y, length = phasewrap_amplitude(sine, cosine);
	PX_F c = px_divide(cosine, length), s = px_divide(sine, length);

	st.bad = st.bad || !(length > DOUBLE_OPPOSITE);
	for (uint k = 0; k < 2; k++)
		if (at.b.reference[k] == set) {
			PX_F mean = px_divide(a.z, 6.0f) + px_divide(b.z, 6.0f);

			st.threshold[k] = mean;
		}
	if (at.b.fits != 0)
		add_misfit(at, first + 6, x, y, st);
	if (at.b.sigmas != 0)
		gpu_out(at.b.channels.sigma + set, x, y, phase_noise_of_mean(
		    sigma_of(at, 2 * set, one), sigma_of(at, 2 * set + 1, two)));
	write_phase(at, set, x, y, c, s);
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y(), image = 0;
	block_at at = block_at(gpu.block);
	state st = state(0, 3e38f, 0, 0, float[2](0, 0), false, false);

	if (gpu_outside(x, y))
		return;
	for (uint set = 0; set < at.b.fringes; set++, image += 12)
		wrap_set(at, set, image, x, y, st);
	if (at.b.flats != 0 && at.b.codes != 0) {
		float white = sample_of(at, at.b.flat_0, x, y, st);
		float black = sample_of(at, at.b.flat_1, x, y, st);
		PX_F sum = white + black, between = sum * 0.5f;

		st.threshold[0] = st.threshold[1] = between;
	}
	finish(at, image, float(2 * at.b.fringes), x, y, st);
}
