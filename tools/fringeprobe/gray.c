/*
 * Which images are Gray planes, in which order? A list of images is a Gray code if its value
 * changes by one, and one way, wherever it changes. Lists are tried as the files come, from both
 * ends, with and without inverses and flat images, and each image left out in turn.
 */
#define _GNU_SOURCE
#include "gray.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define CONSTANT 0.5		/* crossings in a line: the image is bright or dark all over */
#define AGREEMENT 0.5		/* least, of a code */
#define AGREEMENT_ALONE 0.7	/* without fringes */
#define BETTER 0.02		/* in agreement, to be preferred to an earlier list; */
#define BETTER_MIXED 0.05	/* one in no usual order */
#define OPPOSITE 0.12		/* of pixels are alike in a plane and its inverse */
#define BLURRED 0.45		/* of pixels between bright and dark: no Gray plane; */
#define BLURRED_FEW 0.2		/* of one with few edges, that is */
#define FEW_EDGES 6
#define GREY 0.6		/* contrast of a plane whose stripes are blurred away */
#define FLAT_NAMES "white black flat uniform bright dark ambient"

struct search {
	struct sets *sets;
	int axis;
	const struct fringe_set *fringe;	/* NULL: none along this axis */
	unsigned char **bit;		/* of the images that are looked at: 0, 1; NULL: others */
	size_t n, image[2 * GRAY_MOST + 4];	/* in the order of the files */
	struct gray_code best;
};

/* Brighter than the fringes' mean, or the middle of the range. */
static int
find_bits(struct search *search, size_t i)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length;

	search->bit[i] = calloc(pixels, 1);
	if (!search->bit[i])
		return fail_memory();
	for (size_t p = 0; p < pixels; p++) {
		float mean = search->fringe ? search->fringe->mean[p] : field->mid[p];

		search->bit[i][p] = field->v[i][p] > (isnan(mean) ? field->mid[p] : mean);
	}
	return 0;
}

static bool
is_opposite(const struct search *search, size_t i, size_t j)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length, alike = 0;

	for (size_t p = 0; p < pixels; p++)
		alike += field->lit[p] && search->bit[i][p] == search->bit[j][p];
	return (double)alike < OPPOSITE * (double)field->lit_pixels;
}

static unsigned
value_at(const struct search *search, const struct gray_code *code, size_t p)
{
	const struct field *field = &search->sets->field[search->axis];
	unsigned value = 0, last = 0;

	for (size_t k = 0; k < code->n; k++) {
		unsigned bit = search->bit[code->plane[k]][p];

		if (code->inverses)
			bit = field->v[code->plane[k]][p] > field->v[code->inverse[k]][p];
		last ^= bit;
		value = 2 * value + last;
	}
	return value;
}

/* The share of the value's changes that are steps of one, those of one way less those of the other;
 * negative where the value falls. */
static double
judge(const struct search *search, const struct gray_code *code)
{
	const struct field *field = &search->sets->field[search->axis];
	double up = 0, down = 0, other = 0;

	for (size_t l = 0; l < field->lines; l++) {
		unsigned last = 0;
		bool lit = false;

		for (size_t x = 0; x < field->length; x++) {
			size_t p = l * field->length + x;
			unsigned value;

			if (!field->lit[p]) {
				lit = false;
				continue;
			}
			value = value_at(search, code, p);
			up += lit && value == last + 1;
			down += lit && value + 1 == last;
			other += lit && value != last && value != last + 1 && value + 1 != last;
			last = value;
			lit = true;
		}
	}
	return up + down > 0 ? (up - down) / (up + down + other) : 0;
}

static void
swap(size_t *a, size_t *b)
{
	size_t c = *a;

	*a = *b;
	*b = c;
}

