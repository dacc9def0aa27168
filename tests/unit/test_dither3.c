/* dither3's search, which passes over pixels that see what they have seen before and looks at
 * several together, gives the same bits as one that tries every pixel by itself in every sweep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/dither3/dither3.h"
#include "../../tools/dither3/dither3.px.h"
#include <cmocka.h>

#define SWEEPS 16
#define SIZE_MOST (90 * 70)

/* One error as it is seen, with a margin of `reach` on all sides, and lanes behind. */
struct plain_error {
	float kernel[SEARCH_KERNEL_MOST], *error, square, weight;
};

struct plain {
	size_t w, h, reach, width, stride;
	float cosine[SIZE_MOST], sine[SIZE_MOST], share[SIZE_MOST];
	unsigned char black[SIZE_MOST], red[SIZE_MOST], green[SIZE_MOST], stair[SIZE_MOST];
	unsigned char pattern[3][SIZE_MOST];
	struct plain_error plane[2];
};

static float
uniform(uint seed, uint i)
{
	return px_uniform(px_hash(px_hash(px_hash(seed) ^ i) ^ 13u));
}

/* A slanted wave, a bite of background out of it, and Bayer's bits. */
static void
fill(struct plain *picture, size_t w, size_t h)
{
	picture->w = w;
	picture->h = h;
	for (size_t i = 0; i < w * h; i++) {
		float x = (float)(i % w), y = (float)(i / w), turn = x / 23 + y / 51;
		float least = dither_bayer((uint)(i % w), (uint)(i / w), 3);

		picture->cosine[i] = px_cos(6.2831853f * turn);
		picture->sine[i] = px_sin(6.2831853f * turn);
		picture->share[i] = 0.5f + 0.4f * px_sin(turn) + 0.1f * uniform(1, (uint)i);
		picture->black[i] = (x - 30) * (x - 30) + (y - 9) * (y - 9) < 64;
		picture->red[i] = !picture->black[i] && 0.5f + 0.5f * picture->sine[i] >= least;
		picture->green[i] = !picture->black[i] && 0.5f + 0.5f * picture->cosine[i] >= least;
		picture->stair[i] = !picture->black[i] && picture->share[i] >= least;
		picture->pattern[0][i] = picture->red[i];
		picture->pattern[1][i] = picture->green[i];
		picture->pattern[2][i] = picture->stair[i];
	}
}

static void
begin(struct plain *picture, struct plain_error *plane, double sigma, bool flat, float weight)
{
	dither_kernel(sigma, picture->reach, picture->width, flat, plane->kernel);
	plane->square = 0;
	plane->weight = weight;
	for (size_t i = 0; i < (2 * picture->reach + 1) * picture->width; i++)
		plane->square += plane->kernel[i] * plane->kernel[i];
	plane->error = calloc(picture->h + 2 * picture->reach,
	    picture->stride * sizeof(*plane->error));
	assert_non_null(plane->error);
}

static bool
counts(const struct plain *picture, size_t x, size_t y)
{
	return x >= picture->reach && y >= picture->reach && x < picture->w + picture->reach &&
	    y < picture->h + picture->reach &&
	    !picture->black[(y - picture->reach) * picture->w + x - picture->reach];
}

static void
change(const struct plain *picture, struct plain_error *plane, size_t i, float by)
{
	for (size_t dy = 0; dy <= 2 * picture->reach; dy++)
		for (size_t dx = 0; dx < picture->width; dx++) {
			size_t x = i % picture->w + dx, y = i / picture->w + dy;

			if (counts(picture, x, y))
				plane->error[y * picture->stride + x] +=
				    by * plane->kernel[dy * picture->width + dx];
		}
}

