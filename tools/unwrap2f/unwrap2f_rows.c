/* unwrap2f on the processor. */
#include "unwrap2f.h"

#include <float.h>
#include <string.h>

#include "base/cpu_level.h"
#include "run/stage.h"
#include "unwrap2f.px.h"
#include "unwrap_tile.h"

#define TILE UNWRAP_TILE

static void
weigh_phase(const float *restrict phase, float weight, bool begin,
    struct unwrap_tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		tile->signal[i] = (begin ? 0 : tile->signal[i]) + weight * phase[i];
		tile->bad[i] |= px_isnan(phase[i]);
	}
}

static void
weigh_two(const float *restrict a, const float *restrict b, float weight_a, float weight_b,
    struct unwrap_tile *restrict tile, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		tile->signal[i] = weight_a * a[i] + weight_b * b[i];
		tile->bad[i] |= (uint)px_isnan(a[i]) | (uint)px_isnan(b[i]);
	}
}

/* A single phase stays as it is, to the bit. Sums are not wrapped: the orders count their turns. */
static void
load_signal(const struct frame *in, const struct unwrap_step *step, size_t y, size_t x, size_t n,
    struct unwrap_tile *tile)
{
	const float *first = frame_floats(in, step->channel[0], y) + x;

	if (step->n == 2) {
		weigh_two(first, frame_floats(in, step->channel[1], y) + x, step->weight[0],
		    step->weight[1], tile, n);
		return;
	}
	weigh_phase(first, step->weight[0], true, tile, n);
	for (size_t i = 1; i < step->n; i++)
		weigh_phase(
		    frame_floats(in, step->channel[i], y) + x, step->weight[i], false, tile, n);
}

static void
start_above(struct unwrap_tile *restrict tile, size_t n, float lo, float slope)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];

		tile->absolute[i] = unwrap2f_absolute(phi,
		    unwrap2f_turns_above(phi, lo + slope * (float)(int)i));
		tile->residual[i] = 0;
	}
}

static void
start_predicted(struct unwrap_tile *restrict tile, size_t n, const float *restrict index,
    float step, float offset)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F estimate = unwrap2f_order_estimate(index[i] * step + offset, 1, phi);
		PX_F k = px_round(estimate);

		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = estimate - k;
		tile->bad[i] |= px_isnan(index[i]);
	}
}

static void
start_counted(struct unwrap_tile *restrict tile, size_t n, const float *restrict index,
    float offset)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F k = unwrap2f_counted(index[i], phi, offset);

		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = index[i] + 0.5f - (phi + offset) * UNWRAP2F_TURN - k;
		tile->bad[i] |= px_isnan(index[i]);
	}
}

static void
next_step(struct unwrap_tile *restrict tile, size_t n, const struct unwrap_step *restrict step)
{
	float ratio = step->ratio, lo = step->lo, hi = step->hi, span = step->span;

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F estimate = unwrap2f_order_estimate(tile->absolute[i], ratio, phi);
		PX_F k;

		estimate = unwrap2f_seam(estimate, phi, lo, hi, span);
		k = px_round(estimate);
		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = unwrap2f_worse(tile->residual[i], estimate - k);
	}
}

/* A residual of the search has no upper end, but at half the way to the next order it is a
 * guess. */
#define LEFT_MOST 0.5f

static void
limit_left(float *restrict residual, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		residual[i] = px_select(residual[i] > LEFT_MOST, LEFT_MOST, residual[i]);
}

static void
judge(struct unwrap_tile *restrict tile, size_t n, bool search, float most)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		float residual = tile->residual[i];

		residual = px_select(search & (residual > LEFT_MOST), LEFT_MOST, residual);
		tile->residual[i] = residual;
		tile->bad[i] |= (uint)!(px_abs(residual) <= most);
	}
}

static void
store(const uint *restrict bad, size_t n, const float *restrict from, float *restrict to)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		to[i] = px_select((bad[i] != 0) | px_isnan(from[i]), PX_NAN, from[i]);
}

