#include "unwrap_sigma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "run/passes.h"
#include "unwrap2f.block.h"

#define ALIKE_TURNS 0.005	/* as in order_search.c: the phases do not tell such orders apart */
#define FAR 2.5			/* times the least distance: rivals that do not count */

_Static_assert(UNWRAP2F_RIVALS == 2 * UNWRAP_RIVALS, "as many in the shader");

int
unwrap_sigma_plan(const struct temporal *temporal, const struct frame_head *head,
    const struct phase_orders *orders, bool weights, struct unwrap_sigma *out)
{
	size_t base = temporal_shortest(temporal), missing = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < temporal->phases; i++) {
		size_t from = temporal_from_base(base, i);

		out->channel[i] = head_numbered_channel(head, "sigma", temporal->number[from]);
		if (out->channel[i] == NO_CHANNEL)
			missing = temporal->number[from];
		else
			out->phases++;
	}
	if (out->phases > 0 && missing)
		return fail(NULL, "phase%zu has no channel sigma%zu, and others have theirs: take "
		    "all of them or none (framecat --channels)", missing, missing);
	out->mean = !orders->fuse ? MEAN_NONE : weights ? MEAN_WEIGHTS : MEAN_SIGMAS;
	out->sigma = out->p_order = NO_CHANNEL;
	return 0;
}

struct gap {
	double distance;
	long orders;
};

static int
compare_gaps(const void *a, const void *b)
{
	double left = ((const struct gap *)a)->distance, right = ((const struct gap *)b)->distance;
	long i = ((const struct gap *)a)->orders, k = ((const struct gap *)b)->orders;

	return left != right ? (left > right) - (left < right) : (i > k) - (i < k);
}

/* How far the line of `orders` more lies away in the space of all phases, squared. */
static double
gap_square(const struct temporal *temporal, size_t base, double orders)
{
	double square = 0, shift = 0, norm = 0;

	for (size_t i = 0; i < temporal->phases; i++) {
		double ratio = temporal->period_px[base] / temporal->period_px[i];
		double e = remainder(ratio * orders, 1);

		square += e * e;
		shift += ratio * e;
		norm += ratio * ratio;
	}
	return fmax(square - shift * shift / norm, 0);
}

void
unwrap_sigma_rivals(const struct temporal *temporal, double field_px, double line_turns,
    struct unwrap_sigma *out)
{
	size_t base = temporal_shortest(temporal), n = 0;
	double period_px = temporal->period_px[base];
	double turns = line_turns > 0 ? line_turns / 2 : field_px / period_px;
	double alike = ALIKE_TURNS * ALIKE_TURNS * (double)temporal->phases;
	struct gap gap[UNWRAP_RIVALS + 1];

	out->lo = (float)(line_turns > 0 ? -INFINITY : -0.5 / period_px - 0.5);
	out->hi = (float)(line_turns > 0 ? INFINITY : (field_px - 0.5) / period_px + 0.5);
	out->first = (float)(-0.5 / period_px);
	out->last = (float)((field_px - 0.5) / period_px);
	out->seam = 0;
	for (long k = 1; k < turns + 1 && k < 65536; k++) {
		double square = gap_square(temporal, base, (double)k);

		if (square < alike) {
			out->seam = out->seam > 0 || line_turns > 0 ? out->seam : (float)k;
			continue;
		}
		gap[n++] = (struct gap){ sqrt(square), k };
		qsort(gap, n, sizeof(*gap), compare_gaps);
		n = n > UNWRAP_RIVALS ? UNWRAP_RIVALS : n;
	}
	out->rivals = 0;
	for (size_t i = 0; i < n && gap[i].distance <= FAR * gap[0].distance; i++) {
		out->rival[out->rivals++] = (float)gap[i].orders;
		out->rival[out->rivals++] = (float)-gap[i].orders;
	}
}

int
unwrap_sigma_passes(const struct unwrap_sigma *sigma, const struct phase_orders *orders,
    struct passes *passes)
{
	struct unwrap2f_sigma_block block = { .phases = (uint)sigma->phases,
		.target = (uint)orders->target, .mean = sigma->mean,
		.sigma = (uint)sigma->sigma, .p_order = (uint)sigma->p_order,
		.orders = sigma->p_order != NO_CHANNEL, .rivals = (uint)sigma->rivals,
		.lo = sigma->lo, .hi = sigma->hi, .seam = sigma->seam, .first = sigma->first,
		.last = sigma->last };
	struct pass pass = { .shader = SHADER(unwrap2f_sigma), .block = &block,
		.bytes = sizeof(block), PASS_FOURS };

	for (size_t p = 0; p < sigma->phases; p++) {
		block.channel[p] = (uint)orders->channel[p];
		block.deviation[p] = (uint)sigma->channel[p];
		block.ratio[p] = orders->ratio[p];
		block.scale[p] = orders->scale[p];
		block.weight[p] = orders->weight[p];
		passes_read(passes, block.channel[p]);
		passes_read(passes, block.deviation[p]);
	}
	memcpy(block.rival, sigma->rival, sizeof(block.rival));
	return passes_add(passes, &pass);
}
