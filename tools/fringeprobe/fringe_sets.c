/*
 * Which images show the same fringes, moved? Images of one fringe pattern are A + B cos(phase +
 * shift) in each pixel: of rank three, whatever the surface, and any image is a weighted mean of
 * any three others. So sets are looked for in the Gram matrix of all images, over some lit pixels,
 * which costs the same for every order of the files; only what passes there is looked at in pixels.
 *
 * From top to bottom: lines of samples; what shifts mean; a set and its phase; shifts by the Gram
 * matrix (Wang and Han 2004); images that may be a set; how sets differ from what is none; three
 * steps and 2+1 images (Zhang and others 2006), which three images always are by the matrix;
 * fringes of which less than one is in view; all sets; how their frequencies are related.
 */
#include "fringeprobe.h"

#include "base/numbers.h"

/* ---- lines of samples ---- */

/* Of n images of one size. field_free(). */
static void
field_new(struct image *const *image, size_t n, int axis, double noise, struct field *field)
{
	size_t pixels;

	*field = (struct field){ .axis = axis, .n = n, .lines = image[0]->lines[axis],
		.noise = noise };
	field->length = axis ? image[0]->head.h : image[0]->head.w;
	pixels = field->lines * field->length;
	field->v = must_alloc(n, sizeof(*field->v));
	field->lit = must_alloc(pixels, sizeof(*field->lit));
	field->lit_at = must_alloc(pixels, sizeof(*field->lit_at));
	field->scratch = must_large(4 * pixels, sizeof(*field->scratch));
	field->pair = must_large(2 * pixels, sizeof(*field->pair));
	for (size_t i = 0; i < n; i++)
		field->v[i] = image[i]->line[axis];
	fringeprobe_rows()->field_measure(field);
}

static void
field_free(struct field *field)
{
	free_all(field->v, field->lit, field->lit_at, field->scratch, field->pair);
	*field = (struct field){ 0 };
}

/* ---- what shifts mean: steps of an n-th of a turn, in order or not, all or with gaps ---- */

#define MAX_STEP_ERROR 0.12	/* of a step: shifts are multiples of it */
/* The rms of five shifts and more about them, by what is left of the images. */
#define STEP_ERROR_OF_RESIDUAL 0.4
#define MIN_STEP_ERROR_RAD (2 * M_PI / 180)
#define MAX_STEP_ERROR_RAD (7 * M_PI / 180)
/* Three images fit any shifts, four any a, b, a + 180, b + 180: only crossings of the middle tell
 * theirs. */
#define MAX_STEP_ERROR_FEW_RAD (8 * M_PI / 180)
#define MAX_STEPS_OF_TURN 72		/* or as many as there are images */

static double
turn(double rad)
{
	double positive = fmod(rad, 2 * M_PI);

	return positive < 0 ? positive + 2 * M_PI : positive;
}

/* The distance from shift i to the next larger one that is farther than `least`. */
static double
gap_after(const struct steps *steps, size_t i, double least)
{
	double gap = 2 * M_PI;

	for (size_t j = 0; j < steps->n; j++) {
		double d = turn(steps->shift_rad[j] - steps->shift_rad[i]);

		if (j != i && d > least)
			gap = fmin(gap, d);
	}
	return gap;
}

/* Are the shifts multiples of 360/of degrees, all different? Their rms distance; NaN: no. */
static double
fit_multiples(const struct steps *steps, size_t of, size_t place[STEPS_MOST])
{
	double step = 2 * M_PI / (double)of, re = 0, im = 0, origin, squares = 0, worst = 0;
	double rms, most;
	bool taken[STEPS_MOST] = { false };

	for (size_t i = 0; i < steps->n; i++) {
		re += cos((double)of * steps->shift_rad[i]);
		im += sin((double)of * steps->shift_rad[i]);
	}
	origin = atan2(im, re) / (double)of;
	for (size_t i = 0; i < steps->n; i++) {
		double at = (steps->shift_rad[i] - origin) / step;

		place[i] = (size_t)(((long)round(at) % (long)of + (long)of) % (long)of);
		squares += pow(at - round(at), 2);
		worst = fmax(worst, fabs(at - round(at)));
		if (taken[place[i]])
			return (double)NAN;
		taken[place[i]] = true;
	}
	for (size_t i = steps->n; i-- > 0;)
		place[i] = (place[i] + of - place[0]) % of;
	rms = sqrt(squares / (double)steps->n);
	most = steps->n > 4 ? fmin(fmax(MIN_STEP_ERROR_RAD, STEP_ERROR_OF_RESIDUAL *
	    steps->residual), MAX_STEP_ERROR_RAD) : MAX_STEP_ERROR_FEW_RAD;
	if (of <= steps->n + 2)
		return worst < 0.25 && worst * step < MAX_STEP_ERROR_FEW_RAD && rms * step < most ?
		    rms * step : (double)NAN;
	return rms < MAX_STEP_ERROR && rms * step < most ? rms * step : (double)NAN;
}

/* Steps that n images may have: a turn's n-th part; with one or two missing; a usual angle. */
static bool
is_usual(size_t of, size_t n)
{
	static const size_t usual[] = { 4, 6, 8, 9, 10, 12, 16, 18, 20, 24, 36, 72 };
	bool found = of <= n + 2;

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		found |= usual[i] == of;
	return found;
}

/* How many steps it takes to go through the images in their order, one way. */
static size_t
travel(const struct steps_order *order, size_t n, int sign)
{
	size_t sum = 0;

	for (size_t i = 1; i < n; i++) {
		size_t up = (order->place[i] + order->of - order->place[i - 1]) % order->of;

		sum += sign > 0 ? up : order->of - up;
	}
	return sum;
}

/* Images that are where the order has them, if image `start` begins a turn. */
static size_t
in_place(const struct steps_order *order, size_t n, int sign, size_t start, bool at[STEPS_MOST])
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t want = sign > 0 ? start + i : start + order->of * n - i;

		at[i] = want % order->of == order->place[i];
		sum += at[i];
	}
	return sum;
}

/* The order in which the fewest images are out of place. */
static void
find_exchanged(struct steps_order *order, size_t n)
{
	size_t best = 0;
	bool at[STEPS_MOST];

	for (int sign = 1; sign >= -1; sign -= 2)
		for (size_t start = 0; start < order->of; start++) {
			size_t found = in_place(order, n, sign, start, at), out = 0;

			if (found <= best)
				continue;
			best = found;
			order->sign = sign;
			order->start = start;
			order->exchanged[0] = order->exchanged[1] = 0;
			for (size_t i = 0; i < n && found + 2 == n; i++)
				if (!at[i])
					order->exchanged[out++] = i;
		}
}

/* Of images with different shifts. */
static void
steps_read(const struct steps *steps, struct steps_order *order)
{
	size_t n = steps->n, most = n > MAX_STEPS_OF_TURN ? n : MAX_STEPS_OF_TURN, up, down;

	*order = (struct steps_order){ .sign = 1, .ordered = true };
	for (size_t of = n; of <= most && of <= 12 * n && !order->of; of++) {
		order->error_rad = is_usual(of, n) ? fit_multiples(steps, of, order->place) :
		    (double)NAN;
		if (!isnan(order->error_rad))
			order->of = of;
	}
	for (size_t i = 0; i < n; i++)	/* two of one shift leave no gap */
		order->gap_rad = fmax(order->gap_rad, gap_after(steps, i, -1));
	if (!order->of) {
		double sum = 0;

		for (size_t i = 1; i < n; i++)
			sum += remainder(steps->shift_rad[i] - steps->shift_rad[i - 1], 2 * M_PI);
		order->sign = sum < 0 ? -1 : 1;
		return;
	}
	up = travel(order, n, 1);
	down = travel(order, n, -1);
	order->sign = up <= down ? 1 : -1;
	order->ordered = (up < down ? up : down) < order->of;
	if (!order->ordered)
		find_exchanged(order, n);
	/* all but one or two of a turn: these are missing; fewer are meant as they are */
	if (order->of > n && (order->of - n) * 3 <= n)
		order->missing = order->of - n;
	for (size_t i = 1; i <= n && order->missing && order->ordered; i++) {
		size_t from = order->place[i - 1], to = order->place[i % n];
		size_t gap = order->sign > 0 ? to + order->of - from : from + order->of - to;

		if (gap % order->of != 1) {
			order->first_missing = i - 1;
			break;
		}
	}
}

/* ---- a set and its phase ---- */

#define MAX_RUN_STEP_RAD 2.0f	/* rad: more from pixel to pixel ends a run */

static void
fringe_set_free(struct fringe_set *set)
{
	free(set->phase);
	free(set->mean);
	*set = (struct fringe_set){ 0 };
}

/* Unwraps a phase along the lines; a NaN or a step of more than `most` rad begins a new run,
 * marked by NaN in its first pixel. */
static void
field_unwrap(size_t lines, size_t length, float most, float *phase)
{
	for (size_t l = 0; l < lines; l++) {
		float last = NAN, turns = 0;

		for (size_t x = 0; x < length; x++) {
			float *at = &phase[l * length + x], wrapped = *at, step;

			if (isnan(wrapped)) {
				last = NAN;
				continue;
			}
			step = isnan(last) ? 0 : wrapped - last;
			turns -= roundf(step / (2 * (float)M_PI));
			step -= 2 * (float)M_PI * roundf(step / (2 * (float)M_PI));
			*at = fabsf(step) > most ? NAN : wrapped + 2 * (float)M_PI * turns;
			last = wrapped;
		}
	}
}

/* Fills phase and mean from the steps. */
static void
fringe_set_phase(const struct field *field, struct fringe_set *set)
{
	fringeprobe_rows()->steps_fill(field, &set->steps, set->phase, set->mean, NULL);
	field_unwrap(field->lines, field->length, MAX_RUN_STEP_RAD, set->phase);
}

/* The images in the order of their shifts, if they are not; and the shifts as they are meant, which
 * are found only about. Each is counted from the first image. */
