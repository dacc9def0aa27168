/*
 * TIFF files. libtiff, loaded on the first use, reads strips and tiles of 1 to 64 bits a sample,
 * after checks of what the directory claims. 1, 2 and 4 bits are spread over 0 .. 255, more keep
 * their values; what white is, the key max_value says. ImageDescription carries our key lines.
 * Classic TIFF and BigTIFF are written without libtiff.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <tiff.h>
#include <tiffio.h>
#include <unistd.h>

#include "base/process.h"
#include "base/text.h"
#include "frame/pixel_store.h"
#include "frame/samples.h"
#include "io/codec.h"

#define LIBTIFF_FUNCTIONS \
	X(ClientOpen) X(Close) X(GetField) X(GetFieldDefaulted) X(GetStrileByteCount) \
	X(GetStrileOffset) X(IsByteSwapped) X(IsTiled) X(LastDirectory) \
	X(NumberOfStrips) X(NumberOfTiles) X(ReadDirectory) X(ReadEncodedStrip) \
	X(ReadEncodedTile) X(SetErrorHandler) X(SetErrorHandlerExt) X(SetField) \
	X(SetWarningHandler) X(SetWarningHandlerExt) X(StripSize) X(TileSize)

struct libtiff {
#define X(name) __typeof__(TIFF##name) *name;
	LIBTIFF_FUNCTIONS
#undef X
};

#ifndef LIBTIFF
#define LIBTIFF "libtiff.so.6"
#endif

#ifdef LIBTIFF_LINKED	/* into the program: for fuzzers that see into it */

static struct libtiff libtiff = {
#define X(name) .name = TIFF##name,
	LIBTIFF_FUNCTIONS
#undef X
};

static int
libtiff_load(void)
{
	return 0;
}

#else

static struct libtiff libtiff;

static int
libtiff_load(void)
{
	static const char *const names[] = {
#define X(name) "TIFF" #name,
		LIBTIFF_FUNCTIONS
#undef X
	};
	static const struct library library = { LIBTIFF, sizeof(names) / sizeof(*names), names,
		&libtiff };

	return library_load(&library);
}

#endif

/* ---- libtiff's view of a file that is read ---- */

struct tiff_reading {
	const char *path;
	FILE *file;
	int fd;			/* of the file, read without stdio's copy; -1: it has none */
	off_t at;		/* in fd */
	TIFF *tif;
	unsigned page;
	char message[400];	/* libtiff's first error; it may still go on after some */
	bool lost;		/* after fail(): libtiff leaves out a tag that it could not read */
	bool ahead;		/* the next page is libtiff's current one already */
	uint64_t end;		/* of the samples of all pages so far, in the file */
	uint64_t most;		/* bytes of the largest of them, there */
	uint64_t tags;		/* bytes that the tags of all of them may take */
};

/* How one page keeps its samples. */
struct tiff_page {
	uint32_t w, h;
	uint16_t c;			/* samples per pixel in the file */
	uint16_t bits, format, planar, photometric, compression;
	uint32_t block_w, block_h;	/* a tile, or a strip as wide as the image */
	size_t block_row, block_bytes;
	enum element element;		/* bits >= 8 */
	bool tiled;
	bool keep_bits;			/* 1-bit values stay 0 and 1 */
	uint16_t *palette[3];
	size_t channel, channels;	/* of the frame that it belongs to; of 1 if it is a frame */
};

#define REST_BYTES 65536	/* profiles of colour are smaller */
#define TAG_BYTES 1024		/* of a page, without those that say where its blocks are, */
#define BLOCK_BYTES 16		/* of each block */

/* libtiff leaves out a tag for which it had no memory, with a warning or an error. */
static void
note_memory(struct tiff_reading *reading, const char *format)
{
	if (!strcasestr(format, "memory") && !strcasestr(format, "alloc"))
		return;
	fail(reading->path, "TIFF page %u: no memory for its tags", reading->page + 1);
	reading->lost = true;
}

/* libtiff passes the file of the message, so that threads do not mix them. */
static void
on_error(thandle_t handle, const char *, const char *format, va_list args)
{
	struct tiff_reading *reading = handle;

	if (!reading)
		return;
	if (!reading->message[0])
		vsnprintf(reading->message, sizeof(reading->message), format, args);
	note_memory(reading, format);
}

