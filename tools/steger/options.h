/* The options of steger, and what they say of the detector. */
#ifndef STEGER_OPTIONS_H
#define STEGER_OPTIONS_H

#include "feature/line.h"
#include "run/stage.h"

struct parameters {
	double sigma, width, low;
	const char *threshold, *background, *channel;
	struct numbers roi;
	long min_length;
	bool dark, plain, asymmetric, sharp, per_row, per_column, no_skip;
};

extern const struct opt steger_option_table[];

/* Checks them. *automatic: no threshold is given. Sets run->colour. -1 after fail(). */
int steger_options(struct run *run, struct line_options *to, bool *automatic);
/* The channel that holds the image. -1 after fail(). */
int steger_channel(const struct run *run, const struct frame_head *in, const char *name, size_t *c);
/* Does the region of interest lie in the image? -1 after fail(). */
int steger_check_roi(const struct line_options *, const struct frame_head *);
/* Keys of the output. noise: NaN where it was not measured. -1 after fail(). */
int steger_set_keys(struct meta *, const struct line_options *, const struct line_image *,
    double noise);
/* The noise to reckon with where an image shows none: that of rounding to the camera's
 * levels, and a little of the range of floats. */
double line_noise_least(const struct line_image *);
/* The sigma that a bar needs whose edges answer at that distance from each other. */
double steger_sigma_for_edges(double distance, double sigma);

#endif
