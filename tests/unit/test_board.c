/* Tables of a board's points: what board_table() writes board_read_table() reads, and no other. */
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

static void
test_round_trip(void **state)
{
	struct board board = { BOARD_ACIRCLES, 4, 11, 12.5 }, back;
	struct frame *table = make_table(&board, some, 2);
	struct corners corners;
	double size[2];

	(void)state;
	assert_string_equal(meta_get(&table->head.meta, "time_s"), "3");
	assert_int_equal(board_read_table("t", table, &back, &corners, size), 0);
	assert_int_equal(back.kind, BOARD_ACIRCLES);
	assert_int_equal(back.w, 4);
	assert_int_equal(back.h, 11);
	assert_true(back.spacing_mm == 12.5 && size[0] == 640 && size[1] == 480);
	assert_int_equal(corners.n, 2);
	assert_int_equal(corners.others, 1);
	assert_true(corners.corner[1].u == 3.5 && corners.corner[1].i == 2);
	corners_free(&corners);
	frame_free(table);
}

static void
test_none(void **state)
{
	struct board board = { BOARD_CHESS, 11, 8, 0 }, back;
	struct frame *table = make_table(&board, NULL, 0);
	struct corners corners;
	double size[2];

	(void)state;
	assert_string_equal(meta_get(&table->head.meta, "length_unit"), "board");
	assert_int_equal(board_read_table("t", table, &back, &corners, size), 0);
	assert_int_equal(corners.n, 0);
	assert_true(back.spacing_mm == 0);
	corners_free(&corners);
	frame_free(table);
}

/* One value or key of a good table is changed; the message must name it. */
static void
expect_refused(const char *key, const char *value, size_t channel, float v, const char *message)
{
	struct board board = { BOARD_CHESS, 11, 8, 15 }, back;
	struct frame *table = make_table(&board, some, 2);
	struct corners corners;
	double size[2];

	if (key && value)
		assert_int_equal(meta_set(&table->head.meta, key, value), 0);
	else if (key)
		meta_remove(&table->head.meta, key);
	else
		frame_floats(table, channel, 0)[1] = v;
	assert_int_equal(board_read_table("t", table, &back, &corners, size), -1);
	assert_string_equal(fail_message(), message);
	fail_clear();
	frame_free(table);
}

static void
test_refused(void **state)
{
	(void)state;
	expect_refused("board_kind", NULL, 0, 0,
	    "t: has no key board_kind: is it a table of boardfind?");
	expect_refused("board_size", NULL, 0, 0,
	    "t: has no key board_size: is it a table of boardfind?");
	expect_refused("board_kind", "cheese", 0, 0,
	    "t: board_kind 'cheese' is none that is known");
	expect_refused("board_size", "11", 0, 0, "t: board_size must be two numbers, not 1");
	expect_refused("board_size", "11 1.5", 0, 0,
	    "t: board_size must be two numbers of points, not 11 1.5");
	expect_refused("board_spacing_mm", "-3", 0, 0,
	    "t: board_spacing_mm must be positive, not -3");
	expect_refused(NULL, NULL, 0, NAN, "t: row 1: u and v are nan and 2");
	expect_refused(NULL, NULL, 2, 0, "t: row 1: sigma must be positive, not 0");
	expect_refused(NULL, NULL, 3, 11, "t: row 1: point 11,1 is not on the board of 11x8");
	expect_refused(NULL, NULL, 4, 0.5f, "t: row 1: point 2,0.5 is not on the board of 11x8");
}

static void
test_twice(void **state)
{
	struct board board = { BOARD_CHESS, 11, 8, 15 }, back;
	struct corner same[] = { some[0], some[0] };
	struct frame *table = make_table(&board, same, 2);
	struct corners corners;
	double size[2];

	(void)state;
	assert_int_equal(board_read_table("t", table, &back, &corners, size), -1);
	assert_string_equal(fail_message(), "t: point 0,0 is there twice");
	fail_clear();
	frame_free(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