static void
on_warning(thandle_t handle, const char *, const char *format, va_list)
{
	struct tiff_reading *reading = handle;

	if (reading)
		note_memory(reading, format);
}

/* The file cannot be read: libtiff would take that for a damaged tag, and go on. */
static void
lose(struct tiff_reading *reading)
{
	fail_errno(reading->path, "cannot be read");
	reading->lost = true;
}

/* Fails with libtiff's message, else with "TIFF WHAT NUMBER is damaged". -1 */
static int
tiff_fail_damaged(struct tiff_reading *reading, const char *what, unsigned number)
{
	if (reading->message[0])
		return fail(reading->path, "TIFF %s %u: %s", what, number, reading->message);
	return fail(reading->path, "TIFF %s %u is damaged", what, number);
}

static void
set_handlers(void)
{
	libtiff.SetErrorHandler(NULL);
	libtiff.SetErrorHandlerExt(on_error);
	libtiff.SetWarningHandler(NULL);
	libtiff.SetWarningHandlerExt(on_warning);
}

static tmsize_t
client_read(thandle_t handle, void *to, tmsize_t n)
{
	struct tiff_reading *reading = handle;
	tmsize_t got = 0;

	if (reading->fd < 0) {
		got = (tmsize_t)fread(to, 1, (size_t)n, reading->file);
		if (ferror(reading->file))
			lose(reading);
		return got;
	}
	while (got < n) {
		ssize_t more = pread(reading->fd, (char *)to + got, (size_t)(n - got), reading->at);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			lose(reading);
		if (more <= 0)
			break;
		got += more;
		reading->at += more;
	}
	return got;
}

static tmsize_t
client_write(thandle_t, void *, tmsize_t)
{
	return -1;
}

static toff_t
client_seek(thandle_t handle, toff_t offset, int whence)
{
	struct tiff_reading *reading = handle;

	off_t at = -1;

	if (offset > INT64_MAX)
		return (toff_t)-1;
	if (reading->fd >= 0 && whence == SEEK_SET)
		return (toff_t)(reading->at = (off_t)offset);
	if (reading->fd >= 0)	/* which libtiff does not ask for */
		return (toff_t)-1;
	if (fseeko(reading->file, (off_t)offset, whence) == 0)
		at = ftello(reading->file);
	if (at < 0)
		lose(reading);
	return (toff_t)at;
}

static int
client_close(thandle_t)
{
	return 0;
}

static toff_t
client_size(thandle_t handle)
{
	struct tiff_reading *reading = handle;
	struct stat st;
	off_t here, end = -1;

	if (reading->fd >= 0 && fstat(reading->fd, &st) == 0)
		return (toff_t)st.st_size;
	here = ftello(reading->file);
	if (here >= 0 && fseeko(reading->file, 0, SEEK_END) == 0)
		end = ftello(reading->file);
	if (end < 0 || fseeko(reading->file, here, SEEK_SET) < 0) {
		lose(reading);
		return 0;
	}
	return (toff_t)end;
}

/* Notes where the samples of libtiff's current page lie. */
static void
tiff_note_page(struct tiff_reading *reading)
{
	TIFF *tif = reading->tif;
	uint32_t n = libtiff.IsTiled(tif) ? libtiff.NumberOfTiles(tif) :
	    libtiff.NumberOfStrips(tif);
	uint64_t bytes = 0, most = client_size(reading);	/* a head may claim more blocks */

	for (uint32_t i = 0; i < n && i < most; i++) {
		uint64_t at = libtiff.GetStrileOffset(tif, i);
		uint64_t size = libtiff.GetStrileByteCount(tif, i), end;

		if (__builtin_add_overflow(at, size, &end))
			end = UINT64_MAX;
		reading->end = end > reading->end ? end : reading->end;
		bytes = __builtin_add_overflow(bytes, size, &bytes) ? UINT64_MAX : bytes;
	}
	reading->most = bytes > reading->most ? bytes : reading->most;
	reading->tags += TAG_BYTES + (uint64_t)BLOCK_BYTES * n;
}

/* Behind the last page: warns of more bytes behind all samples than any page has, as where another
 * file was put behind this one, or images that no page describes. */
static void
tiff_warn_rest(struct tiff_reading *reading)
{
	uint64_t size = client_size(reading);
	uint64_t left = size > reading->end ? size - reading->end : 0;

	/* tags may stand there, too */
	if (left >= reading->most && left >= reading->tags && left - reading->tags >= REST_BYTES)
		warn(reading->path, "TIFF: %llu bytes behind the samples of its %u page%s, as many "
		    "as a page has and more, are not read", (unsigned long long)left,
		    reading->page, reading->page == 1 ? "" : "s");
}

