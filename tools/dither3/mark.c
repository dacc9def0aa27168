#include "mark.h"

#include <stdlib.h>

#include "base/cpu_level.h"
#include "dither3.px.h"
#include "planes.h"

#define ROWS 16		/* that a thread takes at a time */
#define BORDER 2	/* pixels without a surface around the turns */
#define OTHER 0.35f	/* turns; what is farther off is another surface */
#define TOLERANCE 0.08f	/* turns; a decoder's surfaces are not exact, nor are its steps */
#define CANDIDATES (2 * BITS_WAYS)

struct marking {
	struct priv *priv;
	const struct frame *in;
	float *turns;		/* NaN in the background and on the border */
	size_t stride;
};

/* ---- the turns of the picture ---- */

static void
find_turns(const struct marking *marking, size_t y, size_t x, size_t n, float *turns)
{
	const struct priv *priv = marking->priv;
	float share[3][PIECE] __attribute__((aligned(64)));
	unsigned char black[PIECE];
	float per_height = 1 / priv->bits.height;

	for (size_t c = 0; c < 3; c++)
		planes_shares(marking->in, priv->channel[c], y, x, n, share[c]);
	planes_find_black(share[0], share[1], black, n);
	for (size_t i = 0; i < n; i++) {
		float rest = holo_rest(share[0][i] - 0.5f, share[1][i] - 0.5f);
		float stair = priv->bits.stair[(int)(rest * HOLO_PROFILE)];
		float order = holo_nearest_order(
		    255 * share[2][i], stair, per_height, priv->bits.order_most);

		turns[i] = black[i] ? PX_NAN : order + rest;
	}
}

static void
turns_block(void *arg, size_t block)
{
	const struct marking *marking = arg;
	size_t w = marking->in->head.w, h = marking->in->head.h;

	for (size_t y = block * ROWS; y < h && y < (block + 1) * ROWS; y++)
		for (size_t x = 0; x < w; x += PIECE)
			find_turns(marking, y, x, w - x < PIECE ? w - x : PIECE,
			    marking->turns + (y + BORDER) * marking->stride + BORDER + x);
}

/* ---- marks ---- */

/* What other surfaces around a pixel would make of it; how many. */
static size_t
find_others(const struct marking *marking, const float *turns, float other[CANDIDATES])
{
	size_t n = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = bits_way[way][1] * (ptrdiff_t)marking->stride + bits_way[way][0];
		float near = turns[step], carried = bits_carry(near, turns[2 * step]);

		if (px_abs(near - *turns) > OTHER)
			other[n++] = near;
		if (px_abs(carried - *turns) > OTHER)
			other[n++] = carried;
	}
	return n;
}

/* Of the other surfaces those that have the pixel's bits, with some of them turned over. */
static size_t
count_fits(const struct bits_code *bits, struct bits_pixel pixel, size_t mark,
    const float other[CANDIDATES], size_t n)
{
	size_t fits = 0;

	if (mark & DITHER_BIT(0))
		pixel.red = 1 - pixel.red;
	if (mark & DITHER_BIT(1))
		pixel.green = 1 - pixel.green;
	if (mark && pixel.red + pixel.green + pixel.stair == 0)
		return CANDIDATES;	/* would be background */
	for (size_t i = 0; i < n; i++)
		fits += !px_isnan(bits_fit(bits, &pixel, other[i], TOLERANCE));
	return fits;
}

static unsigned char
mark_of(const struct bits_code *bits, const struct bits_pixel *pixel,
    const float other[CANDIDATES], size_t n)
{
	static const unsigned char marks[] = { DITHER_BIT(0), DITHER_BIT(1),
		DITHER_BIT(0) | DITHER_BIT(1) };
	size_t least = count_fits(bits, *pixel, 0, other, n);
	unsigned char best = 0;

	for (size_t k = 0; k < sizeof(marks) && least > 0; k++) {
		size_t fits = count_fits(bits, *pixel, marks[k], other, n);

		if (fits < least) {
			least = fits;
			best = marks[k];
		}
	}
	return best;
}

static void
mark_piece(const struct marking *marking, size_t y, size_t x, size_t n)
{
	struct priv *priv = marking->priv;
	const float *turns = marking->turns + (y + BORDER) * marking->stride + BORDER + x;
	unsigned char *mark = priv->mark + y * marking->in->head.w + x;
	unsigned char bits[3][PIECE] __attribute__((aligned(64)));
	float share[3][PIECE] __attribute__((aligned(64)));
	unsigned char black[PIECE];
	float other[CANDIDATES];

	planes_bits(priv, marking->in, 3, y, x, n, share, black, bits);
	for (size_t i = 0; i < n; i++) {
		struct bits_pixel pixel = { bits[0][i], bits[1][i], bits[2][i],
			y % DITHER_TILE * DITHER_TILE + (x + i) % DITHER_TILE };
		size_t others = black[i] ? 0 : find_others(marking, turns + i, other);

		mark[i] = others ? mark_of(&priv->bits, &pixel, other, others) : 0;
	}
}

static void
mark_block(void *arg, size_t block)
{
	const struct marking *marking = arg;
	size_t w = marking->in->head.w, h = marking->in->head.h;

	for (size_t y = block * ROWS; y < h && y < (block + 1) * ROWS; y++)
		for (size_t x = 0; x < w; x += PIECE)
			mark_piece(marking, y, x, w - x < PIECE ? w - x : PIECE);
}

int
mark_find(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct marking marking = { priv, in, NULL, in->head.w + 2 * BORDER };
	size_t blocks = (in->head.h + ROWS - 1) / ROWS, n, bytes;

	if (size_multiply(marking.stride, in->head.h + 2 * BORDER, &n) < 0 ||
	    size_multiply(n, sizeof(float), &bytes) < 0)
		return -1;
	free(priv->mark);
	priv->mark = malloc(in->head.w * in->head.h);
	marking.turns = malloc(bytes);
	if (!priv->mark || !marking.turns) {
		free(marking.turns);
		return fail_memory();
	}
	for (size_t i = 0; i < n; i++)
		marking.turns[i] = PX_NAN;
	run_for(run, blocks, turns_block, &marking);
	run_for(run, blocks, mark_block, &marking);
	free(marking.turns);
	return 0;
}

void
mark_row(const unsigned char *restrict mark, unsigned char *restrict red,
    unsigned char *restrict green, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		red[i] ^= (mark[i] & DITHER_BIT(0)) != 0;
		green[i] ^= (mark[i] & DITHER_BIT(1)) != 0;
	}
}
