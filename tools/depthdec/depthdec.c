/*
 * The depth in the planes of a video that depthenc made (holo/depthcode.h): options, planes,
 * the texture, checks of the levels, and the device's pass. depthdec_rows.c has the loops.
 */
#include "depthdec.h"

#include <stdio.h>

#include "image/statistics.h"
#include "run/passes.h"
#include "depthdec.block.h"

BODY_ROWS(depthdec, depths)

/* ---- options ---- */

struct parameters {
	struct depthcode_options code;
	const char *texture;
};

static const struct opt options[] = {
	DEPTHCODE_OPTIONS(struct parameters, code, NULL),
	{ 0, "texture", "CHANNEL", OPT_TEXT, AT(texture), NULL, 0, 0, NULL,
	    "the channel, or three, that the texture becomes; without keys: it lies below" },
	{ 0 },
};

/* ---- planes ---- */

/* Planes by their names; those of pictures in a file are r g b, and a single one is luma. textured:
 * one of the channels is a texture. -1 after fail() that names what is missing. */
static int
planes_find(struct planes *planes, struct run *run, const struct depthcode *code,
    const struct frame_head *in, bool textured)
{
	static const char *const names[2][3] = { { "luma", "chroma_u", "chroma_v" },
		{ "r", "g", "b" } };
	bool mwd = code->layout == DEPTHCODE_MWD, fold = code->layout == DEPTHCODE_FOLD;
	bool rgb = (mwd || fold || in->c > 4) && head_channel(in, "luma") == NO_CHANNEL &&
	    head_channel(in, "r") == 0;

	*planes = (struct planes){ NO_CHANNEL, NO_CHANNEL, NO_CHANNEL, NO_CHANNEL, NO_CHANNEL };
	if (code->mask == DEPTHCODE_TRACK) {
		planes->mask = head_channel(in, "mask");
		if (planes->mask == NO_CHANNEL)
			return fail(NULL, "there is no channel mask: the video has no second track "
			    "that is known for a mask, or the mask's file is missing");
	}
	if (in->c == 1 + (size_t)textured && !mwd && !fold) {
		planes->luma = 0;
		return 0;
	}
	if (run_channel(run, in, names[rgb][0], &planes->luma) < 0 ||
	    (fold && run_channel(run, in, names[rgb][1], &planes->coarse) < 0) ||
	    (mwd && run_channel(run, in, names[rgb][1], &planes->sine) < 0))
		return -1;
	return mwd ? run_channel(run, in, names[rgb][2], &planes->cosine) : 0;
}

/* ---- the texture ---- */

/* May it be the name of the texture's channel? */
static bool
is_name(const char *name)
{
	return *name && strlen(name) < CHANNEL_NAME_SIZE && !strpbrk(name, " \t\r\n") &&
	    strcmp(name, "depth") != 0;
}

/* One such name, or three different ones with commas? */
static bool
are_names(const char *names)
{
	char name[3][CHANNEL_NAME_SIZE + 1];
	size_t n = 0;

	for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		if (n == 3)
			return false;
		snprintf(name[n], sizeof(name[n]), "%.*s", (int)strcspn(at, ","), at);
		for (size_t i = 0; i < n; i++)
			if (!strcmp(name[i], name[n]))
				return false;
		if (!is_name(name[n++]))
			return false;
	}
	return n == 1 || n == 3;
}

/* texture_colours() by the keys, or by three names of the user's. */
static int
colours_find(const char *names, const struct meta *meta, enum texture_matrix *matrix,
    char colours[4 * CHANNEL_NAME_SIZE])
{
	if (texture_colours(meta, "depthcode", matrix, colours) < 0)
		return -1;
	if (!names || !strchr(names, ','))
		return 0;
	if (*matrix == TEXTURE_GREY && meta_get(meta, "depthcode_texture"))
		return fail("--texture", "has three names, and by its keys the texture is grey");
	*matrix = TEXTURE_BT709;
	snprintf(colours, 4 * CHANNEL_NAME_SIZE, "%s", names);
	for (char *comma = colours; (comma = strchr(comma, ','));)
		*comma = ' ';
	return 0;
}

