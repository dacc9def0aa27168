/*
 * Noise and motion as a sequence of frames shows them, over a coarse grid of pixels. Differences of
 * two frames hold both; in second differences of three, equally far apart in time, what moves
 * uniformly cancels. Medians over the pixels, so that most of them count and not those whose
 * surface changed; means over frames.
 */
#ifndef NOISE_H
#define NOISE_H

#include "channels.h"
#include "frame/frame.h"
#include "image/coarse_grid.h"

#define NOISE_FRAMES 3

/* A pixel of the grid. */
struct noise_sample {
	float value[3];		/* NaN: none */
	float variance;		/* of them; 1 where the frame does not carry it */
};

struct noise {
	struct coarse_grid grid;
	struct noise_sample *frame[NOISE_FRAMES];	/* this one's, the last one's, ... */
	double *work;			/* as many numbers as the grid has pixels */
	size_t frames;			/* of the current run of frames of one kind */
	double elapsed;			/* between the last two, 0: not known */
	double first;			/* of the last differences: noise and motion, variance */
	double variance;		/* mean of what second differences show; as a multiple of
					   the frames' own variance where they carry it */
	double moved;			/* mean square of the motion per time */
	double drift;			/* likewise, by differences over two frames and one */
	size_t means;			/* frames that both are of */
	double usual;			/* median of the last frame's own variances */
	double rounding;		/* variance below which there are but the samples' digits */
};

/* Another kind of frames follows: forgets all. -1 after fail(). */
int noise_begin(struct noise *, const struct frame_head *);
/* A frame, so much time behind the last one. *alike: its values are those of the last one. */
void noise_add(struct noise *, const struct frame *, const struct channels *, double elapsed,
    bool *alike);
/* The noise's variance, per that of the frames where they carry it: by second differences, else by
 * the first ones, which motion makes too large; NaN: not known yet. */
double noise_variance(const struct noise *);
/* The mean square of motion per time; 0 where it cannot be told from none. */
double noise_motion(const struct noise *);
/* Likewise by how much more values differ over two frames than over one. Noise whose values are few
 * steps differs as much over both; medians of its first and second differences do not agree. */
double noise_drift(const struct noise *);
void noise_free(struct noise *);

#endif
