/*
 * The loops of phasematch on the processor: the values of a row, the index that finds them, the
 * matches of a row with their vote, what the survey counts in a row, and at the end the rows of the
 * output with support, points and standard deviations (methods §10; Liu 2015).
 */
#include "phasematch.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/px.h"
#include "phasematch.px.h"

/* ---- values: an absolute phase, or the mean of several as a projector column ---- */

#define TILE 256		/* pixels that are worked on together */

struct sums {
	float base[TILE], sum[TILE], squares[TILE], weight[TILE];
} __attribute__((aligned(64)));

static size_t
single_row(const float *restrict phase, float factor, float *restrict values, size_t w)
{
	uint there = 0;

	_Pragma("omp simd reduction(+:there)")
	for (size_t x = 0; x < w; x++) {
		float value = phasematch_single(phase[x], factor);

		values[x] = value;
		there += !px_isnan(value);
	}
	return there;
}

/* The mean of a pixel's phases (methods §5): sums of differences from a base, which is the first
 * phase, or where that is missing the next one. */
struct mean {
	float base, sum, squares, weight;
};

static inline struct mean
add_phase(struct mean mean, float phase, float scale, float weight)
{
	PX_F own = phasematch_single(phase, 1.0f);
	bool there = !px_isnan(own);
	PX_F more = px_select(there, phase_mean_more(own, scale, mean.base), 0.0f);
	PX_F share = px_select(there, weight, 0.0f);
	PX_F part = share * more;

	return (struct mean){ mean.base, mean.sum + part, mean.squares + part * more,
		mean.weight + share };
}

static inline bool
is_near(struct mean mean, float variance_most)
{
	PX_F weight = px_select(mean.weight > 0.0f, mean.weight, 1.0f);

	return phasematch_spread(mean.squares, mean.sum, weight) <= variance_most;
}

static inline float
mean_value(struct mean mean, float factor)
{
	PX_F weight = px_select(mean.weight > 0.0f, mean.weight, 1.0f);

	return phase_mean_of(mean.base, mean.sum, weight, factor);
}

/* The means of n pixels in one pass. Callers give `phases`, 2 or 3, as a constant. */
static inline __attribute__((always_inline)) void
few_phases(const struct value_map *map, const float *const phase[], size_t phases, float factor,
    float *restrict values, size_t n, size_t *there, size_t *inconsistent)
{
	const float *restrict a = phase[0], *restrict b = phase[1], *restrict c = phase[phases - 1];
	const float scale[3] = { map->scale[0], map->scale[1], phases > 2 ? map->scale[2] : 0 };
	const float weight[3] = { map->weight[0], map->weight[1],
		phases > 2 ? map->weight[2] : 0 };
	const float variance_most = map->variance_most;
	uint some = 0, far = 0;

	_Pragma("omp simd reduction(+:some, far)")
	for (size_t i = 0; i < n; i++) {
		PX_F first = phasematch_single(a[i], 1.0f);
		PX_F second = phasematch_single(b[i], scale[1]);
		PX_F base = px_select(px_isnan(first), second, first);
		PX_F last = phasematch_single(c[i], scale[2]);
		struct mean mean = { 0 };
		bool any, near;

		mean.base = phases > 2 ? px_select(px_isnan(base), last, base) : base;
		mean = add_phase(mean, a[i], scale[0], weight[0]);
		mean = add_phase(mean, b[i], scale[1], weight[1]);
		if (phases > 2)
			mean = add_phase(mean, c[i], scale[2], weight[2]);
		any = mean.weight > 0.0f;
		near = is_near(mean, variance_most);
		values[i] = px_select(px_both(any, near), mean_value(mean, factor), PX_NAN);
		some += any;
		far += px_both(any, !near);
	}
	*there += some;
	*inconsistent += far;
}

/* More than three phases: begin_sums(), fill_base() and add_to_sums() for each phase, and
 * finish_sums(). */
static void
begin_sums(struct sums *restrict s, const float *restrict phase, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		s->base[i] = phasematch_single(phase[i], 1.0f);
		s->sum[i] = s->squares[i] = s->weight[i] = 0;
	}
}

static void
fill_base(struct sums *restrict s, const float *restrict phase, float scale, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		s->base[i] = px_select(px_isnan(s->base[i]), phasematch_single(phase[i], scale),
		    s->base[i]);
}

static void
add_to_sums(struct sums *restrict s, const float *restrict phase, float scale, float weight,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct mean mean = { s->base[i], s->sum[i], s->squares[i], s->weight[i] };

		mean = add_phase(mean, phase[i], scale, weight);
		s->sum[i] = mean.sum;
		s->squares[i] = mean.squares;
		s->weight[i] = mean.weight;
	}
}