static void
store_tile(const struct unwrap2f *unwrap, const struct unwrap_tile *tile, struct frame *out,
    size_t y, size_t x, size_t n)
{
	const struct phase_orders *orders = &unwrap->orders;

	store(tile->bad, n, orders->wanted ? tile->result : tile->absolute,
	    frame_floats(out, 0, y) + x);
	store(tile->bad, n, tile->residual, frame_floats(out, 1, y) + x);
	for (size_t p = 0; orders->all && p < orders->phases; p++)
		store(tile->bad, n, tile->own[p], frame_floats(out, orders->own[p], y) + x);
}

static void
start_known(struct unwrap_tile *restrict tile, size_t n, const float *restrict coarse)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		tile->absolute[i] = coarse[i];
		tile->residual[i] = 0;
		tile->bad[i] |= px_isnan(coarse[i]);
	}
}

/* The first step. Line positions count from the left border, so they do not depend on tiles. */
static void
start(const struct unwrap_steps *steps, const struct frame *in, size_t y, size_t x, size_t n,
    struct unwrap_tile *tile)
{
	const float *index = frame_floats(in, steps->index, y) + x, *slope = steps->line_slope;

	load_signal(in, &steps->step[0], y, x, n, tile);
	switch (steps->start) {
	case START_FIELD:
		start_above(tile, n, steps->step[0].lo, 0);
		break;
	case START_LINE:
		start_above(tile, n, steps->line_offset + slope[0] * (float)x + slope[1] * (float)y,
		    slope[0]);
		break;
	case START_SPATIAL:
		start_known(tile, n, frame_floats(steps->coarse, 0, y) + x);
		break;
	case START_PREDICTED:
		start_predicted(tile, n, index, steps->gray_step, steps->gray_offset);
		break;
	case START_COUNTED:
		start_counted(tile, n, index, steps->gray_offset);
		break;
	}
}

static void
unwrap_tile(const struct unwrap_steps *steps, const struct frame *in, size_t y, size_t x, size_t n,
    struct unwrap_tile *tile)
{
	start(steps, in, y, x, n, tile);
	for (size_t r = 1; r < steps->n; r++) {
		load_signal(in, &steps->step[r], y, x, n, tile);
		next_step(tile, n, &steps->step[r]);
	}
}

/* The usual sequence: from the beat of two phases to one of the phases. */
static bool
is_by_beat(const struct unwrap_steps *steps)
{
	return steps->start == START_FIELD && steps->n == 2 && steps->step[0].n == 2 &&
	    steps->step[1].n == 1 && steps->step[1].weight[0] == 1;
}

/* Between these positions, in turns, unwrap2f_seam changes nothing: the order that it compares lies
 * more than an eighth outside the field, and four times that tells more against it than a rest of
 * half a turn. */
static void
between_seams(const struct unwrap_step *step, float *lo, float *hi)
{
	*lo = px_max(step->lo, step->hi - step->span + 1.15f);
	*hi = px_min(step->hi, step->lo + step->span - 1.15f);
}

/*
 * All of it and the result in one go. A missing phase is NaN all the way to `rest`, which then is
 * not within the limit. Do all pixels lie between the seams? Without `seam` the others may be
 * wrong.
 */
