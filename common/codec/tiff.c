/*
 * TIFF. Reading is libtiff's: strips and tiles, either planar configuration, every compression and
 * byte order that it knows. Writing is plain: uncompressed strips need no library, and since the
 * directories are written last, a file becomes BigTIFF only when it grew beyond 4 GB, however many
 * frames come. Up to four uchar or ushort channels are interleaved, anything else is one plane
 * after the other. ImageDescription carries our key lines.
 */
#define _GNU_SOURCE
#include "io/codec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "frame/samples.h"

/* ---- reading ---- */

struct reading {
	const char *path;
	FILE *file;
	TIFF *tif;
	unsigned page;
	char message[400];	/* libtiff's first error; it may still go on after some */
};

/* How one page keeps its samples. */
struct page {
	uint32_t w, h;
	uint16_t c;			/* samples per pixel in the file */
	uint16_t bits, format, planar, photometric, compression;
	uint32_t block_w, block_h;	/* a tile, or a strip as wide as the image */
	size_t block_row, block_bytes;
	enum element element;		/* bits >= 8 */
	bool tiled;
	bool keep_bits;			/* 1-bit values stay 0 and 1 */
	uint16_t *palette[3];
};

static bool
tiff_sniff(const unsigned char *start, size_t n)
{
	return n >= 8 && (!memcmp(start, "II*\0", 4) || !memcmp(start, "MM\0*", 4) ||
	    !memcmp(start, "II+\0\x08\0\0\0", 8) || !memcmp(start, "MM\0+\0\x08\0\0", 8));
}

/* libtiff hands over the file it speaks of, so that threads do not mix their messages. */
static void
on_error(thandle_t handle, const char *module, const char *format, va_list args)
{
	struct reading *reading = handle;

	(void)module;
	if (reading && !reading->message[0])
		vsnprintf(reading->message, sizeof(reading->message), format, args);
}

/* Fails with what libtiff said, else with "TIFF WHAT NUMBER is damaged". */
static int
fail_damaged(struct reading *reading, const char *what, unsigned number)
{
	if (reading->message[0])
		return fail(reading->path, "TIFF %s %u: %s", what, number, reading->message);
	return fail(reading->path, "TIFF %s %u is damaged", what, number);
}

static void
set_handlers(void)
{
	TIFFSetErrorHandler(NULL);
	TIFFSetErrorHandlerExt(on_error);
	TIFFSetWarningHandler(NULL);
	TIFFSetWarningHandlerExt(NULL);
}

static tmsize_t
client_read(thandle_t handle, void *to, tmsize_t n)
{
	struct reading *reading = handle;

	return (tmsize_t)fread(to, 1, (size_t)n, reading->file);
}

static tmsize_t
client_write(thandle_t handle, void *from, tmsize_t n)
{
	(void)handle;
	(void)from;
	(void)n;
	return -1;
}

static toff_t
client_seek(thandle_t handle, toff_t offset, int whence)
{
	struct reading *reading = handle;

	if (offset > INT64_MAX || fseeko(reading->file, (off_t)offset, whence) < 0)
		return (toff_t)-1;
	return (toff_t)ftello(reading->file);
}

static int
client_close(thandle_t handle)
{
	(void)handle;
	return 0;
}

static toff_t
client_size(thandle_t handle)
{
	struct reading *reading = handle;
	off_t here = ftello(reading->file), end;

	if (here < 0 || fseeko(reading->file, 0, SEEK_END) < 0)
		return 0;
	end = ftello(reading->file);
	if (fseeko(reading->file, here, SEEK_SET) < 0 || end < 0)
		return 0;
	return (toff_t)end;
}

