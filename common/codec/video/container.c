/*
 * What a video's container holds besides pictures: a frame's keys as tags, ffmpeg's words for
 * tracks of their own, and the check sum by which a reader knows that the file is complete.
 */
#include "codec/video/video.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/text.h"
#include "frame/frame.h"
#include "frame/key_lines.h"
#include "io/codec.h"

/* ---- comparing ---- */

static bool
is_of_a_picture(const char *key)
{
	return !strcmp(key, "name") || !strcmp(key, "time_s") || !strcmp(key, "holo_check");
}

static bool
is_command(const char *key)
{
	return !strncmp(key, "cmd.", 4);
}

/* Keys that say what samples mean. depth_range says what a scene's depths are, not by which range
 * they were coded. */
static bool
is_meaning(const char *key)
{
	static const char *const start[] = { "holo_", "depth", "sample_", "z_axis", "max_value",
		"length_unit", "invalid", NULL };

	for (const char *const *word = start; *word && strcmp(key, "depth_range"); word++)
		if (!strncmp(key, *word, strlen(*word)))
			return true;
	return false;
}

static bool
differs(const struct meta *other, const struct meta_entry *entry)
{
	const char *value = meta_get(other, entry->key);

	return !value || strcmp(value, entry->value) != 0;
}

/* Looks for keys of a in b. */
static enum tags_relation
compare_to(const struct meta *a, const struct meta *b, const char **key)
{
	enum tags_relation relation = TAGS_EQUAL;

	for (size_t i = 0; i < a->n; i++) {
		const struct meta_entry *entry = &a->entry[i];

		if (is_of_a_picture(entry->key) || is_command(entry->key) || !differs(b, entry))
			continue;
		if (relation == TAGS_EQUAL)
			*key = entry->key;
		relation = TAGS_DIFFER;
		if (is_meaning(entry->key)) {
			*key = entry->key;
			return TAGS_MEANING_DIFFERS;
		}
	}
	return relation;
}

enum tags_relation
tags_compare(const struct meta *first, const struct meta *later, const char **key)
{
	enum tags_relation relation = compare_to(later, first, key);
	const char *other = NULL;

	if (relation == TAGS_MEANING_DIFFERS)
		return relation;
	if (compare_to(first, later, &other) > relation) {
		*key = other;
		return compare_to(first, later, &other);
	}
	return relation;
}

/* ---- writing ---- */

/* What ffmpeg's metadata text would read otherwise stands behind a backslash. */
static void
put_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (strchr("=;#\\\n", *text))
			putc('\\', to);
		putc(*text, to);
	}
}

static void
put_tag(FILE *to, const char *key, const char *value)
{
	put_escaped(to, key);
	putc('=', to);
	put_escaped(to, value);
	putc('\n', to);
}

/* The lines that other formats hold as text: channels, spacing, unit and keys. */
static int
put_lines(const struct frame_head *head, FILE *to)
{
	char *text = head_to_text(head), *rest = text, *line;

	if (!text)
		return -1;
	while ((line = strsep(&rest, "\n"))) {
		char *key, *value;

		if (keyline_split(line, &key, &value))
			put_tag(to, key, value);
	}
	free(text);
	return 0;
}

static int
put_first_keys(const struct meta *first, const struct meta *second, FILE *to)
{
	struct text names;
	FILE *file = text_open(&names);
	char *list;

	if (!file)
		return -1;
	for (size_t i = 0; i < first->n; i++)
		if (strcmp(first->entry[i].key, "time_s") != 0 &&
		    (is_of_a_picture(first->entry[i].key) ||
		    (!is_command(first->entry[i].key) && differs(second, &first->entry[i]))))
			fprintf(file, "%s ", first->entry[i].key);
	list = text_close(&names, NULL);
	if (!list)
		return -1;
	if (*list) {
		list[strlen(list) - 1] = '\0';
		put_tag(to, TAGS_FIRST_KEY, list);
	}
	free(list);
	return 0;
}

