/*
 * Fourier-transform profilometry (methods §3): a phase out of one fringe image, or of one with a
 * flat image or white and black.
 */
#ifndef FOURIER_H
#define FOURIER_H

#include "fourier_report.h"
#include "phasewrap.h"
#include "run/run.h"

struct parameters;

/* What is planned for a measurement, and what is known of those before. */
struct fourier {
	struct frame_head out;
	double *turn_rad;	/* of each fringe image: what its phase has too much */
	struct fourier_report report;
};

/* Checks the options alone; those of Fourier transforms are for this kind only. -1 after
 * fail_usage(). */
int fourier_check(const struct parameters *);
/* As a stage's plan, with the captures sorted and the limits set. -1 after fail(). */
int fourier_plan(struct run *, struct phasewrap *, double sign, double origin_rad,
    const struct frame_head *in, struct frame_head *out, struct fourier *);
/* As a body's frame. */
int fourier_frame(struct run *, const struct phasewrap *, struct fourier *, struct frame *in);
void fourier_free(struct fourier *);

#endif
