#include "expected.h"

#include <stdlib.h>

#include "holodec.px.h"

static int
compare(const void *a, const void *b)
{
	float left = *(const float *)a, right = *(const float *)b;

	return (left > right) - (left < right);
}

float
expected_median(float *turns, size_t n)
{
	if (!n)
		return PX_NAN;
	qsort(turns, n, sizeof(*turns), compare);
	return 0.5f * (turns[(n - 1) / 2] + turns[n / 2]);
}

struct levels
expected_levels(const struct reading *reading, float turns)
{
	float order = px_floor(turns), rest = turns - order;
	struct levels levels = {
		.sine = holo_sine_level(rest),
		.cosine = holo_cosine_level(rest),
		.stair = reading->stair[(int)(rest * HOLO_PROFILE)] + reading->code.height * order,
	};

	levels.luma = reading->rgb ? holodec_luma(levels.sine, levels.cosine, levels.stair)
				   : levels.stair;
	return levels;
}
