#include "unwrap/joining.h"

#include <stdlib.h>
#include <string.h>

struct round {
	struct regions *now, next;
	size_t n; /* regions */
	struct choice *choice; /* behind find_roots() the next region, and the turns to it */
	int32_t *number; /* of each region's root among the next regions */
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

/* Of two that have chosen each other the first is the root, and what borders on nothing is one;
 * then every choice becomes that of its root, by the root's number among the next regions, with the
 * turns to it. Returns how many roots there are. */
static size_t
find_roots(struct round *round)
{
	struct choice *choice = round->choice;
	size_t n = round->n, roots = 0;

	for (size_t i = 0; i < n; i++)
		if (choice[i].other == NO_PATCH ||
		    ((size_t)choice[i].other > i && choice[choice[i].other].other == (int32_t)i))
			choice[i] = (struct choice){ (int32_t)i, 0 };
	for (size_t i = 0; i < n; i++) {
		int32_t at = (int32_t)i, root = at, turns = 0;

		while (choice[root].other != root) {
			turns += choice[root].turns;
			root = choice[root].other;
		}
		while (choice[at].other != root && at != root) {
			struct choice step = choice[at];

			choice[at] = (struct choice){ root, turns };
			turns -= step.turns;
			at = step.other;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (choice[i].other == (int32_t)i)
			round->number[i] = (int32_t)roots++;
	for (size_t i = 0; i < n; i++)
		choice[i].other = round->number[choice[i].other];
	return roots;
}

static size_t
next_number(const struct round *round, size_t i)
{
	return (size_t)round->choice[i].other;
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
				next->border[end++] = (struct border){ (int32_t)other,
					border->turns + round->choice[i].turns -
					    round->choice[border->other].turns,
					border->weight };
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

		joined->turns[i] += follow->round->choice[region].turns;
		joined->component[i] = (int32_t)next_number(follow->round, region);
	}
}

/* The first round is of patches. */
static int
join_patches(struct run *run, struct votes *votes, struct regions *regions, struct round *round,
    struct joined *joined)
{
	size_t given = patches_choose(run, votes, round->choice);
	size_t roots = find_roots(round);
	struct members members = { round->choice, round->member, round->first_member };

	for (size_t i = 0; i < joined->patches; i++) {
		joined->component[i] = round->choice[i].other;
		joined->turns[i] = round->choice[i].turns;
	}
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
		roots = find_roots(round);
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
	round.number = malloc((n + 1) * sizeof(*round.number));
	round.member = malloc((n + 1) * sizeof(*round.member));
	round.first_member = malloc((n + 2) * sizeof(*round.first_member));
	if (!votes.place || !joined->component || !joined->turns || !round.choice ||
	    !round.number || !round.member || !round.first_member)
		fail_memory();
	else if (join_patches(run, &votes, &regions, &round, joined) == 0)
		status = join_rounds(run, &regions, &round, joined);
	joined->components = regions.n;
	regions_free(&regions);
	regions_free(&round.next);
	free(votes.place);
	free(round.choice);
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
