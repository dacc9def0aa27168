/*
 * Harmonics of the fringes over their fundamental, and the phase that N steps take them for (Zhang
 * and Huang 2007; Pan, Kemao, Huang and Asundi 2009).
 *
 * The file, as fringegamma writes it: lines `# key:=value`, of which `compensation` counts, a line
 * `axis period_px harmonic cosine sine`, and a row for each harmonic k of I = A + B (cos p + sum
 * (cosine cos(k p) + sine sin(k p))); axis and period_px may be `-`. Blank lines and other lines
 * that start with # are skipped.
 *
 * Of harmonics that change over the picture the columns `cosine_x sine_x cosine_y sine_y` follow:
 * by how much these two rise in a pixel along x and along y; cosine and sine are those of the
 * middle of the picture then, whose size a line `# size_px:=w h` has.
 */
#ifndef HARMONICS_H
#define HARMONICS_H

#include <stdbool.h>
#include <stddef.h>

#include "fringe/phase_shift_weights.h"
#include "frame/head.h"

struct harmonic {
	char axis;			/* x, y; 0: of any */
	double period_px;		/* NaN: of any */
	long k;				/* from 2 on */
	double cosine, sine;
	double slope[2][2];		/* of these two along x and y, per camera pixel */
};

struct harmonics {
	size_t n;			/* 0: none were read */
	struct harmonic *row;
	char compensation[1024];	/* of the patterns that were measured; "": none */
	bool varying;			/* there are slopes */
	double size_px[2];		/* of the pictures that were measured; 0: not known */
	const char *path;
};

/* -1 after fail(path, ...). Free with harmonics_free, also after a failure. */
int harmonics_load(const char *path, struct harmonics *out);
void harmonics_free(struct harmonics *);
/* Refuses images whose keys say that their phase is corrected already, or that other patterns were
 * projected than those that the harmonics are of; of harmonics that change over the picture images
 * of another size. -1 after fail(). */
int harmonics_check(const struct harmonics *, const struct frame_head *);
/*
 * What is to be added to the phase of a fringe set, at PHASEWRAP_CELLS + 1 phases from -pi to pi
 * (phasewrap.px.h), by the harmonics of the same axis and the nearest period; sign and origin as in
 * phase_shift_weights_solve(). levels, unless NULL: in the middle of PHASEWRAP_LEVELS cells, what
 * is to be added to the mean level of the images, over the amplitude that the fit finds, so that
 * its shot noise is that of fringes with harmonics: the mean of what the fit leaves, each image
 * with the square of its weight in the phase. -1 after fail().
 */
int harmonics_correction(const struct harmonics *, const struct capture_fringe *,
    const struct phase_shift_fit *, double sign, double origin_rad, float *correction,
    float *levels);
/* By how much that correction rises in a pixel along x, at PHASEWRAP_CELLS + 1 phases, then along
 * y. -1 after fail(). */
int harmonics_correction_slopes(const struct harmonics *, const struct capture_fringe *,
    const struct phase_shift_fit *, double sign, double origin_rad, float *slopes);

#endif
