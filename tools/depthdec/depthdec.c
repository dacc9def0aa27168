/* The depth in the planes of a video that depthenc made. */
#include "run/stage.h"

#include "check.h"
#include "depthcode/depthcode.h"
#include "depthdec.block.h"
#include "gap.h"
#include "planes.h"
#include "run/passes.h"
#include "texture.h"
#include "waves.h"

#define TILE 1024		/* pixels of a row at a time */

struct parameters {
	struct depthcode_options code;
	const char *texture;
};

struct priv {
	struct depthcode depthcode;
	struct depthcode_code code;
	struct planes planes;			/* input channels */
	bool compared;				/* options with keys */
	struct gap gap;
	struct waves waves;
	struct texture texture;
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	DEPTHCODE_OPTIONS(struct parameters, code, NULL),
	{ 0, "texture", "CHANNEL", OPT_TEXT, AT(texture), NULL, 0, 0, NULL,
	    "the channel that the texture becomes; without keys: the lower half is one", NULL },
	{ 0 },
};

/* ---- pixels ---- */

static void
load_bytes(const uint8_t *restrict in, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = (float)(int)in[i];
}

static void
load_words(const uint16_t *restrict in, float *restrict out, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++)
		out[i] = (float)(int)in[i];
}

static void
load(const struct frame *in, size_t c, size_t y, size_t x, size_t n, float *out)
{
	const void *row = frame_row(in, c, y);

	if (in->head.type == SAMPLE_UCHAR)
		load_bytes((const uint8_t *)row + x, out, n);
	else if (in->head.type == SAMPLE_USHORT)
		load_words((const uint16_t *)row + x, out, n);
	else
		memcpy(out, (const float *)row + x, n * sizeof(*out));
}

static void
decode_luma(const float *restrict luma, float *restrict coarse, size_t n, float guard, float swing)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		coarse[x] = depthcode_coarse(luma[x], guard, swing);
}

/* Three loops of few steps, since one would wait for the division and then for each step. */
static void
decode_colour(const float *restrict sine, const float *restrict cosine, float *restrict rest,
    float *restrict z, size_t n, struct depthcode_code code)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		rest[x] = px_atan2_tangent(sine[x] - code.middle, cosine[x] - code.middle);
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		rest[x] = depthcode_rest_of(rest[x], sine[x] - code.middle,
		    cosine[x] - code.middle);
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		z[x] = depthcode_fine_at(z[x], rest[x], code.fringes);
}

static void
decode_fold(const float *restrict coarse, float *restrict z, size_t n, float most, float folds)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		z[x] = depthcode_unfold(depthcode_clamp(px_divide(coarse[x], most)), z[x], folds);
}

/* Depths where the valid plane is not below `least`. */
static void
finish(const float *restrict z, const float *restrict valid, float *restrict depth, size_t n,
    float least, struct depthcode_code code)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		depth[x] = px_select(valid[x] >= least, code.zero + z[x] * code.extent, PX_NAN);
}

static void
decode(const struct priv *priv, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n)
{
	const struct depthcode_code *code = &priv->code;
	float luma[TILE], z[TILE], sine[TILE], cosine[TILE], rest[TILE];

	load(in, priv->planes.luma, y, x, n, luma);
	decode_luma(luma, z, n, code->guard, code->swing);
	if (priv->planes.coarse != NO_CHANNEL) {
		load(in, priv->planes.coarse, y, x, n, sine);
		decode_fold(sine, z, n, code->most, code->fringes);
	}
	if (priv->planes.sine != NO_CHANNEL) {
		load(in, priv->planes.sine, y, x, n, sine);
		load(in, priv->planes.cosine, y, x, n, cosine);
		decode_colour(sine, cosine, rest, z, n, *code);
	}
	if (priv->planes.mask != NO_CHANNEL)
		load(in, priv->planes.mask, y, x, n, luma);
	finish(z, luma, frame_floats(out, 0, y) + x, n, code->least, *code);
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	const struct priv *priv = run->priv;
	size_t w = in->head.w;

	(void)scratch;
	for (size_t y = y0; y < y1; y++)
		for (size_t x = 0; x < w; x += TILE)
			decode(priv, in, out, y, x, w - x < TILE ? w - x : TILE);
	for (size_t y = y0; y < y1 && priv->texture.is; y++) {
		float *row = frame_floats(out, 1, y);

		load(in, priv->texture.channel, y, 0, w, row);
		for (size_t x = 0; x < w; x++)
			row[x] *= priv->texture.scale;
	}
}

