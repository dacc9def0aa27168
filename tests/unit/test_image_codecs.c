/* Every image format: what is written is read back bit for bit, and no damaged file does harm. */
#define _GNU_SOURCE
#include "frames.h"

#include <stdlib.h>
#include <unistd.h>

#include <png.h>
#include <tiffio.h>

#include "io/source.h"
#include "io/target.h"

extern const struct codec codec_png, codec_tiff, codec_pfm, codec_jpeg, codec_bmp, codec_pnm,
    codec_npy, codec_ply, codec_obj;

static const size_t sizes[][2] = { { 1, 1 }, { 5, 7 }, { 127, 1 }, { 128, 64 }, { 129, 65 } };

#define TYPE(t) (1u << (t))
#define INTEGERS (TYPE(SAMPLE_UCHAR) | TYPE(SAMPLE_USHORT))

static struct format {
	const struct codec *codec;
	const char *path;
	unsigned types;
	size_t most_channels;
	bool keeps_meta;
} const formats[] = {
	{ &codec_png, "a.png", INTEGERS, 4, true },
	{ &codec_tiff, "a.tif", INTEGERS | TYPE(SAMPLE_FLOAT), 9, true },
	{ &codec_pfm, "a.pfm", TYPE(SAMPLE_FLOAT), 3, false },
	{ &codec_pnm, "a.pnm", INTEGERS, 9, true },
	{ &codec_pnm, "a.pam", INTEGERS, 9, true },
	{ &codec_npy, "a.npy", INTEGERS | TYPE(SAMPLE_FLOAT), 9, false },
	{ &codec_jpeg, "a.jpg", TYPE(SAMPLE_UCHAR), 3, true },
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

static struct frame *
make_frame(size_t w, size_t h, size_t c, enum sample type)
{
	struct frame *frame = frame_of_size(w, h, c, type);

	for (size_t k = 0; k < c; k++)
		for (size_t y = 0; y < h; y++)
			for (size_t x = 0; x < w; x++) {
				uint32_t v = hash((uint32_t)((k * h + y) * w + x + 1));
				void *row = frame_row(frame, k, y);

				if (type == SAMPLE_UCHAR)
					((uint8_t *)row)[x] = (uint8_t)v;
				else if (type == SAMPLE_USHORT)
					((uint16_t *)row)[x] = (uint16_t)v;
				else	/* any bits: NaN payloads and infinities too */
					((uint32_t *)row)[x] = v % 5 ? v : 0x7fc00000 | v;
			}
	return frame;
}

static void
assert_same_names(const struct frame *a, const struct frame *b)
{
	for (size_t c = 0; c < a->head.c; c++)
		assert_string_equal(a->head.channel[c], b->head.channel[c]);
	assert_true(meta_equal(&a->head.meta, &b->head.meta));
}

static void
assert_done(int status, int expected)
{
	if (status != expected)
		print_error("status %d: %s\n", status,
		    fail_message() ? fail_message() : "no message");
	assert_int_equal(status, expected);
}

/* A tool's options, of which each codec takes its own. */
struct values {
	double jump;
	bool fast, ascii, points;
};

static const struct opt table[] = {
	{ 0, "fast", NULL, OPT_FLAG, offsetof(struct values, fast) },
	{ 0, "ascii", NULL, OPT_FLAG, offsetof(struct values, ascii) },
	{ 0, "jump", "Z", OPT_NUMBER, offsetof(struct values, jump) },
	{ 0, "points", NULL, OPT_FLAG, offsetof(struct values, points) },
	{ 0 },
};

/* The frames in a new file, opened at its start. */
static FILE *
save(const struct codec *codec, const char *path, struct frame *const *frames, size_t n,
    const struct save_options *options)
{
	FILE *file = tmpfile();
	struct saver saver = { .file = file, .path = path };
	void *own;

	assert_non_null(file);
	own = codec_options_new(codec, options);
	saver.options = own;
	for (; saver.frames < n; saver.frames++)
		assert_done(codec->save(&saver, frames[saver.frames]), 0);
	if (codec->save_end)
		assert_done(codec->save_end(&saver), 0);
	codec_options_free(codec, own);
	rewind(file);
	return file;
}

/* All frames of a file (at most `most`): how many, or -1 after a failure. */
static int
load(const struct codec *codec, FILE *file, struct frame **frames, size_t most)
{
	struct loader loader = { .file = file, .path = "in" };
	int status = 1;

	while (loader.frames < most) {
		status = codec->load(&loader, &frames[loader.frames]);
		if (status <= 0)
			break;
		loader.frames++;
		if (!codec->many && !codec->concatenates)
			break;
	}
	if (codec->load_end)
		codec->load_end(&loader);
	if (status < 0)
		for (size_t i = 0; i < loader.frames; i++)
			frame_free(frames[i]);
	return status < 0 ? -1 : (int)loader.frames;
}

static struct frame *
load_one(const struct codec *codec, FILE *file)
{
	struct frame *frames[4] = { NULL };
	unsigned char start[512];
	size_t n = fread(start, 1, sizeof(start), file);

	rewind(file);
	assert_true(codec->sniff(start, n));
	assert_done(load(codec, file, frames, 4), 1);
	fclose(file);
	return frames[0];
}

static enum sample
easiest_type(const struct format *format)
{
	return format->types & TYPE(SAMPLE_UCHAR) ? SAMPLE_UCHAR : SAMPLE_FLOAT;
}

static bool
can_hold(const struct format *format, enum sample type, size_t channels)
{
	if ((format->codec == &codec_pfm || format->codec == &codec_jpeg) && channels == 2)
		return false;
	return format->types & TYPE(type) && channels <= format->most_channels;
}

static void
round_trip(const struct format *format, const struct frame *frame)
{
	struct frame *copy = (struct frame *)frame;
	FILE *file = save(format->codec, format->path, &copy, 1, NULL);
	struct frame *back = load_one(format->codec, file);

	if (format->codec != &codec_jpeg)
		assert_same_pixels(frame, back);
	if (format->keeps_meta)
		assert_same_names(frame, back);
	frame_free(back);
}

static void
test_round_trips(void **state)
{
	(void)state;
	for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
			for (enum sample type = SAMPLE_UCHAR; type <= SAMPLE_FLOAT; type++)
				for (size_t c = 1; c <= 9; c++) {
					struct frame *frame;

					if (!can_hold(&formats[f], type, c))
						continue;
					frame = make_frame(sizes[s][0], sizes[s][1], c, type);
					round_trip(&formats[f], frame);
					frame_free(frame);
				}
}

static void
test_metadata(void **state)
{
	(void)state;
	for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++) {
		const struct format *format = &formats[f];
		enum sample type = easiest_type(format);
		struct frame *frame = make_frame(64, 48, 3, type), *back;

		assert_int_equal(head_set_channels(&frame->head, "phase1 phase2 mask"), 0);
		assert_int_equal(meta_set(&frame->head.meta, "period_px", "60 66.5"), 0);
		assert_int_equal(meta_set(&frame->head.meta, "cmd.1", "phasewrap -n 3 %2Cx"), 0);
		back = load_one(format->codec, save(format->codec, format->path, &frame, 1, NULL));
		if (format->keeps_meta)
			assert_same_names(frame, back);
		frame_free(back);
		frame_free(frame);
	}
}

