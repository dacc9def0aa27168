/* What shifts mean: steps of a whole turn's n-th part, in order or not, all or with gaps. */
#include <math.h>
#include <string.h>

#include "steps.h"

#define TWINS 0.25		/* of the median distance of neighbouring shifts */
#define FIT 0.12		/* of a step: shifts are multiples of it */
#define FIT_MOST (3.5 * M_PI / 180)
/* three images fit any shifts, four any a, b, a + 180, b + 180: these are known by crossings of the
 * middle alone */
#define FIT_FEW (8 * M_PI / 180)
#define OF_MOST 72		/* or as many as there are images */

static double
turn(double rad)
{
	double positive = fmod(rad, 2 * M_PI);

	return positive < 0 ? positive + 2 * M_PI : positive;
}

/* The median distance from a shift to the next larger one. */
static double
median_gap(const struct steps *steps)
{
	double gap[STEPS_MOST], least = M_PI / fmax(OF_MOST, (double)steps->n);

	for (size_t i = 0; i < steps->n; i++) {
		gap[i] = 2 * M_PI;
		for (size_t j = 0; j < steps->n; j++) {
			double d = turn(steps->shift_rad[j] - steps->shift_rad[i]);

			if (j != i && d < gap[i] && d > least)
				gap[i] = d;
		}
	}
	for (size_t i = 1; i < steps->n; i++)
		for (size_t j = i; j > 0 && gap[j] < gap[j - 1]; j--) {
			double swap = gap[j];

			gap[j] = gap[j - 1];
			gap[j - 1] = swap;
		}
	return gap[steps->n / 2];
}

size_t
steps_twins(const struct steps *steps, size_t twin[STEPS_MOST])
{
	double limit = TWINS * median_gap(steps);
	size_t single = 0;

	for (size_t i = 0; i < steps->n; i++) {
		twin[i] = i;
		for (size_t j = 0; j < i && twin[i] == i; j++)
			if (twin[j] == j && fabs(remainder(steps->shift_rad[i] -
			    steps->shift_rad[j], 2 * M_PI)) < limit)
				twin[i] = j;
		single += twin[i] == i;
	}
	return single;
}

/* Are the shifts multiples of 360/of degrees, all different? Their rms distance; NaN: no. */
static double
fit_multiples(const struct steps *steps, size_t of, size_t place[STEPS_MOST])
{
	double step = 2 * M_PI / (double)of, re = 0, im = 0, origin, squares = 0, rms;
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
		if (taken[place[i]])
			return (double)NAN;
		taken[place[i]] = true;
	}
	for (size_t i = steps->n; i-- > 0;)
		place[i] = (place[i] + of - place[0]) % of;
	rms = sqrt(squares / (double)steps->n);
	return rms < FIT && rms * step < (steps->n > 4 ? FIT_MOST : FIT_FEW) ? rms * step :
	    (double)NAN;
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

/* The largest part of a turn without a shift. */
static double
largest_gap(const struct steps *steps)
{
	double largest = 0;

	for (size_t i = 0; i < steps->n; i++) {
		double gap = 2 * M_PI;

		for (size_t j = 0; j < steps->n; j++)
			if (j != i)
				gap = fmin(gap, turn(steps->shift_rad[j] - steps->shift_rad[i]));
		largest = fmax(largest, gap);
	}
	return largest;
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

void
steps_read(const struct steps *steps, struct steps_order *order)
{
	size_t n = steps->n, most = n > OF_MOST ? n : OF_MOST, up, down;

	*order = (struct steps_order){ .sign = 1, .ordered = true };
	for (size_t of = n; of <= most && of <= 12 * n && !order->of; of++) {
		order->error_rad = is_usual(of, n) ? fit_multiples(steps, of, order->place) :
		    (double)NAN;
		if (!isnan(order->error_rad))
			order->of = of;
	}
	order->gap_rad = largest_gap(steps);
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
