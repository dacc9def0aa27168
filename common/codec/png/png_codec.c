/*
 * PNG. libpng reads and writes the chunks, and the pixels that png_read.c and png_write.c do not
 * unpack or pack by themselves. Our key lines are a text chunk with the keyword "fringepipe".
 */
#include "codec/png/png_codec.h"

#include <stdbool.h>
#include <string.h>

#include "frame/head.h"
#include "io/codec.h"

static bool
png_sniff(const unsigned char *start, size_t n)
{
	return n >= 8 && !memcmp(start, "\x89PNG\r\n\x1a\n", 8);
}

const struct codec codec_png = {
	.name = "PNG",
	.suffixes = "png",
	.seeks = true,		/* so that what the head claims is held against the file's size */
	.sniff = png_sniff,
	.load = png_load,
	.options = png_options,
	.option_size = sizeof(struct png_options),
	.save = png_save
};
