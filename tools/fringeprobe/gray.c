/*
 * Which of the images left over are Gray planes, in which order? Every pixel has its own bright and
 * dark level, so that neither albedo nor the light of the fringes matters. Where a plane of a Gray
 * code changes, the next finer one is bright and all finer ones are dark: this tells which images
 * are planes and which inverses. Of all orders that the numbers of edges allow, that one is taken
 * in which the value changes by one, one way. Names and the order of files only decide between
 * orders that fit equally well.
 *
 * From top to bottom: images and their levels; inverses; the order of planes; planes in which
 * little or nothing is seen; what a cell is in fringes, and where periods begin; flat images.
 */
#include "fringeprobe.h"

#include <limits.h>

/* ---- images that may be planes, and their levels ---- */

#define FLAT_NAMES "white black flat uniform bright dark ambient"
#define STRANGERS_MOST 4	/* images neither bright nor dark, which spoil the levels */
#define STRANGER_IMAGES 60	/* of more images none is looked for: time grows with n^3 */
#define STRANGER_GAIN 0.6	/* in images that are clearly two-valued without it */
#define MIN_PLANES_CLEAR 0.75	/* share of clear pixels of a plane */

static void
search_free(struct gray_search *search)
{
	for (size_t i = 0; i < GRAY_IMAGES_MOST; i++)
		for (int axis = 0; axis < 2; axis++)
			free_all(search->image[i].bit[axis], search->image[i].side[axis],
			    search->image[i].edge[axis]);
	pool_free(&search->pool);
}

/* How many of the images are two-valued, without one of them; *far: by the better way to find
 * levels. */
static double
count_two_valued(const struct gray_search *search, size_t without, double *share, bool *far)
{
	double best = 0;

	fringeprobe_rows()->gray_two_valued(search, without, share);
	for (int way = 0; way < 2; way++) {
		double sum = 0;

		for (size_t i = 0; i < search->n; i++) {
			double at = share[(size_t)way * search->n + i];

			sum += at + (at > MIN_PLANES_CLEAR);
		}
		if (sum <= best)
			continue;
		best = sum;
		*far = way;
	}
	return best;
}

/* Leaves out images that are neither bright nor dark, without which more of the others are: a
 * photo, a board. */
static void
leave_out_strangers(struct gray_search *search, double *share)
{
	double before = count_two_valued(search, SIZE_MAX, share, &search->far);

	if (search->n > STRANGER_IMAGES)
		return;
	for (int round = 0; round < STRANGERS_MOST && search->n >= 5; round++) {
		double best = 0;
		size_t worst = 0;
		bool far;

		for (size_t i = 0; i < search->n; i++) {
			double found = count_two_valued(search, i, share, &far);

			if (found > best) {
				best = found;
				worst = i;
			}
		}
		if (best < before + STRANGER_GAIN)
			break;
		search->n--;
		memmove(search->image + worst, search->image + worst + 1,
		    (search->n - worst) * sizeof(*search->image));
		search->image[search->n] = (struct gray_image){ 0 };
		before = count_two_valued(search, SIZE_MAX, share, &search->far);
	}
}

/* The edges of image i along the axis. */
static void
find_edges(struct gray_search *search, size_t i)
{
	int axis = search->axis;
	const struct field *field = &search->sets->field[axis];
	struct gray_image *image = &search->image[i];
	struct gray_edge *room = must_large(field->lines * field->length + 1, sizeof(*room));

	image->edges[axis] = fringeprobe_rows()->gray_edges(search, i, room);
	free(image->edge[axis]);
	image->edge[axis] = must_resize(room, image->edges[axis] + 1, sizeof(*room));
	image->per_line[axis] = (double)image->edges[axis] /
	    fmax(1, (double)search->seen_lines[axis]);
}

static double
edges_of(const struct gray_image *image)
{
	return fmax(image->per_line[0], image->per_line[1]);
}

/* Does an image look like a plane, or like a flat one? Few edges cannot be blurred away. */
static void
classify(const struct gray_search *search, struct gray_image *image)
{
	double per_line = edges_of(image), least = search->sets->n ? 0.8 : 0.88, density[2];

	for (int axis = 0; axis < 2; axis++)
		density[axis] = (double)image->edges[axis] /
		    fmax(1, (double)search->seen_pixels[axis]);
	image->axis = density[1] > density[0];
	/* without an edge nothing is between: a laser's line is */
	image->constant = image->same > (per_line < 0.02 ? 0.985 : 0.85) && per_line < 0.35 &&
	    image->two_valued > 0.8 && image->contrast < 1.35;
	least = per_line < 2.5 ? least : per_line < 6 ? least - 0.1 : 0;
	image->strong = (image->two_valued > 0.72 ||
	    (image->two_valued > 0.55 && image->contrast > 0.85)) && image->contrast < 1.5 &&
	    image->beyond < 0.1 && !(fabs(image->level) > 0.8 && per_line > 1.3);
	image->strong = (image->strong || image->constant) && image->two_valued >= least;
}

/* The mean of n images in each pixel. */
static void
gray_light(const struct field *field, const size_t *image, size_t n, float *light)
{
	for (size_t p = 0; p < field->lines * field->length; p++) {
		light[p] = 0;
		for (size_t k = 0; k < n; k++)
			light[p] += field->v[image[k]][p] / (float)n;
	}
}

/* Fills in all of the images along both axes. */
static void
measure_images(struct gray_search *search)
{
	const struct fringeprobe_rows *rows = fringeprobe_rows();
	struct sets *sets = search->sets;

	for (int axis = 0; axis < 2; axis++) {
		const struct field *field = &sets->field[axis];
		const struct fringe_set *set = sets->fringe;
		size_t pixels = field->lines * field->length, flat = set->flat ? set->flat - 1 : 0;
		float *light = sets->n ? field->pair : NULL;

		if (light)
			gray_light(field, set->steps.image + flat, set->flat ? 1 :
			    set->steps.n, light);
		search->axis = axis;
		search->seen[axis] = pool_alloc(&search->pool, pixels, sizeof(bool));
		search->low[axis] = pool_alloc(&search->pool, pixels, sizeof(float));
		search->high[axis] = pool_alloc(&search->pool, pixels, sizeof(float));
		rows->gray_levels(search, light);
		for (size_t i = 0; i < search->n; i++) {
			struct gray_image *image = &search->image[i];

			image->bit[axis] = must_large(pixels, sizeof(float));
			image->side[axis] = must_large(pixels, 1);
			rows->gray_bits(search, i);
			find_edges(search, i);
		}
	}
	for (size_t i = 0; i < search->n; i++) {
		rows->gray_measure(search, i);
		classify(search, &search->image[i]);
	}
}

/* Takes the images that are no fringes, and measures them. */
static void
search_new(struct sets *sets, struct gray_search *search)
{
	double *room;

	*search = (struct gray_search){ .sets = sets };
	search->image = pool_alloc(&search->pool, GRAY_IMAGES_MOST, sizeof(*search->image));
	for (size_t i = 0; i < sets->images && search->n < GRAY_IMAGES_MOST; i++)
		if (sets->kind[i] == KIND_UNKNOWN)
			search->image[search->n++].image = i;
	if (search->n < 2)
		return;
	room = must_alloc(2 * search->n, sizeof(*room));
	leave_out_strangers(search, room);
	free(room);
	measure_images(search);
}

