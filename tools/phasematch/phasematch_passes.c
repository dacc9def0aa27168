/* phasematch on the device: values, runs and spans of both sides, search, points. */
#include "phasematch.h"

#include "phasematch.block.h"
#include "run/passes.h"
#include "run/stage.h"

_Static_assert(PHASEMATCH_PHASES == PHASES_MOST, "as many in the shaders");

/* One workgroup per row. */
#define PASS_ROWS .tile = { INT32_MAX, 1 }, .local = { PHASEMATCH_GROUP, 1 }

/* Scratch planes for a list of so many entries a row; *next is the first that is free. */
static uint
take_list(uint *next, size_t entries, size_t w)
{
	uint list = *next;

	*next += (uint)((entries + w - 1) / w);
	return list;
}

static void
place_lists(struct phasematch_lists *lists, size_t own_w, size_t w, bool sigma, uint *next)
{
	lists->w = (uint)own_w;
	lists->values = take_list(next, own_w, w);
	lists->sigmas = sigma ? take_list(next, own_w, w) : PHASEMATCH_NONE;
	lists->run_first = take_list(next, own_w / 2 + 1, w);
	lists->run_last = take_list(next, own_w / 2 + 1, w);
	lists->from = take_list(next, own_w + 2, w);
	lists->first = take_list(next, own_w + 2, w);
	lists->last = take_list(next, own_w + 2, w);
	lists->runs = take_list(next, 1, w);
}

static void
describe_side(const struct matching *matching, const struct value_map *map, struct passes *passes,
    struct phasematch_side *side)
{
	side->phases = (uint)map->phases;
	side->factor = matching->sign * map->unit;
	side->unit = map->unit;
	side->variance_most = map->variance_most;
	side->step_most = matching->step_most[0];
	side->has_sigma = matching->sigma;
	for (size_t k = 0; k < map->phases; k++) {
		side->channel[k] = (uint)map->channel[k];
		side->scale[k] = map->scale[k];
		side->weight[k] = map->weight[k];
		passes_read(passes, map->channel[k]);
		if (!matching->sigma)
			continue;
		side->sigma[k] = (uint)map->sigma[k];
		passes_read(passes, map->sigma[k]);
	}
}

/* Values; with index also what finds them. beyond: rows above and below. */
static int
list_side(struct passes *passes, const struct phasematch_side *side, bool index, size_t beyond)
{
	struct pass values = { .shader = SHADER(phasematch_values), .block = side,
		.bytes = sizeof(*side), PASS_PIXELS, .beyond = beyond };
	struct pass runs = { .shader = SHADER(phasematch_runs), .block = side,
		.bytes = sizeof(*side), PASS_ROWS, .beyond = beyond };
	struct pass spans = { .shader = SHADER(phasematch_spans), .block = side,
		.bytes = sizeof(*side), PASS_ROWS, .beyond = beyond };

	if (passes_add(passes, &values) < 0)
		return -1;
	if (!index)
		return 0;
	return passes_add(passes, &runs) < 0 ? -1 : passes_add(passes, &spans);
}

static uint
channel_or_none(size_t c)
{
	return c == NO_CHANNEL ? PHASEMATCH_NONE : (uint)c;
}

static void
describe_output(const struct phasematch *priv, struct phasematch_output *output)
{
	const struct rig *rig = &priv->rig;
	const float *R = rig->R;

	output->support = (uint)priv->support;
	output->range = priv->support_range;
	output->sigma_disparity = channel_or_none(priv->sigma_disparity);
	output->x = channel_or_none(priv->x);
	output->y = channel_or_none(priv->y);
	output->z = channel_or_none(priv->z);
	output->sigma_z = channel_or_none(priv->sigma);
	output->turned = rig->turned;
	output->focal = rig->focal;
	output->focal_baseline = rig->focal_baseline;
	output->cx = rig->cx;
	output->cy = rig->cy;
	output->centres = rig->centres;
	output->least = rig->least;
	output->most = rig->most;
	output->r0 = R[0], output->r1 = R[1], output->r2 = R[2];
	output->r3 = R[3], output->r4 = R[4], output->r5 = R[5];
	output->r6 = R[6], output->r7 = R[7], output->r8 = R[8];
	output->shift0 = rig->shift[0];
	output->shift1 = rig->shift[1];
	output->shift2 = rig->shift[2];
}

int
phasematch_passes(struct run *run, struct passes *passes)
{
	const struct phasematch *priv = run->priv;
	const struct matching *matching = &priv->matching;
	struct phasematch_side left = { 0 }, right = { 0 };
	struct phasematch_pair pair = { .has_sigma = matching->sigma,
		.back = matching->both_ways > 0, .both_ways = matching->both_ways };
	struct phasematch_output output = { 0 };
	struct pass search = { .shader = SHADER(phasematch_search), .block = &pair,
		.bytes = sizeof(pair), PASS_PIXELS, .beyond = run->halo };
	struct pass points = { .shader = SHADER(phasematch_points), .block = &output,
		.bytes = sizeof(output), PASS_PIXELS };
	uint next = 0;

	if (matching->maps > 1)
		return passes_refuse(passes, "votes are counted there");
	place_lists(&left.lists, matching->w, matching->w, matching->sigma, &next);
	place_lists(&right.lists, matching->right_w, matching->w, matching->sigma, &next);
	pair.left = left.lists;
	pair.right = right.lists;
	output.disparity = pair.disparity = next++;
	output.sigma = pair.sigma = matching->sigma ? next++ : PHASEMATCH_NONE;
	passes_scratch(passes, next);
	describe_side(matching, &matching->left[0], passes, &left);
	describe_side(matching, &matching->right[0], passes, &right);
	describe_output(priv, &output);
	return list_side(passes, &left, pair.back != 0, run->halo) < 0 ||
	    list_side(passes, &right, true, run->halo) < 0 || passes_add(passes, &search) < 0 ?
	    -1 : passes_add(passes, &points);
}
