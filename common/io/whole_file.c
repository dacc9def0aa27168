/* A whole file in memory, mapped or read, decompressed if it is gzip. */
#include "io/whole_file.h"

#include <errno.h>
#include <libdeflate.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/process.h"
#include "frame/pixel_store.h"
#include "io/codec.h"

#define GROUP_BYTES ((size_t)512 << 10)	/* of rows that are read at once: they fit a core's cache */
#define GROUP_ROWS 64		/* a multiple: every group begins aligned as the first */
#define PIECES 1023		/* of memory that one call of the system fills, besides one byte */
#define PIECE_BYTES 1536	/* to fill shorter ones takes longer than to copy them once more */

/*
 * The kernel copies one long piece of memory sooner than many short ones, and sooner than the same
 * piece again and again: so many rows come together, and move to their places in the cache.
 */
size_t
whole_file_group(size_t rows, size_t bytes, size_t stride)
{
	const size_t group = GROUP_BYTES / bytes / GROUP_ROWS * GROUP_ROWS;

	return bytes == stride ? rows : group ? group : GROUP_ROWS;
}

void
whole_file_spread(char *first, size_t n, size_t bytes, size_t stride)
{
	const char *from = first + n * (stride - bytes);

	for (size_t y = 0; y < n && bytes < stride; y++) {
		memmove(first + y * stride, from + y * bytes, bytes);
		memset(first + y * stride + bytes, 0, stride - bytes);
	}
}