/* The image of the search that is image i of all; SIZE_MAX: none. */
static size_t
search_at(const struct gray_search *search, long i)
{
	for (size_t k = 0; k < search->n; k++)
		if ((long)search->image[k].image == i)
			return k;
	return SIZE_MAX;
}

static const char *
name_of(const struct gray_search *search, size_t i)
{
	return search->sets->image[search->image[i].image]->name;
}

/* Do the names of two images have the same letters? Names of digits, or of digits and A to F, have
 * none. */
static bool
same_letters(const char *a, const char *b)
{
	size_t n = strspn(a, "0123456789abcdefABCDEF"), m = strspn(b, "0123456789abcdefABCDEF");

	if ((a[n] == '.' || !a[n]) && (b[m] == '.' || !b[m]))
		return true;
	for (;; a++, b++) {
		a += strspn(a, "0123456789.-");
		b += strspn(b, "0123456789.-");
		if (*a != *b || !*a)
			return *a == *b;
	}
}

/* ---- planes along one axis, and their inverses ---- */

#define OPPOSITE -0.84		/* alike: an inverse */
#define TWIN 0.9		/* the same image again */

static double
per_line(const struct gray_search *search, size_t k)
{
	return search->image[k].per_line[search->axis];
}

/* The image that is the opposite of i, both ways; SIZE_MAX: none. */
static size_t
find_inverse(const struct gray_search *search, const size_t *image, size_t n, size_t i)
{
	size_t best = SIZE_MAX, from = i;

	for (int way = 0; way < 2; way++) {
		double least = OPPOSITE;

		best = SIZE_MAX;
		for (size_t k = 0; k < n; k++) {
			double alike = image[k] == from ? 1 : fringeprobe_rows()->gray_alike(
			    search, from, image[k]);

			if (alike < least) {
				least = alike;
				best = image[k];
			}
		}
		if (best == SIZE_MAX)
			return SIZE_MAX;
		if (way == 0)
			from = best;
	}
	return best == i ? from : SIZE_MAX;
}

/* The sum of image k's bits, -1 to 1, at the edges of image j. */
static double
gray_at_edges(const struct gray_search *search, size_t j, size_t k)
{
	const struct gray_image *image = &search->image[j];
	const float *bit = search->image[k].bit[search->axis];
	double sum = 0;

	for (size_t e = 0; e < image->edges[search->axis]; e++) {
		const struct gray_edge *edge = &image->edge[search->axis][e];
		size_t p = edge->p + (edge->x - floorf(edge->x) >= 0.5f);

		sum += (double)fmaxf(-1, fminf(1, bit[p]));
	}
	return sum;
}

/* Gathers the planes; of pairs the half difference, which has no error of the middle. */
static void
planes_gather(struct gray_search *search)
{
	const struct fringeprobe_rows *rows = fringeprobe_rows();
	struct sets *sets = search->sets;
	size_t image[GRAY_IMAGES_MOST], n = 0, paired = 0;

	for (size_t i = 0; i < search->n; i++) {
		const struct gray_image *at = &search->image[i];

		search->inverse[i] = SIZE_MAX;
		if (at->strong && !at->constant && at->axis == search->axis &&
		    (edges_of(at) > 0.3 || at->same < 0.85))
			image[n++] = i;
	}
	for (size_t k = 0; k < n; k++) {
		search->inverse[image[k]] = find_inverse(search, image, n, image[k]);
		paired += search->inverse[image[k]] != SIZE_MAX;
	}
	search->inverses = (4 * paired >= 3 * n && paired >= 2) || (2 * paired >= n && paired >= 4);
	search->lone = paired && paired < n;
	search->planes = 0;
	memset(search->taken, 0, sizeof(search->taken));
	for (size_t k = 0; k < n; k++) {
		size_t i = image[k], inverse = search->inverse[i], j = 0;

		if (!search->inverses)
			search->inverse[i] = SIZE_MAX;
		else if (inverse == SIZE_MAX || inverse < i)
			continue;
		while (j < search->planes && rows->gray_alike(search, i, search->plane[j]) <= TWIN)
			j++;
		if (j < search->planes) {
			sets->kind[search->image[i].image] = KIND_TWIN;
			sets->other[search->image[i].image] = search->image[search->plane[j]].image;
			search->taken[i] = true;
			continue;
		}
		if (search->planes == GRAY_MOST)
			continue;
		search->plane[search->planes++] = i;
		if (!search->inverses)
			continue;
		rows->gray_difference(search, i, inverse);
		find_edges(search, i);
	}
}

/* ---- the order of planes ---- */

#define MAX_CHANGE_GAP_PX 3	/* seen pixels whose values are compared */
#define MIN_FOLD_STEPS 3	/* steps one after another, both ways: the value turns back */
#define ORDERS_MOST 4		/* of the same planes */
#define TIE 0.35		/* edges in a line, or this share of them: */
#define TIE_SHARE 0.12		/* so many may two planes have in the wrong order */
#define BETTER 0.01		/* in score: less is no difference */
#define AGREEMENT 0.5		/* least, of a code next to fringes, */
#define AGREEMENT_ALONE 0.6	/* or without */
#define AGREEMENT_SURE 0.9
#define MARGIN_LEAST 0.5	/* less does not tell whether a plane is inverted */
#define MARGIN_SURE 0.6
#define FLIP_COST 0.03		/* in score: a plane that is inverted, */
#define FLIP_PAIR_COST 0.003	/* or has changed places with its inverse */

/* An order of planes, the coarsest first. */
struct plane_order {
	size_t n, plane[GRAY_MOST];
	bool flip[GRAY_MOST];		/* bright where it should be dark */
	double margin[GRAY_MOST];	/* how clearly it is what it should be, 0 to 1 */
	double agreement, score;	/* agreement: negative where the value falls */
	double level;			/* mean of the value; of pairs as if it grew */
};

/* How far one after another, up or down, the files are. */
static size_t
count_run(const size_t *plane, size_t n)
{
	size_t up = 0, down = 0;

	for (size_t k = 1; k < n; k++) {
		up += plane[k] > plane[k - 1];
		down += plane[k] < plane[k - 1];
	}
	return up > down ? up : down;
}

/* Do they come one after another, the same number of files apart where they are few? */
static bool
is_run(const size_t *plane, size_t n)
{
	for (size_t k = 2; k < n && n < 5; k++)
		if ((long)plane[k] - (long)plane[k - 1] != (long)plane[1] - (long)plane[0])
			return false;
	return count_run(plane, n) + 1 >= n;
}

/* How the value of a code changes along the lines. */
struct changes {
	double up, down, other;		/* steps of one, each way */
	size_t folded, lines;		/* lines in which it goes far both ways; all lines */
	double sum, pixels;		/* of the value, over seen pixels */
};

