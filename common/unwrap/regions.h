/* Patches, borders and components of spatial unwrapping. */
#pragma once

#include <math.h>

#include "run/stage.h"

/*
 * The first step of spatial unwrapping: patches, squares of pixels in which every loop of
 * neighbours closes, so that each pixel's turns within its patch are certain whichever way one
 * goes. A square where a loop stays open, that has an invalid pixel or neighbours more than
 * PATCH_STEP_MOST apart is cut in four; the smallest patch is one pixel.
 */

#define PATCH_SIDE 16
#define PATCH_STEP_MOST                                                                            \
	0.35f /* turns: neighbours that differ more are judged together with all others */
#define NO_PATCH (-1)
#define PHASE_MOST 1e6f /* turns; what is larger is as invalid as NaN */

/* patches_cut_row() of patches_loops.h at a tool's instruction level. It cuts a row of squares into
 * patches, numbered in each square by themselves, and writes to `first` how many there are; or,
 * where the job says so, it writes the shares of the row's pixels. */
typedef void patches_cut(void *job, size_t row);

struct patches {
	size_t w, h, across, down; /* pixels; squares of PATCH_SIDE */
	int32_t *patch;            /* of each pixel; NO_PATCH where the phase is invalid */
	int32_t *turns; /* whole turns to add to the phase, 0 at the patch's first pixel */
	int32_t *first; /* of each square, and behind the last one how many there are */
	float *share;   /* of each pixel, where they are used: how far its votes count */
	patches_cut *cut;
};

/* A wrapped phase of any offset. */
struct phase_plane {
	const struct frame *frame;
	size_t channel;
	float turns; /* of a unit: 1/(2 pi) where it is in rad */
};

static inline const float *
phase_row(const struct phase_plane *phase, size_t y)
{
	return frame_floats(phase->frame, phase->channel, y);
}

/* Rounds to a whole number, half to even, as rintf() does, but vectorises on any processor. |v| is
 * below 2^22, as two valid phases are apart. */
static inline float
phase_round(float v)
{
	const float shift = 12582912; /* 1.5 2^23 */

	return (v + shift) - shift;
}

/* The whole turns that bring the phase of b nearest to that of a, `step` turns below; from b to a
 * they are their negative. */
static inline int32_t
phase_turns(float step)
{
	return (int32_t)-phase_round(step);
}

static inline bool
phase_is_valid(float v, float turns)
{
	return fabsf(v * turns) < PHASE_MOST;
}

/* What patches_cut_row() gets. quality: weights of pixels, of which 0 and NaN hardly count; NULL:
 * all are 1. */
struct patches_job {
	struct patches *patches;
	const struct phase_plane *phase, *quality;
	bool shares; /* are to be written */
};

/* How far the square that begins at `start` reaches in an image of that size. */
static inline size_t
patches_side(size_t size, size_t start)
{
	return size - start < PATCH_SIDE ? size - start : PATCH_SIDE;
}

/* Is a row of a square, from its first pixel on, of one patch? Smaller ones do not reach from its
 * first to its last pixel. */
static inline bool
patches_is_whole(const int32_t *patch)
{
	return patch[0] != NO_PATCH && patch[0] == patch[PATCH_SIDE - 1];
}

/*
 * The second step of spatial unwrapping: votes of neighbouring pixels that belong to different
 * patches. Each such pair votes for the whole turns that bring it nearest together, with a weight
 * that falls with what then still lies between them.
 *
 * Where the noise is uneven it also falls with the share of the rougher pixel, which is
 * (q/(1 + (D/SHARE_ROUGH)^2))^4 + SHARE_LEAST. D^2 is the sum of the squares of the second
 * differences of the phase along its row, column and diagonals, in turns (the reliability of
 * Herraez et al. 2002, eq. 2 to 4); q is the pixel's quality. Without it the votes along a band of
 * noise, which a region has many of, outweigh the few of a neck of good pixels. With its square in
 * place of the fourth power 1.4 to 2.5 times as many turns of 120 maps of each kind of terrain are
 * wrong. In random phases D^2 has a mean of 0.67. SHARE_LEAST is for the pixels of the noise
 * itself: below it their votes count alike.
 */

