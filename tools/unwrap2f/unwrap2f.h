/* What unwrap2f does for a frame, and the two ways: rows on the processor, a pass on the device. */
#ifndef UNWRAP2F_H
#define UNWRAP2F_H

#include "beat_check.h"
#include "field_check.h"
#include "fringe_line.h"
#include "jump_check.h"
#include "offset_check.h"
#include "order_search.h"
#include "period_conflict.h"
#include "phase_orders.h"
#include "residual_check.h"
#include "spatial.h"
#include "temporal.h"
#include "unwrap_sigma.h"
#include "unwrap_steps.h"

struct passes;
struct row_scratch;
struct run;

enum unwrap2f_method {
	METHOD_AUTO, METHOD_TWO, METHOD_HETERODYNE, METHOD_HIERARCHICAL, METHOD_GRAY, METHOD_BEST
};

/* What is planned for a frame. */
struct unwrap2f {
	enum unwrap2f_method method;
	struct unwrap_steps steps;
	struct order_search search;
	struct phase_orders orders;
	struct spatial spatial;
	struct unwrap_sigma sigma;
	float max_residual;
	struct residual_check check;
	struct jump_check jumps;
	struct beat_check beat;
	struct offset_check offset;
	struct period_conflict conflict;
	double period_px[2];		/* of the search's base, and of the phase unwrapped */
	bool noted;			/* the notes of -v on what cannot be checked were given */
	size_t made;			/* channels that are not passed; they come first */
	size_t *source_channel;		/* the input channel of output channel c */
	struct fringe_line line;	/* --fit-line: the planes seen so far */
};

/*
 * A sequence, if there is one, and the search: of all orders where there is none, and of the field
 * that the sequence spans where its width is not known. -1 after fail().
 */
int unwrap2f_plan_best(const struct temporal *, struct unwrap2f *);
/* By the best orders, or by the sequence alone where orders look alike to the search. -1 after
 * fail(). */
int unwrap2f_plan_auto(const struct run *, const struct temporal *, struct unwrap2f *);
/* What tells whether two phases fit their beat: how a turn of each moves the estimate of the order.
 * `ordered` is the phases with the one that the sequence ends in as their target. -1 after
 * fail(). */
int unwrap2f_plan_beat(const struct temporal *, const struct temporal *ordered,
    const struct frame_head *in, struct unwrap2f *);
/* What tells whether all phases are off by one angle. -1 after fail(). */
int unwrap2f_plan_offset(const struct temporal *, const struct frame_head *in, struct unwrap2f *);
/* Names what rows keep of a frame for `after`. -1 after fail(). */
int unwrap2f_plan_memory(struct run *, struct unwrap2f *);
/* The channels behind absphase, residual and one absphase of every phase: sigma, p_order (not of a
 * Gray code, whose bits are wrong for other reasons), label. They count in unwrap->made. */
const char *unwrap2f_plan_more(const struct temporal *, struct unwrap2f *);

/* struct body's `after`: the warnings of what rows have counted, one at most in a frame. */
void unwrap2f_after(struct run *);
/* Its `rows` and `passes`. */
void unwrap2f_rows(const struct run *, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *);
int unwrap2f_passes(struct run *, struct passes *);

#endif
