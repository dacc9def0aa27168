/* Ranges, hole values and units of depth maps. */
#pragma once

#include "frame/frame.h"
#include "run/run.h"

/* ---- what the samples of a channel measure, for labels of axes and colour bars ---- */

/* Is it a length, like the coordinates of points? */
bool quantity_is_length(const char *channel);
/* The unit: rad of phases; of lengths the frame's key length_unit; NULL where none is known. */
const char *quantity_unit(const struct frame_head *, const char *channel);

/*
 * Depths that mean none. Depth cameras and other programs write a number where they have no depth,
 * 0 or 65535 for instance; an encoder takes it for a surface.
 */

struct hole_value {	/* all zero before the first frame */
	bool judged;
};

/*
 * Looks at the first frame that has enough depths, on a coarse grid: one line where many of them
 * are exactly such a number, which lies within low to high, far beyond all others. towards: depth
 * grows towards the camera, so that 0 may be a plane behind all else.
 */
void hole_value_judge(struct hole_value *, const struct frame *, size_t channel, double low,
    double high, bool towards);

/*
 * How much of the range that an encoder lays its levels over the depths use. One that is far too
 * wide, of another unit or of a few stray depths, leaves steps that are as large as the surface.
 */

#define DEPTH_USE_PARTS 4096

struct depth_use {			/* all zero before the first frame */
	size_t last;			/* run_inputs() of the last frame that was counted, + 1 */
	size_t depths;			/* so far, within the range */
	size_t count[DEPTH_USE_PARTS];	/* of them, in each part of the range */
	double low, high;		/* of the last frame */
	bool above;			/* some depth is not the range's least */
};

/* Counts depths of a frame, on a coarse grid. */
void depth_use_add(struct depth_use *, const struct frame *, size_t channel, double low,
    double high);
/* The same, once a frame. */
void depth_use_count(struct depth_use *, const struct run *, const struct frame *, size_t channel,
    double low, double high);
/* At the end: one line where nearly all of them lie within a small share of the range. step: about
 * what lies between two depths that the code tells from each other. */
void depth_use_conclude(const struct depth_use *, double step);
/* Of one frame whose own depths, all of them, go from low to high: one line where that holds, as of
 * a few stray depths. Was it printed? */
bool depth_use_warn_stray(const struct frame *, size_t channel, double low, double high,
    double step);

/*
 * The range of depths that an encoder lays its levels over: of one frame, found on all threads, or
 * of all frames of the input, in a pass before the one that encodes.
 */

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
