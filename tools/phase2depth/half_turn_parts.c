#include "half_turn_parts.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "depth_rows.h"
#include "depthfit.h"
#include "frame/frame.h"

#define SPECK 25		/* pixels; parts of noise have fewer, and link nothing */

struct parts {
	size_t w, h;
	float *d;		/* phase above the reference */
	size_t *part;		/* a pixel of the same part; its own place: the part's first */
	size_t *size;		/* pixels of a part, at its first */
	size_t *group;		/* the same of parts that jumps link */
	size_t *largest;	/* part of a group, at the group's first */
	unsigned char *jumps, *speck;	/* is the part, at its first, at a jump; a speck at one? */
};

static void
free_parts(struct parts *parts)
{
	free(parts->d);
	free(parts->part);
	free(parts->size);
	free(parts->group);
	free(parts->largest);
	free(parts->jumps);
	free(parts->speck);
}

static int
make_parts(struct parts *parts)
{
	size_t n = parts->w * parts->h;

	parts->d = reallocarray(NULL, n, sizeof(*parts->d));
	parts->part = reallocarray(NULL, n, sizeof(*parts->part));
	parts->group = reallocarray(NULL, n, sizeof(*parts->group));
	parts->size = calloc(n, sizeof(*parts->size));
	parts->largest = reallocarray(NULL, n, sizeof(*parts->largest));
	parts->jumps = calloc(n, 1);
	parts->speck = calloc(n, 1);
	if (!parts->d || !parts->part || !parts->group || !parts->size || !parts->largest ||
	    !parts->jumps || !parts->speck)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		parts->part[i] = parts->group[i] = parts->largest[i] = i;
	return 0;
}

static size_t
first_of(size_t *of, size_t i)
{
	while (of[i] != i)
		i = of[i] = of[of[i]];
	return i;
}

static void
join(size_t *of, size_t a, size_t b)
{
	a = first_of(of, a);
	b = first_of(of, b);
	of[a > b ? a : b] = a > b ? b : a;
}

static void
join_neighbours(struct parts *parts, size_t at, size_t before)
{
	if (fabsf(parts->d[at] - parts->d[before]) < HALF_TURN_ALIKE)
		join(parts->part, at, before);
}

static void
find_parts(struct parts *parts)
{
	for (size_t y = 0; y < parts->h; y++)
		for (size_t x = 0; x < parts->w; x++) {
			size_t at = y * parts->w + x;

			if (x > 0)
				join_neighbours(parts, at, at - 1);
			if (y > 0)
				join_neighbours(parts, at, at - parts->w);
		}
	for (size_t i = 0; i < parts->w * parts->h; i++)
		parts->size[first_of(parts->part, i)]++;
}

static void
link_parts(struct parts *parts, size_t at, size_t step)
{
	size_t a = first_of(parts->part, at), b = first_of(parts->part, at - step);

	if (parts->size[a] < SPECK || parts->size[b] < SPECK ||
	    !half_turn_is_jump(parts->d + at, (ptrdiff_t)step))
		return;
	join(parts->group, a, b);
	parts->jumps[a] = parts->jumps[b] = 1;
}

static void
find_groups(struct parts *parts)
{
	size_t w = parts->w, h = parts->h, reach = HALF_TURN_SMOOTH;

	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++) {
			if (x >= reach && x + reach <= w)
				link_parts(parts, y * w + x, 1);
			if (y >= reach && y + reach <= h)
				link_parts(parts, y * w + x, w);
		}
}

/* The largest part of each group, at its first. */
static void
find_largest(struct parts *parts)
{
	for (size_t i = 0; i < parts->w * parts->h; i++) {
		size_t group = first_of(parts->group, i);

		if (parts->jumps[i] && parts->size[i] > parts->size[parts->largest[group]])
			parts->largest[group] = i;
	}
}

/* Is a pixel of a speck a whole turn from a neighbour that belongs to a surface with jumps? */
static void
find_speck(struct parts *parts, size_t at, size_t beside)
{
	size_t own = first_of(parts->part, at), other = first_of(parts->part, beside);

	parts->speck[own] |= parts->size[own] < SPECK && parts->jumps[other] &&
	    fabsf(parts->d[at] - parts->d[beside]) > HALF_TURN_JUMP;
}

static void
find_specks(struct parts *parts)
{
	for (size_t y = 0; y < parts->h; y++)
		for (size_t x = 0; x < parts->w; x++) {
			size_t at = y * parts->w + x;

			if (x > 0) {
				find_speck(parts, at, at - 1);
				find_speck(parts, at - 1, at);
			}
			if (y > 0) {
				find_speck(parts, at, at - parts->w);
				find_speck(parts, at - parts->w, at);
			}
		}
}

int
half_turn_parts(const struct frame *in, const struct depthfit *above, unsigned char *beyond,
    size_t *marked)
{
	struct parts parts = { .w = in->head.w, .h = in->head.h };
	int status = make_parts(&parts);

	*marked = 0;
	if (status == 0) {
		for (size_t y = 0; y < parts.h; y++)
			depth_rows_above(above, in, parts.d + y * parts.w, y);
		find_parts(&parts);
		find_groups(&parts);
		find_largest(&parts);
		find_specks(&parts);
		for (size_t i = 0; i < parts.w * parts.h; i++) {
			size_t part = first_of(parts.part, i);

			beyond[i] = parts.speck[part] || (parts.jumps[part] &&
			    parts.largest[first_of(parts.group, part)] != part);
			*marked += beyond[i];
		}
	}
	free_parts(&parts);
	return status;
}
