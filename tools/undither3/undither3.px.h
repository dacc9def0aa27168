/*
 * Three bits a pixel back to a phase (methods §13). Around each pixel the fringes are taken as a
 * carrier of the frequency that they have there; the bits are turned back by it, so that what is
 * left is slow, and averaged. Turns and frequencies are in whole periods.
 */
#ifndef UNDITHER3_PX_H
#define UNDITHER3_PX_H

#include "holo/bits.px.h"

/* A neighbour farther off the carrier than this belongs to another surface. */
#define UNDITHER3_GATE 0.15f

/* Nothing but noise is left of an average of fringes (amplitude 1/2) that is shorter. */
#define UNDITHER3_SHORT 0.15f

/* What is asked of a pixel that is trusted: the share of its window that is of its surface, the
 * length of the average, and how far the averaged order may be from whole. */
#define UNDITHER3_COVER 0.8f
#define UNDITHER3_CLEAR 0.465f
#define UNDITHER3_SURE 0.12f

/* Surfaces at one pixel are one if their phases are not farther apart than this. */
#define UNDITHER3_ALIKE 0.07f

/* Turns of pixels without a surface: bends across them weigh nothing. */
#define UNDITHER3_FAR 1e6f

/* A refined pixel that has moved farther is not trusted. */
#define UNDITHER3_MOVED 0.1f

/* One axis of the papers' 7 x 7 Gaussian: a pixel, those 3, 2 and 1 before it, and 1, 2 and 3
 * behind. */
PX_FN float
undither3_smooth(float here, float a, float b, float c, float d, float e, float f, float far,
    float middle, float near, float centre)
{
	return ((a + f) * far + (b + e) * middle) + ((c + d) * near + here * centre);
}

/* By how many turns b is more than a, to the nearest whole turn. */
PX_FN float
undither3_off(float a, float b)
{
	PX_F off = b - a;

	return off - px_round(off);
}

/* Frequency along an axis from phasors one pixel before and one behind: the angle of half the turn
 * between them. */
PX_FN float
undither3_frequency(float sine, float cosine)
{
	return px_atan2(sine, cosine) * (0.5f * HOLO_TURN);
}

/* Turns from the order as averaged, the rest that it was seen from, and the better rest. */
PX_FN float
undither3_turns(float order, float seen_rest, float rest, float order_most)
{
	PX_F whole = px_min(px_max(px_round(order), 0.0f), order_most);

	return px_max(whole + seen_rest + undither3_off(seen_rest, rest), 0.0f);
}

/*
 * What a second difference b weighs: the derivative of (1/2) b^2/(1 + (b/0.05)^2), which is b where
 * surfaces are smooth and nothing at a jump [Geman and McClure 1985].
 */
PX_FN float
undither3_bend(float b)
{
	PX_F of_scale = b * 20.0f, weight = 1.0f + of_scale * of_scale;

	return px_divide(b, weight * weight);
}

/*
 * A step down from the turns: bends become less (`bent` is the derivative), and turns come 0.01
 * within the bounds that the bits set, or between them where these are nearer to each other. 0.01:
 * the mean of all surfaces that give the bits is not at a bound; 1/37: the largest curvature of the
 * whole is 32 + 5.
 */
PX_FN float
undither3_step(float turns, float bent, float low, float high)
{
	PX_F into = px_max(low + 0.01f - turns, 0.0f) - px_max(turns - high + 0.01f, 0.0f);

	return turns - (bent - 5.0f * into) * (1.0f / 37.0f);
}

/* ---- the first smoothing ---- */

/* The order by a pixel's bit, `stair` being what order 0 has at its rest. */
PX_FN float
undither3_order(float bit, float stair, float per_height)
{
	return (bit * 255.0f - stair) * per_height;
}

/* The turn from a phasor to another one: its cosine and its sine, times their lengths. */
PX_FN float
undither3_turn_cosine(float s0, float c0, float s1, float c1)
{
	return c1 * c0 + s1 * s0;
}

PX_FN float
undither3_turn_sine(float s0, float c0, float s1, float c1)
{
	return s1 * c0 - c1 * s0;
}

/* ---- the average along the carrier ---- */

/* The carrier's angle so many pixels away. */
PX_FN float
undither3_carrier(float away, float frequency)
{
	PX_F turn = away * frequency;

	return (turn - px_round(turn)) * PX_TWO_PI;
}

