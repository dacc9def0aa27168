#include "gauss_window.h"

#include <string.h>

#include "gauss.px.h"

size_t
gauss_window_reach(size_t at, size_t n, size_t radius)
{
	size_t to_border = at < n - 1 - at ? at : n - 1 - at;

	return to_border < radius ? to_border : radius;
}

bool
gauss_window_near_border(const struct gauss_window *window, size_t i)
{
	size_t x = window->x0 + i, radius = window->gauss->radius;

	return x < radius || x + GAUSS_LANES + radius > window->in->head.w;
}

/* ---- rows into the ring; these return how many pixels are missing ---- */

static uint
load_phase(const float *restrict phase, float *restrict cosine, float *restrict sine,
    float *restrict valid, size_t n)
{
	uint missing = 0;

	#pragma omp simd reduction(+:missing) aligned(phase, cosine, sine, valid: 64)
	for (size_t i = 0; i < n; i++) {
		PX_F p = phase[i];
		uint there = gauss_phase_there(p);

		p = gauss_part(p, there);
		missing += there + 1;
		valid[i] = gauss_part(1, there);
		cosine[i] = gauss_part(px_cos(p), there);
		sine[i] = px_sin(p);
	}
	return missing;
}

static uint
load_vector(const float *restrict a, const float *restrict b, float *restrict cosine,
    float *restrict sine, float *restrict valid, size_t n)
{
	uint missing = 0;

	#pragma omp simd reduction(+:missing) aligned(a, b, cosine, sine, valid: 64)
	for (size_t i = 0; i < n; i++) {
		PX_F c = a[i], s = b[i];
		uint there = gauss_there(c) & gauss_there(s);

		missing += there + 1;
		valid[i] = gauss_part(1, there);
		cosine[i] = gauss_part(c, there);
		sine[i] = gauss_part(s, there);
	}
	return missing;
}

static void
clear(struct gauss_row *row, size_t from, size_t to)
{
	memset(row->part[0] + from, 0, (to - from) * sizeof(float));
	memset(row->part[1] + from, 0, (to - from) * sizeof(float));
	memset(row->valid + from, 0, (to - from) * sizeof(float));
}

static bool
is_inside(const struct gauss_window *window, const struct gauss_row *row)
{
	return row->y >= 0 && (size_t)row->y < window->in->head.h;
}

size_t
gauss_window_columns(const struct gauss_window *window, size_t *n)
{
	size_t x0 = window->x0, margin = window->margin, w = window->in->head.w;
	size_t x = x0 < margin ? 0 : x0 - margin, end = x0 + window->n + margin;

	*n = (end < w ? end : w) - x;
	return x;
}

/* Copies the row out of the input; true if something is missing. */
static bool
fill(const struct gauss_window *window, struct gauss_row *row)
{
	size_t n, x = gauss_window_columns(window, &n), first = GAUSS_EDGE + x - window->x0;
	size_t y = (size_t)row->y;
	float *part0 = row->part[0] + first, *part1 = row->part[1] + first;
	const float *in0, *in1;

	row->filled = true;
	if (!is_inside(window, row)) {
		clear(row, 0, GAUSS_ACROSS);
		return false;
	}
	in0 = frame_floats(window->in, window->job->in[0], y) + x;
	in1 = frame_floats(window->in, window->job->in[1], y) + x;
	row->tap[0] = row->part[0] + GAUSS_EDGE;
	row->tap[1] = row->part[1] + GAUSS_EDGE;
	clear(row, GAUSS_EDGE - window->margin - GAUSS_LANES, first);
	clear(row, first + n, GAUSS_EDGE + window->n + window->margin + GAUSS_LANES);
	if (window->job->kind == KIND_PHASE)
		return load_phase(in0, part0, part1, row->valid + first, n);
	return load_vector(in0, in1, part0, part1, row->valid + first, n);
}

static bool
is_whole(const float *restrict a, const float *restrict b, size_t n)
{
	int most = 0;

	#pragma omp simd reduction(max:most) aligned(a, b: 64)
	for (size_t i = 0; i < n; i++) {
		int size_a = gauss_size(a[i]), size_b = gauss_size(b[i]);
		int larger = size_a > size_b ? size_a : size_b;

		most = most > larger ? most : larger;
	}
	return most < GAUSS_TOO_LARGE;
}

/* Rows that lie a multiple of 4096 bytes apart fall into the same lines of the first cache, which
 * holds WAYS of them: where they are copied, windows of 31 rows take two thirds of the time, those
 * of 11 as long. */
#define SAME_LINES 4096
#define WAYS 12

bool
gauss_window_must_copy(const struct frame *in, const struct gauss_job *job, size_t radius)
{
	return in->plane[job->in[0]].stride % SAME_LINES == 0 && 2 * radius + 1 > WAYS;
}

