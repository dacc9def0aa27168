/*
 * Pictures as the bytes that viewers get, files of JPEG and PNG or pictures of a video, and the key
 * lines that decode them.
 *
 * A video is H.264, one picture out for each picture in, without delay: by an ffmpeg that runs as
 * long as pictures of one size come, over pipes. Each picture depends only on earlier ones, back to
 * a keyframe, and at least one of VIDEO_GROUP is a keyframe.
 */
#include "holoserve.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "codec/video/ffmpeg.h"
#include "codec/video/pixel_format.h"
#include "io/codec.h"
#include "io/target.h"

/* ---- a video's encoder ---- */

#define VIDEO_GROUP 15
#define VIDEO_BLOCK 16		/* rows of a macroblock: a texture below begins at one */

#define WHERE "--encode"	/* what messages are about */
#define PATIENCE_MS 10000	/* for one picture */
#define PICTURE_MOST (64u << 20)
#define CRF_H264 24		/* 2 Mbit/s and less at 512 x 512 and 30 frames/s */
#define CRF_LUMA 0
#define FPS 30

/* FLV, in which ffmpeg writes its pictures: a head, then tags, each with its length before and
 * after its data. ISO/IEC 14496-15 defines the data of video. */
#define FLV_HEAD (9 + 4)
#define FLV_TAG 11
#define FLV_TAIL 4
#define FLV_VIDEO 9
#define VIDEO_HEAD 5		/* of a tag's data: kind of frame and codec, kind of packet, time */
#define AVC_PICTURE 1
#define NAL_PARAMETERS 7	/* of the sequence */

struct video_encoder {
	struct ffmpeg *ffmpeg;
	const struct pixel_format *format;
	size_t w, h;			/* of pictures */
	size_t even_w, even_h;		/* as coded: the last column and row are repeated */
	unsigned char *raw;
	size_t bytes;			/* of raw */
	bool begun;			/* the head of the output is read */
	char codec[12];			/* as browsers name it: "avc1.6E0020"; empty before the
					 * first keyframe */
};

int
video_check(void)
{
	return ffmpeg_check(WHERE);
}

static void
video_stop(struct video_encoder **video)
{
	if (*video) {
		ffmpeg_kill((*video)->ffmpeg);
		free((*video)->raw);
		free(*video);
	}
	*video = NULL;
}

/*
 * For pictures of w x h: of LIVE_H264, planes Y, U, V of 8 bits, the last two at half the
 * resolution; of LIVE_LUMA, one of 10 bits. *out: NULL after fail(), which returns -1.
 *
 * For a Holoimage x264 chooses modes by the bits that they cost (subme=6, trellis=1), which saves a
 * fifth of the bits of a smooth surface. That takes time, which partitions=none saves: one motion
 * is right for whole macroblocks. The bit rate refers to the 30 frames a second that ffmpeg is
 * told; a group of pictures may use its share in one picture.
 */
static int
video_start(enum live_kind kind, size_t w, size_t h, const struct video_options *options,
    struct video_encoder **out)
{
	const bool luma = kind == LIVE_LUMA;
	const double crf = !isnan(options->crf) ? options->crf : luma ? CRF_LUMA : CRF_H264;
	const double fps = isnan(options->fps) ? FPS : options->fps;
	const double kbits = ceil(1000 * options->bitrate * FPS / fps);
	struct video_encoder *video = must_alloc(1, sizeof(*video));
	char size[32], group[8], rate[8], most[80] = "", parameters[200];
	const char *const words[] = { "ffmpeg", "-nostdin", "-v", "error",
		/* does not keep the first picture back to analyse more of them */
		"-probesize", "32", "-analyzeduration", "0", "-protocol_whitelist", "pipe",
		"-f", "rawvideo", "-pix_fmt", luma ? "yuv420p10le" : "yuv420p", "-s", size,
		"-framerate", rate, "-color_range", "pc", "-i", "pipe:0", "-color_range", "pc",
		"-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-bf", "0",
		"-g", group, "-x264-params", parameters, "-fps_mode", "passthrough",
		/* x264's signature takes more bytes than a picture that hardly changes */
		"-bsf:v", "filter_units=remove_types=6", "-flush_packets", "1", "-f", "flv",
		"pipe:1", NULL };
	size_t flat;

