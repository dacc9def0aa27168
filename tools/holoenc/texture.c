#include "texture.h"

int
texture_check(const struct texture_options *options)
{
	if (options->channel)
		return 0;
	if (options->place == TEXTURE_BELOW)
		return fail_usage("--texture-place", "is of a texture: give --texture CHANNEL");
	return options->gain != 1 ? fail_usage("--texture-gain", "is of a texture: give "
	    "--texture CHANNEL") : 0;
}

/* The name of the texture, and which value of it was white. */
static int
plan_keys(struct priv *priv, const struct texture_options *options, const struct meta *in,
    struct meta *out)
{
	double white;

	if (meta_number(in, "max_value", 255, &white) < 0)
		return -1;
	if (!(white > 0))
		return fail("max_value", "must be more than 0, not %g", white);
	priv->texture_scale = (float)(255 * options->gain / white);
	meta_remove(out, "max_value"); /* of the input; the picture's is 255 */
	if (meta_set(out, "holo_texture", options->channel) < 0 ||
	    meta_set_number(out, "holo_texture_scale", white / 255 / options->gain) < 0 ||
	    (options->gain != 1 &&
		meta_set_number(out, "holo_texture_gain", options->gain) < 0))
		return -1;
	return options->place == TEXTURE_BELOW ?
	    meta_set(out, "holo_texture_place", texture_places[TEXTURE_BELOW]) : 0;
}

int
texture_plan(struct priv *priv, const struct texture_options *options,
    const struct frame_head *in, struct frame_head *out)
{
	bool any = priv->texture != NO_CHANNEL, below = any && options->place == TEXTURE_BELOW;

	if (any && plan_keys(priv, options, &in->meta, &out->meta) < 0)
		return -1;
	if (head_set_channels(out, holo_channel_names(priv->holo.layout, any && !below)) < 0)
		return -1;
	texture_below_free(&priv->below);
	if (!below)
		return 0;
	priv->below.luma = holo_luma[priv->holo.layout];
	priv->below.grey = priv->holo.layout == HOLO_RGB;
	priv->below.survey = holoenc_survey;
	priv->below.rows = holoenc_rows;
	if (size_multiply(out->h, 2, &out->h) < 0 || head_copy(&priv->below.out, out) < 0)
		return -1;
	return texture_below_head(out, holo_channel_names(priv->holo.layout, true),
	    &priv->below.picture);
}

int
texture_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;

	return texture_below_encode(run, &priv->below, in);
}
