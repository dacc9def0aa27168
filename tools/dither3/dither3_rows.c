/*
 * The loops over pixels of dither3: levels as shares of full scale, ordered dithering, marks beside
 * jumps, error diffusion, and packing of bits (methods section 13). search_rows.c has the search.
 */
#include "dither3.h"

#include <math.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/transpose.h"
#include "holo/holo.px.h"
#include "dither3.px.h"

#define PIECE 512 /* pixels of a row that are dithered together; whole tiles */

/* ---- levels as shares of full scale ---- */

/* Levels of n pixels of row y from x on, as shares of full scale. */
static void
planes_shares(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *restrict out)
{
	const void *row = frame_row(in, c, y);
	const unsigned char *restrict bytes = (const unsigned char *)row + x;
	const float *restrict floats = (const float *)row + x;

	if (in->head.type == SAMPLE_UCHAR) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			out[i] = dither3_share((float)(int)bytes[i]);
	} else {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			out[i] = dither3_share(floats[i]);
	}
}

/* 1 where a pixel is background. */
static void
planes_find_black(const float *restrict sine, const float *restrict cosine,
    unsigned char *restrict black, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		black[i] = dither3_black(sine[i], cosine[i]);
}

/* Moves R and G to the circle of fringes, where a pixel is no background: pairs of levels that were
 * rounded to the nearest angle lie off it, and their angle says more than their levels. */
static void
planes_to_circle(float *restrict sine, float *restrict cosine,
    const unsigned char *restrict black, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F s = sine[i], c = cosine[i];

		sine[i] = px_select(black[i], s, dither3_to_circle(s, c));
		cosine[i] = px_select(black[i], c, dither3_to_circle(c, s));
	}
}

/* ---- ordered dithering ---- */

/* 1 where a level reaches the threshold of its place in the tile. */
static void
planes_compare(const float *restrict share, const float *restrict threshold,
    unsigned char *restrict bit, size_t n)
{
	/* tile by tile, as thresholds of i % DITHER_TILE would be taken one by one */
	for (; n > 0; n -= n < DITHER_TILE ? n : DITHER_TILE) {
		size_t columns = n < DITHER_TILE ? n : DITHER_TILE;

		CPU_SIMD
		for (size_t i = 0; i < columns; i++)
			bit[i] = share[i] >= threshold[i];
		share += columns;
		bit += columns;
	}
}

/* Bits of the background become 0. */
static void
planes_blacken(const unsigned char *restrict black, unsigned char *restrict bit, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		bit[i] &= (unsigned char)(black[i] - 1);
}

/* The bits of the first `planes` planes, by thresholds, and what they are made of; planes without a
 * channel stay as they are. */
static void
planes_bits(const struct priv *priv, const struct frame *in, size_t planes, size_t y, size_t x,
    size_t n, float share[][PIECE], unsigned char black[PIECE], unsigned char bits[][PIECE])
{
	for (size_t c = 0; c < planes; c++)
		if (priv->channel[c] != NO_CHANNEL)
			planes_shares(in, priv->channel[c], y, x, n, share[c]);
	planes_find_black(share[0], share[1], black, n);
	if (priv->to_circle)
		planes_to_circle(share[0], share[1], black, n);
	for (size_t c = 0; c < planes; c++)
		if (priv->channel[c] != NO_CHANNEL)
			planes_compare(share[c], priv->threshold[c] + y % DITHER_TILE * DITHER_TILE,
			    bits[c], n);
	for (size_t c = 0; c < 3; c++)
		planes_blacken(black, bits[c], n);
}

/* ---- packing ---- */

static void
pack_bits(const unsigned char *restrict bit, unsigned char *restrict out, size_t n, int value)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)(out[i] | bit[i] * value);
}

/* The bits of n pixels of row y from x on, into a row that is zero there. w: of the input. */
static void
planes_pack(const unsigned char *const bit[4], const struct dither_keys *keys, struct frame *out,
    size_t y, size_t x, size_t n, size_t w)
{
	size_t planes = bit_planes(keys);
	unsigned char *first = (unsigned char *)frame_row(out, 0, y) + x;

	if (keys->pack == DITHER_PLANAR) {
		for (size_t c = 0; c < planes; c++)
			pack_bits(bit[c], first + c * w, n, 1);
		return;
	}
	for (size_t c = 0; c < 3; c++)
		pack_bits(bit[c], first, n, DITHER_BIT(c));
	if (planes == 4 && keys->pack == DITHER_MSB)
		pack_bits(bit[3], first, n, DITHER_BIT(3));
	if (planes == 4 && keys->pack == DITHER_RGB)
		pack_bits(bit[3], (unsigned char *)frame_row(out, 1, y) + x, n, 255);
}

