/* Joins, converts, cuts and labels frames. */
#include "framecat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/jpeg_purpose.h"

#define AT(field) offsetof(struct parameters, field)

static const char *const types[] = { "uchar", "ushort", "float", NULL };
static const char *const chromas[] = { "444", "422", "420", NULL };
static const char *const video_codings[] = { "h264", "hevc", "av1", "ffv1", "mjpeg", "png", "qtrle",
	NULL };

/* Those of colormap.h, and PAINT_LABELS. */
static const char *const map_names[] = { "gray", "viridis", "turbo", "phase", "deviation", "labels",
	NULL };

static const struct opt options[] = {
	{ 0, "frames", "LIST", OPT_TEXT, AT(frames), NULL, 0, 0, NULL,
	  "only these frames, from 0, such as 3,5-9,12-", NULL },
	{ 'c', "channels", "LIST", OPT_TEXT, AT(channels), NULL, 0, 0, NULL,
	  "only these channels, by name or by number from 0, in this order", NULL },
	{ 0, "like", "FRAME", OPT_FILE, AT(like), NULL, 0, 0, NULL,
	  "tables: put points back at their column and row in an image of this size", NULL },
	{ 0, "crop", "X,Y,W,H", OPT_NUMBERS, AT(crop), NULL, 0, 1e9, "px",
	  "cut out W x H pixels from X,Y on", NULL },
	{ 0, "invalid", "V", OPT_NUMBER, AT(invalid), NULL, 0, 0, NULL,
	  "samples equal to V mean that there is none: they become NaN", NULL },
	{ 0, "unscale", NULL, OPT_FLAG, AT(unscale), NULL, 0, 0, NULL,
	  "compute the values that were scaled, as float", NULL },
	{ 0, "bin", "N", OPT_INTEGER, AT(bin), "1", 1, 1024, "px",
	  "means of N x N pixels", NULL },
	{ 0, "as", "TYPE", OPT_WORD, AT(as), NULL, 0, 0, NULL,
	  "convert samples, rounded and clamped", types },
	{ 's', "scale", "LO,HI", OPT_TEXT, AT(scale), NULL, 0, 0, NULL,
	  "values LO to HI take the whole range of the integers, or auto", NULL },
	{ 0, "fill", "V", OPT_NUMBER, AT(fill), NULL, 0, 0, NULL,
	  "what NaN becomes; in integers kept apart from valid samples", NULL },
	{ 0, "colormap", "NAME", OPT_WORD, AT(paint.map), NULL, 0, 0, NULL,
	  "paint one channel, LO to HI of --scale; 1st to 99th percentile if not given",
	  map_names },
	{ 0, "nan-colour", "R,G,B", OPT_NUMBERS, AT(paint.nan), NULL, 0, 255, NULL,
	  "of NaN in --colormap; black if not given, blue in gray", NULL },
	{ 0, "bar", NULL, OPT_FLAG, AT(paint.bar), NULL, 0, 0, NULL,
	  "a colour bar beside the picture of --colormap", NULL },
	{ 0, "scale-bar", NULL, OPT_FLAG, AT(paint.scale_bar), NULL, 0, 0, NULL,
	  "a length below it", NULL },
	{ 0, "axes", NULL, OPT_FLAG, AT(paint.axes), NULL, 0, 0, NULL,
	  "axes at its left and below it", NULL },
	{ 0, "set", "KEY=VALUE", OPT_TEXT, AT(set), NULL, 0, 0, NULL,
	  "set metadata, more of it behind commas; channels renames", NULL },
	{ 0, "delete", "KEY", OPT_TEXT, AT(delete), NULL, 0, 0, NULL,
	  "remove metadata, more of it behind commas, maybe with * and ?", NULL },
	{ 0, "split", NULL, OPT_FLAG, AT(split), NULL, 0, 0, NULL,
	  "every channel as a frame of its own", NULL },
	{ 0, "stack", NULL, OPT_FLAG, AT(stack), NULL, 0, 0, NULL,
	  "all frames as one with many channels", NULL },
	{ 0, "quality", "N", OPT_INTEGER, AT(quality), "95", 1, 100, NULL, "of JPEG files", NULL },
	{ 0, "chroma", "WORD", OPT_WORD, AT(chroma), "444", 0, 0, NULL,
	  "resolution of colour in JPEG files and videos", chromas },
	{ 0, "jpeg-for", "WORD", OPT_WORD, AT(purpose), "eyes", 0, 0, NULL,
	  "what JPEG files keep best", jpeg_purposes },
	{ 0, "fast", NULL, OPT_FLAG, AT(fast), NULL, 0, 0, NULL,
	  "larger files, sooner written", NULL },
	{ 0, "level", "N", OPT_INTEGER, AT(level), NULL, 1, 12, NULL,
	  "how much PNG files are compressed, from little and soon to much", NULL },
	{ 0, "video", "WORD", OPT_WORD, AT(coding), "h264", 0, 0, NULL, "how videos are coded",
	  video_codings },
	{ 0, "crf", "N", OPT_NUMBER, AT(crf), NULL, -24, 63, NULL,
	  "loss of videos, from little to much", NULL },
	{ 0, "lossless", NULL, OPT_FLAG, AT(lossless), NULL, 0, 0, NULL,
	  "videos without loss", NULL },
	{ 0, "preset", "WORD", OPT_TEXT, AT(preset), NULL, 0, 0, NULL,
	  "the video encoder's trade of time for size", NULL },
	{ 0, "fps", "N", OPT_NUMBER, AT(fps), NULL, 1e-3, 1e5, "frames/s",
	  "speed of videos; from time_s, else 30, if not given", NULL },
	{ 0, "texture-crf", "N", OPT_NUMBER, AT(texture_crf), NULL, 0, 51, NULL,
	    "loss of the track of a channel texture in videos", NULL },
	{ 0, "one-page", NULL, OPT_FLAG, AT(one_page), NULL, 0, 0, NULL,
	  "TIFF files hold all channels of a frame in one page", NULL },
	{ 0, "ascii", NULL, OPT_FLAG, AT(ascii), NULL, 0, 0, NULL,
	  "text files, where a format has them", NULL },
	{ 0, "jump", "Z", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	  "meshes: no triangle over a larger step in z; 0: found from the surface", NULL },
	{ 0, "points", NULL, OPT_FLAG, AT(points), NULL, 0, 0, NULL,
	  "make tables of the valid pixels; where -o writes meshes: no triangles", NULL },
	{ 0 },
};