static void
gray_count_changes(const struct gray_search *search, struct changes *out)
{
	const struct field *field = &search->sets->field[search->axis];
	const bool *seen = search->seen[search->axis];
	const unsigned *value = search->value;

	*out = (struct changes){ .lines = field->lines };
	for (size_t l = 0; l < field->lines; l++) {
		size_t last = SIZE_MAX, in_row[2] = { 0 }, most[2] = { 0 };

		for (size_t p = l * field->length; p < (l + 1) * field->length; p++) {
			if (!seen[p])
				continue;
			out->sum += value[p];
			out->pixels++;
			if (last != SIZE_MAX && p - last <= MAX_CHANGE_GAP_PX &&
			    value[p] != value[last]) {
				bool down = value[p] + 1 == value[last];

				if (down || value[p] == value[last] + 1) {
					*(down ? &out->down : &out->up) += 1;
					in_row[down]++;
					in_row[!down] = 0;
					if (in_row[down] > most[down])
						most[down] = in_row[down];
				} else {
					out->other++;
				}
			}
			last = p;
		}
		out->folded += most[0] >= MIN_FOLD_STEPS && most[1] >= MIN_FOLD_STEPS;
	}
}

/* How much brighter than dark plane b is where the code wants it to be: the next finer plane is
 * bright at the edges of a coarser one, all finer ones are dark. *edges: of the coarser planes. */
static double
sum_at_coarser(const struct gray_search *search, const size_t *plane, size_t b, double *edges)
{
	double sum = 0;

	*edges = 0;
	for (size_t a = 0; a < b; a++) {
		sum += (a + 1 == b ? 1 : -1) * gray_at_edges(search, plane[a], plane[b]);
		*edges += (double)search->image[plane[a]].edges[search->axis];
	}
	return sum;
}

/* Fills in which planes are inverted, and how well the order fits. */
static void
judge(const struct gray_search *search, struct plane_order *order)
{
	struct changes changes;
	size_t flips = 0, other = 0, unclear = 0;
	double steps;

	order->flip[0] = false;
	order->margin[0] = 1;
	for (size_t b = 1; b < order->n; b++) {
		double edges, sum = sum_at_coarser(search, order->plane, b, &edges);

		order->flip[b] = sum < 0;
		order->margin[b] = edges > 0 ? fabs(sum) / edges : 0;
		unclear += order->margin[b] < MARGIN_LEAST;
		flips += order->flip[b];
		other += !order->flip[b];
	}
	fringeprobe_rows()->gray_values(search, order->plane, order->flip, order->n, true);
	gray_count_changes(search, &changes);
	steps = changes.up + changes.down;
	order->agreement = steps > 0 ? (changes.up - changes.down) / (steps + changes.other) : 0;
	order->level = changes.sum / fmax(1, changes.pixels);
	if (search->inverses && order->agreement < 0)
		order->level = pow(2, (double)order->n) - 1 - order->level;
	if (search->inverses && other < flips)	/* all are the second of their pairs */
		flips = other;
	order->score = fabs(order->agreement) - 0.1 * (double)unclear -
	    (search->inverses ? FLIP_PAIR_COST : FLIP_COST) * (double)flips;
}

static void
swap(size_t *a, size_t *b)
{
	size_t c = *a;

	*a = *b;
	*b = c;
}

/* Have planes a and b about as many edges that they may change places? */
static bool
is_tie(const struct gray_search *search, size_t a, size_t b)
{
	double x = per_line(search, a), y = per_line(search, b);

	return fabs(x - y) < fmax(TIE, TIE_SHARE * x);
}

/* Orders that the planes may have: by their numbers of edges, where planes of about as many come as
 * the files do, up and down; and that of the files, both ways. Returns how many differ. */
static size_t
list_orders(const struct gray_search *search, struct plane_order all[ORDERS_MOST])
{
	size_t n = 0, same;

	for (int way = 0; way < ORDERS_MOST; way++) {
		struct plane_order order = { .n = search->planes };
		bool down = way & 1;

		for (size_t k = 0; k < order.n; k++)
			order.plane[k] = search->plane[down ? order.n - 1 - k : k];
		for (size_t i = 1; i < order.n && way < 2; i++)
			for (size_t k = i; k > 0 && per_line(search, order.plane[k]) <
			    per_line(search, order.plane[k - 1]); k--)
				swap(&order.plane[k], &order.plane[k - 1]);
		for (size_t i = 0; i < order.n && way < 2; i++)
			for (size_t k = 1; k < order.n; k++)
				if (is_tie(search, order.plane[k - 1], order.plane[k]) &&
				    (order.plane[k - 1] > order.plane[k]) == !down)
					swap(&order.plane[k], &order.plane[k - 1]);
		all[n] = order;
		for (same = 0; memcmp(all[same].plane, order.plane, sizeof(order.plane)); same++)
			;
		n += same == n;
	}
	return n;
}

static double
least_margin(const struct plane_order *order, size_t but)
{
	double least = 1;

	for (size_t k = 1; k < order->n; k++)
		if (k != but)
			least = fmin(least, order->margin[k]);
	return least;
}

/* Leaves out images that the finer planes do not heed: lines of a laser. */
static void
drop_strangers(const struct gray_search *search, struct plane_order *order)
{
	for (int round = 0; round < 3 && order->n > 2; round++) {
		struct plane_order best = *order, other;
		double gain = 0;

		for (size_t k = 0; k < order->n; k++) {
			double more, clearer;

			other = *order;
			other.n--;
			memmove(other.plane + k, other.plane + k + 1,
			    (other.n - k) * sizeof(*other.plane));
			judge(search, &other);
			more = fabs(other.agreement) - fabs(order->agreement);
			clearer = least_margin(&other, SIZE_MAX) - least_margin(order, k);
			if (fabs(order->agreement) < AGREEMENT_SURE ? more < 0.08 :
			    order->n < 4 || k + 1 == order->n || clearer < 0.1 ||
			    least_margin(&other, SIZE_MAX) < 0.85 || more < -0.01)
				continue;
			if (fmax(more, clearer) <= gain)
				continue;
			gain = fmax(more, clearer);
			best = other;
		}
		if (best.n == order->n)
			return;
		*order = best;
	}
}

/* The best order, of several the one of the files, or else the one of the smallest values: a
 * projector shows column 0, but not all that so many planes count. Returns how many others fit as
 * well. */
static size_t
find_order(const struct gray_search *search, struct plane_order *best)
{
	struct plane_order all[ORDERS_MOST];
	size_t n = list_orders(search, all), near = 0, chosen = 0;
	double most = -INFINITY;

	for (size_t k = 0; k < n; k++) {
		judge(search, &all[k]);
		most = fmax(most, all[k].score);
	}
	for (size_t k = 0; k < n; k++) {
		bool run = is_run(all[k].plane, all[k].n);
		bool was = is_run(all[chosen].plane, all[chosen].n);

		if (all[k].score <= most - BETTER)
			continue;
		if (near++ == 0 || run > was || (run == was && all[k].level < all[chosen].level))
			chosen = k;
	}
	*best = all[chosen];
	drop_strangers(search, best);
	return near - 1;
}

/* ---- from an order to a code: which of each pair is the plane; holes, weak planes, flats ---- */

#define MISSING_PLANES 4	/* fewer do not tell that one is missing */
#define MAX_HOLE 3		/* planes without an edge between two others */

