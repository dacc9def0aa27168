#include "weigh.h"

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

void
weigh_noise(struct growing *growing)
{
	size_t n[BINS] = { 0 }, all = 0, sum = 0, bin = 0;

	for (size_t i = 0; i < growing->n; i++) {
		const struct pixel *pixel = &growing->pixel[i];
		float off = px_abs(pixel->read - pixel->turns) * PER_ORDER;

		if (!pixel->round)
			continue;
		n[off < BINS - 1 ? (int)off : BINS - 1]++;
		all++;
	}
	while (bin < BINS - 1 && 2 * (sum += n[bin]) < all)
		bin++;
	growing->noise = px_max(NORMAL * ((float)bin + 0.5f) / PER_ORDER, NOISE_LEAST);
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
