#include "altered.h"

#include "base/fail.h"
#include "holo/fringe_circle.h"
#include "holodec.px.h"

#define ROWS_LEAST 64	/* are looked at, or all of fewer */
#define STEP_MOST 8	/* one row of so many, at most */
#define AWAY 3		/* pixels to the background, which lossy formats mix in */

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
	struct fringe_circle circle;
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

	if (px_abs(along) > 2 * SMOOTH || px_abs(down) > 2 * SMOOTH)
		return;
	counts->points++;
	counts->falls += along < 0;
	counts->across += px_abs(down) > px_abs(along);
	if (px_abs(along) <= 2 * FRINGE_CIRCLE_FLAT && px_abs(down) <= 2 * FRINGE_CIRCLE_FLAT)
		fringe_circle_add(&counts->circle, sine, cosine);
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

static bool
warn_turned(const struct counts *counts)
{
	double falls, across;

	if (counts->points < POINTS_LEAST)
		return false;
	falls = (double)counts->falls / (double)counts->points;
	across = (double)counts->across / (double)counts->points;
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
		altered->levels = fringe_circle_warn(&counts.circle);
	if (bare)
		altered->turned = warn_turned(&counts);
}
