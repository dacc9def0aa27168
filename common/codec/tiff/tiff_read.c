/*
 * Reading TIFF with libtiff: strips and tiles, either planar configuration, every compression and
 * byte order that it knows. ImageDescription carries our key lines, and says which pages are the
 * channels of one frame.
 */
#define _GNU_SOURCE
#include "codec/tiff/tiff.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "codec/tiff/tiff_reading.h"

/* The element of a page, or -1: formats are 1 unsigned, 2 signed, 3 float, 4 undefined. */
static int
element_of(const struct tiff_page *page)
{
	bool is_signed = page->format == SAMPLEFORMAT_INT;

	if (page->format == SAMPLEFORMAT_IEEEFP)
		return page->bits == 16 ? ELEMENT_F16 : page->bits == 32 ? ELEMENT_F32 :
		    page->bits == 64 ? ELEMENT_F64 : -1;
	if (page->format > SAMPLEFORMAT_VOID)
		return -1;
	switch (page->bits) {
	case 8:
		return is_signed ? ELEMENT_I8 : ELEMENT_U8;
	case 16:
		return is_signed ? ELEMENT_I16 : ELEMENT_U16;
	case 32:
		return is_signed ? ELEMENT_I32 : ELEMENT_U32;
	case 64:
		return is_signed ? ELEMENT_I64 : ELEMENT_U64;
	default:
		return -1;
	}
}

static int
check_page(struct tiff_reading *reading, struct tiff_page *page)
{
	int element = element_of(page);

	if (page->photometric == PHOTOMETRIC_LOGL || page->photometric == PHOTOMETRIC_LOGLUV ||
	    page->photometric == PHOTOMETRIC_CIELAB || page->photometric == PHOTOMETRIC_SEPARATED ||
	    page->photometric == PHOTOMETRIC_YCBCR)
		return fail(reading->path, "TIFF colour space %d is not grey, RGB or a palette",
		    page->photometric);
	if (page->photometric == PHOTOMETRIC_PALETTE && (page->c != 1 || page->bits > 8 ||
	    !libtiff.GetField(reading->tif, TIFFTAG_COLORMAP, &page->palette[0], &page->palette[1],
	    &page->palette[2])))
		return fail(reading->path, "TIFF palette is not usable: %d channels of %d bits",
		    page->c, page->bits);
	if (page->bits == 1 || page->bits == 2 || page->bits == 4)
		element = ELEMENT_U8;
	if (element < 0)
		return fail(reading->path, "TIFF samples of %d bits and format %d are not known",
		    page->bits, page->format);
	page->element = (enum element)element;
	return 0;
}

/* Blocks: how large one is, and that the file can hold the image and a block. */
static int
plan_blocks(struct tiff_reading *reading, struct tiff_page *page)
{
	TIFF *tif = reading->tif;
	size_t c = page->planar == PLANARCONFIG_CONTIG ? page->c : 1;
	/* the densest of libtiff's compressions, zstd, packs a run of 128 KiB into 4 bytes */
	size_t ratio = page->compression == COMPRESSION_NONE ? 1 : 32768;
	uint32_t rows = page->h;
	size_t size = (size_t)tiff_file_size(reading);

	page->tiled = libtiff.IsTiled(tif);
	page->block_w = page->w;
	if (page->tiled) {
		if (!libtiff.GetField(tif, TIFFTAG_TILEWIDTH, &page->block_w) ||
		    !libtiff.GetField(tif, TIFFTAG_TILELENGTH, &rows))
			return fail(reading->path, "TIFF has tiles of unknown size");
	} else {
		libtiff.GetFieldDefaulted(tif, TIFFTAG_ROWSPERSTRIP, &rows);
		if (rows > page->h)
			rows = page->h;
	}
	page->block_h = rows;
	if (samples_check_claim(reading->path, size, page->w, page->h,
	    page->channel ? 1 : page->c * page->channels, page->bits, ratio) < 0 ||
	    samples_check_claim(reading->path, size, page->block_w, page->block_h, c, page->bits,
	    ratio) < 0)
		return -1;
	page->block_row = (page->block_w * c * page->bits + 7) / 8;
	page->block_bytes = page->block_row * page->block_h;
	if ((tmsize_t)page->block_bytes !=
	    (page->tiled ? libtiff.TileSize(tif) : libtiff.StripSize(tif)))
		return fail(reading->path, "TIFF samples are kept in an unknown way (subsampled?)");
	return 0;
}

