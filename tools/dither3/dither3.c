/*
 * A Holoimage in three bits a pixel: R, G and B each dithered to one bit (methods section 13;
 * Karpinsky thesis ch. 8). Options, keys, the check of the fringes, memory, and the device's pass.
 * Ordered dithering is a map over rows; error diffusion and the search (search.c) take whole
 * frames, because a bit depends on those around it. dither3_rows.c has the loops.
 */
#include "dither3.h"

#include <math.h>

#include "run/passes.h"
#include "dither3.block.h"

BODY_ROWS(dither3, ordered)

/* ---- options ---- */

struct parameters {
	int method, pack, texture_bits;
	long order, level;
	double sigma_px, price;
};

/* Of PNG files, the standard of written[]. 2 to 13 % fewer bytes than with 6, which other pictures
 * of few levels have. */
#define LEVEL 8

static const char *const texture_words[] = { "0", "1", "8", NULL };
static const long texture_bits[] = { 0, 1, 8 };

static const struct opt options[] = {
	{ 'm', "method", "WORD", OPT_WORD, AT(method), "best", 0, 0, NULL,
	    "ordered, error diffusion, a search for what decodes best, or small files",
	    dither_methods },
	{ 0, "order", "N", OPT_INTEGER, AT(order), "3", 1, DITHER_ORDER_MOST, NULL,
	    "Bayer matrix of 2^N x 2^N" },
	{ 0, "sigma", "PX", OPT_NUMBER, AT(sigma_px), "3", 0.5, 8, "px",
	    "size of the decoder's kernel, which best looks through" },
	{ 0, "price", "P", OPT_NUMBER, AT(price), "0", 0, 1, NULL,
	    "best: smaller files for less accuracy; price of a bit off Bayer's pattern" },
	{ 0, "pack", "WORD", OPT_WORD, AT(pack), "msb", 0, 0, NULL,
	    "upper bits of a grey image; images of one bit side by side; red of a colour image",
	    dither_packs },
	{ 0, "texture", "BITS", OPT_WORD, AT(texture_bits), "0", 0, 0, NULL,
	    "bits of the texture (alpha of the input) that are kept", texture_words },
	{ 0, "level", "N", OPT_INTEGER, AT(level), NULL, 1, 12, NULL,
	    "how much PNG files are compressed, from little and soon to much; 8 if not given" },
	{ 0 },
};

/* How the chain's file is written; the values lie in struct priv. */
static const struct opt written[] = {
	{ 0, "level", .type = OPT_INTEGER, .standard = "8" }, { 0 }
};

/* ---- is the picture a Holoimage, with the levels that it was encoded with? ---- */

#define POINTS_LEAST 256	/* fewer tell nothing */
/* Share of a Holoimage's points that may be off the circle. Measured on five objects: JPEG of
 * quality 50 to 95 at halved colour leaves up to 0.27 off with a pitch of 12 pixels, 0.17 with 16;
 * a photograph 0.76, exchanged channels 0.52, levels of 0.8 0.44. */
#define OFF_MOST 0.35

/* Reads the fringes of the first frame that has enough points. Warns once where they are none, or
 * where their levels were changed. For a body's `survey`. */
static int
fringes_judge(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct fringes_seen seen = { 0 };

	if (priv->judged || in->head.type != SAMPLE_UCHAR)
		return 0;
	dither3_rows()->look_at_fringes(in, priv->channel, &seen);
	priv->judged = seen.points >= POINTS_LEAST;
	if (!priv->judged)
		return 0;
	if ((double)seen.off > OFF_MOST * (double)seen.points)
		warn(NULL, "red and green are no fringes in %.0f %% of the picture: it is no "
		    "Holoimage, or was changed, and its bits give no depth",
		    100 * (double)seen.off / (double)seen.points);
	else
		fringe_circle_warn(&seen.circle);
	return 0;
}

/* ---- marks beside jumps (dither3_rows.c) ---- */

#define MARK_PASSES 2

/* A body's `survey`: sets priv->mark, the bits of R (DITHER_BIT(0)), G and, in holes, the stair to
 * be turned over, of each pixel. -1 after fail(). */
