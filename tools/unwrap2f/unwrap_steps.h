/*
 * How a pixel's fringe order is found, ready for pixels: an absolute phase of the first step's
 * signal, then from step to step that of a finer signal (methods §5).
 */
#ifndef UNWRAP_STEPS_H
#define UNWRAP_STEPS_H

#include "temporal.h"
#include "unwrap_sequence.h"

/* A signal of the sequence, ready for pixels. */
struct unwrap_step {
	size_t n, channel[UNWRAP_PHASES_MOST];
	float weight[UNWRAP_PHASES_MOST];
	float ratio;			/* period of the step before / this one */
	float lo, hi;		/* the field, in turns; lo of the first step: rad, its turn */
	float span;			/* turns in a period of the first signal */
};

/* unwrap2f.comp knows their numbers. */
enum unwrap_start {
	START_FIELD,			/* the first step's phase lies in the field */
	START_LINE,			/* in the turn above a line over the camera's pixels */
	START_PREDICTED,		/* where step V + offset says, V the Gray code */
	START_COUNTED,			/* V counts its turns, from where it is -offset */
	START_SPATIAL			/* it is found already */
};

/* From the start along the sequence. */
struct unwrap_steps {
	enum unwrap_start start;
	size_t n;
	struct unwrap_step step[UNWRAP_PHASES_MOST + 1];
	double period_px;			/* of the first signal */
	double field_px;			/* what the first signal is taken to span */
	size_t index;				/* the Gray code's channel, if it takes part */
	float gray_step, gray_offset;		/* rad */
	const struct frame *coarse;		/* START_SPATIAL: channel 0, absolute phase */
	float line_slope[2], line_offset;	/* rad per column, per row; rad */
};

/* By phases alone; signals: enum unwrap_signals. -1 after fail() where they do not span the field.
 */
int unwrap_steps_by_phases(const struct temporal *, unsigned signals, struct unwrap_steps *out);
/* By phases alone, the first of which is unwrapped across the image: that of the longest period of
 * use. -1 after fail(). */
int unwrap_steps_by_space(const struct temporal *, unsigned signals, struct unwrap_steps *out);
/* By the Gray code, whose edges lie where the first phase is -offset_rad; NaN: half a projector
 * pixel before the fringes' own beginning, as in patterns of ours. */
int unwrap_steps_by_gray(const struct temporal *, double offset_rad, struct unwrap_steps *out);
/* By the beat of two phases above the line 2 pi x/period + offset, x in pixels of the sensor. */
int unwrap_steps_by_line(const struct temporal *, const struct frame_head *, double line_period_px,
    double line_offset_rad, struct unwrap_steps *out);

#endif
