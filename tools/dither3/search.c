#include "search.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "dither3.px.h"

#define SEARCH_SWEEPS 16

static int
seen_start(struct seen *seen, const struct search *search, double sigma, bool flat, float weight)
{
	size_t n = (2 * search->reach + 1) * search->width;

	dither_kernel(sigma, search->reach, search->width, flat, seen->kernel);
	seen->square = 0;
	seen->weight = weight;
	for (size_t i = 0; i < n; i++)
		seen->square += seen->kernel[i] * seen->kernel[i];
	seen->error = calloc(search->h + 2 * search->reach, search->stride * sizeof(float));
	return seen->error ? 0 : fail_memory();
}

void
search_end(struct search *search)
{
	free(search->tangential.error);
	free(search->radial.error);
	free(search->inside);
}

int
search_start(struct search *search, size_t w, size_t h, double sigma, const unsigned char *black)
{
	size_t reach = dither_reach(sigma);

	memset(search, 0, sizeof(*search));
	search->w = w;
	search->h = h;
	search->reach = reach;
	search->width = (2 * reach + SEARCH_LANES) / SEARCH_LANES * SEARCH_LANES;
	search->stride = w + 2 * reach + SEARCH_LANES;
	search->black = black;
	search->inside = calloc(h + 2 * reach, search->stride * sizeof(float));
	if (!search->inside)
		return fail_memory();
	for (size_t i = 0; i < w * h; i++)
		search->inside[(i / w + reach) * search->stride + i % w + reach] = !black[i];
	return 0;
}

/* The kernel, at pixel (x, y), times the errors around. */
static float
look(const struct search *search, const struct seen *seen, size_t x, size_t y)
{
	float lane[SEARCH_LANES] = { 0 };

	for (size_t dy = 0; dy <= 2 * search->reach; dy++) {
		const float *restrict error = seen->error + (y + dy) * search->stride + x;
		const float *restrict kernel = seen->kernel + dy * search->width;

		for (size_t k = 0; k < search->width; k += SEARCH_LANES)
			CPU_SIMD
			for (size_t i = 0; i < SEARCH_LANES; i++)
				lane[i] += error[k + i] * kernel[k + i];
	}
	return ((lane[0] + lane[4]) + (lane[1] + lane[5])) +
	    ((lane[2] + lane[6]) + (lane[3] + lane[7]));
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

/* ---- the fringes: R and G together ---- */

/* What turning over a bit costs: the more bits are as in a pattern, the smaller the file. */
static float
price(const struct search *search, const unsigned char *pattern, unsigned char bit, size_t i)
{
	if (!pattern)
		return 0;
	return pattern[i] == bit ? search->price : -search->price;
}

/* Turns over the bits of a pixel as is best; true if any. */
static bool
try_fringes(struct search *search, const struct fringes *fringes, size_t x, size_t y)
{
	size_t i = y * search->w + x;
	float tangential = look(search, &search->tangential, x, y);
	float radial = look(search, &search->radial, x, y);
	float least = -1e-7f, by[2] = { 0, 0 };
	int best = 0;

	for (int which = 1; which < 4; which++) {
		float red = which & 1 ? (fringes->red[i] ? -1.0f : 1.0f) : 0.0f;
		float green = which & 2 ? (fringes->green[i] ? -1.0f : 1.0f) : 0.0f;
		float t = dither3_tangential(red, green, fringes->cosine[i], fringes->sine[i]);
		float r = dither3_radial(red, green, fringes->cosine[i], fringes->sine[i]);
		float all = cost(&search->tangential, tangential, t) +
		    cost(&search->radial, radial, r);

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

int
search_fringes(struct search *search, const struct fringes *fringes, double sigma)
{
	bool going = true;

	if (seen_start(&search->tangential, search, sigma, true, 1) < 0 ||
	    seen_start(&search->radial, search, 0.6 * sigma, false, 0.05f) < 0)
		return -1;
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
	for (int sweep = 0; going && sweep < SEARCH_SWEEPS; sweep++) {
		going = false;
		for (size_t i = 0; i < search->w * search->h; i++)
			if (!search->black[i])
				going |= try_fringes(search, fringes, i % search->w, i / search->w);
	}
	return 0;
}

/* ---- the stair by itself ---- */

int
search_stair(struct search *search, const float *share, unsigned char *bit,
    const unsigned char *pattern, double sigma)
{
	struct seen *seen = &search->tangential;
	bool going = true;

	if (seen_start(seen, search, sigma, false, 1) < 0)
		return -1;
	for (size_t i = 0; i < search->w * search->h; i++)
		if (!search->black[i])
			change(search, seen, i % search->w, i / search->w, bit[i] - share[i]);
	for (int sweep = 0; going && sweep < SEARCH_SWEEPS; sweep++) {
		going = false;
		for (size_t i = 0; i < search->w * search->h; i++) {
			float by = bit[i] ? -1.0f : 1.0f;

			float all;

			if (search->black[i])
				continue;
			all = cost(seen, look(search, seen, i % search->w, i / search->w), by);
			if (!(all + price(search, pattern, bit[i], i) < -1e-7f))
				continue;
			bit[i] ^= 1;
			change(search, seen, i % search->w, i / search->w, by);
			going = true;
		}
	}
	return 0;
}
