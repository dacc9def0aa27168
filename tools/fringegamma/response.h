/*
 * The projector's response: what light it shows for a level. As a gamma and a blur, or as the
 * polynomial that the harmonics are, or as flats show it.
 *
 * A sinusoid of levels m + b cos p becomes f(m + b cos p) = sum of C_k cos(k p), so that f is the
 * sum of C_k T_k((level - m)/b), T_k Chebyshev's polynomials; the projector's blur by sigma pixels
 * leaves exp(-2 pi^2 k^2 sigma^2/T^2) of harmonic k.
 */
#ifndef RESPONSE_H
#define RESPONSE_H

#include <stdbool.h>
#include <stddef.h>

#define RESPONSE_HIGHEST 24	/* harmonic */
#define RESPONSE_ROWS 1025	/* of a table */

/* Harmonics over the fundamental, [k] from 2 on; a standard error of 0: not measured. */
struct response_harmonics {
	long highest;
	double cosine[RESPONSE_HIGHEST + 1], sine[RESPONSE_HIGHEST + 1];
	double error[RESPONSE_HIGHEST + 1];
};

struct response_gamma {
	double gamma, gamma_error;
	double blur, blur_error;	/* sigma over the period */
	bool finds_blur;		/* two harmonics were there */
	double left;	/* rms of what it leaves of the harmonics over the rms of theirs */
	bool fits;
};

/* The levels that the fringes were made of, as shares of full scale. */
struct response_levels {
	double mean, amplitude;
};

/* Harmonic k = 2 ... highest of a gamma, over the fundamental, into out[k]. */
void response_predict(struct response_levels, double gamma, double blur, long highest, double *out);
/* The gamma, and where two harmonics are measured the blur, that fit them best. */
struct response_gamma response_fit(struct response_levels, const struct response_harmonics *);
/* The gamma that makes a statistic `wanted`, which rises with it, from 0.3 to 6; NaN: none. */
double response_solve(double (*statistic)(struct response_levels, double gamma),
    struct response_levels, double wanted);

/* Tables: the level, as a share of full scale, to send for each of RESPONSE_ROWS wanted ones from 0
 * to 1. */
void response_table_gamma(double gamma, double *level);
/* By the polynomial of the cosines: light rises evenly from level mean - amplitude to mean +
 * amplitude. -1 after fail() where the response does not rise. */
int response_table_harmonics(struct response_levels, const struct response_harmonics *,
    double *level);
/* By n >= 2 levels and the light that each gives, both rising: a monotone cubic between them
 * (Fritsch and Carlson 1980). */
void response_table_flats(const double *at, const double *light, size_t n, double *level);
/* The same curve's light at a level. */
double response_curve(const double *at, const double *light, size_t n, double level);

/* The phase error of N equal steps by these harmonics: rms over a turn, rad. */
double response_phase_error(const struct response_harmonics *, size_t steps);

#endif
