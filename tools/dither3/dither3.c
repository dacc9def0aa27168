/* A Holoimage in three bits a pixel. */
#include "dither3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fringes.h"
#include "holo/holo.h"
#include "mark.h"
#include "planes.h"
#include "whole.h"

struct parameters {
	int method, pack, texture_bits;
	long order, level;
	double sigma_px, price;
};

/* 2 to 13 % fewer bytes than by 6, that of other pictures of few levels; that of `written` */
#define LEVEL 8

#define AT(field) offsetof(struct parameters, field)

static const char *const texture_words[] = { "0", "1", "8", NULL };
static const long texture_bits[] = { 0, 1, 8 };

static const struct opt options[] = {
	{ 'm', "method", "WORD", OPT_WORD, AT(method), "best", 0, 0, NULL,
	    "ordered, error diffusion, a search for what decodes best, or small files",
	    dither_methods },
	{ 0, "order", "N", OPT_INTEGER, AT(order), "3", 1, DITHER_ORDER_MOST, NULL,
	    "Bayer matrix of 2^N x 2^N", NULL },
	{ 0, "sigma", "PX", OPT_NUMBER, AT(sigma_px), "3", 0.5, 8, "px",
	    "size of the decoder's kernel, which best looks through", NULL },
	{ 0, "price", "P", OPT_NUMBER, AT(price), "0", 0, 1, NULL,
	    "best: smaller files for less accuracy; price of a bit off Bayer's pattern", NULL },
	{ 0, "pack", "WORD", OPT_WORD, AT(pack), "msb", 0, 0, NULL,
	    "upper bits of a grey image; images of one bit side by side; red of a colour image",
	    dither_packs },
	{ 0, "texture", "BITS", OPT_WORD, AT(texture_bits), "0", 0, 0, NULL,
	    "bits of the texture (alpha of the input) that are kept", texture_words },
	{ 0, "level", "N", OPT_INTEGER, AT(level), NULL, 1, 12, NULL,
	    "how much PNG files are compressed, from little and soon to much; 8 if not given",
	    NULL },
	{ 0 },
};

/* How the chain's file is written; the values lie in struct priv. */
static const struct opt written[] = {
	{ 0, "level", .type = OPT_INTEGER, .standard = "8" }, { 0 }
};

/* ---- ordered: a map ---- */

static void
dither_piece(const struct priv *priv, const struct frame *in, struct frame *out, size_t y, size_t x,
    size_t n)
{
	float share[4][PIECE] __attribute__((aligned(64)));
	unsigned char bits[4][PIECE] __attribute__((aligned(64)));
	unsigned char black[PIECE] __attribute__((aligned(64)));
	const unsigned char *const bit[4] = { bits[0], bits[1], bits[2], bits[3] };

	planes_bits(priv, in, 4, y, x, n, share, black, bits);
	if (priv->keys.marked)
		mark_row(priv->mark + y * in->head.w + x, bits[0], bits[1], bits[2],
		    n);
	planes_pack(bit, &priv->keys, out, y, x, n, in->head.w);
	planes_pass_texture(priv, in, out, y, x, n);
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1,
    const struct row_scratch *scratch)
{
	(void)scratch;
	for (size_t y = y0; y < y1; y++) {
		planes_clear_row(out, y);
		for (size_t x = 0; x < in->head.w; x += PIECE)
			dither_piece(run->priv, in, out, y, x,
			    in->head.w - x < PIECE ? in->head.w - x : PIECE);
	}
}

/* ---- options, the frame ---- */

static const struct body map = { .rows = rows, .passes = dither3_passes };
static const struct body judged_map = {
	.survey = fringes_judge, .rows = rows, .passes = dither3_passes
};
static const struct body marked_map = {
	.survey = mark_find, .rows = rows, .passes = dither3_passes
};
/* A wavefront over skewed rows would take w + 2h dispatches of h/2 pixels at most. */
static const struct body whole = { .frame = whole_frame,
	.no_passes = "a bit waits for those before it" };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	enum dither_method method = (enum dither_method)parameters->method;
	struct dither_keys bayer = { .method = DITHER_BY_BAYER, .order = parameters->order };
	bool ordered, given = parameters->level != OPT_NONE_INTEGER;

	priv->keys = (struct dither_keys){ (enum dither_pack)parameters->pack, method,
		texture_bits[parameters->texture_bits],
		method == DITHER_BY_SEARCH ? parameters->sigma_px : 0, parameters->order };
	if (priv->keys.texture_bits == 8 && priv->keys.pack != DITHER_RGB)
		return fail_usage("--texture", "8 bits go into --pack rgb only");
	priv->price = (float)parameters->price;
	priv->png.level = given ? parameters->level : LEVEL;
	/* of the chain, which ends here; 8 bits of texture make a picture of many levels */
	if (run->output && (given || priv->keys.texture_bits != 8) &&
	    run_save_options(run, written, &priv->png) < 0)
		return -1;
	ordered = dither_ordered(&priv->keys);
	/* what a stage before made is not looked at: the chain would wait for whole frames */
	run->body = !ordered ? &whole : run->position ? &map : &judged_map;
	/* the search starts from Bayer's */
	return dither_thresholds(ordered ? &priv->keys : &bayer, priv->threshold);
}

