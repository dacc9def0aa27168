/*
 * --exposures: a measurement whose images were all taken K times, with as many exposure times. Each
 * exposure is sorted like a measurement of its own, and all must show the same images. How much
 * light each has is known by the exposure times, or measured in the images. phasewrap_rows.c fits
 * one phase to all exposures.
 */
#include "phasewrap.h"

#include "base/px.h"
#include "fringe/capture_set.h"
#include "phasewrap.px.h"

enum exposure_order { EXPOSURE_ORDER_SET, EXPOSURE_ORDER_STEP };

int
exposures_check(const struct exposure_options *options, const struct capture_options *captures)
{
	size_t n = options->time_s.n;

	if (options->n == 1 && (options->order >= 0 || n || options->map))
		return fail_usage(options->order >= 0 ? "--exposure-order" :
		    n ? "--exposure-time" : "--exposure-map", "is for --exposures 2 and more");
	if (n && n != (size_t)options->n)
		return fail_usage("--exposure-time", "%zu times for %ld exposures", n, options->n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (options->time_s.v[i] == options->time_s.v[k])
				return fail_usage("--exposure-time", "%g is there twice",
				    options->time_s.v[i]);
	if (captures->kind != CAPTURES_ALL && captures->kind != CAPTURES_STEP &&
	    captures->kind != CAPTURES_TWO_PLUS_ONE &&
	    (options->n > 1 || options->saturated == SATURATED_SOLVE))
		return fail_usage(options->n > 1 ? "--exposures" : "--saturated",
		    "is for --kind step and 2+1");
	if (options->n > 1 && captures->flat == FLAT_AUTO)
		return fail_usage("--flat", "auto is for one exposure: give its number");
	if (options->n > 1 && captures->rgb && options->order == EXPOSURE_ORDER_STEP)
		return fail_usage("--rgb", "has all steps in one image: the exposures come one "
		    "after another");
	return 0;
}

/* Do two images show the same? */
static bool
same_image(const struct manifest_row *a, const struct manifest_row *b)
{
	return a->role == b->role && a->axis == b->axis && a->step == b->step &&
	    a->bit == b->bit && numbers_same(a->period_px, b->period_px) &&
	    numbers_same(a->shift_rad, b->shift_rad);
}

/* Does the manifest list the images of all exposures? */
static bool
lists_all(const struct exposure_options *options, const struct manifest *manifest)
{
	size_t same = 0;

	for (size_t i = 0; manifest && i < manifest->n; i++)
		same += same_image(&manifest->row[i], &manifest->row[0]);
	return manifest && same == (size_t)options->n && manifest->n % same == 0;
}

void
exposures_count(const struct exposure_options *options, const struct manifest *manifest,
    size_t *planes)
{
	if (options->n > 1 && !lists_all(options, manifest))
		*planes *= (size_t)options->n;
}

/* ---- which planes are those of an exposure ---- */

/* The time of plane i by the key exposure_time_s; NaN where it has none of its own. */
static double
time_of(const struct frame_head *head, size_t i)
{
	const char *list = meta_get(&head->meta, "exposure_time_s");
	char word[64];
	double v;

	if (!list || meta_words(list) != head->c || !meta_word(list, i, word, sizeof(word)) ||
	    number_parse(word, &v) < 0 || !(v > 0) || !isfinite(v))
		return NAN;
	return v;
}

/* How many different times are shorter than that of plane i. */
static size_t
time_rank(const struct frame_head *head, size_t i)
{
	double own = time_of(head, i), last = 0;
	size_t rank = 0;

	while (!isnan(own)) {
		double next = own;

		for (size_t k = 0; k < head->c; k++) {
			double other = time_of(head, k);

			next = other > last && other < next ? other : next;
		}
		if (!(next < own))
			return rank;
		last = next;
		rank++;
	}
	return 0;
}

/* Does each image have a time, and are there as many times as exposures? */
static bool
are_timed(const struct frame_head *in, size_t exposures)
{
	size_t most = 0;

	for (size_t i = 0; i < in->c; i++) {
		if (isnan(time_of(in, i)))
			return false;
		most = time_rank(in, i) > most ? time_rank(in, i) : most;
	}
	return most + 1 == exposures;
}

/* Finds the planes of all exposures: by their times, the shortest first; by their descriptions, the
 * images that show the same in the order in which they come; or by --exposure-order. */
static int
find(const struct exposure_options *options, const struct capture_options *captures,
    const struct manifest *manifest, const struct frame_head *in, struct exposure_planes *out)
{
	bool timed = (out->described || options->order < 0) && are_timed(in, out->exposures);
	struct capture *capture = must_alloc(in->c + 1, sizeof(*capture));
	size_t count[EXPOSURES_MOST] = { 0 };
	int status = timed || !out->described ? 0 :
	    capture_roles_describe(captures, manifest, in, capture);

	for (size_t i = 0; i < in->c && status == 0; i++) {
		size_t e = options->order == EXPOSURE_ORDER_STEP ? i % out->exposures :
		    i / out->images;

		if (timed || out->described)
			e = timed ? time_rank(in, i) : 0;
		for (size_t k = 0; k < i && out->described && !timed; k++)
			e += same_image(&capture[k].described, &capture[i].described);
		if (e >= out->exposures || count[e] == out->images)
			status = fail("--exposures", "image %zu is one more than %zu of exposure "
			    "%zu: are there %zu exposures of each image?", i + 1, out->images,
			    e + 1, out->exposures);
		else
			out->plane[e * out->images + count[e]++] = i;
	}
	free(capture);
	return status;
}

/* The head of exposure number e alone. */
static int
pick_head(const struct exposure_planes *planes, const struct frame_head *in, size_t e,
    struct frame_head *out)
{
	const size_t *plane = planes->plane + e * planes->images;

	head_copy(out, in);
	for (size_t i = 0; i < planes->images; i++)
		memcpy(out->channel[i], in->channel[plane[i]], sizeof(*out->channel));
	if (meta_pick(&out->meta, in->c, plane, planes->images) < 0)
		return -1;
	return head_set_count(out, planes->images);
}

int
exposure_planes_find(const struct exposure_options *options,
    const struct capture_options *captures, const struct manifest *manifest,
    const struct frame_head *in, struct exposure_planes *out)
{
	bool listed = options->n > 1 && lists_all(options, manifest);

	*out = (struct exposure_planes){ .exposures = (size_t)options->n,
		.images = in->c / (size_t)options->n, .listed = listed,
		.described = options->n > 1 && (listed ||
		    (!manifest && meta_get(&in->meta, "role") && !captures->order)) };
	if (in->c % (size_t)options->n)
		return fail("--exposures", "%zu images are no whole sets of %ld exposures", in->c,
		    options->n);
	if (out->described && options->order >= 0)
		warn("--exposure-order", "the images say themselves what they are: their order "
		    "does not count");
	out->plane = must_alloc(in->c + 1, sizeof(*out->plane));
	return find(options, captures, manifest, in, out) < 0 ? -1 :
	    pick_head(out, in, 0, &out->head);
}

void
exposure_planes_free(struct exposure_planes *planes)
{
	free(planes->plane);
	head_free(&planes->head);
	memset(planes, 0, sizeof(*planes));
}

int
exposure_planes_sort(const struct exposure_planes *planes, const struct capture_options *options,
    const struct manifest *manifest, const struct frame_head *in, size_t e,
    struct capture_set *out)
{
	struct manifest own = { planes->images, NULL };
	struct frame_head head = { 0 };
	int status;

	memset(out, 0, sizeof(*out));
	if (planes->listed) {
		own.row = must_alloc(own.n, sizeof(*own.row));
		for (size_t i = 0; i < own.n; i++)
			own.row[i] = manifest->row[planes->plane[e * own.n + i]];
		manifest = &own;
	}
	status = pick_head(planes, in, e, &head);
	if (status == 0)
		status = capture_set_sort(options, manifest, &head, out);
	head_free(&head);
	free(own.row);
	return status;
}

/* ---- all exposures of a measurement ---- */

/* Do two exposures show the same images? */
static bool
same_sets(const struct capture_set *a, const struct capture_set *b)
{
	bool same = a->fringes == b->fringes && a->codes == b->codes && a->flats == b->flats;

	for (size_t k = 0; same && k < a->fringes; k++) {
		const struct capture_fringe *p = &a->fringe[k], *q = &b->fringe[k];

		same = p->n == q->n && p->axis == q->axis && p->two_plus_one == q->two_plus_one &&
		    numbers_same(p->period_px, q->period_px);
		for (size_t i = 0; same && i < p->n; i++)
			same = numbers_same(p->shift_rad[i], q->shift_rad[i]);
	}
	for (size_t i = 0; same && i < a->codes; i++)
		same = a->code[i].n == b->code[i].n && a->code[i].axis == b->code[i].axis &&
		    !a->code[i].inverse == !b->code[i].inverse;
	return same;
}

static void
map_planes(const size_t *plane, size_t *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		list[i] = plane[list[i]];
}

/* Turns the planes of a set into those of the measurement. */
static void
map_set(const size_t *plane, struct capture_set *set)
{
	for (size_t k = 0; k < set->fringes; k++)
		map_planes(plane, set->fringe[k].plane, set->fringe[k].n);
	for (size_t i = 0; i < set->codes; i++) {
		map_planes(plane, set->code[i].plane, set->code[i].n);
		map_planes(plane, set->code[i].inverse, set->code[i].n);
	}
	map_planes(plane, set->flat, set->flats);
}

/* Sets the gains by the light of each exposure, in any unit. */
static void
exposures_set_gains(struct exposures *exposures, const double *light)
{
	size_t longest = 0, shortest = 0;

	for (size_t e = 1; e < exposures->n; e++) {
		longest = light[e] > light[longest] ? e : longest;
		shortest = light[e] < light[shortest] ? e : shortest;
	}
	for (size_t e = 0; e < exposures->n; e++)
		exposures->gain[e] = (float)(light[e] / light[longest]);
	exposures->shortest = shortest;
}

/* Sets the gains by the exposure times of option or key; all 1 where they are not known. */
static int
plan_gains(const struct exposure_options *options, const struct frame_head *in,
    const struct exposure_planes *planes, struct exposures *exposures)
{
	double light[EXPOSURES_MOST];
	bool known = exposures->n > 1;

	for (size_t e = 0; e < exposures->n; e++) {
		light[e] = options->time_s.n ? options->time_s.v[e] :
		    time_of(in, planes->plane[e * planes->images]);
		known = known && !isnan(light[e]);
		for (size_t i = 1; i < planes->images && known && !options->time_s.n; i++)
			if (time_of(in, planes->plane[e * planes->images + i]) != light[e])
				return fail("exposure_time_s", "images of exposure %zu differ in "
				    "it: give --exposure-order%s", e + 1,
				    options->order >= 0 ? ", another one" : "");
	}
	exposures->timed = known;
	for (size_t e = 0; e < exposures->n && !known; e++)
		light[e] = 1;
	exposures_set_gains(exposures, light);
	return 0;
}

int
exposures_plan(const struct exposure_options *options, const struct capture_options *captures,
    const struct manifest *manifest, const struct frame_head *in,
    const struct exposure_planes *planes, struct capture_set *first, struct exposures *exposures)
{
	*exposures = (struct exposures){ .n = planes->exposures, .described = planes->described,
		.solves = options->saturated == SATURATED_SOLVE, .map = options->map };
	if ((exposures->n > 1 || exposures->solves) && !first->fringes)
		return fail(exposures->n > 1 ? "--exposures" : "--saturated",
		    "without fringe images there is nothing to solve");
	if (plan_gains(options, in, planes, exposures) < 0)
		return -1;
	for (size_t e = 1; e < exposures->n; e++) {
		if (exposure_planes_sort(planes, captures, manifest, in, e, &exposures->set[e]) < 0)
			return -1;
		if (!same_sets(first, &exposures->set[e]))
			return fail("--exposures", "the images of exposure %zu are not those of "
			    "exposure 1", e + 1);
		map_set(planes->plane + e * planes->images, &exposures->set[e]);
	}
	map_set(planes->plane, first);
	return 0;
}

void
exposures_free(struct exposures *exposures)
{
	for (size_t e = 1; e < EXPOSURES_MOST; e++)
		capture_set_free(&exposures->set[e]);
	exposures->n = 0;
}

/* ---- the light of each exposure, measured in the images ---- */

#define SAMPLED_PIXELS 4096	/* of each image, about */
#define SHARED_PIXELS 16	/* least in fringes that are unsaturated in two exposures */
#define MOVED_RAD (M_PI / 6)	/* nothing moves so far between exposures: they are other steps */
#define EQUAL_RATIO 1.05	/* of the light */
#define TIME_RATIO 1.25		/* of the light by the times to that of the images */
#define ORDER_RATIO 4		/* of the variances of levels, in a wrong order and the right one */

/* Pixels of a coarse grid. */
struct exposure_look {
	const struct phasewrap *wrap;
	const struct frame *in;
	size_t step;
};

/* Rows begin at different columns, or a fringe would be seen at few phases. */
static size_t
first_column(const struct exposure_look *look, size_t y)
{
	return y / look->step * 5 % 8 * look->step / 8;
}

/* B cos phi and B sin phi of the first fringe set of an exposure; false: it is saturated or
 * missing. */
static bool
amplitude_of(const struct exposure_look *look, size_t e, size_t y, size_t x, double *c, double *s)
{
	const struct capture_fringe *fringe = exposure_fringe(look->wrap, e, 0);
	float first = frame_sample(look->in, fringe->plane[0], y, x);

	*c = *s = 0;
	for (size_t i = 0; i < fringe->n; i++) {
		float v = frame_sample(look->in, fringe->plane[i], y, x);

		if (phasewrap_missing(v) || !(v < look->wrap->limits.max_value))
			return false;
		*c += (double)(look->wrap->fit[0].weights[i].c * (v - first));
		*s += (double)(look->wrap->fit[0].weights[i].s * (v - first));
	}
	return true;
}

/* The mean of an image on the grid; saturated samples count as they are. */
static double
exposure_level(const struct exposure_look *look, size_t plane)
{
	double sum = 0, n = 0;

	for (size_t y = 0; y < look->in->head.h; y += look->step)
		for (size_t x = first_column(look, y); x < look->in->head.w; x += look->step) {
			float v = frame_sample(look->in, plane, y, x);

			if (phasewrap_missing(v))
				continue;
			sum += (double)v;
			n++;
		}
	return n > 0 && sum > 0 ? sum / n : 1e-30;
}

/* The light of the darker one of two exposures, in parts of the brighter one's; 0: too few pixels
 * tell. *moved_rad: by how much the fringes of one lie off those of the other, on the mean. */
static double
exposure_ratio(const struct exposure_look *look, size_t bright, size_t dark, double *moved_rad)
{
	double product = 0, across = 0, square = 0, most = 0;
	size_t n = 0;

	/* first the largest amplitude, then pixels of a quarter of it and more */
	for (int round = 0; round < 2; round++)
		for (size_t y = 0; y < look->in->head.h; y += look->step)
			for (size_t x = first_column(look, y); x < look->in->head.w;
			    x += look->step) {
				double c[2], s[2], own;

				if (!amplitude_of(look, bright, y, x, &c[0], &s[0]) ||
				    !amplitude_of(look, dark, y, x, &c[1], &s[1]))
					continue;
				own = c[0] * c[0] + s[0] * s[0];
				if (round == 0) {
					most = own > most ? own : most;
				} else if (own > 0 && own >= most / 16) {
					product += c[0] * c[1] + s[0] * s[1];
					across += c[0] * s[1] - s[0] * c[1];
					square += own;
					n++;
				}
			}
	*moved_rad = n >= SHARED_PIXELS ? fabs(atan2(across, product)) : 0;
	return n >= SHARED_PIXELS && product > 0 ? product / square : 0;
}

/* The variance of n logarithms, every stride-th of v. */
static double
spread(const double *v, size_t n, size_t stride)
{
	double sum = 0, square = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i * stride];
	for (size_t i = 0; i < n; i++)
		square += (v[i * stride] - sum / (double)n) * (v[i * stride] - sum / (double)n);
	return square / (double)n;
}

