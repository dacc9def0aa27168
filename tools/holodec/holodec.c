/*
 * A Holoimage back to depth, or to coordinates (methods section 12): options, what becomes of
 * pictures that are refused, the output's head, the look at a picture as a whole, and the device's
 * passes. holodec_rows.c has the loops; lossy_picture.c takes lossy pictures, whose orders regions
 * decide together; picture_checks.c has the checks.
 */
#include "holodec.h"

#include <stdio.h>

#include "run/passes.h"
#include "holodec.block.h"
#include "holodec.px.h"

BODY_ROWS(holodec, depths)

/* ---- options ---- */

struct parameters {
	struct holo_options holo;
	struct numbers spacing, corner;
	int decode;
	double blur_px;
	long edge_px;
	double certainty;
	int on_refusal;
	bool xyz, keep;
};

enum refusal { REFUSAL_NAN, REFUSAL_SKIP, REFUSAL_STOP };

static const char *const refusal_words[] = { "nan", "skip", "stop", NULL };
static const char *const decodes[] = { "auto", "nearest", "median", "region", "plain", NULL };

static const struct opt options[] = {
	HOLO_OPTIONS(struct parameters, holo, NULL),
	{ 0, "spacing", "DX,DY", OPT_NUMBERS, AT(spacing), NULL, 0, 0, NULL,
	    "distances of columns and of rows, for --xyz" },
	{ 0, "corner", "X,Y", OPT_NUMBERS, AT(corner), NULL, 0, 0, NULL,
	    "where the first pixel is, for --xyz" },
	{ 0, "decode", "WORD", OPT_WORD, AT(decode), "auto", 0, 0, NULL,
	    "nearest stair, of a pixel, by the median around it or of a region; or the papers' way",
	    decodes },
	{ 0, "blur", "SIGMA", OPT_NUMBER, AT(blur_px), "0", 0, 100, "px",
	    "Gaussian blur that the picture went through" },
	{ 'e', "edge", "N", OPT_INTEGER, AT(edge_px), NULL, 0, BACKGROUND_REACH_MOST, "px",
	    "drop pixels so near to the background; if not given, what is not certain" },
	FLAG_ROW(0, "keep", keep,
	    "keep all pixels, and add a channel: how certain each one's fringe order is"),
	{ 0, "certainty", "C", OPT_NUMBER, AT(certainty), NULL, 0, 1, NULL,
	    "drop pixels less certain; 0.93 if not given, less where that drops over 1.5 %" },
	{ 0, "on-refusal", "WORD", OPT_WORD, AT(on_refusal), NULL, 0, 0, NULL,
	    "a refused frame is NaN, left out, or the end; nan if not given, stop before the first",
	    refusal_words },
	FLAG_ROW(0, "xyz", xyz, "coordinates x y z instead of depth"),
	{ 0 },
};

/* ---- refused pictures ---- */

#define WARNED_MOST 5	/* refused pictures that get a line each */

/*
 * The picture at hand is refused, as fail() has recorded. word: an enum refusal, or -1 where the
 * option was not given: REFUSAL_STOP with --keep-going, which loses the frame, and as long as
 * nothing has been decoded, else REFUSAL_NAN. Returns what a survey returns: -1, where fail()'s
 * record stays; or, after a warning, 0 for NaN or SURVEY_SKIPS.
 */
static int
refusal_take(struct run *run, struct refusals *refusals, int word)
{
	size_t number = run_inputs(run) + 1;
	bool again = refusals->last == number;	/* the runner may survey a frame twice */
	struct fail_record reason;
	char object[40];

	if (word < 0)
		word = run_keeps_going(run) || !refusals->decoded ? REFUSAL_STOP : REFUSAL_NAN;
	if (word == REFUSAL_STOP || fail_is_memory())
		return -1;
	fail_take(&reason);
	refusals->refused += !again;
	refusals->all = refusals->last = number;
	refusals->now = word == REFUSAL_NAN;
	snprintf(object, sizeof(object), "frame %zu", number - 1);
	if (!again && refusals->refused <= WARNED_MOST)
		warn(object, "%s: %s", word == REFUSAL_SKIP ? "is left out" : "is NaN",
		    reason.message);
	return word == REFUSAL_SKIP ? SURVEY_SKIPS : 0;
}

/* ---- the output: points, channels and keys ---- */

/*
 * Points in the coordinates that the frame's rows and columns have; or, where mesh2depth(1) left
 * the view of a mesh in the metadata, in those of the mesh. -1 after fail().
 */
