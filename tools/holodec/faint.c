#include "faint.h"

#include <string.h>

#include "base/cpu_level.h"
#include "dark.h"
#include "expected.h"
#include "holo/bits.h"
#include "holodec.px.h"

/* Measured on eight views of two scans, a plate and a relief, and held against eight other views,
 * four objects and frames of a depth camera. Luma of the background beside a surface reaches 44 at
 * JPEG quality 75; below that a pixel must have nearly the luma that the surface would have there,
 * above it more than half: nearer to the surface's than to black. */
#define LUMA_MOST 45.0f
#define LUMA_SHARE 0.9f
#define NEARER 0.5f
/* In the layout yuv luma is the stair alone; where it is less than LUMA_SHARE_STAIR of the
 * surface's, and on the lowest stair, which luma does not tell from black, the fringes must have
 * such a share of the surface's, too. */
#define LUMA_SHARE_STAIR 0.77f
#define LOWEST 4.0f		/* levels */
#define FRINGE_SHARE 0.65f
#define FRINGE_SHARE_LOWEST NEARER
/* At coarser steps of luma than quality 75's (quantised.h), each step of which reaches farther into
 * the background: up to which luma, and of how much more of the surface's, a pixel is asked. */
#define LUMA_PER_STEP 7.5f
#define SHARE_PER_STEP 0.03f
#define FRINGE_PER_STEP 0.06f
#define DEEP 2			/* pixels: the nearest ones have some of the background's black */

/* What a pixel is: none that is certain, of the surface, or background as it was read. */
enum { UNSURE, SURFACE, OUTSIDE };

/* Of each pixel. */
static unsigned char *
kind_of(const struct growing *growing)
{
	return growing->state + growing->regions->w * growing->regions->h;
}

static void
kind_block(void *arg, size_t i)
{
	const struct growing *growing = arg;
	const struct regions *regions = growing->regions;
	size_t first = regions->block[i].y0 * regions->w, end = regions->block[i].y1 * regions->w;
	const float *restrict certainty = regions->certainty;
	unsigned char *restrict kind = kind_of(growing);

	CPU_SIMD
	for (size_t k = first; k < end; k++)
		kind[k] = certainty[k] >= CERTAINTY_LEAST ? SURFACE
		    : certainty[k] >= 0			  ? UNSURE
							  : OUTSIDE;
}

static bool
is_surface(const struct growing *growing, ptrdiff_t at)
{
	return at >= 0 && kind_of(growing)[at] == SURFACE;
}

/* The turns of the surface here, by those of its pixels that are so many away, each carried on by a
 * straight line; *n of the *inside that lie in the picture are surface. */
static float
carried_turns(
    const struct growing *growing, const struct pixel *pixel, int away, int *n, int *inside)
{
	const float *turns = growing->turns;
	float carried[BITS_WAYS];

	*n = *inside = 0;
	for (int way = 0; way < BITS_WAYS; way++) {
		int dx = away * bits_way[way][0], dy = away * bits_way[way][1];
		ptrdiff_t near = growing_beside(growing, pixel, dx, dy), far;

		*inside += near >= 0;
		if (!is_surface(growing, near))
			continue;
		far = growing_beside(growing, pixel, 2 * dx, 2 * dy);
		carried[(*n)++] = bits_carry(
		    turns[near], is_surface(growing, far) ? turns[far] : PX_NAN);
	}
	return expected_median(carried, (size_t)*n);
}

/* The share of the surface's fringes that a pixel has, least squares of both samples. */
static float
fringe_share(const struct growing *growing, const struct pixel *pixel, const struct levels *surface)
{
	const size_t *channel = growing->reading->channel;
	float sine = dark_sample(growing->stored, channel[0], pixel);
	float cosine = dark_sample(growing->stored, channel[1], pixel);

	return (sine * surface->sine + cosine * surface->cosine) /
	    (surface->sine * surface->sine + surface->cosine * surface->cosine);
}

