#include "below.h"

#include <string.h>

static enum holo_layout
layout_of(const struct holo_options *options, const struct meta *meta)
{
	const char *word = meta_get(meta, "holo_layout");

	if (options->layout >= 0)
		return (enum holo_layout)options->layout;
	return word && !strcmp(word, holo_layouts[HOLO_YUV]) ? HOLO_YUV : HOLO_RGB;
}

int
below_plan(struct priv *priv, const struct holo_options *options, const struct frame_head *in)
{
	int is = texture_below_is(&in->meta, "holo_texture_place");
	const char *names;

	texture_below_free(&priv->below);
	if (is <= 0)
		return is;
	if (in->c != 3)
		return fail("holo_texture_place", "a picture with its texture below has three "
		    "channels, not %zu", in->c);
	names = holo_channel_names(head_channel(in, "luma") == 0 ? HOLO_YUV : HOLO_RGB, true);
	priv->below.luma = holo_luma[layout_of(options, &in->meta)];
	return texture_below_head(in, names, &priv->below.picture) < 0 ? -1 : 1;
}

int
below_output(struct priv *priv, struct frame_head *out)
{
	out->h = priv->below.picture.h;
	priv->below.survey = holodec_survey;
	priv->below.rows = holodec_rows;
	return head_copy(&priv->below.out, out);
}

int
below_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;

	return texture_below_decode(run, &priv->below, in);
}