static long
file_of(const struct gray_search *search, size_t i)
{
	return (long)search->image[i].image;
}

/* Are at least half of the others as many files from their inverses as the first plane is? Then
 * their places tell which of a pair is the plane. */
static bool
is_pattern(const struct gray_search *search, const struct gray_code *code)
{
	size_t same = 0;

	for (size_t k = 1; k < code->n; k++)
		same += labs(file_of(search, code->plane[k]) - file_of(search, code->inverse[k])) ==
		    labs(file_of(search, code->plane[0]) - file_of(search, code->inverse[0]));
	return code->n > 1 && 2 * same >= code->n - 1;
}

/* While a code is searched its planes and inverses are images of the search. */
static void
code_start(struct gray_search *search, const struct plane_order *order, struct gray_code *code)
{
	size_t second = 0, flips = 0;

	*code = (struct gray_code){ .axis = search->axis, .n = order->n,
		.inverses = search->inverses, .agreement = fabs(order->agreement),
		.falls = order->agreement < 0, .cells = (double)NAN };
	for (size_t k = 0; k < order->n; k++) {
		size_t image = order->plane[k], inverse = search->inverse[image];

		flips += order->flip[k];
		code->plane[k] = order->flip[k] && code->inverses ? inverse : image;
		code->inverse[k] = order->flip[k] && code->inverses ? image : inverse;
		code->inverted[k] = order->flip[k] && !code->inverses;
		second += k && code->plane[k] > code->inverse[k];
	}
	/* the first plane: as the others are, or so that the code rises */
	if (code->inverses && (second == 0 || second == order->n - 1) && is_pattern(search, code) ?
	    (code->plane[0] > code->inverse[0]) != (second > 0) :
	    code->inverses && code->falls) {
		swap(&code->plane[0], &code->inverse[0]);
		code->falls = !code->falls;
	}
	/* all but the first are inverted: that one is, too */
	code->inverted[0] = flips > 2 && flips == order->n - 1 && !code->inverses;
	for (size_t k = 0; k < code->n; k++) {
		search->taken[code->plane[k]] = true;
		if (code->inverses)
			search->taken[code->inverse[k]] = true;
	}
}

static void
code_insert(struct gray_search *search, struct gray_code *code, size_t at, size_t plane,
    size_t inverse)
{
	if (code->n == GRAY_MOST)
		return;
	memmove(code->plane + at + 1, code->plane + at, (code->n - at) * sizeof(*code->plane));
	memmove(code->inverse + at + 1, code->inverse + at,
	    (code->n - at) * sizeof(*code->inverse));
	memmove(code->inverted + at + 1, code->inverted + at,
	    (code->n - at) * sizeof(*code->inverted));
	code->plane[at] = plane;
	code->inverse[at] = inverse;
	code->inverted[at] = false;
	code->n++;
	search->taken[plane] = true;
	if (code->inverses)
		search->taken[inverse] = true;
}

/* The place of each pixel in cells, linear between the edges of a cell; NaN: none. Returns the mean
 * number of cells in a pixel, 0: none are seen. */
static double
gray_place(const struct gray_search *search, float *place)
{
	const struct field *field = &search->sets->field[search->axis];
	const bool *seen = search->seen[search->axis];
	const unsigned *value = search->value;
	double cells = 0, pixels = 0;

	for (size_t l = 0; l < field->lines; l++) {
		size_t last = SIZE_MAX, from = SIZE_MAX;	/* pixel before; cell's first */
		float edge = 0;					/* where that begins */
		int way = 0;

		for (size_t p = l * field->length; p < (l + 1) * field->length; p++) {
			int step;

			place[p] = NAN;
			if (!seen[p])
				continue;
			step = last == SIZE_MAX ? 0 : (int)value[p] - (int)value[last];
			if (last != SIZE_MAX && (p - last > MAX_CHANGE_GAP_PX ||
			    (step && step != 1 && step != -1))) {
				from = SIZE_MAX;
			} else if (step) {
				float here = (float)(last + p) / 2;

				for (size_t q = from; way == step && q < p; q++)
					if (seen[q])
						place[q] = (float)value[q] + (step < 0) +
						    (float)step * ((float)q - edge) / (here - edge);
				cells += from != SIZE_MAX && way == step;
				pixels += from != SIZE_MAX && way == step ? (double)(p - from) : 0;
				from = p;
				edge = here;
				way = step;
			}
			last = p;
		}
	}
	return pixels > 0 ? cells / pixels : 0;
}

#define WEAK_FINER 3		/* planes finer than the strong ones that are looked for */
#define WEAK_SIGMAS 8
#define WEAK_CORRELATION 0.2
#define WEAK_STRIPE_PX 2.3	/* narrower stripes are not looked for */

/* Adds finer planes whose images follow the pattern that the coarser ones predict. */
static void
add_weak(struct gray_search *search, const float *place, double cells_per_pixel,
    struct gray_code *code)
{
	for (int finer = 1; finer <= WEAK_FINER && code->n < GRAY_MOST; finer++) {
		double factor = pow(2, finer - 1), best[2] = { 0 };
		size_t found[2] = { SIZE_MAX, SIZE_MAX };

		if (2 / factor / cells_per_pixel <= WEAK_STRIPE_PX)
			return;
		for (size_t i = 0; i < search->n; i++) {
			double sigmas, follows, other;
			bool coarser = false;

			if (search->taken[i] || search->image[i].constant)
				continue;
			follows = fringeprobe_rows()->gray_follow(search, i, place, factor,
			    &sigmas);
			if (fabs(sigmas) < WEAK_SIGMAS || fabs(follows) < WEAK_CORRELATION ||
			    fabs(follows) <= best[follows < 0])
				continue;
			for (int f = finer + 1; f <= WEAK_FINER && !coarser; f++) {
				other = fringeprobe_rows()->gray_follow(search, i, place,
				    pow(2, f - 1), &sigmas);
				coarser = fabs(other) > fabs(follows);
			}
			if (coarser)
				continue;
			best[follows < 0] = fabs(follows);
			found[follows < 0] = i;
		}
		if (found[0] == SIZE_MAX || (code->inverses && found[1] == SIZE_MAX))
			return;
		code_insert(search, code, code->n, found[0], found[1]);
		code->weak++;
	}
}

/* The image that comes where a finer plane would, if it is as grey as one without contrast is. */
static size_t
finer_image(const struct gray_search *search, const size_t *plane, size_t n)
{
	const struct gray_image *image = search->image;
	long step = (long)image[plane[n - 1]].image - (long)image[plane[n - 2]].image;
	size_t at = search_at(search, (long)image[plane[n - 1]].image + step);

	if (n > 2 && step != (long)image[plane[n - 2]].image - (long)image[plane[n - 3]].image)
		return SIZE_MAX;
	if (at == SIZE_MAX || search->taken[at] || image[at].strong || image[at].beyond > 0.05 ||
	    image[at].contrast > 0.85 || fabs(image[at].level) > 0.35 ||
	    !same_letters(name_of(search, at), name_of(search, plane[n - 1])))
		return SIZE_MAX;
	return at;
}