/* Sums over the window; the fringes as a phasor that is slow. */
struct undither3_sums {
	float cosine, sine, fringe, order, weight;
};

/* One neighbour: bits as phasor, 1 if inside, rest and order. */
struct undither3_neighbour {
	float sine, cosine, inside, rest, order;
};

/* Adds a neighbour. rest, right, down: of the pixel; cx .. sy: phasors of its carrier dx to the
 * right and dy down; what it weighs. */
PX_FN PX_STRUCT undither3_sums
undither3_add(PX_STRUCT undither3_sums sums, PX_STRUCT undither3_neighbour there, float rest,
    float right, float down, float cx, float sx, float cy, float sy, float dx, float dy,
    float of_fringe, float of_stair)
{
	PX_F carried = rest + (right * dx + down * dy);
	PX_F more = there.rest - carried;
	PX_F turns = px_round(more);
	PX_F counts = px_select(px_abs(more - turns) < UNDITHER3_GATE, there.inside, 0.0f);
	PX_F c = cx * cy - sx * sy, s = sx * cy + cx * sy;
	PX_F fringe = counts * of_fringe, stair = counts * of_stair;
	PX_F cosine = sums.cosine + fringe * (there.cosine * c + there.sine * s);
	PX_F sine = sums.sine + fringe * (there.sine * c - there.cosine * s);
	PX_F order = sums.order + stair * (there.order + turns);
	PX_F fringes = sums.fringe + fringe, weight = sums.weight + stair;

	sums.cosine = cosine;
	sums.sine = sine;
	sums.fringe = fringes;
	sums.order = order;
	sums.weight = weight;
	return sums;
}

struct undither3_found {
	float turns, trusted;		/* NaN in the background; 1 or 0 */
};

/*
 * The turns of a pixel. first, right, down: rest and frequency of the first smoothing; to_right,
 * to_down: how far dithering has moved the picture. Where too little is left of the average, the
 * first smoothing's rest is taken.
 */
PX_FN PX_STRUCT undither3_found
undither3_find(PX_STRUCT undither3_sums sums, float first, float right, float down, float inside,
    float to_right, float to_down, float order_most)
{
	PX_STRUCT undither3_found found;
	PX_F c = sums.cosine, s = sums.sine, weight = sums.weight;
	PX_F length = px_sqrt(c * c + s * s);
	/* the carrier has been taken as 0 at the pixel: the angle is its phase */
	PX_F own = holo_rest(s, c), rest = px_select(length >= UNDITHER3_SHORT, own, first);
	PX_F order = px_divide(sums.order, px_select(weight > 0.0f, weight, 1.0f));
	PX_F turn = undither3_turns(order, first, rest, order_most);
	bool point = inside > 0.0f;
	bool covered = px_both(point, weight >= UNDITHER3_COVER);
	bool clear = length >= UNDITHER3_CLEAR * sums.fringe;
	bool sure = px_abs(order - px_round(order)) <= UNDITHER3_SURE;

	turn = px_max(turn - (right * to_right + down * to_down), 0.0f);
	found.turns = px_select(point, turn, PX_NAN);
	found.trusted = px_select(px_both(covered, px_both(clear, sure)), 1.0f, 0.0f);
	return found;
}

/* ---- pixels that are not trusted ---- */

/* Turns of a pixel carried on to one k steps before it along (dx, dy), in the order that is nearest
 * to that one's `here`; NaN where it has another phase. */
PX_FN float
undither3_carry(float turns, float right, float down, float k, float dx, float dy, float here)
{
	PX_F carried = turns - k * (right * dx + down * dy);
	PX_F off = undither3_off(carried, here);

	return px_select(px_abs(off) < UNDITHER3_ALIKE, carried + off, PX_NAN);
}

/* ---- turns within the bounds that bits set ---- */

/* Has refining moved a pixel so far that it is not to be trusted? */
PX_FN bool
undither3_moved(float refined, float turns)
{
	return px_abs(refined - turns) > UNDITHER3_MOVED;
}

/* How a line bends at a pixel, what larger bends count for being less. */
PX_FN float
undither3_bend_of(float before, float here, float after)
{
	return undither3_bend((before - here) + (after - here));
}

/* How bends change: those along the row left of, at and right of a pixel, those down the column
 * above, at and below it. */
PX_FN float
undither3_bent(float left, float along, float right, float above, float down, float below)
{
	return (left + right - 2.0f * along) + (above + below - 2.0f * down);
}

/* ---- orders by bits ---- */

