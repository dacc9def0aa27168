/* Error diffusion: rows of a plane together in vectors, or all planes of a row that turns. */
#include "dither3.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/cpu_level.h"
#include "base/fail.h"
#include "base/transpose.h"
#include "planes.h"

#define ROWS 16			/* of a band: they are worked on together */
#define SKEW 3			/* pixels that each of them is behind the one above it */
#define DELAY (SKEW * (ROWS - 1))	/* of the last one behind the first */
#define LANES (CPU_VECTOR_BYTES / 4)
#define VECTORS (ROWS / LANES)
#define STEPS 64		/* pixels of each row that are brought together at a time */
#define MARGIN 48		/* floats before a row: DELAY, in whole vectors */
#define BEYOND (MARGIN + STEPS)	/* and behind it */

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

/* ---- rows from left to right ---- */

/*
 * A band of a plane. Step t works on pixel t - SKEW r of row r, in lane ROWS - 1 - r. Masks have a
 * bit of each lane.
 */
struct band {
	size_t stride;			/* floats from row to row */
	float *row;			/* shares of its ROWS rows, from their first pixel on */
	float *above, *below;		/* errors of the last row of the band above, of this one */
	float *spare[2];		/* rows that say what is background */
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

/* Bit `lane` becomes 0 where the row's pixel is none of the background. */
static void
clear_mask(const unsigned char *restrict black, uint16_t *restrict none, int lane, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		none[x] = (uint16_t)(none[x] & ~((1 - black[x]) << lane));
}

static void
load_row(const struct priv *priv, const struct frame *in, size_t c, size_t y,
    const struct band *band, size_t r)
{
	size_t w = in->head.w;
	float *row = band->row + r * band->stride;
	float *share[2] = { c == 0 ? row : band->spare[0], c == 1 ? row : band->spare[1] };

	if (c != 0 && c != 1)
		planes_shares(in, priv->channel[c], y, 0, w, row);
	if (c != 3) {
		planes_shares(in, priv->channel[0], y, 0, w, share[0]);
		planes_shares(in, priv->channel[1], y, 0, w, share[1]);
		planes_find_black(share[0], share[1], band->black, w);
		if (priv->to_circle && c != 2)
			planes_one_to_circle(row, share[1 - c], band->black, w);
	} else {
		memset(band->black, 0, w);
	}
	clear_mask(band->black, band->none + SKEW * r, (int)(ROWS - 1 - r), w);
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

/* What goes from step to step: the last errors, and those of the rows above at the pixel behind,
 * the same, the one ahead. */
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
write_bits(const uint16_t *restrict set, int lane, unsigned char *restrict bit, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		bit[x] = (unsigned char)(set[x] >> lane & 1);
}

struct raster {
	const struct priv *priv;
	const struct diffusion *diffusion;
	const struct frame *in;
};

static void
raster_plane(void *arg, size_t c)
{
	const struct raster *raster = arg;
	const struct diffusion *diffusion = raster->diffusion;
	size_t w = diffusion->w, h = diffusion->h;
	struct band band = band_of(diffusion->work + c * BAND_ROWS * row_floats(w), w);

	memset(band.above - MARGIN, 0, band.stride * sizeof(*band.above));
	for (size_t y = 0; y < h; y += ROWS) {
		size_t rows = h - y < ROWS ? h - y : ROWS;
		float *swap = band.above;

		memset(band.none, 0xff, (w + DELAY) * sizeof(*band.none));
		for (size_t r = 0; r < rows; r++)
			load_row(raster->priv, raster->in, c, y + r, &band, r);
		diffuse_band(&band, w);
		for (size_t r = 0; r < rows; r++)
			write_bits(band.set + SKEW * r, (int)(ROWS - 1 - r),
			    diffusion->bit[c] + (y + r) * w, w);
		band.above = band.below;
		band.below = swap;
	}
}

/* ---- there and back ---- */

/* Errors of a row and of the one above it, four planes a pixel, and a pixel before and behind them;
 * bits, of all planes. */
struct turning {
	four *above, *errors;
	unsigned char *set;
};

size_t
diffuse_work(size_t w)
{
	return 9 * (w + 2) + 4;
}

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

static void
take_bits(const unsigned char *restrict set, int plane, unsigned char *restrict bit, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		bit[x] = set[x] >> plane & 1;
}

/* Row y, into rows of the bits; what is above and what is made then change places. */
static void
turn_row(struct turning *turning, const float *const share[4], const unsigned char *black, size_t w,
    size_t y, unsigned char *const bit[4])
{
	four *swap = turning->above;

	diffuse_row(share, black, w, y % 2 ? -1 : 1, turning);
	for (size_t c = 0; c < 4; c++)
		take_bits(turning->set, (int)c, bit[c] + y * w, w);
	turning->above = turning->errors;
	turning->errors = swap;
}

void
diffuse_planes(float *const share[4], const unsigned char *black, size_t w, size_t h, float *work,
    unsigned char *const bit[4])
{
	struct turning turning = turning_of(work, w);

	for (size_t y = 0; y < h; y++) {
		const float *const row[4] = { share[0] + y * w, share[1] + y * w, share[2] + y * w,
			share[3] + y * w };

		turn_row(&turning, row, black + y * w, w, y, bit);
	}
}

/* ---- frames ---- */

void
diffusion_free(struct diffusion *diffusion)
{
	for (size_t c = 0; c < 4; c++)
		free(diffusion->bit[c]);
	free(diffusion->work);
	*diffusion = (struct diffusion){ 0 };
}

static int
diffusion_reserve(struct diffusion *diffusion, size_t w, size_t h)
{
	size_t floats = 4 * BAND_ROWS * row_floats(w);

	if (diffusion->w == w && diffusion->h == h)
		return 0;
	diffusion_free(diffusion);
	diffusion->work = aligned_alloc(64, floats * sizeof(*diffusion->work));
	if (!diffusion->work)
		return fail_memory();
	memset(diffusion->work, 0, floats * sizeof(*diffusion->work));
	for (size_t c = 0; c < 4; c++) {
		diffusion->bit[c] = calloc(h, w);
		if (!diffusion->bit[c])
			return fail_memory();
	}
	diffusion->w = w;
	diffusion->h = h;
	return 0;
}

static size_t
planes_of(const struct priv *priv)
{
	return priv->keys.texture_bits == 1 ? 4 : 3;
}

int
diffuse_raster(struct run *run, struct diffusion *diffusion, const struct frame *in)
{
	struct raster raster = { run->priv, diffusion, in };

	if (diffusion_reserve(diffusion, in->head.w, in->head.h) < 0)
		return -1;
	run_for(run, planes_of(raster.priv), raster_plane, &raster);
	return 0;
}

int
diffuse_serpentine(struct run *run, struct diffusion *diffusion, const struct frame *in)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w, h = in->head.h, stride = row_floats(w);
	float *row[4], *work;
	struct turning turning;
	unsigned char *black;

	if (diffusion_reserve(diffusion, w, h) < 0)
		return -1;
	work = diffusion->work;
	for (size_t c = 0; c < 4; c++)
		row[c] = work + c * stride;
	black = (unsigned char *)(work + 4 * stride);
	turning = turning_of(memset(work + 5 * stride, 0, diffuse_work(w) * sizeof(*work)), w);
	for (size_t y = 0; y < h; y++) {
		for (size_t c = 0; c < planes_of(priv); c++)
			planes_shares(in, priv->channel[c], y, 0, w, row[c]);
		planes_find_black(row[0], row[1], black, w);
		if (priv->to_circle)
			planes_to_circle(row[0], row[1], black, w);
		turn_row(&turning, (const float *const *)row, black, w, y, diffusion->bit);
	}
	return 0;
}