/* Offers a code to the search, if it is better than those before; prefers more planes. */
static void
offer(struct search *search, struct gray_code *code)
{
	double found = judge(search, code), best = search->best.agreement;

	code->axis = search->axis;
	code->agreement = fabs(found);
	code->falls = found < 0;
	if (code->agreement > best + (code->order == GRAY_MIXED ? BETTER_MIXED : BETTER) ||
	    (code->agreement > best - BETTER && code->n > search->best.n))
		search->best = *code;
}

static void
reverse(struct gray_code *code)
{
	for (size_t k = 0; k < code->n / 2; k++) {
		swap(&code->plane[k], &code->plane[code->n - 1 - k]);
		swap(&code->inverse[k], &code->inverse[code->n - 1 - k]);
	}
}

/* Planes with few edges first. */
static void
sort_by_edges(const struct search *search, struct gray_code *code)
{
	const struct carrier *carrier = search->sets->carrier[search->axis];

	for (size_t i = 1; i < code->n; i++)
		for (size_t k = i; k > 0 && carrier[code->plane[k]].per_line + 0.5 <
		    carrier[code->plane[k - 1]].per_line; k--) {
			swap(&code->plane[k], &code->plane[k - 1]);
			swap(&code->inverse[k], &code->inverse[k - 1]);
		}
}

/* The planes of a list in all orders that are plausible. */
static void
try_orders(struct search *search, struct gray_code code)
{
	struct gray_code sorted = code;

	if (code.n < 2 || code.n > GRAY_MOST)
		return;
	code.order = GRAY_MSB_FIRST;
	offer(search, &code);
	reverse(&code);
	code.order = GRAY_LSB_FIRST;
	offer(search, &code);
	sorted.order = GRAY_MIXED;
	sort_by_edges(search, &sorted);
	offer(search, &sorted);
}

/* A list of n images: planes alone, planes and then inverses, pairs. */
static void
try_list(struct search *search, const size_t *image, size_t n)
{
	struct gray_code code = { .n = n };
	bool behind = n >= 4 && n % 2 == 0, pairs = behind;

	for (size_t k = 0; 2 * k + 1 < n; k++) {
		behind = behind && is_opposite(search, image[k], image[k + n / 2]);
		pairs = pairs && is_opposite(search, image[2 * k], image[2 * k + 1]);
	}
	if (n <= GRAY_MOST && !behind && !pairs) {
		memcpy(code.plane, image, n * sizeof(*image));
		try_orders(search, code);
	}
	if ((!behind && !pairs) || n > 2 * GRAY_MOST)
		return;
	code = (struct gray_code){ .n = n / 2, .inverses = true, .pairs = !behind };
	for (size_t k = 0; k < n / 2; k++) {
		code.plane[k] = image[behind ? k : 2 * k];
		code.inverse[k] = image[behind ? k + n / 2 : 2 * k + 1];
	}
	try_orders(search, code);
	for (size_t k = 0; k < n / 2; k++)
		swap(&code.plane[k], &code.inverse[k]);
	try_orders(search, code);
}

static bool
is_constant(const struct search *search, size_t i)
{
	return search->sets->carrier[0][i].per_line < CONSTANT &&
	    search->sets->carrier[1][i].per_line < CONSTANT;
}

/* A bright image and then a dark one. */
static bool
are_flats(const struct search *search, size_t i, size_t j)
{
	return is_constant(search, i) && is_constant(search, j) &&
	    search->sets->carrier[search->axis][i].level > 0.4 &&
	    search->sets->carrier[search->axis][j].level < -0.4;
}

static void
try_lists(struct search *search)
{
	size_t n = search->n, rest[2 * GRAY_MOST + 4];
	const size_t *image = search->image;

	if (n >= 4 && are_flats(search, image[n - 2], image[n - 1]))
		try_list(search, image, n - 2);
	if (search->best.pairs || search->best.order == GRAY_LSB_FIRST)
		search->best.either = search->best.n > 0;
	if (n >= 4 && are_flats(search, image[0], image[1]) && search->best.n == 0) {
		try_list(search, image + 2, n - 2);
		search->best.either = search->best.order == GRAY_MSB_FIRST;
	}
	if (search->best.agreement < AGREEMENT)
		try_list(search, image, n);
	for (size_t out = 0; out < n && search->best.agreement < AGREEMENT; out++) {
		memcpy(rest, image, out * sizeof(*image));
		memcpy(rest + out, image + out + 1, (n - out - 1) * sizeof(*image));
		try_list(search, rest, n - 1);
	}
}

