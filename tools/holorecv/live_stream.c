/*
 * The messages of a stream of holoserve(5): key lines, pictures that become frames, and the decoder
 * of videos.
 */
#include "holorecv.h"

#include <inttypes.h>
#include <stdio.h>

#include "codec/video/ffmpeg.h"
#include "codec/video/pixel_format.h"
#include "image/texture.h"
#include "io/codec.h"

#define SIDE_MOST 65535.0
#define GAP_MOST 64	/* rows between the depth and a texture below */

static const char *const encodings[] = { "jpeg", "png", "h264", "luma", NULL };	/* from 1 on */
static const char *const matrices[] = { "rgb", "bt709", NULL };
static const char *const textures[] = { "none", "alpha", "below", NULL };

/* ---- key lines ---- */

/* Removes a key that only the stream has. *out: the index of its word in the list. */
static int
take_word(struct meta *meta, const char *key, const char *const *words, int *out)
{
	const char *value = meta_get(meta, key);

	for (*out = 0; value && words[*out]; (*out)++)
		if (!strcmp(value, words[*out])) {
			meta_remove(meta, key);
			return 0;
		}
	return fail(key, value ? "cannot be '%.60s' here" : "is missing in the key lines", value);
}

static int
take_side(struct meta *meta, const char *key, size_t *out)
{
	double v;

	if (meta_number(meta, key, 0, &v) < 0)
		return -1;
	if (!(v >= 1 && v <= SIDE_MOST && v == (double)(size_t)v))
		return fail(key, "must be a whole number from 1 to %.0f, not '%.60s'", SIDE_MOST,
		    meta_get(meta, key) ? meta_get(meta, key) : "");
	*out = (size_t)v;
	meta_remove(meta, key);
	return 0;
}

/* Adds lines "key: value", or "key:=value". */
static int
add_lines(struct meta *meta, const char *text, size_t n)
{
	for (size_t at = 0, length; at < n; at += length + 1) {
		const char *line = text + at, *end = memchr(line, '\n', n - at), *colon;
		char *key;
		int status;

		length = end ? (size_t)(end - line) : n - at;
		if (length == 0)
			continue;
		colon = memchr(line, ':', length);
		if (!colon || colon == line)
			return fail(NULL, "a key line is '%.*s'", length < 60 ? (int)length : 60,
			    line);
		key = must_format("%.*s", (int)(colon - line), line);
		colon += colon + 1 < line + length && colon[1] == '=' ? 2 : 1;
		while (colon < line + length && *colon == ' ')
			colon++;
		status = meta_setf(meta, key, "%.*s", (int)(line + length - colon), colon);
		free(key);
		if (status < 0)
			return -1;
	}
	return 0;
}

static int
take_keys(struct live_keys *keys)
{
	int encoding, texture = LIVE_NO_TEXTURE, matrix;

	if (take_word(&keys->meta, "encoding", encodings, &encoding) < 0 ||
	    take_side(&keys->meta, "width", &keys->w) < 0 ||
	    take_side(&keys->meta, "height", &keys->h) < 0)
		return -1;
	keys->texture_row = keys->h;
	if (meta_get(&keys->meta, "texture_row") &&
	    take_side(&keys->meta, "texture_row", &keys->texture_row) < 0)
		return -1;
	if (keys->texture_row < keys->h || keys->texture_row > keys->h + GAP_MOST)
		return fail("texture_row", "must be %zu to %zu, not %zu", keys->h,
		    keys->h + GAP_MOST, keys->texture_row);
	if (meta_get(&keys->meta, "texture") &&
	    take_word(&keys->meta, "texture", textures, &texture) < 0)
		return -1;
	keys->encoding = (enum live_kind)(encoding + LIVE_JPEG);
	keys->texture = (enum live_texture)texture;
	if (live_is_video(keys->encoding) && texture == LIVE_ALPHA)
		return fail("texture", "cannot be alpha in a video");
	meta_remove(&keys->meta, "codec");
	keys->colour = texture == LIVE_BELOW && meta_get(&keys->meta, "texture_matrix");
	if (keys->colour && (take_word(&keys->meta, "texture_matrix", matrices, &matrix) < 0 ||
	    (keys->encoding != LIVE_LUMA &&
	    (meta_set(&keys->meta, "holo_texture_place", "below") < 0 ||
	    meta_set(&keys->meta, "holo_texture_matrix", matrices[matrix]) < 0))))
		return -1;
	if (keys->encoding == LIVE_LUMA || texture == LIVE_NO_TEXTURE ||
	    meta_get(&keys->meta, "holo_texture"))
		return 0;
	meta_set(&keys->meta, "holo_texture", "texture");
	return 0;
}