int
tags_write(const char *path, const struct frame_head *head, const struct meta *second, size_t w,
    size_t h, const char *levels, FILE *to)
{
	fputs(";FFMETADATA1\n", to);
	if (put_lines(head, to) < 0 || (second && put_first_keys(&head->meta, second, to) < 0))
		return -1;
	if (w != head->w || h != head->h)
		fprintf(to, VIDEO_SIZE_KEY "=%zu %zu\n", head->w, head->h);
	if (*levels)
		put_tag(to, LEVELS_KEY, levels);
	return fflush(to) == 0 ? 0 : fail_errno(path, "temporary file cannot be written");
}

/* ---- reading ---- */

void
tags_forget_first(struct meta *meta, const char *list)
{
	char word[256];

	for (size_t i = 0; list && meta_word(list, i, word, sizeof(word)); i++)
		meta_remove(meta, word);
}

unsigned
tracks_bits(const struct encoder *encoder, const struct frame_head *head, size_t c)
{
	return c + encoder->tracks < head->c ? 0 :
	    encoder->mask && c + encoder->tracks == head->c ? 1 : 8;
}

/* A word with a track's number behind it. */
static const char *
of_track(struct tracks *tracks, const char *word, size_t track)
{
	char *option = tracks->option[tracks->n++];

	snprintf(option, sizeof(*tracks->option), "%s:v:%zu", word, track);
	return option;
}

static void
make_filter(const struct encoder *encoder, size_t w, size_t h, struct tracks *tracks)
{
	static const char cut[] = "[%c]crop=%zu:%zu:0:%zu,extractplanes=y,"
	    "scale=sws_dither=none,format=gray%s[%s];";
	size_t room = sizeof(tracks->filter);
	char *to = tracks->filter;
	static const char *const outputs[] = { "", "[b]", "[b][c]", "[b][c][d]", "[b][c][d][e]" };
	int n = snprintf(to, room, "[0:v]split=%zu[a]%s;", 1 + encoder->tracks,
	    outputs[encoder->tracks]);

	if (encoder->mask)
		n += snprintf(to + n, room - (size_t)n, cut, 'b', w, h, h,
		    ",lut=c0=gt(val\\,127)", "mask");
	for (size_t i = encoder->mask; i < encoder->tracks; i++) {
		char name[8] = "texture";

		if (encoder->colour)
			snprintf(name, sizeof(name), "t%c", (char)('b' + i));
		n += snprintf(to + n, room - (size_t)n, cut, (char)('b' + i), w, h, (1 + i) * h,
		    "", name);
	}
	if (encoder->colour)
		n += snprintf(to + n, room - (size_t)n, "%smergeplanes=0x001020:yuv444p,"
		    "setparams=range=full,scale=in_range=full:out_range=full:"
		    "flags=bicubic+accurate_rnd,format=%s[texture];",
		    encoder->mask ? "[tc][td][te]" : "[tb][tc][td]",
		    encoder->texture_crf ? "yuv420p" : "yuv444p");
	snprintf(to + n, room - (size_t)n, "[a]crop=%zu:%zu:0:0[v]", w, h);
}

/* The words of track i, the mask or the texture. */
static size_t
add_track(const struct encoder *encoder, size_t i, bool mask, struct tracks *tracks,
    const char **words)
{
	const char *const all[] = { "-map", mask ? "[mask]" : "[texture]",
		of_track(tracks, "-pix_fmt", i), mask || !encoder->colour ? "gray" :
		encoder->texture_crf ? "yuv420p" : "yuv444p", of_track(tracks, "-c", i), "libx264",
		of_track(tracks, "-disposition", i), "0", of_track(tracks, "-metadata:s", i),
		mask ? "title=mask" : "title=texture" };
	size_t n = sizeof(all) / sizeof(*all);

	memcpy(words, all, sizeof(all));
	if (!mask && encoder->preset) {
		words[n++] = of_track(tracks, "-preset", i);
		words[n++] = encoder->preset;
	}
	words[n++] = of_track(tracks, mask || !encoder->texture_crf ? "-qp" : "-crf", i);
	words[n++] = mask || !encoder->texture_crf ? "0" : encoder->texture_crf;
	return n;
}

