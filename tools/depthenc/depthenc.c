/*
 * Depth to the planes of an ordinary video (holo/depthcode.h): options, depths outside of the
 * range, memory of holes that are filled, the texture, and the device's pass. depthenc_rows.c has
 * the loops.
 */
#include "depthenc.h"

#include <float.h>
#include <stdio.h>

#include "frame/key_lines.h"
#include "run/passes.h"
#include "depthenc.block.h"

BODY_ROWS(depthenc, encode)

/* ---- options ---- */

struct parameters {
	struct depthcode_options code;
	struct texture_options texture;
};

static const struct opt options[] = {
	DEPTHCODE_OPTIONS(struct parameters, code, depth_range_words),
	{ 0, "texture", "CHANNEL", OPT_TEXT, AT(texture.channel), NULL, 0, 0, NULL,
	    "channel that goes with the depth, or three of a colour: r,g,b" },
	{ 0, "texture-place", "WORD", OPT_WORD, AT(texture.place), "below", 0, 0, NULL,
	    "below the depth, in a frame of double height; or in a track of its own",
	    depthcode_texture_places },
	{ 0, "texture-gain", "G", OPT_NUMBER, AT(texture.gain), "1", 0.01, 1, NULL,
	    "amplitude of the texture: less leaves more of a video's bits to the depth" },
	{ 0 },
};

/* ---- depths outside of the range ---- */

/* Counts depths of a frame outside of the range. Warns of the first frame that has some, and once
 * where depths seem to be holes. */
static void
outside_count(struct run *run, struct outside *outside, const struct depthcode_code *code,
    const struct frame *frame, size_t channel)
{
	struct outside_counting counting = { .code = code, .frame = frame, .channel = channel };
	double least = (double)code->zero, most = (double)code->zero + (double)code->extent;
	const char *axis = meta_get(&frame->head.meta, "z_axis");
	float low = FLT_MAX, high = -FLT_MAX;
	size_t depths = 0, n = 0;

	depth_use_count(&outside->use, run, frame, channel, least, most);
	hole_value_judge(&outside->hole, frame, channel, least, most,
	    axis && !strcmp(axis, "towards"));
	run_for(run, OUTSIDE_BLOCKS, depthenc_rows()->count_outside, &counting);
	for (size_t i = 0; i < OUTSIDE_BLOCKS; i++) {
		depths += counting.depths[i];
		n += counting.outside[i];
		low = px_min(low, counting.low[i]);
		high = px_max(high, counting.high[i]);
	}
	outside->depths += n;
	if (n && outside->frames++ == 0)
		warn("--depth-range", "%zu of %zu depths, which go from %.6g to %.6g, lie outside "
		    "of %.6g to %.6g and are lost", n, depths, (double)low, (double)high,
		    least, most);
}

/* ---- holes ---- */

/* Computes all levels for a frame's channel of depths, normalised; 1/2 where there is none at all.
 * There is at least level 1, as level 0 takes values from it. */
static void
fill_frame(struct run *run, struct fill *fill, const struct depthcode_code *code,
    const struct frame *frame, size_t channel)
{
	struct filling filling = { .fill = fill, .code = code, .frame = frame,
		.channel = channel };
	size_t floats = 0, level = 0, n;
	float *top;

	fill->w[0] = frame->head.w;
	fill->h[0] = frame->head.h;
	do {
		level++;
		fill->w[level] = fill_half(fill->w[level - 1]);
		fill->h[level] = fill_half(fill->h[level - 1]);
		n = fill->w[level] * fill->h[level];
		fill->begin[level] = floats;
		floats += n;
	} while (level < FILL_LEVELS - 1 && n > 1);
	if (floats > fill->floats) {
		free(fill->value);
		fill->value = must_alloc(floats, sizeof(float));
		fill->floats = fill->value ? floats : 0;
	}
	for (filling.level = 1; filling.level <= level; filling.level++)
		run_for(run, FILL_BLOCKS, depthenc_rows()->push_block, &filling);
	top = fill->value + fill->begin[level];
	if (px_isnan(*top))
		*top = 0.5f;
	for (filling.level = level - 1; filling.level > 0; filling.level--)
		run_for(run, FILL_BLOCKS, depthenc_rows()->pull_block, &filling);
}

/* ---- the device ---- */

static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct depthcode_code *code = &priv->code;
	struct depthenc_block block = { .depth = (uint)priv->depth,
		.colour = priv->depthcode.layout == DEPTHCODE_MWD,
		.wide = priv->depthcode.bits > 8, .zero = code->zero,
		.per_depth = code->per_depth, .guard = code->guard, .swing = code->swing,
		.middle = code->middle, .amplitude = code->amplitude, .fringes = code->fringes };
	struct pass pass = { PASS_OF(depthenc, block), PASS_FOURS };

	if (priv->fills || priv->texture.from.n)
		return passes_refuse(passes, "the processor fills holes and puts textures");
	passes_read(passes, priv->depth);
	passes_add(passes, &pass);
	return 0;
}

/* ---- bodies and plan ---- */

