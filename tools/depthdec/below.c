#include "below.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

int
below_plan(struct below *below, const char *name, const struct frame_head *in)
{
	char names[6 * CHANNEL_NAME_SIZE];
	char *channels;

	texture_below_free(&below->flow);
	below->is = name || meta_get(&in->meta, "depthcode_texture");
	if (!below->is)
		return 0;
	if (in->c > 4)
		return fail(NULL, "a frame with its texture below has four channels at most, "
		    "not %zu", in->c);
	channels = head_channels(in);
	if (!channels)
		return -1;
	snprintf(names, sizeof(names), "%s texture", channels);
	free(channels);
	return texture_below_head(in, names, &below->flow.picture);
}

static const char *
name_of(const char *given, const struct meta *in)
{
	const char *name = given ? given : meta_get(in, "depthcode_texture");

	return !name || !*name || strlen(name) >= CHANNEL_NAME_SIZE || strchr(name, ' ') ||
	    !strcmp(name, "depth") ? "texture" : name;
}

int
below_output(struct below *below, const char *name, const struct depthcode *code,
    const struct meta *in, struct frame_head *out)
{
	double most = (double)depthcode_most(code), scale, gain;
	char names[2 * CHANNEL_NAME_SIZE];

	if (meta_number(in, "depthcode_texture_scale", 255 / most, &scale) < 0 ||
	    meta_number(in, "depthcode_texture_gain", 1, &gain) < 0)
		return -1;
	below->scale = (float)scale;
	snprintf(names, sizeof(names), "depth %s", name_of(name, in));
	out->h = below->flow.picture.h;
	if (meta_set_number(&out->meta, "max_value", most * scale * gain) < 0 ||
	    head_set_channels(out, names) < 0)
		return -1;
	return head_copy(&below->flow.out, out);
}
