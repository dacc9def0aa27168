/*
 * The search of a whole picture for the bits that decode best, near those of the frame before: its
 * memory, and the order of its steps. search_rows.c has the loops, and the source of the method.
 */
#include "dither3.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* ---- what is kept of a frame for the search of the next ---- */

/* Keeps a frame's levels, and memory for its bits once they are found. -1 after fail(). */
static int
held_keep_levels(struct held *next, float *const share[3], size_t w, size_t h)
{
	*next = (struct held){ .w = w, .h = h };
	for (int c = 0; c < 3; c++) {
		next->share[c] = malloc(w * h * sizeof(float));
		next->bit[c] = malloc(w * h);
		if (!next->share[c] || !next->bit[c])
			return fail_memory();
		memcpy(next->share[c], share[c], w * h * sizeof(float));
	}
	return 0;
}

void
held_free(struct held *held)
{
	for (int c = 0; c < 3; c++) {
		free(held->share[c]);
		free(held->bit[c]);
	}
	*held = (struct held){ 0 };
}

/* ---- memory of the search ---- */

/* An error that is seen through a kernel of this sigma, 0 at first. -1 after fail(). */
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
	free(search->turned[0]);
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
	search->across = (w + SEARCH_TILE - 1) / SEARCH_TILE;
	search->tiles = search->across * ((h + SEARCH_TILE - 1) / SEARCH_TILE);
	search->turned[0] = calloc(search->tiles + 1, 2);
	if (!search->inside || !search->turned[0])
		return fail_memory();
	search->turned[1] = search->turned[0] + search->tiles;
	search_rows()->fill_inside(search);
	return 0;
}

int
search_fringes(struct search *search, const struct fringes *fringes, double sigma)
{
	if (seen_start(&search->tangential, search, sigma, true, 1) < 0 ||
	    seen_start(&search->radial, search, 0.6 * sigma, false, 0.05f) < 0)
		return -1;
	search_rows()->turn_fringes(search, fringes);
	return 0;
}

int
search_stair(struct search *search, const float *share, unsigned char *bit,
    const unsigned char *pattern, double sigma)
{
	if (seen_start(&search->tangential, search, sigma, false, 1) < 0)
		return -1;
	search_rows()->turn_stair(search, share, bit, pattern);
	return 0;
}

/* ---- the search in a picture ---- */

#define STAIR_SIGMA 3.0		/* px; how the decoder averages the stair */

void
picture_end(struct picture *picture)
{
	for (size_t c = 0; c < 4; c++) {
		free(picture->share[c]);
		free(picture->bit[c]);
	}
	free(picture->black);
	free(picture->cosine);
	free(picture->sine);
	free(picture->start);
}

int
picture_start(struct picture *picture, const struct priv *priv, const struct frame *in)
{
	size_t w = in->head.w, h = in->head.h, n;

	*picture = (struct picture){ .w = w, .h = h };
	if (size_multiply(w, h, &n) < 0)
		return -1;
	picture->black = malloc(n);
	picture->cosine = calloc(n, sizeof(float));
	picture->sine = calloc(n, sizeof(float));
	picture->start = calloc(n, sizeof(float));
	if (!picture->black || !picture->cosine || !picture->sine || !picture->start)
		return fail_memory();
	for (size_t c = 0; c < 4; c++) {
		picture->share[c] = calloc(n, sizeof(float));
		picture->bit[c] = calloc(n, 1);
		if (!picture->share[c] || !picture->bit[c])
			return fail_memory();
	}
	dither3_rows()->load_picture(priv, in, picture);
	return 0;
}

/* Searches the fringes, then the stair. pattern: bits to stay near to, or NULLs. */
static int
search_planes(const struct priv *priv, struct picture *picture, unsigned char *const pattern[3])
{
	const struct fringes fringes = { picture->cosine, picture->sine, picture->bit[0],
		picture->bit[1], { pattern[0], pattern[1] } };
	double sigma = priv->keys.sigma_px;
	struct search search;
	int status = search_start(&search, picture->w, picture->h, sigma, picture->black);

	search.price = priv->price;
	if (status == 0)
		status = search_fringes(&search, &fringes, sigma);
	search_end(&search);
	if (status < 0)
		return -1;
	status = search_start(&search, picture->w, picture->h, STAIR_SIGMA, picture->black);
	search.price = priv->price;
	if (status == 0)
		status = search_stair(&search, picture->share[2], picture->bit[2], pattern[2],
		    STAIR_SIGMA);
	search_end(&search);
	return status;
}

int
picture_search(struct priv *priv, struct picture *picture)
{
	size_t n = picture->w * picture->h;
	unsigned char *pattern[3] = { NULL }, *all = malloc(3 * n);
	float *work = calloc(dither3_rows()->diffusion_floats(picture->w), sizeof(*work));
	struct held next = { 0 };
	int status = held_keep_levels(&next, picture->share, picture->w, picture->h);

	if (status == 0 && (!all || !work))
		status = fail_memory();
	if (status == 0) {
		dither3_rows()->start_bits(priv, picture, work);
		for (size_t c = 0; c < 3 && priv->price > 0; c++)
			pattern[c] = memcpy(all + c * n, picture->bit[c], n);
		search_rows()->take_held(&priv->held, next.share, picture->black, picture->bit,
		    picture->w, picture->h);
		status = search_planes(priv, picture, pattern);
	}
	for (int c = 0; c < 3 && status == 0; c++)
		memcpy(next.bit[c], picture->bit[c], n);
	if (status < 0)
		held_free(&next);
	held_free(&priv->held);
	priv->held = next;
	free(all);
	free(work);
	return status;
}
