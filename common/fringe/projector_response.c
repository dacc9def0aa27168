#include "fringe/projector_response.h"

#include <math.h>

#include "base/fail.h"

#define TWO_PI 6.28318530717958647692

int
projector_response_complete(struct projector_response *light, double full)
{
	light->full = full;
	if (isnan(light->mean))
		light->mean = full * 127 / 255;
	if (isnan(light->amplitude))
		light->amplitude = full * 100 / 255;
	if (light->amplitude > light->mean)
		return fail_usage("--amplitude", "must not exceed the mean %g, is %g", light->mean,
		    light->amplitude);
	return 0;
}

static double
response(const struct projector_response *light, double level)
{
	return light->gamma == 1 ? level :
	    light->full * pow(fmax(level, 0) / light->full, light->gamma);
}

/* What a Gaussian blur leaves of harmonic m. */
static double
attenuation(const struct projector_response *light, double period_px, size_t m)
{
	double cycles = (double)m * light->defocus_px / period_px;

	return exp(-0.5 * TWO_PI * TWO_PI * cycles * cycles);
}

/*
 * The Fourier series of the response to a cosine, by a sum over one turn (exact but for what folds
 * over at 4096 samples), blurred; it ends where what follows does not matter in double.
 */
static void
find_harmonics(struct projected_pattern *beam)
{
	const struct projector_response *light = beam->light;
	enum { SAMPLES = 4096 };

	for (size_t m = 0; m < PROJECTOR_HARMONICS; m++) {
		double left = attenuation(light, beam->pattern->period_px, m), sum = 0;

		if (left < 1e-17)
			break;
		for (size_t i = 0; i < SAMPLES; i++) {
			double wave = cos(TWO_PI * (double)i / SAMPLES);

			sum += response(light, light->mean + light->amplitude * wave) *
			    cos(TWO_PI * (double)(m * i % SAMPLES) / SAMPLES);
		}
		beam->harmonic[m] = left * sum * (m ? 2 : 1) / SAMPLES;
		beam->harmonics = m + 1;
	}
}

void
projected_pattern_init(struct projected_pattern *beam, const struct projector_response *light, const struct pattern *pattern)
{
	*beam = (struct projected_pattern){ .light = light, .pattern = pattern };
	beam->dark = response(light, light->mean - light->amplitude);
	beam->bright = response(light, light->mean + light->amplitude);
	beam->shift_rad = pattern->role == ROLE_SIN ? -0.25 * TWO_PI :
	    pattern->role == ROLE_COS ? 0 : pattern->shift_rad;
	if (light->gamma == 1) {
		beam->harmonics = 2;
		beam->harmonic[0] = light->mean;
		beam->harmonic[1] = light->amplitude * attenuation(light, pattern->period_px, 1);
	} else if (light->defocus_px > 0 && !isnan(beam->shift_rad)) {
		find_harmonics(beam);
	}
}

static double
sinusoid(const struct projected_pattern *beam, double column)
{
	const struct projector_response *light = beam->light;
	double c = cos(TWO_PI * column / beam->pattern->period_px + beam->shift_rad);
	double b1 = 0, b2 = 0;

	if (beam->harmonics == 2)
		return beam->harmonic[0] + beam->harmonic[1] * c;
	if (beam->harmonics == 0)
		return response(light, light->mean + light->amplitude * c);
	for (size_t m = beam->harmonics - 1; m > 0; m--) {	/* Clenshaw */
		double b = beam->harmonic[m] + 2 * c * b1 - b2;

		b2 = b1;
		b1 = b;
	}
	return beam->harmonic[0] + c * b1 - b2;
}

/* Is the whole projector column bright? Beyond the first one it goes on as there. */
static double
gray_bit(const struct projected_pattern *beam, double column)
{
	size_t cell = patterns_cell((size_t)fmax(column, 0), beam->pattern->cell_px);
	bool set = (cell ^ (cell >> 1)) >> beam->pattern->bit & 1;

	return set != (beam->pattern->role == ROLE_GRAY_INVERSE);
}

/* The share of the light that comes from bright columns. */
static double
gray_share(const struct projected_pattern *beam, double column)
{
	double sigma = beam->light->defocus_px, reach = 9 * sigma;
	double j = floor(column - reach + 0.5), end = floor(column + reach + 0.5);
	double share = gray_bit(beam, j);

	for (; j < end; j++) {
		double step = gray_bit(beam, j + 1) - gray_bit(beam, j);

		if (step != 0)
			share += step * 0.5 * erfc((j + 0.5 - column) / (sigma * sqrt(2)));
	}
	return share;
}

double
projected_pattern_at(const struct projected_pattern *beam, double column)
{
	switch (beam->pattern->role) {
	case ROLE_GRAY:
	case ROLE_GRAY_INVERSE:
		return beam->dark + (beam->bright - beam->dark) * gray_share(beam, column);
	case ROLE_FLAT:
		return response(beam->light, beam->light->mean);
	case ROLE_WHITE:
		return beam->bright;
	case ROLE_BLACK:
		return beam->dark;
	default:
		return sinusoid(beam, column);
	}
}
