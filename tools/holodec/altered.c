#include "altered.h"

#include <math.h>

#include "base/cpu_level.h"
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

/* Rows that tell of one pixel: y - AWAY, y - 1, y, y + 1 and y + AWAY. */
enum { FAR_ABOVE, ABOVE, HERE, BELOW, FAR_BELOW, PIECE };

/* What is found of pixels of a row, in a loop for each. */
struct piece {
	float sine[PIECE][TILE], cosine[PIECE][TILE];
	float rest[PIECE][TILE];	/* of ABOVE, HERE and BELOW */
	float along[TILE], down[TILE];	/* turns from the pixel before to the one behind */
	double radius[TILE];
	int32_t black[TILE], flat[TILE];
};

static void
find_rests(const float *restrict sine, const float *restrict cosine, float *restrict rest, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		rest[i] = holo_rest(sine[i] - 127.5f, cosine[i] - 127.5f);
}

static void
find_black(struct piece *piece, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		piece->black[i] = holodec_black(piece->sine[HERE][i], piece->cosine[HERE][i]);
}

/* Turns from one pixel to the one two farther. */
PX_FN float
difference(float from, float to)
{
	return to - from - px_round(to - from);
}

/* n pixels from the ith on, which has AWAY others before it and they behind them. */
static void
find_steps(struct piece *piece, size_t i, size_t n)
{
	const float *here = piece->rest[HERE] + i, *sine = piece->sine[HERE] + i;
	const float *above = piece->rest[ABOVE] + i, *below = piece->rest[BELOW] + i;
	const float *cosine = piece->cosine[HERE] + i;
	float *along = piece->along + i, *down = piece->down + i;
	double *radius = piece->radius + i;

	CPU_SIMD
	for (size_t k = 0; k < n; k++) {
		along[k] = difference(here[k - 1], here[k + 1]);
		down[k] = difference(above[k], below[k]);
	}
	CPU_SIMD
	for (size_t k = 0; k < n; k++) {
		float a = sine[k] - 127.5f, b = cosine[k] - 127.5f;

		radius[k] = sqrt((double)(a * a + b * b));
	}
}

/* Is any of the pixels around that tell of the ith, or itself, background? */
static inline bool
is_near_black(const struct piece *piece, size_t i)
{
	const int32_t *black = piece->black + i;
	int32_t near = black[-3] | black[-2] | black[-1] | black[0] | black[1] | black[2] |
	    black[3];

	for (int row = 0; row < PIECE; row++)
		near |= holodec_black(piece->sine[row][i], piece->cosine[row][i]);
	return near;
}

_Static_assert(AWAY == 3, "is_near_black() looks at three pixels before and behind");

static void
count_steps(struct piece *piece, size_t first, size_t n, struct counts *counts)
{
	uint points = 0, falls = 0, across = 0;

	_Pragma("omp simd reduction(+:points, falls, across)")
	for (size_t i = first; i < first + n; i++) {
		float along = px_abs(piece->along[i]), down = px_abs(piece->down[i]);
		bool smooth = (along <= 2 * SMOOTH) & (down <= 2 * SMOOTH);
		uint is = (uint)(smooth & !is_near_black(piece, i));

		points += is;
		falls += is & (uint)(piece->along[i] < 0);
		across += is & (uint)(down > along);
		piece->flat[i] = is & (uint)(along <= 2 * FRINGE_CIRCLE_FLAT) &
		    (uint)(down <= 2 * FRINGE_CIRCLE_FLAT);
	}
	counts->points += points;
	counts->falls += falls;
	counts->across += across;
}

static void
count_radii(const struct piece *piece, size_t first, size_t n, struct counts *counts)
{
	for (size_t i = first; i < first + n; i++) {
		if (piece->flat[i])
			fringe_circle_count(&counts->circle, piece->rest[HERE][i],
			    piece->radius[i]);
	}
}

static void
count_row(const struct reading *reading, const struct frame *in, size_t y, struct piece *piece,
    struct counts *counts)
{
	static const int row[PIECE] = { -AWAY, -1, 0, 1, AWAY };

	for (size_t x = 0; x < in->head.w; x += TILE) {
		size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;

		if (n <= 2 * AWAY)
			continue;
		for (int k = 0; k < PIECE; k++) {
			size_t at = y + (size_t)row[k];

			tile_load_samples(in, reading->channel[0], at, x, n, piece->sine[k]);
			tile_load_samples(in, reading->channel[1], at, x, n, piece->cosine[k]);
		}
		for (int k = ABOVE; k <= BELOW; k++)
			find_rests(piece->sine[k], piece->cosine[k], piece->rest[k], n);
		find_black(piece, n);
		find_steps(piece, AWAY, n - 2 * AWAY);
		count_steps(piece, AWAY, n - 2 * AWAY, counts);
		count_radii(piece, AWAY, n - 2 * AWAY, counts);
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
	struct piece piece;
	size_t h = in->head.h, step = h / ROWS_LEAST;
	bool bare = !meta_get(&in->head.meta, "holo_check");

	levels &= in->head.type == SAMPLE_UCHAR && !altered->levels;
	bare &= !altered->turned;
	if (!levels && !bare)
		return;
	step = step < 1 ? 1 : step > STEP_MOST ? STEP_MOST : step;
	for (size_t y = AWAY; y + AWAY < h; y += step)
		count_row(reading, in, y, &piece, &counts);
	if (levels)
		altered->levels = fringe_circle_warn(&counts.circle);
	if (bare)
		altered->turned = warn_turned(&counts);
}
