/* holodec on the device: readings, medians along rows, background near by; then depths, places. */
#include "holodec.h"

#include <math.h>
#include <string.h>

#include "decode.h"
#include "holodec.block.h"
#include "run/passes.h"

_Static_assert(HOLODEC_NEAREST == DECODE_NEAREST && HOLODEC_MEDIAN == DECODE_MEDIAN &&
    HOLODEC_PLAIN == DECODE_PLAIN, "the same in the shaders");

static void
pack(const struct priv *priv, const struct frame_head *in, struct holodec_block *block)
{
	const struct reading *reading = &priv->reading;
	const struct holo_code *code = &reading->code;
	bool plain = priv->decode == DECODE_PLAIN;

	*block = (struct holodec_block){
		.type = in->type, .sine = (uint)reading->channel[0],
		.cosine = (uint)reading->channel[1], .stair = (uint)reading->channel[2],
		.texture = HOLODEC_NONE, .depth = priv->xyz ? 2 : 0, .decode = priv->decode,
		.edge = (uint)priv->edge_px, .per_height = 1 / code->height,
		.half_step = reading->half_step, .order_most = code->order_most,
		.turns_per_column = code->turns_per_column,
		.per_turn = 1 / code->turns_per_depth, .zero = code->depth_zero,
		.range = code->depth_one - code->depth_zero,
		.slack = plain ? INFINITY : decode_slack(code),
		    .texture_scale = priv->texture_scale,
	};
	if (reading->channel[3] != NO_CHANNEL)
		block->texture = (uint)reading->channel[3];
}

/* The passes whose results the last one looks up. */
static int
list_scratches(struct passes *passes, const struct holodec_block *block)
{
	struct pass pass = { .block = block, .bytes = sizeof(*block), PASS_FOURS };
	bool medians = block->decode == HOLODEC_MEDIAN;

	if (block->decode != HOLODEC_NEAREST || block->edge)
		passes_scratch(passes, HOLODEC_SCRATCHES);
	pass.shader = SHADER(holodec_read);
	pass.beyond = medians ? MARGIN : 0;
	if (block->decode != HOLODEC_NEAREST && passes_add(passes, &pass) < 0)
		return -1;
	pass.shader = SHADER(holodec_along);
	if (medians && passes_add(passes, &pass) < 0)
		return -1;
	pass.shader = SHADER(holodec_black);
	pass.beyond = block->edge;
	return block->edge ? passes_add(passes, &pass) : 0;
}

static int
list_place(struct passes *passes, const struct place *place)
{
	struct holodec_place_block block;
	struct pass pass = { .shader = SHADER(holodec_place), .block = &block,
		.bytes = sizeof(block), PASS_FOURS };

	memcpy(block.row, place->row, sizeof(block.row));
	return passes_add(passes, &pass);
}

int
holodec_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct reading *reading = &priv->reading;
	struct holodec_block block;
	struct pass pass = { .shader = SHADER(holodec), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	if (priv->refusals.now)
		return passes_refuse(passes, "the picture is refused");
	if (priv->decode == DECODE_REGION)
		return passes_refuse(passes, "regions are joined pair after pair");
	if (priv->keep || priv->certainty != NO_CHANNEL)
		return passes_refuse(passes, "how certain a pixel is, is known to the processor");
	if (priv->xyz && !passes_float64(passes))
		return passes_refuse(passes, "the device has no doubles");
	pack(priv, passes_input(passes), &block);
	for (int i = 0; i < 4; i++)
		if (reading->channel[i] != NO_CHANNEL)
			passes_read(passes, reading->channel[i]);
	if (passes_constant(passes, reading->stair, sizeof(reading->stair)) < 0 ||
	    list_scratches(passes, &block) < 0 || passes_add(passes, &pass) < 0)
		return -1;
	return priv->xyz ? list_place(passes, &priv->place) : 0;
}