/* One fringe image of one exposure. */
struct image {
	size_t plane, exposure;
	double level;
};

static int
compare_planes(const void *a, const void *b)
{
	size_t p = ((const struct image *)a)->plane, q = ((const struct image *)b)->plane;

	return p < q ? -1 : p > q;
}

/* Refuses images that are in another order than is given, by their brightness. */
static int
check_order(const struct exposures *exposures, const struct image *image, size_t n)
{
	double level[n], sets = 0, steps = 0;
	size_t one = n / exposures->n;
	bool by_step = image[1].exposure != image[0].exposure;

	for (size_t i = 0; i < n; i++)
		level[i] = log(image[i].level);
	for (size_t e = 0; e < exposures->n; e++) {
		sets += spread(level + e * one, one, 1);
		steps += spread(level + e, one, exposures->n);
	}
	if (exposures->described ||
	    !(by_step ? sets * ORDER_RATIO < steps : steps * ORDER_RATIO < sets))
		return 0;
	return fail("--exposure-order", "by the brightness of the images %s: give "
	    "--exposure-order %s", by_step ? "whole sets of one exposure follow each other" :
	    "each step is there in all exposures before the next", by_step ? "set" : "step");
}

/* The mean level of each exposure. -1 after fail(): their images are in another order. */
static int
find_levels(const struct exposure_look *look, double *level)
{
	const struct phasewrap *wrap = look->wrap;
	struct image *image = must_alloc(look->in->head.c, sizeof(*image));
	size_t n = 0;
	int status;

	for (size_t e = 0; e < wrap->exposures.n; e++) {
		level[e] = 0;
		for (size_t k = 0; k < wrap->captures.fringes; k++)
			for (size_t i = 0; i < exposure_fringe(wrap, e, k)->n; i++) {
				size_t plane = exposure_fringe(wrap, e, k)->plane[i];

				image[n++] =
				    (struct image){ plane, e, exposure_level(look, plane) };
			}
	}
	qsort(image, n, sizeof(*image), compare_planes);
	status = check_order(&wrap->exposures, image, n);
	for (size_t i = 0; i < n; i++)
		level[image[i].exposure] += image[i].level;
	free(image);
	return status;
}

