/* Depth to a Holoimage: a colour picture from which the depth can be computed again. */
#include "holoenc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "frame/key_option.h"
#include "holo/holoenc_rows.h"
#include "io/codec.h"
#include "io/jpeg_purpose.h"
#include "texture.h"

struct parameters {
	struct holo_options holo;
	struct texture_options texture;
	long quality;
	int purpose;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	HOLO_OPTIONS(struct parameters, holo, depth_range_words),
	{ 0, "texture", "CHANNEL", OPT_TEXT, AT(texture.channel), NULL, 0, 0, NULL,
	    "channel that goes into alpha, or below the picture", NULL },
	{ 0, "texture-place", "WORD", OPT_WORD, AT(texture.place), "alpha", 0, 0, NULL,
	    "where it goes: a video has no alpha", texture_places },
	{ 0, "texture-gain", "G", OPT_NUMBER, AT(texture.gain), "1", 0.01, 1, NULL,
	    "amplitude of the texture: less leaves more of a video's bits to the depth", NULL },
	{ 0, "quality", "N", OPT_INTEGER, AT(quality), "94", 1, 100, NULL, "of JPEG files", NULL },
	{ 0, "jpeg-for", "WORD", OPT_WORD, AT(purpose), "fringes", 0, 0, NULL,
	    "what JPEG files keep best", jpeg_purposes },
	{ 0 },
};

/* ---- pixels ---- */

void
holoenc_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;
	const size_t *place = holo_place[priv->holo.layout];

	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		struct holoenc_colours colours = { frame_row(out, place[0], y),
			frame_row(out, place[1], y), frame_row(out, place[2], y) };

		holoenc_row(frame_floats(in, priv->depth, y), &colours, in->head.w, &priv->code,
		    priv->holo.rounding == HOLO_ANGLE);
		if (priv->texture != NO_CHANNEL)
			holoenc_texture_row(frame_floats(in, priv->texture, y),
			    frame_row(out, 3, y), in->head.w, priv->texture_scale);
	}
}

/* ---- the frame ---- */

/* The depth range of this frame, and the grid that its points lie on. */
int
holoenc_survey(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct holo *holo = &priv->holo;
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
	if (priv->texture != NO_CHANNEL)
		texture_cut_count(&priv->cut, run, in, priv->texture, priv->texture_scale, 255);
	priv->code = holo_code(holo);
	hole_value_judge(&priv->hole, in, priv->depth, holo->low, holo->high,
	    holo->z_axis == HOLO_TOWARDS);
	if (priv->range_wanted && !priv->stray)
		priv->stray = depth_use_warn_stray(in, priv->depth, holo->low, holo->high,
		    holo_depth_step(&priv->code, holo->high - holo->low));
	if (check_write(priv, in, run_output_meta(run)) < 0)
		return -1;
	return holo_write(holo, run_output_meta(run));
}

static const struct body body = { .survey = holoenc_survey, .rows = holoenc_rows,
	.passes = holoenc_passes };
static const struct body below = { .frame = texture_frame,
	.no_passes = "a texture below the picture is put there by the processor" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = parameters->texture.place == TEXTURE_BELOW ? &below : &body;
	if (texture_check(&parameters->texture) < 0)
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
	priv->texture = NO_CHANNEL;
	if (parameters->texture.channel)
		return run_channel(run, in, parameters->texture.channel, &priv->texture);
	texture_warn_colours(in, "--texture g keeps one of them", &priv->dropped);
	return 0;
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
	if (holo_write(&priv->holo, &out->meta) < 0 ||
	    key_pair_replace(&out->meta, "depth_range", (double[2]){ priv->holo.low,
		priv->holo.high }) < 0 ||
	    meta_set(&out->meta, "holo_check", "") < 0)
		return -1;
	return texture_plan(priv, &parameters->texture, in, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	depth_use_conclude(&priv->use,
	    holo_depth_step(&priv->code, priv->holo.high - priv->holo.low));
	texture_cut_conclude(&priv->cut);
	texture_below_free(&priv->below);
}

STAGE(holoenc) = {
	.name = "holoenc",
	.summary = "depth as an ordinary colour picture, a Holoimage",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_UNITS,
	.agree = AGREE_EXACT,
	.example = { "holoenc", "depth", "holo" },
	.init = init,
	.plan = plan,
	.release = release,
};
