#include "unwrap/joining.h"

#include <stdlib.h>
#include <string.h>

/* Which neighbour a region joins, and the region that it is part of behind the round. */
struct choice {
	int32_t other; /* NO_PATCH: it borders on nothing */
	int32_t turns; /* to add to the region itself */
};

struct round {
	struct regions *now, next;
	struct choice *choice;
	int32_t *number; /* of each region's root among the next regions */
	int32_t *member; /* regions by the next one's number; from first_member on those of each */
	size_t *first_member;
};

/* The same for both of a border's sides, so that no ring of choices forms but of two. */
static uint64_t
tie(size_t a, size_t b)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return (low << 32 | high) * 0x9E3779B97F4A7C15u; /* odd: no two pairs alike */
}

/* The most unanimous border of region i. */
static struct choice
choose(const struct regions *regions, size_t i)
{
	struct choice best = { NO_PATCH, 0 };
	int64_t best_margin = INT64_MIN;
	uint64_t best_tie = 0;

	for (size_t at = regions->first[i], stop; at < regions->end[i]; at = stop) {
		const struct border *winner = &regions->border[at];
		int64_t sum = 0, margin;
		uint64_t by;

		for (stop = at; stop < regions->end[i] &&
		     regions->border[stop].other == regions->border[at].other;
		     stop++) {
			const struct border *border = &regions->border[stop];

			sum += border->weight;
			if (border->weight > winner->weight ||
			    (border->weight == winner->weight &&
				abs(border->turns) < abs(winner->turns)))
				winner = border;
		}
		margin = 2 * winner->weight - sum;
		by = tie(i, (size_t)winner->other);
		if (margin > best_margin || (margin == best_margin && by > best_tie)) {
			best = (struct choice){ winner->other, -winner->turns };
			best_margin = margin;
			best_tie = by;
		}
	}
	return best;
}

static void
choose_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;
	for (size_t i = chunk * CHUNK; i < chunk_end(chunk, round->now->n); i++)
		round->choice[i] = choose(round->now, i);
}

/* Of two that have chosen each other the first is the root, and what borders on nothing is one;
 * then every choice becomes that of its root, by the root's number among the next regions, with the
 * turns to it. Returns how many roots there are. */
static size_t
find_roots(struct round *round)
{
	struct choice *choice = round->choice;
	size_t n = round->now->n, roots = 0;

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

/* Lists the members of the next regions, and makes room for all their borders. */
static int
list_members(struct round *round, size_t roots)
{
	const struct regions *now = round->now;
	size_t *first = round->first_member, borders = 0;

	for (size_t i = 0; i < now->n; i++)
		borders += now->end[i] - now->first[i];
	if (regions_reserve(&round->next, roots, borders) < 0)
		return -1;
	memset(first, 0, (roots + 1) * sizeof(*first));
	for (size_t i = 0; i < now->n; i++) {
		first[next_number(round, i) + 1]++;
		round->next.end[next_number(round, i)] += now->end[i] - now->first[i];
	}
	borders = 0;
	for (size_t r = 0; r < roots; r++) {
		first[r + 1] += first[r];
		round->next.first[r] = borders;
		borders += round->next.end[r];
		round->next.end[r] = round->next.first[r];
	}
	/* `first` moves to each list's end, which is the next one's first */
	for (size_t i = 0; i < now->n; i++)
		round->member[first[next_number(round, i)]++] = (int32_t)i;
	memmove(first + 1, first, roots * sizeof(*first));
	first[0] = 0;
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

/* Rounds until there are no borders. */
static int
join_rounds(struct run *run, struct regions *regions, struct round *round, struct joined *joined)
{
	for (;;) {
		struct regions swap;
		size_t roots;

		round->now = regions;
		run_for(run, chunks(regions->n), choose_chunk, round);
		roots = find_roots(round);
		if (roots == regions->n)
			return 0;
		if (list_members(round, roots) < 0)
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
join_regions(struct run *run, struct regions *regions, struct joined *joined)
{
	size_t n = regions->n;
	struct round round = { 0 };
	int status = -1;

	*joined = (struct joined){ .patches = n };
	joined->component = malloc((n + 1) * sizeof(*joined->component));
	joined->turns = calloc(n + 1, sizeof(*joined->turns));
	round.choice = malloc((n + 1) * sizeof(*round.choice));
	round.number = malloc((n + 1) * sizeof(*round.number));
	round.member = malloc((n + 1) * sizeof(*round.member));
	round.first_member = malloc((n + 2) * sizeof(*round.first_member));
	if (joined->component && joined->turns && round.choice && round.number && round.member &&
	    round.first_member) {
		for (size_t i = 0; i < n; i++)
			joined->component[i] = (int32_t)i;
		status = join_rounds(run, regions, &round, joined);
	} else {
		fail_memory();
	}
	joined->components = regions->n;
	regions_free(regions);
	regions_free(&round.next);
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