static void
finish_sums(const struct sums *restrict s, float factor, float variance_most,
    float *restrict values, size_t n, size_t *there, size_t *inconsistent)
{
	uint some = 0, far = 0;

	_Pragma("omp simd reduction(+:some, far)")
	for (size_t i = 0; i < n; i++) {
		struct mean mean = { s->base[i], s->sum[i], s->squares[i], s->weight[i] };
		bool any = mean.weight > 0.0f, near = is_near(mean, variance_most);

		values[i] = px_select(px_both(any, near), mean_value(mean, factor), PX_NAN);
		some += any;
		far += px_both(any, !near);
	}
	*there += some;
	*inconsistent += far;
}

static void
add_variance(const float *restrict phase, const float *restrict sigma, float scale, float weight,
    float *restrict variance, float *restrict sum, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = !px_isnan(phasematch_single(phase[i], 1.0f));
		PX_F share = weight * scale * sigma[i];

		variance[i] = variance[i] + px_select(there, share * share, 0.0f);
		sum[i] = sum[i] + px_select(there, weight, 0.0f);
	}
}

static void
write_sigma(const float *restrict variance, const float *restrict sum, float unit,
    float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		sigma[i] = phasematch_map_sigma(variance[i], sum[i], unit);
}

static void
map_sigma_row(const struct value_map *map, const struct frame *in, size_t y, size_t w, float *sigma)
{
	float variance[TILE], sum[TILE];

	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		memset(variance, 0, n * sizeof(*variance));
		memset(sum, 0, n * sizeof(*sum));
		for (size_t k = 0; k < map->phases; k++)
			add_variance(frame_floats(in, map->channel[k], y) + x,
			    frame_floats(in, map->sigma[k], y) + x, map->scale[k],
			    map->weight[k], variance, sum, n);
		write_sigma(variance, sum, map->unit, sigma + x, n);
	}
}

static size_t
value_map_row(const struct value_map *map, const struct frame *in, size_t y, size_t w, float sign,
    float *values, float *sigma, size_t *inconsistent)
{
	struct sums sums;
	size_t there = 0;

	*inconsistent = 0;
	if (sigma)
		map_sigma_row(map, in, y, w, sigma);
	if (map->phases == 1)
		return single_row(frame_floats(in, map->channel[0], y), sign * map->unit, values,
		    w);
	if (map->phases <= 3) {
		const float *phase[3], factor = sign * map->unit;

		for (size_t k = 0; k < map->phases; k++)
			phase[k] = frame_floats(in, map->channel[k], y);
		if (map->phases == 2)
			few_phases(map, phase, 2, factor, values, w, &there, inconsistent);
		else
			few_phases(map, phase, 3, factor, values, w, &there, inconsistent);
		return there;
	}
	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		begin_sums(&sums, frame_floats(in, map->channel[0], y) + x, n);
		for (size_t k = 1; k < map->phases; k++)
			fill_base(&sums, frame_floats(in, map->channel[k], y) + x, map->scale[k],
			    n);
		for (size_t k = 0; k < map->phases; k++)
			add_to_sums(&sums, frame_floats(in, map->channel[k], y) + x, map->scale[k],
			    map->weight[k], n);
		finish_sums(&sums, sign * map->unit, map->variance_most, values + x, n, &there,
		    inconsistent);
	}
	return there;
}

/* ---- the index of a row: which pixels bracket a value (phasematch.h) ---- */

static size_t
aligned(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

/* A run has two pixels at least; each begins and ends a span at most. */
static size_t
runs_most(size_t w)
{
	return w / 2 + 1;
}

static size_t
spans_most(size_t w)
{
	return 2 * runs_most(w) + 3;
}

static size_t
row_index_bytes(size_t w)
{
	return aligned(spans_most(w) * sizeof(struct value_span)) +
	    3 * aligned(runs_most(w) * sizeof(struct rising_run));
}

static void
row_index_place(struct row_index *index, void *memory, size_t w)
{
	size_t runs = aligned(runs_most(w) * sizeof(struct rising_run));
	char *at = memory;

	index->span = (void *)at;
	at += aligned(spans_most(w) * sizeof(struct value_span));
	index->run = (void *)at;
	index->sorted = (void *)(at + runs);
	index->active = (void *)(at + 2 * runs);
}

static void
find_steps(const float *restrict values, size_t n, float most, unsigned char *restrict step)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		step[x] = phasematch_is_step(values[x], values[x + 1], most);
}

/* Finds the runs of a row in the order of pixels, and returns their number. step: memory for w
 * bytes. */
static size_t
find_runs(const float *values, size_t w, float most, unsigned char *step, struct rising_run *run)
{
	const unsigned char *end = step + w - 1, *first = step;
	size_t n = 0;

	find_steps(values, w - 1, most, step);
	while ((first = memchr(first, 1, (size_t)(end - first))) != NULL) {
		const unsigned char *last = memchr(first, 0, (size_t)(end - first));
		size_t from = (size_t)(first - step), to;

		first = last ? last : end;
		to = (size_t)(first - step);
		run[n++] = (struct rising_run){ values[from], values[to], (uint32_t)from,
			(uint32_t)to };
	}
	return n;
}

