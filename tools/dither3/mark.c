/* Bits that are turned over beside jumps, and set in holes, for the sake of the decoder. */
#include "mark.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "dither3.px.h"
#include "fringes.h"
#include "planes.h"

#define ROWS 16		/* that a thread takes at a time */
#define BORDER 4	/* pixels without a surface around the turns */
#define OTHER 0.35f	/* turns; what is farther off is another surface */
#define TOLERANCE 0.1f	/* turns; a decoder's surfaces are not exact, nor are its steps */

/* Of a pixel's own surface. Here and below: chosen on seven pictures, for few losses at no more
 * spikes. */
#define OWN_TOLERANCE 0.05f
#define OWN_OFF 0.15f	/* turns; what turned bits may move a pixel by */
#define OWN_LEAST 3	/* ways that a decoder takes a pixel by */

/* What bits cost; a pixel that is lost is 1. */
#define COST_OTHER 0.3f	/* a way that another surface is carried on by, and fits them */
#define COST_TAKEN 10	/* the same, where it may win */
#define COST_TURNED 0.02f
#define OTHERS_LEAST 2	/* ways by which another surface may win */
#define AHEAD 2		/* ways; a decoder asks for so much of a majority */
#define WHOLE 0.3f	/* turns off a whole number: bits hardly tell two surfaces apart, and */
#define WHOLE_WAYS 6	/* each way counts as so many */

#define CORE 4		/* px; where all is so far of one surface, */
#define CORE_STEP 0.12f	/* with so small steps, a decoder trusts its averages */
#define CORE_REACH 6	/* px; from there it soon comes so far */

#define PASSES 2
#define MARK_LOST 1	/* beside the bits of a mark: a decoder will not take the pixel */

#define CLOSE 2		/* px; a decoder closes gaps by a square of 2 CLOSE + 1 */
#define HOLE 0.15f	/* turns; a pixel without bits that fits a surface so well may be filled */
#define HOLE_AGAINST 0.2f	/* turns that bits in a hole are off all surfaces around */

struct marking {
	struct priv *priv;
	const struct frame *in;
	float *turns;		/* NaN in the background and on the border */
	size_t stride;
	int pass;		/* 0: surfaces in front of a pixel are looked at, 1: those behind */
	unsigned char *before;	/* marks of the pass before, which this one reads */
};

/* ---- the turns of the picture ---- */

/* The place in a turn of n pixels; a function of its own, as add_way() below. */
static __attribute__((noinline)) void
find_rests(const float *restrict sine, const float *restrict cosine, float *restrict rest, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		rest[i] = holo_rest(sine[i] - 0.5f, cosine[i] - 0.5f);
}

