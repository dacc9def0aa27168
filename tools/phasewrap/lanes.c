#include "lanes.h"

#define BLOCK 64	/* samples of a line that change places at once: whole cache lines of it */

typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

static inline four
load(const float *v)
{
	return *(const four *)v;
}

static inline void
store(float *v, four a)
{
	*(four *)v = a;
}

/* Four samples of four lines change places. */
static inline void
transpose(four v[4])
{
	four low = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
	four high = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
	four low2 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
	four high2 = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);

	v[0] = __builtin_shufflevector(low, low2, 0, 1, 4, 5);
	v[1] = __builtin_shufflevector(low, low2, 2, 3, 6, 7);
	v[2] = __builtin_shufflevector(high, high2, 0, 1, 4, 5);
	v[3] = __builtin_shufflevector(high, high2, 2, 3, 6, 7);
}

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
				four v[4];

				for (size_t j = 0; j < 4; j++)
					v[j] = load(from + j * lanes->apart);
				transpose(v);
				for (size_t j = 0; j < 4; j++)
					store(to + (i + j) * LANES_SAMPLE + k, v[j]);
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
				four v[4];

				for (size_t j = 0; j < 4; j++)
					v[j] = scale * load(from + k +
					    (place ? place[i + j] : i + j) * LANES_SAMPLE);
				transpose(v);
				for (size_t j = 0; j < 4; j++)
					store(to + j * lanes->apart, v[j]);
			}
	for (size_t i = 0; i < n; i++) {
		const float *sample = from + (place ? place[i] : i) * LANES_SAMPLE;

		for (size_t k = i < in_fours(n) ? fours : 0; k < lanes->lines; k++)
			plane[k * lanes->apart + i * lanes->along] = sample[k] * scale;
	}
}
