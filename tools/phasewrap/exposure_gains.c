#include "exposure_gains.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "image/coarse_grid.h"
#include "phasewrap.px.h"

#define PIXELS 4096		/* looked at, about */
#define LEAST 16		/* of them in fringes that two exposures share */
#define MOVED (M_PI / 6)	/* between exposures: other steps, as nothing moves so far */
#define EQUAL 1.05		/* of the light */
#define TIME_RATIO 1.25		/* of the light by the times to that of the images */
#define ORDER_RATIO 4		/* of the variances of levels, in a wrong order and the right one */

struct look {
	const struct phasewrap *wrap;
	const struct frame *in;
	size_t step;
};

static const struct capture_fringe *
fringe_of(const struct look *look, size_t e, size_t k)
{
	return &exposures_get(&look->wrap->exposures, &look->wrap->captures, e)->fringe[k];
}

/* Rows begin at other columns, or fringes would be seen at few phases. */
static size_t
first_column(const struct look *look, size_t y)
{
	return y / look->step * 5 % 8 * look->step / 8;
}

/* B cos phi and B sin phi of fringe set k of an exposure; false: it is saturated or missing. */
static bool
amplitude_of(const struct look *look, size_t e, size_t k, size_t y, size_t x, double *c, double *s)
{
	const struct capture_fringe *fringe = fringe_of(look, e, k);
	float first = frame_sample(look->in, fringe->plane[0], y, x);

	*c = *s = 0;
	for (size_t i = 0; i < fringe->n; i++) {
		float v = frame_sample(look->in, fringe->plane[i], y, x);

		if (phasewrap_missing(v) || !(v < look->wrap->limits.max_value))
			return false;
		*c += (double)(look->wrap->fit[k].weights[i].c * (v - first));
		*s += (double)(look->wrap->fit[k].weights[i].s * (v - first));
	}
	return true;
}

/* The mean of an image on the grid; saturated samples count as they are. */
static double
level_of(const struct look *look, size_t plane)
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

/* The variance of n logarithms that stand `stride` apart. */
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

/* All fringe images in the order in which they come, and their number. NULL after fail(). */
static struct image *
list_images(const struct look *look, size_t *n)
{
	struct image *image = calloc(look->in->head.c, sizeof(*image));

	*n = 0;
	if (!image)
		fail_memory();
	for (size_t e = 0; image && e < look->wrap->exposures.n; e++)
		for (size_t k = 0; k < look->wrap->captures.fringes; k++)
			for (size_t i = 0; i < fringe_of(look, e, k)->n; i++) {
				size_t plane = fringe_of(look, e, k)->plane[i];

				image[(*n)++] =
				    (struct image){ plane, e, level_of(look, plane) };
			}
	if (image)
		qsort(image, *n, sizeof(*image), compare_planes);
	return image;
}

/* Are the images in the order that is given? */
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

/* The mean level of each exposure. */
static int
find_levels(const struct look *look, double *level)
{
	size_t n, exposures = look->wrap->exposures.n;
	struct image *image = list_images(look, &n);
	int status = image ? check_order(&look->wrap->exposures, image, n) : -1;

	for (size_t e = 0; e < exposures; e++)
		level[e] = 0;
	for (size_t i = 0; image && i < n; i++)
		level[image[i].exposure] += image[i].level;
	free(image);
	return status;
}

/* The light of the darker one of two exposures, in parts of the brighter one's; 0: too few pixels
 * tell. *moved_rad: by how much the fringes of one lie off those of the other, on the mean. */
static double
ratio_of(const struct look *look, size_t bright, size_t dark, double *moved_rad)
{
	double product = 0, across = 0, square = 0, most = 0;
	size_t n = 0;

	/* pixels of a quarter of the largest amplitude that is there, and more */
	for (int round = 0; round < 2; round++)
		for (size_t y = 0; y < look->in->head.h; y += look->step)
			for (size_t x = first_column(look, y); x < look->in->head.w;
			    x += look->step) {
				double c[2], s[2], own;

				if (!amplitude_of(look, bright, 0, y, x, &c[0], &s[0]) ||
				    !amplitude_of(look, dark, 0, y, x, &c[1], &s[1]))
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
	*moved_rad = n >= LEAST ? fabs(atan2(across, product)) : 0;
	return n >= LEAST && product > 0 ? product / square : 0;
}

/* Exposures in falling order of their mean levels. */
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

/* What the images say of two exposures against each other, once in a run. */
static void
warn_ratio(struct phasewrap *wrap, size_t bright, size_t dark, double ratio)
{
	const struct exposures *exposures = &wrap->exposures;
	double given = (double)(exposures->gain[bright] / exposures->gain[dark]);

	if (wrap->warned_ratio || !(ratio > 0))
		return;
	if (!exposures->timed && ratio * EQUAL > 1) {
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
	struct look look = { wrap, in, coarse_grid_step(in->head.w, in->head.h, PIXELS) };
	double level[EXPOSURES_MOST], light[EXPOSURES_MOST];
	size_t order[EXPOSURES_MOST];

	if (exposures->n < 2)
		return 0;
	if (find_levels(&look, level) < 0)
		return -1;
	sort(level, exposures->n, order);
	light[order[0]] = 1;
	for (size_t i = 1; i < exposures->n; i++) {
		double moved_rad, ratio = ratio_of(&look, order[i - 1], order[i], &moved_rad);

		if (moved_rad > MOVED && !exposures->timed)
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
