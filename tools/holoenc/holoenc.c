/*
 * Depth to a Holoimage: a colour picture from which the depth can be computed again (methods
 * section 12; Karpinsky thesis ch. 5 and 6). Options, keys, what is found of a frame before it is
 * encoded, the texture, and the device's pass. holoenc_rows.c has the loops.
 */
#include "holoenc.h"

#include <stdio.h>

#include "frame/key_lines.h"
#include "io/codec.h"
#include "run/passes.h"
#include "holoenc.block.h"

BODY_ROWS(holoenc, encode)

/* ---- options ---- */

struct parameters {
	struct holo_options holo;
	struct texture_options texture;
	long quality;
	int purpose;
};

static const struct opt options[] = {
	HOLO_OPTIONS(struct parameters, holo, depth_range_words),
	{ 0, "texture", "CHANNEL", OPT_TEXT, AT(texture.channel), NULL, 0, 0, NULL,
	    "channel that goes into alpha, or below the picture; or three of a colour: r,g,b" },
	{ 0, "texture-place", "WORD", OPT_WORD, AT(texture.place), "alpha", 0, 0, NULL,
	    "where it goes: a video has no alpha", texture_places },
	{ 0, "texture-gain", "G", OPT_NUMBER, AT(texture.gain), "1", 0.01, 1, NULL,
	    "amplitude of the texture: less leaves more of a video's bits to the depth" },
	{ 0, "quality", "N", OPT_INTEGER, AT(quality), "94", 1, 100, NULL, "of JPEG files" },
	{ 0, "jpeg-for", "WORD", OPT_WORD, AT(purpose), "fringes", 0, 0, NULL,
	    "what JPEG files keep best", jpeg_purposes },
	{ 0 },
};

/* ---- what is found of a frame ---- */

/* The depth range of this frame, the grid that its points lie on, and the key holo_check, the turns
 * at some places of the picture. */
static int
holoenc_survey(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct holo *holo = &priv->holo;
	int code[HOLOCHECK_PLACES];
	char check[HOLOCHECK_TEXT + 1];
	float low, high;
	double range[2];

	if (priv->x != NO_CHANNEL &&
	    holo_grid(in, priv->x, priv->y, holo->spacing, holo->corner) < 0)
		return -1;
	if (priv->range_wanted) {
		depth_range_find(run, in, priv->depth, &low, &high);
		depth_range_widen(low, high, range);
		holo->low = range[0];
		holo->high = range[1];
	} else {
		priv->warned = priv->warned || depth_range_warn_outside(in, priv->depth, holo->low,
		    holo->high);
		depth_use_count(&priv->use, run, in, priv->depth, holo->low, holo->high);
	}
	if (priv->texture.n)
		texture_cut_count(&priv->cut, run, in, &priv->texture, priv->texture_scale, 255);
	priv->code = holo_code(holo);
	hole_value_judge(&priv->hole, in, priv->depth, holo->low, holo->high,
	    holo->z_axis == HOLO_TOWARDS);
	if (priv->range_wanted && !priv->stray)
		priv->stray = depth_use_warn_stray(in, priv->depth, holo->low, holo->high,
		    holo_depth_step(&priv->code, holo->high - holo->low));
	for (size_t i = 0; i < HOLOCHECK_PLACES; i++) {
		size_t x, y;

		holocheck_place(in->head.w, in->head.h, i, &x, &y);
		code[i] = holoenc_rows()->code_at(priv, in, x, y);
	}
	holocheck_write(code, check);
	if (meta_set(&run_output(run)->meta, "holo_check", check) < 0)
		return -1;
	holo_write(holo, &run_output(run)->meta);
	return 0;
}

/* ---- the texture: in alpha, or below the picture ---- */

/* For plan, once all other keys are set: scale, keys, channels, and the size of the output. -1
 * after fail(). */
static int
texture_plan(struct priv *priv, const struct parameters *parameters,
    const struct frame_head *in, struct frame_head *out)
{
	bool any = priv->texture.n > 0, colour = priv->texture.n == 3;
	char names[80];
	bool below = any && parameters->texture.place == TEXTURE_BELOW;

	if (colour && !below)
		return fail_usage("--texture", "alpha is one channel: a colour goes below "
		    "(--texture-place below)");
	if (any && texture_keys(&parameters->texture, "holo",
	    below ? texture_places[TEXTURE_BELOW] : NULL, !colour ? NULL :
	    texture_matrices[priv->holo.layout == HOLO_RGB ? TEXTURE_RGB : TEXTURE_BT709], 255,
	    in, priv->texture.channel[0], &out->meta, &priv->texture_scale) < 0)
		return -1;
	if (head_set_channels(out, holo_channel_names(priv->holo.layout, any && !below)) < 0)
		return -1;
	if (!below)
		return 0;
	priv->below.luma = holo_luma[priv->holo.layout];
	priv->below.grey = priv->holo.layout == HOLO_RGB;
	priv->below.survey = holoenc_survey;
	priv->below.rows = holoenc_encode;
	snprintf(names, sizeof(names), "%s%s", holo_channel_names(priv->holo.layout, true),
	    colour ? " a2 a3" : "");
	return texture_below_plan(&priv->below, true, out, names, in->h, colour);
}

