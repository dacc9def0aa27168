/* Every image format: what is written is read back bit for bit, and no damaged file does harm. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#undef fail	/* cmocka's macro would hide ours */

#include "codec.h"
#include "fail.h"

extern const struct codec codec_png, codec_tiff, codec_pfm;

static const size_t sizes[][2] = { { 1, 1 }, { 5, 7 }, { 127, 1 }, { 128, 64 }, { 129, 65 } };

#define TYPE(t) (1u << (t))

static struct format {
	const struct codec *codec;
	const char *path;
	unsigned types;
	size_t most_channels;
	bool keeps_meta;
} const formats[] = {
	{ &codec_png, "a.png", TYPE(SAMPLE_UCHAR) | TYPE(SAMPLE_USHORT), 4, true },
	{ &codec_tiff, "a.tif", TYPE(SAMPLE_UCHAR) | TYPE(SAMPLE_USHORT) | TYPE(SAMPLE_FLOAT), 9, true },
	{ &codec_pfm, "a.pfm", TYPE(SAMPLE_FLOAT), 3, false },
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
	struct frame_head head;
	struct frame *frame;

	assert_int_equal(head_init(&head, w, h, c, type), 0);
	assert_int_equal(frame_new(&head, &frame), 0);
	head_free(&head);
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
assert_same_pixels(const struct frame *a, const struct frame *b)
{
	assert_int_equal(a->head.w, b->head.w);
	assert_int_equal(a->head.h, b->head.h);
	assert_int_equal(a->head.c, b->head.c);
	assert_int_equal(a->head.type, b->head.type);
	for (size_t c = 0; c < a->head.c; c++)
		for (size_t y = 0; y < a->head.h; y++)
			assert_memory_equal(frame_row(a, c, y), frame_row(b, c, y),
			    a->head.w * sample_size(a->head.type));
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
		print_error("status %d: %s\n", status, fail_message() ? fail_message() : "no message");
	assert_int_equal(status, expected);
}

/* The frames in a new file, opened at its start. */
static FILE *
save(const struct codec *codec, const char *path, struct frame *const *frames, size_t n,
    const struct save_options *options)
{
	FILE *file = tmpfile();
	struct saver saver = { .file = file, .path = path, .options = options };

	assert_non_null(file);
	for (; saver.frames < n; saver.frames++)
		assert_done(codec->save(&saver, frames[saver.frames]), 0);
	if (codec->save_end)
		assert_done(codec->save_end(&saver), 0);
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

static bool
can_hold(const struct format *format, enum sample type, size_t channels)
{
	if (format->codec == &codec_pfm && channels == 2)
		return false;
	return format->types & TYPE(type) && channels <= format->most_channels;
}

static void
round_trip(const struct format *format, const struct frame *frame)
{
	struct frame *copy = (struct frame *)frame;
	struct frame *back = load_one(format->codec, save(format->codec, format->path, &copy, 1, NULL));

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
		enum sample type = format->types & TYPE(SAMPLE_UCHAR) ? SAMPLE_UCHAR : SAMPLE_FLOAT;
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
		enum sample type = formats[f].types & TYPE(SAMPLE_UCHAR) ? SAMPLE_UCHAR : SAMPLE_FLOAT;
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
	struct save_options options = { .fast = true };
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
		enum sample type = formats[f].types & TYPE(SAMPLE_UCHAR) ? SAMPLE_UCHAR : SAMPLE_FLOAT;
		struct frame *frame = make_frame(5, 7, 3, type), *back[2] = { NULL };
		FILE *file = save(codec, formats[f].path, &frame, 1, NULL);
		unsigned char bytes[8192];
		size_t n = fread(bytes, 1, sizeof(bytes), file);

		fclose(file);
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
				assert_same_pixels(frame, back[0]);
				frame_free(back[0]);
			}
		}
		frame_free(frame);
	}
}

static void
assert_refused(const struct codec *codec, const char *path, enum sample type, size_t c,
    const char *message)
{
	struct frame *frame = make_frame(5, 7, c, type);
	FILE *file = tmpfile();
	struct saver saver = { .file = file, .path = path };

	assert_int_equal(codec->save(&saver, frame), -1);
	if (codec->save_end)
		codec->save_end(&saver);
	assert_string_equal(fail_message(), message);
	fail_clear();
	fclose(file);
	frame_free(frame);
}

static void
test_refusals(void **state)
{
	(void)state;
	assert_refused(&codec_png, "a.png", SAMPLE_FLOAT, 1, "a.png: PNG holds 8 or 16 bits a sample, "
	    "not float (use framecat --scale, or a TIFF, PFM or NRRD file)");
	assert_refused(&codec_png, "a.png", SAMPLE_UCHAR, 5, "a.png: PNG holds 1 to 4 channels, not 5");
	assert_refused(&codec_pfm, "a.pfm", SAMPLE_FLOAT, 2, "a.pfm: PFM holds 1 or 3 channels, not 2");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_long_metadata),
		cmocka_unit_test(test_fast_png),
		cmocka_unit_test(test_one_bit_png),
		cmocka_unit_test(test_tiff_pages),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
