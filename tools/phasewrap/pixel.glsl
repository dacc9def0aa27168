/* What the shaders share that take a pixel at a time: its state, its Gray code, its output. */
#include "phasewrap.glsl"
#include "exposure_fit.px.h"

struct state {
	float texture, modulation, misfit, number, threshold[2];
	bool bad, missing;
};

float
sample_of(block_at at, uint plane, uint x, uint y, inout state st)
{
	float v = gpu_sample(plane, x, y, at.b.type);

	st.missing = st.missing || phasewrap_missing(v);
	return v;
}

/* Writes the unit vector of a set, or its phase. */
void
write_phase(block_at at, uint set, uint x, uint y, float cosine, float sine)
{
	if (at.b.vectors != 0) {
		gpu_out(2 * set, x, y, cosine);
		gpu_out(2 * set + 1, x, y, sine);
	} else {
		gpu_out(set, x, y, phasewrap_phase(sine, cosine));
	}
}

/* The index of a Gray code, whose planes' samples are added over the exposures. */
float
decode(block_at at, uint code, inout uint image, uint x, uint y, inout state st)
{
	uint value = 0;

	for (uint k = 0; k < at.b.bits[code]; k++) {
		PX_F plane = 0.0f, inverse = 0.0f;

		for (uint e = 0; e < at.b.exposures; e++, image++) {
			plane = plane + sample_of(at, at.image[image].plane, x, y, st);
			if (at.b.inverse[code] != 0)
				inverse = inverse +
				    sample_of(at, at.image[image].inverse, x, y, st);
		}
		value = phasewrap_binary(value, phasewrap_bit(plane,
		    px_select(at.b.inverse[code] != 0, inverse, st.threshold[code])));
	}
	return px_float(value);
}

/* Decodes the codes, whose planes begin with image number `image`, and writes all but phases and
 * standard deviations, which it takes back where the pixel is bad; phases: their number. */
void
finish(block_at at, uint image, float phases, uint x, uint y, inout state st)
{
	phasewrap_channels to = at.b.channels;
	float index[2];

	if (at.b.fits != 0)
		st.bad = st.bad || !(st.misfit <= at.b.most_misfit);
	for (uint k = 0; k < at.b.codes; k++)
		index[k] = decode(at, k, image, x, y, st);
	st.bad = st.bad || st.missing;
	for (uint k = 0; k < to.phases && st.bad; k++)
		gpu_out(k, x, y, PX_NAN);
	for (uint set = 0; set < at.b.fringes * at.b.sigmas && st.bad; set++)
		gpu_out(to.sigma + set, x, y, PX_NAN);
	PX_F texture = px_divide(st.texture, phases);
	gpu_out(to.modulation, x, y, px_select(st.missing, PX_NAN, st.modulation));
	gpu_out(to.texture, x, y, px_select(st.missing, PX_NAN, texture));
	if (at.b.writes_fit != 0)
		gpu_out(to.fit_residual, x, y, px_select(st.missing || st.misfit < 0.0f ||
		    st.misfit == PHASEWRAP_MOST_MISFIT, PX_NAN, st.misfit));
	for (uint k = 0; k < at.b.codes; k++)
		gpu_out(to.index + k, x, y, px_select(st.bad, PX_NAN, index[k]));
}
