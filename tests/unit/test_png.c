/*
 * PNG of every kind: what we read is what was written and what libpng reads, byte for byte, and a
 * damaged file is refused with libpng's message. The files are made here, by zlib and the words of
 * the specification.
 */
#define _GNU_SOURCE
#include "frames.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "codec/png/png_codec.h"
#include "frame/samples.h"

#define MIXED 5		/* a filter for every row */
#define FIRST_IDAT(kind) (33 + (kind)->before_bytes)
#define HEAD 8
#define SURPLUS(size) "fringepipe: in.png: PNG: holds more image data than its " size " pixels; " \
	"the rest is not read\n"

struct kind {
	size_t w, h;
	int depth, colour, filter, window, level;
	bool interlaced, smooth, clear;		/* clear: tRNS */
	size_t piece;				/* bytes of an IDAT; 0: all in one */
	bool empty;				/* IDATs without data between them */
	const void *before, *behind;		/* chunks around the IDATs */
	size_t before_bytes, behind_bytes;
	size_t colours;				/* of the palette; 0: one for each index */
};

struct bytes {
	unsigned char *at;
	size_t n, room;		/* room: 0 of what append() did not allocate */
};

static uint32_t
hash(uint32_t v)
{
	v ^= v >> 16;
	v *= 0x7feb352d;
	v ^= v >> 15;
	v *= 0x846ca68b;
	return v ^ v >> 16;
}

static void
append(struct bytes *bytes, const void *from, size_t n)
{
	if (bytes->n + n >= bytes->room) {
		bytes->room = 2 * (bytes->n + n) + 1;
		bytes->at = realloc(bytes->at, bytes->room);
		assert_non_null(bytes->at);
	}
	memcpy(bytes->at + bytes->n, from, n);
	bytes->n += n;
}

static void
append_number(struct bytes *bytes, size_t v)
{
	unsigned char byte[4] = { (unsigned char)(v >> 24), (unsigned char)(v >> 16),
		(unsigned char)(v >> 8), (unsigned char)v };

	append(bytes, byte, 4);
}

static void
append_chunk(struct bytes *bytes, const char *type, const void *data, size_t n)
{
	size_t start = bytes->n + 4;

	append_number(bytes, n);
	append(bytes, type, 4);
	append(bytes, data ? data : "", n);
	append_number(bytes, crc32(0, bytes->at + start, (uInt)n + 4));
}

static int
channels_of(const struct kind *kind)
{
	static const int channels[] = { [0] = 1, [2] = 3, [3] = 1, [4] = 2, [6] = 4 };

	return channels[kind->colour];
}

static unsigned
sample(const struct kind *kind, size_t x, size_t y, size_t c)
{
	uint32_t v = hash((uint32_t)((y * kind->w + x) * 4 + c + 1));

	if (kind->smooth)	/* differences of both signs that are small, and steps */
		v = (uint32_t)((x * 3 + y * 5 + c * 40) << (kind->depth > 8 ? 6 : 0)) + v % 7 -
		    (hash((uint32_t)(x / 9 + 99 * y)) % 11 ? 0 : 90);
	return v & ((1u << kind->depth) - 1);
}

/* The bytes of pixels x0, x0 + dx, ... of a row. Returns how many. */
static size_t
row_bytes(const struct kind *kind, size_t x0, size_t dx, size_t y, unsigned char *row)
{
	size_t bit = 0;

	memset(row, 0, kind->w * 8 + 8);
	for (size_t x = x0; x < kind->w; x += dx)
		for (int c = 0; c < channels_of(kind); c++, bit += (size_t)kind->depth) {
			unsigned v = sample(kind, x, y, (size_t)c);

			if (kind->depth == 16)
				row[bit / 8] = (unsigned char)(v >> 8);
			row[bit / 8 + (kind->depth == 16)] |=
			    (unsigned char)(kind->depth < 8 ?
			    v << (8 - (size_t)kind->depth - bit % 8) : v);
		}
	return (bit + 7) / 8;
}

/* PNG specification, 9.2 and 9.4, word for word. */
static int
predict(int filter, int a, int b, int c)
{
	int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);

	switch (filter) {
	case 1:
		return a;
	case 2:
		return b;
	case 3:
		return (a + b) / 2;
	case 4:
		return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
	default:
		return 0;
	}
}

static void
append_filtered(struct bytes *raw, const struct kind *kind, size_t x0, size_t dx, size_t y0,
    size_t dy)
{
	unsigned char *row = calloc(2, kind->w * 8 + 8), *above = row + kind->w * 8 + 8, *last;
	unsigned char *rows = row;
	size_t size = (size_t)(kind->depth * channels_of(kind) + 7) / 8;

	for (size_t y = y0; y < kind->h && x0 < kind->w; y += dy) {
		size_t n = row_bytes(kind, x0, dx, y, row);
		int filter = kind->filter == MIXED ? (int)(hash((uint32_t)y) % 5) : kind->filter;
		unsigned char byte = (unsigned char)filter;

		append(raw, &byte, 1);
		for (size_t i = 0; i < n; i++) {
			int a = i < size ? 0 : row[i - size], c = i < size ? 0 : above[i - size];

			byte = (unsigned char)(row[i] - predict(filter, a, above[i], c));
			append(raw, &byte, 1);
		}
		last = above;
		above = row;
		row = last;
	}
	free(rows);
}

static struct bytes
filtered(const struct kind *kind)
{
	static const size_t pass[7][4] = { { 0, 8, 0, 8 }, { 4, 8, 0, 8 }, { 0, 4, 4, 8 },
		{ 2, 4, 0, 4 }, { 0, 2, 2, 4 }, { 1, 2, 0, 2 }, { 0, 1, 1, 2 } };
	struct bytes raw = { 0 };

	if (!kind->interlaced)
		append_filtered(&raw, kind, 0, 1, 0, 1);
	for (int i = 0; i < 7 && kind->interlaced; i++)
		append_filtered(&raw, kind, pass[i][0], pass[i][1], pass[i][2], pass[i][3]);
	return raw;
}