/* An 8-bit texture goes through as it is; n: PIECE at most. */
static void
planes_pass_texture(const struct priv *priv, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n)
{
	float share[PIECE] __attribute__((aligned(64)));
	unsigned char *restrict level = (unsigned char *)frame_row(out, 1, y) + x;

	planes_shares(in, priv->channel[3], y, x, n, share);
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		level[i] = (unsigned char)(int)dither3_level(share[i]);
}

static void
planes_clear_row(struct frame *out, size_t y)
{
	for (size_t c = 0; c < out->head.c; c++)
		memset(frame_row(out, c, y), 0, out->head.w);
}

static void
dither_piece(const struct priv *priv, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n)
{
	float share[4][PIECE] __attribute__((aligned(64)));
	unsigned char bits[4][PIECE] __attribute__((aligned(64)));
	unsigned char black[PIECE] __attribute__((aligned(64)));
	const unsigned char *const bit[4] = { bits[0], bits[1], bits[2], bits[3] };
	const unsigned char *restrict mark = priv->mark;

	planes_bits(priv, in, 4, y, x, n, share, black, bits);
	for (size_t c = 0; c < 3 && priv->keys.marked; c++) {
		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			bits[c][i] ^= (mark[y * in->head.w + x + i] & DITHER_BIT(c)) != 0;
	}
	planes_pack(bit, &priv->keys, out, y, x, n, in->head.w);
	if (priv->keys.texture_bits == 8)
		planes_pass_texture(priv, in, out, y, x, n);
}

static void
ordered(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *)
{
	for (size_t y = y0; y < y1; y++) {
		planes_clear_row(out, y);
		for (size_t x = 0; x < in->head.w; x += PIECE)
			dither_piece(run->priv, in, out, y, x,
			    in->head.w - x < PIECE ? in->head.w - x : PIECE);
	}
}

/* ---- marks: bits that are turned over beside jumps, and set in holes ---- */

/*
 * Beside a jump a pixel's bits may happen to be those that the surface on the other side would
 * have, carried on to it. A decoder might then take it for part of that one. Such pixels are
 * marked: one or both bits of the fringes are turned over, so that the surface beyond the jump ends
 * there for sure. If possible, its own surface still gives the turned bits; else the pixel is
 * lost. The first pass marks where another surface lies in front, the second where one lies behind
 * that is not lost itself: a one-pixel border is enough.
 *
 * A hole so narrow that a decoder may close it gets bits that contradict the surface around.
 */

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
#define MAJORITY 2	/* ways; the majority that a decoder asks for */
/* Where two surfaces differ by nearly a whole number of turns, bits hardly tell them apart. */
#define WHOLE 0.3f	/* turns off a whole number */
#define WHOLE_WAYS 6	/* each such way counts as this many */

/* A decoder trusts its averages where a square of one surface has small steps, and comes from there
 * to pixels near by. */
#define CORE 4		/* px, half of the square's side */
#define CORE_STEP 0.12f	/* turns from pixel to pixel */
#define CORE_REACH 6	/* px */
#define MARK_LOST 1	/* next to the bits of a mark: a decoder will not take the pixel */

#define CLOSE 2		/* px; a decoder closes gaps by a square of 2 CLOSE + 1 */
#define HOLE 0.15f	/* turns; a pixel without bits that fits a surface so well may be filled */
#define HOLE_AGAINST 0.2f	/* turns that bits in a hole are off all surfaces around */

/* The turns of a pixel, and the step from them to those of a neighbour. */
static float *
turns_at(const struct marking *marking, size_t x, size_t y)
{
	return marking->turns + (y + MARK_BORDER) * marking->stride + MARK_BORDER + x;
}

static ptrdiff_t
way_step(const struct marking *marking, int way)
{
	return bits_way[way][1] * (ptrdiff_t)marking->stride + bits_way[way][0];
}

