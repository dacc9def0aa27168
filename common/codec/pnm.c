/*
 * PBM, PGM, PPM (P1 to P6) and PAM (P7), one image after the other. Samples keep their values; a
 * maxval other than 255 and 65535 is the key max_value. White and black of PBM are 255 and 0, or 1
 * and 0 when our comment says bits:=1. Comments in the header carry our key lines.
 */
#include "io/codec.h"

#include <ctype.h>

#include "base/numbers.h"
#include "base/process.h"
#include "base/text.h"
#include "frame/samples.h"

#define COMMENT_LIMIT (1 << 20)

struct pnm {
	int kind;		/* 1 to 7 */
	size_t w, h, c, maxval;
	bool one_bit;		/* PBM whose values are 0 and 1 */
	struct text comments;	/* gathers them; not open: they are skipped */
	size_t comment_bytes;
};

static bool
pnm_sniff(const unsigned char *start, size_t n)
{
	return n >= 3 && start[0] == 'P' && start[1] >= '1' && start[1] <= '7' &&
	    (isspace(start[2]) || start[2] == '#');
}

static void
keep_comment(struct pnm *pnm, int byte)
{
	if (pnm->comments.file && pnm->comment_bytes < COMMENT_LIMIT) {
		fputc(byte, pnm->comments.file);
		pnm->comment_bytes++;
	}
}

/* The next byte that is no comment: a comment ends as a newline. */
static int
next_byte(struct loader *loader, struct pnm *pnm)
{
	int byte = fgetc(loader->file);

	if (byte != '#')
		return byte;
	byte = fgetc(loader->file);
	if (byte == ' ')
		byte = fgetc(loader->file);
	for (; byte != EOF && byte != '\n'; byte = fgetc(loader->file))
		keep_comment(pnm, byte);
	keep_comment(pnm, '\n');
	return byte;
}

/* The next word and the one white space behind it. */
static int
next_word(struct loader *loader, struct pnm *pnm, char word[32])
{
	size_t n = 0;
	int byte = next_byte(loader, pnm);

	while (byte != EOF && isspace(byte))
		byte = next_byte(loader, pnm);
	for (; byte != EOF && !isspace(byte); byte = next_byte(loader, pnm)) {
		if (n == 31)
			return fail(loader->path, "PNM header is damaged: a word is too long");
		word[n++] = (char)byte;
	}
	word[n] = '\0';
	if (n == 0)
		return fail(loader->path, "ends too early: inside a PNM image");
	return 0;
}

static int
next_size(struct loader *loader, struct pnm *pnm, size_t *out)
{
	char word[32];
	long v;

	if (next_word(loader, pnm, word) < 0)
		return -1;
	if (!isdigit((unsigned char)*word) || integer_parse(word, &v) < 0 || v > INT32_MAX)
		return fail(loader->path, "PNM number is not valid: %s", word);
	*out = (size_t)v;
	return 0;
}

/* P7: lines of a name and a value, in any order, up to ENDHDR. */
static int
read_pam_header(struct loader *loader, struct pnm *pnm)
{
	for (;;) {
		size_t *value;
		char word[32];

		if (next_word(loader, pnm, word) < 0)
			return -1;
		if (!strcmp(word, "ENDHDR"))
			return 0;
		value = !strcmp(word, "WIDTH") ? &pnm->w : !strcmp(word, "HEIGHT") ? &pnm->h :
		    !strcmp(word, "DEPTH") ? &pnm->c :
		    !strcmp(word, "MAXVAL") ? &pnm->maxval : NULL;
		if (value) {
			if (next_size(loader, pnm, value) < 0)
				return -1;
		} else if (!strcmp(word, "TUPLTYPE")) {
			if (next_word(loader, pnm, word) < 0)
				return -1;
		} else {
			return fail(loader->path, "PAM header line is not known: %s", word);
		}
	}
}

