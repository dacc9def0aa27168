/* Reading a video: is the file whole, the head of its frames by tags and tracks, frames of raw
 * pictures. */
#include "codec/video/video.h"

#include <ctype.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/process.h"
#include "base/text.h"
#include "frame/key_lines.h"

/* ---- is a file as it was written? ---- */

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

/* The same of a Matroska that comes piece by piece, zero at first; n = 0: its end. */
struct intact {
	uint64_t at, left;		/* bytes before, and of the element at hand */
	unsigned char head[16];		/* of the next element */
	size_t heads;
	bool open;
	uint32_t sum;
	unsigned char last[2 + 26];	/* bytes that are not summed yet: maybe the element */
	size_t n;
};

static int
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

/* Refuses a file with another sum, one whose last element or box is cut, which ffmpeg may read
 * without a word, and without its tags, and one with another file joined to its end. -1 after
 * fail(path, ...). */
static int
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
	return word_find(foreign, key) >= 0 || !strncmp(key, "_statistics", 11);
}

void
video_put_tag(FILE *lines, char *key, const char *value)
{
	for (char *p = key; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (*key && !is_foreign(key))
		keyline_put(lines, key, value);
}

static void
video_free(struct video *video)
{
	free(video->lines);
	video->lines = NULL;
}

/* ---- reading it ---- */

/* A track behind the first. */
struct track {
	const char *name;		/* of the channel: mask (0 and 1) or texture */
	size_t planes;			/* 3: a texture in colour, with texture_u and texture_v */
	unsigned char *picture;
};

struct reading {
	struct video video;
	struct frame_head head;
	const char *container;		/* ffmpeg's demuxer of it */
	bool file;			/* a Matroska or MP4 file, which the child opens */
	bool looked;			/* the first pictures of it were read */
	struct ffmpeg *ffmpeg;		/* the child that decodes; NULL: pictures are raw */
	struct raw_stream *raw;		/* that pictures come from */
	/* what is looked at while a child is fed: path, the head of a NUT, the sum of Matroska */
	const char *path;
	struct raw_stream *nut;
	struct intact intact;
	double start_s, stamp_s;	/* time stamps of the first picture, and the last */
	/* what the child has told so far: format and size of the last picture, ... */
	char shape[64];
	size_t heard;			/* streams, */
	bool exact[VIDEO_TRACKS];	/* which are tracks that lose nothing, */
	bool changes, interlaced;
	char range[8], matrix[16], curve[16];	/* by ffmpeg's names; empty: no child tells */
	bool unsound;			/* what it was fed is cut or damaged */
	bool colours;			/* pictures of r g b are coded as YUV */
	unsigned char *picture;
	struct track track[VIDEO_TRACKS];	/* of the last channels, in this order */
	size_t tracks, behind;			/* behind: the channels of all of them */
	double first_s;			/* time_s of the first frame; NaN: no tag says it */
	char *first_keys;		/* names of keys that later frames do not have; or NULL */
	char levels[LEVELS_TEXT + 1];	/* the first frame's as written; empty: not known */
};

/* ---- the head ---- */

static const char *
names_of(const struct pixel_format *format)
{
	return format->kind == PIXEL_GREY ? "luma" :
	    format->kind == PIXEL_YUV ? "luma chroma_u chroma_v" :
	    pixel_format_channels(format) == 4 ? "r g b a" : "r g b";
}

/* The value of a key line; NULL where there is none. Points into lines. */
static const char *
line_value(const char *lines, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = lines; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n) && !strncmp(line + n, ":=", 2))
			return line + n + 2;
	}
	return NULL;
}

/* The name of a channel that has a track of its own; NULL: it has none. */
static const char *
track_name(const char *word, size_t length)
{
	static const char *const names[] = { "mask", "texture" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && !strncmp(word, names[i], length))
			return names[i];
	return NULL;
}

/* Were pictures written as r g b, and coded as YUV? */
static bool
have_colours(const struct video *video)
{
	const char *names = line_value(video->lines, "channels");

	return video->format->kind == PIXEL_YUV && names && !strncmp(names, "r g b", 5) &&
	    (!names[5] || names[5] == '\n');
}

