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

#endif