static void
arrange(struct fringe_set *set)
{
	struct steps *steps = &set->steps, old = *steps;
	struct steps_order *order = &set->order, found = *order;
	size_t n = 0, of = order->of;

	memcpy(order->was, old.image, sizeof(order->was));
	for (size_t j = 0; j < of; j++)
		for (size_t k = 0; k < steps->n; k++) {
			size_t from = order->ordered ? 0 : found.start;
			size_t at = order->sign > 0 ? found.place[k] + of - from :
			    from + of - found.place[k];

			if (at % of != j)
				continue;
			steps->image[n] = old.image[k];
			order->place[n] = j;
			steps->shift_rad[n] = order->sign * 2 * M_PI * (double)j / (double)of;
			n++;
		}
	for (size_t k = of ? n : 0; k-- > 0;) {
		steps->shift_rad[k] -= steps->shift_rad[0];
		order->place[k] -= order->place[0];
	}
}

/* The images' weights in the mean, and in the cosine and the sine of the phase. */
static bool
steps_weigh(struct steps *steps)
{
	return step_search_weights(steps->shift_rad, steps->n, steps->k);
}

/* A sine and a cosine about image `flat` of three, 0 to 2. sign -1: the phase is to fall. */
static void
weigh_flat(struct steps *steps, size_t flat, int sign)
{
	size_t cosine = flat == 2 ? 1 : flat == 1 ? 0 : 2, sine = 3 - flat - cosine;

	memset(steps->k, 0, sizeof(steps->k));
	steps->k[0][flat] = 1;
	steps->k[1][cosine] = 1;
	steps->k[1][flat] = -1;
	steps->k[2][sine] = sign;
	steps->k[2][flat] = -sign;
}

/* ---- shifts of images, by their sums of products (the Gram matrix) ---- */

/* Images that may be a set, and how well they fit. */
struct candidate {
	struct steps steps;
	struct steps_order order;
	struct look look;
	size_t flat;			/* 1 to 3 of a 2+1 set; 0: steps */
	double left, most_left;		/* that the fit leaves, over the amplitude: rms, worst */
	size_t worst;
	double gain_scatter;		/* rms of the images' own amplitudes about 1 */
	double score;
	bool tentative;			/* it may be two sets of nearly one period */
};

#define FIT_ROUNDS 25
#define FIT_SETTLED_RAD 1e-4
#define FIT_DROPPED 5		/* images that do not fit, at most */
#define MIN_GAIN 0.6
#define MAX_GAIN 1.6
#define MAX_LEFT 0.45		/* of the amplitude, of an image; gamma 2.2 leaves as much */
#define MAX_LEFT_OF_FOUR 0.5
#define MIN_STRANGE_LEFT 0.08	/* of the amplitude: an image may be a stranger, */
#define STRANGE_SHARE 0.8	/* if the others leave less than that part without it */

/* The products of the images of some steps. */
static double *
take_gram(const struct sets *sets, const struct steps *steps)
{
	double *gram = must_alloc(steps->n * steps->n, sizeof(*gram));

	for (size_t i = 0; i < steps->n; i++)
		for (size_t j = 0; j < steps->n; j++)
			gram[i * steps->n + j] =
			    sets->gram[steps->image[i] * sets->images + steps->image[j]];
	return gram;
}

/* Angles in the plane of the two largest eigenvectors of the products about the mean image: of
 * equal steps of a turn they are the shifts, whatever the phases. */
static bool
begin_equal(const double *gram, size_t n, double *shift_rad)
{
	double *own, length[2];
	struct step_plane plane;

	if (n > STEP_FIT_MOST)
		return false;
	own = must_alloc(n * n, sizeof(*own));
	step_plane_center(gram, n, own);
	plane = step_plane_find(own, n);
	free(own);
	for (size_t k = 0; k < 2; k++)	/* the axes are divided by the roots of the eigenvalues */
		length[k] = sqrt(step_fit_dot(plane.axis[k], plane.axis[k], n));
	for (size_t i = 0; i < n; i++)
		shift_rad[i] = atan2(plane.axis[1][i] / length[1], plane.axis[0][i] / length[0]);
	return length[0] > 0 && length[1] < 5 * length[0] && isfinite(shift_rad[0]);
}

/* How each image fits the shifts. Returns the worst that does not, n if all do. */
static size_t
measure_fit(const double *gram, double noise, struct candidate *c)
{
	struct steps *steps = &c->steps;
	size_t n = steps->n, worst = n;
	double *kg[3], p[3][3] = { { 0 } }, free_share = (double)(n - 3) / (double)n;
	double det, power, most = -1, squares = 0, gains = 0;

	for (size_t a = 0; a < 3; a++) {
		kg[a] = must_alloc(n, sizeof(**kg));
		for (size_t i = 0; i < n; i++)
			kg[a][i] = step_fit_dot(gram + i * n, steps->k[a], n);
		for (size_t b = 0; b < 3; b++)
			p[a][b] = step_fit_dot(kg[a], steps->k[b], n);
	}
	det = p[1][1] * p[2][2] - p[1][2] * p[2][1];
	power = p[1][1] + p[2][2];	/* square of the amplitude */
	c->most_left = 0;
	for (size_t i = 0; i < n; i++) {
		double m[3] = { 1, cos(steps->shift_rad[i]), -sin(steps->shift_rad[i]) };
		double rest = gram[i * n + i], left, gain, r1 = kg[1][i] - p[1][0];
		double r2 = kg[2][i] - p[2][0];

		for (size_t a = 0; a < 3; a++) {
			rest -= 2 * m[a] * kg[a][i];
			for (size_t b = 0; b < 3; b++)
				rest += m[a] * m[b] * p[a][b];
		}
		left = sqrt(fmax(0, rest - noise * free_share) / free_share / power);
		gain = hypot(p[2][2] * r1 - p[1][2] * r2, p[1][1] * r2 - p[1][2] * r1) / det;
		if (left > c->most_left)
			c->worst = i;
		squares += left * left / (double)n;
		gains += (gain - 1) * (gain - 1) / (double)n;
		c->most_left = fmax(c->most_left, left);
		if (gain > MIN_GAIN && gain < MAX_GAIN &&
		    left < (n == 4 ? MAX_LEFT_OF_FOUR : MAX_LEFT) &&
		    rest < 1.6 * power * free_share)
			continue;
		if (left + fabs(log(fmax(gain, 1e-3))) > most) {
			most = left + fabs(log(fmax(gain, 1e-3)));
			worst = i;
		}
	}
	c->left = sqrt(squares);
	c->gain_scatter = sqrt(gains);
	for (size_t a = 0; a < 3; a++)
		free(kg[a]);
	return det > 1e-9 * p[1][1] * p[2][2] ? worst : SIZE_MAX;
}

/* Counts the shifts from the first image's. */
static void
begin_with_zero(struct steps *steps)
{
	for (size_t k = steps->n; k-- > 0;)
		steps->shift_rad[k] =
		    remainder(steps->shift_rad[k] - steps->shift_rad[0], 2 * M_PI);
}

/* Rounds from the shifts as they are. False: they determine nothing. */
static bool
fit_rounds(const double *gram, struct steps *steps)
{
	double change_rad = INFINITY;

	for (int round = 0; round < FIT_ROUNDS && change_rad >= FIT_SETTLED_RAD; round++)
		if (!step_search_round(gram, steps->n, false, steps->shift_rad, &change_rad))
			return false;
	begin_with_zero(steps);
	return steps_weigh(steps);
}

static void
remove_image(struct steps *steps, size_t k)
{
	steps->n--;
	memmove(steps->image + k, steps->image + k + 1, (steps->n - k) * sizeof(*steps->image));
	memmove(steps->shift_rad + k, steps->shift_rad + k + 1,
	    (steps->n - k) * sizeof(*steps->shift_rad));
}

/* Finds the shifts of four images and more, without those that do not fit. known: about the shifts
 * are there. False: they fit none. */
static bool
candidate_fit(const struct sets *sets, struct candidate *c, bool known)
{
	struct steps *steps = &c->steps;

	for (int dropped = 0; dropped <= FIT_DROPPED && steps->n >= 4; dropped++) {
		double *gram = take_gram(sets, steps);
		bool fits = (known || begin_equal(gram, steps->n, steps->shift_rad)) &&
		    fit_rounds(gram, steps);
		size_t worst = fits ? measure_fit(gram, sets->gram_noise, c) : SIZE_MAX;

		steps->residual = c->left;
		steps_read(steps, &c->order);
		if (worst == steps->n && c->order.of != steps->n && !known &&
		    steps->n <= STEP_SEARCH_IMAGES) {
			struct candidate other = *c;

			if (step_search_begin(gram, steps->n, other.steps.shift_rad) &&
			    fit_rounds(gram, &other.steps) &&
			    measure_fit(gram, sets->gram_noise, &other) == steps->n) {
				other.steps.residual = other.left;
				steps_read(&other.steps, &other.order);
				if ((other.order.of && (!c->order.of || steps->n == 4)) ||
				    (!other.order.of == !c->order.of && other.left < 0.9 * c->left))
					*c = other;
			}
		}
		free(gram);
		if (worst == steps->n)
			return true;
		if (worst == SIZE_MAX)
			return false;
		remove_image(steps, worst);
	}
	return false;
}

/* Takes out images, without which the others fit much better: planes that look a little alike. */
static void
candidate_clean(const struct sets *sets, struct candidate *c)
{
	while (c->steps.n > 4 && c->order.of != c->steps.n && c->most_left > MIN_STRANGE_LEFT) {
		struct candidate less = *c;

		remove_image(&less.steps, c->worst);
		if (!candidate_fit(sets, &less, true) || (less.order.of != less.steps.n &&
		    less.left > STRANGE_SHARE * c->left))
			return;
		*c = less;
	}
}

/* ---- images that may be a set of four and more ---- */