/* Sine, cosine, stair and texture, where the layout that the keys name has them. */
static int
find_channels(struct priv *priv, const struct frame_head *in)
{
	const char *layout = meta_get(&in->meta, "holo_layout");
	struct holo holo = { .w = in->w, .h = in->h, .layout = HOLO_RGB };

	if (in->type == SAMPLE_USHORT)
		return fail(NULL, "a Holoimage has 8 bits a sample, not 16");
	if (meta_get(&in->meta, "holo_texture_place"))
		return fail("holo_texture_place", "the texture lies below the picture: holoenc "
		    "without --texture-place puts it where it can be dithered");
	if (head_channel(in, "luma") == 0 || (layout && !strcmp(layout, holo_layouts[HOLO_YUV])))
		holo.layout = HOLO_YUV;
	if (holo_channels(&holo, in, priv->channel) < 0)
		return -1;
	if (priv->keys.texture_bits == 0)
		priv->channel[3] = NO_CHANNEL;
	else if (priv->channel[3] == NO_CHANNEL)
		return fail("--texture", "the picture has no texture: no channel a");
	return 0;
}

/* Does the picture say of itself all that its turns take? */
static bool
says_its_code(const struct frame_head *in)
{
	static const char *const key[] = { "holo_pitch_px", "holo_theta_deg", "holo_stair",
		"holo_stair_height", "holo_depth_range" };
	const char *of_size = meta_get(&in->meta, "holo_size");
	char size[64];

	snprintf(size, sizeof(size), "%zu %zu", in->w, in->h);
	for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
		if (!meta_get(&in->meta, key[i]))
			return false;
	return of_size && !strcmp(of_size, size);
}

/* Jumps are marked for a decoder that grows surfaces up to them; only in our own method. */
static int
plan_marks(struct run *run, const struct frame_head *in)
{
	static const struct holo_options none = { .pitch_px = NAN, .theta_rad = NAN,
		.stair_height = OPT_NONE_INTEGER, .stair_turns = OPT_NONE_INTEGER, .stair = -1,
		.layout = -1, .z_axis = -1, .rounding = -1 };
	struct priv *priv = run->priv;
	struct holo_code code;
	struct holo holo;

	priv->keys.marked = priv->keys.method == DITHER_BY_SMALL && says_its_code(in);
	if (priv->keys.method == DITHER_BY_SMALL)
		run->body = priv->keys.marked ? &marked_map : run->position ? &map : &judged_map;
	if (!priv->keys.marked)
		return 0;
	if (holo_read(&holo, &none, in) < 0)
		return -1;
	code = holo_code(&holo);
	bits_stairs(&priv->bits, &code);
	return bits_thresholds(&priv->bits, &priv->keys);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	struct priv *priv = run->priv;
	bool planar = priv->keys.pack == DITHER_PLANAR;
	size_t planes = priv->keys.texture_bits == 1 ? 4 : 3;

	const char *rounding = meta_get(&in->meta, "holo_rounding");

	if (find_channels(priv, in) < 0 || plan_marks(run, in) < 0)
		return -1;
	priv->to_circle = rounding && !strcmp(rounding, holo_roundings[HOLO_ANGLE]);
	meta_remove(&out->meta, "holo_rounding");
	out->type = SAMPLE_UCHAR;
	if (planar && size_multiply(in->w, planes, &out->w) < 0)
		return -1;
	if (dither_write(&priv->keys, &out->meta) < 0 ||
	    meta_setf(&out->meta, "holo_size", "%zu %zu", in->w, in->h) < 0 ||
	    head_set_channels(out, priv->keys.pack == DITHER_RGB ? "r g b" : "image") < 0)
		return -1;
	if (planar && meta_set(&out->meta, "bits", "1") < 0)
		return -1;
	if (!planar)
		meta_remove(&out->meta, "bits");
	head_free(&priv->out);
	return head_copy(&priv->out, out);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	head_free(&priv->out);
	held_free(&priv->held);
	diffusion_free(&priv->diffusion);
	free(priv->mark);
}

STAGE(dither3) = {
	.name = "dither3",
	.summary = "a Holoimage in three bits a pixel",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_EXACT,
	.example = { "dither3 -m bayer", "holo", "three" },
	.init = init,
	.plan = plan,
	.release = end,
};
