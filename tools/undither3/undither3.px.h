/*
 * Three bits a pixel back to a phase (methods §13). Around each pixel the fringes are taken as a
 * carrier of the frequency that they have there; the bits are turned back by it, so that what is
 * left is slow, and averaged. Turns and frequencies are in whole periods.
 */
#ifndef UNDITHER3_PX_H
#define UNDITHER3_PX_H

#include "holo.px.h"

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

/* The middle of an arc of the circle, given by its rest, in the turn that is nearest to `turns`. */
PX_FN float
undither3_middle(float turns, float rest)
{
	return rest + px_round(turns - rest);
}

/*
 * What a second difference b weighs: the derivative of (1/2) b^2/(1 + (b/0.05)^2), which is b where
 * surfaces are smooth and nothing at a jump [Geman and McClure 1985].
 */
PX_FN float
undither3_bend(float b)
{
	PX_F of_scale = b * 20.0f, weight = 1.0f + of_scale * of_scale;

	return b / (weight * weight);
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

#endif