	*out = NULL;
	*video = (struct video_encoder){ .w = w, .h = h, .even_w = w + w % 2,
		.even_h = h + h % 2,
		.format = pixel_format_find(luma ? "yuv420p10le" : "yuv420p") };
	if (pixel_format_bytes(video->format, video->even_w, video->even_h, &video->bytes) < 0) {
		free(video);
		return fail(WHERE, "pictures of %zu x %zu are too large", w, h);
	}
	snprintf(size, sizeof(size), "%zux%zu", video->even_w, video->even_h);
	snprintf(group, sizeof(group), "%d", VIDEO_GROUP);
	snprintf(rate, sizeof(rate), "%d", FPS);
	if (!isnan(options->bitrate))
		snprintf(most, sizeof(most), ":vbv-maxrate=%.0f:vbv-bufsize=%.0f", kbits,
		    ceil(kbits * VIDEO_GROUP / FPS));
	/* -crf takes no negative number; x264 itself does */
	snprintf(parameters, sizeof(parameters), "crf=%g:scenecut=0:repeat-headers=1%s%s", crf,
	    luma ? "" : ":subme=6:partitions=none:trellis=1", most);
	video->raw = must_resize(NULL, video->bytes, 1);
	if (ffmpeg_start(WHERE, words, FFMPEG_FILTERS, -1, -1, &video->ffmpeg) < 0) {
		video_stop(&video);
		return -1;
	}
	ffmpeg_set_patience(video->ffmpeg, PATIENCE_MS);
	flat = pixel_format_flat_bytes(video->format, luma ? 1 : 3, video->even_w, video->even_h);
	pixel_format_flatten(video->format, flat, video->raw + video->bytes - flat);
	*out = video;
	return 0;
}

/* Reads exactly n bytes of ffmpeg's output. */
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

/* Replaces the lengths before the units of a picture by start codes, which have as many bytes.
 * Keeps profile, constraints and level, with which the parameters of the sequence begin. */
static int
make_annex_b(struct video_encoder *video, unsigned char *unit, size_t n)
{
	while (n > 0) {
		size_t length = n < 4 ? n : big_endian(unit, 4);

		if (n < 4 || length > n - 4)
			return fail(WHERE, "what ffmpeg writes is no H.264");
		memcpy(unit, "\0\0\0\1", 4);
		if (length >= 4 && (unit[4] & 31) == NAL_PARAMETERS)
			snprintf(video->codec, sizeof(video->codec), "avc1.%02X%02X%02X", unit[5],
			    unit[6], unit[7]);
		unit += 4 + length;
		n -= 4 + length;
	}
	return 0;
}

/* Reads n bytes and discards them. */
static int
skip_bytes(struct video_encoder *video, size_t n)
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

/* Reads tags up to the next picture, and that in Annex B. */
static int
read_picture(struct video_encoder *video, size_t lead, struct packing *out)
{
	unsigned char head[FLV_TAG + VIDEO_HEAD] = { 0 };
	size_t n = 0, rest = video->begun ? 0 : FLV_HEAD;	/* to be skipped */

	video->begun = true;
	while (head[FLV_TAG + 1] != AVC_PICTURE) {
		if (skip_bytes(video, rest) < 0 || read_all(video, head, FLV_TAG) < 0)
			return -1;
		rest = big_endian(head + 1, 3) + FLV_TAIL;
		if (rest > PICTURE_MOST)
			return fail(WHERE, "what ffmpeg writes is no FLV");
		head[FLV_TAG + 1] = !AVC_PICTURE;
		if (head[0] != FLV_VIDEO || rest < VIDEO_HEAD + FLV_TAIL)
			continue;
		if (read_all(video, head + FLV_TAG, VIDEO_HEAD) < 0)
			return -1;
		rest -= VIDEO_HEAD;
		n = rest - FLV_TAIL;
	}
	out->keyframe = head[FLV_TAG] >> 4 == 1;
	out->n = n;
	out->bytes = must_alloc(1, lead + n);
	if (read_all(video, out->bytes + lead, n) == 0 && skip_bytes(video, FLV_TAIL) == 0 &&
	    make_annex_b(video, out->bytes + lead, n) == 0)
		return 0;
	free(out->bytes);
	*out = (struct packing){ 0 };
	return -1;
}

