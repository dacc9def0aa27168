/* TIFF: libtiff reads it (tiff_read.c), tiff_write.c writes it without a library. */
#include "io/codec.h"

#include <string.h>

#include "codec/tiff/tiff.h"

static bool
tiff_sniff(const unsigned char *start, size_t n)
{
	return n >= 8 && (!memcmp(start, "II*\0", 4) || !memcmp(start, "MM\0*", 4) ||
	    !memcmp(start, "II+\0\x08\0\0\0", 8) || !memcmp(start, "MM\0+\0\x08\0\0", 8));
}

const struct codec codec_tiff = {
	.name = "TIFF",
	.suffixes = "tif tiff",
	.seeks = true,
	.many = true,
	.sniff = tiff_sniff,
	.load = tiff_load,
	.load_end = tiff_load_end,
	.options = tiff_options,
	.option_size = sizeof(struct tiff_options),
	.save = tiff_save,
	.save_end = tiff_save_end,
	.large_writes = true
};
