/*
 * Which images are Gray planes, in which order? A list of images is a Gray code if its value
 * changes by one, and one way, wherever it changes. Lists are tried as the files come, from both
 * ends, with and without inverses and flat images, and each image left out in turn.
 */
#include "fringeprobe.h"

#include <stdlib.h>
#include <string.h>

#include "base/process.h"

/* Makes the bits of image i, if they are not there. */
static void
make_bits(struct gray_search *search, size_t i)
{
	const struct field *field = &search->sets->field[search->axis];

	if (search->bit[i])
		return;
	search->bit[i] = search->bits + i * field->lines * field->length;
	fringeprobe_rows()->gray_threshold(search, i);
}

/*
 * ---- planes that are exchanged, inverted or missing ----
 *
 * Where a plane of a Gray code changes, the next finer one is bright and all finer ones are dark:
 * it changes in the middle of their stripes. That tells the order of the planes without their
 * values.
 */

/* Where a plane changes, another one is dark or bright: shares of bright pixels there. */
#define DARK_MOST 0.25
#define BRIGHT_LEAST 0.75
#define PLANES_LEAST 4		/* fewer tell too little */

/* Is b as it should be where a changes, which stands `apart` planes before it? 1, 0; -1: nothing
 * tells. */
static int
is_right(const struct edges *edges, size_t a, size_t b, size_t apart)
{
	double bright = edges->bright[a][b];

	if (!(bright <= DARK_MOST || bright >= BRIGHT_LEAST))
		return -1;
	return (bright >= BRIGHT_LEAST) == (apart == 1);
}

/* Pairs of planes that are as they should be, in this order, or that are not. */
static size_t
count_pairs(const struct edges *edges, const size_t *order, bool right)
{
	size_t pairs = 0;

	for (size_t a = 0; a < edges->n; a++)
		for (size_t b = a + 1; b < edges->n; b++)
			pairs += is_right(edges, order[a], order[b], b - a) == right;
	return pairs;
}

/* Do neighbours tell enough, in this order? */
static bool
tells(const struct edges *edges, const size_t *order)
{
	size_t known = 0;

	for (size_t a = 0; a + 1 < edges->n; a++)
		known += is_right(edges, order[a], order[a + 1], 1) >= 0;
	return edges->n >= PLANES_LEAST && known >= 2 && known + 3 >= edges->n;
}

static void
swap(size_t *a, size_t *b)
{
	size_t c = *a;

	*a = *b;
	*b = c;
}

/* The two planes that are best in each other's place. */
static bool
exchange_two_planes(const struct edges *edges, size_t *order, struct gray_code *code)
{
	size_t most = 0, best[2] = { 0, 0 };

	for (size_t a = 0; a < code->n; a++)
		for (size_t b = a + 1; b < code->n; b++) {
			size_t right;

			swap(&order[a], &order[b]);
			right = tells(edges, order) && !count_pairs(edges, order, false) ?
			    count_pairs(edges, order, true) : 0;
			swap(&order[a], &order[b]);
			if (right <= most)
				continue;
			most = right;
			best[0] = a;
			best[1] = b;
		}
	swap(&code->plane[best[0]], &code->plane[best[1]]);
	swap(&code->inverse[best[0]], &code->inverse[best[1]]);
	code->order = GRAY_MIXED;
	return most > 0;
}

/* Where an inverted plane is wrong before it, and a plane is missing only to its neighbour, nothing
 * tells them apart but the number of stripes: twice as many as all before, not as many. */
static bool
has_gap(const struct edges *edges, size_t b, bool *surely)
{
	double before = 0;

	for (size_t a = 0; a < b; a++)
		before += edges->in_line[a];
	*surely = edges->in_line[b] > 1.5 * before + 1.5;
	if (edges->in_line[b] < 0.5 || edges->in_line[b] < before - 1.5)
		return false;		/* no finer plane */
	for (size_t a = 0; a + 1 < b; a++)
		if (is_right(edges, a, b, b - a) == 0)
			return false;
		else if (is_right(edges, a, b, b - a) == 1)
			*surely = true;
	return *surely || edges->in_line[b] < 4;
}

