/*
 * Raw pictures one after another, as cameras' programs and ffmpeg write them to a pipe: YUV4MPEG2
 * (y4m), NUT whose pictures are not compressed, and samples without any head (--raw). No more is
 * read than the picture at hand takes, so that each one goes on when its last byte has come.
 * The layout of NUT is that of its specification (ffmpeg.org/~michael/nut.txt), version 3 and 4;
 * the codes of its pixel formats are ffmpeg's.
 */
#include "codec/video/video.h"

#include <math.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/text.h"
#include "frame/samples.h"

#define LINE_MOST 512			/* bytes of a line of y4m */
#define PACKET_MOST ((size_t)16 << 20)	/* bytes of NUT's headers: as many as a header of NRRD */
#define NUMBER_MOST 16			/* bytes of a number of NUT: 10 hold 64 bits */
#define LOG_STEP ((size_t)1 << 16)	/* bytes by which what was read grows */
#define STREAMS_MOST 16			/* of a NUT: more are no camera's */
#define CODES 256			/* the first byte of a frame */
#define ELISIONS_MOST 128		/* beginnings of frames that are left out of them */

/* What the first byte of a frame tells of it. */
struct frame_code {
	uint64_t flags, size_factor, size, stream, reserved, elision;
	int64_t delta;
};

enum {
	NUT_CODED_PTS = 8, NUT_STREAM = 16, NUT_SIZE = 32, NUT_CHECKSUM = 64, NUT_RESERVED = 128,
	NUT_SIDE_DATA = 256, NUT_ELISION = 1024, NUT_MATCH_TIME = 2048, NUT_CODED = 4096,
	NUT_INVALID = 8192
};

/* A stream's time base in seconds, and its clock. */
struct nut_stream {
	double second;
	uint64_t shift;
	int64_t time;
};

enum raw_kind { RAW_HEADLESS, RAW_Y4M, RAW_NUT };

struct raw_stream {
	enum raw_kind kind;
	const char *path;
	FILE *file;			/* where bytes come from; NULL: from the child */
	struct ffmpeg *ffmpeg;
	size_t w, h, bytes[1 + VIDEO_TRACKS];	/* of a picture of each track */
	unsigned char *mosaic;		/* w x h samples of red, green, green, blue; or NULL */

	unsigned char *log;		/* what was read until the format of pictures is known */
	size_t logged;
	bool logs;

	/* NUT */
	unsigned char *packet;		/* the header at hand, and its rest; at NULL: the stream */
	const unsigned char *at, *end;
	bool ended, failed;		/* no more bytes; fail() was called */
	uint32_t sum;			/* CRC of the bytes that byte() has read from the stream */
	uint64_t version, streams, bases;
	double base[STREAMS_MOST];
	struct frame_code code[CODES];
	unsigned char *elision[ELISIONS_MOST];	/* each with its length before it */
	size_t elisions;
	struct nut_stream stream[STREAMS_MOST];
	size_t track[1 + VIDEO_TRACKS], tracks;	/* streams of pictures */
	/* the frame whose head was read, and whose bytes follow */
	bool begun;
	size_t stream_begun, size_begun;
	const unsigned char *elision_begun;
	size_t left;			/* bytes of a frame that raw_stream_look() awaits */
	unsigned char *part;		/* and what it has of a head */
	size_t parts;
	int pending;			/* the first byte of a frame, read with headers; or EOF */
};

/* ---- bytes ---- */

/* Up to n bytes, fewer only at the end. */
static size_t
read_bytes(struct raw_stream *raw, void *to, size_t n)
{
	size_t got;

	if (raw->file) {
		got = fread(to, 1, n, raw->file);
		if (got < n && ferror(raw->file))
			raw->failed |= fail_errno(raw->path, "cannot be read") < 0;
	} else if (ffmpeg_read(raw->ffmpeg, to, n, &got) < 0) {
		raw->failed = true;
	}
	if (raw->logs) {
		size_t n_log = raw->logged + got;

		/* in steps, for most calls read one byte */
		if (!raw->log || raw->logged / LOG_STEP < n_log / LOG_STEP)
			raw->log = must_resize(raw->log, (n_log / LOG_STEP + 1) * LOG_STEP, 1);
		memcpy(raw->log + raw->logged, to, got);
		raw->logged = n_log;
	}
	raw->ended |= got < n;
	return got;
}

