#include "regions.h"

#include <string.h>

#include "base/cpu_level.h"
#include "decode.h"
#include "holodec.px.h"

#define DOUBTFUL_MOST 33 /* % of a picture */
#define VOTE_MOST 1.25f  /* turns: where the stairs around a pixel differ more, they win */

/* From readings to orders: the region's vote, or, where that is far from the pixel's own, that.
 * How many of the points were more than half a turn off the vote, or had none. */
static size_t
vote(float *restrict order, const int32_t *restrict voted, float most, size_t n)
{
	int doubtful = 0;

#pragma omp simd reduction(+ : doubtful)
	for (size_t i = 0; i < n; i++) {
		PX_F all = (float)voted[i], own = order[i], off = px_abs(all - own);

		doubtful += off > 0.5f;
		order[i] = holo_nearest_order(
		    px_select(off <= VOTE_MOST, all, own), 0.0f, 1.0f, most);
	}
	return (size_t)doubtful;
}

/* Row y. Pixels without a run have no vote. */
static void
vote_row(struct regions *regions, struct region_block *block, size_t y, float most)
{
	struct span runs = regions->row[y], inside = regions->inside[y];
	int32_t *lead = regions->lead + y * regions->w;

	for (size_t k = runs.first; k < runs.end; k++) {
		const struct run_of_pixels *run = &regions->run[k];

		for (int32_t x = run->first; x < run->end; x++)
			lead[x] += run->order;
		block->points += (size_t)(run->end - run->first);
	}
	if (inside.first < inside.end)
		block->doubtful += vote(regions->order + y * regions->w + inside.first,
		    lead + inside.first, most, inside.end - inside.first);
}

/* ---- the picture ---- */

struct region_job {
	struct regions *regions;
	const struct reading *reading;
	const struct frame *in;
};

static void
widen(struct span *inside, size_t x, const struct medians *row)
{
	if (row->first >= row->end)
		return;
	inside->first = inside->first < x + row->first ? inside->first : x + row->first;
	inside->end = x + row->end;
}

/* The order of each pixel, by the median around it. */
static void
read_orders(const struct region_job *job, size_t y0, size_t y1)
{
	struct regions *regions = job->regions;
	size_t w = regions->w;
	struct medians_ring ring;

	for (size_t y = y0; y < y1; y++)
		regions->inside[y] = (struct span){ w, 0 };
	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE, at = y0 * w + x;

		medians_start(&ring, job->reading, job->in, x, n, y0);
		for (size_t y = y0; y < y1; y++, at += w) {
			const struct medians *row = medians_next(
			    &ring, job->reading, job->in, x, n, y, regions->order + at);

			memcpy(regions->rest + at, row->rest, n * sizeof(*regions->rest));
			widen(&regions->inside[y], x, row);
		}
	}
}

static void
read_block(void *arg, size_t i)
{
	const struct region_job *job = arg;
	struct region_block *block = &job->regions->block[i];

	read_orders(job, block->y0, block->y1);
	for (size_t y = block->y0; y < block->y1; y++)
		runs_find(job->regions, block, y);
}

static void
edge_block(void *arg, size_t i)
{
	struct regions *regions = ((const struct region_job *)arg)->regions;

	edges_find(regions, &regions->block[i]);
}

static void
vote_block(void *arg, size_t i)
{
	const struct region_job *job = arg;
	struct regions *regions = job->regions;
	struct region_block *block = &regions->block[i];

	for (size_t y = block->y0; y < block->y1; y++)
		vote_row(regions, block, y, job->reading->code.order_most);
}

/* Measured: 24 % doubtful at JPEG quality 50 and colour 420, 37 % and more with red and green
 * exchanged. */
int
regions_find(struct run *run, struct regions *regions, const struct reading *reading,
    const struct frame *in)
{
	struct region_job job = { regions, reading, in };
	size_t points = 0, doubtful = 0;

	if (runs_begin(regions, in->head.w, in->head.h) < 0)
		return -1;
	run_for(run, regions->blocks, read_block, &job);
	run_for(run, regions->blocks, edge_block, &job);
	edges_join(regions, reading->code.height);
	run_for(run, regions->blocks, vote_block, &job);
	for (size_t i = 0; i < regions->blocks; i++) {
		points += regions->block[i].points;
		doubtful += regions->block[i].doubtful;
	}
	if (points < REGION_LEAST || 100 * doubtful <= DOUBTFUL_MOST * points)
		return 0;
	return fail(NULL,
	    "stairs and fringes disagree in %.0f %% of the picture: wrong options, "
	    "no Holoimage, or "
	    "compressed too much (--decode median takes it all the same)",
	    100 * (double)doubtful / (double)points);
}

void
regions_decode(const struct regions *regions, const struct holo_code *code, struct frame *out,
    size_t z, size_t x, size_t n, size_t y0, size_t y1)
{
	float turns[TILE] __attribute__((aligned(64)));

	for (size_t y = y0; y < y1; y++) {
		size_t at = y * out->head.w + x;

		decode_nearest_turns(
		    regions->rest + at, regions->order + at, turns, n, code->order_most);
		decode_to_depth(turns, frame_floats(out, z, y) + x, x, n, code, decode_slack(code));
	}
}
