#include "pixel_counts.h"

#include <math.h>

#include "decode.h"
#include "holodec.px.h"

#define ROW_STEP 8 /* one row of so many is counted */

/* Depths that lie so far outside of the cube no rounding makes: it moves phases by 0.002 turns. */
#define BEYOND_TURNS 0.02f

#define COUNTS_SIMD \
	_Pragma("omp simd reduction(+:points, inexact, off_level, off_circle, coloured) \
	    reduction(+:off_stair, outside, beyond)")

/* Pairs of levels nearest in angle lie up to 3.39 off the circle, and 0.0039 rad off the angle that
 * the stair was made of. Of levels each rounded by itself the circle tells enough. */
struct exact_limits
exact_limits(const struct holo *holo)
{
	struct holo_code code = holo_code(holo);
	bool angle = holo->rounding == HOLO_ANGLE;
	float far = (float)holo->low, near = (float)holo->high;

	return (struct exact_limits){ .circle = angle ? 3.4f : 1.0f,
		.stair = angle ? 0.6f + 0.004f * code.swing * code.waves : INFINITY,
		.stair_height = code.height,
		.middle = (far + near) / 2,
		.reach = (near - far) * (0.5f + BEYOND_TURNS / code.turns_per_depth) };
}

static void
pixel_counts_add(const struct tile *restrict tile, const float *restrict depth, size_t n,
    const struct exact_limits *limits, struct pixel_counts *counts)
{
	float circle = limits->circle, stair = limits->stair, height = limits->stair_height;
	float zero = 127.5f - limits->cut, middle = limits->middle, reach = limits->reach;
	int points = 0, inexact = 0, off_level = 0, off_circle = 0, coloured = 0;
	int off_stair = 0, outside = 0, beyond = 0;

	COUNTS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F r = tile->sine[i + MARGIN], g = tile->cosine[i + MARGIN];
		PX_F b = tile->stair[i + MARGIN], order = tile->order[i + MARGIN];
		PX_F off = holodec_off_circle(r - zero, g - zero);
		PX_F stair_off = px_abs(order - px_round(order));
		int point = r + g >= HOLO_BLACK, clean = r == 0.0f && g == 0.0f && b == 0.0f;

		points += point;
		inexact += point ? off > circle : !clean;
		off_level += point & (stair_off * height > stair);
		off_circle += point & (off > 25.5f);
		coloured += r != g || g != b;
		off_stair += point & (stair_off > 0.25f);
		outside += point & px_isnan(depth[i]);
		beyond += point & !(px_abs(depth[i] - middle) <= reach);
	}
	counts->pixels += n;
	counts->points += (size_t)points;
	counts->inexact += (size_t)inexact;
	counts->off_level += (size_t)off_level;
	counts->off_circle += (size_t)off_circle;
	counts->coloured += (size_t)coloured;
	counts->off_stair += (size_t)off_stair;
	counts->outside += (size_t)outside;
	counts->beyond += (size_t)beyond;
}

struct pixel_counts
pixel_counts_take(
    const struct reading *reading, const struct frame *in, const struct exact_limits *limits)
{
	struct pixel_counts counts = { 0 };
	struct tile tile;
	float depth[TILE] __attribute__((aligned(64)));

	for (size_t y = 0; y < in->head.h; y += ROW_STEP)
		for (size_t x = 0; x < in->head.w; x += TILE) {
			size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;

			decode_nearest(reading, in, y, x, n, &tile, depth);
			pixel_counts_add(&tile, depth, n, limits, &counts);
		}
	return counts;
}

static double
percent(size_t part, size_t of)
{
	return of ? 100 * (double)part / (double)of : 0;
}

bool
pixel_counts_circle(const struct pixel_counts *counts)
{
	return percent(counts->inexact, counts->pixels) <= 0.1;
}

bool
pixel_counts_stairs(const struct pixel_counts *counts)
{
	return percent(counts->off_stair, counts->points) <= 10;
}

bool
pixel_counts_exact(const struct pixel_counts *counts)
{
	return percent(counts->inexact + counts->off_level, counts->pixels) <= 0.1;
}

/* A picture that is something else must not become a surface. Measured: a JPEG of quality 50 and
 * colour 420 has 3 % off the circle and 5 % outside; one with two channels exchanged 50 and 70 %.
 */
int
pixel_counts_check(const struct pixel_counts *counts, bool blurred, bool filtered)
{
	bool exact = pixel_counts_exact(counts);
	/* a Gaussian over a dithered picture leaves 20 % and more so far off */
	int off_most = filtered || blurred ? 40 : 15;

	if (counts->points && !counts->coloured)
		return fail(NULL, "the picture is grey: a Holoimage has fringes in colour");
	if (percent(counts->off_circle, counts->points) > off_most)
		return fail(NULL,
		    "the picture is no Holoimage: red and green are no fringes in %.0f %% of it",
		    percent(counts->off_circle, counts->points));
	if (pixel_counts_circle(counts) && !blurred && !pixel_counts_stairs(counts))
		return fail(NULL,
		    "the stairs are not those of the picture in %.0f %% of it: wrong --stair, "
		    "--stair-height, --stair-turns or --layout?",
		    percent(counts->off_stair, counts->points));
	if (percent(counts->outside, counts->points) > (exact ? 10 : 15))
		return fail(NULL,
		    "%.0f %% of the picture decode to depths outside of the range: wrong --pitch "
		    "or --theta?",
		    percent(counts->outside, counts->points));
	return 0;
}
