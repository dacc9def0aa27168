#include "holo/fringe_circle.h"

#include <math.h>

#include "base/fail.h"
#include "holo/holo.px.h"

#define SECTOR_LEAST 20
/* Measured on seven objects, JPEG of quality 50 to 95, 4:4:4 and 4:2:0, pitches from 16: the centre
 * is 0.5 levels off at most, the radius 125.8 to 127.5, of even ramps 119, that of any sector at
 * most 129.1. Brightness moved by 10 levels, gamma of 0.9 or 1.1, 0.95 or 1.05 times the levels
 * move the centre by 3.4 to 12; contrast of 0.9 leaves a radius of 115, of 1.1 a sector of 139. */
#define CENTRE_MOST 2.0
#define RADIUS_LEAST 117.0
#define SECTOR_MOST 133.0

void
fringe_circle_count(struct fringe_circle *circle, float rest, double radius)
{
	int sector = (int)(rest * FRINGE_CIRCLE_SECTORS) % FRINGE_CIRCLE_SECTORS;

	circle->n[sector]++;
	circle->radius[sector] += radius;
}

void
fringe_circle_add(struct fringe_circle *circle, float sine, float cosine)
{
	fringe_circle_count(circle, holo_rest(sine, cosine),
	    sqrt((double)(sine * sine + cosine * cosine)));
}

bool
fringe_circle_warn(const struct fringe_circle *circle)
{
	double x = 0, y = 0, radius = 0, most = 0;

	for (int k = 0; k < FRINGE_CIRCLE_SECTORS; k++) {
		double angle = 2 * M_PI * (k + 0.5) / FRINGE_CIRCLE_SECTORS, mean;

		if (circle->n[k] < SECTOR_LEAST)
			return false;
		mean = circle->radius[k] / (double)circle->n[k];
		x += 2 * mean * sin(angle) / FRINGE_CIRCLE_SECTORS;
		y += 2 * mean * cos(angle) / FRINGE_CIRCLE_SECTORS;
		radius += mean / FRINGE_CIRCLE_SECTORS;
		most = fmax(most, mean);
	}
	if (hypot(x, y) <= CENTRE_MOST && radius >= RADIUS_LEAST && most <= SECTOR_MOST)
		return false;
	warn(NULL,
	    "levels were changed, as by brightness, contrast or gamma: the circle of the fringes "
	    "has a radius of %.0f and up to %.0f, its centre is %.0f off, where an encoder has "
	    "127.5 and 0; depths are wrong",
	    radius, most, hypot(x, y));
	return true;
}
