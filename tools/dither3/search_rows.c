/*
 * Direct binary search: bits are turned over where that makes smaller the error that the decoder
 * will see, until nothing changes (after Analoui and Allebach 1992, who measure the error through
 * the filter of the eye; here the filter is the decoder's, and of the two fringes only the error
 * that turns the phase counts fully). search.c sets up what is searched.
 */
#include "dither3.h"

#include "base/px.h"
#include "dither3.px.h"

/* ---- what the search starts from ---- */

#define STILL_SHARE (8 / 255.0f)	/* of a level: camera noise, a fiftieth of a fringe */

static void
take_previous(const struct previous_frame *previous, float *const share[3],
    const unsigned char *black, unsigned char *const bit[3], size_t w, size_t h)
{
	if (previous->w != w || previous->h != h)
		return;
	for (size_t i = 0; i < w * h; i++) {
		bool still = !black[i];

		for (int c = 0; c < 3; c++)
			still = still && px_abs(share[c][i] - previous->share[c][i]) <= STILL_SHARE;
		for (int c = 0; c < 3 && still; c++)
			bit[c][i] = previous->bit[c][i];
	}
}

/* Marks what counts: pixels of the picture that are no background. */
static void
fill_inside(struct search *search)
{
	size_t w = search->w, reach = search->reach;

	for (size_t i = 0; i < w * search->h; i++)
		search->inside[(i / w + reach) * search->stride + i % w + reach] =
		    !search->black[i];
}

/* ---- errors, seen through a kernel ---- */

#define AHEAD 4			/* pixels of a row that are looked at together */

typedef float lanes __attribute__((vector_size(SEARCH_LANES * sizeof(float))));

/* The kernel, at n pixels from (x, y) on, times the errors around; called with constants. The sums
 * of one pixel wait for each other, those of several do not. */
static inline __attribute__((always_inline)) void
look_n(const struct search *search, const struct seen *seen, size_t x, size_t y, size_t n,
    float *restrict looked)
{
	lanes sum[AHEAD] = { { 0 } };

	for (size_t dy = 0; dy <= 2 * search->reach; dy++) {
		const float *restrict error = seen->error + (y + dy) * search->stride + x;
		const float *restrict kernel = seen->kernel + dy * search->width;

		for (size_t k = 0; k < search->width; k += SEARCH_LANES)
			for (size_t i = 0; i < n; i++) {
				lanes e, weight;

				memcpy(&e, error + k + i, sizeof(e));
				memcpy(&weight, kernel + k, sizeof(weight));
				sum[i] += e * weight;
			}
	}
	for (size_t i = 0; i < n; i++)
		looked[i] = ((sum[i][0] + sum[i][4]) + (sum[i][1] + sum[i][5])) +
		    ((sum[i][2] + sum[i][6]) + (sum[i][3] + sum[i][7]));
}

static void
look(const struct search *search, const struct seen *seen, size_t x, size_t y, size_t n,
    float *looked)
{
	if (n == AHEAD)
		look_n(search, seen, x, y, AHEAD, looked);
	else
		for (size_t i = 0; i < n; i++)
			look_n(search, seen, x + i, y, 1, looked + i);
}

/* A pixel's part changes: so do the errors around that count. */
static void
change(const struct search *search, struct seen *seen, size_t x, size_t y, float by)
{
	for (size_t dy = 0; dy <= 2 * search->reach; dy++) {
		size_t at = (y + dy) * search->stride + x;
		float *restrict error = seen->error + at;
		const float *restrict kernel = seen->kernel + dy * search->width;
		const float *restrict inside = search->inside + at;

		CPU_SIMD
		for (size_t i = 0; i < search->width; i++)
			error[i] += by * kernel[i] * inside[i];
	}
}

/* The cost of a change, divided out of it. */
static float
cost(const struct seen *seen, float looked, float by)
{
	return seen->weight * by * (2 * looked + by * seen->square);
}

/* What turning over a bit costs: the more bits are as in a pattern, the smaller the file. */
static float
price(const struct search *search, const unsigned char *pattern, unsigned char bit, size_t i)
{
	if (!pattern)
		return 0;
	return pattern[i] == bit ? search->price : -search->price;
}

/* ---- sweeps: pixel by pixel, until no bit is turned over ---- */

#define SWEEPS_MOST 16

/* What is searched, and how. */
struct sweeping {
	struct search *search;
	const struct fringes *fringes;	/* NULL: the stair */
	unsigned char *stair;
	const unsigned char *pattern;
};

/* Notes which tiles have pixels that look at what a pixel's change reaches. */
static void
note_turned(struct search *search, size_t x, size_t y)
{
	size_t far = 2 * search->reach, right = x + far < search->w ? x + far : search->w - 1;
	size_t low = y + far < search->h ? y + far : search->h - 1;
	size_t left = (x > far ? x - far : 0) / SEARCH_TILE;

	for (size_t ty = (y > far ? y - far : 0) / SEARCH_TILE; ty <= low / SEARCH_TILE; ty++)
		memset(search->turned[0] + ty * search->across + left, 1,
		    right / SEARCH_TILE - left + 1);
}