static int
place_plan(struct place *out, const struct holo *holo, const struct meta *meta)
{
	double(*place)[4] = out->row;
	struct numbers center, rotation;

	if (meta_numbers(meta, "center_mm", &center) < 0)
		return -1;
	if (meta_numbers(meta, "view_rotation", &rotation) < 0) {
		numbers_free(&center);
		return -1;
	}
	out->in_mesh = center.n == 3 && rotation.n == 9;
	memset(place, 0, sizeof(out->row));
	for (int k = 0; k < 2; k++) {
		place[k][k] = holo->spacing[k];
		place[k][3] = holo->corner[k];
	}
	place[2][2] = 1;
	for (int k = 0; out->in_mesh && k < 3; k++) {
		const double *r = rotation.v + k;

		place[k][0] = holo->spacing[0] * r[0];
		place[k][1] = holo->spacing[1] * r[3];
		place[k][2] = r[6];
		place[k][3] = center.v[k] - place[k][0] * (double)(holo->w - 1) / 2 -
		    place[k][1] * (double)(holo->h - 1) / 2;
	}
	numbers_free(&center);
	numbers_free(&rotation);
	return 0;
}

static int
plan_channels(struct priv *priv, const struct frame_head *in, struct frame_head *out)
{
	const char *name = meta_get(&in->meta, "holo_texture");
	const char *space = priv->xyz ? "x y z" : "depth";
	const char *certainty = priv->keep ? " certainty" : "";
	char names[6 * CHANNEL_NAME_SIZE], colours[4 * CHANNEL_NAME_SIZE];
	double scale, gain;

	if (priv->reading.channel[3] == NO_CHANNEL) {
		snprintf(names, sizeof(names), "%s%s", space, certainty);
		return head_set_channels(out, names);
	}
	if (texture_colours(&in->meta, "holo", &priv->matrix, colours) < 0 ||
	    meta_number(&in->meta, "holo_texture_scale", 1, &scale) < 0 ||
	    meta_number(&in->meta, "holo_texture_gain", 1, &gain) < 0)
		return -1;
	priv->texture_scale = (float)scale;
	if (scale * gain != 1)
		meta_set_number(&out->meta, "max_value", 255 * scale * gain);
	if (priv->matrix != TEXTURE_GREY)
		name = colours;
	else if (!name || strlen(name) >= CHANNEL_NAME_SIZE || strchr(name, ' '))
		name = "texture";
	snprintf(names, sizeof(names), "%s %s%s", space, name, certainty);
	return head_set_channels(out, names);
}

/* Sets what differs from the picture's head: its keys become those of a depth map, or of points.
 * -1 after fail(). */
static int
output_plan(struct priv *priv, const struct frame_head *in, struct frame_head *out)
{
	static const char *const view[] = { "center_mm", "scale_mm", "view_rotation" };
	bool turned = priv->xyz && priv->place.in_mesh;

	holo_remove(&out->meta);
	memcpy(out->spacing, priv->holo.spacing, sizeof(out->spacing));
	for (int i = 0; turned && i < 3; i++)
		meta_remove(&out->meta, view[i]);
	return meta_set(&out->meta, "z_axis",
		   turned ? "away" : holo_z_axes[priv->holo.z_axis]) < 0 ? -1 :
	    plan_channels(priv, in, out);
}

/* ---- the picture as a whole ---- */

#define EDGE_LOSSY 2	/* pixels dropped at the boundary of a lossy picture without regions */
#define PALETTE_STEP 8	/* colours are counted in one row of 8 */

/* Counts pixels of some of the rows: is this a Holoimage, and has a lossy format been at it? */
static int
look(struct run *run, const struct frame *in, bool *was_lossy)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct exact_limits limits = exact_limits_of(&priv->holo);
	struct pixel_counts counts = holodec_rows()->count_pixels(&priv->reading, in, &limits);
	bool lossy;

	if (priv->bare.picture && bare_counts(&priv->holo, &priv->reading, in, &counts) < 0)
		return -1;
	lossy = !pixel_counts_exact(&counts);
	if (parameters->decode == DECODE_AUTO)
		priv->decode = lossy ? DECODE_REGION : DECODE_NEAREST;
	if (parameters->edge_px == OPT_NONE_INTEGER)
		priv->edge_px = lossy && priv->decode != DECODE_REGION ? EDGE_LOSSY : 0;
	if (pixel_counts_check(&counts, &in->head, parameters->blur_px > 0) < 0)
		return -1;
	if (priv->bare.picture && !lossy)
		bare_warn_beyond(&counts, &priv->bare);
	if (lossy)
		palette_warn(in, PALETTE_STEP, &priv->few_colours);
	if (!priv->compared)
		holo_warn_overruled(&parameters->holo, &in->head.meta);
	priv->compared = true;
	*was_lossy = lossy;
	if (priv->decode != DECODE_REGION)
		return check_picture(&priv->reading, NULL, in);
	if (lossy && priv->holo.layout == HOLO_YUV &&
	    halved_mend(run, &priv->reading, in, &priv->mended) < 0)
		return -1;
	in = priv->mended.picture ? priv->mended.picture : in;
	if (regions_find(run, &priv->regions, &priv->reading, in) < 0)
		return -1;
	return check_picture(&priv->reading, &priv->regions, in);
}