static int
mark_find(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct marking marking = { priv, in, NULL, in->head.w + 2 * MARK_BORDER };
	size_t blocks = (in->head.h + MARK_ROWS - 1) / MARK_ROWS, n, bytes;
	size_t pixels = in->head.w * in->head.h;

	if (fringes_judge(run, in) < 0 ||
	    size_multiply(marking.stride, in->head.h + 2 * MARK_BORDER, &n) < 0 ||
	    size_multiply(n, sizeof(float), &bytes) < 0)
		return -1;
	free(priv->mark);
	priv->mark = must_alloc(pixels, 1);
	marking.before = must_alloc(pixels, 1);
	marking.turns = must_alloc(1, bytes);
	memset(marking.turns, 0xff, bytes);	/* NaN */
	run_for(run, blocks, dither3_rows()->mark_turns, &marking);
	for (marking.pass = 0; marking.pass < MARK_PASSES; marking.pass++) {
		run_for(run, blocks, dither3_rows()->mark_rows, &marking);
		memcpy(marking.before, priv->mark, pixels);
	}
	free(marking.before);
	free(marking.turns);
	return 0;
}

/* ---- the device: one pass ---- */

_Static_assert(DITHER3_TILE == DITHER_TILE, "the same in the shader");
_Static_assert(DITHER3_MSB == DITHER_MSB && DITHER3_PLANAR == DITHER_PLANAR &&
    DITHER3_RGB == DITHER_RGB, "the same in the shader");

static int
dither3_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	struct dither3_block block = { .type = passes_input(passes)->type,
		.w = (uint)passes_input(passes)->w, .pack = priv->keys.pack,
		.texture_bits = (uint)priv->keys.texture_bits, .to_circle = priv->to_circle };
	struct pass pass = { PASS_OF(dither3, block), PASS_FOURS };

	if (priv->keys.marked)
		return passes_refuse(passes, "jumps are marked");
	for (size_t c = 0; c < 4; c++) {
		if (priv->channel[c] == NO_CHANNEL)
			continue;
		block.channel[c] = (uint)priv->channel[c];
		passes_read(passes, priv->channel[c]);
	}
	if (passes_constant(passes, priv->threshold, sizeof(priv->threshold)) < 0)
		return -1;
	passes_add(passes, &pass);
	return 0;
}

/* ---- frames that are dithered as a whole: by error diffusion, or by the search ---- */

static void
diffusion_free(struct diffusion *diffusion)
{
	for (size_t c = 0; c < 4; c++)
		free(diffusion->bit[c]);
	free(diffusion->work);
	*diffusion = (struct diffusion){ 0 };
}

static void
diffusion_reserve(struct diffusion *diffusion, size_t w, size_t h)
{
	size_t floats = dither3_rows()->diffusion_floats(w);

	if (diffusion->w == w && diffusion->h == h)
		return;
	diffusion_free(diffusion);
	diffusion->work = must_aligned(floats, sizeof(*diffusion->work));
	memset(diffusion->work, 0, floats * sizeof(*diffusion->work));
	for (size_t c = 0; c < 4; c++)
		diffusion->bit[c] = must_alloc(h, w);
	diffusion->w = w;
	diffusion->h = h;
}

/* The bits of a frame into diffusion.bit. */
static void
diffuse_frame(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct packing packing = { .priv = priv, .in = in };

	diffusion_reserve(&priv->diffusion, in->head.w, in->head.h);
	if (priv->keys.method == DITHER_BY_SERPENTINE)
		dither3_rows()->diffuse_serpentine(priv, in);
	else
		run_for(run, bit_planes(&priv->keys), dither3_rows()->diffuse_plane, &packing);
}

static int
whole_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	const bool search = priv->keys.method == DITHER_BY_SEARCH;
	struct picture picture = { 0 };
	struct packing packing = { priv, search ? picture.bit : priv->diffusion.bit, in, NULL };
	int status = fringes_judge(run, in);

	if (status == 0 && search)
		status = picture_search(priv, in, &picture);
	else if (status == 0)
		diffuse_frame(run, in);
	if (status == 0)
		status = frame_new(run_output(run), &packing.out);
	if (status == 0)
		run_for(run, (in->head.h + PACKED_ROWS - 1) / PACKED_ROWS,
		    dither3_rows()->pack_rows, &packing);
	picture_free(&picture);
	frame_free(in);
	return status < 0 ? -1 : run_emit(run, packing.out);
}

/* ---- bodies and plan ---- */

