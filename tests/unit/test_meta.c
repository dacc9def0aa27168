#include "frames.h"

#include <math.h>
#include <stdlib.h>

#include "frame/meta.h"

static void
set_get_remove(void **state)
{
	struct meta meta = { 0 };

	(void)state;
	assert_null(meta_get(&meta, "a"));
	assert_int_equal(meta_set(&meta, "a", "1"), 0);
	assert_int_equal(meta_set(&meta, "b", ""), 0);
	assert_int_equal(meta_setf(&meta, "c", "%d %s", 7, "x"), 0);
	assert_int_equal(meta_set(&meta, "a", "2"), 0);
	assert_int_equal(meta.n, 3);
	assert_string_equal(meta.entry[0].key, "a");
	assert_string_equal(meta_get(&meta, "a"), "2");
	assert_string_equal(meta_get(&meta, "b"), "");
	assert_string_equal(meta_get(&meta, "c"), "7 x");
	meta_remove(&meta, "b");
	meta_remove(&meta, "absent");
	assert_int_equal(meta.n, 2);
	assert_string_equal(meta.entry[1].key, "c");
	meta_free(&meta);
}

/* Keys that lie in one block are set, replaced, removed, copied and freed as others are. */
static void
keys_in_one_block(void **state)
{
	static const char text[] = "a\0one\0b\0two\0a\0three";
	struct meta meta = { 0 }, copy;
	char *block = malloc(sizeof(text));

	(void)state;
	memcpy(block, text, sizeof(text));
	meta_adopt(&meta, block, sizeof(text));
	assert_int_equal(meta.n, 0);
	assert_int_equal(meta_put(&meta, block, block + 2), 0);
	assert_int_equal(meta_put(&meta, block + 6, block + 8), 0);
	assert_int_equal(meta_put(&meta, block + 12, block + 14), 0);
	assert_int_equal(meta.n, 2);
	assert_string_equal(meta_get(&meta, "a"), "three");
	meta_copy(&copy, &meta);
	assert_int_equal(meta_set(&copy, "b", "own"), 0);
	assert_string_equal(meta_get(&meta, "b"), "two");
	for (int i = 0; i < 40; i++) {		/* more than there is room for at first */
		char command[16];

		snprintf(command, sizeof(command), "do %d", i);
		meta_append_command(&meta, command);
	}
	assert_string_equal(meta_get(&meta, "cmd.40"), "do 39");
	meta_remove(&meta, "cmd.7");
	assert_int_equal(meta_set(&meta, "a", "four"), 0);
	meta_append_command(&meta, "again");
	assert_string_equal(meta_get(&meta, "cmd.7"), "again");
	meta_remove(&meta, "b");
	assert_string_equal(meta_get(&meta, "a"), "four");
	meta_free(&meta);
	assert_string_equal(meta_get(&copy, "a"), "three");
	assert_string_equal(meta_get(&copy, "b"), "own");
	meta_free(&copy);
}

/* Short numbers take a way of their own: the digits of strtod(). */
static void
short_numbers(void **state)
{
	static const char *const text[] = { "0", "-0", "5.", ".5", "0.125", "-2.0943951023931",
		"0.1", "123456789012345", "9007199254740993", "1e3", "-.000000000000003", "nan",
		"999999999999999", "0.30000000000000004", "99999999999999.9", "0x10", "+7" };
	static const char *const bad[] = { "", ".", "-", "-.", "1.2.3", " 1", "1 ", "--1", "1,5" };
	double v, expected;

	(void)state;
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
		expected = strtod(text[i], NULL);
		assert_int_equal(number_parse(text[i], &v), 0);
		assert_memory_equal(&v, &expected, sizeof(v));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(number_parse(bad[i], &v), -1);
	for (uint32_t i = 0; i < 20000; i++) {
		char number[32];

		snprintf(number, sizeof(number), "%.*f", (int)(i % 12), (i * 2654435761u) / 4e6);
		expected = strtod(number, NULL);
		assert_int_equal(number_parse(number, &v), 0);
		assert_true(v == expected);
	}
}

static void
refused_bytes(void **state)
{
	static const char *const bad[][2] = {
		{ "", "v" }, { "a:b", "v" }, { "a=b", "v" }, { "a\n", "v" }, { "a", "v\nw" },
		{ "a", "v\r" }, { "a", "v: w" },
	};
	struct meta meta = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(meta_set(&meta, bad[i][0], bad[i][1]), -1);
		fail_clear();
	}
	assert_int_equal(meta.n, 0);
	assert_int_equal(meta_set(&meta, "a", "v:w ="), 0);
	meta_free(&meta);
}

