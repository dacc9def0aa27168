/*
 * Which pixels of a row bracket a value. The row falls into runs: neighbouring pixels whose values
 * rise from each to the next, by no more than a step. A run holds every value between its first and
 * last one in just one bracket. Where runs overlap, the longer one counts, of equal ones the left
 * one: the index keeps, in the order of values, the run that counts from each value on. So what
 * brackets a value depends on the row and the value alone, not on how a search comes there.
 */
#ifndef ROW_INDEX_H
#define ROW_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rising_run {
	float from, to;			/* values of its first and last pixel */
	uint32_t first, last;		/* pixels */
};

struct value_span {
	float from;			/* up to that of the next span */
	uint32_t first, last;		/* pixels of the run that counts; equal: there is none */
};

struct row_index {
	const float *values;
	size_t spans;
	struct value_span *span;	/* of none first, from -inf on, and last; behind them one
					 * that begins at +inf */
	struct rising_run *run, *sorted;	/* for row_index_build */
	struct rising_run *active;
};

/* Where a search stands; a zeroed one stands at the first span. */
struct row_cursor {
	size_t span;
	uint32_t pixel;			/* where the bracket begins */
	int32_t drift;			/* half of what several values moved it more than by a
					 * pixel each, for row_index_find_all() */
};

#define ROW_BRACKETS 256

/* Of pixels beside each other: where their brackets begin, -1 where there is none, and what these
 * go from and to. */
struct row_brackets {
	int32_t pixel[ROW_BRACKETS] __attribute__((aligned(64)));
	float from[ROW_BRACKETS], to[ROW_BRACKETS];
};

/* Bytes that an index of a row of w pixels takes, a multiple of 64. */
size_t row_index_bytes(size_t w);
/* Lays it out in memory of that size, aligned to 64. */
void row_index_place(struct row_index *, void *memory, size_t w);
/* Makes the index of a row of rising values, NaN where there is none; it keeps `values`. */
void row_index_build(struct row_index *, const float *values, size_t w, float step_most);
/* Moves the cursor to the bracket of the value, which is no NaN: its left pixel. false: no run
 * holds it. Takes the less time the nearer the value is to the last one. */
static inline bool row_index_find(const struct row_index *, struct row_cursor *, float value);

/* The same for n values, ROW_BRACKETS at most, of which some may be NaN. Values of neighbouring
 * pixels are mostly held by neighbouring brackets. */
void row_index_find_all(const struct row_index *, struct row_cursor *, const float *value, size_t n,
    struct row_brackets *);

/* The last pixel of the run whose value is no larger, but not the run's last one. */
static inline uint32_t
row_index_bisect(const float *values, uint32_t first, uint32_t last, float value)
{
	while (last - first > 1) {
		uint32_t middle = first + (last - first) / 2;

		if (values[middle] <= value)
			first = middle;
		else
			last = middle;
	}
	return first;
}

static inline bool
row_index_find(const struct row_index *index, struct row_cursor *cursor, float value)
{
	const struct value_span *span = &index->span[cursor->span];
	const float *values = index->values;
	uint32_t pixel = cursor->pixel;

	while (span[1].from <= value)
		span++;
	while (span->from > value)
		span--;
	cursor->span = (size_t)(span - index->span);
	/* a run holds its last value too, where none begins there */
	if (span->first == span->last && span->from == value)
		span--;
	if (span->first == span->last)
		return false;
	if (pixel < span->first || pixel >= span->last) {
		pixel = row_index_bisect(values, span->first, span->last, value);
	} else {
		while (pixel + 1 < span->last && values[pixel + 1] <= value)
			pixel++;
		while (values[pixel] > value)
			pixel--;
	}
	cursor->pixel = pixel;
	return true;
}

#endif
