/* Tables as vnlog, the text format of mrcal; see text_table.h. */
#include "io/text_table.h"

static bool
sniff(const unsigned char *start, size_t n)
{
	return text_table_sniff(TEXT_VNL, start, n);
}

static int
load(struct loader *loader, struct frame **out)
{
	return text_table_load(loader, TEXT_VNL, out);
}

static int
save(struct saver *saver, const struct frame *frame)
{
	return text_table_save(saver, TEXT_VNL, frame);
}

const struct codec codec_vnl = {
	.name = "vnlog",
	.suffixes = "vnl",
	.tables = true,
	.by_suffix = true,
	.sniff = sniff,
	.load = load,
	.save = save
};
