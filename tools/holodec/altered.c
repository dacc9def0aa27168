#include "altered.h"

#include <math.h>

#include "base/fail.h"
#include "holodec.px.h"

#define ROWS_LEAST 64	/* one row of so many is looked at, or all of fewer */
#define STEP_MOST 8
#define AWAY 3		/* pixels to the background, which lossy formats mix in */

/* Of fringes that change so little from pixel to pixel, colour of half the resolution takes 7 % off
 * the radius at most. */
#define FLAT 0.035f
#define SECTORS 16
#define SECTOR_LEAST 20
/* Measured on seven objects, JPEG of quality 50 to 95, 4:4:4 and 4:2:0, pitches from 16: the centre
 * is 0.5 levels off at most, the radius 125.8 to 127.5, of even ramps 119, that of any sector at
 * most 129.1. Brightness moved by 10 levels, gamma of 0.9 or 1.1, 0.95 or 1.05 times the levels
 * move the centre by 3.4 to 12; contrast of 0.9 leaves a radius of 115, of 1.1 a sector of 139. */
#define CENTRE_MOST 2.0
#define RADIUS_LEAST 117.0
#define SECTOR_MOST 133.0

/* Phase falls along rows only where the surface is turned away from the projector: on at most 20 %
 * of these objects and of frames of a depth camera, but on 80 % and more of mirrored ones. Down the
 * columns it changes more than along rows on at most 37 %, on 63 % and more of those that were
 * turned by a quarter; a steep ramp does so, too, but rises everywhere. */
#define POINTS_LEAST 500
#define SMOOTH 0.2f	/* turns from pixel to pixel; more is a jump */
#define FALLS_MOST 0.6
#define ACROSS_MOST 0.58
#define FALLS_ACROSS 0.15

struct counts {
	size_t points, falls, across;
	size_t n[SECTORS];
	double radius[SECTORS];
};

/* A piece of five rows: y - AWAY, y - 1, y, y + 1 and y + AWAY. */
enum { FAR_ABOVE, ABOVE, HERE, BELOW, FAR_BELOW, PIECE };

struct piece {
	float sine[PIECE][TILE], cosine[PIECE][TILE];
};

static float
rest_at(const struct piece *piece, int row, size_t i)
{
	return holo_rest(piece->sine[row][i] - 127.5f, piece->cosine[row][i] - 127.5f);
}

static bool
is_inside(const struct piece *piece, size_t i)
{
	bool black = false;

	for (int row = 0; row < PIECE; row++)
		black |= holodec_black(piece->sine[row][i], piece->cosine[row][i]);
	for (size_t k = i - AWAY; k <= i + AWAY; k++)
		black |= holodec_black(piece->sine[HERE][k], piece->cosine[HERE][k]);
	return !black;
}

/* Turns from one pixel to the one two farther. */
static float
difference(float from, float to)
{
	return to - from - px_round(to - from);
}

static void
count_pixel(const struct piece *piece, size_t i, struct counts *counts)
{
	float along = difference(rest_at(piece, HERE, i - 1), rest_at(piece, HERE, i + 1));
	float down = difference(rest_at(piece, ABOVE, i), rest_at(piece, BELOW, i));
	float sine = piece->sine[HERE][i] - 127.5f, cosine = piece->cosine[HERE][i] - 127.5f;
	int sector;

	if (px_abs(along) > 2 * SMOOTH || px_abs(down) > 2 * SMOOTH)
		return;
	counts->points++;
	counts->falls += along < 0;
	counts->across += px_abs(down) > px_abs(along);
	if (px_abs(along) > 2 * FLAT || px_abs(down) > 2 * FLAT)
		return;
	sector = (int)(holo_rest(sine, cosine) * SECTORS) % SECTORS;
	counts->n[sector]++;
	counts->radius[sector] += sqrt((double)(sine * sine + cosine * cosine));
}

static void
count_row(const struct reading *reading, const struct frame *in, size_t y, struct counts *counts)
{
	static const int row[PIECE] = { -AWAY, -1, 0, 1, AWAY };
	struct piece piece;

	for (size_t x = 0; x < in->head.w; x += TILE) {
		size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;

		for (int k = 0; k < PIECE; k++) {
			size_t at = y + (size_t)row[k];

			tile_load_samples(in, reading->channel[0], at, x, n, piece.sine[k]);
			tile_load_samples(in, reading->channel[1], at, x, n, piece.cosine[k]);
		}
		for (size_t i = AWAY; i + AWAY < n; i++)
			if (is_inside(&piece, i))
				count_pixel(&piece, i, counts);
	}
}

/* false: not all sectors of the circle have enough pixels. */
static bool
warn_levels(const struct counts *counts)
{
	double x = 0, y = 0, radius = 0, most = 0;

	for (int k = 0; k < SECTORS; k++) {
		double angle = 2 * M_PI * (k + 0.5) / SECTORS, mean;

		if (counts->n[k] < SECTOR_LEAST)
			return false;
		mean = counts->radius[k] / (double)counts->n[k];
		x += 2 * mean * sin(angle) / SECTORS;
		y += 2 * mean * cos(angle) / SECTORS;
		radius += mean / SECTORS;
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

static bool
warn_turned(const struct counts *counts)
{
	double falls = (double)counts->falls / (double)counts->points;
	double across = (double)counts->across / (double)counts->points;

	if (counts->points < POINTS_LEAST)
		return false;
	if (across > ACROSS_MOST && falls > FALLS_ACROSS)
		warn(NULL,
		    "the picture seems to be turned by a quarter or transposed: in %.0f %% of it "
		    "the phase changes more down the columns than along the rows; depths are wrong",
		    100 * across);
	else if (falls > FALLS_MOST)
		warn(NULL,
		    "the picture seems to be mirrored or turned: in %.0f %% of it the phase falls "
		    "along the rows, where it rises on what the projector sees; depths are wrong",
		    100 * falls);
	else
		return false;
	return true;
}

void
altered_warn(const struct reading *reading, const struct frame *in, bool levels,
    struct altered *altered)
{
	struct counts counts = { 0 };
	size_t h = in->head.h, step = h / ROWS_LEAST;
	bool bare = !meta_get(&in->head.meta, "holo_check");

	levels &= in->head.type == SAMPLE_UCHAR && !altered->levels;
	bare &= !altered->turned;
	if (!levels && !bare)
		return;
	step = step < 1 ? 1 : step > STEP_MOST ? STEP_MOST : step;
	for (size_t y = AWAY; y + AWAY < h; y += step)
		count_row(reading, in, y, &counts);
	if (levels)
		altered->levels = warn_levels(&counts);
	if (bare)
		altered->turned = warn_turned(&counts);
}