#define SHARE_ROUGH 0.3f /* turns */
#define SHARE_LEAST 2e-5f

/* What votes, about patches of a phase of w x h pixels. quality: weights of pixels, of which 1 unit
 * and more counts fully, 0 and NaN hardly; NULL: all count alike. */
struct votes {
	size_t w, h;
	const int32_t *patch, *turns; /* of each pixel */
	const float *phase, *quality; /* rows that are so many samples apart */
	size_t stride, quality_stride;
	float unit, quality_unit; /* a sample of 1 is so much */
};

/* A pair: a pixel, and its neighbour `out` further; places in the list of patches, and in the
 * phase, whose rows may be longer. */
struct pair {
	size_t at, phase_at;
	ptrdiff_t out, phase_out;
};

/*
 * Sums of the votes between one region and its neighbours, by neighbour and turns: a hash table, so
 * that each vote costs the same however many neighbours there are. Votes of a region about itself
 * are summed like others, which is cheaper than to look for them, and left out in the end.
 */

/* What the pairs between a region and another one vote for: `turns` to add to the other one. */
struct border {
	int32_t turns, other;
	int64_t weight;
};

/* Which neighbour a region joins. */
struct choice {
	int32_t other; /* NO_PATCH: it borders on nothing */
	int32_t turns; /* to add to the region itself */
};

struct border_sum {
	struct border border; /* the first turns that were voted for; `more` lists the others */
	uint32_t slot, more;  /* its slot in the table; 0: none */
};

struct border_more {
	int32_t turns;
	uint32_t sum, slot, next; /* whose they are */
	int64_t weight;
};

/* Both lists begin at 1, and 0 in a table means none. What lies behind the sums is 0. */
struct border_sums {
	struct border_sum *sum;
	struct border_more *more;
	size_t n, more_n, room; /* ends of the lists; both have room for so many */
	uint32_t *slot, *more_slot; /* 2^(32 - shift) of each */
	uint32_t shift;
};

/* The most unanimous border of a region: that with the largest margin, the weight for its turns
 * less the weight against them. */
struct best {
	struct choice choice;
	int64_t margin;
};

void border_sums_begin(struct border_sums *);
void border_sums_free(struct border_sums *);
/* Makes room for n more votes. */
void border_sums_grow(struct border_sums *, size_t n);
void border_sums_add_more(struct border_sums *, uint32_t sum, int32_t turns, int64_t weight);
/* Gives the borders to list, of border_sums_count() of room, makes all sums empty, and returns how
 * many borders there were; *choice is the region's choice. */
size_t border_sums_finish(struct border_sums *, int32_t region, struct border *list,
    struct choice *choice);

/* The same for both of a border's sides, so that no ring of choices forms but of two. */
static inline uint64_t
border_tie(size_t a, size_t b)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return (low << 32 | high) * 0x9E3779B97F4A7C15u; /* odd: no two pairs alike */
}

static inline uint32_t
border_slot(uint32_t key, uint32_t shift)
{
	return key * 0x9E3779B1u >> shift;
}

/* Adds a vote; there must be room for it. Whether a neighbour is a new one cannot be predicted: its
 * sum, behind the last one, is 0, and no branch tells it from others. */
static inline void
border_sums_add(struct border_sums *sums, int32_t other, int32_t turns, int64_t weight)
{
	uint32_t at = border_slot((uint32_t)other, sums->shift), i, fresh;
	struct border_sum *sum;

	while (i = sums->slot[at], fresh = -(uint32_t)(i == 0),
	    (uint32_t)(sums->sum[i].border.other ^ other) & ~fresh)
		at = (at + 1) & (UINT32_MAX >> sums->shift);
	i += (uint32_t)sums->n & fresh;
	sums->n += fresh & 1;
	sums->slot[at] = i;
	sum = &sums->sum[i];
	sum->border.other = other;
	sum->slot = at;
	sum->border.turns |= turns & (int32_t)fresh;
	if (__builtin_expect(sum->border.turns == turns, 1))
		sum->border.weight += weight;
	else
		border_sums_add_more(sums, i, turns, weight);
}

