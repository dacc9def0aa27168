#define _GNU_SOURCE
#include "unwrap_steps.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

/* The field lies in the middle of the turn that the first signal covers, so that its scatter
 * reaches neither end of what is not used. */
static void
set_steps(const struct temporal *temporal, const struct unwrap_sequence *sequence, bool field,
    struct unwrap_steps *steps)
{
	double period_px = sequence->signal[0].period_px;
	double field_px = temporal->field_px > 0 ? temporal->field_px : period_px;
	double end_px = (field_px + period_px - 1) / 2;	/* of the first signal's turn */

	steps->n = sequence->n;
	steps->field_px = field_px;
	steps->period_px = period_px;
	for (size_t r = 0; r < sequence->n; r++) {
		const struct unwrap_signal *signal = &sequence->signal[r];
		struct unwrap_step *step = &steps->step[r];

		*step = (struct unwrap_step){ .lo = -INFINITY, .hi = INFINITY };
		for (size_t i = 0; i < temporal->phases; i++)
			if (signal->weight[i]) {
				step->channel[step->n] = temporal->channel[i];
				step->weight[step->n++] = (float)signal->weight[i];
			}
		if (r > 0)
			step->ratio =
			    (float)(sequence->signal[r - 1].period_px / signal->period_px);
		if (!field)
			continue;
		step->lo = (float)(r > 0 ? -0.5 / signal->period_px :
			2 * M_PI / period_px * (end_px - period_px));
		step->hi = (float)((field_px - 0.5) / signal->period_px);
		step->span = (float)(period_px / signal->period_px);
	}
}

int
unwrap_steps_by_phases(const struct temporal *temporal, unsigned signals, struct unwrap_steps *out)
{
	struct unwrap_sequence sequence;

	memset(out, 0, sizeof(*out));
	if (temporal->phases == 1 && temporal->field_px == 0)
		return fail(NULL, "one phase of %g px in a field of unknown width: give --field",
		    temporal->period_px[0]);
	if (unwrap_sequence_find(temporal->period_px, temporal->phases, temporal->target,
	    temporal->field_px, signals, &sequence) < 0)
		return -1;
	out->start = START_FIELD;
	set_steps(temporal, &sequence, true, out);
	return 0;
}

int
unwrap_steps_by_space(const struct temporal *temporal, unsigned signals, struct unwrap_steps *out)
{
	struct unwrap_sequence sequence;

	memset(out, 0, sizeof(*out));
	if (unwrap_sequence_find(temporal->period_px, temporal->phases, temporal->target, 0,
	    signals, &sequence) < 0)
		return -1;
	out->start = START_SPATIAL;
	set_steps(temporal, &sequence, false, out);
	return 0;
}

int
unwrap_steps_by_gray(const struct temporal *temporal, double offset_rad, struct unwrap_steps *out)
{
	double period_px = temporal->period_px[0];
	double offset = isnan(offset_rad) ? M_PI / period_px : offset_rad;
	struct unwrap_sequence sequence;

	memset(out, 0, sizeof(*out));
	out->start = temporal->cell == GRAY_PERIOD ? START_COUNTED : START_PREDICTED;
	out->index = temporal->index;
	out->gray_offset = (float)offset;
	if (temporal->cell == GRAY_HALF) {
		out->gray_step = (float)M_PI;
		out->gray_offset = (float)(M_PI / 2 - offset);
	} else if (temporal->cell == GRAY_COLUMN) {
		out->gray_step = (float)(2 * M_PI / period_px);
		out->gray_offset = 0;
	}
	if (unwrap_sequence_find_from(temporal->period_px, temporal->phases, temporal->target, 0,
	    &sequence) < 0)
		return -1;
	set_steps(temporal, &sequence, false, out);
	return 0;
}

int
unwrap_steps_by_line(const struct temporal *temporal, const struct frame_head *head,
    double line_period_px, double line_offset_rad, struct unwrap_steps *out)
{
	double first_px, bin, slope = 2 * M_PI / line_period_px;
	struct unwrap_sequence sequence;

	memset(out, 0, sizeof(*out));
	if (temporal_first_px(temporal, head, &first_px, &bin) < 0 ||
	    unwrap_sequence_find(temporal->period_px, temporal->phases, temporal->target, 0,
	    UNWRAP_BEATS, &sequence) < 0)
		return -1;
	out->start = START_LINE;
	out->line_slope[temporal->axis == 'y'] = (float)(slope * bin);
	out->line_offset = (float)(line_offset_rad + slope * first_px);
	set_steps(temporal, &sequence, false, out);
	return 0;
}