#define KEY_WORDS 4		/* STEPS_MOST bits */
#define KEY_SLOTS (1 << 18)
#define MANY_IMAGES 72		/* of more, only those that stand near each other are compared */
#define NEAR_IMAGES 24
#define MIN_SIGNAL 12		/* times the noise: what tells two images apart */
#define MIN_APART 0.12		/* of the product of squares: three images in a line tell nothing */
#define KEYS_THINNED 6000
#define KEYS_FITTED 1500
#define CANDIDATES 120
#define RUN_MOST 12
/* Of the distance of neighbours in a turn of equal steps: nearer ones show the same. */
#define ALIKE 0.3
/* Opposite pairs of four steps: how their squares and the four sides may differ. */
#define PAIRS_DIFFER 0.35
#define LEAST_SIDE 0.7
#define LONGEST_SIDE 1.4

struct key {
	uint64_t bit[KEY_WORDS];
	size_t n;
	double count, rank;		/* times that it was found; how good it looks */
};

static void
set_bit(uint64_t bit[KEY_WORDS], size_t i)
{
	bit[i / 64] |= (uint64_t)1 << i % 64;
}

struct keys {
	struct key *key;
	size_t n;
	uint32_t *slot;			/* KEY_SLOTS; 1 + index of a key */
};

static void
keys_add(struct keys *keys, const uint64_t bit[KEY_WORDS], double count)
{
	uint64_t hash = 0;
	size_t at, n = 0;

	for (size_t w = 0; w < KEY_WORDS; w++) {
		hash = (hash ^ bit[w]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
		n += (size_t)__builtin_popcountll(bit[w]);
	}
	for (at = hash % KEY_SLOTS; keys->slot[at]; at = (at + 1) % KEY_SLOTS) {
		struct key *key = &keys->key[keys->slot[at] - 1];

		if (!memcmp(key->bit, bit, sizeof(key->bit))) {
			key->count += count;
			return;
		}
	}
	if (2 * keys->n >= KEY_SLOTS)
		return;
	if ((keys->n & (keys->n - 1)) == 0)
		keys->key = must_resize(keys->key, keys->n ? 2 * keys->n : 1, sizeof(*keys->key));
	keys->key[keys->n] = (struct key){ .n = n, .count = count };
	memcpy(keys->key[keys->n].bit, bit, sizeof(keys->key->bit));
	keys->slot[at] = (uint32_t)++keys->n;
}

static void
key_images(const struct key *key, struct steps *steps)
{
	steps->n = 0;
	for (size_t i = 0; i < STEPS_MOST; i++)
		if (key->bit[i / 64] >> i % 64 & 1)
			steps->image[steps->n++] = i;
}

/* The mean square of the difference of two images, without the noise. */
static double
distance(const struct sets *sets, size_t a, size_t b)
{
	const double *gram = sets->gram;
	size_t n = sets->images;

	return gram[a * n + a] + gram[b * n + b] - 2 * gram[a * n + b] - 2 * sets->gram_noise;
}

/* Takes images out that show the same as others, or are much nearer to them than steps would be:
 * three lumps of Gray planes leave three. */
static void
key_thin(const struct sets *sets, struct key *key)
{
	struct steps left;
	double sum = 0;

	key_images(key, &left);
	for (size_t a = 0; a < left.n; a++)
		for (size_t b = 0; b < a; b++)
			sum += 2 * distance(sets, left.image[a], left.image[b]);
	while (left.n >= 4) {
		double n = (double)left.n, least = INFINITY;
		size_t later = 0;

		for (size_t a = 0; a < left.n; a++)
			for (size_t b = 0; b < a; b++) {
				double d = distance(sets, left.image[a], left.image[b]);

				if (d < least) {
					least = d;
					later = a;
				}
			}
		if (least >= ALIKE * (1 - cos(2 * M_PI / n)) * sum / (n * (n - 1)))
			break;
		for (size_t b = 0; b < left.n; b++)
			if (b != later)
				sum -= 2 * distance(sets, left.image[b], left.image[later]);
		key->bit[left.image[later] / 64] &= ~((uint64_t)1 << left.image[later] % 64);
		remove_image(&left, later);
	}
	key->n = left.n;
}

static int
compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return memcmp(x->bit, y->bit, sizeof(x->bit));
}

/* The more images, and the more of their triples that found them, the better. */
static void
keys_sort(struct keys *keys)
{
	for (size_t k = 0; k < keys->n; k++) {
		struct key *key = &keys->key[k];
		double n = (double)key->n, triples = n * (n - 1) * (n - 2) / 6;

		key->rank = n * fmin(1, key->count / (0.3 * triples));
	}
	if (keys->n)
		qsort(keys->key, keys->n, sizeof(*keys->key), compare_keys);
}

/* Products of the images' differences from image i. */
static void
subtract(const struct sets *sets, size_t i, double *apart)
{
	const double *gram = sets->gram;
	size_t n = sets->images;

	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b < n; b++)
			apart[a * n + b] = gram[a * n + b] - gram[a * n + i] - gram[b * n + i] +
			    gram[i * n + i];
}

/* All images that are weighted means of the same three. */
static void
add_triples(const struct sets *sets, struct keys *keys)
{
	size_t n = sets->images, span = n <= MANY_IMAGES ? n : NEAR_IMAGES;
	double *apart = must_alloc(n * n, sizeof(*apart));
	double least = MIN_SIGNAL * sets->gram_noise;

	for (size_t i = 0; i + 2 < n; i++) {
		size_t from = n <= MANY_IMAGES || i < span ? 0 : i - span;
		size_t to = i + 2 * span < n ? i + 2 * span : n;

		subtract(sets, i, apart);
		for (size_t j = i + 1; j < n && j <= i + span; j++)
			for (size_t k = j + 1; k < n && k <= i + span; k++) {
				double jj = apart[j * n + j], kk = apart[k * n + k];
				double jk = apart[j * n + k];
				uint64_t member[KEY_WORDS] = { 0 };

				if (!(jj > least) || !(kk > least) ||
				    !(jj * kk - jk * jk > MIN_APART * jj * kk))
					continue;
				if (fringeprobe_rows()->triple_members(apart, n, j, k, from, to,
				    sets->gram_noise, member) >= 4)
					keys_add(keys, member, 1);
			}
	}
	free(apart);
}

/* Images one after another. */
static void
add_runs(const struct sets *sets, struct keys *keys)
{
	size_t n = sets->images;

	for (size_t i = 0; i < n; i++)
		for (size_t length = 4; length <= RUN_MOST && i + length <= n; length++) {
			struct key key = { 0 };
			double triples = (double)(length * (length - 1) * (length - 2)) / 6;

			for (size_t k = i; k < i + length; k++)
				set_bit(key.bit, k);
			key_thin(sets, &key);
			if (key.n == length)
				keys_add(keys, key.bit, 0.3 * triples);
		}
}

struct pair {
	size_t a, b;
	double apart;
};

/* Four steps of light that is not linear are no weighted means of each other, as the second
 * harmonic is seen whole in them: two pairs of opposite ones, by their distances. */
static void
add_quadruples(const struct sets *sets, struct keys *keys)
{
	size_t n = sets->images, pairs = 0;
	struct pair *pair;

	if (n > STEP_FIT_MOST)
		return;
	pair = must_alloc(n * n, sizeof(*pair));
	for (size_t a = 0; a < n; a++)
		for (size_t b = a + 1; b < n; b++) {
			double d = distance(sets, a, b);

			if (d > MIN_SIGNAL * sets->gram_noise)
				pair[pairs++] = (struct pair){ a, b, d };
		}
	for (size_t p = 0; p < pairs; p++)
		for (size_t q = p + 1; q < pairs; q++) {
			const struct pair *x = &pair[p], *y = &pair[q];
			double mean = 0, least = INFINITY, most = 0, ratio = x->apart / y->apart;
			uint64_t bit[KEY_WORDS] = { 0 };

			if (ratio < exp(-PAIRS_DIFFER) || ratio > exp(PAIRS_DIFFER) ||
			    x->a == y->a || x->a == y->b || x->b == y->a || x->b == y->b)
				continue;
			for (int k = 0; k < 4; k++) {
				double side = distance(sets, k & 1 ? x->b : x->a, k & 2 ? y->b :
				    y->a);

				mean += side / 4;
				least = fmin(least, side);
				most = fmax(most, side);
			}
			if (least < LEAST_SIDE * mean || most > LONGEST_SIDE * mean ||
			    mean < 0.38 * x->apart || mean > 0.72 * x->apart)
				continue;
			set_bit(bit, x->a);
			set_bit(bit, x->b);
			set_bit(bit, y->a);
			set_bit(bit, y->b);
			keys_add(keys, bit, 2);
		}
	free(pair);
}

/* ---- is it a set? ---- */

/* Scatter of mean and amplitude over a quarter of a period: true sets have 0.01 to 0.24, parts of
 * several sets, and planes with their inverses, which are exactly of rank two, 0.2 to 0.7. */
#define MAX_SCATTER 0.3
#define MAX_SCATTER_OF_FOUR 0.15
#define MAX_SCATTER_OF_SIX 0.2
#define MAX_MEAN_SCATTER 0.3
#define MAX_MEAN_SCATTER_SURE 0.6	/* of five steps and more that fit well */
#define NOISE_SCATTER 1.5	/* times the noise, that is added to these */
#define MAX_COHERENCE 0.6	/* of phases of 0, 90 ... or 0, 60 ... degrees, as of planes */
#define MIN_DIRECTED 0.6	/* blurred planes run back and forth: 0.2 to 0.6; */
#define WIDE 1.5		/* fewer fringes in view: */
#define MIN_WIDE_DIRECTED 0.9	/* those of three planes and more 0.65 to 0.83 */
#define MAX_CLEAN_SCATTER 0.08
#define MIN_CLEAN_DIRECTED 0.97
#define MIN_LOOK_SHARE 0.3
/* Of the amplitude, where less than a fringe is in view, and where steps are missing; one or two
 * of five and more. */
#define MAX_PART_LEFT 0.12
#define MAX_NEARLY_LEFT 0.25
#define LOOK_LINES 12		/* of each axis, for a first look, */
#define LOOK_SAMPLES 6400	/* or fewer of large images */
#define MIN_LOOK_LINES 6
#define MIN_FRINGES 0.9		/* in view, of a set that stands alone */
#define MIN_QUICK_BINS 8