/* Pages of one channel each that tiff_write.c made of a frame of several. */
static void
find_channel(struct tiff_reading *reading, struct tiff_page *page)
{
	const char *text;
	unsigned channel, channels;

	page->channels = 1;
	if (page->c != 1 || page->palette[0] ||
	    !libtiff.GetField(reading->tif, TIFFTAG_IMAGEDESCRIPTION, &text) || !text)
		return;
	text = strstr(text, "\n" TIFF_CHANNEL_KEY ":=");
	if (!text || sscanf(strchr(text, '=') + 1, "%5u %5u", &channel, &channels) != 2 ||
	    channel >= channels)
		return;
	page->channel = channel;
	page->channels = channels;
}

static int
read_page_head(struct tiff_reading *reading, struct tiff_page *page)
{
	TIFF *tif = reading->tif;
	uint16_t orientation = ORIENTATION_TOPLEFT;

	memset(page, 0, sizeof(*page));
	if (!libtiff.GetField(tif, TIFFTAG_IMAGEWIDTH, &page->w) ||
	    !libtiff.GetField(tif, TIFFTAG_IMAGELENGTH, &page->h))
		return fail(reading->path, "TIFF page has no size");
	libtiff.GetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &page->bits);
	libtiff.GetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &page->c);
	libtiff.GetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &page->format);
	libtiff.GetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &page->planar);
	libtiff.GetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &page->compression);
	if (!libtiff.GetField(tif, TIFFTAG_PHOTOMETRIC, &page->photometric))
		page->photometric = PHOTOMETRIC_MINISBLACK;
	if (page->photometric == PHOTOMETRIC_YCBCR && page->compression == COMPRESSION_JPEG) {
		libtiff.SetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
		page->photometric = PHOTOMETRIC_RGB;
	}
	libtiff.GetFieldDefaulted(tif, TIFFTAG_ORIENTATION, &orientation);
	if (check_page(reading, page) < 0)
		return -1;
	samples_note_orientation(reading->path, orientation);
	find_channel(reading, page);
	return plan_blocks(reading, page);
}

static int
plan_head(struct tiff_reading *reading, struct tiff_page *page, struct frame_head *head)
{
	size_t channels = page->palette[0] ? 3 : page->channel ? 1 : page->c * page->channels;
	const char *text;

	if (head_init(head, page->w, page->h, channels, samples_of_element(page->element)) < 0)
		return -1;
	if (page->photometric == PHOTOMETRIC_RGB && channels == 3 &&
	    head_set_channels(head, "r g b") < 0)
		return -1;
	if (libtiff.GetField(reading->tif, TIFFTAG_IMAGEDESCRIPTION, &text) &&
	    (text ? head_from_text(head, text, strlen(text)) : fail_memory()) < 0)
		return -1;
	meta_remove(&head->meta, TIFF_CHANNEL_KEY);
	text = meta_get(&head->meta, "bits");
	page->keep_bits = page->bits == 1 && text && !strcmp(text, "1");
	return 0;
}