static int
read_header(struct loader *loader, struct pnm *pnm)
{
	if (pnm->kind == 7) {
		if (read_pam_header(loader, pnm) < 0)
			return -1;
	} else {
		pnm->c = pnm->kind == 3 || pnm->kind == 6 ? 3 : 1;
		pnm->maxval = 255;
		if (next_size(loader, pnm, &pnm->w) < 0 || next_size(loader, pnm, &pnm->h) < 0)
			return -1;
		if (pnm->kind != 1 && pnm->kind != 4 && next_size(loader, pnm, &pnm->maxval) < 0)
			return -1;
	}
	if (pnm->maxval < 1 || pnm->maxval > 65535)
		return fail(loader->path, "PNM maxval is not in 1 to 65535: %zu", pnm->maxval);
	if (pnm->c > 65535)
		return fail(loader->path, "PAM depth is not in 1 to 65535: %zu", pnm->c);
	return 0;
}

static int
plan_head(struct pnm *pnm, struct frame_head *head)
{
	const char *bits;
	size_t n;
	char *text = text_close(&pnm->comments, &n);
	int status = head_init(head, pnm->w, pnm->h, pnm->c,
	    pnm->maxval > 255 ? SAMPLE_USHORT : SAMPLE_UCHAR);

	if (status == 0 && pnm->c == 2)
		head_set_channels(head, "image a");
	if (status == 0)
		status = head_from_text(head, text, n);
	free(text);
	if (status < 0)
		return -1;
	bits = meta_get(&head->meta, "bits");
	pnm->one_bit = (pnm->kind == 1 || pnm->kind == 4) && bits && !strcmp(bits, "1");
	if (pnm->maxval != 255 && pnm->maxval != 65535)
		meta_set_number(&head->meta, "max_value", (double)pnm->maxval);
	return 0;
}

/* A row of text; the digits of P1 need no blanks between them. */
static int
read_text_row(struct loader *loader, struct pnm *pnm, void *row)
{
	for (size_t i = 0; i < pnm->w * pnm->c; i++) {
		size_t v = 0;

		if (pnm->kind == 1) {
			int byte;

			do
				byte = next_byte(loader, pnm);
			while (byte != EOF && isspace(byte));
			if (byte != '0' && byte != '1')
				return fail(loader->path, byte == EOF ?
				    "ends too early: inside a PBM image" :
				    "PBM pixel is neither 0 nor 1");
			v = (byte == '0') * (pnm->one_bit ? 1u : 255u);
		} else {
			if (next_size(loader, pnm, &v) < 0)
				return -1;
			if (v > pnm->maxval)
				return fail(loader->path, "PNM sample exceeds the maxval %zu: %zu",
				    pnm->maxval, v);
		}
		if (pnm->maxval > 255)
			((uint16_t *)row)[i] = (uint16_t)v;
		else
			((uint8_t *)row)[i] = (uint8_t)v;
	}
	return 0;
}

struct placing {
	const struct pnm *pnm;
	struct frame *frame;
};

static void
place_row(void *arg, size_t y, void *samples)
{
	const struct placing *placing = arg;
	const struct pnm *pnm = placing->pnm;
	const unsigned char *bits = samples;

	if (pnm->kind == 4) {
		unsigned char white = pnm->one_bit ? 1 : 255;
		unsigned char *row = frame_row(placing->frame, 0, y);

		for (size_t x = 0; x < pnm->w; x++)
			row[x] = bits[x / 8] >> (7 - x % 8) & 1 ? 0 : white;
		return;
	}
	if (pnm->maxval > 255)		/* the high byte is the first */
		samples_swap(samples, pnm->w * pnm->c, 2);
	samples_split(samples, placing->frame, y);
}

static int
read_rows(struct loader *loader, struct pnm *pnm, struct frame *frame)
{
	size_t n = pnm->w * pnm->c * sample_size(frame->head.type);
	unsigned char *row;
	int status = 0;

	if (pnm->kind > 3)
		return stream_each(loader, pnm->h, pnm->kind == 4 ? (pnm->w + 7) / 8 : n,
		    place_row, &(struct placing){ pnm, frame });
	row = must_resize(NULL, n, 1);
	for (size_t y = 0; y < pnm->h && status == 0; y++) {
		status = read_text_row(loader, pnm, row);
		if (status == 0)
			samples_split(row, frame, y);
	}
	free(row);
	return status;
}

