#define _GNU_SOURCE
#include "encoder.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"

#define CRF_COLOUR 18	/* no difference to be seen */
#define CRF_SINGLE 0	/* of more than 8 bits: samples are numbers, not a picture */
#define CRF_TEXTURE 18

const char *const video_codings[] = { "h264", "hevc", "av1", "ffv1", "mjpeg", "png", "qtrle",
	NULL };
const char *const video_chromas[] = { "444", "422", "420", NULL };

/* What is asked for: of which kind, of how many bits, with which colour planes. */
struct wanted {
	enum pixel_kind kind;
	size_t channels;		/* without those of tracks of their own */
	unsigned bits;
	const char *chroma;
	bool mask, texture;
};

/* ---- formats ---- */

/* Each coding's ffmpeg formats: grey, of three planes (444, 422, 420 in the place of %s), r g b
 * and r g b a, of 8, 10, 12 and 16 bits. NULL: it has none. */
static const struct {
	const char *grey[4], *yuv[3], *rgb[4], *rgba[4];
} coded[] = {
	[VIDEO_H264] = { { "yuv420p", "yuv420p10le" }, { "yuv%sp", "yuv%sp10le" }, { "rgb24" } },
	[VIDEO_HEVC] = { { "yuv420p", "yuv420p10le", "yuv420p12le" },
		{ "yuv%sp", "yuv%sp10le", "yuv%sp12le" }, { "gbrp", "gbrp10le", "gbrp12le" } },
	[VIDEO_AV1] = { { "yuv420p", "yuv420p10le", "yuv420p12le" },
		{ "yuv%sp", "yuv%sp10le", "yuv%sp12le" }, { "gbrp", "gbrp10le", "gbrp12le" } },
	[VIDEO_FFV1] = { { "gray", "gray10le", "gray12le", "gray16le" },
		{ "yuv%sp", "yuv%sp10le", "yuv%sp12le" }, { "bgr0", "gbrp10le", "gbrp12le" },
		{ "bgra" } },
	[VIDEO_MJPEG] = { { "yuvj420p" }, { "yuvj%sp" } },
	[VIDEO_PNG] = { { "gray", NULL, NULL, "gray16be" }, { NULL },
		{ "rgb24", NULL, NULL, "rgb48be" }, { "rgba", NULL, NULL, "rgba64be" } },
	[VIDEO_QTRLE] = { { NULL }, { NULL }, { "rgb24" }, { "argb" } },
};

static int
find_bits(const char *path, const struct frame_head *head, unsigned *bits)
{
	double most;

	if (head->type == SAMPLE_FLOAT)
		return fail(path, "a video holds 8 to 16 bits a sample, not float (use framecat "
		    "--scale, holoenc, or a NRRD file)");
	if (meta_number(&head->meta, "max_value", head->type == SAMPLE_UCHAR ? 255 : 65535,
	    &most) < 0)
		return -1;
	*bits = head->type == SAMPLE_UCHAR ? 8 : most == 1023 ? 10 : most == 4095 ? 12 : 16;
	return 0;
}

/* Index of these bits in lists of 8, 10, 12 and 16. */
static size_t
bits_index(unsigned bits)
{
	return bits == 16 ? 3 : (bits - 8) / 2;
}

static int
find_wanted(const char *path, const struct frame_head *head, const struct video_options *options,
    struct wanted *wanted)
{
	static const char *const planes[] = { "luma", "chroma_u", "chroma_v" };
	static const char *const colours[] = { "r", "g", "b", "a" };
	bool texture = head->c > 1 && !strcmp(head->channel[head->c - 1], "texture");
	bool mask = head->c > (size_t)1 + texture &&
	    !strcmp(head->channel[head->c - texture - 1], "mask");
	size_t n = head->c - texture - mask;
	bool yuv = n == 3, rgb = !mask && !texture && (n == 3 || n == 4);

	for (size_t c = 0; c < n; c++) {
		yuv = yuv && !strcmp(head->channel[c], planes[c]);
		rgb = rgb && !strcmp(head->channel[c], colours[c]);
	}
	wanted->channels = n;
	wanted->mask = mask;
	wanted->texture = texture;
	wanted->kind = n == 1 ? PIXEL_GREY : yuv ? PIXEL_YUV : PIXEL_RGB;
	wanted->chroma = video_chromas[options->chroma];
	if (n != 1 && !yuv && !rgb)
		return fail(path, "a video's frames have one channel, or luma chroma_u chroma_v, "
		    "or r g b, not %zu channels %s ...", head->c, head->channel[0]);
	if ((mask || texture) && (options->coding == VIDEO_MJPEG ||
	    options->coding == VIDEO_PNG || options->coding == VIDEO_QTRLE))
		return fail(path, "a %s goes beside h264, hevc, av1 and ffv1, not %s",
		    mask ? "mask" : "texture", video_codings[options->coding]);
	return find_bits(path, head, &wanted->bits);
}

