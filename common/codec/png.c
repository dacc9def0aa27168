/* PNG by libpng. Our key lines are a text chunk with the keyword "fringepipe". */
#define _GNU_SOURCE
#include "io/codec.h"

#include <png.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "frame/samples.h"

#define FEW_LEVELS 16
#define CHUNK_BYTES_MOST ((size_t)40 << 20)	/* two copies of the longest key lines, and more */

/* What is open while libpng may jump. It lives on the heap: no local can be lost by the jump. */
struct job {
	const char *path;
	FILE *file;
	png_structp png;
	png_infop info;
	struct frame_head head;
	struct frame *frame;
	unsigned char *rows;
	char *text;
	size_t used, most;		/* bytes that libpng holds, and may hold, while it reads */
	bool lacks_memory;		/* for something that it did without, while it writes */
};

static bool
png_sniff(const unsigned char *start, size_t n)
{
	return n >= 8 && !memcmp(start, "\x89PNG\r\n\x1a\n", 8);
}

static void
on_error(png_structp png, png_const_charp message)
{
	struct job *job = png_get_error_ptr(png);

	fail(job->path, "PNG: %s", message);
	png_longjmp(png, 1);
}

/* libpng goes on without a text for which it had no memory. */
static void
on_warning(png_structp png, png_const_charp message)
{
	if (strcasestr(message, "memory"))
		on_error(png, message);
}

/* The same where zlib may be at work, which a jump would keep from freeing what it has. */
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

/*
 * libpng allocates, and clears, what a chunk claims before it has read it, and unpacks every text
 * chunk to as much as 8 MB. Each block begins with its size.
 */
static void *
allocate(png_structp png, png_alloc_size_t n)
{
	struct job *job = png_get_mem_ptr(png);
	const size_t extra = _Alignof(max_align_t);
	size_t *block;

	if (n > job->most || job->used > job->most - n) {
		fail(job->path, "PNG: text and other chunks take more than %zu MiB",
		    CHUNK_BYTES_MOST >> 20);
		png_longjmp(png, 1);
	}
	block = malloc(n + extra);
	if (!block)
		return NULL;
	*block = n;
	job->used += n;
	return (char *)block + extra;
}

static void
release(png_structp png, void *at)
{
	struct job *job = png_get_mem_ptr(png);
	size_t *block;

	if (!at)
		return;
	block = (size_t *)((char *)at - _Alignof(max_align_t));
	job->used -= *block;
	free(block);
}