/* Planes that are inverted, or one that is missing. */
static bool
invert_planes(const struct edges *edges, struct gray_code *code)
{
	bool inverted[GRAY_MOST] = { false };
	size_t gaps = 0, gap = 0, flips = 0, known = 0;
	bool surely = false;

	for (size_t b = 1; b < code->n; b++) {
		size_t right = 0, wrong = 0;

		for (size_t a = 0; a < b; a++) {
			int is = is_right(edges, a, b, b - a);

			right += is == 1;
			wrong += is == 0;
		}
		known += right + wrong > 0;
		if (wrong == 0)
			continue;
		if (is_right(edges, b - 1, b, 1) == 0 && has_gap(edges, b, &surely)) {
			gaps++;
			gap = b;
			continue;
		}
		if (right)
			return false;
		inverted[b] = true;
		flips++;
	}
	if (gaps && flips >= 2 && !surely) {	/* one of those that are inverted */
		flips += gaps;
		for (size_t b = 1; b < code->n; b++)
			inverted[b] = inverted[b] || is_right(edges, b - 1, b, 1) == 0;
		gaps = 0;
	}
	if (gaps == 1 && flips == 0) {
		code->missing = surely ? GRAY_PLANE_MISSING : GRAY_MISSING_OR_INVERTED;
		code->gap = gap;
		return true;
	}
	if (gaps || flips == 0)
		return false;
	for (size_t b = 0; b < code->n; b++) {
		inverted[b] = inverted[b] || (flips == known && flips >= 3);	/* all are */
		if (inverted[b] && code->inverses)
			swap(&code->plane[b], &code->inverse[b]);
		else
			code->inverted[b] = inverted[b];
		code->swapped += inverted[b] && code->inverses;
	}
	if (code->swapped == code->n)	/* the inverses are the planes */
		code->swapped = 0;
	return true;
}

/* Looks for what is wrong with the planes of a code in this order: corrected has codes in which
 * exchanged or inverted planes are right, or a missing one is recorded. How many; 0: nothing is
 * wrong, or nothing tells. */
static size_t
gray_defects_find(const struct gray_search *search, const struct gray_code *code,
    struct gray_code corrected[2])
{
	struct edges edges;
	size_t order[GRAY_MOST], n = 0;

	if (code->n < PLANES_LEAST)
		return 0;
	fringeprobe_rows()->gray_find_edges(search, code, &edges);
	for (size_t k = 0; k < code->n; k++)
		order[k] = k;
	if (count_pairs(&edges, order, false) == 0 || !tells(&edges, order))
		return 0;
	corrected[n] = *code;
	n += exchange_two_planes(&edges, order, &corrected[n]);
	corrected[n] = *code;
	n += invert_planes(&edges, &corrected[n]);
	return n;
}

/* ---- what a Gray code counts, by the fringes ---- */

#define GREY 0.6		/* contrast of a plane whose stripes are blurred away */