/* Text longer than a JPEG marker, and with bytes beyond ASCII. */
static void
test_long_metadata(void **state)
{
	char *value = malloc(150001);

	(void)state;
	for (size_t i = 0; i < 150000; i++)
		value[i] = "abc \xc3\xa9"[i % 6];
	value[150000] = '\0';
	for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++) {
		enum sample type = easiest_type(&formats[f]);
		struct frame *frame = make_frame(16, 16, 1, type), *back;

		assert_int_equal(meta_set(&frame->head.meta, "note", value), 0);
		back = load_one(formats[f].codec,
		    save(formats[f].codec, formats[f].path, &frame, 1, NULL));
		if (formats[f].keeps_meta)
			assert_string_equal(meta_get(&back->head.meta, "note"), value);
		frame_free(back);
		frame_free(frame);
	}
	free(value);
}

static void
test_fast_png(void **state)
{
	struct values values = { .fast = true };
	struct save_options options = { table, &values };
	struct frame *frame = make_frame(129, 65, 3, SAMPLE_USHORT), *back;

	(void)state;
	back = load_one(&codec_png, save(&codec_png, "a.png", &frame, 1, &options));
	assert_same_pixels(frame, back);
	frame_free(back);
	frame_free(frame);
}

/* The key bits:=1 makes a PNG of one bit a sample, whose values stay 0 and 1. */
static void
test_one_bit_png(void **state)
{
	struct frame *frame = make_frame(129, 65, 1, SAMPLE_UCHAR), *back;
	unsigned char header[32];
	FILE *file;

	(void)state;
	for (size_t y = 0; y < 65; y++)
		for (size_t x = 0; x < 129; x++)
			((uint8_t *)frame_row(frame, 0, y))[x] &= 1;
	assert_int_equal(meta_set(&frame->head.meta, "bits", "1"), 0);
	file = save(&codec_png, "a.png", &frame, 1, NULL);
	assert_int_equal(fread(header, 1, 32, file), 32);
	assert_int_equal(header[24], 1);
	rewind(file);
	back = load_one(&codec_png, file);
	assert_same_pixels(frame, back);
	assert_same_names(frame, back);
	frame_free(back);
	/* a value that does not fit keeps eight bits */
	((uint8_t *)frame_row(frame, 0, 3))[4] = 7;
	back = load_one(&codec_png, save(&codec_png, "a.png", &frame, 1, NULL));
	assert_same_pixels(frame, back);
	frame_free(back);
	frame_free(frame);
}

