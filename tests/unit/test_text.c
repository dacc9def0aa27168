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
	text_open(&text);
	bytes = text_close(&text, &n);
	assert_string_equal(bytes, "");
	assert_int_equal(n, 0);
	free(bytes);
	text_open(&text);
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
	text_open(&text);
	fputs("lost", text.file);
	text_drop(&text);
	text_drop(&text);
	assert_null(fail_message());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_written),
		cmocka_unit_test(is_dropped_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