/* The element of a page, or -1: formats are 1 unsigned, 2 signed, 3 float, 4 undefined. */
static int
element_of(const struct page *page)
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
check_page(struct reading *reading, struct page *page)
{
	int element = element_of(page);

	if (page->photometric == PHOTOMETRIC_LOGL || page->photometric == PHOTOMETRIC_LOGLUV ||
	    page->photometric == PHOTOMETRIC_CIELAB || page->photometric == PHOTOMETRIC_SEPARATED ||
	    page->photometric == PHOTOMETRIC_YCBCR)
		return fail(reading->path, "TIFF colour space %d is not grey, RGB or a palette",
		    page->photometric);
	if (page->photometric == PHOTOMETRIC_PALETTE && (page->c != 1 || page->bits > 8 ||
	    !TIFFGetField(reading->tif, TIFFTAG_COLORMAP, &page->palette[0], &page->palette[1],
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
plan_blocks(struct reading *reading, struct page *page)
{
	TIFF *tif = reading->tif;
	size_t c = page->planar == PLANARCONFIG_CONTIG ? page->c : 1;
	/* the densest of libtiff's compressions, zstd, packs a run of 128 KiB into 4 bytes */
	size_t ratio = page->compression == COMPRESSION_NONE ? 1 : 32768;
	uint32_t rows = page->h;
	size_t size = (size_t)client_size(reading);

	page->tiled = TIFFIsTiled(tif);
	page->block_w = page->w;
	if (page->tiled) {
		if (!TIFFGetField(tif, TIFFTAG_TILEWIDTH, &page->block_w) ||
		    !TIFFGetField(tif, TIFFTAG_TILELENGTH, &rows))
			return fail(reading->path, "TIFF has tiles of unknown size");
	} else {
		TIFFGetFieldDefaulted(tif, TIFFTAG_ROWSPERSTRIP, &rows);
		if (rows > page->h)
			rows = page->h;
	}
	page->block_h = rows;
	if (samples_check_claim(reading->path, size, page->w, page->h, page->c, page->bits,
	    ratio) < 0 || samples_check_claim(reading->path, size, page->block_w, page->block_h, c,
	    page->bits, ratio) < 0)
		return -1;
	page->block_row = (page->block_w * c * page->bits + 7) / 8;
	page->block_bytes = page->block_row * page->block_h;
	if ((tmsize_t)page->block_bytes != (page->tiled ? TIFFTileSize(tif) : TIFFStripSize(tif)))
		return fail(reading->path, "TIFF samples are kept in an unknown way (subsampled?)");
	return 0;
}

static int
read_page_head(struct reading *reading, struct page *page)
{
	TIFF *tif = reading->tif;

	memset(page, 0, sizeof(*page));
	if (!TIFFGetField(tif, TIFFTAG_IMAGEWIDTH, &page->w) ||
	    !TIFFGetField(tif, TIFFTAG_IMAGELENGTH, &page->h))
		return fail(reading->path, "TIFF page has no size");
	TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &page->bits);
	TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &page->c);
	TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &page->format);
	TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &page->planar);
	TIFFGetFieldDefaulted(tif, TIFFTAG_COMPRESSION, &page->compression);
	if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &page->photometric))
		page->photometric = PHOTOMETRIC_MINISBLACK;
	if (page->photometric == PHOTOMETRIC_YCBCR && page->compression == COMPRESSION_JPEG) {
		TIFFSetField(tif, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
		page->photometric = PHOTOMETRIC_RGB;
	}
	if (check_page(reading, page) < 0)
		return -1;
	return plan_blocks(reading, page);
}

static int
plan_head(struct reading *reading, struct page *page, struct frame_head *head)
{
	size_t channels = page->palette[0] ? 3 : page->c;
	const char *text;

	if (head_init(head, page->w, page->h, channels, samples_of_element(page->element)) < 0)
		return -1;
	if (page->photometric == PHOTOMETRIC_RGB && channels == 3 &&
	    head_set_channels(head, "r g b") < 0)
		return -1;
	if (TIFFGetField(reading->tif, TIFFTAG_IMAGEDESCRIPTION, &text) && text &&
	    head_from_text(head, text, strlen(text)) < 0)
		return -1;
	text = meta_get(&head->meta, "bits");
	page->keep_bits = page->bits == 1 && text && !strcmp(text, "1");
	return 0;
}