static void
test_tiff_pages(void **state)
{
	struct frame *frames[3] = { make_frame(5, 7, 1, SAMPLE_FLOAT),
		make_frame(129, 65, 3, SAMPLE_UCHAR), make_frame(400, 900, 4, SAMPLE_USHORT) };
	struct frame *back[5] = { NULL };
	FILE *file = save(&codec_tiff, "a.tif", frames, 3, NULL);

	(void)state;
	assert_done(load(&codec_tiff, file, back, 5), 3);
	fclose(file);
	for (int i = 0; i < 3; i++) {
		assert_same_pixels(frames[i], back[i]);
		frame_free(back[i]);
		frame_free(frames[i]);
	}
}

/* Each shorter beginning of a file fails with a message, or still has all frames, unharmed. */
static void
test_truncation(void **state)
{
	(void)state;
	for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++) {
		const struct codec *codec = formats[f].codec;
		enum sample type = easiest_type(&formats[f]);
		struct frame *frame = make_frame(5, 7, 3, type), *back[2] = { NULL };
		FILE *file = save(codec, formats[f].path, &frame, 1, NULL);
		unsigned char bytes[8192];
		struct frame *whole;
		size_t n = fread(bytes, 1, sizeof(bytes), file);

		rewind(file);
		whole = load_one(codec, file);
		assert_in_range(n, 1, sizeof(bytes) - 1);
		for (size_t cut = 1; cut < n; cut++) {
			int status;

			file = fmemopen(bytes, cut, "r");
			status = load(codec, file, back, 1);
			fclose(file);
			if (status < 0)
				assert_non_null(fail_message());
			fail_clear();
			if (status > 0) {
				assert_same_pixels(whole, back[0]);
				frame_free(back[0]);
			}
		}
		frame_free(whole);
		frame_free(frame);
	}
}

static FILE *
file_of(const void *bytes, size_t n)
{
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	rewind(file);
	return file;
}

static void
assert_loads(const struct codec *codec, const void *bytes, size_t n, const char *channels,
    const int *expected)
{
	struct frame *frame = load_one(codec, file_of(bytes, n));
	char *names = head_channels(&frame->head);
	const int *v = expected;

	assert_string_equal(names, channels);
	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < frame->head.h; y++)
			for (size_t x = 0; x < frame->head.w; x++) {
				const void *row = frame_row(frame, c, y);

				assert_int_equal(frame->head.type == SAMPLE_UCHAR ?
				    ((const uint8_t *)row)[x] : ((const uint16_t *)row)[x], *v++);
			}
	free(names);
	frame_free(frame);
}

static void
assert_fails(const struct codec *codec, const void *bytes, size_t n, const char *message)
{
	FILE *file = file_of(bytes, n);
	struct frame *none;

	assert_int_equal(load(codec, file, &none, 1), -1);
	assert_string_equal(fail_message(), message);
	fail_clear();
	fclose(file);
}

static void
test_smooth_jpeg(void **state)
{
	struct frame *frame = make_frame(129, 65, 3, SAMPLE_UCHAR), *back;

	(void)state;
	for (size_t c = 0; c < 3; c++)
		for (size_t y = 0; y < 65; y++)
			for (size_t x = 0; x < 129; x++)
				((uint8_t *)frame_row(frame, c, y))[x] = (uint8_t)(x + y + 20 * c);
	back = load_one(&codec_jpeg, save(&codec_jpeg, "a.jpg", &frame, 1, NULL));
	for (size_t c = 0; c < 3; c++)
		for (size_t y = 0; y < 65; y++)
			for (size_t x = 0; x < 129; x++) {
				const uint8_t *row = frame_row(back, c, y);
				int d = row[x] - (int)(x + y + 20 * c);

				assert_in_range(d + 4, 0, 8);
			}
	frame_free(back);
	frame_free(frame);
}