/* The channels of the first track: a video of one plane whose format has colour planes says so by
 * its one name. Notes which ones, the last by their names, are in tracks behind it. */
static size_t
count_channels(struct reading *reading)
{
	const struct video *video = &reading->video;
	const char *names = line_value(video->lines, "channels");
	size_t n = 0, length = 0;

	for (const char *word = names; word && *word && *word != '\n'; word += length) {
		const char *name;

		word += strspn(word, " ");
		length = strcspn(word, " \n");
		name = n > 0 ? track_name(word, length) : NULL;
		if (n > 0 && length == 9 && !strncmp(word, "texture_", 8) && reading->tracks &&
		    !strcmp(reading->track[reading->tracks - 1].name, "texture"))
			reading->track[reading->tracks - 1].planes++;
		else if (length && !name)
			reading->tracks = 0;
		else if (length && reading->tracks < VIDEO_TRACKS)
			reading->track[reading->tracks++] = (struct track){ .name = name,
				.planes = 1 };
		n += length > 0;
	}
	for (size_t i = 0; i < reading->tracks; i++) {
		/* one plane or three */
		reading->track[i].planes = reading->track[i].planes == 3 ? 3 : 1;
		reading->behind += reading->track[i].planes;
	}
	return n && video->format->kind == PIXEL_YUV && n - reading->behind == 1 ? 1 :
	    pixel_format_channels(video->format);
}

static int
check_tracks(const char *path, const struct reading *reading)
{
	static const char *const ordinal[VIDEO_TRACKS] = { "second", "third" };

	for (size_t i = 0; i < reading->tracks; i++) {
		const char *name = reading->track[i].name;

		if (!reading->video.track[i].fits)
			return fail(path, "the channel %s is missing: the video has no %s track of "
			    "the same size any more, or tracks in another order", name,
			    ordinal[i]);
		if (reading->track[i].planes == 3 &&
		    reading->video.track[i].format->kind != PIXEL_YUV)
			return fail(path, "the %s track, the texture in colour, was coded again "
			    "without colours", ordinal[i]);
		if (!strcmp(name, "mask") && !reading->video.track[i].exact)
			return fail(path, "the %s track, the mask, was coded again, maybe with "
			    "loss, or tracks have another order", ordinal[i]);
	}
	return 0;
}

/* Frames are the picture's upper left part where the writer padded it. */
static int
crop(const char *path, struct reading *reading)
{
	struct frame_head *head = &reading->head;
	struct numbers size;

	if (meta_numbers(&head->meta, VIDEO_SIZE_KEY, &size) < 0)
		return -1;
	if (size.n) {
		bool fits = size.n == 2 && size.v[0] >= 1 && size.v[1] >= 1 &&
		    size.v[0] <= (double)head->w && size.v[1] <= (double)head->h &&
		    size.v[0] + 2 > (double)head->w && size.v[1] + 2 > (double)head->h;

		if (fits) {
			head->w = (size_t)size.v[0];
			head->h = (size_t)size.v[1];
		}
		numbers_free(&size);
		if (!fits)
			return fail(path, "key " VIDEO_SIZE_KEY " is %s, and pictures are %zux%zu: "
			    "the video was scaled or cropped", meta_get(&head->meta,
			    VIDEO_SIZE_KEY), head->w, head->h);
	}
	meta_remove(&head->meta, VIDEO_SIZE_KEY);
	return 0;
}

