/*
 * Holoimage: depth as fringes and stairs in a colour picture, and back (methods §12; Karpinsky
 * thesis ch. 5 and 6). `turns` is u/P, the projector's phase in whole periods: order k + rest, 0
 * <= rest < 1. Depth is normalised: 0 at the far face, 1 at the near face of the cube. Levels are
 * grey levels 0 .. 255, not rounded: holo_round makes samples of them, a dithering tool may use
 * them as they are. The background is black: pixels whose R + G are less than HOLO_BLACK levels
 * (0.15 in [0, 1]).
 */
#ifndef HOLO_PX_H
#define HOLO_PX_H

#include "base/px.h"

#define HOLO_BLACK 38.25f
#define HOLO_TURN 0.159154943091895336f
#define HOLO_PROFILE 1024	/* parts of a stair; holo_profile() */

/* u/P = (x cos theta + z W sin theta)/P [thesis eq 5.14 solved for the phase]. */
PX_FN float
holo_turns(float column, float depth, float turns_per_column, float turns_per_depth)
{
	return column * turns_per_column + depth * turns_per_depth;
}

PX_FN float
holo_order(float turns, float order_most)
{
	return px_min(px_floor(turns), order_most);
}

/* The rest of the turns in [-1/2, 1/2), so that sines keep their sign next to a whole turn. */
PX_FN float
holo_centred(float rest)
{
	return px_select(rest >= 0.5f, rest - 1.0f, rest);
}

/* R: 1/2 + 1/2 sin PHI [eq 6.5]. */
PX_FN float
holo_sine_level(float rest)
{
	return 127.5f + 127.5f * px_sin(holo_centred(rest) * PX_TWO_PI);
}

/* G: 1/2 + 1/2 cos PHI [eq 6.6]. */
PX_FN float
holo_cosine_level(float rest)
{
	return 127.5f + 127.5f * px_cos(holo_centred(rest) * PX_TWO_PI);
}

/*
 * B on the stair of order 0; the stair of order k is S k higher. Composite: base = swing = 0 [ch.
 * 5]; cosine: base = S/2, swing = (S-2)/2, waves = K + 1/2 [eq 6.7 with the sign of eq 9.17].
 */
PX_FN float
holo_stair_level(float rest, float base, float swing, float waves)
{
	return base - swing * px_cos(rest * waves * PX_TWO_PI);
}

PX_FN float
holo_round(float level)
{
	return px_floor(level + 0.5f);
}

/* The rest in [0, 1) of R and G less 127.5 [eq 5.3 by atan2], of px_atan2_tangent(sine, cosine); 1
 * at most, by rounding. */
PX_FN float
holo_rest_of(float tangent, float sine, float cosine)
{
	PX_F turn = px_atan2_angle(tangent, sine, cosine) * HOLO_TURN;

	return px_select(turn < 0.0f, turn + 1.0f, turn);
}

PX_FN float
holo_rest(float sine, float cosine)
{
	return holo_rest_of(px_atan2_tangent(sine, cosine), sine, cosine);
}

/*
 * The order whose stair is nearest to the level of B, `stair` being what order 0 has at this rest
 * (through the blur that it went through). As stairs are equally high, no candidates need be tried.
 */
PX_FN float
holo_nearest_order(float level, float stair, float per_height, float order_most)
{
	return px_min(px_max(px_round((level - stair) * per_height), 0.0f), order_most);
}

/* The papers' own: Fl(B/S) [eq 9.19]; with half = 1/2 the rounding that a flat stair needs. */
PX_FN float
holo_plain_order(float level, float per_height, float half_step)
{
	return px_floor(level * per_height + half_step);
}

/* Depth from turns [eq 5.14, 6.11]. */
PX_FN float
holo_depth(float turns, float column, float turns_per_column, float depth_per_turn)
{
	return (turns - column * turns_per_column) * depth_per_turn;
}

/* Whole turns off the median of the neighbours are taken away (methods §6); NaN stays. */
PX_FN float
holo_unspike(float turns, float median)
{
	return px_select(px_abs(median) > 1e30f, turns, turns - px_round(turns - median));
}

#endif