static int
ends_early(const struct raw_stream *raw)
{
	return raw->failed ? -1 : fail(raw->path, "ends too early: inside a header");
}

static int
damaged(struct raw_stream *raw, const char *what)
{
	raw->failed = raw->ended = true;
	return fail(raw->path, "is damaged: %s of NUT cannot be", what);
}

/* The sum of NUT: CRC-32 of the polynomial 04c11db7, the highest bit first, from 0. */
static uint32_t
add_to_sum(uint32_t sum, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sum ^= (uint32_t)bytes[i] << 24;
		for (int bit = 0; bit < 8; bit++)
			sum = sum << 1 ^ (sum >> 31 ? 0x04c11db7 : 0);
	}
	return sum;
}

/* The next byte of the packet, else of the stream. */
static unsigned
byte(struct raw_stream *raw)
{
	unsigned char v = 0;

	if (raw->at && raw->at < raw->end)
		return *raw->at++;
	if (raw->at || read_bytes(raw, &v, 1) == 0)
		raw->ended = true;
	else
		raw->sum = add_to_sum(raw->sum, &v, 1);
	return v;
}

static uint64_t
number(struct raw_stream *raw)
{
	uint64_t v = 0;
	unsigned part, n = 0;

	do {
		part = byte(raw);
		v = v << 7 | (part & 127);
	} while (part & 128 && !raw->ended && ++n < NUMBER_MOST);
	if (n == NUMBER_MOST)
		(void)damaged(raw, "a number");
	return v;
}

static int64_t
signed_number(struct raw_stream *raw)
{
	const uint64_t v = number(raw) + 1;

	return v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
}

/* A number of bytes of the packet, which follow it. */
static const unsigned char *
string(struct raw_stream *raw, size_t *n)
{
	const uint64_t length = number(raw);
	const unsigned char *start = raw->at;

	*n = length <= (size_t)(raw->end - raw->at) ? (size_t)length : 0;
	raw->ended |= length != *n;
	raw->at += *n;
	return start;
}

static uint64_t
big_endian(struct raw_stream *raw, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | byte(raw);
	return v;
}

/* ---- NUT's headers ---- */

#define NUT_MAGIC 25		/* bytes of the text that begins a file */

#define START(a, b, rest) ((uint64_t)(a) << 56 | (uint64_t)(b) << 48 | UINT64_C(rest))
#define START_MAIN START('N', 'M', 0x7a561f5f04ad)
#define START_STREAM START('N', 'S', 0x11405bf2f9db)
#define START_SYNC START('N', 'K', 0xe4adeeca4569)
#define START_INDEX START('N', 'X', 0xdd672f23e64e)
#define START_INFO START('N', 'I', 0xab68b596ba78)

/* The body of a packet whose start code was read; its sum is checked. */
static int
take_packet(struct raw_stream *raw)
{
	const uint64_t length = number(raw);
	size_t got;

	if (length > 4096)
		(void)big_endian(raw, 4);
	if (raw->ended)
		return ends_early(raw);
	if (length < 4 || length > PACKET_MOST || (length > 4096 && raw->sum != 0))
		return damaged(raw, "the length of a header");
	free(raw->packet);
	raw->packet = must_resize(NULL, (size_t)length, 1);
	got = read_bytes(raw, raw->packet, (size_t)length);
	if (got < length)
		return ends_early(raw);
	if (add_to_sum(0, raw->packet, got) != 0)
		return damaged(raw, "the check sum of a header");
	raw->at = raw->packet;
	raw->end = raw->packet + got - 4;
	return 0;
}

/* Ends the packet. */
static int
leave_packet(struct raw_stream *raw)
{
	raw->at = NULL;
	if (raw->ended && !raw->failed)
		return damaged(raw, "a header");
	return raw->failed ? -1 : 0;
}

