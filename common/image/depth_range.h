/*
 * The range of depths that an encoder lays its levels over: of one frame, found on all threads, or
 * of all frames of the input, in a pass before the one that encodes.
 */
#ifndef IMAGE_DEPTH_RANGE_H
#define IMAGE_DEPTH_RANGE_H

#include "run/run.h"

/* The words of an option --depth-range of type OPT_NUMBERS: "file". */
extern const char *const depth_range_words[];

/* The channel of depths: z beside x and y, else depth; NO_CHANNEL. */
size_t depth_range_channel(const struct frame_head *);
/* The smallest and largest finite sample of a float channel; low > high where there is none. */
void depth_range_find(struct run *run, const struct frame *frame, size_t channel, float *low,
    float *high);
/* One line where a thousandth and more of the finite samples, of a coarse grid, lie outside low to
 * high; where nearly all do, the range is of another unit or scene. Was it printed? */
bool depth_range_warn_outside(const struct frame *, size_t channel, double low, double high);
/* What was found as a range to encode by: low < high, 0 to 1 where there were no depths. */
void depth_range_widen(float low, float high, double range[2]);

/* Was the word given? */
bool depth_range_is_file(const struct numbers *option);
/* For init, with that word: can the input be read twice? -1 after fail_usage(). */
int depth_range_check(const struct run *);

/* That range, kept from the first frame on; all zero before. */
struct depth_range_of_file {
	bool known;
	double range[2];
};

/* For plan: where the option is that word, it becomes the range of all frames that the stage will
 * get, which is found once. The option's numbers then lie in `file`. -1 after fail(). */
int depth_range_take(struct run *run, struct depth_range_of_file *file, struct numbers *option);

#endif