/* How a code's value grows with the phase. */
static void
compare_with_fringes(const struct gray_search *search, struct gray_code *code)
{
	const struct field *field = &search->sets->field[search->axis];
	float *value = field->scratch;
	struct growth growth;
	double cells;

	fringeprobe_rows()->gray_values(search, code, value);
	fringeprobe_rows()->growth_find(field->lines, field->length, search->fringe->phase, value,
	    &growth);
	code->falls = growth.ratio < 0;
	cells = fabs(growth.ratio) * 2 * M_PI;
	code->cells = cells;
	code->cells_error = growth.error * 2 * M_PI;
	code->cell = fabs(cells - 1) < 0.12 ? GRAY_CELL_PERIOD :
	    fabs(cells - 2) < 0.2 ? GRAY_CELL_HALF :
	    cells > 2.5 ? GRAY_CELL_COLUMN : GRAY_CELL_UNKNOWN;
	fringeprobe_rows()->gray_find_origin(search, code, value);
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

/* Columns are counted right only with all planes: those that are too fine to be seen belong to the
 * code, too, and halve its cells. */
static void
add_blurred(struct gray_search *search, struct gray_code *code)
{
	size_t plane, inverse = 0;

	while (code->cell == GRAY_CELL_COLUMN && code->n < GRAY_MOST &&
	    finer_plane(search, code->plane, code->n, &plane) &&
	    (!code->inverses || finer_plane(search, code->inverse, code->n, &inverse))) {
		make_bits(search, plane);
		code->plane[code->n] = plane;
		code->inverse[code->n++] = inverse;
		code->blurred++;
	}
	if (code->blurred)
		compare_with_fringes(search, code);
}

/* ---- the search ---- */

#define CONSTANT 0.5		/* crossings in a line: the image is bright or dark all over */
#define AGREEMENT 0.5		/* least, of a code */
#define AGREEMENT_ALONE 0.7	/* without fringes */
#define AGREEMENT_PART 0.9	/* that makes it likelier than a larger one with a missing plane */
#define HALF_CELL 0.06		/* of a fringe's 0.5, where the finest plane is missing */
#define BETTER 0.02		/* in agreement, to be preferred to an earlier list */
#define BETTER_MIXED 0.05	/* the same of a list in no usual order */
#define BLURRED 0.45		/* share of pixels between bright and dark: no Gray plane */
#define BLURRED_FEW 0.2		/* the same of an image with few edges */
#define FEW_EDGES 6
#define FOLD_LINES 0.3		/* share of lines in which the value turns back */
#define FOLD_OTHER 0.1		/* the most other changes then, as a share of the steps */
#define FLAT_NAMES "white black flat uniform bright dark ambient"

/* The share of the value's changes that are steps of one, those of one way less those of the other;
 * negative where the value falls. */
static double
agreement(const struct changes *changes)
{
	double steps = changes->up + changes->down;

	return steps > 0 ? (changes->up - changes->down) / (steps + changes->other) : 0;
}

/* Offers a code to the search, if it is better than those before; prefers more planes. */
static void
offer(struct gray_search *search, struct gray_code *code)
{
	double best = search->best.agreement, found;
	struct changes changes;

	fringeprobe_rows()->gray_count_changes(search, code, &changes);
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

	fringeprobe_rows()->gray_count_changes(search, code, &changes);
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

/* The same with what is wrong with some planes corrected, if that can be seen. */
static void
offer_corrected(struct gray_search *search, struct gray_code code)
{
	struct gray_code corrected[2];
	size_t n = gray_defects_find(search, &code, corrected);

	code.axis = search->axis;
	if (n == 0 && search->fringe && is_folded(search, &code)) {
		corrected[n] = code;
		corrected[n].missing = GRAY_COARSE_MISSING;
		corrected[n++].gap = first_changing(search, &code);
	} else if (n == 0) {
		offer(search, &code);
	}
	for (size_t i = 0; i < n; i++) {
		corrected[i].axis = search->axis;
		if (!corrected[i].missing)
			offer(search, &corrected[i]);
		else if (corrected[i].n > search->part.n)
			search->part = corrected[i];
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
	offer_corrected(search, code);
	reverse(&code);
	code.order = GRAY_LSB_FIRST;
	offer_corrected(search, code);
	sorted.order = GRAY_MIXED;
	sort_by_edges(search, &sorted);
	offer_corrected(search, sorted);
}

/* A list of n images: planes alone, planes and then inverses, pairs. */
static void
try_list(struct gray_search *search, const size_t *image, size_t n)
{
	struct gray_code code = { .n = n };
	bool last = n >= 4 && n % 2 == 0, pairs = last;	/* inverses come last, or in pairs */
	const struct fringeprobe_rows *rows = fringeprobe_rows();

	for (size_t k = 0; 2 * k + 1 < n; k++) {
		last = last && rows->gray_is_opposite(search, image[k], image[k + n / 2]);
		pairs = pairs && rows->gray_is_opposite(search, image[2 * k], image[2 * k + 1]);
	}
	if (n <= GRAY_MOST && !last && !pairs) {
		memcpy(code.plane, image, n * sizeof(*image));
		try_orders(search, code);
	}
	if ((!last && !pairs) || n > 2 * GRAY_MOST)
		return;
	code = (struct gray_code){ .n = n / 2, .inverses = true, .pairs = !last };
	for (size_t k = 0; k < n / 2; k++) {
		code.plane[k] = image[last ? k : 2 * k];
		code.inverse[k] = image[last ? k + n / 2 : 2 * k + 1];
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

/* Lists by name: images of one group, then those of the group whose names say inverse. */
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
static void
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
		make_bits(search, i);
		search->image[search->n++] = i;
	}
}

/* Records a code in which a plane is missing: it decodes nothing. */
static void
take_part(struct gray_search *search, struct gray *gray, const struct gray_code *part)
{
	mark_planes(search->sets, part);
	gray->part[gray->parts++] = *part;
}

static void
find_code(struct gray_search *search, struct gray *gray)
{
	double least = search->fringe ? AGREEMENT : AGREEMENT_ALONE;
	struct gray_code *best = &search->best;

	gather(search, false);
	try_groups(search);
	try_lists(search);
	if (search->part.n && (best->agreement < least ||
	    (search->part.n > best->n && best->agreement < AGREEMENT_PART))) {
		take_part(search, gray, &search->part);
		return;
	}
	if (best->n < (search->fringe ? 2 : 3) || best->agreement < least)
		return;
	best->cells = (double)NAN;
	if (search->fringe) {
		compare_with_fringes(search, best);
		add_blurred(search, best);
	}
	if (search->fringe && best->cell == GRAY_CELL_UNKNOWN) {
		best->missing = GRAY_FINEST_MISSING;
		if (fabs(best->cells - 0.5) < HALF_CELL)	/* no code has other cells */
			take_part(search, gray, best);
		return;
	}
	mark_planes(search->sets, best);
	gray->code[gray->codes++] = *best;
}

int
gray_find(struct sets *sets, struct gray *gray)
{
	*gray = (struct gray){ .white = SIZE_MAX, .black = SIZE_MAX };
	for (int axis = 0; axis < 2; axis++) {
		struct gray_search search = { .sets = sets, .axis = axis };
		const struct field *field = &sets->field[axis];

		search.bits = calloc(sets->images, field->lines * field->length);
		if (!search.bits)
			return fail_memory();
		search.bit = must_alloc(sets->images, sizeof(*search.bit));
		for (size_t k = sets->n; k-- > 0;)
			if (sets->fringe[k].axis == axis)
				search.fringe = &sets->fringe[k];
		if (search.fringe || sets->n == 0)
			find_code(&search, gray);
		for (int named = 1; named >= 0; named--) {
			gather(&search, named);
			if (sets->n || gray->codes)
				take_flats(&search, gray);
		}
		free(search.bit);
		free(search.bits);
	}
	return 0;
}