/* Lists by name: images of one group, and behind them those of the group that is said to be the
 * inverse. */
static void
try_groups(struct search *search)
{
	struct image *const *name = search->sets->image;
	size_t first[2 * GRAY_MOST + 4];

	for (size_t g = 0; g < search->n; g++) {
		size_t n = 0, m;

		for (size_t i = 0; i < search->n; i++)
			if (names_same_group(name[search->image[g]]->name,
			    name[search->image[i]]->name))
				first[n++] = search->image[i];
		if (n < 2 || n == search->n || first[0] != search->image[g])
			continue;
		try_list(search, first, n);
		m = n;
		for (size_t i = 0; i < search->n && 2 * n <= GRAY_MOST * 2; i++)
			if (!names_same_group(name[first[0]]->name, name[search->image[i]]->name) &&
			    names_say(name[search->image[i]]->name, "inv neg compl"))
				first[m++] = search->image[i];
		if (m == 2 * n)
			try_list(search, first, m);
	}
}

/* ---- against the fringes ---- */

static float *
make_values(const struct search *search, const struct gray_code *code)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length;
	float *value = malloc(pixels * sizeof(*value));

	if (!value)
		fail_memory();
	for (size_t p = 0; p < pixels && value; p++)
		value[p] = field->lit[p] && !isnan(search->fringe->phase[p]) ?
		    (float)value_at(search, code, p) : NAN;
	return value;
}

/* The phase where the value changes to that of a period's first cell; or, of columns, the phase
 * that column 0 has. */
static void
find_edges(const struct search *search, struct gray_code *code, const float *value)
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

static int
compare_with_fringes(const struct search *search, struct gray_code *code)
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
finer_plane(const struct search *search, const size_t *plane, size_t n, size_t *finer)
{
	const struct sets *sets = search->sets;
	const struct carrier *carrier;

	*finer = 2 * plane[n - 1] - plane[n - 2];	/* beyond all images where it is negative */
	if (*finer >= sets->images || sets->kind[*finer] != KIND_UNKNOWN)
		return false;
	carrier = &sets->carrier[search->axis][*finer];
	return carrier->contrast < GREY && fabs(carrier->level) < GREY / 2;
}

/* Columns are counted right only with all planes: those that are too fine to be seen belong to the
 * code, too, and halve its cells. */
static int
add_blurred(struct search *search, struct gray_code *code)
{
	size_t plane, inverse = 0;

	while (code->cell == GRAY_CELL_COLUMN && code->n < GRAY_MOST &&
	    finer_plane(search, code->plane, code->n, &plane) &&
	    (!code->inverses || finer_plane(search, code->inverse, code->n, &inverse))) {
		if (!search->bit[plane] && find_bits(search, plane) < 0)
			return -1;
		code->plane[code->n] = plane;
		code->inverse[code->n++] = inverse;
		code->blurred++;
	}
	return code->blurred ? compare_with_fringes(search, code) : 0;
}

/* ---- flat images ---- */

static void
take_flats(struct search *search, struct gray *gray)
{
	struct sets *sets = search->sets;

	for (size_t k = 0; k < search->n; k++) {
		size_t i = search->image[k], *place;
		double level = sets->carrier[search->axis][i].level;

		if (sets->kind[i] != KIND_UNKNOWN || !is_constant(search, i) ||
		    fabs(level) < 0.4)
			continue;
		place = level > 0 ? &gray->white : &gray->black;
		if (*place != SIZE_MAX)
			continue;
		*place = i;
		sets->kind[i] = level > 0 ? KIND_WHITE : KIND_BLACK;
	}
}