/* The rows of the depth above a texture in colour, without keys. -1 after fail(). */
static int
rows_above_colour(size_t rows, size_t *h)
{
	*h = rows - TEXTURE_BLOCK * (rows / (2 * TEXTURE_BLOCK) + 1);
	return rows % (2 * TEXTURE_BLOCK) >= TEXTURE_BLOCK ? 0 : fail("--texture", "a picture of "
	    "%zu rows has no texture in colour below: give one name for a grey one", rows);
}

/* Is there a texture, by its keys, or below by the user's name (NULL: none)? Of one below,
 * flow.picture is then the head of the planes, with the texture as the last channel. -1 after
 * fail(). */
static int
texture_plan(struct texture *texture, const char *name, const struct frame_head *in)
{
	struct frame_head whole = *in;
	const char *place = meta_get(&in->meta, "depthcode_texture_place");
	int own = depthcode_texture_in_track(&in->meta), status;
	char *channels, *names, colours[4 * CHANNEL_NAME_SIZE];
	bool colour;
	size_t h;

	texture->channel = NO_CHANNEL;
	texture->matrix = TEXTURE_GREY;
	texture->is = name || place || meta_get(&in->meta, "depthcode_texture");
	texture->below = texture->is && !own;
	if (own < 0 || !texture->is)
		return own < 0 ? -1 : 0;
	if (colours_find(name, &in->meta, &texture->matrix, colours) < 0)
		return -1;
	colour = texture->matrix != TEXTURE_GREY;
	if (colour && !meta_get(&in->meta, "depthcode_texture_matrix") ?
	    rows_above_colour(in->h, &h) < 0 :
	    texture_below_rows(&in->meta, "depthcode", texture->matrix, &h) < 0)
		return -1;
	if (!texture->below) {
		texture->channel = head_channel(in, "texture");
		return texture->channel != NO_CHANNEL ? 0 : fail(NULL, "there is no channel "
		    "texture: the track of the video, or the file, that holds it is missing");
	}
	if (in->c > 4 || (colour && in->c < 3))
		return fail(NULL, "a frame with its texture below has %s four channels%s, not "
		    "%zu", colour ? "three or" : "one to",
		    colour ? ", the texture being in colour" : "", in->c);
	channels = head_channels(in);
	if (!channels)
		return -1;
	names = must_format(colour ? "%s texture1 texture2 texture3" : "%s texture", channels);
	texture->channel = in->c;
	status = texture_below_plan(&texture->flow, false, &whole, names, h, colour);
	free(channels);
	free(names);
	return status;
}

/* Once `code` is known and the depth's keys are off the output: its channels, its size, and
 * max_value. -1 after fail(). */
static int
texture_output(struct texture *texture, const char *name, const struct depthcode *code,
    const struct meta *in, struct frame_head *out)
{
	double most = texture->below ? (double)depthcode_most(code) : DEPTHCODE_TEXTURE_MOST;
	double scale, gain;
	const char *own = name ? name : meta_get(in, "depthcode_texture");
	char colours[4 * CHANNEL_NAME_SIZE], names[5 * CHANNEL_NAME_SIZE];

	texture->most = (float)most;
	if (colours_find(name, in, &texture->matrix, colours) < 0 ||
	    meta_number(in, "depthcode_texture_scale", 255 / most, &scale) < 0 ||
	    meta_number(in, "depthcode_texture_gain", 1, &gain) < 0)
		return -1;
	texture->scale = (float)scale;
	/* a key's name that cannot be a channel's is ignored */
	snprintf(names, sizeof(names), "depth %s", texture->matrix != TEXTURE_GREY ? colours :
	    own && is_name(own) ? own : "texture");
	if (texture->below)
		out->h = texture->flow.picture.h;
	meta_set_number(&out->meta, "max_value", most * scale * gain);
	return head_set_channels(out, names);
}

/* ---- are the levels those that depthenc wrote? ---- */

#define SAMPLED_PIXELS 16384	/* of the coarse grid, about */
#define RADIUS_LEAST 0.25	/* of sine and cosine, of their amplitude */
#define FLAT (1.0f / 16)	/* of the levels: loss leaves less of flat colour */
#define DISTINCT 24		/* this many levels do not fit 8 bits by chance */