static int
take_codes(struct raw_stream *raw)
{
	struct frame_code code = { .size_factor = 1 };

	for (size_t i = 0; i < CODES;) {
		uint64_t fields, count;

		code.flags = number(raw);
		fields = number(raw);
		if (fields > 0)
			code.delta = signed_number(raw);
		if (fields > 1)
			code.size_factor = number(raw);
		if (fields > 2)
			code.stream = number(raw);
		code.size = fields > 3 ? number(raw) : 0;
		code.reserved = fields > 4 ? number(raw) : 0;
		count = fields > 5 ? number(raw) : code.size_factor - code.size;
		if (fields > 6)
			(void)signed_number(raw);
		if (fields > 7)
			code.elision = number(raw);
		for (; fields > 8 && !raw->ended; fields--)
			(void)number(raw);
		if (raw->ended || count == 0 || count > CODES - i)
			return damaged(raw, "the table of frames");
		for (uint64_t k = 0; k < count && i < CODES; i++) {
			raw->code[i] = code;
			if (i == 'N') {		/* the first byte of start codes */
				raw->code[i].flags = NUT_INVALID;
				continue;
			}
			raw->code[i].size = code.size + k++;
		}
	}
	return 0;
}

static int
take_main(struct raw_stream *raw)
{
	raw->version = number(raw);
	if (raw->version > 3)
		(void)number(raw);
	raw->streams = number(raw);
	(void)number(raw);		/* the longest way between start codes */
	raw->bases = number(raw);
	if (raw->version < 2 || raw->version > 4)
		return fail(raw->path, "NUT of version %llu is not read: 3 and 4 are",
		    (unsigned long long)raw->version);
	if (raw->streams < 1 || raw->streams > STREAMS_MOST || raw->bases < 1 ||
	    raw->bases > STREAMS_MOST)
		return damaged(raw, "the number of streams");
	for (uint64_t i = 0; i < raw->bases; i++) {
		const uint64_t over = number(raw), under = number(raw);

		raw->base[i] = (double)over / (double)(under ? under : 1);
	}
	if (take_codes(raw) < 0)
		return -1;
	raw->elisions = 1;
	for (uint64_t n = raw->at < raw->end ? number(raw) : 0; n > 0 && !raw->ended; n--) {
		size_t length;
		const unsigned char *start = string(raw, &length);

		if (length > 255 || raw->elisions == ELISIONS_MOST)
			return damaged(raw, "the table of beginnings");
		free(raw->elision[raw->elisions]);
		raw->elision[raw->elisions] = must_alloc(1 + length, 1);
		*raw->elision[raw->elisions] = (unsigned char)length;
		memcpy(raw->elision[raw->elisions++] + 1, start, length);
	}
	return leave_packet(raw);
}

/* ffmpeg's codes of raw pictures. */
static const struct {
	const char *name, *code;
} codes[] = {
	{ "gray", "Y800" }, { "gray", "Y8  " }, { "gray10le", "Y1\0\12" },
	{ "gray12le", "Y1\0\14" }, { "gray16le", "Y1\0\20" }, { "gray16be", "\20\0001Y" },
	{ "yuv444p", "444P" }, { "yuv444p10le", "Y3\0\12" }, { "yuv444p12le", "Y3\0\14" },
	{ "yuv422p", "Y42B" }, { "yuv422p10le", "Y3\12\12" }, { "yuv422p12le", "Y3\12\14" },
	{ "yuv420p", "I420" }, { "yuv420p10le", "Y3\13\12" }, { "yuv420p12le", "Y3\13\14" },
	{ "gbrp", "G3\0\10" }, { "gbrp10le", "G3\0\12" }, { "gbrp12le", "G3\0\14" },
	{ "rgb24", "RGB\30" }, { "bgr24", "BGR\30" }, { "bgr0", "BGR\0" }, { "rgb0", "RGB\0" },
	{ "rgba", "RGBA" }, { "bgra", "BGRA" }, { "argb", "ARGB" }, { "rgb48be", "0RGB" },
	{ "rgba64be", "@RBA" },
};

