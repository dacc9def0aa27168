/*
 * The fringe order of whole regions: pixels whose phase runs on without a jump are joined, the
 * surest neighbours first, and each region's readings of the stairs decide together. What a lossy
 * format does to the stairs is large for single pixels and even for patches of them, but small for
 * the mean of a region.
 */
#ifndef HOLODEC_REGIONS_H
#define HOLODEC_REGIONS_H

#include "runs.h"

#define JOIN_MOST 0.7    /* turns: regions whose stairs differ more are not joined */
#define REGION_LEAST 128 /* pixels that may vote; smaller regions are read pixel by pixel */
#define DOUBTFUL_MOST 33 /* % of a picture */
#define VOTE_MOST 1.25f  /* turns: where the stairs around a pixel differ more, they win */

/* The root of run i's region; *above: i's order less the root's. Shortens the way. */
static int32_t
find_root(struct branch *branch, int32_t i, int32_t *above)
{
	int32_t root = i, sum = 0;

	for (; branch[root].parent != root; root = branch[root].parent)
		sum += branch[root].above;
	*above = sum;
	while (branch[i].parent != root) {
		struct branch old = branch[i];

		branch[i] = (struct branch){ root, sum };
		sum -= old.above;
		i = old.parent;
	}
	return root;
}

static double
mean_order(const struct run_of_pixels *root)
{
	return (double)root->sum / (double)root->members / VOTE_STEPS;
}

/* Do the stairs of two regions, large enough to tell, say that they are not one? */
static bool
disagree(const struct run_of_pixels *a, const struct run_of_pixels *b, int32_t between)
{
	return a->members >= REGION_LEAST && b->members >= REGION_LEAST &&
	    fabs(mean_order(b) - mean_order(a) - between) > JOIN_MOST;
}

static void
join(struct regions *regions, const struct edge *edge)
{
	struct run_of_pixels *run = regions->run;
	int32_t above_a, above_b, between;
	int32_t a = find_root(regions->branch, edge->a, &above_a);
	int32_t b = find_root(regions->branch, edge->b, &above_b);

	between = above_a + edge->step - above_b;
	if (a == b || disagree(&run[a], &run[b], between))
		return;
	if (run[a].members < run[b].members) {
		int32_t swap = a;

		a = b;
		b = swap;
		between = -between;
	}
	regions->branch[b] = (struct branch){ a, between };
	run[a].sum += run[b].sum - between * run[b].members * VOTE_STEPS;
	run[a].members += run[b].members;
}

/* Joins along the sure edges of a block, but not to the row above it, which is another thread's;
 * then leaves only the edges that may still join something. */
static void
join_block(struct regions *regions, struct region_block *block)
{
	const struct branch *branch = regions->branch;
	int32_t first = (int32_t)block->runs.first, above;
	struct edge *edge = regions->edge;
	size_t end = block->edges.first;

	for (size_t i = block->edges.first; i < block->edges.end; i++)
		if (edge[i].class < SURE && edge[i].a >= first &&
		    branch[edge[i].a].parent != branch[edge[i].b].parent)
			join(regions, &edge[i]);
	for (size_t i = block->edges.first; i < block->edges.end; i++)
		if (edge[i].a < first ||
		    find_root(regions->branch, edge[i].a, &above) !=
			find_root(regions->branch, edge[i].b, &above))
			edge[end++] = edge[i];
	block->edges.end = end;
}

/* Puts all edges into regions->sorted, by class; how many. */
static size_t
sort_edges(struct regions *regions)
{
	const struct region_block *end = regions->block + regions->blocks;
	size_t at[COSTS + 1] = { 0 };

	for (const struct region_block *block = regions->block; block < end; block++)
		for (size_t i = block->edges.first; i < block->edges.end; i++)
			at[regions->edge[i].class + 1]++;
	for (int class = 0; class < COSTS; class++)
		at[class + 1] += at[class];
	for (const struct region_block *block = regions->block; block < end; block++)
		for (size_t i = block->edges.first; i < block->edges.end; i++)
			regions->sorted[at[regions->edge[i].class]++] = regions->edge[i];
	return at[COSTS];
}

/* Joins what is still apart, the surest first, and tells each run what its region makes of its
 * order. */