static int
make_head(const char *path, struct reading *reading)
{
	const struct video *video = &reading->video;
	unsigned bits = video->format->bits;
	struct frame_head *head = &reading->head;
	size_t channels = count_channels(reading), n = reading->behind, used;
	const char *first;
	char names[80];

	used = (size_t)snprintf(names, sizeof(names), "%s", channels == 1 ? "luma" :
	    names_of(video->format));
	for (size_t i = 0; i < reading->tracks; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, " %s%s",
		    reading->track[i].name, reading->track[i].planes == 3 ?
		    " texture_u texture_v" : "");
	if (check_tracks(path, reading) < 0 ||
	    head_init(head, video->w, video->h, channels + n, bits > 8 ? SAMPLE_USHORT :
	    SAMPLE_UCHAR) < 0 || head_set_channels(head, names) < 0 ||
	    head_from_text(head, video->lines, strlen(video->lines)) < 0 || crop(path, reading) < 0)
		return -1;
	meta_remove(&head->meta, "max_value");
	if (bits > 8 && bits < 16 &&
	    meta_setf(&head->meta, "max_value", "%u", (1U << bits) - 1) < 0)
		return -1;
	snprintf(reading->levels, sizeof(reading->levels), "%s",
	    meta_get(&head->meta, LEVELS_KEY) ? meta_get(&head->meta, LEVELS_KEY) : "");
	meta_remove(&head->meta, LEVELS_KEY);
	meta_remove(&head->meta, VIDEO_RANGE_KEY);
	first = meta_get(&head->meta, TAGS_FIRST_KEY);
	reading->first_keys = first ? must_strdup(first) : NULL;
	meta_remove(&head->meta, TAGS_FIRST_KEY);
	return meta_number(&head->meta, "time_s", NAN, &reading->first_s);
}

/* Of which range levels are: by the first picture where it tells, else by what the file says. */
static int
find_range(const char *path, struct reading *reading)
{
	const struct video *video = &reading->video;
	struct frame_head *head = &reading->head;
	enum levels_found found;

	if (reading->colours && !*reading->matrix)
		warn(path, "does not say how its colours are coded as YUV: by BT.709 of limited "
		    "range, it is assumed");
	if (video->format->kind == PIXEL_RGB || reading->colours)
		return 0;
	found = levels_compare(video->format, reading->picture, video->w, head->w, head->h,
	    reading->levels);
	switch (found) {
	case LEVELS_SAME:
		if (video->limited)
			warn(path, "says that its levels are of limited range, but they are those "
			    "that were written, of full range");
		return 0;
	case LEVELS_STRETCHED:
		warn(path, "another program took the video's levels for those of limited range "
		    "(16 to 235 in 8 bits), and stretched them: they come as they are");
		return meta_set(&head->meta, VIDEO_RANGE_KEY, "stretched");
	case LEVELS_NEGATED:
		warn(path, "another program negated the video's levels: they come as they are");
		return meta_set(&head->meta, VIDEO_RANGE_KEY, "negated");
	case LEVELS_TURNED:
		warn(path, "another program mirrored or turned the video's pictures: they come as "
		    "they are");
		return 0;
	case LEVELS_OTHER:
		warn(path, "the first picture is not the one that was written: the video was cut, "
		    "or another program changed its pictures");
		return 0;
	case LEVELS_UNKNOWN:
		if (!video->limited)
			return 0;
		break;
	case LEVELS_LIMITED:
		break;
	}
	warn(path, "the video's levels are of limited range (16 to 235 in 8 bits)%s: they come as "
	    "they are", video->limited ? "" : ", though it says full range");
	return meta_set(&head->meta, VIDEO_RANGE_KEY, "limited");
}

/* ---- tracks ---- */

static int
end(struct ffmpeg **running)
{
	struct ffmpeg *ffmpeg = *running;

	*running = NULL;
	return ffmpeg_end(ffmpeg);
}

