/* Messages belong to threads; pixel stores that are kept stay few where sizes change. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/thread_pool.h"
#include "frames.h"

static void *
fail_and_take(void *arg)
{
	fail("other", "broke");
	fail_take(arg);
	return NULL;
}

static void *
only_fail(void *arg)
{
	fail("other", "broke");
	(void)arg;
	return NULL;
}

static void
a_message_belongs_to_its_thread(void **state)
{
	struct fail_record record = { "" };
	pthread_t thread;

	(void)state;
	fail_clear();
	assert_int_equal(pthread_create(&thread, NULL, only_fail, NULL), 0);
	pthread_join(thread, NULL);
	assert_null(fail_message());	/* nobody handed it over */
	assert_int_equal(pthread_create(&thread, NULL, fail_and_take, &record), 0);
	fail_clear();			/* does not touch it */
	pthread_join(thread, NULL);
	fail_put(&record);
	assert_string_equal(fail_message(), "other: broke");
	assert_int_equal(fail_code(), EXIT_FAILED);
	fail_usage("late", "comes second");
	assert_string_equal(fail_message(), "other: broke");
	fail_clear();
	fail_take(&record);		/* none is taken */
	fail_put(&record);
	assert_null(fail_message());
}

static void
fail_some(void *arg, size_t item, int thread)
{
	(void)arg;
	(void)thread;
	if (item % 3 == 2)
		fail(NULL, "item %zu", item);
}

static int
drive(void *arg, struct thread_pool *pool)
{
	(void)arg;
	fail_clear();
	thread_pool_for(pool, 100, fail_some, NULL);
	return fail_message() ? -1 : 0;
}

static void
items_hand_their_message_to_the_driver(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		assert_int_equal(thread_pool_run(4, drive, NULL), -1);
		assert_string_equal(fail_message(), "item 2");
	}
	fail_clear();
}

static size_t given, most_given, times_given;

static void *
take(void *arg, size_t bytes, void **owner)
{
	size_t *block = aligned_alloc(64, bytes + 64);

	(void)arg;
	*owner = block;
	*block = bytes;
	given += bytes;
	times_given++;
	if (given > most_given)
		most_given = given;
	return (char *)block + 64;
}

static void
give(void *arg, void *owner)
{
	(void)arg;
	given -= *(size_t *)owner;
	free(owner);
}

static void
kept_stores_do_not_grow_with_the_number_of_sizes(void **state)
{
	const struct memory_source source = { .take = take, .give = give };
	size_t largest = 0;

	(void)state;
	frame_use_memory(&source);
	for (size_t i = 1; i <= 24; i++) {
		struct frame_head head;
		struct frame *frame[2];

		assert_int_equal(head_init(&head, 512, 64 * i, 1, SAMPLE_FLOAT), 0);
		for (int k = 0; k < 2; k++)	/* as a chain has an input and an output */
			assert_int_equal(frame_new(&head, &frame[k]), 0);
		largest = 512 * 64 * i * sizeof(float);
		head_free(&head);
		for (int k = 0; k < 2; k++)
			frame_free(frame[k]);
	}
	frame_use_memory(NULL);
	assert_int_equal(given, 0);
	assert_in_range(most_given, 2 * largest, 4 * largest);
}

/* One frame at a time, of two sizes in turn. */
static void
stores_of_sizes_that_alternate_are_kept(void **state)
{
	const struct memory_source source = { .take = take, .give = give };

	(void)state;
	frame_use_memory(&source);
	times_given = 0;
	for (size_t i = 0; i < 20; i++)
		frame_free(frame_of_size(512, i % 2 ? 512 : 300, 1, SAMPLE_FLOAT));
	frame_use_memory(NULL);
	assert_int_equal(given, 0);
#if SANITIZED	/* every store is seen anew */
	assert_int_equal(times_given, 20);
#else
	assert_int_equal(times_given, 2);
#endif
}

static int
end_with_seven(void)
{
	return 7;
}

/* A process of its own, which asks for more than there is; its exit code. */
static int
without_memory(int (*end)(void), char *printed, size_t size)
{
	int ends[2], status = 0;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		memory_ends_with(end);
		fail("file", "an earlier message");
		free(must_alloc(SIZE_MAX / 2, 2));
		_exit(0);
	}
	close(ends[1]);
	n = read(ends[0], printed, size - 1);
	printed[n < 0 ? 0 : n] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
memory_that_must_be_there_ends_the_program(void **state)
{
	char printed[200], *text = must_format("%d %s", 5, "words");
	int *numbers = must_alloc(0, sizeof(*numbers));

	(void)state;
	assert_string_equal(text, "5 words");
	free(text);
	numbers = must_resize(numbers, 3, sizeof(*numbers));
	numbers[2] = 1;
	free(numbers);
	if (SANITIZED)
		return;		/* AddressSanitizer aborts instead */
	assert_int_equal(without_memory(NULL, printed, sizeof(printed)), EXIT_FAILED);
	assert_string_equal(printed, "fringepipe: out of memory\n");
	assert_int_equal(without_memory(end_with_seven, printed, sizeof(printed)), 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_must_be_there_ends_the_program),
		cmocka_unit_test(a_message_belongs_to_its_thread),
		cmocka_unit_test(items_hand_their_message_to_the_driver),
		cmocka_unit_test(kept_stores_do_not_grow_with_the_number_of_sizes),
		cmocka_unit_test(stores_of_sizes_that_alternate_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
