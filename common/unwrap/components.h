/* The last step of spatial unwrapping: the connected components, numbered by size, and the whole turns that
 * make each absolute. */
#ifndef COMPONENTS_H
#define COMPONENTS_H

#include "unwrap/joining.h"

struct component {
	size_t size;   /* pixels */
	int64_t turns; /* the sum of its pixels' turns */
	int32_t shift; /* to add to them */
	int32_t label; /* from 1 for the largest; 0: it is left out */
	bool anchored;
};

struct components {
	const struct patches *patches;
	const struct joined *joined;
	const struct phase_plane *phase;
	struct component *component;
	size_t n;
};

static inline size_t
components_of(const struct components *components, size_t x, size_t y)
{
	int32_t patch = components->patches->patch[y * components->patches->w + x];

	return patch == NO_PATCH ? components->n : (size_t)components->joined->component[patch];
}

/* The turns of a pixel that is part of one, before the component's shift. */
static inline int32_t
components_turns(const struct components *components, size_t x, size_t y)
{
	size_t at = y * components->patches->w + x;

	return components->patches->turns[at] +
	    components->joined->turns[components->patches->patch[at]];
}

/* Counts them. -1 after fail(); free with components_free(). */
int components_find(
    struct components *, const struct patches *, const struct joined *, const struct phase_plane *);
/* Each by itself: the mean of its turns becomes 0, rounded. */
void components_center(struct components *);
/* For each three numbers x, y, rad: the phase at that pixel becomes the one nearest to rad, which
 * counts `unit` for one of the phase. -1 after fail() where it is outside, invalid, or contradicts
 * another one. */
int components_anchor(struct components *, const struct numbers *anchors, double unit);
/* The median difference to an absolute phase, of such rad, becomes less than half a turn. -1 after
 * fail(). */
int components_refer(struct components *, const struct frame *, size_t ref_channel, double unit);
/* Leaves out those of fewer pixels, and with `anchored` those that are not, and numbers the others.
 * -1 after fail(). */
int components_number(struct components *, size_t least, bool anchored);
void components_free(struct components *);

#endif
