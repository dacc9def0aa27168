#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "dither3.px.h"
#include "planes.h"
#include "search.h"

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
		for (size_t y = 0; y < h && priv->channel[c] != NO_CHANNEL; y++)
			planes_shares(in, priv->channel[c], y, 0, w, picture->share[c] + y * w);
	}
	planes_find_black(picture->share[0], picture->share[1], picture->black, n);
	if (priv->to_circle)
		planes_to_circle(picture->share[0], picture->share[1], picture->black, n);
	return 0;
}

/* The rest of the turns that R and G stand for; NaN in the background. */
static float
rest_of(const struct picture *picture, size_t x, size_t y)
{
	size_t i = y * picture->w + x;

	if (x >= picture->w || y >= picture->h || picture->black[i])
		return PX_NAN;
	return holo_rest(picture->share[0][i] - 0.5f, picture->share[1][i] - 0.5f);
}

/* By how many turns the phase grows from a row to the next; 0 where the background hides it. */
static float
step_down(const struct picture *picture, size_t x, size_t y)
{
	float here = rest_of(picture, x, y), below = rest_of(picture, x, y + 1);
	float above = rest_of(picture, x, y - 1);

	if (px_isnan(below))
		return px_isnan(above) ? 0 : dither3_step(above, here);
	return px_isnan(above) ? dither3_step(here, below)
			       : 0.5f * (dither3_step(above, here) + dither3_step(here, below));
}

/* The phase; and for the diffusion that the search starts from fringes against the direction in
 * which it will move them. */
static void
prepare_fringes(struct picture *picture, float moved)
{
	for (size_t y = 0; y < picture->h; y++)
		for (size_t x = 0; x < picture->w; x++) {
			size_t i = y * picture->w + x;
			float rest, start;

			if (picture->black[i])
				continue;
			rest = rest_of(picture, x, y);
			start = rest - moved * step_down(picture, x, y);
			picture->cosine[i] = px_cos(rest * PX_TWO_PI);
			picture->sine[i] = px_sin(rest * PX_TWO_PI);
			picture->start[i] = start;
		}
	for (size_t i = 0; i < picture->w * picture->h; i++) {
		if (picture->black[i])
			continue;
		picture->share[0][i] = 0.5f + 0.5f * px_sin(picture->start[i] * PX_TWO_PI);
		picture->share[1][i] = 0.5f + 0.5f * px_cos(picture->start[i] * PX_TWO_PI);
	}
}

/* Bayer's bits, to start from and to stay near to. */
static void
order(const struct priv *priv, struct picture *picture, size_t c)
{
	size_t w = picture->w;

	for (size_t y = 0; y < picture->h; y++) {
		planes_compare(picture->share[c] + y * w,
		    priv->threshold[c] + y % DITHER_TILE * DITHER_TILE, picture->bit[c] + y * w, w);
		if (c < 3)
			planes_blacken(picture->black + y * w, picture->bit[c] + y * w, w);
	}
}

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
	if (status == 0)
		status = search_start(&search, picture->w, picture->h, STAIR_SIGMA,
		    picture->black);
	else
		return -1;
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
	float *work = calloc(diffuse_work(picture->w), sizeof(*work));
	struct held next = { 0 };
	int status = held_keep_levels(&next, picture->share, picture->w, picture->h);

	if (status == 0 && (!all || !work))
		status = fail_memory();
	if (status == 0) {
		prepare_fringes(picture, priv->price > 0 ? 0 : DITHER_SERPENTINE_DOWN);
		for (size_t c = 0; c < 4 && priv->price > 0; c++)
			order(priv, picture, c);
		if (!(priv->price > 0))
			diffuse_planes(picture->share, picture->black, picture->w, picture->h, work,
			    picture->bit);
		for (size_t c = 0; c < 3 && priv->price > 0; c++)
			pattern[c] = memcpy(all + c * n, picture->bit[c], n);
		held_start(&priv->held, next.share, picture->black, picture->bit, picture->w,
		    picture->h);
		status = search_planes(priv, picture, pattern);
	}
	if (status == 0)
		status = held_keep_bits(&next, picture->bit);
	if (status < 0)
		held_free(&next);
	held_free(&priv->held);
	priv->held = next;
	free(all);
	free(work);
	return status;
}