static void
find_turns(const struct marking *marking, size_t y, size_t x, size_t n, float *turns)
{
	const struct priv *priv = marking->priv;
	float share[3][PIECE] __attribute__((aligned(64))), rest[PIECE];
	unsigned char black[PIECE];
	float per_height = 1 / priv->bits.height;

	for (size_t c = 0; c < 3; c++)
		planes_shares(marking->in, priv->channel[c], y, x, n, share[c]);
	planes_find_black(share[0], share[1], black, n);
	find_rests(share[0], share[1], rest, n);
	for (size_t i = 0; i < n; i++) {
		float stair = priv->bits.stair[(int)(rest[i] * HOLO_PROFILE)];
		float order = holo_nearest_order(
		    255 * share[2][i], stair, per_height, priv->bits.order_most);

		turns[i] = black[i] ? PX_NAN : order + rest[i];
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

/* What the surfaces around a pixel make of it, carried on to it. */
struct around {
	float own[BITS_WAYS];		/* its own */
	float other[BITS_WAYS][2];	/* another one: carried on, and level */
	size_t n_own, n_other;
	bool wide;			/* its own surface; a decoder trusts it early */
};

/* Is a pixel in the middle of a smooth piece of surface? */
static bool
is_core(const struct marking *marking, const float *turns)
{
	ptrdiff_t stride = (ptrdiff_t)marking->stride;

	for (ptrdiff_t dy = -CORE; dy <= CORE; dy++)
		for (ptrdiff_t dx = -CORE; dx <= CORE; dx++) {
			const float *at = turns + dy * stride + dx;

			if (dx < CORE && !(px_abs(at[1] - at[0]) <= CORE_STEP))
				return false;
			if (dy < CORE && !(px_abs(at[stride] - at[0]) <= CORE_STEP))
				return false;
		}
	return true;
}

/* Is a pixel's surface so wide that a decoder comes to it from there? */
static bool
is_wide(const struct marking *marking, const float *turns)
{
	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = bits_way[way][1] * (ptrdiff_t)marking->stride + bits_way[way][0];
		const float *at = turns;

		for (int k = 0; k < CORE_REACH && px_abs(at[step] - at[0]) <= OTHER; k++) {
			at += step;
			if (is_core(marking, at))
				return true;
		}
	}
	return false;
}

/* In the second pass all but what the first one has lost. */
static void
look_around(const struct marking *marking, size_t x, size_t y, struct around *around)
{
	size_t w = marking->in->head.w;
	const float *turns = marking->turns + (y + BORDER) * marking->stride + BORDER + x;

	around->n_own = around->n_other = 0;
	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = bits_way[way][1] * (ptrdiff_t)marking->stride + bits_way[way][0];
		float near = turns[step], carried = bits_carry(near, turns[2 * step]);
		bool other_near = px_abs(near - *turns) > OTHER;
		bool other_carried = px_abs(carried - *turns) > OTHER;
		size_t at = (y + (size_t)bits_way[way][1]) * w + x + (size_t)bits_way[way][0];

		if (px_isnan(near) || marking->before[at] & MARK_LOST)
			continue;
		if (!other_near)
			around->own[around->n_own++] = other_carried ? near : carried;
		if (!(other_near || other_carried))
			continue;
		if (other_near && (near < *turns) == (marking->pass == 0))
			continue;
		around->other[around->n_other][0] = other_carried ? carried : near;
		around->other[around->n_other++][1] = other_near ? near : carried;
	}
	around->wide = around->n_other < 2 || is_wide(marking, turns);
}

/* Of these ways that carry another surface on to a pixel those that fit its bits. */
static size_t
count_others(const struct bits_code *bits, const struct bits_pixel *pixel,
    const struct around *around, float turns)
{
	size_t fits = 0;

	for (size_t i = 0; i < around->n_other; i++) {
		float off = around->other[i][0] - turns;
		bool fit = !px_isnan(bits_fit(bits, pixel, around->other[i][0], TOLERANCE)) ||
		    !px_isnan(bits_fit(bits, pixel, around->other[i][1], TOLERANCE));

		if (fit)
			fits += px_abs(off - px_round(off)) < WHOLE ? WHOLE_WAYS : 1;
	}
	return fits;
}

/* Of the ways of its own surface those that fit, and how far off their mean is. */
static size_t
count_own(const struct bits_code *bits, const struct bits_pixel *pixel,
    const struct around *around, float turns, float *off)
{
	size_t fits = 0;
	float sum = 0;

	for (size_t i = 0; i < around->n_own; i++) {
		float fit = bits_fit(bits, pixel, around->own[i], OWN_TOLERANCE);

		if (px_isnan(fit) || px_abs(fit - turns) > OWN_OFF)
			continue;
		sum += fit;
		fits++;
	}
	*off = fits ? px_abs(sum / (float)fits - turns) : 1;
	return fits;
}

static struct bits_pixel
turn_over(struct bits_pixel pixel, unsigned char mark)
{
	pixel.red = mark & DITHER_BIT(0) ? 1 - pixel.red : pixel.red;
	pixel.green = mark & DITHER_BIT(1) ? 1 - pixel.green : pixel.green;
	pixel.stair = mark & DITHER_BIT(2) ? 1 - pixel.stair : pixel.stair;
	return pixel;
}

