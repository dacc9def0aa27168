/*
 * The search of a whole picture for the bits that decode best, near those of the frame before: its
 * memory, and the order of its steps. search_rows.c has the loops, and the source of the method.
 */
#include "dither3.h"

void
previous_free(struct previous_frame *previous)
{
	for (int c = 0; c < 3; c++) {
		free(previous->share[c]);
		free(previous->bit[c]);
	}
	*previous = (struct previous_frame){ 0 };
}

/* ---- memory of the search ---- */

/* An error that is seen through a kernel of this sigma, 0 at first. */
static void
seen_start(struct seen *seen, const struct search *search, double sigma, bool flat, float weight)
{
	size_t n = (2 * search->reach + 1) * search->width;

	dither_kernel(sigma, search->reach, search->width, flat, seen->kernel);
	seen->square = 0;
	seen->weight = weight;
	for (size_t i = 0; i < n; i++)
		seen->square += seen->kernel[i] * seen->kernel[i];
	seen->error = must_alloc(search->h + 2 * search->reach, search->stride * sizeof(float));
}

void
search_end(struct search *search)
{
	free_all(search->tangential.error, search->radial.error, search->inside, search->turned[0]);
}

void
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
	search->inside = must_alloc(h + 2 * reach, search->stride * sizeof(float));
	search->across = (w + SEARCH_TILE - 1) / SEARCH_TILE;
	search->tiles = search->across * ((h + SEARCH_TILE - 1) / SEARCH_TILE);
	search->turned[0] = must_alloc(search->tiles + 1, 2);
	search->turned[1] = search->turned[0] + search->tiles;
	search_rows()->fill_inside(search);
}

void
search_fringes(struct search *search, const struct fringes *fringes, double sigma)
{
	seen_start(&search->tangential, search, sigma, true, 1);
	seen_start(&search->radial, search, 0.6 * sigma, false, 0.05f);
	search_rows()->turn_fringes(search, fringes);
}

void
search_stair(struct search *search, const float *share, unsigned char *bit,
    const unsigned char *pattern, double sigma)
{
	seen_start(&search->tangential, search, sigma, false, 1);
	search_rows()->turn_stair(search, share, bit, pattern);
}

/* ---- the search in a picture ---- */

#define STAIR_SIGMA 3.0		/* px; how the decoder averages the stair */

void
picture_free(struct picture *picture)
{
	for (size_t c = 0; c < 4; c++) {
		free(picture->share[c]);
		free(picture->bit[c]);
	}
	free_all(picture->black, picture->cosine, picture->sine, picture->start);
}

/* Searches the fringes, then the stair. pattern: bits to stay near to, or NULLs. */
static void
search_planes(const struct priv *priv, struct picture *picture, unsigned char *const pattern[3])
{
	const struct fringes fringes = { picture->cosine, picture->sine, picture->bit[0],
		picture->bit[1], { pattern[0], pattern[1] } };
	double sigma = priv->keys.sigma_px;
	struct search search;

	search_start(&search, picture->w, picture->h, sigma, picture->black);
	search.price = priv->price;
	search_fringes(&search, &fringes, sigma);
	search_end(&search);
	search_start(&search, picture->w, picture->h, STAIR_SIGMA, picture->black);
	search.price = priv->price;
	search_stair(&search, picture->share[2], picture->bit[2], pattern[2], STAIR_SIGMA);
	search_end(&search);
}

/* Memory of n pixels for the picture, and for what the next frame takes over. */
static void
reserve(struct picture *picture, struct previous_frame *next, size_t n)
{
	picture->black = must_alloc(n, 1);
	picture->cosine = must_alloc(n, sizeof(float));
	picture->sine = must_alloc(n, sizeof(float));
	picture->start = must_alloc(n, sizeof(float));
	for (size_t c = 0; c < 4; c++) {
		picture->share[c] = must_alloc(n, sizeof(float));
		picture->bit[c] = must_alloc(n, 1);
	}
	for (size_t c = 0; c < 3; c++) {
		next->share[c] = must_alloc(n, sizeof(float));
		next->bit[c] = must_alloc(n, 1);
	}
}

int
picture_search(struct priv *priv, const struct frame *in, struct picture *picture)
{
	size_t w = in->head.w, h = in->head.h, n;
	unsigned char *pattern[3] = { NULL }, *all;
	struct previous_frame next = { .w = w, .h = h };
	float *work;

	picture->w = w;
	picture->h = h;
	if (size_multiply(w, h, &n) < 0)
		return -1;
	all = must_alloc(1, 3 * n);
	work = must_alloc(dither3_rows()->diffusion_floats(w), sizeof(*work));
	reserve(picture, &next, n);
	dither3_rows()->load_picture(priv, in, picture);
	for (int c = 0; c < 3; c++)
		memcpy(next.share[c], picture->share[c], n * sizeof(float));
	dither3_rows()->start_bits(priv, picture, work);
	for (size_t c = 0; c < 3 && priv->price > 0; c++)
		pattern[c] = memcpy(all + c * n, picture->bit[c], n);
	search_rows()->take_previous(&priv->previous, next.share, picture->black,
	    picture->bit, w, h);
	search_planes(priv, picture, pattern);
	for (int c = 0; c < 3; c++)
		memcpy(next.bit[c], picture->bit[c], n);
	previous_free(&priv->previous);
	priv->previous = next;
	free(all);
	free(work);
	return 0;
}
