#include "row_index.h"

#include <math.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/cpu_level.h"
#include "phasematch.px.h"

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

size_t
row_index_bytes(size_t w)
{
	return aligned(spans_most(w) * sizeof(struct value_span)) +
	    3 * aligned(runs_most(w) * sizeof(struct rising_run));
}

void
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

/* step: memory for w bytes. */
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

/* By their first value, from left to right where it is equal. Returns the sorted ones. */
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

static bool
counts_more(const struct rising_run *a, const struct rising_run *b)
{
	uint32_t own = a->last - a->first, other = b->last - b->first;

	return own > other || (own == other && a->first < b->first);
}

/* From this value on the run counts; NULL: none. */
static size_t
add_span(struct value_span *span, size_t n, float from, const struct rising_run *run)
{
	uint32_t first = run ? run->first : 0, last = run ? run->last : 0;

	if (span[n - 1].first == first && span[n - 1].last == last)
		return n;
	span[n] = (struct value_span){ from, first, last };
	return n + 1;
}

/* Spans from value `from` up to `to`, of the runs that are active. Those that end are dropped. */
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

void
row_index_build(struct row_index *index, const float *values, size_t w, float step_most)
{
	/* what is active is not known yet: its memory holds 16 bytes for each run of two pixels */
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

/* ---- several values at once ---- */

#define LANES (CPU_VECTOR_BYTES / 4)
#define WINDOW 8	/* neighbouring pixels, between two of which a lane's bracket is sought */
#define BEFORE 3	/* of them: before the one where a bracket is expected */

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

/* The first pixel of the first lane's window, each next lane's being one farther, so that the
 * middle ones lie best; the cursor's run holds them all, or false. */
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

/* Values that lie where no run counts; false: not all of them do. */
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

/* The brackets of LANES values, where the cursor's run counts for all of them and none is far from
 * the lane before it; else false. */
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

void
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