static size_t
look_thin(const struct sets *sets)
{
	const struct field *field = &sets->field[sets->field[1].lines > sets->field[0].lines];
	size_t lines = LOOK_SAMPLES / field->length;

	lines = lines < MIN_LOOK_LINES ? MIN_LOOK_LINES : lines > LOOK_LINES ? LOOK_LINES : lines;
	return field->lines > lines ? field->lines / lines : 1;
}

static bool
is_run(const struct steps *steps)
{
	for (size_t k = 1; k < steps->n; k++)
		if (steps->image[k] != steps->image[k - 1] + 1)
			return false;
	return true;
}

/* All steps of a turn; all but one or two. */
static bool
is_full(const struct candidate *c)
{
	return c->order.of == c->steps.n;
}

static bool
is_nearly_full(const struct candidate *c)
{
	return c->order.of > c->steps.n && c->order.of <= c->steps.n + 2;
}

static double
order_score(const struct candidate *c)
{
	return is_full(c) ? 2 : is_nearly_full(c) ? 1 : -0.5 * (double)c->steps.n;
}

/* Are four images two planes and their inverses? These show four phases, or eight bins of them. */
static bool
is_two_pairs(const struct sets *sets, const struct steps *steps)
{
	return steps->n == 4 && !is_run(steps) &&
	    fringeprobe_rows()->steps_phases(sets->field, steps) <= MIN_QUICK_BINS;
}

/* Of the Gram matrix alone: the more likely a set, the more. */
static bool
candidate_rank(const struct sets *sets, struct candidate *c)
{
	if (c->steps.n > STEP_FIT_MOST)	/* the others join later */
		c->steps.n = STEP_FIT_MOST;
	if (!candidate_fit(sets, c, false))
		return false;
	candidate_clean(sets, c);
	c->score = (double)c->steps.n + order_score(c) - 3 * c->left - 2 * c->gain_scatter;
	return c->order.of || c->steps.n >= 5;
}

/* Are the phases a continuum, as those of fringes, and not some of planes? Fringes of a whole
 * number of pixels have few, but go one way. */
static bool
is_continuous(const struct look *look, size_t least)
{
	double clean = MAX_CLEAN_SCATTER + NOISE_SCATTER * look->noise;

	if (look->directed < (look->fringes < WIDE ? MIN_WIDE_DIRECTED - look->noise :
	    MIN_DIRECTED))
		return false;
	if (look->directed > MIN_CLEAN_DIRECTED && look->fringes > 2 && look->bins >= 5 &&
	    look->amplitude_scatter < clean && look->mean_scatter < clean)
		return true;
	return look->bins >= least && look->runs <= (look->bins < 16 ? 1 : 2) &&
	    (look->bins < 5 || fmax(look->four, look->six) < MAX_COHERENCE);
}

/* Is it a set, by what its pixels look like? */
static bool
candidate_look(const struct sets *sets, struct candidate *c, size_t thin)
{
	struct look *look = &c->look;
	size_t n = c->steps.n;
	bool full = is_full(c), nearly = is_nearly_full(c);
	double noise, limit, mean_limit;

	if (!fringeprobe_rows()->steps_look(sets->field, &c->steps, thin, look))
		return false;
	noise = NOISE_SCATTER * look->noise;
	limit = noise + (n == 4 ? MAX_SCATTER_OF_FOUR : n <= 6 ? MAX_SCATTER_OF_SIX : MAX_SCATTER);
	mean_limit = noise + (n >= 5 && full && c->most_left < 0.15 ? MAX_MEAN_SCATTER_SURE :
	    MAX_MEAN_SCATTER);
	c->tentative = !full && !nearly && n >= 6 && look->bins >= 20 && look->fringes > 2;
	if (look->amplitude_scatter > limit || look->mean_scatter > mean_limit ||
	    !is_continuous(look, 3) || look->share < MIN_LOOK_SHARE || look->fringes < 0.1)
		return false;
	if (look->fringes < MIN_FRINGES && (!full || !is_run(&c->steps) || c->left > MAX_PART_LEFT))
		return false;
	if (!full && !c->tentative && c->left > (nearly && n > 4 ? MAX_NEARLY_LEFT :
	    MAX_PART_LEFT))
		return false;
	c->score = (double)n + (is_run(&c->steps) ? 0.5 : 0) -
	    6 * fmax(0, look->amplitude_scatter - 0.1) - 3 * fmax(0, look->mean_scatter - 0.1) +
	    order_score(c) - 2 * c->left;
	return true;
}

/* Images in the order of their files, the first one's shift 0. */
static void
sort_images(struct steps *steps)
{
	struct steps old = *steps;
	size_t n = 0;

	for (size_t image = 0; n < old.n; image++)
		for (size_t k = 0; k < old.n; k++)
			if (old.image[k] == image) {
				steps->image[n] = image;
				steps->shift_rad[n++] = old.shift_rad[k];
			}
	begin_with_zero(steps);
	steps_weigh(steps);
}

/* ---- sets are made of what is found ---- */

#define MIN_THREE_FRINGES 0.8	/* in view, of three images */
#define MIN_THREE_NET 0.6	/* of the median period over that of whole lines: it turns back */
/* An image that joins: its amplitude over the set's, and what it leaves of that. */
#define MIN_JOIN_GAIN 0.65
#define MAX_JOIN_GAIN 1.5
#define MAX_JOIN_LEFT 0.3
/* Shifts that drift along the lines are of other fringes: the least gap between two sets' drifts,
 * rad, and over the spread of each. */
#define MIN_DRIFT_GAP_RAD 0.06
#define MIN_DRIFT_GAP 2.5
#define MAX_UNEQUAL_LEFT 0.15	/* of shifts that are no equal steps */
#define SAME_PERIOD 0.012	/* logarithm of two sets' periods: they are the same */
#define TWIN_DISTANCE 0.02	/* of the distance to the next step: an image shows the same */

static int
compare_candidates(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	for (size_t k = 0; k < x->steps.n && k < y->steps.n; k++)
		if (x->steps.image[k] != y->steps.image[k])
			return x->steps.image[k] < y->steps.image[k] ? -1 : 1;
	return 0;
}

static bool
is_free(const struct sets *sets, const struct steps *steps)
{
	for (size_t k = 0; k < steps->n; k++)
		if (sets->kind[steps->image[k]] != KIND_UNKNOWN)
			return false;
	return true;
}

/* Images that show the same as a step of a set: copies, and further measurements. */
static void
find_twins(struct sets *sets)
{
	for (size_t i = 0; i < sets->images; i++)
		for (size_t j = 0; j < sets->images && sets->kind[i] == KIND_UNKNOWN; j++) {
			double least = INFINITY;
			const struct steps *steps;

			if (sets->kind[j] != KIND_FRINGE)
				continue;
			steps = &sets->fringe[sets->set[j]].steps;
			for (size_t k = 0; k < steps->n; k++)
				if (steps->image[k] != j)
					least = fmin(least, distance(sets, j, steps->image[k]));
			if (least < MIN_SIGNAL / 3 * sets->gram_noise ||
			    distance(sets, i, j) > TWIN_DISTANCE * least)
				continue;
			sets->kind[i] = KIND_TWIN;
			sets->set[i] = sets->set[j];
			sets->other[i] = j;
		}
}

/* Period and number of fringes, from the phase; false: it falls along the line. */
static bool
fringe_set_period(const struct field *field, struct fringe_set *set)
{
	double grown = 0, pixels = 0;
	size_t lines = 0;

	for (size_t l = 0; l < field->lines; l++) {
		const float *phase = set->phase + l * field->length;
		bool any = false;

		for (size_t x = 1; x < field->length; x++)
			if (!isnan(phase[x - 1]) && !isnan(phase[x])) {
				grown += (double)(phase[x] - phase[x - 1]);
				pixels++;
				any = true;
			}
		lines += any;
	}
	set->period_px = pixels > 0 ? 2 * M_PI * pixels / fabs(grown) : (double)NAN;
	set->fringes = lines ? fabs(grown) / (2 * M_PI) / (double)lines : 0;
	return grown >= 0;
}

/* Makes a set of images; its phase grows. doubt: as in struct fringe_set. */
static void
set_make(struct sets *sets, const struct candidate *c, const char *doubt)
{
	struct fringe_set *set = &sets->fringe[sets->n];
	const struct field *field = &sets->field[c->look.axis];
	struct steps *steps = &set->steps;
	const struct fringeprobe_rows *rows = fringeprobe_rows();
	size_t pixels = field->lines * field->length;

	if (sets->n == SETS_MOST)
		return;
	*set = (struct fringe_set){ .axis = c->look.axis, .steps = c->steps, .flat = c->flat,
		.doubt = doubt, .order = { .sign = 1, .ordered = true },
		.phase = must_large(pixels, sizeof(float)),
		.mean = must_large(pixels, sizeof(float)) };
	rows->steps_measure(field, steps);
	fringe_set_phase(field, set);
	if (!fringe_set_period(field, set)) {
		for (size_t k = 0; k < steps->n; k++)
			steps->shift_rad[k] = -steps->shift_rad[k];
		set->order.sign = -1;
		if (set->flat)
			weigh_flat(steps, set->flat - 1, -1);
		else
			steps_weigh(steps);
	}
	if (!set->flat) {
		steps_read(steps, &set->order);
		arrange(set);
		steps_weigh(steps);
	}
	fringe_set_phase(field, set);
	fringe_set_period(field, set);
	if (steps->n == 3 && c->look.fringes > MIN_THREE_FRINGES &&
	    c->look.period_px < MIN_THREE_NET * set->period_px) {
		fringe_set_free(set);
		return;
	}
	for (size_t k = 0; k < steps->n; k++) {
		sets->kind[steps->image[k]] = KIND_FRINGE;
		sets->set[steps->image[k]] = sets->n;
	}
	sets->n++;
	if (!set->flat)		/* several 2+1 sets may each have a flat image */
		find_twins(sets);
}

