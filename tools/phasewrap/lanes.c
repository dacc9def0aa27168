#include "lanes.h"

#include "base/transpose.h"

#define BLOCK 64	/* samples of a line that change places at once: whole cache lines of it */

/* Of lines or samples, as many as go in fours. */
static size_t
in_fours(size_t n)
{
	return n / 4 * 4;
}

void
lanes_read(const struct lanes *lanes, const float *restrict plane, float *restrict to)
{
	size_t fours = lanes->along == 1 ? in_fours(lanes->lines) : 0, n = lanes->n;

	for (size_t first = 0; fours && first < in_fours(n); first += BLOCK)
		for (size_t k = 0; k < fours; k += 4)
			for (size_t i = first; i < first + BLOCK && i < in_fours(n); i += 4) {
				const float *from = plane + k * lanes->apart + i;
				transpose_four v[4];

				for (size_t j = 0; j < 4; j++)
					v[j] = transpose_load(from + j * lanes->apart);
				transpose_lines(v);
				for (size_t j = 0; j < 4; j++)
					transpose_store(to + (i + j) * LANES_SAMPLE + k, v[j]);
			}
	/* what is left: some lines, or some samples of all */
	for (size_t i = 0; i < n; i++)
		for (size_t k = i < in_fours(n) ? fours : 0; k < lanes->lines; k++)
			to[i * LANES_SAMPLE + k] = plane[k * lanes->apart + i * lanes->along];
}

void
lanes_write(const struct lanes *lanes, const float *restrict from, const size_t *restrict place,
    float scale, float *restrict plane)
{
	size_t fours = lanes->along == 1 ? in_fours(lanes->lines) : 0, n = lanes->n;

	for (size_t first = 0; fours && first < in_fours(n); first += BLOCK)
		for (size_t k = 0; k < fours; k += 4)
			for (size_t i = first; i < first + BLOCK && i < in_fours(n); i += 4) {
				float *to = plane + k * lanes->apart + i;
				transpose_four v[4];

				for (size_t j = 0; j < 4; j++)
					v[j] = scale * transpose_load(from + k +
					    (place ? place[i + j] : i + j) * LANES_SAMPLE);
				transpose_lines(v);
				for (size_t j = 0; j < 4; j++)
					transpose_store(to + j * lanes->apart, v[j]);
			}
	for (size_t i = 0; i < n; i++) {
		const float *sample = from + (place ? place[i] : i) * LANES_SAMPLE;

		for (size_t k = i < in_fours(n) ? fours : 0; k < lanes->lines; k++)
			plane[k * lanes->apart + i * lanes->along] = sample[k] * scale;
	}
}
