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

static void
find_places(const struct row_brackets *restrict brackets, const float *restrict value,
    float *restrict place, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		float within = phasematch_within(value[i], brackets->from[i], brackets->to[i]);

		place[i] = px_select(brackets->pixel[i] < 0, PX_NAN,
		    (float)brackets->pixel[i] + within);
	}
}

/* Where in the left row the value of every right pixel lies. */
static void
match_back(const struct row_index *left, const float *right, float *back, size_t right_w)
{
	struct row_cursor cursor = { 0 };
	struct row_brackets brackets;

	for (size_t x = 0; x < right_w; x += ROW_BRACKETS) {
		size_t n = right_w - x < ROW_BRACKETS ? right_w - x : ROW_BRACKETS;

		row_index_find_all(left, &cursor, right + x, n, &brackets);
		find_places(&brackets, right + x, back + x, n);
	}
}

/* Where in their brackets n values lie, and which pixels are nearest to them, 0 without one. */
static void
find_nearest(const struct row_brackets *restrict brackets, const float *restrict value,
    float *restrict within, int32_t *restrict nearest, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		int32_t at = brackets->pixel[i];

		within[i] = phasematch_within(value[i], brackets->from[i], brackets->to[i]);
		nearest[i] = px_select(at < 0, 0, px_select(within[i] >= 0.5f, at + 1, at));
	}
}

/* Disparities of n pixels from column x on; back: where their matches' own ones lie. A pixel whose
 * match fails has no bracket any more. */
static void
find_disparities(struct row_brackets *restrict brackets, const float *restrict value,
    const float *restrict within, const float *restrict back, size_t x, float both_ways,
    float *restrict disparity, size_t n, struct match_counts *counts)
{
	uint unheld = 0, unlike = 0;

	_Pragma("omp simd reduction(+:unheld, unlike)")
	for (size_t i = 0; i < n; i++) {
		int32_t at = brackets->pixel[i], column = (int32_t)(x + i);
		bool held = at >= 0, agrees = phasematch_agrees(back[i], (float)column, both_ways);
		bool is = px_both(held, agrees);
		PX_F found = phasematch_disparity((float)(column - at), within[i]);

		disparity[i] = px_select(is, found, PX_NAN);
		unlike += px_select(is, 0u, px_select(held, 1u, 0u));
		unheld += px_select(held, 0u, px_select(px_isnan(value[i]), 0u, 1u));
		brackets->pixel[i] = px_select(is, at, -1);
	}
	counts->bracket += unheld;
	counts->both_ways += unlike;
}

static void
find_sigmas(const struct match_memory *m, const struct row_brackets *brackets,
    const float *restrict within, size_t x, float *restrict sigma, size_t n)
{
	const float *restrict left_sigma = m->left_sigma + x;
	const float *restrict right_sigma = m->right_sigma;

	for (size_t i = 0; i < n; i++) {
		int32_t at = brackets->pixel[i];

		sigma[i] = at < 0 ? PX_NAN : phasematch_sigma(left_sigma[i], right_sigma[at],
		    right_sigma[at + 1], within[i], brackets->to[i] - brackets->from[i]);
	}
}

/* back NULL: matches are not tested both ways. */
static void
match_forth(const struct match_memory *m, size_t w, const float *back, float both_ways,
    float *disparity, float *sigma, struct match_counts *counts)
{
	struct row_cursor cursor = { 0 };
	struct row_brackets brackets;
	float within[ROW_BRACKETS], own[ROW_BRACKETS];
	int32_t nearest[ROW_BRACKETS];

	for (size_t x = 0; x < w; x += ROW_BRACKETS) {
		size_t n = w - x < ROW_BRACKETS ? w - x : ROW_BRACKETS;

		row_index_find_all(&m->right_index, &cursor, m->left + x, n, &brackets);
		find_nearest(&brackets, m->left + x, within, nearest, n);
		for (size_t i = 0; i < n; i++)
			own[i] = back ? back[nearest[i]] : PX_NAN;
		find_disparities(&brackets, m->left + x, within, own, x, both_ways, disparity + x,
		    n, counts);
		if (sigma)
			find_sigmas(m, &brackets, within, x, sigma + x, n);
	}
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
