/* What a wrong option, background or channel shows in the first image that has points. */
#ifndef STEGER_PLAUSIBLE_H
#define STEGER_PLAUSIBLE_H

#include "feature/line.h"
#include "run/stage.h"

/* What the points of an image were found with. */
struct plausible {
	const struct line_options *line;
	bool automatic;			/* the threshold is that of the noise */
	bool per_row, per_column, channel;	/* were given */
};

/* Warns where most of the image differs from its background. noise: NaN where it was not measured.
 * -1 after fail(). */
int plausible_background(const struct line_image *, double noise);
/* Warns, with one line, where the threshold is within the noise; where a larger sigma sees a line
 * of which this one sees a part; where lines of the other sign answer much more than those that
 * were found; where most points are scraps; and where a row (column) cannot hold the line. -1 after
 * fail(). */
int plausible_points(struct run *, struct line_finder *, const struct line_image *,
    const struct line_points *, const struct plausible *);
/* Warns of images of fringes, whose key role says what they are; true where it has. */
bool plausible_role(const struct frame_head *);
/* No image has a point, the strongest response of which is `strongest`: that of the other sign in
 * the same image, where it is much more, else 0. -1 after fail(). */
int plausible_other(struct run *, struct line_finder *, const struct line_image *,
    double strongest, double *other);

#endif
