/* Phases, modulation and texture out of the analytic signals of a measurement's fringe images. */
#ifndef FOURIER_OUTPUT_H
#define FOURIER_OUTPUT_H

#include "fourier_image.h"

/* image: of each fringe image. Fills the frame; reports how many pixels are invalid. -1 after
 * fail(). */
int fourier_output_write(struct run *, const struct phasewrap *, const struct fourier_image *image,
    struct fourier_report *, struct frame *);

#endif
