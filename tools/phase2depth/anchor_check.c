#define _GNU_SOURCE
#include "anchor_check.h"

#include <string.h>

#include "base/fail.h"
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
