/* What the fuzzers of files share: loading one frame, and a round trip through a format. */
#ifndef FUZZ_FRAMES_H
#define FUZZ_FRAMES_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/codec.h"

enum same { SAME_HEAD = 0, SAME_SAMPLES = 1, SAME_KEYS = 2 };

/* The first frame of a file at its start; NULL where it is refused, with the message removed. */
static inline struct frame *
load_one(const struct codec *codec, FILE *file)
{
	struct loader loader = { .file = file, .path = "input" };
	struct frame *frame = NULL;
	int status = codec->load(&loader, &frame);

	check((status == 1) == (frame != NULL), "frame and status disagree");
	if (codec->load_end)
		codec->load_end(&loader);
	if (status < 0 && getenv("FUZZ_VERBOSE"))
		fprintf(stderr, "%s\n", fail_message());
	check_status(status);
	return frame;
}

/* Are all samples the same, but for the kind of NaN? */
static inline bool
same_samples(const struct frame *a, const struct frame *b)
{
	for (size_t c = 0; c < a->head.c; c++)
		for (size_t y = 0; y < a->head.h; y++)
			for (size_t x = 0; x < a->head.w; x++) {
				size_t size = sample_size(a->head.type);
				const char *one = (const char *)frame_row(a, c, y) + x * size;
				const char *two = (const char *)frame_row(b, c, y) + x * size;
				float v, w;

				if (!memcmp(one, two, size))
					continue;
				memcpy(&v, one, size < 4 ? size : 4);
				memcpy(&w, two, size < 4 ? size : 4);
				if (a->head.type != SAMPLE_FLOAT || v == v || w == w)
					return false;
			}
	return true;
}

static inline void
check_same(const char *name, const struct frame *frame, const struct frame *back, int same)
{
	const char *differs = NULL;

	if (!back)
		differs = "is not read back";
	else if (back->head.w != frame->head.w || back->head.h != frame->head.h ||
	    back->head.c != frame->head.c)
		differs = "size";
	else if ((same & SAME_SAMPLES) && back->head.type != frame->head.type)
		differs = "type";
	else if ((same & SAME_SAMPLES) && !same_samples(frame, back))
		differs = "samples";
	else if ((same & SAME_KEYS) && !meta_equal(&frame->head.meta, &back->head.meta))
		differs = "keys";
	if (differs) {
		fprintf(stderr, "%s: %s\n", name, differs);
		for (size_t i = 0; back && i < frame->head.meta.n; i++)
			fprintf(stderr, "written %s=%s\n", frame->head.meta.entry[i].key,
			    frame->head.meta.entry[i].value);
		for (size_t i = 0; back && i < back->head.meta.n; i++)
			fprintf(stderr, "read %s=%s\n", back->head.meta.entry[i].key,
			    back->head.meta.entry[i].value);
		abort();
	}
}

/* Saves a frame and loads it again; a format may refuse to save it. */
static inline void
check_round_trip(const struct codec *codec, const struct frame *frame, int same)
{
	static int fd = -1;
	struct saver saver = { .path = codec->name };
	struct frame *back;
	void *options;
	int status;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	check(fd >= 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0, "memfd");
	saver.file = fdopen(dup(fd), "r+b");
	check(saver.file != NULL, "fdopen");
	options = codec_options_new(codec, NULL);
	saver.options = options;
	status = codec->save(&saver, frame);
	if (codec->save_end && (status == 0 || saver.state))
		status |= codec->save_end(&saver);
	codec_options_free(codec, options);
	if (fflush(saver.file) != 0)
		check(false, "flush");
	check_status(status);
	if (status == 0) {
		rewind(saver.file);
		back = load_one(codec, saver.file);
		check_same(codec->name, frame, back, same);
		frame_free(back);
	}
	fclose(saver.file);
}

#endif
