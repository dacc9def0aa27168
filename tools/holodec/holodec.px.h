/*
 * A Holoimage read back: what tells a pixel that can be trusted from one that cannot (methods §12).
 */
#include "holo.px.h"

/* Noise may carry a point this many turns beyond the cube's faces. */
#define HOLODEC_SLACK 0.25f

/* Does the depth, normalised, lie in the cube? */
PX_FN bool
holodec_inside(float normalised, float slack)
{
	return px_abs(normalised - 0.5f) <= 0.5f + slack;
}

/* Distance of (R, G) from the circle that all fringes lie on, in levels. */
PX_FN float
holodec_off_circle(float sine, float cosine)
{
	return px_abs(px_sqrt(sine * sine + cosine * cosine) - 127.5f);
}