/* The head of an image, behind its kind. */
static int
read_head(struct loader *loader, struct pnm *pnm, struct frame_head *head)
{
	int status;

	text_open(&pnm->comments);
	status = read_header(loader, pnm);
	if (ferror(loader->file))
		status = fail_errno(loader->path, "cannot be read");
	if (status == 0)
		status = samples_check_claim(loader->path, image_bytes_left(loader), pnm->w,
		    pnm->h, pnm->c, pnm->kind <= 3 ? 8 : pnm->kind == 4 ? 1 :
		    pnm->maxval > 255 ? 16 : 8, 1);
	if (status == 0)
		status = plan_head(pnm, head);
	text_drop(&pnm->comments);
	return status;
}

static int
read_image(struct loader *loader, struct pnm *pnm, struct frame **out)
{
	struct frame_head head = { 0 };
	int status = frame_new_if(read_head(loader, pnm, &head), &head, out);

	if (status == 0)
		status = read_rows(loader, pnm, *out);
	if (status < 0)
		frame_replace(out, NULL);
	return status;
}

static int
pnm_load(struct loader *loader, struct frame **out)
{
	struct pnm pnm = { 0 };
	int byte;

	*out = NULL;
	do	/* some writers end the file with a newline */
		byte = fgetc(loader->file);
	while (loader->frames > 0 && byte != EOF && isspace(byte));
	if (byte == EOF && loader->frames > 0)
		return ferror(loader->file) ? fail_errno(loader->path, "cannot be read") : 0;
	if (byte == 'P')
		pnm.kind = fgetc(loader->file) - '0';
	if (pnm.kind < 1 || pnm.kind > 7)
		return fail(loader->path, "is no PNM image: starts with byte 0x%02x", byte & 0xff);
	return read_image(loader, &pnm, out) < 0 ? -1 : 1;
}

/* Of one image of bytes, or pairs of them, that is the whole file. */
static int
read_whole_head(struct loader *loader, struct frame_head *head, struct whole_file_image *image)
{
	struct pnm pnm = { 0 };
	char magic[2];

	if (samples_read(loader->path, loader->file, magic, 2) < 0)
		return -1;
	pnm.kind = magic[1] - '0';
	if (pnm.kind < 5 || pnm.kind > 7 || read_head(loader, &pnm, head) < 0)
		return -1;
	*image = (struct whole_file_image){ .interleaved = true, .swap = pnm.maxval > 255,
		.element = pnm.maxval > 255 ? ELEMENT_U16 : ELEMENT_U8 };
	return 0;
}

static int
pnm_load_whole(const struct whole_file *file, struct frame **out)
{
	return image_read_whole(file, read_whole_head, out);
}

/* ---- writing ---- */

static size_t
largest(const struct frame *frame)
{
	size_t most = 0;

	for (size_t c = 0; c < frame->head.c; c++)
		for (size_t y = 0; y < frame->head.h; y++) {
			const uint8_t *bytes = frame_row(frame, c, y);
			const uint16_t *shorts = frame_row(frame, c, y);
			bool wide = frame->head.type == SAMPLE_USHORT;

			for (size_t x = 0; x < frame->head.w; x++) {
				size_t v = wide ? shorts[x] : bytes[x];

				if (v > most)
					most = v;
			}
		}
	return most;
}

/* The key max_value, where all samples keep below it and it does not change their type. */
static size_t
choose_maxval(const struct frame *frame)
{
	const char *text = meta_get(&frame->head.meta, "max_value");
	long full = frame->head.type == SAMPLE_UCHAR ? 255 : 65535, v;

	if (!text || integer_parse(text, &v) < 0 || v < (full == 255 ? 1 : 256) || v > full ||
	    largest(frame) > (size_t)v)
		return (size_t)full;
	return (size_t)v;
}

