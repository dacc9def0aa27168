/*
 * Wrapped phase by phase shifting (methods §2; Karpinsky 2014 eq 4; Karpinsky thesis eq 3.10-3.13;
 * Liu 2015 eq 3; Zhang 2006 eq 9-10) and Gray code (methods §5).
 *
 * The images I_n = A + B cos(phi + d_n) are fitted by least squares; what that gives is linear in
 * them: B cos phi = sum c_n I_n, B sin phi = sum s_n I_n, A = sum m_n I_n, with sum c_n = sum s_n
 * = 0 and sum m_n = 1. (For equal steps c_n = 2/N cos d_n, s_n = -2/N sin d_n, m_n = 1/N; a flat
 * image, as in 2+1, is one where the cosine is missing.) So I_0 can be taken off every image
 * first, which keeps the rounding errors those of B and not those of A. Sums begin at +0, so that
 * a phase of pi is not -pi.
 */
#include "base/px.h"

/* NaN, infinite, or so large (1e30) that sums may overflow and become NaN of any bits. */
PX_FN bool
phasewrap_missing(float v)
{
	return (px_bits(v) & 0x7fffffffu) >= 0x7149f2cau;
}

/* One more image's share of a sum; I_n - I_0 is d. */
PX_FN float
phasewrap_add(float sum, float d, float weight)
{
	return sum + d * weight;
}

/* N A out of sum N m_n (I_n - I_0), exact for whole numbers. */
PX_FN float
phasewrap_mean(float first, float sum, float n)
{
	return first * n + sum;
}

/* B */
PX_FN float
phasewrap_amplitude(float s, float c)
{
	return px_sqrt(s * s + c * c);
}

/* One division, by A B, gives gamma = B/A and 1/B. A that is not positive is replaced by this. */
#define PHASEWRAP_LEAST_MEAN 1e-18f
#define PHASEWRAP_LEAST_PRODUCT 1e-37f	/* a smaller one has no inverse: the pixel has no phase */

/* gamma out of N A, B, N B, and the product above with its inverse; 0 where there is none. */
PX_FN float
phasewrap_modulation(float mean, float amplitude, float amplitude_sum, float product,
    float inverse)
{
	PX_F ratio = amplitude_sum * amplitude * inverse;

	return px_select(px_both(mean > 0.0f, product > PHASEWRAP_LEAST_PRODUCT), ratio, 0.0f);
}

/* phi in (-pi, pi] */
PX_FN float
phasewrap_phase(float s, float c)
{
	return px_atan2(s, c);
}

/* What is shown as texture, N (A + B) or, without fringes (crest 0), N A (Karpinsky's thesis eq
 * 9.5; of 2+1 images A is the flat one, Zhang 2006). */
PX_FN float
phasewrap_texture(float mean, float amplitude, uint crest)
{
	return mean + px_select(crest != 0, amplitude, 0.0f);
}

#define PHASEWRAP_CELLS 8192u	/* of a correction's table, from -pi to pi */

/* Where a phase lies in the table, in cells. */
PX_FN float
phasewrap_place(float phase)
{
	PX_F place = (phase + PX_PI) * 1303.79729379f;

	return px_select(place > 0.0f, px_smaller(place, 8191.9995f), 0.0f);
}

/* The phase, corrected by what the table has at both ends of its cell, in (-pi, pi]. */
PX_FN float
phasewrap_corrected(float phase, float place, float cell, float here, float next)
{
	PX_F rise = next - here, share = place - cell;
	PX_F correction = here + rise * share;
	PX_F true_phase = phase + correction;

	true_phase = px_select(true_phase > PX_PI, true_phase - PX_TWO_PI, true_phase);
	return px_select(true_phase <= -PX_PI, true_phase + PX_TWO_PI, true_phase);
}

/* What a table has at a place in it, between the ends of its cell. */
PX_FN float
phasewrap_between(float place, float cell, float here, float next)
{
	PX_F rise = next - here, share = place - cell;

	return here + rise * share;
}

#define PHASEWRAP_LEVELS 1024u	/* cells of a table of levels, from -pi to pi */

/* By how much the correction stretches what is near a phase, and so its error. */
PX_FN float
phasewrap_stretch(float here, float next)
{
	PX_F rise = (next - here) * 1303.79729379f;

	return px_abs(1.0f + rise);
}

/* Can this pixel's phase be used? Whatever compares false, as NaN does, cannot. */
PX_FN bool
phasewrap_good(float amplitude, float mean, float product, float modulation,
    float least_amplitude, float least_mean, float least_modulation)
{
	return px_both(px_both(product > PHASEWRAP_LEAST_PRODUCT, product < 3e38f),
	    px_both(px_both(amplitude >= least_amplitude, mean >= least_mean),
		modulation >= least_modulation));
}

/*
 * What the fit leaves of an image: I - I_0 = d less the fit A - I_0 + B cos phi cosine + B sin phi
 * sine, where A - I_0 is `rise` and B cos phi, B sin phi are c and s.
 */
PX_FN float
phasewrap_left(float d, float rise, float c, float s, float cosine, float sine)
{
	PX_F wave = c * cosine + s * sine, fitted = rise + wave;

	return d - fitted;
}

#define PHASEWRAP_MOST_MISFIT 3e38f	/* in the place of what has no amplitude */

