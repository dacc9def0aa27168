#include "lanes.h"

#include <stdbool.h>

#include "base/cpu_level.h"

#define BLOCK 64	/* samples of a line that change places at once: whole cache lines of it */

/* Samples of different lines that lie side by side in the plane, too. */
static bool
lie_alike(const struct lanes *lanes)
{
	return lanes->apart == 1 && lanes->along > 1;
}

void
lanes_read(const struct lanes *lanes, const float *restrict plane, float *restrict to)
{
	for (size_t i = 0; lie_alike(lanes) && i < lanes->n; i++)
		for (size_t k = 0; k < lanes->lines; k++)
			to[i * LANES_SAMPLE + k] = plane[i * lanes->along + k];
	for (size_t first = 0; !lie_alike(lanes) && first < lanes->n; first += BLOCK) {
		size_t end = first + BLOCK < lanes->n ? first + BLOCK : lanes->n;

		for (size_t k = 0; k < lanes->lines; k++)
			for (size_t i = first; i < end; i++)
				to[i * LANES_SAMPLE + k] =
				    plane[k * lanes->apart + i * lanes->along];
	}
}

void
lanes_write(const struct lanes *lanes, const float *restrict from, const size_t *restrict place,
    float scale, float *restrict plane)
{
	for (size_t i = 0; lie_alike(lanes) && i < lanes->n; i++) {
		const float *restrict sample = from + (place ? place[i] : i) * LANES_SAMPLE;

		for (size_t k = 0; k < lanes->lines; k++)
			plane[i * lanes->along + k] = sample[k] * scale;
	}
	for (size_t first = 0; !lie_alike(lanes) && first < lanes->n; first += BLOCK) {
		size_t end = first + BLOCK < lanes->n ? first + BLOCK : lanes->n;

		for (size_t k = 0; k < lanes->lines; k++)
			for (size_t i = first; i < end; i++)
				plane[k * lanes->apart + i * lanes->along] =
				    from[(place ? place[i] : i) * LANES_SAMPLE + k] * scale;
	}
}