/* What ffmpeg tells of the streams of its input, and of each picture of the first. */
static void
hear(void *arg, const char *line)
{
	struct reading *reading = arg;
	const char *format = strstr(line, " fmt:"), *size = strstr(line, " s:"), *word;
	char shape[sizeof(reading->shape)];

	if (!strncmp(line, "[info] Output #", 15))
		reading->heard = SIZE_MAX / 2;
	if (!strncmp(line, "[info]   Stream #", 17) && strstr(line, ": Video: ") &&
	    reading->heard++ - 1 < VIDEO_TRACKS)
		reading->exact[reading->heard - 2] = strstr(line, ": Video: ffv1") ||
		    strstr(line, "High 4:4:4 Predictive");
	if (strncmp(line, "[Parsed_showinfo", 16) != 0)
		return;
	word = strstr(line, "color_range:");
	if (word) {
		(void)sscanf(word, "color_range:%7s color_space:%15s color_primaries:%*s "
		    "color_trc:%15s", reading->range, reading->matrix, reading->curve);
	}
	if (!format || !size)
		return;
	snprintf(shape, sizeof(shape), "%.*s %.*s", (int)strcspn(format + 5, " "), format + 5,
	    (int)strcspn(size + 1, " "), size + 1);
	reading->changes |= *reading->shape && strcmp(shape, reading->shape) != 0;
	memcpy(reading->shape, shape, sizeof(shape));
	word = strstr(line, " i:");
	reading->interlaced |= word && (word[3] == 'T' || word[3] == 'B');
}

/* What makes the child's pictures others than they seem. */
static int
check_heard(const char *path, const struct reading *reading)
{
	if (reading->changes)
		return fail(path, "pictures are not %zux%zu of one format all through",
		    reading->video.w, reading->video.h);
	if (reading->interlaced)
		return fail(path, "is an interlaced video: rows of a picture are of two times");
	return !strcmp(reading->curve, "smpte2084") || !strcmp(reading->curve, "arib-std-b67") ?
	    fail(path, "is an HDR video (%s): its samples are no linear measure",
	    reading->curve) : 0;
}

/* Is what goes to the child whole? It may make something of a file that is cut or damaged. */
static int
look(void *arg, const unsigned char *bytes, size_t n)
{
	struct reading *reading = arg;

	int status = reading->nut ? raw_stream_look(reading->nut, bytes, n) :
	    intact_look(reading->path, &reading->intact, bytes, n);

	reading->unsound |= status < 0;
	return status;
}

/*
 * A child that decodes up to this many tracks behind the first, and writes all of them as raw NUT.
 * It opens a Matroska or MP4 file itself, and decodes it by as many threads as it likes; else it is
 * fed, decodes a picture at a time, and does not wait for 20 of them to learn the rate. It is told
 * nothing more of haste: ffmpeg's options against delay lose pictures. More threads would let the
 * writer of raw pictures keep back one each. Stamps that do not rise, as 2000 frames a second have
 * in Matroska, are moved on by a microsecond; the filter that does it keeps one picture back.
 */
static int
start_child(struct loader *loader, struct reading *reading, size_t tracks)
{
	const struct pipe_start *pipe = loader->pipe;
	const bool fed = !reading->file;
	size_t logged = 0;
	const unsigned char *log = reading->nut && pipe ? raw_stream_log(reading->nut, &logged) :
	    NULL;
	const int fd = pipe ? pipe->fd : fileno(loader->file);
	const char *words[] = { "ffmpeg", "-nostdin", "-v", "level+info", "-hide_banner",
		"-nostats", "-xerror", "-err_detect", "+crccheck+bitstream+buffer+explode",
		"-noautorotate", "-thread_type", fed ? "slice" : "slice+frame",
		"-fpsprobesize", fed ? "0" : "-1",
		/* what ffmpeg takes it for by its content could be a playlist, which names files */
		"-f", reading->container, "-format_whitelist", reading->container,
		"-protocol_whitelist", "file,pipe", "-i", fed ? "pipe:0" : FFMPEG_FILE,
		"-filter:v:0", "showinfo=checksum=0", "-autoscale", "0", "-fps_mode",
		"passthrough", "-enc_time_base", "1/1000000", "-bsf:v",
		"setts=ts=max(TS\\,PREV_OUTDTS+1)", "-c:v", "rawvideo", "-threads", "1",
		"-max_interleave_delta", fed ? "10M" : "0", "-flush_packets", "1", "-f", "nut",
		"-map", "0:v:0", "-map", "0:v:1?", "-map", "0:v:2?", "pipe:1", NULL };
	const size_t last = sizeof(words) / sizeof(*words) - 6 + 2 * tracks;
	const size_t left = pipe && logged < pipe->n ? pipe->n - logged : 0;	/* pushed back */
	unsigned char *start = must_alloc(logged + left, 1);
	int status = fed && !pipe && lseek(fd, 0, SEEK_SET) < 0 ?
	    fail_errno(loader->path, "cannot be read") : 0;

	words[last] = "pipe:1";
	words[last + 1] = NULL;
	if (status == 0)
		status = ffmpeg_start(loader->path, words, fed ? FFMPEG_FILTERS : FFMPEG_WRITES,
		    fed ? -1 : fd, -1, &reading->ffmpeg);
	if (logged)
		memcpy(start, log, logged);
	if (status == 0 && fread(start + logged, 1, left, loader->file) < left)
		status = fail_errno(loader->path, "cannot be read");
	if (status == 0)
		status = ffmpeg_feed(reading->ffmpeg, fed ? fd : -1, start, logged + left, look,
		    hear, reading);
	free(start);
	return status;
}