/* Does image i fit the phases of some steps, with their amplitude? Its shift, if so. */
static bool
fits_phases(const struct sets *sets, const struct steps *steps, size_t i, double *shift_rad)
{
	size_t n = steps->n, all = sets->images;
	const double *gram = sets->gram;
	double own[3][3] = { { 0 } }, p[3] = { 0 }, det, x, y, left;

	for (size_t r = 0; r < 3; r++)
		for (size_t k = 0; k < n; k++) {
			const double *row = gram + steps->image[k] * all;

			p[r] += steps->k[r][k] * row[i];
			for (size_t q = 0; q < 3; q++)
				for (size_t j = 0; j < n; j++)
					own[r][q] += steps->k[r][k] * steps->k[q][j] *
					    row[steps->image[j]];
		}
	det = own[1][1] * own[2][2] - own[1][2] * own[1][2];
	p[1] -= own[1][0];
	p[2] -= own[2][0];
	x = (own[2][2] * p[1] - own[1][2] * p[2]) / det;
	y = (own[1][1] * p[2] - own[1][2] * p[1]) / det;
	left = gram[i * all + i] - 2 * p[0] + own[0][0] - x * p[1] - y * p[2] -
	    sets->gram_noise * (1 + 3 / (double)n);
	*shift_rad = atan2(-y, x);
	return hypot(x, y) > MIN_JOIN_GAIN && hypot(x, y) < MAX_JOIN_GAIN &&
	    sqrt(fmax(0, left) / (own[1][1] + own[2][2])) < MAX_JOIN_LEFT;
}

/* Images that fit the phases join, if all steps of a turn are there then. */
static void
join_images(const struct sets *sets, struct candidate *c)
{
	struct candidate more = *c;
	struct steps *steps = &more.steps;
	bool member[STEPS_MOST] = { false };

	for (size_t k = 0; k < c->steps.n; k++)
		member[c->steps.image[k]] = true;
	for (size_t i = 0; i < sets->images && steps->n < STEPS_MOST; i++) {
		double shift_rad;

		if (member[i] || sets->kind[i] != KIND_UNKNOWN ||
		    !fits_phases(sets, &c->steps, i, &shift_rad))
			continue;
		steps->image[steps->n] = i;
		steps->shift_rad[steps->n++] = shift_rad;
	}
	if (steps->n == c->steps.n)
		return;
	sort_images(steps);
	if (candidate_fit(sets, &more, true) && more.steps.n > c->steps.n &&
	    order_score(&more) >= order_score(c) && candidate_look(sets, &more, look_thin(sets)))
		*c = more;
}

struct drift {
	size_t k;			/* image */
	double rad;
};

static int
compare_drifts(const void *a, const void *b)
{
	const struct drift *x = a, *y = b;

	return x->rad != y->rad ? (x->rad > y->rad) - (x->rad < y->rad) : (x->k > y->k) -
	    (x->k < y->k);
}

/* Where few fringes are in view, two sets of nearly one period pass for one, whose shifts drift
 * along the lines, all of one set alike: takes it apart. False: it is one. */
static bool
split_drifting(const struct sets *sets, const struct candidate *c, struct candidate part[2])
{
	const struct field *field = &sets->field[c->look.axis];
	struct drift drift[STEPS_MOST];
	struct steps steps = c->steps;
	size_t n = steps.n, at = 0;
	double gap = 0, spread;

	if (n < 6)
		return false;
	fringeprobe_rows()->steps_measure(field, &steps);
	for (size_t k = 0; k < n; k++)
		drift[k] = (struct drift){ .k = k,
			.rad = fringeprobe_rows()->steps_drift(field, &steps, steps.image[k]) };
	qsort(drift, n, sizeof(*drift), compare_drifts);
	for (size_t k = 1; k < n; k++)
		if (drift[k].rad - drift[k - 1].rad > gap) {
			gap = drift[k].rad - drift[k - 1].rad;
			at = k;
		}
	spread = fmax(drift[at ? at - 1 : 0].rad - drift[0].rad, drift[n - 1].rad -
	    drift[at].rad);
	if (gap < MIN_DRIFT_GAP_RAD || gap < MIN_DRIFT_GAP * fmax(spread, 0.01) || at < 3 ||
	    n - at < 3)
		return false;
	for (size_t half = 0; half < 2; half++) {
		struct candidate *one = &part[half];

		*one = (struct candidate){ .look = c->look };
		for (size_t k = half ? at : 0; k < (half ? n : at); k++) {
			one->steps.image[one->steps.n] = steps.image[drift[k].k];
			one->steps.shift_rad[one->steps.n++] = steps.shift_rad[drift[k].k];
		}
		sort_images(&one->steps);
		if (one->steps.n == 3) {
			steps_read(&one->steps, &one->order);
			if (!fringeprobe_rows()->steps_look(sets->field, &one->steps, 1,
			    &one->look))
				return false;
		} else if (!candidate_fit(sets, one, true) || !candidate_look(sets, one, 1)) {
			return false;
		}
		if (!is_full(one) && (!is_nearly_full(one) || one->steps.n < 5))
			return false;
	}
	return is_full(&part[0]) || is_full(&part[1]);
}

/* The most likely sets of the Gram matrix; returns how many. */
static size_t
find_candidates(const struct sets *sets, struct candidate *found)
{
	struct keys keys = { 0 }, thinned = { 0 };
	struct candidate *ranked = must_alloc(KEYS_FITTED, sizeof(*ranked));
	size_t n = 0, kept = 0;

	keys.slot = must_alloc(KEY_SLOTS, sizeof(*keys.slot));
	thinned.slot = must_alloc(KEY_SLOTS, sizeof(*keys.slot));
	add_triples(sets, &keys);
	keys_sort(&keys);
	for (size_t k = 0; k < keys.n && k < KEYS_THINNED; k++) {
		key_thin(sets, &keys.key[k]);
		if (keys.key[k].n >= 4)
			keys_add(&thinned, keys.key[k].bit, keys.key[k].count);
	}
	add_runs(sets, &thinned);
	add_quadruples(sets, &thinned);
	keys_sort(&thinned);
	for (size_t k = 0; k < thinned.n && k < KEYS_FITTED; k++) {
		ranked[n] = (struct candidate){ 0 };
		key_images(&thinned.key[k], &ranked[n].steps);
		n += candidate_rank(sets, &ranked[n]);
	}
	qsort(ranked, n, sizeof(*ranked), compare_candidates);
	for (size_t k = 0; k < n && kept < CANDIDATES; k++)
		if ((k == 0 || compare_candidates(&ranked[k], &ranked[k - 1])) &&
		    !is_two_pairs(sets, &ranked[k].steps))
			found[kept++] = ranked[k];
	n = 0;
	for (size_t k = 0; k < kept; k++)
		if (candidate_look(sets, &found[k], look_thin(sets)))
			found[n++] = found[k];
	qsort(found, n, sizeof(*found), compare_candidates);
	free_all(keys.slot, thinned.slot, keys.key, thinned.key, ranked);
	return n;
}

static const char incomplete[] = "steps of a turn are missing";

/* Makes sets of the candidates, the best first; each image is used once. late: those of fewer than
 * a turn's steps, which wait until sets of three are known; else the others. */
static void
take_candidates(struct sets *sets, struct candidate *found, size_t n, bool late)
{
	for (size_t k = 0; k < n; k++) {
		struct candidate *c = &found[k], part[2];

		if (!is_free(sets, &c->steps) || (!is_full(c) && c->steps.n < 6) != late)
			continue;
		join_images(sets, c);
		if (split_drifting(sets, c, part)) {
			for (int half = 0; half < 2; half++)
				set_make(sets, &part[half], is_full(&part[half]) ? NULL :
				    incomplete);
			continue;
		}
		if ((c->tentative && c->most_left > MAX_UNEQUAL_LEFT) ||
		    !candidate_look(sets, c, 1))
			continue;
		set_make(sets, c, is_full(c) ? NULL : incomplete);
	}
}

/* ---- three steps, and 2+1 images ---- */

/* Three images span three dimensions whatever they show: their distances, and what their pixels
 * look like, tell. */
#define MANY_LEFT 40		/* of more images only those that stand near each other are tried */
#define NEAR_OF_MANY 12
#define FEW_LEFT 5		/* images: all readings are tried */
#define MAX_UNEQUAL 1.8		/* squares of three distances, of 120 degrees: the ratio */
#define MAX_FLAT_LOG 0.4	/* of 2+1: half of the far one's over the others, as a logarithm */
#define THREES_MOST 900		/* that are looked at */
#define MIN_THREE_BINS 18
#define MAX_THREE_SCATTER 0.36
#define MIN_THREE_SHARE 0.4
#define MAX_MEAN_SCATTER_OF_THREE 0.1	/* of three steps that are found */
#define BETTER_THAN_RIVAL 1.4	/* to be found: others that share an image are so much worse */
#define BETTER_THAN_MIXED 1.1	/* the same if they do not come one after another, as these do */
#define BETTER_THAN_OTHER 1.3	/* the same of another reading of the three */
#define THREES_KEPT 200

struct three {
	size_t image[3], flat;		/* flat: 1 to 3, 0: steps */
	double mismatch;
};

static int
compare_threes(const void *a, const void *b)
{
	const struct three *x = a, *y = b;

	if (x->mismatch != y->mismatch)
		return x->mismatch > y->mismatch ? 1 : -1;
	return memcmp(x->image, y->image, sizeof(x->image));
}

