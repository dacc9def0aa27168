/*
 * The fringe order of whole regions: pixels whose phase runs on without a jump are joined, the
 * surest neighbours first, and each region's readings of the stairs decide together. What a lossy
 * format does to the stairs is large for single pixels and even for patches of them, but small for
 * the mean of a region.
 */
#ifndef HOLODEC_REGIONS_H
#define HOLODEC_REGIONS_H

#include "rows.h"

#include <stdint.h>
#include <stdlib.h>

#define COSTS 32         /* classes that pairs are sorted into */
#define COST_MOST 0.5f   /* turns: a pair that differs more is not joined */
#define JOIN_MOST 0.7    /* turns: regions whose stairs differ more are not joined */
#define REGION_LEAST 128 /* pixels that may vote; smaller regions are read pixel by pixel */
#define DOUBTFUL_MOST 33 /* % of a picture */
#define VOTE_MOST 1.25f  /* turns: where the stairs around a pixel differ more, they win */

struct regions {
	size_t size;           /* pixels allocated */
	float *rest, *order;   /* of each pixel; order as read, then as found */
	int32_t *parent;       /* in the tree of a region */
	int32_t *above;        /* order less the parent's */
	double *sum;           /* at roots: of what the pixels say the root's order is */
	uint32_t *members;     /* at roots */
	uint32_t *pair;        /* 2 pixel + 0: with its right, + 1: with its lower neighbour */
	unsigned char *class;  /* of pairs */
};

static void
regions_free(struct regions *regions)
{
	free(regions->rest);
	free(regions->order);
	free(regions->parent);
	free(regions->above);
	free(regions->sum);
	free(regions->members);
	free(regions->pair);
	free(regions->class);
	*regions = (struct regions){ 0 };
}

static int
regions_size(struct regions *regions, size_t size)
{
	if (regions->size >= size)
		return 0;
	if (size > INT32_MAX / 2)
		return fail(NULL,
		    "%zu pixels are too many to be decoded by regions: give --decode median",
		    size);
	regions_free(regions);
	regions->rest = calloc(size, sizeof(*regions->rest));
	regions->order = calloc(size, sizeof(*regions->order));
	regions->parent = calloc(size, sizeof(*regions->parent));
	regions->above = calloc(size, sizeof(*regions->above));
	regions->sum = calloc(size, sizeof(*regions->sum));
	regions->members = calloc(size, sizeof(*regions->members));
	regions->pair = calloc(2 * size, sizeof(*regions->pair));
	regions->class = calloc(2 * size, sizeof(*regions->class));
	if (!regions->rest || !regions->order || !regions->parent || !regions->above ||
	    !regions->sum || !regions->members || !regions->pair || !regions->class) {
		regions_free(regions);
		return fail_memory();
	}
	regions->size = size;
	return 0;
}

/* The root of pixel i's region; *above: i's order less the root's. Shortens the way. */
static int32_t
find_root(struct regions *regions, int32_t i, int32_t *above)
{
	int32_t *parent = regions->parent, root = i, sum = 0;

	for (; parent[root] != root; root = parent[root])
		sum += regions->above[root];
	*above = sum;
	while (parent[i] != root) {
		int32_t next = parent[i], step = regions->above[i];

		parent[i] = root;
		regions->above[i] = sum;
		sum -= step;
		i = next;
	}
	return root;
}

/* Do the stairs of two regions, large enough to tell, say that they are not one? */
static bool
disagree(const struct regions *regions, int32_t i, int32_t k, int32_t between)
{
	uint32_t n_i = regions->members[i], n_k = regions->members[k];
	double apart = regions->sum[k] / n_k - regions->sum[i] / n_i - between;

	return n_i >= REGION_LEAST && n_k >= REGION_LEAST && fabs(apart) > JOIN_MOST;
}

/* Joins the regions of pixels i and k, whose orders differ by step (k's less i's). */
static void
join(struct regions *regions, int32_t i, int32_t k, int32_t step)
{
	int32_t above_i, above_k;
	int32_t root_i = find_root(regions, i, &above_i), root_k = find_root(regions, k, &above_k);
	int32_t between = above_i + step - above_k;

	if (root_i == root_k || disagree(regions, root_i, root_k, between))
		return;
	if (regions->members[root_i] < regions->members[root_k]) {
		int32_t swap = root_i;

		root_i = root_k;
		root_k = swap;
		between = -between;
	}
	regions->parent[root_k] = root_i;
	regions->above[root_k] = between;
	regions->sum[root_i] += regions->sum[root_k] - (double)between * regions->members[root_k];
	regions->members[root_i] += regions->members[root_k];
}