static struct bytes
packed(const struct kind *kind, struct bytes raw)
{
	struct bytes out = { malloc(raw.n + raw.n / 100 + 1000), raw.n + raw.n / 100 + 1000 };
	z_stream z = { .next_in = raw.at, .avail_in = (uInt)raw.n, .next_out = out.at,
		.avail_out = (uInt)out.n };

	assert_int_equal(deflateInit2(&z, kind->level ? kind->level : 6, Z_DEFLATED,
	    kind->window ? kind->window : 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out.n = z.total_out;
	deflateEnd(&z);
	free(raw.at);
	return out;
}

static void
append_idats(struct bytes *file, const struct kind *kind, struct bytes z)
{
	size_t piece = kind->piece ? kind->piece : z.n;

	for (size_t at = 0; at < z.n; at += piece) {
		if (kind->empty)
			append_chunk(file, "IDAT", NULL, 0);
		append_chunk(file, "IDAT", z.at + at, z.n - at < piece ? z.n - at : piece);
	}
	if (kind->empty)
		append_chunk(file, "IDAT", NULL, 0);
	free(z.at);
}

static const unsigned char clear[6] = { 0, 3, 0, 4, 0, 5 };	/* of a tRNS */

static unsigned char
palette_part(size_t index, size_t c)
{
	return (unsigned char)hash((uint32_t)(3 * index + c));
}

/* A file whose IDATs hold z, or what the kind is. Frees z. */
static struct bytes
png_of(const struct kind *kind, struct bytes z)
{
	struct bytes file = { 0 }, ihdr = { 0 };
	unsigned char rest[5] = { (unsigned char)kind->depth, (unsigned char)kind->colour, 0, 0,
		kind->interlaced }, palette[768];
	size_t colours = kind->colours ? kind->colours : (size_t)1 << kind->depth;

	append(&file, "\x89PNG\r\n\x1a\n", HEAD);
	append_number(&ihdr, kind->w);
	append_number(&ihdr, kind->h);
	append(&ihdr, rest, sizeof(rest));
	append_chunk(&file, "IHDR", ihdr.at, ihdr.n);
	free(ihdr.at);
	for (size_t i = 0; i < sizeof(palette); i++)
		palette[i] = palette_part(i / 3, i % 3);
	if (kind->colour == 3)
		append_chunk(&file, "PLTE", palette, 3 * colours);
	if (kind->clear && kind->colour == 3)
		append_chunk(&file, "tRNS", clear + 1, colours < 5 ? colours : 5);
	else if (kind->clear)
		append_chunk(&file, "tRNS", clear, kind->colour == 2 ? 6 : 2);
	append(&file, kind->before ? kind->before : "", kind->before_bytes);
	append_idats(&file, kind, z);
	append(&file, kind->behind ? kind->behind : "", kind->behind_bytes);
	append_chunk(&file, "IEND", NULL, 0);
	return file;
}

static struct bytes
png(const struct kind *kind)
{
	return png_of(kind, packed(kind, filtered(kind)));
}

/* ---- reading it ---- */

/* message: of a file that is refused why, else the warnings. */
static struct frame *
load(struct bytes file, int (*by)(struct loader *, struct frame **), char message[300])
{
	struct loader loader = { .path = "in.png", .file = fmemopen(file.at, file.n, "rb") };
	FILE *standard = stderr;
	struct frame *frame;
	int status;

	assert_non_null(loader.file);
	memset(message, 0, 300);
	stderr = fmemopen(message, 299, "w");
	assert_non_null(stderr);
	status = by(&loader, &frame);
	fclose(stderr);
	stderr = standard;
	assert_int_equal(status, frame ? 1 : -1);
	assert_true(!frame == !!fail_message());
	if (!frame)
		snprintf(message, 300, "%s", fail_message());
	fail_clear();
	fclose(loader.file);
	return frame;
}

static void
assert_same(const struct frame *a, const struct frame *b)
{
	assert_true(meta_equal(&a->head.meta, &b->head.meta));
	assert_same_pixels(a, b);
}

/* Ours and libpng's result agree; *frame: it, or NULL. Returns its message or warnings. */
static const char *
both(struct bytes file, struct frame **frame)
{
	static char ours[300], theirs[300];
	struct frame *other = load(file, png_load_by_libpng, theirs);

	*frame = load(file, png_load, ours);
	assert_string_equal(ours, theirs);
	assert_true(!*frame == !other);
	if (other)
		assert_same(*frame, other);
	frame_free(other);
	return ours;
}

static void
assert_samples(const struct kind *kind, const struct frame *frame)
{
	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < kind->h; y++)
			for (size_t x = 0; x < kind->w; x++)
				assert_int_equal((int)frame_sample(frame, c, y, x),
				    (int)sample(kind, x, y, c));
}

/* Does idat_read() take the file, and has it the samples that it was made of? */
static bool
is_taken(const struct kind *kind, struct bytes file)
{
	FILE *in = fmemopen(file.at, file.n, "rb");
	size_t at = FIRST_IDAT(kind) + HEAD;
	struct frame_head head;
	struct frame *frame;
	int status;

	assert_int_equal(head_init(&head, kind->w, kind->h, (size_t)channels_of(kind),
	    kind->depth == 8 ? SAMPLE_UCHAR : SAMPLE_USHORT), 0);
	assert_int_equal(frame_new(&head, &frame), 0);
	head_free(&head);
	assert_int_equal(fseek(in, (long)at, SEEK_SET), 0);
	status = idat_read("in.png", in, file.n - at, frame);
	if (status == 0)
		assert_int_equal(ftell(in), at);
	else
		assert_samples(kind, frame);
	frame_free(frame);
	fclose(in);
	assert_true(status >= 0);
	return status;
}

static void
assert_read(const struct kind *kind, bool taken)
{
	struct bytes file = png(kind);
	struct frame *frame;

	if (*both(file, &frame))
		print_error("%zu x %zu, %d bits, colour %d, filter %d: refused\n", kind->w, kind->h,
		    kind->depth, kind->colour, kind->filter);
	assert_non_null(frame);
	if (kind->depth >= 8 && kind->colour != 3 && !kind->clear)
		assert_samples(kind, frame);
	frame_free(frame);
	if (kind->depth >= 8 && kind->colour != 3 && !kind->clear && !kind->interlaced)
		assert_int_equal(is_taken(kind, file), taken);
	free(file.at);
}

static const size_t sizes[][2] = { { 1, 1 }, { 5, 7 }, { 127, 1 }, { 1, 40 }, { 16, 17 },
	{ 15, 33 }, { 129, 65 } };

static void
test_kinds(void **state)
{
	static const int kinds[][2] = { { 0, 8 }, { 0, 16 }, { 2, 8 }, { 2, 16 }, { 4, 8 },
		{ 4, 16 }, { 6, 8 }, { 6, 16 }, { 0, 1 }, { 0, 2 }, { 0, 4 }, { 3, 1 }, { 3, 2 },
		{ 3, 4 },
		{ 3, 8 } };

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
			for (int filter = 0; filter <= MIXED; filter++)
				for (int more = 0; more < 4; more++) {
					struct kind kind = { .w = sizes[s][0], .h = sizes[s][1],
						.colour = kinds[k][0], .depth = kinds[k][1],
						.filter = filter, .interlaced = more & 1,
						.smooth = more & 2 };

					assert_read(&kind, true);
				}
}

/* One colour that is clear makes a channel a. */
static void
test_clear(void **state)
{
	struct kind kind = { .w = 33, .h = 20, .depth = 8, .filter = MIXED, .clear = true };

	(void)state;
	assert_read(&kind, false);
	kind.colour = 2;
	assert_read(&kind, false);
	kind.depth = 16;
	assert_read(&kind, false);
}

/* Indices are the palette's colours, and alpha; beyond it opaque black, which a warning counts. */
static void
test_palette(void **state)
{
	(void)state;
	for (int i = 0; i < 4 * 2 * 2 * 3; i++) {
		static const size_t few[4] = { 1, 3, 11, 200 };
		const int depth = 1 << i % 4;
		struct kind kind = { .w = 33, .h = 20, .colour = 3, .depth = depth, .filter = MIXED,
			.interlaced = i / 4 % 2, .clear = i / 8 % 2, .smooth = i / 16 == 2,
			.colours = i / 16 ? few[i % 4] : 0 };
		size_t colours = kind.colours ? kind.colours : (size_t)1 << depth, beyond = 0;
		struct bytes file = png(&kind);
		struct frame *frame;
		const char *message = both(file, &frame);
		char wanted[150] = "";

		if (!frame)
			print_error("%d bits, %zu colours: %s\n", depth, colours, message);
		assert_non_null(frame);
		assert_int_equal(frame->head.c, kind.clear ? 4 : 3);
		for (size_t y = 0; y < kind.h; y++)
			for (size_t x = 0; x < kind.w; x++) {
				size_t index = sample(&kind, x, y, 0);
				bool there = index < colours;

				beyond += !there;
				for (size_t c = 0; c < 3; c++)
					assert_int_equal((int)frame_sample(frame, c, y, x),
					    there ? palette_part(index, c) : 0);
				if (kind.clear)
					assert_int_equal((int)frame_sample(frame, 3, y, x),
					    there && index < 5 ? clear[index + 1] : 255);
			}
		if (beyond)
			snprintf(wanted, sizeof(wanted), "fringepipe: in.png: PNG: %zu pixels are "
			    "black, as their indices are beyond the palette of %zu colours\n",
			    beyond, colours);
		assert_string_equal(message, wanted);
		frame_free(frame);
		free(file.at);
	}
}

/* A stream says how far back it refers at most; libpng reads those that are longer than that. */
static void
test_windows(void **state)
{
	(void)state;
	for (int window = 9; window <= 15; window++)
		for (int level = 1; level <= 9; level += 4) {
			struct kind kind = { .w = 129, .h = 65, .depth = 8, .filter = MIXED,
				.smooth = true, .window = window, .level = level };

			assert_read(&kind, window >= 14);
			kind.depth = 16;
			assert_read(&kind, window >= 15);
			kind.w = 5;
			assert_read(&kind, window >= 10);
		}
}

static void
test_pieces(void **state)
{
	static const size_t pieces[] = { 1, 2, 3, 7, 100, 1000 };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(pieces) / sizeof(*pieces); i++) {
		struct kind kind = { .w = 129, .h = 65, .depth = 8, .filter = MIXED, .smooth = true,
			.piece = pieces[i / 2], .empty = i % 2 };

		assert_read(&kind, true);
	}
}

