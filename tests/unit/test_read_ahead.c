/* Files that are read ahead: in order, on all threads, no more of them than the bound allows. */
#define _GNU_SOURCE
#include "frames.h"

#include <stdlib.h>
#include <unistd.h>

#define SIDE 200
#define FILES 40
#define AHEAD_BYTES ((size_t)SIDE * SIDE / 2)	/* one image is more */
#include "io/read_ahead.c"

static char folder[] = "/tmp/test_read_ahead.XXXXXX";

static int
make_files(void **state)
{
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < FILES; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%02d.pgm", folder, i);
		file = fopen(path, "wb");
		assert_non_null(file);
		fprintf(file, "P5\n%d %d\n255\n", SIDE, SIDE);
		for (int k = 0; k < SIDE * SIDE; k++)
			putc(i, file);
		assert_int_equal(fclose(file), 0);
	}
	return 0;
}

static int
remove_files(void **state)
{
	char path[64];

	(void)state;
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%02d.pgm", folder, i);
		unlink(path);
	}
	return rmdir(folder);
}

/* Files whose first frame is in memory. */
static size_t
waiting(const struct read_ahead *input)
{
	size_t n = 0;

	for (size_t i = input->at; i < input->open; i++)
		n += input->file[i].first != NULL;
	return n;
}

static int
read_all(void *arg, struct thread_pool *pool)
{
	size_t threads = *(size_t *)arg;
	char *operand[] = { folder };
	struct read_ahead *input = read_ahead_open(operand, 1, false, pool);
	struct frame *frame;

	assert_non_null(input);
	for (int i = 0; i < FILES; i++) {
		assert_int_equal(read_ahead_next(input, &frame), 1);
		assert_int_equal(*(unsigned char *)frame_row(frame, 0, 0), i);
		frame_free(frame);
		/* beside the one that was taken, each thread had begun with one at most */
		assert_true(waiting(input) < threads);
	}
	assert_int_equal(read_ahead_next(input, &frame), 0);
	read_ahead_close(input);
	return 0;
}

static void
test_bound(void **state)
{
	(void)state;
	for (size_t threads = 1; threads <= 4; threads++)
		assert_int_equal(thread_pool_run((int)threads, read_all, &threads), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
