/* What fitshape finds in a frame: one shape or two, and the figures of an acceptance test. */
#ifndef FITSHAPE_MEASURE_H
#define FITSHAPE_MEASURE_H

#include "cloud.h"
#include "fit.h"
#include "options.h"

/* Figures of VDI/VDE 2634 part 2: of a plain fit to all points but the trimmed ones. */
struct acceptance {
	size_t points, trimmed;
	double range;			/* of the distances: probing error (form), flatness */
	double radius;
	double centre[3];		/* in the frame's coordinates */
	double size;			/* diameter less the calibrated one; NaN: none is known */
};

struct part {
	struct cloud cloud;
	struct fit fit;
	struct acceptance acceptance;
};

struct measurement {
	enum mode mode;
	char unit[16];
	size_t parts;
	struct part part[2];
	/* Of two parts: */
	double distance, distance_sd;	/* of the centres; of parallel planes */
	double normal[3];		/* length: of both planes, from the first to the second */
	double angle_deg;		/* length: between the planes, each fitted by itself */
	double spacing;			/* of the acceptance fits */
	double spacing_error;		/* that less the calibrated distance; NaN: not known */
};

/* Measures a frame of floats. -1 after fail(); measurement_free() in either case. */
int measure(struct run *, const struct parameters *, enum mode, const struct frame *,
    struct measurement *);
void measurement_free(struct measurement *);

#endif