/* Chunks around the pixels: where key lines stand before them, none behind them is read. */
static void
test_chunks(void **state)
{
	struct bytes before = { 0 }, behind = { 0 }, file, junk = { 0 };
	struct kind kind = { .w = 20, .h = 10, .depth = 8, .filter = MIXED };
	struct frame *frame;
	const char *message;

	(void)state;
	append_chunk(&before, "tEXt", "fringepipe\0period_px:=60\n", 25);
	append_chunk(&before, "gAMA", "\0\0\xb1\x8f", 4);
	append_chunk(&before, "pHYs", "\0\0\x0b\x13\0\0\x0b\x13\1", 9);
	append_chunk(&before, "teSt", "anything", 8);
	append_chunk(&behind, "tEXt", "fringepipe\0period_px:=77\n", 25);
	append_chunk(&behind, "tIME", "\x07\xe6\1\2\3\4\5", 7);
	kind.before = before.at, kind.before_bytes = before.n;
	kind.behind = behind.at, kind.behind_bytes = behind.n;
	file = png(&kind);
	assert_string_equal(both(file, &frame), "");
	assert_string_equal(meta_get(&frame->head.meta, "period_px"), "60");
	assert_samples(&kind, frame);
	frame_free(frame);
	assert_false(is_taken(&kind, file));
	free(file.at);
	behind.n = 0;
	append_chunk(&behind, "tEXt", "Comment\0of another program", 26);
	append_chunk(&behind, "tIME", "\x07\xe6\1\2\3\4\5", 7);
	kind.behind = behind.at, kind.behind_bytes = behind.n;
	file = png(&kind);
	assert_true(is_taken(&kind, file));
	append(&file, "junk behind the end", 19);
	assert_true(is_taken(&kind, file));
	assert_non_null(strstr(both(file, &frame),
	    "in.png: 19 bytes behind its end are not read\n"));
	assert_samples(&kind, frame);
	frame_free(frame);
	free(file.at);

	/* of others behind the pixels none is read, and one that must be known is an error */
	for (int i = 0; i < 5; i++) {
		static const char *const type[] = { "tEXt", "teSt", "gAMA", "TeSt", "IDAT" };

		junk.n = 0;
		append_chunk(&junk, "tIME", "\x07\xe6\1\2\3\4\5", 7);
		append_chunk(&junk, type[i], "k\0\0xyz", 6);
		kind.behind = junk.at, kind.behind_bytes = junk.n;
		file = png(&kind);
		message = both(file, &frame);
		assert_true(!frame == (i == 3));
		assert_true(!*message == (i < 3));
		assert_true(!strcmp(message, SURPLUS("20 x 10")) == (i == 4));
		frame_free(frame);
		assert_int_equal(is_taken(&kind, file), i < 3);
		file.at[file.n - 13] ^= 1;	/* the chunk's check sum */
		assert_non_null(strstr(both(file, &frame), "CRC error"));
		assert_false(is_taken(&kind, file));
		free(file.at);
	}
	junk.n = 0;
	append_chunk(&junk, "t1st", NULL, 0);
	kind.behind = junk.at, kind.behind_bytes = junk.n;
	file = png(&kind);
	assert_true(*both(file, &frame));
	free(file.at);
	free(junk.at);
	free(before.at);
	free(behind.at);
}

