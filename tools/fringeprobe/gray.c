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

#include "gray_search.h"
#include "names.h"

#define CONSTANT 0.5		/* crossings in a line: the image is bright or dark all over */
#define AGREEMENT 0.5		/* least, of a code */
#define AGREEMENT_ALONE 0.7	/* without fringes */
#define AGREEMENT_PART 0.9	/* that makes it likelier than a larger one with a missing plane */
#define HALF_CELL 0.06		/* of a fringe's 0.5, where the finest plane is missing */
#define BETTER 0.02		/* in agreement, to be preferred to an earlier list; */
#define BETTER_MIXED 0.05	/* one in no usual order */
#define OPPOSITE 0.12		/* of pixels are alike in a plane and its inverse */
#define BLURRED 0.45		/* of pixels between bright and dark: no Gray plane; */
#define BLURRED_FEW 0.2		/* of one with few edges, that is */
#define FEW_EDGES 6
#define BACK_PIXELS 4		/* on both sides, over which a phase that falls */
#define BACK_PHASE -0.1f	/* rad more than that runs back */
#define FOLD_STEPS 3		/* one after another, both ways, in a line, and */
#define FOLD_LINES 0.3		/* of the lines: the value turns back; with */
#define FOLD_OTHER 0.1		/* other changes, at most, as parts of the steps */
#define FLAT_NAMES "white black flat uniform bright dark ambient"

static bool
is_opposite(const struct gray_search *search, size_t i, size_t j)
{
	const struct field *field = &search->sets->field[search->axis];
	size_t pixels = field->lines * field->length, alike = 0;

	for (size_t p = 0; p < pixels; p++)
		alike += field->lit[p] && search->bit[i][p] == search->bit[j][p];
	return (double)alike < OPPOSITE * (double)field->lit_pixels;
}

/* Does the phase fall about pixel p, as over a steep relief? */
static bool
runs_back(const struct gray_search *search, size_t p)
{
	size_t length = search->sets->field[search->axis].length, x = p % length;
	const float *phase = search->fringe ? search->fringe->phase : NULL;
	size_t before = x < BACK_PIXELS ? x : BACK_PIXELS;
	size_t behind = length - 1 - x < BACK_PIXELS ? length - 1 - x : BACK_PIXELS;

	return phase && phase[p + behind] - phase[p - before] < BACK_PHASE;
}

struct changes {
	double up, down, other;		/* steps of one, each way, with the phase */
	size_t folded, lines;		/* lines in which it goes far both ways; all lines */
};

/* How the value changes along the lines. */
static void
count_changes(const struct gray_search *search, const struct gray_code *code, struct changes *out)
{
	const struct field *field = &search->sets->field[search->axis];

	*out = (struct changes){ .lines = field->lines };
	for (size_t l = 0; l < field->lines; l++) {
		unsigned last = 0;
		bool lit = false;
		size_t in_row[2] = { 0 }, most[2] = { 0 };

		for (size_t x = 0; x < field->length; x++) {
			size_t p = l * field->length + x;
			unsigned value;

			if (!field->lit[p]) {
				lit = false;
				continue;
			}
			value = gray_search_value(search, code, p);
			if (lit && (value == last + 1 || value + 1 == last)) {
				bool down = (value + 1 == last) != runs_back(search, p);

				*(down ? &out->down : &out->up) += 1;
				in_row[down]++;
				in_row[!down] = 0;
				if (in_row[down] > most[down])
					most[down] = in_row[down];
			} else {
				out->other += lit && value != last;
			}
			last = value;
			lit = true;
		}
		out->folded += most[0] >= FOLD_STEPS && most[1] >= FOLD_STEPS;
	}
}

/* The share of the value's changes that are steps of one, those of one way less those of the other;
 * negative where the value falls. */
