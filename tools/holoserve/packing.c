#include "packing.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "io/codec.h"
#include "io/jpeg_purpose.h"
#include "luma.h"

static bool
is_video(enum live_kind kind)
{
	return kind == LIVE_H264 || kind == LIVE_LUMA;
}

/* Where a texture below begins, so that it shares no block with the depth. */
static size_t
texture_row(const struct picture *picture, enum live_kind kind)
{
	const size_t block = is_video(kind) ? VIDEO_BLOCK : LIVE_BLOCK;

	return (picture->h + block - 1) / block * block;
}

/* ---- what is packed ---- */

/* Three channels of the image in this order, and the texture, if there is one, below the first, or
 * below all; the rows between are the depth's last, and so are those below the others. */
static int
put_together(const struct frame *image, const size_t from[3], size_t begin, bool grey,
    struct frame **out)
{
	const size_t w = image->head.w, h = image->head.h;
	const bool textured = image->head.c > 3;
	struct frame_head head;
	int status;

	if (head_init(&head, w, textured ? begin + h : h, 3, SAMPLE_UCHAR) < 0)
		return -1;
	status = frame_new(&head, out);
	head_free(&head);
	for (size_t c = 0; status == 0 && c < 3; c++)
		for (size_t y = 0; y < (*out)->head.h; y++) {
			bool below = y >= begin && (c == 0 || grey);

			memcpy(frame_row(*out, c, y), below ?
			    frame_row(image, 3, y - begin) :
			    frame_row(image, from[c], y < h ? y : h - 1), w);
		}
	return status;
}

/* Without keys, which are said once. */
static int
plain(const struct frame *image, struct frame **out)
{
	if (frame_duplicate(image, out) < 0)
		return -1;
	meta_free(&(*out)->head.meta);
	(*out)->head.meta = (struct meta){ 0 };
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

		return put_together(image, yuv, begin, false, out);
	}
	return kind == LIVE_JPEG && image->head.c == 4 ?
	    put_together(image, rgb, begin, true, out) : plain(image, out);
}

/* ---- files ---- */

/* What the codecs are asked for. */
struct compression {
	long quality;
	int purpose;
	bool fast;
};

static const struct opt compression_options[] = {
	{ 0, "quality", "Q", OPT_INTEGER, offsetof(struct compression, quality), NULL, 1, 100, NULL,
	    "", NULL },
	{ 0, "jpeg-for", "WORD", OPT_WORD, offsetof(struct compression, purpose), NULL, 0, 0, NULL,
	    "", jpeg_purposes },
	{ 0, "fast", NULL, OPT_FLAG, offsetof(struct compression, fast), NULL, 0, 0, NULL, "",
	    NULL },
	{ 0 },
};

static int
save(const struct packer *packer, const struct frame *image, enum live_kind kind, FILE *file)
{
	const char *path = kind == LIVE_JPEG ? "picture.jpg" : "picture.png";
	const struct codec *codec = codec_by_suffix(path);
	const struct compression compression = { packer->options->quality, JPEG_FOR_FRINGES, true };
	const struct save_options wanted = { compression_options, &compression };
	struct saver saver = { .file = file, .path = path };
	void *options;
	int status;

	if (codec_options_new(codec, &wanted, &options) < 0)
		return -1;
	saver.options = options;
	status = codec->save(&saver, image);
	codec_options_free(codec, options);
	return status;
}

static int
pack_file(const struct packer *packer, const struct frame *image, enum live_kind kind, size_t lead,
    struct packing *out)
{
	struct text text = { 0 };
	int status = text_open(&text) ? 0 : -1;

	for (size_t i = 0; status == 0 && i < lead; i++)
		putc(0, text.file);
	if (status == 0)
		status = save(packer, image, kind, text.file);
	if (status < 0) {
		text_drop(&text);
		return -1;
	}
	out->bytes = (unsigned char *)text_close(&text, &out->n);
	out->n -= out->bytes ? lead : 0;
	out->keyframe = true;
	return out->bytes ? 0 : -1;
}

/* ---- pictures of a video ---- */