/* Goes to the next page that is an image of its own, not a thumbnail or a mask: 1, 0 at the end. */
static int
next_page(struct tiff_reading *reading)
{
	uint32_t kind;

	if (reading->ahead) {
		reading->ahead = false;
		return 1;
	}
	for (;; reading->page++) {
		if (reading->page > 0 && libtiff.LastDirectory(reading->tif)) {
			tiff_warn_rest(reading);
			return 0;
		}
		if (reading->page > 0 && !libtiff.ReadDirectory(reading->tif))
			return tiff_fail_damaged(reading, "page", reading->page + 1);
		tiff_note_page(reading);
		kind = 0;
		libtiff.GetFieldDefaulted(reading->tif, TIFFTAG_SUBFILETYPE, &kind);
		if (!(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)))
			break;
	}
	reading->page++;
	return 1;
}

/* The first channel alone, of a page that was taken out of its file. */
static int
keep_first(struct frame **frame)
{
	struct frame_head head = { 0 };
	struct frame *one = NULL;
	int status = head_init(&head, (*frame)->head.w, (*frame)->head.h, 1, (*frame)->head.type);

	if (status == 0)
		status = head_set_channels(&head, (*frame)->head.channel[0]);
	meta_copy(&head.meta, &(*frame)->head.meta);
	if (status == 0)
		status = frame_new(&head, &one);
	head_free(&head);
	if (status < 0)
		return -1;
	for (size_t y = 0; y < one->head.h; y++)
		memcpy(frame_row(one, 0, y), frame_row(*frame, 0, y),
		    one->head.w * sample_size(one->head.type));
	frame_free(*frame);
	*frame = one;
	return 0;
}

/* The pages behind `first`, which are the other channels of its frame. */
static int
read_channels(struct tiff_reading *reading, const struct tiff_page *first, struct frame **frame)
{
	struct tiff_page page;

	for (size_t channel = 1; channel < first->channels; channel++) {
		int status = next_page(reading);

		if (status > 0)
			status = read_page_head(reading, &page) < 0 ? -1 : 1;
		if (status < 0)
			return -1;
		if (status == 0 || page.channel != channel || page.channels != first->channels ||
		    page.w != first->w || page.h != first->h || page.element != first->element) {
			reading->ahead = status > 0;
			if (channel == 1)
				return keep_first(frame);
			return fail(reading->path, "TIFF page %u is not channel %zu of %zu",
			    reading->page + (status == 0), channel + 1, first->channels);
		}
		if (tiff_read_blocks(reading, &page, *frame) < 0)
			return -1;
	}
	return 0;
}

static int
read_page(struct tiff_reading *reading, struct frame **out)
{
	struct frame_head head = { 0 };
	struct tiff_page page;
	int status;

	if (read_page_head(reading, &page) < 0)
		return -1;
	status = plan_head(reading, &page, &head);
	if (status == 0)
		status = frame_new(&head, out);
	head_free(&head);
	if (status < 0)
		return -1;
	if (tiff_read_blocks(reading, &page, *out) < 0 ||
	    (page.channel == 0 && read_channels(reading, &page, out) < 0)) {
		frame_free(*out);
		*out = NULL;
		return -1;
	}
	return 0;
}

static int
open_reading(struct loader *loader)
{
	struct tiff_reading *reading = calloc(1, sizeof(*reading));

	if (!reading)
		return fail_memory();
	loader->state = reading;
	return tiff_reading_open(reading, loader->path, loader->file);
}

int
tiff_load(struct loader *loader, struct frame **out)
{
	struct tiff_reading *reading;
	int status;

	*out = NULL;
	if (!loader->state && open_reading(loader) < 0)
		return -1;
	reading = loader->state;
	status = next_page(reading);
	if (status > 0 && read_page(reading, out) < 0)
		status = -1;
	if (!reading->lost)
		return status;
	frame_free(*out);
	*out = NULL;
	return -1;
}

void
tiff_load_end(struct loader *loader)
{
	struct tiff_reading *reading = loader->state;

	if (!reading)
		return;
	if (reading->tif)
		libtiff.Close(reading->tif);
	free(reading);
	loader->state = NULL;
}
