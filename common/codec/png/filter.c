#include "codec/png/filter.h"

#include <stdint.h>

#include "codec/png/lanes.h"

/* The difference that a filter makes of 16 bytes. */
static inline lanes
difference(const unsigned char *row, const unsigned char *above, size_t pixel_bytes,
    enum filter filter)
{
	const lanes v = lanes_load(row);

	switch (filter) {
	case FILTER_SUB:
		return v - lanes_load(row - pixel_bytes);
	case FILTER_UP:
		return v - lanes_load(above);
	case FILTER_AVERAGE:
		return v - lanes_mean(lanes_load(row - pixel_bytes), lanes_load(above));
	case FILTER_PAETH:
		return v - lanes_paeth(lanes_load(row - pixel_bytes), lanes_load(above),
		    lanes_load(above - pixel_bytes));
	default:
		return v;
	}
}

/* The first n of 16 bytes, the others 0. */
static lanes
first_bytes(lanes v, size_t n)
{
	for (size_t i = n; i < LANES; i++)
		v[i] = 0;
	return v;
}

static enum filter
least_filter(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes)
{
	lane_sums sum[FILTER_LEAST] = { 0 };
	enum filter least = FILTER_NONE;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (enum filter f = FILTER_NONE; f < FILTER_LEAST; f++)
			sum[f] = lanes_add_magnitudes(sum[f],
			    difference(row + i, above + i, pixel_bytes, f));
	if (i < n)
		for (enum filter f = FILTER_NONE; f < FILTER_LEAST; f++)
			sum[f] = lanes_add_magnitudes(sum[f], first_bytes(
			    difference(row + i, above + i, pixel_bytes, f), n - i));
	for (enum filter f = FILTER_SUB; f < FILTER_LEAST; f++)
		if (sum[f][0] + sum[f][1] < sum[least][0] + sum[least][1])
			least = f;
	return least;
}

/* Inlined for each filter, so that the choice is made once a row. */
static inline __attribute__((always_inline)) void
filter_by(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    enum filter filter, unsigned char *to)
{
	*to++ = (unsigned char)filter;
	for (size_t i = 0; i < n; i += LANES)
		lanes_store(to + i, difference(row + i, above + i, pixel_bytes, filter));
}

void
filter_row(const unsigned char *row, const unsigned char *above, size_t n, size_t pixel_bytes,
    enum filter filter, unsigned char *to)
{
	if (filter == FILTER_LEAST)
		filter = least_filter(row, above, n, pixel_bytes);
	switch (filter) {
	case FILTER_SUB:
		filter_by(row, above, n, pixel_bytes, FILTER_SUB, to);
		break;
	case FILTER_UP:
		filter_by(row, above, n, pixel_bytes, FILTER_UP, to);
		break;
	case FILTER_AVERAGE:
		filter_by(row, above, n, pixel_bytes, FILTER_AVERAGE, to);
		break;
	case FILTER_PAETH:
		filter_by(row, above, n, pixel_bytes, FILTER_PAETH, to);
		break;
	default:
		filter_by(row, above, n, pixel_bytes, FILTER_NONE, to);
	}
}
