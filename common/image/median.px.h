/*
 * Spike removal (methods §6; Karpinsky 2014 eq 15; Karpinsky thesis eq 6.15-6.16): a phase that
 * lies a whole number of turns off the median of its neighbours is brought back by those turns. It
 * is never replaced by the median.
 */
#include "base/px.h"

/* Both in one go: a becomes the smaller. */
#define MEDIAN_SORT(a, b) do { PX_F low = px_min(a, b); b = px_max(a, b); a = low; } while (false)

/* A missing sample takes part as +inf, the next missing one as -inf, and so on: in pairs they leave
 * the median of the others where it is. */
#define MEDIAN_FILL(v, fill) do { \
	bool missing = px_isnan(v); \
	v = px_select(missing, fill, v); \
	fill = px_select(missing, -fill, fill); \
} while (false)

#define MEDIAN_INFINITY px_from_bits(0x7f800000u)

/* Median of five; of those that are not NaN (the upper one of two in the middle); +inf if all are.
 */
PX_FN float
median_of_5(float a, float b, float c, float d, float e)
{
	PX_F fill = MEDIAN_INFINITY;

	MEDIAN_FILL(a, fill);
	MEDIAN_FILL(b, fill);
	MEDIAN_FILL(c, fill);
	MEDIAN_FILL(d, fill);
	MEDIAN_FILL(e, fill);
	MEDIAN_SORT(a, b);
	MEDIAN_SORT(d, e);
	MEDIAN_SORT(a, d);
	MEDIAN_SORT(b, e);
	MEDIAN_SORT(b, c);
	MEDIAN_SORT(c, d);
	return px_max(b, px_min(c, d));
}

/* Median of nine, in three rows of three. */
PX_FN float
median_of_9(float a, float b, float c, float d, float e, float f, float g, float h, float i)
{
	PX_F fill = MEDIAN_INFINITY;

	MEDIAN_FILL(a, fill);
	MEDIAN_FILL(b, fill);
	MEDIAN_FILL(c, fill);
	MEDIAN_FILL(d, fill);
	MEDIAN_FILL(e, fill);
	MEDIAN_FILL(f, fill);
	MEDIAN_FILL(g, fill);
	MEDIAN_FILL(h, fill);
	MEDIAN_FILL(i, fill);
	MEDIAN_SORT(a, b);
	MEDIAN_SORT(b, c);
	MEDIAN_SORT(a, b);
	MEDIAN_SORT(d, e);
	MEDIAN_SORT(e, f);
	MEDIAN_SORT(d, e);
	MEDIAN_SORT(g, h);
	MEDIAN_SORT(h, i);
	MEDIAN_SORT(g, h);
	a = px_max(px_max(a, d), g);		/* largest of the row minima */
	i = px_min(px_min(c, f), i);		/* smallest of the row maxima */
	MEDIAN_SORT(b, e);			/* median of the row medians */
	e = px_max(b, px_min(e, h));
	MEDIAN_SORT(a, e);
	return px_max(a, px_min(e, i));
}

/* The phase without the whole turns that lie between it and the median. NaN and infinity stay, to
 * the bit, as does a phase without a median. */
PX_FN float
median_unspike(float phase, float median)
{
	PX_F off = phase - median, turns = px_round(off * 0.159154943091895336f);

	return px_select(px_abs(off) <= 1e30f, phase - turns * PX_TWO_PI, phase);
}
