#include "texture.h"

#include <stdio.h>

#include "base/fail.h"

int
texture_check(const struct texture_options *options)
{
	bool below = options->place == DEPTHCODE_TEXTURE_BELOW;

	if (!options->channel && !below)
		return fail_usage("--texture-place", "is of a texture: give --texture CHANNEL");
	if (options->gain == 1 || (options->channel && below))
		return 0;
	return !options->channel ?
	    fail_usage("--texture-gain", "is of a texture: give --texture CHANNEL") :
	    fail_usage("--texture-gain", "is of a texture below the depth: one in a track of its "
	    "own has --texture-crf where the video is written");
}

static int
plan_keys(struct texture *texture, const struct texture_options *options, const struct meta *in,
    struct meta *out)
{
	double white;

	if (meta_number(in, "max_value", 255, &white) < 0)
		return -1;
	if (!(white > 0))
		return fail("max_value", "must be more than 0, not %g", white);
	texture->levels_per_unit = (float)(texture->most * options->gain / white);
	if (meta_set(out, "depthcode_texture", options->channel) < 0 ||
	    meta_set_number(out, "depthcode_texture_scale",
	    white / texture->most / options->gain) < 0 ||
	    (options->place == DEPTHCODE_TEXTURE_TRACK && meta_set(out, "depthcode_texture_place",
	    depthcode_texture_places[options->place]) < 0))
		return -1;
	return options->gain == 1 ? 0 :
	    meta_set_number(out, "depthcode_texture_gain", options->gain);
}

int
texture_plan(struct texture *texture, const struct texture_options *options,
    const struct depthcode *code, const struct meta *in, struct frame_head *out)
{
	bool track = options->place == DEPTHCODE_TEXTURE_TRACK;
	char names[80];

	texture->most = track ? DEPTHCODE_TEXTURE_MOST : (float)depthcode_most(code);
	texture->below.luma = 0;
	texture_below_free(&texture->below);
	snprintf(names, sizeof(names), "%s texture", depthcode_channel_names(code));
	if (plan_keys(texture, options, in, &out->meta) < 0)
		return -1;
	if (track)
		return head_set_channels(out, names);
	if (size_multiply(out->h, 2, &out->h) < 0 || head_copy(&texture->below.out, out) < 0)
		return -1;
	return texture_below_head(out, names, &texture->below.picture);
}

/* NaN is 0. */
static float
level_of(const struct texture *texture, float value)
{
	PX_F level = depthcode_round(value * texture->levels_per_unit);

	return px_isnan(value) ? 0.0f : px_min(px_max(level, 0.0f), texture->most);
}

void
texture_row(const struct texture *texture, const struct frame *in, struct frame *out, size_t y)
{
	const float *restrict value = frame_floats(in, texture->channel, y);
	void *row = frame_row(out, out->head.c - 1, y);

	for (size_t x = 0; x < in->head.w; x++)
		if (out->head.type == SAMPLE_UCHAR)
			((uint8_t *)row)[x] = (uint8_t)(int)level_of(texture, value[x]);
		else
			((uint16_t *)row)[x] = (uint16_t)(int)level_of(texture, value[x]);
}

void
texture_count(struct run *run, struct texture *texture, const struct frame *in)
{
	if (texture->channel != NO_CHANNEL)
		texture_cut_count(&texture->cut, run, in, texture->channel,
		    texture->levels_per_unit, texture->most);
}

void
texture_conclude(struct texture *texture)
{
	texture_cut_conclude(&texture->cut);
	texture_below_free(&texture->below);
}
