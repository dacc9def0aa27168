/* Tables as comma-separated values; see text_table.h. */
#include "io/text_table.h"

static bool
sniff(const unsigned char *start, size_t n)
{
	return text_table_sniff(TEXT_CSV, start, n);
}

static int
load(struct loader *loader, struct frame **out)
{
	return text_table_load(loader, TEXT_CSV, out);
}

static int
save(struct saver *saver, const struct frame *frame)
{
	return text_table_save(saver, TEXT_CSV, frame);
}

const struct codec codec_csv = {
	.name = "CSV",
	.suffixes = "csv",
	.tables = true,
	.by_suffix = true,
	.sniff = sniff,
	.load = load,
	.save = save
};