static int
survey(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;

	outside_count(run, &priv->outside, &priv->code, in, priv->depth);
	if (priv->texture.from.n)
		texture_cut_count(&priv->texture.cut, run, in, &priv->texture.from,
		    priv->texture.levels_per_unit, priv->texture.most);
	if (priv->fills)
		fill_frame(run, &priv->fill, &priv->code, in, priv->depth);
	return 0;
}

static int
texture_frame(struct run *run, struct frame *in)
{
	const struct priv *priv = run->priv;

	return texture_below_encode(run, &priv->texture.below, in);
}

static const struct body body = { .survey = survey, .rows = depthenc_encode, .passes = passes };
static const struct body textured = { .frame = texture_frame,
	.no_passes = "a texture below the depth is put there by the processor" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = parameters->texture.channel &&
	    parameters->texture.place == DEPTHCODE_TEXTURE_BELOW ? &textured : &body;
	if (texture_options_check(&parameters->texture, DEPTHCODE_TEXTURE_BELOW) < 0)
		return -1;
	if (parameters->texture.gain != 1 && parameters->texture.place == DEPTHCODE_TEXTURE_TRACK)
		return fail_usage("--texture-gain", "is of a texture below the depth: one in a "
		    "track of its own has --texture-crf where the video is written");
	return depth_range_is_file(&parameters->code.depth_range) ? depth_range_check(run) : 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const bool track = parameters->texture.place == DEPTHCODE_TEXTURE_TRACK;
	struct priv *priv = run->priv;
	struct depthcode *depthcode = &priv->depthcode;
	struct texture *texture = &priv->texture;
	struct depthcode_options given = parameters->code;
	static double of_file[] = { NAN };	/* the word's */
	char names[80];
	bool colour;

	if (given.depth_range.n == 0 && !meta_get(&in->meta, "depth_range") &&
	    run->position == 0 && run->operands > 0) {
		if (depth_range_check(run) < 0)
			return -1;
		given.depth_range = (struct numbers){ 1, of_file };
	}
	if (run_channel(run, in, "depth", &priv->depth) < 0 ||
	    depth_range_take(run, &priv->range_of_file, &given.depth_range) < 0 ||
	    depthcode_choose(depthcode, &given, in) < 0)
		return -1;
	key_pair_replace(&out->meta, "depth_range", (double[2]){ depthcode->low, depthcode->high });
	priv->code = depthcode_code(depthcode);
	priv->fills = depthcode->mask == DEPTHCODE_TRACK || depthcode->layout == DEPTHCODE_FOLD;
	out->type = depthcode->bits > 8 ? SAMPLE_USHORT : SAMPLE_UCHAR;
	if (texture_find(run, &parameters->texture, in, &texture->from) < 0)
		return -1;
	depthcode_write(depthcode, &out->meta);
	head_set_channels(out, depthcode_channel_names(depthcode));
	priv->mask = out->c - 1;
	colour = texture->from.n == 3;
	if (texture->from.n == 0) {
		texture_warn_colours(in, "--texture r,g,b keeps them", &priv->dropped);
		return 0;
	}
	/* twice the rows, or one more channel */
	texture->most = track ? DEPTHCODE_TEXTURE_MOST : (float)depthcode_most(depthcode);
	snprintf(names, sizeof(names), "%s %s", depthcode_channel_names(depthcode),
	    colour ? track ? DEPTHCODE_COLOUR_TRACK : "r g b" : "texture");
	if (texture_keys(&parameters->texture, "depthcode",
	    track || colour ? depthcode_texture_places[parameters->texture.place] : NULL,
	    colour ? texture_matrices[TEXTURE_BT709] : NULL, (double)texture->most, in,
	    texture->from.channel[0], &out->meta, &texture->levels_per_unit) < 0)
		return -1;
	if (track)
		return head_set_channels(out, names);
	if (colour && depthcode->layout == DEPTHCODE_LUMA && head_set_channels(out,
	    depthcode->mask == DEPTHCODE_TRACK ? "luma chroma_u chroma_v mask" :
	    "luma chroma_u chroma_v") < 0)
		return -1;
	texture->below.luma = 0;
	texture->below.middle = (unsigned)(depthcode_most(depthcode) + 1) / 2;
	texture->below.survey = survey;
	texture->below.rows = depthenc_encode;
	return texture_below_plan(&texture->below, true, out, names, in->h, colour);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	if (priv->outside.frames > 1)
		warn("--depth-range", "in all %zu depths of %zu frames lay outside and are lost",
		    priv->outside.depths, priv->outside.frames);
	depth_use_conclude(&priv->outside.use, depthcode_step(&priv->depthcode));
	free(priv->fill.value);
	texture_cut_conclude(&priv->texture.cut);
	head_free(&priv->texture.below.picture);
}

const struct stage stage_depthenc = {
	.name = "depthenc",
	.summary = "depth as the planes of an ordinary video",
	.example = { "depthenc --depth-range=-20,20", "depth", "depthcode" },
	.options = options,
	.usual = "layout bits depth-range mask texture",
	STAGE_MEMORY(priv),
	.traits = STAGE_UNITS,
	.init = init,
	.plan = plan,
	.release = release,
};
