/*
 * Writing TIFF: uncompressed strips need no library, and since the directories are written last, a
 * file becomes BigTIFF only when it grew beyond 4 GB, however many frames come. Up to four channels
 * are interleaved: of planes that follow one another, OpenCV 4.6 takes the samples as if they were
 * interleaved, without an error, and tifffile makes an array of another shape. More channels, or
 * two, have a page each: in one page hardly a program opens them. ImageDescription carries our key
 * lines.
 */
#define _GNU_SOURCE
#include "codec/tiff/tiff.h"

#include <stdlib.h>
#include <string.h>
#include <tiff.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/text.h"
#include "frame/samples.h"

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

const struct opt tiff_options[] = {
	{ 0, "one-page", NULL, OPT_FLAG, offsetof(struct tiff_options, one_page), NULL, 0, 0, NULL,
	  "TIFF files hold all channels of a frame in one page", NULL },
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

/* The lines of a page that holds one channel of a frame; NULL after fail(). */
static char *
channel_text(const struct frame_head *head, size_t channel)
{
	char *lines = channel == 0 ? head_to_text(head) : strdup(""), *text = NULL;

	if (!lines || asprintf(&text, "%s%s%s%s" TIFF_CHANNEL_KEY ":=%zu %zu\n", lines,
	    channel ? "channels:=" : "", channel ? head->channel[channel] : "", channel ? "\n" : "",
	    channel, head->c) < 0) {
		text = NULL;
		fail_memory();
	}
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
	if (paged ? head_init(&page->head, head->w, head->h, 1, head->type) < 0 :
	    head_copy(&page->head, head) < 0)
		return -1;
	page->paged = paged;
	if (paged)
		snprintf(page->name, sizeof(page->name), "%s", head->channel[page->channel]);
	head = &page->head;
	page->contiguous = head->c <= 4;
	page->text = paged ? channel_text(&frame->head, page->channel) : head_to_text(head);
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

/* Behind so many bytes of 0. */
static int
write_samples(struct saver *saver, const struct written *page, size_t before,
    const struct frame *frame)
{
	if (page->contiguous && page->head.c > 1)
		return samples_write_joined(saver->path, saver->file, zeros, before, frame);
	return samples_write_planes(saver->path, saver->file, zeros, before, frame, page->channel,
	    page->head.c);
}

/* A page more: of the frame, or of one of its channels where each has a page. */
static int
write_samples_of(struct saver *saver, struct writing *writing, const struct frame *frame,
    size_t channel, bool paged)
{
	struct written *page = reallocarray(writing->page, writing->n + 1, sizeof(*page));
	size_t before;

	if (!page)
		return fail_memory();
	writing->page = page;
	page += writing->n++;
	*page = (struct written){ .channel = channel };
	if (plan_page(saver, frame, paged, page) < 0)
		return -1;
	before = writing->end ? gap(writing) : 16;	/* room for the larger of the two headers */
	page->offset = writing->end + before;
	writing->end = page->offset + page->head.w * page->head.h * page->head.c *
	    sample_size(page->head.type);
	return write_samples(saver, page, before, frame);
}

int
tiff_save(struct saver *saver, const struct frame *frame)
{
	const struct tiff_options *options = saver->options;
	struct writing *writing = saver->state;
	const bool unusual = frame->head.c == 2 || frame->head.c > 4;
	const bool paged = unusual && !(options && options->one_page);

	if (!writing) {
		writing = saver->state = calloc(1, sizeof(*writing));
		if (!writing)
			return fail_memory();
	}
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

/* Floats are no colours but under their names: they may as well be x y z. */
static bool
is_colour(const struct written *page)
{
	const struct frame_head *head = &page->head;

	return page->contiguous && head->c >= 3 && (head->type != SAMPLE_FLOAT ||
	    (!strcmp(head->channel[0], "r") && !strcmp(head->channel[1], "g") &&
	    !strcmp(head->channel[2], "b")));
}

static int
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
		if (page->paged)
			add(&d, TIFFTAG_PAGENAME, TIFF_ASCII, strlen(page->name) + 1, page->name);
		if (c > colours)
			add(&d, TIFFTAG_EXTRASAMPLES, TIFF_SHORT, c - colours, t.extra + colours);
		add(&d, TIFFTAG_SAMPLEFORMAT, TIFF_SHORT, c, t.format);
		put_directory(writing, &d, big, page);
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

/* The directories of all pages with what they refer to, each with a pointer to the next; a new
 * string, NULL after fail(). */
static char *
directories(struct writing *writing, bool big, size_t *n)
{
	const uint64_t start = writing->end;
	struct text tail;
	int status = 0;
	char *bytes;

	writing->tail = text_open(&tail);
	if (!writing->tail)
		return NULL;
	for (size_t i = 0; i < writing->n && status == 0; i++)
		status = put_page(writing, &writing->page[i], big);
	if (status < 0) {
		text_drop(&tail);
		return NULL;
	}
	bytes = text_close(&tail, n);
	for (size_t i = 0; bytes && i + 1 < writing->n; i++)
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
	int status = bytes ? samples_write(saver->path, saver->file, bytes, n) : -1;

	free(bytes);
	if (status == 0 && fseeko(saver->file, 0, SEEK_SET) < 0)
		status = fail_errno(saver->path, "cannot be written");
	memcpy(head, start, word);
	memcpy(head + word, &writing->page[0].directory, word);
	return status == 0 ? samples_write(saver->path, saver->file, head, 2 * word) : -1;
}

int
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