static void
stop(struct video_encoder **video)
{
	video_free(*video);
	*video = NULL;
}

static int
pack_video(struct packer *packer, const struct frame *image, enum live_kind kind, bool anew,
    size_t lead, struct packing *out)
{
	struct video_encoder **video = &packer->video[kind];
	const struct frame_head *head = &image->head;
	struct video_picture picture;

	if (*video && (anew || !video_fits(*video, head->w, head->h)))
		stop(video);
	if (!*video && video_start(kind, head->w, head->h, &packer->options->video, video) < 0)
		return -1;
	if (video_encode(*video, image, lead, &picture) < 0) {
		stop(video);
		return -1;
	}
	out->bytes = picture.bytes;
	out->n = picture.n;
	out->keyframe = picture.keyframe;
	return 0;
}

/* ---- keys ---- */

static void
put_keys(const struct meta *keys, enum live_kind kind, FILE *to)
{
	for (size_t i = 0; i < keys->n; i++) {
		const struct meta_entry *entry = &keys->entry[i];

		/* a video's stairs are luma; the check changes with every frame */
		if (!strcmp(entry->key, "holo_layout"))
			fprintf(to, "%s: %s\n", entry->key, kind == LIVE_H264 ?
			    holo_layouts[HOLO_YUV] : entry->value);
		else if ((!strncmp(entry->key, "holo_", 5) && strcmp(entry->key, "holo_check")) ||
		    !strncmp(entry->key, "depthcode_", 10) || !strcmp(entry->key, "z_axis"))
			fprintf(to, "%s: %s\n", entry->key, entry->value);
	}
}

static char *
key_lines(const struct packer *packer, const struct picture *picture, enum live_kind kind,
    const struct meta *keys)
{
	const char *range = meta_get(keys, kind == LIVE_LUMA ? "depthcode_range" :
	    "holo_depth_range");
	const char *place = !picture->textured ? "none" : kind == LIVE_PNG ? "alpha" : "below";
	struct text text = { 0 };

	if (!text_open(&text))
		return NULL;
	fprintf(text.file, "encoding: %s\nwidth: %zu\nheight: %zu\ntexture: %s\n",
	    live_kind_names[kind], picture->w, picture->h, place);
	if (picture->textured && kind != LIVE_PNG)
		fprintf(text.file, "texture_row: %zu\n", texture_row(picture, kind));
	if (is_video(kind))
		fprintf(text.file, "codec: %s\n", video_codec(packer->video[kind]));
	if (*picture->unit)
		fprintf(text.file, "length_unit: %s\n", picture->unit);
	if (range && !strcmp(picture->unit, "mm"))
		fprintf(text.file, "depth_range_mm: %s\n", range);
	put_keys(keys, kind, text.file);
	return text_close(&text, NULL);
}

static int
make_keys(const struct packer *packer, const struct picture *picture, enum live_kind kind,
    struct packing *out)
{
	struct meta keys = { 0 };

	if (kind != LIVE_LUMA)
		out->keys = key_lines(packer, picture, kind, &picture->keys);
	else if (luma_keys(picture, &keys) == 0)
		out->keys = key_lines(packer, picture, kind, &keys);
	meta_free(&keys);
	return out->keys ? 0 : -1;
}

/* ---- all of it ---- */

int
packing_make(struct packer *packer, struct picture *picture, enum live_kind kind, bool anew,
    size_t lead, struct packing *out)
{
	struct frame *image;
	int status;

	*out = (struct packing){ 0 };
	if (arrange(picture, kind, &image) < 0)
		return -1;
	status = is_video(kind) ? pack_video(packer, image, kind, anew, lead, out) :
	    pack_file(packer, image, kind, lead, out);
	frame_free(image);
	if (status == 0 && make_keys(packer, picture, kind, out) == 0)
		return 0;
	free(out->bytes);
	*out = (struct packing){ 0 };
	return -1;
}

void
packing_stop(struct packer *packer)
{
	for (int kind = 0; kind < LIVE_KINDS; kind++)
		stop(&packer->video[kind]);
}
