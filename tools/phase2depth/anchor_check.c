#define _GNU_SOURCE
#include "anchor_check.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "run/check.h"
#include "unwrap/phase_anchor.h"

int
anchor_check(const struct run *run, const struct frame_head *in, bool calibrated)
{
	const struct frame_head *ref = run_second_input_head(run, "ref", 0);
	bool relative = phase_anchor_is_relative(&in->meta);

	if (relative && (calibrated || !ref))
		return fail(NULL, "absphase is known up to whole turns only: "
		    "--anchor or a marker makes it absolute");
	if (relative && !strcmp(meta_get(&in->meta, "phase_anchor"), "none"))
		return fail(NULL, "absphase may be whole turns off the reference's: give "
		    "unwrapq the same --ref");
	if (ref && relative != phase_anchor_is_relative(&ref->meta))
		return fail("--ref", "%s is absolute, the other known up to whole turns only: give "
		    "unwrapq --anchor for both, or the same --ref", relative ?
		    "the reference" : "the input");
	return 0;
}

/* Both phases must be of one capture's pixels, and of different axes. -1 after fail(). */
static int
check_head(const struct frame_head *in, const struct frame_head *across, bool along_y)
{
	static const char *const keys[] = { "origin_px", "bin" };
	const char *axis = meta_get(&across->meta, "axis");

	if (axis && !strcmp(axis, along_y ? "y" : "x"))
		return fail("--across", "is of the same axis, %s, as the input: wanted is the "
		    "absolute phase of the other one (unwrap2f -a %c)", axis, along_y ? 'x' : 'y');
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *own = meta_get(&in->meta, keys[i]);
		const char *its = meta_get(&across->meta, keys[i]);

		if (own && its && strcmp(own, its))
			return fail("--across", "does not go with the input: its %s is %.60s, the "
			    "input's %.60s", keys[i], its, own);
	}
	return !phase_anchor_is_relative(&across->meta) ? 0 : fail("--across", "is known up to "
	    "whole turns only: --anchor or a marker makes it absolute");
}

int
across_plan(struct run *run, const struct calib *calib, const struct triangulation *rays,
    bool centered, const struct frame_head *in)
{
	const struct frame_head *across = run_second_input_head(run, "across", 0);
	double period_px, size_px = rays->along_y ? calib->projector.w : calib->projector.h;
	struct check_facts *facts = run_check_facts(run);
	size_t channel;

	facts->calibration = calib;
	facts->along_y = rays->along_y;
	if (!across)
		return 0;
	if (run_second_input(run, in, "across", "absphase", &channel) < 0 ||
	    check_head(in, across, rays->along_y) < 0 ||
	    meta_number(&across->meta, "period_px", NAN, &period_px) < 0)
		return -1;
	if (!(period_px > 0 && isfinite(period_px)))
		return fail("--across", "has no key period_px: framecat --set period_px=PX says "
		    "what its fringes are");
	if (rays->projector_px[!rays->along_y] > 0)
		size_px = rays->projector_px[!rays->along_y];
	facts->code0_px = centered ? size_px / 2 : 0;
	return 0;
}