/* Merges two sorted neighbours into `to`. */
static void
merge(const struct rising_run *run, size_t n, const struct rising_run *other, size_t others,
    struct rising_run *to)
{
	while (n > 0 && others > 0) {
		bool first = run->from <= other->from;

		*to++ = first ? *run++ : *other++;
		n -= first;
		others -= !first;
	}
	while (n-- > 0)
		*to++ = *run++;
	while (others-- > 0)
		*to++ = *other++;
}

/* Sorts runs by their first value, equal ones from left to right. Returns the sorted ones. */
static struct rising_run *
sort_runs(struct row_index *index, size_t n)
{
	struct rising_run *run = index->run, *to = index->sorted;
	bool sorted = true;

	for (size_t i = 1; i < n; i++)
		sorted &= run[i - 1].from <= run[i].from;
	for (size_t size = 1; size < n && !sorted; size *= 2) {
		struct rising_run *swap = run;

		for (size_t i = 0; i < n; i += 2 * size) {
			size_t middle = i + size < n ? i + size : n;
			size_t end = i + 2 * size < n ? i + 2 * size : n;

			merge(run + i, middle - i, run + middle, end - middle, to + i);
		}
		run = to;
		to = swap;
	}
	return run;
}

/* The longer one, of equal ones the left one. */
static bool
counts_more(const struct rising_run *a, const struct rising_run *b)
{
	uint32_t own = a->last - a->first, other = b->last - b->first;

	return own > other || (own == other && a->first < b->first);
}

/* The run counts from this value on; NULL: none does. Returns the number of spans. */
static size_t
add_span(struct value_span *span, size_t n, float from, const struct rising_run *run)
{
	uint32_t first = run ? run->first : 0, last = run ? run->last : 0;

	if (span[n - 1].first == first && span[n - 1].last == last)
		return n;
	span[n] = (struct value_span){ from, first, last };
	return n + 1;
}

/* Adds the spans between two values, of the active runs, and drops those that end there. */
static size_t
add_spans(struct row_index *index, size_t n, float from, float to, size_t *active)
{
	struct rising_run *run = index->active;

	while (from < to) {
		const struct rising_run *best = NULL;
		size_t kept = 0;

		for (size_t i = 0; i < *active; i++)
			if (run[i].to > from)
				run[kept++] = run[i];
		*active = kept;
		for (size_t i = 0; i < kept; i++)
			if (!best || counts_more(&run[i], best))
				best = &run[i];
		n = add_span(index->span, n, from, best);
		from = best && best->to < to ? best->to : to;
	}
	return n;
}

static void
row_index_build(struct row_index *index, const float *values, size_t w, float step_most)
{
	/* `active` is unused until the runs are sorted, and has 16 bytes for every two pixels */
	size_t runs = find_runs(values, w, step_most, (unsigned char *)index->active, index->run);
	size_t active = 0, n = 1;
	const struct rising_run *run = sort_runs(index, runs);
	struct value_span *span = index->span;

	index->values = values;
	span[0] = (struct value_span){ -INFINITY, 0, 0 };
	for (size_t i = 0; i < runs; i++) {
		if (i > 0)
			n = add_spans(index, n, run[i - 1].from, run[i].from, &active);
		index->active[active++] = run[i];
	}
	if (runs > 0)
		n = add_spans(index, n, run[runs - 1].from, INFINITY, &active);
	span[n] = (struct value_span){ INFINITY, 0, 0 };
	index->spans = n;
}

/* ---- the search for several values together ---- */

#define LANES (CPU_VECTOR_BYTES / 4)
#define WINDOW 8	/* neighbouring pixels among which a lane's bracket is searched */
#define BEFORE 3	/* of them, before the one where the bracket is expected */

typedef float lanes __attribute__((vector_size(CPU_VECTOR_BYTES), aligned(4), may_alias));
typedef int32_t whole __attribute__((vector_size(CPU_VECTOR_BYTES), aligned(4), may_alias));

static inline bool
is_all(whole v)
{
#if CPU_VECTOR_BYTES == 64
	return _mm512_movepi32_mask((__m512i)v) == 0xffff;
#elif CPU_VECTOR_BYTES == 32
	return _mm256_movemask_ps((__m256)v) == 0xff;
#elif defined(__SSE2__)
	return _mm_movemask_ps((__m128)v) == 0xf;
#else
	return v[0] & v[1] & v[2] & v[3] & 1;
#endif
}

static inline lanes
choose(whole which, lanes yes, lanes no)
{
	return (lanes)((which & (whole)yes) | (~which & (whole)no));
}

/* *start: the first pixel of the first lane's window. Each next lane's window is one pixel farther.
 * Returns false if the cursor's run does not hold them all. */
static inline bool
place_windows(const struct row_cursor *cursor, const struct value_span *span, uint32_t *start)
{
	int32_t first = (int32_t)span->first, last = (int32_t)span->last;
	int32_t pixel = (int32_t)cursor->pixel, from = pixel + 1 - BEFORE + cursor->drift;

	if (last - first < LANES + WINDOW - 2 || pixel < first || pixel >= last)
		return false;
	last -= LANES + WINDOW - 2;
	*start = (uint32_t)(from < first ? first : from > last ? last : from);
	return true;
}