/* Sorts exposures by falling mean levels. */
static void
sort(const double *light, size_t n, size_t *order)
{
	for (size_t e = 0; e < n; e++) {
		size_t i = e;

		for (; i > 0 && light[order[i - 1]] < light[e]; i--)
			order[i] = order[i - 1];
		order[i] = e;
	}
}

/* Warns where the ratio of two exposures, as found in the images, is doubtful; once in a run. */
static void
warn_ratio(struct phasewrap *wrap, size_t bright, size_t dark, double ratio)
{
	const struct exposures *exposures = &wrap->exposures;
	double given = (double)(exposures->gain[bright] / exposures->gain[dark]);

	if (wrap->warned_ratio || !(ratio > 0))
		return;
	if (!exposures->timed && ratio * EQUAL_RATIO > 1) {
		warn("--exposures", "exposures %zu and %zu are about equally bright", bright + 1,
		    dark + 1);
		wrap->warned_ratio = true;
	} else if (exposures->timed &&
	    !(given * ratio < TIME_RATIO && given * ratio * TIME_RATIO > 1)) {
		warn("--exposure-time", "exposure %zu has %.3g times the light of exposure %zu by "
		    "the times, and %.3g times by the images: the times count", bright + 1, given,
		    dark + 1, 1 / ratio);
		wrap->warned_ratio = true;
	}
}