static void
tap_input(const struct gauss_window *window, struct gauss_row *row)
{
	for (size_t p = 0; p < 2; p++)
		row->tap[p] = window->x0 +
		    frame_floats(window->in, window->job->in[p], (size_t)row->y);
}

/* Gets row y, unless it was got already. */
static void
load(const struct gauss_window *window, struct gauss_row *row, ptrdiff_t y)
{
	size_t n, x = gauss_window_columns(window, &n);

	if (row->loaded)
		return;
	row->y = y;
	row->loaded = true;
	row->filled = row->holed = false;
	if (!is_inside(window, row))
		return;
	if (window->job->kind == KIND_PHASE) {
		row->holed = fill(window, row);
		return;
	}
	tap_input(window, row);
	if (window->copies ||
	    !is_whole(row->tap[0] - window->x0 + x, row->tap[1] - window->x0 + x, n))
		row->holed = fill(window, row);
}

/* The window's rows of missing pixels go up by one; `valid` comes in at the bottom, or NULL. Only
 * pixels of the image are missing. */
static void
shift_missing(struct gauss_window *window, const float *restrict valid)
{
	size_t last = (window->size - 1) / 32, n, x = gauss_window_columns(window, &n);
	size_t first = GAUSS_EDGE + x - window->x0;
	uint32_t *restrict missing = window->missing[last];
	uint32_t bit = (uint32_t)1 << (window->size - 1) % 32;

	if (!window->holed)
		memset(window->missing, 0, sizeof(window->missing));
	window->holed = true;
	for (size_t k = 0; k < last; k++)
		for (size_t i = 0; i < GAUSS_ACROSS; i++)
			window->missing[k][i] =
			    window->missing[k][i] >> 1 | window->missing[k + 1][i] << 31;
	for (size_t i = 0; i < GAUSS_ACROSS; i++)
		missing[i] >>= 1;
	for (size_t i = first; valid && i < first + n; i++)
		missing[i] |= valid[i] == 0 ? bit : 0;
}

void
gauss_window_empty(struct gauss_window *window)
{
	for (size_t k = 0; k < window->size + GAUSS_BELOW; k++) {
		window->row[k] = &window->ring[k];
		window->row[k]->loaded = false;
	}
}

void
gauss_window_resume(struct gauss_window *window)
{
	/* the first row leaves next, and need not be in the input any more */
	for (size_t k = 1; k < window->size + GAUSS_BELOW; k++) {
		struct gauss_row *row = window->row[k];

		if (row->loaded && !row->filled && is_inside(window, row))
			tap_input(window, row);
	}
}

void
gauss_window_shift(struct gauss_window *window, size_t rows)
{
	size_t rest = window->size + GAUSS_BELOW - rows;
	struct gauss_row *first[GAUSS_TOGETHER];

	memcpy(first, window->row, rows * sizeof(*first));
	memmove(window->row, window->row + rows, rest * sizeof(*first));
	for (size_t k = 0; k < rows; k++) {
		window->row[rest + k] = first[k];
		first[k]->loaded = false;
	}
}

void
gauss_window_take(struct gauss_window *window, ptrdiff_t y)
{
	struct gauss_row *lowest = window->row[window->size - 1];

	load(window, lowest, y);
	window->whole_rows = lowest->holed ? 0 : window->whole_rows + 1;
	if (window->whole_rows <= window->size)
		shift_missing(window, lowest->holed ? lowest->valid : NULL);
}

bool
gauss_window_tap_ahead(struct gauss_window *window, size_t y)
{
	if (window->job->kind == KIND_PHASE || window->copies)
		return false;
	for (size_t k = 0; k < GAUSS_TOGETHER; k++) {
		struct gauss_row *row = window->row[window->size - 1 + k];

		if (row->loaded)
			return false;
		row->y = (ptrdiff_t)(y + window->gauss->radius + k);
		row->filled = row->holed = false;
		tap_input(window, row);
	}
	return true;
}

bool
gauss_window_load_ahead(struct gauss_window *window, size_t y)
{
	bool holed = false;

	for (size_t k = 0; k < GAUSS_TOGETHER; k++) {
		struct gauss_row *row = window->row[window->size - 1 + k];

		load(window, row, (ptrdiff_t)(y + window->gauss->radius + k));
		holed = holed || row->holed;
	}
	return !holed;
}

void
gauss_window_keep_ahead(struct gauss_window *window)
{
	for (size_t k = 0; k < GAUSS_TOGETHER; k++)
		window->row[window->size - 1 + k]->loaded = true;
	window->whole_rows += GAUSS_TOGETHER;
}

void
gauss_window_fill(struct gauss_window *window)
{
	for (size_t k = 0; k < window->size; k++)
		if (!window->row[k]->filled)
			fill(window, window->row[k]);
}
