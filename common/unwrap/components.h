/*
 * Spatial unwrapping: patches are found, their borders, and joined; what is left are the connected
 * components, numbered by size, and the whole turns that make each absolute.
 */
#ifndef COMPONENTS_H
#define COMPONENTS_H

#include "unwrap/joining.h"

/* What is kept from frame to frame. At first {0}. */
struct unwrapping {
	struct patches patches;
	struct joining joining;
};

struct component {
	size_t size;   /* pixels */
	int64_t turns; /* the sum of its pixels' turns */
	int32_t shift; /* to add to them */
	int32_t label; /* from 1 for the largest; 0: it is left out */
	bool anchored;
};

struct components {
	const struct patches *patches;
	const struct choice *joined; /* of each patch: its component, and the turns to add */
	const struct phase_plane *phase;
	struct component *component;
	size_t n;
};

static inline size_t
components_of(const struct components *components, size_t x, size_t y)
{
	int32_t patch = components->patches->patch[y * components->patches->w + x];

	return patch == NO_PATCH ? components->n : (size_t)components->joined[patch].other;
}

/* The turns of a pixel that is part of one, before the component's shift. */
static inline int32_t
components_turns(const struct components *components, size_t x, size_t y)
{
	size_t at = y * components->patches->w + x;

	return components->patches->turns[at] +
	    components->joined[components->patches->patch[at]].turns;
}

/* The number of a pixel's component that is kept, and its turns; 0: it has none. */
static inline int32_t
components_result(const struct components *components, size_t x, size_t y, int32_t *turns)
{
	size_t i = components_of(components, x, y);

	*turns = 0;
	if (i == components->n || components->component[i].label == 0)
		return 0;
	*turns = components_turns(components, x, y) + components->component[i].shift;
	return components->component[i].label;
}

/* Memory for frames of a size. -1 after fail(). */
int unwrapping_begin(struct unwrapping *unwrapping, patches_cut *cut, size_t w, size_t h);
void unwrapping_free(struct unwrapping *);
/* Unwraps a phase of that size; quality as in struct votes. The components refer to both. -1 after
 * fail(); free with components_free() in either case. */
int components_unwrap(struct run *, struct unwrapping *, const struct phase_plane *,
    const struct phase_plane *quality, struct components *);
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