/* What a pixel of the surface would have, by the turns that its neighbours give; of a coarse
 * picture in the layout rgb no darker, in yuv rather, what those farther inside give. */
static struct levels
surface_levels(const struct growing *growing, const struct pixel *pixel, float turns)
{
	struct levels levels = expected_levels(growing->reading, turns), deep;
	int n, inside;

	if (!(growing->coarser > 0))
		return levels;
	turns = carried_turns(growing, pixel, DEEP, &n, &inside);
	if (!n)
		return levels;
	deep = expected_levels(growing->reading, turns);
	return growing->reading->rgb && deep.luma < levels.luma ? levels : deep;
}

static bool
is_faint(const struct growing *growing, const struct pixel *pixel)
{
	struct levels surface;
	int n, inside;
	float turns = carried_turns(growing, pixel, 1, &n, &inside), luma, more, most;

	if (4 * n <= inside)
		return true;
	surface = surface_levels(growing, pixel, turns);
	luma = dark_luma(growing, pixel);
	more = px_max(growing->coarser, 0);
	most = LUMA_MOST + LUMA_PER_STEP * more;
	if (growing->reading->rgb)
		return luma < surface.luma *
		    (luma < most ? LUMA_SHARE + SHARE_PER_STEP * more : NEARER);
	more *= FRINGE_PER_STEP;
	if (surface.luma < LOWEST)
		return fringe_share(growing, pixel, &surface) < FRINGE_SHARE_LOWEST;
	return luma < most && luma < LUMA_SHARE_STAIR * surface.luma &&
	    fringe_share(growing, pixel, &surface) < FRINGE_SHARE + more;
}

static inline unsigned char
is_boundary(const unsigned char *above, const unsigned char *row, const unsigned char *below,
    size_t left, size_t x, size_t right)
{
	unsigned char beside = above[left] | above[x] | above[right] | row[left] | row[right] |
	    below[left] | below[x] | below[right];

	return (row[x] == SURFACE) & ((beside & OUTSIDE) != 0);
}

/* Marks those of n pixels of a row of kinds that are surface and have background beside them.
 * Beyond the ends of a row, and above and below the picture, a pixel counts as its own
 * neighbour. */
static void
mark_boundary(const unsigned char *restrict above, const unsigned char *restrict row,
    const unsigned char *restrict below, unsigned char *restrict mark, size_t n)
{
	CPU_SIMD
	for (size_t x = 1; x < n - 1; x++)
		mark[x] = is_boundary(above, row, below, x - 1, x, x + 1);
	mark[0] = is_boundary(above, row, below, 0, 0, n > 1);
	mark[n - 1] = is_boundary(above, row, below, n > 1 ? n - 2 : 0, n - 1, n - 1);
}

static void
faint_block(void *arg, size_t i)
{
	const struct growing *growing = arg;
	struct regions *regions = growing->regions;
	size_t w = regions->w, h = regions->h;
	const unsigned char *kind = kind_of(growing);

	for (size_t y = regions->block[i].y0; y < regions->block[i].y1; y++) {
		unsigned char *mark = regions->block[i].class, *next = mark;
		const unsigned char *row = kind + y * w;

		mark_boundary(
		    y ? row - w : row, row, y + 1 < h ? row + w : row, mark, w);
		while ((next = memchr(next, 1, w - (size_t)(next - mark))) != NULL) {
			struct pixel pixel = { .x = (int32_t)(next++ - mark), .y = (int32_t)y };

			pixel.at = (int32_t)(y * w) + pixel.x;
			if (is_faint(growing, &pixel))
				regions->certainty[pixel.at] = 0;
		}
	}
}

void
faint_find(struct run *run, struct growing *growing)
{
	size_t blocks = growing->regions->blocks;

	run_for(run, blocks, kind_block, growing);
	run_for(run, blocks, faint_block, growing);
}
