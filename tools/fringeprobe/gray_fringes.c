/* What a Gray code counts, by the fringes. */
#include <math.h>
#include <stdlib.h>

#include "gray_search.h"

#define GREY 0.6		/* contrast of a plane whose stripes are blurred away */

static float *
make_values(const struct gray_search *search, const struct gray_code *code)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length;
	float *value = malloc(pixels * sizeof(*value));

	if (!value)
		fail_memory();
	for (size_t p = 0; p < pixels && value; p++)
		value[p] = field->lit[p] && !isnan(search->fringe->phase[p]) ?
		    (float)gray_search_value(search, code, p) : NAN;
	return value;
}

/* The phase where the value changes to that of a period's first cell; or, of columns, the phase
 * that column 0 has. */
static void
find_edges(const struct gray_search *search, struct gray_code *code, const float *value)
{
	const struct field *field = &search->sets->field[search->axis];
	const float *phase = search->fringe->phase;
	double re = 0, im = 0, n = 0;
	float sign = code->falls ? -1 : 1;

	for (size_t p = 1; p < field->lines * field->length; p++) {
		float from = code->falls ? value[p] : value[p - 1];
		float to = code->falls ? value[p - 1] : value[p];
		double at;

		if (p % field->length == 0 || isnan(from) || isnan(to))
			continue;
		at = (double)(sign * (phase[p - 1] + phase[p]) / 2);
		if (code->cell == GRAY_CELL_COLUMN)
			at = (double)(sign * phase[p]) -
			    2 * M_PI * (double)value[p] / code->cells;
		else if (to != from + 1 || (code->cell == GRAY_CELL_HALF && (long)to % 2))
			continue;
		re += cos(at);
		im += sin(at);
		n++;
	}
	code->edge_rad = atan2(im, re);
	code->edge_coherence = n > 0 ? hypot(re, im) / n : 0;
}

int
gray_fringes_compare(const struct gray_search *search, struct gray_code *code)
{
	const struct field *field = &search->sets->field[search->axis];
	float *value = make_values(search, code);
	struct growth growth;
	double cells;

	if (!value)
		return -1;
	if (growth_find(field->lines, field->length, search->fringe->phase, value, &growth) < 0) {
		free(value);
		return -1;
	}
	code->falls = growth.ratio < 0;
	cells = fabs(growth.ratio) * 2 * M_PI;
	code->cells = cells;
	code->cells_error = growth.error * 2 * M_PI;
	code->cell = fabs(cells - 1) < 0.12 ? GRAY_CELL_PERIOD :
	    fabs(cells - 2) < 0.2 ? GRAY_CELL_HALF :
	    cells > 2.5 ? GRAY_CELL_COLUMN : GRAY_CELL_UNKNOWN;
	find_edges(search, code, value);
	free(value);
	return 0;
}

/* The image that comes where a finer plane would, if it is as grey as one without contrast is. */
static bool
finer_plane(const struct gray_search *search, const size_t *plane, size_t n, size_t *finer)
{
	const struct sets *sets = search->sets;
	const struct carrier *carrier;

	*finer = 2 * plane[n - 1] - plane[n - 2];	/* beyond all images where it is negative */
	if (*finer >= sets->images || sets->kind[*finer] != KIND_UNKNOWN)
		return false;
	carrier = &sets->carrier[search->axis][*finer];
	return carrier->contrast < GREY && fabs(carrier->level) < GREY / 2;
}

int
gray_fringes_add_blurred(struct gray_search *search, struct gray_code *code)
{
	size_t plane, inverse = 0;

	while (code->cell == GRAY_CELL_COLUMN && code->n < GRAY_MOST &&
	    finer_plane(search, code->plane, code->n, &plane) &&
	    (!code->inverses || finer_plane(search, code->inverse, code->n, &inverse))) {
		if (!search->bit[plane] && gray_search_bits(search, plane) < 0)
			return -1;
		code->plane[code->n] = plane;
		code->inverse[code->n++] = inverse;
		code->blurred++;
	}
	return code->blurred ? gray_fringes_compare(search, code) : 0;
}
