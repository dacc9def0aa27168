/*
 * Image files from arbitrary bytes, in the format that they claim to have: no crash, no undefined
 * behaviour, nothing leaked, no memory beyond what the bytes can hold; a failure has a message and
 * gives no frame. What a codec reads without a stream is what it reads from one.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/codec.h"
#include "base/fail.h"

/* A pixel may cost a bit or less, so that small files honestly hold large images. */
#define MOST_BYTES 4096
#define MOST_FRAMES 16

/* The ends of every row are looked at, so that the sanitizers see memory that is not ours. */
static void
touch(const struct frame *frame)
{
	static volatile unsigned sum;

	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < frame->head.h; y++) {
			const unsigned char *row = frame_row(frame, c, y);

			sum = sum + row[0] + row[frame->head.w * sample_size(frame->head.type) - 1];
		}
}

static void
check_same(const struct frame *a, const struct frame *b)
{
	check(head_equal(&a->head, &b->head), "another head without a stream");
	for (size_t c = 0; c < a->head.c; c++)
		for (size_t y = 0; y < a->head.h; y++)
			check(!memcmp(frame_row(a, c, y), frame_row(b, c, y),
			    a->plane[c].stride), "other samples without a stream");
}

/* By the codec's load_whole(), and where that takes the file, by load(), too. */
static void
load_whole(const struct codec *codec, const unsigned char *data, size_t n)
{
	static struct whole_file whole = { .fd = -1, .path = "input" };
	struct loader loader = { .path = "input" };
	struct frame *frame, *same = NULL;
	int got;

	if (!codec->load_whole)
		return;
	if (whole.fd < 0)
		whole.fd = memfd_create("input", 0);
	check(whole.fd >= 0 && ftruncate(whole.fd, 0) == 0 &&
	    pwrite(whole.fd, data, n, 0) == (ssize_t)n, "memfd");
	memcpy(whole.start, data, n);
	whole.bytes = whole.n = n;
	got = codec->load_whole(&whole, &frame);
	check(!fail_message(), "message without a stream");
	check(got == 1 ? frame != NULL : got == 0 && !frame, "frame and status disagree");
	if (got == 0)
		return;
	loader.file = fmemopen((void *)data, n, "rb");
	check(loader.file && codec->load(&loader, &same) == 1, "refused from a stream");
	check_same(frame, same);
	check(fgetc(loader.file) == EOF, "more behind the frame");
	if (codec->load_end)
		codec->load_end(&loader);
	frame_free(frame);
	frame_free(same);
	fclose(loader.file);
}

static void
load_all(const struct codec *codec, FILE *file, const struct pipe_start *pipe, const char *raw)
{
	struct loader loader = { .file = file, .path = "input", .pipe = pipe, .raw = raw };
	struct frame *frame = NULL;
	int status = 1;

	while (loader.frames < MOST_FRAMES && (status = codec->load(&loader, &frame)) == 1) {
		check(frame != NULL, "no frame in spite of the status");
		touch(frame);
		frame_free(frame);
		loader.frames++;
		if (!codec->many && !codec->concatenates && !codec->follows)
			break;
	}
	check(status == 1 || !frame, "frame in spite of the status");
	check((status < 0) == (fail_message() != NULL), "message and status disagree");
	if (codec->load_end)
		codec->load_end(&loader);
	fail_clear();
}

static const struct pipe_start no_pipe = { .fd = -1 };

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	if (n == 0 || n > MOST_BYTES)
		return 0;
	for (const struct codec *const *codec = codecs; *codec; codec++) {
		FILE *file;

		if (!(*codec)->load || !(*codec)->sniff(data, n < 512 ? n : 512))
			continue;
		file = fmemopen((void *)data, n, "rb");
		check(file != NULL, "fmemopen");
		load_all(*codec, file, NULL, NULL);
		rewind(file);
		if ((*codec)->follows)	/* as from a pipe: others may start a child */
			load_all(*codec, file, &no_pipe, NULL);
		fclose(file);
		load_whole(*codec, data, n);
	}
	if (codec_of_raw()) {
		FILE *file = fmemopen((void *)data, n, "rb");

		check(file != NULL, "fmemopen");
		load_all(codec_of_raw(), file, NULL, "5x3,bayer_rggb8");
		fclose(file);
	}
	return 0;
}