static int
holodec_survey(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	bool lossy;
	int status;

	if (look(run, in, &lossy) < 0) {
		status = refusal_take(run, &priv->refusals, parameters->on_refusal);
	} else {
		priv->refusals.all = run_inputs(run) + 1;
		priv->refusals.decoded = true;
		priv->refusals.now = false;
		altered_warn(&priv->reading, in, lossy && !(parameters->blur_px > 0),
		    &priv->altered);
		status = certain_grow(run, in, lossy, parameters->edge_px == OPT_NONE_INTEGER,
		    !isnan(parameters->certainty));
		if (status == 0 && lossy && priv->bare.picture && priv->decode == DECODE_REGION)
			bare_warn_beyond_regions(&priv->reading.code, &priv->regions, &priv->bare);
	}
	halved_free(&priv->mended);
	return status;
}

/* ---- the device: readings, medians along rows, background near by; then depths, places ---- */

_Static_assert(HOLODEC_NEAREST == DECODE_NEAREST && HOLODEC_MEDIAN == DECODE_MEDIAN &&
    HOLODEC_PLAIN == DECODE_PLAIN, "the same in the shaders");

/* Readings, medians along rows and background near by are passes whose results the main one looks
 * up. */
static int
holodec_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct reading *reading = &priv->reading;
	const struct holo_code *code = &reading->code;
	const bool medians = priv->decode == DECODE_MEDIAN;
	const bool reads = priv->decode != DECODE_NEAREST;
	struct holodec_block block = {
		.type = passes_input(passes)->type, .sine = (uint)reading->channel[0],
		.cosine = (uint)reading->channel[1], .stair = (uint)reading->channel[2],
		.texture = HOLODEC_NONE, .depth = priv->xyz ? 2 : 0, .decode = priv->decode,
		.edge = (uint)priv->edge_px, .per_height = 1 / code->height,
		.half_step = reading->half_step, .order_most = code->order_most,
		.turns_per_column = code->turns_per_column,
		.per_turn = 1 / code->turns_per_depth, .zero = code->depth_zero,
		.range = code->depth_one - code->depth_zero,
		.slack = priv->decode == DECODE_PLAIN ? INFINITY
						      : HOLODEC_SLACK / code->turns_per_depth,
		.texture_scale = priv->texture_scale,
	};
	struct holodec_place_block place;
	struct pass pass = { .block = &block, .bytes = sizeof(block), PASS_FOURS };

	if (priv->refusals.now)
		return passes_refuse(passes, "the picture is refused");
	if (priv->decode == DECODE_REGION)
		return passes_refuse(passes, "regions are joined pair after pair");
	if (priv->keep || priv->certainty != NO_CHANNEL)
		return passes_refuse(passes, "how certain a pixel is, is known to the processor");
	if (priv->xyz && !passes_float64(passes))
		return passes_refuse(passes, "the device has no doubles");
	if (reading->channel[3] != NO_CHANNEL)
		block.texture = (uint)reading->channel[3];
	for (int i = 0; i < 4; i++)
		if (reading->channel[i] != NO_CHANNEL)
			passes_read(passes, reading->channel[i]);
	if (passes_constant(passes, reading->stair, sizeof(reading->stair)) < 0)
		return -1;
	if (reads || block.edge)
		passes_scratch(passes, HOLODEC_SCRATCHES);
	pass.shader = SHADER(holodec_read);
	pass.beyond = medians ? MARGIN : 0;
	if (reads)
		passes_add(passes, &pass);
	pass.shader = SHADER(holodec_along);
	if (medians)
		passes_add(passes, &pass);
	pass.shader = SHADER(holodec_black);
	pass.beyond = block.edge;
	if (block.edge)
		passes_add(passes, &pass);
	pass.shader = SHADER(holodec);
	pass.beyond = 0;
	passes_add(passes, &pass);
	memcpy(place.row, priv->place.row, sizeof(place.row));
	if (priv->xyz)
		passes_add(passes, &(struct pass){ PASS_OF(holodec_place, place), PASS_FOURS });
	return 0;
}

/* ---- a picture with its texture below it, taken apart (image/texture.h) ---- */

/* For plan: does the texture lie below? Then priv->below.picture is the head of the picture alone,
 * with the texture as alpha. -1 after fail(). */
