#include "unwrap/joining.h"

#include <stdlib.h>
#include <string.h>

#define PATH_MOST 64 /* choices on the way to a root, for threads that follow them by themselves */

struct round {
	struct regions *now, next;
	size_t n; /* regions */
	struct choice *choice;	/* of each region */
	struct choice *next_of; /* the next region that each becomes part of, and the turns to it */
	int32_t *number;	/* of each region that is a root, from its chunk's first_root on */
	int32_t *first_root;	/* of each chunk, among the next regions */
	_Atomic bool far;	/* a root is more than PATH_MOST choices away */
	int32_t *member; /* regions by the next one's number; from first_member on those of each */
	size_t *first_member;
};

static void
choose_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;
	const struct regions *now = round->now;

	for (size_t i = chunk * CHUNK; i < chunk_end(chunk, now->n); i++)
		round->choice[i] = borders_choose(now->border, now->first[i], now->end[i], i);
}

/* Is region i a root: does it border on nothing, or is it the first of two that have chosen each
 * other? */
static inline bool
is_root(const struct choice *choice, size_t i)
{
	int32_t other = choice[i].other;

	return other == NO_PATCH ||
	    ((size_t)other > i && choice[other].other == (int32_t)i);
}

/* Numbers the roots of a chunk from 0 on; other regions get NO_PATCH. */
static void
number_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;
	int32_t roots = 0;

	for (size_t i = chunk * CHUNK; i < chunk_end(chunk, round->n); i++)
		round->number[i] = is_root(round->choice, i) ? roots++ : NO_PATCH;
	round->first_root[chunk] = roots;
}

/* A root's number among the next regions. */
static inline int32_t
root_number(const struct round *round, int32_t root)
{
	return round->first_root[root / CHUNK] + round->number[root];
}

/* Follows the choices from each region of a chunk to its root, as far as PATH_MOST. */
static void
follow_choices_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;
	const struct choice *choice = round->choice;

	for (size_t i = chunk * CHUNK; i < chunk_end(chunk, round->n); i++) {
		int32_t at = (int32_t)i, turns = 0;

		for (int step = 0; round->number[at] == NO_PATCH && step < PATH_MOST; step++) {
			turns += choice[at].turns;
			at = choice[at].other;
		}
		if (round->number[at] == NO_PATCH) {
			round->next_of[i].other = NO_PATCH;
			round->far = true;
		} else {
			round->next_of[i] = (struct choice){ root_number(round, at), turns };
		}
	}
}

/* The same for regions that are further away; every region on the way gets what it leads to. */
static void
follow_far_choices(struct round *round)
{
	const struct choice *choice = round->choice;
	struct choice *next = round->next_of;

	for (size_t i = 0; i < round->n; i++) {
		int32_t at = (int32_t)i, turns = 0, root;

		for (; next[at].other == NO_PATCH; at = choice[at].other)
			turns += choice[at].turns;
		root = next[at].other;
		turns += next[at].turns;
		for (at = (int32_t)i; next[at].other == NO_PATCH; at = choice[at].other) {
			next[at] = (struct choice){ root, turns };
			turns -= choice[at].turns;
		}
	}
}

/* The next regions: one for each tree of choices, by the number of its root. Returns how many there
 * are. */
static size_t
find_roots(struct run *run, struct round *round)
{
	int32_t roots = 0;

	run_for(run, chunks(round->n), number_chunk, round);
	for (size_t chunk = 0; chunk < chunks(round->n); chunk++) {
		int32_t own = round->first_root[chunk];

		round->first_root[chunk] = roots;
		roots += own;
	}
	round->far = false;
	run_for(run, chunks(round->n), follow_choices_chunk, round);
	if (round->far)
		follow_far_choices(round);
	return (size_t)roots;
}

static size_t
next_number(const struct round *round, size_t i)
{
	return (size_t)round->next_of[i].other;
}

/* Lists the members of the next regions. */
static void
list_members(struct round *round, size_t roots)
{
	size_t *first = round->first_member;

	memset(first, 0, (roots + 1) * sizeof(*first));
	for (size_t i = 0; i < round->n; i++)
		first[next_number(round, i) + 1]++;
	for (size_t r = 0; r < roots; r++)
		first[r + 1] += first[r];
	/* `first` moves to each list's end, which is the next one's first */
	for (size_t i = 0; i < round->n; i++)
		round->member[first[next_number(round, i)]++] = (int32_t)i;
	memmove(first + 1, first, roots * sizeof(*first));
	first[0] = 0;
}

/* Makes room for all borders of the next regions. */
static int
make_room(struct round *round, size_t roots)
{
	const struct regions *now = round->now;
	size_t borders = 0;

	for (size_t i = 0; i < now->n; i++)
		borders += now->end[i] - now->first[i];
	if (regions_reserve(&round->next, roots, borders) < 0)
		return -1;
	for (size_t i = 0; i < now->n; i++)
		round->next.end[next_number(round, i)] += now->end[i] - now->first[i];
	borders = 0;
	for (size_t r = 0; r < roots; r++) {
		round->next.first[r] = borders;
		borders += round->next.end[r];
		round->next.end[r] = round->next.first[r];
	}
	return 0;
}

