/* Depth to the planes of an ordinary video. */
#include "run/stage.h"

#include "depthcode/depthcode.h"
#include "depthenc.block.h"
#include "fill.h"
#include "frame/key_option.h"
#include "image/depth_range.h"
#include "image/texture_cut.h"
#include "outside.h"
#include "run/passes.h"
#include "texture.h"

#define TILE 1024		/* pixels of a row at a time */

struct parameters {
	struct depthcode_options code;
	struct texture_options texture;
};

struct priv {
	struct depthcode depthcode;
	struct depthcode_code code;
	size_t depth;		/* input channel */
	size_t mask;		/* output channel, with a mask */
	bool fills;		/* holes are filled: in all planes, or those of colour */
	struct depth_range_of_file range_of_file;
	struct fill fill;
	struct outside outside;
	struct texture texture;
	bool dropped;		/* a line about colours was printed */
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	DEPTHCODE_OPTIONS(struct parameters, code, depth_range_words),
	{ 0, "texture", "CHANNEL", OPT_TEXT, AT(texture.channel), NULL, 0, 0, NULL,
	    "channel that goes with the depth", NULL },
	{ 0, "texture-place", "WORD", OPT_WORD, AT(texture.place), "below", 0, 0, NULL,
	    "below the depth, in a frame of double height; or in a track of its own",
	    depthcode_texture_places },
	{ 0, "texture-gain", "G", OPT_NUMBER, AT(texture.gain), "1", 0.01, 1, NULL,
	    "amplitude of the texture: less leaves more of a video's bits to the depth", NULL },
	{ 0 },
};

/* ---- pixels ---- */

/* NaN where there is no depth, or one outside of the range. */
static void
normalise(const float *restrict depth, float *restrict z, size_t n, float zero, float per_depth)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F normalised = depthcode_normalise(depth[x], zero, per_depth);

		z[x] = px_select(depthcode_inside(normalised), depthcode_clamp(normalised), PX_NAN);
	}
}

static void
put_levels(const float *restrict level, enum sample type, void *row, size_t x, size_t n)
{
	if (type == SAMPLE_UCHAR) {
		uint8_t *restrict out = (uint8_t *)row + x;

		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			out[i] = (uint8_t)(int)level[i];
	} else {
		uint16_t *restrict out = (uint16_t *)row + x;

		CPU_SIMD
		for (size_t i = 0; i < n; i++)
			out[i] = (uint16_t)(int)level[i];
	}
}

/* 1 where there is a depth; where there is none, z becomes what fills the hole. */
static void
take_mask(float *restrict z, const float *restrict fill, float *restrict mask, size_t n)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool hole = px_isnan(z[x]);

		mask[x] = px_select(hole, 0.0f, 1.0f);
		z[x] = px_select(hole, fill[x], z[x]);
	}
}

static void
encode_luma(const float *restrict z, float *restrict level, size_t n, float guard, float swing)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F luma = depthcode_round(depthcode_luma(z[x], guard, swing));

		level[x] = px_select(px_isnan(z[x]), 0.0f, luma);
	}
}

/* Holes are the middle of both: mixed with it, a pair keeps its angle. */
static void
encode_colour(const float *restrict z, float *restrict sine, float *restrict cosine, size_t n,
    struct depthcode_code code)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		bool hole = px_isnan(z[x]);
		PX_F rest = depthcode_rest(px_select(hole, 0.0f, z[x]), code.fringes);
		PX_F u = depthcode_round(depthcode_sine(rest, code.middle, code.amplitude));
		PX_F v = depthcode_round(depthcode_cosine(rest, code.middle, code.amplitude));

		sine[x] = px_select(hole, code.middle, u);
		cosine[x] = px_select(hole, code.middle, v);
	}
}

/* Folded depth, 0 in holes, and coarse depth, which z continues into holes. */
static void
encode_fold(const float *restrict z, const float *restrict mask, float *restrict luma,
    float *restrict coarse, size_t n, struct depthcode_code code)
{
	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		PX_F fold = depthcode_fold(z[x], code.fringes);
		PX_F level = depthcode_round(depthcode_luma(fold, code.guard, code.swing));

		luma[x] = px_select((mask[x] == 0.0f) & (code.guard > 0.0f), 0.0f, level);
		coarse[x] = depthcode_round(z[x] * code.most);
	}
}

static void
fill_level(float *level, size_t n, float v)
{
	for (size_t x = 0; x < n; x++)
		level[x] = v;
}