int
live_read_keys(const unsigned char *text, size_t n, struct live_keys *keys)
{
	*keys = (struct live_keys){ 0 };
	if (n > LIVE_KEYS_MOST)
		return fail(NULL, "sends key lines of more than %zu bytes", LIVE_KEYS_MOST);
	if (n > 0 && memchr(text, '\0', n))
		return fail(NULL, "sends key lines with zeros");
	if (add_lines(&keys->meta, (const char *)text, n) == 0 && take_keys(keys) == 0)
		return 0;
	live_free_keys(keys);
	return -1;
}

void
live_free_keys(struct live_keys *keys)
{
	meta_free(&keys->meta);
	*keys = (struct live_keys){ 0 };
}

/* ---- pictures ---- */

/* The rows of the whole picture. */
static size_t
rows(const struct live_keys *keys)
{
	return keys->texture == LIVE_BELOW ? keys->texture_row + keys->h : keys->h;
}

size_t
live_picture_most(const struct live_keys *keys)
{
	/* incompressible data grows by less than a quarter, and there are a few texts */
	return ((size_t)1 << 20) + 5 * keys->w * rows(keys);
}

int
live_read_picture(const unsigned char *message, size_t n, struct live_picture *picture)
{
	*picture = (struct live_picture){ 0 };
	if (live_read_head(message, n, &picture->head) < 0)
		return fail(NULL, "sends a picture without the head of holoserve(5)");
	picture->bytes = message + LIVE_HEAD_BYTES;
	picture->n = n - LIVE_HEAD_BYTES;
	return 0;
}

/* Fails if a picture is not of the encoding that the keys name. */
static int
live_check_kind(const struct live_keys *keys, const struct live_head *head, const char *path)
{
	return head->kind == keys->encoding ? 0 : fail(path, "it is of kind %d, but the stream is "
	    "%s", (int)head->kind, live_kind_names[keys->encoding]);
}

static int
load(const struct live_picture *picture, const char *path, struct frame **out)
{
	struct loader loader = { .path = path };
	const struct codec *const *codec = codecs;
	int status;

	while (*codec && strcasecmp((*codec)->name, live_kind_names[picture->head.kind]) != 0)
		codec++;
	if (!*codec)
		return fail(path, "%s is not read here", live_kind_names[picture->head.kind]);
	if (!(*codec)->sniff(picture->bytes, picture->n < 512 ? picture->n : 512))
		return fail(path, "it is no %s", live_kind_names[picture->head.kind]);
	/* fmemopen() does not write to a file that is only read */
	loader.file = fmemopen((void *)(uintptr_t)picture->bytes, picture->n, "rb");
	if (!loader.file)
		return fail_errno(path, "cannot be read");
	status = (*codec)->load(&loader, out);
	if ((*codec)->load_end)
		(*codec)->load_end(&loader);
	fclose(loader.file);
	return status < 0 ? -1 : 0;
}

/* The stream's keys, the holo_check of the picture's own ones, and its number and times. */
static int
set_keys(const struct live_keys *keys, const struct live_head *head, const struct meta *own,
    struct meta *meta)
{
	const char *check = meta_get(own, "holo_check");

