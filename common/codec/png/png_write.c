/* Writing PNG: libpng writes the head, idat_write.h the pixels. */
#define _GNU_SOURCE
#include "codec/png/png_codec.h"

#include <png.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/png/idat_write.h"
#include "codec/png/lanes.h"
#include "codec/png/one_bit.h"
#include "frame/samples.h"

#define FEW_LEVELS 16

/* libdeflate's levels */
#define LEVEL 5
#define LEVEL_REPEATED 6	/* where most is repeated, */
#define LEVEL_LONGEST 7		/* and where that saves much again */
#define LEVEL_SMALL 4
#define LEVEL_SIGNS 6	/* 8 takes three times as long for 2 to 12 % fewer dithered bytes */
#define LEVEL_BITS 5	/* of one bit a pixel */
#define LEVEL_FAST 2

/* What is open while libpng may jump. It lives on the heap: no local can be lost by the jump. */
struct job {
	const char *path;
	FILE *file;
	png_structp png;
	png_infop info;
	unsigned char *rows;
	char *text;
	bool lacks_memory;		/* for something that libpng did without */
};

static void
on_error(png_structp png, png_const_charp message)
{
	struct job *job = png_get_error_ptr(png);

	fail(job->path, "PNG: %s", message);
	png_longjmp(png, 1);
}

/* libpng goes on without a text for which it had no memory. zlib may be at work: a jump would keep
 * it from freeing what it has. */
static void
note_warning(png_structp png, png_const_charp message)
{
	struct job *job = png_get_error_ptr(png);

	job->lacks_memory |= strcasestr(message, "memory") != NULL;
}

/* Ends a libpng callback or step when fail() has been called already. */
static void
jump_if(struct job *job, bool failed)
{
	if (failed)
		png_longjmp(job->png, 1);
}

static void
write_bytes(png_structp png, png_bytep from, size_t n)
{
	struct job *job = png_get_io_ptr(png);

	jump_if(job, samples_write(job->path, job->file, from, n) < 0);
}

static void
flush_nothing(png_structp png)
{
	(void)png;
}

/* One bit a sample is used only where it keeps every value. */
static bool
fits_one_bit(const struct frame *frame)
{
	if (!png_is_one_bit(&frame->head) || frame->head.c != 1 || frame->head.type != SAMPLE_UCHAR)
		return false;
	for (size_t y = 0; y < frame->head.h; y++) {
		const unsigned char *row = frame_row(frame, 0, y);
		unsigned char all = 0;

		for (size_t x = 0; x < frame->head.w; x++)
			all |= row[x];
		if (all > 1)
			return false;
	}
	return true;
}

/* The levels of a channel that were seen, each in all lanes. */
struct levels {
	lanes level[FEW_LEVELS];
	size_t n;		/* above FEW_LEVELS: too many */
};

static bool
all_known(const struct levels *levels, lanes v)
{
	lanes known = { 0 };
	uint64_t halves[2];

	for (size_t i = 0; i < levels->n; i++)
		known |= (lanes)(v == levels->level[i]);
	memcpy(halves, &known, sizeof(halves));
	return (halves[0] & halves[1]) == UINT64_MAX;
}

static void
add_levels(struct levels *levels, const unsigned char *from, size_t n)
{
	for (size_t x = 0; x < n && levels->n <= FEW_LEVELS; x++) {
		const lanes v = (lanes){ 0 } + from[x];

		if (all_known(levels, v))
			continue;
		if (levels->n < FEW_LEVELS)
			levels->level[levels->n] = v;
		levels->n++;
	}
}

/* Has a channel so few levels that they are rather signs (dithered, labels)? */
static bool
has_few_levels(const struct frame *frame, size_t c)
{
	const size_t w = frame->head.w;
	struct levels levels = { .n = 0 };

	for (size_t y = 0; y < frame->head.h && levels.n <= FEW_LEVELS; y++) {
		const unsigned char *row = frame_row(frame, c, y);
		size_t x = 0;

		for (; x + LANES <= w && levels.n <= FEW_LEVELS; x += LANES)
			if (!all_known(&levels, lanes_load(row + x)))
				add_levels(&levels, row + x, LANES);
		add_levels(&levels, row + x, w - x);
	}
	return levels.n <= FEW_LEVELS;
}

/* Differences of neighbours, which PNG's filters make of levels, may have more of them. */
static bool
has_signs(const struct frame *frame)
{
	if (frame->head.type != SAMPLE_UCHAR)
		return false;
	for (size_t c = 0; c < frame->head.c; c++)
		if (!has_few_levels(frame, c))
			return false;
	return true;
}

static void
put_text(struct job *job, const struct frame_head *head)
{
	png_text text = { .compression = PNG_TEXT_COMPRESSION_NONE };

	job->text = head_to_text(head);
	jump_if(job, !job->text);
	if (!*job->text)
		return;
	for (const char *p = job->text; *p; p++)
		if ((unsigned char)*p > 0x7e)	/* tEXt is Latin 1, iTXt is UTF-8 */
			text.compression = PNG_ITXT_COMPRESSION_NONE;
	text.key = "fringepipe";
	text.text = job->text;
	text.text_length = strlen(job->text);
	png_set_text(job->png, job->info, &text, 1);
}

