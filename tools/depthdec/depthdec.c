/* The depth in the planes of a video that depthenc made. */
#include "run/stage.h"

#include "check.h"
#include "depthcode/depthcode.h"
#include "depthdec.block.h"
#include "gap.h"
#include "run/passes.h"
#include "texture.h"

#define TILE 1024		/* pixels of a row at a time */

struct parameters {
	struct depthcode_options code;
	const char *texture;
};

struct priv {
	struct depthcode depthcode;
	struct depthcode_code code;
	size_t luma, mask;			/* input channels; NO_CHANNEL */
	size_t sine, cosine, coarse;		/* of colour, likewise: of mwd; of fold */
	bool compared;				/* options with keys */
	struct gap gap;
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

static void
decode_colour(const float *restrict sine, const float *restrict cosine, float *restrict z, size_t n,
    struct depthcode_code code)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		z[x] = depthcode_fine(z[x], sine[x] - code.middle, cosine[x] - code.middle,
		    code.fringes);
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
	float luma[TILE], z[TILE], sine[TILE], cosine[TILE];

	load(in, priv->luma, y, x, n, luma);
	decode_luma(luma, z, n, code->guard, code->swing);
	if (priv->coarse != NO_CHANNEL) {
		load(in, priv->coarse, y, x, n, sine);
		decode_fold(sine, z, n, code->most, code->fringes);
	}
	if (priv->sine != NO_CHANNEL) {
		load(in, priv->sine, y, x, n, sine);
		load(in, priv->cosine, y, x, n, cosine);
		decode_colour(sine, cosine, z, n, *code);
	}
	if (priv->mask != NO_CHANNEL)
		load(in, priv->mask, y, x, n, luma);
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
		.luma = device_channel(passes, priv->luma),
		.sine = device_channel(passes, priv->sine),
		.cosine = device_channel(passes, priv->cosine),
		.coarse = device_channel(passes, priv->coarse),
		.mask = device_channel(passes, priv->mask),
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

	if (!priv->compared)
		depthcode_warn_overruled(&parameters->code, &in->head.meta);
	priv->compared = true;
	if (priv->depthcode.layout == DEPTHCODE_LUMA && priv->mask == NO_CHANNEL)
		gap_count(run, &priv->gap, &priv->code, in, priv->luma);
	return check_levels(&priv->depthcode, in, priv->luma, priv->mask,
	    priv->texture.below ? NO_CHANNEL : priv->texture.channel) < 0 ? -1 :
	    check_circle(&priv->depthcode, in, priv->luma, priv->sine, priv->cosine);
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

/* Planes by their names; those of pictures in a file are r g b, and a single one is luma. */
static int
find_channels(struct run *run, const struct frame_head *in)
{
	static const char *const names[2][3] = { { "luma", "chroma_u", "chroma_v" },
		{ "r", "g", "b" } };
	struct priv *priv = run->priv;
	bool mwd = priv->depthcode.layout == DEPTHCODE_MWD;
	bool fold = priv->depthcode.layout == DEPTHCODE_FOLD;
	bool rgb = (mwd || fold) && head_channel(in, "luma") == NO_CHANNEL &&
	    head_channel(in, "r") == 0;

	priv->luma = priv->sine = priv->cosine = priv->coarse = priv->mask = NO_CHANNEL;
	if (priv->depthcode.mask == DEPTHCODE_TRACK) {
		priv->mask = head_channel(in, "mask");
		if (priv->mask == NO_CHANNEL)
			return fail(NULL, "there is no channel mask: the video has no second track "
			    "that is known for a mask, or the mask's file is missing");
	}
	if (in->c == 1 + (size_t)priv->texture.is && !mwd && !fold) {
		priv->luma = 0;
		return 0;
	}
	if (run_channel(run, in, names[rgb][0], &priv->luma) < 0)
		return -1;
	if (fold)
		return run_channel(run, in, names[rgb][1], &priv->coarse);
	return !mwd ? 0 : run_channel(run, in, names[rgb][1], &priv->sine) < 0 ? -1 :
	    run_channel(run, in, names[rgb][2], &priv->cosine);
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
	    find_channels(run, planes) < 0 || check_head(&priv->depthcode, planes) < 0)
		return -1;
	priv->code = depthcode_code(&priv->depthcode);
	if (priv->mask != NO_CHANNEL)
		priv->code.least = 0.5f;
	depthcode_remove(&out->meta);
	if (!texture->is)
		return head_set_channels(out, "depth");
	texture->flow.luma = priv->luma;
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