int
exposure_gains_find(struct phasewrap *wrap, const struct frame *in)
{
	struct exposures *exposures = &wrap->exposures;
	struct exposure_look look = { wrap, in,
		coarse_grid_step(in->head.w, in->head.h, SAMPLED_PIXELS) };
	double level[EXPOSURES_MOST], light[EXPOSURES_MOST];
	size_t order[EXPOSURES_MOST];

	if (exposures->n < 2)
		return 0;
	if (find_levels(&look, level) < 0)
		return -1;
	sort(level, exposures->n, order);
	light[order[0]] = 1;
	for (size_t i = 1; i < exposures->n; i++) {
		double moved_rad, ratio = exposure_ratio(&look, order[i - 1],
		    order[i], &moved_rad);

		if (moved_rad > MOVED_RAD && !exposures->timed)
			return fail("--exposures", "exposures %zu and %zu do not show the same "
			    "fringes, but some that are %.0f degrees apart: are these images "
			    "more steps, and no second exposures?", order[i - 1] + 1,
			    order[i] + 1, moved_rad * 180 / M_PI);
		if (!(ratio > 0) && !exposures->timed)
			return fail("--exposures", "too few pixels have fringes that are "
			    "unsaturated in exposures %zu and %zu both, to tell how much "
			    "longer one is: give --exposure-time", order[i - 1] + 1, order[i] + 1);
		light[order[i]] = light[order[i - 1]] * ratio;
		warn_ratio(wrap, order[i - 1], order[i], ratio);
	}
	if (!exposures->timed)
		exposures_set_gains(exposures, light);
	return 0;
}

void
exposure_gains_note(const struct exposures *exposures)
{
	for (size_t e = 0; e < exposures->n; e++)
		note(NULL, "exposure %zu: %.4g times the light of the shortest", e + 1,
		    (double)(exposures->gain[e] / exposures->gain[exposures->shortest]));
}