static unsigned char
mark_of(const struct bits_code *bits, const struct bits_pixel *pixel,
    const struct around *around, float turns)
{
	static const unsigned char marks[] = { 0, DITHER_BIT(0), DITHER_BIT(1),
		DITHER_BIT(0) | DITHER_BIT(1) };
	float least = 1e6f;
	unsigned char best = 0;

	for (size_t k = 0; k < sizeof(marks); k++) {
		struct bits_pixel tried = turn_over(*pixel, marks[k]);
		float cost, off;
		size_t others, own;

		if (k && tried.red + tried.green + tried.stair == 0)
			continue;	/* would be background */
		others = count_others(bits, &tried, around, turns);
		own = count_own(bits, &tried, around, turns, &off);
		cost = (float)others * COST_OTHER + (own < OWN_LEAST ? 1 : off) +
		    (k > 0 ? COST_TURNED : 0);
		if (others >= OTHERS_LEAST && (!around->wide || own < others + AHEAD))
			cost += (float)others * COST_TAKEN;
		if (cost < least) {
			least = cost;
			best = marks[k] | (own < OWN_LEAST ? MARK_LOST : 0);
		}
	}
	return best;
}

/* ---- holes ---- */

static bool
is_surface(const struct marking *marking, ptrdiff_t x, ptrdiff_t y)
{
	return x >= 0 && y >= 0 && x < (ptrdiff_t)marking->in->head.w &&
	    y < (ptrdiff_t)marking->in->head.h &&
	    !px_isnan(marking->turns[(size_t)(y + BORDER) * marking->stride + (size_t)x + BORDER]);
}

static bool
is_near_surface(const struct marking *marking, ptrdiff_t x, ptrdiff_t y)
{
	for (ptrdiff_t dy = -CLOSE; dy <= CLOSE; dy++)
		for (ptrdiff_t dx = -CLOSE; dx <= CLOSE; dx++)
			if (is_surface(marking, x + dx, y + dy))
				return true;
	return false;
}

/* Is a pixel of the background one that a decoder's closing takes in? */
static bool
is_closed(const struct marking *marking, size_t x, size_t y)
{
	for (ptrdiff_t dy = -CLOSE; dy <= CLOSE; dy++)
		for (ptrdiff_t dx = -CLOSE; dx <= CLOSE; dx++)
			if (!is_near_surface(marking, (ptrdiff_t)x + dx, (ptrdiff_t)y + dy))
				return false;
	return true;
}

/* Ways by which surfaces around a pixel fit bits. */
static size_t
count_around(const struct marking *marking, const float *turns, const struct bits_pixel *pixel,
    float tolerance)
{
	const struct bits_code *bits = &marking->priv->bits;
	size_t fits = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = bits_way[way][1] * (ptrdiff_t)marking->stride + bits_way[way][0];
		float near = turns[step], carried = bits_carry(near, turns[2 * step]);

		fits += !px_isnan(near) && (!px_isnan(bits_fit(bits, pixel, near, tolerance)) ||
		    !px_isnan(bits_fit(bits, pixel, carried, tolerance)));
	}
	return fits;
}

/* The bit of the stair that most surfaces around a pixel would have there. */
static float
stair_around(const struct marking *marking, const float *turns, size_t place)
{
	const struct bits_code *bits = &marking->priv->bits;
	int more = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = bits_way[way][1] * (ptrdiff_t)marking->stride + bits_way[way][0];
		float near = turns[step], rest = near - px_floor(near);

		if (!px_isnan(near))
			more += bits_above(near, bits->threshold[place],
			    bits->stair[(int)(rest * HOLO_PROFILE)], bits->height) >= 0 ? 1 : -1;
	}
	return more > 0 ? 1 : 0;
}

/*
 * The bits of a pixel without a surface: none, or, where a decoder would fill it, those of R and G
 * that fit the surfaces around by the fewest ways. The stair's bit is theirs where that will do: a
 * decoder asks it for their order.
 */
static unsigned char
mark_hole(const struct marking *marking, size_t x, size_t y)
{
	const float *turns = marking->turns + (y + BORDER) * marking->stride + BORDER + x;
	const struct bits_pixel none = { 0, 0, 0,
		y % DITHER_TILE * DITHER_TILE + x % DITHER_TILE };
	size_t least = SIZE_MAX;
	unsigned char best = 0;
	float stair;

	if (count_around(marking, turns, &none, HOLE) == 0 || !is_closed(marking, x, y))
		return 0;
	stair = stair_around(marking, turns, none.place);
	for (size_t k = 7; k > 0; k--) {
		unsigned char mark = (unsigned char)(k * DITHER_BIT(2));
		struct bits_pixel tried = turn_over(none, mark);
		size_t cost = 2 * count_around(marking, turns, &tried, HOLE_AGAINST) +
		    (tried.stair != stair);

		if (cost < least) {
			least = cost;
			best = mark;
		}
	}
	return best;
}