/* Adds planes that are too fine to be seen, by the order of the files alone. */
static void
add_blurred(struct gray_search *search, struct gray_code *code)
{
	while (code->n >= 2 && code->n < GRAY_MOST) {
		size_t plane = finer_image(search, code->plane, code->n);
		size_t inverse = code->inverses ? finer_image(search, code->inverse, code->n) : 0;

		if (plane == SIZE_MAX || inverse == SIZE_MAX)
			return;
		code_insert(search, code, code->n, plane, inverse);
		code->blurred++;
	}
}

/* An image that is bright or dark all over, in place `i` of the files, and free; else SIZE_MAX. */
static size_t
constant_at(const struct gray_search *search, long i)
{
	size_t at = search_at(search, i);

	return at == SIZE_MAX || search->taken[at] || !search->image[at].strong ||
	    !search->image[at].constant ? SIZE_MAX : at;
}

/* How some images stand in the files. */
struct file_row {
	long first, last, unit;		/* unit: the smallest distance of one from the next */
	size_t up;			/* how many come after the one before */
};

static struct file_row
file_row_of(const struct gray_search *search, const size_t *image, size_t n)
{
	struct file_row row = { .first = LONG_MAX, .unit = LONG_MAX };

	for (size_t k = 0; k < n; k++) {
		long at = file_of(search, image[k]);
		long step = k ? at - file_of(search, image[k - 1]) : LONG_MAX;

		row.unit = labs(step) < row.unit ? labs(step) : row.unit;
		row.up += k && step > 0;
		row.first = at < row.first ? at : row.first;
		row.last = at > row.last ? at : row.last;
	}
	return row;
}

/* The m-th constant image from one on the way to another, `unit` files apart; SIZE_MAX: none. */
static size_t
constant_between(const struct gray_search *search, size_t from, size_t to, long m, long unit)
{
	long at = file_of(search, from);

	return constant_at(search, at + m * (file_of(search, to) > at ? unit : -unit));
}

/* Between two planes the files leave room for some that have no edge in view. After such a hole a
 * plane seems to have changed places with its inverse: first all are as most of the files are. */
static void
fill_holes(struct gray_search *search, struct gray_code *code)
{
	const struct gray_image *image = search->image;
	size_t second = 0;
	long unit;

	for (size_t k = 1; k < code->n; k++)
		second += code->plane[k] > code->inverse[k];
	if (code->inverses && code->n > 3 && (second < 2 || second + 3 > code->n) &&
	    is_pattern(search, code))
		for (size_t k = 0; k < code->n; k++)
			if ((code->plane[k] > code->inverse[k]) != (second >= 2))
				swap(&code->plane[k], &code->inverse[k]);
	unit = file_row_of(search, code->plane, code->n).unit;
	for (size_t k = 0; k + 1 + code->weak + code->blurred < code->n && unit <= 2;) {
		long gap = labs(file_of(search, code->plane[k + 1]) -
		    file_of(search, code->plane[k])), missing = gap / unit - 1;
		size_t plane[MAX_HOLE], inverse[MAX_HOLE];
		bool fits = missing > 0 && missing <= MAX_HOLE && gap % unit == 0 &&
		    per_line(search, code->plane[k + 1]) < 2.7 * (double)(missing + 1);

		for (long m = 0; m < missing && fits; m++) {
			plane[m] = inverse[m] = constant_between(search, code->plane[k],
			    code->plane[k + 1], m + 1, unit);
			fits = plane[m] != SIZE_MAX;
			if (!fits || !code->inverses)
				continue;
			inverse[m] = constant_between(search, code->inverse[k],
			    code->inverse[k + 1], m + 1, unit);
			fits = inverse[m] != SIZE_MAX &&
			    image[plane[m]].level * image[inverse[m]].level < 0;
		}
		for (long m = missing; m-- > 0 && fits;)
			code_insert(search, code, k + 1, plane[m], inverse[m]);
		k += fits ? (size_t)missing + 1 : 1;
	}
}

/* The first and second image of each pair of plane and inverse; true: most planes are second. */
static bool
pair_places(const struct gray_code *code, size_t place[2][GRAY_MOST])
{
	size_t second = 0;

	for (size_t k = 0; k < code->n; k++) {
		bool swapped = code->inverses && code->plane[k] > code->inverse[k];

		place[swapped][k] = code->plane[k];
		place[!swapped][k] = code->inverse[k];
		second += swapped;
	}
	return 2 * second > code->n;
}

/* The constant image in the files beyond the coarse end of n planes, if these come one after
 * another, or two apart with inverses between; else SIZE_MAX. */
static size_t
coarser_image(const struct gray_search *search, const size_t *plane, size_t n, long most)
{
	struct file_row row = file_row_of(search, plane, n);

	return row.unit > most ? SIZE_MAX : constant_at(search, 2 * row.up >= n - 1 ?
	    row.first - row.unit : row.last + row.unit);
}

/* Where planes come in mixed order, and only images that are bright or dark all over stand between
 * them, these are the coarsest. Returns how many. */
static size_t
add_between(struct gray_search *search, struct gray_code *code)
{
	struct file_row row = file_row_of(search, code->plane, code->n);
	size_t n = 0;

	for (long i = row.first; i <= row.last; i++)
		n += constant_at(search, i) != SIZE_MAX;
	if (code->inverses || code->n + n != (size_t)(row.last - row.first) + 1)
		return 0;
	for (long i = row.first; i <= row.last; i++)
		if (constant_at(search, i) != SIZE_MAX)
			code_insert(search, code, 0, constant_at(search, i), SIZE_MAX);
	return n;
}

/* Adds coarse planes without an edge in view, as the files go on to them. Returns how many. */
static size_t
add_constants(struct gray_search *search, struct gray_code *code)
{
	const struct gray_image *image = search->image;
	size_t added = add_between(search, code), place[2][GRAY_MOST];

	while (code->n > 1 && code->n < GRAY_MOST) {
		bool second = pair_places(code, place);
		size_t at[2];

		for (size_t k = 0; k < 1 + (size_t)code->inverses; k++) {
			at[k] = coarser_image(search, place[k], code->n, 1 + code->inverses);
			if (at[k] == SIZE_MAX || names_say(name_of(search, at[k]), FLAT_NAMES) ||
			    !same_letters(name_of(search, at[k]), name_of(search, place[k][0])))
				return added;
		}
		if (code->inverses && image[at[0]].level * image[at[1]].level > 0)
			return added;
		code_insert(search, code, 0, at[second], code->inverses ? at[!second] : SIZE_MAX);
		added++;
	}
	return added;
}

/* Of constant images at the coarse end bright ones, or a bright and a dark one, are taken to be
 * flat ones, unless others are that; which they are stays a guess. */