/* Samples of 1, 2 or 4 bits from bit `first` on, `step` samples apart, each to one byte. */
static void
unpack_bits(const struct page *page, const unsigned char *row, size_t first, size_t step,
    unsigned char *to, size_t n)
{
	unsigned bits = page->bits, mask = (1u << bits) - 1;
	unsigned scale = page->palette[0] || page->keep_bits ? 1 : 255 / mask;

	for (size_t i = 0; i < n; i++) {
		size_t at = (first + i * step) * bits;

		to[i] = (unsigned char)((row[at / 8] >> (8 - bits - at % 8) & mask) * scale);
	}
}

/* For MINISWHITE, where 0 is white. */
static void
invert(const struct page *page, void *row, size_t n)
{
	unsigned char *bytes = row;
	uint16_t *shorts = row;

	if (page->element == ELEMENT_U8)
		for (size_t i = 0; i < n; i++)
			bytes[i] = (unsigned char)((page->keep_bits ? 1 : 255) - bytes[i]);
	else if (page->element == ELEMENT_U16)
		for (size_t i = 0; i < n; i++)
			shorts[i] = (uint16_t)(65535 - shorts[i]);
}

static void
place_palette(const struct page *page, const unsigned char *index, struct frame *frame, size_t x,
    size_t y, size_t n)
{
	for (size_t c = 0; c < 3; c++) {
		unsigned char *to = (unsigned char *)frame_row(frame, c, y) + x;

		for (size_t i = 0; i < n; i++)
			to[i] = (unsigned char)(page->palette[c][index[i]] >> 8);
	}
}

/* n pixels of one row of a block, which holds channels first .. first + count - 1. */
static void
place_row(const struct page *page, const unsigned char *row, size_t first, size_t count,
    struct frame *frame, size_t x, size_t y, size_t n)
{
	size_t sample = sample_size(frame->head.type), size = samples_element_size(page->element);
	unsigned char index[256];

	if (page->palette[0]) {
		for (size_t i = 0, k; i < n; i += k) {
			k = n - i < 256 ? n - i : 256;
			if (page->bits < 8)
				unpack_bits(page, row, i, 1, index, k);
			else
				memcpy(index, row + i, k);
			place_palette(page, index, frame, x + i, y, k);
		}
		return;
	}
	for (size_t k = 0; k < count; k++) {
		unsigned char *to = (unsigned char *)frame_row(frame, first + k, y) + x * sample;

		if (page->bits < 8)
			unpack_bits(page, row, k, count, to, n);
		else
			samples_convert(page->element, false, row + k * size, count * size, to, n);
		if (page->photometric == PHOTOMETRIC_MINISWHITE)
			invert(page, to, n);
	}
}

static int
read_block(struct reading *reading, const struct page *page, uint32_t number, size_t rows,
    unsigned char *block)
{
	tmsize_t expected = (tmsize_t)(rows * page->block_row), got;

	if (page->tiled)
		got = TIFFReadEncodedTile(reading->tif, number, block, (tmsize_t)page->block_bytes);
	else
		got = TIFFReadEncodedStrip(reading->tif, number, block, expected);
	if (got < expected)
		return fail_damaged(reading, "block", number);
	return 0;
}

/* The block whose first pixel is (x, y), of channels first .. first + count - 1. */
static int
place_block(struct reading *reading, const struct page *page, uint32_t number, size_t first,
    size_t count, size_t x, size_t y, unsigned char *block, struct frame *frame)
{
	size_t rows = page->h - y < page->block_h ? page->h - y : page->block_h;
	size_t n = page->w - x < page->block_w ? page->w - x : page->block_w;

	if (read_block(reading, page, number, rows, block) < 0)
		return -1;
	for (size_t i = 0; i < rows; i++)
		place_row(page, block + i * page->block_row, first, count, frame, x, y + i, n);
	return 0;
}

