/* Threads of a pool that have no items do something else, and come back for items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/thread_pool.h"

#define PIECES 1000
#define ITEMS 64
#define PATIENCE_MS 10000

static atomic_size_t left, done, inside, items;

static bool
do_piece(void *arg, int thread)
{
	size_t n = atomic_load(&left);

	(void)arg;
	(void)thread;
	while (n && !atomic_compare_exchange_weak(&left, &n, n - 1))
		;
	if (n == 0)
		return false;
	atomic_fetch_add(&inside, 1);
	fail(NULL, "nobody sees this message");
	usleep(10);
	atomic_fetch_sub(&inside, 1);
	atomic_fetch_add(&done, 1);
	return true;
}

static void
count(void *arg, size_t item, int thread)
{
	(void)arg;
	(void)item;
	(void)thread;
	atomic_fetch_add(&items, 1);
}

static void
wait_for_pieces(size_t n)
{
	for (int ms = 0; ms < PATIENCE_MS && atomic_load(&done) < n; ms++)
		usleep(1000);
	assert_int_equal(atomic_load(&done), n);
}

/* Thread 0 only waits, so that the others have done the pieces; items are done beside them. */
static int
drive(void *arg, struct thread_pool *pool)
{
	struct thread_pool_idle idle = { do_piece, NULL }, none = { do_piece, NULL };

	(void)arg;
	left = PIECES;
	done = items = 0;
	thread_pool_add_idle(pool, &none);
	thread_pool_add_idle(pool, &idle);
	for (int i = 0; i < 100; i++)
		thread_pool_for(pool, ITEMS, count, NULL);
	assert_int_equal(items, 100 * ITEMS);
	wait_for_pieces(PIECES);
	left = 1;
	thread_pool_call_idle(pool);
	wait_for_pieces(PIECES + 1);
	thread_pool_remove_idle(&none);
	left = PIECES;
	thread_pool_call_idle(pool);
	thread_pool_remove_idle(&idle);
	assert_int_equal(inside, 0);
	return fail_message() ? -1 : 0;
}

static void
idle_threads_do_pieces(void **state)
{
	(void)state;
	for (int threads = 2; threads <= 5; threads++)
		assert_int_equal(thread_pool_run(threads, drive, NULL), 0);
}

/* A pool of one has no other threads. */
static int
drive_alone(void *arg, struct thread_pool *pool)
{
	struct thread_pool_idle idle = { do_piece, NULL };

	(void)arg;
	left = 1;
	done = 0;
	thread_pool_add_idle(pool, &idle);
	thread_pool_call_idle(pool);
	thread_pool_for(pool, ITEMS, count, NULL);
	thread_pool_remove_idle(&idle);
	thread_pool_remove_idle(&idle);
	assert_int_equal(done, 0);
	return 0;
}

static void
one_thread_does_none(void **state)
{
	(void)state;
	assert_int_equal(thread_pool_run(1, drive_alone, NULL), 0);
}

/* Pieces that only thread 0 does: it is the main thread, and others have none of them. */
static pthread_t own;

static bool
do_own_piece(void *arg, int thread)
{
	return pthread_equal(pthread_self(), own) && do_piece(arg, thread);
}

/* Thread 0 does a piece at each call until none is left; what it has failed with stays. */
static int
drive_and_help(void *arg, struct thread_pool *pool)
{
	struct thread_pool_idle idle = { do_own_piece, NULL };
	size_t helped = 0;

	(void)arg;
	left = 5;
	done = 0;
	thread_pool_add_idle(pool, &idle);
	fail(NULL, "what went wrong before");
	while (thread_pool_help(pool))
		assert_int_equal(done, ++helped);
	assert_int_equal(helped, thread_pool_threads(pool) > 1 ? 5 : 0);
	assert_string_equal(fail_message(), "what went wrong before");
	fail_clear();
	assert_false(thread_pool_help(pool));
	assert_null(fail_message());
	thread_pool_remove_idle(&idle);
	return 0;
}

static void
thread_0_helps(void **state)
{
	(void)state;
	own = pthread_self();
	for (int threads = 1; threads <= 3; threads++)
		assert_int_equal(thread_pool_run(threads, drive_and_help, NULL), 0);
}

static int
add(void *idle, struct thread_pool *pool)
{
	thread_pool_add_idle(pool, idle);
	return 0;
}

/* It may be taken away behind the pool's end. */
static void
idle_work_outlives_the_pool(void **state)
{
	struct thread_pool_idle idle = { do_piece, NULL };

	(void)state;
	left = 0;
	for (int threads = 1; threads <= 3; threads++) {
		assert_int_equal(thread_pool_run(threads, add, &idle), 0);
		assert_null(idle.pool);
		thread_pool_remove_idle(&idle);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_work_outlives_the_pool),
		cmocka_unit_test(idle_threads_do_pieces),
		cmocka_unit_test(one_thread_does_none),
		cmocka_unit_test(thread_0_helps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
