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

/* ---- the mean of a pixel's phases (methods §5) ---- */

/* About the base: the first phase, or where that is missing the next one that is there. */
struct mean {
	float base, sum, squares, weight;
};

static inline struct mean
add_phase(struct mean mean, float phase, float scale, float weight)
{
	PX_F own = phasematch_single(phase, 1.0f);
	bool there = !px_isnan(own);
	PX_F more = px_select(there, phase_mean_more(own, scale, mean.base), 0.0f);
	PX_F share = px_select(there, weight, 0.0f);
	PX_F part = share * more;

	return (struct mean){ mean.base, mean.sum + part, mean.squares + part * more,
		mean.weight + share };
}

static inline bool
is_near(struct mean mean, float variance_most)
{
	PX_F weight = px_select(mean.weight > 0.0f, mean.weight, 1.0f);

	return phasematch_spread(mean.squares, mean.sum, weight) <= variance_most;
}

static inline float
mean_value(struct mean mean, float factor)
{
	PX_F weight = px_select(mean.weight > 0.0f, mean.weight, 1.0f);

	return phase_mean_of(mean.base, mean.sum, weight, factor);
}

/* Of n pixels, and how many have a phase; `phases`, 3 at most, is a constant where it is called. */
static inline __attribute__((always_inline)) void
few_phases(const struct value_map *map, const float *const phase[], size_t phases, float factor,
    float *restrict values, size_t n, size_t *there, size_t *inconsistent)
{
	const float *restrict a = phase[0], *restrict b = phase[1], *restrict c = phase[phases - 1];
	const float scale[3] = { map->scale[0], map->scale[1], phases > 2 ? map->scale[2] : 0 };
	const float weight[3] = { map->weight[0], map->weight[1],
		phases > 2 ? map->weight[2] : 0 };
	const float variance_most = map->variance_most;
	uint some = 0, far = 0;

	_Pragma("omp simd reduction(+:some, far)")
	for (size_t i = 0; i < n; i++) {
		PX_F first = phasematch_single(a[i], 1.0f);
		PX_F second = phasematch_single(b[i], scale[1]);
		PX_F base = px_select(px_isnan(first), second, first);
		PX_F last = phasematch_single(c[i], scale[2]);
		struct mean mean = { 0 };
		bool any, near;

		mean.base = phases > 2 ? px_select(px_isnan(base), last, base) : base;
		mean = add_phase(mean, a[i], scale[0], weight[0]);
		mean = add_phase(mean, b[i], scale[1], weight[1]);
		if (phases > 2)
			mean = add_phase(mean, c[i], scale[2], weight[2]);
		any = mean.weight > 0.0f;
		near = is_near(mean, variance_most);
		values[i] = px_select(px_both(any, near), mean_value(mean, factor), PX_NAN);
		some += any;
		far += px_both(any, !near);
	}
	*there += some;
	*inconsistent += far;
}

/* ---- of any number of phases, one after another ---- */

static void
begin(struct sums *restrict s, const float *restrict phase, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		s->base[i] = phasematch_single(phase[i], 1.0f);
		s->sum[i] = s->squares[i] = s->weight[i] = 0;
	}
}

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
		struct mean mean = { s->base[i], s->sum[i], s->squares[i], s->weight[i] };

		mean = add_phase(mean, phase[i], scale, weight);
		s->sum[i] = mean.sum;
		s->squares[i] = mean.squares;
		s->weight[i] = mean.weight;
	}
}

static void
finish(const struct sums *restrict s, float factor, float variance_most, float *restrict values,
    size_t n, size_t *there, size_t *inconsistent)
{
	uint some = 0, far = 0;

	_Pragma("omp simd reduction(+:some, far)")
	for (size_t i = 0; i < n; i++) {
		struct mean mean = { s->base[i], s->sum[i], s->squares[i], s->weight[i] };
		bool any = mean.weight > 0.0f, near = is_near(mean, variance_most);

		values[i] = px_select(px_both(any, near), mean_value(mean, factor), PX_NAN);
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
	if (map->phases <= 3) {
		const float *phase[3], factor = sign * map->unit;

		for (size_t k = 0; k < map->phases; k++)
			phase[k] = frame_floats(in, map->channel[k], y);
		if (map->phases == 2)
			few_phases(map, phase, 2, factor, values, w, &there, inconsistent);
		else
			few_phases(map, phase, 3, factor, values, w, &there, inconsistent);
		return there;
	}
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