size_t
tracks_words(struct tracks *tracks, const struct encoder *encoder, size_t w, size_t h,
    const char **words)
{
	const char *const one[] = { "-map", "0:v", "-pix_fmt",
		encoder->shown ? "yuv420p" : encoder->format->name };
	const char *const several[] = { "-filter_complex", tracks->filter, "-map", "[v]",
		"-pix_fmt:v:0", encoder->format->name, "-disposition:v:0", "default" };
	size_t n = sizeof(several) / sizeof(*several);

	if (!encoder->tracks) {
		memcpy(words, one, sizeof(one));
		n = sizeof(one) / sizeof(*one);
		memcpy(words + n, encoder->words, encoder->n * sizeof(*words));
		return n + encoder->n;
	}
	tracks->n = 0;
	make_filter(encoder, w, h, tracks);
	memcpy(words, several, sizeof(several));
	/* the options are the first track's alone */
	for (size_t i = 0; i < encoder->n; i++)
		words[n++] = *encoder->words[i] != '-' ? encoder->words[i] :
		    !strcmp(encoder->words[i], "-c:v") ? of_track(tracks, "-c", 0) :
		    of_track(tracks, encoder->words[i], 0);
	for (size_t i = 1; i <= (size_t)encoder->mask + encoder->texture; i++)
		n += add_track(encoder, i, encoder->mask && i == 1, tracks, words + n);
	return n;
}

#define TEXT "fringepipe crc-32 "
#define TEXT_BYTES (sizeof(TEXT) - 1 + 8)
#define HEAD_MOST 8
#define VOID 0xec		/* Matroska's element of no meaning */

struct file {
	const char *path;
	int descriptor;
	uint64_t size;
	bool matroska, boxes, nut;
};

static uint64_t
big_endian(const unsigned char *bytes, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *bytes++;
	return v;
}

static int
read_at(const struct file *file, void *to, size_t n, uint64_t at, size_t *got)
{
	ssize_t more = pread(file->descriptor, to, n, (off_t)at);

	*got = more > 0 ? (size_t)more : 0;
	return more < 0 ? fail_errno(file->path, "cannot be read") : 0;
}

static int
look_at(const char *path, FILE *stream, struct file *file)
{
	unsigned char start[32];
	struct stat status;
	const char *container;
	size_t n;

	*file = (struct file){ .path = path, .descriptor = fileno(stream) };
	if (fstat(file->descriptor, &status) < 0)
		return fail_errno(path, "cannot be read");
	file->size = (uint64_t)status.st_size;
	if (read_at(file, start, sizeof(start), 0, &n) < 0)
		return -1;
	container = video_container(start, n);
	file->matroska = container && !strcmp(container, "matroska");
	file->boxes = container && !strcmp(container, "mov");
	file->nut = container && !strcmp(container, "nut");
	return 0;
}

/* ---- the sum ---- */

static int
sum_bytes(const struct file *file, uint64_t n, uint32_t *sum)
{
	unsigned char bytes[65536];
	uLong crc = crc32(0, NULL, 0);
	size_t got = 1;

	for (uint64_t at = 0; at < n && got; at += got) {
		size_t most = n - at < sizeof(bytes) ? (size_t)(n - at) : sizeof(bytes);

		if (read_at(file, bytes, most, at, &got) < 0)
			return -1;
		crc = crc32(crc, bytes, (uInt)got);
	}
	*sum = (uint32_t)crc;
	return got || !n ? 0 : fail(file->path, "has become shorter while it was read");
}

/* What stands before the text: an element's or a box's head. Returns its length. */
static size_t
element_head(const struct file *file, unsigned char head[HEAD_MOST])
{
	if (file->matroska) {
		head[0] = VOID;
		head[1] = 0x80 | TEXT_BYTES;
		return 2;
	}
	memcpy(head, "\0\0\0\0free", 8);
	head[3] = 8 + TEXT_BYTES;
	return 8;
}

