/* Samples of a texture that its levels do not reach: they are cut to the nearest level. */
#ifndef IMAGE_TEXTURE_CUT_H
#define IMAGE_TEXTURE_CUT_H

#include "run/run.h"

struct texture_cut {			/* all zero before the first frame */
	size_t last;			/* run_inputs() of the last frame that was counted, + 1 */
	size_t frames, samples;		/* with some that were cut; of all of them */
};

/* Counts those of a frame, and prints a line for the first frame that has some. A level is
 * levels_per_unit times a sample, 0 to most. */
void texture_cut_count(struct texture_cut *, struct run *, const struct frame *, size_t channel,
    float levels_per_unit, float most);
/* At the end: a line with all of them, where there is more to say than the first did. */
void texture_cut_conclude(const struct texture_cut *);

#endif
