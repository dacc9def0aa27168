/*
 * Sums of the votes between one region and its neighbours, by neighbour and turns: a hash table, so
 * that each vote costs the same however many neighbours there are. Votes of a region about itself
 * are summed like others, which is cheaper than to look for them, and left out in the end.
 */
#ifndef BORDER_SUMS_H
#define BORDER_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#define NO_BEST ((struct best){ { -1, 0 }, INT64_MIN })

/* false: no memory. Free with border_sums_free() in either case. */
bool border_sums_begin(struct border_sums *);
void border_sums_free(struct border_sums *);
/* Makes room for n more votes. false: no memory. */
bool border_sums_grow(struct border_sums *, size_t n);
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

/* Of all votes about one neighbour, which sum to so much, the most are for `winner`. */
static inline void
best_keep(struct best *best, size_t region, const struct border *winner, int64_t sum)
{
	int64_t margin = 2 * winner->weight - sum;
	bool better = margin > best->margin;

	if (__builtin_expect(margin == best->margin, 0))
		better = border_tie(region, (size_t)winner->other) >
		    border_tie(region, (size_t)best->choice.other);
	best->choice.other = better ? winner->other : best->choice.other;
	best->choice.turns = better ? -winner->turns : best->choice.turns;
	best->margin = better ? margin : best->margin;
}

/* Of borders to one region the heavier one wins, then that of fewer turns, then a negative one. */
static inline bool
border_outweighs(const struct border *a, const struct border *b)
{
	int64_t fewer = (int64_t)(a->turns < 0 ? -a->turns : a->turns) -
	    (b->turns < 0 ? -b->turns : b->turns);

	if (a->weight != b->weight)
		return a->weight > b->weight;
	return fewer ? fewer < 0 : a->turns < b->turns;
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

static inline bool
border_sums_reserve(struct border_sums *sums, size_t n)
{
	return (sums->n + n <= sums->room && sums->more_n + n <= sums->room) ||
	    border_sums_grow(sums, n);
}

/* At most so many borders. */
static inline size_t
border_sums_count(const struct border_sums *sums)
{
	return sums->n + sums->more_n;
}

#endif