/* Blocks are numbered plane by plane, then row by row, then from the left. */
static int
read_blocks(struct reading *reading, const struct page *page, struct frame *frame)
{
	bool contiguous = page->planar == PLANARCONFIG_CONTIG;
	size_t planes = contiguous ? 1 : page->c, count = contiguous ? page->c : 1;
	unsigned char *block = calloc(1, page->block_bytes);
	uint32_t number = 0;
	int status = block ? 0 : fail_memory();

	for (size_t plane = 0; plane < planes; plane++)
		for (size_t y = 0; y < page->h; y += page->block_h)
			for (size_t x = 0; x < page->w && status == 0; x += page->block_w)
				status = place_block(reading, page, number++, plane, count, x, y,
				    block, frame);
	free(block);
	return status;
}

static int
read_page(struct reading *reading, struct frame **out)
{
	struct frame_head head = { 0 };
	struct page page;
	int status;

	if (read_page_head(reading, &page) < 0)
		return -1;
	status = plan_head(reading, &page, &head);
	if (status == 0)
		status = frame_new(&head, out);
	head_free(&head);
	if (status < 0)
		return -1;
	if (read_blocks(reading, &page, *out) < 0) {
		frame_free(*out);
		*out = NULL;
		return -1;
	}
	return 0;
}

static int
open_reading(struct loader *loader)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct reading *reading = calloc(1, sizeof(*reading));

	pthread_once(&once, set_handlers);
	if (!reading)
		return fail_memory();
	loader->state = reading;
	reading->path = loader->path;
	reading->file = loader->file;
	/* "m": no memory map, the file may be cut while it is read */
	reading->tif = TIFFClientOpen(loader->path, "rm", reading, client_read, client_write,
	    client_seek, client_close, client_size, NULL, NULL);
	if (!reading->tif)
		return fail_damaged(reading, "page", 1);
	return 0;
}

/* Goes to the next page that is an image of its own, not a thumbnail or a mask: 1, 0 at the end. */
static int
next_page(struct reading *reading)
{
	uint32_t kind;

	for (;; reading->page++) {
		if (reading->page > 0 && TIFFLastDirectory(reading->tif))
			return 0;
		if (reading->page > 0 && !TIFFReadDirectory(reading->tif))
			return fail_damaged(reading, "page", reading->page + 1);
		kind = 0;
		TIFFGetFieldDefaulted(reading->tif, TIFFTAG_SUBFILETYPE, &kind);
		if (!(kind & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)))
			break;
	}
	reading->page++;
	return 1;
}

static int
tiff_load(struct loader *loader, struct frame **out)
{
	struct reading *reading;
	int status;

	*out = NULL;
	if (!loader->state && open_reading(loader) < 0)
		return -1;
	reading = loader->state;
	status = next_page(reading);
	if (status > 0 && read_page(reading, out) < 0)
		status = -1;
	return status;
}

static void
tiff_load_end(struct loader *loader)
{
	struct reading *reading = loader->state;

	if (!reading)
		return;
	if (reading->tif)
		TIFFClose(reading->tif);
	free(reading);
	loader->state = NULL;
}

/* ---- writing ---- */

struct written {		/* one page whose samples are in the file already */
	uint64_t offset;
	struct frame_head head;
	size_t strip_rows, strips;
	bool contiguous;
	char *text;
};

struct writing {
	uint64_t end;		/* of the file so far */
	bool broken;		/* a page could not be written: nothing to complete */
	size_t n;
	struct written *page;
};

#define STRIP_BYTES (1 << 20)
#define CLASSIC_LIMIT 0xffffffffu

static size_t
row_bytes(const struct written *page)
{
	return page->head.w * sample_size(page->head.type) * (page->contiguous ? page->head.c : 1);
}

static int
append(struct saver *saver, struct writing *writing, const void *from, size_t n)
{
	if (samples_write(saver->path, saver->file, from, n) < 0)
		return -1;
	writing->end += n;
	return 0;
}

static int
pad(struct saver *saver, struct writing *writing)
{
	static const char zeros[16];

	return append(saver, writing, zeros, (size_t)(-writing->end & 15));
}

