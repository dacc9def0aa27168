/*
 * Phase above a reference plane, what depth a radian of it is worth, and how that is found from
 * measurements at known depths (methods §8).
 */
#ifndef DEPTHFIT_H
#define DEPTHFIT_H

#include "polyfit.h"
#include "stage.h"

#define DEPTHFIT_COEFFICIENTS 8

struct depthfit {
	size_t phase, ref;		/* channels; ref = NO_CHANNEL: the ideal plane */
	double plane[3];		/* PHI_ref = a + b column + c row, of the frame's own pixels */
	size_t degree;			/* z = c1 d + .. + c_degree d^degree */
	double c[DEPTHFIT_COEFFICIENTS];
	size_t c_map[DEPTHFIT_COEFFICIENTS];	/* channels of c per pixel; NO_CHANNEL: c above */
	struct frame **step;		/* measurements at known depths, so far */
	size_t steps;
};

/* Finds the reference: a file beside the input, or the plane of ref_plane (option, else key). */
int depthfit_reference(struct run *, const struct frame_head *, const char *ref,
    const struct numbers *ref_plane, const struct numbers *origin, struct depthfit *);
/* Finds c: the image c_map beside the input, the option, or the key c_mm_per_rad. */
int depthfit_coefficients(struct run *, const struct frame_head *, const struct numbers *c,
    const char *c_map, struct depthfit *);
/* PHI - PHI_ref of row y; the tool's own, compiled for each instruction level. */
typedef void depthfit_above_row(const struct depthfit *, const struct frame *, float *out, size_t y);
/*
 * A flow's step: takes ownership of in; NULL at the end. When z_mm->n measurements are there, fits c for
 * the whole image and for each pixel; emits the pixels' c as a frame if the tool has an output, else
 * prints the image's as text. 0 or -1 after fail().
 */
int depthfit_take(struct run *, struct frame *in, const struct numbers *z_mm, size_t degree,
    depthfit_above_row *, struct depthfit *);
void depthfit_free(struct depthfit *);

#endif