static void
numbers(void **state)
{
	const double list[] = { 60, 0.1, -2.5e-7 };
	struct meta meta = { 0 };
	struct numbers read;
	double v;

	(void)state;
	meta_set_numbers(&meta, "l", list, 3);
	assert_string_equal(meta_get(&meta, "l"), "60 0.1 -2.5e-07");
	assert_int_equal(meta_numbers(&meta, "l", &read), 0);
	assert_int_equal(read.n, 3);
	assert_memory_equal(read.v, list, sizeof(list));
	numbers_free(&read);
	meta_set_number(&meta, "n", 1.0 / 3);
	assert_int_equal(meta_number(&meta, "n", 5, &v), 0);
	assert_true(v == 1.0 / 3);
	assert_int_equal(meta_number(&meta, "absent", 5, &v), 0);
	assert_true(v == 5);
	assert_int_equal(meta_numbers(&meta, "absent", &read), 0);
	assert_int_equal(read.n, 0);
	assert_int_equal(meta_number(&meta, "l", 5, &v), -1);
	assert_failed("l: is not a number: 60 0.1 -2.5e-07");
	assert_int_equal(meta_set(&meta, "l", "1 two"), 0);
	assert_int_equal(meta_numbers(&meta, "l", &read), -1);
	assert_failed("l: is not a list of numbers: 1 two");
	meta_free(&meta);
}

static void
words(void **state)
{
	char word[4];

	(void)state;
	assert_int_equal(meta_words(""), 0);
	assert_int_equal(meta_words("  a  bc "), 2);
	assert_true(meta_word("  a  bc ", 1, word, sizeof(word)));
	assert_string_equal(word, "bc");
	assert_false(meta_word("a bc", 2, word, sizeof(word)));
	assert_false(meta_word("abcd", 0, word, sizeof(word)));
}

static void
copy_and_equal(void **state)
{
	struct meta a = { 0 }, b;

	(void)state;
	meta_set(&a, "x", "1");
	meta_set(&a, "y", "2");
	meta_copy(&b, &a);
	assert_true(meta_equal(&a, &b));
	meta_set(&b, "y", "3");
	assert_false(meta_equal(&a, &b));
	meta_remove(&b, "y");
	assert_false(meta_equal(&a, &b));
	meta_free(&a);
	meta_free(&b);
}

static void
commands(void **state)
{
	struct meta meta = { 0 };

	(void)state;
	meta_append_command(&meta, "gauss -s 2");
	meta_append_command(&meta, "a: b%20 \t\xc3 c:d e:");
	assert_string_equal(meta_get(&meta, "cmd.1"), "gauss -s 2");
	assert_string_equal(meta_get(&meta, "cmd.2"), "a%3A b%20 %09%C3 c:d e%3A");
	meta_free(&meta);
}

/* Two captures of three steps each: their six planes have six steps. */
static void
gather_equal_lists(void **state)
{
	struct meta a = { 0 }, all;
	const struct meta *const list[] = { &a, &a };
	const size_t planes[] = { 3, 3 };

	(void)state;
	meta_set(&a, "step", "0 1 2");
	meta_set(&a, "axis", "x");
	meta_set(&a, "center_mm", "1 2 3");
	assert_int_equal(meta_gather(&all, list, planes, 2), 0);
	assert_string_equal(meta_get(&all, "step"), "0 1 2 0 1 2");
	assert_string_equal(meta_get(&all, "axis"), "x");
	assert_string_equal(meta_get(&all, "center_mm"), "1 2 3");
	meta_free(&all);
	assert_int_equal(meta_gather(&all, list, planes, 1), 0);
	assert_string_equal(meta_get(&all, "step"), "0 1 2");
	meta_free(&all);
	assert_int_equal(meta_slice(&a, 3, 1, 1), 0);
	assert_string_equal(meta_get(&a, "step"), "1");
	assert_string_equal(meta_get(&a, "center_mm"), "1 2 3");
	meta_free(&a);
}