static int
plan_page(struct saver *saver, const struct frame *frame, struct written *page)
{
	const struct frame_head *head = &frame->head;
	size_t row;

	if (head->w > INT32_MAX || head->h > INT32_MAX || head->c > UINT16_MAX ||
	    head->w > INT32_MAX / 4 / sample_size(head->type))
		return fail(saver->path, "TIFF holds no image of %zu x %zu x %zu", head->w, head->h,
		    head->c);
	page->contiguous = head->c == 1 || (head->type != SAMPLE_FLOAT && head->c <= 4);
	if (head_copy(&page->head, head) < 0)
		return -1;
	page->text = head_to_text(head);
	if (!page->text)
		return -1;
	row = row_bytes(page);
	page->strip_rows = row < STRIP_BYTES ? STRIP_BYTES / row : 1;
	if (page->strip_rows > head->h)
		page->strip_rows = head->h;
	page->strips = (head->h + page->strip_rows - 1) / page->strip_rows *
	    (page->contiguous ? 1 : head->c);
	return 0;
}

static int
write_samples(struct saver *saver, struct writing *writing, const struct written *page,
    const struct frame *frame)
{
	size_t n = row_bytes(page);
	unsigned char *row;
	int status = 0;

	if (!page->contiguous) {
		for (size_t c = 0; c < frame->head.c; c++)
			for (size_t y = 0; y < frame->head.h && status == 0; y++)
				status = append(saver, writing, frame_row(frame, c, y), n);
		return status;
	}
	row = malloc(n);
	if (!row)
		return fail_memory();
	for (size_t y = 0; y < frame->head.h && status == 0; y++) {
		samples_join(frame, y, row);
		status = append(saver, writing, row, n);
	}
	free(row);
	return status;
}

static int
tiff_save(struct saver *saver, const struct frame *frame)
{
	struct writing *writing = saver->state;
	struct written *page;

	if (!writing) {
		writing = saver->state = calloc(1, sizeof(*writing));
		if (!writing)
			return fail_memory();
		/* room for the larger of the two headers */
		if (append(saver, writing, (char[16]){ 0 }, 16) < 0)
			return -1;
	}
	page = reallocarray(writing->page, writing->n + 1, sizeof(*page));
	if (!page)
		return fail_memory();
	writing->page = page;
	page += writing->n++;
	memset(page, 0, sizeof(*page));
	writing->broken = true;
	if (plan_page(saver, frame, page) < 0 || pad(saver, writing) < 0)
		return -1;
	page->offset = writing->end;
	if (write_samples(saver, writing, page, frame) < 0)
		return -1;
	writing->broken = false;
	return 0;
}

struct entry {
	uint16_t tag, type;
	uint64_t count;
	const void *value;
};

struct directory {
	size_t n;
	struct entry entry[16];
};

static void
add(struct directory *directory, uint16_t tag, uint16_t type, uint64_t count, const void *value)
{
	directory->entry[directory->n++] = (struct entry){ tag, type, count, value };
}

static size_t
entry_bytes(const struct entry *entry)
{
	size_t size = entry->type == TIFF_ASCII ? 1 : entry->type == TIFF_SHORT ? 2 :
	    entry->type == TIFF_LONG ? 4 : 8;

	return entry->count * size;
}

/* The directory itself: what does not fit into an entry stands before it, at offset[]. */
static int
write_entries(struct saver *saver, struct writing *writing, const struct directory *directory,
    const uint64_t *offset, bool big)
{
	uint64_t count = directory->n;
	size_t word = big ? 8 : 4;
	int status = append(saver, writing, &count, big ? 8 : 2);

	for (size_t i = 0; i < directory->n && status == 0; i++) {
		const struct entry *entry = &directory->entry[i];
		unsigned char value[8] = { 0 };

		if (entry_bytes(entry) > word)
			memcpy(value, &offset[i], word);
		else
			memcpy(value, entry->value, entry_bytes(entry));
		if (append(saver, writing, &entry->tag, 2) < 0 ||
		    append(saver, writing, &entry->type, 2) < 0 ||
		    append(saver, writing, &entry->count, word) < 0 ||
		    append(saver, writing, value, word) < 0)
			status = -1;
	}
	return status < 0 ? -1 : append(saver, writing, (char[8]){ 0 }, word);
}