#define UNDITHER3_TRIED 5	/* orders: the one at hand, and two on each side */
#define UNDITHER3_SLACK 0.1f	/* of a stair; turns are not exact */
#define UNDITHER3_WRONG 1.0f	/* bits that may contradict */
#define UNDITHER3_SHARE 0.6f	/* of the window, of one surface, */
#define UNDITHER3_ENOUGH 4.0f	/* contradicting every other order: that much will do by itself */

/* The k-th order that is tried, less the one at hand: 0, -1, 1, -2, 2. */
PX_FN float
undither3_tried(int k)
{
	return px_float(((k & 1) != 0 ? -1 : 1) * ((k + 1) / 2));
}

/* By how much turns are off their bits. */
PX_FN float
undither3_broken(float turns, PX_STRUCT bits_bounds bounds)
{
	return px_max(px_max(bounds.low - turns, turns - bounds.high), 0.0f);
}

/* The turns' growth from a pixel to the next one: on both sides alike, or where it is less. */
PX_FN float
undither3_slope(float before, float here, float after)
{
	PX_F came = undither3_off(before, here), goes = undither3_off(here, after);
	PX_F less = px_select(px_abs(came) < px_abs(goes), came, goes), mean = 0.5f * (came + goes);
	PX_F slope = px_select(px_abs(goes - came) < 0.1f, mean, less);

	slope = px_select(after == UNDITHER3_FAR, came, slope);
	goes = px_select(after == UNDITHER3_FAR, 0.0f, goes);
	return px_select(before == UNDITHER3_FAR, goes, slope);
}

/* By how many turns a neighbour at (x, y) is more than `here` carried on to it. */
PX_FN float
undither3_more(float turns, float here, float right, float down, float x, float y)
{
	return turns - (here + (right * x + down * y));
}

/* 1 for a neighbour of the same surface, being so many turns more; else 0. */
PX_FN float
undither3_same(float turns, float more)
{
	bool near = px_abs(more - px_round(more)) < UNDITHER3_GATE;

	return px_select(px_both(near, turns < UNDITHER3_FAR), 1.0f, 0.0f);
}

/* Does a neighbour's bit contradict the k-th order tried? over: `above` less whole turns more. */
PX_FN bool
undither3_contradicts(float bit, float over, int k)
{
	PX_F sign = px_select(bit > 0.0f, 1.0f, -1.0f);

	return sign * (over + undither3_tried(k)) < -UNDITHER3_SLACK;
}

/*
 * By how much the order of a pixel is to be changed, if the bits decide it; else NaN. against: bits
 * that contradict each order tried; same: pixels of the surface, of `area`; broken: turns by which
 * the nearest ones are off their bits; per_pixel: the stair's height as a share of full scale.
 */
PX_FN float
undither3_decide(float against[UNDITHER3_TRIED], float same, float broken, float trusted,
    float area, float per_pixel)
{
	PX_F least = against[0], next = UNDITHER3_FAR, step = 0.0f, margin;
	bool holds, enough;

	for (int k = 1; k < UNDITHER3_TRIED; k++) {
		next = px_min(next, px_max(against[k], least));
		step = px_select(against[k] < least, undither3_tried(k), step);
		least = px_min(least, against[k]);
	}
	margin = next - least;
	holds = trusted > 0.0f && step == 0.0f && margin >= 0.2f * per_pixel * same;
	enough = margin >= UNDITHER3_ENOUGH && broken < 0.05f && same >= UNDITHER3_SHARE * area;
	step = px_select(holds || enough, step, PX_NAN);
	return px_select(least > UNDITHER3_WRONG, PX_NAN, step);
}

/* ---- levels ---- */

struct undither3_levels {
	float sine, cosine, stair;
};

/* Of turns; NaN is black. */
PX_FN PX_STRUCT undither3_levels
undither3_encode(float turns, float order_most, float height, float base, float swing, float waves)
{
	bool black = px_isnan(turns);
	PX_F turn = px_select(black, 0.0f, turns);
	PX_F order = holo_order(turn, order_most), rest = turn - order;
	PX_F stair = order * height + holo_stair_level(rest, base, swing, waves);
	PX_F sine = holo_sine_level(rest), cosine = holo_cosine_level(rest);
	PX_STRUCT undither3_levels levels = { px_select(black, 0.0f, sine),
		px_select(black, 0.0f, cosine), px_select(black, 0.0f, stair) };

	return levels;
}

#endif
