/*
 * Planes of a Gray code that are exchanged, inverted or missing. Where a plane of a Gray code
 * changes, the next finer one is bright and all finer ones are dark: it changes in the middle of
 * their stripes. That tells the order of the planes without their values.
 */
#include <math.h>
#include <string.h>

#include "gray_search.h"

#define SEEN 12			/* pixels, at least, where a plane changes and another does not */
#define DARK 0.25		/* of them are bright, at most */
#define BRIGHT 0.75		/* or at least */
#define PLANES_LEAST 4		/* fewer tell too little */

struct edges {
	size_t n;
	double bright[GRAY_MOST][GRAY_MOST];	/* [a][b]: where a changes, the share of pixels in
						 * which b is bright; NaN: unknown */
	double in_line[GRAY_MOST];		/* changes in a line */
};

static void
find_edges(const struct gray_search *search, const struct gray_code *code, struct edges *edges)
{
	const struct field *field = &search->sets->field[search->axis];
	double seen[GRAY_MOST][GRAY_MOST] = { 0 };
	double lines = (double)field->lines;

	*edges = (struct edges){ .n = code->n };
	for (size_t p = 1; p < field->lines * field->length; p++) {
		unsigned bit[2][GRAY_MOST];

		if (p % field->length == 0 || !field->lit[p] || !field->lit[p - 1])
			continue;
		for (size_t k = 0; k < code->n; k++)
			for (size_t side = 0; side < 2; side++)
				bit[side][k] = gray_search_bit(search, code, k, p - side);
		for (size_t a = 0; a < code->n; a++) {
			if (bit[0][a] == bit[1][a])
				continue;
			edges->in_line[a] += 1 / lines;
			for (size_t b = 0; b < code->n; b++)
				if (b != a && bit[0][b] == bit[1][b]) {
					seen[a][b]++;
					edges->bright[a][b] += bit[0][b];
				}
		}
	}
	for (size_t a = 0; a < code->n; a++)
		for (size_t b = 0; b < code->n; b++)
			edges->bright[a][b] = seen[a][b] < SEEN ? (double)NAN :
			    edges->bright[a][b] / seen[a][b];
}

/* Is b as it should be where a changes, which stands `apart` planes before it? 1, 0; -1: nothing
 * tells. */
static int
is_right(const struct edges *edges, size_t a, size_t b, size_t apart)
{
	double bright = edges->bright[a][b];

	if (!(bright <= DARK || bright >= BRIGHT))
		return -1;
	return (bright >= BRIGHT) == (apart == 1);
}

/* Pairs of planes that are not as they should be, in this order. */
static size_t
count_wrong(const struct edges *edges, const size_t *order)
{
	size_t wrong = 0;

	for (size_t a = 0; a < edges->n; a++)
		for (size_t b = a + 1; b < edges->n; b++)
			wrong += is_right(edges, order[a], order[b], b - a) == 0;
	return wrong;
}

/* Do neighbours tell enough, in this order? */
static bool
tells(const struct edges *edges, const size_t *order)
{
	size_t known = 0;

	for (size_t a = 0; a + 1 < edges->n; a++)
		known += is_right(edges, order[a], order[a + 1], 1) >= 0;
	return edges->n >= PLANES_LEAST && known >= 2 && known + 3 >= edges->n;
}

static void
swap(size_t *a, size_t *b)
{
	size_t c = *a;

	*a = *b;
	*b = c;
}

/* Pairs of planes that are as they should be, in this order; 0: some are not. */
static size_t
count_right(const struct edges *edges, const size_t *order)
{
	size_t right = 0;

	for (size_t a = 0; a < edges->n && count_wrong(edges, order) == 0; a++)
		for (size_t b = a + 1; b < edges->n; b++)
			right += is_right(edges, order[a], order[b], b - a) == 1;
	return right;
}