static double
agreement(const struct changes *changes)
{
	double steps = changes->up + changes->down;

	return steps > 0 ? (changes->up - changes->down) / (steps + changes->other) : 0;
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
offer(struct gray_search *search, struct gray_code *code)
{
	double best = search->best.agreement, found;
	struct changes changes;

	count_changes(search, code, &changes);
	found = agreement(&changes);
	code->axis = search->axis;
	code->agreement = fabs(found);
	code->falls = found < 0;
	if (code->agreement > best + (code->order == GRAY_MIXED ? BETTER_MIXED : BETTER) ||
	    (code->agreement > best - BETTER && code->n > search->best.n))
		search->best = *code;
}

/* Does the value turn back where the phase does not, as it does without a coarser plane? */
static bool
is_folded(const struct gray_search *search, const struct gray_code *code)
{
	struct changes changes;

	count_changes(search, code, &changes);
	return code->n >= 3 && changes.other < FOLD_OTHER * (changes.up + changes.down) &&
	    (double)changes.folded > FOLD_LINES * (double)changes.lines;
}

/* The first plane that changes. */
static size_t
first_changing(const struct gray_search *search, const struct gray_code *code)
{
	size_t k = 0;

	while (k + 1 < code->n && search->sets->carrier[search->axis][code->plane[k]].per_line <
	    CONSTANT)
		k++;
	return k;
}

/* The same with what is wrong with some planes mended, if that can be seen. */
static void
offer_mended(struct gray_search *search, struct gray_code code)
{
	struct gray_code mended[2];
	size_t n = gray_defects_find(search, &code, mended);

	code.axis = search->axis;
	if (n == 0 && search->fringe && is_folded(search, &code)) {
		mended[n] = code;
		mended[n].missing = GRAY_COARSE_MISSING;
		mended[n++].gap = first_changing(search, &code);
	} else if (n == 0) {
		offer(search, &code);
	}
	for (size_t i = 0; i < n; i++) {
		mended[i].axis = search->axis;
		if (!mended[i].missing)
			offer(search, &mended[i]);
		else if (mended[i].n > search->part.n)
			search->part = mended[i];
	}
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
sort_by_edges(const struct gray_search *search, struct gray_code *code)
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
try_orders(struct gray_search *search, struct gray_code code)
{
	struct gray_code sorted = code;

	if (code.n < 2 || code.n > GRAY_MOST)
		return;
	code.order = GRAY_MSB_FIRST;
	offer_mended(search, code);
	reverse(&code);
	code.order = GRAY_LSB_FIRST;
	offer_mended(search, code);
	sorted.order = GRAY_MIXED;
	sort_by_edges(search, &sorted);
	offer_mended(search, sorted);
}

/* A list of n images: planes alone, planes and then inverses, pairs. */
static void
try_list(struct gray_search *search, const size_t *image, size_t n)
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
is_constant(const struct gray_search *search, size_t i)
{
	return search->sets->carrier[0][i].per_line < CONSTANT &&
	    search->sets->carrier[1][i].per_line < CONSTANT;
}

/* A bright image and then a dark one. */
static bool
are_flats(const struct gray_search *search, size_t i, size_t j)
{
	return is_constant(search, i) && is_constant(search, j) &&
	    search->sets->carrier[search->axis][i].level > 0.4 &&
	    search->sets->carrier[search->axis][j].level < -0.4;
}

static void
try_lists(struct gray_search *search)
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
try_groups(struct gray_search *search)
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

/* ---- flat images ---- */

static void
take_flats(struct gray_search *search, struct gray *gray)
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
likely_axis(const struct gray_search *search, size_t i)
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
gather(struct gray_search *search, bool named_flats)
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
		if (!search->bit[i] && gray_search_bits(search, i) < 0)
			return -1;
		search->image[search->n++] = i;
	}
	return 0;
}

/* A code in which a plane is missing decodes nothing. */
static int
take_part(struct gray_search *search, struct gray *gray, const struct gray_code *part)
{
	mark_planes(search->sets, part);
	gray->part[gray->parts++] = *part;
	return 0;
}

static int
find_code(struct gray_search *search, struct gray *gray)
{
	double least = search->fringe ? AGREEMENT : AGREEMENT_ALONE;

	if (gather(search, false) < 0)
		return -1;
	try_groups(search);
	try_lists(search);
	if (search->part.n && (search->best.agreement < least ||
	    (search->part.n > search->best.n && search->best.agreement < AGREEMENT_PART)))
		return take_part(search, gray, &search->part);
	if (search->best.n < (search->fringe ? 2 : 3) || search->best.agreement < least)
		return 0;
	search->best.cells = (double)NAN;
	if (search->fringe && gray_fringes_compare(search, &search->best) < 0)
		return -1;
	if (search->fringe && gray_fringes_add_blurred(search, &search->best) < 0)
		return -1;
	if (search->fringe && search->best.cell == GRAY_CELL_UNKNOWN) {
		search->best.missing = GRAY_FINEST_MISSING;
		return fabs(search->best.cells - 0.5) < HALF_CELL ?
		    take_part(search, gray, &search->best) : 0;	/* no code has other cells */
	}
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
		struct gray_search search = { .sets = sets, .axis = axis };

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