	meta_copy(meta, &keys->meta);
	if (check && !meta_get(meta, "holo_check") && meta_set(meta, "holo_check", check) < 0)
		return -1;
	meta_setf(meta, "frame_number", "%" PRIu64, head->number);
	meta_setf(meta, "sent_s", "%.6f", (double)head->sent_us * 1e-6);
	if (head->captured_us == 0)
		return 0;
	meta_setf(meta, "time_s", "%.6f", (double)head->captured_us * 1e-6);
	return 0;
}

static const char *
colour_names(const struct live_keys *keys)
{
	return keys->encoding == LIVE_LUMA ? "luma chroma_u chroma_v" : "r g b";
}

/* The picture without the rows between depth and texture: of a Holoimage r g b, and as a the mean
 * of the three colours of the texture below, or its luma in a video; of luma both in one column. A
 * texture in colour begins where encoders put it. */
static int
close_up(const struct live_keys *keys, const struct frame *whole, struct frame **out)
{
	const size_t w = keys->w, h = keys->h, below = keys->texture_row;
	const size_t begin = (h / TEXTURE_BLOCK + 1) * TEXTURE_BLOCK;

	if (keys->colour) {
		if (frame_new_named(w, begin + h, 3, whole->head.type, colour_names(keys), out) < 0)
			return -1;
		for (size_t c = 0; c < 3; c++)
			for (size_t y = 0; y < begin + h; y++)
				memcpy(frame_row(*out, c, y), frame_row(whole, c, y < h ? y :
				    y < begin ? h - 1 : below + y - begin),
				    w * sample_size(whole->head.type));
		return 0;
	}
	if (keys->encoding == LIVE_LUMA) {
		if (frame_new_named(w, 2 * h, 1, SAMPLE_USHORT, "luma", out) < 0)
			return -1;
		for (size_t y = 0; y < 2 * h; y++)
			memcpy(frame_row(*out, 0, y),
			    frame_row(whole, 0, y < h ? y : below + y - h), w * sizeof(uint16_t));
		return 0;
	}
	if (frame_new_named(w, h, 4, SAMPLE_UCHAR, "r g b a", out) < 0)
		return -1;
	for (size_t y = 0; y < h; y++) {
		const unsigned char *colour[3];

		for (size_t c = 0; c < 3; c++) {
			memcpy(frame_row(*out, c, y), frame_row(whole, c, y), w);
			colour[c] = frame_row(whole, c, below + y);
		}
		holorecv_rows()->texture_row(colour, live_is_video(keys->encoding),
		    frame_row(*out, 3, y), w);
	}
	return 0;
}

/* Turns the whole picture, which it frees, into the frame that the stream's keys describe. path:
 * for messages. */
static int
finish(const struct live_keys *keys, const struct live_head *head, struct frame *whole,
    const char *path, struct frame **out)
{
	struct meta meta = { 0 };
	int status = set_keys(keys, head, &whole->head.meta, &meta);

	*out = NULL;
	if (status == 0 && keys->texture == LIVE_BELOW) {
		status = close_up(keys, whole, out);
	} else if (status == 0) {
		*out = whole;
		whole = NULL;
	}
	frame_free(whole);
	if (status == 0) {
		meta_free(&(*out)->head.meta);
		(*out)->head.meta = meta;
		return 0;
	}
	meta_free(&meta);
	fail_prefix(path);
	return -1;
}

int
live_decode(const struct live_keys *keys, const struct live_picture *picture, const char *path,
    struct frame **out)
{
	const size_t channels = keys->texture == LIVE_ALPHA ? 4 : 3;
	const struct frame_head *head;
	struct frame *whole = NULL;

	*out = NULL;
	if (live_check_kind(keys, &picture->head, path) < 0 || load(picture, path, &whole) < 0)
		return -1;
	head = &whole->head;
	if (head->w != keys->w || head->h != rows(keys))
		fail(path, "it has %zu x %zu pixels, not %zu x %zu", head->w, head->h, keys->w,
		    rows(keys));
	else if (head->type != SAMPLE_UCHAR || head->c != channels)
		fail(path, "it has %zu channels of %s, not %zu of uchar", head->c,
		    sample_name(head->type), channels);
	else
		return finish(keys, &picture->head, whole, path, out);
	frame_free(whole);
	return -1;
}

