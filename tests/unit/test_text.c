#include "frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void
keeps_what_is_written(void **state)
{
	struct text text;
	size_t n = 1;
	char *bytes;

	(void)state;
	assert_non_null(text_open(&text));
	bytes = text_close(&text, &n);
	assert_string_equal(bytes, "");
	assert_int_equal(n, 0);
	free(bytes);
	assert_non_null(text_open(&text));
	for (int i = 0; i < 100000; i++)
		fprintf(text.file, "%05d", i);
	bytes = text_close(&text, &n);
	assert_int_equal(n, 500000);
	assert_int_equal(strlen(bytes), 500000);
	assert_memory_equal(bytes + 5 * 54321, "54321", 5);
	free(bytes);
}

static void
is_dropped_at_any_time(void **state)
{
	struct text text = { 0 };

	(void)state;
	text_drop(&text);
	assert_non_null(text_open(&text));
	fputs("lost", text.file);
	text_drop(&text);
	text_drop(&text);
	assert_null(fail_message());
}

/* An error of the stream is remembered, whatever fclose() says. */
static void
remembers_errors(void **state)
{
	struct text text;

	(void)state;
	assert_non_null(text_open(&text));
	text.failed = true;
	fputs("a", text.file);
	fflush(text.file);
	text.failed = false;
	assert_null(text_close(&text, NULL));
	assert_string_equal(fail_message(), "out of memory");
	fail_clear();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_written),
		cmocka_unit_test(is_dropped_at_any_time),
		cmocka_unit_test(remembers_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