/* ---- the image that is packed ---- */

/* The row where a texture below the depth begins, so that the two share no block. */
static size_t
texture_row(const struct picture *picture, enum live_kind kind)
{
	const size_t block = live_is_video(kind) ? VIDEO_BLOCK : LIVE_BLOCK;

	/* a row of colour of half the resolution reaches into the next one */
	return (picture->h + (picture->texture.n == 3) + block - 1) / block * block;
}

/* Three channels of the image in this order, and the texture, if there is one, below the first, or
 * if `grey` below all; one in colour below all. The rows between, and those below the other
 * channels, repeat the depth's
 * last one. */
static int
put_together(const struct frame *image, const size_t from[3], size_t begin, bool grey,
    struct frame **out)
{
	const size_t w = image->head.w, h = image->head.h;
	const bool textured = image->head.c > 3;

	if (frame_new_named(w, textured ? begin + h : h, 3, SAMPLE_UCHAR, NULL, out) < 0)
		return -1;
	for (size_t c = 0; c < 3; c++)
		for (size_t y = 0; y < (*out)->head.h; y++) {
			bool colour = image->head.c == 6;
			bool below = y >= begin && (c == 0 || grey || colour);

			memcpy(frame_row(*out, c, y), below ?
			    frame_row(image, colour ? 3 + c : 3, y - begin) :
			    frame_row(image, from[c], y < h ? y : h - 1), w);
		}
	return 0;
}

static int
arrange(struct picture *picture, enum live_kind kind, struct frame **out)
{
	static const size_t rgb[3] = { 0, 1, 2 };
	const size_t begin = texture_row(picture, kind);
	const struct frame *image;

	if (kind == LIVE_LUMA)
		return luma_make(picture, begin, out);
	image = picture_image(picture);
	if (!image)
		return -1;
	if (kind == LIVE_H264) {
		/* stairs are luma, whatever the layout was */
		const size_t *place = holo_place[picture->holo.layout];
		const size_t yuv[3] = { place[2], place[0], place[1] };

		if (put_together(image, yuv, begin, false, out) < 0)
			return -1;
		if (picture->texture.n == 3)
			holoserve_rows()->to_luma(*out, begin);
		return 0;
	}
	if ((kind == LIVE_JPEG && image->head.c == 4) || image->head.c == 6)
		return put_together(image, rgb, begin, true, out);
	/* without keys, which go to viewers as key lines */
	if (frame_duplicate(image, out) < 0)
		return -1;
	meta_free(&(*out)->head.meta);
	(*out)->head.meta = (struct meta){ 0 };
	return 0;
}

/* ---- files ---- */

/* The options of the codecs. */
struct compression {
	long quality;
	int purpose;
	bool fast;
};

static const struct opt compression_options[] = {
	{ 0, "quality", "Q", OPT_INTEGER, offsetof(struct compression, quality), NULL, 1, 100 },
	{ 0, "jpeg-for", "WORD", OPT_WORD, offsetof(struct compression, purpose),
	    .words = jpeg_purposes },
	{ 0, "fast", NULL, OPT_FLAG, offsetof(struct compression, fast) },
	{ 0 },
};

static int
save(const struct packer *packer, const struct frame *image, enum live_kind kind, FILE *file)
{
	const char *path = kind == LIVE_JPEG ? "picture.jpg" : "picture.png";
	const struct codec *codec = codec_by_suffix(path);
	const struct compression compression = { packer->options->quality, JPEG_FOR_FRINGES, true };
	const struct save_options wanted = { compression_options, &compression };
	void *options = codec_options_new(codec, &wanted);
	struct saver saver = { .file = file, .path = path, .options = options };
	int status = codec->save(&saver, image);

	codec_options_free(codec, options);
	return status;
}

static int
pack_file(const struct packer *packer, const struct frame *image, enum live_kind kind, size_t lead,
    struct packing *out)
{
	struct text text;

	text_open(&text);
	for (size_t i = 0; i < lead; i++)
		putc(0, text.file);
	if (save(packer, image, kind, text.file) < 0) {
		text_drop(&text);
		return -1;
	}
	out->bytes = (unsigned char *)text_close(&text, &out->n);
	out->n -= lead;
	out->keyframe = true;
	return 0;
}

