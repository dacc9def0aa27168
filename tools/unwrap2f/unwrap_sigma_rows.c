/* Standard deviations on the processor; the same arithmetic as unwrap2f_sigma.comp. */
#include "unwrap_sigma.h"

#include "base/cpu_level.h"
#include "unwrap2f.px.h"

#define TILE 256

/* Pixels of a row that are worked on together. */
struct deviations {
	float base[TILE];			/* the base's absolute phase */
	float off[UNWRAP_PHASES_MOST][TILE];	/* a phase off the base's line, in turns */
	float certain[UNWRAP_PHASES_MOST][TILE];	/* 1/sigma^2, 0 where it is not there */
	float norm[TILE], own_cost[TILE], cost[TILE], square[TILE], shift[TILE], rest[TILE];
	float sum[TILE], weight[TILE], variance[TILE];
} __attribute__((aligned(64)));

static void
start(struct deviations *restrict d, const float *restrict absolute, const float *restrict phase,
    float per_turn, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		d->base[i] = unwrap2f_base(absolute[i], per_turn, phase[i]);
		d->norm[i] = d->sum[i] = d->weight[i] = d->variance[i] = d->rest[i] = 0;
	}
}

static void
take_phase(struct deviations *restrict d, size_t p, const float *restrict phase,
    const float *restrict sigma, float ratio, size_t n)
{
	float *restrict off = d->off[p], *restrict certain = d->certain[p];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F v = d->base[i] * UNWRAP2F_TURN, turns = phase[i] * UNWRAP2F_TURN;
		PX_F known = unwrap2f_certain(phase[i], sigma[i]), e;
		bool there = known > 0.0f;

		e = unwrap2f_mismatch(px_select(there, v, 0.0f), ratio,
		    px_select(there, turns, 0.0f));
		off[i] = e;
		certain[i] = known;
		d->norm[i] = d->norm[i] + known * (ratio * ratio);
	}
}

/* A phase's share of the mean, in radians of the base. */
static void
add_to_mean(struct deviations *restrict d, const float *restrict phase,
    const float *restrict certain, float ratio, float scale, float weight, bool by_sigma, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = certain[i] > 0.0f;
		PX_F own = unwrap2f_ordered(d->base[i], ratio, px_select(there, phase[i], 0.0f));
		PX_F more = phase_mean_more(own, scale, d->base[i]);
		PX_F share = by_sigma ? certain[i] * (ratio * ratio) : weight;
		PX_F part = share * more, spread = unwrap2f_spread(share, scale, certain[i]);

		d->sum[i] = d->sum[i] + px_select(there, part, 0.0f);
		d->weight[i] = d->weight[i] + px_select(there, share, 0.0f);
		d->variance[i] = d->variance[i] + px_select(there, spread, 0.0f);
	}
}

static void
write_mean(const struct deviations *restrict d, float ratio, bool by_sigma,
    float *restrict absolute, float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = px_both(d->weight[i] > 0.0f, !px_isnan(absolute[i]));
		PX_F weight = px_select(there, d->weight[i], 1.0f);
		PX_F mean = phase_mean_of(d->base[i], d->sum[i], weight, ratio);
		PX_F deviation = px_divide(px_sqrt(d->variance[i]), weight) * ratio;

		absolute[i] = px_select(px_both(there, by_sigma), mean, absolute[i]);
		sigma[i] = px_select(there, deviation, PX_NAN);
	}
}

static void
write_own(const float *restrict own, const float *restrict absolute, float *restrict sigma,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		sigma[i] = px_select(px_isnan(absolute[i]), PX_NAN, own[i]);
}

static void
clear_cost(struct deviations *restrict d, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		d->square[i] = d->shift[i] = 0;
}

/* What tells against the line of `orders` more: chi squared. */
static void
add_cost(struct deviations *restrict d, size_t p, float ratio, float orders, size_t n)
{
	const float *restrict off = d->off[p], *restrict certain = d->certain[p];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F e = unwrap2f_rival(off[i], ratio, orders);
		PX_F weighed = e * certain[i];

		d->square[i] = d->square[i] + weighed * e;
		d->shift[i] = d->shift[i] + weighed * ratio;
	}
}

static void
end_cost(struct deviations *restrict d, float *restrict cost, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		cost[i] = unwrap2f_chi(d->square[i], d->shift[i], d->norm[i]);
}

static void
add_rival(struct deviations *restrict d, float orders, float lo, float hi, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F v = d->base[i] * UNWRAP2F_TURN;

		d->rest[i] = d->rest[i] + unwrap2f_odds(d->cost[i], d->own_cost[i], v + orders, lo,
		    hi);
	}
}

static void
add_seam(struct deviations *restrict d, float seam, float first, float last, size_t n)
{
	const float *restrict certain = d->certain[0];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F v = d->base[i] * UNWRAP2F_TURN;

		d->rest[i] = d->rest[i] + unwrap2f_again(v, seam, certain[i], first, last);
	}
}

static void
write_p(const struct deviations *restrict d, const float *restrict absolute, float *restrict p,
    size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		p[i] = px_select(px_isnan(absolute[i]) | px_isnan(d->base[i]), PX_NAN,
		    unwrap2f_p(d->rest[i]));
}

static void
costs(struct deviations *d, const struct phase_orders *orders, size_t phases, float further,
    float *cost, size_t n)
{
	clear_cost(d, n);
	for (size_t p = 0; p < phases; p++)
		add_cost(d, p, orders->ratio[p], further, n);
	end_cost(d, cost, n);
}

static void
deviate(const struct unwrap_sigma *sigma, const struct phase_orders *orders,
    const struct frame *in, struct frame *out, size_t y, size_t x, size_t n, struct deviations *d)
{
	float *absolute = frame_floats(out, 0, y) + x, *to = frame_floats(out, sigma->sigma, y) + x;
	bool by_sigma = sigma->mean == MEAN_SIGMAS;

	start(d, absolute, frame_floats(in, orders->channel[0], y) + x,
	    orders->scale[orders->target], n);
	for (size_t p = 0; p < sigma->phases; p++)
		take_phase(d, p, frame_floats(in, orders->channel[p], y) + x,
		    frame_floats(in, sigma->channel[p], y) + x, orders->ratio[p], n);
	for (size_t p = 0; p < sigma->phases && sigma->mean != MEAN_NONE; p++)
		add_to_mean(d, frame_floats(in, orders->channel[p], y) + x, d->certain[p],
		    orders->ratio[p], orders->scale[p], orders->weight[p], by_sigma, n);
	if (sigma->mean == MEAN_NONE)
		write_own(frame_floats(in, sigma->channel[orders->target], y) + x, absolute, to, n);
	else
		write_mean(d, orders->ratio[orders->target], by_sigma, absolute, to, n);
	if (sigma->p_order == NO_CHANNEL)
		return;
	costs(d, orders, sigma->phases, 0, d->own_cost, n);
	for (size_t k = 0; k < sigma->rivals; k++) {
		costs(d, orders, sigma->phases, sigma->rival[k], d->cost, n);
		add_rival(d, sigma->rival[k], sigma->lo, sigma->hi, n);
	}
	if (sigma->seam > 0)
		add_seam(d, sigma->seam, sigma->first, sigma->last, n);
	write_p(d, absolute, frame_floats(out, sigma->p_order, y) + x, n);
}

void
unwrap_sigma_row(const struct unwrap_sigma *sigma, const struct phase_orders *orders,
    const struct frame *in, struct frame *out, size_t y)
{
	struct deviations d;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE)
		deviate(sigma, orders, in, out, y, x, w - x < TILE ? w - x : TILE, &d);
}