/* The place in a turn of n pixels; a function of its own, as add_way() below. */
static __attribute__((noinline)) void
find_rests(const float *restrict sine, const float *restrict cosine, float *restrict rest, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		rest[i] = holo_rest(sine[i] - 0.5f, cosine[i] - 0.5f);
}

static void
mark_turns(void *arg, size_t block)
{
	const struct marking *marking = arg;
	const struct priv *priv = marking->priv;
	const struct bits_code *bits = &priv->bits;
	size_t w = marking->in->head.w, h = marking->in->head.h;
	float share[3][PIECE] __attribute__((aligned(64))), rest[PIECE];
	float per_height = 1 / bits->height;
	unsigned char black[PIECE];

	for (size_t y = block * MARK_ROWS; y < h && y < (block + 1) * MARK_ROWS; y++)
		for (size_t x = 0; x < w; x += PIECE) {
			size_t n = w - x < PIECE ? w - x : PIECE;
			float *turns = turns_at(marking, x, y);

			for (size_t c = 0; c < 3; c++)
				planes_shares(marking->in, priv->channel[c], y, x, n, share[c]);
			planes_find_black(share[0], share[1], black, n);
			find_rests(share[0], share[1], rest, n);
			for (size_t i = 0; i < n; i++) {
				float stair = bits->stair[(int)(rest[i] * HOLO_PROFILE)];
				float order = holo_nearest_order(255 * share[2][i], stair,
				    per_height, bits->order_most);

				turns[i] = black[i] ? PX_NAN : order + rest[i];
			}
		}
}

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
		ptrdiff_t step = way_step(marking, way);
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
	const float *turns = turns_at(marking, x, y);

	around->n_own = around->n_other = 0;
	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = way_step(marking, way);
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

/* Do turns give a pixel's bits, as one surface or another has them? */
static bool
either_fits(const struct bits_code *bits, const struct bits_pixel *pixel, float one, float other,
    float tolerance)
{
	return !px_isnan(bits_fit(bits, pixel, one, tolerance)) ||
	    !px_isnan(bits_fit(bits, pixel, other, tolerance));
}

/* Of these ways that carry another surface on to a pixel those that fit its bits. */
static size_t
count_others(const struct bits_code *bits, const struct bits_pixel *pixel,
    const struct around *around, float turns)
{
	size_t fits = 0;

	for (size_t i = 0; i < around->n_other; i++) {
		const float *other = around->other[i];
		float off = other[0] - turns;

		if (either_fits(bits, pixel, other[0], other[1], TOLERANCE))
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
		if (others >= OTHERS_LEAST && (!around->wide || own < others + MAJORITY))
			cost += (float)others * COST_TAKEN;
		if (cost < least) {
			least = cost;
			best = marks[k] | (own < OWN_LEAST ? MARK_LOST : 0);
		}
	}
	return best;
}

_Static_assert(2 * CLOSE <= MARK_BORDER, "is_closed() looks at the border");

/* Is a pixel of the background one that a decoder's closing takes in, with a surface within CLOSE
 * of all pixels within CLOSE? */
static bool
is_closed(const float *turns, ptrdiff_t stride)
{
	for (ptrdiff_t dy = -CLOSE; dy <= CLOSE; dy++)
		for (ptrdiff_t dx = -CLOSE; dx <= CLOSE; dx++) {
			const float *at = turns + dy * stride + dx;
			bool near = false;

			for (ptrdiff_t v = -CLOSE; v <= CLOSE; v++)
				for (ptrdiff_t u = -CLOSE; u <= CLOSE; u++)
					near |= !px_isnan(at[v * stride + u]);
			if (!near)
				return false;
		}
	return true;
}