int
intact_seal(const char *path, FILE *stream)
{
	unsigned char element[HEAD_MOST + TEXT_BYTES + 1];
	struct file file;
	uint32_t sum;
	size_t n;

	if (look_at(path, stream, &file) < 0)
		return -1;
	if (!file.matroska && !file.boxes)
		return file.nut ? 0 : fail(path, "ffmpeg ended before the video");
	if (sum_bytes(&file, file.size, &sum) < 0)
		return -1;
	n = element_head(&file, element);
	snprintf((char *)element + n, TEXT_BYTES + 1, TEXT "%08x", sum);
	n += TEXT_BYTES;
	return pwrite(file.descriptor, element, n, (off_t)file.size) == (ssize_t)n ? 0 :
	    fail_errno(path, "cannot be written");
}

static int
check_sum(const struct file *file)
{
	unsigned char head[HEAD_MOST], element[HEAD_MOST + TEXT_BYTES + 1];
	size_t n = element_head(file, head) + TEXT_BYTES, got;
	unsigned stated;
	uint32_t sum;

	if (file->size < n)
		return 0;
	if (read_at(file, element, n, file->size - n, &got) < 0)
		return -1;
	element[got] = '\0';
	if (got < n || memcmp(element, head, n - TEXT_BYTES) != 0 ||
	    sscanf((char *)element + n - TEXT_BYTES, TEXT "%8x", &stated) != 1)
		return 0;
	if (sum_bytes(file, file->size - n, &sum) < 0)
		return -1;
	return sum == stated ? 0 : fail(file->path, "is damaged: its check sum is %08x, and "
	    "was %08x when it was written", sum, stated);
}

/* ---- elements and boxes ---- */

/* The length of a number of Matroska's, by its first byte: 1 to 8. */
static size_t
vint_length(unsigned char first)
{
	size_t n = 1;

	while (n < 8 && !(first & (0x80 >> (n - 1))))
		n++;
	return n;
}

/* The size of the element or box that starts with these n bytes, with its head; UINT64_MAX: the
 * bytes are too few. *open: one has no size, and reaches to the end; that of Matroska has the size
 * of its head, so that what it holds comes next. */
static uint64_t
piece_size(bool boxes, const unsigned char *head, size_t n, bool *open)
{
	size_t id, length;
	uint64_t size;

	if (boxes) {
		size = n < 8 ? UINT64_MAX : big_endian(head, 4);
		*open |= size == 0;
		return size == 0 ? UINT64_MAX - 1 : size != 1 ? size : n < 16 ? UINT64_MAX :
		    big_endian(head + 8, 8);
	}
	id = n ? vint_length(head[0]) : 0;
	length = n > id ? vint_length(head[id]) : 0;
	if (!length || n < id + length)
		return UINT64_MAX;
	size = big_endian(head + id, length) & ((UINT64_C(1) << 7 * length) - 1);
	*open |= size == (UINT64_C(1) << 7 * length) - 1;
	return size == (UINT64_C(1) << 7 * length) - 1 ? id + length : size + id + length;
}

/* Is what begins at this byte no part of the video? ffmpeg stops there without a word. */
static int
check_piece(const char *path, bool boxes, const unsigned char *head, uint64_t at, bool open)
{
	static const char ebml[] = "\x1a\x45\xdf\xa3", segment[] = "\x18\x53\x80\x67";

	if (at && (boxes ? !memcmp(head + 4, "ftyp", 4) : !memcmp(head, ebml, 4)))
		return fail(path, "another file begins at byte %llu, and would not be read: "
		    "ffmpeg -f concat joins videos", (unsigned long long)at);
	return boxes || open || *head == VOID || !memcmp(head, ebml, 4) ||
	    !memcmp(head, segment, 4) ? 0 : fail(path, "bytes behind its end, from %llu on, are "
	    "no video", (unsigned long long)at);
}

