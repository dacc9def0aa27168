#include "frames.h"

#include "base/fail.h"
#include "base/process.h"

static void
fills_its_table(void **state)
{
	static const char *const names[] = { "cos", "sqrt" };
	struct {
		double (*cos)(double), (*sqrt)(double);
	} table = { 0 };
	struct library library = { "libm.so.6", 2, names, &table };

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(library_load(&library), 0);
		assert_true(table.cos(0) == 1 && table.sqrt(9) == 3);
	}
	library.file = "libnone.so.0";		/* it is not asked for again */
	assert_int_equal(library_load(&library), 0);
}

static void
names_what_is_missing(void **state)
{
	static const char *const names[] = { "cos", "no_such_function" };
	void *table[2] = { 0 };
	struct library library = { "libnone.so.0", 2, names, table };

	(void)state;
	fail_clear();
	assert_int_equal(library_load(&library), -1);
	assert_non_null(strstr(fail_message(), "libnone.so.0: cannot be loaded: "));
	fail_clear();
	library.file = "libm.so.6";
	for (int i = 0; i < 2; i++) {
		assert_int_equal(library_load(&library), -1);
		assert_string_equal(fail_message(), "libm.so.6: has no function no_such_function");
		fail_clear();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_its_table),
		cmocka_unit_test(names_what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
