/*
 * The grey levels that a projector sends for each image of a measurement (methods §1): sinusoids
 * through its response and out of focus, square waves, Gray code and stripes out of focus, flat
 * images. In double.
 */
#ifndef PROJECTOR_RESPONSE_H
#define PROJECTOR_RESPONSE_H

#include "fringe/lut.h"
#include "fringe/patterns.h"

#define PROJECTOR_HARMONICS 128

/* In grey levels that a camera sees on a white surface at full illumination. */
struct projector_response {
	double mean, amplitude;		/* of the pattern: white is mean + amplitude, black mean -
					 * amplitude; NaN: 127/255 and 100/255 of full */
	double full;			/* level at which the response is 1 */
	const struct lut *lut;		/* that the pattern goes through first; NULL: none */
	double gamma;			/* the projector sends full (pattern/full)^gamma */
	double defocus_px;		/* sigma of the projector's Gaussian blur */
};

/* Sets full, and mean and amplitude where they are NaN. -1 after fail_usage() where the amplitude
 * exceeds the mean. */
int projector_response_complete(struct projector_response *, double full);

/* One image ready to be computed. */
struct projected_pattern {
	const struct projector_response *response;
	const struct pattern *pattern;
	double dark, bright;		/* levels of patterns of two levels, and of flat images */
	double shift_rad;
	size_t harmonics;		/* sum of harmonic[m] cos(m theta); 0: not used */
	double harmonic[PROJECTOR_HARMONICS];
};

void projected_pattern_init(struct projected_pattern *, const struct projector_response *,
    const struct pattern *);
/* The grey level where the bright pixels of a pattern of two levels contribute this share. */
double projected_pattern_level(const struct projected_pattern *, double share);
/* The grey level at a projector column (or row) of any pattern that is not dithered; column j
 * covers j - 1/2 to j + 1/2. */
double projected_pattern_at(const struct projected_pattern *, double column);

#endif
