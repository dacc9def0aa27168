#include "gather.h"

#include <math.h>

#include "base/cpu_level.h"

#define INLINE static inline __attribute__((always_inline))
#define TILE AROUND_TILE

/* Of 4x4 samples. */
struct sixteen {
	float value, least, greatest;
	bool valid;
};

/* Values of the 4x4 samples of the places of a tile. */
struct quads {
	float row[4][TILE][4];
};

/* What the values of 4x4 samples become before they are summed. */
enum of_samples { VALUES, SQUARES, TURNS };	/* TURNS: differences from the first's phase */

INLINE void
add_sample(struct sixteen *out, float *sum, float v, float first, float weight,
    enum of_samples what)
{
	out->valid = px_both(out->valid, !px_isnan(v));
	if (what == TURNS)
		v = rectify_turn(v, first);
	out->least = px_min(out->least, v);
	out->greatest = px_max(out->greatest, v);
	*sum += what == SQUARES ? weight * weight * (v * v) : weight * v;
}

INLINE void
add_four(struct sixteen *out, const float four[4], const float wx[4], float wy, float first,
    enum of_samples what)
{
	float sum = 0;

	add_sample(out, &sum, four[0], first, wx[0], what);
	add_sample(out, &sum, four[1], first, wx[1], what);
	add_sample(out, &sum, four[2], first, wx[2], what);
	add_sample(out, &sum, four[3], first, wx[3], what);
	out->value += what == SQUARES ? wy * wy * sum : wy * sum;
}

INLINE struct sixteen
sixteen_of(const struct quads *quads, int x, const struct around *around, enum of_samples what)
{
	float fx = around->fx[x], fy = around->fy[x];
	const float wx[4] = { rectify_weight_before(fx), rectify_weight_at(fx),
		rectify_weight_next(fx), rectify_weight_beyond(fx) };
	struct sixteen out = { 0, INFINITY, -INFINITY, !px_isnan(around->fx[x]) };
	float first = quads->row[1][x][1];

	add_four(&out, quads->row[0][x], wx, rectify_weight_before(fy), first, what);
	add_four(&out, quads->row[1][x], wx, rectify_weight_at(fy), first, what);
	add_four(&out, quads->row[2][x], wx, rectify_weight_next(fy), first, what);
	add_four(&out, quads->row[3][x], wx, rectify_weight_beyond(fy), first, what);
	return out;
}

static void
cubic_tile(const struct quads *restrict quads, const struct around *restrict around,
    struct rectify_channel channel, float *restrict out, int n)
{
	const float max_step = channel.max_step, saturated = channel.saturated;

	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct sixteen v = sixteen_of(quads, x, around, VALUES);

		out[x] = px_select(v.valid, rectify_limit(v.value, v.least, v.greatest, max_step,
		    saturated), PX_NAN);
	}
}

static void
cubic_sigma_tile(const struct quads *restrict quads, const struct around *restrict around,
    float *restrict out, int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct sixteen v = sixteen_of(quads, x, around, SQUARES);

		out[x] = px_select(v.valid, px_sqrt(v.value), PX_NAN);
	}
}

/* Of a direction's sines or cosines: the sum; NaN where one is missing. */
static void
cubic_sum_tile(const struct quads *restrict quads, const struct around *restrict around,
    float *restrict out, int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct sixteen v = sixteen_of(quads, x, around, VALUES);

		out[x] = px_select(v.valid, v.value, PX_NAN);
	}
}

static void
cubic_limit_tile(const struct quads *restrict phases, const struct around *restrict around,
    float max_step, float *restrict out, int n)
{
	CPU_SIMD
	for (int x = 0; x < n; x++) {
		struct sixteen t = sixteen_of(phases, x, around, TURNS);
		float value = rectify_limit(out[x], t.least, t.greatest, max_step, INFINITY);

		out[x] = px_select(t.valid, value, PX_NAN);
	}
}

void
gather_quads(const struct gathering *gathering, const uint *column, const uint *row, float *out,
    int n)
{
	const struct rectify_channel *channel = &gathering->channel;
	struct around around;
	struct quads quads;
	float sine[TILE], cosine[TILE];

	around_find(&around, gathering->planes, column, row, n);
	around_take_quads(&around, gathering->from[0], quads.row, n);
	if (channel->kind == RECTIFY_SIGMA) {
		cubic_sigma_tile(&quads, &around, out, n);
	} else if (channel->kind != RECTIFY_WRAPPED) {
		cubic_tile(&quads, &around, *channel, out, n);
	} else {
		cubic_sum_tile(&quads, &around, sine, n);
		around_take_quads(&around, gathering->from[1], quads.row, n);
		cubic_sum_tile(&quads, &around, cosine, n);
		gather_directions(sine, cosine, out, n);
	}
	if (channel->kind == RECTIFY_WRAPPED && channel->max_step < INFINITY) {
		around_take_quads(&around, gathering->phase, quads.row, n);
		cubic_limit_tile(&quads, &around, channel->max_step, out, n);
	}
}
