/* Tables of a board's points: what board_table() writes, and what board_read_keys() refuses. */
#include "base/fail.h"
#include "feature/board.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct frame *
make_table(const struct board *board, const struct corner *corner, size_t n)
{
	struct corners corners = { n, (struct corner *)(uintptr_t)corner, 1 };
	struct frame_head head;
	struct frame *table;

	assert_int_equal(head_init(&head, 640, 480, 1, SAMPLE_UCHAR), 0);
	assert_int_equal(meta_set(&head.meta, "time_s", "3"), 0);
	assert_int_equal(board_table(board, &corners, &head, &table), 0);
	head_free(&head);
	return table;
}

static const struct corner some[] = { { 1.5, 2.25, 0.01, 0, 0 }, { 3.5, 2, 0.02, 2, 1 } };

static float
sample(const struct frame *table, const char *channel, size_t row)
{
	return frame_floats(table, head_channel(&table->head, channel), 0)[row];
}

static void
test_table(void **state)
{
	struct board board = { BOARD_ACIRCLES, 4, 11, 12.5 }, back = { BOARD_CHESS, 0, 0, 0 };
	struct frame *table = make_table(&board, some, 2);
	const struct meta *meta = &table->head.meta;
	size_t n;

	(void)state;
	assert_string_equal(meta_get(meta, "time_s"), "3");
	assert_string_equal(meta_get(meta, "image_size_px"), "640 480");
	assert_string_equal(meta_get(meta, "board_numberings"), "2");
	assert_int_equal(board_read_keys("t", meta, &back), 0);
	assert_int_equal(back.kind, BOARD_ACIRCLES);
	assert_int_equal(back.w, 4);
	assert_int_equal(back.h, 11);
	assert_true(back.spacing_mm == 12.5);
	assert_int_equal(head_points(&table->head, &n), 0);
	assert_int_equal(n, 2);
	assert_true(sample(table, "u", 1) == 3.5f && sample(table, "v", 0) == 2.25f);
	assert_true(sample(table, "sigma", 1) == 0.02f && sample(table, "i", 1) == 2 &&
	    sample(table, "j", 1) == 1);
	frame_free(table);
}

static void
test_none(void **state)
{
	struct board board = { BOARD_CHESS, 11, 8, 0 }, back;
	struct frame *table = make_table(&board, NULL, 0);
	size_t n;

	(void)state;
	assert_string_equal(meta_get(&table->head.meta, "length_unit"), "board");
	assert_int_equal(head_points(&table->head, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(board_read_keys("t", &table->head.meta, &back), 0);
	assert_true(back.spacing_mm == 0);
	frame_free(table);
}

/* Keys that are absent leave the kind, and no size. */
static void
test_absent(void **state)
{
	struct board back = { BOARD_CIRCLES, 3, 3, 1 };
	struct frame_head head;

	(void)state;
	assert_int_equal(head_init(&head, 2, 2, 1, SAMPLE_FLOAT), 0);
	assert_int_equal(board_read_keys("t", &head.meta, &back), 0);
	assert_int_equal(back.kind, BOARD_CIRCLES);
	assert_true(back.w == 0 && back.h == 0 && back.spacing_mm == 0);
	head_free(&head);
}

/* A key of a good table is changed; the message must name it. */
static void
expect_refused(const char *key, const char *value, const char *message)
{
	struct board board = { BOARD_CHESS, 11, 8, 15 }, back;
	struct frame *table = make_table(&board, some, 2);

	assert_int_equal(meta_set(&table->head.meta, key, value), 0);
	assert_int_equal(board_read_keys("t", &table->head.meta, &back), -1);
	assert_string_equal(fail_message(), message);
	fail_clear();
	frame_free(table);
}

static void
test_refused(void **state)
{
	(void)state;
	expect_refused("board_kind", "cheese",
	    "t: key board_kind: 'cheese' is none that is known");
	expect_refused("board_size", "11",
	    "t: key board_size: must be two numbers of points, not '11'");
	expect_refused("board_size", "11 1.5",
	    "t: key board_size: must be two numbers of points, not '11 1.5'");
	expect_refused("board_spacing_mm", "-3",
	    "t: key board_spacing_mm: must be positive, not -3");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