/* By their distances. */
static size_t
list_threes(const struct sets *sets, struct three **out)
{
	size_t list[STEPS_MOST], n = 0, threes = 0, room = 0;
	struct three *all = NULL;
	bool few;

	for (size_t i = 0; i < sets->images; i++)
		if (sets->kind[i] == KIND_UNKNOWN)
			list[n++] = i;
	few = n <= FEW_LEFT;
	for (size_t a = 0; a < n; a++)
		for (size_t b = a + 1; b < n; b++)
			for (size_t c = b + 1; c < n; c++) {
				size_t i = list[a], j = list[b], k = list[c];
				double d[3], least, most;

				if (n > MANY_LEFT && k - i > NEAR_OF_MANY)
					break;
				/* opposite to image 1, 2, 3 */
				d[0] = distance(sets, j, k);
				d[1] = distance(sets, i, k);
				d[2] = distance(sets, i, j);
				least = fmin(fmin(d[0], d[1]), d[2]);
				most = fmax(fmax(d[0], d[1]), d[2]);
				if (least < 4 * sets->gram_noise || !(least > 0))
					continue;
				if (threes + 4 > room)
					all = must_resize(all, room = 2 * room + 64, sizeof(*all));
				if (few || most < MAX_UNEQUAL * least)
					all[threes++] = (struct three){ { i, j, k }, 0,
						most / least };
				for (size_t f = 0; f < 3; f++) {
					double one = fabs(log(d[f] / 2 / d[(f + 1) % 3]));
					double other = fabs(log(d[f] / 2 / d[(f + 2) % 3]));

					if (few || (most >= MAX_UNEQUAL * least &&
					    one < MAX_FLAT_LOG && other < MAX_FLAT_LOG))
						all[threes++] = (struct three){ { i, j, k }, f + 1,
							1 + one + other };
				}
			}
	if (threes)
		qsort(all, threes, sizeof(*all), compare_threes);
	*out = all;
	return threes < THREES_MOST ? threes : THREES_MOST;
}

static void
three_weigh(const struct three *three, struct candidate *c)
{
	*c = (struct candidate){ .steps = { .n = 3 }, .flat = three->flat };
	for (size_t k = 0; k < 3; k++) {
		c->steps.image[k] = three->image[k];
		c->steps.shift_rad[k] = 2 * M_PI * (double)k / 3;
	}
	if (c->flat)
		weigh_flat(&c->steps, c->flat - 1, 1);
	else
		steps_weigh(&c->steps);
}

static bool
three_look(const struct sets *sets, struct candidate *c, size_t thin)
{
	const struct look *look = &c->look;
	double noise;

	if (fringeprobe_rows()->steps_phases(sets->field, &c->steps) < MIN_QUICK_BINS ||
	    !fringeprobe_rows()->steps_look(sets->field, &c->steps, thin, &c->look))
		return false;
	noise = NOISE_SCATTER * look->noise;
	c->score = -(look->amplitude_scatter + look->mean_scatter +
	    0.004 * (double)(c->steps.image[2] - c->steps.image[0] - 2) +
	    (c->flat ? 0.02 + 0.015 * (double)(3 - c->flat) : 0));
	return look->amplitude_scatter < MAX_THREE_SCATTER + noise &&
	    look->mean_scatter < MAX_MEAN_SCATTER + noise && is_continuous(look, MIN_THREE_BINS) &&
	    look->share > MIN_THREE_SHARE && look->fringes > MIN_THREE_FRINGES;
}

/* Do three images share some with others? */
static bool
is_rival(const struct steps *a, const struct steps *b)
{
	for (size_t i = 0; i < 9; i++)
		if (a->image[i / 3] == b->image[i % 3])
			return true;
	return false;
}

static const char whatever[] = "three images fit whatever they are, 2+1 among others";
static const char ambiguous[] = "other three of these images fit about as well";

static void
find_threes(struct sets *sets)
{
	struct three *three;
	size_t threes = list_threes(sets, &three), n = 0;
	struct candidate *found = must_alloc(THREES_KEPT + 1, sizeof(*found));

	for (size_t k = 0; k < threes && n < THREES_KEPT; k++) {
		three_weigh(&three[k], &found[n]);
		n += three_look(sets, &found[n], look_thin(sets));
	}
	qsort(found, n, sizeof(*found), compare_candidates);
	for (size_t k = 0; k < n; k++) {
		bool sure = true;

		if (!is_free(sets, &found[k].steps))
			continue;
		for (size_t j = k + 1; j < n; j++)
			if (is_rival(&found[k].steps, &found[j].steps) &&
			    is_free(sets, &found[j].steps)) {
				bool same = !memcmp(found[j].steps.image, found[k].steps.image,
				    3 * sizeof(size_t));
				bool ordered = is_run(&found[k].steps) && !is_run(&found[j].steps);

				sure = sure && found[j].score < found[k].score * (same ?
				    BETTER_THAN_OTHER : ordered ? BETTER_THAN_MIXED :
				    BETTER_THAN_RIVAL);
			}
		set_make(sets, &found[k], !sure ? ambiguous : !found[k].flat &&
		    found[k].look.mean_scatter > MAX_MEAN_SCATTER_OF_THREE + NOISE_SCATTER *
		    found[k].look.noise ? whatever : NULL);
	}
	free(found);
	free(three);
}

/* ---- fringes of which less than one is in view, of a family of sets ---- */

#define MAX_FAMILY_LEFT 0.25	/* of the amplitude, of equal steps */
#define MAX_MEAN_DIFFERENCE 0.2	/* of the amplitude: difference of two sets' means, rms */
#define MIN_FAMILY_AMPLITUDE 0.6	/* of the other's; at most its inverse */
#define MIN_FAMILY_DIRECTED 0.7
#define MIN_PART 0.04		/* of a fringe in view */
#define MIN_FAMILY_FRINGES 0.5	/* in view, of the finest set */

/* The rms difference of two means, over pixels that have both; NaN: too few have. */
static double
mean_difference(const struct field *field, const float *a, const float *b)
{
	double squares = 0, n = 0;

	for (size_t p = 0; p < field->lines * field->length; p++)
		if (!isnan(a[p]) && !isnan(b[p])) {
			squares += (double)((a[p] - b[p]) * (a[p] - b[p]));
			n++;
		}
	return n >= FRINGE_SET_PIXELS_LEAST ? sqrt(squares / n) : (double)NAN;
}

/* Are they steps as those of another set, with its mean and amplitude? */
static bool
is_family(const struct sets *sets, const struct fringe_set *set, struct candidate *c)
{
	const struct field *field = &sets->field[set->axis];
	struct steps *steps = &c->steps;
	struct look *look = &c->look;
	float *mean = field->pair, *phase = mean + field->lines * field->length;
	double ratio;

	steps_weigh(steps);
	fringeprobe_rows()->steps_measure(field, steps);
	ratio = steps->amplitude / set->steps.amplitude;
	if (!(ratio > MIN_FAMILY_AMPLITUDE && ratio < 1 / MIN_FAMILY_AMPLITUDE) ||
	    steps->residual > fmax(MAX_FAMILY_LEFT, 1.5 * set->steps.residual))
		return false;
	fringeprobe_rows()->steps_fill(field, steps, phase, mean, NULL);
	if (!(mean_difference(field, mean, set->mean) <
	    MAX_MEAN_DIFFERENCE * set->steps.amplitude +
	    3 * sets->noise / sqrt((double)steps->n)) ||
	    !fringeprobe_rows()->steps_look(sets->field, steps, look_thin(sets), look))
		return false;
	return look->axis == set->axis && look->directed > MIN_FAMILY_DIRECTED &&
	    look->fringes > MIN_PART && look->runs == 1 && look->bins >= 2 &&
	    (look->bins < 5 || fmax(look->four, look->six) < 0.9) &&
	    look->amplitude_scatter < MAX_SCATTER + NOISE_SCATTER * look->noise;
}

/* Images that stand as those of a known set do. */
static void
find_family(struct sets *sets)
{
	for (size_t s = 0; s < sets->n; s++) {
		struct fringe_set set = sets->fringe[s];
		size_t n = set.steps.n, stride;
		struct candidate c = { 0 };

		if (set.flat || set.order.of != n)
			continue;
		c.steps = set.steps;
		sort_images(&c.steps);
		set.steps = c.steps;
		stride = c.steps.image[1] - c.steps.image[0];
		for (size_t first = 0; first + (n - 1) * stride < sets->images; first++) {
			for (size_t k = 0; k < n; k++)
				c.steps.image[k] = first + k * stride;
			if (!is_free(sets, &c.steps) || !is_family(sets, &set, &c))
				continue;
			steps_read(&c.steps, &c.order);
			set_make(sets, &c, NULL);
		}
	}
}

/* ---- all sets ---- */

/* A set that stands alone wants a fringe in view, and of others one wants half of it. */
static void
drop_lonely(struct sets *sets)
{
	double most = 0;

	for (size_t k = 0; k < sets->n; k++)
		most = fmax(most, sets->fringe[k].fringes);
	if (most > (sets->n > 1 ? MIN_FAMILY_FRINGES : MIN_FRINGES))
		return;
	for (size_t i = 0; i < sets->images; i++) {
		sets->kind[i] = KIND_UNKNOWN;
		sets->set[i] = SIZE_MAX;
	}
	while (sets->n > 0)
		fringe_set_free(&sets->fringe[--sets->n]);
}

void
sets_doubt(struct sets *sets)
{
	for (size_t i = 0; i < sets->n; i++) {
		struct fringe_set *a = &sets->fringe[i];
		double ignored;

		for (size_t j = 0; j < sets->n && !a->doubt && !a->flat; j++) {
			const struct fringe_set *b = &sets->fringe[j];

			if (i != j && a->axis == b->axis && !b->flat &&
			    fabs(log(a->period_px / b->period_px)) < SAME_PERIOD)
				a->doubt = "another set has the same period, and may be a part of "
				    "the same";
		}
		for (size_t k = 0; k < sets->images && !a->doubt; k++)
			if (sets->kind[k] == KIND_UNKNOWN &&
			    fits_phases(sets, &a->steps, k, &ignored))
				a->doubt = "another image shows the same fringes, and is no step "
				    "of the set";
	}
}

static size_t
first_image(const struct fringe_set *set)
{
	size_t first = SIZE_MAX;

	for (size_t k = 0; k < set->steps.n; k++)
		if (set->steps.image[k] < first)
			first = set->steps.image[k];
	return first;
}

