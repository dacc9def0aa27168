/*
 * Files and pipes of arbitrary bytes, opened as tools open them: recognised by their start, spooled
 * where the format seeks, read to the end. A file and a pipe give the same frames.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/source.h"

#define FRAMES_MOST 8
#define MOST_BYTES 4096		/* what a pipe holds */

static size_t
read_all(const char *path, int *status)
{
	struct source *source = source_open(path);
	struct frame *frame;
	size_t n = 0;

	*status = source ? 1 : -1;
	while (*status == 1 && n < FRAMES_MOST && (*status = source_next(source, &frame)) == 1) {
		check(frame->head.w && frame->head.h && frame->head.c, "empty frame");
		frame_free(frame);
		n++;
	}
	check((*status < 0) == (fail_message() != NULL), "message and status disagree");
	fail_clear();
	source_close(source);
	return n;
}

int
LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
	static int file = -1;
	int fd[2], of_file, of_pipe;
	char path[64];
	size_t frames;

	if (n > MOST_BYTES)
		return 0;
	if (file < 0)
		file = memfd_create("fuzz", 0);
	check(ftruncate(file, 0) == 0 && pwrite(file, data, n, 0) == (ssize_t)n, "memfd");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	frames = read_all(path, &of_file);
	/* on a pipe a head may claim any size, and the sanitizers touch what is allocated for it */
	if (of_file < 0)
		return 0;
	check(pipe(fd) == 0 && write(fd[1], data, n) == (ssize_t)n, "pipe");
	close(fd[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	check(read_all(path, &of_pipe) == frames && of_pipe == of_file, "frames differ");
	close(fd[0]);
	return 0;
}
