/*
 * Temporal phase unwrapping (methods §5; Karpinsky 2014 eq 5-8 and 14; Liu 2015 eq 4-5).
 * Orders and residuals are in turns of the phase that is unwrapped.
 */
#ifndef UNWRAP2F_PX_H
#define UNWRAP2F_PX_H

#include "base/px.h"
#include "unwrap/phase_mean.px.h"

#define UNWRAP2F_TURN 0.159154943091895336f		/* 1/(2 pi) */

/* phi + 2 pi k within 1.5 ulp: 6.28125 k is exact for whole |k| < 2^16. */
PX_FN float
unwrap2f_absolute(float phi, float k)
{
	PX_F rest = phi + k * 1.9353071795864769e-3f;

	return k * 6.28125f + rest;
}

/* Turns that bring phi into [lo, lo + 2 pi) (eq 14: up to the line lo by ceil((lo - phi)/2 pi)). */
PX_FN float
unwrap2f_turns_above(float phi, float lo)
{
	return -px_floor((phi - lo) * UNWRAP2F_TURN);
}

/* How many turns phi lacks to what a coarser signal predicts, not rounded yet (eq 7):
 * (phi_coarse T_coarse/T - phi)/2 pi. */
PX_FN float
unwrap2f_order_estimate(float coarse, float ratio, float phi)
{
	return (coarse * ratio - phi) * UNWRAP2F_TURN;
}

/* What tells against position v, whose order was rounded by `rest`: that, and four times how far it
 * lies outside the field [lo, hi); all in turns. */
PX_FN float
unwrap2f_against(float rest, float v, float lo, float hi)
{
	return px_abs(rest) + 4.0f * px_max(px_max(lo - v, v - hi), 0.0f);
}

/* To the other end of the field from position v. */
PX_FN float
unwrap2f_other_end(float v, float lo, float hi, float span)
{
	return px_select(v < 0.5f * (lo + hi), span, -span);
}

/*
 * The estimate of an order or, near the ends of the field, the one a start's whole period of `span`
 * turns away, as scatter of the coarse signal may bring a pixel from one end to the other: the one
 * that less tells against.
 */
PX_FN float
unwrap2f_seam(float estimate, float phi, float lo, float hi, float span)
{
	PX_F turns = phi * UNWRAP2F_TURN, k = px_round(estimate);
	PX_F v = k + turns;
	PX_F other = estimate + unwrap2f_other_end(v, lo, hi, span);
	PX_F other_k = px_round(other);
	PX_F against = unwrap2f_against(estimate - k, v, lo, hi);
	PX_F against_other = unwrap2f_against(other - other_k, other_k + turns, lo, hi);

	return px_select(against_other < against, other, estimate);
}

/* The fringe order where the code v counts whole periods from where phi = -offset on. */
PX_FN float
unwrap2f_counted(float v, float phi, float offset)
{
	return v - px_floor((phi + offset) * UNWRAP2F_TURN);
}

/*
 * A Gray code without a phase. A pixel's absolute phase counts cells: that of the lower edge of
 * cell 0 is `offset`, and the pixel lies at the share `place` of its cell, in the middle (0.5)
 * unless edges tell more. From cell `most` on there are no projector pixels: the code was misread.
 */
#define UNWRAP2F_CELL_SIGMA 1.8137993642342178f		/* of the middle: 2 pi/sqrt(12) */
#define UNWRAP2F_REACH 64	/* pixels, to either side, up to which edges are looked for */

PX_FN float
unwrap2f_in_cell(float index, float place, float offset, float most)
{
	PX_F turned = place * PX_TWO_PI;

	return px_select(index < most, unwrap2f_absolute(turned + offset, index), PX_NAN);
}

/* The code at the crossing between two pixels of cells v and w: the mean of the edges there. */
PX_FN float
unwrap2f_edge(float v, float w)
{
	return (v + w + 1.0f) * 0.5f;
}

/* Of two edges at these places (px from the pixel) the share of the second one in the pixel's code:
 * on the straight line through both. */
PX_FN float
unwrap2f_edge_share(float a_at, float b_at)
{
	PX_F span = b_at - a_at;

	return px_select(span > 0.0f, px_divide(-a_at, px_select(span > 0.0f, span, 1.0f)), 0.5f);
}

/* An edge next to a pixel. */
struct unwrap2f_edge_at {
	bool found;
	int k;				/* it lies between pixels k and k + 1 of the line */
	float at;			/* px from the pixel at hand */
	float value, sigma;		/* of the code, in cells; px */
	float v, w;			/* the cells of the two pixels */
};

/* Half the second derivative of the code through three edges, in cells per px^2. */
PX_FN float
unwrap2f_bend(PX_STRUCT unwrap2f_edge_at p, PX_STRUCT unwrap2f_edge_at q,
    PX_STRUCT unwrap2f_edge_at r)
{
	PX_F first = px_divide(q.value - p.value, px_max(q.at - p.at, 0.1f));
	PX_F second = px_divide(r.value - q.value, px_max(r.at - q.at, 0.1f));

	return px_divide(second - first, px_max(r.at - p.at, 0.2f));
}

