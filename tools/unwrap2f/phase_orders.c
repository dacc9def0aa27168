#define _GNU_SOURCE
#include "phase_orders.h"

#include <math.h>

#include "base/fail.h"
#include "unwrap/phase_mean.h"

/* The scatter of a phase goes with one over the root of its number of steps (methods §2). */
static int
read_scatter(const struct temporal *temporal, const struct frame_head *head,
    const struct numbers *given, double *scatter)
{
	size_t all = head_count_channels(head, "phase");
	struct numbers steps;

	if (given->n && given->n != all)
		return fail("--sigma", "%zu numbers for %zu phases", given->n, all);
	if (meta_numbers(&head->meta, "steps", &steps) < 0)
		return -1;
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t at = temporal->number[i] - 1;

		scatter[i] = given->n                           ? given->v[at]
		    : steps.n == all && steps.v[at] >= 1 ? 1 / sqrt(steps.v[at])
							 : 1;
	}
	numbers_free(&steps);
	return 0;
}

int
phase_orders_plan(const struct temporal *temporal, const struct frame_head *head,
    const struct numbers *given, struct phase_orders *orders)
{
	double weight[UNWRAP_PHASES_MOST], scatter[UNWRAP_PHASES_MOST];
	size_t base = temporal_shortest(temporal);

	if (read_scatter(temporal, head, given, scatter) < 0)
		return -1;
	phase_mean_weights(temporal->period_px, scatter, temporal->phases, weight);
	orders->phases = temporal->phases;
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t from = temporal_from_base(base, i);

		orders->channel[i] = temporal->channel[from];
		orders->own[i] = 2 + from;
		orders->ratio[i] = (float)(temporal->period_px[base] / temporal->period_px[from]);
		orders->scale[i] = (float)(temporal->period_px[from] / temporal->period_px[base]);
		orders->weight[i] = (float)weight[from];
		if (from == temporal->target)
			orders->target = i;
	}
	orders->wanted = orders->fuse || orders->all;
	return 0;
}