/* In the order of the files. */
static void
sort_sets(struct sets *sets)
{
	for (size_t i = 1; i < sets->n; i++)
		for (size_t k = i; k > 0 && first_image(&sets->fringe[k]) <
		    first_image(&sets->fringe[k - 1]); k--) {
			struct fringe_set set = sets->fringe[k];

			sets->fringe[k] = sets->fringe[k - 1];
			sets->fringe[k - 1] = set;
		}
	for (size_t k = 0; k < sets->n; k++)
		for (size_t i = 0; i < sets->fringe[k].steps.n; i++)
			sets->set[sets->fringe[k].steps.image[i]] = k;
	for (size_t i = 0; i < sets->images; i++)
		if (sets->kind[i] == KIND_TWIN)
			sets->set[i] = sets->set[sets->other[i]];
}

void
sets_find(struct image *const *image, size_t n, double noise, struct sets *sets)
{
	enum sample type = image[0]->head.type;
	struct candidate *found;
	size_t candidates;

	*sets = (struct sets){ .images = n, .image = image, .noise = noise };
	sets->kind = must_alloc(n, sizeof(*sets->kind));
	sets->set = must_alloc(n, sizeof(*sets->set));
	sets->other = must_alloc(n, sizeof(*sets->other));
	sets->gram = must_alloc(n * n, sizeof(*sets->gram));
	for (size_t i = 0; i < n; i++)
		sets->set[i] = SIZE_MAX;
	for (int axis = 0; axis < 2; axis++)
		field_new(image, n, axis, noise, &sets->field[axis]);
	sets->gram_noise = fringeprobe_rows()->fields_gram(sets->field, type == SAMPLE_UCHAR ? 254 :
	    type == SAMPLE_USHORT ? 65534 : INFINITY, sets->gram);
	found = must_alloc(CANDIDATES, sizeof(*found));
	candidates = find_candidates(sets, found);
	take_candidates(sets, found, candidates, false);
	find_threes(sets);
	take_candidates(sets, found, candidates, true);
	find_family(sets);
	free(found);
	find_twins(sets);
	drop_lonely(sets);
	sort_sets(sets);
}

void
sets_free(struct sets *sets)
{
	for (int axis = 0; axis < 2; axis++)
		field_free(&sets->field[axis]);
	for (size_t k = 0; k < SETS_MOST; k++)
		fringe_set_free(&sets->fringe[k]);
	free_all(sets->gram, sets->kind, sets->set, sets->other);
	*sets = (struct sets){ 0 };
}

/* ---- frequencies: whole numbers, or numbers in names, of the measured ratio ---- */

#define MIN_PERIOD_PX 4	/* px: smaller numbers in names are no periods */
#define MIN_COHERENCE 0.6
/* With this error of a set, five cameras of 40 and 41 fringes agree about the origin. */
#define SHIFT_BIAS_RAD (0.25 * M_PI / 180)
#define BLOCKS 12		/* of lines, each left out in turn */
#define FEW_BLOCKS_ERROR 0.05	/* of a slope that less than three of them tell */
#define RATIO_ROUNDS 4		/* in which runs that lost a fringe are left out */
#define MAX_RUNS 4096		/* pieces of lines along which both phases are known */
/* Harmonics, as a phase error in rad: of what a fit leaves; of three steps, which leave none. */
#define HARMONICS_OF_LEFT 0.7
#define MIN_HARMONICS_RAD 0.01
#define THREE_STEP_HARMONICS_RAD 0.15
#define HARMONICS_OF_SLOPE 1.5	/* of what the slope of one phase on the other leaves */
#define MIN_FRINGES_SHOWN 0.7	/* that show harmonics apart from a slope */
#define MAX_ERRORS 3		/* errors by which a ratio may be off */
#define MIN_RUN_PX 12
#define MIN_RUN_RAD 1
#define MIN_GUESS 0.4		/* of those that are guessed; of others several are listed */
#define MAX_COUNT 128
#define RANK_ERRORS 3		/* errors are bounds: most ratios are off by a third and less */
#define MIN_WIDE 1.1		/* fringes in view: fewer are a wide set's */

/* A piece of a line along which two phases are known. */
struct phase_run {
	size_t line;
	double ratio, weight;		/* slope of the second on the first; its weight */
	double span_rad;		/* of the first */
	double left_rad;		/* rms that the slope leaves of the second */
	double off;			/* its ratio, from that of all */
};

/* What of a harmonic does not average out over so many fringes: all over less than one. */
static double
harmonic_share(double fringes)
{
	return fringes < 1 ? 1 : 1 / (1 + 3 * (fringes - 1)) / pow(2.8, fmin(1, fringes - 1));
}

/* The phase error that harmonics of a set's light cause, in rad. Of three steps, which leave
 * nothing, what the slope leaves is a bound, if it had a fringe to show it. */
static double
harmonic_error(const struct fringe_set *set, double fringes, double left_rad)
{
	double three = fringes < MIN_FRINGES_SHOWN ? THREE_STEP_HARMONICS_RAD :
	    fmin(THREE_STEP_HARMONICS_RAD, HARMONICS_OF_SLOPE * left_rad);

	return fmax(MIN_HARMONICS_RAD, set->steps.n == 3 ? three :
	    HARMONICS_OF_LEFT * set->steps.residual);
}

void
slope_add(struct slope_sums *sums, double x, double y)
{
	sums->low = sums->n > 0 ? fmin(sums->low, x) : x;
	sums->high = sums->n > 0 ? fmax(sums->high, x) : x;
	sums->n++;
	sums->x += x;
	sums->y += y;
	sums->xx += x * x;
	sums->xy += x * y;
	sums->yy += y * y;
}

void
line_sums_add(struct line_sums *sums, size_t line, struct slope_sums *run)
{
	run->xx -= run->x * run->x / run->n;
	run->xy -= run->x * run->y / run->n;
	run->yy -= run->y * run->y / run->n;
	sums->xx[line] += run->xx;
	sums->xy[line] += run->xy;
}

double
line_sums_slope(const struct line_sums *sums, size_t lines, double *error)
{
	double xy = 0, xx = 0, part[BLOCKS], mean = 0, squares = 0;
	size_t parts = 0;

	for (size_t l = 0; l < lines; l++) {
		xy += sums->xy[l];
		xx += sums->xx[l];
	}
	*error = (double)NAN;
	if (!(xx > 0))
		return (double)NAN;
	for (size_t b = 0; b < BLOCKS; b++) {
		double y = xy, x = xx;

		for (size_t l = 0; l < lines; l++)
			if (l * BLOCKS / lines == b) {
				y -= sums->xy[l];
				x -= sums->xx[l];
			}
		if (x > 0 && x < xx)
			mean += part[parts++] = y / x;
	}
	for (size_t b = 0; b < parts; b++)
		squares += pow(part[b] - mean / (double)parts, 2);
	*error = parts > 2 ? sqrt(squares * (double)(parts - 1) / (double)parts) :
	    FEW_BLOCKS_ERROR * fabs(xy / xx);
	return xy / xx;
}

/* The median of one of the numbers of n runs. */
static double
runs_median(const struct phase_run *run, size_t n, size_t offset, float *room)
{
	for (size_t k = 0; k < n; k++)
		room[k] = (float)*(const double *)(const void *)((const char *)&run[k] + offset);
	return (double)numbers_median(room, n);
}

/* The runs of pixels in which both phases, unwrapped along the lines, are known and the first
 * spans more than a radian; returns how many, MAX_RUNS at most. */
static size_t
phase_runs(const struct field *field, const float *a, const float *b, struct phase_run *out)
{
	size_t n = 0, length = field->length;

	for (size_t p = 0; p < field->lines * length && n < MAX_RUNS; p++) {
		size_t first = p, end = (p / length + 1) * length;
		struct slope_sums sums = { 0 };
		struct line_sums ignored = { { 0 }, { 0 } };

		for (; p < end && !isnan(a[p]) && !isnan(b[p]); p++)
			slope_add(&sums, (double)(a[p] - a[first]), (double)(b[p] - b[first]));
		if (p == end)
			p--;
		if (sums.n < MIN_RUN_PX || sums.high - sums.low < MIN_RUN_RAD)
			continue;
		line_sums_add(&ignored, 0, &sums);
		out[n++] = (struct phase_run){ .line = first / length, .weight = sums.xx,
			.ratio = sums.xy / sums.xx, .span_rad = sums.high - sums.low,
			.left_rad = sqrt(fmax(0, sums.yy - sums.xy * sums.xy / sums.xx) / sums.n) };
	}
	return n;
}

/*
 * How fast the coarser phase grows with the finer one: the mean slope of the runs, without those
 * that lost a fringe. Its error: the jackknife's over blocks of lines, and that by harmonics, which
 * all lines have in common.
 */
void
ratio_measure(const struct field *field, const struct fringe_set *fine,
    const struct fringe_set *coarse, double *ratio, double *error)
{
	struct phase_run *run = must_alloc(MAX_RUNS, sizeof(*run));
	float *room = must_alloc(MAX_RUNS, sizeof(*room));
	size_t n = phase_runs(field, fine->phase, coarse->phase, run);
	double span, turns, left, by_fine, by_coarse;

	*ratio = *error = (double)NAN;
	for (int round = 0; round <= RATIO_ROUNDS && n > 2; round++) {
		struct line_sums sums = { { 0 }, { 0 } };
		size_t within = 0;
		double limit;

		for (size_t k = 0; k < n; k++) {
			sums.xx[run[k].line] += run[k].weight;
			sums.xy[run[k].line] += run[k].weight * run[k].ratio;
		}
		*ratio = line_sums_slope(&sums, field->lines, error);
		if (round == RATIO_ROUNDS)
			break;
		for (size_t k = 0; k < n; k++)
			run[k].off = fabs(run[k].ratio - *ratio);
		limit = 4 * runs_median(run, n, offsetof(struct phase_run, off), room) + 1e-9;
		for (size_t k = 0; k < n; k++)
			if (run[k].off < limit)
				run[within++] = run[k];
		n = within;
	}
	if (n > 2) {
		span = runs_median(run, n, offsetof(struct phase_run, span_rad), room);
		left = runs_median(run, n, offsetof(struct phase_run, left_rad), room);
		turns = span / (2 * M_PI);
		by_fine = *ratio * harmonic_error(fine, turns, left / fabs(*ratio)) *
		    harmonic_share(turns);
		turns *= fabs(*ratio);
		by_coarse = harmonic_error(coarse, turns, left) * harmonic_share(turns);
		*error = hypot(*error, sqrt(12) / span * hypot(by_fine, by_coarse));
	}
	free(room);
	free(run);
}

