/* Arrays that share blocks of large pages are zero, aligned, apart from each other, come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "frame/pixel_store.h"

#define ARRAYS 40
#define LEAST 131072
#define LARGE 2097152

static struct array {
	unsigned char *memory;
	struct large_block *block;
	size_t bytes;
} array[ARRAYS];

/* From the least to almost a large page, so that blocks end at any place. */
static size_t
bytes_of(size_t i)
{
	return LEAST + (i * 7919 * 61) % (LARGE - LEAST);
}

static void
take(size_t i, size_t bytes)
{
	array[i].bytes = bytes;
	array[i].memory = large_block_take(bytes, &array[i].block);
	assert_non_null(array[i].memory);
	assert_int_equal((uintptr_t)array[i].memory % 64, 0);
	for (size_t k = 0; k < bytes; k++)
		assert_int_equal(array[i].memory[k], 0);
	memset(array[i].memory, (int)i + 1, bytes);
}

static void
give(size_t i)
{
	for (size_t k = 0; k < array[i].bytes; k++)
		assert_int_equal(array[i].memory[k], i + 1);
	large_block_give(array[i].block);
}

static void
test_arrays_are_apart(void **state)
{
	(void)state;
	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAYS; i++)
			take(i, bytes_of(i + round));
		for (size_t i = 0; i < ARRAYS; i += 2)
			give(i);
		for (size_t i = 0; i < ARRAYS; i += 2)
			take(i, bytes_of(3 * i + round));	/* in what is left of blocks */
		for (size_t i = 0; i < ARRAYS; i++)
			give(i);
	}
}

static void
test_one_at_a_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAYS; i++) {
		take(i, bytes_of(i));
		give(i);
	}
}

static void
test_sizes(void **state)
{
	struct large_block *block;

	(void)state;
	assert_null(large_block_take(0, &block));
	assert_null(large_block_take(LEAST - 1, &block));
	assert_null(large_block_take(LARGE, &block));
	assert_null(large_block_take(SIZE_MAX, &block));
	take(0, LEAST);
	take(1, LARGE - 1);
	take(2, LARGE - 1);
	for (size_t i = 0; i < 3; i++)
		give(i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrays_are_apart),
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