static int
open_child(struct loader *loader, struct reading *reading, size_t tracks)
{
	struct raw_source from = { .path = loader->path, .container = "nut" };
	struct fail_record failure;
	int status;

	if (start_child(loader, reading, tracks) < 0)
		return -1;
	from.ffmpeg = reading->ffmpeg;
	status = raw_stream_open(&from, &reading->video, &reading->raw);
	if (status < 0 || *ffmpeg_message(reading->ffmpeg)) {
		if (reading->unsound)
			return -1;
		fail_take(&failure);	/* why the child gives nothing says more */
		if (strstr(ffmpeg_message(reading->ffmpeg), "matches no streams"))
			return fail(loader->path, "holds no pictures");
		if (end(&reading->ffmpeg) == 0)
			fail_put(&failure);
		return -1;
	}
	if (status == 0)
		return fail(loader->path, "has pictures of ffmpeg's format %.*s, which is not read",
		    (int)strcspn(reading->shape, " "), reading->shape);
	for (size_t i = 0; i < VIDEO_TRACKS; i++)
		reading->video.track[i].exact = reading->exact[i];
	return 0;
}

/* Raw pictures as they come, and compressed ones by a child. */
static int
open_pictures(struct loader *loader, struct reading *reading)
{
	struct raw_source from = { .path = loader->path, .file = loader->file,
		.words = loader->raw };
	unsigned char start[32];
	bool whole;
	int status = 0;

	if (!loader->raw && loader->pipe) {
		from.container = video_container(loader->pipe->byte, loader->pipe->n);
	} else if (!loader->raw) {
		from.container = video_container(start,
		    fread(start, 1, sizeof(start), loader->file));
		rewind(loader->file);
		if (!from.container)
			return fail(loader->path, "was replaced while it was read: it is no video "
			    "now");
	}
	reading->container = from.container;
	whole = from.container && (*from.container == 'm');	/* matroska, mov */
	reading->file = whole && !loader->pipe;
	if (!whole)
		status = raw_stream_open(&from, &reading->video, &reading->raw);
	if (status != 0)
		return status < 0 ? -1 : 0;
	video_free(&reading->video);
	reading->nut = reading->raw;
	reading->raw = NULL;
	if (reading->file && intact_check(loader->path, loader->file) < 0)
		return -1;
	return open_child(loader, reading, VIDEO_TRACKS);
}

/* The next picture of a track: 1, 0 where there is none, -1 after fail(). A message of ffmpeg's
 * means that what follows is made up. */
static int
next_of_track(struct loader *loader, struct reading *reading, size_t track, unsigned char *picture)
{
	double stamp_s;
	int status = raw_stream_next(reading->raw, track, 1 + reading->tracks, picture, &stamp_s);

	if (track == 0 && status == 1)
		reading->stamp_s = stamp_s;
	if (!reading->ffmpeg)
		return status;
	if (*ffmpeg_message(reading->ffmpeg)) {
		if (!reading->unsound)
			fail_clear();	/* a picture that is cut is the child's end */
		return end(&reading->ffmpeg) < 0 ? -1 : status;
	}
	if (check_heard(loader->path, reading) < 0)
		return -1;
	reading->video.limited = !strcmp(reading->range, "tv");
	return status;
}

