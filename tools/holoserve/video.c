#include "video.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/video/ffmpeg.h"
#include "codec/video/pixel_format.h"

#define WHERE "--encode"	/* what messages are about */
#define PATIENCE_MS 10000	/* for one picture */
#define PICTURE_MOST (64u << 20)
#define CRF_H264 24		/* 2 Mbit/s and less at 512 x 512 and 30 frames/s */
#define CRF_LUMA 0
#define FPS 30

/* FLV, in which ffmpeg frames its pictures: a head, then tags, each with its length before and
 * behind its data. (ISO/IEC 14496-15 says what is in those of video.) */
#define FLV_HEAD (9 + 4)
#define FLV_TAG 11
#define FLV_TAIL 4
#define FLV_VIDEO 9
#define VIDEO_HEAD 5		/* of a tag's data: kind of frame and codec, kind of packet, time */
#define AVC_PICTURE 1
#define NAL_PARAMETERS 7	/* those of the sequence */

struct video_encoder {
	struct ffmpeg *ffmpeg;
	const struct pixel_format *format;
	size_t w, h;			/* as asked */
	size_t even_w, even_h;		/* as coded: the last column and row are repeated */
	unsigned char *raw;
	size_t bytes;			/* of it */
	bool begun;			/* the head of the output is read */
	char codec[12];
};

int
video_check(void)
{
	return ffmpeg_check(WHERE);
}

/* ---- beginning and end ---- */

/* x264's words. Modes of a Holoimage are chosen by the bits that they cost, which saves a fifth of
 * a smooth surface's; since one motion holds for whole macroblocks, these are not split, which
 * saves the time that the choice takes. The bit rate is that of the 30 frames a second that ffmpeg
 * is made to believe in; a group of pictures may take its share at once. */
static void
set_parameters(bool luma, const struct video_options *options, char *to, size_t n)
{
	const double crf = !isnan(options->crf) ? options->crf : luma ? CRF_LUMA : CRF_H264;
	const double fps = isnan(options->fps) ? FPS : options->fps;
	const double kbits = ceil(1000 * options->bitrate * FPS / fps);
	char most[80] = "";

	if (!isnan(options->bitrate))
		snprintf(most, sizeof(most), ":vbv-maxrate=%.0f:vbv-bufsize=%.0f", kbits,
		    ceil(kbits * VIDEO_GROUP / FPS));
	/* -crf takes no negative number; x264 itself does */
	snprintf(to, n, "crf=%g:scenecut=0:repeat-headers=1%s%s", crf,
	    luma ? "" : ":subme=6:partitions=none:trellis=1", most);
}

static int
start_ffmpeg(struct video_encoder *video, bool luma, const struct video_options *options)
{
	char size[32], group[8], rate[8], parameters[200];
	const char *const words[] = { "ffmpeg", "-nostdin", "-v", "error",
		/* the first picture is not kept back until there are more to look at */
		"-probesize", "32", "-analyzeduration", "0", "-protocol_whitelist", "pipe",
		"-f", "rawvideo", "-pix_fmt", video->format->name, "-s", size, "-framerate", rate,
		"-color_range", "pc", "-i", "pipe:0", "-color_range", "pc",
		"-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-bf", "0",
		"-g", group, "-x264-params", parameters, "-fps_mode", "passthrough",
		/* x264's signature takes more bytes than a picture that hardly changes */
		"-bsf:v", "filter_units=remove_types=6", "-flush_packets", "1", "-f", "flv",
		"pipe:1", NULL };

	snprintf(size, sizeof(size), "%zux%zu", video->even_w, video->even_h);
	snprintf(group, sizeof(group), "%d", VIDEO_GROUP);
	snprintf(rate, sizeof(rate), "%d", FPS);
	set_parameters(luma, options, parameters, sizeof(parameters));
	if (ffmpeg_start(WHERE, words, FFMPEG_FILTERS, -1, -1, &video->ffmpeg) < 0)
		return -1;
	ffmpeg_set_patience(video->ffmpeg, PATIENCE_MS);
	return 0;
}

int
video_start(enum live_kind kind, size_t w, size_t h, const struct video_options *options,
    struct video_encoder **out)
{
	const bool luma = kind == LIVE_LUMA;
	struct video_encoder *video = calloc(1, sizeof(*video));
	size_t flat;

	*out = NULL;
	if (!video)
		return fail_memory();
	*video = (struct video_encoder){ .w = w, .h = h, .even_w = w + w % 2,
		.even_h = h + h % 2,
		.format = pixel_format_find(luma ? "yuv420p10le" : "yuv420p") };
	if (pixel_format_bytes(video->format, video->even_w, video->even_h, &video->bytes) < 0) {
		free(video);
		return fail(WHERE, "pictures of %zu x %zu are too large", w, h);
	}
	video->raw = malloc(video->bytes);
	if (!video->raw)
		fail_memory();
	if (!video->raw || start_ffmpeg(video, luma, options) < 0) {
		video_free(video);
		return -1;
	}
	flat = pixel_format_flat_bytes(video->format, luma ? 1 : 3, video->even_w, video->even_h);
	pixel_format_flatten(video->format, flat, video->raw + video->bytes - flat);
	*out = video;
	return 0;
}

