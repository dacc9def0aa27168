/*
 * PFM: `PF` (3 channels) or `Pf` (1), width and height, a scale whose sign tells the byte order,
 * one white space, then float rows from the bottom. It has no place for metadata. The values are
 * not multiplied by the scale (readers disagree on its meaning); if it is not 1 it is kept as the
 * key pfm_scale.
 */
#include "io/codec.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "frame/samples.h"

static bool
pfm_sniff(const unsigned char *start, size_t n)
{
	return n >= 3 && start[0] == 'P' && (start[1] == 'F' || start[1] == 'f') &&
	    isspace(start[2]);
}

/* The next word and the one white space behind it. */
static int
read_word(struct loader *loader, char word[64])
{
	size_t n = 0;
	int byte = fgetc(loader->file);

	while (byte != EOF && isspace(byte))
		byte = fgetc(loader->file);
	for (; byte != EOF && !isspace(byte); byte = fgetc(loader->file)) {
		if (n == 63)
			return fail(loader->path, "PFM header is damaged: a word is too long");
		word[n++] = (char)byte;
	}
	word[n] = '\0';
	if (byte == EOF)
		return fail(loader->path, "ends too early: inside the PFM header");
	return 0;
}

static int
read_number(struct loader *loader, const char *what, double least, double *out)
{
	char word[64];

	if (read_word(loader, word) < 0)
		return -1;
	if (number_parse(word, out) < 0 || !isfinite(*out) || *out < least)
		return fail(loader->path, "PFM %s is not valid: %s", what, word);
	return 0;
}

static int
read_head(struct loader *loader, struct frame_head *head, struct whole_file_image *image)
{
	double w, h, scale;
	size_t channels;
	char magic[64];

	if (read_word(loader, magic) < 0)
		return -1;
	if (strcmp(magic, "PF") && strcmp(magic, "Pf"))
		return fail(loader->path, "is no PFM file: starts with %s", magic);
	channels = magic[1] == 'F' ? 3 : 1;
	if (read_number(loader, "width", 1, &w) < 0 || read_number(loader, "height", 1, &h) < 0 ||
	    read_number(loader, "scale", -HUGE_VAL, &scale) < 0)
		return -1;
	if (w != floor(w) || h != floor(h) || w > INT32_MAX || h > INT32_MAX || scale == 0)
		return fail(loader->path, "PFM header is not valid: %g x %g, scale %g", w, h,
		    scale);
	*image = (struct whole_file_image){ .element = ELEMENT_F32, .interleaved = true,
		.upwards = true, .swap = scale > 0 };
	if (samples_check_claim(loader->path, image_bytes_left(loader), (size_t)w, (size_t)h,
	    channels, 32, 1) < 0 || head_init(head, (size_t)w, (size_t)h, channels, SAMPLE_FLOAT) <
	    0)
		return -1;
	if (channels == 3)
		head_set_channels(head, "r g b");
	if (fabs(scale) != 1)
		meta_set_number(&head->meta, "pfm_scale", fabs(scale));
	return 0;
}

static int
pfm_load(struct loader *loader, struct frame **out)
{
	*out = NULL;
	if (image_read(loader, read_head, out) < 0)
		return -1;
	samples_warn_rest(loader->path, samples_bytes_left(loader->file));
	return 1;
}

static int
pfm_load_whole(const struct whole_file *file, struct frame **out)
{
	return image_read_whole(file, read_head, out);
}

/* From below. */
static void
pack_row(const struct frame *frame, size_t row, void *to)
{
	samples_join(frame, frame->head.h - 1 - row, to);
}

/* uchar and ushort are written as float, their values unchanged. */
static int
pfm_save(struct saver *saver, const struct frame *frame)
{
	struct samples_rows rows;
	struct frame *floats;
	char head[80];
	int status, n;

	if (frame->head.c != 1 && frame->head.c != 3)
		return fail(saver->path, "PFM holds 1 or 3 channels, not %zu (use framecat "
		    "--channels, or --split for a file each)", frame->head.c);
	if (frame_to_float(frame, &floats) < 0)
		return -1;
	n = snprintf(head, sizeof(head), "P%c\n%zu %zu\n-1.0\n", frame->head.c == 3 ? 'F' : 'f',
	    frame->head.w, frame->head.h);
	rows = (struct samples_rows){ floats, 0, frame->head.h,
		frame->head.w * frame->head.c * sizeof(float), pack_row };
	status = samples_write_rows(saver->path, saver->file, head, (size_t)n, &rows);
	frame_free(floats);
	return status;
}

const struct codec codec_pfm = {
	.name = "PFM",
	.suffixes = "pfm",
	.sniff = pfm_sniff,
	.load = pfm_load,
	.load_whole = pfm_load_whole,
	.save = pfm_save,
	.large_writes = true
};
