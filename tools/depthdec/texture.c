#include "texture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static bool
is_name(const char *name)
{
	return *name && strlen(name) < CHANNEL_NAME_SIZE && !strpbrk(name, " \t\r\n") &&
	    strcmp(name, "depth") != 0;
}

int
texture_check(const char *name)
{
	return !name || is_name(name) ? 0 : fail_usage("--texture", "must be the name of a "
	    "channel: one word of at most %d bytes that is not depth, not '%.60s'",
	    CHANNEL_NAME_SIZE - 1, name);
}

static int
plan_below(struct texture *texture, const struct frame_head *in)
{
	char names[6 * CHANNEL_NAME_SIZE];
	char *channels;

	if (in->c > 4)
		return fail(NULL, "a frame with its texture below has four channels at most, "
		    "not %zu", in->c);
	channels = head_channels(in);
	if (!channels)
		return -1;
	snprintf(names, sizeof(names), "%s texture", channels);
	free(channels);
	texture->channel = in->c;
	return texture_below_head(in, names, &texture->flow.picture);
}

int
texture_plan(struct texture *texture, const char *name, const struct frame_head *in)
{
	const char *place = meta_get(&in->meta, "depthcode_texture_place");
	int own = depthcode_texture_in_track(&in->meta);

	texture_below_free(&texture->flow);
	texture->channel = NO_CHANNEL;
	texture->is = name || place || meta_get(&in->meta, "depthcode_texture");
	texture->below = texture->is && !own;
	if (own < 0)
		return -1;
	if (texture->below)
		return plan_below(texture, in);
	if (!texture->is)
		return 0;
	texture->channel = head_channel(in, "texture");
	return texture->channel != NO_CHANNEL ? 0 : fail(NULL, "there is no channel texture: the "
	    "track of the video, or the file, that holds it is missing");
}

/* A name from a key that cannot be a channel's is passed over. */
static const char *
name_of(const char *given, const struct meta *in)
{
	const char *name = given ? given : meta_get(in, "depthcode_texture");

	return name && is_name(name) ? name : "texture";
}

int
texture_output(struct texture *texture, const char *name, const struct depthcode *code,
    const struct meta *in, struct frame_head *out)
{
	double most = texture->below ? (double)depthcode_most(code) : DEPTHCODE_TEXTURE_MOST;
	double scale, gain;
	char names[2 * CHANNEL_NAME_SIZE];

	if (meta_number(in, "depthcode_texture_scale", 255 / most, &scale) < 0 ||
	    meta_number(in, "depthcode_texture_gain", 1, &gain) < 0)
		return -1;
	texture->scale = (float)scale;
	snprintf(names, sizeof(names), "depth %s", name_of(name, in));
	if (texture->below)
		out->h = texture->flow.picture.h;
	if (meta_set_number(&out->meta, "max_value", most * scale * gain) < 0 ||
	    head_set_channels(out, names) < 0)
		return -1;
	return texture->below ? head_copy(&texture->flow.out, out) : 0;
}