static const struct pixel_format *
format_of_code(const unsigned char *code, size_t n)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (n == 4 && !memcmp(codes[i].code, code, 4))
			return pixel_format_find(codes[i].name);
	return NULL;
}

/* The header of a stream. Of pictures behind the first one: a mask or a texture maybe. */
static int
take_stream(struct raw_stream *raw, struct video *video)
{
	const uint64_t id = number(raw), class = number(raw);
	const struct pixel_format *format;
	const unsigned char *code;
	uint64_t base, w, h;
	size_t n;

	code = string(raw, &n);
	format = format_of_code(code, n);
	base = number(raw);
	if (raw->ended || id >= raw->streams || base >= raw->bases)
		return damaged(raw, "the header of a stream");
	raw->stream[id] = (struct nut_stream){ raw->base[base], number(raw), 0 };
	(void)number(raw);		/* the largest step of time */
	(void)number(raw);		/* pictures that a decoder holds back */
	(void)number(raw);		/* flags */
	(void)string(raw, &n);
	w = number(raw);
	h = number(raw);
	if (raw->stream[id].shift > 62)
		return damaged(raw, "the header of a stream");
	if (class != 0 || raw->tracks > VIDEO_TRACKS)
		return leave_packet(raw);
	if (raw->tracks == 0) {
		if (w > INT32_MAX || h > INT32_MAX)
			return damaged(raw, "the size of pictures");
		video->w = (size_t)w;
		video->h = (size_t)h;
		video->format = format;
	} else {
		video->track[video->tracks].format = format;
		video->track[video->tracks++].fits = w == video->w && h == video->h && format &&
		    format->bits == 8 && format->kind != PIXEL_RGB;
	}
	raw->track[raw->tracks++] = (size_t)id;
	return leave_packet(raw);
}

/* Tags that NUT has other names for, and how other containers call them. */
static const char *const nut_names[][2] = {
	{ "Author", "artist" }, { "X-CreationTime", "date" }, { "CreationTime", "date" },
	{ "SourceFilename", "filename" }, { "X-Language", "language" },
	{ "X-Replaces", "replaces" }, { "X-Depends", "depends" }, { "X-Uses", "uses" },
	{ "X-UsesFont", "usesfont" },
};

/* Tags of the file, or of the first stream of pictures, become key lines, but for the rate. */
static int
take_info(struct raw_stream *raw, struct video *video, FILE *lines)
{
	const uint64_t stream = number(raw), chapter = number(raw);
	uint64_t n;

	(void)number(raw);
	(void)number(raw);
	for (n = number(raw); n > 0 && !raw->ended; n--) {
		size_t name_length, length = 0, type_length;
		const unsigned char *name = string(raw, &name_length), *value = NULL;
		const int64_t type = signed_number(raw);
		char *key, *text;

		if (type == -2)
			(void)string(raw, &type_length);
		if (type == -1 || type == -2)
			value = string(raw, &length);
		else if (type <= -3)
			(void)number(raw);
		if (!value || raw->ended || stream > 1 || chapter != 0)
			continue;
		key = must_format("%.*s", (int)name_length, (const char *)name);
		for (size_t i = 0; i < sizeof(nut_names) / sizeof(*nut_names); i++)
			if (!strcmp(key, nut_names[i][0]))
				strcpy(key, nut_names[i][1]);	/* which is shorter */
		text = must_format("%.*s", (int)length, (const char *)value);
		if (!strcmp(key, "r_frame_rate") && ratio_parse(text, &video->fps) < 0)
			video->fps = 0;
		video_put_tag(lines, key, text);
		free(key);
		free(text);
	}
	return leave_packet(raw);
}

/* All streams' clocks begin anew at this time. */
static int
take_sync(struct raw_stream *raw)
{
	const uint64_t time = number(raw);
	const double seconds = (double)(time / raw->bases) * raw->base[time % raw->bases];

	for (size_t i = 0; i < raw->streams; i++)
		if (raw->stream[i].second > 0 && seconds / raw->stream[i].second < 9e18)
			raw->stream[i].time = (int64_t)floor(seconds / raw->stream[i].second +
			    1e-6);
	return leave_packet(raw);
}