/* Key lines behind the pixels, in any kind of text, count where there are none before. */
static void
test_keys_behind(void **state)
{
	static const char *const head[] = { "fringepipe\0", "fringepipe\0\0",
		"fringepipe\0\0\0\0\0" };
	static const size_t head_bytes[] = { 11, 12, 15 };
	unsigned char z[64];
	uLongf z_bytes = sizeof(z);

	(void)state;
	assert_int_equal(compress(z, &z_bytes, (const unsigned char *)"bits:=1\n", 8), Z_OK);
	for (size_t i = 0; i < 3; i++)
		for (int depth = 1; depth <= 16; depth *= 2) {
			static const char *const type[] = { "tEXt", "zTXt", "iTXt" };
			struct bytes text = { 0 }, behind = { 0 }, file;
			struct kind kind = { .w = 20, .h = 10, .depth = depth, .filter = MIXED };
			struct frame *frame;

			append(&text, head[i], head_bytes[i]);
			append(&text, i == 1 ? (const char *)z : "bits:=1\n", i == 1 ? z_bytes : 8);
			append_chunk(&behind, type[i], text.at, text.n);
			kind.behind = behind.at, kind.behind_bytes = behind.n;
			file = png(&kind);
			assert_string_equal(both(file, &frame), "");
			assert_string_equal(meta_get(&frame->head.meta, "bits"), "1");
			if (depth == 1 || depth >= 8)
				assert_samples(&kind, frame);
			frame_free(frame);
			free(file.at);
			free(text.at);
			free(behind.at);
		}
}

/* ---- damage ---- */

/* A wrong check sum is an error in any chunk, wherever it stands, that we take something from or
 * not; without it the file is read. */
