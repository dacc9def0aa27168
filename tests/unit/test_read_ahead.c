/* Files that are read ahead: in order, on all threads, no more of them than the bound allows. */
#define _GNU_SOURCE
#include "frames.h"

#include <stdlib.h>
#include <unistd.h>

#define SIDE 200
#define FILES 40
#define AHEAD_BYTES ((size_t)SIDE * SIDE / 2)	/* one image is more */
#include "io/background_io.c"

static char folder[] = "/tmp/test_read_ahead.XXXXXX";

static void
write_files(int side)
{
	char path[64];

	for (int i = 0; i < FILES; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%02d.pgm", folder, i);
		file = fopen(path, "wb");
		assert_non_null(file);
		fprintf(file, "P5\n%d %d\n255\n", side, side);
		for (int k = 0; k < side * side; k++)
			putc(i, file);
		assert_int_equal(fclose(file), 0);
	}
}

static int
make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
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
waiting(struct read_ahead *input)
{
	size_t n = 0;

	pthread_mutex_lock(&input->lock);
	for (size_t i = input->at; i < input->begun; i++) {
		const struct open_file *file = &input->file[i % input->room];

		n += file->opened && file->first;
	}
	pthread_mutex_unlock(&input->lock);
	return n;
}

/* No thread opens a file, and none would. */
static bool
is_quiet(struct read_ahead *input)
{
	bool quiet;

	pthread_mutex_lock(&input->lock);
	quiet = input->begun == input->paths || input->begun - input->at == input->room ||
	    input->bytes > AHEAD_BYTES / (input->begun - input->at < input->least ? 1 : SMALL_PART);
	for (size_t i = input->at; i < input->begun; i++)
		quiet &= input->file[i % input->room].opened;
	pthread_mutex_unlock(&input->lock);
	return quiet;
}

/* Waits until the pool's other threads have read all that they may: without them nothing comes. */
static void
let_read(struct read_ahead *input)
{
	for (int i = 0; i < 10000 && !is_quiet(input); i++)
		usleep(1000);
	assert_true(is_quiet(input));
}

static int
read_all(void *arg, struct thread_pool *pool)
{
	size_t threads = *(size_t *)arg;
	char *operand[] = { folder };
	struct read_ahead *input = read_ahead_open(operand, 1, &(struct read_ahead_how){ 0 }, pool);
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
	write_files(SIDE);
	for (size_t threads = 1; threads <= 4; threads++)
		assert_int_equal(thread_pool_run((int)threads, read_all, &threads), 0);
}

struct batch {
	size_t least, most;		/* files that wait beside the first one */
};

static int
read_one(void *arg, struct thread_pool *pool)
{
	const struct batch *batch = arg;
	char *operand[] = { folder };
	struct read_ahead *input = read_ahead_open(operand, 1, &(struct read_ahead_how){ 0 }, pool);
	struct frame *frame;

	assert_non_null(input);
	assert_int_equal(read_ahead_next(input, &frame), 1);
	frame_free(frame);
	let_read(input);
	assert_in_range(waiting(input), batch->least, batch->most);
	read_ahead_close(input);
	return 0;
}

/* Six files a thread are read ahead where they take a sixteenth of the bound, 1250 bytes: rows
 * are 64 bytes at least. Larger ones: two a thread, and one more that each had begun with. */
static void
test_small(void **state)
{
	struct batch all = { 11, 11 }, some = { 3, 5 };

	(void)state;
	write_files(1);
	assert_int_equal(thread_pool_run(2, read_one, &all), 0);
	write_files(10);
	assert_int_equal(thread_pool_run(2, read_one, &some), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_small),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_files);
}
