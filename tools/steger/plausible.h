/* What a wrong background, or a line of the other sign, shows in the first image. */
#ifndef STEGER_PLAUSIBLE_H
#define STEGER_PLAUSIBLE_H

#include "feature/line.h"
#include "run/stage.h"

/* Warns where most of the image differs from its background, and where lines of the other sign
 * answer much more than those that were found. noise: NaN where it was not measured. -1 after
 * fail(). */
int plausible_image(struct run *, struct line_finder *, const struct line_image *,
    const struct line_points *, double noise);
/* No image has a point, the strongest response of which is `strongest`: that of the other sign in
 * the same image, where it is much more, else 0. -1 after fail(). */
int plausible_other(struct run *, struct line_finder *, const struct line_image *,
    double strongest, double *other);

#endif
