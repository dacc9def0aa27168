/*
 * What the standard deviations of the wrapped phases make of the absolute phase: its own, the
 * weights of its mean, and the probability that its order is wrong.
 */
#ifndef UNWRAP_SIGMA_H
#define UNWRAP_SIGMA_H

#include "phase_orders.h"
#include "unwrap_steps.h"

struct passes;

#define UNWRAP_RIVALS 16		/* orders that may be taken instead, on each side */

/* How sigmas go into the mean of all phases. */
enum unwrap_mean { MEAN_NONE, MEAN_WEIGHTS, MEAN_SIGMAS };

struct unwrap_sigma {
	size_t phases;			/* of the input that have a sigma; 0: nothing of this */
	size_t channel[UNWRAP_PHASES_MOST];	/* their sigmas; as in phase_orders */
	size_t sigma, p_order;		/* of the output; p_order NO_CHANNEL: it is not known */
	enum unwrap_mean mean;
	size_t rivals;			/* orders further, both signs */
	float rival[2 * UNWRAP_RIVALS];
	float lo, hi;			/* of the field: where the base lies, in turns */
	/* So many orders further all phases are the same again, if that reaches the field, from
	 * first to last; 0: it does not. */
	float seam, first, last;
};

/*
 * For phases that phase_orders_plan() has seen; weights: --sigma was given. Sets all but the rivals
 * and the output's channels. -1 after fail() where only some of the phases have a sigma.
 */
int unwrap_sigma_plan(const struct temporal *, const struct frame_head *,
    const struct phase_orders *, bool weights, struct unwrap_sigma *);
/* The orders that compete; line: a line tells the turn of a beat of so many turns of the base, 0:
 * none. */
void unwrap_sigma_rivals(const struct temporal *, double field_px, double line_turns,
    struct unwrap_sigma *);
/* A row of the output, whose absphase is made; it becomes the mean that the sigmas weigh. */
void unwrap_sigma_row(const struct unwrap_sigma *, const struct phase_orders *,
    const struct frame *in, struct frame *out, size_t y);
int unwrap_sigma_passes(const struct unwrap_sigma *, const struct phase_orders *, struct passes *);

#endif
