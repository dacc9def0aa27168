/* What phasewrap keeps while it runs, and how it plans for a kind of frames. */
#ifndef PHASEWRAP_PLAN_H
#define PHASEWRAP_PLAN_H

#include "dropped_images.h"
#include "fourier.h"
#include "harmonics.h"
#include "measurement.h"
#include "noise.h"
#include "phasewrap.h"
#include "removed.h"
#include "shift_search.h"

struct priv {
	struct body body;		/* run->body, where it is one of rows */
	struct manifest manifest;
	struct measurement measurement;
	char **file;			/* of the manifest, where no operands are given */
	struct phasewrap wrap;
	struct harmonics harmonics;
	struct removed removed;
	bool noted;			/* what only -v says, once */
	bool roles_known;		/* keys or a manifest say what each image is */
	struct fourier fourier;
	struct dropped_images dropped;
	struct shift_search shift_search;
	bool finds_noise;		/* in every measurement */
	struct noise_pairs pairs;	/* --fit-noise */
};

/* The options without --shift auto, which sorts captures as if nothing was given. -1 after
 * fail_usage(). */
int phasewrap_take_captures(const struct parameters *, struct priv *);
/* plan() of the stage, see stage.h. */
int phasewrap_plan(struct run *, const struct frame_head *in, struct frame_head *out);

#endif