static void
measure_ratios(const struct sets *sets, const size_t *set, size_t n, struct frequencies *all)
{
	for (size_t k = 1; k < n; k++)
		if (sets->fringe[set[k]].fringes > sets->fringe[set[all->finest]].fringes)
			all->finest = k;
	for (size_t k = 0; k < n; k++) {
		const struct fringe_set *finest = &sets->fringe[set[all->finest]];

		all->ratio[k] = 1;
		all->error[k] = 0;
		if (k != all->finest)
			ratio_measure(&sets->field[finest->axis], finest, &sets->fringe[set[k]],
			    &all->ratio[k], &all->error[k]);
	}
}

/* A number that all names of a set have in common: the one before the last, or the last one. */
static bool
common_number(const struct sets *sets, const struct fringe_set *set, bool last, double *out)
{
	for (size_t k = 0; k < set->steps.n; k++) {
		const char *name = sets->image[set->steps.image[k]]->name;
		size_t n = names_stem(name);
		double v;

		while (last && name[n] >= '0' && name[n] <= '9')
			n++;
		if (!names_number(name, n, &v) || !(v > 0) || (k && v != *out))
			return false;
		*out = v;
	}
	return true;
}

/* Do the names' numbers have the measured ratio, as counts or as periods? */
static bool
take_names(const struct sets *sets, const size_t *set, size_t n, bool last, struct frequencies *all)
{
	double v[SETS_MOST];
	bool counts = true, periods = true;

	for (size_t k = 0; k < n; k++) {
		if (!common_number(sets, &sets->fringe[set[k]], last, &v[k]))
			return false;
		for (size_t j = 0; j < k; j++)
			if (v[j] == v[k])
				return false;
	}
	for (size_t k = 0; k < n; k++) {
		double at = v[k] / v[all->finest], limit = MAX_ERRORS * all->error[k] + 1e-4;

		counts = counts && fabs(at - all->ratio[k]) < limit;
		periods = periods && fabs(1 / at - all->ratio[k]) < limit && v[k] >= MIN_PERIOD_PX;
	}
	if (!counts && !periods)
		return false;
	all->source = FREQUENCY_NAMES;
	all->periods = periods;
	for (size_t k = 0; k < n; k++)
		all->value[k] = v[k];
	return true;
}

static double
common_divisor(double a, double b)
{
	while (b > 0.5) {
		double rest = fmod(a, b);

		a = b;
		b = rest;
	}
	return a;
}

/* Counts of all sets that fit, and how likely they are by their errors and their size. */
struct counts {
	double value[SETS_MOST], likely, rank;
};

/* The counts with so many, or, inverse, so many pixels a period, of the finest set; how likely. */
static double
try_counts(const struct frequencies *all, size_t n, double finest, bool inverse,
    struct counts *out)
{
	double *value = out->value, common = 0, squares = 0, product = 1, multiple = 1;

	for (size_t k = 0; k < n; k++) {
		double ratio = inverse ? 1 / all->ratio[k] : all->ratio[k], off;

		value[k] = k == all->finest ? finest : round(ratio * finest);
		if (!(value[k] >= 1) || (k != all->finest && value[k] == finest))
			return 0;
		off = (inverse ? finest / value[k] : value[k] / finest) - all->ratio[k];
		off = k == all->finest ? 0 : off / all->error[k];
		squares += off * off;
		product *= value[k];
		common = common_divisor(common, value[k]);
		if (fabs(off) > 2 * MAX_ERRORS)
			return 0;
	}
	if (common > 1.5)		/* the smaller ones are meant */
		return 0;
	for (size_t k = 0; k < n && inverse; k++)
		multiple *= value[k] / common_divisor(multiple, value[k]);
	for (size_t k = 0; k < n && inverse; k++)
		value[k] = multiple / value[k];
	out->rank = exp(-RANK_ERRORS * RANK_ERRORS * squares / 2) / product;
	return multiple < 1e9 ? exp(-squares / 2) / product : 0;
}

static int
compare_counts(const void *a, const void *b)
{
	const struct counts *x = a, *y = b;

	return (x->rank < y->rank) - (x->rank > y->rank);
}

/*
 * All counts of up to MAX_COUNT that the ratios allow; of three sets and more also small periods,
 * of which the counts are those over their least common multiple. Small numbers are likelier.
 * wide: less than a fringe of a set is in view, so that its count is guessed whatever else fits.
 */
static void
take_whole_numbers(size_t n, bool wide, struct frequencies *all)
{
	struct counts *found = must_alloc(2 * MAX_COUNT, sizeof(*found));
	size_t candidates = 0;
	double sum = 0;

	for (int inverse = 0; inverse <= (n > 2); inverse++)
		for (size_t finest = 1; finest <= MAX_COUNT; finest++) {
			struct counts *one = &found[candidates];

			one->likely = try_counts(all, n, (double)finest, inverse, one);
			for (size_t c = 0; c < candidates; c++)
				if (!memcmp(found[c].value, one->value, n * sizeof(double)))
					one->likely = 0;
			candidates += one->likely > 0;
			sum += one->likely;
		}
	qsort(found, candidates, sizeof(*found), compare_counts);
	all->source = FREQUENCY_UNKNOWN;
	for (size_t c = 0; c < candidates && all->candidates < FREQUENCY_CANDIDATES; c++)
		if (c < 2 || found[c].likely > 0.02 * found[0].likely)
			memcpy(all->candidate[all->candidates++], found[c].value,
			    sizeof(found[c].value));
	all->probability = sum > 0 ? found[0].likely / sum : 0;
	if (all->probability > MIN_GUESS || (candidates && wide)) {
		all->source = FREQUENCY_RATIO;
		memcpy(all->value, found[0].value, n * sizeof(*all->value));
	}
	free(found);
}

/* Periods out of the columns that a Gray code counts in a period of the first set. */
static void
take_columns(const struct gray_code *code, size_t n, struct frequencies *all)
{
	double first = code->cells * all->ratio[0];

	all->source = FREQUENCY_GRAY;
	all->periods = true;
	for (size_t k = 0; k < n; k++) {
		double period = first / all->ratio[k], whole = round(period);

		all->value[k] = fabs(period - whole) < fmax(2e-3 * period, 3 * code->cells_error) ?
		    whole : period;
	}
}

/* Of two phases with their shifts as they are meant, of counts that differ by one: by the scatter
 * of the shifts as they are found, and by a bias that the images of a set have in common. */
static double
origin_error(const struct fringe_set *p, const struct fringe_set *q, double a, double b)
{
	double n = (double)p->steps.n, m = (double)q->steps.n;

	return sqrt(pow(b * p->order.error_rad, 2) / n + pow(a * q->order.error_rad, 2) / m +
	    (a * a + b * b) * SHIFT_BIAS_RAD * SHIFT_BIAS_RAD);
}

/* Adds the cosines and sines of (count[0] p - count[1] q) / count[2], and their number, to
 * sums. */
static void
beat_origin(size_t pixels, const float *p, const float *q, const double count[3], double sums[3])
{
	double re = sums[0], im = sums[1], n = sums[2];

	for (size_t x = 0; x < pixels; x++)
		if (!isnan(p[x]) && !isnan(q[x])) {
			double off = (count[0] * (double)p[x] - count[1] * (double)q[x]) / count[2];

			re += cos(off);
			im += sin(off);
			n++;
		}
	sums[0] = re;
	sums[1] = im;
	sums[2] = n;
}

/*
 * Phases a and b of n and m fringes begin together: m a - n b is (m - n) times the phase that both
 * have there. It is looked for among pairs where that is the phase itself.
 */
static void
find_origin(const struct sets *sets, const size_t *set, size_t n, struct frequencies *all)
{
	const struct field *field = &sets->field[sets->fringe[set[0]].axis];
	size_t pixels = field->lines * field->length;
	double sums[3] = { 0 };

	all->origin_error_rad = INFINITY;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double a = all->value[i], b = all->value[j], d = common_divisor(a, b);
			const float *p = sets->fringe[set[i]].phase;
			const float *q = sets->fringe[set[j]].phase;

			if (all->periods || fabs(b - a - d) > 1e-9)
				continue;
			beat_origin(pixels, p, q, (double[3]){ b, a, d }, sums);
			all->origin_error_rad = fmin(all->origin_error_rad, origin_error(
			    &sets->fringe[set[i]], &sets->fringe[set[j]], a / d, b / d));
		}
	if (sums[2] > 0) {
		all->origin_rad = atan2(sums[1], sums[0]);
		all->origin_coherence = hypot(sums[0], sums[1]) / sums[2];
		all->origin_known = all->origin_coherence > MIN_COHERENCE;
	}
}

void
frequencies_find(const struct sets *sets, const size_t *set, size_t n, const struct gray_code *code,
    struct frequencies *all)
{
	bool wide = false;

	*all = (struct frequencies){ 0 };
	for (size_t k = 0; k < n; k++)
		all->value[k] = (double)NAN;
	for (size_t k = 1; k < n; k++)
		if (sets->fringe[set[k]].axis != sets->fringe[set[0]].axis)
			return;
	measure_ratios(sets, set, n, all);
	if (code && code->cell == GRAY_CELL_COLUMN) {
		take_columns(code, n, all);
		return;
	}
	if (n < 2)
		return;
	for (size_t k = 0; k < n; k++)
		wide = wide || sets->fringe[set[k]].fringes < MIN_WIDE;
	if (!take_names(sets, set, n, false, all) && !take_names(sets, set, n, true, all))
		take_whole_numbers(n, wide, all);
	if (all->source != FREQUENCY_UNKNOWN && !code)
		find_origin(sets, set, n, all);
}
