#include "frames.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fringe/manifest.h"

#define LEGEND "# file role axis period_px step shift_rad bit\n"

static char folder[] = "/tmp/test_manifest.XXXXXX";

static void
put(const char *path, const char *text)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int
enter(void **state)
{
	(void)state;
	return !mkdtemp(folder) || chdir(folder) < 0 || mkdir("a", 0777) < 0 ||
	    mkdir("b", 0777) < 0;
}

static int
leave(void **state)
{
	(void)state;
	unlink("list.txt");
	unlink("a/list.txt");
	rmdir("a");
	rmdir("b");
	return chdir("/") < 0 || rmdir(folder) < 0;
}

static void
rows_are_read(void **state)
{
	struct manifest m;

	(void)state;
	put("a/list.txt", "## made by hand\n#!/bin/sh\n\n"
	    "  # step colour file role bit axis shift_rad period_px gray_cell\n"
	    "0 red one.png phase - x -2.0943951 60.5 half\r\n"
	    "# a comment\n- blue /abs/two.png gray_inverse 5\ty - - half\n"
	    "- - sub/3.tif white - - - - -");
	assert_int_equal(manifest_load("a/list.txt", &m), 0);
	assert_int_equal(m.n, 3);
	assert_string_equal(m.row[0].file, "a/one.png");
	assert_int_equal(m.row[0].role, ROLE_PHASE);
	assert_int_equal(m.row[0].axis, 'x');
	assert_true(m.row[0].period_px == 60.5 && m.row[0].shift_rad == -2.0943951);
	assert_int_equal(m.row[0].step, 0);
	assert_int_equal(m.row[0].bit, MANIFEST_NO_BIT);
	assert_int_equal(m.row[0].gray_cell, CELL_HALF);
	assert_string_equal(m.row[1].file, "/abs/two.png");
	assert_int_equal(m.row[1].role, ROLE_GRAY_INVERSE);
	assert_int_equal(m.row[1].axis, 'y');
	assert_int_equal(m.row[1].bit, 5);
	assert_int_equal(m.row[1].step, MANIFEST_NO_STEP);
	assert_true(isnan(m.row[1].period_px) && isnan(m.row[1].shift_rad));
	assert_string_equal(m.row[2].file, "a/sub/3.tif");
	assert_int_equal(m.row[2].axis, 0);
	assert_int_equal(m.row[2].gray_cell, CELL_NONE);
	manifest_free(&m);
	assert_int_equal(m.n, 0);
}

static void
two_columns_will_do(void **state)
{
	struct manifest m;

	(void)state;
	put("list.txt", "# file role\nx.png black\n");
	assert_int_equal(manifest_load("list.txt", &m), 0);
	assert_string_equal(m.row[0].file, "x.png");
	assert_int_equal(m.row[0].role, ROLE_BLACK);
	assert_true(isnan(m.row[0].period_px));
	manifest_free(&m);
}

static void
bad_tables_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "", "manifest names no image" },
		{ LEGEND, "manifest names no image" },
		{ "a.png phase x 60 0 0 -\n", "line 1: stands before the legend" },
		{ "#\n", "line 1: legend has no columns" },
		{ "# file axis\n", "line 1: legend has no column role" },
		{ "# role axis\n", "line 1: legend has no column file" },
		{ "# file role file\n", "line 1: column file stands there twice" },
		{ LEGEND "a.png phase x 60 0 0\n", "line 2: has 6 words, the legend 7" },
		{ LEGEND "my image.png phase x 60 0 0 -\n", "line 2: has 8 words, the legend 7" },
		{ LEGEND "- phase x 60 0 0 -\n", "line 2: file is null" },
		{ LEGEND "a.png - x 60 0 0 -\n", "line 2: role is null" },
		{ LEGEND "a.png fringe x 60 0 0 -\n", "line 2: role is not known: fringe" },
		{ LEGEND "a.png phase z 60 0 0 -\n", "line 2: axis is neither x nor y: z" },
		{ LEGEND "a.png phase x wide 0 0 -\n", "line 2: period_px is not a number: wide" },
		{ LEGEND "a.png phase x 0 0 0 -\n", "line 2: period_px is not above 0: 0" },
		{ LEGEND "a.png phase x nan 0 0 -\n", "line 2: period_px is not a number: nan" },
		{ LEGEND "a.png phase x 60 0.5 0 -\n", "step is no whole number from 0 on: 0.5" },
		{ LEGEND "a.png phase x 60 -1 0 -\n", "step is no whole number from 0 on: -1" },
		{ LEGEND "a.png phase x 60 0 inf -\n", "shift_rad is not a number: inf" },
		{ LEGEND "a.png gray x 60 - - top\n", "bit is no whole number from 0 on: top" },
		{ "# file role gray_cell\na.png gray row\n", "gray_cell is not known: row" },
	};
	struct manifest m;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put("list.txt", bad[i][0]);
		assert_int_equal(manifest_load("list.txt", &m), -1);
		if (!strstr(fail_message(), bad[i][1]))
			print_error("said: %s\nwanted: %s\n", fail_message(), bad[i][1]);
		assert_non_null(strstr(fail_message(), bad[i][1]));
		assert_int_equal(m.n, 0);
		fail_clear();
	}
	assert_int_equal(manifest_load("absent.txt", &m), -1);
	assert_non_null(strstr(fail_message(), "absent.txt: manifest cannot be opened"));
	fail_clear();
}