/* ---- frames ---- */

/* Labels a frame and hands it on. */
static int
pass_on(struct run *run, struct frame *frame)
{
	if (change_metadata(run->parameters, run->priv, frame) == 0)
		return run_emit(run, frame);
	frame_free(frame);
	return -1;
}

static int
pass_split(struct run *run, struct frame *frame)
{
	struct priv *priv = run->priv;
	struct frame *single;
	int status = 0;

	priv->channels = frame->head.c;
	for (size_t c = 0; c < frame->head.c && status == 0; c++) {
		status = arrange_take(frame, c, &single);
		if (status == 0)
			status = pass_on(run, single);
	}
	frame_free(frame);
	return status;
}

static int
pass_stack(struct run *run)
{
	struct priv *priv = run->priv;
	struct frame *all;

	if (stack_check(priv->stack, priv->emitted) < 0)
		return -1;
	return arrange_stack(priv->stack, priv->emitted, &all) < 0 ? -1 : pass_on(run, all);
}

/* Numbers of --frames that no frame has; 12- is all that there are, maybe none. */
static void
warn_beyond(const struct priv *priv)
{
	const struct range *range = ranges_beyond(&priv->wanted, priv->frames);

	if (range && range->last != SIZE_MAX)
		warn("--frames", "there is no frame %zu: %zu came, from 0 to %zu", range->first,
		    priv->frames, priv->frames - 1);
}

static int
finish(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (parameters->like && like_end(&priv->like) < 0)
		return -1;
	if (parameters->stack && priv->lost)
		return fail("--stack", "%zu frame%s of the stack %s lost", priv->lost,
		    priv->lost == 1 ? "" : "s", priv->lost == 1 ? "is" : "are");
	if (priv->emitted == 0 && parameters->frames)
		return fail("--frames", "%s chooses none of the %zu frames that came",
		    parameters->frames, priv->frames);
	if (parameters->frames)
		warn_beyond(priv);
	return parameters->stack && priv->emitted ? pass_stack(run) : 0;
}