/* Bits and range of the samples. -1 after fail(). */
static int
check_head(const struct depthcode *code, const struct frame_head *head)
{
	const char *range = meta_get(&head->meta, "video_range");
	double most;
	long bits;

	if (range)
		return fail(NULL, "the video's levels %s: another program coded it again, and they "
		    "are no depths any more", !strcmp(range, "stretched") ? "were stretched" :
		    !strcmp(range, "negated") ? "were negated" : "are of limited range");
	if (head->type == SAMPLE_FLOAT)
		return 0;
	if (meta_number(&head->meta, "max_value", head->type == SAMPLE_UCHAR ? 255 : 65535,
	    &most) < 0)
		return -1;
	bits = most == 255 ? 8 : most == 1023 ? 10 : most == 4095 ? 12 : 16;
	if (bits == code->bits || (bits == 16 && !meta_get(&head->meta, "max_value")))
		return 0;
	return fail(NULL, "has %ld bits a sample, and was encoded with %ld: another program coded "
	    "it again (if it did nothing but shift them, --bits %ld --guard %ld)", bits, code->bits,
	    bits, lround(ldexp((double)code->guard, (int)(bits - code->bits))));
}

/* Ways by which a program makes more bits of 8: level = offset + t span / 255, t = 0 to 255. */
static const struct widening {
	double offset, span;		/* of 256 levels */
} widenings[] = { { 0, 255 }, { 0, 255.75 }, { 0, 255.9375 }, { 16, 219 } };

#define WIDENINGS (sizeof(widenings) / sizeof(*widenings))
#define ROUNDED 0.75

/* Levels of a coarse grid. -1 after fail(). */
static int
check_levels(const struct depthcode *code, const struct frame *frame, const struct planes *planes,
    size_t texture)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, SAMPLED_PIXELS);
	size_t distinct = 0, fit[WIDENINGS] = { 0 }, widened = 0;
	float most = (float)depthcode_most(code), bad;
	double unit = ldexp(1, (int)(code->bits - 8));	/* levels for one of 8 bits */
	bool seen[LEVELS] = { false };
	size_t channel = depthdec_rows()->find_bad(frame, planes, texture, step, most, seen, &bad);

	if (channel == planes->luma)
		return fail(NULL, "a sample is %g, and %ld bits have levels up to %g: were they "
		    "scaled?", (double)bad, code->bits, (double)most);
	if (channel != NO_CHANNEL && channel == planes->mask)
		return fail(NULL, "the mask is %g somewhere, and must be 0 or 1: was its track "
		    "coded again, with loss?", (double)bad);
	if (channel != NO_CHANNEL)
		return fail(NULL, "a sample of the texture is %g, and its levels go up to %d: were "
		    "they scaled?", (double)bad, DEPTHCODE_TEXTURE_MOST);
	for (unsigned level = 1; level < LEVELS; level++) {
		distinct += seen[level];
		for (size_t i = 0; seen[level] && i < WIDENINGS; i++) {
			double span = widenings[i].span / 255;
			double t = ((double)level / unit - widenings[i].offset) / span;

			fit[i] += fabs(t - round(t)) * span * unit <= ROUNDED;
			widened = fit[i] > widened ? fit[i] : widened;
		}
	}
	if (frame->head.type != SAMPLE_FLOAT && code->bits > 8 && distinct >= DISTINCT &&
	    widened == distinct)
		return fail(NULL, "the levels are those of 8 bits, and were encoded with %ld: "
		    "another program has cut them", code->bits);
	return 0;
}

/* Do colour planes hold something in these rows, and which levels? */
static bool
has_colour(const struct depthcode *code, const struct frame *frame, size_t y0, size_t y1,
    float *low, float *high)
{
	static const char *const names[] = { "chroma_u", "chroma_v" };
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, SAMPLED_PIXELS);
	float most = (float)depthcode_most(code);

	for (size_t i = 0; i < 2; i++) {
		size_t channel = head_channel(&frame->head, names[i]);

		*low = most;
		*high = 0;
		for (size_t y = y0; y < y1 && channel != NO_CHANNEL; y += step)
			for (size_t x = 0; x < frame->head.w; x += step) {
				*low = fminf(*low, frame_sample(frame, channel, y, x));
				*high = fmaxf(*high, frame_sample(frame, channel, y, x));
			}
		if (*high - *low > most * FLAT)
			return true;
	}
	return false;
}

