/* NRRD files: the stream itself, as a file of one or more frames. */
#include <string.h>

#include "io/codec.h"
#include "io/nrrd_stream.h"

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
	.save = save,
};
