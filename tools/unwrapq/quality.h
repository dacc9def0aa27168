/* --quality: how much the pixels' votes count. */
#ifndef UNWRAPQ_QUALITY_H
#define UNWRAPQ_QUALITY_H

#include "unwrap/patches.h"

enum quality_kind {
	QUALITY_NONE,
	QUALITY_WEIGHT,  /* a channel: the more the better */
	QUALITY_INVERSE, /* the less the better: residuals, deviations, probabilities of errors */
	QUALITY_VARIANCE /* of the phase's derivatives in 3x3 pixels, less is better */
};

struct quality {
	enum quality_kind kind;
	size_t channel;
	struct frame *weights; /* of the inverse kinds, one channel */
	struct phase_plane plane;
};

/* For plan: what a name means; NULL: nothing counts. phase: the phase's channel. -1 after fail()
 * where the channel is missing or can be no weight. */
int quality_plan(const struct run *, const struct frame_head *, const char *name, size_t phase,
    struct quality *);
/* The weights of a frame, 1 at their median; *out is NULL where all count alike. -1 after fail().
 */
int quality_find(struct run *, struct quality *, const struct phase_plane *phase,
    const struct phase_plane **out);
void quality_free(struct quality *);

#endif
