/*
 * The fringe order of whole regions, in lossy pictures: pixels whose phase runs on without a jump
 * are joined, the surest neighbours first, and each region's readings of the stairs decide
 * together. What a lossy format does to the stairs is large for single pixels and even for patches
 * of them, but small for the mean of a region. holodec.h describes runs, edges and blocks.
 */
#include "holodec.h"

#include "holodec.px.h"

/* What is found of a picture, block after block, for run_for(). */
struct region_job {
	struct regions *regions;
	const struct reading *reading;
	const struct frame *in;
};

/* ---- runs ---- */

#define COSTS 32       /* classes that pairs are sorted into */
#define COST_MOST 0.5f /* turns: a pair that differs more is not joined */
#define SURE 8         /* pairs of lower classes are of one run */
#define NO_ORDER (INT32_MIN / 2)

/* Of n pairs of pixels: classes, from 0 for those that run on in phase and stairs to COSTS for
 * those that are not to be joined; order of the second less that of the first, 0 for the latter. */
static void
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

/* Finds the runs of row y of a block, their votes, and the leads of the pixels. */
static void
runs_find(struct regions *regions, struct region_block *block, size_t y)
{
	struct span inside = regions->inside[y];
	size_t at = y * regions->w + inside.first, n = inside.end - inside.first;
	const float *restrict rest = regions->rest + at, *restrict order = regions->order + at;
	int32_t *restrict lead = regions->lead + at, *restrict vote = block->turn + inside.first;
	unsigned char *class = block->class + inside.first;
	struct run_of_pixels run = { .first = (int32_t)inside.first };

	regions->row[y] = (struct span){ block->runs.end, block->runs.end };
	if (inside.first >= inside.end)
		return;
	lead[0] = 0;
	class[n - 1] = COSTS;
	runs_classify(rest, order, rest + 1, order + 1, class, lead + 1, n - 1);
	for (size_t i = 1; i < n; i++)
		lead[i] += lead[i - 1];
	/* each pixel's vote for the order of its run; 0 in the background */
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		vote[i] = (int)px_round(px_select(px_isnan(order[i]), 0.0f,
			      order[i] * VOTE_STEPS)) - VOTE_STEPS * lead[i];
	for (size_t i = 0; i < n; i++) {
		run.sum += vote[i];
		run.class = class[i];
		if (run.class < SURE)
			continue;
		run.end = (int32_t)(inside.first + i) + 1;
		run.members = run.end - run.first;
		if (!px_isnan(rest[i])) {
			regions->branch[block->runs.end] =
			    (struct branch){ .parent = (int32_t)block->runs.end };
			regions->run[block->runs.end++] = run;
		}
		run.first = run.end;
		run.sum = 0;
	}
	regions->row[y].end = block->runs.end;
}

/*
 * ---- edges ----
 *
 * Runs become regions: a forest of runs, whose trees grow along edges, the surest of the whole
 * picture first and of those as sure the upper ones, so that no block of rows shows in the result.
 */

#define JOIN_MOST 0.6    /* turns: regions whose stairs differ more are not joined */
/* Compression misreads whole patches of lower stairs: there regions are joined more readily. */
#define HEIGHT_LEAST 14.0f /* levels */
#define JOIN_MOST_LOW 0.7

/* The root of run i's region; *above: i's order less the root's. Shortens the path to it. */
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

/* What becomes of an edge: it has joined two regions, or they are one already, or stay apart; or it
 * waits, since their stairs differ and one of them is still too small to vote. */
enum { DONE, WAITS };

static int
join(struct regions *regions, const struct edge *edge, double most, bool may_wait)
{
	struct run_of_pixels *run = regions->run;
	int32_t above_a, above_b, between;
	int32_t a = find_root(regions->branch, edge->a, &above_a);
	int32_t b = find_root(regions->branch, edge->b, &above_b);

	if (a == b)
		return DONE;
	between = above_a + edge->step - above_b;
	if (fabs(mean_order(&run[b]) - mean_order(&run[a]) - between) > most) {
		if (run[a].members >= REGION_LEAST && run[b].members >= REGION_LEAST)
			return DONE;
		if (may_wait)
			return WAITS;
	}
	if (run[a].members < run[b].members) {
		int32_t swap = a;

		a = b;
		b = swap;
		between = -between;
	}
	regions->branch[b] = (struct branch){ a, between };
	run[a].sum += run[b].sum - between * run[b].members * VOTE_STEPS;
	run[a].members += run[b].members;
	return DONE;
}

static void
keep_edge(struct regions *regions, struct region_block *block, struct edge edge)
{
	if (edge.class < COSTS)
		regions->edge[block->edges.end++] = edge;
}

/* Keeps an edge for each step between runs a of the row above and b, by the surest of the pairs in
 * columns first .. end - 1 that follow each other with it. */
static void
take_steps(struct regions *regions, struct region_block *block, size_t a, size_t b, int32_t first,
    int32_t end)
{
	const unsigned char *class = block->class;
	struct edge edge = { (int32_t)a, (int32_t)b, 0, COSTS };

	for (int32_t x = first; x < end; x++) {
		if (class[x] == COSTS)
			continue;
		if (block->turn[x] != edge.step) {
			keep_edge(regions, block, edge);
			edge.class = COSTS;
		}
		edge.step = block->turn[x];
		edge.class = class[x] < edge.class ? class[x] : edge.class;
	}
	keep_edge(regions, block, edge);
}