/* The head of a file as a new string. */
static char *
header_text(const struct frame_head *head, int kind, size_t maxval, size_t *n)
{
	static const char *const tuple[] = { "GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA" };
	struct text text;
	FILE *file = text_open(&text);

	fprintf(file, "P%d\n", kind);
	head_put_comments(file, "#", head, SIZE_MAX, false);
	if (kind == 7) {
		fprintf(file, "WIDTH %zu\nHEIGHT %zu\nDEPTH %zu\nMAXVAL %zu\n", head->w, head->h,
		    head->c, maxval);
		if (head->c <= 4)
			fprintf(file, "TUPLTYPE %s\n", tuple[head->c - 1]);
		fprintf(file, "ENDHDR\n");
	} else {
		fprintf(file, "%zu %zu\n", head->w, head->h);
		if (kind != 4)
			fprintf(file, "%zu\n", maxval);
	}
	return text_close(&text, n);
}

/* The kind by suffix: pgm 5, ppm 6, pam 7, pbm 4; pnm as the channels want it. */
static int
choose_kind(struct saver *saver, const struct frame_head *head)
{
	const char *dot = strrchr(saver->path, '.');
	const char *suffix = dot ? dot + 1 : "pnm";

	if (head->type == SAMPLE_FLOAT)
		return fail(saver->path, "PNM holds 8 or 16 bits a sample, not float (use framecat "
		    "--scale, or a PFM, TIFF or NRRD file)");
	if (!strcasecmp(suffix, "pam"))
		return 7;
	if (!strcasecmp(suffix, "pbm")) {
		if (head->c != 1 || head->type != SAMPLE_UCHAR)
			return fail(saver->path, "PBM holds 1 channel of one bit, not %zu of %s",
			    head->c, sample_name(head->type));
		return 4;
	}
	if (!strcasecmp(suffix, "pgm") && head->c != 1)
		return fail(saver->path, "PGM holds 1 channel, not %zu (use a PPM or PAM file)",
		    head->c);
	if (!strcasecmp(suffix, "ppm") && head->c != 3)
		return fail(saver->path, "PPM holds 3 channels, not %zu (use a PGM or PAM file)",
		    head->c);
	return head->c == 1 ? 5 : head->c == 3 ? 6 : 7;
}

/* For PBM: is every sample 0 or white? */
static int
check_bits(const char *path, const struct frame *frame)
{
	const char *bits = meta_get(&frame->head.meta, "bits");
	const unsigned char white = bits && !strcmp(bits, "1") ? 1 : 255;

	for (size_t y = 0; y < frame->head.h; y++) {
		const uint8_t *row = frame_row(frame, 0, y);

		for (size_t x = 0; x < frame->head.w; x++)
			if (row[x] != 0 && row[x] != white)
				return fail(path, "PBM holds 0 and %d, not %d", white, row[x]);
	}
	return 0;
}

/* Black is 1. */
static void
pack_bits(const struct frame *frame, size_t y, void *to)
{
	const uint8_t *row = frame_row(frame, 0, y);
	unsigned char *packed = to;

	memset(packed, 0, (frame->head.w + 7) / 8);
	for (size_t x = 0; x < frame->head.w; x++)
		if (row[x] == 0)
			packed[x / 8] |= (unsigned char)(0x80 >> x % 8);
}

static void
pack_samples(const struct frame *frame, size_t y, void *to)
{
	samples_join(frame, y, to);
	if (frame->head.type == SAMPLE_USHORT)	/* the high byte is the first */
		samples_swap(to, frame->head.w * frame->head.c, 2);
}

static int
pnm_save(struct saver *saver, const struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const int kind = choose_kind(saver, head);
	const struct samples_rows rows = { frame, 0, head->h,
		kind == 4 ? (head->w + 7) / 8 : head->w * head->c * sample_size(head->type),
		kind == 4 ? pack_bits : pack_samples };
	char *text;
	size_t n;
	int status;

	if (kind < 0 || (kind == 4 && check_bits(saver->path, frame) < 0))
		return -1;
	text = header_text(head, kind, kind == 4 ? 1 : choose_maxval(frame), &n);
	status = samples_write_rows(saver->path, saver->file, text, n, &rows);
	free(text);
	return status;
}

const struct codec codec_pnm = {
	.name = "PNM",
	.suffixes = "pgm ppm pam pnm pbm",
	.concatenates = true,
	.sniff = pnm_sniff,
	.load = pnm_load,
	.load_whole = pnm_load_whole,
	.save = pnm_save,
	.large_writes = true
};