/* Memory for a picture of each track. */
static int
make_pictures(struct reading *reading)
{
	const struct video *video = &reading->video;
	size_t bytes;

	for (size_t i = 0; i <= reading->tracks; i++) {
		unsigned char **picture = i ? &reading->track[i - 1].picture : &reading->picture;

		if (pixel_format_bytes(i ? video->track[i - 1].format : video->format, video->w,
		    video->h, &bytes) < 0)
			return -1;
		free(*picture);
		*picture = malloc(bytes);
		if (!*picture)
			return fail_memory();
	}
	return 0;
}

/* Is the second track, without a tag that says so, a mask by its first picture? It is coded
 * without loss and holds 0 and 1, of which 1 must be there. 1, 0, or -1 after fail(). */
static int
looks_like_mask(struct loader *loader, struct reading *reading)
{
	const struct track *track = &reading->track[0];
	unsigned char most = 0;
	int status;

	reading->tracks = 1;
	status = make_pictures(reading) < 0 ? -1 :
	    next_of_track(loader, reading, 0, reading->picture);
	if (status == 1)
		status = next_of_track(loader, reading, 1, track->picture);
	for (size_t i = 0; status == 1 && i < reading->video.w * reading->video.h; i++)
		most = track->picture[i] > most ? track->picture[i] : most;
	reading->tracks = 0;
	return status < 0 ? -1 : most == 1;
}

/* A copy into MP4 keeps the tracks and loses the tags, which name them. */
static int
find_untagged(struct loader *loader, struct reading *reading)
{
	int mask;

	if (line_value(reading->video.lines, "channels") || !reading->video.track[0].fits ||
	    pixel_format_channels(reading->video.format) == 4)
		return 0;
	mask = !reading->file || !reading->video.track[0].exact ? 0 :
	    looks_like_mask(loader, reading);
	if (mask < 0)
		return -1;
	warn(loader->path, mask ? "has no tags that name its tracks: the second one, of 0 and 1, "
	    "is taken for the channel mask" : "has another track of the same size, and no tags "
	    "that name it: the first is read alone (ffmpeg -map 0:v:1 takes the second one out)");
	reading->looked = reading->file && reading->video.track[0].exact;
	if (mask)
		reading->track[reading->tracks++].name = "mask";
	return 0;
}

static int
begin(struct loader *loader)
{
	struct reading *reading = must_alloc(1, sizeof(*reading));

	loader->state = reading;
	reading->start_s = NAN;
	reading->path = loader->path;
	if (open_pictures(loader, reading) < 0)
		return -1;
	reading->colours = have_colours(&reading->video);
	if (find_untagged(loader, reading) < 0 || make_head(loader->path, reading) < 0)
		return -1;
	/* tracks that nobody reads would cost time, and a short one would be waited for */
	if (reading->file && (reading->looked || reading->video.tracks > reading->tracks)) {
		ffmpeg_kill(reading->ffmpeg);
		raw_stream_close(reading->raw);
		video_free(&reading->video);
		reading->ffmpeg = NULL;
		reading->raw = NULL;
		reading->heard = 0;
		if (open_child(loader, reading, reading->tracks) < 0)
			return -1;
	}
	return make_pictures(reading);
}

/* The next picture of all tracks, likewise. */
static int
next_picture(struct loader *loader, struct reading *reading)
{
	int status = next_of_track(loader, reading, 0, reading->picture);

	for (size_t i = 0; i < reading->tracks && status >= 0; i++) {
		struct track *track = &reading->track[i];
		int other = next_of_track(loader, reading, 1 + i, track->picture);

		if (other >= 0 && other != status)
			return fail(loader->path, "its %s track, the %s, has %s frames than the "
			    "first", i ? "third" : "second", track->name,
			    other ? "more" : "fewer");
		status = other;
	}
	return status == 0 && reading->ffmpeg ? end(&reading->ffmpeg) : status;
}

