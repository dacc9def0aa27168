/*
 * Red and green of a Holoimage lie on a circle about 127.5, of radius 127.5. Where brightness,
 * contrast or gamma were changed it has another centre or radius; lossy formats leave both nearly
 * as they are, where fringes change little from pixel to pixel.
 */
#ifndef HOLO_FRINGE_CIRCLE_H
#define HOLO_FRINGE_CIRCLE_H

#include <stdbool.h>
#include <stddef.h>

#define FRINGE_CIRCLE_SECTORS 16
/* Turns from pixel to pixel, at most: colour of half the resolution then takes 7 % off the radius
 * at most. */
#define FRINGE_CIRCLE_FLAT 0.035f

struct fringe_circle {		/* all zero before the first pixel */
	size_t n[FRINGE_CIRCLE_SECTORS];
	double radius[FRINGE_CIRCLE_SECTORS];
};

/* A pixel's sine and cosine, less 127.5. */
void fringe_circle_add(struct fringe_circle *, float sine, float cosine);
/* The same where they are known: holo_rest() of both, and their distance from the centre. */
void fringe_circle_count(struct fringe_circle *, float rest, double radius);
/* One line where the circle is not that of an encoder. False where it is, or where too few sectors
 * have enough pixels; the centre is told by all of them only. */
bool fringe_circle_warn(const struct fringe_circle *);

#endif