/*
 * Appends a directory and makes the one before, or the file's header, point to it. *link is the
 * place of that pointer in the file, and becomes that of this directory's own.
 */
static int
write_directory(struct saver *saver, struct writing *writing, const struct directory *directory,
    bool big, uint64_t *link)
{
	size_t word = big ? 8 : 4;
	uint64_t offset[16] = { 0 }, start;

	for (size_t i = 0; i < directory->n; i++) {
		if (entry_bytes(&directory->entry[i]) <= word)
			continue;
		if (pad(saver, writing) < 0)
			return -1;
		offset[i] = writing->end;
		if (append(saver, writing, directory->entry[i].value,
		    entry_bytes(&directory->entry[i])) < 0)
			return -1;
	}
	if (pad(saver, writing) < 0)
		return -1;
	start = writing->end;
	if (write_entries(saver, writing, directory, offset, big) < 0)
		return -1;
	if (fseeko(saver->file, (off_t)*link, SEEK_SET) < 0 ||
	    fwrite(&start, 1, word, saver->file) != word || fseeko(saver->file, 0, SEEK_END) < 0)
		return fail_errno(saver->path, "cannot be written");
	*link = writing->end - word;
	return 0;
}

/* Where the strips lie, and for each channel its sample's bits, format and, behind the colours,
 * its meaning: 2 for alpha, 0 for not said. */
struct tables {
	uint64_t *offset;
	uint32_t *offset32, *bytes;
	uint16_t *bits, *format, *extra;
};

static void
tables_free(struct tables *t)
{
	free(t->offset);
	free(t->offset32);
	free(t->bytes);
	free(t->bits);
	free(t->format);
	free(t->extra);
}

static int
tables_fill(const struct written *page, struct tables *t)
{
	size_t c = page->head.c, per_plane = page->contiguous ? page->strips : page->strips / c;
	uint64_t offset = page->offset;

	t->offset = calloc(page->strips, sizeof(*t->offset));
	t->offset32 = calloc(page->strips, sizeof(*t->offset32));
	t->bytes = calloc(page->strips, sizeof(*t->bytes));
	t->bits = calloc(c, sizeof(*t->bits));
	t->format = calloc(c, sizeof(*t->format));
	t->extra = calloc(c, sizeof(*t->extra));
	if (!t->offset || !t->offset32 || !t->bytes || !t->bits || !t->format || !t->extra)
		return fail_memory();
	for (size_t i = 0; i < page->strips; i++) {
		size_t y = i % per_plane * page->strip_rows, left = page->head.h - y;

		t->offset[i] = offset;
		t->offset32[i] = (uint32_t)offset;
		t->bytes[i] = (uint32_t)(row_bytes(page) *
		    (left < page->strip_rows ? left : page->strip_rows));
		offset += t->bytes[i];
	}
	for (size_t i = 0; i < c; i++) {
		t->bits[i] = (uint16_t)(8 * sample_size(page->head.type));
		t->format[i] = page->head.type == SAMPLE_FLOAT ? SAMPLEFORMAT_IEEEFP :
		    SAMPLEFORMAT_UINT;
		t->extra[i] = !strcmp(page->head.channel[i], "a") ? EXTRASAMPLE_UNASSALPHA :
		    EXTRASAMPLE_UNSPECIFIED;
	}
	return 0;
}