static void
test_pnm_texts(void **state)
{
	static const char p1[] = "P1\n# a comment\n3 2\n101\n0 1 0";
	static const char p2[] = "P2 2 2 4095 0 4095\n7 # more\n8\n";
	static const char p3[] = "P3 1 1 255\n1 2 3\n";
	static const char p4[] = "P4\n# bits:=1\n9 1\n\xaa\x80";
	static const char p5[] = "P5 2 1 1023\n\x01\x02\x03\xff";
	static const char two[] = "P5 1 1 255\nAP5 1 1 255\nB\n";
	struct frame *back[3] = { NULL };
	FILE *file = file_of(two, sizeof(two) - 1);

	(void)state;
	assert_loads(&codec_pnm, p1, sizeof(p1) - 1, "image", (int[]){ 0, 255, 0, 255, 0, 255 });
	assert_loads(&codec_pnm, p2, sizeof(p2) - 1, "image", (int[]){ 0, 4095, 7, 8 });
	assert_loads(&codec_pnm, p3, sizeof(p3) - 1, "r g b", (int[]){ 1, 2, 3 });
	assert_loads(&codec_pnm, p4, sizeof(p4) - 1, "image", (int[]){ 0, 1, 0, 1, 0, 1, 0, 1, 0 });
	assert_loads(&codec_pnm, p5, sizeof(p5) - 1, "image", (int[]){ 258, 1023 });
	assert_done(load(&codec_pnm, file, back, 3), 2);
	assert_int_equal(*(uint8_t *)frame_row(back[0], 0, 0), 'A');
	assert_int_equal(*(uint8_t *)frame_row(back[1], 0, 0), 'B');
	frame_free(back[0]);
	frame_free(back[1]);
	fclose(file);
}

/* A maxval other than full scale is the key max_value, and is written again. */
static void
test_pnm_maxval(void **state)
{
	static const char text[] = "P5 2 1 4095\n\x01\x02\x0f\xff";
	struct frame *frame = load_one(&codec_pnm, file_of(text, sizeof(text) - 1)), *back;
	char start[256] = "";
	FILE *file;

	(void)state;
	assert_string_equal(meta_get(&frame->head.meta, "max_value"), "4095");
	file = save(&codec_pnm, "a.pgm", &frame, 1, NULL);
	assert_true(fread(start, 1, sizeof(start) - 1, file) > 0);
	assert_non_null(strstr(start, "\n4095\n"));
	rewind(file);
	back = load_one(&codec_pnm, file);
	assert_same_pixels(frame, back);
	assert_same_names(frame, back);
	frame_free(back);
	frame_free(frame);
}

static void
test_pbm(void **state)
{
	struct frame *frame = make_frame(129, 65, 1, SAMPLE_UCHAR), *back;

	(void)state;
	for (size_t y = 0; y < 65; y++)
		for (size_t x = 0; x < 129; x++)
			((uint8_t *)frame_row(frame, 0, y))[x] &= 1;
	assert_int_equal(meta_set(&frame->head.meta, "bits", "1"), 0);
	back = load_one(&codec_pnm, save(&codec_pnm, "a.pbm", &frame, 1, NULL));
	assert_same_pixels(frame, back);
	frame_free(back);
	frame_free(frame);
}

/* A BMP header of 54 bytes with two rows of one pixel, or of what `bits` makes of 4 bytes. */
static size_t
make_bmp(unsigned char bmp[128], int w, int h, int bits, int compression, int palette)
{
	int start = 54 + palette * 4;

	memset(bmp, 0, 128);
	memcpy(bmp, "BM", 2);
	memcpy(bmp + 10, &start, 4);
	bmp[14] = 40;
	memcpy(bmp + 18, &w, 4);
	memcpy(bmp + 22, &h, 4);
	bmp[26] = 1;
	bmp[28] = (unsigned char)bits;
	bmp[30] = (unsigned char)compression;
	bmp[46] = (unsigned char)palette;
	return (size_t)start;
}

