#include "output.h"

#include <stdio.h>
#include <string.h>

static int
plan_channels(struct priv *priv, const struct frame_head *in, struct frame_head *out)
{
	const char *name = meta_get(&in->meta, "holo_texture");
	const char *space = priv->xyz ? "x y z" : "depth";
	const char *certainty = priv->keep ? " certainty" : "";
	char names[3 * CHANNEL_NAME_SIZE];
	double scale, gain;

	if (priv->reading.channel[3] == NO_CHANNEL) {
		snprintf(names, sizeof(names), "%s%s", space, certainty);
		return head_set_channels(out, names);
	}
	if (meta_number(&in->meta, "holo_texture_scale", 1, &scale) < 0 ||
	    meta_number(&in->meta, "holo_texture_gain", 1, &gain) < 0)
		return -1;
	priv->texture_scale = (float)scale;
	if (scale * gain != 1 && meta_set_number(&out->meta, "max_value", 255 * scale * gain) < 0)
		return -1;
	if (!name || strlen(name) >= CHANNEL_NAME_SIZE || strchr(name, ' '))
		name = "texture";
	snprintf(names, sizeof(names), "%s %s%s", space, name, certainty);
	return head_set_channels(out, names);
}

/* The picture's keys become those of a depth map, or of points. */
static int
plan_metadata(const struct priv *priv, struct frame_head *out)
{
	static const char *const view[] = { "center_mm", "scale_mm", "view_rotation" };
	const struct holo *holo = &priv->holo;
	bool turned = priv->xyz && priv->place.in_mesh;

	holo_remove(&out->meta);
	memcpy(out->spacing, holo->spacing, sizeof(out->spacing));
	for (int i = 0; turned && i < 3; i++)
		meta_remove(&out->meta, view[i]);
	return meta_set(&out->meta, "z_axis", turned ? "away" : holo_z_axes[holo->z_axis]);
}

int
output_plan(struct priv *priv, const struct frame_head *in, struct frame_head *out)
{
	return plan_metadata(priv, out) < 0 ? -1 : plan_channels(priv, in, out);
}
