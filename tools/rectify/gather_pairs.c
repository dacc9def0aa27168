#include "gather.h"

#include <math.h>

#include "base/cpu_level.h"

#define INLINE static inline __attribute__((always_inline))
#define TILE AROUND_TILE

/* Of one place. */
struct four {
	float a, b, c, d, fx, fy;
	bool valid;
};

INLINE struct four
four_of(const struct around_fours *samples, int x, const struct around *around)
{
	struct four four = { samples->a[x], samples->b[x], samples->c[x], samples->d[x],
		around->fx[x], around->fy[x], false };

	four.valid = px_both(px_both(px_both(!px_isnan(four.a), !px_isnan(four.b)),
	    px_both(!px_isnan(four.c), !px_isnan(four.d))), !px_isnan(four.fx));
	return four;
}

static void
linear_tile(const struct around_fours *restrict samples, const struct around *restrict around,
    struct rectify_channel channel, float *restrict out, int n)
{
	const float max_step = channel.max_step, saturated = channel.saturated;

	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct four v = four_of(samples, x, around);
		float least = px_min(px_min(v.a, v.b), px_min(v.c, v.d));
		float greatest = px_max(px_max(v.a, v.b), px_max(v.c, v.d));
		float value = rectify_limit(rectify_linear(v.a, v.b, v.c, v.d, v.fx, v.fy), least,
		    greatest, max_step, saturated);

		out[x] = px_select(v.valid, value, PX_NAN);
	}
}

static void
sigma_tile(const struct around_fours *restrict samples, const struct around *restrict around,
    float *restrict out, int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct four v = four_of(samples, x, around);

		out[x] = px_select(v.valid, rectify_sigma(v.a, v.b, v.c, v.d, v.fx, v.fy), PX_NAN);
	}
}

/* Means of sines and of cosines; sines are NaN where a sample is missing. */
static void
direction_tile(const struct around_fours *restrict sines,
    const struct around_fours *restrict cosines, const struct around *restrict around,
    float *restrict sine, float *restrict cosine, int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct four s = four_of(sines, x, around), c = four_of(cosines, x, around);

		sine[x] = px_select(s.valid, rectify_linear(s.a, s.b, s.c, s.d, s.fx, s.fy),
		    PX_NAN);
		cosine[x] = rectify_linear(c.a, c.b, c.c, c.d, c.fx, c.fy);
	}
}

void
gather_directions(const float *restrict sine, const float *restrict cosine, float *restrict out,
    int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++)
		out[x] = px_select(px_isnan(sine[x]), PX_NAN,
		    rectify_direction(sine[x], cosine[x]));
}

/* NaN where the samples' own phases differ too much. */
static void
limit_tile(const struct around_fours *restrict phases, const struct around *restrict around,
    float max_step, float *restrict out, int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct four p = four_of(phases, x, around);
		float b = rectify_turn(p.b, p.a), d = rectify_turn(p.d, p.a);
		float e = rectify_turn(p.c, p.a);

		out[x] = rectify_limit(out[x], px_min(px_min(0.0f, b), px_min(e, d)),
		    px_max(px_max(0.0f, b), px_max(e, d)), max_step, INFINITY);
	}
}

void
gather_pairs(const struct gathering *gathering, const uint *column, const uint *row, float *out,
    int n)
{
	const struct rectify_channel *channel = &gathering->channel;
	struct around around;
	struct around_fours samples, cosines;
	float sine[TILE], cosine[TILE];

	around_find(&around, gathering->planes, column, row, n);
	around_take_fours(&around, gathering->from[0], &samples, n);
	if (channel->kind == RECTIFY_SIGMA) {
		sigma_tile(&samples, &around, out, n);
	} else if (channel->kind != RECTIFY_WRAPPED) {
		linear_tile(&samples, &around, *channel, out, n);
	} else {
		around_take_fours(&around, gathering->from[1], &cosines, n);
		direction_tile(&samples, &cosines, &around, sine, cosine, n);
		gather_directions(sine, cosine, out, n);
	}
	if (channel->kind == RECTIFY_WRAPPED && channel->max_step < INFINITY) {
		around_take_fours(&around, gathering->phase, &samples, n);
		limit_tile(&samples, &around, channel->max_step, out, n);
	}
}