static void
test_bmp(void **state)
{
	unsigned char bmp[128];
	size_t at = make_bmp(bmp, 1, 2, 24, 0, 0);

	(void)state;
	memcpy(bmp + at, "\1\2\3\0\4\5\6\0", 8);
	assert_loads(&codec_bmp, bmp, at + 8, "r g b", (int[]){ 6, 3, 5, 2, 4, 1 });
	at = make_bmp(bmp, 1, -2, 24, 0, 0);
	memcpy(bmp + at, "\1\2\3\0\4\5\6\0", 8);
	assert_loads(&codec_bmp, bmp, at + 8, "r g b", (int[]){ 3, 6, 2, 5, 1, 4 });
	at = make_bmp(bmp, 3, 1, 4, 0, 2);
	memcpy(bmp + 54, "\7\7\7\0\x9\x9\x9\0\x10\xf0\0\0", 12);
	assert_loads(&codec_bmp, bmp, at + 4, "image", (int[]){ 9, 7, 0 });
	at = make_bmp(bmp, 2, 1, 16, 0, 0);
	memcpy(bmp + at, "\x1f\0\0\x7c", 4);
	assert_loads(&codec_bmp, bmp, at + 4, "r g b", (int[]){ 0, 255, 0, 0, 255, 0 });
	at = make_bmp(bmp, 1, 1, 8, 1, 2);
	assert_fails(&codec_bmp, bmp, at + 4,
	    "in: BMP compression 1 is not read (1 and 2 are run lengths)");
	at = make_bmp(bmp, 2000000000, -2000000000, 32, 0, 0);
	assert_fails(&codec_bmp, bmp, 128,
	    "in: is too large: 8000000000 x 2000000000 x 1 samples of 8 bits");
	make_bmp(bmp, 20000, 20000, 32, 0, 0);
	assert_fails(&codec_bmp, bmp, 128,
	    "in: ends too early: 80000 x 20000 x 1 samples of 8 bits cannot lie in the "
	    "74 bytes left");
}

