/* Cache files: what was written, or nothing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cache.h"

static char folder[] = "/tmp/cache-XXXXXX";

static int
enter(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int
leave(void **state)
{
	(void)state;
	unlink("file");
	return chdir("/") == 0 ? rmdir(folder) : -1;
}

static void
changed_bytes(void **state)
{
	static const char content[] = "compiled shaders";
	size_t bytes;
	char *data;

	(void)state;
	assert_int_equal(cache_write_sealed("file", content, sizeof(content)), 0);
	data = cache_read_sealed("file", &bytes);
	assert_non_null(data);
	assert_int_equal(bytes, sizeof(content));
	assert_string_equal(data, content);
	free(data);
	data = cache_read("file", &bytes);
	for (size_t i = 0; i < bytes; i++) {
		size_t n;

		data[i] ^= 4;
		assert_int_equal(cache_write("file", data, bytes), 0);
		assert_null(cache_read_sealed("file", &n));
		assert_int_equal(n, 0);
		data[i] ^= 4;
		assert_int_equal(cache_write("file", data, i), 0);
		assert_null(cache_read_sealed("file", &n));
	}
	free(data);
}

static void
no_regular_file(void **state)
{
	size_t bytes;
	char *data;

	(void)state;
	unlink("file");
	assert_int_equal(mkfifo("file", 0600), 0);
	alarm(20);
	assert_null(cache_read("file", &bytes));
	alarm(0);
	assert_int_equal(cache_write("file", "x", 1), 0);	/* takes its place */
	data = cache_read("file", &bytes);
	assert_string_equal(data, "x");
	free(data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_bytes),
		cmocka_unit_test(no_regular_file),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