static void
mark_planes(struct sets *sets, const struct gray_code *code)
{
	for (size_t k = 0; k < code->n; k++) {
		sets->kind[code->plane[k]] = KIND_GRAY;
		if (code->inverses) {
			sets->kind[code->inverse[k]] = KIND_INVERSE;
			sets->other[code->inverse[k]] = code->plane[k];
		}
	}
}

/* The axis of an image that is bright or dark all over is that of the next image, or else the last
 * one, with edges, of the same group of names if there is one. */
static int
likely_axis(const struct search *search, size_t i)
{
	struct sets *sets = search->sets;
	size_t n = sets->images;

	for (int group = 1; group >= 0; group--)
		for (size_t step = 1; step < 2 * n; step++) {
			size_t j = step < n ? i + step : i + n - step;

			if (step < n ? j >= n : j >= i)
				continue;
			if (sets->kind[j] == KIND_UNKNOWN && !is_constant(search, j) &&
			    (!group || names_same_group(sets->image[i]->name,
			    sets->image[j]->name)))
				return sets_axis(sets, j);
		}
	return search->axis;
}

/* Takes the images that may be planes; those whose names say that they are flat wait. */
static int
gather(struct search *search, bool named_flats)
{
	struct sets *sets = search->sets;

	search->n = 0;
	for (size_t i = 0; i < sets->images; i++) {
		const struct carrier *carrier = &sets->carrier[search->axis][i];
		bool flat = names_say(sets->image[i]->name, FLAT_NAMES) && is_constant(search, i);

		bool few = carrier->per_line < FEW_EDGES;

		if (sets->kind[i] != KIND_UNKNOWN || flat != named_flats ||
		    carrier->between > (few ? BLURRED_FEW : BLURRED) ||
		    search->n == 2 * GRAY_MOST + 4)
			continue;
		if (!named_flats && (is_constant(search, i) ?
		    likely_axis(search, i) : sets_axis(sets, i)) != search->axis)
			continue;
		if (!search->bit[i] && find_bits(search, i) < 0)
			return -1;
		search->image[search->n++] = i;
	}
	return 0;
}

static int
find_code(struct search *search, struct gray *gray)
{
	double least = search->fringe ? AGREEMENT : AGREEMENT_ALONE;

	if (gather(search, false) < 0)
		return -1;
	try_groups(search);
	try_lists(search);
	if (search->best.n < (search->fringe ? 2 : 3) || search->best.agreement < least)
		return 0;
	search->best.cells = (double)NAN;
	if (search->fringe && compare_with_fringes(search, &search->best) < 0)
		return -1;
	if (search->fringe && add_blurred(search, &search->best) < 0)
		return -1;
	if (search->fringe && search->best.cell == GRAY_CELL_UNKNOWN)
		return 0;	/* no code has such cells */
	mark_planes(search->sets, &search->best);
	gray->code[gray->codes++] = search->best;
	return 0;
}

int
gray_find(struct sets *sets, struct gray *gray)
{
	int status = 0;

	*gray = (struct gray){ .white = SIZE_MAX, .black = SIZE_MAX };
	for (int axis = 0; axis < 2 && status == 0; axis++) {
		struct search search = { .sets = sets, .axis = axis };

		search.bit = calloc(sets->images, sizeof(*search.bit));
		if (!search.bit)
			return fail_memory();
		for (size_t k = sets->n; k-- > 0;)
			if (sets->fringe[k].axis == axis)
				search.fringe = &sets->fringe[k];
		if (search.fringe || sets->n == 0)
			status = find_code(&search, gray);
		for (int named = 1; named >= 0 && status == 0; named--) {
			status = gather(&search, named);
			if (status == 0 && (sets->n || gray->codes))
				take_flats(&search, gray);
		}
		for (size_t i = 0; i < sets->images; i++)
			free(search.bit[i]);
		free(search.bit);
	}
	return status;
}