static char *
mesh_text(const struct codec *codec, struct frame *frame, const struct save_options *options)
{
	FILE *file = save(codec, "a", &frame, 1, options);
	char *text = calloc(1, 65536);

	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

/* A 3x3 height field with a hole in one corner and a step in the other. */
static void
test_meshes(void **state)
{
	struct values values = { .ascii = true };
	struct save_options options = { table, &values };
	struct frame *frame = make_frame(3, 3, 1, SAMPLE_FLOAT);
	char *text;

	(void)state;
	for (size_t y = 0; y < 3; y++)
		for (size_t x = 0; x < 3; x++)
			frame_floats(frame, 0, y)[x] = (float)(x + y);
	frame_floats(frame, 0, 0)[0] = __builtin_nanf("");
	frame_floats(frame, 0, 2)[2] = 100;
	frame->head.spacing[0] = frame->head.spacing[1] = 1;
	assert_int_equal(head_set_channels(&frame->head, "height"), 0);
	text = mesh_text(&codec_ply, frame, &options);
	assert_non_null(strstr(text, "comment x to the right, y down, z towards the camera\n"));
	assert_non_null(strstr(text, "element vertex 8\n"));
	assert_non_null(strstr(text, "element face 6\n"));	/* 1 + 2 + 2 + 1 */
	assert_non_null(strstr(text, "end_header\n1 0 1\n2 0 2\n0 1 1\n"));
	assert_non_null(strstr(text, "\n3 3 2 0\n"));
	free(text);
	assert_int_equal(meta_set(&frame->head.meta, "z_axis", "away"), 0);
	text = mesh_text(&codec_ply, frame, &options);
	assert_non_null(strstr(text, "z away from the camera\n"));
	assert_non_null(strstr(text, "\n3 0 2 3\n"));
	free(text);
	meta_remove(&frame->head.meta, "z_axis");
	values.jump = 0.5;
	text = mesh_text(&codec_ply, frame, &options);
	assert_non_null(strstr(text, "element face 0\n"));
	free(text);
	values.points = true;
	text = mesh_text(&codec_ply, frame, &options);
	assert_null(strstr(text, "element face"));
	free(text);
	text = mesh_text(&codec_obj, frame, NULL);
	assert_non_null(strstr(text, "# channels:=height\n# Vertices: 8\n# Faces: 6\n"
	    "v 1 0 1\nv 2 0 2\nv 0 1 1\n"));
	assert_non_null(strstr(text, "\nf 4 3 1\n"));
	free(text);
	frame_free(frame);
}

static void
test_binary_ply(void **state)
{
	struct frame *frame = make_frame(2, 2, 7, SAMPLE_USHORT);
	static const char start[] = "ply\nformat binary_little_endian 1.0\n";
	FILE *file;
	size_t n;
	char bytes[2048] = "", *body;

	(void)state;
	assert_int_equal(head_set_channels(&frame->head, "x y z nx ny nz texture"), 0);
	for (size_t y = 0; y < 2; y++)	/* flat */
		for (size_t x = 0; x < 2; x++)
			((uint16_t *)frame_row(frame, 2, y))[x] = 5;
	file = save(&codec_ply, "a.ply", &frame, 1, NULL);
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_memory_equal(bytes, start, sizeof(start) - 1);
	body = strstr(bytes, "end_header\n") + 11;
	assert_int_equal(n - (size_t)(body - bytes), 4 * 27 + 2 * 13);
	assert_int_equal(body[4 * 27], 3);
	frame_free(frame);
}

static void
assert_refused(const struct codec *codec, const char *path, enum sample type, size_t c,
    const char *message)
{
	struct frame *frame = make_frame(5, 7, c, type);
	FILE *file = tmpfile();
	struct saver saver = { .file = file, .path = path };
	void *own;

	own = codec_options_new(codec, NULL);
	saver.options = own;
	assert_int_equal(codec->save(&saver, frame), -1);
	if (codec->save_end)
		codec->save_end(&saver);
	codec_options_free(codec, own);
	assert_string_equal(fail_message(), message);
	fail_clear();
	fclose(file);
	frame_free(frame);
}

static void
test_refusals(void **state)
{
	(void)state;
	assert_refused(&codec_png, "a.png", SAMPLE_FLOAT, 1,
	    "a.png: PNG holds 8 or 16 bits a sample, not float (use framecat --scale, or a TIFF, "
	    "PFM or NRRD file)");
	assert_refused(&codec_png, "a.png", SAMPLE_UCHAR, 5,
	    "a.png: PNG holds 1 to 4 channels, not 5 (use framecat --channels, or "
	    "--split for a file each)");
	assert_refused(&codec_jpeg, "a.jpg", SAMPLE_USHORT, 1,
	    "a.jpg: JPEG holds 8 bits a sample, not ushort (use framecat --scale, or a TIFF "
	    "or NRRD file)");
	assert_refused(&codec_pnm, "a.ppm", SAMPLE_UCHAR, 1,
	    "a.ppm: PPM holds 3 channels, not 1 (use a PGM or PAM file)");
	assert_refused(&codec_ply, "a.ply", SAMPLE_FLOAT, 2,
	    "a.ply: a mesh needs channels x y z, or one of z, depth, height, not image1 image2 "
	    "(framecat --set 'channels=NAME ...' names them)");
	assert_refused(&codec_pfm, "a.pfm", SAMPLE_FLOAT, 2,
	    "a.pfm: PFM holds 1 or 3 channels, not 2 (use framecat --channels, or "
	    "--split for a file each)");
}

/* What a foreign TIFF is made of; its samples are those of foreign_value(). */
struct foreign {
	const char *mode;
	uint16_t bits, format, channels, planar, photometric, compression;
	uint32_t tile;		/* width and height of tiles; 0: strips of 4 rows */
};

enum { FOREIGN_W = 40, FOREIGN_H = 35 };

static int
foreign_value(const struct foreign *f, size_t x, size_t y, size_t c)
{
	int v = (int)hash((uint32_t)((y * FOREIGN_W + x) * 8 + c)) & 0x7f;

	return f->bits == 1 ? v & 1 : f->format == SAMPLEFORMAT_INT ? v - 64 : v;
}

static void
put_value(const struct foreign *f, unsigned char *row, size_t i, int v)
{
	if (f->bits == 1)
		row[i / 8] |= (unsigned char)(v << (7 - i % 8));
	else if (f->format == SAMPLEFORMAT_IEEEFP && f->bits == 64)
		((double *)row)[i] = v / 4.0;
	else if (f->format == SAMPLEFORMAT_IEEEFP)
		((float *)row)[i] = (float)(v / 4.0);
	else if (f->bits == 8)
		row[i] = (unsigned char)v;
	else if (f->bits == 16)
		((uint16_t *)row)[i] = (uint16_t)v;
	else
		((uint32_t *)row)[i] = (uint32_t)v;
}

static void
write_blocks(TIFF *tif, const struct foreign *f)
{
	size_t w = f->tile ? f->tile : FOREIGN_W, h = f->tile ? f->tile : 4;
	size_t count = f->planar == PLANARCONFIG_CONTIG ? f->channels : 1;
	size_t row_size = (w * count * f->bits + 7) / 8;
	unsigned char *block = malloc(row_size * h);
	uint32_t n = 0;

	for (size_t plane = 0; plane < f->channels / count; plane++)
		for (size_t y = 0; y < FOREIGN_H; y += h)
			for (size_t x = 0; x < FOREIGN_W; x += w, n++) {
				size_t rows = !f->tile && FOREIGN_H - y < h ? FOREIGN_H - y : h;
				tmsize_t size = (tmsize_t)(row_size * rows);

				memset(block, 0, row_size * h);
				for (size_t i = 0; i < rows * w * count; i++)
					put_value(f, block + i / (w * count) * row_size,
					    i % (w * count), foreign_value(f, x + i / count % w,
					    y + i / count / w, plane + i % count));
				assert_int_equal(f->tile ?
				    TIFFWriteEncodedTile(tif, n, block, size) :
				    TIFFWriteEncodedStrip(tif, n, block, size), size);
			}
	free(block);
}

static FILE *
write_foreign(const struct foreign *f)
{
	FILE *file = tmpfile();
	TIFF *tif = TIFFFdOpen(dup(fileno(file)), "foreign", f->mode);

	assert_non_null(tif);
	TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, FOREIGN_W);
	TIFFSetField(tif, TIFFTAG_IMAGELENGTH, FOREIGN_H);
	TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, f->bits);
	TIFFSetField(tif, TIFFTAG_SAMPLEFORMAT, f->format);
	TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, f->channels);
	TIFFSetField(tif, TIFFTAG_PLANARCONFIG, f->planar);
	TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, f->photometric);
	TIFFSetField(tif, TIFFTAG_COMPRESSION, f->compression);
	if (f->tile) {
		TIFFSetField(tif, TIFFTAG_TILEWIDTH, f->tile);
		TIFFSetField(tif, TIFFTAG_TILELENGTH, f->tile);
	} else {
		TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, 4);
	}
	write_blocks(tif, f);
	TIFFClose(tif);
	rewind(file);
	return file;
}