/* Goes over packets to a frame, whose first byte it returns; EOF at the end, -2 after fail(). */
static int
next_code(struct raw_stream *raw, struct video *video, FILE *lines)
{
	int status = 0;

	while (status == 0) {
		uint64_t start;
		unsigned first;

		if (raw->logged > PACKET_MOST) {
			fail(raw->path, "has headers of more than %zu bytes", PACKET_MOST);
			break;
		}
		raw->sum = 0;
		first = byte(raw);
		if (raw->ended)
			return raw->failed ? -2 : EOF;
		if (first != 'N')
			return (int)first;
		start = (uint64_t)'N' << 56 | big_endian(raw, 7);
		if (raw->ended)
			status = ends_early(raw);
		else if (start != START_MAIN && raw->streams == 0)
			status = damaged(raw, "its beginning");
		else
			status = take_packet(raw);
		if (status < 0)
			break;
		if (start == START_MAIN && raw->streams == 0)
			status = take_main(raw);
		else if (start == START_STREAM && video)
			status = take_stream(raw, video);
		else if (start == START_INFO && lines)
			status = take_info(raw, video, lines);
		else if (start == START_SYNC)
			status = take_sync(raw);
		else if (start == START_MAIN || start == START_STREAM || start == START_INFO ||
		    start == START_INDEX)	/* again, or after all frames */
			raw->at = raw->end, status = leave_packet(raw);
		else
			status = damaged(raw, "a start code");
	}
	return -2;
}

/* 1; 0: its pictures are compressed, or none that are read; -1. */
static int
open_nut(struct raw_stream *raw, struct video *video)
{
	char magic[NUT_MAGIC];
	struct text text;

	if (read_bytes(raw, magic, sizeof(magic)) < sizeof(magic))
		return ends_early(raw);
	raw->pending = next_code(raw, video, text_open(&text));
	video->lines = text_close(&text, NULL);
	if (raw->pending == -2)
		return -1;
	if (raw->tracks == 0)
		return fail(raw->path, "holds no pictures");
	return video->format != NULL;
}

/* ---- frames of NUT ---- */

/* What stands before a frame's bytes. */
static int
take_frame_head(struct raw_stream *raw, unsigned char first, size_t *stream, size_t *size,
    const unsigned char **elision)
{
	struct frame_code code = raw->code[first];
	struct nut_stream *clock;
	uint64_t flags = code.flags, pts;

	raw->sum = add_to_sum(0, &first, 1);
	if (flags & NUT_CODED)
		flags ^= number(raw);
	if (flags & NUT_INVALID)
		return damaged(raw, "the beginning of a frame");
	if (flags & NUT_STREAM)
		code.stream = number(raw);
	if (code.stream >= raw->streams)
		return damaged(raw, "the number of a frame's stream");
	clock = &raw->stream[code.stream];
	if (flags & NUT_CODED_PTS) {
		const uint64_t range = UINT64_C(1) << clock->shift;

		pts = number(raw);
		if (pts < range) {	/* the low bits of what is next to the last one */
			const uint64_t low = (uint64_t)clock->time - range / 2;

			pts = ((pts - low) & (range - 1)) + low;
		} else {
			pts -= range;
		}
		clock->time = (int64_t)pts;
	} else {
		clock->time = (int64_t)((uint64_t)clock->time + (uint64_t)code.delta);
	}
	if (flags & NUT_SIZE)
		code.size += code.size_factor * number(raw);
	if (flags & NUT_MATCH_TIME)
		(void)signed_number(raw);
	if (flags & NUT_ELISION)
		code.elision = number(raw);
	if (flags & NUT_RESERVED)
		code.reserved = number(raw);
	if (code.reserved > CODES && !raw->ended)
		return damaged(raw, "the beginning of a frame");
	for (; code.reserved > 0 && !raw->ended; code.reserved--)
		(void)number(raw);
	if (flags & NUT_CHECKSUM)
		(void)big_endian(raw, 4);
	if (raw->ended)
		return ends_early(raw);
	if (flags & NUT_CHECKSUM && raw->sum != 0)
		return damaged(raw, "the check sum of a frame's head");
	if (flags & NUT_SIDE_DATA)
		return fail(raw->path, "has data beside pictures, which is not read");
	if (code.elision >= raw->elisions)
		return damaged(raw, "the beginning of a frame");
	*elision = code.size > 4096 || !code.elision ? NULL : raw->elision[code.elision];
	if (*elision && **elision > code.size)
		return damaged(raw, "the size of a frame");
	*stream = (size_t)code.stream;
	*size = (size_t)code.size;
	return 0;
}

