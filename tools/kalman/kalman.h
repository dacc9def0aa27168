/*
 * What kalman.c plans for a frame and learns from it, and the loops of kalman_rows.c.
 */
#pragma once

#include <math.h>

#include "image/statistics.h"
#include "run/stage.h"
#include "kalman.block.h"

/* Which channels of a frame are filtered, and which has their standard deviation. */
struct channels {
	size_t values;			/* 1, or 3: x y z, which one gain moves along their ray */
	size_t value[3], value_out[3];	/* of the input and of the output */
	size_t sigma_in, sigma_out;	/* NO_CHANNEL: none */
	bool angle;			/* a wrapped phase */
	char name[CHANNEL_NAME_SIZE];	/* in messages */
};

#define FRAME_CLOCK_INTERVALS 64	/* whose median is the usual one */

/* The time from frame to frame. */
struct frame_clock {
	bool started, timed, warned;
	double last_s;
	double interval[FRAME_CLOCK_INTERVALS];		/* the last ones */
	size_t n;			/* intervals so far */
	double usual;			/* between most frames; 1 without times */
};

#define NOISE_FRAMES 9

/* A pixel of the coarse grid on which noise is measured. */
struct noise_sample {
	float value[3];		/* NaN: none */
	float variance;		/* of the values; 1 if the frame does not carry it */
};

/* Noise and motion, as the frames show them. */
struct noise {
	struct coarse_grid grid;
	struct noise_sample *frame[NOISE_FRAMES];	/* this frame, the last one, ... */
	double *work;			/* a number for each pixel of the grid */
	size_t frames;			/* of the current sequence of frames of one kind */
	double elapsed;			/* between the last two, 0: not known */
	double first;			/* variance of the last differences: noise and motion */
	double variance;		/* mean of that of second differences; as a multiple of
					 * the frames' own variance where they carry it */
	double moved;			/* mean square of the motion per time */
	double drift;			/* the same, from differences over two frames and one */
	double slow;			/* the same, from differences over eight frames and one */
	size_t slow_means, even;	/* frames that it is a mean of; equal intervals in a row */
	size_t means;			/* frames that both are means of */
	size_t compared;		/* pixels of the last difference */
	double usual;			/* median of the last frame's own variances */
	double rounding;		/* smaller variances are those of the samples' digits */
};

#define MIN_DIFFERENCES 24	/* pixels that a difference of frames needs */

/* Of this frame and the last one; of three frames, where uniform motion cancels; of this frame and
 * the last but one; of this one and that eight before. */
enum difference { DIFFERENCE_FIRST, DIFFERENCE_SECOND, DIFFERENCE_OVER_TWO, DIFFERENCE_OVER_EIGHT };

#define KALMAN_STATES 4		/* planes in addition to the values: the gain's variance, time since
				 * the last value, outliers in a row, the stated variance */

struct kalman {
	struct channels channels;
	struct frame_clock clock;
	struct noise noise;
	struct kalman_block block;
	char *scale;		/* the keys that decide the values' scale, of the last plan */
	size_t input;		/* number of the last frame, from 1; 0: none */
	size_t w, h;		/* of the last plan */
	bool warned, repeated;	/* about sigma, and about a frame that comes twice */
	bool warned_image;	/* about images of patterns */
	bool warned_zeros, warned_motion;
	size_t lags;		/* frames in a row that moved by more than was given */
};

struct kalman_rows {
	/* struct body's `rows`. */
	body_rows *filter;

	/* The rest is for the noise. Samples the frame, in the place of the oldest one. */
	void (*take_samples)(struct noise *, const struct frame *in, const struct channels *);
	/* The largest valid magnitude of the last frame's samples. */
	double (*largest_value)(const struct noise *, const struct channels *);
	/* Are the samples of the last two frames equal, and enough of them valid? */
	bool (*is_repeated)(const struct noise *, const struct channels *);
	/*
	 * Each of these lists one number for each pixel of the grid that has it in noise->work, and
	 * returns how many there are. The length of a difference of frames, divided by the root of
	 * its variance:
	 */
	size_t (*list_deviations)(struct noise *, const struct channels *, enum difference);
	/* The variance of the last frame's value. */
	size_t (*list_variances)(struct noise *);
	/* The magnitude of the last frame's value, unless it is 0; *zeros: how many are. */
	size_t (*list_magnitudes)(struct noise *, size_t *zeros);
};
LEVELS_OF(kalman_rows)
