/* What a picture looks like: is it a Holoimage, and has a lossy format been at it? */
#ifndef HOLODEC_LOOKS_H
#define HOLODEC_LOOKS_H

#include "rows.h"

/* What a row of a picture looks like, in pixels. */
struct looks {
	size_t pixels, points; /* points: not black */
	size_t inexact;        /* as no encoder makes them */
	size_t off_circle;     /* points far from the circle of fringes */
	size_t coloured;       /* R, G, B not all equal */
	size_t off_stair;      /* points whose stair is far from any */
	size_t outside;        /* points whose depth is outside of the cube */
};

#define LOOKS_SIMD                                                                                 \
	_Pragma("omp simd reduction(+:points, inexact, off_circle, coloured, off_stair, outside)")

static void
look(const struct tile *restrict tile, const float *restrict depth, size_t n, struct looks *looks)
{
	int points = 0, inexact = 0, off_circle = 0, coloured = 0, off_stair = 0, outside = 0;

	LOOKS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F r = tile->sine[i + MARGIN], g = tile->cosine[i + MARGIN];
		PX_F b = tile->stair[i + MARGIN], order = tile->order[i + MARGIN];
		PX_F off = holodec_off_circle(r - 127.5f, g - 127.5f);
		int point = r + g >= HOLO_BLACK, clean = r == 0.0f && g == 0.0f && b == 0.0f;

		points += point;
		inexact += point ? off > 1.0f : !clean;
		off_circle += point & (off > 25.5f);
		coloured += r != g || g != b;
		off_stair += point & (px_abs(order - px_round(order)) > 0.25f);
		outside += point & px_isnan(depth[i]);
	}
	looks->pixels += n;
	looks->points += (size_t)points;
	looks->inexact += (size_t)inexact;
	looks->off_circle += (size_t)off_circle;
	looks->coloured += (size_t)coloured;
	looks->off_stair += (size_t)off_stair;
	looks->outside += (size_t)outside;
}

static double
percent(size_t part, size_t of)
{
	return of ? 100 * (double)part / (double)of : 0;
}

/* Is the picture as an encoder made it? Of single damaged pixels no lossy format is guilty. */
static bool
looks_exact(const struct looks *looks)
{
	return percent(looks->inexact, looks->pixels) <= 0.1;
}

/* A picture that is something else must not become a surface. Measured: a JPEG of quality 50 and
 * colour 420 has 3 % off the circle and 5 % outside; one with two channels exchanged 50 and 70 %.
 */
static int
check_looks(const struct looks *looks, bool blurred, bool filtered)
{
	bool exact = looks_exact(looks);
	/* a Gaussian over a dithered picture leaves 20 % and more so far off */
	int off_most = filtered || blurred ? 40 : 15;

	if (looks->points && !looks->coloured)
		return fail(NULL, "the picture is grey: a Holoimage has fringes in colour");
	if (percent(looks->off_circle, looks->points) > off_most)
		return fail(NULL,
		    "the picture is no Holoimage: red and green are no fringes in %.0f %% of it",
		    percent(looks->off_circle, looks->points));
	if (exact && !blurred && percent(looks->off_stair, looks->points) > 10)
		return fail(NULL,
		    "the stairs are not those of the picture in %.0f %% of it: wrong --stair, "
		    "--stair-height, --stair-turns or --layout?",
		    percent(looks->off_stair, looks->points));
	if (percent(looks->outside, looks->points) > (exact ? 10 : 15))
		return fail(NULL,
		    "%.0f %% of the picture decode to depths outside of the range: wrong --pitch "
		    "or --theta?",
		    percent(looks->outside, looks->points));
	return 0;
}

#endif
