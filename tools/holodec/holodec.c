/* A Holoimage back to depth, or to coordinates. */
#include "holodec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "background.h"
#include "below.h"
#include "base/cpu_level.h"
#include "certain.h"
#include "check.h"
#include "decode.h"
#include "output.h"
#include "palette.h"
#include "pixel_counts.h"

#define EDGE_LOSSY 2  /* pixels dropped at the boundary of a lossy picture without regions */
#define CERTAINTY 0.75f /* of an input's own channel */
#define SURVEY_STEP 8 /* in one row of so many colours are counted */

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

#define AT(field) offsetof(struct parameters, field)

static const char *const decodes[] = { "auto", "nearest", "median", "region", "plain", NULL };

static const struct opt options[] = {
	HOLO_OPTIONS(struct parameters, holo, NULL),
	{ 0, "spacing", "DX,DY", OPT_NUMBERS, AT(spacing), NULL, 0, 0, NULL,
	    "distances of columns and of rows, for --xyz", NULL },
	{ 0, "corner", "X,Y", OPT_NUMBERS, AT(corner), NULL, 0, 0, NULL,
	    "where the first pixel is, for --xyz", NULL },
	{ 0, "decode", "WORD", OPT_WORD, AT(decode), "auto", 0, 0, NULL,
	    "nearest stair, of a pixel, by the median around it or of a region; or the papers' way",
	    decodes },
	{ 0, "blur", "SIGMA", OPT_NUMBER, AT(blur_px), "0", 0, 100, "px",
	    "Gaussian blur that the picture went through", NULL },
	{ 'e', "edge", "N", OPT_INTEGER, AT(edge_px), NULL, 0, BACKGROUND_REACH_MOST, "px",
	    "drop pixels so near to the background; if not given, what is not certain",
	    NULL },
	{ 0, "keep", NULL, OPT_FLAG, AT(keep), NULL, 0, 0, NULL,
	    "keep all pixels, and add a channel: how certain each one's fringe order is", NULL },
	{ 0, "certainty", "C", OPT_NUMBER, AT(certainty), NULL, 0, 1, NULL,
	    "drop pixels less certain; 0.93 if not given, less where that drops over 1.5 %", NULL },
	{ 0, "on-refusal", "WORD", OPT_WORD, AT(on_refusal), NULL, 0, 0, NULL,
	    "a refused frame is NaN, left out, or the end; nan if not given, stop before the first",
	    refusal_words },
	{ 0, "xyz", NULL, OPT_FLAG, AT(xyz), NULL, 0, 0, NULL, "coordinates x y z instead of depth",
	    NULL },
	{ 0 },
};

/* ---- rows ---- */

static void
scale_row(float *restrict row, size_t w, float scale)
{
	CPU_SIMD
	for (size_t x = 0; x < w; x++)
		row[x] *= scale;
}

static void
finish_row(const struct priv *priv, const struct frame *in, struct frame *out, size_t z, size_t y)
{
	size_t w = in->head.w, texture = priv->reading.channel[3];

	if (!priv->refusals.now && (priv->keep || priv->certainty != NO_CHANNEL))
		certain_row(priv, in, out, z, y);
	if (!priv->refusals.now && priv->xyz)
		place_points(&priv->place, y, frame_floats(out, 0, y), frame_floats(out, 1, y),
		    frame_floats(out, z, y), w);
	if (texture != NO_CHANNEL) {
		float *out_row = frame_floats(out, z + 1, y);

		if (in->head.type == SAMPLE_UCHAR)
			tile_load_bytes(frame_row(in, texture, y), out_row, w);
		else
			memcpy(out_row, frame_row(in, texture, y), w * sizeof(*out_row));
		scale_row(out_row, w, priv->texture_scale);
	}
}

/* Rows whose pixels do not look at those above and below. */
static void
decode_rows(const struct priv *priv, const struct frame *in, struct frame *out, size_t z, size_t x,
    size_t n, size_t y0, size_t y1)
{
	struct tile tile;

	for (size_t y = y0; y < y1; y++) {
		float *depth = frame_floats(out, z, y) + x;

		if (priv->decode == DECODE_PLAIN)
			decode_plain(&priv->reading, in, y, x, n, depth);
		else
			decode_nearest(&priv->reading, in, y, x, n, &tile, depth);
	}
}

void
holodec_rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w, z = priv->xyz ? 2 : 0;

	(void)scratch;
	if (priv->refusals.now)
		refusal_rows(out, priv->reading.channel[3] == NO_CHANNEL ? NO_CHANNEL : z + 1, y0,
		    y1);
	for (size_t x = 0; x < w && !priv->refusals.now; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		if (priv->decode == DECODE_MEDIAN)
			decode_median(&priv->reading, in, out, z, x, n, y0, y1);
		else if (priv->decode == DECODE_REGION)
			regions_decode(&priv->regions, &priv->reading.code, out, z, x, n, y0, y1);
		else
			decode_rows(priv, in, out, z, x, n, y0, y1);
		if (priv->edge_px)
			background_drop(&priv->reading, priv->edge_px, in, out, z, x, n, y0, y1);
	}
	for (size_t y = y0; y < y1; y++)
		finish_row(priv, in, out, z, y);
}

/* ---- the picture as a whole ---- */

/* Counts pixels of some of the rows: is this a Holoimage, and has a lossy format been at it? */
static int
look(struct run *run, const struct frame *in, bool *was_lossy)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct exact_limits limits = exact_limits(&priv->holo);
	struct pixel_counts counts = pixel_counts_take(&priv->reading, in, &limits);
	bool lossy;

	if (priv->bare.picture && bare_counts(&priv->holo, &priv->reading, in, &counts) < 0)
		return -1;
	lossy = !pixel_counts_exact(&counts);
	if (parameters->decode == DECODE_AUTO)
		priv->decode = lossy ? DECODE_REGION : DECODE_NEAREST;
	if (parameters->edge_px == OPT_NONE_INTEGER)
		priv->edge_px = lossy && priv->decode != DECODE_REGION ? EDGE_LOSSY : 0;
	if (pixel_counts_check(&counts, parameters->blur_px > 0, in->head.type == SAMPLE_FLOAT) < 0)
		return -1;
	if (priv->bare.picture && !lossy)
		bare_warn_beyond(&counts, &priv->bare);
	if (lossy)
		palette_warn(in, SURVEY_STEP, &priv->few_colours);
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

int
holodec_survey(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	bool lossy;
	int status = 0;

	if (look(run, in, &lossy) < 0) {
		status = refusal_take(run, &priv->refusals, parameters->on_refusal);
	} else {
		refusal_none(run, &priv->refusals);
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

static int
finish(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	return refusal_end(&priv->refusals, parameters->on_refusal);
}

static const struct body body = { .survey = holodec_survey, .rows = holodec_rows,
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
	    holo_channels(holo, in, reading->channel) < 0 ||
	    place_take_pair(&parameters->spacing, "--spacing", holo->spacing) < 0 ||
	    place_take_pair(&parameters->corner, "--corner", holo->corner) < 0)
		return -1;
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
	    : isnan(parameters->certainty) ? CERTAINTY
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
	return is_below ? below_output(priv, out) : 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	refusal_conclude(&priv->refusals);
	texture_below_free(&priv->below);
	runs_free(&priv->regions);
}

STAGE(holodec) = {
	.name = "holodec",
	.summary = "the depth in a Holoimage",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.example = { "holodec", "holo", "again" },
	.init = init,
	.plan = plan,
	.release = end,
};
