#include "live_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "codec/video/pixel_format.h"
#include "io/codec.h"

#define SIDE_MOST 65535.0
#define GAP_MOST 64	/* rows between the depth and a texture below */

static const char *const encodings[] = { "jpeg", "png", "h264", "luma", NULL };	/* from
								 * LIVE_JPEG on */
static const char *const textures[] = { "none", "alpha", "below", NULL };

/* ---- key lines ---- */

/* Takes a key away that only the stream has. *out: its word's place in the list. */
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

/* "key: value", or "key:=value", of n bytes. */
static int
add_line(struct meta *meta, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);
	char *key, *value;
	int status;

	if (!colon || colon == line)
		return fail(NULL, "a key line is '%.*s'", n < 60 ? (int)n : 60, line);
	key = strndup(line, (size_t)(colon - line));
	colon += (size_t)(colon + 1 - line) < n && colon[1] == '=' ? 2 : 1;
	while ((size_t)(colon - line) < n && *colon == ' ')
		colon++;
	value = strndup(colon, n - (size_t)(colon - line));
	status = !key || !value ? fail_memory() : meta_set(meta, key, value);
	free(key);
	free(value);
	return status;
}

static int
add_lines(struct meta *meta, const char *text, size_t n)
{
	for (size_t at = 0, length; at < n; at += length + 1) {
		const char *end = memchr(text + at, '\n', n - at);

		length = end ? (size_t)(end - text) - at : n - at;
		if (length > 0 && add_line(meta, text + at, length) < 0)
			return -1;
	}
	return 0;
}

static int
take_texture_row(struct live_keys *keys)
{
	keys->texture_row = keys->h;
	if (!meta_get(&keys->meta, "texture_row"))
		return 0;
	if (take_side(&keys->meta, "texture_row", &keys->texture_row) < 0)
		return -1;
	if (keys->texture_row < keys->h || keys->texture_row > keys->h + GAP_MOST)
		return fail("texture_row", "must be %zu to %zu, not %zu", keys->h,
		    keys->h + GAP_MOST, keys->texture_row);
	return 0;
}

static int
take_keys(struct live_keys *keys)
{
	int encoding, texture = LIVE_NO_TEXTURE;

	if (take_word(&keys->meta, "encoding", encodings, &encoding) < 0 ||
	    take_side(&keys->meta, "width", &keys->w) < 0 ||
	    take_side(&keys->meta, "height", &keys->h) < 0 || take_texture_row(keys) < 0)
		return -1;
	if (meta_get(&keys->meta, "texture") &&
	    take_word(&keys->meta, "texture", textures, &texture) < 0)
		return -1;
	keys->encoding = (enum live_kind)(encoding + LIVE_JPEG);
	keys->texture = (enum live_texture)texture;
	if (live_is_video(keys) && texture == LIVE_ALPHA)
		return fail("texture", "cannot be alpha in a video");
	meta_remove(&keys->meta, "codec");
	if (keys->encoding == LIVE_LUMA)
		return 0;
	if (texture != LIVE_NO_TEXTURE && !meta_get(&keys->meta, "holo_texture"))
		return meta_set(&keys->meta, "holo_texture", "texture");
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

int
live_copy_keys(const struct live_keys *keys, struct live_keys *to)
{
	*to = *keys;
	to->meta = (struct meta){ 0 };
	meta_copy(&to->meta, &keys->meta);
	return to->meta.failed ? -1 : 0;
}

void
live_free_keys(struct live_keys *keys)
{
	meta_free(&keys->meta);
	*keys = (struct live_keys){ 0 };
}

/* ---- pictures ---- */

static size_t
rows(const struct live_keys *keys)
{
	return keys->texture == LIVE_BELOW ? keys->texture_row + keys->h : keys->h;
}

bool
live_is_video(const struct live_keys *keys)
{
	return keys->encoding == LIVE_H264 || keys->encoding == LIVE_LUMA;
}

void
live_coded_size(const struct live_keys *keys, size_t *w, size_t *h)
{
	*w = keys->w + keys->w % 2;
	*h = rows(keys) + rows(keys) % 2;
}

size_t
live_picture_most(const struct live_keys *keys)
{
	/* what is not compressible grows by less than a quarter, and has a few texts */
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

int
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
	/* it is only read */
	loader.file = fmemopen((void *)(uintptr_t)picture->bytes, picture->n, "rb");
	if (!loader.file)
		return fail_errno(path, "cannot be read");
	status = (*codec)->load(&loader, out);
	if ((*codec)->load_end)
		(*codec)->load_end(&loader);
	fclose(loader.file);
	return status < 0 ? -1 : 0;
}

static int
check_shape(const struct live_keys *keys, const struct frame_head *head)
{
	if (head->w != keys->w || head->h != rows(keys))
		return fail(NULL, "it has %zu x %zu pixels, not %zu x %zu", head->w, head->h,
		    keys->w, rows(keys));
	if (head->type != SAMPLE_UCHAR || head->c != (keys->texture == LIVE_ALPHA ? 4 : 3))
		return fail(NULL, "it has %zu channels of %s, not %d of uchar", head->c,
		    sample_name(head->type), keys->texture == LIVE_ALPHA ? 4 : 3);
	return 0;
}

/* The mean of the three colours of the texture below, or a video's luma, as channel a of the
 * depth's. */
static int
split_below(const struct live_keys *keys, struct frame *whole, struct frame **out)
{
	struct frame_head head;
	int status;

	if (head_init(&head, keys->w, keys->h, 4, SAMPLE_UCHAR) < 0)
		return -1;
	status = head_set_channels(&head, "r g b a") < 0 ? -1 : frame_new(&head, out);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t y = 0; y < keys->h; y++) {
		const unsigned char *colour[3];
		unsigned char *a = frame_row(*out, 3, y);

		for (size_t c = 0; c < 3; c++) {
			memcpy(frame_row(*out, c, y), frame_row(whole, c, y), whole->head.w);
			colour[c] = frame_row(whole, c, keys->texture_row + y);
		}
		for (size_t x = 0; x < whole->head.w; x++)
			a[x] = live_is_video(keys) ? colour[0][x] :
			    (unsigned char)((colour[0][x] + colour[1][x] + colour[2][x] + 1) / 3);
	}
	return 0;
}