static int
below_plan(struct priv *priv, const struct holo_options *options, const struct frame_head *in)
{
	int is = texture_below_is(&in->meta, "holo_texture_place");
	char names[80], colours[4 * CHANNEL_NAME_SIZE];
	enum texture_matrix matrix;
	struct frame_head whole = *in;
	size_t h;

	if (is <= 0)
		return is;
	if (texture_colours(&in->meta, "holo", &matrix, colours) < 0 ||
	    texture_below_rows(&in->meta, "holo", matrix, &h) < 0)
		return -1;
	if (in->c != 3)
		return fail("holo_texture_place", "a picture with its texture below has three "
		    "channels, not %zu", in->c);
	snprintf(names, sizeof(names), "%s%s", holo_channel_names(head_channel(in, "luma") == 0 ?
	    HOLO_YUV : HOLO_RGB, true), matrix == TEXTURE_GREY ? "" : " a2 a3");
	priv->below.luma = holo_luma[holo_layout_of(options->layout, &in->meta)];
	return texture_below_plan(&priv->below, false, &whole, names, h,
	    matrix != TEXTURE_GREY) < 0 ? -1 : 1;
}

/* For a flow's body. */
static int
below_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;

	return texture_below_decode(run, &priv->below, in);
}

/* ---- bodies and plan ---- */

#define CERTAINTY_GIVEN 0.75f	/* at least, of an input's own channel */

/* The input has ended: -1 after fail() where every picture was left out. */
static int
finish(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct refusals *refusals = &((const struct priv *)run->priv)->refusals;

	if (parameters->on_refusal != REFUSAL_SKIP || refusals->refused == 0 || refusals->decoded)
		return 0;
	return fail("--on-refusal", "skip leaves nothing: every picture was refused");
}

static const struct body body = { .survey = holodec_survey, .rows = holodec_depths,
	.end = finish, .passes = holodec_passes };
static const struct body below = { .frame = below_frame, .end = finish,
	.no_passes = "a texture below the picture is taken off by the processor" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	if (parameters->keep && !isnan(parameters->certainty))
		return fail_usage(NULL, "--keep drops nothing, give it or --certainty");
	return 0;
}

static int
plan_picture(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct reading *reading = &priv->reading;
	struct holo *holo = &priv->holo;

	if (in->type == SAMPLE_USHORT)
		return fail(NULL, "a Holoimage has 8 bits a sample, not 16");
	if (holo_read(holo, &parameters->holo, in) < 0 ||
	    holo_channels(holo, in, reading->channel) < 0)
		return -1;
	if (parameters->spacing.n)
		memcpy(holo->spacing, parameters->spacing.v, sizeof(holo->spacing));
	if (parameters->corner.n)
		memcpy(holo->corner, parameters->corner.v, sizeof(holo->corner));
	reading->code = holo_code(holo);
	priv->bare.picture = bare_is(&parameters->holo, in, parameters->blur_px > 0);
	reading->rgb = holo->layout == HOLO_RGB;
	reading->half_step = holo->stair == HOLO_COMPOSITE ? 0.5f : 0;
	holo_profile(&reading->code, parameters->blur_px * (double)reading->code.turns_per_column,
	    reading->stair);
	priv->decode = (enum decode)parameters->decode;
	priv->xyz = parameters->xyz;
	priv->keep = parameters->keep;
	priv->least = priv->keep ? 0
	    : isnan(parameters->certainty) ? CERTAINTY_GIVEN
					   : (float)parameters->certainty;
	priv->certainty = in->type == SAMPLE_FLOAT ? head_channel(in, "certainty") : NO_CHANNEL;
	priv->edge_px =
	    parameters->edge_px == OPT_NONE_INTEGER ? EDGE_LOSSY : (size_t)parameters->edge_px;
	run->halo = priv->edge_px < MARGIN ? MARGIN : priv->edge_px;
	if (place_plan(&priv->place, holo, &in->meta) < 0)
		return -1;
	return output_plan(priv, in, out);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	int is_below = below_plan(priv, &parameters->holo, in);

	run->body = is_below > 0 ? &below : &body;
	if (is_below < 0 || plan_picture(run, is_below ? &priv->below.picture : in, out) < 0)
		return -1;
	if (!is_below)
		return 0;
	out->h = priv->below.picture.h;
	priv->below.survey = holodec_survey;
	priv->below.rows = holodec_depths;
	return 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	if (priv->refusals.refused > WARNED_MOST)	/* not each had its own warning */
		warn(NULL, "%zu of %zu frames were refused", priv->refusals.refused,
		    priv->refusals.all);
	head_free(&priv->below.picture);
	regions_free(&priv->regions);
}

const struct stage stage_holodec = {
	.name = "holodec",
	.summary = "the depth in a Holoimage",
	.options = options,
	.usual = "edge certainty keep on-refusal xyz",
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE,
	.example = { "holodec", "holo", "again" },
	.init = init,
	.plan = plan,
	.release = end,
};
