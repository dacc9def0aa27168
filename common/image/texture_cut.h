/* Samples of a texture that its levels do not reach: they are cut to the nearest level. And a
 * texture from 0 to 1 whose white is taken for 255, so that it becomes black. */
#ifndef IMAGE_TEXTURE_CUT_H
#define IMAGE_TEXTURE_CUT_H

#include "run/run.h"

struct texture_cut {			/* all zero before the first frame */
	size_t last;			/* run_inputs() of the last frame that was counted, + 1 */
	size_t frames, samples;		/* with some that were cut; of all of them */
	bool bright;			/* a sample was more than 1, or a line was printed */
};

/* Counts those of a frame, and prints a line for the first frame that has some, and one for the
 * first whose samples go from 0 to 1, less than two levels. A level is levels_per_unit times a
 * sample, 0 to most. */
void texture_cut_count(struct texture_cut *, struct run *, const struct frame *, size_t channel,
    float levels_per_unit, float most);
/* Of a frame's samples, from low to high: that second line. False where all are black, which says
 * nothing of the next frame. */
bool texture_warn_black(const char *name, double low, double high, double white);
/* warn(), once, where a frame of depth or z has r g b too, which its picture has no place for;
 * `cure` follows a colon. */
void texture_warn_colours(const struct frame_head *, const char *cure, bool *warned);
/* At the end: a line with all of them, where there is more to say than the first did. */
void texture_cut_conclude(const struct texture_cut *);

#endif