/* Begins the sums of a region, whose votes about itself must be added with 0 turns. */
static inline void
border_sums_of(struct border_sums *sums, int32_t region)
{
	border_sums_add(sums, region, 0, 0);
}

static inline void
border_sums_reserve(struct border_sums *sums, size_t n)
{
	if (sums->n + n > sums->room || sums->more_n + n > sums->room)
		border_sums_grow(sums, n);
}

/* At most so many borders. */
static inline size_t
border_sums_count(const struct border_sums *sums)
{
	return sums->n + sums->more_n;
}

/*
 * The third step of spatial unwrapping: the borders of regions. Votes between the same two regions
 * for the same turns are added; each region's borders also say which neighbour it joins next.
 */

#define CHUNK 512 /* regions that a thread takes at a time */

/* Regions and, for each, its borders from first to end, in any order. */
struct regions {
	size_t n;
	size_t *first, *end;
	struct border *border;
	size_t borders;		  /* how many there are */
	size_t room, border_room; /* of these, and of borders */
};

/* What the next regions are made of: patches, or regions. */
struct members {
	const struct choice *region; /* of each member: its region's number, and the turns to it */
	const int32_t *head;	     /* the first member of each region */
	const int32_t *next;	     /* of each member; NO_MEMBER behind the last */
};

static inline size_t
chunks(size_t n, size_t chunk)
{
	return (n + chunk - 1) / chunk;
}

/*
 * The last step of spatial unwrapping: regions that border on each other become one, and so on
 * until nothing borders on anything. In a round every region takes the neighbour whose border is
 * the most unanimous (the weight for the winning turns less the weight against them), and joins it
 * by those turns; borders that fall together are added. So what is certain comes first, and a
 * doubtful pixel is judged by all its neighbours, not by the best one.
 *
 * At least every second region that borders on another one goes in a round, and a round takes time
 * in proportion to what is left: O(n log n). Nothing depends on threads: sums are of whole numbers,
 * and ties go by the regions' numbers.
 */

/* An array that is kept for the next frame. */
struct kept_array {
	void *v;
	size_t bytes;
};

#define LEVELS_MOST 34 /* each but the first has at most half the regions of the one before */

/* Joins patches; memory is kept from frame to frame. At first {0}. */
struct joining {
	size_t patches, components;
	struct choice *joined; /* of each patch: its component, and the turns to add */
	struct regions regions[2];
	struct kept_array choice, place, head, next, roots, rank, foreign, level[LEVELS_MOST];
};

/*
 * Spatial unwrapping: patches are found, their borders, and joined; what is left are the connected
 * components, numbered by size, and the whole turns that make each absolute.
 */

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
/* Unwraps a phase of that size; quality as in struct votes. The components refer to both; free with
 * components_free(). */
void components_unwrap(struct run *, struct unwrapping *, const struct phase_plane *,
    const struct phase_plane *quality, struct components *);
/* Each by itself: the mean of its turns becomes 0, rounded. */
void components_center(struct components *);
/* For each three numbers x, y, rad: the phase at that pixel becomes the one nearest to rad, which
 * counts `unit` for one of the phase. -1 after fail() where it is outside, invalid, or contradicts
 * another one. */
int components_anchor(struct components *, const struct numbers *anchors, double unit);
/* The median difference to an absolute phase, of such rad, becomes less than half a turn. */
void components_refer(struct components *, const struct frame *, size_t ref_channel, double unit);
/* Leaves out those of fewer pixels, and with `anchored` those that are not, and numbers the others.
 */
void components_number(struct components *, size_t least, bool anchored);
void components_free(struct components *);
