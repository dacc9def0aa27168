/* Sums of votes by neighbour and turns, beside the same sums in a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#undef fail	/* cmocka's macro would hide ours */

#include "unwrap/regions.h"

#define NEIGHBOURS 3000
#define TURNS 40 /* from -TURNS / 2 on */

struct plain {
	int64_t weight[NEIGHBOURS][TURNS];
};

/* The choice as the definition has it: the largest margin, then the tie. */
static struct choice
plain_choice(const struct plain *plain, int32_t region)
{
	struct choice best = { -1, 0 };
	int64_t most = INT64_MIN;

	for (int32_t other = 0; other < NEIGHBOURS; other++) {
		int64_t sum = 0;
		int32_t winner = 0;

		for (int32_t t = 0; t < TURNS; t++) {
			int64_t seen = plain->weight[other][t];
			int64_t before = plain->weight[other][winner];
			int32_t turns = abs(t - TURNS / 2), others = abs(winner - TURNS / 2);

			sum += seen;
			if (seen > before || (seen == before && turns < others))
				winner = t;
		}
		if (sum == 0)
			continue;
		sum = 2 * plain->weight[other][winner] - sum;
		if (sum > most || (sum == most && border_tie((size_t)region, (size_t)other) >
			border_tie((size_t)region, (size_t)best.other))) {
			most = sum;
			best = (struct choice){ other, TURNS / 2 - winner };
		}
	}
	return best;
}

/* Adds n votes about so many neighbours for so many turns, and compares. */
static void
check(struct border_sums *sums, struct plain *plain, size_t n, uint32_t neighbours, uint32_t turns)
{
	const int32_t region = NEIGHBOURS + 5;
	struct border *list;
	struct choice choice, expected;
	size_t borders;

	memset(plain, 0, sizeof(*plain));
	border_sums_of(sums, region);
	for (size_t i = 0; i < n; i++) {
		uint32_t other = (uint32_t)rand() % neighbours, t = (uint32_t)rand() % turns;
		int64_t weight = 1 + rand() % 5;

		border_sums_reserve(sums, 2);
		t += (TURNS - turns) / 2;
		plain->weight[other][t] += weight;
		border_sums_add(sums, (int32_t)other, (int32_t)t - TURNS / 2, weight);
		border_sums_add(sums, region, 0, 1000);
	}
	list = calloc(border_sums_count(sums), sizeof(*list));
	assert_non_null(list);
	expected = plain_choice(plain, region);
	borders = border_sums_finish(sums, region, list, &choice);
	assert_int_equal(choice.other, expected.other);
	assert_int_equal(choice.turns, expected.turns);
	for (size_t i = 0; i < borders; i++) {
		int64_t *weight = &plain->weight[list[i].other][list[i].turns + TURNS / 2];

		assert_true(*weight > 0 && *weight == list[i].weight);
		*weight = 0;
	}
	for (size_t i = 0; i < NEIGHBOURS; i++)
		for (size_t t = 0; t < TURNS; t++)
			assert_int_equal(plain->weight[i][t], 0);
	free(list);
}

static void
sums_are_those_of_a_plain_array(void **state)
{
	struct plain *plain = malloc(sizeof(*plain));
	struct border_sums sums;

	(void)state;
	assert_non_null(plain);
	border_sums_begin(&sums);
	srand(1);
	check(&sums, plain, 0, 1, 1);
	for (size_t i = 0; i < 40; i++) {
		check(&sums, plain, 1 + i % 3, 3, 2);
		check(&sums, plain, 12, 6, 4);
		check(&sums, plain, 60, 2, TURNS);
	}
	check(&sums, plain, 20000, NEIGHBOURS, 1); /* tables grow */
	check(&sums, plain, 20000, NEIGHBOURS, TURNS);
	check(&sums, plain, 12, 6, 4);
	border_sums_free(&sums);
	free(plain);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_a_plain_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