/* Ways by which surfaces around a pixel fit bits. */
static size_t
count_around(const struct marking *marking, const float *turns, const struct bits_pixel *pixel,
    float tolerance)
{
	size_t fits = 0;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = way_step(marking, way);
		float near = turns[step];

		fits += !px_isnan(near) && either_fits(&marking->priv->bits, pixel, near,
		    bits_carry(near, turns[2 * step]), tolerance);
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
		ptrdiff_t step = way_step(marking, way);
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
	const float *turns = turns_at(marking, x, y);
	const struct bits_pixel none = { 0, 0, 0,
		y % DITHER_TILE * DITHER_TILE + x % DITHER_TILE };
	size_t least = SIZE_MAX;
	unsigned char best = 0;
	float stair;

	if (count_around(marking, turns, &none, HOLE) == 0 ||
	    !is_closed(turns, (ptrdiff_t)marking->stride))
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

static void
mark_piece(const struct marking *marking, size_t y, size_t x, size_t n)
{
	struct priv *priv = marking->priv;
	const float *turns = turns_at(marking, x, y);
	unsigned char *mark = priv->mark + y * marking->in->head.w + x;
	unsigned char bits[3][PIECE] __attribute__((aligned(64)));
	float share[3][PIECE] __attribute__((aligned(64))), most[PIECE] = { 0 };
	unsigned char black[PIECE];
	struct around around;

	for (int way = 0; way < BITS_WAYS; way++) {
		ptrdiff_t step = way_step(marking, way);

		add_way(turns, turns + step, turns + 2 * step, most, n);
	}
	planes_bits(priv, marking->in, 3, y, x, n, share, black, bits);
	for (size_t i = 0; i < n; i++) {
		struct bits_pixel pixel = { bits[0][i], bits[1][i], bits[2][i],
			y % DITHER_TILE * DITHER_TILE + (x + i) % DITHER_TILE };

		if (black[i] && marking->pass == 0)
			mark[i] = mark_hole(marking, x + i, y);
		/* only beside another surface a pixel may have a mark */
		if (black[i] || mark[i] || !(most[i] > OTHER))
			continue;
		look_around(marking, x + i, y, &around);
		if (around.n_other > 0)
			mark[i] = mark_of(&priv->bits, &pixel, &around, turns[i]);
	}
}

static void
mark_rows(void *arg, size_t block)
{
	const struct marking *marking = arg;
	size_t w = marking->in->head.w, h = marking->in->head.h;

	for (size_t y = block * MARK_ROWS; y < h && y < (block + 1) * MARK_ROWS; y++)
		for (size_t x = 0; x < w; x += PIECE)
			mark_piece(marking, y, x, w - x < PIECE ? w - x : PIECE);
}

/* ---- error diffusion: rows of a plane together in vectors, or all planes of a row ---- */

/*
 * Floyd's and Steinberg's error diffusion of all planes. A pixel waits for the one before it, but
 * planes do not wait for each other, nor does a row for more of the row above it than two pixels
 * beyond: what does not wait is done together, in vectors. Sums keep the order of the plain loop
 * of dither_diffuse_row(), which gives the same bits.
 */

#define ROWS 16			/* of a band, which are diffused together */
#define SKEW 3			/* pixels that each row lags the one above it */
#define DELAY (SKEW * (ROWS - 1))	/* pixels that the last row lags the first */
#define LANES (CPU_VECTOR_BYTES / 4)
#define VECTORS (ROWS / LANES)
#define STEPS 64		/* pixels of each row that are brought together at a time */
#define MARGIN 48		/* floats before a row: DELAY, in whole vectors */
#define BEYOND (MARGIN + STEPS)	/* floats after a row */

typedef float lanes __attribute__((vector_size(CPU_VECTOR_BYTES)));
typedef float loose __attribute__((vector_size(CPU_VECTOR_BYTES), aligned(4), may_alias));
typedef int32_t whole __attribute__((vector_size(CPU_VECTOR_BYTES)));
typedef float four __attribute__((vector_size(16)));
typedef int32_t whole_four __attribute__((vector_size(16)));

static size_t
row_floats(size_t w)
{
	return (MARGIN + w + BEYOND + 15) / 16 * 16;
}

/*
 * A band of a plane. Step t works on pixel t - SKEW r of row r, in lane ROWS - 1 - r. Masks have a
 * bit of each lane.
 */
struct band {
	size_t stride;			/* floats from row to row */
	float *row;			/* shares of its ROWS rows, from their first pixel on */
	float *above, *below;		/* errors of the last row of the band above, of this one */
	float *spare[2];		/* sine and cosine, for the background */
	uint16_t *none, *set;		/* masks of each step: background or beyond, and bits */
	unsigned char *black;
};

#define BAND_ROWS (ROWS + 7)

static struct band
band_of(float *work, size_t w)
{
	size_t stride = row_floats(w);
	float *at = work + MARGIN;

	return (struct band){ .stride = stride, .row = at, .above = at + ROWS * stride,
		.below = at + (ROWS + 1) * stride,
		.spare = { at + (ROWS + 2) * stride, at + (ROWS + 3) * stride },
		.none = (uint16_t *)(void *)(at + (ROWS + 4) * stride - MARGIN),
		.set = (uint16_t *)(void *)(at + (ROWS + 5) * stride - MARGIN),
		.black = (unsigned char *)(at + (ROWS + 6) * stride - MARGIN) };
}

static void
load_row(const struct priv *priv, const struct frame *in, size_t c, size_t y,
    const struct band *band, size_t r)
{
	const size_t w = in->head.w;
	const int lane = (int)(ROWS - 1 - r);
	float *restrict row = band->row + r * band->stride;
	float *share[2] = { c == 0 ? row : band->spare[0], c == 1 ? row : band->spare[1] };
	const unsigned char *restrict black = band->black;
	uint16_t *restrict none = band->none + SKEW * r;

	memset(band->black, 0, w);
	if (c != 0 && c != 1)
		planes_shares(in, priv->channel[c], y, 0, w, row);
	if (c != 3) {
		planes_shares(in, priv->channel[0], y, 0, w, share[0]);
		planes_shares(in, priv->channel[1], y, 0, w, share[1]);
		planes_find_black(share[0], share[1], band->black, w);
	}
	if (priv->to_circle && c < 2) {
		const float *restrict other = share[1 - c];

		CPU_SIMD
		for (size_t x = 0; x < w; x++)
			row[x] = px_select(black[x], row[x], dither3_to_circle(row[x], other[x]));
	}
	/* the lane's bit becomes 0 where the row's pixel is none of the background */
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		none[x] = (uint16_t)(none[x] & ~((1 - black[x]) << lane));
}

/* The shares of steps t to t + STEPS, lane by lane. */
static void
gather_steps(const struct band *band, size_t t, float own[STEPS][ROWS])
{
	for (size_t lane = 0; lane < ROWS; lane += 4) {
		const float *from[4];

		for (size_t i = 0; i < 4; i++) {
			size_t r = ROWS - 1 - lane - i;

			from[i] = band->row + r * band->stride + t - SKEW * r;
		}
		for (size_t k = 0; k < STEPS; k += 4) {
			transpose_four v[4];

			for (size_t i = 0; i < 4; i++)
				v[i] = transpose_load(from[i] + k);
			transpose_lines(v);
			for (size_t i = 0; i < 4; i++)
				transpose_store(&own[k + i][lane], v[i]);
		}
	}
}

/* A bit of each lane that is not 0. */
static inline uint32_t
mask_of(whole v)
{
#if CPU_VECTOR_BYTES == 64
	return _mm512_movepi32_mask((__m512i)v);
#elif CPU_VECTOR_BYTES == 32
	return (uint32_t)_mm256_movemask_ps((__m256)v);
#elif defined(__SSE2__)
	return (uint32_t)_mm_movemask_ps((__m128)v);
#else
	uint32_t mask = 0;

	for (size_t i = 0; i < LANES; i++)
		mask |= (uint32_t)(v[i] & 1) << i;
	return mask;
#endif
}

/* Each lane gets what is in the next one, the last lane that of `next`. */
static inline lanes
next_lane(lanes v, lanes next)
{
#if CPU_VECTOR_BYTES == 64
	return __builtin_shufflevector(v, next, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	    16);
#elif CPU_VECTOR_BYTES == 32
	return __builtin_shufflevector(v, next, 1, 2, 3, 4, 5, 6, 7, 8);
#else
	return __builtin_shufflevector(v, next, 1, 2, 3, 4);
#endif
}

/* The state between steps: the last errors, and those of the rows above at the previous pixel, at
 * the same, and at the next one. */
struct errors {
	lanes last[VECTORS], behind[VECTORS], same[VECTORS], ahead[VECTORS];
};

/* One step. Returns the bits. above: the error of the band above, two pixels ahead of lane
 * ROWS - 1. */
static inline __attribute__((always_inline)) uint32_t
diffuse_step(struct errors *errors, const float own[ROWS], uint32_t none, const float *above,
    const whole lane_bit[VECTORS])
{
	lanes last[VECTORS + 1];
	uint32_t set = 0;

	for (size_t i = 0; i < VECTORS; i++)
		last[i] = errors->last[i];
	/* in the first lane of what follows the last vector */
	last[VECTORS] = *(const loose *)above;
	for (size_t i = 0; i < VECTORS; i++) {
		lanes level = *(const lanes *)(own + i * LANES) + errors->behind[i] +
		    5.0f * errors->same[i] + 3.0f * errors->ahead[i] + 7.0f * last[i];
		whole keep = (lane_bit[i] & (int32_t)none) == 0;
		whole bit = level >= 0.5f;
		lanes dark = level * 0.0625f, bright = (level - 1.0f) * 0.0625f;

		set |= mask_of(bit & keep) << (i * LANES);
		errors->last[i] = (lanes)(((bit & (whole)bright) | (~bit & (whole)dark)) & keep);
		errors->behind[i] = errors->same[i];
		errors->same[i] = errors->ahead[i];
		errors->ahead[i] = next_lane(last[i], last[i + 1]);
	}
	return set;
}

/* Bits of the band's steps. */
static void
diffuse_band(const struct band *band, size_t w)
{
	float own[STEPS][ROWS] __attribute__((aligned(64)));
	struct errors errors = { 0 };
	whole lane_bit[VECTORS];

	for (size_t i = 0; i < ROWS; i++)
		lane_bit[i / LANES][i % LANES] = (int32_t)1 << i;
	errors.ahead[VECTORS - 1][LANES - 1] = band->above[1];
	errors.same[VECTORS - 1][LANES - 1] = band->above[0];
	for (size_t t0 = 0; t0 < w + DELAY; t0 += STEPS) {
		size_t end = w + DELAY - t0 < STEPS ? w + DELAY - t0 : STEPS;

		gather_steps(band, t0, own);
		for (size_t k = 0; k < end; k++) {
			size_t t = t0 + k;

			band->set[t] = (uint16_t)diffuse_step(&errors, own[k], band->none[t],
			    band->above + t + 2, lane_bit);
			/* the last row's is in lane 0; the next steps overwrite the others */
			*(loose *)(band->below + t - DELAY) = errors.last[0];
		}
	}
}

static void
diffuse_plane(void *arg, size_t c)
{
	const struct packing *packing = arg;
	const struct diffusion *diffusion = &packing->priv->diffusion;
	size_t w = diffusion->w, h = diffusion->h;
	struct band band = band_of(diffusion->work + c * BAND_ROWS * row_floats(w), w);

	memset(band.above - MARGIN, 0, band.stride * sizeof(*band.above));
	for (size_t y = 0; y < h; y += ROWS) {
		size_t rows = h - y < ROWS ? h - y : ROWS;
		float *swap = band.above;

		memset(band.none, 0xff, (w + DELAY) * sizeof(*band.none));
		for (size_t r = 0; r < rows; r++)
			load_row(packing->priv, packing->in, c, y + r, &band, r);
		diffuse_band(&band, w);
		for (size_t r = 0; r < rows; r++) {
			const uint16_t *restrict set = band.set + SKEW * r;
			unsigned char *restrict bit = diffusion->bit[c] + (y + r) * w;
			int lane = (int)(ROWS - 1 - r);

			CPU_SIMD
			for (size_t x = 0; x < w; x++)
				bit[x] = (unsigned char)(set[x] >> lane & 1);
		}
		band.above = band.below;
		band.below = swap;
	}
}

/* Errors of a row and of the one above it, four planes a pixel, and a pixel before and behind them;
 * bits, of all planes. */
struct turning {
	four *above, *errors;
	unsigned char *set;
};

static struct turning
turning_of(float *work, size_t w)
{
	four *at = (four *)(((uintptr_t)work + 15) / 16 * 16);

	return (struct turning){ at + 1, at + w + 3, (unsigned char *)(at + 2 * w + 4) };
}

/* A bit of each lane that is not 0. */
static inline unsigned char
mask_of_four(whole_four v)
{
#if defined(__SSE2__)
	return (unsigned char)_mm_movemask_ps((__m128)v);
#else
	return (unsigned char)((v[0] & 1) | (v[1] & 2) | (v[2] & 4) | (v[3] & 8));
#endif
}

/* A row from the left (step 1) or from the right (-1), whose row above went the other way. */
static void
diffuse_row(const float *const share[4], const unsigned char *black, size_t w, ptrdiff_t step,
    const struct turning *turning)
{
	static const whole_four keep[2] = { { -1, -1, -1, -1 }, { 0, 0, 0, -1 } };
	const float *a = share[0], *b = share[1], *c = share[2], *d = share[3];
	const four *above = turning->above;
	ptrdiff_t x = step > 0 ? 0 : (ptrdiff_t)w - 1;
	four last = { 0 };

	for (size_t i = 0; i < w; i++, x += step) {
		four own = { a[x], b[x], c[x], d[x] };
		four level = own + above[x + step] + 5.0f * above[x] + 3.0f * above[x - step] +
		    7.0f * last;
		whole_four bit = level >= 0.5f;
		four dark = level * 0.0625f, bright = (level - 1.0f) * 0.0625f;

		last = (four)(((bit & (whole_four)bright) | (~bit & (whole_four)dark)) &
		    keep[black[x]]);
		turning->errors[x] = last;
		turning->set[x] = mask_of_four(bit & keep[black[x]]);
	}
}

/* Row y, into rows of the bits; its errors then become those of the row above. */
static void
turn_row(struct turning *turning, const float *const share[4], const unsigned char *black, size_t w,
    size_t y, unsigned char *const bits[4])
{
	const unsigned char *restrict set = turning->set;
	four *swap = turning->above;

	diffuse_row(share, black, w, y % 2 ? -1 : 1, turning);
	for (int c = 0; c < 4; c++) {
		unsigned char *restrict bit = bits[c] + y * w;

		CPU_SIMD
		for (size_t x = 0; x < w; x++)
			bit[x] = set[x] >> c & 1;
	}
	turning->above = turning->errors;
	turning->errors = swap;
}

/* Of either kind: four bands, which are longer than four rows and a struct turning. */
static size_t
diffusion_floats(size_t w)
{
	return 4 * BAND_ROWS * row_floats(w);
}

static void
diffuse_serpentine(const struct priv *priv, const struct frame *in)
{
	size_t w = in->head.w, h = in->head.h, stride = row_floats(w);
	float *row[4], *work = priv->diffusion.work;
	struct turning turning;
	unsigned char *black;

	for (size_t c = 0; c < 4; c++)
		row[c] = work + c * stride;
	black = (unsigned char *)(work + 4 * stride);
	turning = turning_of(memset(work + 5 * stride, 0, (9 * (w + 2) + 4) * sizeof(*work)), w);
	for (size_t y = 0; y < h; y++) {
		for (size_t c = 0; c < bit_planes(&priv->keys); c++)
			planes_shares(in, priv->channel[c], y, 0, w, row[c]);
		planes_find_black(row[0], row[1], black, w);
		if (priv->to_circle)
			planes_to_circle(row[0], row[1], black, w);
		turn_row(&turning, (const float *const *)row, black, w, y,
		    priv->diffusion.bit);
	}
}

/* ---- what the search starts from ---- */

static void
load_picture(const struct priv *priv, const struct frame *in, struct picture *picture)
{
	size_t w = picture->w, n = w * picture->h;

	for (size_t c = 0; c < 4; c++)
		for (size_t y = 0; y < picture->h && priv->channel[c] != NO_CHANNEL; y++)
			planes_shares(in, priv->channel[c], y, 0, w, picture->share[c] + y * w);
	planes_find_black(picture->share[0], picture->share[1], picture->black, n);
	if (priv->to_circle)
		planes_to_circle(picture->share[0], picture->share[1], picture->black, n);
}

/* The rest of the turns of R and G; NaN in the background. */
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

/* The phase; and, as error diffusion will move the picture down by `moved` rows, fringes that are
 * moved up by as much, from which the search starts. */
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

static void
start_bits(const struct priv *priv, struct picture *picture, float *work)
{
	const size_t w = picture->w;
	const bool is_ordered = priv->price > 0;
	struct turning turning = turning_of(work, w);

	prepare_fringes(picture, is_ordered ? 0 : DITHER_SERPENTINE_DOWN);
	for (size_t y = 0; y < picture->h; y++) {
		const float *row[4];

		for (size_t c = 0; c < 4; c++)
			row[c] = picture->share[c] + y * w;
		if (!is_ordered)
			turn_row(&turning, row, picture->black + y * w, w, y, picture->bit);
		/* Bayer's bits, to start from and to stay near to */
		for (size_t c = 0; c < 4 && is_ordered; c++) {
			unsigned char *bit = picture->bit[c] + y * w;

			planes_compare(row[c],
			    priv->threshold[c] + y % DITHER_TILE * DITHER_TILE, bit, w);
			if (c < 3)
				planes_blacken(picture->black + y * w, bit, w);
		}
	}
}

/* ---- bits of whole frames, packed ---- */

static void
pack_rows(void *arg, size_t block)
{
	const struct packing *packing = arg;
	const struct priv *priv = packing->priv;
	size_t w = packing->in->head.w, h = packing->in->head.h;

	for (size_t y = block * PACKED_ROWS; y < h && y < (block + 1) * PACKED_ROWS; y++) {
		const unsigned char *bit[4];

		for (size_t c = 0; c < 4; c++)
			bit[c] = packing->bit[c] + y * w;
		planes_clear_row(packing->out, y);
		planes_pack(bit, &priv->keys, packing->out, y, 0, w, w);
		for (size_t x = 0; x < w && priv->keys.texture_bits == 8; x += PIECE)
			planes_pass_texture(priv, packing->in, packing->out, y, x,
			    w - x < PIECE ? w - x : PIECE);
	}
}

/* ---- a sample of the fringes, for fringes_judge() ---- */

#define SAMPLED_ROWS 64		/* at least, or all of fewer */
#define STEP_MOST 8		/* at least one row of 8 is sampled */
#define SAMPLED_PIXELS 65536	/* about: one costs as much as dithering some 200 */
#define AWAY 3			/* pixels to the background, which lossy formats mix in */
#define OFF_CIRCLE 25.5f	/* levels */

struct fringe {
	float sine, cosine;	/* less 127.5 */
	bool black;
};

static struct fringe
fringe_at(const struct frame *in, const size_t channel[2], size_t x, size_t y)
{
	float red = frame_sample(in, channel[0], y, x);
	float green = frame_sample(in, channel[1], y, x);

	return (struct fringe){ red - 127.5f, green - 127.5f, red + green < HOLO_BLACK };
}

/* Is no background near, and do fringes change little from pixel to pixel? */
static bool
is_flat(const struct frame *in, const size_t channel[2], size_t x, size_t y)
{
	static const int ways[][2] = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } };
	struct fringe here = fringe_at(in, channel, x, y);
	float rest = holo_rest(here.sine, here.cosine);

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (size_t far = 1; far <= AWAY; far++) {
			struct fringe near = fringe_at(in, channel,
			    x + far * (size_t)ways[i][0], y + far * (size_t)ways[i][1]);
			float turns = holo_rest(near.sine, near.cosine) - rest;

			turns -= px_round(turns);
			if (near.black || px_abs(turns) > (float)far * FRINGE_CIRCLE_FLAT)
				return false;
		}
	return true;
}