static uint
device_channel(struct passes *passes, size_t c)
{
	if (c == NO_CHANNEL)
		return DEPTHDEC_NONE;
	passes_read(passes, c);
	return (uint)c;
}

/* The same on the device. */
static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct depthcode_code *code = &priv->code;
	struct depthdec_block block = { .type = (uint)passes_input(passes)->type,
		.luma = device_channel(passes, priv->planes.luma),
		.sine = device_channel(passes, priv->planes.sine),
		.cosine = device_channel(passes, priv->planes.cosine),
		.coarse = device_channel(passes, priv->planes.coarse),
		.mask = device_channel(passes, priv->planes.mask),
		.zero = code->zero, .extent = code->extent, .guard = code->guard,
		.swing = code->swing, .middle = code->middle, .fringes = code->fringes,
		.most = code->most,
		.least = code->least };
	struct pass pass = { .shader = SHADER(depthdec), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	if (priv->texture.is)
		return passes_refuse(passes, "the processor makes textures");
	return passes_add(passes, &pass);
}

/* ---- the frame ---- */

static int
survey(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (!priv->compared) {
		depthcode_warn_overruled(&parameters->code, &in->head.meta);
		check_flat(&priv->depthcode, in);
	}
	priv->compared = true;
	if (priv->depthcode.layout == DEPTHCODE_LUMA && priv->planes.mask == NO_CHANNEL)
		gap_count(run, &priv->gap, &priv->code, in, priv->planes.luma);
	if (check_levels(&priv->depthcode, in, priv->planes.luma, priv->planes.mask,
	    priv->texture.below ? NO_CHANNEL : priv->texture.channel) < 0 ||
	    check_circle(&priv->depthcode, in, priv->planes.luma, priv->planes.sine,
	    priv->planes.cosine) < 0)
		return -1;
	waves_judge(&priv->waves, &priv->code, in, &priv->planes);
	return 0;
}

static int
below_frame(struct run *run, struct frame *in)
{
	const struct priv *priv = run->priv;

	return texture_below_decode(run, &priv->texture.flow, in);
}

static const struct body body = { .survey = survey, .rows = rows, .passes = passes };
static const struct body textured = { .frame = below_frame,
	.no_passes = "a texture below the depth is taken off by the processor" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = &body;
	return texture_check(parameters->texture);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct texture *texture = &priv->texture;
	const struct frame_head *planes;

	if (texture_plan(texture, parameters->texture, in) < 0)
		return -1;
	planes = texture->below ? &texture->flow.picture : in;
	run->body = texture->below ? &textured : &body;
	if (depthcode_read(&priv->depthcode, &parameters->code, planes) < 0 ||
	    planes_find(&priv->planes, run, &priv->depthcode, planes, texture->is) < 0 ||
	    check_head(&priv->depthcode, planes) < 0)
		return -1;
	priv->code = depthcode_code(&priv->depthcode);
	if (priv->planes.mask != NO_CHANNEL)
		priv->code.least = 0.5f;
	depthcode_remove(&out->meta);
	if (!texture->is)
		return head_set_channels(out, "depth");
	texture->flow.luma = priv->planes.luma;
	texture->flow.survey = survey;
	texture->flow.rows = rows;
	return texture_output(texture, parameters->texture, &priv->depthcode, &in->meta, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	gap_conclude(&priv->gap);
	texture_below_free(&priv->texture.flow);
}

STAGE(depthdec) = {
	.name = "depthdec",
	.summary = "the depth in a video that depthenc made",
	.operands = "[FILE ...]",
	.example = { "depthdec", "depthcode", "again" },
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.release = release,
};
