/* NRRD files: the stream itself, as a file of one or more frames. */
#include <string.h>

#include "base/fail.h"
#include "io/codec.h"
#include "io/nrrd.h"

static bool
sniff(const unsigned char *start, size_t n)
{
	/* a writer that failed before its first frame leaves a stream all the same */
	return (n >= 7 && !memcmp(start, "NRRD00", 6)) ||
	    (n >= strlen(STREAM_FAILED) && !memcmp(start, STREAM_FAILED, strlen(STREAM_FAILED)));
}

static int
load(struct loader *loader, struct frame **out)
{
	return stream_receive(loader->file, loader->receiver, loader->path, out);
}

/* Bytes of a blank line, as the stream's reader takes them; 0: it is none. */
static size_t
blank_line(const char *line, const char *end)
{
	return *line == '\n' ? 1 : end - line > 1 && line[0] == '\r' && line[1] == '\n' ? 2 : 0;
}

/* Bytes of the header through its blank line; 0: that does not lie in the file's first bytes, or
 * something else does. */
static size_t
header_bytes(const struct whole_file *file)
{
	const char *start = file->start, *end = start + file->n, *line = start;
	size_t n;

	while (line < end && blank_line(line, end) == 0) {
		line = memchr(line, '\n', (size_t)(end - line));
		line = line ? line + 1 : end;
	}
	n = line < end ? (size_t)(line - start) + blank_line(line, end) : 0;
	return n > 7 && !memcmp(start, "NRRD000", 7) && !memchr(start, 0, n) ? n : 0;
}

static int
load_whole(const struct whole_file *file, struct frame **out)
{
	const size_t n = header_bytes(file);
	struct nrrd_header header;
	struct frame_head head;
	bool done = false;

	*out = NULL;
	if (n == 0)
		return 0;
	if (nrrd_header_take(file->start, n, file->path, &header, &head) == 0) {
		/* the rest of the file are the rows of one frame, as they lie in memory */
		done = header.encoding == NRRD_RAW && header.axes == NRRD_PLANES &&
		    !header.swapped && samples_keep_bits(header.element) &&
		    header.expected == file->bytes - n &&
		    frame_new_unset(&head, out) == 0 && whole_file_rows(file, n, *out);
		head_free(&head);
	}
	if (done)
		return 1;
	fail_clear();
	frame_free(*out);
	*out = NULL;
	return 0;
}

static int
save(struct saver *saver, const struct frame *frame)
{
	return stream_write(saver->file, saver->path, frame);
}

const struct codec codec_nrrd = {
	.name = "NRRD",
	.suffixes = "nrrd",
	.many = true,
	.concatenates = true,
	.sniff = sniff,
	.load = load,
	.load_whole = load_whole,
	.save = save,
	.large_writes = true,
};
