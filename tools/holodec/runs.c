#include "runs.h"

#include <stdlib.h>

#include "base/cpu_level.h"
#include "base/px.h"

void
runs_free(struct regions *regions)
{
	free(regions->rest);
	free(regions->order);
	free(regions->turns);
	free(regions->state);
	free(regions->certainty);
	free(regions->lead);
	free(regions->inside);
	free(regions->row);
	free(regions->run);
	free(regions->branch);
	free(regions->edge);
	free(regions->sorted);
	free(regions->block);
	free(regions->class);
	free(regions->turn);
	*regions = (struct regions){ 0 };
}

static int
runs_allocate(struct regions *regions, size_t size, size_t rows)
{
	regions->rest = calloc(size, sizeof(*regions->rest));
	regions->order = calloc(size, sizeof(*regions->order));
	regions->turns = calloc(size, sizeof(*regions->turns));
	regions->state = calloc(2, size);
	regions->certainty = calloc(size, sizeof(*regions->certainty));
	regions->lead = calloc(size, sizeof(*regions->lead));
	regions->inside = calloc(rows, sizeof(*regions->inside));
	regions->row = calloc(rows, sizeof(*regions->row));
	regions->run = calloc(size, sizeof(*regions->run));
	regions->branch = calloc(size, sizeof(*regions->branch));
	regions->edge = calloc(2 * size, sizeof(*regions->edge));
	regions->sorted = calloc(2 * size, sizeof(*regions->sorted));
	regions->block = calloc(rows, sizeof(*regions->block));
	regions->class = calloc(size, sizeof(*regions->class));
	regions->turn = calloc(size, sizeof(*regions->turn));
	if (!regions->rest || !regions->order || !regions->certainty ||
	    !regions->turns || !regions->state || !regions->lead || !regions->inside ||
	    !regions->row || !regions->run || !regions->branch || !regions->edge ||
	    !regions->sorted || !regions->block || !regions->class || !regions->turn) {
		runs_free(regions);
		return fail_memory();
	}
	regions->size = size;
	regions->rows = rows;
	return 0;
}

int
runs_begin(struct regions *regions, size_t w, size_t h)
{
	if (w * h > INT32_MAX / 2)
		return fail(NULL,
		    "%zu pixels are too many to be decoded by regions: give --decode median",
		    w * h);
	if (regions->size < w * h || regions->rows < h) {
		runs_free(regions);
		if (runs_allocate(regions, w * h, h) < 0)
			return -1;
	}
	regions->w = w;
	regions->h = h;
	regions->blocks = (h + BLOCK_ROWS - 1) / BLOCK_ROWS;
	for (size_t i = 0; i < regions->blocks; i++) {
		size_t y0 = i * BLOCK_ROWS, y1 = h - y0 < BLOCK_ROWS ? h : y0 + BLOCK_ROWS;

		regions->block[i] = (struct region_block){ y0, y1, { y0 * w, y0 * w },
			{ 2 * y0 * w, 2 * y0 * w }, regions->class + i * w,
			regions->turn + i * w, 0, 0 };
	}
	return 0;
}

void
runs_classify(const float *restrict rest, const float *restrict order,
    const float *restrict next_rest, const float *restrict next_order,
    unsigned char *restrict class, int32_t *restrict step, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F away = next_rest[i] - rest[i], wrap = px_round(away);
		PX_F cost = px_abs(away - wrap) + px_abs(next_order[i] - order[i] + wrap);
		bool joined = cost < COST_MOST;

		class[i] = (unsigned char)(int)px_select(
		    joined, cost * (COSTS / COST_MOST), (float)COSTS);
		step[i] = (int)px_select(joined, -wrap, 0.0f);
	}
}

/* ---- runs ---- */

/* Each pixel's vote for the order of its run; 0 in the background. */
static void
read_votes(
    const float *restrict order, const int32_t *restrict lead, int32_t *restrict vote, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		vote[i] = (int)px_round(px_select(px_isnan(order[i]), 0.0f,
			      order[i] * VOTE_STEPS)) - VOTE_STEPS * lead[i];
}

static void
add_run(struct regions *regions, struct region_block *block, const struct run_of_pixels *run)
{
	size_t at = block->runs.end++;

	regions->run[at] = *run;
	regions->run[at].members = run->end - run->first;
	regions->branch[at] = (struct branch){ .parent = (int32_t)at };
}

/* Leads, classes and votes of row y from its column `first` on. */
static void
read_row(struct regions *regions, struct region_block *block, size_t y, size_t first, size_t n)
{
	size_t at = y * regions->w + first;
	const float *rest = regions->rest + at, *order = regions->order + at;
	int32_t *lead = regions->lead + at;

	lead[0] = 0;
	block->class[first + n - 1] = COSTS;
	runs_classify(rest, order, rest + 1, order + 1, block->class + first, lead + 1, n - 1);
	for (size_t i = 1; i < n; i++)
		lead[i] += lead[i - 1];
	read_votes(order, lead, block->turn + first, n);
}

void
runs_find(struct regions *regions, struct region_block *block, size_t y)
{
	const float *rest = regions->rest + y * regions->w;
	struct span inside = regions->inside[y];
	struct run_of_pixels run = { .first = (int32_t)inside.first };

	regions->row[y].first = block->runs.end;
	if (inside.first < inside.end)
		read_row(regions, block, y, inside.first, inside.end - inside.first);
	for (size_t x = inside.first; x < inside.end; x++) {
		run.sum += block->turn[x];
		run.class = block->class[x];
		if (run.class < SURE)
			continue;
		run.end = (int32_t)x + 1;
		if (!px_isnan(rest[x]))
			add_run(regions, block, &run);
		run.first = run.end;
		run.sum = 0;
	}
	regions->row[y].end = block->runs.end;
}
