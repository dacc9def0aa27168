#include "unwrap/joining.h"

#include <stdlib.h>
#include <string.h>

#include "base/large_memory.h"

#define PATH_MOST 64 /* choices on the way to a root, for threads that follow them by themselves */
#define WORD 64	     /* regions whose bits are in one word */
#define FOLLOW_CHUNK (64 * WORD) /* regions whose choices a thread follows at a time */

/* One round: regions choose each other, and their trees of choices are the next regions. */
struct round {
	size_t n; /* regions */
	const struct choice *choice; /* of each region */
	struct choice *region; /* the next region that each becomes part of, and the turns to it */
	uint64_t *roots;       /* a bit of each region: is it a root? */
	int32_t *rank;	       /* how many roots are before each word of `roots`, and in all */
	uint64_t *foreign;     /* a bit of each region whose root is in another chunk */
	int32_t *head, *next;  /* lists of the next regions' members */
	_Atomic bool far;      /* a root is more than PATH_MOST choices away */
};

/* Memory for n items, of which what was there is lost. NULL after fail(). */
static void *
keep(struct kept_array *array, size_t n, size_t bytes)
{
	if (array->bytes < n * bytes) {
		free(array->v);
		array->v = large_memory(n, bytes);
		array->bytes = array->v ? n * bytes : 0;
		if (!array->v)
			fail_memory();
	}
	return array->v;
}

/* ---- roots ---- */

/* Is region i a root: does it border on nothing, or is it the first of two that have chosen each
 * other? */
static inline bool
is_root(const struct choice *choice, size_t i)
{
	int32_t other = choice[i].other, back = choice[other < 0 ? 0 : other].other;

	return (other < 0) | ((other > (int32_t)i) & (back == (int32_t)i));
}

static void
mark_roots_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;
	size_t end = (chunk + 1) * FOLLOW_CHUNK < round->n ? (chunk + 1) * FOLLOW_CHUNK : round->n;

	for (size_t i = chunk * FOLLOW_CHUNK; i < end; i += WORD) {
		uint64_t word = 0;
		int32_t roots = 0;

		for (size_t k = 0; k < WORD && i + k < end; k++) {
			bool root = is_root(round->choice, i + k);

			word |= (uint64_t)root << k;
			roots += root;
		}
		round->roots[i / WORD] = word;
		round->rank[i / WORD] = roots;
	}
}

static inline bool
has_bit(const uint64_t *bits, size_t i)
{
	return bits[i / WORD] >> (i % WORD) & 1;
}