static void
give_back_flats(struct gray_search *search, struct gray_code *code, size_t constants)
{
	const struct gray_image *image = search->image;
	bool white = false, black = false, named = false, apart = false;
	size_t give = 0;

	for (size_t i = 0; i < search->n; i++) {
		bool free = !search->taken[i] && image[i].strong && image[i].constant;

		white = white || (free && image[i].level > 0);
		black = black || (free && image[i].level < 0);
		named = named || names_say(name_of(search, i), FLAT_NAMES);
	}
	if (constants == 0 || named || (white && black) ||	/* or in two places of the files: */
	    (code->inverses && labs((long)code->plane[0] - (long)code->inverse[0]) > 1))
		return;
	for (size_t i = 0; i < search->sets->images; i++)	/* do names tell planes? */
		apart = apart || !same_letters(search->sets->image[i]->name,
		    name_of(search, code->plane[code->n - 1]));
	if (apart)
		return;
	if (code->inverses)
		give = (image[code->plane[0]].level > 0) == (code->plane[0] < code->inverse[0]);
	else if (constants > 1 && image[code->plane[0]].level * image[code->plane[1]].level < 0)
		give = 2;
	else
		give = image[code->plane[0]].level > 0;
	for (size_t k = 0; k < give; k++) {
		search->taken[code->plane[k]] = false;
		if (code->inverses)
			search->taken[code->inverse[k]] = false;
	}
	code->n -= give;
	memmove(code->plane, code->plane + give, code->n * sizeof(*code->plane));
	memmove(code->inverse, code->inverse + give, code->n * sizeof(*code->inverse));
	memmove(code->inverted, code->inverted + give, code->n * sizeof(*code->inverted));
	code->either = true;
}

/* Which plane is missing, if the order is no code for want of one? Each plane has as many edges as
 * all coarser ones, and twice as many if one is missing. */
static bool
find_gap(const struct gray_search *search, const struct plane_order *order, struct gray_code *code)
{
	double before = per_line(search, order->plane[0]);

	for (size_t b = 1; b < order->n && order->n >= MISSING_PLANES; b++) {
		double here = per_line(search, order->plane[b]);

		if (here > 1.5 * before + 1.5) {
			code->missing = GRAY_PLANE_MISSING;
			code->gap = b;
			return true;
		}
		before += here;
	}
	return false;
}

/* ---- what a cell is in fringes, and where periods begin ---- */

#define CELL_ERROR 0.01		/* of the slope: systematic */
#define COLUMN_CELLS 2.5	/* in a fringe: more are columns */
#define FITS 4			/* errors: a ratio fits, */
#define ALONE 8			/* and the next one does not */
#define COHERENT 0.6		/* of the edges' phase */
#define COLUMN_ORIGIN_ERROR 0.02	/* rad: where column 0 lies, by all pixels */
#define EDGE_ERROR 0.01			/* rad: the least of a plane's edges */

/* A cell as a number of fringes; edges per fringe that lie at one phase. */
static const struct {
	double cells;
	size_t edges;
} usual_cells[] = { { 0.25, 1 }, { 1.0 / 3, 1 }, { 0.5, 1 }, { 2.0 / 3, 2 }, { 0.75, 3 }, { 1, 1 },
	{ 4.0 / 3, 4 }, { 1.5, 3 }, { 2, 2 }, { 3, 3 }, { 4, 4 } };

#define USUAL_CELLS (sizeof(usual_cells) / sizeof(*usual_cells))

/* Adds the slope of a run of edges to the sums of its line, and begins the next run. */
static void
close_run(struct slope_sums *run, struct line_sums *sums, size_t line)
{
	if (run->n >= 2 && run->high - run->low > 1)
		line_sums_add(sums, line, run);
	*run = (struct slope_sums){ 0 };
}

/* Cells in a fringe, by the slope of value over phase at the edges in all lines. */
static double
measure_cells(const struct gray_search *search, const float *phase, double *error)
{
	const struct field *field = &search->sets->field[search->axis];
	const bool *seen = search->seen[search->axis];
	const unsigned *value = search->value;
	struct line_sums sums = { { 0 }, { 0 } };

	for (size_t l = 0; l < field->lines; l++) {
		struct slope_sums run = { 0 };
		size_t last = SIZE_MAX;

		for (size_t p = l * field->length; p < (l + 1) * field->length; p++) {
			int step;

			if (isnan(phase[p])) {
				close_run(&run, &sums, l);
				last = SIZE_MAX;
			}
			if (isnan(phase[p]) || !seen[p])
				continue;
			step = last == SIZE_MAX ? 0 : (int)value[p] - (int)value[last];
			if (step == 1 || step == -1)
				slope_add(&run, (double)(phase[p] + phase[last]) / (4 * M_PI),
				    (double)value[step > 0 ? p : last]);
			else if (step)
				close_run(&run, &sums, l);
			last = p;
		}
		close_run(&run, &sums, l);
	}
	return line_sums_slope(&sums, field->lines, error);
}

/* The usual number of cells that fits alone; 0: none, or several. */
static double
read_cells(double cells, double error, const double coherence[4])
{
	size_t best = 0, near = 0, last = 0;
	double next = INFINITY;

	error = hypot(error, CELL_ERROR * cells);
	for (size_t k = 0; k < USUAL_CELLS; k++) {
		double off = fabs(cells - usual_cells[k].cells);

		if (off < fabs(cells - usual_cells[best].cells))
			best = k;
		if (off < 1.5 * FITS * error && coherence[usual_cells[k].edges - 1] > COHERENT) {
			near++;
			last = k;
		}
	}
	for (size_t k = 0; k < USUAL_CELLS; k++)
		if (k != best)
			next = fmin(next, fabs(cells - usual_cells[k].cells));
	if (fabs(cells - usual_cells[best].cells) < FITS * error && next > ALONE * error)
		return usual_cells[best].cells;
	return near == 1 ? usual_cells[last].cells : 0;
}

const char *
gray_cells_near(const struct gray_code *code, char text[100])
{
	size_t used = 0;	/* 88 bytes if all are near */

	text[0] = '\0';
	for (size_t k = 0; k < USUAL_CELLS; k++)
		if (fabs(code->cells - usual_cells[k].cells) <
		    ALONE * hypot(code->cells_error, CELL_ERROR * code->cells))
			used += (size_t)sprintf(text + used, "%s%.3g", used ? " or " :
			    ", which may be ", usual_cells[k].cells);
	return text;
}

/* Sums of cos, sin of q times the phase at the edges of image i, q = 1 to 4, and edges. */
static void
gray_edge_phase(const struct gray_search *search, size_t i, const float *phase, double sums[9])
{
	const struct gray_image *image = &search->image[i];
	int axis = search->axis;

	for (size_t e = 0; e < image->edges[axis]; e++) {
		const struct gray_edge *edge = &image->edge[axis][e];
		float a = phase[edge->p], b = phase[edge->p + 1];
		double at = (double)(a + (edge->x - floorf(edge->x)) * (b - a));

		if (isnan(at) || fabsf(b - a) > (float)M_PI)
			continue;
		for (int q = 0; q < 4; q++) {
			sums[2 * q] += cos((q + 1) * at);
			sums[2 * q + 1] += sin((q + 1) * at);
		}
		sums[8]++;
	}
}