static void
gather(void **state)
{
	struct meta a = { 0 }, b = { 0 }, c = { 0 }, all;
	const struct meta *const list[] = { &a, &b, &c };
	const size_t planes[] = { 1, 2, 1 };

	(void)state;
	meta_set(&a, "same", "x y");
	meta_set(&b, "same", "x y");
	meta_set(&c, "same", "x y");
	meta_set(&a, "period_px", "60");
	meta_set(&b, "period_px", "62 64");
	meta_set(&c, "period_px", "66");
	meta_set(&a, "name", "first one");
	meta_set(&b, "name", "b");
	meta_set(&b, "late", "1");
	meta_set(&a, "cmd.1", "from a");
	meta_set(&b, "cmd.1", "from b");
	meta_set(&c, "cmd.2", "from c");
	assert_int_equal(meta_gather(&all, list, planes, 3), 0);
	assert_string_equal(meta_get(&all, "same"), "x y");
	assert_string_equal(meta_get(&all, "period_px"), "60 62 64 66");
	assert_string_equal(meta_get(&all, "name"), "first_one b b -");
	assert_string_equal(meta_get(&all, "late"), "- 1 1 -");
	assert_string_equal(meta_get(&all, "cmd.1"), "from a");
	assert_null(meta_get(&all, "cmd.2"));
	meta_free(&all);
	assert_int_equal(meta_gather(&all, list, planes, 1), 0);
	assert_true(meta_equal(&all, &a));
	meta_free(&all);
	meta_free(&a);
	meta_free(&b);
	meta_free(&c);
}

/* By counting as by sorting: values that differ in their last bits only, of either sign, and many
 * alike. */
static void
ranks(void **state)
{
	static const float some[] = {
		0, 1, -1, 3e38f, -3e38f, 1e-45f, -1e-45f, INFINITY, -INFINITY
	};
	float v[1000], sorted[1000], out[1000];
	size_t rank[1000];

	(void)state;
	for (size_t n = 1; n <= 1000; n = n < 9 ? n + 1 : 10 * n) {
		for (size_t i = 0; i < n; i++) {
			rank[i] = i;
			v[i] = i < 9 ? some[i] : (float)(i * 7919 % 601) * 1e-5f - 0.003f;
		}
		memcpy(sorted, v, sizeof(v));
		qsort(sorted, n, sizeof(*v), numbers_compare);
		numbers_ranks(v, n, rank, n, out);
		for (size_t i = 0; i < n; i++)
			assert_true(out[i] == sorted[i]);
	}
}

enum { MANY = 40000 };

/* Value i of MANY: a ramp, one value, two, negative ones in the period of a
 * regular sample, sixteen near each other, infinities. */
static float
value_of(int kind, size_t i)
{
	uint32_t mixed = (uint32_t)i * 2654435761u;

	return kind == 0 ? (float)i - 17000.5f : kind == 1 ? -3.25f : kind == 2 ? (float)(i % 2) :
	    kind == 3 ? (i % 39 ? (float)(mixed >> 8) : -(float)(mixed >> 8)) :
	    kind == 4 ? 1e6f + (float)(mixed >> 28) * 0.0625f :
	    mixed >> 31 ? INFINITY : mixed >> 30 & 1 ? -INFINITY : -0.0f;
}

/* Likewise of many values, which are sampled first. */
static void
ranks_of_many(void **state)
{
	static const size_t rank[] = { 0, 1, 399, 20000, 39600, MANY - 2, MANY - 1 };
	static float v[MANY], sorted[MANY];
	float out[sizeof(rank) / sizeof(*rank)];

	(void)state;
	for (int kind = 0; kind < 6; kind++) {
		for (size_t i = 0; i < MANY; i++)
			sorted[i] = v[i] = value_of(kind, i);
		qsort(sorted, MANY, sizeof(*v), numbers_compare);
		numbers_ranks(v, MANY, rank, sizeof(rank) / sizeof(*rank), out);
		for (size_t i = 0; i < sizeof(rank) / sizeof(*rank); i++)
			assert_true(out[i] == sorted[rank[i]]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_in_one_block),
		cmocka_unit_test(short_numbers),
		cmocka_unit_test(set_get_remove),
		cmocka_unit_test(refused_bytes),
		cmocka_unit_test(numbers),
		cmocka_unit_test(ranks),
		cmocka_unit_test(ranks_of_many),
		cmocka_unit_test(words),
		cmocka_unit_test(copy_and_equal),
		cmocka_unit_test(commands),
		cmocka_unit_test(gather),
		cmocka_unit_test(gather_equal_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