/* How far a pair is from running on: its phase, and what the stairs say of it, in turns. */
static float
pair_cost(const struct regions *regions, size_t i, size_t k)
{
	float step = regions->rest[k] - regions->rest[i], wrap = px_round(step);

	return px_abs(step - wrap) + px_abs(regions->order[k] - regions->order[i] + wrap);
}

/* The class of a pair; COSTS: it is not to be joined. */
static unsigned char
pair_class(const struct regions *regions, size_t i, size_t k)
{
	float cost = pair_cost(regions, i, k);

	return cost < COST_MOST ? (unsigned char)(cost * (COSTS / COST_MOST)) : COSTS;
}

/* The classes of all pairs, and how many there are of each. */
static void
classify(struct regions *regions, size_t w, size_t h, size_t count[COSTS + 1])
{
	unsigned char *class = regions->class;

	for (size_t y = 0, i = 0; y < h; y++)
		for (size_t x = 0; x < w; x++, i++) {
			class[2 * i] = x + 1 < w ? pair_class(regions, i, i + 1) : COSTS;
			class[2 * i + 1] = y + 1 < h ? pair_class(regions, i, i + w) : COSTS;
			count[class[2 * i]]++;
			count[class[2 * i + 1]]++;
		}
}

/* Puts the pairs that may be joined into regions->pair, by class; how many. */
static size_t
sort_pairs(struct regions *regions, size_t w, size_t h)
{
	size_t count[COSTS + 1] = { 0 }, at[COSTS + 1] = { 0 };

	classify(regions, w, h, count);
	for (int class = 0; class < COSTS; class++)
		at[class + 1] = at[class] + count[class];
	for (size_t pair = 0; pair < 2 * w * h; pair++)
		if (regions->class[pair] < COSTS)
			regions->pair[at[regions->class[pair]]++] = (uint32_t)pair;
	return at[COSTS];
}

static void
join_pairs(struct regions *regions, size_t w, size_t h)
{
	size_t n = sort_pairs(regions, w, h);

	for (size_t p = 0; p < n; p++) {
		int32_t i = (int32_t)(regions->pair[p] / 2);
		int32_t k = regions->pair[p] % 2 ? i + (int32_t)w : i + 1;

		join(regions, i, k, -(int32_t)px_round(regions->rest[k] - regions->rest[i]));
	}
}

/* From readings to orders; NaN stays. *doubtful of *points were more than half a turn off their
 * region's vote, or in none. */
static void
vote(struct regions *regions, size_t pixels, float most, size_t *points, size_t *doubtful)
{
	*points = *doubtful = 0;
	for (size_t i = 0; i < pixels; i++) {
		int32_t above, root = find_root(regions, (int32_t)i, &above);
		uint32_t members = regions->members[root];
		float order = regions->order[i];
		float all = (float)floor(regions->sum[root] / members + 0.5) + (float)above;

		*points += !px_isnan(order);
		*doubtful += !px_isnan(order) &&
		    !(members >= REGION_LEAST && px_abs(all - order) <= 0.5f);
		if (members >= REGION_LEAST && px_abs(all - order) <= VOTE_MOST)
			order = all;
		regions->order[i] = holo_nearest_order(order, 0.0f, 1.0f, most);
	}
}

/* What each pixel says, by the median around it. */
static void
read_orders(struct regions *regions, const struct reading *reading, const struct frame *in)
{
	size_t w = in->head.w, h = in->head.h;
	struct ring ring;

	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE, at = x;

		ring_start(&ring, reading, in, x, n, 0);
		for (size_t y = 0; y < h; y++, at += w)
			memcpy(regions->rest + at,
			    ring_next(&ring, reading, in, x, n, y, regions->order + at),
			    n * sizeof(*regions->rest));
	}
}

/* The orders of a whole picture: regions->order. -1 after fail() where stairs and fringes do not
 * belong together: measured are 24 % doubtful at JPEG quality 50 and colour 420, 37 % and more with
 * red and green exchanged. */
static int
find_regions(struct regions *regions, const struct reading *reading, const struct frame *in)
{
	size_t w = in->head.w, h = in->head.h, points, doubtful;

	if (regions_size(regions, w * h) < 0)
		return -1;
	read_orders(regions, reading, in);
	for (size_t i = 0; i < w * h; i++) {
		regions->parent[i] = (int32_t)i;
		regions->above[i] = 0;
		regions->sum[i] = (double)regions->order[i];
		regions->members[i] = 1;
	}
	join_pairs(regions, w, h);
	vote(regions, w * h, reading->code.order_most, &points, &doubtful);
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