/* Opens a file's first page; what belongs to it is the caller's to close, also behind an error. -1
 * after fail(). */
static int
tiff_reading_open(struct tiff_reading *reading, const char *path, FILE *file)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (libtiff_load() < 0)
		return -1;
	pthread_once(&once, set_handlers);
	reading->path = path;
	reading->file = file;
	reading->fd = fileno(file);
	/* "m": no memory map, the file may be cut while it is read */
	reading->tif = libtiff.ClientOpen(path, "rm", reading, client_read, client_write,
	    client_seek, client_close, client_size, NULL, NULL);
	if (!reading->tif)
		return tiff_fail_damaged(reading, "page", 1);
	return 0;
}

/* ---- samples: strips and tiles of any bits, into planes ---- */

#define PLAIN_BYTES ((size_t)128 << 10)	/* of rows that are not packed, read at once */

/* Samples of 1, 2 or 4 bits from bit `first` on, `step` samples apart, each to one byte. */
static void
unpack_bits(const struct tiff_page *page, const unsigned char *row, size_t first, size_t step,
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
invert(const struct tiff_page *page, void *row, size_t n)
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
place_palette(const struct tiff_page *page, const unsigned char *index, struct frame *frame,
    size_t x, size_t y, size_t n)
{
	for (size_t c = 0; c < 3; c++) {
		unsigned char *to = (unsigned char *)frame_row(frame, c, y) + x;

		for (size_t i = 0; i < n; i++)
			to[i] = (unsigned char)(page->palette[c][index[i]] >> 8);
	}
}

/* Are the samples in the file those of the frame? */
static bool
is_plain(const struct tiff_page *page)
{
	return !page->palette[0] && page->bits >= 8 &&
	    page->photometric != PHOTOMETRIC_MINISWHITE && samples_keep_bits(page->element);
}

/* n pixels of one row of a block, which holds channels first .. first + count - 1. */
static void
place_row(const struct tiff_page *page, const unsigned char *row, size_t first, size_t count,
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
	if (is_plain(page)) {
		samples_split_part(row, count, frame, first, x, y, n);
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
read_block(struct tiff_reading *reading, const struct tiff_page *page, uint32_t number, size_t rows,
    unsigned char *block)
{
	tmsize_t expected = (tmsize_t)(rows * page->block_row), got;

	if (page->tiled)
		got = libtiff.ReadEncodedTile(reading->tif, number, block,
		    (tmsize_t)page->block_bytes);
	else
		got = libtiff.ReadEncodedStrip(reading->tif, number, block, expected);
	if (got < expected)
		return tiff_fail_damaged(reading, "block", number);
	return 0;
}

/* Is a strip the same bytes in the file and in the frame? Then libtiff unpacks it there. */
static bool
lies_in_place(const struct tiff_page *page, size_t count, const struct frame *frame)
{
	return is_plain(page) && count == 1 && !page->tiled &&
	    frame->plane[0].stride == page->block_row;
}

/* The block whose first pixel is (x, y), of channels first .. first + count - 1. */
static int
place_block(struct tiff_reading *reading, const struct tiff_page *page, uint32_t number,
    size_t first, size_t count, size_t x, size_t y, unsigned char *block, struct frame *frame)
{
	size_t rows = page->h - y < page->block_h ? page->h - y : page->block_h;
	size_t n = page->w - x < page->block_w ? page->w - x : page->block_w;

	if (lies_in_place(page, count, frame))
		return read_block(reading, page, number, rows, frame_row(frame, first, y));
	if (read_block(reading, page, number, rows, block) < 0)
		return -1;
	for (size_t i = 0; i < rows; i++)
		place_row(page, block + i * page->block_row, first, count, frame, x, y + i, n);
	return 0;
}

/* Do the strips of a plane lie in the file as they do in the image, as plain bytes? Where, or 0. */
static uint64_t
plain_plane(struct tiff_reading *reading, const struct tiff_page *page, uint32_t first)
{
	const uint64_t start = libtiff.GetStrileOffset(reading->tif, first);
	uint16_t order = FILLORDER_MSB2LSB;
	uint64_t at = start;

	libtiff.GetFieldDefaulted(reading->tif, TIFFTAG_FILLORDER, &order);
	if (!is_plain(page) || page->tiled || page->compression != COMPRESSION_NONE ||
	    order != FILLORDER_MSB2LSB || libtiff.IsByteSwapped(reading->tif))
		return 0;
	for (size_t y = 0; y < page->h; y += page->block_h, first++) {
		size_t rows = page->h - y < page->block_h ? page->h - y : page->block_h;

		if (libtiff.GetStrileOffset(reading->tif, first) != at ||
		    libtiff.GetStrileByteCount(reading->tif, first) < rows * page->block_row)
			return 0;
		at += rows * page->block_row;
	}
	return at <= (uint64_t)client_size(reading) ? start : 0;
}

/* Rows of several channels from `at` on, `once` of them at once by way of `buffer`. */
static bool
read_plain_rows(const struct tiff_reading *reading, const struct tiff_page *page, off_t at,
    size_t once, void *buffer, size_t first, size_t count, struct frame *frame)
{
	const size_t row = page->block_row;

	for (size_t y = 0; y < page->h; y += once) {
		size_t n = page->h - y < once ? page->h - y : once;

		if (pread(reading->fd, buffer, n * row, at) != (ssize_t)(n * row))
			return false;
		for (size_t i = 0; i < n; i++)
			samples_split_part((char *)buffer + i * row, count, frame, first, 0, y + i,
			    page->w);
		at += (off_t)(n * row);
	}
	return true;
}

/* Reads such a plane without libtiff: false where the caller is to do it, and to find the error. */
static bool
read_plain_plane(struct tiff_reading *reading, const struct tiff_page *page, uint32_t number,
    size_t first, size_t count, struct frame *frame)
{
	const size_t row = page->block_row, once = row < PLAIN_BYTES ? PLAIN_BYTES / row : 1;
	off_t at = reading->fd < 0 ? 0 : (off_t)plain_plane(reading, page, number);
	struct pixel_store *store;
	void *buffer;
	bool done;

	if (at == 0)
		return false;
	if (lies_in_place(page, count, frame))
		return pread(reading->fd, frame_row(frame, first, 0), row * page->h, at) ==
		    (ssize_t)(row * page->h);
	store = pixel_store_scratch(once * row, &buffer);
	if (!store)
		return false;
	done = read_plain_rows(reading, page, at, once, buffer, first, count, frame);
	pixel_store_drop(store);
	return done;
}

static uint32_t
blocks_of(const struct tiff_page *page)
{
	return (uint32_t)(((page->h - 1) / page->block_h + 1) *
	    ((page->w - 1) / page->block_w + 1));
}

static int
read_plane(struct tiff_reading *reading, const struct tiff_page *page, uint32_t number,
    size_t first, size_t count, struct frame *frame)
{
	struct pixel_store *store = NULL;
	void *block = NULL;
	bool zeroed;
	int status = 0;

	/* whose pages are there already when the next file is read */
	if (!lies_in_place(page, count, frame)) {
		store = pixel_store_new(page->block_bytes, 1, &block, &zeroed);
		if (!store)
			return fail_memory();
	}
	for (size_t y = 0; y < page->h; y += page->block_h)
		for (size_t x = 0; x < page->w && status == 0; x += page->block_w)
			status = place_block(reading, page, number++, first, count, x, y, block,
			    frame);
	pixel_store_drop(store);
	return status;
}

/* The samples of a page into its frame, or into the one channel of it that it holds. Blocks are
 * numbered plane by plane, then row by row, then from the left. 0 or -1 after fail(). */
static int
tiff_read_blocks(struct tiff_reading *reading, const struct tiff_page *page, struct frame *frame)
{
	bool contiguous = page->planar == PLANARCONFIG_CONTIG;
	size_t planes = contiguous ? 1 : page->c, count = contiguous ? page->c : 1;
	const size_t channel = frame->head.c > 1 ? page->channel : 0;
	uint32_t number = 0;

	for (size_t plane = 0; plane < planes; plane++, number += blocks_of(page))
		if (!read_plain_plane(reading, page, number, plane + channel, count, frame) &&
		    read_plane(reading, page, number, plane + channel, count, frame) < 0)
			return -1;
	return 0;
}

/* ---- pages: heads, channels, frames ---- */

/*
 * Pages of one channel each make one frame again: a line of this key in their ImageDescription says
 * "CHANNEL CHANNELS", from 0. The first one has the frame's own lines as well.
 */
#define TIFF_CHANNEL_KEY "tiff_channel"

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
	size_t size = (size_t)client_size(reading);

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

/* Pages of one channel each that tiff_save() made of a frame of several. */
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
	if (page->photometric == PHOTOMETRIC_RGB && channels == 3)
		head_set_channels(head, "r g b");
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
	const struct frame_head *head = &(*frame)->head;
	struct frame *one;

	if (frame_new_named(head->w, head->h, 1, head->type, head->channel[0], &one) < 0)
		return -1;
	meta_copy(&one->head.meta, &head->meta);
	for (size_t y = 0; y < one->head.h; y++)
		memcpy(frame_row(one, 0, y), frame_row(*frame, 0, y),
		    one->head.w * sample_size(one->head.type));
	frame_replace(frame, one);
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

	if (read_page_head(reading, &page) < 0 ||
	    frame_new_if(plan_head(reading, &page, &head), &head, out) < 0)
		return -1;
	if (tiff_read_blocks(reading, &page, *out) < 0 ||
	    (page.channel == 0 && read_channels(reading, &page, out) < 0)) {
		frame_replace(out, NULL);
		return -1;
	}
	return 0;
}

static int
tiff_load(struct loader *loader, struct frame **out)
{
	struct tiff_reading *reading;
	int status;

	*out = NULL;
	if (!loader->state) {
		loader->state = must_alloc(1, sizeof(*reading));
		if (tiff_reading_open(loader->state, loader->path, loader->file) < 0)
			return -1;
	}
	reading = loader->state;
	status = next_page(reading);
	if (status > 0 && read_page(reading, out) < 0)
		status = -1;
	if (!reading->lost)
		return status;
	frame_replace(out, NULL);
	return -1;
}

static void
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

/* ---- writing ---- */

/*
 * Uncompressed strips need no library, and since the directories are written last, a
 * file becomes BigTIFF only when it grew beyond 4 GB, however many frames come. Up to four channels
 * are interleaved: of planes that follow one another, OpenCV 4.6 takes the samples as if they were
 * interleaved, without an error, and tifffile makes an array of another shape. More channels, or
 * two, have a page each: in one page hardly a program opens them. ImageDescription carries our key
 * lines.
 */

struct tiff_options {
	bool one_page;
};

struct written {		/* one page whose samples are in the file already */
	uint64_t offset;
	struct frame_head head;
	size_t strip_rows, strips;
	bool contiguous;
	char *text;
	size_t channel;			/* of the frame, that a page of one channel holds */
	bool paged;			/* the frame has a page for each channel */
	char name[CHANNEL_NAME_SIZE];	/* this page's then */
	uint64_t directory, link;	/* where it is, and its pointer to the next one */
};

struct writing {
	uint64_t end;		/* of the file so far, with what is in `tail` */
	FILE *tail;		/* in memory: what follows the samples */
	bool broken;		/* a page could not be written: nothing to complete */
	size_t n;
	struct written *page;
};

#define STRIP_BYTES (1 << 20)
#ifndef CLASSIC_LIMIT		/* a test sets it */
#define CLASSIC_LIMIT 0xffffffffu
#endif

static const struct opt tiff_options[] = {
	{ 0, "one-page", NULL, OPT_FLAG, offsetof(struct tiff_options, one_page) },
	{ 0 },
};

static size_t
row_bytes(const struct written *page)
{
	return page->head.w * sample_size(page->head.type) * (page->contiguous ? page->head.c : 1);
}

/* To the tail, which knows at its end whether memory was short. */
static void
put(struct writing *writing, const void *from, size_t n)
{
	fwrite(from, 1, n, writing->tail);
	writing->end += n;
}

/* Bytes up to the next multiple of 16. */
static size_t
gap(const struct writing *writing)
{
	return (size_t)(-writing->end & 15);
}

static const char zeros[16];

/* The lines of a page that holds one channel of a frame. */
static char *
channel_text(const struct frame_head *head, size_t channel)
{
	char *lines = channel == 0 ? head_to_text(head) :
	    must_format("channels:=%s\n", head->channel[channel]);
	char *text = must_format("%s" TIFF_CHANNEL_KEY ":=%zu %zu\n", lines, channel, head->c);

	free(lines);
	return text;
}

/* Plans the page of the whole frame, or of one of its channels. */
static int
plan_page(struct saver *saver, const struct frame *frame, bool paged, struct written *page)
{
	const struct frame_head *head = &frame->head;
	size_t row;

	if (head->w > INT32_MAX || head->h > INT32_MAX || head->c > UINT16_MAX ||
	    head->w > INT32_MAX / 4 / sample_size(head->type))
		return fail(saver->path, "TIFF holds no image of %zu x %zu x %zu", head->w, head->h,
		    head->c);
	page->paged = paged;
	if (paged) {
		head_init(&page->head, head->w, head->h, 1, head->type);
		snprintf(page->name, sizeof(page->name), "%s", head->channel[page->channel]);
	} else {
		head_copy(&page->head, head);
	}
	head = &page->head;
	page->contiguous = head->c <= 4;
	page->text = paged ? channel_text(&frame->head, page->channel) : head_to_text(head);
	row = row_bytes(page);
	page->strip_rows = row < STRIP_BYTES ? STRIP_BYTES / row : 1;
	if (page->strip_rows > head->h)
		page->strip_rows = head->h;
	page->strips = (head->h + page->strip_rows - 1) / page->strip_rows *
	    (page->contiguous ? 1 : head->c);
	return 0;
}

/* A page more: of the frame, or of one of its channels where each has a page. */
static int
write_samples_of(struct saver *saver, struct writing *writing, const struct frame *frame,
    size_t channel, bool paged)
{
	struct written *page;
	size_t before;

	writing->page = must_resize(writing->page, writing->n + 1, sizeof(*page));
	page = &writing->page[writing->n++];
	*page = (struct written){ .channel = channel };
	if (plan_page(saver, frame, paged, page) < 0)
		return -1;
	before = writing->end ? gap(writing) : 16;	/* room for the larger of the two headers */
	page->offset = writing->end + before;
	writing->end = page->offset + page->head.w * page->head.h * page->head.c *
	    sample_size(page->head.type);
	if (page->contiguous && page->head.c > 1)
		return samples_write_joined(saver->path, saver->file, zeros, before, frame);
	return samples_write_planes(saver->path, saver->file, zeros, before, frame, page->channel,
	    page->head.c);
}

static int
tiff_save(struct saver *saver, const struct frame *frame)
{
	const struct tiff_options *options = saver->options;
	struct writing *writing = saver->state;
	const bool unusual = frame->head.c == 2 || frame->head.c > 4;
	const bool paged = unusual && !(options && options->one_page);

	if (!writing)
		writing = saver->state = must_alloc(1, sizeof(*writing));
	if (unusual && !paged && writing->n == 0)
		warn(saver->path, "%zu channels in one page, which Pillow and OpenCV do not open; "
		    "--split makes a file of each", frame->head.c);
	writing->broken = true;
	for (size_t c = 0; c < (paged ? frame->head.c : 1); c++)
		if (write_samples_of(saver, writing, frame, c, paged) < 0)
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

/* The directory itself: larger values precede it, at offset[]. Its pointer to the next is 0. */
static void
put_entries(struct writing *writing, const struct directory *directory, const uint64_t *offset,
    bool big)
{
	const uint64_t count = directory->n;
	const size_t word = big ? 8 : 4;

	put(writing, &count, big ? 8 : 2);
	for (size_t i = 0; i < directory->n; i++) {
		const struct entry *entry = &directory->entry[i];
		unsigned char value[8] = { 0 };

		if (entry_bytes(entry) > word)
			memcpy(value, &offset[i], word);
		else
			memcpy(value, entry->value, entry_bytes(entry));
		put(writing, &entry->tag, 2);
		put(writing, &entry->type, 2);
		put(writing, &entry->count, word);
		put(writing, value, word);
	}
	put(writing, zeros, word);
}

static void
put_directory(struct writing *writing, const struct directory *directory, bool big,
    struct written *page)
{
	const size_t word = big ? 8 : 4;
	uint64_t offset[16] = { 0 };

	for (size_t i = 0; i < directory->n; i++) {
		if (entry_bytes(&directory->entry[i]) <= word)
			continue;
		put(writing, zeros, gap(writing));
		offset[i] = writing->end;
		put(writing, directory->entry[i].value, entry_bytes(&directory->entry[i]));
	}
	put(writing, zeros, gap(writing));
	page->directory = writing->end;
	put_entries(writing, directory, offset, big);
	page->link = writing->end - word;
}

/* Where the strips lie, and for each channel its sample's bits, format and, after the colours,
 * its meaning: 2 for alpha, 0 for unspecified. */
struct tables {
	uint64_t *offset;
	uint32_t *offset32, *bytes;
	uint16_t *bits, *format, *extra;
};

static void
tables_fill(const struct written *page, struct tables *t)
{
	size_t c = page->head.c, per_plane = page->contiguous ? page->strips : page->strips / c;
	uint64_t offset = page->offset;

	t->offset = must_alloc(page->strips, sizeof(*t->offset));
	t->offset32 = must_alloc(page->strips, sizeof(*t->offset32));
	t->bytes = must_alloc(page->strips, sizeof(*t->bytes));
	t->bits = must_alloc(c, sizeof(*t->bits));
	t->format = must_alloc(c, sizeof(*t->format));
	t->extra = must_alloc(c, sizeof(*t->extra));
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
}

/* Floats are no colours but under their names: they may as well be x y z. */
static bool
is_colour(const struct written *page)
{
	const struct frame_head *head = &page->head;

	return page->contiguous && head->c >= 3 && (head->type != SAMPLE_FLOAT ||
	    (!strcmp(head->channel[0], "r") && !strcmp(head->channel[1], "g") &&
	    !strcmp(head->channel[2], "b")));
}

static void
put_page(struct writing *writing, struct written *page, bool big)
{
	const uint32_t w = (uint32_t)page->head.w, h = (uint32_t)page->head.h;
	const uint32_t strip_rows = (uint32_t)page->strip_rows, kind = writing->n > 1 ?
	    FILETYPE_PAGE : 0;
	const uint16_t c = (uint16_t)page->head.c, compression = COMPRESSION_NONE;
	const uint16_t colours = is_colour(page) ? 3 : 1;
	const uint16_t photometric = colours == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK;
	const uint16_t planar = page->contiguous ? PLANARCONFIG_CONTIG : PLANARCONFIG_SEPARATE;
	struct directory d = { 0 };
	struct tables t;

	tables_fill(page, &t);
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
	if (page->paged)
		add(&d, TIFFTAG_PAGENAME, TIFF_ASCII, strlen(page->name) + 1, page->name);
	if (c > colours)
		add(&d, TIFFTAG_EXTRASAMPLES, TIFF_SHORT, c - colours, t.extra + colours);
	add(&d, TIFFTAG_SAMPLEFORMAT, TIFF_SHORT, c, t.format);
	put_directory(writing, &d, big, page);
	free_all(t.offset, t.offset32, t.bytes, t.bits, t.format, t.extra);
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

/* The directories of all pages with what they refer to, each with a pointer to the next; a new
 * string. */
static char *
directories(struct writing *writing, bool big, size_t *n)
{
	const uint64_t start = writing->end;
	struct text tail;
	char *bytes;

	writing->tail = text_open(&tail);
	for (size_t i = 0; i < writing->n; i++)
		put_page(writing, &writing->page[i], big);
	bytes = text_close(&tail, n);
	for (size_t i = 0; i + 1 < writing->n; i++)
		memcpy(bytes + (writing->page[i].link - start), &writing->page[i + 1].directory,
		    big ? 8 : 4);
	return bytes;
}

/* Behind the samples the directories, and then the head of the file, which refers to the first. */
static int
complete(struct saver *saver, struct writing *writing)
{
	const bool big = writing->end + directories_size(writing) > CLASSIC_LIMIT;
	const uint16_t start[4] = { 0x4949, big ? 43 : 42, big ? 8 : 0, 0 };
	const size_t word = big ? 8 : 4;
	char head[16];
	size_t n;
	char *bytes = directories(writing, big, &n);
	int status = samples_write(saver->path, saver->file, bytes, n);

	free(bytes);
	if (status == 0 && fseeko(saver->file, 0, SEEK_SET) < 0)
		status = fail_errno(saver->path, "cannot be written");
	memcpy(head, start, word);
	memcpy(head + word, &writing->page[0].directory, word);
	return status == 0 ? samples_write(saver->path, saver->file, head, 2 * word) : -1;
}

static int
tiff_save_end(struct saver *saver)
{
	struct writing *writing = saver->state;
	int status = 0;

	if (!writing)
		return 0;
	if (!writing->broken && writing->n)
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

/* ---- the codec ---- */

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