static inline __attribute__((always_inline)) bool
unwrap_by_beat(const struct unwrap_steps *steps, const float *restrict a, const float *restrict b,
    const float *restrict phase, size_t n, bool seam, float most, float *restrict absolute,
    float *restrict residual)
{
	const struct unwrap_step *beat = &steps->step[0], *step = &steps->step[1];
	float weight_a = beat->weight[0], weight_b = beat->weight[1], first = beat->lo;
	float ratio = step->ratio, lo = step->lo, hi = step->hi, span = step->span;
	float inner_lo, inner_hi;
	uint outside = 0;

	between_seams(step, &inner_lo, &inner_hi);
	_Pragma("omp simd reduction(|:outside)")
	for (size_t i = 0; i < n; i++) {
		PX_F phi = weight_a * a[i] + weight_b * b[i];
		PX_F coarse = unwrap2f_absolute(phi, unwrap2f_turns_above(phi, first));
		PX_F estimate = unwrap2f_order_estimate(coarse, ratio, phase[i]);
		PX_F turns = phase[i] * UNWRAP2F_TURN, k = px_round(estimate);
		PX_F rest = estimate - k, v = k + turns;
		bool good;

		outside |= (uint)((v < inner_lo) | (v > inner_hi));
		if (seam) {	/* unwrap2f_seam, whose order and rest are known already */
			PX_F other = estimate + unwrap2f_other_end(v, lo, hi, span);
			PX_F other_k = px_round(other);
			PX_F other_rest = other - other_k;
			bool better = unwrap2f_against(other_rest, other_k + turns, lo, hi) <
			    unwrap2f_against(rest, v, lo, hi);

			k = px_select(better, other_k, k);
			rest = px_select(better, other_rest, rest);
		}
		good = px_abs(rest) <= most;
		absolute[i] = px_select(good, unwrap2f_absolute(phase[i], k), PX_NAN);
		residual[i] = px_select(good, rest, PX_NAN);
	}
	return outside == 0;
}

#define PIECE 256	/* of a row, that lies between the seams or not */

struct beat_rows {
	const float *a, *b, *phase;
	float *absolute, *residual;
	float most;			/* residual */
};

/* n pixels from x on. True if all of them lie between the seams. */
static inline __attribute__((always_inline)) bool
unwrap_piece(const struct unwrap_steps *steps, const struct beat_rows *rows, size_t x, size_t n,
    bool seam)
{
	return unwrap_by_beat(steps, rows->a + x, rows->b + x, rows->phase + x, n, seam,
	    rows->most, rows->absolute + x, rows->residual + x);
}

/* Likewise a row of w pixels, the pieces that do not lie between the seams by themselves. */
static bool
unwrap_pieces(const struct unwrap_steps *steps, const struct beat_rows *rows, size_t w)
{
	bool inside = true, all = true;

	for (size_t x = 0; x < w; x += PIECE) {
		size_t n = w - x < PIECE ? w - x : PIECE;

		if (inside)
			inside = unwrap_piece(steps, rows, x, n, false);
		if (!inside)
			inside = unwrap_piece(steps, rows, x, n, true);
		all &= inside;
	}
	return all;
}

/* Row y. `inside`: the last row lay between the seams, so that this one is likely to; then whether
 * it does. */
static void
unwrap_row_by_beat(const struct unwrap_steps *steps, const struct frame *in, size_t y, float most,
    float *absolute, float *residual, bool *inside)
{
	const struct unwrap_step *beat = &steps->step[0];
	struct beat_rows rows = { frame_floats(in, beat->channel[0], y),
		frame_floats(in, beat->channel[1], y),
		frame_floats(in, steps->step[1].channel[0], y), absolute, residual, most };

	if (*inside && unwrap_piece(steps, &rows, 0, in->head.w, false))
		return;
	*inside = unwrap_pieces(steps, &rows, in->head.w);
}

/* Takes out what is beyond the limit. */
static void
limit(float *restrict absolute, float *restrict residual, float most, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool good = px_abs(residual[i]) <= most;

		absolute[i] = px_select(good, absolute[i], PX_NAN);
		residual[i] = px_select(good, residual[i], PX_NAN);
	}
}

/* The usual sequence. The check counts residuals beyond the limit too, so the limit comes after. */
static void
beat_row(const struct unwrap2f *unwrap, const struct frame *in, struct frame *out, size_t y,
    uint count[RESIDUAL_CHECK_BINS], bool *inside)
{
	float *absolute = frame_floats(out, 0, y), *residual = frame_floats(out, 1, y);

	unwrap_row_by_beat(&unwrap->steps, in, y, count ? FLT_MAX : unwrap->max_residual, absolute,
	    residual, inside);
	if (count) {
		residual_check_add(&unwrap->check, 0, y, residual, NULL, in->head.w, count);
		beat_check_add(&unwrap->beat, 0, y, absolute, residual, NULL, in->head.w);
		limit(absolute, residual, unwrap->max_residual, in->head.w);
	}
}