/* For values where no run counts. Returns false if a run counts for any of them. */
static inline bool
find_none(const struct value_span *span, lanes value, whole none, struct row_brackets *brackets,
    size_t at)
{
	whole beyond = (value > span[0].from) & (value < span[1].from);

	if (!is_all(beyond | none))
		return false;
	for (size_t i = 0; i < LANES; i++) {
		brackets->pixel[at + i] = -1;
		brackets->from[at + i] = brackets->to[at + i] = PX_NAN;
	}
	return true;
}

/* The brackets of LANES values. Returns false, for find_each() to do it, if the cursor's run does
 * not count for all of them or a value is far from that of the previous lane. */
static inline bool
find_lanes(const struct row_index *index, struct row_cursor *cursor, const float *values,
    struct row_brackets *brackets, size_t at)
{
	const struct value_span *span = &index->span[cursor->span];
	lanes value = *(const lanes *)values, from, to, window[WINDOW];
	whole none = value != value, pixel, held;
	uint32_t start;

	if (span->first == span->last)
		return find_none(span, value, none, brackets, at);
	if (!place_windows(cursor, span, &start))
		return false;
	for (uint32_t i = 0; i < LANES; i++)
		pixel[i] = (int32_t)(start + i);
	for (size_t k = 0; k < WINDOW; k++)
		window[k] = *(const lanes *)(index->values + start + k);
	held = (value >= span[0].from) & (value < span[1].from) & (window[0] <= value) &
	    (value < window[WINDOW - 1]);
	if (!is_all(held | none))
		return false;
	from = window[0];
	to = window[WINDOW - 1];
	for (size_t k = 1; k < WINDOW - 1; k++) {
		whole below = window[k] <= value;

		pixel -= below;
		from = choose(below, window[k], from);
	}
	for (size_t k = WINDOW - 2; k > 0; k--)
		to = choose(window[k] <= value, to, window[k]);
	*(whole *)(brackets->pixel + at) = pixel | none;
	*(lanes *)(brackets->from + at) = from;
	*(lanes *)(brackets->to + at) = to;
	cursor->pixel = none[LANES - 1] ? start + LANES + BEFORE : (uint32_t)pixel[LANES - 1];
	return true;
}

static void
find_each(const struct row_index *index, struct row_cursor *cursor, const float *value, size_t n,
    struct row_brackets *brackets, size_t at)
{
	for (size_t i = 0; i < n; i++) {
		bool is = !px_isnan(value[i]) && row_index_find(index, cursor, value[i]);

		brackets->pixel[at + i] = is ? (int32_t)cursor->pixel : -1;
		brackets->from[at + i] = is ? index->values[cursor->pixel] : PX_NAN;
		brackets->to[at + i] = is ? index->values[cursor->pixel + 1] : PX_NAN;
	}
}

static void
row_index_find_all(const struct row_index *index, struct row_cursor *cursor, const float *value,
    size_t n, struct row_brackets *brackets)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		int32_t before = (int32_t)cursor->pixel, more;

		if (!find_lanes(index, cursor, value + i, brackets, i))
			find_each(index, cursor, value + i, LANES, brackets, i);
		more = (int32_t)cursor->pixel - before - LANES;
		cursor->drift = more > LANES || more < -LANES ? 0 : more / 2;
	}
	find_each(index, cursor, value + i, n - i, brackets, i);
}

/* ---- the disparities of one row: search, both ways, vote ---- */

static size_t
row_bytes(size_t w)
{
	return frame_stride(w, SAMPLE_FLOAT);
}

static size_t
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

static void
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

/* The values of a map in row y of the right side, and their index. */
static void
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

/* The column of the left row that has the value of each right pixel. */
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

/* The position of n values within their brackets, and the pixel that is nearest, 0 without one. */
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

/* Disparities of n pixels from column x on. back: the columns that their matches match themselves.
 * A pixel whose match fails loses its bracket. */
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
	counts->n[COUNT_BRACKET] += unheld;
	counts->n[COUNT_BOTH_WAYS] += unlike;
}

static void
find_sigmas(const struct matching *matching, const struct match_memory *m,
    const struct row_brackets *brackets, const float *restrict within, size_t x,
    float *restrict sigma, size_t n)
{
	const float *restrict left_sigma = m->left_sigma + x;
	const float *restrict right_sigma = m->right_sigma, *restrict right = m->right;
	int32_t last = (int32_t)matching->right_w - 4;

	for (size_t i = 0; i < n; i++) {
		int32_t at = brackets->pixel[i];

		float step = brackets->to[i] - brackets->from[i];

		if (at >= 2 && at <= last)
			step = phasematch_mean_step(step, right[at - 2], right[at + 3]);
		sigma[i] = at < 0 ? PX_NAN : phasematch_sigma(left_sigma[i], right_sigma[at],
		    right_sigma[at + 1], within[i], step, matching->correlation);
	}
}