static void
test_check_sums(void **state)
{
	static const struct {
		const char *type, *data;
		size_t n;
	} chunk[] = {
		{ "tEXt", "fringepipe\0period_px:=60\n", 25 }, { "tEXt", "Comment\0hello", 13 },
		{ "iTXt", "fringepipe\0\0\0\0\0bits:=8\n", 23 }, { "gAMA", "\0\0\xb1\x8f", 4 },
		{ "tRNS", "\0\3\0\4\0\5", 6 }, { "sBIT", "\5\6\5", 3 },
		{ "PLTE", "abcdef", 6 }, { "sRGB", "\0", 1 }, { "iCCP", "p\0\0rubbish", 10 },
		{ "tIME", "\x07\xe6\1\2\3\4\5", 7 }, { "teSt", "anything", 8 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(chunk) / sizeof(*chunk); i++) {
		struct kind kind = { .w = 20, .h = 10, .depth = 8, .colour = 2, .filter = MIXED };
		struct bytes extra = { 0 }, file;
		const char *type = chunk[i / 2].type, *message;
		struct frame *frame;
		size_t crc;

		append_chunk(&extra, type, chunk[i / 2].data, chunk[i / 2].n);
		kind.before = extra.at, kind.before_bytes = i % 2 ? 0 : extra.n;
		kind.behind = extra.at, kind.behind_bytes = i % 2 ? extra.n : 0;
		file = png(&kind);
		both(file, &frame);
		if (i % 2 == 0)
			assert_non_null(frame);
		frame_free(frame);
		crc = i % 2 ? file.n - 13 : FIRST_IDAT(&kind) - 1;
		file.at[crc] ^= 1;
		message = both(file, &frame);
		if (!strstr(message, type) || !strstr(message, "CRC error") || frame)
			print_error("%s %s: %s\n", type, i % 2 ? "behind" : "before", message);
		assert_null(frame);
		assert_non_null(strstr(message, type));
		assert_non_null(strstr(message, "CRC error"));
		free(file.at);
		free(extra.at);
	}
}

/* What we take something from is not passed over, as libpng does, when it cannot be read. */
static void
test_unreadable_chunks(void **state)
{
	static const struct {
		const char *type, *data, *message;
		size_t n;
	} chunk[] = {
		{ "zTXt", "fringepipe\0\0rubbish", "in.png: PNG: zTXt: ", 19 },
		{ "iTXt", "fringepipe\0\1\0\0\0rubbish", "in.png: PNG: iTXt: ", 22 },
		{ "tRNS", "\0\3\0\4", "in.png: PNG: tRNS: ", 4 },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(chunk) / sizeof(*chunk); i++) {
		struct kind kind = { .w = 20, .h = 10, .depth = 8, .colour = 2, .filter = MIXED };
		struct bytes extra = { 0 }, file;
		struct frame *frame;

		append_chunk(&extra, chunk[i / 2].type, chunk[i / 2].data, chunk[i / 2].n);
		kind.before = extra.at, kind.before_bytes = i % 2 ? 0 : extra.n;
		kind.behind = extra.at, kind.behind_bytes = i % 2 ? extra.n : 0;
		file = png(&kind);
		assert_ptr_equal(strstr(both(file, &frame), chunk[i / 2].message),
		    both(file, &frame));
		assert_null(frame);
		free(file.at);
		free(extra.at);
	}
}

/* Cut at every byte, and every byte changed: the same result as libpng's, mostly a message. */
static void
test_damage(void **state)
{
	static const int colours[][2] = { { 0, 8 }, { 0, 16 }, { 2, 8 }, { 6, 16 } };

	(void)state;
	for (size_t k = 0; k < sizeof(colours) / sizeof(*colours); k++) {
		struct kind kind = { .w = 7, .h = 9, .colour = colours[k][0],
			.depth = colours[k][1], .filter = MIXED, .smooth = true, .piece = 50 };
		struct bytes file = png(&kind), part = file;
		struct frame *frame;
		size_t refused = 0;

		for (part.n = 1; part.n < file.n; part.n++) {
			assert_true(*both(part, &frame));
			assert_null(frame);
		}
		for (size_t i = 0; i < file.n; i++) {
			file.at[i] ^= (unsigned char)(1 + hash((uint32_t)i) % 255);
			both(file, &frame);
			refused += !frame;
			frame_free(frame);
			file.at[i] ^= (unsigned char)(1 + hash((uint32_t)i) % 255);
		}
		assert_true(refused > file.n - 20);	/* signature, and some of no use */
		free(file.at);
	}
}

/* What is in the packed stream is damaged and the chunk's check sum is right. */
static void
test_stream_damage(void **state)
{
	struct kind kind = { .w = 13, .h = 21, .depth = 8, .filter = MIXED, .smooth = true };
	size_t n, same = 0;

	(void)state;
	for (int level = 1; level <= 9; level += 4) {
		struct bytes z;

		kind.level = level;
		z = packed(&kind, filtered(&kind));
		n = z.n;
		free(z.at);
		for (size_t i = 0; i < 8 * n; i++) {
			struct bytes file;
			struct frame *frame;

			z = packed(&kind, filtered(&kind));
			z.at[i / 8] ^= (unsigned char)(1 << i % 8);
			file = png_of(&kind, z);
			both(file, &frame);
			same += !!frame;
			frame_free(frame);
			free(file.at);
		}
	}
	assert_true(same < 40);
}

/* Of a stream that is right: too short, too long, followed by more, with a wrong sum or none. What
 * is there has the samples, and a warning of what is too much. */
static void
test_stream_length(void **state)
{
	static const char *const message[] = { "in.png: PNG: Not enough image data",
		SURPLUS("13 x 21"), "in.png: PNG: bad adaptive filter value",
		"in.png: PNG: IDAT: incorrect data check",
		"in.png: PNG: Not enough image data", SURPLUS("13 x 21"),
		"in.png: PNG: IDAT: incorrect header check", "" };
	struct kind kind = { .w = 13, .h = 21, .depth = 8, .filter = MIXED, .smooth = true };
	struct bytes z, file;
	struct frame *frame;

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct bytes raw = filtered(&kind);

		if (i == 0)
			raw.n--;
		if (i == 1)
			append(&raw, "\1", 1);
		if (i == 2)
			raw.at[(kind.w + 1) * 3] = 5;	/* no such filter */
		z = packed(&kind, raw);
		if (i == 3)
			z.at[z.n - 1] ^= 1;	/* Adler-32 */
		if (i == 4)
			z.n -= 4;
		if (i == 5)
			append(&z, "more", 4);
		if (i == 6)
			z.at[0] ^= 1, z.at[1] ^= 1;
		file = png_of(&kind, z);
		assert_string_equal(both(file, &frame), message[i]);
		if (frame)
			assert_samples(&kind, frame);
		frame_free(frame);
		assert_int_equal(is_taken(&kind, file), i == 7);
		free(file.at);
	}
	z = (struct bytes){ malloc(1), 0 };
	kind.empty = true;
	file = png_of(&kind, z);
	assert_true(*both(file, &frame));
	free(file.at);
}