/* Exactly n bytes from `at` on; last: which are the file's last ones. */
static bool
read_piece(int fd, char *to, size_t n, size_t at, bool last)
{
	char beyond;
	struct iovec piece[] = { { to, n }, { &beyond, 1 } };
	ssize_t got;

	do
		got = preadv(fd, piece, last ? 2 : 1, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got >= 0 && (size_t)got == n;
}

/* Rows that have the frame's own samples straight to their places, of the frame's one channel where
 * they come from below. */
static bool
read_pieces(const struct whole_file *file, size_t at, bool upwards, struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t rows = head->h * head->c, bytes = head->w * sample_size(head->type);
	const size_t padding = frame->plane[0].stride - bytes;
	char beyond;
	struct iovec piece[PIECES + 1];

	for (size_t row = 0; row < rows; row += PIECES) {
		const size_t n = rows - row < PIECES ? rows - row : PIECES;
		ssize_t got;

		for (size_t i = 0; i < n; i++) {
			const size_t y = (row + i) % head->h;
			char *to = frame_row(frame, (row + i) / head->h,
			    upwards ? head->h - 1 - y : y);

			piece[i] = (struct iovec){ to, bytes };
			memset(to + bytes, 0, padding);
		}
		piece[n] = (struct iovec){ &beyond, 1 };
		do
			got = preadv(file->fd, piece, (int)n + (row + n == rows),
			    (off_t)(at + row * bytes));
		while (got < 0 && errno == EINTR);
		if (got < 0 || (size_t)got != n * bytes)
			return false;
	}
	return true;
}

bool
whole_file_rows(const struct whole_file *file, size_t at, struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t rows = head->h * head->c, bytes = head->w * sample_size(head->type);
	const size_t stride = frame->plane[0].stride;
	const size_t group = whole_file_group(rows, bytes, stride);

	if (bytes < stride && bytes >= PIECE_BYTES)
		return read_pieces(file, at, false, frame);
	for (size_t row = 0; row < rows; row += group) {
		const size_t n = rows - row < group ? rows - row : group;
		char *first = frame_row(frame, row / head->h, row % head->h);

		if (!read_piece(file->fd, first + n * (stride - bytes), n * bytes,
		    at + row * bytes, row + n == rows))
			return false;
		whole_file_spread(first, n, bytes, stride);
	}
	return true;
}

/* ---- rows that lie otherwise ---- */

#define EACH_BYTES ((size_t)128 << 10)	/* read at once: a core's cache has them when they move */

bool
whole_file_each(const struct whole_file *file, size_t at, size_t rows, size_t bytes,
    void (*place)(void *arg, size_t row, void *samples), void *arg)
{
	const size_t group = bytes < EACH_BYTES ? EACH_BYTES / bytes : 1;
	struct pixel_store *store;
	void *memory;
	bool done = true;

	store = pixel_store_scratch(bytes < EACH_BYTES ? EACH_BYTES : bytes, &memory);
	if (!store)
		return false;
	for (size_t row = 0; row < rows && done; row += group) {
		const size_t n = rows - row < group ? rows - row : group;

		done = read_piece(file->fd, memory, n * bytes, at + row * bytes, row + n == rows);
		for (size_t i = 0; i < n && done; i++)
			place(arg, row + i, (char *)memory + i * bytes);
	}
	pixel_store_drop(store);
	return done;
}

/* What an image's rows are placed in. */
struct placing {
	const struct whole_file_image *image;
	struct frame *frame;
};

static void
place_pixels(void *arg, size_t row, void *samples)
{
	const struct placing *placing = arg;
	const struct whole_file_image *image = placing->image;
	const struct frame_head *head = &placing->frame->head;
	const size_t size = samples_element_size(image->element);
	const size_t y = image->upwards ? head->h - 1 - row : row;

	if (samples_keep_bits(image->element) && head->c > 1) {
		if (image->swap)
			samples_swap(samples, head->w * head->c, size);
		samples_split(samples, placing->frame, y);
		return;
	}
	for (size_t c = 0; c < head->c; c++)
		samples_convert(image->element, image->swap, (char *)samples + c * size,
		    head->c * size, frame_row(placing->frame, c, y), head->w);
}

static void
place_plane_row(void *arg, size_t row, void *samples)
{
	const struct placing *placing = arg;
	const struct whole_file_image *image = placing->image;
	const struct frame_head *head = &placing->frame->head;

	samples_convert(image->element, image->swap, samples, samples_element_size(image->element),
	    frame_row(placing->frame, row / head->h, row % head->h), head->w);
}

/* Are the samples in the file those of the frame, row by row of each channel? */
static bool
is_plain(const struct whole_file_image *image, size_t channels)
{
	return samples_keep_bits(image->element) && !image->swap &&
	    (channels == 1 || !image->interleaved);
}

static bool
image_rows(const struct whole_file *file, const struct whole_file_image *image,
    struct frame *frame)
{
	const struct frame_head *head = &frame->head;
	const size_t bytes = head->w * samples_element_size(image->element);
	struct placing placing = { image, frame };

	if (is_plain(image, head->c) && !image->upwards)
		return whole_file_rows(file, image->at, frame);
	if (is_plain(image, head->c) && bytes >= PIECE_BYTES)
		return read_pieces(file, image->at, true, frame);
	if (image->interleaved || head->c == 1)
		return whole_file_each(file, image->at, head->h, head->c * bytes, place_pixels,
		    &placing);
	return whole_file_each(file, image->at, head->h * head->c, bytes, place_plane_row,
	    &placing);
}

bool
whole_file_image(const struct whole_file *file, const struct whole_file_image *image,
    const struct frame_head *head, struct frame **out)
{
	size_t bytes;
	bool overflows = __builtin_mul_overflow(head->w, head->h, &bytes);

	*out = NULL;
	overflows |= __builtin_mul_overflow(bytes, head->c, &bytes);
	overflows |= __builtin_mul_overflow(bytes, samples_element_size(image->element), &bytes);
	if (overflows || bytes == 0 || file->bytes < image->at || file->bytes - image->at != bytes)
		return false;
	/* whole_file_rows() sets the padding of rows */
	if ((is_plain(image, head->c) && !image->upwards ? frame_new_unset(head, out) :
	    frame_new(head, out)) == 0 && image_rows(file, image, *out))
		return true;
	fail_clear();
	frame_replace(out, NULL);
	return false;
}

int
stream_each(struct loader *loader, size_t rows, size_t bytes,
    void (*place)(void *arg, size_t row, void *samples), void *arg)
{
	void *samples = must_resize(NULL, bytes, 1);
	int status = 0;

	for (size_t row = 0; row < rows && status == 0; row++) {
		status = samples_read(loader->path, loader->file, samples, bytes);
		if (status == 0)
			place(arg, row, samples);
	}
	free(samples);
	return status;
}

int
image_read(struct loader *loader, image_head_reader *read_head, struct frame **out)
{
	struct whole_file_image image = { 0 };
	struct frame_head head = { 0 };
	int status = read_head(loader, &head, &image);

	*out = NULL;
	if (status == 0)
		status = frame_new(&head, out);
	if (status == 0)
		status = stream_each(loader, head.h, head.w * head.c *
		    samples_element_size(image.element), place_pixels,
		    &(struct placing){ &image, *out });
	head_free(&head);
	if (status == 0)
		return 0;
	frame_replace(out, NULL);
	return -1;
}

int
image_read_whole(const struct whole_file *file, image_head_reader *read_head, struct frame **out)
{
	struct loader start = whole_file_start(file);
	struct whole_file_image image = { 0 };
	struct frame_head head = { 0 };
	bool done = false;

	*out = NULL;
	if (start.file && read_head(&start, &head, &image) == 0) {
		image.at = (size_t)ftello(start.file);
		done = whole_file_image(file, &image, &head, out);
	}
	head_free(&head);
	if (start.file)
		fclose(start.file);
	if (!done)
		fail_clear();
	return done;
}

size_t
image_bytes_left(const struct loader *loader)
{
	const size_t left = samples_bytes_left(loader->file);

	return left == SIZE_MAX ? left : left + loader->behind;
}

struct loader
whole_file_start(const struct whole_file *file)
{
	return (struct loader){ .file = fmemopen((void *)(uintptr_t)file->start, file->n, "r"),
		.path = file->path, .behind = file->bytes - file->n };
}

#define UNPACKED_MOST ((size_t)256 << 20)
#define RATIO_MOST 1032		/* of deflate: a code of two bits stands for 258 bytes */
#define MEMBER_LEAST 18		/* bytes */
#define FLAG_HEADER_SUM 2	/* which libdeflate does not check */

/* All that is left of a regular file, if so few bytes can be n packed ones; NULL: leave it. */
static unsigned char *
read_packed(FILE *file, size_t n, size_t *packed)
{
	const off_t here = ftello(file);
	unsigned char *bytes;
	struct stat st;
	size_t left, got = 0;

	if (here < 0 || fileno(file) < 0 || fstat(fileno(file), &st) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_size <= here || n > UNPACKED_MOST)
		return NULL;
	left = (size_t)(st.st_size - here);
	/* packed in vain, deflate's blocks and members of 64 KiB take a few bytes more */
	if (left > n + n / 8 + 65536 || left < n / RATIO_MOST)
		return NULL;
	bytes = malloc(left);
	while (bytes && got < left) {
		ssize_t more = pread(fileno(file), bytes + got, left - got, here + (off_t)got);

		if (more > 0) {
			got += (size_t)more;
		} else if (more == 0 || errno != EINTR) {
			free(bytes);
			return NULL;
		}
	}
	*packed = left;
	return bytes;
}

static bool
unpack(const unsigned char *from, size_t left, unsigned char *to, size_t n)
{
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	size_t used, got;

	while (decompressor && n > 0) {
		if (left < MEMBER_LEAST || from[3] & FLAG_HEADER_SUM ||
		    libdeflate_gzip_decompress_ex(decompressor, from, left, to, n, &used, &got) !=
		    LIBDEFLATE_SUCCESS)
			break;
		from += used;
		left -= used;
		to += got;
		n -= got;
	}
	libdeflate_free_decompressor(decompressor);
	return n == 0;
}

bool
gzip_file_unpack(FILE *file, void *to, size_t n)
{
	size_t packed;
	unsigned char *bytes = read_packed(file, n, &packed);
	const bool unpacked = bytes && unpack(bytes, packed, to, n);

	free(bytes);
	return unpacked && fseeko(file, 0, SEEK_END) == 0;
}
