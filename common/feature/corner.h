/*
 * Where four squares of a chessboard meet: saddles of the smoothed image, det H < 0 (methods.md
 * section 16).
 */
#ifndef CORNER_H
#define CORNER_H

#include <stdbool.h>

#include "feature/derivatives.h"

struct saddle {
	double x, y;     /* px */
	double strength; /* sigma^2 sqrt(-det H): for a corner of two square edges a third
			  * of its contrast */
	double light;    /* direction of its bright quarters, rad, 0 <= light < pi */
	double open;     /* half the angle of a bright quarter, rad: edges run at light +-
			  * open; saddle_refine() leaves a right angle */
};

struct saddles {
	size_t n;
	struct saddle *saddle; /* strongest first */
};

/*
 * The strongest `most` saddles of an image, those of less than `least` of the strongest one's
 * strength left out. Places are within some 0.1 px. -1 after fail().
 */
int saddles_find(const struct derivative_plane *, const struct derivative_kernels *, size_t most,
    double least, struct saddles *);
void saddles_free(struct saddles *);
/*
 * Moves a saddle to where the gradient is zero, by Newton's steps with kernels at the true place.
 * False, and it stays where it was, where that does not end within `reach` px of the start in a
 * saddle.
 */
bool saddle_refine(const struct derivative_plane *, const struct derivative_kernels *, double reach,
    struct saddle *);
/*
 * The standard deviation of x and of y of a refined saddle (the root of their mean variance), from
 * the image's own noise: how far it differs from itself turned by half a turn about the saddle.
 */
double saddle_sigma(
    const struct derivative_plane *, const struct derivative_kernels *, const struct saddle *);

#endif