/* The disparities of a row; back: of match_back(), or NULL to accept matches in one direction. */
static void
match_forth(const struct matching *matching, const struct match_memory *m, const float *back,
    float *disparity, float *sigma, struct match_counts *counts)
{
	size_t w = matching->w;
	float both_ways = matching->both_ways;
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
			find_sigmas(matching, m, &brackets, within, x, sigma + x, n);
	}
}

static void
match_map(const struct matching *matching, size_t map, struct match_memory *m,
    const struct frame *in, size_t y, float *disparity, float *sigma, struct match_counts *counts)
{
	size_t inconsistent;
	bool back = matching->both_ways > 0;

	counts->n[COUNT_PIXELS] += value_map_row(&matching->left[map], in, y, matching->w,
	    matching->sign, m->left, matching->sigma ? m->left_sigma : NULL, &inconsistent);
	counts->n[COUNT_RESIDUAL] += inconsistent;
	match_right_row(matching, map, m, in, y);
	if (back) {
		row_index_build(&m->left_index, m->left, matching->w, matching->step_most[map]);
		match_back(&m->left_index, m->right, m->back, matching->right_w);
	}
	match_forth(matching, m, back ? m->back : NULL, disparity, sigma,
	    counts);
}

/* The vote (Liu 2015, IV.B): the disparities of one pixel, sorted. Returns their number. */
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

/* The mean of all maps, if all have a disparity and agree; else that of the two closest ones, if
 * they agree; else NaN. */
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

/* Returns the number of pixels where any map has a disparity. */
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
		counts->n[COUNT_VOTE] += n > 0 && px_isnan(disparity[x]);
	}
	return found;
}

/* Matches each map alone, then votes. The pixels that are counted are those of the map that has
 * most. */
static void
match_votes(const struct matching *matching, struct match_memory *m, const struct frame *in,
    size_t y, float *disparity, struct match_counts *counts)
{
	size_t pixels = 0, found;

	for (size_t k = 0; k < matching->maps; k++) {
		struct match_counts own = { 0 };

		match_map(matching, k, m, in, y, m->disparity[k], NULL, &own);
		pixels = own.n[COUNT_PIXELS] > pixels ? own.n[COUNT_PIXELS] : pixels;
	}
	found = vote_row(matching, m, disparity, counts);
	counts->n[COUNT_PIXELS] += pixels;
	counts->n[COUNT_BRACKET] += pixels > found ? pixels - found : 0;
}

static void
match_row(const struct matching *matching, struct match_memory *m, const struct frame *in, size_t y,
    float *disparity, float *sigma, struct match_counts *counts)
{
	if (matching->maps == 1)
		match_map(matching, 0, m, in, y, disparity, sigma, counts);
	else
		match_votes(matching, m, in, y, disparity, counts);
}

/* ---- what the survey counts ---- */

#define TURN_MOST 6.3f		/* range of a wrapped phase in rad, with rounding */
#define JUMP 5.0f		/* rad from one end of it to the other, less noise */
#define GAP 4			/* columns of holes at a jump, which rectify leaves there */

static bool
row_jumps(const float *v, size_t w, long *jumps)
{
	float least = INFINITY, most = -INFINITY;
	size_t last = w;
	long falls = 0;

	for (size_t x = 0; x < w; x++) {
		if (px_isnan(v[x]))
			continue;
		least = px_min(least, v[x]);
		most = px_max(most, v[x]);
		if (last < w && x - last <= GAP)
			falls += (v[x] < v[last] - JUMP) - (v[x] > v[last] + JUMP);
		last = x;
	}
	*jumps = most - least <= TURN_MOST ? falls : 0;
	return last < w;
}

#define FILLED 0.8		/* part of a block's pixels that must be valid */
#define ALIKE 0.8		/* correlation of textures that show the same */
#define CLEAR 0.05		/* by which it exceeds that of shifts APART steps away */
#define APART 2

