/*
 * Frames from arbitrary bytes: no crash, no undefined behaviour, no memory beyond what the bytes
 * can hold; and what was read is written and read back as the same frame. Built with FUZZ_MAIN it
 * is a program that takes files instead.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "base/fail.h"
#include "io/nrrd.h"

static void
check_round_trip(const struct frame *frame)
{
	struct frame *back;
	char *text, *again;
	size_t n, n_again;
	FILE *file = open_memstream(&text, &n);
	int status = stream_write(file, "written", frame);

	fclose(file);
	if (status < 0) {	/* a header that was just short enough may grow */
		check(strstr(fail_message(), "header is longer") != NULL, "write");
		fail_clear();
		free(text);
		return;
	}
	file = fmemopen(text, n, "rb");
	check(stream_read(file, "read back", &back) == 1, "read back");
	fclose(file);
	file = open_memstream(&again, &n_again);
	check(stream_write(file, "written again", back) == 0, "write again");
	fclose(file);
	check(n == n_again && !memcmp(text, again, n), "bytes differ");
	frame_free(back);
	free(text);
	free(again);
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	FILE *file = n ? fmemopen((void *)data, n, "rb") : NULL;
	struct frame *frame;
	int status;

	if (!file)
		return 0;
	while ((status = stream_read(file, "input", &frame)) == 1) {
		check_round_trip(frame);
		frame_free(frame);
	}
	check(!frame, "frame in spite of the status");
	check((status < 0) == (fail_message() != NULL), "message and status disagree");
	fail_clear();
	fclose(file);
	return 0;
}