static void
write_rows(struct job *job, const struct frame *frame, bool one_bit)
{
	const struct frame_head *head = &frame->head;

	if (one_bit)
		png_set_packing(job->png);
	if (head->type == SAMPLE_USHORT && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(job->png);
	job->rows = malloc(head->w * head->c * sample_size(head->type));
	jump_if(job, !job->rows && fail_memory() < 0);
	for (size_t y = 0; y < head->h; y++) {
		samples_join(frame, y, job->rows);
		png_write_row(job->png, job->rows);
	}
	png_write_end(job->png, NULL);
}

/* By idat_write() where it can. */
static void
write_pixels(struct job *job, const struct frame *frame, const struct idat_options *options)
{
	if (idat_write_is_for(&frame->head, options))
		jump_if(job, idat_write(job->path, job->file, frame, options) < 0);
	else
		write_rows(job, frame, options->one_bit);
}

#define AT(name) offsetof(struct png_options, name)

const struct opt png_options[] = {
	{ 0, "fast", NULL, OPT_FLAG, AT(fast), NULL, 0, 0, NULL,
	  "larger files, sooner written", NULL },
	{ 0, "level", "N", OPT_INTEGER, AT(level), NULL, 1, 12, NULL,
	  "how much PNG files are compressed, from little and soon to much", NULL },
	{ 0 },
};

/* How the pixels are packed. Bits have no filters, which see bytes. */
static struct idat_options
choose(const struct frame *frame, const struct png_options *options)
{
	const bool given = options->level != OPT_NONE_INTEGER;
	const bool one_bit = fits_one_bit(frame);
	struct idat_options idat = { .one_bit = one_bit };

	if (one_bit)
		idat.method = IDAT_PLAIN;
	else if (options->fast)
		idat.method = IDAT_FAST;
	else
		idat.method = given ? IDAT_LEAST_MATCHES : IDAT_LEAST;
	/* libpng asks for no levels */
	idat.few_levels = one_bit || (idat_write_is_for(&frame->head, &idat) && has_signs(frame));
	idat.level = options->fast ? LEVEL_FAST : one_bit ? LEVEL_BITS :
	    idat.few_levels ? LEVEL_SIGNS : LEVEL;
	idat.level_small = options->fast ? LEVEL_FAST : LEVEL_SMALL;
	idat.level_repeated = LEVEL_REPEATED;
	idat.level_longest = LEVEL_LONGEST;
	if (given)
		idat.level = idat.level_small = idat.level_repeated = idat.level_longest =
		    (int)options->level;
	return idat;
}

static int
write_image(struct job *job, const struct frame *frame, const struct png_options *options)
{
	static const int colour[] = { PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
		PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA };
	const struct frame_head *head = &frame->head;
	const struct idat_options idat = choose(frame, options);

	if (setjmp(png_jmpbuf(job->png)))
		return -1;
	png_set_write_fn(job->png, job, write_bytes, flush_nothing);
	png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_IHDR(job->png, job->info, (png_uint_32)head->w, (png_uint_32)head->h,
	    idat.one_bit ? 1 : head->type == SAMPLE_UCHAR ? 8 : 16, colour[head->c - 1],
	    PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	png_set_compression_level(job->png, idat.level < 9 ? idat.level : 9);
	if (idat.method == IDAT_PLAIN)
		png_set_filter(job->png, 0, PNG_FILTER_NONE);
	put_text(job, head);
	png_write_info(job->png, job->info);
	write_pixels(job, frame, &idat);
	jump_if(job, job->lacks_memory && fail_memory() < 0);
	return 0;
}

static int
check_writable(const char *path, const struct frame_head *head)
{
	if (head->type == SAMPLE_FLOAT)
		return fail(path, "PNG holds 8 or 16 bits a sample, not float (use framecat "
		    "--scale, or a TIFF, PFM or NRRD file)");
	if (head->c > 4)
		return fail(path, "PNG holds 1 to 4 channels, not %zu (use framecat --channels, or "
		    "--split for a file each)", head->c);
	if (head->w > PNG_UINT_31_MAX || head->h > PNG_UINT_31_MAX)
		return fail(path, "PNG holds no image of %zu x %zu", head->w, head->h);
	return 0;
}

int
png_save(struct saver *saver, const struct frame *frame)
{
	struct job *job;
	int status = -1;

	if (check_writable(saver->path, &frame->head) < 0)
		return -1;
	job = calloc(1, sizeof(*job));
	if (!job)
		return fail_memory();
	job->path = saver->path;
	job->file = saver->file;
	job->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, job, on_error, note_warning);
	job->info = job->png ? png_create_info_struct(job->png) : NULL;
	if (job->info)
		status = write_image(job, frame, saver->options);
	else
		fail_memory();
	png_destroy_write_struct(&job->png, &job->info);
	free(job->text);
	free(job->rows);
	free(job);
	return status;
}