static void
read_bytes(png_structp png, png_bytep to, size_t n)
{
	struct job *job = png_get_io_ptr(png);

	jump_if(job, samples_read(job->path, job->file, to, n) < 0);
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

static void
take_text(struct job *job)
{
	png_textp text;
	int n;

	png_get_text(job->png, job->info, &text, &n);
	for (int i = 0; i < n; i++) {
		size_t length = text[i].compression > 0 ? text[i].itxt_length : text[i].text_length;

		if (!strcmp(text[i].key, "fringepipe") && text[i].text)
			jump_if(job, head_from_text(&job->head, text[i].text, length) < 0);
	}
}

static bool
is_one_bit(const struct frame_head *head)
{
	const char *bits = meta_get(&head->meta, "bits");

	return bits && !strcmp(bits, "1");
}

/* The head of what png_read_update_info() will deliver, and the transformations to it. */
static void
plan_reading(struct job *job)
{
	png_structp png = job->png;
	png_infop info = job->info;
	int depth = png_get_bit_depth(png, info), colour = png_get_color_type(png, info);
	bool alpha = colour & PNG_COLOR_MASK_ALPHA || png_get_valid(png, info, PNG_INFO_tRNS);
	size_t w = png_get_image_width(png, info), h = png_get_image_height(png, info);
	size_t channels = (colour & PNG_COLOR_MASK_COLOR ? 3u : 1u) + (alpha ? 1u : 0u);

	/* deflate packs by 1032 at most */
	jump_if(job, samples_check_claim(job->path, samples_bytes_left(job->file), w, h,
	    png_get_channels(png, info), (size_t)depth, 1040) < 0);
	jump_if(job, head_init(&job->head, w, h, channels,
	    depth == 16 ? SAMPLE_USHORT : SAMPLE_UCHAR) < 0);
	jump_if(job, channels == 2 && head_set_channels(&job->head, "image a") < 0);
	take_text(job);
	if (colour == PNG_COLOR_TYPE_PALETTE)
		png_set_palette_to_rgb(png);
	else if (depth == 1 && !alpha && is_one_bit(&job->head))
		png_set_packing(png);
	else if (depth < 8)
		png_set_expand_gray_1_2_4_to_8(png);
	if (png_get_valid(png, info, PNG_INFO_tRNS))
		png_set_tRNS_to_alpha(png);
	if (depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(png);
}

/* Interlaced rows are completed pass by pass, so all of them are kept until the last pass. */
static void
read_rows(struct job *job)
{
	int passes = png_set_interlace_handling(job->png);
	size_t h = job->head.h, row, step;

	/* a few rows of up to 64 bits a pixel, padded */
	job->most += 64 * job->head.w + 4096;
	png_read_update_info(job->png, job->info);
	row = png_get_rowbytes(job->png, job->info);
	if (row != job->head.w * job->head.c * sample_size(job->head.type))
		png_error(job->png, "unexpected size of a row");
	step = passes > 1 ? row : 0;
	job->rows = calloc(passes > 1 ? h : 1, row);
	jump_if(job, !job->rows && fail_memory() < 0);
	jump_if(job, frame_new(&job->head, &job->frame) < 0);
	for (int pass = 0; pass < passes; pass++)
		for (size_t y = 0; y < h; y++) {
			png_read_row(job->png, job->rows + y * step, NULL);
			if (pass == passes - 1)
				samples_split(job->rows + y * step, job->frame, y);
		}
	png_read_end(job->png, NULL);
}

static int
read_image(struct job *job)
{
	if (setjmp(png_jmpbuf(job->png)))
		return -1;
	png_set_read_fn(job->png, job, read_bytes);
	png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_read_info(job->png, job->info);
	plan_reading(job);
	read_rows(job);
	return 0;
}

static int
png_load(struct loader *loader, struct frame **out)
{
	struct job *job;
	int status = -1;

	*out = NULL;
	if (loader->frames > 0)
		return 0;
	job = calloc(1, sizeof(*job));
	if (!job)
		return fail_memory();
	job->path = loader->path;
	job->file = loader->file;
	job->most = CHUNK_BYTES_MOST;
	job->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, job, on_error, on_warning, job,
	    allocate, release);
	job->info = job->png ? png_create_info_struct(job->png) : NULL;
	if (job->info)
		status = read_image(job);
	else
		fail_memory();
	if (status == 0)
		*out = job->frame;
	else
		frame_free(job->frame);
	png_destroy_read_struct(&job->png, &job->info, NULL);
	head_free(&job->head);
	free(job->rows);
	free(job);
	return status < 0 ? -1 : 1;
}

/* One bit a sample is used only where it keeps every value. */
static bool
fits_one_bit(const struct frame *frame)
{
	if (!is_one_bit(&frame->head) || frame->head.c != 1 || frame->head.type != SAMPLE_UCHAR)
		return false;
	for (size_t y = 0; y < frame->head.h; y++) {
		const unsigned char *row = frame_row(frame, 0, y);

		for (size_t x = 0; x < frame->head.w; x++)
			if (row[x] > 1)
				return false;
	}
	return true;
}

/* Has a channel so few levels that they are rather signs (dithered, labels)? */
static bool
has_few_levels(const struct frame *frame, size_t c)
{
	bool seen[256] = { false };
	int levels = 0;

	for (size_t y = 0; y < frame->head.h && levels <= FEW_LEVELS; y++) {
		const unsigned char *row = frame_row(frame, c, y);

		for (size_t x = 0; x < frame->head.w; x++) {
			levels += !seen[row[x]];
			seen[row[x]] = true;
		}
	}
	return levels <= FEW_LEVELS;
}

/* Differences of neighbours, which PNG's filters make of levels, would have more of them. */
static bool
is_better_unfiltered(const struct frame *frame)
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

struct png_options {
	bool fast;
};

static const struct opt png_options[] = {
	{ 0, "fast", NULL, OPT_FLAG, offsetof(struct png_options, fast), NULL, 0, 0, NULL,
	  "larger files, sooner written", NULL },
	{ 0 },
};

static int
write_image(struct job *job, const struct frame *frame, const struct png_options *options)
{
	static const int colour[] = { PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
		PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA };
	const struct frame_head *head = &frame->head;
	const bool one_bit = fits_one_bit(frame);

	if (setjmp(png_jmpbuf(job->png)))
		return -1;
	png_set_write_fn(job->png, job, write_bytes, flush_nothing);
	png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_IHDR(job->png, job->info, (png_uint_32)head->w, (png_uint_32)head->h,
	    one_bit ? 1 : head->type == SAMPLE_UCHAR ? 8 : 16, colour[head->c - 1],
	    PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	if (options->fast) {
		png_set_compression_level(job->png, 1);
		png_set_filter(job->png, 0, PNG_FILTER_NONE);
	} else if (is_better_unfiltered(frame)) {
		png_set_compression_level(job->png, 9);
		png_set_filter(job->png, 0, PNG_FILTER_NONE);
	}
	put_text(job, head);
	png_write_info(job->png, job->info);
	write_rows(job, frame, one_bit);
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

static int
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