/* The phase of a set at the edges of all strong planes: its coherence with 1 to 4 in a turn. */
static void
edge_coherence(const struct gray_search *search, const struct gray_code *code, const float *phase,
    double coherence[4])
{
	double sums[9] = { 0 };

	for (size_t k = 0; k + code->weak + code->blurred < code->n; k++)
		gray_edge_phase(search, code->plane[k], phase, sums);
	for (int q = 0; q < 4; q++)
		coherence[q] = sums[8] > 0 ? hypot(sums[2 * q], sums[2 * q + 1]) / sums[8] : 0;
}

/* Where periods begin, by the edges of each plane; weights by their errors, which are larger where
 * planes differ by more than these. */
static void
find_origin(const struct gray_search *search, struct gray_code *code, const float *phase)
{
	size_t strong = code->n - code->weak - code->blurred;
	double at[GRAY_MOST], weight[GRAY_MOST], re = 0, im = 0, all = 0, squares = 0;
	size_t n = 0;

	code->edge_coherence = 1;
	if (code->cell == GRAY_CELL_HALF && strong == code->n)
		strong--;		/* whose edges lie in the middle of periods */
	for (size_t k = 0; k < strong; k++) {
		double sums[9] = { 0 }, coherence, error;

		gray_edge_phase(search, code->plane[k], phase, sums);
		if (sums[8] < 4)
			continue;
		coherence = hypot(sums[0], sums[1]) / sums[8];
		error = fmax(EDGE_ERROR, sqrt(2 * (1 - coherence) / sums[8]));
		at[n] = atan2(sums[1], sums[0]);
		weight[n] = 1 / (error * error);
		re += weight[n] * cos(at[n]);
		im += weight[n] * sin(at[n]);
		all += weight[n++];
		code->edge_coherence = fmin(code->edge_coherence, coherence);
	}
	code->edge_rad = atan2(im, re);
	for (size_t k = 0; k < n; k++)
		squares += weight[k] * pow(remainder(at[k] - code->edge_rad, 2 * M_PI), 2);
	code->edge_error_rad = sqrt(fmax(1, n > 1 ? squares / (double)(n - 1) : 1) / all);
	code->edge_rad *= code->falls ? -1 : 1;
	if (n == 0)
		code->edge_coherence = 0;
}

/* Computes the values by all planes that are clearly seen. held: by bits that stay until the other
 * is clear, which is late at blurred edges. */
static void
code_values(const struct gray_search *search, const struct gray_code *code, bool held)
{
	fringeprobe_rows()->gray_values(search, code->plane, code->inverted,
	    code->n - code->weak - code->blurred, held);
}

/* The same of the phase less 2 pi value / cells, of all pixels; sums[3]: sum of values. */
static void
gray_column_phase(const struct gray_search *search, const float *phase, double cells,
    double sums[4])
{
	const struct field *field = &search->sets->field[search->axis];
	const unsigned *value = search->value;

	for (size_t p = 0; p < field->lines * field->length; p++) {
		double at = (double)phase[p] - 2 * M_PI * (double)value[p] / cells;

		if (!search->seen[search->axis][p] || isnan(at))
			continue;
		sums[0] += cos(at);
		sums[1] += sin(at);
		sums[2]++;
		sums[3] += (double)value[p];
	}
}

/* The phase that column 0 has. */
static void
find_column_origin(const struct gray_search *search, struct gray_code *code, const float *phase)
{
	double fine = pow(2, (double)(code->weak + code->blurred)), cells = code->cells / fine;
	double sums[4] = { 0 }, sign = code->falls ? -1 : 1, off = fabs(code->cells -
	    round(code->cells)), error = code->cells_error;

	if (off < fmax(2e-3 * code->cells, 3 * error) && 3 * error < 0.5) {
		cells = round(code->cells) / fine;
		error = 0;
	}
	code_values(search, code, false);
	gray_column_phase(search, phase, sign * cells, sums);
	code_values(search, code, true);
	code->edge_rad = remainder(sign * atan2(sums[1], sums[0]) -
	    M_PI * (1 - 1 / fine) / cells, 2 * M_PI);
	code->edge_coherence = sums[2] > 0 ? hypot(sums[0], sums[1]) / sums[2] : 0;
	code->edge_error_rad = hypot(COLUMN_ORIGIN_ERROR, 2 * M_PI * sums[3] / fmax(1, sums[2]) *
	    error / fine / (cells * cells));
}

/* Compares the code with every fringe set along its axis. */
static void
compare_with_fringes(const struct gray_search *search, struct gray_code *code)
{
	const struct sets *sets = search->sets;
	double fine = pow(2, (double)(code->weak + code->blurred)), closest = INFINITY;
	double guess = INFINITY, error[SETS_MOST];
	size_t columns = SIZE_MAX, guessed = SIZE_MAX, last = SIZE_MAX;
	const float *phase;

	code->cell = GRAY_CELL_UNKNOWN;
	for (size_t k = 0; k < SETS_MOST; k++)
		code->cells_of[k] = (double)NAN;
	for (size_t k = 0; k < sets->n; k++) {
		double coherence[4], cells, found, off;

		if (sets->fringe[k].axis != search->axis)
			continue;
		phase = sets->fringe[k].phase;
		cells = fine * measure_cells(search, phase, &error[k]);
		if (isnan(cells))
			continue;
		last = k;
		error[k] *= fine;
		code->falls = cells < 0;	/* all phases grow along the lines */
		code->cells_of[k] = cells = fabs(cells);
		edge_coherence(search, code, phase, coherence);
		found = read_cells(cells, error[k], coherence);
		off = fabs(cells - found);
		if ((found == 1 || found == 2) && off < closest) {
			closest = off;
			code->cell = found == 1 ? GRAY_CELL_PERIOD : GRAY_CELL_HALF;
			code->set = k;
		}
		if (cells > COLUMN_CELLS && columns == SIZE_MAX)
			columns = k;
		off = fmin(fabs(cells - 1), fabs(cells - 2)) / hypot(error[k], CELL_ERROR * cells);
		if (found == 0 && off < guess) {
			guess = off;
			guessed = k;
		}
	}
	if (last == SIZE_MAX)
		return;
	if (code->cell == GRAY_CELL_UNKNOWN && columns != SIZE_MAX) {
		code->cell = GRAY_CELL_COLUMN;
		code->set = columns;
	} else if (code->cell == GRAY_CELL_UNKNOWN && guess < FITS) {
		code->set = guessed;
		code->cell = code->cells_of[guessed] < 1.5 ? GRAY_CELL_PERIOD : GRAY_CELL_HALF;
		code->unsure_cell = true;
	} else if (code->cell == GRAY_CELL_UNKNOWN) {
		code->set = last;
	}
	code->cells = code->cells_of[code->set];
	code->cells_error = error[code->set];
	phase = sets->fringe[code->set].phase;
	if (code->cell == GRAY_CELL_COLUMN)
		find_column_origin(search, code, phase);
	else
		find_origin(search, code, phase);
}

/* Does the value turn back where the phase does not, as it does without a coarser plane? */
static bool
is_folded(const struct gray_search *search, const struct gray_code *code)
{
	struct changes changes;

	gray_count_changes(search, &changes);
	return code->n >= 3 && search->sets->n &&
	    changes.other < 0.1 * (changes.up + changes.down) &&
	    (double)changes.folded > 0.3 * (double)changes.lines;
}