/* sqrt(sum of squares / (N - 3)) / B, for N > 3 images: sigma/B of noise, whatever N. */
PX_FN float
phasewrap_misfit(float squares, float amplitude, float per_freedom)
{
	PX_F mean = px_min(squares, 1e37f) * per_freedom;
	PX_F root = px_sqrt(px_select(mean > 1e-30f, mean, 0.0f));
	bool usable = px_both(amplitude > 1e-18f, amplitude < 1e18f);
	PX_F ratio = px_divide(root, px_select(usable, amplitude, 1.0f));

	return px_select(usable, px_min(ratio, PHASEWRAP_MOST_MISFIT), PHASEWRAP_MOST_MISFIT);
}

/* A plane is set where it is brighter than its threshold. */
PX_FN uint
phasewrap_bit(float plane, float threshold)
{
	return px_select(plane > threshold, 1u, 0u);
}

/* The binary number with one more bit of its Gray code: v ^ (v >> 1) = g. */
PX_FN uint
phasewrap_binary(uint value, uint gray_bit)
{
	return value + value + ((value & 1u) ^ gray_bit);
}

/*
 * ---- a Gray code alone: its light, and where its planes cross their inverses ----
 *
 * A plane and its inverse share out the light of one white image: d = plane - inverse has the
 * amplitude of a white image less a black one, and the sum of both is the same for all planes but
 * for noise, which is that of d.
 */
#define PHASEWRAP_FAINT_SIGMAS 5.0f	/* smaller differences, in standard deviations, are noise */

/* |d|, 0 where a sample is missing. */
PX_FN float
phasewrap_contrast(float d)
{
	return px_select(phasewrap_missing(d), 0.0f, px_abs(d));
}

/* The variance of d, out of the sums of a code's planes and inverses less the first one (total, and
 * of their squares); `least` is that of rounding. */
PX_FN float
phasewrap_code_variance(float total, float square, float planes, float least)
{
	PX_F spread = total * px_divide(total, planes), left = square - spread;
	PX_F variance = px_divide(left, px_max(planes - 1.0f, 1.0f));

	return px_max(variance, least);
}

/* Is the largest |d| of a code's planes no more than noise of this variance? */
PX_FN bool
phasewrap_is_faint(float most, float variance)
{
	PX_F faint = PHASEWRAP_FAINT_SIGMAS * px_sqrt(variance);

	return most <= faint;
}

/*
 * The share that a plane has of the light of plane and inverse: d over their sum, which is the same
 * on bright and dark texture.
 */
PX_FN float
phasewrap_light_share(float d, float both)
{
	return px_divide(d, px_max(both, PHASEWRAP_LEAST_MEAN));
}

/*
 * Between two pixels that share changes its sign, from a to b; `amplitude` is the largest of these
 * and the next ones, without its sign. The crossing, as a share of the way from the first pixel: a
 * straight line through the arcs of a/amplitude and b/amplitude, which is exact for stripes that
 * are blurred to a sinusoid, and within 0.02 px (rms) for one edge that is blurred by half a pixel;
 * a straight line through a and b is within 0.04.
 */
PX_FN float
phasewrap_crossing(float a, float b, float amplitude)
{
	PX_F square = amplitude * amplitude;
	PX_F arc_a = px_atan2(a, px_sqrt(px_max(square - a * a, 0.0f)));
	PX_F arc_b = px_atan2(b, px_sqrt(px_max(square - b * b, 0.0f)));
	PX_F way = arc_a - arc_b;

	return px_divide(arc_a, px_select(way != 0.0f, way, 1.0f));
}

/*
 * Its variance in px^2; a_variance and b_variance are those of a and b. Noise: that of the straight
 * line. And what the edge's unknown blur leaves open: an edge that both pixels see saturated
 * (r = 1) may lie anywhere between them, 1/12; less the more pixels it is blurred over, by a fit to
 * edges with a Gaussian blur of 0.05 to 1 px.
 */
PX_FN float
phasewrap_crossing_variance(float a, float b, float amplitude, float share, float a_variance,
    float b_variance)
{
	PX_F rise = px_abs(a - b), other = 1.0f - share;
	PX_F of_a = other * other * a_variance, of_b = share * share * b_variance;
	PX_F noise = px_divide(of_a + of_b, rise * rise);
	PX_F deviation = px_sqrt((a_variance + b_variance) * 0.5f);
	PX_F steep = px_divide(rise + 2.0f * deviation, 2.0f * amplitude);
	PX_F r = px_min(steep, 1.0f), r2 = r * r, r4 = r2 * r2, r8 = r4 * r4, r16 = r8 * r8;
	PX_F r64 = r16 * r16 * (r16 * r16), open = 0.35f * r4 + 0.65f * r64;

	return noise + open * open * (1.0f / 12.0f);
}

/* The same where d has the variance `noise` at both pixels, whose light is both_a and both_b. */
PX_FN float
phasewrap_crossing_error(float a, float b, float amplitude, float share, float noise, float both_a,
    float both_b)
{
	PX_F light_a = px_max(both_a, PHASEWRAP_LEAST_MEAN);
	PX_F light_b = px_max(both_b, PHASEWRAP_LEAST_MEAN);
	PX_F of_a = px_divide(noise, light_a * light_a), of_b = px_divide(noise, light_b * light_b);

	return phasewrap_crossing_variance(a, b, amplitude, share, of_a, of_b);
}