/* The stream's keys, and of the picture's own what it was, which is its alone. */
static int
set_keys(const struct live_keys *keys, const struct live_head *head, const struct meta *own,
    struct meta *meta)
{
	const char *check = meta_get(own, "holo_check");

	meta_copy(meta, &keys->meta);
	if (check && !meta_get(meta, "holo_check") && meta_set(meta, "holo_check", check) < 0)
		return -1;
	if (meta_setf(meta, "frame_number", "%" PRIu64, head->number) < 0 ||
	    meta_setf(meta, "sent_s", "%.6f", (double)head->sent_us * 1e-6) < 0)
		return -1;
	if (head->captured_us == 0)
		return 0;
	return meta_setf(meta, "time_s", "%.6f", (double)head->captured_us * 1e-6);
}

/* The rows between depth and texture are left out. */
static int
close_up(const struct live_keys *keys, const struct frame *whole, struct frame **out)
{
	struct frame_head head;
	int status;

	if (head_init(&head, keys->w, 2 * keys->h, 1, SAMPLE_USHORT) < 0)
		return -1;
	status = head_set_channels(&head, "luma") < 0 ? -1 : frame_new(&head, out);
	head_free(&head);
	for (size_t y = 0; status == 0 && y < 2 * keys->h; y++)
		memcpy(frame_row(*out, 0, y), frame_row(whole, 0,
		    y < keys->h ? y : keys->texture_row + y - keys->h),
		    keys->w * sizeof(uint16_t));
	return status;
}

/* Makes the whole picture, which it frees, what the stream's keys say. */
static int
finish(const struct live_keys *keys, const struct live_head *head, struct frame *whole,
    struct frame **out)
{
	struct meta meta = { 0 };
	int status = set_keys(keys, head, &whole->head.meta, &meta);

	if (status == 0 && keys->texture == LIVE_BELOW) {
		status = keys->encoding == LIVE_LUMA ? close_up(keys, whole, out) :
		    split_below(keys, whole, out);
		frame_free(whole);
	} else if (status == 0) {
		*out = whole;
	} else {
		frame_free(whole);
	}
	if (status == 0) {
		meta_free(&(*out)->head.meta);
		(*out)->head.meta = meta;
		return 0;
	}
	meta_free(&meta);
	return -1;
}

int
live_decode(const struct live_keys *keys, const struct live_picture *picture, const char *path,
    struct frame **out)
{
	struct frame *whole = NULL;

	*out = NULL;
	if (live_check_kind(keys, &picture->head, path) < 0 || load(picture, path, &whole) < 0)
		return -1;
	if (check_shape(keys, &whole->head) < 0)
		frame_free(whole);
	else if (finish(keys, &picture->head, whole, out) == 0)
		return 0;
	fail_prefix(path);
	return -1;
}

int
live_take_planes(const struct live_keys *keys, const struct live_head *picture,
    const struct pixel_format *format, const unsigned char *planes, const char *path,
    struct frame **out)
{
	const bool luma = keys->encoding == LIVE_LUMA;
	struct frame_head head;
	struct frame *whole;
	size_t w, h;
	int status;

	*out = NULL;
	live_coded_size(keys, &w, &h);
	if (head_init(&head, keys->w, rows(keys), luma ? 1 : 3,
	    luma ? SAMPLE_USHORT : SAMPLE_UCHAR) < 0)
		return -1;
	status = head_set_channels(&head, luma ? "luma" : "r g b") < 0 ? -1 :
	    frame_new(&head, &whole);
	head_free(&head);
	if (status < 0)
		return -1;
	pixel_format_get(format, planes, w, h, whole);
	if (finish(keys, picture, whole, out) == 0)
		return 0;
	fail_prefix(path);
	return -1;
}