static void
encode(const struct priv *priv, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n)
{
	const struct depthcode_code *code = &priv->code;
	float z[TILE], level[TILE], other[TILE], mask[TILE];
	enum sample type = out->head.type;

	normalise(frame_floats(in, priv->depth, y) + x, z, n, code->zero, code->per_depth);
	if (priv->fills) {
		fill_row(&priv->fill, y, x, n, other);
		take_mask(z, other, mask, n);
	}
	if (priv->depthcode.mask == DEPTHCODE_TRACK)
		put_levels(mask, type, frame_row(out, priv->mask, y), x, n);
	if (priv->depthcode.layout == DEPTHCODE_FOLD) {
		encode_fold(z, mask, level, other, n, *code);
		put_levels(level, type, frame_row(out, 0, y), x, n);
		put_levels(other, type, frame_row(out, 1, y), x, n);
		fill_level(level, n, code->middle);
		put_levels(level, type, frame_row(out, 2, y), x, n);
		return;
	}
	encode_luma(z, level, n, code->guard, code->swing);
	put_levels(level, type, frame_row(out, 0, y), x, n);
	if (priv->depthcode.layout == DEPTHCODE_MWD) {
		encode_colour(z, level, other, n, *code);
		put_levels(level, type, frame_row(out, 1, y), x, n);
		put_levels(other, type, frame_row(out, 2, y), x, n);
	}
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
			encode(priv, in, out, y, x, w - x < TILE ? w - x : TILE);
	for (size_t y = y0; y < y1 && priv->texture.channel != NO_CHANNEL; y++)
		texture_row(&priv->texture, in, out, y);
}

/* The same on the device. */
static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct depthcode_code *code = &priv->code;
	struct depthenc_block block = { .depth = (uint)priv->depth,
		.colour = priv->depthcode.layout == DEPTHCODE_MWD,
		.wide = priv->depthcode.bits > 8, .zero = code->zero,
		.per_depth = code->per_depth, .guard = code->guard, .swing = code->swing,
		.middle = code->middle, .amplitude = code->amplitude, .fringes = code->fringes };
	struct pass pass = { .shader = SHADER(depthenc), .block = &block, .bytes = sizeof(block),
		PASS_FOURS };

	if (priv->fills || priv->texture.channel != NO_CHANNEL)
		return passes_refuse(passes, "the processor fills holes and puts textures");
	passes_read(passes, priv->depth);
	return passes_add(passes, &pass);
}

/* ---- the frame ---- */

static int
survey(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;

	outside_count(run, &priv->outside, &priv->code, in, priv->depth);
	texture_count(run, &priv->texture, in);
	return !priv->fills ? 0 :
	    fill_frame(run, &priv->fill, &priv->code, in, priv->depth);
}

static int
texture_frame(struct run *run, struct frame *in)
{
	const struct priv *priv = run->priv;

	return texture_below_encode(run, &priv->texture.below, in);
}

static const struct body body = { .survey = survey, .rows = rows, .passes = passes };
static const struct body textured = { .frame = texture_frame,
	.no_passes = "a texture below the depth is put there by the processor" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = parameters->texture.channel &&
	    parameters->texture.place == DEPTHCODE_TEXTURE_BELOW ? &textured : &body;
	if (texture_check(&parameters->texture) < 0)
		return -1;
	return depth_range_is_file(&parameters->code.depth_range) ? depth_range_check(run) : 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct texture *texture = &priv->texture;
	struct depthcode_options given = parameters->code;

	texture->channel = NO_CHANNEL;
	if (run_channel(run, in, "depth", &priv->depth) < 0 ||
	    depth_range_take(run, &priv->range_of_file, &given.depth_range) < 0 ||
	    depthcode_choose(&priv->depthcode, &given, in) < 0 ||
	    key_pair_replace(&out->meta, "depth_range", (double[2]){ priv->depthcode.low,
		priv->depthcode.high }) < 0)
		return -1;
	priv->code = depthcode_code(&priv->depthcode);
	priv->fills = priv->depthcode.mask == DEPTHCODE_TRACK ||
	    priv->depthcode.layout == DEPTHCODE_FOLD;
	out->type = priv->depthcode.bits > 8 ? SAMPLE_USHORT : SAMPLE_UCHAR;
	if ((parameters->texture.channel &&
	    run_channel(run, in, parameters->texture.channel, &texture->channel) < 0) ||
	    depthcode_write(&priv->depthcode, &out->meta) < 0 ||
	    head_set_channels(out, depthcode_channel_names(&priv->depthcode)) < 0)
		return -1;
	priv->mask = out->c - 1;
	texture->below.survey = survey;
	texture->below.rows = rows;
	if (texture->channel == NO_CHANNEL)
		texture_warn_colours(in, "--texture g keeps one of them", &priv->dropped);
	return texture->channel == NO_CHANNEL ? 0 :
	    texture_plan(texture, &parameters->texture, &priv->depthcode, &in->meta, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	outside_conclude(&priv->outside, depthcode_step(&priv->depthcode));
	fill_free(&priv->fill);
	texture_conclude(&priv->texture);
}

STAGE(depthenc) = {
	.name = "depthenc",
	.summary = "depth as the planes of an ordinary video",
	.operands = "[FILE ...]",
	.example = { "depthenc --depth-range=-20,20", "depth", "depthcode" },
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_UNITS,
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.release = release,
};