/* The borders of all members of region r, less those between them. */
static void
gather(struct round *round, size_t r)
{
	const struct regions *now = round->now;
	struct regions *next = &round->next;
	size_t end = next->first[r];

	for (size_t m = round->first_member[r]; m < round->first_member[r + 1]; m++) {
		size_t i = (size_t)round->member[m];

		for (size_t at = now->first[i]; at < now->end[i]; at++) {
			const struct border *border = &now->border[at];
			size_t other = next_number(round, (size_t)border->other);

			if (other != r)
				next->border[end++] = (struct border){
					border->turns + round->next_of[i].turns -
					    round->next_of[border->other].turns,
					(int32_t)other, border->weight };
		}
	}
	next->end[r] =
	    next->first[r] + borders_add_up(next->border + next->first[r], end - next->first[r]);
}

static void
gather_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;

	for (size_t r = chunk * CHUNK; r < chunk_end(chunk, round->next.n); r++)
		gather(round, r);
}

/* Where each patch is behind a round, from where its region is. */
struct follow {
	const struct round *round;
	struct joined *joined;
};

static void
follow_chunk(void *arg, size_t chunk)
{
	const struct follow *follow = arg;
	struct joined *joined = follow->joined;

	for (size_t i = chunk * CHUNK; i < chunk_end(chunk, joined->patches); i++) {
		size_t region = (size_t)joined->component[i];

		joined->turns[i] += follow->round->next_of[region].turns;
		joined->component[i] = (int32_t)next_number(follow->round, region);
	}
}

/* The same behind the first round, whose regions are the patches. */
static void
begin_chunk(void *arg, size_t chunk)
{
	const struct follow *follow = arg;
	struct joined *joined = follow->joined;

	for (size_t i = chunk * CHUNK; i < chunk_end(chunk, joined->patches); i++) {
		joined->component[i] = follow->round->next_of[i].other;
		joined->turns[i] = follow->round->next_of[i].turns;
	}
}

/* The first round is of patches. */
static int
join_patches(struct run *run, struct votes *votes, struct regions *regions, struct round *round,
    struct joined *joined)
{
	size_t given = patches_choose(run, votes, round->choice);
	size_t roots = find_roots(run, round);
	struct members members = { round->next_of, round->member, round->first_member };

	run_for(run, chunks(joined->patches), begin_chunk, &(struct follow){ round, joined });
	list_members(round, roots);
	return borders_gather(run, votes, &members, roots, given, regions);
}

/* Rounds until there are no borders. */
static int
join_rounds(struct run *run, struct regions *regions, struct round *round, struct joined *joined)
{
	for (;;) {
		struct regions swap;
		size_t roots;

		round->now = regions;
		round->n = regions->n;
		run_for(run, chunks(regions->n), choose_chunk, round);
		roots = find_roots(run, round);
		if (roots == regions->n)
			return 0;
		list_members(round, roots);
		if (make_room(round, roots) < 0)
			return -1;
		run_for(run, chunks(roots), gather_chunk, round);
		run_for(
		    run, chunks(joined->patches), follow_chunk, &(struct follow){ round, joined });
		swap = *regions;
		*regions = round->next;
		round->next = swap;
	}
}

int
join_regions(struct run *run, const struct patches *patches, const struct phase_plane *phase,
    const struct phase_plane *quality, struct joined *joined)
{
	size_t n = patches_count(patches);
	struct round round = { .n = n };
	struct regions regions = { 0 };
	struct votes votes = votes_of(patches, phase, quality);
	int status = -1;

	*joined = (struct joined){ .patches = n };
	joined->component = malloc((n + 1) * sizeof(*joined->component));
	joined->turns = malloc((n + 1) * sizeof(*joined->turns));
	votes.place = malloc((n + 1) * sizeof(*votes.place));
	round.choice = malloc((n + 1) * sizeof(*round.choice));
	round.next_of = malloc((n + 1) * sizeof(*round.next_of));
	round.first_root = malloc((chunks(n) + 1) * sizeof(*round.first_root));
	round.number = malloc((n + 1) * sizeof(*round.number));
	round.member = malloc((n + 1) * sizeof(*round.member));
	round.first_member = malloc((n + 2) * sizeof(*round.first_member));
	if (!votes.place || !joined->component || !joined->turns || !round.choice ||
	    !round.next_of || !round.first_root || !round.number || !round.member ||
	    !round.first_member)
		fail_memory();
	else if (join_patches(run, &votes, &regions, &round, joined) == 0)
		status = join_rounds(run, &regions, &round, joined);
	joined->components = regions.n;
	regions_free(&regions);
	regions_free(&round.next);
	free(votes.place);
	free(round.choice);
	free(round.next_of);
	free(round.first_root);
	free(round.number);
	free(round.member);
	free(round.first_member);
	return status;
}

void
joined_free(struct joined *joined)
{
	free(joined->component);
	free(joined->turns);
	*joined = (struct joined){ 0 };
}