/* How many bits are set (Hacker's Delight, 5-1): not every processor has an instruction for it. */
static inline int32_t
count_bits(uint64_t v)
{
	v -= v >> 1 & 0x5555555555555555u;
	v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
	return (int32_t)(((v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * 0x0101010101010101u >> 56);
}

/* A root's number among the next regions. */
static inline int32_t
root_number(const struct round *round, size_t root)
{
	uint64_t before = round->roots[root / WORD] & (((uint64_t)1 << root % WORD) - 1);

	return round->rank[root / WORD] + count_bits(before);
}

/* ---- trees of choices ---- */

static inline void
add_member(struct round *round, size_t i)
{
	int32_t *head = &round->head[round->region[i].other];

	round->next[i] = *head;
	*head = (int32_t)i;
}

/* Follows the choices from each region of a chunk to its root, as far as PATH_MOST. Those whose
 * root is in the same chunk become members here. */
static void
follow_choices_chunk(void *arg, size_t chunk)
{
	struct round *round = arg;
	const struct choice *choice = round->choice;
	size_t start = chunk * FOLLOW_CHUNK;
	size_t end = start + FOLLOW_CHUNK < round->n ? start + FOLLOW_CHUNK : round->n;
	size_t last = (end + WORD - 1) / WORD;

	memset(round->foreign + start / WORD, 0, (last - start / WORD) * sizeof(*round->foreign));
	for (int32_t r = round->rank[start / WORD]; r < round->rank[last]; r++)
		round->head[r] = NO_MEMBER;
	for (size_t i = start; i < end; i++) {
		size_t at = i;
		int32_t turns = 0, steps = 0;

		for (; !has_bit(round->roots, at) && steps < PATH_MOST; steps++) {
			turns += choice[at].turns;
			at = (size_t)choice[at].other;
		}
		if (!has_bit(round->roots, at)) {
			round->region[i].other = NO_PATCH;
			round->far = true;
		} else {
			round->region[i] = (struct choice){ root_number(round, at), turns };
		}
		if (has_bit(round->roots, at) && at - start < FOLLOW_CHUNK)
			add_member(round, i);
		else
			round->foreign[i / WORD] |= (uint64_t)1 << i % WORD;
	}
}

/* The same for regions that are further away; every region on the way gets what it leads to. */
static void
follow_far_choices(struct round *round)
{
	const struct choice *choice = round->choice;
	struct choice *region = round->region;

	for (size_t i = 0; i < round->n; i++) {
		int32_t at = (int32_t)i, turns = 0, number;

		for (; region[at].other == NO_PATCH; at = choice[at].other)
			turns += choice[at].turns;
		number = region[at].other;
		turns += region[at].turns;
		for (at = (int32_t)i; region[at].other == NO_PATCH; at = choice[at].other) {
			region[at] = (struct choice){ number, turns };
			turns -= choice[at].turns;
		}
	}
}

static void
add_foreign_members(struct round *round)
{
	for (size_t word = 0; word * WORD < round->n; word++)
		for (uint64_t bits = round->foreign[word]; bits; bits &= bits - 1)
			add_member(round, word * WORD + (size_t)__builtin_ctzll(bits));
}

/* The next regions: one for each tree of choices, by the number of its root. Returns how many there
 * are. */
static size_t
find_trees(struct run *run, struct round *round)
{
	size_t words = chunks(round->n, WORD), all = chunks(round->n, FOLLOW_CHUNK);
	int32_t roots = 0;

	run_for(run, all, mark_roots_chunk, round);
	for (size_t word = 0; word < words; word++) {
		int32_t own = round->rank[word];

		round->rank[word] = roots;
		roots += own;
	}
	round->rank[words] = roots;
	round->far = false;
	run_for(run, all, follow_choices_chunk, round);
	if (round->far)
		follow_far_choices(round);
	add_foreign_members(round);
	return (size_t)roots;
}

/* ---- levels ---- */

/* Where the regions of a level end up: `region` says where they are, `next` what becomes of that.
 */
struct composing {
	struct choice *region;
	const struct choice *next;
	size_t n;
};

static void
compose_chunk(void *arg, size_t chunk)
{
	const struct composing *composing = arg;
	struct choice *region = composing->region;
	size_t end = (chunk + 1) * FOLLOW_CHUNK;

	for (size_t i = chunk * FOLLOW_CHUNK; i < end && i < composing->n; i++) {
		struct choice next = composing->next[region[i].other];

		region[i] = (struct choice){ next.other, region[i].turns + next.turns };
	}
}

static void
compose(struct run *run, struct choice *region, size_t n, const struct choice *next)
{
	run_for(run, chunks(n, FOLLOW_CHUNK), compose_chunk,
	    &(struct composing){ region, next, n });
}

/* ---- rounds ---- */

static int
make_round(struct joining *joining, struct round *round)
{
	size_t n = joining->patches + 1, words = chunks(n, WORD) + 1;

	round->choice = keep(&joining->choice, n, sizeof(struct choice));
	round->roots = keep(&joining->roots, words, sizeof(*round->roots));
	round->rank = keep(&joining->rank, words, sizeof(*round->rank));
	round->foreign = keep(&joining->foreign, words, sizeof(*round->foreign));
	round->head = keep(&joining->head, n, sizeof(*round->head));
	round->next = keep(&joining->next, n, sizeof(*round->next));
	return round->choice && round->roots && round->rank && round->foreign && round->head &&
		round->next && keep(&joining->place, n, sizeof(struct patch_place)) ? 0 : -1;
}

/* Rounds until there are no borders. Each leaves a level: of each of its regions the next one. */
static int
join_rounds(struct run *run, const struct patches *patches, const struct votes *votes,
    struct joining *joining, struct round *round)
{
	struct patch_place *place = joining->place.v;
	struct choice *choice = joining->choice.v;
	size_t votes_given = patches_choose(run, patches, votes, choice, place), level = 0;
	size_t n[LEVELS_MOST] = { round->n };
	struct regions *now = &joining->regions[0], *next = &joining->regions[1];

	for (;;) {
		struct members members = { NULL, round->head, round->next };
		bool first = !joining->joined;
		struct regions *swap;
		size_t roots;
		int status;

		round->region = keep(&joining->level[level], round->n + 1, sizeof(struct choice));
		if (!round->region)
			return -1;
		members.region = round->region;
		roots = find_trees(run, round);
		if (level == 0)
			joining->joined = round->region;
		if (!first && roots == round->n)
			break;
		status = first ? borders_of_patches(run, votes, place, &members, roots,
		    votes_given, next, choice)
		    : borders_of_regions(run, now, &members, roots, next, choice);
		if (status < 0)
			return -1;
		n[level] = round->n;
		if (level > 0 && 2 * n[level] > n[level - 1])
			compose(run, joining->level[level - 1].v, n[level - 1], round->region);
		else
			level++;
		round->n = roots;
		swap = now;
		now = next;
		next = swap;
	}
	joining->components = round->n;
	for (; level > 1; level--)
		compose(run, joining->level[level - 2].v, n[level - 2],
		    joining->level[level - 1].v);
	return 0;
}

int
join_patches(struct run *run, const struct patches *patches, const struct phase_plane *phase,
    const struct phase_plane *quality, struct joining *joining)
{
	struct votes votes = votes_of(patches, phase, quality);
	struct round round = { .n = patches_count(patches) };

	joining->patches = round.n;
	joining->joined = NULL;
	if (make_round(joining, &round) < 0)
		return -1;
	return join_rounds(run, patches, &votes, joining, &round);
}

void
joining_free(struct joining *joining)
{
	struct kept_array *array[] = { &joining->choice, &joining->place, &joining->head,
		&joining->next, &joining->roots, &joining->rank, &joining->foreign };

	for (size_t i = 0; i < sizeof(array) / sizeof(*array); i++)
		free(array[i]->v);
	for (size_t i = 0; i < LEVELS_MOST; i++)
		free(joining->level[i].v);
	for (size_t i = 0; i < 2; i++)
		regions_free(&joining->regions[i]);
	*joining = (struct joining){ 0 };
}
