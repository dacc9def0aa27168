#include "unwrap/border_sums.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 512 /* the tables of so many stay in the first cache */

static uint32_t
more_slot(uint32_t sum, int32_t turns, uint32_t shift)
{
	return border_slot(sum * 0x85EBCA6Bu ^ (uint32_t)turns, shift);
}

/* Puts what the lists have into tables of twice their room. */
static bool
fill_tables(struct border_sums *sums)
{
	size_t slots = 2 * sums->room;
	uint32_t mask = (uint32_t)slots - 1;

	free(sums->slot);
	free(sums->more_slot);
	sums->slot = calloc(slots, sizeof(*sums->slot));
	sums->more_slot = calloc(slots, sizeof(*sums->more_slot));
	if (!sums->slot || !sums->more_slot)
		return false;
	for (sums->shift = 32; slots > 1; slots /= 2)
		sums->shift--;
	for (size_t i = 1; i < sums->n; i++) {
		uint32_t at = border_slot((uint32_t)sums->sum[i].border.other, sums->shift);

		while (sums->slot[at])
			at = (at + 1) & mask;
		sums->slot[at] = (uint32_t)i;
		sums->sum[i].slot = at;
	}
	for (size_t i = 1; i < sums->more_n; i++) {
		uint32_t at = more_slot(sums->more[i].sum, sums->more[i].turns, sums->shift);

		while (sums->more_slot[at])
			at = (at + 1) & mask;
		sums->more_slot[at] = (uint32_t)i;
		sums->more[i].slot = at;
	}
	return true;
}

static bool
set_room(struct border_sums *sums, size_t room)
{
	struct border_sum *sum = realloc(sums->sum, room * sizeof(*sum));
	struct border_more *more;

	if (!sum)
		return false;
	memset(sum + sums->room, 0, (room - sums->room) * sizeof(*sum));
	sums->sum = sum;
	more = realloc(sums->more, room * sizeof(*more));
	if (!more)
		return false;
	sums->more = more;
	sums->room = room;
	return fill_tables(sums);
}

bool
border_sums_begin(struct border_sums *sums)
{
	*sums = (struct border_sums){ .n = 1, .more_n = 1 };
	return set_room(sums, FIRST_ROOM);
}

void
border_sums_free(struct border_sums *sums)
{
	free(sums->sum);
	free(sums->more);
	free(sums->slot);
	free(sums->more_slot);
	*sums = (struct border_sums){ 0 };
}

bool
border_sums_grow(struct border_sums *sums, size_t n)
{
	size_t needed = (sums->n > sums->more_n ? sums->n : sums->more_n) + n, room = sums->room;

	while (room < needed)
		room *= 2;
	return room <= UINT32_MAX / 4 && set_room(sums, room);
}

void
border_sums_add_more(struct border_sums *sums, uint32_t sum, int32_t turns, int64_t weight)
{
	uint32_t at = more_slot(sum, turns, sums->shift), i;

	while ((i = sums->more_slot[at]) &&
	    (sums->more[i].sum != sum || sums->more[i].turns != turns))
		at = (at + 1) & (UINT32_MAX >> sums->shift);
	if (i) {
		sums->more[i].weight += weight;
		return;
	}
	i = (uint32_t)sums->more_n++;
	sums->more_slot[at] = i;
	sums->more[i] = (struct border_more){ turns, sum, at, sums->sum[sum].more, weight };
	sums->sum[sum].more = i;
}

/* Lists the other turns of a border; *winner is the heaviest of all. Returns their weight. */
static int64_t
list_more(struct border_sums *sums, const struct border_sum *sum, struct border *list, size_t *n,
    struct border *winner)
{
	int64_t weight = 0;

	for (uint32_t i = sum->more; i; i = sums->more[i].next) {
		const struct border_more *more = &sums->more[i];
		struct border border = { more->turns, sum->border.other, more->weight };

		if (border_outweighs(&border, winner))
			*winner = border;
		list[(*n)++] = border;
		weight += border.weight;
		sums->more_slot[more->slot] = 0;
	}
	return weight;
}

size_t
border_sums_finish(struct border_sums *sums, int32_t region, struct border *list,
    struct choice *choice)
{
	struct best best = NO_BEST;
	struct border_sum *sum = sums->sum + 1;
	size_t n = 0;

	sums->slot[sum->slot] = 0; /* the region itself */
	*sum = (struct border_sum){ 0 };
	for (sum++; sum < sums->sum + sums->n; sum++) {
		struct border winner = sum->border;
		int64_t weight = winner.weight;

		list[n++] = winner;
		if (sum->more)
			weight += list_more(sums, sum, list, &n, &winner);
		sums->slot[sum->slot] = 0;
		*sum = (struct border_sum){ 0 };
		best_keep(&best, (size_t)region, &winner, weight);
	}
	sums->n = sums->more_n = 1;
	*choice = best.choice;
	return n;
}