/* ---- pictures of a video ---- */

/* -1 after fail(); then the encoder is of no more use. */
static int
pack_video(struct packer *packer, const struct frame *image, enum live_kind kind, bool anew,
    size_t lead, struct packing *out)
{
	struct video_encoder **video = &packer->video[kind];
	const struct frame_head *head = &image->head;
	int status;

	if (*video && (anew || (*video)->w != head->w || (*video)->h != head->h))
		video_stop(video);
	if (!*video && video_start(kind, head->w, head->h, &packer->options->video, video) < 0)
		return -1;
	pixel_format_put((*video)->format, image, (*video)->even_w, (*video)->even_h,
	    (*video)->raw);
	status = ffmpeg_write((*video)->ffmpeg, (*video)->raw, (*video)->bytes);
	if (status > 0)
		fail(WHERE, "ffmpeg has ended: %s", ffmpeg_message((*video)->ffmpeg));
	if (status != 0 || read_picture(*video, lead, out) < 0) {
		video_stop(video);
		return -1;
	}
	return 0;
}

/* ---- keys ---- */

static char *
key_lines(const struct packer *packer, const struct picture *picture, enum live_kind kind,
    const struct meta *keys)
{
	const char *range = meta_get(keys, kind == LIVE_LUMA ? "depthcode_range" :
	    "holo_depth_range");
	const bool colour = picture->texture.n == 3;
	const char *place = !picture->textured ? "none" : kind == LIVE_PNG && !colour ? "alpha" :
	    "below";
	struct text text;

	text_open(&text);
	fprintf(text.file, "encoding: %s\nwidth: %zu\nheight: %zu\ntexture: %s\n",
	    live_kind_names[kind], picture->w, picture->h, place);
	if (!strcmp(place, "below"))
		fprintf(text.file, "texture_row: %zu\n", texture_row(picture, kind));
	if (picture->flat)
		fprintf(text.file, "plane: yes\n");
	if (colour)
		fprintf(text.file, "texture_matrix: %s\n",
		    texture_matrices[live_is_video(kind) ? TEXTURE_BT709 : TEXTURE_RGB]);
	if (live_is_video(kind))
		fprintf(text.file, "codec: %s\n", packer->video[kind]->codec);
	if (*picture->unit)
		fprintf(text.file, "length_unit: %s\n", picture->unit);
	if (range && !strcmp(picture->unit, "mm"))
		fprintf(text.file, "depth_range_mm: %s\n", range);
	for (size_t i = 0; i < keys->n; i++) {
		const char *key = keys->entry[i].key, *value = keys->entry[i].value;

		if (!strcmp(key, "holo_layout") && kind == LIVE_H264)
			value = holo_layouts[HOLO_YUV];	/* a video's stairs are luma */
		/* the check changes with every frame */
		if ((!strncmp(key, "holo_", 5) && strcmp(key, "holo_check")) ||
		    !strncmp(key, "depthcode_", 10) || !strcmp(key, "z_axis"))
			fprintf(text.file, "%s: %s\n", key, value);
	}
	return text_close(&text, NULL);
}

int
packing_make(struct packer *packer, struct picture *picture, enum live_kind kind, bool anew,
    size_t lead, struct packing *out)
{
	const struct meta *keys = &picture->keys;
	struct meta of_luma = { 0 };
	struct frame *image;
	int status;

	*out = (struct packing){ 0 };
	if (arrange(picture, kind, &image) < 0)
		return -1;
	status = live_is_video(kind) ? pack_video(packer, image, kind, anew, lead, out) :
	    pack_file(packer, image, kind, lead, out);
	frame_free(image);
	if (status == 0 && kind == LIVE_LUMA) {
		luma_keys(picture, &of_luma);
		keys = &of_luma;
	}
	if (status == 0)
		out->keys = key_lines(packer, picture, kind, keys);
	meta_free(&of_luma);
	if (out->keys)
		return 0;
	free(out->bytes);
	*out = (struct packing){ 0 };
	return -1;
}

void
packing_stop(struct packer *packer)
{
	for (int kind = 0; kind < LIVE_KINDS; kind++)
		video_stop(&packer->video[kind]);
}
