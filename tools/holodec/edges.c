#include "edges.h"

#include <math.h>

#include "base/cpu_level.h"

#define JOIN_MOST 0.6    /* turns: regions whose stairs differ more are not joined */
/* Of lower stairs compression misreads whole patches, which are to be joined rather. */
#define HEIGHT_LEAST 14.0f /* levels */
#define JOIN_MOST_LOW 0.7

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

/* What an edge does: joins two regions, or finds that they are one or stay apart; or waits, since
 * their stairs differ and one of them is too small yet to vote. */
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

/* From steps between pixels to those of the runs that they are in. */
static void
add_leads(const int32_t *restrict lead, const int32_t *restrict next_lead, int32_t *restrict step,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		step[i] += lead[i] - next_lead[i];
}

/* Classes and steps of n pairs from row y - 1 to y, from column x on. */
static void
read_pairs(struct regions *regions, struct region_block *block, size_t y, size_t x, size_t n)
{
	size_t below = y * regions->w + x, above = below - regions->w;

	runs_classify(regions->rest + above, regions->order + above, regions->rest + below,
	    regions->order + below, block->class + x, block->turn + x, n);
	add_leads(regions->lead + above, regions->lead + below, block->turn + x, n);
}

static void
find_steps(struct regions *regions, struct region_block *block, size_t y)
{
	struct span upper = regions->row[y - 1], lower = regions->row[y], *inside;
	const struct run_of_pixels *run = regions->run;
	size_t first, end;

	inside = &regions->inside[y];
	first = inside[-1].first > inside->first ? inside[-1].first : inside->first;
	end = inside[-1].end < inside->end ? inside[-1].end : inside->end;
	if (first >= end)
		return;
	read_pairs(regions, block, y, first, end - first);
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

/* The edges between the runs of row y. */
static void
find_gaps(struct regions *regions, struct region_block *block, size_t y)
{
	const struct run_of_pixels *run = regions->run;

	for (size_t b = regions->row[y].first; b < regions->row[y].end; b++)
		if (run[b].class < COSTS)
			keep_edge(regions, block,
			    (struct edge){ (int32_t)b, (int32_t)b + 1, 0, run[b].class });
}

void
edges_find(struct regions *regions, struct region_block *block)
{
	for (size_t y = block->y0; y < block->y1; y++) {
		if (y > 0)
			find_steps(regions, block, y);
		find_gaps(regions, block, y);
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

void
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
