#include "codec/png/filter.h"

#include <stdint.h>

#include "codec/png/lanes.h"

enum { FILTERS = 5 };

/* The differences that each filter makes of 16 bytes: none, sub, up, average, Paeth. */
struct differences {
	lanes of[FILTERS];
};

static inline struct differences
differences(const unsigned char *row, const unsigned char *above, size_t pixel_bytes)
{
	lanes v = lanes_load(row), a = lanes_load(row - pixel_bytes);
	lanes b = lanes_load(above), c = lanes_load(above - pixel_bytes);

	return (struct differences){ { v, v - a, v - b, v - lanes_mean(a, b),
		v - lanes_paeth(a, b, c) } };
}

/* The first n of 16 bytes, the others 0. */
static lanes
first_bytes(lanes v, size_t n)
{
	for (size_t i = n; i < LANES; i++)
		v[i] = 0;
	return v;
}

static int
best_filter(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes)
{
	uint64_t sum[FILTERS] = { 0 };
	size_t i = 0;
	int best = 0;

	for (; i + LANES <= n; i += LANES) {
		struct differences d = differences(row + i, above + i, pixel_bytes);

		for (int k = 0; k < FILTERS; k++)
			sum[k] += lanes_magnitude(d.of[k]);
	}
	if (i < n) {
		struct differences d = differences(row + i, above + i, pixel_bytes);

		for (int k = 0; k < FILTERS; k++)
			sum[k] += lanes_magnitude(first_bytes(d.of[k], n - i));
	}
	for (int k = 1; k < FILTERS; k++)
		if (sum[k] < sum[best])
			best = k;
	return best;
}

void
filter_best(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    unsigned char *to)
{
	int best = best_filter(row, above, n, pixel_bytes);

	*to++ = (unsigned char)best;
	for (size_t i = 0; i < n; i += LANES) {
		struct differences d = differences(row + i, above + i, pixel_bytes);

		lanes_store(to + i, d.of[best]);
	}
}