/* Turns over the bits of a pixel as is best; true if any. looked: tangential, radial. */
static bool
try_fringes(struct search *search, const struct fringes *fringes, size_t x, size_t y,
    const float looked[2])
{
	size_t i = y * search->w + x;
	float least = -1e-7f, by[2] = { 0, 0 };
	int best = 0;

	for (int which = 1; which < 4; which++) {
		float red = which & 1 ? (fringes->red[i] ? -1.0f : 1.0f) : 0.0f;
		float green = which & 2 ? (fringes->green[i] ? -1.0f : 1.0f) : 0.0f;
		float t = dither3_tangential(red, green, fringes->cosine[i], fringes->sine[i]);
		float r = dither3_radial(red, green, fringes->cosine[i], fringes->sine[i]);
		float all = cost(&search->tangential, looked[0], t) +
		    cost(&search->radial, looked[1], r);

		if (which & 1)
			all += price(search, fringes->pattern[0], fringes->red[i], i);
		if (which & 2)
			all += price(search, fringes->pattern[1], fringes->green[i], i);

		if (all < least) {
			least = all;
			best = which;
			by[0] = t;
			by[1] = r;
		}
	}
	if (!best)
		return false;
	fringes->red[i] ^= best & 1;
	fringes->green[i] ^= best >> 1;
	change(search, &search->tangential, x, y, by[0]);
	change(search, &search->radial, x, y, by[1]);
	return true;
}

static bool
try_stair(const struct sweeping *sweeping, size_t x, size_t y, float looked)
{
	struct search *search = sweeping->search;
	size_t i = y * search->w + x;
	unsigned char *bit = sweeping->stair;
	float by = bit[i] ? -1.0f : 1.0f, all = cost(&search->tangential, looked, by);

	if (!(all + price(search, sweeping->pattern, bit[i], i) < -1e-7f))
		return false;
	bit[i] ^= 1;
	change(search, &search->tangential, x, y, by);
	return true;
}

/* Tries n pixels of a row, up to the first whose bits are turned over: those behind it must be
 * looked at anew. How many were tried; *turned: the last one was. */
static size_t
try_pixels(const struct sweeping *sweeping, size_t x, size_t y, size_t n, bool *turned)
{
	struct search *search = sweeping->search;
	float tangential[AHEAD], radial[AHEAD];

	look(search, &search->tangential, x, y, n, tangential);
	if (sweeping->fringes)
		look(search, &search->radial, x, y, n, radial);
	*turned = false;
	for (size_t i = 0; i < n; i++) {
		if (search->black[y * search->w + x + i])
			continue;
		*turned = sweeping->fringes ? try_fringes(search, sweeping->fringes, x + i, y,
		    (float[2]){ tangential[i], radial[i] }) :
		    try_stair(sweeping, x + i, y, tangential[i]);
		if (*turned) {
			note_turned(search, x + i, y);
			return i + 1;
		}
	}
	return n;
}

/* A row of pixels, but those that see what they have seen when they were tried last. Several are
 * looked at ahead where bits are seldom turned over. True if any is. */
static bool
sweep_row(const struct sweeping *sweeping, size_t y)
{
	struct search *search = sweeping->search;
	size_t first = y / SEARCH_TILE * search->across, ahead = 1;
	bool any = false, turned;

	for (size_t x = 0; x < search->w;) {
		size_t tile = first + x / SEARCH_TILE;

		if (!search->turned[0][tile] && !search->turned[1][tile]) {
			x = (x / SEARCH_TILE + 1) * SEARCH_TILE;
			continue;
		}
		if (search->black[y * search->w + x]) {
			x++;
			continue;
		}
		x += try_pixels(sweeping, x, y, x + ahead <= search->w ? ahead : 1, &turned);
		ahead = turned ? 1 : AHEAD;
		any |= turned;
	}
	return any;
}

static void
sweep(const struct sweeping *sweeping)
{
	struct search *search = sweeping->search;
	bool going = true;

	memset(search->turned[1], 1, search->tiles);
	for (int i = 0; going && i < SWEEPS_MOST; i++) {
		going = false;
		memset(search->turned[0], 0, search->tiles);
		for (size_t y = 0; y < search->h; y++)
			going |= sweep_row(sweeping, y);
		memcpy(search->turned[1], search->turned[0], search->tiles);
	}
}

static void
turn_fringes(struct search *search, const struct fringes *fringes)
{
	for (size_t i = 0; i < search->w * search->h; i++) {
		float red = fringes->red[i] - 0.5f, green = fringes->green[i] - 0.5f;
		float c = fringes->cosine[i], s = fringes->sine[i];

		if (search->black[i])
			continue;
		change(search, &search->tangential, i % search->w, i / search->w,
		    dither3_tangential(red, green, c, s));
		change(search, &search->radial, i % search->w, i / search->w,
		    dither3_radial(red, green, c, s) - 0.5f);
	}
	sweep(&(struct sweeping){ .search = search, .fringes = fringes });
}

static void
turn_stair(struct search *search, const float *share, unsigned char *bit,
    const unsigned char *pattern)
{
	for (size_t i = 0; i < search->w * search->h; i++)
		if (!search->black[i])
			change(search, &search->tangential, i % search->w, i / search->w,
			    bit[i] - share[i]);
	sweep(&(struct sweeping){ .search = search, .stair = bit, .pattern = pattern });
}

const struct search_rows AT_LEVEL(search_rows) = {
	.take_previous = take_previous,
	.fill_inside = fill_inside,
	.turn_fringes = turn_fringes,
	.turn_stair = turn_stair,
};