/* n bytes that end where the process may touch no more. The same place each time. */
static unsigned char *
at_the_edge(size_t n, int which)
{
	static unsigned char *memory[2];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = 32 * page;

	assert_true(n <= room);
	if (!memory[which]) {
		memory[which] = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(memory[which] != MAP_FAILED);
		assert_int_equal(mprotect(memory[which] + room, page, PROT_NONE), 0);
	}
	return memory[which] + room - n;
}

/* How zlib packs n bytes, to an edge. */
static struct bytes
packed_at_the_edge(const unsigned char *from, size_t n, int level, int strategy)
{
	unsigned char out[1 << 17];
	struct bytes z;
	z_stream s = { .next_in = (unsigned char *)from, .avail_in = (uInt)n, .next_out = out,
		.avail_out = sizeof(out) };

	assert_int_equal(deflateInit2(&s, level, Z_DEFLATED, 15, 8, strategy), Z_OK);
	assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
	z = (struct bytes){ at_the_edge(s.total_out, 0), s.total_out };
	memcpy(z.at, out, z.n);
	deflateEnd(&s);
	return z;
}

/* One library: the bytes where the stream is whole, and not for a byte less or more, nor with a
 * byte behind it; of a damaged one the same bytes, or nothing. */
static void
assert_inflates(bool (*by)(const unsigned char *, size_t, unsigned char *, size_t),
    const unsigned char *from, size_t n, int level, int strategy)
{
	struct bytes z = packed_at_the_edge(from, n, level, strategy);
	unsigned char whole[1 << 17], *to = at_the_edge(n, 1);
	size_t passed = 0;

	assert_true(by(z.at, z.n, to, n));
	assert_memory_equal(to, from, n);
	assert_false(by(z.at, z.n, at_the_edge(n + 1, 1), n + 1));
	assert_false(n > 1 && by(z.at, z.n, at_the_edge(n - 1, 1), n - 1));
	for (size_t less = 1; less < 9; less++)
		assert_false(by(z.at, z.n - less, to, n));
	memcpy(whole, z.at, z.n);
	whole[z.n] = 0;
	assert_false(by(whole, z.n + 1, to, n));
	for (size_t i = 0; i < 200; i++) {	/* but for bits of codes that are not used */
		size_t bit = (i < 100 ? i : hash((uint32_t)i)) % (8 * z.n);

		z.at[bit / 8] ^= (unsigned char)(1 << bit % 8);
		if (by(z.at, z.n, to, n)) {
			assert_memory_equal(to, from, n);
			passed++;
		}
		z.at[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	assert_true(passed <= 40);
}

/* Both libraries; a test by igzip where it is installed. */
static void
test_inflate(void **state)
{
	static const size_t sizes[] = { 1, 2, 9, 100, 4099, 70001 };
	static const int strategies[] = { Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED };
	const bool isal = inflate_by_isal((const unsigned char *)"x\234K\4\0\0b\0b", 9,
	    at_the_edge(1, 1), 1);
	unsigned char bytes[70001];

	(void)state;
	for (int content = 0; content < 4; content++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)(content == 0 ? hash((uint32_t)i) :
			    content == 1 ? hash((uint32_t)i) % 5 - hash((uint32_t)i + 7) % 5 :
			    content == 2 ? i / 700 : hash((uint32_t)i % 3000) % 100);
		for (size_t i = 0; i < 6 * 4 * 2; i++) {
			size_t n = sizes[i % 6];
			int strategy = strategies[i / 6 % 4], level = i / 24 ? 9 : 1;

			assert_inflates(inflate_by_libdeflate, bytes, n, level, strategy);
			assert_inflates(inflate_whole, bytes, n, level, strategy);
			if (isal)
				assert_inflates(inflate_by_isal, bytes, n, level, strategy);
		}
	}
#if defined(__x86_64__) && __has_include(<isa-l/igzip_lib.h>)
	assert_true(isal);
#endif
}

/* ---- writing ---- */

enum content { NOISE, CAMERA, RUNS, FLAT, RAMP, SIGNS, STRIPES, TEXT, CONTENTS };

/* Samples of a frame that is to be written. RUNS: of every length up to 600. */
static unsigned
content_at(enum content content, size_t i, size_t x, size_t y)
{
	static const uint32_t bumps[] = { 0, 1, 0, 65535, 2, 0, 65534, 1 };

	switch (content) {
	case NOISE:
		return hash((uint32_t)i);
	case CAMERA:
		return (unsigned)(9000 + 30 * x + 20 * y + bumps[hash((uint32_t)i) % 8]);
	case RUNS:
		return hash((uint32_t)(i * 2 / (1 + i / 1200))) % 1000;
	case FLAT:
		return 77;
	case SIGNS:
		return hash((uint32_t)i) % 8 * 32;
	case STRIPES:
		return (unsigned)(x + 3 * y) / 20 % 2 * 255;
	case TEXT:		/* repeats without order, best without filter */
		return hash((uint32_t)(x / 16 + y / 9 * 99) % 7 * 16 + x % 16) % 200;
	default:
		return (unsigned)(x * 257);
	}
}

static struct frame *
written_frame(size_t w, size_t h, size_t c, enum sample type, enum content content)
{
	struct frame_head head;
	struct frame *frame;

	assert_int_equal(head_init(&head, w, h, c, type), 0);
	assert_int_equal(frame_new(&head, &frame), 0);
	head_free(&head);
	for (size_t k = 0; k < c; k++)
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++) {
				unsigned v = content_at(content, (k * h + y) * w + x, x, y);

				if (type == SAMPLE_UCHAR)
					((uint8_t *)frame_row(frame, k, y))[x] = (uint8_t)v;
				else
					((uint16_t *)frame_row(frame, k, y))[x] = (uint16_t)v;
			}
	return frame;
}