static int
write_page(struct saver *saver, struct writing *writing, const struct written *page, bool big,
    uint64_t *link)
{
	const uint32_t w = (uint32_t)page->head.w, h = (uint32_t)page->head.h;
	const uint32_t strip_rows = (uint32_t)page->strip_rows, kind = writing->n > 1 ?
	    FILETYPE_PAGE : 0;
	const uint16_t c = (uint16_t)page->head.c, compression = COMPRESSION_NONE;
	const uint16_t colours = page->contiguous && c >= 3 ? 3 : 1;
	const uint16_t photometric = colours == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
	const uint16_t planar = page->contiguous ? PLANARCONFIG_CONTIG : PLANARCONFIG_SEPARATE;
	struct directory d = { 0 };
	struct tables t = { 0 };
	int status = tables_fill(page, &t);

	if (status == 0) {
		add(&d, TIFFTAG_SUBFILETYPE, TIFF_LONG, 1, &kind);
		add(&d, TIFFTAG_IMAGEWIDTH, TIFF_LONG, 1, &w);
		add(&d, TIFFTAG_IMAGELENGTH, TIFF_LONG, 1, &h);
		add(&d, TIFFTAG_BITSPERSAMPLE, TIFF_SHORT, c, t.bits);
		add(&d, TIFFTAG_COMPRESSION, TIFF_SHORT, 1, &compression);
		add(&d, TIFFTAG_PHOTOMETRIC, TIFF_SHORT, 1, &photometric);
		add(&d, TIFFTAG_IMAGEDESCRIPTION, TIFF_ASCII, strlen(page->text) + 1, page->text);
		add(&d, TIFFTAG_STRIPOFFSETS, big ? TIFF_LONG8 : TIFF_LONG, page->strips,
		    big ? (void *)t.offset : (void *)t.offset32);
		add(&d, TIFFTAG_SAMPLESPERPIXEL, TIFF_SHORT, 1, &c);
		add(&d, TIFFTAG_ROWSPERSTRIP, TIFF_LONG, 1, &strip_rows);
		add(&d, TIFFTAG_STRIPBYTECOUNTS, TIFF_LONG, page->strips, t.bytes);
		add(&d, TIFFTAG_PLANARCONFIG, TIFF_SHORT, 1, &planar);
		if (c > colours)
			add(&d, TIFFTAG_EXTRASAMPLES, TIFF_SHORT, c - colours, t.extra + colours);
		add(&d, TIFFTAG_SAMPLEFORMAT, TIFF_SHORT, c, t.format);
		status = write_directory(saver, writing, &d, big, link);
	}
	tables_free(&t);
	return status;
}

/* Generous: what the directories of all pages may take. */
static uint64_t
directories_size(const struct writing *writing)
{
	uint64_t size = 0;

	for (size_t i = 0; i < writing->n; i++)
		size += 1024 + strlen(writing->page[i].text) + 12 * writing->page[i].strips +
		    6 * writing->page[i].head.c;
	return size;
}

static int
complete(struct saver *saver, struct writing *writing)
{
	const bool big = writing->end + directories_size(writing) > CLASSIC_LIMIT;
	const uint16_t start[4] = { 0x4949, big ? 43 : 42, big ? 8 : 0, 0 };
	uint64_t link = big ? 8 : 4;

	if (fseeko(saver->file, 0, SEEK_SET) < 0 ||
	    samples_write(saver->path, saver->file, start, big ? 8 : 4) < 0)
		return fail_errno(saver->path, "cannot be written");
	if (fseeko(saver->file, 0, SEEK_END) < 0)
		return fail_errno(saver->path, "cannot be written");
	for (size_t i = 0; i < writing->n; i++)
		if (write_page(saver, writing, &writing->page[i], big, &link) < 0)
			return -1;
	return 0;
}

static int
tiff_save_end(struct saver *saver)
{
	struct writing *writing = saver->state;
	int status = 0;

	if (!writing)
		return 0;
	if (!writing->broken)
		status = complete(saver, writing);
	for (size_t i = 0; i < writing->n; i++) {
		head_free(&writing->page[i].head);
		free(writing->page[i].text);
	}
	free(writing->page);
	free(writing);
	saver->state = NULL;
	return status;
}

const struct codec codec_tiff = {
	.name = "TIFF",
	.suffixes = "tif tiff",
	.seeks = true,
	.many = true,
	.sniff = tiff_sniff,
	.load = tiff_load,
	.load_end = tiff_load_end,
	.save = tiff_save,
	.save_end = tiff_save_end
};