static int
pass_over(struct raw_stream *raw, size_t n)
{
	unsigned char bytes[4096];

	for (size_t some; n > 0; n -= some) {
		some = n < sizeof(bytes) ? n : sizeof(bytes);
		if (read_bytes(raw, bytes, some) < some)
			return ends_early(raw);
	}
	return 0;
}

static int
next_of_nut(struct raw_stream *raw, size_t track, size_t tracks, unsigned char *to, double *time_s)
{
	const size_t wanted = raw->bytes[track];
	const unsigned char *elision;
	size_t size, n, of;

	for (;;) {
		int first = raw->pending;

		raw->pending = EOF;
		if (!raw->begun && first == EOF)
			first = next_code(raw, NULL, NULL);
		if (!raw->begun && first < 0)
			return first == EOF ? 0 : -1;
		if (!raw->begun && take_frame_head(raw, (unsigned char)first, &raw->stream_begun,
		    &raw->size_begun, &raw->elision_begun) < 0)
			return -1;
		raw->begun = true;
		elision = raw->elision_begun;
		size = raw->size_begun;
		n = elision ? *elision : 0;
		for (of = 0; of < tracks && raw->track[of] != raw->stream_begun;)
			of++;
		if (of < tracks && of != track)
			return 0;
		raw->begun = false;
		if (of == track)
			break;
		if (pass_over(raw, size - n) < 0)	/* sound, or another track */
			return -1;
	}
	if (size != wanted)
		return fail(raw->path, "pictures are not %zux%zu all through", raw->w, raw->h);
	if (n)
		memcpy(to, elision + 1, n);
	*time_s = (double)raw->stream[raw->stream_begun].time *
	    raw->stream[raw->stream_begun].second;
	if (read_bytes(raw, to + n, wanted - n) < wanted - n)
		return raw->failed ? -1 : fail(raw->path, "ends in the middle of a picture");
	return 1;
}

/* ---- y4m ---- */

/* A line without its newline: 1; 0 at the end, -1 after fail(). */
static int
next_line(struct raw_stream *raw, char line[LINE_MOST])
{
	for (size_t n = 0; n < LINE_MOST; n++) {
		if (read_bytes(raw, line + n, 1) == 0)
			return raw->failed ? -1 : n ? ends_early(raw) : 0;
		if (line[n] == '\n') {
			line[n] = '\0';
			return 1;
		}
	}
	return fail(raw->path, "is damaged: a line of y4m is longer than %d bytes", LINE_MOST);
}