/* Which files hold which coding, as ffmpeg writes and reads them. */
static int
check_container(const char *path, int coding)
{
	const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : "";
	bool mov = !strcasecmp(name, "mov");

	if (coding == VIDEO_QTRLE && !mov)
		return fail_usage(path, "qtrle is held by .mov files alone");
	if (coding == VIDEO_FFV1 && !strcasecmp(name, "mp4"))
		return fail_usage(path, "MP4 holds no ffv1: .mkv does");
	if (coding == VIDEO_AV1 && mov)
		return fail_usage(path, "QuickTime holds no av1: .mkv and .mp4 do");
	return 0;
}

static int
find_format(const char *path, const struct wanted *wanted, int coding, struct encoder *encoder)
{
	size_t i = bits_index(wanted->bits);
	const char *name = wanted->kind == PIXEL_GREY ? coded[coding].grey[i] :
	    wanted->kind == PIXEL_YUV ? (i < 3 ? coded[coding].yuv[i] : NULL) :
	    wanted->channels == 4 ? coded[coding].rgba[i] : coded[coding].rgb[i];
	const char *place = name ? strstr(name, "%s") : NULL;
	char full[24];

	if (!name)
		return fail(path, "%s holds no frames of %zu channels of %u bits%s; ffv1 holds "
		    "most", video_codings[coding], wanted->channels, wanted->bits, i == 3 ?
		    " (framecat --set max_value=4095, or 1023, where they need fewer)" : "");
	if (place)
		snprintf(full, sizeof(full), "%.*s%s%s", (int)(place - name), name,
		    wanted->chroma, place + 2);
	if (strcmp(wanted->chroma, video_chromas[0]) && !place && !strstr(name, wanted->chroma))
		return fail_usage("--chroma", "%s has no effect on a video of %s by %s: luma "
		    "chroma_u chroma_v have planes of colour", wanted->chroma,
		    wanted->kind == PIXEL_RGB ? "r g b" : "one channel", video_codings[coding]);
	encoder->format = pixel_format_find(place ? full : name);
	return encoder->format ? 0 : fail(path, "has no format %s", place ? full : name);
}

/* ---- words ---- */

static void
add(struct encoder *encoder, const char *word, const char *value)
{
	encoder->words[encoder->n++] = word;
	if (value)
		encoder->words[encoder->n++] = value;
}

/* The least and largest --crf; equal: it has none. */
static void
crf_range(int coding, unsigned bits, double *least, double *most)
{
	*least = coding == VIDEO_MJPEG ? 1 : 0;
	if (coding == VIDEO_H264 && bits > 8)
		*least = -6.0 * (bits - 8);
	*most = coding == VIDEO_H264 || coding == VIDEO_HEVC ? 51 : coding == VIDEO_AV1 ? 63 :
	    coding == VIDEO_MJPEG ? 31 : 0;
}

static int
find_crf(const struct wanted *wanted, const struct video_options *options, double *crf)
{
	double least, most;

	crf_range(options->coding, wanted->bits, &least, &most);
	*crf = !isnan(options->crf) ? options->crf : options->coding == VIDEO_MJPEG ? 2 :
	    wanted->kind == PIXEL_GREY && wanted->bits > 8 ? CRF_SINGLE : CRF_COLOUR;
	if (!isnan(options->crf) && options->lossless)
		return fail_usage("--crf", "and --lossless exclude each other");
	if (!isnan(options->crf) && least == most)
		return fail_usage("--crf", "%s loses nothing, and has none",
		    video_codings[options->coding]);
	if (!isnan(options->crf) && !(*crf >= least && *crf <= most))
		return fail_usage("--crf", "%s of %u bits takes %g to %g, not %g",
		    video_codings[options->coding], wanted->bits, least, most, *crf);
	if (options->lossless && options->coding == VIDEO_MJPEG)
		return fail_usage("--lossless", "mjpeg cannot: ffv1 and others can");
	if (options->preset && least == most)
		return fail_usage("--preset", "%s has none", video_codings[options->coding]);
	return 0;
}

