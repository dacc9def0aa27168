#include "value_map.h"

#include "base/cpu_level.h"
#include "phasematch.px.h"

#define TILE 256		/* pixels that are worked on together */

struct sums {
	float base[TILE], sum[TILE], squares[TILE], weight[TILE];
} __attribute__((aligned(64)));

static size_t
single_row(const float *restrict phase, float factor, float *restrict values, size_t w)
{
	uint there = 0;

	_Pragma("omp simd reduction(+:there)")
	for (size_t x = 0; x < w; x++) {
		float value = phasematch_single(phase[x], factor);

		values[x] = value;
		there += !px_isnan(value);
	}
	return there;
}

static void
begin(struct sums *restrict s, const float *restrict phase, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		s->base[i] = phasematch_single(phase[i], 1.0f);
		s->sum[i] = s->squares[i] = s->weight[i] = 0;
	}
}

/* Where the first phase is missing, the next one that is there takes its place. */
static void
fill_base(struct sums *restrict s, const float *restrict phase, float scale, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		s->base[i] = px_select(px_isnan(s->base[i]), phasematch_single(phase[i], scale),
		    s->base[i]);
}

static void
add(struct sums *restrict s, const float *restrict phase, float scale, float weight, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F own = phasematch_single(phase[i], 1.0f);
		bool there = !px_isnan(own);
		PX_F more = px_select(there, phase_mean_more(own, scale, s->base[i]), 0.0f);
		PX_F share = px_select(there, weight, 0.0f);
		PX_F part = share * more;

		s->sum[i] = s->sum[i] + part;
		s->squares[i] = s->squares[i] + part * more;
		s->weight[i] = s->weight[i] + share;
	}
}

static void
finish(const struct sums *restrict s, float factor, float variance_most, float *restrict values,
    size_t n, size_t *there, size_t *inconsistent)
{
	uint some = 0, far = 0;

	_Pragma("omp simd reduction(+:some, far)")
	for (size_t i = 0; i < n; i++) {
		bool any = s->weight[i] > 0.0f;
		PX_F weight = px_select(any, s->weight[i], 1.0f);
		bool near = phasematch_spread(s->squares[i], s->sum[i], weight) <= variance_most;
		PX_F value = phase_mean_of(s->base[i], s->sum[i], weight, factor);

		values[i] = px_select(px_both(any, near), value, PX_NAN);
		some += any;
		far += px_both(any, !near);
	}
	*there += some;
	*inconsistent += far;
}

static void
clear(float *restrict variance, float *restrict weight, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		variance[i] = weight[i] = 0;
}

static void
add_variance(const float *restrict phase, const float *restrict sigma, float scale, float weight,
    float *restrict variance, float *restrict sum, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		bool there = !px_isnan(phasematch_single(phase[i], 1.0f));
		PX_F share = weight * scale * sigma[i];

		variance[i] = variance[i] + px_select(there, share * share, 0.0f);
		sum[i] = sum[i] + px_select(there, weight, 0.0f);
	}
}

static void
write_sigma(const float *restrict variance, const float *restrict sum, float unit,
    float *restrict sigma, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		sigma[i] = phasematch_map_sigma(variance[i], sum[i], unit);
}

static void
sigma_row(const struct value_map *map, const struct frame *in, size_t y, size_t w, float *sigma)
{
	float variance[TILE], sum[TILE];

	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		clear(variance, sum, n);
		for (size_t k = 0; k < map->phases; k++)
			add_variance(frame_floats(in, map->channel[k], y) + x,
			    frame_floats(in, map->sigma[k], y) + x, map->scale[k],
			    map->weight[k], variance, sum, n);
		write_sigma(variance, sum, map->unit, sigma + x, n);
	}
}

size_t
value_map_row(const struct value_map *map, const struct frame *in, size_t y, size_t w, float sign,
    float *values, float *sigma, size_t *inconsistent)
{
	struct sums sums;
	size_t there = 0;

	*inconsistent = 0;
	if (sigma)
		sigma_row(map, in, y, w, sigma);
	if (map->phases == 1)
		return single_row(frame_floats(in, map->channel[0], y), sign * map->unit, values,
		    w);
	for (size_t x = 0; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		begin(&sums, frame_floats(in, map->channel[0], y) + x, n);
		for (size_t k = 1; k < map->phases; k++)
			fill_base(&sums, frame_floats(in, map->channel[k], y) + x, map->scale[k],
			    n);
		for (size_t k = 0; k < map->phases; k++)
			add(&sums, frame_floats(in, map->channel[k], y) + x, map->scale[k],
			    map->weight[k], n);
		finish(&sums, sign * map->unit, map->variance_most, values + x, n, &there,
		    inconsistent);
	}
	return there;
}