static void
join_blocks(struct regions *regions)
{
	struct run_of_pixels *run = regions->run;
	size_t n = sort_edges(regions);

	for (size_t i = 0; i < n; i++)
		join(regions, &regions->sorted[i]);
	for (size_t k = 0; k < regions->blocks; k++)
		for (size_t i = regions->block[k].runs.first; i < regions->block[k].runs.end; i++) {
			int32_t above, root = find_root(regions->branch, (int32_t)i, &above);

			run[i].order = run[root].members < REGION_LEAST
			    ? PX_NAN
			    : (float)floor(mean_order(&run[root]) + 0.5) + (float)above;
		}
}

/* From readings to orders: the region's vote (where the lead is 0), or, where that is far from the
 * pixel's own, that. How many were more than half a turn off the vote, or had none. */
static size_t
vote(float *restrict order, const int32_t *restrict lead, float all, float most, size_t n)
{
	size_t doubtful = 0;

#pragma omp simd reduction(+ : doubtful)
	for (size_t i = 0; i < n; i++) {
		PX_F voted = all + (float)lead[i], off = px_abs(voted - order[i]);

		doubtful += !(off <= 0.5f);
		order[i] = holo_nearest_order(
		    px_select(off <= VOTE_MOST, voted, order[i]), 0.0f, 1.0f, most);
	}
	return doubtful;
}

/* ---- the picture ---- */

struct region_job {
	struct regions *regions;
	const struct reading *reading;
	const struct frame *in;
};

/* What each pixel says, by the median around it. */
static void
read_orders(const struct region_job *job, size_t y0, size_t y1)
{
	struct regions *regions = job->regions;
	size_t w = regions->w;
	struct ring ring;

	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE, at = y0 * w + x;

		ring_start(&ring, job->reading, job->in, x, n, y0);
		for (size_t y = y0; y < y1; y++, at += w)
			memcpy(regions->rest + at,
			    ring_next(&ring, job->reading, job->in, x, n, y, regions->order + at),
			    n * sizeof(*regions->rest));
	}
}

static void
read_block(void *arg, size_t i)
{
	const struct region_job *job = arg;
	struct region_block *block = &job->regions->block[i];

	read_orders(job, block->y0, block->y1);
	for (size_t y = block->y0; y < block->y1; y++)
		find_runs(job->regions, block, y);
}

static void
edge_block(void *arg, size_t i)
{
	struct regions *regions = ((const struct region_job *)arg)->regions;
	struct region_block *block = &regions->block[i];

	for (size_t y = block->y0; y < block->y1; y++)
		find_edges(regions, block, y);
	join_block(regions, block);
}

static void
vote_block(void *arg, size_t i)
{
	const struct region_job *job = arg;
	struct regions *regions = job->regions;
	struct region_block *block = &regions->block[i];

	for (size_t y = block->y0; y < block->y1; y++)
		for (size_t k = regions->row[y].first; k < regions->row[y].end; k++) {
			const struct run_of_pixels *run = &regions->run[k];
			size_t at = y * regions->w + (size_t)run->first;
			size_t n = (size_t)(run->end - run->first);

			block->points += n;
			block->doubtful += vote(regions->order + at, regions->lead + at, run->order,
			    job->reading->code.order_most, n);
		}
}

/* The orders of a whole picture: regions->order. -1 after fail() where stairs and fringes do not
 * belong together: measured are 24 % doubtful at JPEG quality 50 and colour 420, 37 % and more with
 * red and green exchanged. */
static int
find_regions(struct run *run, struct regions *regions, const struct reading *reading,
    const struct frame *in)
{
	struct region_job job = { regions, reading, in };
	size_t points = 0, doubtful = 0;

	if (regions_begin(regions, in->head.w, in->head.h) < 0)
		return -1;
	run_for(run, regions->blocks, read_block, &job);
	run_for(run, regions->blocks, edge_block, &job);
	join_blocks(regions);
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

/* Rows y0 .. y1 - 1 of n columns from x on, of what has been found. */
static void
decode_region(const struct regions *regions, const struct holo_code *code, struct frame *out,
    size_t z, size_t x, size_t n, size_t y0, size_t y1)
{
	float turns[TILE];

	for (size_t y = y0; y < y1; y++) {
		size_t at = y * out->head.w + x;

		nearest_turns(
		    regions->rest + at, regions->order + at, turns, n, code->order_most);
		to_depth(turns, frame_floats(out, z, y) + x, x, n, code, slack(code));
	}
}

#endif
