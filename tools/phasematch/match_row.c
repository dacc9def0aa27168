#include "match_row.h"

#include "base/cpu_level.h"
#include "phasematch.px.h"

static size_t
row_bytes(size_t w)
{
	return frame_stride(w, SAMPLE_FLOAT);
}

size_t
match_memory_bytes(const struct matching *matching)
{
	size_t left = row_bytes(matching->w), right = row_bytes(matching->right_w);
	size_t votes = matching->maps > 1 ? matching->maps : 0;

	return 2 * left + 3 * right + votes * left + row_index_bytes(matching->w) +
	    row_index_bytes(matching->right_w);
}

static void *
take(char **at, size_t bytes)
{
	void *memory = *at;

	*at += bytes;
	return memory;
}

void
match_memory_place(struct match_memory *m, const struct matching *matching, void *memory)
{
	size_t left = row_bytes(matching->w), right = row_bytes(matching->right_w);
	char *at = memory;

	m->left = take(&at, left);
	m->left_sigma = take(&at, left);
	m->right = take(&at, right);
	m->right_sigma = take(&at, right);
	m->back = take(&at, right);
	for (size_t k = 0; k < matching->maps && matching->maps > 1; k++)
		m->disparity[k] = take(&at, left);
	row_index_place(&m->left_index, take(&at, row_index_bytes(matching->w)), matching->w);
	row_index_place(&m->right_index, take(&at, row_index_bytes(matching->right_w)),
	    matching->right_w);
}

void
match_right_row(const struct matching *matching, size_t map, struct match_memory *m,
    const struct frame *in, size_t y)
{
	size_t inconsistent;

	value_map_row(&matching->right[map], in, y, matching->right_w, matching->sign, m->right,
	    matching->sigma ? m->right_sigma : NULL, &inconsistent);
	row_index_build(&m->right_index, m->right, matching->right_w, matching->step_most[map]);
}

/* Where in the left row the value of every right pixel lies. */
static void
match_back(const struct row_index *left, const float *restrict right, float *restrict back,
    size_t right_w)
{
	struct row_cursor cursor = { 0 };
	const float *values = left->values;

	for (size_t x = 0; x < right_w; x++) {
		float value = right[x], place = PX_NAN;

		if (!px_isnan(value) && row_index_find(left, &cursor, value)) {
			uint32_t at = cursor.pixel;

			place = (float)at + phasematch_within(value, values[at], values[at + 1]);
		}
		back[x] = place;
	}
}

/* back NULL: matches are not tested both ways. */
static void
match_forth(const struct match_memory *m, size_t w, const float *restrict back, float both_ways,
    float *restrict disparity, float *restrict sigma, struct match_counts *counts)
{
	const struct row_index *index = &m->right_index;
	const float *restrict left = m->left, *restrict right = m->right;
	struct row_cursor cursor = { 0 };
	size_t unheld = 0, unlike = 0;

	for (size_t x = 0; x < w; x++) {
		float value = left[x], found = PX_NAN, deviation = PX_NAN;

		if (!px_isnan(value) && row_index_find(index, &cursor, value)) {
			uint32_t at = cursor.pixel, near;
			float a = right[at], b = right[at + 1];
			float within = phasematch_within(value, a, b);
			bool agrees;

			near = at + (within >= 0.5f);
			agrees = !back || phasematch_agrees(back[near], (float)x, both_ways);
			found = agrees ? phasematch_disparity((float)((int32_t)x - (int32_t)at),
			    within) : PX_NAN;
			unlike += !agrees;
			if (sigma && agrees)
				deviation = phasematch_sigma(m->left_sigma[x], m->right_sigma[at],
				    m->right_sigma[at + 1], within, b - a);
		} else {
			unheld += !px_isnan(value);
		}
		disparity[x] = found;
		if (sigma)
			sigma[x] = deviation;
	}
	counts->bracket += unheld;
	counts->both_ways += unlike;
}

static void
match_map(const struct matching *matching, size_t map, struct match_memory *m,
    const struct frame *in, size_t y, float *disparity, float *sigma, struct match_counts *counts)
{
	size_t inconsistent;
	bool back = matching->both_ways > 0;

	counts->pixels += value_map_row(&matching->left[map], in, y, matching->w, matching->sign,
	    m->left, matching->sigma ? m->left_sigma : NULL, &inconsistent);
	counts->residual += inconsistent;
	match_right_row(matching, map, m, in, y);
	if (back) {
		row_index_build(&m->left_index, m->left, matching->w, matching->step_most[map]);
		match_back(&m->left_index, m->right, m->back, matching->right_w);
	}
	match_forth(m, matching->w, back ? m->back : NULL, matching->both_ways, disparity, sigma,
	    counts);
}

/* ---- the vote of Liu 2015, IV.B ---- */

/* The disparities of one pixel, of n maps, in their order. Returns how many there are. */
static size_t
gather(const struct match_memory *m, size_t maps, size_t x, float *sorted)
{
	size_t n = 0;

	for (size_t k = 0; k < maps; k++) {
		float v = m->disparity[k][x];
		size_t at = n;

		if (px_isnan(v))
			continue;
		for (; at > 0 && sorted[at - 1] > v; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = v;
		n++;
	}
	return n;
}

/* The mean of all, if there are all and agree; else that of the two closest, if they do; NaN. */
static float
vote(const float *sorted, size_t n, size_t maps, float most)
{
	float sum = 0;
	size_t best = 0;

	if (n < 2)
		return PX_NAN;
	if (n == maps && sorted[n - 1] - sorted[0] <= most) {
		for (size_t i = 0; i < n; i++)
			sum += sorted[i];
		return sum / (float)n;
	}
	for (size_t i = 1; i + 1 < n; i++)
		if (sorted[i + 1] - sorted[i] < sorted[best + 1] - sorted[best])
			best = i;
	if (!(sorted[best + 1] - sorted[best] <= most))
		return PX_NAN;
	return (sorted[best] + sorted[best + 1]) / 2;
}

/* Returns how many pixels have a disparity of some map. */
static size_t
vote_row(const struct matching *matching, const struct match_memory *m, float *disparity,
    struct match_counts *counts)
{
	float sorted[PHASES_MOST];
	size_t found = 0;

	for (size_t x = 0; x < matching->w; x++) {
		size_t n = gather(m, matching->maps, x, sorted);

		disparity[x] = vote(sorted, n, matching->maps, matching->vote);
		found += n > 0;
		counts->vote += n > 0 && px_isnan(disparity[x]);
	}
	return found;
}

/* Each map on its own, as if it were the only one; the pixels are those of the map that has most.
 */
static void
match_votes(const struct matching *matching, struct match_memory *m, const struct frame *in,
    size_t y, float *disparity, struct match_counts *counts)
{
	size_t pixels = 0, found;

	for (size_t k = 0; k < matching->maps; k++) {
		struct match_counts own = { 0 };

		match_map(matching, k, m, in, y, m->disparity[k], NULL, &own);
		pixels = own.pixels > pixels ? own.pixels : pixels;
	}
	found = vote_row(matching, m, disparity, counts);
	counts->pixels += pixels;
	counts->bracket += pixels > found ? pixels - found : 0;
}

void
match_row(const struct matching *matching, struct match_memory *m, const struct frame *in, size_t y,
    float *disparity, float *sigma, struct match_counts *counts)
{
	if (matching->maps == 1)
		match_map(matching, 0, m, in, y, disparity, sigma, counts);
	else
		match_votes(matching, m, in, y, disparity, counts);
}