/* The code at the pixel: on the line through the edges a and b, and bent by so much. */
PX_FN float
unwrap2f_between(float a_at, float a, float b_at, float b, float share, float bend)
{
	PX_F rise = (b - a) * share, line = a + rise, bent = a_at * b_at * bend;

	return line + bent;
}

/* The line is right if it meets the pixel's own cell, or nearly so. */
PX_FN bool
unwrap2f_meets(float place)
{
	return px_abs(place - 0.5f) <= 1.0f;
}

/*
 * The standard deviation of an edge between pixels of cells v and w is no more than the cells leave
 * open: uniform over a pixel where a pixel sees less than a cell; between 1 and 2 cells a pixel,
 * where there is one border, over 2 - slope cells, where there are two over slope - 1.
 */
PX_FN float
unwrap2f_edge_sigma(float sigma, float v, float w, float slope)
{
	bool two = px_abs(v - w) > 1.5f;
	PX_F open = px_select(two, slope - 1.0f, px_select(slope > 1.0f, 2.0f - slope, slope));
	PX_F most = px_divide(open, px_max(slope, 1e-6f));

	return px_min(sigma, px_max(most, 0.4f) * 0.28867513459481287f);
}

/* Of what the bend is not sure of, that much counts: a fit to the smooth face of fringesim. */
#define UNWRAP2F_BEND_SHARE 0.35f

/* The standard deviation of the code at the pixel, out of those of the edges (px), cells per px,
 * and by how much the bend may be wrong; in rad. The edges are `cells` apart. Beyond both of them
 * nothing tells how the surface goes on: after a cell the place is as uncertain as in any cell. */
PX_FN float
unwrap2f_between_sigma(float slope, float share, float cells, float a_sigma, float b_sigma,
    float at, float doubt)
{
	PX_F a = (1.0f - share) * a_sigma * slope, b = share * b_sigma * slope;
	PX_F bent = at * doubt * UNWRAP2F_BEND_SHARE, rest = share - 1.0f;
	PX_F far = px_max(px_max(-share, rest), 0.0f) * cells * 0.28867513459481287f;

	return px_sqrt(a * a + b * b + bent * bent + far * far) * PX_TWO_PI;
}

/* Where a pixel lies in the code, in cells, and its standard deviation in rad. */
struct unwrap2f_place {
	bool found;			/* there are edges that tell */
	float code, sigma;
};

/* Between the edges a and b on both sides, bent as the next ones (before and behind) say; or on the
 * line through two edges of one side. */
PX_FN PX_STRUCT unwrap2f_place
unwrap2f_place_between(PX_STRUCT unwrap2f_edge_at before, PX_STRUCT unwrap2f_edge_at a,
    PX_STRUCT unwrap2f_edge_at b, PX_STRUCT unwrap2f_edge_at behind)
{
	bool both_sides = a.found && b.found;
	PX_F left = 0.0f, right = 0.0f, bend = 0.0f, doubt = 0.0f;
	PX_STRUCT unwrap2f_place place;

	place.found = true;
	if (both_sides && before.found)
		left = unwrap2f_bend(before, a, b);
	if (both_sides && behind.found)
		right = unwrap2f_bend(a, b, behind);
	bend = left + right;
	doubt = px_abs(bend);
	if (both_sides && before.found && behind.found) {
		PX_F differ = right - left;
		PX_F more = unwrap2f_edge_share(before.at, behind.at) * differ;

		bend = left + more;
		doubt = px_abs(differ);
	} else if (!both_sides && a.found && before.found) {
		b = a;
		a = before;
	} else if (!both_sides && b.found && behind.found) {
		a = b;
		b = behind;
	} else {
		place.found = both_sides;
	}
	PX_F rise = b.value - a.value, distance = b.at - a.at, product = a.at * b.at;
	PX_F slope = px_divide(px_abs(rise), px_max(distance, 0.1f));
	PX_F share = unwrap2f_edge_share(a.at, b.at);

	place.code = unwrap2f_between(a.at, a.value, b.at, b.value, share, bend);
	place.sigma = unwrap2f_between_sigma(slope, share, px_abs(rise),
	    unwrap2f_edge_sigma(a.sigma, a.v, a.w, slope),
	    unwrap2f_edge_sigma(b.sigma, b.v, b.w, slope), product, doubt);
	return place;
}

/*
 * The best fringe orders of all phases at once (beyond the papers, methods §5): for a position v in
 * turns of the wanted phase, a phase (in turns, ratio times as many of them) is off by e = ratio v
 * - phase but for whole turns. The position that fits all best, v + d, leaves sum (e + ratio d)^2 =
 * sum e^2 - (sum ratio e)^2/sum ratio^2, the sums over all phases.
 */
PX_FN float
unwrap2f_mismatch(float v, float ratio, float phase)
{
	PX_F e = ratio * v - phase;

	return e - px_round(e);
}

PX_FN float
unwrap2f_cost(float square, float shift, float norm)
{
	return px_max(square - shift * shift * norm, 0.0f);
}

