/* number_edit: what becomes of texts in three syntaxes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#undef fail
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "optics/number_file.h"

static const double numbers[] = { 1, -2.5, 1e-20, 123456.789012345 };
static const struct number_edit edits[] = { { "laser_plane", numbers, 4 }, { "d", numbers, 1 } };

static void
expect(const char *text, const char *wanted)
{
	char *out;

	fail_clear();
	assert_int_equal(number_edit_text("file", text, strlen(text), edits, 2, &out),
	    wanted ? 0 : -1);
	if (wanted)
		assert_string_equal(out, wanted);
	else
		assert_non_null(fail_message());
	free(out);
}

#define LIST "1, -2.5, 1e-20, 123456.789012"
#define YAML "laser_plane: [ " LIST " ]\nd: [ 1 ]\n"
#define JSON "\n  \"laser_plane\": [" LIST "],\n  \"d\": [1]\n"
#define XML "<laser_plane>1 -2.5 1e-20 123456.789012</laser_plane>\n<d>1</d>\n"

static void
test_yaml(void **state)
{
	(void)state;
	expect("", YAML);
	expect("a: 1", "a: 1\n" YAML);
	expect("# c\nd: [ 1,\n  2 ]\na: 1\n", "# c\na: 1\n" YAML);
	expect("d:\n- 1\n- 2\na: 1\n...\n", "a: 1\n" YAML "...\n");
	expect("'d': 1\n\"laser_plane\": 2\ndd: 3\n", "dd: 3\n" YAML);
	expect("%YAML:1.0\n---\nb: \"d: 4\"\n", "%YAML:1.0\n---\nb: \"d: 4\"\n" YAML);
}

static void
test_json(void **state)
{
	(void)state;
	expect("{}", "{" JSON "}");
	expect("{\"a\": 1}\n", "{\"a\": 1," JSON "}\n");
	expect(" # {\n{ \"d\": [1, [2]], \"a\": {\"d\": 1} }",
	    " # {\n{ \"a\": {\"d\": 1}," JSON "}");
	expect("{\"a\": 1, \"d\": 2}", "{\"a\": 1," JSON "}");
	expect("{\"a\": \"}, d: {\", \"laser_plane\": [1], \"b\": 2}",
	    "{\"a\": \"}, d: {\", \"b\": 2," JSON "}");
	expect("{\"a\": 1,}", "{\"a\": 1," JSON "}");
	expect("{\"a\": 1", NULL);
}

static void
test_xml(void **state)
{
	(void)state;
	expect("<s>\n<a>1</a>\n</s>\n", "<s>\n<a>1</a>\n" XML "</s>\n");
	expect("<s>\n<d>1</d>\n<a>1</a>\n<laser_plane x=\"y\">2</laser_plane></s>",
	    "<s>\n<a>1</a>\n" XML "</s>");
}

static void
test_refused(void **state)
{
	(void)state;
	expect("1 0 0 0 0 1 0 0 0 0 1 0", NULL);
	expect("<s>", NULL);
	expect("a: [ 1", NULL);
	expect("nothing", NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_yaml), cmocka_unit_test(test_json),
		cmocka_unit_test(test_xml), cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