/* The pixel format by y4m's word; NULL: it is none that is read. */
static const struct pixel_format *
format_of_y4m(const char *word)
{
	static const char *const names[][2] = {
		{ "mono", "gray" }, { "mono10", "gray10le" }, { "mono12", "gray12le" },
		{ "mono16", "gray16le" }, { "420", "yuv420p" }, { "420jpeg", "yuv420p" },
		{ "420mpeg2", "yuv420p" }, { "420paldv", "yuv420p" }, { "420p10", "yuv420p10le" },
		{ "420p12", "yuv420p12le" }, { "422", "yuv422p" }, { "422p10", "yuv422p10le" },
		{ "422p12", "yuv422p12le" }, { "444", "yuv444p" }, { "444p10", "yuv444p10le" },
		{ "444p12", "yuv444p12le" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(word, names[i][0]))
			return pixel_format_find(names[i][1]);
	return NULL;
}

static int
open_y4m(struct raw_stream *raw, struct video *video)
{
	char line[LINE_MOST], *rest = line, *word;
	const char *format = "420";
	long v;

	if (next_line(raw, line) <= 0)
		return ends_early(raw);
	(void)strsep(&rest, " ");
	while ((word = strsep(&rest, " "))) {
		if ((*word == 'W' || *word == 'H') && (integer_parse(word + 1, &v) < 0 || v < 0 ||
		    v > INT32_MAX))
			return fail(raw->path, "y4m has no valid size: %.40s", word);
		if (*word == 'W')
			video->w = (size_t)v;
		else if (*word == 'H')
			video->h = (size_t)v;
		else if (*word == 'C')
			format = word + 1;
		else if (*word == 'I' && word[1] && !strchr("p?", word[1]))
			return fail(raw->path, "is an interlaced video: rows of a picture are of "
			    "two times");
		else if (!strcmp(word, "XCOLORRANGE=LIMITED"))
			video->limited = true;
	}
	video->format = format_of_y4m(format);
	if (!video->format)
		return fail(raw->path, "has pictures of y4m's format %.40s, which is not read",
		    format);
	return 0;
}

/* ---- samples without a head ---- */

#define MOSAIC "bayer_rggb8"

/* The size and format that --raw tells. */
static int
plan_headless(const char *words, struct video *video)
{
	char format[32];
	int w = 0, h = 0, end = 0;

	*video = (struct video){ 0 };
	if (sscanf(words, "%9dx%9d,%31s%n", &w, &h, format, &end) < 3 || words[end] || w < 1 ||
	    h < 1)
		return fail_usage("--raw", "must be WxH,FORMAT, as 800x600,gray10le, not '%.60s'",
		    words);
	video->w = (size_t)w;
	video->h = (size_t)h;
	video->format = pixel_format_find(!strcmp(format, MOSAIC) ? "rgb24" : format);
	return video->format ? 0 : fail_usage("--raw", "there is no format '%.40s', but gray, "
	    "gray10le, gray12le, gray16le, gray16be, " MOSAIC ", yuv420p, rgb24 and others of "
	    "ffmpeg's", format);
}

int
raw_stream_check(const char *words)
{
	struct video video;

	return plan_headless(words, &video);
}

/* A pixel has the sample of its own colour, and of the others the mean of the two or four next to
 * it: bilinear. */
static void
take_mosaic(const struct raw_stream *raw, unsigned char *to)
{
	for (size_t y = 0; y < raw->h; y++)
		for (size_t x = 0; x < raw->w; x++, to += 3) {
			unsigned sum[3] = { 0 }, n[3] = { 0 };

			for (size_t j = y - (y > 0); j <= y + 1 && j < raw->h; j++)
				for (size_t i = x - (x > 0); i <= x + 1 && i < raw->w; i++) {
					const size_t c = (i & 1) + (j & 1);	/* r g, g b */

					sum[c] += raw->mosaic[j * raw->w + i];
					n[c]++;
				}
			for (size_t c = 0; c < 3; c++)
				to[c] = (unsigned char)(n[c] ? (2 * sum[c] + n[c]) / (2 * n[c]) :
				    0);
			to[(x & 1) + (y & 1)] = raw->mosaic[y * raw->w + x];
		}
}

/* ---- all of them ---- */

int
raw_stream_open(const struct raw_source *from, struct video *video, struct raw_stream **out)
{
	struct raw_stream *raw = must_alloc(1, sizeof(*raw));
	int status = 1;

	*out = raw;
	raw->path = from->path;
	raw->file = from->file;
	raw->ffmpeg = from->ffmpeg;
	raw->logs = true;
	raw->pending = EOF;
	raw->kind = from->words ? RAW_HEADLESS : *from->container == 'y' ? RAW_Y4M : RAW_NUT;
	*video = (struct video){ 0 };
	if (raw->kind == RAW_NUT)
		status = open_nut(raw, video);
	else if ((from->words ? plan_headless(from->words, video) : open_y4m(raw, video)) < 0)
		return -1;
	else
		video->lines = must_strdup("");
	raw->logs = false;
	raw->left = NUT_MAGIC;
	if (status <= 0)
		return status;
	raw->w = video->w;
	raw->h = video->h;
	if (samples_check_claim(raw->path, raw->file ? samples_bytes_left(raw->file) : SIZE_MAX,
	    raw->w, raw->h, 1, 8, 1) < 0 ||
	    pixel_format_bytes(video->format, raw->w, raw->h, raw->bytes) < 0)
		return -1;
	for (size_t i = 0; i < video->tracks; i++)
		if (video->track[i].fits && pixel_format_bytes(video->track[i].format, raw->w,
		    raw->h, &raw->bytes[1 + i]) < 0)
			return -1;
	if (from->words && strstr(from->words, MOSAIC)) {
		raw->mosaic = malloc(raw->w * raw->h);
		if (!raw->mosaic)
			return fail_memory();
	}
	return 1;
}

const unsigned char *
raw_stream_log(const struct raw_stream *raw, size_t *n)
{
	*n = raw->logged;
	return raw->log;
}

int
raw_stream_next(struct raw_stream *raw, size_t track, size_t tracks, unsigned char *to,
    double *time_s)
{
	char line[6 + LINE_MOST];
	size_t n = raw->mosaic ? raw->w * raw->h : *raw->bytes, got;
	int status;

	*time_s = NAN;
	if (raw->kind == RAW_NUT)
		return next_of_nut(raw, track, tracks, to, time_s);
	if (raw->kind == RAW_Y4M) {
		got = read_bytes(raw, line, 6);
		if (got < 6)
			return raw->failed ? -1 : got ? ends_early(raw) : 0;
		status = line[5] == '\n' ? 1 : line[5] == ' ' ? next_line(raw, line + 6) : 0;
		if (status < 0)
			return -1;
		if (status == 0 || strncmp(line, "FRAME", 5))
			return fail(raw->path, "is damaged: FRAME does not stand before a picture "
			    "of %zux%zu", raw->w, raw->h);
	}
	got = read_bytes(raw, raw->mosaic ? raw->mosaic : to, n);
	if (got < n)
		return raw->failed ? -1 : got || raw->kind == RAW_Y4M ?
		    fail(raw->path, "ends in the middle of a picture") : 0;
	if (raw->mosaic)
		take_mosaic(raw, to);
	return 1;
}

int
raw_stream_look(struct raw_stream *raw, const unsigned char *bytes, size_t n)
{
	const size_t passed = raw->left < n ? raw->left : n;
	const unsigned char *elision;
	size_t at = 0, size, stream;

	if (n == 0)
		return raw->left || raw->parts ? fail(raw->path, "ends in the middle of a "
		    "picture") : 0;
	raw->left -= passed;
	n -= passed;
	if (n == 0)
		return 0;
	raw->part = must_resize(raw->part, raw->parts + n, 1);
	memcpy(raw->part + raw->parts, bytes + passed, n);
	raw->parts += n;
	raw->file = fmemopen(raw->part, raw->parts, "rb");
	if (!raw->file)
		return fail_memory();
	raw->ended = false;
	while (raw->left == 0) {
		const int code = next_code(raw, NULL, NULL);

		if (code == EOF)	/* between two frames */
			at = raw->parts;
		if (code < 0)
			break;
		if (take_frame_head(raw, (unsigned char)code, &stream, &size, &elision) < 0)
			break;
		size -= elision ? *elision : 0;
		at = (size_t)ftello(raw->file);
		raw->left = size > raw->parts - at ? size - (raw->parts - at) : 0;
		at += size - raw->left;
		(void)fseeko(raw->file, (off_t)at, SEEK_SET);
	}
	fclose(raw->file);
	raw->file = NULL;
	if (raw->failed || (!raw->ended && raw->left == 0))
		return -1;
	fail_clear();		/* the head at hand is not whole yet */
	raw->parts -= at;
	memmove(raw->part, raw->part + at, raw->parts);
	return 0;
}

void
raw_stream_close(struct raw_stream *raw)
{
	if (!raw)
		return;
	for (size_t i = 0; i < ELISIONS_MOST; i++)
		free(raw->elision[i]);
	free_all(raw->packet, raw->log, raw->mosaic, raw->part, raw);
}