static double
foreign_expected(const struct foreign *f, size_t x, size_t y, size_t c)
{
	int v = foreign_value(f, x, y, c);

	if (f->bits == 1)
		v *= 255;
	if (f->photometric == PHOTOMETRIC_MINISWHITE)
		v = (f->bits == 16 ? 65535 : 255) - v;
	return f->format == SAMPLEFORMAT_IEEEFP ? v / 4.0 : v;
}

static double
sample_at(const struct frame *frame, size_t x, size_t y, size_t c)
{
	const void *row = frame_row(frame, c, y);

	if (frame->head.type == SAMPLE_UCHAR)
		return ((const uint8_t *)row)[x];
	if (frame->head.type == SAMPLE_USHORT)
		return ((const uint16_t *)row)[x];
	return ((const float *)row)[x];
}

static void
test_foreign_tiff(void **state)
{
	static const struct foreign files[] = {
		{ "w", 8, 1, 1, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 16 },
		{ "w", 8, 1, 3, 1, PHOTOMETRIC_RGB, COMPRESSION_LZW, 0 },
		{ "w", 8, 1, 3, 2, PHOTOMETRIC_RGB, COMPRESSION_ADOBE_DEFLATE, 32 },
		{ "wb", 16, 1, 3, 1, PHOTOMETRIC_RGB, COMPRESSION_NONE, 16 },
		{ "wb", 16, 1, 1, 1, PHOTOMETRIC_MINISWHITE, COMPRESSION_ADOBE_DEFLATE, 0 },
		{ "w", 16, 2, 1, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0 },
		{ "wb", 32, 2, 2, 2, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0 },
		{ "w8b", 32, 3, 5, 2, PHOTOMETRIC_MINISBLACK, COMPRESSION_LZW, 48 },
		{ "wb", 64, 3, 2, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 0 },
		{ "w", 1, 1, 1, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_PACKBITS, 0 },
		{ "w", 1, 1, 1, 1, PHOTOMETRIC_MINISWHITE, COMPRESSION_CCITTFAX4, 0 },
		{ "w", 1, 1, 1, 1, PHOTOMETRIC_MINISBLACK, COMPRESSION_NONE, 16 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const struct foreign *f = &files[i];
		struct frame *frame = load_one(&codec_tiff, write_foreign(f));

		assert_int_equal(frame->head.c, f->channels);
		for (size_t c = 0; c < f->channels; c++)
			for (size_t y = 0; y < FOREIGN_H; y++)
				for (size_t x = 0; x < FOREIGN_W; x++)
					assert_true(sample_at(frame, x, y, c) ==
					    foreign_expected(f, x, y, c));
		frame_free(frame);
	}
}

/* An interlaced PNG whose grey value 3 is transparent. */
static void
test_interlaced_png(void **state)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png_create_info_struct(png);
	png_color_16 clear = { .gray = 3 };
	unsigned char image[65][129], *rows[65];
	struct frame *frame;
	FILE *file = tmpfile();

	(void)state;
	for (size_t y = 0; y < 65; y++) {
		rows[y] = image[y];
		for (size_t x = 0; x < 129; x++)
			image[y][x] = (unsigned char)hash((uint32_t)(y * 129 + x)) & 15;
	}
	png_init_io(png, file);
	png_set_IHDR(png, info, 129, 65, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, 0, 0);
	png_set_tRNS(png, info, NULL, 0, &clear);
	png_set_rows(png, info, rows);
	png_write_png(png, info, 0, NULL);
	png_destroy_write_struct(&png, &info);
	rewind(file);
	frame = load_one(&codec_png, file);
	assert_string_equal(frame->head.channel[0], "image");
	assert_string_equal(frame->head.channel[1], "a");
	for (size_t y = 0; y < 65; y++)
		for (size_t x = 0; x < 129; x++) {
			assert_true(sample_at(frame, x, y, 0) == image[y][x]);
			assert_true(sample_at(frame, x, y, 1) == (image[y][x] == 3 ? 0 : 255));
		}
	frame_free(frame);
}

