/* What a run of Fourier transforms has to say: no fringes, two patterns, images that are no
 * measurement of their own; with -v the carriers and how many pixels are invalid. */
#ifndef FOURIER_REPORT_H
#define FOURIER_REPORT_H

#include <stdint.h>

#include "fourier_carrier.h"
#include "fourier_filter.h"
#include "fringe/capture_set.h"

/* By which test a pixel is invalid, the first that it fails; those with a phase, and of these the
 * ones of a small amplitude. */
enum fourier_lost {
	LOST_MISSING,
	LOST_SATURATION,
	LOST_DARKNESS,
	LOST_MODULATION,
	LOST_AMPLITUDE,
	LOST_NONE,
	LOST_KINDS
};

#define FOURIER_GRID 48	/* points across and down at which measurements are compared */

struct fourier_report {
	size_t measurement;
	bool verbose;
	/* once in a run */
	bool warned_two, warned_weak, warned_steps, warned_unlit, warned_saturated;
	bool flats_checked;
	bool most_known;	/* the value of saturated pixels */
	struct fourier_sample before[FOURIER_GRID * FOURIER_GRID];
};

#define WHERE_SIZE 40
/* "measurement 2", or NULL for the first one. */
const char *fourier_report_where(const struct fourier_report *, char text[WHERE_SIZE]);
/* Does the camera of plane c have fewer than 16 bits, and saturates below what 16 can hold? */
void fourier_report_bits(struct fourier_report *, const struct frame *, size_t c);
/* Where the carrier was found among these. */
void fourier_report_peaks(struct fourier_report *, const struct fourier_peaks *, bool along_y);
/* Of a carrier that was given: is it among them? */
void fourier_report_given(struct fourier_report *, const struct fourier_peaks *,
    struct fourier_carrier given, double half_width);
/* The signal of an image without description is compared with that of the one before. */
void fourier_report_steps(struct fourier_report *, const struct fourier_result *);
void fourier_report_filter(const struct fourier_report *, const struct capture_fringe *,
    struct fourier_carrier, const struct fourier_filter *, const struct fourier_result *);
/* Pixels of a measurement: how many are lost; amplitudes of n of them, spread over all, in grey
 * levels, NaN where there is no phase, which it reorders. */
void fourier_report_pixels(struct fourier_report *, const uint64_t lost[LOST_KINDS],
    double *amplitude, size_t n, bool limited);

#endif
