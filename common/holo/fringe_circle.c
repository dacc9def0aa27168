#include "holo/fringe_circle.h"

#include <math.h>

#include "base/fail.h"
#include "holo/holo.px.h"

#define SECTOR_LEAST 20		/* pixels; of a sector with fewer nothing is known */
/* Large changes leave sectors without pixels, where fringes become steep or as dark as background.
 * Half of them have a radius still, but tell no centre. */
#define SECTORS_LEAST (FRINGE_CIRCLE_SECTORS / 2)
/* Measured on seven objects, JPEG of quality 50 to 95, 4:4:4 and 4:2:0, pitches from 16: the centre
 * is 0.5 levels off at most, the radius 125.8 to 127.5, of even ramps 119, that of any sector at
 * most 129.1. Brightness moved by 10 levels, gamma of 0.9 or 1.1, 0.95 or 1.05 times the levels
 * move the centre by 3.4 to 12; contrast of 0.9 leaves a radius of 115, of 1.1 a sector of 139. */
#define CENTRE_MOST 2.0
#define RADIUS_LEAST 117.0
#define SECTOR_MOST 133.0
#define SECTOR_RADIUS_LEAST 110.0	/* lossy formats leave 119 */

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
	double x = 0, y = 0, radius = 0, least = INFINITY, most = 0, off;
	int sectors = 0;

	for (int k = 0; k < FRINGE_CIRCLE_SECTORS; k++) {
		double angle = 2 * M_PI * (k + 0.5) / FRINGE_CIRCLE_SECTORS, mean;

		if (circle->n[k] < SECTOR_LEAST)
			continue;
		mean = circle->radius[k] / (double)circle->n[k];
		x += 2 * mean * sin(angle) / FRINGE_CIRCLE_SECTORS;
		y += 2 * mean * cos(angle) / FRINGE_CIRCLE_SECTORS;
		radius += mean;
		least = fmin(least, mean);
		most = fmax(most, mean);
		sectors++;
	}
	if (sectors < SECTORS_LEAST)
		return false;
	radius /= sectors;
	off = sectors == FRINGE_CIRCLE_SECTORS ? hypot(x, y) : 0;
	if (off <= CENTRE_MOST && radius >= RADIUS_LEAST && least >= SECTOR_RADIUS_LEAST &&
	    most <= SECTOR_MOST)
		return false;
	if (sectors < FRINGE_CIRCLE_SECTORS)
		warn(NULL, "levels were changed, as by brightness, contrast or gamma: the circle "
		    "of the fringes has radii from %.0f to %.0f, and gaps, where an encoder has "
		    "127.5 and none; depths are wrong", least, most);
	else
		warn(NULL, "levels were changed, as by brightness, contrast or gamma: the circle "
		    "of the fringes has a radius of %.0f and up to %.0f, its centre is %.0f off, "
		    "where an encoder has 127.5 and 0; depths are wrong", radius, most, off);
	return true;
}
