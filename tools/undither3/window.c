#include "window.h"

#include <string.h>

#include "base/cpu_level.h"
#include "undither3.px.h"

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

/* One neighbour of each of n pixels. Each plane's pointer is at that neighbour. */
struct neighbour {
	const float *restrict sine, *restrict cosine, *restrict inside, *restrict rest;
	const float *restrict order;
};

static void
add_neighbour(const struct neighbour *there, const float *restrict rest,
    const float *restrict right, const float *restrict down, const float *const phasor[4],
    const float away[2], const float weight[2], struct sums *restrict sums, size_t n)
{
	const float *restrict cx = phasor[0], *restrict sx = phasor[1];
	const float *restrict cy = phasor[2], *restrict sy = phasor[3];
	const float *restrict sine = there->sine, *restrict cosine = there->cosine;
	const float *restrict inside = there->inside, *restrict rests = there->rest;
	const float *restrict orders = there->order;
	float dx = away[0], dy = away[1], of_fringe = weight[0], of_stair = weight[1];

	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		struct undither3_sums sum = { sums->cosine[i], sums->sine[i], sums->fringe[i],
			sums->order[i], sums->weight[i] };
		struct undither3_neighbour that = { sine[i], cosine[i], inside[i], rests[i],
			orders[i] };

		sum = undither3_add(sum, that, rest[i], right[i], down[i], cx[i], sx[i], cy[i],
		    sy[i], dx, dy, of_fringe, of_stair);
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
	struct carrier along, across;

	memset(sums, 0, sizeof(*sums));
	carrier_fill(planes->right + at, &along, reach, n);
	carrier_fill(planes->down + at, &across, reach, n);
	for (size_t ky = 0; ky <= 2 * reach; ky++)
		for (size_t kx = 0; kx <= 2 * reach; kx++) {
			size_t to = at + ky * planes->stride + kx - reach * (planes->stride + 1);
			const float *const phasor[4] = { along.cosine[kx], along.sine[kx],
				across.cosine[ky], across.sine[ky] };
			struct neighbour there = { planes->sine + to, planes->cosine + to,
				planes->inside + to, planes->rest + to, planes->order + to };
			const float away[2] = { (float)(int)kx - (float)(int)reach,
				(float)(int)ky - (float)(int)reach };
			const float weight[2] = { kernels->fringe[ky * kernels->width + kx],
				kernels->stair[ky * kernels->width + kx] };

			add_neighbour(&there, planes->rest + at, planes->right + at,
			    planes->down + at, phasor, away, weight, sums, n);
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