static int
take_frame(struct run *run, struct frame *frame)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	bool wanted = !parameters->frames || ranges_hold(&priv->wanted, priv->frames++);

	if (parameters->like && like_next(&priv->like) < 0) {
		frame_free(frame);
		return -1;
	}
	if (!wanted) {
		frame_free(frame);
		return 0;
	}
	if (change_frame(run, &frame) < 0) {
		frame_free(frame);
		return -1;
	}
	if (parameters->stack)
		return stack_keep(priv, frame);
	priv->emitted++;
	return parameters->split ? pass_split(run, frame) : pass_on(run, frame);
}

static const struct body body = { .frame = take_frame, .lost = lose_frame, .end = finish };

/* ---- options ---- */

static int
init_encoding(const struct parameters *parameters, struct encoding *encoding)
{
	bool paints = parameters->paint.map >= 0;

	encoding->fill = parameters->fill;
	encoding->type = parameters->as >= 0 ? (enum sample)parameters->as :
	    parameters->scale ? SAMPLE_UCHAR : SAMPLE_FLOAT;
	if (parameters->scale && range_parse("--scale", parameters->scale, &encoding->range) < 0)
		return -1;
	if (paints && (parameters->as >= 0 || !isnan(parameters->fill)))
		return fail_usage("--colormap", "makes r g b of type uchar: --as and --fill do not "
		    "go with it");
	if (!paints && parameters->scale && encoding->type == SAMPLE_FLOAT)
		return fail_usage("--scale", "makes integers: --as uchar or --as ushort");
	return 0;
}

/* Does a format that has meshes take --points for itself? */
static bool
writes_meshes(const char *output)
{
	const struct codec *codec = output ? codec_by_suffix(output) : NULL;

	for (const struct opt *opt = codec ? codec->options : NULL; opt && opt->name; opt++)
		if (!strcmp(opt->name, "points"))
			return true;
	return false;
}

/* --points and --like. */
static int
init_tables(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	priv->tabulates = parameters->points && !writes_meshes(run->output);
	priv->like.path = parameters->like;
	if (parameters->like && !strcmp(parameters->like, "-"))
		return fail_usage("--like", "wants a file, not standard input");
	if (parameters->like && parameters->points)
		return fail_usage("--like", "does not go with --points");
	if (priv->tabulates && (priv->encoding.type != SAMPLE_FLOAT || parameters->paint.map >= 0))
		return fail_usage("--points", "makes tables of float: a framecat behind it can "
		    "convert them");
	return 0;
}

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
	priv->channels = 1;
	if (parameters->stack && parameters->split)
		return fail_usage("--stack", "does not go with --split");
	if (parameters->fast && parameters->level != OPT_NONE_INTEGER)
		return fail_usage("--level", "does not go with --fast");
	if (parameters->frames && ranges_parse("--frames", parameters->frames, &priv->wanted) < 0)
		return -1;
	if (change_check_crop(&parameters->crop) < 0 ||
	    init_encoding(parameters, &priv->encoding) < 0)
		return -1;
	if (parameters->set && arrange_check_settings(parameters->set) < 0)
		return -1;
	if (paint_init(&priv->paint, &parameters->paint, &priv->encoding.range) < 0 ||
	    init_tables(run) < 0)
		return -1;
	priv->encodes = parameters->as >= 0 || parameters->scale || !isnan(parameters->fill);
	priv->written = *parameters;
	priv->written.points = parameters->points && !priv->tabulates;
	return run_save_options(run, options, &priv->written);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	ranges_free(&priv->wanted);
	like_close(&priv->like);
	for (size_t i = 0; priv->stack && i < priv->emitted; i++)
		frame_free(priv->stack[i]);
	free(priv->stack);
}

STAGE(framecat) = {
	.name = "framecat",
	.summary = "join frames, convert them, cut them, label them",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE | STAGE_TABLES,
	.agree = AGREE_EXACT,
	.init = init,
	.release = end,
};