/* ---- the decoder of a video: an ffmpeg that runs as long as pictures come ---- */

#define PATIENCE_MS 10000	/* for one picture */
#define WAIT_MS 300		/* for a picture that is due; after that it is kept back */

/* A unit that marks the end of a picture (ITU-T H.264, 7.3.2.4): without it the decoder would wait
 * for the next one. */
static const unsigned char delimiter[] = { 0, 0, 0, 1, 9, 0xf0 };

/* The size of a video's pictures is even. */
static size_t
even(size_t n)
{
	return n + n % 2;
}

bool
video_is_there(void)
{
	bool there = ffmpeg_check(NULL) == 0;

	fail_clear();
	return there;
}

void
video_stop(struct video *video)
{
	ffmpeg_kill(video->ffmpeg);
	free(video->raw);
	free(video->keyframe);
	for (size_t i = 0; i < video->n; i++)
		live_free_keys(&video->sent[i].keys);
	*video = (struct video){ .server = video->server };
}

static int
start(struct video *video, const struct live_keys *keys)
{
	char check[120];
	const char *const words[] = { "ffmpeg", "-nostdin", "-v", "error", "-xerror",
		"-err_detect", "+crccheck+bitstream+buffer+explode", "-protocol_whitelist", "pipe",
		"-format_whitelist", "h264", "-probesize", "32", "-fpsprobesize", "0",
		"-flags", "low_delay", "-threads", "1", "-f", "h264", "-i", "pipe:0", "-vf", check,
		"-autoscale", "0", "-fps_mode", "passthrough", "-pix_fmt",
		/* samples keep their coded levels, from 0 to the largest */
		keys->encoding == LIVE_LUMA ? "yuv420p10le" : "yuvj420p",
		"-flush_packets", "1", "-f", "rawvideo", "pipe:1", NULL };

	video_stop(video);
	video->kind = keys->encoding;
	video->w = even(keys->w);
	video->h = even(rows(keys));
	video->format = pixel_format_find(keys->encoding == LIVE_LUMA ? "yuv420p10le" : "yuvj420p");
	if (pixel_format_bytes(video->format, video->w, video->h, &video->bytes) < 0)
		return fail(video->server, "pictures of %zu x %zu are too large", video->w,
		    video->h);
	video->raw = malloc(video->bytes);
	if (!video->raw)
		return fail_memory();
	/* the output has no sizes: a picture of another size would shift all later ones */
	snprintf(check, sizeof(check),
	    "crop=w=if(eq(iw\\,%zu)*eq(ih\\,%zu)\\,iw\\,-1):h=ih:exact=1", video->w, video->h);
	if (ffmpeg_start(video->server, words, FFMPEG_FILTERS, -1, -1, &video->ffmpeg) < 0)
		return -1;
	ffmpeg_set_patience(video->ffmpeg, PATIENCE_MS);
	return 0;
}

static int
child_failed(struct video *video, const char *path)
{
	const char *message = ffmpeg_message(video->ffmpeg);

	if (strstr(message, "Parsed_crop"))
		return fail(path, "it is not of %zu x %zu pixels", video->w, video->h);
	return fail(path, "ffmpeg: %s", *message ? message : "has ended");
}

/* Writes n bytes, and reads what comes of the next picture meanwhile and within wait_ms. */
static int
pass(struct video *video, const void *from, size_t n, int wait_ms, const char *path)
{
	size_t got;
	int status = ffmpeg_filter(video->ffmpeg, from, n, video->raw + video->got,
	    video->bytes - video->got, &got, wait_ms);

	video->got += got;
	if (status < 0)
		return -1;
	return status > 0 && video->got < video->bytes ? child_failed(video, path) : 0;
}

