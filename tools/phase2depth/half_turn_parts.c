#include "half_turn_parts.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/fail.h"
#include "depth_rows.h"
#include "depthfit.h"
#include "frame/frame.h"

#define SPECK 25		/* pixels; parts of noise have fewer, and link nothing */
#define ON_REFERENCE 0.35f	/* rad off it at most */
#define SHARE_ON 0.2		/* of a part, from which on the reference itself is seen in it; a
				 * slope from half a turn below to half a turn above has 0.11 */
#define TIMES_ON 2		/* as many pixels on the reference as any other part of the group */

struct parts {
	size_t w, h;
	float *d;		/* phase above the reference */
	size_t *part;		/* a pixel of the same part; its own place: the part's first */
	size_t *size;		/* pixels of a part, at its first */
	size_t *group;		/* the same of parts that jumps link */
	size_t *on;		/* pixels of a part on the reference, at its first */
	size_t *all;		/* pixels of a group's parts, at its first */
	size_t *nearest;	/* the part of a group with most of those, at the group's first;
				 * w h: none */
	size_t *second;		/* pixels on the reference of the next part */
	unsigned char *jumps, *speck;	/* is the part, at its first, at a jump; a speck at one? */
};

static void
free_parts(struct parts *parts)
{
	free(parts->d);
	free(parts->part);
	free(parts->size);
	free(parts->group);
	free(parts->on);
	free(parts->all);
	free(parts->nearest);
	free(parts->second);
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
	parts->on = calloc(n, sizeof(*parts->on));
	parts->all = calloc(n, sizeof(*parts->all));
	parts->nearest = reallocarray(NULL, n, sizeof(*parts->nearest));
	parts->second = calloc(n, sizeof(*parts->second));
	parts->jumps = calloc(n, 1);
	parts->speck = calloc(n, 1);
	if (!parts->d || !parts->part || !parts->group || !parts->size || !parts->jumps ||
	    !parts->speck || !parts->on || !parts->all || !parts->nearest || !parts->second)
		return fail_memory();
	for (size_t i = 0; i < n; i++)
		parts->part[i] = parts->group[i] = i;
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
	for (size_t i = 0; i < parts->w * parts->h; i++) {
		size_t part = first_of(parts->part, i);

		parts->size[part]++;
		parts->on[part] += fabsf(parts->d[i]) < ON_REFERENCE;
	}
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

/* The part of each group that has most pixels on the reference, and how many the next one has. */
static void
find_nearest(struct parts *parts)
{
	size_t n = parts->w * parts->h;

	for (size_t i = 0; i < n; i++)
		parts->nearest[i] = n;
	for (size_t i = 0; i < n; i++) {
		size_t group = first_of(parts->group, i), *nearest = &parts->nearest[group];

		if (!parts->jumps[i])
			continue;
		parts->all[group] += parts->size[i];
		if (*nearest == n || parts->on[i] > parts->on[*nearest]) {
			parts->second[group] = *nearest == n ? 0 : parts->on[*nearest];
			*nearest = i;
		} else if (parts->on[i] > parts->second[group]) {
			parts->second[group] = parts->on[i];
		}
	}
}

/* Is the reference itself seen in one part of a group, and in no other one? */
static bool
is_told(const struct parts *parts, size_t group)
{
	size_t nearest = parts->nearest[group];
	size_t on = nearest < parts->w * parts->h ? parts->on[nearest] : 0;

	return on >= SPECK && (double)on >= SHARE_ON * (double)parts->size[nearest] &&
	    on >= TIMES_ON * parts->second[group];
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
    struct half_turn_found *found)
{
	struct parts parts = { .w = in->head.w, .h = in->head.h };
	int status = make_parts(&parts);

	*found = (struct half_turn_found){ 0 };
	if (status == 0) {
		for (size_t y = 0; y < parts.h; y++)
			depth_rows_above(above, in, parts.d + y * parts.w, y);
		find_parts(&parts);
		find_groups(&parts);
		find_nearest(&parts);
		for (size_t i = 0; i < parts.w * parts.h; i++)
			if (parts.all[i] > 0 && !is_told(&parts, i))
				found->contending += parts.all[i];
		find_specks(&parts);
		for (size_t i = 0; i < parts.w * parts.h; i++) {
			size_t part = first_of(parts.part, i);

			beyond[i] = parts.speck[part] || (parts.jumps[part] &&
			    parts.nearest[first_of(parts.group, part)] != part);
			found->marked += beyond[i];
		}
	}
	free_parts(&parts);
	return status;
}
