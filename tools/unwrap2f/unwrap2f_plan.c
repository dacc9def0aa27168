/* Planning: the search with a sequence before it, and what the checks of two phases need. */
#define _GNU_SOURCE
#include "unwrap2f.h"

#include "base/fail.h"
#include "run/stage.h"

int
unwrap2f_plan_best(const struct temporal *temporal, struct unwrap2f *unwrap)
{
	struct temporal base = *temporal;
	double field_px = temporal->field_px;

	base.target = temporal_shortest(temporal);
	if (temporal->phases > 1 && (field_px > 0 || !unwrap->search.complete) &&
	    unwrap_steps_by_phases(&base, UNWRAP_PHASES | UNWRAP_BEATS, &unwrap->steps) < 0) {
		if (field_px == 0 || fail_is_memory())
			return -1;
		fail_clear();
		unwrap->steps.n = 0;
	}
	if (field_px == 0)
		field_px = unwrap->steps.field_px;
	return order_search_plan(temporal, field_px, &unwrap->search);
}

int
unwrap2f_plan_auto(const struct run *run, const struct temporal *temporal, struct unwrap2f *unwrap)
{
	unwrap->search.complete = false;
	if (unwrap2f_plan_best(temporal, unwrap) == 0) {
		unwrap->method = METHOD_BEST;
		return 0;
	}
	if (unwrap->steps.n == 0 || fail_is_memory())
		return -1;
	if (run->verbose && !unwrap->noted)
		note(NULL, "by beats, not by the best orders: %s", fail_message());
	fail_clear();
	return unwrap_steps_by_phases(temporal, UNWRAP_PHASES | UNWRAP_BEATS, &unwrap->steps);
}

int
unwrap2f_plan_beat(const struct temporal *temporal, const struct temporal *ordered,
    const struct frame_head *in, struct unwrap2f *unwrap)
{
	const struct unwrap_steps *steps = &unwrap->steps;
	bool beat = temporal->phases == 2 && unwrap->method != METHOD_GRAY && steps->n == 2 &&
	    steps->step[0].n == 2 && steps->start != START_SPATIAL;
	size_t wanted = ordered->target, other = 1 - wanted;
	double period_px = temporal->period_px[wanted], n;

	unwrap->jumps.beat_turns = 0;
	unwrap->jumps.field_tells = temporal->phases > 2 && temporal->field_px == 0;
	unwrap->check.assumed_px = unwrap->jumps.field_tells && steps->n ? steps->field_px : 0;
	if (steps->n && steps->start == START_FIELD) {
		unwrap->jumps.beat_px = steps->period_px;
		unwrap->jumps.beat_turns =
		    steps->period_px / temporal->period_px[temporal->target];
	}
	unwrap->beat.on = beat && unwrap->method != METHOD_BEST;
	unwrap->check.steps = 0;
	if (!unwrap->beat.on)
		return beat_check_plan(&unwrap->beat, in->w, in->h);
	unwrap->beat.span = steps->period_px / period_px;
	unwrap->beat.period_px = period_px;
	unwrap->beat.shorter = period_px < temporal->period_px[other];
	if (!meta_get(&in->meta, "steps") || meta_number(&in->meta, "steps", 0, &n) < 0)
		fail_clear();
	else
		unwrap->check.steps = n >= 3 && n <= 1000 ? (size_t)n : 0;
	unwrap->check.number[0] = temporal->number[wanted];
	unwrap->check.number[1] = temporal->number[other];
	unwrap->check.weight[0] = unwrap->beat.span + (unwrap->beat.shorter ? -1 : 1);
	unwrap->check.weight[1] = unwrap->beat.span;
	return beat_check_plan(&unwrap->beat, in->w, in->h);
}

int
unwrap2f_plan_offset(const struct temporal *temporal, const struct frame_head *in,
    struct unwrap2f *unwrap)
{
	unwrap->offset.on = temporal->phases > 1 && !unwrap->orders.fuse &&
	    (unwrap->method == METHOD_BEST ||
	    (unwrap->method != METHOD_GRAY && unwrap->steps.start == START_FIELD));
	unwrap->period_px[0] = temporal->period_px[temporal_shortest(temporal)];
	unwrap->period_px[1] = temporal->period_px[temporal->target];
	return offset_check_plan(&unwrap->offset, temporal, in);
}

const char *
unwrap2f_plan_more(const struct temporal *temporal, struct unwrap2f *unwrap)
{
	const struct unwrap_steps *steps = &unwrap->steps;
	double base_px = temporal->period_px[temporal_shortest(temporal)];
	double field_px = temporal->field_px > 0 ? temporal->field_px : steps->field_px;
	bool spatial = unwrap->spatial.on;
	/* a line or the neighbours tell the turns of the coarsest signal */
	bool turns = steps->n && (steps->start == START_LINE || spatial);

	if (unwrap->sigma.phases == 0) {
		unwrap->made += spatial;
		return spatial ? "label" : "";
	}
	unwrap->sigma.sigma = unwrap->made++;
	if (unwrap->method == METHOD_GRAY || (spatial && steps->n < 2)) {
		unwrap->made += spatial;
		return spatial ? "sigma label" : "sigma";
	}
	unwrap->sigma.p_order = unwrap->made++;
	unwrap_sigma_rivals(temporal, field_px, turns ? steps->period_px / base_px : 0,
	    &unwrap->sigma);
	unwrap->made += spatial;
	return spatial ? "sigma p_order label" : "sigma p_order";
}

int
unwrap2f_plan_memory(struct run *run, struct unwrap2f *unwrap)
{
	const struct residual_check *check = &unwrap->check;
	const struct jump_check *jumps = &unwrap->jumps;
	const struct beat_check *beat = &unwrap->beat;

	if (run_frame_memory(run, &unwrap->check.count,
		check->rows * sizeof(*check->count)) < 0 ||
	    run_frame_memory(run, &unwrap->jumps.row, jumps->rows * sizeof(*jumps->row)) < 0 ||
	    run_frame_memory(run, &unwrap->jumps.kept, jump_check_kept_bytes(jumps)) < 0 ||
	    run_frame_memory(run, &unwrap->offset.kept, offset_check_bytes(&unwrap->offset)) < 0)
		return -1;
	return run_frame_memory(run, &unwrap->beat.kept,
	    coarse_grid_pixels(&beat->grid) * sizeof(*beat->kept));
}
