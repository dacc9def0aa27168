/* Reading PNG: libpng checks and reads all but the usual pixels (idat_read.h). */
#define _GNU_SOURCE
#include "codec/png/png_codec.h"

#include <png.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/png/idat_read.h"
#include "codec/png/one_bit.h"
#include "frame/samples.h"

#define CHUNK_BYTES_MOST ((size_t)40 << 20)	/* two copies of the longest key lines, and more */
#define IDAT_TYPE 0x49444154u
#define END_BYTES_MOST 16	/* a stream's end, which libpng may leave: a check sum, codes */

/* What is open while libpng may jump. It lives on the heap: no local can be lost by the jump. */
struct job {
	const char *path;
	FILE *file;
	png_structp png;
	png_infop info, behind;		/* what stands before and behind the pixels */
	struct frame_head head;
	struct frame *frame;
	unsigned char *rows;
	size_t left;			/* bytes of the file behind the head of the first IDAT */
	off_t end;			/* of the file; -1: not known */
	size_t used, most;		/* bytes that libpng holds, and may hold */
	bool keyed;			/* there are key lines before the pixels */
	bool one_bit;			/* samples of one bit became 0 and 255 */
	bool rows_read;			/* all of them, */
	size_t late;			/* and bytes of IDATs that were passed over then */
	bool surplus;			/* there are more image data than rows */
	bool indexed;			/* pixels are indices into: */
	unsigned char colour[256][4];
	int colours;
	size_t beyond;			/* pixels whose index is none of them */
};

static void
on_error(png_structp png, png_const_charp message)
{
	struct job *job = png_get_error_ptr(png);

	fail(job->path, "PNG: %s", message);
	png_longjmp(png, 1);
}

/*
 * libpng passes over chunks that are not as they should be. Of those that we take something from,
 * pixels, key lines or a colour that is clear, none is lost without a word. A wrong check sum is an
 * error in any chunk (png_set_crc_action()).
 */
static void
on_warning(png_structp png, png_const_charp message)
{
	static const char *const taken[] = { "IDAT: ", "tEXt: ", "zTXt: ", "iTXt: ", "tRNS: " };
	static const char *const more[] = { "Too much image data", "Extra compressed data",
		"Too many IDATs found" };
	struct job *job = png_get_error_ptr(png);
	bool fails = strcasestr(message, "memory");

	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (strstr(message, more[i])) {
			job->surplus = true;
			return;
		}
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		fails |= !strncmp(message, taken[i], strlen(taken[i]));
	if (fails)
		on_error(png, message);
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

	if (job->rows_read && png_get_io_chunk_type(png) == IDAT_TYPE &&
	    png_get_io_state(png) & PNG_IO_CHUNK_DATA)
		job->late += n;
	jump_if(job, samples_read(job->path, job->file, to, n) < 0);
}

/* Are there key lines? They go into the head. */
static bool
take_text(struct job *job, png_infop info, struct frame_head *head)
{
	png_textp text;
	bool taken = false;
	int n;

	png_get_text(job->png, info, &text, &n);
	for (int i = 0; i < n; i++) {
		size_t length = text[i].compression > 0 ? text[i].itxt_length : text[i].text_length;

		if (!strcmp(text[i].key, "fringepipe") && text[i].text) {
			jump_if(job, head_from_text(head, text[i].text, length) < 0);
			taken = true;
		}
	}
	return taken;
}

/* Key lines behind the pixels, where other programs put them, count if there are none before. */
static void
take_text_behind(struct job *job)
{
	struct frame *frame = job->frame;

	if (job->keyed || !take_text(job, job->behind, &frame->head))
		return;
	if (job->one_bit && png_is_one_bit(&frame->head))
		for (size_t y = 0; y < frame->head.h; y++)
			for (size_t x = 0; x < frame->head.w; x++)
				((uint8_t *)frame_row(frame, 0, y))[x] &= 1;
}

/* The colours of a palette; beyond them, as the specification wants it, there is opaque black. */
static void
take_palette(struct job *job)
{
	png_colorp palette = NULL;
	png_bytep alpha = NULL;
	int alphas = 0;

	png_get_PLTE(job->png, job->info, &palette, &job->colours);
	png_get_tRNS(job->png, job->info, &alpha, &alphas, NULL);
	for (int i = 0; i < 256; i++) {
		unsigned char *to = job->colour[i];

		if (i < job->colours)
			to[0] = palette[i].red, to[1] = palette[i].green, to[2] = palette[i].blue;
		to[3] = alpha && i < alphas ? alpha[i] : 255;
	}
	png_set_check_for_invalid_index(job->png, -1);	/* look_up() does */
	job->indexed = true;
}

