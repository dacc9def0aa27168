#include "window.h"

#include <string.h>

#include "base/cpu_level.h"
#include "undither3.px.h"

#define GROUP 4			/* neighbours of a row in turn; an odd number of them is a row */

/* Phasors of the carrier of each pixel, k pixels away. */
struct carrier {
	float cosine[2 * DITHER_REACH_MOST + 1][SPAN], sine[2 * DITHER_REACH_MOST + 1][SPAN];
};

static void
carrier_fill(const float *restrict frequency, struct carrier *restrict carrier, size_t reach,
    size_t n)
{
	for (size_t k = 0; k <= 2 * reach; k++) {
		float away = (float)(int)k - (float)(int)reach;
		float *restrict c = carrier->cosine[k], *restrict s = carrier->sine[k];

		CPU_SIMD
		for (size_t i = 0; i < n; i++) {
			PX_F turn = undither3_carrier(away, frequency[i]);

			c[i] = px_cos(turn);
			s[i] = px_sin(turn);
		}
	}
}

/* A row of neighbours of n pixels: planes and weights are at the first of them, and so are the
 * carrier's phasors along the row. */
struct neighbours {
	const float *sine, *cosine, *inside, *rest, *order;
	const float *fringe, *stair;	/* weights */
	const float *cosine_x, *sine_x, *cosine_y, *sine_y;
	float dx, dy;			/* how far the first of them is */
};

/* Several neighbours in turn, so that sums stay in registers for so long. */
static inline __attribute__((always_inline)) void
add_neighbours(const struct neighbours *there, const int count, const float *restrict rest,
    const float *restrict right, const float *restrict down, struct sums *restrict sums, size_t n)
{
	const float *restrict cx = there->cosine_x, *restrict sx = there->sine_x;
	const float *restrict cy = there->cosine_y, *restrict sy = there->sine_y;
	const float *restrict sine = there->sine, *restrict cosine = there->cosine;
	const float *restrict inside = there->inside, *restrict rests = there->rest;
	const float *restrict orders = there->order;
	float dx = there->dx, dy = there->dy, fringe[GROUP], stair[GROUP];

	memcpy(fringe, there->fringe, (size_t)count * sizeof(*fringe));
	memcpy(stair, there->stair, (size_t)count * sizeof(*stair));
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct undither3_sums sum = { sums->cosine[i], sums->sine[i], sums->fringe[i],
			sums->order[i], sums->weight[i] };

#pragma GCC unroll 8
		for (int k = 0; k < count; k++) {
			size_t at = i + (size_t)k, phasor = i + (size_t)k * SPAN;
			struct undither3_neighbour that = { sine[at], cosine[at], inside[at],
				rests[at], orders[at] };

			sum = undither3_add(sum, that, rest[i], right[i], down[i], cx[phasor],
			    sx[phasor], cy[i], sy[i], dx + (float)k, dy, fringe[k], stair[k]);
		}
		sums->cosine[i] = sum.cosine;
		sums->sine[i] = sum.sine;
		sums->fringe[i] = sum.fringe;
		sums->order[i] = sum.order;
		sums->weight[i] = sum.weight;
	}
}

void
window_sum(const struct planes *planes, const struct kernels *kernels, size_t y, size_t x, size_t n,
    struct sums *sums)
{
	size_t at = (y + MARGIN) * planes->stride + x + MARGIN, reach = kernels->reach;
	const float *rest = planes->rest + at, *right = planes->right + at;
	const float *down = planes->down + at;
	struct carrier along, across;

	memset(sums, 0, sizeof(*sums));
	carrier_fill(right, &along, reach, n);
	carrier_fill(down, &across, reach, n);
	for (size_t ky = 0; ky <= 2 * reach; ky++)
		for (size_t kx = 0; kx <= 2 * reach; kx += GROUP) {
			size_t to = at + ky * planes->stride + kx - reach * (planes->stride + 1);
			size_t count = 2 * reach + 1 - kx, weight = ky * kernels->width + kx;
			struct neighbours there = { planes->sine + to, planes->cosine + to,
				planes->inside + to, planes->rest + to, planes->order + to,
				kernels->fringe + weight, kernels->stair + weight,
				along.cosine[kx], along.sine[kx], across.cosine[ky],
				across.sine[ky], (float)(int)kx - (float)(int)reach,
				(float)(int)ky - (float)(int)reach };

			if (count >= GROUP)
				add_neighbours(&there, GROUP, rest, right, down, sums, n);
			else if (count == 3)
				add_neighbours(&there, 3, rest, right, down, sums, n);
			else
				add_neighbours(&there, 1, rest, right, down, sums, n);
		}
}

void
window_turns(const struct planes *planes, const struct sums *restrict sums, size_t at, size_t n,
    const float moved[2], float order_most)
{
	const float *restrict first = planes->rest + at, *restrict right = planes->right + at;
	const float *restrict down = planes->down + at, *restrict inside = planes->inside + at;
	float *restrict turns = planes->turns + at, *restrict trusted = planes->trusted + at;
	float to_right = moved[0], to_down = moved[1];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct undither3_sums sum = { sums->cosine[i], sums->sine[i], sums->fringe[i],
			sums->order[i], sums->weight[i] };
		struct undither3_found found = undither3_find(sum, first[i], right[i], down[i],
		    inside[i], to_right, to_down, order_most);

		turns[i] = found.turns;
		trusted[i] = found.trusted;
	}
}