/* The sizes of elements or boxes lead to the file's end. */
static int
check_pieces(const struct file *file)
{
	unsigned char head[16];
	bool open = false;
	uint64_t size;
	size_t n;

	for (uint64_t at = 0; at < file->size; at += size) {
		if (read_at(file, head, sizeof(head), at, &n) < 0)
			return -1;
		size = piece_size(file->boxes, head, n, &open);
		if (n > 8 && check_piece(file->path, file->boxes, head, at, open) < 0)
			return -1;
		if (size < 2 || size > file->size - at)
			return open ? 0 : fail(file->path, "ends too early: inside what begins at "
			    "byte %llu", (unsigned long long)at);
	}
	return 0;
}

int
intact_look(const char *path, struct intact *intact, const unsigned char *bytes, size_t n)
{
	const size_t all = intact->n + n, most = sizeof(intact->last);
	const size_t gone = all > most ? all - most : 0, old = gone < intact->n ? gone : intact->n;
	char text[TEXT_BYTES + 1] = "";
	unsigned stated;
	uint64_t size;

	for (size_t i = 0, some; i < n; i += some, intact->at += some) {
		some = intact->left < n - i ? (size_t)intact->left : n - i;
		intact->left -= some;
		if (some)	/* inside an element */
			continue;
		some = 1;
		intact->head[intact->heads++] = bytes[i];
		size = piece_size(false, intact->head, intact->heads, &intact->open);
		if (size == UINT64_MAX)
			continue;
		if (check_piece(path, false, intact->head, intact->at + 1 - intact->heads,
		    intact->open) < 0)
			return -1;
		intact->left = size - intact->heads;
		intact->heads = 0;
	}
	intact->sum = (uint32_t)crc32(intact->sum, intact->last, (uInt)old);
	intact->sum = (uint32_t)crc32(intact->sum, bytes, (uInt)(gone - old));
	intact->n -= old;
	memmove(intact->last, intact->last + old, intact->n);
	memcpy(intact->last + intact->n, bytes + (gone - old), n - (gone - old));
	intact->n += n - (gone - old);
	memcpy(text, intact->last + 2, TEXT_BYTES);
	return n > 0 || intact->last[0] != VOID || sscanf(text, TEXT "%8x", &stated) != 1 ||
	    stated == intact->sum ? 0 : fail(path, "is damaged: its check sum is %08x, and was "
	    "%08x when it was written", intact->sum, stated);
}

int
intact_check(const char *path, FILE *stream)
{
	struct file file;

	if (look_at(path, stream, &file) < 0)
		return -1;
	if (!file.matroska && !file.boxes)
		return 0;
	return check_pieces(&file) < 0 ? -1 : check_sum(&file);
}

/* Tags that containers and encoders set themselves. */
static const char *const foreign[] = { "encoder", "duration", "major_brand", "minor_version",
	"compatible_brands", "creation_time", "handler_name", "vendor_id", "language", "bps",
	"number_of_frames", "number_of_bytes", "disposition", "r_frame_rate", NULL };

const char *
video_container(const unsigned char *start, size_t n)
{
	static const char nut[] = "nut/multimedia container";

	return n >= 4 && !memcmp(start, "\x1a\x45\xdf\xa3", 4) ? "matroska" :
	    n >= 12 && !memcmp(start + 4, "ftyp", 4) ? "mov" :
	    n >= sizeof(nut) && !memcmp(start, nut, sizeof(nut)) ? "nut" :
	    n >= 10 && !memcmp(start, "YUV4MPEG2 ", 10) ? "y4m" : NULL;
}

static bool
is_foreign(const char *key)
{
	for (const char *const *name = foreign; *name; name++)
		if (!strcmp(key, *name))
			return true;
	return !strncmp(key, "_statistics", 11);
}

void
video_put_tag(FILE *lines, char *key, const char *value)
{
	for (char *p = key; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (*key && !is_foreign(key))
		keyline_put(lines, key, value);
}

void
video_free(struct video *video)
{
	free(video->lines);
	video->lines = NULL;
}
