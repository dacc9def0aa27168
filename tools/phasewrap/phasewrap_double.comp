#version 450
#extension GL_GOOGLE_include_directive : require
#include "gpu/gpu.glsl"
#include "phasewrap.px.h"
#include "phasewrap.block.h"
#include "phase_terms.glsl"

layout(buffer_reference, std430) readonly buffer block_at {
	phasewrap_block b;
	phasewrap_image image[];
};

struct state {
	float texture, modulation, misfit, threshold[2];
	bool bad, missing;
};

struct sums {
	float first, most, mean, c, s;
};

float
sample_of(block_at at, uint plane, uint x, uint y, inout state st)
{
	float v = gpu_sample(plane, x, y, at.b.type);

	st.missing = st.missing || phasewrap_missing(v);
	return v;
}

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
	PX_F mean = phasewrap_mean(t.first, t.mean, 3.0f);
	PX_F amplitude = phasewrap_amplitude(t.s, t.c), amplitude_sum = amplitude * 3.0f;
	PX_F divisor = px_max(mean, PHASEWRAP_LEAST_MEAN);
	PX_F product = amplitude * divisor, inverse = px_divide(1.0f, product);
	PX_F modulation = phasewrap_modulation(mean, amplitude, amplitude_sum, product, inverse);
	PX_F unit = divisor * inverse, least_mean = at.b.least_mean * 3.0f;
	PX_F share = phasewrap_texture(mean, amplitude_sum, at.b.crest) * px_divide(1.0f, 3.0f);
	PX_F texture = st.texture + share, cosine = t.c * unit, sine = t.s * unit;
	bool good = phasewrap_good(amplitude, mean, product, modulation, at.b.least_amplitude,
	    least_mean, at.b.least_modulation) && (t.most < at.b.max_value);

	st.bad = st.bad || !good;
	st.texture = texture;
	st.modulation = px_min(st.modulation, modulation);
	return vec3(cosine, sine, mean);
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
	if (at.b.vectors != 0) {
		gpu_out(2 * set, x, y, c);
		gpu_out(2 * set + 1, x, y, s);
	} else {
		gpu_out(set, x, y, phasewrap_phase(s, c));
	}
}

float
decode(block_at at, uint code, inout uint image, uint x, uint y, inout state st)
{
	uint value = 0;

	for (uint k = 0; k < at.b.bits[code]; k++, image++) {
		float plane = sample_of(at, at.image[image].plane, x, y, st);
		float other = st.threshold[code];

		if (at.b.inverse[code] != 0)
			other = sample_of(at, at.image[image].inverse, x, y, st);
		value = phasewrap_binary(value, phasewrap_bit(plane, other));
	}
	return px_float(value);
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y(), image = 0;
	block_at at = block_at(gpu.block);
	phasewrap_channels to = at.b.channels;
	float index[2];
	state st = state(0, 3e38f, 0, float[2](0, 0), false, false);

	if (x >= gpu.w || y >= gpu.y1)
		return;
	for (uint set = 0; set < at.b.fringes; set++, image += 12)
		wrap_set(at, set, image, x, y, st);
	if (at.b.fits != 0)
		st.bad = st.bad || !(st.misfit <= at.b.most_misfit);
	if (at.b.flats != 0 && at.b.codes != 0) {
		float white = sample_of(at, at.b.flat_0, x, y, st);
		float black = sample_of(at, at.b.flat_1, x, y, st);
		PX_F sum = white + black, between = sum * 0.5f;

		st.threshold[0] = st.threshold[1] = between;
	}
	for (uint k = 0; k < at.b.codes; k++)
		index[k] = decode(at, k, image, x, y, st);
	st.bad = st.bad || st.missing;
	for (uint k = 0; k < to.phases && st.bad; k++)
		gpu_out(k, x, y, PX_NAN);
	for (uint set = 0; set < at.b.fringes * at.b.sigmas && st.bad; set++)
		gpu_out(to.sigma + set, x, y, PX_NAN);
	PX_F texture = px_divide(st.texture, float(2 * at.b.fringes));
	gpu_out(to.modulation, x, y, px_select(st.missing, PX_NAN, st.modulation));
	gpu_out(to.texture, x, y, px_select(st.missing, PX_NAN, texture));
	if (at.b.writes_fit != 0)
		gpu_out(to.fit_residual, x, y, px_select(st.missing || st.misfit == PHASEWRAP_MOST_MISFIT,
		    PX_NAN, st.misfit));
	for (uint k = 0; k < at.b.codes; k++)
		gpu_out(to.index + k, x, y, px_select(st.bad, PX_NAN, index[k]));
}
