/* Shares of rows (run/segment.h): every row is taken once, in whatever turns, and thieves keep
 * their distance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#undef fail	/* cmocka's macro would hide ours */

#include "base/px.h"
#include "run/segment.h"

#define ROWS_MOST 1000

/* Takes all rows in turns that the seed decides; gives how often a thread began anew. */
static size_t
take_all(size_t h, size_t threads, size_t step, size_t least, uint seed)
{
	unsigned char taken[ROWS_MOST] = { 0 };
	size_t at[16] = { 0 }, told[16] = { 0 }, begun = 0, left = h, n;
	struct row_shares shares;
	bool more = true;

	row_shares_init(&shares);
	n = row_shares_divide(&shares, h, threads, step, least);
	assert_in_range(n, 1, threads);
	for (uint turn = 0; more; turn++) {
		size_t i = px_hash(px_hash(seed) ^ turn) % n;
		struct row_piece piece;

		if (!row_shares_take(&shares, i, true, &piece)) {
			more = false;
			for (i = 0; i < n && !more; i++)
				more = row_shares_take(&shares, i, true, &piece);
			if (!more)
				break;
			i--;
		}
		assert_true(piece.y0 < piece.y1 && piece.y1 <= piece.end && piece.end <= h);
		assert_true(piece.y1 - piece.y0 <= step);
		assert_true(piece.begins || piece.y0 == at[i]);
		for (size_t k = 0; k < n && piece.begins; k++)
			if (k != i && at[k] <= piece.y0 && piece.y0 < told[k])
				assert_true(piece.y0 - at[k] >= least);
		at[i] = piece.y1;
		told[i] = piece.end;
		begun += piece.begins;
		for (size_t y = piece.y0; y < piece.y1; y++)
			assert_int_equal(taken[y]++, 0);
		left -= piece.y1 - piece.y0;
	}
	assert_int_equal(left, 0);
	row_shares_free(&shares);
	return begun;
}

static void
test_all(void **state)
{
	static const size_t heights[] = { 1, 2, 7, 16, 17, 100, 599, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++)
		for (size_t threads = 1; threads <= 16; threads++)
			for (uint seed = 0; seed < 20; seed++) {
				take_all(heights[i], threads, 16, 8, seed);
				take_all(heights[i], threads, 5, 0, seed);
				assert_true(take_all(heights[i], threads, 3, SIZE_MAX, seed) <=
				    threads);
			}
}

/* Who works alone takes what the others have not begun. */
static void
test_alone(void **state)
{
	struct row_shares shares;
	struct row_piece piece;
	size_t rows = 0;

	(void)state;
	row_shares_init(&shares);
	assert_int_equal(row_shares_divide(&shares, 600, 2, 16, 8), 2);
	while (row_shares_take(&shares, 0, true, &piece))
		rows += piece.y1 - piece.y0;
	assert_in_range(rows, 600 - 15, 600);
	row_shares_free(&shares);
}

/* Shares that are whole frames: every row of each is taken once, also off other threads. */
static void
test_frames(void **state)
{
	enum { FRAMES = 9, THREADS = 4, H = 100 };
	static unsigned char taken[FRAMES][H];
	struct row_shares shares;

	(void)state;
	for (uint seed = 0; seed < 50; seed++) {
		size_t left = (size_t)FRAMES * H, given = 0;

		memset(taken, 0, sizeof(taken));
		row_shares_init(&shares);
		row_shares_open(&shares, THREADS, 16, 8);
		assert_int_equal(shares.n, THREADS);
		for (uint turn = 0; left > 0; turn++) {
			size_t i = px_hash(px_hash(seed) ^ turn) % THREADS;
			unsigned char *frame;
			struct row_piece piece;

			if (given < FRAMES && !row_shares_left(&shares, i))
				row_shares_begin(&shares, i, H, taken[given++]);
			if (!row_shares_take(&shares, i, given == FRAMES, &piece))
				continue;
			assert_true(piece.y0 < piece.y1 && piece.y1 <= piece.end && piece.end <= H);
			frame = piece.frame;
			for (size_t y = piece.y0; y < piece.y1; y++)
				assert_int_equal(frame[y]++, 0);
			left -= piece.y1 - piece.y0;
		}
		for (size_t i = 0; i < THREADS; i++)
			assert_false(row_shares_left(&shares, i));
		row_shares_free(&shares);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
