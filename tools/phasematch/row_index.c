#include "row_index.h"

#include <math.h>

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

static size_t
find_runs(const float *restrict values, size_t w, float most, struct rising_run *restrict run)
{
	size_t n = 0, x = 0;

	while (x + 1 < w) {
		size_t first = x;

		while (x + 1 < w && phasematch_is_step(values[x], values[x + 1], most))
			x++;
		if (x > first)
			run[n++] = (struct rising_run){ values[first], values[x],
				(uint32_t)first, (uint32_t)x };
		x += x == first;
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
	size_t runs = find_runs(values, w, step_most, index->run), active = 0, n = 1;
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
