/* --coarse spatial: the first signal of a sequence, where it repeats within the field, is unwrapped
 * from neighbour to neighbour, and orders the finer ones. */
#ifndef SPATIAL_H
#define SPATIAL_H

#include "unwrap/absolute.h"
#include "unwrap_steps.h"

struct spatial {
	bool on;
	struct absolute absolute;
	struct unwrapping unwrapping;
	struct frame_head head; /* of `found` */
	struct frame *found;	/* the signal's absolute phase; label */
	double ratio;		/* rad of the result for one of the signal */
};

/* For init; excluded: an option that was given and does not go with it, or NULL. -1 after
 * fail_usage(). */
int spatial_check(const struct spatial *, const struct absolute_options *, const char *excluded);
/* Plans for steps that begin with START_SPATIAL; out: the head of the result, with its keys. -1
 * after fail(). */
int spatial_plan(struct run *, const struct absolute_options *, const struct frame_head *in,
    const struct temporal *, const struct unwrap_steps *, struct frame_head *out,
    struct spatial *);
/* Finds the absolute phase of the first step's signal, steps->coarse, of a frame. -1 after fail().
 */
int spatial_find(struct run *, struct spatial *, const struct frame *in, struct unwrap_steps *);
/* Row y of the channel label: NaN where the result is. */
void spatial_label_row(
    const struct spatial *, const float *absphase, size_t y, size_t w, float *label);
void spatial_free(struct spatial *);

#endif