/* A frame whose texture goes below the picture. For a flow's body. */
static int
texture_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;

	return texture_below_encode(run, &priv->below, in);
}

/* ---- the device ---- */

static int
holoenc_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct holo_code *code = &priv->code;
	struct holoenc_block block = {
		.depth = (uint)priv->depth, .texture = HOLOENC_NONE,
		.angle = priv->holo.rounding == HOLO_ANGLE,
		.turns_per_column = code->turns_per_column,
		.turns_per_depth = code->turns_per_depth,
		.height = code->height, .base = code->base, .swing = code->swing,
		.waves = code->waves, .order_most = code->order_most,
		.depth_zero = code->depth_zero,
		.per_depth = 1 / (code->depth_one - code->depth_zero),
		.texture_scale = priv->texture_scale
	};
	struct pass pass = { PASS_OF(holoenc, block), PASS_FOURS };

	for (int i = 0; i < 3; i++)
		block.place[i] = (uint)holo_place[priv->holo.layout][i];
	passes_read(passes, priv->depth);
	if (priv->texture.n) {
		block.texture = (uint)priv->texture.channel[0];
		passes_read(passes, priv->texture.channel[0]);
	}
	passes_add(passes, &pass);
	return 0;
}

/* ---- bodies and plan ---- */

static const struct body body = { .survey = holoenc_survey, .rows = holoenc_encode,
	.passes = holoenc_passes };
static const struct body below = { .frame = texture_frame,
	.no_passes = "a texture below the picture is put there by the processor" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = parameters->texture.place == TEXTURE_BELOW ? &below : &body;
	if (texture_options_check(&parameters->texture, TEXTURE_ALPHA) < 0)
		return -1;
	if (run->output && run_save_options(run, options, parameters) < 0)
		return -1;
	return depth_range_is_file(&parameters->holo.depth_range) ? depth_range_check(run) : 0;
}

static int
find_channels(struct run *run, const struct frame_head *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	priv->x = head_channel(in, "x");
	priv->y = head_channel(in, "y");
	priv->depth = head_channel(in, "z");
	if (priv->x == NO_CHANNEL || priv->y == NO_CHANNEL || priv->depth == NO_CHANNEL) {
		priv->x = priv->y = NO_CHANNEL;
		if (run_channel(run, in, "depth", &priv->depth) < 0)
			return -1;
	}
	if (!parameters->texture.channel)
		texture_warn_colours(in, "--texture r,g,b --texture-place below keeps them",
		    &priv->dropped);
	return texture_find(run, &parameters->texture, in, &priv->texture);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct holo_options options = parameters->holo;

	if (find_channels(run, in) < 0 ||
	    depth_range_take(run, &priv->range_of_file, &options.depth_range) < 0 ||
	    holo_choose(&priv->holo, &options, in) < 0)
		return -1;
	priv->range_wanted = isnan(priv->holo.low);
	if (priv->range_wanted) {
		priv->holo.low = 0;
		priv->holo.high = 1;
	}
	priv->code = holo_code(&priv->holo);
	out->type = SAMPLE_UCHAR;
	if (parameters->texture.channel)
		meta_remove(&out->meta, "max_value");	/* of the input; the picture's is 255 */
	holo_write(&priv->holo, &out->meta);
	key_pair_replace(&out->meta, "depth_range", (double[2]){ priv->holo.low, priv->holo.high });
	meta_set(&out->meta, "holo_check", "");
	return texture_plan(priv, parameters, in, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	depth_use_conclude(&priv->use,
	    holo_depth_step(&priv->code, priv->holo.high - priv->holo.low));
	texture_cut_conclude(&priv->cut);
	head_free(&priv->below.picture);
}

const struct stage stage_holoenc = {
	.name = "holoenc",
	.summary = "depth as an ordinary colour picture, a Holoimage",
	.options = options,
	.usual = "pitch depth-range layout texture quality z-axis",
	STAGE_MEMORY(priv),
	.traits = STAGE_UNITS,
	.example = { "holoenc", "depth", "holo" },
	.init = init,
	.plan = plan,
	.release = release,
};