/* The coefficients of red and blue of the matrices of colours, by ffmpeg's names; else those of
 * BT.601. */
static const struct {
	const char *name;
	double red, blue;
} matrices[] = {
	{ "bt709", 0.2126, 0.0722 }, { "bt2020nc", 0.2627, 0.0593 }, { "smpte240m", 0.212, 0.087 },
	{ "fcc", 0.30, 0.11 }, { "", 0.2126, 0.0722 }, { NULL, 0.299, 0.114 }
};

/* Takes the keys of the first frame away; *list is TAGS_FIRST_KEY's value. */
static void
tags_forget_first(struct meta *meta, const char *list)
{
	char word[256];

	for (size_t i = 0; list && meta_word(list, i, word, sizeof(word)); i++)
		meta_remove(meta, word);
}

/* Makes the picture at hand a frame. */
static int
get_frame(const char *path, const struct reading *reading, struct frame *frame)
{
	const struct video *video = &reading->video;
	size_t c = frame->head.c - reading->behind, i = 0;
	unsigned most = 0;

	pixel_format_get(video->format, reading->picture, video->w, video->h, frame, 0, c);
	if (reading->colours) {
		while (matrices[i].name && strcmp(matrices[i].name, reading->matrix) != 0)
			i++;
		pixel_format_to_rgb(video->format, frame, strcmp(reading->range, "pc") != 0,
		    matrices[i].red, matrices[i].blue);
	}
	for (i = 0; i < reading->tracks; i++) {
		const struct track *track = &reading->track[i];

		pixel_format_get(video->track[i].format, track->picture, video->w, video->h, frame,
		    c, track->planes);
		for (size_t k = 0; *track->name == 'm' && k < video->w * frame->head.h; k++)
			most = track->picture[k] > most ? track->picture[k] : most;
		c += track->planes;
	}
	return most > 1 ? fail(path, "the second track, the mask, has a sample of %u, and must be "
	    "0 or 1", most) : 0;
}

static void
set_time(struct reading *reading, size_t n, struct meta *meta)
{
	const double first_s = isnan(reading->first_s) ? 0 : reading->first_s;
	const double even_s = first_s + (double)n / reading->video.fps;
	double time_s = reading->stamp_s;

	/* of frames without times we write none, and ffmpeg counts all the same */
	if (isnan(time_s) || (isnan(reading->first_s) &&
	    line_value(reading->video.lines, "channels")))
		return;
	if (n == 0)
		reading->start_s = time_s - first_s;
	time_s -= reading->start_s;
	/* Matroska rounds each stamp to a millisecond */
	meta_set_number(meta, "time_s", fabs(time_s - even_s) < 1.001e-3 ? even_s : time_s);
}

int
video_load(struct loader *loader, struct frame **out)
{
	struct reading *reading;
	int status;

	*out = NULL;
	if (!loader->state && begin(loader) < 0)
		return -1;
	reading = loader->state;
	status = next_picture(loader, reading);
	if (status <= 0)
		return status < 0 || loader->frames ? status :
		    fail(loader->path, "is a video without frames");
	if (!loader->frames && find_range(loader->path, reading) < 0)
		return -1;
	if (frame_new(&reading->head, out) < 0)
		return -1;
	if (get_frame(loader->path, reading, *out) == 0) {
		set_time(reading, loader->frames, &(*out)->head.meta);
		if (loader->frames == 0)
			tags_forget_first(&reading->head.meta, reading->first_keys);
		return 1;
	}
	frame_replace(out, NULL);
	return -1;
}

void
video_load_end(struct loader *loader)
{
	struct reading *reading = loader->state;

	ffmpeg_kill(reading->ffmpeg);
	raw_stream_close(reading->raw);
	raw_stream_close(reading->nut);
	video_free(&reading->video);
	head_free(&reading->head);
	free(reading->picture);
	for (size_t i = 0; i < VIDEO_TRACKS; i++)
		free(reading->track[i].picture);
	free(reading->first_keys);
	free(reading);
	loader->state = NULL;
}
