/* Which images belong to a set: those that fit its phases, whatever was taken for it at first. */
#include "members.h"

#include <math.h>
#include <string.h>

#define FIT_MORE 0.2		/* of the amplitude: residual of a set that was complete before */
#define JOIN 2			/* of the set's residual: an image fits it, too */
#define JOIN_LEAST 0.06
#define JOIN_THREE 0.25		/* of the amplitude, where three images have no residual */
#define DRIFT 0.25		/* rad, from half to half of the lines: other fringes */
#define STRANGER 0.6		/* of the residual is left without an image that is no step */
#define STRANGER_LEAST 0.04
#define STRANGERS_MOST 24	/* images: it takes time in proportion to the square */

static bool
is_member(const struct steps *steps, size_t i)
{
	for (size_t k = 0; k < steps->n; k++)
		if (steps->image[k] == i)
			return true;
	return false;
}

/* Images that were not recognised but fit the set's phases about as well as its own do. */
static int
join(const struct sets *sets, const struct field *field, struct steps *steps)
{
	size_t n = steps->n;
	double limit = n > 3 ? JOIN * fmax(steps->residual, JOIN_LEAST) : JOIN_THREE;

	for (size_t i = 0; i < sets->images && steps->n < STEPS_MOST; i++) {
		double shift, drift;

		if (sets->kind[i] != KIND_UNKNOWN || is_member(steps, i) ||
		    !(steps_try(field, steps, i, &shift, &drift) < limit) ||
		    fabs(drift) > DRIFT)
			continue;
		steps->image[steps->n] = i;
		steps->shift_rad[steps->n++] = shift;
	}
	return steps->n > n ? steps_fit(field, steps) : 0;
}

/* Takes out images whose fringes are not the set's: their shift grows along the lines. */
static int
leave(const struct field *field, struct steps *steps)
{
	struct steps old = *steps;

	if (steps->n < 5)
		return 0;
	steps->n = 0;
	for (size_t k = 0; k < old.n; k++) {
		double shift, drift;

		steps_try(field, &old, old.image[k], &shift, &drift);
		if (fabs(drift) > DRIFT)
			continue;
		steps->image[steps->n] = old.image[k];
		steps->shift_rad[steps->n++] = old.shift_rad[k];
	}
	if (steps->n < 3)
		*steps = old;
	return steps->n < old.n ? steps_fit(field, steps) : 0;
}

static void
remove_image(struct steps *steps, size_t k)
{
	steps->n--;
	memmove(steps->image + k, steps->image + k + 1, (steps->n - k) * sizeof(*steps->image));
	memmove(steps->shift_rad + k, steps->shift_rad + k + 1,
	    (steps->n - k) * sizeof(*steps->shift_rad));
}

/* Four images that are three steps and a Gray plane of their period: which one? */
static void
find_three(struct steps *steps)
{
	for (size_t k = 0; k < 4; k++) {
		struct steps three = *steps;
		struct steps_order order;

		remove_image(&three, k);
		steps_read(&three, &order);
		if (order.of != 3)
			continue;
		*steps = three;
		return;
	}
}

/* Takes out an image without which the others fit much better: a Gray plane of their period.
 * images: the steps before they were fitted, as that image spoilt the shifts. */
static int
drop_stranger(const struct field *field, const struct steps *images, struct steps *steps)
{
	struct steps best = *steps;

	for (size_t k = 0; k < steps->n; k++) {
		struct steps without = *images;

		remove_image(&without, k);
		if (steps_fit(field, &without) < 0)
			return -1;
		if (without.residual < best.residual)
			best = without;
	}
	if (best.residual < STRANGER * steps->residual)
		*steps = best;
	return 0;
}

/* In the order of the files, the first one's shift 0. */
static void
sort_images(struct steps *steps)
{
	for (size_t i = 1; i < steps->n; i++)
		for (size_t k = i; k > 0 && steps->image[k] < steps->image[k - 1]; k--) {
			size_t image = steps->image[k];
			double shift = steps->shift_rad[k];

			steps->image[k] = steps->image[k - 1];
			steps->shift_rad[k] = steps->shift_rad[k - 1];
			steps->image[k - 1] = image;
			steps->shift_rad[k - 1] = shift;
		}
	for (size_t k = steps->n; k-- > 0;)
		steps->shift_rad[k] =
		    remainder(steps->shift_rad[k] - steps->shift_rad[0], 2 * M_PI);
}

static bool
is_complete(const struct steps *steps)
{
	struct steps_order order;

	steps_read(steps, &order);
	return order.of == steps->n && order.ordered;
}

int
members_settle(const struct sets *sets, const struct field *field, struct steps *steps)
{
	struct steps before = *steps;
	bool complete;

	sort_images(&before);
	complete = before.n == 3 || is_complete(&before);
	for (int round = 0; round < 2; round++)
		if (leave(field, steps) < 0 || join(sets, field, steps) < 0)
			return -1;
	sort_images(steps);
	if (complete && steps->n > before.n &&
	    (!is_complete(steps) || !(steps->residual < FIT_MORE)))
		*steps = before;
	return 0;
}

int
members_fit(const struct field *field, const struct steps *images, struct steps *steps)
{
	struct steps_order order;

	*steps = *images;
	if (steps_fit(field, steps) < 0)
		return -1;
	if (steps->n > 4 && steps->n <= STRANGERS_MOST && steps->residual > STRANGER_LEAST)
		return drop_stranger(field, images, steps);
	if (steps->n != 4)
		return 0;
	steps_read(steps, &order);
	if (order.of == 4)
		return 0;
	*steps = *images;
	find_three(steps);
	return steps_fit(field, steps);
}
