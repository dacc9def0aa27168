/* Conversion of samples, interleaved pixels, columns of tables. */
#pragma once

#include <stdio.h>

#include "frame/frame.h"

/*
 * Two to four channels of one row between planes and pixels r g b r g b ..., by the vectors that
 * the machine has; samples_split() and samples_join() are for rows of any frame.
 */

#define INTERLEAVE_MOST 4	/* channels */

/* Loops for one kind of machine; each gives the same bytes. */
struct interleave {
	/* n pixels of `count` samples of `size` bytes, aligned or not, to planes of aligned
	 * samples, and back. */
	void (*split)(size_t size, const void *pixels, size_t count, void *const *plane, size_t n);
	void (*join)(size_t size, void *pixels, size_t count, const void *const *plane, size_t n);
};

/* Those that this machine can run: the i-th, the best first; NULL behind the last. */
const struct interleave *interleave_choice(size_t i);

/* ---- what stands behind the end of an image in its file, and what of that is worth a word ---- */

#define SAMPLES_REST_WORD 3	/* some programs leave what is missing in a word of four bytes */

/* Are these bytes nothing but filling, all 0 or 255? Programs fill files up to whole blocks. */
bool samples_rest_is_padding(const unsigned char *bytes, size_t n);
/* Reads to the end: how many bytes there are; 0 where they are filling, or no more than a word. */
size_t samples_rest_read(FILE *);

/*
 * The rows of a table (frame(5)) as a reader meets them, until their number is known. Memory grows
 * with what was read.
 */

struct table_rows {
	size_t c;		/* values of a row; set by the user, all else 0 */
	size_t n, room;
	float *v;		/* row by row */
};

/* Room for one more row, which the caller fills; NULL after fail(). */
float *table_rows_add(struct table_rows *);
/* The table with that head, whose size and `points` it sets, or the image of w x h rows where h is
 * more than 1. 0 or -1 after fail(). */
int table_rows_frame(const struct table_rows *, struct frame_head *, struct frame **out);
void table_rows_free(struct table_rows *);

/*
 * Samples in foreign files: any number type, either byte order, interleaved channels;
 * and whether a file can hold as many of them as its header claims.
 */

enum element {
	ELEMENT_U8, ELEMENT_I8, ELEMENT_U16, ELEMENT_I16, ELEMENT_U32, ELEMENT_I32,
	ELEMENT_U64, ELEMENT_I64, ELEMENT_F16, ELEMENT_F32, ELEMENT_F64
};

size_t samples_element_size(enum element);
/* Has a frame samples of this type? */
bool samples_keep_bits(enum element);
/* What an element becomes in a frame: U8 uchar, U16 ushort, every other type float. */
enum sample samples_of_element(enum element);
/*
 * n elements that lie `step` bytes apart (aligned or not; in the other byte order if swap) as
 * samples_of_element(): U8, U16 and F32 keep their bits, so NaN payloads survive.
 */
void samples_convert(enum element, bool swap, const void *from, size_t step, void *to, size_t n);

/* One row r g b r g b ... of a frame's own type, aligned or not, into, or out of, its planes. */
void samples_split(const void *row, struct frame *, size_t y);
/* n pixels of `count` channels each, into channels first ... of row y, from column x on. */
void samples_split_part(const void *row, size_t count, struct frame *, size_t first, size_t x,
    size_t y, size_t n);
void samples_join(const struct frame *, size_t y, void *row);
/* The bytes of n samples of 1, 2 or 4 bytes, aligned or not, in the other order. */
void samples_swap(void *row, size_t n, size_t size);

/* Bytes from the current position to the end; SIZE_MAX on a pipe. */
size_t samples_bytes_left(FILE *);
/* Warns that `left` bytes follow the image and are not read; 0 or SIZE_MAX: there are none. */
void samples_warn_rest(const char *path, size_t left);
/* note(), where -v is on, of an orientation of Exif or TIFF (1: none) that no reader applies. */
void samples_note_orientation(const char *path, unsigned orientation);
void samples_set_verbose(bool verbose);
/*
 * Refuses sizes that the `left` bytes of a file cannot hold, before anything is allocated for them:
 * a header of w x h x c samples of `bits` bits, packed by at most `ratio` (1: not compressed).
 */
int samples_check_claim(const char *path, size_t left, size_t w, size_t h, size_t c, size_t bits,
    size_t ratio);
/* Exactly n bytes, or -1 after fail(): "ends too early". */
int samples_read(const char *path, FILE *, void *to, size_t n);
int samples_write(const char *path, FILE *, const void *from, size_t n);

/* Rows of a file that a frame has otherwise in memory. */
struct samples_rows {
	const struct frame *frame;
	size_t first, n;	/* which of them are written */
	size_t bytes;		/* of each */
	void (*pack)(const struct frame *, size_t row, void *to);
};

/*
 * Few large pieces, for which a file needs no buffer: n bytes that come before, and rows; the rows
 * of `channels` channels from c on, one behind another; the rows of all channels, as samples_join()
 * has them. 0 or -1 after fail().
 */
int samples_write_rows(const char *path, FILE *, const void *before, size_t n,
    const struct samples_rows *);
int samples_write_planes(const char *path, FILE *, const void *before, size_t n,
    const struct frame *, size_t c, size_t channels);
int samples_write_joined(const char *path, FILE *, const void *before, size_t n,
    const struct frame *);