static int
send_bytes(struct video *video, const unsigned char *bytes, size_t n, const char *path)
{
	return pass(video, bytes, n, 0, path) < 0 ? -1 :
	    pass(video, delimiter, sizeof(delimiter), 0, path);
}

int
video_send(struct video *video, const struct live_keys *keys, const struct live_picture *picture,
    bool unwanted, const char *path)
{
	const bool keyframe = picture->head.flags & LIVE_KEYFRAME;
	struct video_sent *sent;

	if (live_check_kind(keys, &picture->head, path) < 0)
		return -1;
	if (!video->ffmpeg || video->kind != keys->encoding || video->w != even(keys->w) ||
	    video->h != even(rows(keys))) {
		if (!keyframe)
			return fail(path, "it needs one that has not come");
		if (start(video, keys) < 0)
			return -1;
	}
	if (keyframe) {
		unsigned char *copy = realloc(video->keyframe, picture->n ? picture->n : 1);

		if (!copy)
			return fail_memory();
		video->keyframe = memcpy(copy, picture->bytes, picture->n);
		video->keyframe_bytes = picture->n;
	}
	if (video->n >= VIDEO_BEHIND)
		return fail(path, "ffmpeg keeps %d pictures back", VIDEO_BEHIND);
	sent = &video->sent[video->n];
	*sent = (struct video_sent){ *keys, picture->head, unwanted };
	meta_copy(&sent->keys.meta, &keys->meta);
	video->n++;
	return send_bytes(video, picture->bytes, picture->n, path);
}

/* Sends the last keyframe again until the next picture is there. Closing the input instead would
 * make the decoder complain about the delimiter. */
static int
drive_out(struct video *video, const char *path)
{
	while (video->got < video->bytes) {
		if (video->n > VIDEO_BEHIND)
			return fail(path, "ffmpeg does not decode it");
		video->sent[video->n++] = (struct video_sent){ .unwanted = true };
		if (send_bytes(video, video->keyframe, video->keyframe_bytes, path) < 0 ||
		    pass(video, NULL, 0, WAIT_MS, path) < 0)
			return -1;
	}
	return 0;
}

/* Takes the picture that came back, which is the oldest of those that were sent; luma becomes a
 * frame as depthenc(1) writes it. */
static int
take_oldest(struct video *video, const char *path, struct live_head *head, struct frame **out)
{
	struct video_sent sent = video->sent[0];
	const bool luma = sent.keys.encoding == LIVE_LUMA, one = luma && !sent.keys.colour;
	struct frame *whole;
	int status = 1;

	video->got = 0;
	memmove(video->sent, video->sent + 1, --video->n * sizeof(sent));
	*head = sent.head;
	if (*ffmpeg_message(video->ffmpeg)) {
		status = child_failed(video, path);
	} else if (!sent.unwanted) {
		status = frame_new_named(sent.keys.w, rows(&sent.keys), one ? 1 : 3,
		    luma ? SAMPLE_USHORT : SAMPLE_UCHAR,
		    one ? "luma" : colour_names(&sent.keys), &whole);
		if (status == 0) {
			pixel_format_get(video->format, video->raw, video->w, video->h, whole,
			    0, whole->head.c);
			status = finish(&sent.keys, &sent.head, whole, path, out);
		}
		status = status < 0 ? -1 : 1;
	}
	live_free_keys(&sent.keys);
	return status;
}

int
video_take(struct video *video, bool ended, const char *path, struct live_head *head,
    struct frame **out)
{
	bool wanted = false;

	*out = NULL;
	for (size_t i = 0; i < video->n; i++)
		wanted |= !video->sent[i].unwanted;
	if (!wanted && ended)
		return 0;
	if (video->got < video->bytes && video->n > video->behind &&
	    pass(video, NULL, 0, WAIT_MS, path) < 0)
		return -1;
	if (ended && drive_out(video, path) < 0)
		return -1;
	if (video->n > 0 && video->got == video->bytes)
		return take_oldest(video, path, head, out);
	if (video->n > video->behind)
		video->behind++;
	return 0;
}