/* Whole tiles whose orders the table gives at once. As for the usual sequence, the check comes
 * before the limits. */
static bool
store_direct(const struct unwrap2f *unwrap, const struct frame *in, struct frame *out, size_t y,
    size_t x, size_t n, uint count[RESIDUAL_CHECK_BINS])
{
	struct phase_rows rows;
	float *absolute = frame_floats(out, 0, y) + x, *residual = frame_floats(out, 1, y) + x;

	if (unwrap->method != METHOD_BEST || !unwrap->search.table || unwrap->orders.wanted)
		return false;
	rows = order_search_rows(&unwrap->search, in, y, x);
	if (!order_table_direct(&unwrap->search, &rows, n, count ? FLT_MAX : LEFT_MOST,
	    count ? FLT_MAX : unwrap->max_residual, absolute, residual))
		return false;
	if (count) {
		residual_check_add(&unwrap->check, x, y, residual, NULL, n, count);
		limit_left(residual, n);
		limit(absolute, residual, unwrap->max_residual, n);
	}
	return true;
}

static void
tiled_row(const struct unwrap2f *unwrap, const struct frame *in, struct frame *out, size_t y,
    uint count[RESIDUAL_CHECK_BINS])
{
	bool search = unwrap->method == METHOD_BEST, direct = true, ordered;
	struct unwrap_tile tile;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		if (direct && store_direct(unwrap, in, out, y, x, n, count))
			continue;
		memset(tile.bad, 0, sizeof(tile.bad));
		ordered = unwrap->steps.n > 0;
		if (search)
			ordered &= order_search_begin(&unwrap->search, in, y, x, n, &tile);
		if (ordered)
			unwrap_tile(&unwrap->steps, in, y, x, n, &tile);
		if (search)
			order_search_end(&unwrap->search, in, y, x, n, ordered, &tile);
		if (count)
			residual_check_add(&unwrap->check, x, y, tile.residual, tile.bad, n,
			    count);
		beat_check_add(&unwrap->beat, x, y, tile.absolute, tile.residual, tile.bad, n);
		judge(&tile, n, search, unwrap->max_residual);
		if (unwrap->orders.wanted)
			phase_orders_tile(&unwrap->orders, in, y, x, n, &tile);
		store_tile(unwrap, &tile, out, y, x, n);
		direct = search && tile.by_table && tile.sure;	/* the next may be alike */
	}
}

void
unwrap2f_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0,
    size_t y1, const struct row_scratch *scratch)
{
	const struct unwrap2f *unwrap = run->priv;
	bool by_beat = unwrap->method != METHOD_BEST && !unwrap->orders.wanted &&
	    is_by_beat(&unwrap->steps), inside = true;

	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		bool wanted = residual_check_wanted(&unwrap->check, y) ||
		    beat_check_wanted(&unwrap->beat, y);
		uint count[RESIDUAL_CHECK_BINS];

		if (wanted)
			memset(count, 0, sizeof(count));
		if (by_beat)
			beat_row(unwrap, in, out, y, wanted ? count : NULL, &inside);
		else
			tiled_row(unwrap, in, out, y, wanted ? count : NULL);
		if (wanted)
			residual_check_keep(&unwrap->check, y, count);
		if (unwrap->sigma.phases)
			unwrap_sigma_row(&unwrap->sigma, &unwrap->orders, in, out, y);
		if (jump_check_wanted(&unwrap->jumps, y))
			jump_check_row(&unwrap->jumps, in, frame_floats(out, 0, y), y);
		offset_check_row(&unwrap->offset, in, frame_floats(out, 0, y), y);
		if (unwrap->spatial.on)
			spatial_label_row(&unwrap->spatial, frame_floats(out, 0, y), y, in->head.w,
			    frame_floats(out, unwrap->made - 1, y));
		for (size_t c = unwrap->made; c < out->head.c; c++)
			frame_pass(in, unwrap->source_channel[c], out, c, y);
	}
}
