/* Frames that are written while the chain computes: in order, by a thread of its own or the pool's,
 * to the last one before what cannot be written. */
#define _GNU_SOURCE
#include "frames.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/background_io.h"
#include "io/safe_file.h"

#define FRAMES 60
#define GAP_AT 20	/* a number stays free before this frame */
#define LARGE_AT 30	/* in the test of failure: this frame and those behind it are too large */
#define SIDE 16
#define LARGE_SIDE 200
#define FILE_LIMIT 4096

static char folder[] = "/tmp/test_write_behind.XXXXXX";

static int
make_folder(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

static struct frame *
frame_of(int value, size_t side)
{
	struct frame *frame = frame_made(side, side, 1, SAMPLE_UCHAR, 0);

	for (size_t y = 0; y < side; y++)
		memset(frame_row(frame, 0, y), value, side);
	return frame;
}

/* The last sample of file `number`, which is removed; -1: there is none. */
static int
take_file(int number)
{
	char path[64];
	FILE *file;
	int value;

	snprintf(path, sizeof(path), "%s/%03d.pgm", folder, number);
	file = fopen(path, "rb");
	if (!file)
		return -1;
	assert_int_equal(fseek(file, -1, SEEK_END), 0);
	value = getc(file);
	fclose(file);
	assert_int_equal(unlink(path), 0);
	return value;
}

static struct write_behind *
open_writer(struct thread_pool *pool)
{
	char path[64];
	struct target *target;
	struct write_behind *writer;

	snprintf(path, sizeof(path), "%s/%%03d.pgm", folder);
	target = target_open(path, false, NULL);
	assert_non_null(target);
	assert_int_equal(target_waits(target), safe_file_syncs());
	writer = write_behind_open(target, false, pool);
	assert_non_null(writer);
	return writer;
}

static void
do_nothing(void *arg, size_t item, int thread)
{
	(void)arg;
	(void)item;
	(void)thread;
}

static int
write_all(void *arg, struct thread_pool *pool)
{
	struct write_behind *writer = open_writer(pool);

	(void)arg;
	for (int i = 0; i < FRAMES; i++) {
		thread_pool_for(pool, 8, do_nothing, NULL);
		assert_int_equal(write_behind_put(writer, frame_of(i, SIDE), i == GAP_AT), 0);
	}
	assert_int_equal(write_behind_close(writer, true), 0);
	for (int i = 0; i < FRAMES; i++)
		assert_int_equal(take_file(i + (i >= GAP_AT)), i);
	assert_int_equal(take_file(GAP_AT), -1);
	return 0;
}

/* The writer's failure comes with a frame behind, at the latest at the end. */
static int
write_some(void *arg, struct thread_pool *pool)
{
	struct write_behind *writer = open_writer(pool);
	int status = 0;

	(void)arg;
	for (int i = 0; i < FRAMES && status == 0; i++)
		status = write_behind_put(writer, frame_of(i, i < LARGE_AT ? SIDE : LARGE_SIDE), 0);
	assert_int_equal(status, -1);
	assert_int_equal(write_behind_close(writer, true), -1);
	assert_non_null(strstr(fail_message(), "030.pgm: cannot be written: File too large"));
	fail_clear();
	for (int i = 0; i < LARGE_AT; i++)
		assert_int_equal(take_file(i), i);
	assert_int_equal(take_file(LARGE_AT), -1);
	return 0;
}

/* The chain's own failure stays, and what it has put before is written. */
static int
write_and_fail(void *arg, struct thread_pool *pool)
{
	struct write_behind *writer = open_writer(pool);

	(void)arg;
	for (int i = 0; i < 3; i++)
		assert_int_equal(write_behind_put(writer, frame_of(i, SIDE), 0), 0);
	fail(NULL, "the chain's");
	assert_int_equal(write_behind_close(writer, false), 0);
	assert_string_equal(fail_message(), "the chain's");
	fail_clear();
	for (int i = 0; i < 3; i++)
		assert_int_equal(take_file(i), i);
	return 0;
}

static void
in_pools(int (*drive)(void *, struct thread_pool *))
{
	for (int threads = 1; threads <= 3; threads++)
		assert_int_equal(thread_pool_run(threads, drive, NULL), 0);
}

static void
all_kinds(void)
{
	struct rlimit limit, small;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = FILE_LIMIT;
	in_pools(write_all);
	in_pools(write_and_fail);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	in_pools(write_some);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void
a_thread_of_its_own_writes(void **state)
{
	(void)state;
	assert_true(safe_file_syncs());
	all_kinds();
}

static void
threads_of_the_pool_write(void **state)
{
	(void)state;
	safe_file_no_sync();
	all_kinds();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_of_its_own_writes),
		cmocka_unit_test(threads_of_the_pool_write),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