/* Positions outside the field cost a little, those by more than the slack too much. */
PX_FN float
unwrap2f_outside(float v, float lo, float hi, float slack)
{
	PX_F far = px_max(lo - v, v - hi);

	return px_select(far > slack, 1e30f, px_select(far > 0.0f, 1e-4f, 0.0f));
}

/*
 * Is a line of this cost, at position v, the best one? Between the positions lo and hi no other
 * line is nearer up to the cost `sure`.
 */
PX_FN bool
unwrap2f_is_sure(float cost, float v, float sure, float lo, float hi)
{
	return px_both(cost <= sure, px_both(v >= lo, v <= hi));
}

/* How far the phases lie from the line that was taken, over the distance to the next one; NaN where
 * there is none. */
PX_FN float
unwrap2f_left(float cost, float outside, float per_distance)
{
	PX_F square = px_max(cost - outside, 0.0f);
	PX_F distance = px_sqrt(square) * per_distance;

	return px_select(cost < 1e29f, distance, PX_NAN);
}

/* A phase with the order that the base's absolute phase gives it; ratio: its turns in one of the
 * base. The base itself stays as it is, but for rounding. */
PX_FN float
unwrap2f_ordered(float base, float ratio, float phase)
{
	return unwrap2f_absolute(phase, px_round(unwrap2f_order_estimate(base, ratio, phase)));
}

/* Of two rounding errors the larger one; NaN, which an infinite phase gives, is the largest. */
PX_FN float
unwrap2f_worse(float a, float b)
{
	return px_select(px_abs(b) <= px_abs(a), a, b);
}

/*
 * Standard deviations. 1/sigma^2 of a phase in turns; 0: it, or its sigma, is not there.
 */
PX_FN float
unwrap2f_certain(float phase, float sigma)
{
	PX_F turns = px_max(sigma * UNWRAP2F_TURN, 1e-9f);
	PX_F certain = px_divide(1.0f, turns * turns);

	return px_select(px_both(px_abs(sigma) < 1e9f, px_abs(phase) < 1e9f), certain, 0.0f);
}

/* The base's absolute phase out of that of the phase that has 1/scale turns in one of it. */
PX_FN float
unwrap2f_base(float absolute, float scale, float base)
{
	return unwrap2f_ordered(absolute, scale, base);
}

/* The variance of a phase's share in a sum, in radians of the base. */
PX_FN float
unwrap2f_spread(float share, float scale, float certain)
{
	PX_F turned = share * scale * PX_TWO_PI;

	return px_divide(turned * turned, px_select(certain > 0.0f, certain, 1.0f));
}

/* How far a phase lies off the line of `orders` more, in turns. */
PX_FN float
unwrap2f_rival(float off, float ratio, float orders)
{
	PX_F e = off + ratio * orders;

	return e - px_round(e);
}

/* Chi squared of a line: sum e^2/sigma^2 less what the best position on it takes off. */
PX_FN float
unwrap2f_chi(float square, float shift, float norm)
{
	PX_F off = px_divide(shift * shift, px_select(norm > 0.0f, norm, 1.0f));

	return px_max(square - off, 0.0f);
}

/* How much likelier a rival at position v is than the order that was taken; 0 outside the field. */
PX_FN float
unwrap2f_odds(float cost, float own_cost, float v, float lo, float hi)
{
	PX_F odds = px_exp(px_min(0.5f * (own_cost - cost), 60.0f));

	return px_select(px_both(v >= lo, v <= hi), odds, 0.0f);
}

/* The normal distribution up to x standard deviations, within 0.01. */
PX_FN float
unwrap2f_below(float x)
{
	return px_divide(1.0f, 1.0f + px_exp(px_max(px_min(-1.702f * x, 60.0f), -60.0f)));
}

/* How likely a position that was measured as v, with so many standard deviations in one turn, lies
 * within the field. */
PX_FN float
unwrap2f_within(float v, float per_deviation, float first, float last)
{
	PX_F low = (v - first) * per_deviation, high = (v - last) * per_deviation;

	return px_max(unwrap2f_below(low) - unwrap2f_below(high), 0.0f);
}

/* How much likelier the same line is `seam` orders further, on one of both sides, which no phase
 * tells from the one that was taken: the field alone does. certain: 1/sigma^2 of v. */
PX_FN float
unwrap2f_again(float v, float seam, float certain, float first, float last)
{
	PX_F per_deviation = px_sqrt(certain);
	PX_F own = px_max(unwrap2f_within(v, per_deviation, first, last), 1e-3f);
	PX_F others = unwrap2f_within(v + seam, per_deviation, first, last) +
	    unwrap2f_within(v - seam, per_deviation, first, last);

	return px_select(px_both(seam > 0.0f, certain > 0.0f), px_divide(others, own), 0.0f);
}

/* The probability that the order is wrong, out of the odds of all rivals. */
PX_FN float
unwrap2f_p(float odds)
{
	return px_divide(odds, 1.0f + odds);
}

#endif