/* ---- the picture ---- */

/* How far off the turns of n neighbours are, or their surfaces carried on by what lies behind. A
 * function of its own: inlined, its loop takes pixel by pixel. */
static __attribute__((noinline)) void
add_way(const float *restrict turns, const float *restrict near, const float *restrict behind,
    float *restrict most, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F here = turns[i], by = near[i], carried = bits_carry(by, behind[i]);
		PX_F off = px_max(px_abs(by - here), px_abs(carried - here));

		most[i] = px_select(off > most[i], off, most[i]);
	}
}

/* Where any neighbour, or its surface carried on to a pixel, is another surface: only there a pixel
 * may have a mark. */
static void
find_beside(const struct marking *marking, const float *turns, size_t n, unsigned char *beside)
{
	float most[PIECE] = { 0 };

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = bits_way[way][1] * (ptrdiff_t)marking->stride + bits_way[way][0];

		add_way(turns, turns + step, turns + 2 * step, most, n);
	}
	for (size_t i = 0; i < n; i++)
		beside[i] = most[i] > OTHER;
}

static void
mark_piece(const struct marking *marking, size_t y, size_t x, size_t n)
{
	struct priv *priv = marking->priv;
	const float *turns = marking->turns + (y + BORDER) * marking->stride + BORDER + x;
	unsigned char *mark = priv->mark + y * marking->in->head.w + x;
	unsigned char bits[3][PIECE] __attribute__((aligned(64)));
	float share[3][PIECE] __attribute__((aligned(64)));
	unsigned char black[PIECE], beside[PIECE];
	struct around around;

	find_beside(marking, turns, n, beside);
	planes_bits(priv, marking->in, 3, y, x, n, share, black, bits);
	for (size_t i = 0; i < n; i++) {
		struct bits_pixel pixel = { bits[0][i], bits[1][i], bits[2][i],
			y % DITHER_TILE * DITHER_TILE + (x + i) % DITHER_TILE };

		if (black[i] && marking->pass == 0)
			mark[i] = mark_hole(marking, x + i, y);
		if (black[i] || mark[i] || !beside[i])
			continue;
		look_around(marking, x + i, y, &around);
		if (around.n_other > 0)
			mark[i] = mark_of(&priv->bits, &pixel, &around, turns[i]);
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
	size_t blocks = (in->head.h + ROWS - 1) / ROWS, n, bytes, pixels = in->head.w * in->head.h;

	if (fringes_judge(run, in) < 0 ||
	    size_multiply(marking.stride, in->head.h + 2 * BORDER, &n) < 0 ||
	    size_multiply(n, sizeof(float), &bytes) < 0)
		return -1;
	free(priv->mark);
	priv->mark = calloc(pixels, 1);
	marking.before = calloc(pixels, 1);
	marking.turns = malloc(bytes);
	if (!priv->mark || !marking.before || !marking.turns) {
		free(marking.before);
		free(marking.turns);
		return fail_memory();
	}
	for (size_t i = 0; i < n; i++)
		marking.turns[i] = PX_NAN;
	run_for(run, blocks, turns_block, &marking);
	for (marking.pass = 0; marking.pass < PASSES; marking.pass++) {
		run_for(run, blocks, mark_block, &marking);
		memcpy(marking.before, priv->mark, pixels);
	}
	free(marking.before);
	free(marking.turns);
	return 0;
}

void
mark_row(const unsigned char *restrict mark, unsigned char *restrict red,
    unsigned char *restrict green, unsigned char *restrict stair, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		red[i] ^= (mark[i] & DITHER_BIT(0)) != 0;
		green[i] ^= (mark[i] & DITHER_BIT(1)) != 0;
		stair[i] ^= (mark[i] & DITHER_BIT(2)) != 0;
	}
}
