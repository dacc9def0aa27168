#include "field_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"

#define PIXELS_LEAST 256	/* of fewer no warning is given */
#define FAR 0.25		/* of the least distance of two lines: right pixels lie nearer */
#define BETTER 3.0		/* times nearer, the order outside: of random phases a tenth are */
#define EXPLAINED 0.6		/* of the pixels that lie far, and of all: */
#define SHARE 0.005
#define BEYOND 0.25		/* turns outside, which the search itself forgives */
#define CLEARLY 0.99		/* less: not the same phases again */
#define TRIED_MOST 256		/* pixels */
#define STRAY 20		/* one in so many at each end does not tell where they lie */

/* The distance of a pixel's phases from the line `orders` further, squared, in turns. */
static double
distance(const struct offset_check *check, const float *beside, double orders)
{
	double square = 0, along = 0, norm = 1;

	for (size_t k = 0; k < check->others; k++) {
		double off = remainder((double)beside[k] - orders * check->ratio[k], 1);

		square += off * off;
		along += off * check->ratio[k];
		norm += check->ratio[k] * check->ratio[k];
	}
	return square - along * along / norm;
}

/* Positions in turns. */
struct field {
	double lo, hi;
};

/*
 * The position of the best order outside that is BETTER; NaN: there is none. Where the phases
 * repeat it is the one above the field: a projector has no columns below 0.
 */
static double
find_outside(const struct offset_check *check, const float *pixel, double own,
    const struct field *field)
{
	double width = field->hi - field->lo, position = (double)pixel[0], found = NAN;
	double least = own / (BETTER * BETTER);
	double first = ceil(field->lo - width - position);
	double last = floor(field->hi + width - position);

	for (double k = last; k >= first; k--) {
		double at = position + k, now;

		if (at > field->lo - BEYOND && at < field->hi + BEYOND)
			continue;
		now = distance(check, pixel + 1, k);
		if (now < least * (isnan(found) ? 1 : CLEARLY)) {
			least = now;
			found = at;
		}
	}
	return found;
}

bool
field_check_warn(const struct offset_check *check, const struct order_search *search,
    double base_period_px, double period_px)
{
	double scale = base_period_px / period_px, limit;
	struct field field = { (double)search->lo * scale, (double)search->hi * scale };
	double found[TRIED_MOST], share;
	char from[32], to[32];
	size_t all = 0, far = 0, tried = 0, explained = 0, strays, stride;
	size_t pixels = coarse_grid_pixels(&check->grid);

	if (!check->on || check->off || check->frames >= OFFSET_CHECK_FRAMES || check->others < 2)
		return false;
	limit = FAR * FAR * (double)search->distance * (double)search->distance;
	for (size_t i = 0; i < pixels; i++) {
		double own = distance(check, check->kept + i * (check->others + 1) + 1, 0);

		all += !isnan(own);
		far += own >= limit;
	}
	stride = far / TRIED_MOST + 1;
	far = 0;
	for (size_t i = 0; i < pixels; i++) {
		const float *pixel = check->kept + i * (check->others + 1);
		double own = distance(check, pixel + 1, 0), at;

		if (!(own >= limit) || far++ % stride)
			continue;
		tried++;
		at = find_outside(check, pixel, own, &field);
		if (isnan(at))
			continue;
		found[explained++] = at;
	}
	share = tried ? (double)explained / (double)tried : 0;
	if (all < PIXELS_LEAST || share < EXPLAINED || share * (double)far < SHARE * (double)all ||
	    explained < 4)
		return false;
	strays = explained / STRAY;
	snprintf(from, sizeof(from), "%.4g", statistics_ranked(found, explained, strays) *
	    period_px);
	snprintf(to, sizeof(to), "%.4g", statistics_ranked(found, explained,
	    explained - 1 - strays) * period_px);
	warn("absphase", "%.2g %% of the pixels fit no order of the field of %.4g px, but one "
	    "outside, at %s%s%s px: is more of the projector seen (--field)?",
	    100 * share * (double)far / (double)all, (field.hi - field.lo) * period_px, from,
	    strcmp(from, to) ? " to " : "", strcmp(from, to) ? to : "");
	return true;
}
