/*
 * PNG files whose chunks are changed and have right check sums, so that the fuzzer comes behind
 * libpng's first look: no crash, no undefined behaviour, nothing leaked, and the same frame, or the
 * same message, as by libpng alone.
 */
#define _GNU_SOURCE
#include <zlib.h>

#include "fuzz.h"
#include "fuzz_frames.h"
#include "fuzz_zlib.h"
#include "codec/png/png_codec.h"

#define MOST_BYTES 4096
#define HEAD 8			/* bytes before the first chunk */

extern const struct codec codec_png;

size_t LLVMFuzzerMutate(unsigned char *, size_t, size_t);
size_t LLVMFuzzerCustomMutator(unsigned char *, size_t, size_t, unsigned);

static size_t
big_endian(const unsigned char *at)
{
	return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

static void
put_big_endian(unsigned char *at, size_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(v >> (24 - 8 * i));
}

static void
mend(unsigned char *data, size_t n)
{
	memcpy(data, "\x89PNG\r\n\x1a\n", HEAD);
	for (size_t at = HEAD; at + 12 <= n;) {
		size_t bytes = big_endian(data + at);

		if (bytes > n - at - 12) {
			bytes = n - at - 12;	/* the last chunk takes what there is */
			put_big_endian(data + at, bytes);
		}
		put_big_endian(data + at + 8 + bytes, crc32(0, data + at + 4, (uInt)bytes + 4));
		at += bytes + 12;
	}
}

/* Changes what the compressed pixels of the last chunk but one unpack to. */
static size_t
change_pixels(unsigned char *data, size_t n, size_t room)
{
	unsigned char raw[1 << 15];
	uLongf unpacked = sizeof(raw), packed;

	for (size_t at = HEAD; at + 12 <= n; at += big_endian(data + at) + 12) {
		size_t bytes = big_endian(data + at);

		if (bytes > n - at - 12)
			return n;
		if (memcmp(data + at + 4, "IDAT", 4))
			continue;
		if (uncompress(raw, &unpacked, data + at + 8, bytes) != Z_OK)
			return n;
		unpacked = LLVMFuzzerMutate(raw, unpacked, sizeof(raw));
		if (room - at < 12 + 24 + compressBound(unpacked))
			return n;
		packed = room - at - 24;
		if (compress(data + at + 8, &packed, raw, unpacked) != Z_OK)
			return n;
		put_big_endian(data + at, packed);
		at += packed + 12;
		memcpy(data + at, "\0\0\0\0IEND\0\0\0", 12);
		return at + 12;
	}
	return n;
}

size_t
LLVMFuzzerCustomMutator(unsigned char *data, size_t n, size_t room, unsigned seed)
{
	if (room < 64)
		return LLVMFuzzerMutate(data, n, room);
	n = seed % 4 == 0 ? change_pixels(data, n, room) : LLVMFuzzerMutate(data, n, room);
	if (seed % 16 && n >= HEAD)
		mend(data, n);
	return n;
}

/* The frame, or NULL and its message. */
static struct frame *
load_by(int (*by)(struct loader *, struct frame **), const unsigned char *data, size_t n,
    struct fail_record *why)
{
	struct loader loader = { .path = "input", .file = fmemopen((void *)data, n, "rb") };
	struct frame *frame;
	int status;

	check(loader.file != NULL, "fmemopen");
	status = by(&loader, &frame);
	fclose(loader.file);
	check((status == 1) == (frame != NULL), "frame and status disagree");
	check((status < 0) == (fail_message() != NULL), "message and status disagree");
	*why = (struct fail_record){ 0 };
	fail_take(why);
	return frame;
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	struct fail_record why, other_why;
	struct frame *frame, *other;

	if (n == 0 || n > MOST_BYTES)
		return 0;
	frame = load_by(png_load, data, n, &why);
	other = load_by(png_load_by_libpng, data, n, &other_why);
	if (!frame || !zlib_is_stricter(other_why.message)) {
		check(!frame == !other && !strcmp(why.message, other_why.message),
		    "libpng's result differs");
		if (frame)
			check_same("libpng", other, frame, SAME_SAMPLES | SAME_KEYS);
	}
	if (frame && frame->head.w * frame->head.h < 1 << 16)
		check_round_trip(&codec_png, frame, SAME_SAMPLES | SAME_KEYS);
	frame_free(other);
	frame_free(frame);
	return 0;
}