static const struct body map = { .rows = dither3_ordered, .passes = dither3_passes };
static const struct body judged_map = {
	.survey = fringes_judge, .rows = dither3_ordered, .passes = dither3_passes
};
static const struct body marked_map = {
	.survey = mark_find, .rows = dither3_ordered, .passes = dither3_passes
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
	/* what a previous stage computed is not judged: the chain would wait for whole frames */
	run->body = !ordered ? &whole : run->position ? &map : &judged_map;
	/* the search starts from Bayer's */
	dither_thresholds(ordered ? &priv->keys : &bayer, priv->threshold);
	return 0;
}

/* Sine, cosine, stair and texture, where the layout that the keys name has them. */
static int
find_channels(struct priv *priv, const struct frame_head *in)
{
	struct holo holo = { .w = in->w, .h = in->h, .layout = holo_layout_of(-1, &in->meta) };

	if (in->type == SAMPLE_USHORT)
		return fail(NULL, "a Holoimage has 8 bits a sample, not 16");
	if (meta_get(&in->meta, "holo_texture_place"))
		return fail("holo_texture_place", "the texture lies below the picture: holoenc "
		    "without --texture-place puts it where it can be dithered");
	if (head_channel(in, "luma") == 0)
		holo.layout = HOLO_YUV;
	if (holo_channels(&holo, in, priv->channel) < 0)
		return -1;
	if (priv->keys.texture_bits == 0)
		priv->channel[3] = NO_CHANNEL;
	else if (priv->channel[3] == NO_CHANNEL)
		return fail("--texture", "the picture has no texture: no channel a");
	return 0;
}

/* Jumps are marked for a decoder that grows surfaces up to them, by the method `small` only, of
 * pictures that have all keys that decoding their turns takes. */
static int
plan_marks(struct run *run, const struct frame_head *in)
{
	static const struct holo_options none = { .pitch_px = NAN, .theta_rad = NAN,
		.stair_height = OPT_NONE_INTEGER, .stair_turns = OPT_NONE_INTEGER, .stair = -1,
		.layout = -1, .z_axis = -1, .rounding = -1 };
	static const char *const key[] = { "holo_pitch_px", "holo_theta_deg", "holo_stair",
		"holo_stair_height", "holo_depth_range" };
	const char *of_size = meta_get(&in->meta, "holo_size");
	struct priv *priv = run->priv;
	struct holo_code code;
	struct holo holo;
	char size[64];

	if (priv->keys.method != DITHER_BY_SMALL)
		return 0;
	snprintf(size, sizeof(size), "%zu %zu", in->w, in->h);
	priv->keys.marked = of_size && !strcmp(of_size, size);
	for (size_t i = 0; i < sizeof(key) / sizeof(*key); i++)
		priv->keys.marked &= meta_get(&in->meta, key[i]) != NULL;
	run->body = priv->keys.marked ? &marked_map : run->position ? &map : &judged_map;
	if (!priv->keys.marked)
		return 0;
	if (holo_read(&holo, &none, in) < 0)
		return -1;
	code = holo_code(&holo);
	bits_stairs(&priv->bits, &code);
	bits_thresholds(&priv->bits, &priv->keys);
	return 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	struct priv *priv = run->priv;
	bool planar = priv->keys.pack == DITHER_PLANAR;
	const char *rounding = meta_get(&in->meta, "holo_rounding");

	if (find_channels(priv, in) < 0 || plan_marks(run, in) < 0)
		return -1;
	priv->to_circle = rounding && !strcmp(rounding, holo_roundings[HOLO_ANGLE]);
	meta_remove(&out->meta, "holo_rounding");
	out->type = SAMPLE_UCHAR;
	if (planar && size_multiply(in->w, bit_planes(&priv->keys), &out->w) < 0)
		return -1;
	meta_remove(&out->meta, "bits");
	dither_write(&priv->keys, &out->meta);
	meta_setf(&out->meta, "holo_size", "%zu %zu", in->w, in->h);
	head_set_channels(out, priv->keys.pack == DITHER_RGB ? "r g b" : "image");
	if (planar)
		meta_set(&out->meta, "bits", "1");
	return 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	previous_free(&priv->previous);
	diffusion_free(&priv->diffusion);
	free(priv->mark);
}

const struct stage stage_dither3 = {
	.name = "dither3",
	.summary = "a Holoimage in three bits a pixel",
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE,
	.example = { "dither3 -m bayer", "holo", "three" },
	.init = init,
	.plan = plan,
	.release = end,
};
