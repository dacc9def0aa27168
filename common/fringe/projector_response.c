#include "fringe/projector_response.h"

#include <math.h>

#include "base/fail.h"
#include "fringe/fringes.px.h"

#define TWO_PI 6.28318530717958647692

int
projector_response_complete(struct projector_response *response, double full)
{
	response->full = full;
	if (isnan(response->mean))
		response->mean = full * 127 / 255;
	if (isnan(response->amplitude))
		response->amplitude = full * 100 / 255;
	if (response->amplitude > response->mean)
		return fail_usage("--amplitude", "must not exceed the mean %g, is %g",
		    response->mean, response->amplitude);
	return 0;
}

/* The level that the projector sends for a level of the pattern. */
static double
projector_output(const struct projector_response *response, double level)
{
	if (response->lut)
		level = response->full * lut_value(response->lut, level / response->full);
	return response->gamma == 1 ? level :
	    response->full * pow(fmax(level, 0) / response->full, response->gamma);
}

/* The factor of a Gaussian blur on harmonic m. */
static double
attenuation(const struct projector_response *response, double period_px, size_t m)
{
	double cycles = (double)m * response->defocus_px / period_px;

	return exp(-0.5 * TWO_PI * TWO_PI * cycles * cycles);
}

/*
 * Finds the Fourier series of the response to a cosine, blurred, by a sum over 4096 samples of one
 * turn (exact except for aliasing). It ends where further terms are below the rounding of double.
 */
static void
find_harmonics(struct projected_pattern *projected)
{
	const struct projector_response *response = projected->response;
	enum { SAMPLES = 4096 };

	for (size_t m = 0; m < PROJECTOR_HARMONICS; m++) {
		double factor = attenuation(response, projected->pattern->period_px, m), sum = 0;

		if (factor < 1e-17)
			break;
		for (size_t i = 0; i < SAMPLES; i++) {
			double level = response->mean +
			    response->amplitude * cos(TWO_PI * (double)i / SAMPLES);

			sum += projector_output(response, level) *
			    cos(TWO_PI * (double)(m * i % SAMPLES) / SAMPLES);
		}
		projected->harmonic[m] = factor * sum * (m ? 2 : 1) / SAMPLES;
		projected->harmonics = m + 1;
	}
}

void
projected_pattern_init(struct projected_pattern *projected,
    const struct projector_response *response, const struct pattern *pattern)
{
	*projected = (struct projected_pattern){ .response = response, .pattern = pattern };
	projected->dark = projector_output(response, response->mean - response->amplitude);
	projected->bright = projector_output(response, response->mean + response->amplitude);
	projected->shift_rad = pattern->role == ROLE_SIN ? -0.25 * TWO_PI :
	    pattern->role == ROLE_COS ? 0 : pattern->shift_rad;
	if (response->gamma == 1 && !response->lut) {
		projected->harmonics = 2;
		projected->harmonic[0] = response->mean;
		projected->harmonic[1] = response->amplitude *
		    attenuation(response, pattern->period_px, 1);
	} else if (response->defocus_px > 0 && !isnan(projected->shift_rad) &&
	    pattern->wave == WAVE_SINE) {
		find_harmonics(projected);
	}
}

static double
sinusoid(const struct projected_pattern *projected, double column)
{
	const struct projector_response *response = projected->response;
	double c = cos(TWO_PI * column / projected->pattern->period_px + projected->shift_rad);
	double b1 = 0, b2 = 0;

	if (projected->harmonics == 2)
		return projected->harmonic[0] + projected->harmonic[1] * c;
	if (projected->harmonics == 0)
		return projector_output(response, response->mean + response->amplitude * c);
	for (size_t m = projected->harmonics - 1; m > 0; m--) {	/* Clenshaw */
		double b = projected->harmonic[m] + 2 * c * b1 - b2;

		b2 = b1;
		b1 = b;
	}
	return projected->harmonic[0] + c * b1 - b2;
}

/* 1 where the projector column is bright, else 0; columns before the first one are as the first. */
static double
gray_bit(const struct projected_pattern *projected, double column)
{
	size_t cell = patterns_cell((size_t)fmax(column, 0), projected->pattern->cell_px);
	bool set = (cell ^ (cell >> 1)) >> projected->pattern->bit & 1;

	return set != (projected->pattern->role == ROLE_GRAY_INVERSE);
}

static double
square_bit(const struct projected_pattern *projected, double column)
{
	const struct pattern *pattern = projected->pattern;

	return fringes_square(patterns_turn(column, pattern->period_px, pattern->shift_rad), 0.5f,
	    0.5f);
}

/* Gray planes end at the projector's edge, fringes go on. */
static double
bit(const struct projected_pattern *projected, double column)
{
	return projected->pattern->wave == WAVE_SQUARE ? square_bit(projected, column)
						       : gray_bit(projected, column);
}

/* The share of the light at a column that bright columns contribute. */
static double
bright_share(const struct projected_pattern *projected, double column)
{
	double sigma = projected->response->defocus_px, reach = 9 * sigma;
	double j = floor(column - reach + 0.5), end = floor(column + reach + 0.5);
	double share = bit(projected, j);

	for (; j < end; j++) {
		double step = bit(projected, j + 1) - bit(projected, j);

		if (step != 0)
			share += step * 0.5 * erfc((j + 0.5 - column) / (sigma * sqrt(2)));
	}
	return share;
}

/* The share of the light at a column that a bright stripe contributes. */
static double
stripe_share(const struct projected_pattern *projected, double column)
{
	double sigma = projected->response->defocus_px * sqrt(2);
	double half = projected->pattern->marker_width_px / 2;
	double from = column - projected->pattern->marker_px;

	return sigma > 0 ? 0.5 * (erf((from + half) / sigma) - erf((from - half) / sigma)) :
	    from >= -half && from < half;
}

double
projected_pattern_level(const struct projected_pattern *projected, double share)
{
	return projected->dark + (projected->bright - projected->dark) * share;
}

double
projected_pattern_at(const struct projected_pattern *projected, double column)
{
	enum manifest_role role = projected->pattern->role;

	if (role == ROLE_PHASE && projected->pattern->wave == WAVE_SQUARE)
		role = ROLE_GRAY;
	switch (role) {
	case ROLE_GRAY:
	case ROLE_GRAY_INVERSE:
		return projected_pattern_level(projected, bright_share(projected, column));
	case ROLE_MARKER:
		return projected_pattern_level(projected, stripe_share(projected, column));
	case ROLE_FLAT:
		return projector_output(projected->response, projected->response->mean);
	case ROLE_WHITE:
		return projected->bright;
	case ROLE_BLACK:
		return projected->dark;
	default:
		return sinusoid(projected, column);
	}
}
