#define _GNU_SOURCE
#include "fringe/lut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"

#define ROWS_MOST 1000000

static int
append(const char *path, struct lut *lut, double input, double output)
{
	double *more;

	if (lut->n == ROWS_MOST)
		return fail(path, "table has more than %d rows", ROWS_MOST);
	if (lut->n ? input <= lut->input[lut->n - 1] : input != 0.0)
		return fail(path, "inputs must ascend from 0, row %zu has %g", lut->n + 1, input);
	more = reallocarray(lut->input, lut->n + 1, sizeof(*more));
	if (!more)
		return fail_memory();
	lut->input = more;
	more = reallocarray(lut->output, lut->n + 1, sizeof(*more));
	if (!more)
		return fail_memory();
	lut->output = more;
	lut->input[lut->n] = input;
	lut->output[lut->n++] = output;
	return 0;
}

/* *words: the numbers in each row, 0 before the first one. */
static int
take_line(const char *path, size_t number, char *line, struct lut *lut, size_t *words)
{
	struct numbers row;
	int status = 0;

	line += strspn(line, " \t\r\n");
	if (!*line || *line == '#')
		return 0;
	for (char *p = line; *p; p++)
		if (strchr("\t\r\n", *p))
			*p = ' ';
	if (numbers_parse(line, " ", &row) < 0)
		return fail(path, "line %zu is not one or two numbers: %.60s", number, line);
	if (*words == 0)
		*words = row.n;
	if (row.n > 2 || row.n != *words)
		status = fail(path, "line %zu has %zu numbers, not %zu", number, row.n,
		    *words > 2 ? (size_t)2 : *words);
	for (size_t i = 0; i < row.n && status == 0; i++)
		if (!isfinite(row.v[i]))
			status = fail(path, "line %zu is not finite: %.60s", number, line);
	if (status == 0)
		status = append(path, lut, row.n == 2 ? row.v[0] : (double)lut->n,
		    row.v[row.n - 1]);
	numbers_free(&row);
	return status;
}

static int
normalise(const char *path, struct lut *lut)
{
	double full;

	if (lut->n < 2)
		return fail(path, "table has %zu rows, at least 2 are needed", lut->n);
	full = lut->input[lut->n - 1];
	for (size_t i = 0; i < lut->n; i++) {
		if (lut->output[i] < 0.0 || lut->output[i] > full)
			return fail(path, "row %zu has output %g, not one from 0 to the "
			    "last input, %g", i + 1, lut->output[i], full);
		lut->input[i] /= full;
		lut->output[i] /= full;
	}
	return 0;
}

int
lut_read(FILE *file, const char *path, struct lut *out)
{
	char *line = NULL;
	size_t size = 0, number = 0, words = 0;
	int status = 0;

	*out = (struct lut){ 0 };
	while (status == 0 && getline(&line, &size, file) >= 0)
		status = take_line(path, ++number, line, out, &words);
	if (status == 0 && ferror(file))
		status = fail_errno(path, "cannot be read");
	if (status == 0)
		status = normalise(path, out);
	free(line);
	if (status < 0)
		lut_free(out);
	return status;
}

int
lut_load(const char *path, struct lut *out)
{
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "rb");
	int status;

	*out = (struct lut){ 0 };
	if (!file)
		return fail_errno(path, "table cannot be opened");
	status = lut_read(file, path, out);
	if (!standard)
		fclose(file);
	return status;
}

void
lut_free(struct lut *lut)
{
	free(lut->input);
	free(lut->output);
	*lut = (struct lut){ 0 };
}

double
lut_value(const struct lut *lut, double share)
{
	size_t low = 0, high = lut->n - 1;
	double t;

	if (!(share > 0.0))
		return lut->output[0];
	if (share >= 1.0)
		return lut->output[high];
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (lut->input[middle] <= share)
			low = middle;
		else
			high = middle;
	}
	t = (share - lut->input[low]) / (lut->input[high] - lut->input[low]);
	return lut->output[low] + t * (lut->output[high] - lut->output[low]);
}

void
lut_compensate(const struct lut *lut, double gamma, float *level, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (lut->n)
			level[i] = (float)lut_value(lut, level[i]);
		else if (gamma != 1.0)
			level[i] = (float)pow(fmax(level[i], 0.0), 1.0 / gamma);
	}
}