static double
correlation(const struct block *block, size_t k)
{
	double ab = block->n * block->ab[k] - block->a * block->b[k];
	double aa = block->n * block->aa - block->a * block->a;
	double bb = block->n * block->bb[k] - block->b[k] * block->b[k];

	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* Where the parabola through the best correlation and its neighbours has its top, in steps. */
static double
vertex(const double each[SHIFTS], size_t best)
{
	double bend;

	if (best == 0 || best + 1 == SHIFTS)
		return 0;
	bend = 2 * each[best] - each[best - 1] - each[best + 1];
	return bend > 0 ? (each[best + 1] - each[best - 1]) / (2 * bend) : 0;
}

/* Counts a block whose textures are clearly alike at one of the shifts. */
static void
decide(struct alike_places *places, const struct block *block)
{
	double each[SHIFTS], other = -1;
	size_t best = 0;

	for (size_t k = 0; k < SHIFTS; k++) {
		each[k] = correlation(block, k);
		if (each[k] > each[best])
			best = k;
	}
	for (size_t k = 0; k < SHIFTS; k++)
		if (k + APART <= best || k >= best + APART)
			other = fmax(other, each[k]);
	if (block->n < FILLED * BLOCK * BLOCK || each[best] < ALIKE || each[best] - other < CLEAR)
		return;
	places->shifted++;
	places->level += best == STEPS;
	places->at[(size_t)lround((double)(STEP * best) + STEP * vertex(each, best))]++;
}

static double
read_between(const float *row, size_t i, double t)
{
	return (1 - t) * (double)row[i] + t * (double)row[i + 1];
}

/* Adds a pixel of the left texture, and those of the right one at each shift. */
static void
add_values(struct block *block, double a, const double b[SHIFTS])
{
	double sum = a;

	for (size_t k = 0; k < SHIFTS; k++)
		sum += b[k];
	if (!isfinite(sum))
		return;
	block->n++;
	block->a += a;
	block->aa += a * a;
	for (size_t k = 0; k < SHIFTS; k++) {
		block->b[k] += b[k];
		block->bb[k] += b[k] * b[k];
		block->ab[k] += a * b[k];
	}
}

/* Adds pixel x of row y, which matches column x_right, to the sums of both directions. */
static void
add_pixel(struct texture_comparison *check, size_t x, size_t y, float x_right)
{
	const float *same = frame_row(check->in, check->right, y);
	size_t i = (size_t)x_right;
	double t = (double)x_right - (double)i, b[SHIFTS];
	double a = ((const float *)frame_row(check->in, check->left, y))[x];

	for (size_t k = 0; k < SHIFTS; k++)
		b[k] = read_between(frame_row(check->in, check->right, y + STEP * k - REACH), i, t);
	add_values(&check->block[x / BLOCK], a, b);
	if (i < REACH || i + REACH + 1 >= check->right_w)
		return;
	for (size_t k = 0; k < SHIFTS; k++)
		b[k] = read_between(same, i + STEP * k - REACH, t);
	add_values(&check->aside[x / BLOCK], a, b);
}

static void
add_strip(struct texture_comparison *check, const struct matching *matching,
    struct match_memory *memory, size_t y0)
{
	struct match_counts counts = { 0 };

	for (size_t i = 0; i < check->blocks; i++)
		check->block[i] = check->aside[i] = (struct block){ 0 };
	for (size_t y = y0; y < y0 + BLOCK; y++) {
		match_row(matching, memory, check->in, y, check->disparity, NULL, &counts);
		for (size_t x = 0; x < check->blocks * BLOCK; x++) {
			float x_right = (float)x - check->disparity[x];

			if (x_right >= 0 && x_right < (float)matching->right_w - 1)
				add_pixel(check, x, y, x_right);
		}
	}
	for (size_t i = 0; i < check->blocks; i++) {
		decide(&check->rows, &check->block[i]);
		decide(&check->columns, &check->aside[i]);
	}
}

#define ALIKE_PX 1.0f		/* between neighbours on a surface; matches of noise differ more */

static void
count_row(const struct rig *rig, const float *disparity, size_t w, struct matched_pair *pair)
{
	for (size_t x = 1; x + 1 < w; x++) {
		if (!(fabsf(disparity[x] - disparity[x - 1]) < ALIKE_PX) ||
		    !(fabsf(disparity[x] - disparity[x + 1]) < ALIKE_PX))
			continue;
		pair->points++;
		pair->behind += !(phasematch_depth(disparity[x], rig->centres,
		    rig->focal_baseline) > 0);
	}
}

static void
add_steps(struct steps *steps, const float *values, size_t w, size_t first, size_t apart)
{
	for (size_t x = first; x + 1 < w && steps->n < steps->most; x += apart)
		if (!px_isnan(values[x]) && !px_isnan(values[x + 1]))
			steps->step[steps->n++] = (double)values[x + 1] - (double)values[x];
}

static void
add_reach(const struct matching *matching, const struct match_memory *m, struct reach *reach)
{
	float low = INFINITY, high = -INFINITY;

	for (size_t x = 0; x < matching->right_w; x++) {
		low = m->right[x] < low ? m->right[x] : low;
		high = m->right[x] > high ? m->right[x] : high;
	}
	for (size_t x = 0; x < matching->w; x++) {
		reach->pixels += !px_isnan(m->left[x]);
		reach->outside += m->left[x] < low || m->left[x] > high;
	}
}

static bool
has_match(const struct matching *matching, struct match_memory *m, const struct frame *in, size_t y)
{
	bool found = false;

	for (size_t k = 0; k < matching->maps && !found; k++) {
		struct row_cursor cursor = { 0 };
		size_t inconsistent;

		value_map_row(&matching->left[k], in, y, matching->w, matching->sign, m->left,
		    NULL, &inconsistent);
		match_right_row(matching, k, m, in, y);
		for (size_t x = 0; x < matching->w && !found; x++)
			found = !px_isnan(m->left[x]) &&
			    row_index_find(&m->right_index, &cursor, m->left[x]);
	}
	return found;
}

/* ---- rows of the output: matches of three rows, the support of the middle one, its points ---- */

#define MARGIN 16		/* samples before and after a row; the nearest one is NaN */

/* A row of matches, before the test of their support. */
struct matched {
	float *disparity, *sigma;
	struct match_counts *counts;
};

static size_t
matched_bytes(const struct phasematch *priv)
{
	return 2 * (frame_stride(priv->matching.w, SAMPLE_FLOAT) + 2 * MARGIN * sizeof(float)) +
	    ((sizeof(struct match_counts) + 63) & ~(size_t)63);
}

/* Three matched rows, a row without disparities, and the memory of a match. */
static size_t
phasematch_scratch_bytes(const struct phasematch *priv)
{
	return 4 * matched_bytes(priv) + match_memory_bytes(&priv->matching);
}

static struct matched
matched_at(const struct phasematch *priv, const struct row_scratch *scratch, size_t i)
{
	char *at = (char *)scratch->memory + i * matched_bytes(priv);
	size_t bytes = frame_stride(priv->matching.w, SAMPLE_FLOAT);
	size_t margin = MARGIN * sizeof(float);

	return (struct matched){ (float *)(void *)(at + margin),
		(float *)(void *)(at + bytes + 3 * margin), (void *)(at + 2 * bytes + 4 * margin) };
}

static void
make_matched(const struct phasematch *priv, const struct frame *in, size_t y, struct matched row,
    struct match_memory *memory)
{
	memset(row.counts, 0, sizeof(*row.counts));
	match_row(&priv->matching, memory, in, y, row.disparity,
	    priv->matching.sigma ? row.sigma : NULL, row.counts);
	row.disparity[-1] = row.disparity[priv->matching.w] = PX_NAN;
}

/* Copies the disparities that enough of their eight neighbours support. Returns the number of the
 * others. */
static size_t
support_row(const float *restrict above, const float *restrict row, const float *restrict below,
    const struct phasematch *priv, float *restrict out, size_t w)
{
	float range = priv->support_range, centres = priv->rig.centres, steep = priv->steep;
	uint least = (uint)priv->support, lost = 0;

	_Pragma("omp simd reduction(+:lost)")
	for (size_t i = 0; i < w; i++) {
		ptrdiff_t x = (ptrdiff_t)i;
		float own = row[x], slope = phasematch_slope(own, centres, steep);
		uint n = phasematch_pair_supports(above[x - 1], below[x + 1], own, range, slope) +
		    phasematch_pair_supports(above[x], below[x], own, range, slope) +
		    phasematch_pair_supports(above[x + 1], below[x - 1], own, range, slope) +
		    phasematch_pair_supports(row[x - 1], row[x + 1], own, range, slope);
		bool there = !px_isnan(own), enough = n >= least;

		out[x] = px_select(px_both(there, enough), own, PX_NAN);
		lost += px_both(there, !enough);
	}
	return lost;
}

/* Depths. Removes disparities that have none, and returns their number. Three loops, as compilers
 * do not vectorise conditions that depend on each other. */
static size_t
depth_row(const struct rig *rig, float *restrict disparity, float *restrict z, size_t w)
{
	const float centres = rig->centres, focal_baseline = rig->focal_baseline;
	const float least = rig->least, most = rig->most;
	uint lost = 0;

	CPU_SIMD
	for (size_t i = 0; i < w; i++)
		z[i] = phasematch_depth(disparity[i], centres, focal_baseline);
	CPU_SIMD
	for (size_t i = 0; i < w; i++)
		z[i] = phasematch_limit(z[i], least, most);
	_Pragma("omp simd reduction(+:lost)")
	for (size_t i = 0; i < w; i++) {
		bool none = px_isnan(z[i]);

		lost += px_select(none, px_select(px_isnan(disparity[i]), 0u, 1u), 0u);
		disparity[i] = px_select(none, PX_NAN, disparity[i]);
	}
	return lost;
}

static void
point_row(const struct rig *rig, float row, float *restrict x, float *restrict y,
    const float *restrict z, int w)
{
	CPU_SIMD
	for (int i = 0; i < w; i++) {
		x[i] = phasematch_aside(z[i], (float)i, rig->cx, rig->focal);
		y[i] = phasematch_aside(z[i], row, rig->cy, rig->focal);
	}
}

static void
turn_row(const struct rig *rig, float *restrict x, float *restrict y, float *restrict z, size_t w)
{
	const float *R = rig->R, *shift = rig->shift;

	CPU_SIMD
	for (size_t i = 0; i < w; i++) {
		PX_F a = x[i] + shift[0], b = y[i] + shift[1], c = z[i] + shift[2];

		x[i] = phasematch_turn(a, b, c, R[0], R[1], R[2]);
		y[i] = phasematch_turn(a, b, c, R[3], R[4], R[5]);
		z[i] = phasematch_turn(a, b, c, R[6], R[7], R[8]);
	}
}

/* Copies the standard deviation where there is a disparity. */
static void
sigma_row(const float *restrict disparity, const float *restrict sigma, float *restrict out,
    size_t w)
{
	CPU_SIMD
	for (size_t i = 0; i < w; i++)
		out[i] = px_select(px_isnan(disparity[i]), PX_NAN, sigma[i]);
}

static void
depth_sigma_row(const float *restrict sigma, const float *restrict z, float focal_baseline,
    float *restrict out, size_t w)
{
	CPU_SIMD
	for (size_t i = 0; i < w; i++)
		out[i] = phasematch_depth_sigma(sigma[i], z[i], focal_baseline);
}

/* The points of row y, from the disparities in `out`. */
static void
make_points(const struct phasematch *priv, struct frame *out, size_t y, struct match_counts *counts)
{
	size_t w = priv->matching.w;
	float *x, *row, *z;

	if (!priv->rig.known)
		return;
	x = frame_floats(out, priv->x, y);
	row = frame_floats(out, priv->y, y);
	z = frame_floats(out, priv->z, y);
	counts->n[COUNT_DEPTH] += depth_row(&priv->rig, frame_floats(out, 0, y), z, w);
	point_row(&priv->rig, (float)y, x, row, z, (int)w);
}

static void
make_sigmas(const struct phasematch *priv, const float *sigma, struct frame *out, size_t y)
{
	size_t w = priv->matching.w;
	float *made;

	if (priv->sigma_disparity == NO_CHANNEL)
		return;
	made = frame_floats(out, priv->sigma_disparity, y);
	sigma_row(frame_floats(out, 0, y), sigma, made, w);
	if (priv->rig.known)
		depth_sigma_row(made, frame_floats(out, priv->z, y), priv->rig.focal_baseline,
		    frame_floats(out, priv->sigma, y), w);
}

/* Row y of the output from the matched rows. */
static void
make_row(const struct phasematch *priv, const struct matched *above, const struct matched *row,
    const struct matched *below, struct frame *out, size_t y, struct match_counts *counts)
{
	size_t w = priv->matching.w;
	float *disparity = frame_floats(out, 0, y);

	for (size_t i = 0; i < MATCH_COUNTS; i++)
		counts->n[i] += row->counts->n[i];
	if (priv->support)
		counts->n[COUNT_SUPPORT] += support_row(above->disparity, row->disparity,
		    below->disparity, priv, disparity, w);
	else
		memcpy(disparity, row->disparity, w * sizeof(*disparity));
	make_points(priv, out, y, counts);
	make_sigmas(priv, row->sigma, out, y);
	if (priv->rig.turned)
		turn_row(&priv->rig, frame_floats(out, priv->x, y), frame_floats(out, priv->y, y),
		    frame_floats(out, priv->z, y), w);
}

static void
phasematch_match_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *scratch)
{
	struct phasematch *priv = run->priv;
	size_t h = in->head.h, halo = run->halo, w = priv->matching.w;
	size_t made = y0 > halo ? y0 - halo : 0;	/* the next row to be matched */
	struct matched row[3] = { matched_at(priv, scratch, 0), matched_at(priv, scratch, 1),
		matched_at(priv, scratch, 2) };
	struct matched none = matched_at(priv, scratch, 3);
	struct match_memory memory;
	struct match_counts counts = { 0 };

	match_memory_place(&memory, &priv->matching,
	    (char *)scratch->memory + 4 * matched_bytes(priv));
	for (size_t x = 0; x < w + 2; x++)
		none.disparity[(ptrdiff_t)x - 1] = PX_NAN;
	if (scratch->continues)
		made = y0 + halo;
	for (size_t y = y0; y < y1; y++) {
		for (; made <= y + halo && made < h; made++)
			make_matched(priv, in, made, row[made % 3], &memory);
		make_row(priv, y > 0 ? &row[(y - 1) % 3] : &none, &row[y % 3],
		    y + 1 < h ? &row[(y + 1) % 3] : &none, out, y, &counts);
	}
	for (size_t i = 0; i < MATCH_COUNTS; i++)
		__atomic_fetch_add(&priv->counts.n[i], counts.n[i], __ATOMIC_RELAXED);
}

const struct phasematch_rows AT_LEVEL(phasematch_rows) = {
	.row_index_bytes = row_index_bytes,
	.row_index_place = row_index_place,
	.row_index_build = row_index_build,
	.row_index_find_all = row_index_find_all,
	.value_map_row = value_map_row,
	.match_memory_bytes = match_memory_bytes,
	.match_memory_place = match_memory_place,
	.match_row = match_row,
	.match_rows = phasematch_match_rows,
	.scratch_bytes = phasematch_scratch_bytes,
	.row_jumps = row_jumps,
	.add_strip = add_strip,
	.count_row = count_row,
	.add_steps = add_steps,
	.add_reach = add_reach,
	.has_match = has_match,
};