/* ---- the code along one axis ---- */

/* Writes down what the order of the files is, and what kind the images are; makes planes images of
 * all. */
static void
code_finish(const struct gray_search *search, struct gray_code *code)
{
	struct sets *sets = search->sets;
	size_t place[2][GRAY_MOST], second = 0;

	pair_places(code, place);
	for (size_t k = 0; k < code->n; k++)
		second += code->inverses && place[1][k] == code->plane[k];
	code->order = GRAY_MIXED;
	if (count_run(place[0], code->n) == code->n - 1)
		code->order = place[0][0] < place[0][1] ? GRAY_MSB_FIRST : GRAY_LSB_FIRST;
	code->swapped = second < code->n - second ? second : code->n - second;
	code->pairs = code->inverses;
	for (size_t k = 0; k < code->n; k++) {
		code->plane[k] = search->image[code->plane[k]].image;
		sets->kind[code->plane[k]] = KIND_GRAY;
		if (!code->inverses)
			continue;
		code->inverse[k] = search->image[code->inverse[k]].image;
		sets->kind[code->inverse[k]] = KIND_INVERSE;
		sets->other[code->inverse[k]] = code->plane[k];
		code->pairs = code->pairs && (code->plane[k] + 1 == code->inverse[k] ||
		    code->inverse[k] + 1 == code->plane[k]);
	}
}

/* What makes the order of its planes a guess; NULL: nothing. */
static const char *
find_doubt(const struct gray_search *search, const struct plane_order *order, size_t rivals,
    const struct gray_code *code)
{
	size_t place[2][GRAY_MOST];
	bool run;

	pair_places(code, place);
	run = is_run(place[0], code->n) && (!code->inverses ||
	    (is_run(place[1], code->n) && (code->n > 4 ||
	    place[1][0] - place[0][0] == place[1][1] - place[0][1])));
	if (rivals && (!run || code->n < 4))
		return "other orders of the planes fit as well";
	if (least_margin(order, SIZE_MAX) < MARGIN_SURE && !run)
		return "too few edges tell which planes are inverses";
	if (code->inverses && !run)
		return "nothing tells planes from inverses, but that the value is to grow";
	if (search->lone)
		return "some planes have an inverse, others have none";
	return code->agreement < AGREEMENT_SURE ? "more than a tenth of the code's changes are no "
	    "steps of one" : NULL;
}

/* Which planes are inverted, or have changed places with their inverses, now that planes without
 * an edge stand between others. */
static void
mend_signs(const struct gray_search *search, struct gray_code *code)
{
	for (size_t b = 1; b < code->n; b++) {
		double edges, sum = sum_at_coarser(search, code->plane, b, &edges);

		if (search->image[code->plane[b]].constant)
			continue;
		if (sum < 0 && code->inverses)
			swap(&code->plane[b], &code->inverse[b]);
		else if (!code->inverses)
			code->inverted[b] = sum < 0;
	}
}

/* Adds the planes of a code that are weak, have no edge in view or show no stripes, and compares it
 * with the fringes. */
static void
complete_code(struct gray_search *search, const struct plane_order *order, size_t rivals,
    struct gray_code *code)
{
	float *place = search->sets->field[search->axis].pair;
	double cells_per_pixel = gray_place(search, place);
	struct changes changes;

	if (cells_per_pixel > 0)
		add_weak(search, place, cells_per_pixel, code);
	fill_holes(search, code);
	mend_signs(search, code);
	give_back_flats(search, code, add_constants(search, code));
	code_values(search, code, true);
	gray_count_changes(search, &changes);
	code->falls = changes.down > changes.up;	/* bright planes without an edge turn it */
	compare_with_fringes(search, code);
	if (code->cell != GRAY_CELL_PERIOD && code->cell != GRAY_CELL_HALF)
		add_blurred(search, code);
	if (code->blurred)
		compare_with_fringes(search, code);
	code->doubt = find_doubt(search, order, rivals, code);
}

/* Looks for a code along one axis. */
static void
find_code(struct gray_search *search, struct gray *gray)
{
	struct plane_order order;
	struct gray_code code;
	size_t rivals;

	planes_gather(search);
	if (search->planes < (search->sets->n ? 1 : 2))
		return;
	rivals = find_order(search, &order);
	judge(search, &order);
	code_start(search, &order, &code);
	if (code.agreement >= (search->sets->n ? AGREEMENT : AGREEMENT_ALONE)) {
		complete_code(search, &order, rivals, &code);
		if (is_folded(search, &code))
			code.missing = GRAY_COARSE_MISSING;
		else if (!isnan(code.cells) && code.cell == GRAY_CELL_UNKNOWN)
			code.missing = code.agreement < AGREEMENT_SURE ? GRAY_COARSE_MISSING :
			    GRAY_TOO_COARSE;
	} else {
		if (!find_gap(search, &order, &code) && !is_folded(search, &code))
			return;
		if (!code.missing)
			code.missing = GRAY_COARSE_MISSING;
		code.gap += add_constants(search, &code);
	}
	code_finish(search, &code);
	if (code.missing)
		gray->part[gray->parts++] = code;
	else
		gray->code[gray->codes++] = code;
}

/* ---- flat images ---- */

/* The first white and the first black one, of those that names call flat if there are any. */
static void
take_flats(const struct gray_search *search, struct gray *gray)
{
	struct sets *sets = search->sets;

	for (int named = 1; named >= 0; named--)
		for (size_t k = 0; k < search->n; k++) {
			const struct gray_image *image = &search->image[k];
			size_t *place = image->level > 0 ? &gray->white : &gray->black;

			if (sets->kind[image->image] != KIND_UNKNOWN || !image->strong ||
			    !image->constant || *place != SIZE_MAX ||
			    names_say(name_of(search, k), FLAT_NAMES) != named)
				continue;
			*place = image->image;
			sets->kind[image->image] = image->level > 0 ? KIND_WHITE : KIND_BLACK;
		}
}

/* An image next to a plane in the files that fits nothing may be one more plane. */
static void
doubt_neighbours(const struct sets *sets, struct gray_code *code)
{
	for (size_t k = 0; k < code->n && !code->doubt; k++)
		for (int side = -1; side <= 1; side += 2) {
			size_t i = code->plane[k] + (size_t)side;	/* SIZE_MAX: none before */

			if (i < sets->images && sets->kind[i] == KIND_UNKNOWN)
				code->doubt = "an image next to the planes fits nothing";
		}
}

void
gray_find(struct sets *sets, struct gray *gray)
{
	struct gray_search search;

	search_new(sets, &search);
	*gray = (struct gray){ .white = SIZE_MAX, .black = SIZE_MAX };
	for (int axis = 0; axis < 2 && search.n >= 2; axis++) {
		search.axis = axis;
		search.value = must_alloc(sets->field[axis].lines * sets->field[axis].length,
		    sizeof(*search.value));
		find_code(&search, gray);
		free(search.value);
	}
	if (!gray->parts && (sets->n || gray->codes))
		take_flats(&search, gray);
	for (size_t c = 0; c < gray->codes; c++)
		doubt_neighbours(sets, &gray->code[c]);
	search_free(&search);
}