/* Warns where the layout is luma, and colour planes hold something. The last two rows may have the
 * colour of a texture below them, as 4:2:0 shares the colour of two rows and smooths it. */
static void
check_flat(const struct depthcode *code, const struct frame *frame)
{
	size_t h = frame->head.h;
	float low, high;

	if (code->layout == DEPTHCODE_LUMA && h > 2 &&
	    has_colour(code, frame, 0, h - 2, &low, &high))
		warn("--layout", "luma takes the depth from the brightness alone, but the colour "
		    "has levels from %g to %g: is it mwd or fold?", (double)low, (double)high);
}

/* ---- levels within the gap ---- */

/* Levels in the middle half of the gap for each depth, at most, in the layout luma. Measured over
 * four sequences, the worst frame of each: 0.0012 at most up to --crf 12 of 10 bits, 18 of 8 and 6
 * of 12; 0.0011 to 0.019 where another program codes again at its crf 18, 23 or 28, with 0.4 to
 * 15 % of the depths off by more than 1 % of the range. */
#define GAP_MOST 0.0014

/* Counts those of a frame's channel luma, and warns of the first frame that has too many. */
static void
gap_count(struct run *run, struct gap *gap, const struct depthcode_code *code,
    const struct frame *frame, size_t luma)
{
	struct gap_counting counting = { .frame = frame, .luma = luma, .from = code->guard / 4,
		.to = code->guard * 3 / 4, .least = code->least };
	size_t inside = 0, depths = 0, number = run_inputs(run) + 1;
	bool again = gap->last == number;	/* the runner may survey a frame twice */
	char object[40];

	run_for(run, GAP_BLOCKS, depthdec_rows()->count_gap, &counting);
	for (size_t i = 0; i < GAP_BLOCKS; i++) {
		inside += counting.inside[i];
		depths += counting.depths[i];
	}
	gap->frames = number;
	if (again || (double)inside <= GAP_MOST * (double)depths)
		return;
	gap->last = number;
	if (gap->moved++)
		return;
	snprintf(object, sizeof(object), "frame %zu", number - 1);
	warn(object, "%zu samples, %.2g for each hundred depths, are neither a depth nor none: the "
	    "video was coded with much loss, maybe again by another program, and depths are off, "
	    "most of all at boundaries", inside, 100 * (double)inside / (double)depths);
}

/* ---- do coarse and fine depth agree? ---- */

#define DEPTHS_LEAST 100	/* on the grid; fewer tell too little */
/* Share of the depths that may be further apart. Measured on a frame of four sequences, 8 bits, 4
 * and 8 fringes, colour of full and of half resolution: at --crf 20 0.064 at most, at 51 0.096 to
 * 0.82; with other fringes than the video's 0.76 to 0.92. */
#define APART_MOST 0.1

/* Coarse and fine depth of mwd and fold are the same quantity: warns where too many of the first
 * frame with enough depths disagree. Does nothing for luma alone. */
static void
waves_judge(bool *judged, const struct depthcode_code *code, const struct frame *frame,
    const struct planes *planes)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, SAMPLED_PIXELS);
	size_t n, apart;

	if (*judged || (planes->sine == NO_CHANNEL && planes->coarse == NO_CHANNEL))
		return;
	apart = depthdec_rows()->count_apart(frame, planes, code, step, &n);
	*judged = n >= DEPTHS_LEAST;
	if (*judged && (double)apart > APART_MOST * (double)n)
		warn(NULL, "%.0f %% of the depths disagree with themselves, coarse with fine: the "
		    "video was coded with much loss, maybe again by another program, or its "
		    "--fringes is not %g, and depths are off", 100 * (double)apart / (double)n,
		    (double)code->fringes);
}

/* ---- the device ---- */

