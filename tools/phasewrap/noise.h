/* The camera's noise: as given, from what the fit leaves of a measurement, or from pairs of flat
 * images (photon transfer). */
#ifndef NOISE_H
#define NOISE_H

#include "fringe/phase_noise.h"
#include "phasewrap.h"
#include "run/run.h"

struct noise_options {
	bool sigma, fit_noise;
	double read_noise, gain, black_level, quantum;	/* NaN: not given */
	double max_value;	/* --max-value, which limits.h has too; NaN: not given */
};

/* Variances at levels of the pairs of images that were read so far. */
struct noise_pairs {
	struct frame *first;	/* of a pair whose second image is to come; one plane */
	struct phase_noise_sample *sample;
	size_t n;
	double quantisation;			/* its variance */
	size_t images;
};

/* Is --sigma asked for, and the noise to be found in the images? */
bool noise_unknown(const struct noise_options *);
/* Options that are of no use alone. -1 after fail_usage(). */
int noise_check(const struct noise_options *);
/* The variance of quantisation of images of this head; needed: it is an error where that is not
 * known. -1 after fail(). */
int noise_quantisation(const struct noise_options *, const struct frame_head *, bool needed,
    double *variance);
/*
 * For frames of this head: sets wrap->sigmas, the terms and, where it is given, the noise. *search:
 * noise_find() is to find the noise of every measurement. Captures and fits of wrap are set. -1
 * after fail().
 */
int noise_plan(const struct noise_options *, const struct frame_head *, struct phasewrap *,
    bool *search);
/* Sets wrap->noise to that of one measurement, out of what the fit leaves of it. -1 after fail().
 */
int noise_find(const struct frame *, struct phasewrap *);

/* Takes one image, or several as the planes of a frame, which it owns. -1 after fail(). */
int noise_pairs_add(const struct noise_options *, struct frame *, struct noise_pairs *);
/* Prints the options that say what was found, to `path` or standard output. -1 after fail(). */
int noise_pairs_print(const struct noise_options *, struct noise_pairs *, const char *path);
void noise_pairs_free(struct noise_pairs *);

#endif