bool
video_fits(const struct video_encoder *video, size_t w, size_t h)
{
	return video->w == w && video->h == h;
}

const char *
video_codec(const struct video_encoder *video)
{
	return video->codec;
}

void
video_free(struct video_encoder *video)
{
	if (!video)
		return;
	ffmpeg_kill(video->ffmpeg);
	free(video->raw);
	free(video);
}

/* ---- a picture ---- */

/* Exactly n bytes of what ffmpeg writes. */
static int
read_all(struct video_encoder *video, void *to, size_t n)
{
	size_t got;

	if (ffmpeg_read(video->ffmpeg, to, n, &got) < 0)
		return -1;
	if (got == n)
		return 0;
	return fail(WHERE, "ffmpeg has ended: %s", ffmpeg_message(video->ffmpeg));
}

static size_t
big_endian(const unsigned char *from, int n)
{
	size_t v = 0;

	for (int i = 0; i < n; i++)
		v = v << 8 | from[i];
	return v;
}

/* Profile, constraints and level, as the parameters of the sequence begin. */
static void
note_codec(struct video_encoder *video, const unsigned char *unit, size_t n)
{
	if (n >= 4 && (unit[0] & 31) == NAL_PARAMETERS)
		snprintf(video->codec, sizeof(video->codec), "avc1.%02X%02X%02X", unit[1], unit[2],
		    unit[3]);
}

/* Lengths before the units of a picture become start codes, which take as many bytes. */
static int
make_annex_b(struct video_encoder *video, unsigned char *unit, size_t n)
{
	while (n > 0) {
		size_t length = n < 4 ? n : big_endian(unit, 4);

		if (n < 4 || length > n - 4)
			return fail(WHERE, "what ffmpeg writes is no H.264");
		memcpy(unit, "\0\0\0\1", 4);
		note_codec(video, unit + 4, length);
		unit += 4 + length;
		n -= 4 + length;
	}
	return 0;
}

/* Passes a tag's data over, and its length behind. */
static int
pass_over(struct video_encoder *video, size_t n)
{
	unsigned char data[256];

	while (n > 0) {
		size_t part = n < sizeof(data) ? n : sizeof(data);

		if (read_all(video, data, part) < 0)
			return -1;
		n -= part;
	}
	return 0;
}

/* The picture of a tag of n bytes, behind its head. */
static int
take_picture(struct video_encoder *video, size_t n, size_t lead, struct video_picture *out)
{
	unsigned char tail[FLV_TAIL];

	out->n = n;
	out->bytes = calloc(1, lead + n);
	if (!out->bytes)
		return fail_memory();
	if (read_all(video, out->bytes + lead, n) == 0 && read_all(video, tail, FLV_TAIL) == 0 &&
	    make_annex_b(video, out->bytes + lead, n) == 0)
		return 0;
	free(out->bytes);
	*out = (struct video_picture){ 0 };
	return -1;
}

/* Reads tags up to the next picture. */
static int
read_picture(struct video_encoder *video, size_t lead, struct video_picture *out)
{
	unsigned char head[FLV_TAG + VIDEO_HEAD];

	if (!video->begun && pass_over(video, FLV_HEAD) < 0)
		return -1;
	video->begun = true;
	for (;;) {
		size_t n;

		if (read_all(video, head, FLV_TAG) < 0)
			return -1;
		n = big_endian(head + 1, 3);
		if (n > PICTURE_MOST)
			return fail(WHERE, "what ffmpeg writes is no FLV");
		if (head[0] != FLV_VIDEO || n < VIDEO_HEAD) {
			if (pass_over(video, n + FLV_TAIL) < 0)
				return -1;
			continue;
		}
		if (read_all(video, head + FLV_TAG, VIDEO_HEAD) < 0)
			return -1;
		if (head[FLV_TAG + 1] == AVC_PICTURE)
			break;
		if (pass_over(video, n - VIDEO_HEAD + FLV_TAIL) < 0)
			return -1;
	}
	out->keyframe = head[FLV_TAG] >> 4 == 1;
	return take_picture(video, big_endian(head + 1, 3) - VIDEO_HEAD, lead, out);
}

int
video_encode(struct video_encoder *video, const struct frame *frame, size_t lead,
    struct video_picture *out)
{
	int status;

	*out = (struct video_picture){ 0 };
	pixel_format_put(video->format, frame, video->even_w, video->even_h, video->raw);
	status = ffmpeg_write(video->ffmpeg, video->raw, video->bytes);
	if (status > 0)
		return fail(WHERE, "ffmpeg has ended: %s", ffmpeg_message(video->ffmpeg));
	return status < 0 ? -1 : read_picture(video, lead, out);
}
