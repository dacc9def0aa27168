#include "weigh.h"

#include <math.h>

#include "base/px.h"
#include "holo/bits.h"

#define STEEPEST 0.6f	/* turns from pixel to pixel; more is a jump */
/* Turns that a surface carried on by a straight line is off: of a flat one, and for each turn of
 * its slope; where there is one neighbour behind which nothing is trusted, of UNKNOWN. */
#define FLAT 0.05f
#define PER_SLOPE 0.6f
#define UNKNOWN 0.35f
#define FAR 3.9f	/* log of odds: nothing speaks more against an order */
#define CANDIDATES 5	/* orders around the one that the neighbours have on average */
#define NOISE_MORE 1.4f	/* stairs of the pixels that are left are off by so much more */
#define NOISE_LEAST 0.15f
#define BINS 128	/* of offsets, for their median */
#define PER_ORDER 32
#define NORMAL 1.4826f	/* standard deviation over the median of what is off */

/* A surface goes on in the pixels around, and so does a wrong order: the mean of their stairs
 * says which it is. */
#define AROUND 5	/* pixels to each side */
#define SAME 0.6f	/* turns */
#define OFF_MOST 2.5f	/* orders */

#define PART 8		/* of the pixels that neighbours agreed on one of so many is asked */
#define SHARE 10	/* one of so many of these may be off by more than 1.645 spreads */
#define PER_SPREAD (1 / 1.645f)
#define SPREAD_LEAST 0.05f

/* Measured at qualities 75 to 95, colour 444 to 420, both layouts: 1/(1 + exp(-odds)) are right,
 * odds = FIRST + PER_MARGIN margin + PER_MEAN mean + PER_SPREADS mean/spread +
 * PER_OFFSET own/noise. What a pixel's own stair has to say is already in its margin. */
#define FIRST 0.2f
#define PER_MARGIN 0.61f
#define MARGIN_MOST 10.0f
#define PER_MEAN (-2.12f)
#define PER_SPREADS (-0.62f)
#define PER_OFFSET 0.46f
#define OFFSET_MOST 4.0f

/* The least bin of a histogram that one in `share` of all is not beyond. */
static float
bin_at(const size_t n[BINS], size_t above, size_t share)
{
	size_t all = 0, sum = 0, bin = 0;

	for (size_t i = 0; i < BINS; i++)
		all += n[i];
	while (bin < BINS - 1 && share * (sum += n[bin]) < above * all)
		bin++;
	return ((float)bin + 0.5f) / PER_ORDER;
}

static void
count(size_t n[BINS], float off)
{
	n[off < (BINS - 1) / (float)PER_ORDER ? (int)(off * PER_ORDER) : BINS - 1]++;
}

void
weigh_noise(struct growing *growing)
{
	size_t n[BINS] = { 0 };

	for (size_t i = 0; i < growing->n; i++)
		if (growing->pixel[i].round)
			count(n, px_abs(growing->pixel[i].read - growing->pixel[i].turns));
	growing->noise = px_max(NORMAL * bin_at(n, 1, 2), NOISE_LEAST);
}

struct carried {
	float turns, per_slack;
};

/* What the trusted ones of eight neighbours say, each carried on to the pixel; how many. */
static int
carry(const struct growing *growing, const struct pixel *pixel, struct carried carried[BITS_WAYS])
{
	const float *turns = growing->turns;
	int n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		int dx = bits_way[way][0], dy = bits_way[way][1];
		ptrdiff_t near = growing_beside(growing, pixel, dx, dy), far;
		float step, slope = UNKNOWN;

		if (!growing_is_trusted(growing, near))
			continue;
		carried[n].turns = turns[near];
		far = growing_beside(growing, pixel, 2 * dx, 2 * dy);
		if (growing_is_trusted(growing, far)) {
			step = turns[near] - turns[far];
			slope = px_min(px_abs(step), STEEPEST);
			carried[n].turns += slope < STEEPEST ? step : 0;
		}
		carried[n++].per_slack = 1 / (FLAT + PER_SLOPE * slope);
	}
	return n;
}

/* The log of these turns' odds. Neighbours are off together, so that n of them count for less. */
static float
score(const struct growing *growing, const struct pixel *pixel,
    const struct carried carried[BITS_WAYS], int n, float turns)
{
	float off = (pixel->read - turns) / (NOISE_MORE * growing->noise), against = 0;

	for (int i = 0; i < n; i++)
		against += px_min(px_abs(turns - carried[i].turns) * carried[i].per_slack, FAR);
	return -against / px_sqrt((float)n) - px_min(0.5f * off * off, FAR);
}

void
weigh(const struct growing *growing, struct pixel *pixel)
{
	float rest = growing->regions->rest[pixel->at], middle = 0, best = -1e6f, next = -1e6f;
	struct carried carried[BITS_WAYS];
	int n = carry(growing, pixel, carried);

	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
		middle += carried[i].turns;
	middle = rest + px_round(middle / (float)n - rest) - CANDIDATES / 2;
	for (int k = 0; k < CANDIDATES; k++) {
		float odds = score(growing, pixel, carried, n, middle + (float)k);

		if (odds > best)
			pixel->turns = middle + (float)k;
		next = px_max(next, px_min(odds, best));
		best = px_max(best, odds);
	}
	pixel->margin = best - next;
}

/* Of the pixels around that have grown on the same surface, the mean by which their stairs are off.
 */
static float
mean_offset(const struct growing *growing, const struct pixel *pixel)
{
	const float *turns = growing->turns, *offset = growing->regions->certainty;
	int w = (int)growing->regions->w, h = (int)growing->regions->h, n = 0;
	int x0 = pixel->x < AROUND ? 0 : pixel->x - AROUND;
	int x1 = pixel->x + AROUND < w ? pixel->x + AROUND : w - 1;
	float sum = 0;

	for (int y = pixel->y < AROUND ? 0 : pixel->y - AROUND;
	     y <= pixel->y + AROUND && y < h; y++)
		for (int at = y * w + x0; at <= y * w + x1; at++) {
			bool grown = growing->state[at] > TRUSTED &&
			    growing->state[at] != BACKGROUND;

			if (!grown || !(px_abs(turns[at] - pixel->turns) < SAME))
				continue;
			sum += offset[at];
			n++;
		}
	return sum / (float)n;		/* the pixel itself is one of them */
}

void
weigh_spread(struct growing *growing)
{
	float *offset = growing->regions->certainty;
	size_t n[BINS] = { 0 };

	for (size_t i = 0; i < growing->n; i++) {
		const struct pixel *pixel = &growing->pixel[i];

		offset[pixel->at] = px_min(px_max(pixel->read - pixel->turns, -OFF_MOST), OFF_MOST);
	}
	for (size_t i = 0; i < growing->n; i += PART)
		if (growing->pixel[i].round && growing->pixel[i].margin == 0)
			count(n, px_abs(mean_offset(growing, &growing->pixel[i])));
	growing->spread = px_max(PER_SPREAD * bin_at(n, SHARE - 1, SHARE), SPREAD_LEAST);
}

float
weigh_certainty(const struct growing *growing, const struct pixel *pixel)
{
	float mean = px_abs(mean_offset(growing, pixel));
	float own = px_abs(pixel->read - pixel->turns) / growing->noise;

	return 1 / (1 + px_exp(-FIRST - PER_MARGIN * px_min(pixel->margin, MARGIN_MOST) -
			       PER_MEAN * mean - PER_SPREADS * mean / growing->spread -
			       PER_OFFSET * px_min(own, OFFSET_MOST)));
}
