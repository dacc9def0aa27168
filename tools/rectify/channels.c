/* How each channel of a frame is interpolated, by its name. */
#include "rectify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fringe/channel_kinds.h"

static const char *const absolute[] = { "absphase", NULL };
static const char *const sigma[] = { "sigma", NULL };

/* shared: neighbours have errors in common, so that a sigma between them is as large. */
static enum rectify_kind
kind_of(const char *name, bool shared)
{
	static const char *const wrapped[] = { "phase", NULL };
	static const char *const nearest[] = { "index", "label", "mask", "marker", NULL };

	if (channel_is_named(name, wrapped))
		return RECTIFY_WRAPPED;
	if (channel_is_named(name, sigma) && !shared)
		return RECTIFY_SIGMA;
	return channel_is_named(name, nearest) ? RECTIFY_NEAREST : RECTIFY_PLAIN;
}

/* What limits a channel; `most`: the level at which cameras saturate. */
static struct rectify_channel
channel_of(const struct frame_head *in, size_t c, double max_step, bool has_absolute, float most)
{
	static const char *const captured[] = { "image", "r", "g", "b", "gray", NULL };
	const char *name = in->channel[c];
	struct rectify_channel channel = { kind_of(name, meta_get(&in->meta, "sigma_window_px")),
		INFINITY, INFINITY };

	if (channel_is_named(name, absolute))
		channel.max_step = isnan(max_step) ? (float)M_PI : (float)max_step;
	else if (!has_absolute && !channel_is_named(name, sigma) && !isnan(max_step))
		channel.max_step = (float)max_step;
	if (channel.kind == RECTIFY_PLAIN &&
	    (in->type != SAMPLE_FLOAT || channel_is_named(name, captured)))
		channel.saturated = most;
	return channel;
}

int
rectify_plan_channels(struct rectify *rectify, const struct frame_head *in, double max_step)
{
	bool has_absolute = false;
	double most;

	if (meta_number(&in->meta, "max_value", in->type == SAMPLE_UCHAR ? 255 :
	    in->type == SAMPLE_USHORT ? 65535 : INFINITY, &most) < 0)
		return -1;
	free(rectify->channel);
	rectify->channels = in->c;
	rectify->channel = calloc(in->c, sizeof(*rectify->channel));
	if (!rectify->channel)
		return fail_memory();
	for (size_t c = 0; c < in->c; c++)
		has_absolute |= channel_is_named(in->channel[c], absolute);
	for (size_t c = 0; c < in->c; c++)
		rectify->channel[c] = channel_of(in, c, max_step, has_absolute, (float)most);
	return 0;
}
