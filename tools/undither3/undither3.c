/*
 * A Holoimage in three bits a pixel back to levels (methods section 13): options, keys, the papers'
 * Gaussian as a map over rows. The fit takes whole frames (fit.c). undither3_rows.c and
 * growing_rows.c have the loops.
 */
#include "undither3.h"

#include <math.h>

#include "run/passes.h"
#include "undither3.block.h"

BODY_ROWS(undither3, gauss)

/* ---- options ---- */

struct parameters {
	struct holo_options holo;
	int filter, pack, method, texture_bits;
	double sigma_px, certainty;
	bool keep;
};

static const char *const filters[] = { "fit", "gauss", NULL };
static const char *const texture_words[] = { "0", "1", "8", NULL };
static const long texture_bits[] = { 0, 1, 8 };

static const struct opt options[] = {
	{ 0, "filter", "WORD", OPT_WORD, AT(filter), "fit", 0, 0, NULL,
	    "fit the phase along the fringes, or the papers' 7x7 Gaussian", filters },
	{ 0, "sigma", "PX", OPT_NUMBER, AT(sigma_px), NULL, 0.5, 8, "px",
	    "size of the kernel of fit" },
	FLAG_ROW(0, "keep", keep,
	    "keep all pixels, and add a channel: how certain each one's fringe order is"),
	{ 0, "certainty", "C", OPT_NUMBER, AT(certainty), NULL, 0, 1, NULL,
	    "drop pixels that are less certain" },
	{ 0, "pack", "WORD", OPT_WORD, AT(pack), NULL, 0, 0, NULL, "how the bits are packed",
	    dither_packs },
	{ 'm', "method", "WORD", OPT_WORD, AT(method), NULL, 0, 0, NULL,
	    "how the picture has been dithered", dither_methods },
	{ 0, "texture", "BITS", OPT_WORD, AT(texture_bits), NULL, 0, 0, NULL,
	    "bits of the texture", texture_words },
	HOLO_OPTIONS(struct parameters, holo, NULL),
	{ 0 },
};

/* ---- frames ---- */

/* -1 after fail() where a sample can be none of three bits a pixel: it has been through a lossy
 * format, or is something else. */
static int
survey(struct run *run, const struct frame *in)
{
	const struct priv *priv = run->priv;
	size_t x, y;

	if (!undither3_rows()->find_bad(priv, in, &x, &y))
		return 0;
	return fail(NULL, "the picture has not three bits a pixel, packed as %s: pixel (%zu, %zu) "
	    "is %d; has a lossy format been at it?", dither_packs[priv->keys.pack], x, y,
	    ((const unsigned char *)frame_row(in, 0, y))[x]);
}

_Static_assert(UNDITHER3_REACH == SMOOTH_REACH, "the same in the shaders");

static void
pack(const struct priv *priv, struct undither3_block *block)
{
	bool planar = priv->keys.pack == DITHER_PLANAR;

	*block = (struct undither3_block){ .planes = priv->keys.texture_bits == 1 ? 4 : 3,
		.texture = priv->keys.texture_bits == 8 };
	memcpy(block->kernel, priv->smooth, sizeof(block->kernel));
	for (uint c = 0; c < 4; c++) {
		block->column[c] = planar ? c * (uint)priv->w : 0;
		block->bit[c] = planar ? 0xff : DITHER_BIT(c);
		block->to[c] = c < 3 ? (uint)holo_place[priv->holo.layout][c] : c;
	}
	if (priv->keys.pack == DITHER_RGB) {
		block->from[3] = 1;
		block->bit[3] = 0x80;
	}
}

/* The Gaussian on a device: sums along rows, then down columns. */
static int
smooth_passes(struct run *run, struct passes *passes)
{
	struct undither3_block block;
	struct pass along = { PASS_OF(undither3_along, block), PASS_FOURS, .beyond = SMOOTH_REACH };
	struct pass down = { PASS_OF(undither3, block), PASS_FOURS };

	pack(run->priv, &block);
	passes_scratch(passes, block.planes);
	passes_read(passes, 0);
	passes_read(passes, 1);
	passes_add(passes, &along);
	passes_add(passes, &down);
	return 0;
}

static int
whole_frame(struct run *run, struct frame *in)
{
	const struct priv *priv = run->priv;
	struct frame *out = NULL;
	int status = -1;

	if (survey(run, in) == 0 && frame_new(run_output(run), &out) == 0)
		status = fit(run, in, out);
	if (status == 0)
		undither3_rows()->texture(priv, in, out, 0, priv->h);
	frame_free(in);
	return run_emit_if(run, status, out);
}

/* ---- bodies and plan ---- */

#define STAIR_SIGMA 3.0		/* px, of the kernel for the stair */
#define SIGMA 3.0		/* of the kernel for fringes without --sigma and holo_sigma_px */
#define SMOOTH_SIGMA (7.0 / 3)	/* px, of the papers' Gaussian */

/* Least certainty, where none is given: chosen on scans, for few spikes; where jumps are marked
 * fewer pixels are uncertain, and fewer of them wrong. */
#define CERTAINTY 0.99f
#define CERTAINTY_MARKED 0.985f

static const struct body whole = { .frame = whole_frame, .passes = fit_passes,
	.cost = "undither3-fit" };
static const struct body map = { .survey = survey, .rows = undither3_gauss,
	.passes = smooth_passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;

	run->body = parameters->filter == FILTER_GAUSS ? &map : &whole;
	if (parameters->filter == FILTER_GAUSS &&
	    (parameters->keep || !isnan(parameters->certainty)))
		return fail_usage(NULL, "--keep and --certainty belong to --filter=fit");
	if (parameters->keep && !isnan(parameters->certainty))
		return fail_usage(NULL, "--keep drops nothing, give it or --certainty");
	return 0;
}