static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct depthcode_code *code = &priv->code;
	const struct planes *planes = &priv->planes;
	const size_t channel[5] = { planes->luma, planes->sine, planes->cosine, planes->coarse,
		planes->mask };
	uint c[5];
	struct depthdec_block block;
	struct pass pass = { PASS_OF(depthdec, block), PASS_FOURS };

	for (int i = 0; i < 5; i++) {
		c[i] = channel[i] == NO_CHANNEL ? DEPTHDEC_NONE : (uint)channel[i];
		if (channel[i] != NO_CHANNEL)
			passes_read(passes, channel[i]);
	}
	block = (struct depthdec_block){ .type = (uint)passes_input(passes)->type, .luma = c[0],
		.sine = c[1], .cosine = c[2], .coarse = c[3], .mask = c[4], .zero = code->zero,
		.extent = code->extent, .guard = code->guard, .swing = code->swing,
		.middle = code->middle, .fringes = code->fringes, .most = code->most,
		.least = code->least };
	if (priv->texture.is)
		return passes_refuse(passes, "the processor makes textures");
	passes_add(passes, &pass);
	return 0;
}

/* ---- bodies and plan ---- */

static int
survey(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct planes *planes = &priv->planes;
	size_t step = coarse_grid_step(in->head.w, in->head.h, SAMPLED_PIXELS), inside, n;

	if (!priv->compared) {
		depthcode_warn_overruled(&parameters->code, &in->head.meta);
		check_flat(&priv->depthcode, in);
	}
	priv->compared = true;
	if (priv->depthcode.layout == DEPTHCODE_LUMA && planes->mask == NO_CHANNEL)
		gap_count(run, &priv->gap, &priv->code, in, planes->luma);
	if (check_levels(&priv->depthcode, in, planes,
		priv->texture.below ? NO_CHANNEL : priv->texture.channel) < 0)
		return -1;
	/* sine and cosine are next to nothing at most depths in a picture without colour */
	if (planes->sine != NO_CHANNEL) {
		struct depthcode_code code = depthcode_code(&priv->depthcode);

		inside = depthdec_rows()->count_inside(in, planes, &code,
		    RADIUS_LEAST * (double)code.amplitude, step, &n);
		if (2 * inside > n)
			return fail("--layout", "mwd has sine and cosine in its colour planes, and "
			    "%zu of %zu samples have neither: is it another layout?", inside, n);
	}
	waves_judge(&priv->waves_judged, &priv->code, in, planes);
	return 0;
}

static int
below_frame(struct run *run, struct frame *in)
{
	const struct priv *priv = run->priv;
	const struct depthcode *code = &priv->depthcode;
	size_t h = in->head.h;
	float low, high;

	if (priv->compared || priv->texture.matrix != TEXTURE_GREY ||
	    code->layout != DEPTHCODE_LUMA || has_colour(code, in, 0, h / 2, &low, &high) ||
	    !has_colour(code, in, h / 2, h, &low, &high))
		return texture_below_decode(run, &priv->texture.flow, in);
	frame_free(in);
	return fail("--texture", "the texture below is in colour, of levels from %g to %g: give "
	    "the names of three channels, as r,g,b", (double)low, (double)high);
}

static const struct body body = { .survey = survey, .rows = depthdec_depths, .passes = passes };
static const struct body textured = { .frame = below_frame,
	.no_passes = "a texture below the depth is taken off by the processor" };

static int
init(struct run *run)
{
	const char *name = ((const struct parameters *)run->parameters)->texture;

	run->body = &body;
	return !name || are_names(name) ? 0 : fail_usage("--texture", "must be the name of a "
	    "channel: one word of at most %d bytes that is not depth, or three different "
	    "ones; not '%.60s'", CHANNEL_NAME_SIZE - 1, name);
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
	texture->flow.rows = depthdec_depths;
	return texture_output(texture, parameters->texture, &priv->depthcode, &in->meta, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	if (priv->gap.moved > 1)
		warn(NULL, "%zu of %zu frames have such samples", priv->gap.moved,
		    priv->gap.frames);
	head_free(&priv->texture.flow.picture);
}

const struct stage stage_depthdec = {
	.name = "depthdec",
	.summary = "the depth in a video that depthenc made",
	.example = { "depthdec", "depthcode", "again" },
	.options = options,
	STAGE_MEMORY(priv),
	.traits = STAGE_ANY_TYPE,
	.init = init,
	.plan = plan,
	.release = release,
};