static void
bytes_that_are_no_text(void **state)
{
	static const char bytes[] = "# file role\na\0b phase\n";
	FILE *file = fopen("list.txt", "wb");
	struct manifest m;
	char *wide = malloc(3 * 70 + 32);

	(void)state;
	assert_int_equal(fwrite(bytes, 1, sizeof(bytes) - 1, file), sizeof(bytes) - 1);
	fclose(file);
	assert_int_equal(manifest_load("list.txt", &m), -1);
	assert_non_null(strstr(fail_message(), "line 2: is not text"));
	fail_clear();
	strcpy(wide, "# file role");
	for (int i = 0; i < 70; i++)
		strcat(wide, " x");
	put("list.txt", wide);
	assert_int_equal(manifest_load("list.txt", &m), -1);
	assert_non_null(strstr(fail_message(), "legend has too many columns"));
	fail_clear();
	free(wide);
}

/* A row whose file is `file`, in a manifest at `path`, gives this line. */
static void
check_relative(const char *path, const char *file, const char *line)
{
	char text[1024] = "", *own = strdup(file);
	struct manifest_row row = { own, ROLE_PHASE, 'x', 60.0, 1, -2.0943951023931953,
		MANIFEST_NO_BIT, CELL_NONE };
	struct manifest m = { 1, &row }, back;
	char *first, *second;
	FILE *in;

	assert_int_equal(manifest_write(path, &m), 0);
	in = fopen(path, "rb");
	assert_true(fread(text, 1, sizeof(text) - 1, in) > 0);
	fclose(in);
	assert_non_null(strstr(text, line));
	assert_int_equal(strncmp(text, LEGEND, strlen(LEGEND)), 0);
	assert_int_equal(manifest_load(path, &back), 0);
	assert_true(back.row[0].shift_rad == row.shift_rad && back.row[0].step == 1);
	put(file, "");
	first = realpath(file, NULL);
	second = realpath(back.row[0].file, NULL);
	assert_string_equal(first, second);
	unlink(file);
	free(first);
	free(second);
	free(own);
	manifest_free(&back);
}

static void
names_are_relative(void **state)
{
	char absolute[512], line[600];

	(void)state;
	check_relative("list.txt", "one.png", "\none.png phase x 60 1 -2.0943951023931953 -\n");
	check_relative("a/list.txt", "a/one.png", "\none.png phase");
	check_relative("a/list.txt", "b/one.png", "\n../b/one.png phase");
	check_relative("list.txt", "b/one.png", "\nb/one.png phase");
	check_relative("a/list.txt", "one.png", "\n../one.png phase");
	check_relative("./a/../a/list.txt", ".//b/one.png", "\n../b/one.png phase");
	snprintf(absolute, sizeof(absolute), "%s/b/one.png", folder);
	snprintf(line, sizeof(line), "\n%s phase", absolute);
	check_relative("a/list.txt", absolute, line);
}

static void
names_that_cannot_be_written(void **state)
{
	static char blank[] = "a/my image.png", comment[] = "#1.png", null[] = "-";
	static char *const files[] = { blank, comment, null };

	(void)state;
	unlink("list.txt");
	for (size_t i = 0; i < 3; i++) {
		struct manifest_row row = { files[i], ROLE_WHITE, 0, NAN, -1, NAN, -1, CELL_NONE };
		struct manifest m = { 1, &row };

		assert_int_equal(manifest_write("list.txt", &m), -1);
		assert_non_null(strstr(fail_message(), "name cannot stand in a manifest"));
		fail_clear();
		assert_int_equal(access("list.txt", F_OK), -1);
	}
}

static void
rows_from_metadata(void **state)
{
	struct meta meta = { 0 };
	struct manifest_row row;

	(void)state;
	assert_int_equal(manifest_row_from_meta(&meta, "a.png", &row), -1);
	assert_string_equal(fail_message(), "a.png: image has no key role");
	fail_clear();
	meta_set(&meta, "role", "gray");
	meta_set(&meta, "axis", "y");
	meta_set(&meta, "bit", "3");
	meta_set(&meta, "step", "-");
	meta_set(&meta, "gray_cell", "column");
	assert_int_equal(manifest_row_from_meta(&meta, "a.png", &row), 0);
	assert_int_equal(row.role, ROLE_GRAY);
	assert_int_equal(row.axis, 'y');
	assert_int_equal(row.bit, 3);
	assert_int_equal(row.step, MANIFEST_NO_STEP);
	assert_int_equal(row.gray_cell, CELL_COLUMN);
	assert_true(isnan(row.period_px));
	free(row.file);
	meta_set(&meta, "period_px", "60 66");
	assert_int_equal(manifest_row_from_meta(&meta, "a.png", &row), -1);
	assert_string_equal(fail_message(), "a.png: period_px is not a number: 60 66");
	fail_clear();
	meta_free(&meta);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_read),
		cmocka_unit_test(two_columns_will_do),
		cmocka_unit_test(bad_tables_are_refused),
		cmocka_unit_test(bytes_that_are_no_text),
		cmocka_unit_test(names_are_relative),
		cmocka_unit_test(names_that_cannot_be_written),
		cmocka_unit_test(rows_from_metadata),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
