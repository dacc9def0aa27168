/* Files in the cache folder: what was written or nothing; those of other users are none, and no
 * link is written through. */
#define _GNU_SOURCE
#include "base/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/fringepipe-cache-XXXXXX";

static int
make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static char *
path_of(const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

static void
test_own_file(void **state)
{
	char *path = path_of("deep/fringepipe/own"), *data;
	struct stat about;
	size_t bytes;

	(void)state;
	assert_int_equal(cache_write(path, "abc", 3), 0);
	assert_int_equal(cache_write(path, "four", 4), 0);
	data = cache_read(path, &bytes);
	assert_non_null(data);
	assert_int_equal(bytes, 4);
	assert_string_equal(data, "four");
	assert_int_equal(stat(path, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0600);
	free(data);
	free(path);
}

static void
test_file_of_another_user(void **state)
{
	char *path = path_of("other");
	size_t bytes;

	(void)state;
	assert_int_equal(cache_write(path, "abc", 3), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(path, 65534, 65534), 0);
	assert_null(cache_read(geteuid() == 0 ? path : "/etc/passwd", &bytes));
	assert_int_equal(bytes, 0);
	free(path);
}

static void
test_no_link_is_written_through(void **state)
{
	char *path = path_of("linked"), *precious = path_of("precious"), *link, *data;
	size_t bytes;

	(void)state;
	assert_int_equal(cache_write(precious, "gold", 4), 0);
	assert_true(asprintf(&link, "%s.%ld", path, (long)getpid()) > 0);
	assert_int_equal(symlink(precious, link), 0);
	assert_int_equal(cache_write(path, "abc", 3), 0);
	data = cache_read(precious, &bytes);
	assert_non_null(data);
	assert_string_equal(data, "gold");
	free(data);
	free(link);
	free(precious);
	free(path);
}

static void
changed_bytes(void **state)
{
	static const char content[] = "compiled shaders";
	char *path = path_of("sealed"), *data;
	size_t bytes;

	(void)state;
	assert_int_equal(cache_write_sealed(path, content, sizeof(content)), 0);
	data = cache_read_sealed(path, &bytes);
	assert_non_null(data);
	assert_int_equal(bytes, sizeof(content));
	assert_string_equal(data, content);
	free(data);
	data = cache_read(path, &bytes);
	for (size_t i = 0; i < bytes; i++) {
		size_t n;

		data[i] ^= 4;
		assert_int_equal(cache_write(path, data, bytes), 0);
		assert_null(cache_read_sealed(path, &n));
		assert_int_equal(n, 0);
		data[i] ^= 4;
		assert_int_equal(cache_write(path, data, i), 0);
		assert_null(cache_read_sealed(path, &n));
	}
	free(data);
	free(path);
}

static void
no_regular_file(void **state)
{
	char *path = path_of("fifo"), *data;
	size_t bytes;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	assert_null(cache_read(path, &bytes));
	alarm(0);
	assert_int_equal(cache_write(path, "x", 1), 0);	/* takes its place */
	data = cache_read(path, &bytes);
	assert_string_equal(data, "x");
	free(data);
	free(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_file),
		cmocka_unit_test(test_file_of_another_user),
		cmocka_unit_test(test_no_link_is_written_through),
		cmocka_unit_test(changed_bytes),
		cmocka_unit_test(no_regular_file),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