/* Keys of the dithering, and options instead of them. -1 after fail(). */
static int
read_keys(struct priv *priv, const struct dither_keys *given, const struct meta *meta)
{
	struct dither_keys *keys = &priv->keys;

	if (dither_read(keys, given, meta) < 0)
		return -1;
	if (keys->sigma_px == 0)
		keys->sigma_px = SIGMA;
	priv->moved[0] = keys->method == DITHER_BY_FS ? DITHER_FS_RIGHT : 0;
	priv->moved[1] = keys->method == DITHER_BY_FS ? DITHER_FS_DOWN
	    : keys->method == DITHER_BY_SERPENTINE ? DITHER_SERPENTINE_DOWN : 0;
	if (keys->texture_bits == 8 && keys->pack != DITHER_RGB)
		return fail(NULL, "a texture of 8 bits is in pictures packed as rgb only, not %s",
		    dither_packs[keys->pack]);
	return 0;
}

/* The size of the Holoimage in a picture, and whether this can be such a picture. */
static int
find_size(struct priv *priv, const struct frame_head *in)
{
	size_t planes = priv->keys.texture_bits == 1 ? 4 : 3;
	size_t channels = priv->keys.pack == DITHER_RGB ? 3 : 1;

	if (in->type != SAMPLE_UCHAR)
		return fail(NULL, "three bits a pixel are packed into samples of 8 bits, not %s",
		    sample_name(in->type));
	if (in->c != channels)
		return fail(NULL, "a picture packed as %s has %zu channel%s, not %zu",
		    dither_packs[priv->keys.pack], channels, channels > 1 ? "s" : "", in->c);
	priv->w = in->w;
	priv->h = in->h;
	if (priv->keys.pack != DITHER_PLANAR)
		return 0;
	if (in->w % planes)
		return fail(
		    NULL, "%zu images side by side cannot be %zu columns wide", planes, in->w);
	priv->w = in->w / planes;
	return 0;
}

static void
make_kernels(struct priv *priv)
{
	struct kernels *kernels = &priv->kernels;
	double sigma = priv->keys.sigma_px, sum = 0;

	kernels->reach = dither_reach(sigma > STAIR_SIGMA ? sigma : STAIR_SIGMA);
	kernels->width = 2 * kernels->reach + 1;
	dither_kernel(sigma, kernels->reach, kernels->width, true, kernels->fringe);
	dither_kernel(STAIR_SIGMA, kernels->reach, kernels->width, false, kernels->stair);
	for (int i = -SMOOTH_REACH; i <= SMOOTH_REACH; i++)
		sum += exp(-0.5 * i * i / (SMOOTH_SIGMA * SMOOTH_SIGMA));
	for (int i = -SMOOTH_REACH; i <= SMOOTH_REACH; i++)
		priv->smooth[i + SMOOTH_REACH] =
		    (float)(exp(-0.5 * i * i / (SMOOTH_SIGMA * SMOOTH_SIGMA)) / sum);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct dither_keys given = { (enum dither_pack)parameters->pack,
		(enum dither_method)parameters->method,
		parameters->texture_bits < 0 ? OPT_NONE_INTEGER
					     : texture_bits[parameters->texture_bits],
		parameters->sigma_px, 0, false };
	const bool fits = parameters->filter == FILTER_FIT;
	struct frame_head picture = *in;
	char names[5 * CHANNEL_NAME_SIZE];

	priv->keep = parameters->keep;
	if (read_keys(priv, &given, &in->meta) < 0 || find_size(priv, in) < 0)
		return -1;
	picture.w = priv->w;
	if (fits && holo_read(&priv->holo, &parameters->holo, &picture) < 0)
		return -1;
	if (!fits)	/* all that the Gaussian needs to know */
		priv->holo.layout = holo_layout_of(parameters->holo.layout, &in->meta);
	priv->code = holo_code(&priv->holo);
	bits_stairs(&priv->bits, &priv->code);
	priv->least = priv->keep	    ? 0
	    : !isnan(parameters->certainty) ? (float)parameters->certainty
	    : priv->keys.marked		    ? CERTAINTY_MARKED
					    : CERTAINTY;
	if (!priv->compared) {
		dither_warn_overruled(&given, &in->meta);
		holo_warn_overruled(&parameters->holo, &in->meta);
	}
	priv->compared = true;
	priv->ordered = fits && dither_ordered(&priv->keys);
	if (priv->ordered)
		bits_thresholds(&priv->bits, &priv->keys);
	priv->checked = priv->ordered && priv->code.waves < 1;
	make_kernels(priv);
	run->halo = SMOOTH_REACH;
	out->w = priv->w;
	out->type = SAMPLE_FLOAT;
	dither_remove(&out->meta);
	meta_remove(&out->meta, "bits");
	snprintf(names, sizeof(names), "%s%s",
	    holo_channel_names(priv->holo.layout, priv->keys.texture_bits != 0),
	    priv->keep ? " certainty" : "");
	if (head_set_channels(out, names) < 0)
		return -1;
	if (fits)
		holo_write(&priv->holo, &out->meta);
	return 0;
}

const struct stage stage_undither3 = {
	.name = "undither3",
	.summary = "a Holoimage from three bits a pixel",
	.options = options,
	.usual = "certainty keep filter",
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE,
	.example = { "undither3 --filter gauss", "three", "levels" },
	.second_example = { "undither3", "three", "fitted", "undither3-fit" },
	.init = init,
	.plan = plan,
};
