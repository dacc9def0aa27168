/*
 * Harmonics of projected fringes from N phase steps, by least squares over all pixels at once:
 *
 *	I_n = (1 + g_n) (A + B (cos p_n + sum over k (c_k cos k p_n + s_k sin k p_n)))
 *	p_n = phi + d_n + e_n
 *
 * with A, B and phi of each pixel, c_k and s_k of all, and the gain g_n and the shift error e_n of
 * each image: a lamp that flickers, a set-up that shakes, an exposure that catches a part of the
 * next pattern. (What both do alike is shared between them by a weak pull to 0.) Each pixel's own
 * three unknowns are eliminated (variable projection, Golub and Pereyra 1973), so that a pass over
 * the pixels leaves normal equations of the common ones.
 *
 * Equal steps see harmonic k unless k is 0, 1 or -1 modulo N: it then looks like the mean or the
 * fundamental. Those of which k and N - k are both there differ in how they turn with phi.
 */
#ifndef HARMONIC_FIT_H
#define HARMONIC_FIT_H

#include "pixels.h"

#define FIT_IMAGES 64		/* of a set, at most */
#define FIT_HIGHEST 24		/* harmonic, at most */

struct run;

struct harmonic_fit {
	size_t images;
	double shift_rad[FIT_IMAGES];	/* d_n, of the phase that phasewrap gives */
	long highest;			/* harmonic to fit */
	long known;			/* up to this one unseen ones count with their cosines */
	bool seen[FIT_HIGHEST + 1];
	double cosine[FIT_HIGHEST + 1], sine[FIT_HIGHEST + 1];
	double cosine_error[FIT_HIGHEST + 1], sine_error[FIT_HIGHEST + 1];	/* standard */
	/* By how much each cosine and sine rises in a pixel along x [0] and along y [1], by the
	 * parts of the picture; 0 where not asked for. */
	bool slopes;
	double cosine_slope[2][FIT_HIGHEST + 1], sine_slope[2][FIT_HIGHEST + 1];
	double gain[FIT_IMAGES], gain_error;
	double shift[FIT_IMAGES], shift_error;	/* e_n, rad */
	/* Shares of the fundamental's amplitude (root mean square): */
	double sinusoid_misfit;	/* what sinusoids leave: noise and harmonics */
	double misfit;		/* what this fit leaves: noise */
	double unexplained;	/* what it leaves of the mean at each phase and image, less noise */
	double spread;		/* by which the harmonics of parts of the picture differ, less
				 * noise */
	double amplitude;	/* root mean square, grey levels */
};

/* The highest harmonic so that all from 2 on are seen, FIT_HIGHEST at most; 1: none. */
long harmonic_fit_reach(const double *shift_rad, size_t images);
/*
 * Fits, where images, shift_rad and highest are set. `seen` tells which of the harmonics are seen;
 * the cosines of others stay as they are, and so count as known. -1 after fail(), which says where
 * the phases leave some of the circle out, or the images have no fringes.
 */
int harmonic_fit(struct run *, const struct pixels *, struct harmonic_fit *);

#endif