/* The edges between the runs of row y and those of the row above. */
static void
find_steps(struct regions *regions, struct region_block *block, size_t y)
{
	struct span upper = regions->row[y - 1], lower = regions->row[y];
	const struct span *inside = &regions->inside[y];
	const struct run_of_pixels *run = regions->run;
	size_t first = inside[-1].first > inside->first ? inside[-1].first : inside->first;
	size_t end = inside[-1].end < inside->end ? inside[-1].end : inside->end;
	size_t below = y * regions->w + first, above = below - regions->w;
	const int32_t *restrict lead = regions->lead + above;
	const int32_t *restrict next = regions->lead + below;
	int32_t *restrict step = block->turn + first;

	if (first >= end)
		return;
	runs_classify(regions->rest + above, regions->order + above, regions->rest + below,
	    regions->order + below, block->class + first, step, end - first);
	/* from steps between pixels to those of the runs that they are in */
	CPU_SIMD
	for (size_t i = 0; i < end - first; i++)
		step[i] += lead[i] - next[i];
	for (size_t a = upper.first, b = lower.first; a < upper.end && b < lower.end;) {
		int32_t from = run[a].first > run[b].first ? run[a].first : run[b].first;
		int32_t to = run[a].end < run[b].end ? run[a].end : run[b].end;

		take_steps(regions, block, a, b, from, to);
		if (run[a].end < run[b].end)
			a++;
		else
			b++;
	}
}

/* What may join runs of the block with others of it or with those above: block->edges. */
static void
edge_block(void *arg, size_t i)
{
	struct regions *regions = ((const struct region_job *)arg)->regions;
	struct region_block *block = &regions->block[i];
	const struct run_of_pixels *run = regions->run;

	for (size_t y = block->y0; y < block->y1; y++) {
		if (y > 0)
			find_steps(regions, block, y);
		for (size_t b = regions->row[y].first; b < regions->row[y].end; b++)
			if (run[b].class < COSTS)
				keep_edge(regions, block, (struct edge){ (int32_t)b,
				    (int32_t)b + 1, 0, run[b].class });
	}
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

/* Joins the runs of all blocks, and gives each the order that its region votes for. height: of a
 * stair, in levels. */
static void
edges_join(struct regions *regions, float height)
{
	bool low = height < HEIGHT_LEAST;
	double most = low ? JOIN_MOST_LOW : JOIN_MOST;
	struct run_of_pixels *run = regions->run;
	struct edge *sorted = regions->sorted;
	size_t n = sort_edges(regions);

	for (bool may_wait = !low; n; may_wait = false) {
		size_t waiting = 0;

		for (size_t i = 0; i < n; i++)
			if (join(regions, &sorted[i], most, may_wait) == WAITS)
				sorted[waiting++] = sorted[i];
		n = waiting;
	}
	for (size_t k = 0; k < regions->blocks; k++)
		for (size_t i = regions->block[k].runs.first; i < regions->block[k].runs.end; i++) {
			int32_t above, root = find_root(regions->branch, (int32_t)i, &above);

			run[i].order = run[root].members < REGION_LEAST
			    ? NO_ORDER
			    : (int32_t)floor(mean_order(&run[root]) + 0.5) + above;
		}
}

/* ---- votes ---- */

#define VOTE_MOST 1.25f  /* turns: where the stairs around a pixel differ more, they decide */

/* From readings to orders: the region's vote, or, where that is far from the pixel's own, that.
 * Returns how many points were more than half a turn off the vote, or had none. */
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

/* ---- the picture ---- */

/* The order of each pixel, by the median around it; then the runs. */
static void
read_block(void *arg, size_t i)
{
	const struct region_job *job = arg;
	struct regions *regions = job->regions;
	struct region_block *block = &regions->block[i];
	size_t w = regions->w, y0 = block->y0, y1 = block->y1;
	struct medians_ring ring;

	for (size_t y = y0; y < y1; y++)
		regions->inside[y] = (struct span){ w, 0 };
	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE, at = y0 * w + x;

		holodec_rows()->medians_start(&ring, job->reading, job->in, x, n, y0);
		for (size_t y = y0; y < y1; y++, at += w) {
			const struct medians *row = holodec_rows()->medians_next(
			    &ring, job->reading, job->in, x, n, y, regions->order + at);
			struct span *inside = &regions->inside[y];

			memcpy(regions->rest + at, row->rest, n * sizeof(*regions->rest));
			if (row->first >= row->end)
				continue;
			if (x + row->first < inside->first)
				inside->first = x + row->first;
			inside->end = x + row->end;
		}
	}
	for (size_t y = y0; y < y1; y++)
		runs_find(regions, block, y);
}

/* Pixels without a run have no vote. */
static void
vote_block(void *arg, size_t i)
{
	const struct region_job *job = arg;
	struct regions *regions = job->regions;
	struct region_block *block = &regions->block[i];

	for (size_t y = block->y0; y < block->y1; y++) {
		struct span inside = regions->inside[y];
		int32_t *lead = regions->lead + y * regions->w;

		for (size_t k = regions->row[y].first; k < regions->row[y].end; k++) {
			const struct run_of_pixels *run = &regions->run[k];

			for (int32_t x = run->first; x < run->end; x++)
				lead[x] += run->order;
			block->points += (size_t)(run->end - run->first);
		}
		if (inside.first < inside.end)
			block->doubtful += vote(regions->order + y * regions->w + inside.first,
			    lead + inside.first, job->reading->code.order_most,
			    inside.end - inside.first);
	}
}

static void
vote_regions(struct run *run, struct regions *regions, const struct reading *reading,
    const struct frame *in)
{
	struct region_job job = { regions, reading, in };

	run_for(run, regions->blocks, read_block, &job);
	run_for(run, regions->blocks, edge_block, &job);
	edges_join(regions, reading->code.height);
	run_for(run, regions->blocks, vote_block, &job);
}

const struct regions_rows AT_LEVEL(regions_rows) = {
	.vote = vote_regions,
};