/* The two planes that are best in each other's place. */
static bool
mend_order(const struct edges *edges, size_t *order, struct gray_code *code)
{
	size_t most = 0, best[2] = { 0, 0 };

	for (size_t a = 0; a < code->n; a++)
		for (size_t b = a + 1; b < code->n; b++) {
			size_t right;

			swap(&order[a], &order[b]);
			right = tells(edges, order) ? count_right(edges, order) : 0;
			swap(&order[a], &order[b]);
			if (right <= most)
				continue;
			most = right;
			best[0] = a;
			best[1] = b;
		}
	swap(&code->plane[best[0]], &code->plane[best[1]]);
	swap(&code->inverse[best[0]], &code->inverse[best[1]]);
	code->order = GRAY_MIXED;
	return most > 0;
}

/* Where an inverted plane is wrong before it, and a plane is missing only to its neighbour, nothing
 * tells them apart but the number of stripes: twice as many as all before, not as many. */
static bool
has_gap(const struct edges *edges, size_t b, bool *surely)
{
	double before = 0;

	for (size_t a = 0; a < b; a++)
		before += edges->in_line[a];
	*surely = edges->in_line[b] > 1.5 * before + 1.5;
	if (edges->in_line[b] < 0.5 || edges->in_line[b] < before - 1.5)
		return false;		/* no finer plane */
	for (size_t a = 0; a + 1 < b; a++)
		if (is_right(edges, a, b, b - a) == 0)
			return false;
		else if (is_right(edges, a, b, b - a) == 1)
			*surely = true;
	return *surely || edges->in_line[b] < 4;
}

/* Planes that are inverted, or one that is missing. */
static bool
mend_planes(const struct edges *edges, struct gray_code *code)
{
	bool inverted[GRAY_MOST] = { false };
	size_t gaps = 0, gap = 0, flips = 0, known = 0;
	bool surely = false;

	for (size_t b = 1; b < code->n; b++) {
		size_t right = 0, wrong = 0;

		for (size_t a = 0; a < b; a++) {
			int is = is_right(edges, a, b, b - a);

			right += is == 1;
			wrong += is == 0;
		}
		known += right + wrong > 0;
		if (wrong == 0)
			continue;
		if (is_right(edges, b - 1, b, 1) == 0 && has_gap(edges, b, &surely)) {
			gaps++;
			gap = b;
			continue;
		}
		if (right)
			return false;
		inverted[b] = true;
		flips++;
	}
	if (gaps && flips >= 2 && !surely) {	/* one of those that are inverted */
		flips += gaps;
		for (size_t b = 1; b < code->n; b++)
			inverted[b] = inverted[b] || is_right(edges, b - 1, b, 1) == 0;
		gaps = 0;
	}
	if (gaps == 1 && flips == 0) {
		code->missing = surely ? GRAY_PLANE_MISSING : GRAY_MISSING_OR_INVERTED;
		code->gap = gap;
		return true;
	}
	if (gaps || flips == 0)
		return false;
	for (size_t b = 0; b < code->n; b++) {
		inverted[b] = inverted[b] || (flips == known && flips >= 3);	/* all are */
		if (inverted[b] && code->inverses)
			swap(&code->plane[b], &code->inverse[b]);
		else
			code->inverted[b] = inverted[b];
		code->swapped += inverted[b] && code->inverses;
	}
	if (code->swapped == code->n)	/* the inverses are the planes */
		code->swapped = 0;
	return true;
}

size_t
gray_defects_find(const struct gray_search *search, const struct gray_code *code,
    struct gray_code mended[2])
{
	struct edges edges;
	size_t order[GRAY_MOST], n = 0;

	if (code->n < PLANES_LEAST)
		return 0;
	find_edges(search, code, &edges);
	for (size_t k = 0; k < code->n; k++)
		order[k] = k;
	if (count_wrong(&edges, order) == 0 || !tells(&edges, order))
		return 0;
	mended[n] = *code;
	n += mend_order(&edges, order, &mended[n]);
	mended[n] = *code;
	n += mend_planes(&edges, &mended[n]);
	return n;
}
