/*
 * A projector's response and a set of patterns of any parameters: refused with a message, or every
 * level that is sent is a number from black to what the projector can show.
 */
#define _GNU_SOURCE
#include <math.h>

#include "fuzz.h"
#include "fringe/patterns.h"

static double
take_double(struct bytes *bytes)
{
	double v;
	size_t kind = take_below(bytes, 4);

	if (kind == 0)
		return (double)take_below(bytes, 1000) / 100;
	if (kind == 1)
		return NAN;
	take(bytes, &v, sizeof(v));
	return v;
}

static void
check_pattern(const struct projector_response *response, const struct pattern *pattern)
{
	struct projected_pattern projected;

	projected_pattern_init(&projected, response, pattern);
	for (int column = -1; column < 20; column++) {
		double level = projected_pattern_at(&projected, column);

		check(isfinite(level), "level is not finite");
	}
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct bytes bytes = { data, n };
	/* the ranges are those of the options --gamma, --defocus and --period */
	struct projector_response response = { .mean = take_double(&bytes),
		.amplitude = take_double(&bytes),
		.gamma = 0.2 + (double)take_below(&bytes, 60) / 10,
		.defocus_px = (double)take_below(&bytes, 1000) / 10 };
	struct pattern pattern = { .role = (enum manifest_role)take_below(&bytes, 9),
		.axis = take_below(&bytes, 2) ? 'x' : 'y',
		.period_px = 2 + (double)take_below(&bytes, 5000) / 7, .step = MANIFEST_NO_STEP,
		.shift_rad = (double)take_below(&bytes, 700) / 100,
		.bit = (long)take_below(&bytes, 16),
		.cell_px = 1 + (double)take_below(&bytes, 2000) / 9,
		.wave = take_below(&bytes, 2) ? WAVE_SQUARE : WAVE_SINE };
	int status;

	if (!(response.mean >= 0 && response.mean < 1e6) && !isnan(response.mean))
		return 0;
	if (!(response.amplitude >= 0 && response.amplitude < 1e6) && !isnan(response.amplitude))
		return 0;
	status = projector_response_complete(&response, take_below(&bytes, 2) ? 255 : 1);
	if (status == 0)
		check_pattern(&response, &pattern);
	check_status(status);
	return 0;
}
