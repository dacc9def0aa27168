/*
 * The small texts: a manifest, a tone table, a costs file, lists of numbers, key lines. The first
 * byte says which. No crash, no undefined behaviour, nothing leaked; a failure has a message; what
 * was read holds what its reader promises, and what is written of it reads back as the same.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "base/text.h"
#include "base/numbers.h"
#include "fringe/patterns.h"
#include "fringe/manifest.h"
#include "io/codec.h"
#include "run/cost_model.h"

static void
try_manifest(FILE *file, char *text, size_t n)
{
	struct manifest manifest;
	int status = manifest_read(file, "folder/list", &manifest);

	(void)text;
	check(manifest.n <= n, "more rows than the text can hold");
	for (size_t i = 0; i < manifest.n; i++) {
		const struct manifest_row *row = &manifest.row[i];

		check(row->file && *row->file, "file");
		check(isnan(row->period_px) || row->period_px > 0, "period");
		check(!isinf(row->shift_rad), "shift");
	}
	check((status == 0) == (manifest.n > 0), "rows");
	manifest_free(&manifest);
	check_status(status);
}

static void
try_lut(FILE *file, char *text, size_t n)
{
	struct lut lut;
	float level[] = { 0, 0.25f, 0.5f, 1, 2, -1, NAN };
	int status = lut_read(file, "table", &lut);

	(void)text;
	check(lut.n <= n, "more rows than the text can hold");
	if (status == 0) {
		check(lut.input[0] == 0 && lut.input[lut.n - 1] == 1, "ends");
		lut_compensate(&lut, 1, level, sizeof(level) / sizeof(*level));
		for (size_t i = 0; i < sizeof(level) / sizeof(*level); i++)
			check(level[i] >= 0 && level[i] <= 1, "level");
		lut_free(&lut);
	}
	check_status(status);
}

static char *
print_costs(const struct costs *costs, size_t *n)
{
	char *text;
	FILE *file = open_memstream(&text, n);

	costs_write(file, costs);
	fclose(file);
	return text;
}

static void
try_costs(FILE *file, char *text, size_t n)
{
	struct cost_map maps[3] = { { .processor_s = 1, .device_s = 0.1, .up_copies = 1,
	    .up_bytes = 1000, .down_copies = 1, .down_bytes = 1000 }, { 0 }, { 0 } };
	struct costs costs, back;
	char *one, *two;
	size_t n_one, n_two;

	(void)file;
	if (costs_parse(text, n, &costs) == 1) {
		costs_decide(&costs, maps, 3, n % 2);
		costs_predict(&costs, maps, 3, n % 2);
		one = print_costs(&costs, &n_one);
		two = strdup(one);
		if (costs_parse(two, n_one, &back) == 1) {
			free(two);
			two = print_costs(&back, &n_two);
			check(n_one == n_two && !memcmp(one, two, n_one), "costs differ");
			costs_free(&back);
		}
		free(one);
		free(two);
		costs_free(&costs);
	}
	check(!fail_message(), "message");
}

static void
try_numbers(FILE *file, char *text, size_t n)
{
	struct numbers numbers;
	char number[32];
	double v, again;
	long whole;

	(void)file;
	for (const char *separators = " "; separators; separators = *separators == ' ' ? "," : NULL)
		if (numbers_parse(text, separators, &numbers) == 0) {
			check(numbers.n <= n + 1, "more numbers than the text can hold");
			numbers_free(&numbers);
		} else
			check(numbers.n == 0 && !numbers.v, "numbers in spite of the status");
	if (number_parse(text, &v) == 0) {
		check(number_parse(number_format(v, number), &again) == 0, "number");
		check(v == again || (isnan(v) && isnan(again)), "number differs");
	}
	if (integer_parse(text, &whole) == 0)
		check(number_parse(text, &v) == 0 && v == (double)whole, "whole number");
	check(!fail_message(), "message");
}

static void
try_keys(FILE *file, char *text, size_t n)
{
	struct frame_head head, back;
	char *lines, *again;
	int status;

	(void)file;
	check(head_init(&head, 3, 2, 2, SAMPLE_UCHAR) == 0, "head");
	status = head_from_text(&head, text, n);
	check(status == 0 || strstr(fail_message(), "more than"), "key lines are never wrong");
	fail_clear();
	lines = head_to_text(&head);
	check(lines != NULL, "key lines");
	check(head_init(&back, 3, 2, 2, SAMPLE_UCHAR) == 0, "head");
	check(head_from_text(&back, lines, strlen(lines)) == 0, "key lines back");
	again = head_to_text(&back);
	check(!strcmp(lines, again), "key lines differ");
	check(meta_equal(&head.meta, &back.meta), "keys differ");
	meta_append_command(&head.meta, text);
	fail_clear();
	for (const char *p = text; *p; p++)
		escape_needed(p);
	head_free(&head);
	head_free(&back);
	free(lines);
	free(again);
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	static void (*const parts[])(FILE *, char *, size_t) = { try_manifest, try_lut, try_costs,
		try_numbers, try_keys };
	char *text;
	FILE *file;

	if (n < 2)
		return 0;
	text = malloc(n);
	check(text != NULL, "memory");
	memcpy(text, data + 1, n - 1);
	text[n - 1] = '\0';
	file = fmemopen(text, n - 1, "rb");
	check(file != NULL, "fmemopen");
	parts[*data % (sizeof(parts) / sizeof(*parts))](file, text, n - 1);
	fclose(file);
	free(text);
	return 0;
}
