/*
 * Phase above a reference plane, what depth a radian of it is worth, and how that is found from
 * measurements at known depths (methods §8).
 */
#ifndef DEPTHFIT_H
#define DEPTHFIT_H

#include "polyfit.h"
#include "run/stage.h"

#define DEPTHFIT_COEFFICIENTS 8

struct depthfit {
	size_t phase, ref;		/* channels; ref = NO_CHANNEL: the ideal plane */
	bool wrapped;			/* the phases are: they differ by less than half a turn */
	double plane[3]; /* PHI_ref = a + b column + c row, of the frame's own pixels */
	size_t degree;			/* z = c1 d + .. + c_degree d^degree */
	double c[DEPTHFIT_COEFFICIENTS];
	size_t c_map[DEPTHFIT_COEFFICIENTS];	/* channels of c per pixel; NO_CHANNEL: c above */
	bool warned_key;		/* of an option that is not the frame's own key */
	struct frame **step;		/* measurements at known depths, so far */
	size_t steps;
};

/* Pixels of a run so far whose phase and reference are the same, or differ; whose reference is a
 * whole number other than 0, or none. */
struct depthfit_same {
	bool equal, differs, whole, broken;
};

struct depthfit_options {
	const char *ref, *c_map;	/* second inputs; ref may be "ideal" */
	struct numbers ref_plane, c;	/* win over the keys ref_plane_rad, c_mm_per_rad */
	struct numbers fit_c;		/* known depths in mm, or none */
	long degree;
	bool wrapped;
};

/* What cannot be meant together; calibrated: the reference is not used at all. -1 after fail(). */
int depthfit_check(const struct depthfit_options *, bool calibrated);
/* Finds the reference and, unless it is to be fitted, c; origin is --origin. */
int depthfit_plan(struct run *, struct depthfit *, const struct depthfit_options *,
    const struct numbers *origin, const struct frame_head *in, struct frame_head *out);
/* Compares the phase of rows y0 to y1 - 1 with a measured reference; any threads at a time. */
void depthfit_compare(const struct depthfit *, const struct frame *, struct depthfit_same *,
    size_t y0, size_t y1);
/* The run is over: warns where the reference was the input itself in all frames, or an image. */
void depthfit_warn(const struct depthfit_same *, bool wrapped);
/* Keeps one measurement; takes ownership of the frame. 0 or -1 after fail(). */
int depthfit_add(struct frame *, const struct depthfit_options *, struct depthfit *);
/*
 * Fits c to the measurements, for the whole image and for each pixel; emits the pixels' c as a
 * frame if the tool has an output, else prints the image's as text. 0 or -1 after fail().
 */
int depthfit_finish(struct run *, const struct depthfit_options *, struct depthfit *);
void depthfit_free(struct depthfit *);

#endif
