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