/* Does the codec take a file that had `bytes` when it was opened, without a stream? */
static bool
load_whole(const struct codec *codec, FILE *file, size_t bytes, struct frame **out)
{
	struct whole_file whole = { .fd = fileno(file), .path = "in", .bytes = bytes };
	ssize_t n = pread(whole.fd, whole.start, sizeof(whole.start), 0);
	int got;

	assert_true(n > 0);
	whole.n = (size_t)n;
	got = codec->load_whole(&whole, out);
	assert_null(fail_message());
	assert_true(got == 1 ? *out != NULL : got == 0 && !*out);
	return got == 1;
}

/* Memory that the next frame of this head gets is full of ones. */
static void
leave_ones(const struct frame_head *head)
{
	struct frame *frame;

	assert_int_equal(frame_new_unset(head, &frame), 0);
	for (size_t c = 0; c < head->c; c++)
		memset(frame_row(frame, c, 0), 0xff, frame->plane[c].stride * head->h);
	frame_free(frame);
}

static void
assert_padded_with_zeros(const struct frame *frame)
{
	const size_t bytes = frame->head.w * sample_size(frame->head.type);

	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < frame->head.h; y++) {
			const char *row = frame_row(frame, c, y);

			for (size_t i = bytes; i < frame->plane[c].stride; i++)
				assert_int_equal(row[i], 0);
		}
}

/* Wide rows, of several pieces and with padding, and more rows than one call fills. */
static const size_t wide_sizes[][2] = { { 1, 1 }, { 5, 7 }, { 129, 65 }, { 1601, 7 }, { 410, 1100 },
	{ 1546, 1030 }, { 70000, 2 } };

/* Files of one frame are read without a stream as with one, unless they are longer or shorter than
 * they were. */
static void
test_without_a_stream(void **state)
{
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; i < 7 * 9 * sizeof(formats) / sizeof(*formats); i++) {
		const struct format *format = &formats[i / 63];
		const size_t *size = wide_sizes[i / 9 % 7], channels = 1 + i % 3;
		const enum sample type = (enum sample)(i / 3 % 3);
		struct frame *frame, *back;
		FILE *file;
		off_t n;

		if (!format->codec->load_whole || !can_hold(format, type, channels) ||
		    (channels > 1 && size[0] * size[1] > 1000000))
			continue;
		frame = make_frame(size[0], size[1], channels, type);
		file = save(format->codec, format->path, &frame, 1, NULL);
		fseeko(file, 0, SEEK_END);
		n = ftello(file);
		leave_ones(&frame->head);
		assert_true(load_whole(format->codec, file, (size_t)n, &back));
		assert_same_pixels(frame, back);
		assert_padded_with_zeros(back);
		frame_free(back);
		assert_false(load_whole(format->codec, file, (size_t)n - 1, &back));
		assert_false(load_whole(format->codec, file, (size_t)n + 1, &back));
		assert_int_equal(ftruncate(fileno(file), n + 1), 0);
		assert_false(load_whole(format->codec, file, (size_t)n, &back));
		assert_int_equal(ftruncate(fileno(file), n - 1), 0);
		assert_false(load_whole(format->codec, file, (size_t)n, &back));
		fclose(file);
		frame_free(frame);
		tried++;
	}
	assert_true(tried > 80);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_without_a_stream),
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_long_metadata),
		cmocka_unit_test(test_fast_png),
		cmocka_unit_test(test_one_bit_png),
		cmocka_unit_test(test_tiff_pages),
		cmocka_unit_test(test_foreign_tiff),
		cmocka_unit_test(test_interlaced_png),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_smooth_jpeg),
		cmocka_unit_test(test_pnm_texts),
		cmocka_unit_test(test_pnm_maxval),
		cmocka_unit_test(test_pbm),
		cmocka_unit_test(test_bmp),
		cmocka_unit_test(test_meshes),
		cmocka_unit_test(test_binary_ply),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
