/* Depth to a Holoimage: a colour picture from which the depth can be computed again. */
#include "holoenc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "check.h"
#include "holoenc.px.h"
#include "range.h"

#define OUTSIDE 0.9		/* of the depths: fewer are cut off on purpose */

struct parameters {
	struct holo_options holo;
	const char *texture;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	HOLO_OPTIONS(struct parameters, holo),
	{ 0, "texture", "CHANNEL", OPT_TEXT, AT(texture), NULL, 0, 0, NULL,
	    "channel that goes into alpha", NULL },
	{ 0 },
};

/* ---- pixels ---- */

struct colours {
	unsigned char *restrict sine, *restrict cosine, *restrict stair;
};

static inline __attribute__((always_inline)) void
encode_row_of(const float *restrict depth, const struct colours *out, size_t w,
    struct holo_code code, bool waves, bool angle)
{
	unsigned char *restrict sine = out->sine, *restrict cosine = out->cosine;
	unsigned char *restrict stair = out->stair;
	float per_depth = 1 / (code.depth_one - code.depth_zero);

	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		PX_F z = holoenc_normalise(depth[x], code.depth_zero, per_depth);
		PX_F turns = holo_turns(
		    (float)(int)x, holoenc_clamp(z), code.turns_per_column, code.turns_per_depth);
		PX_F order = holo_order(turns, code.order_most), rest = turns - order;
		PX_F level = code.base + order * code.height;
		PX_F r = holo_sine_level(rest), g = holo_cosine_level(rest);
		PX_F b = holo_round(waves ? order * code.height +
			    holo_stair_level(rest, code.base, code.swing, code.waves)
					  : level);
		bool inside = holoenc_inside(z);

		if (angle) {
			struct holoenc_pair pair = holoenc_nearest(r, g);

			r = pair.r;
			g = pair.g;
		}
		r = holo_round(r);
		g = holo_round(g);
		sine[x] = (unsigned char)(int)px_select(inside, r, 0.0f);
		cosine[x] = (unsigned char)(int)px_select(inside, g, 0.0f);
		stair[x] = (unsigned char)(int)px_select(inside, b, 0.0f);
	}
}

static void
encode_row(const float *depth, const struct colours *out, size_t w, const struct holo_code *code,
    bool angle)
{
	bool waves = code->swing > 0;

	if (waves && angle)
		encode_row_of(depth, out, w, *code, true, true);
	else if (angle)
		encode_row_of(depth, out, w, *code, false, true);
	else if (waves)
		encode_row_of(depth, out, w, *code, true, false);
	else
		encode_row_of(depth, out, w, *code, false, false);
}

/* Grey levels; NaN is 0. */
static void
texture_row(const float *restrict in, unsigned char *restrict out, size_t w, float scale)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++) {
		PX_F level = px_min(px_max(holo_round(in[x] * scale), 0.0f), 255.0f);

		out[x] = (unsigned char)(int)px_select(px_isnan(in[x]), 0.0f, level);
	}
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;
	const size_t *place = holo_place[priv->holo.layout];

	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		struct colours colours = { frame_row(out, place[0], y), frame_row(out, place[1], y),
			frame_row(out, place[2], y) };

		encode_row(frame_floats(in, priv->depth, y), &colours, in->head.w, &priv->code,
		    priv->holo.rounding == HOLO_ANGLE);
		if (priv->texture != NO_CHANNEL)
			texture_row(frame_floats(in, priv->texture, y), frame_row(out, 3, y),
			    in->head.w, priv->texture_scale);
	}
}

/* ---- the frame ---- */

/* A range that leaves nearly nothing is of another unit, or of another scene. */
static void
warn_outside(struct priv *priv, const struct frame *in)
{
	const struct holo *holo = &priv->holo;
	float least, most;
	double outside = range_outside(in, priv->depth, holo->low, holo->high, &least, &most);

	if (priv->warned || outside < OUTSIDE)
		return;
	priv->warned = true;
	warn("--depth-range", "%.0f %% of the depths, which go from %.4g to %.4g, lie outside "
	    "%g to %g and become background: is it in the unit of the depths?", 100 * outside,
	    (double)least, (double)most, holo->low, holo->high);
}

/* The depth range of this frame, and the grid that its points lie on. */
static int
survey(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct holo *holo = &priv->holo;
	float low, high;

	if (priv->x != NO_CHANNEL &&
	    holo_grid(in, priv->x, priv->y, holo->spacing, holo->corner) < 0)
		return -1;
	if (priv->range_wanted) {
		range_find(run, in, priv->depth, &low, &high);
		holo->low = low > high ? 0 : (double)low;
		holo->high = low >= high ? holo->low + 1 : (double)high;
	} else {
		warn_outside(priv, in);
	}
	priv->code = holo_code(holo);
	if (check_write(priv, in, run_output_meta(run)) < 0)
		return -1;
	return holo_write(holo, run_output_meta(run));
}

static const struct body body = { .survey = survey, .rows = rows, .passes = holoenc_passes };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
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
	return parameters->texture ? run_channel(run, in, parameters->texture, &priv->texture) : 0;
}

/* The name of the texture, and which value of it was white. */
static int
plan_texture(struct run *run, const struct frame_head *in, struct meta *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double white;

	if (priv->texture == NO_CHANNEL)
		return 0;
	if (meta_number(&in->meta, "max_value", 255, &white) < 0)
		return -1;
	if (!(white > 0))
		return fail("max_value", "must be more than 0, not %g", white);
	priv->texture_scale = (float)(255 / white);
	meta_remove(out, "max_value"); /* of the input; the picture's is 255 */
	return meta_set(out, "holo_texture", parameters->texture) < 0 ||
		meta_set_number(out, "holo_texture_scale", white / 255) < 0
	    ? -1
	    : 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (find_channels(run, in) < 0 || holo_choose(&priv->holo, &parameters->holo, in) < 0)
		return -1;
	priv->range_wanted = isnan(priv->holo.low);
	if (priv->range_wanted) {
		priv->holo.low = 0;
		priv->holo.high = 1;
	}
	priv->code = holo_code(&priv->holo);
	out->type = SAMPLE_UCHAR;
	if (holo_write(&priv->holo, &out->meta) < 0 ||
	    meta_set(&out->meta, "holo_check", "") < 0 || plan_texture(run, in, &out->meta) < 0)
		return -1;
	return head_set_channels(
	    out, holo_channel_names(priv->holo.layout, priv->texture != NO_CHANNEL));
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
};
