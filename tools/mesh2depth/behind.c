#include "behind.h"

#include <math.h>

#include "base/fail.h"

#define TRIANGLES 4096		/* are looked at, about */
#define CONE 1.5		/* |x| and |y| over z: no camera sees 112 degrees and more */
#define DISTANCE_LEAST 0.1	/* of the nearest point, over the largest extent in x and y */
/* Share of the area, as it is seen along z, that faces the camera, less what faces away: 1 of what
 * a camera has measured, 0 of a closed mesh. */
#define FACING 0.8

struct seen {
	double facing, area, low[3], high[3];
	bool in_cone;
};

/* A corner's place, which widens the box. */
static void
add_corner(struct seen *seen, const double v[3])
{
	for (int k = 0; k < 3; k++) {
		seen->low[k] = fmin(seen->low[k], v[k]);
		seen->high[k] = fmax(seen->high[k], v[k]);
	}
	seen->in_cone &= fabs(v[0]) < CONE * v[2] && fabs(v[1]) < CONE * v[2];
}

void
behind_warn(const char *name, const struct triangles *triangles,
    const struct meshview_options *options)
{
	struct seen seen = { .low = { INFINITY, INFINITY, INFINITY },
		.high = { -INFINITY, -INFINITY, -INFINITY }, .in_cone = true };
	size_t step = triangles->n / TRIANGLES + 1;

	if (triangles->axes != AXES_MODEL || options->forward.n || options->view.n)
		return;
	for (size_t i = 0; i < triangles->n && seen.in_cone; i += step) {
		const uint32_t *t = triangles->corner[i];
		const double *a = triangles->point[t[0]], *b = triangles->point[t[1]],
			     *c = triangles->point[t[2]];
		double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

		seen.facing -= twice;	/* towards the origin of a camera that looks along z */
		seen.area += fabs(twice);
		for (int k = 0; k < 3; k++)
			add_corner(&seen, triangles->point[t[k]]);
	}
	if (!seen.in_cone || !(seen.facing > FACING * seen.area) ||
	    seen.low[2] < DISTANCE_LEAST * fmax(seen.high[0] - seen.low[0],
	    seen.high[1] - seen.low[1]))
		return;
	warn(name, "is seen from behind: it lies from %.3g to %.3g before a camera in 0,0,0 that "
	    "looks along z, as depth cameras do; --forward 0,0,1 --up 0,-1,0 looks as it does",
	    seen.low[2], seen.high[2]);
}