/* libpng, with zlib, reads what is written, and so do we. */
static void
assert_written(const struct frame *frame, const struct png_options *options)
{
	struct saver saver = { .path = "out.png", .options = options };
	struct bytes file = { 0 };
	struct frame *back;
	char *data;

	saver.file = open_memstream(&data, &file.n);
	assert_non_null(saver.file);
	assert_int_equal(png_save(&saver, frame), 0);
	fclose(saver.file);
	file.at = (unsigned char *)data;
	assert_string_equal(both(file, &back), "");
	assert_same(frame, back);
	frame_free(back);
	free(data);
}

static void
test_written(void **state)
{
	static const size_t written[][2] = { { 1, 1 }, { 5, 7 }, { 127, 1 }, { 1, 40 }, { 129, 65 },
		{ 63, 64 }, { 65, 64 }, { 256, 257 }, { 300, 260 } };
	static const struct png_options options[] = { { .level = OPT_NONE_INTEGER },
		{ .fast = true, .level = OPT_NONE_INTEGER }, { .level = 1 }, { .level = 12 } };

	(void)state;
	for (size_t s = 0; s < sizeof(written) / sizeof(*written); s++)
		for (size_t i = 0; i < 4 * CONTENTS * 2; i++)
			for (size_t o = 0; o < sizeof(options) / sizeof(*options); o++) {
				struct frame *frame = written_frame(written[s][0], written[s][1],
				    1 + i % 4, i / 4 % 2 ? SAMPLE_USHORT : SAMPLE_UCHAR,
				    (enum content)(i / 8));

				if (options[o].level != 12 || i % 16 == 0)
					assert_written(frame, &options[o]);
				frame_free(frame);
			}
}

/* The filters of all rows but the first of a file with one IDAT, 1 << each. */
static unsigned
filters_of(struct bytes file, size_t h, size_t row_bytes)
{
	const unsigned char *idat = memmem(file.at, file.n, "IDAT", 4);
	uLongf n = h * (row_bytes + 1);
	unsigned char *rows = malloc(n);
	unsigned filters = 0;

	assert_non_null(idat);
	assert_int_equal(uncompress(rows, &n, idat + 4, file.n - (size_t)(idat + 4 - file.at)),
	    Z_OK);
	assert_int_equal(n, h * (row_bytes + 1));
	for (size_t y = 1; y < h; y++)
		filters |= 1u << rows[y * (row_bytes + 1)];
	free(rows);
	return filters;
}

/* Pictures of few values have no filter; alike rows are written as differences from the one above.
 */
static void
test_filters_of_pictures(void **state)
{
	const size_t w = 400, h = 300;

	(void)state;
	for (int rows_alike = 0; rows_alike < 2; rows_alike++) {
		struct frame *frame = written_frame(w, h, 1, SAMPLE_UCHAR, FLAT), *back;
		const struct png_options options = { .level = OPT_NONE_INTEGER };
		struct saver saver = { .path = "out.png", .options = &options };
		struct bytes file = { 0 };
		char *data;

		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++)
				((uint8_t *)frame_row(frame, 0, y))[x] = (uint8_t)(rows_alike ?
				    hash((uint32_t)x) : hash((uint32_t)(x + w * y)) % 16 * 17);
		saver.file = open_memstream(&data, &file.n);
		assert_int_equal(png_save(&saver, frame), 0);
		fclose(saver.file);
		file.at = (unsigned char *)data;
		assert_int_equal(filters_of(file, h, w),
		    1u << (rows_alike ? FILTER_UP : FILTER_NONE));
		assert_string_equal(both(file, &back), "");
		assert_same(frame, back);
		frame_free(frame);
		frame_free(back);
		free(data);
	}
}