static void
add_h264(struct encoder *encoder, const struct wanted *wanted, const struct video_options *options,
    double crf)
{
	add(encoder, "-c:v", wanted->kind == PIXEL_RGB ? "libx264rgb" : "libx264");
	if (options->preset)
		add(encoder, "-preset", options->preset);
	/* the option -crf takes no negative number; x264 itself does */
	snprintf(encoder->parameters, sizeof(encoder->parameters), "crf=%g", crf);
	if (options->lossless)
		add(encoder, "-qp", "0");
	else
		add(encoder, "-x264-params", encoder->parameters);
	if (wanted->kind == PIXEL_GREY && !options->lossless)
		add(encoder, "-tune", "psnr");
}

static void
add_hevc(struct encoder *encoder, const struct wanted *wanted, const struct video_options *options,
    double crf)
{
	add(encoder, "-c:v", "libx265");
	if (options->preset)
		add(encoder, "-preset", options->preset);
	snprintf(encoder->parameters, sizeof(encoder->parameters), "log-level=none:crf=%g", crf);
	/* x265 3.5 loses single samples of what it predicts from other frames */
	add(encoder, "-x265-params", options->lossless ? "log-level=none:lossless=1:keyint=1" :
	    encoder->parameters);
	if (wanted->kind == PIXEL_GREY && !options->lossless)
		add(encoder, "-tune", "psnr");
}

static void
add_av1(struct encoder *encoder, const struct video_options *options, double crf)
{
	add(encoder, "-c:v", "libaom-av1");
	add(encoder, "-cpu-used", options->preset ? options->preset : "6");
	add(encoder, "-row-mt", "1");
	snprintf(encoder->number, sizeof(encoder->number), "%g", crf);
	add(encoder, "-crf", options->lossless ? "0" : encoder->number);
	if (options->lossless)
		add(encoder, "-aom-params", "lossless=1");
}

/* The tracks of the last channels, which are coded as h264 whatever the first one is coded as. */
static int
choose_tracks(struct encoder *encoder, const struct wanted *wanted,
    const struct video_options *options)
{
	bool given = !isnan(options->texture_crf), h264 = options->coding == VIDEO_H264;

	encoder->mask = wanted->mask;
	encoder->texture = wanted->texture;
	encoder->tracks = (size_t)wanted->mask + wanted->texture;
	encoder->preset = h264 || options->coding == VIDEO_HEVC ? options->preset : NULL;
	if (given && !wanted->texture)
		return fail_usage("--texture-crf", "is of a channel texture beside luma (depthenc "
		    "--texture-place track)");
	if (given && options->lossless)
		return fail_usage("--texture-crf", "and --lossless exclude each other");
	if (!wanted->texture || options->lossless ||
	    (options->coding == VIDEO_FFV1 && !given))
		return 0;
	snprintf(encoder->crf, sizeof(encoder->crf), "%g",
	    given ? options->texture_crf : CRF_TEXTURE);
	encoder->texture_crf = encoder->crf;
	return 0;
}

int
encoder_choose(const char *path, const struct frame_head *head, const struct video_options *options,
    struct encoder *encoder)
{
	struct wanted wanted = { 0 };
	double crf;

	*encoder = (struct encoder){ 0 };
	if (check_container(path, options->coding) < 0 ||
	    find_wanted(path, head, options, &wanted) < 0 ||
	    find_format(path, &wanted, options->coding, encoder) < 0 ||
	    find_crf(&wanted, options, &crf) < 0 ||
	    choose_tracks(encoder, &wanted, options) < 0)
		return -1;
	switch ((enum video_coding)options->coding) {
	case VIDEO_H264:
		add_h264(encoder, &wanted, options, crf);
		break;
	case VIDEO_HEVC:
		add_hevc(encoder, &wanted, options, crf);
		break;
	case VIDEO_AV1:
		add_av1(encoder, options, crf);
		break;
	case VIDEO_FFV1:
		add(encoder, "-c:v", "ffv1");
		add(encoder, "-level", "3");
		add(encoder, "-g", "1");
		add(encoder, "-slicecrc", "1");
		break;
	case VIDEO_MJPEG:
		add(encoder, "-c:v", "mjpeg");
		snprintf(encoder->number, sizeof(encoder->number), "%g", crf);
		add(encoder, "-q:v", encoder->number);
		break;
	case VIDEO_PNG:
		add(encoder, "-c:v", "png");
		break;
	case VIDEO_QTRLE:
		add(encoder, "-c:v", "qtrle");
		break;
	}
	return 0;
}