static void
look_at_fringes(const struct frame *in, const size_t channel[2], struct fringes_seen *seen)
{
	size_t step = in->head.h / SAMPLED_ROWS, columns;

	step = step < 1 ? 1 : step > STEP_MOST ? STEP_MOST : step;
	columns = in->head.h / step * in->head.w / SAMPLED_PIXELS + 1;
	for (size_t y = AWAY; y + AWAY < in->head.h; y += step)
		for (size_t x = AWAY; x + AWAY < in->head.w; x += columns) {
			struct fringe here = fringe_at(in, channel, x, y);
			float square = here.sine * here.sine + here.cosine * here.cosine;

			if (here.black)
				continue;
			seen->points++;
			seen->off += px_abs(px_sqrt(square) - 127.5f) > OFF_CIRCLE;
			if (is_flat(in, channel, x, y))
				fringe_circle_count(&seen->circle,
				    holo_rest(here.sine, here.cosine), sqrt((double)square));
		}
}

const struct dither3_rows AT_LEVEL(dither3_rows) = {
	.ordered = ordered,
	.look_at_fringes = look_at_fringes,
	.mark_turns = mark_turns,
	.mark_rows = mark_rows,
	.diffusion_floats = diffusion_floats,
	.diffuse_plane = diffuse_plane,
	.diffuse_serpentine = diffuse_serpentine,
	.load_picture = load_picture,
	.start_bits = start_bits,
	.pack_rows = pack_rows,
};