/* The bytes that libpng makes of 8-bit samples at a level, 0: as it is set up without a word. */
static size_t
libpng_bytes(const struct frame *frame, int level)
{
	static const int colour[] = { PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
		PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA };
	const struct frame_head *head = &frame->head;
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	unsigned char *row = malloc(head->w * head->c);
	size_t bytes;
	char *data;
	FILE *file = open_memstream(&data, &bytes);

	assert_non_null(file);
	png_init_io(png, file);
	png_set_IHDR(png, info, (png_uint_32)head->w, (png_uint_32)head->h, 8,
	    colour[head->c - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
	    PNG_FILTER_TYPE_DEFAULT);
	if (level)
		png_set_compression_level(png, level);
	png_write_info(png, info);
	for (size_t y = 0; y < head->h; y++) {
		samples_join(frame, y, row);
		png_write_row(png, row);
	}
	png_write_end(png, NULL);
	png_destroy_write_struct(&png, &info);
	fclose(file);
	free(data);
	free(row);
	return bytes;
}

/* The bytes of a file of ours. */
static size_t
our_bytes(const struct frame *frame, bool fast)
{
	const struct png_options options = { .fast = fast, .level = OPT_NONE_INTEGER };
	struct saver saver = { .path = "out.png", .options = &options };
	size_t bytes;
	char *data;

	saver.file = open_memstream(&data, &bytes);
	assert_int_equal(png_save(&saver, frame), 0);
	fclose(saver.file);
	free(data);
	assert_written(frame, &options);
	return bytes;
}

/* Oblique fringes and stripes without noise repeat many rows apart, where zlib searches longer: up
 * to 3.3 times the bytes of libpng, and of fringes no more than its level 1 by --fast. */
static void
test_oblique(void **state)
{
	(void)state;
	for (size_t c = 1; c <= 4; c++)
		for (int stripes = 0; stripes < 2; stripes++) {
			struct frame *frame = written_frame(640, 480, c, SAMPLE_UCHAR, FLAT);
			size_t bytes, fast;

			for (size_t k = 0; k < c && k < 3; k++)
				for (size_t y = 0; y < 480; y++)
					for (size_t x = 0; x < 640; x++) {
						double v = sin(0.105 * (double)x +
						    0.03 * (double)y + 2.094 * (double)k);

						((uint8_t *)frame_row(frame, k, y))[x] = (uint8_t)
						    (stripes ? v > 0 ? 255 : 0 : 127.5 + 120 * v);
					}
			bytes = our_bytes(frame, false);
			fast = our_bytes(frame, true);
			print_message("%zu channels, stripes %d: %zu bytes, libpng %zu; fast %zu, "
			    "level 1 %zu\n", c, stripes, bytes, libpng_bytes(frame, 0), fast,
			    libpng_bytes(frame, 1));
			assert_true(bytes <= libpng_bytes(frame, 0) * (stripes ? 150 : 330) / 100);
			assert_true(stripes || fast <= libpng_bytes(frame, 1));
			frame_free(frame);
		}
}

/* Fringes without noise of many directions and periods, large and small. */
static void
test_directions(void **state)
{
	static const struct {
		size_t size;
		double degrees, period;
	} kinds[] = { { 640, 88, 36 }, { 640, 20, 4.7 }, { 640, 45, 8 }, { 640, 30, 20 },
		{ 640, 61, 23.7 }, { 128, 45, 8 }, { 128, 30, 20 } };

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const size_t n = kinds[i].size;
		const double angle = kinds[i].degrees / 180 * acos(-1);
		struct frame *frame = written_frame(n, n, 1, SAMPLE_UCHAR, FLAT);
		size_t bytes, fast;

		for (size_t y = 0; y < n; y++)
			for (size_t x = 0; x < n; x++)
				((uint8_t *)frame_row(frame, 0, y))[x] = (uint8_t)(127.5 +
				    120 * sin(2 * acos(-1) / kinds[i].period *
				    (cos(angle) * (double)x + sin(angle) * (double)y)));
		bytes = our_bytes(frame, false);
		fast = our_bytes(frame, true);
		print_message("%zu, %g degrees, period %g: %zu bytes, libpng %zu; fast %zu, "
		    "level 1 %zu\n", n, kinds[i].degrees, kinds[i].period, bytes,
		    libpng_bytes(frame, 0), fast, libpng_bytes(frame, 1));
		assert_true(bytes <= libpng_bytes(frame, 0) * 215 / 100);
		assert_true(fast <= libpng_bytes(frame, 1) * 125 / 100);
		frame_free(frame);
	}
}

/* Small patterns whose rows repeat, and more so behind a filter: 15 times the bytes without one. */
static void
test_patterns(void **state)
{
	static const size_t sizes[][2] = { { 3, 1024 }, { 3, 1365 }, { 64, 64 }, { 128, 128 } };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		const size_t w = sizes[i / 2][0], h = sizes[i / 2][1];
		struct frame *frame = written_frame(w, h, 1, SAMPLE_UCHAR, FLAT);
		size_t bytes;

		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++)
				((uint8_t *)frame_row(frame, 0, y))[x] =
				    (uint8_t)(i % 2 ? x * y : x ^ y);
		bytes = our_bytes(frame, false);
		print_message("%zu x %zu, x %s y: %zu bytes, libpng %zu\n", w, h,
		    i % 2 ? "times" : "xor", bytes, libpng_bytes(frame, 0));
		assert_true(bytes <= 2 * libpng_bytes(frame, 0));
		frame_free(frame);
	}
}

/* Filters by the smallest sum of magnitudes, as the words of the specification have it. */
static void
test_filter_choice(void **state)
{
	unsigned char lines[2][16 + 600 + 16] = { 0 }, to[1 + 600 + 16];
	unsigned char *row = lines[0] + 16, *above = lines[1] + 16;

	(void)state;
	for (size_t round = 0; round < 2000; round++) {
		size_t size = (size_t[]){ 1, 2, 3, 4, 6, 8 }[round % 6];
		size_t n = size * (1 + hash((uint32_t)round) % (600 / size));
		unsigned long sum[5] = { 0 };
		int best = 0;

		memset(lines, 0, sizeof(lines));
		for (size_t i = 0; i < n; i++) {
			above[i] = (unsigned char)(hash((uint32_t)(i + round)) % 9 +
			    i * (round % 4));
			row[i] = (unsigned char)(hash((uint32_t)(i * 3 + round)) %
			    (round % 50 + 1) + (round % 7 ? above[i] : 0));
		}
		for (int f = 0; f < 5; f++)
			for (size_t i = 0; i < n; i++) {
				uint8_t d = (uint8_t)(row[i] - predict(f, row[i - size], above[i],
				    above[i - size]));

				sum[f] += d < 128 ? d : 256u - d;
			}
		for (int f = 1; f < 5; f++)
			best = sum[f] < sum[best] ? f : best;
		filter_row(row, above, n, size, to);
		assert_int_equal(to[0], best);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(to[1 + i], (uint8_t)(row[i] - predict(best, row[i - size],
			    above[i], above[i - size])));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_palette),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_keys_behind),
		cmocka_unit_test(test_check_sums),
		cmocka_unit_test(test_unreadable_chunks),
		cmocka_unit_test(test_inflate),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_stream_damage),
		cmocka_unit_test(test_stream_length),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_filters_of_pictures),
		cmocka_unit_test(test_oblique),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_filter_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