/* Sums of floats keep the order of the tool's: eight of them, and these in pairs. */
static float
look(const struct plain *picture, const struct plain_error *plane, size_t i)
{
	float sum[8] = { 0 };

	for (size_t dy = 0; dy <= 2 * picture->reach; dy++)
		for (size_t dx = 0; dx < picture->width; dx++)
			sum[dx % 8] += plane->error[(i / picture->w + dy) * picture->stride +
			    i % picture->w + dx] * plane->kernel[dy * picture->width + dx];
	return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

static float
cost(const struct plain_error *plane, float looked, float by)
{
	return plane->weight * by * (2 * looked + by * plane->square);
}

static float
price_of(float price, unsigned char pattern, unsigned char bit)
{
	return pattern == bit ? price : -price;
}

static bool
try_fringes(struct plain *picture, size_t i, float price)
{
	float looked[2] = { look(picture, &picture->plane[0], i),
		look(picture, &picture->plane[1], i) };
	float least = -1e-7f, by[2] = { 0, 0 };
	int best = 0;

	for (int which = 1; which < 4; which++) {
		float red = which & 1 ? (picture->red[i] ? -1.0f : 1.0f) : 0.0f;
		float green = which & 2 ? (picture->green[i] ? -1.0f : 1.0f) : 0.0f;
		float t = dither3_tangential(red, green, picture->cosine[i], picture->sine[i]);
		float r = dither3_radial(red, green, picture->cosine[i], picture->sine[i]);
		float all = cost(&picture->plane[0], looked[0], t) +
		    cost(&picture->plane[1], looked[1], r);

		if (which & 1)
			all += price_of(price, picture->pattern[0][i], picture->red[i]);
		if (which & 2)
			all += price_of(price, picture->pattern[1][i], picture->green[i]);
		if (all < least) {
			least = all;
			best = which;
			by[0] = t;
			by[1] = r;
		}
	}
	picture->red[i] ^= best & 1;
	picture->green[i] ^= best >> 1;
	for (int k = 0; k < 2 && best; k++)
		change(picture, &picture->plane[k], i, by[k]);
	return best != 0;
}

static bool
try_stair(struct plain *picture, size_t i, float price)
{
	float by = picture->stair[i] ? -1.0f : 1.0f;

	if (!(cost(&picture->plane[0], look(picture, &picture->plane[0], i), by) +
	    price_of(price, picture->pattern[2][i], picture->stair[i]) < -1e-7f))
		return false;
	picture->stair[i] ^= 1;
	change(picture, &picture->plane[0], i, by);
	return true;
}

/* The number of sweeps that turned any bit over. */
static int
sweep_all(struct plain *picture, float price, bool (*try)(struct plain *, size_t, float))
{
	bool any = true;
	int n = 0;

	while (any && n < SWEEPS) {
		any = false;
		for (size_t i = 0; i < picture->w * picture->h; i++)
			any |= !picture->black[i] && try(picture, i, price);
		n += any;
	}
	return n;
}

static int
search_plainly(struct plain *picture, double sigma, float price)
{
	int sweeps;

	begin(picture, &picture->plane[0], sigma, true, 1);
	begin(picture, &picture->plane[1], 0.6 * sigma, false, 0.05f);
	for (size_t i = 0; i < picture->w * picture->h; i++) {
		float red = picture->red[i] - 0.5f, green = picture->green[i] - 0.5f;

		if (picture->black[i])
			continue;
		change(picture, &picture->plane[0], i,
		    dither3_tangential(red, green, picture->cosine[i], picture->sine[i]));
		change(picture, &picture->plane[1], i,
		    dither3_radial(red, green, picture->cosine[i], picture->sine[i]) - 0.5f);
	}
	sweeps = sweep_all(picture, price, try_fringes);
	free(picture->plane[0].error);
	free(picture->plane[1].error);
	begin(picture, &picture->plane[0], sigma, false, 1);
	for (size_t i = 0; i < picture->w * picture->h; i++)
		if (!picture->black[i])
			change(picture, &picture->plane[0], i,
			    picture->stair[i] - picture->share[i]);
	sweep_all(picture, price, try_stair);
	free(picture->plane[0].error);
	return sweeps;
}

static void
search_both(size_t w, size_t h, double sigma, float price, int sweeps_least)
{
	struct plain *plain = calloc(2, sizeof(*plain)), *ours = plain + 1;
	const unsigned char *stair = ours->pattern[2];
	struct search search;
	struct fringes fringes = { ours->cosine, ours->sine, ours->red, ours->green,
		{ ours->pattern[0], ours->pattern[1] } };

	assert_non_null(plain);
	fill(plain, w, h);
	fill(ours, w, h);
	search_start(&search, w, h, sigma, ours->black);
	search.price = price;
	search_fringes(&search, &fringes, sigma);
	plain->reach = search.reach;
	plain->width = search.width;
	plain->stride = search.stride;
	search_end(&search);
	search_start(&search, w, h, sigma, ours->black);
	search.price = price;
	search_stair(&search, ours->share, ours->stair, stair, sigma);
	search_end(&search);
	assert_in_range(search_plainly(plain, sigma, price), sweeps_least, SWEEPS);
	assert_memory_equal(ours->red, plain->red, w * h);
	assert_memory_equal(ours->green, plain->green, w * h);
	assert_memory_equal(ours->stair, plain->stair, w * h);
	free(plain);
}

static void
as_every_pixel(void **state)
{
	(void)state;
	search_both(1, 1, 1, 0, 0);
	search_both(5, 7, 1, 0, 1);
	search_both(90, 70, 1.2, 0, 4);
	search_both(87, 41, 2.5, 0.01f, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(as_every_pixel) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