/* A row of indices into its colours. */
static void
look_up(struct job *job, unsigned char *row)
{
	const size_t channels = job->head.c;

	for (size_t x = job->head.w; x-- > 0;) {
		unsigned char index = row[x];

		job->beyond += index >= job->colours;
		memcpy(row + x * channels, job->colour[index], channels);
	}
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
	job->left = samples_bytes_left(job->file);
	job->end = job->left == SIZE_MAX ? -1 : ftello(job->file) + (off_t)job->left;
	jump_if(job, samples_check_claim(job->path, job->left, w, h,
	    png_get_channels(png, info), (size_t)depth, 1040) < 0);
	jump_if(job, head_init(&job->head, w, h, channels,
	    depth == 16 ? SAMPLE_USHORT : SAMPLE_UCHAR) < 0);
	jump_if(job, channels == 2 && head_set_channels(&job->head, "image a") < 0);
	job->keyed = take_text(job, info, &job->head);
	if (colour == PNG_COLOR_TYPE_PALETTE)
		take_palette(job);
	if (job->indexed || (depth == 1 && !alpha && png_is_one_bit(&job->head)))
		png_set_packing(png);
	else if (depth < 8)
		png_set_expand_gray_1_2_4_to_8(png);
	job->one_bit = colour == PNG_COLOR_TYPE_GRAY && depth == 1 && !alpha;
	if (!job->indexed && png_get_valid(png, info, PNG_INFO_tRNS))
		png_set_tRNS_to_alpha(png);
	if (depth == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(png);
}

/* Interlaced rows are completed pass by pass, so all of them are kept until the last pass. */
static void
read_rows(struct job *job)
{
	int passes = png_set_interlace_handling(job->png);
	size_t h = job->head.h, row = job->head.w * job->head.c * sample_size(job->head.type), step;

	/* a few rows of up to 64 bits a pixel, padded */
	job->most += 64 * job->head.w + 4096;
	png_read_update_info(job->png, job->info);
	if (png_get_rowbytes(job->png, job->info) != (job->indexed ? job->head.w : row))
		png_error(job->png, "unexpected size of a row");
	step = passes > 1 ? row : 0;
	job->rows = calloc(passes > 1 ? h : 1, row);
	jump_if(job, !job->rows && fail_memory() < 0);
	for (int pass = 0; pass < passes; pass++)
		for (size_t y = 0; y < h; y++) {
			png_read_row(job->png, job->rows + y * step, NULL);
			if (pass < passes - 1)
				continue;
			if (job->indexed)
				look_up(job, job->rows + y * step);
			samples_split(job->rows + y * step, job->frame, y);
		}
	job->rows_read = true;
	png_read_end(job->png, job->behind);
	take_text_behind(job);
}

/* Are the pixels of the kind that idat_read() takes? */
static bool
is_usual(const struct job *job)
{
	const int colour = png_get_color_type(job->png, job->info);

	return png_get_bit_depth(job->png, job->info) >= 8 && colour != PNG_COLOR_TYPE_PALETTE &&
	    png_get_interlace_type(job->png, job->info) == PNG_INTERLACE_NONE &&
	    !png_get_valid(job->png, job->info, PNG_INFO_tRNS);
}

/* By idat_read() where it can. */
static void
read_pixels(struct job *job, bool by_libpng)
{
	int done = 0;

	jump_if(job, frame_new(&job->head, &job->frame) < 0);
	if (!by_libpng && is_usual(job))
		done = idat_read(job->path, job->file, job->left, job->frame);
	jump_if(job, done < 0);
	if (!done)
		read_rows(job);
}

/* What was read is whole, but there is more that belongs to no pixel. */
static void
warn_of_surplus(const struct job *job)
{
	if (job->beyond)
		warn(job->path, "PNG: %zu pixel%s black, as %s beyond the palette of %d colours",
		    job->beyond, job->beyond == 1 ? " is" : "s are",
		    job->beyond == 1 ? "its index is" : "their indices are", job->colours);
	if (job->surplus || job->late > END_BYTES_MOST)
		warn(job->path, "PNG: holds more image data than its %zu x %zu pixels; the rest "
		    "is not read", job->head.w, job->head.h);
	if (job->end >= 0)
		samples_warn_rest(job->path, (size_t)(job->end - ftello(job->file)));
}

static int
read_image(struct job *job, bool by_libpng)
{
	if (setjmp(png_jmpbuf(job->png)))
		return -1;
	png_set_read_fn(job->png, job, read_bytes);
	png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
	png_set_crc_action(job->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
	png_read_info(job->png, job->info);
	plan_reading(job);
	read_pixels(job, by_libpng);
	warn_of_surplus(job);
	return 0;
}

static int
load(struct loader *loader, struct frame **out, bool by_libpng)
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
	job->behind = job->info ? png_create_info_struct(job->png) : NULL;
	if (job->behind)
		status = read_image(job, by_libpng);
	else
		fail_memory();
	if (status == 0)
		*out = job->frame;
	else
		frame_free(job->frame);
	png_destroy_read_struct(&job->png, &job->info, &job->behind);
	head_free(&job->head);
	free(job->rows);
	free(job);
	return status < 0 ? -1 : 1;
}

int
png_load(struct loader *loader, struct frame **out)
{
	return load(loader, out, false);
}

int
png_load_by_libpng(struct loader *loader, struct frame **out)
{
	return load(loader, out, true);
}
