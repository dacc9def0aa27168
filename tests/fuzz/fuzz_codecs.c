/*
 * Image files from arbitrary bytes, in the format that they claim to have: no crash, no undefined
 * behaviour, nothing leaked, no memory beyond what the bytes can hold; a failure has a message and
 * gives no frame.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
load_all(const struct codec *codec, FILE *file)
{
	struct loader loader = { .file = file, .path = "input" };
	struct frame *frame = NULL;
	int status = 1;

	while (loader.frames < MOST_FRAMES && (status = codec->load(&loader, &frame)) == 1) {
		check(frame != NULL, "no frame in spite of the status");
		touch(frame);
		frame_free(frame);
		loader.frames++;
		if (!codec->many && !codec->concatenates)
			break;
	}
	check(status == 1 || !frame, "frame in spite of the status");
	check((status < 0) == (fail_message() != NULL), "message and status disagree");
	if (codec->load_end)
		codec->load_end(&loader);
	fail_clear();
}

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
		load_all(*codec, file);
		fclose(file);
	}
	return 0;
}
