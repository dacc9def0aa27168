/*
 * How ffmpeg's raw pictures lie in memory, and how they become the planes of a frame and back:
 * sample values stay what they are (no matrix, no range).
 *
 * Colour planes of half the resolution (4:2:2, 4:2:0) are means of 2 or 2x2 samples, rounded half
 * up, centred on them, and are read back by a triangle filter of weights 3/4 and 1/4, as those of
 * JPEG are.
 */
#ifndef VIDEO_PIXEL_FORMAT_H
#define VIDEO_PIXEL_FORMAT_H

#include "frame/frame.h"

enum pixel_kind { PIXEL_GREY, PIXEL_YUV, PIXEL_RGB };

struct pixel_format {
	const char *name;		/* ffmpeg's */
	enum pixel_kind kind;
	unsigned bits;			/* of a sample */
	unsigned planes;		/* 1: samples of a pixel lie together */
	unsigned samples;		/* of a pixel, one that nothing uses included */
	unsigned halved_x, halved_y;	/* colour planes have half the columns, rows */
	unsigned char place[4];		/* of channel c: its plane, or its sample in a pixel */
	bool big_endian;
};

/* By ffmpeg's name; NULL: it is none that is read. */
const struct pixel_format *pixel_format_find(const char *name);
/* Channels of a frame with all that the format holds: 1, 3 or 4 (r g b a). */
size_t pixel_format_channels(const struct pixel_format *);
/* The bytes of a picture; w and h are even where a plane is halved. -1 after fail(). */
int pixel_format_bytes(const struct pixel_format *, size_t w, size_t h, size_t *bytes);
/* The bytes of the last planes, which frames of `channels` channels leave alone. */
size_t pixel_format_flat_bytes(const struct pixel_format *, size_t channels, size_t w, size_t h);
/* Makes samples flat, in the middle of their range. */
void pixel_format_flatten(const struct pixel_format *, size_t bytes, unsigned char *to);
/* Do the frame's planes lie in memory as they do in a picture of w x h, each whole? */
bool pixel_format_is_as(const struct pixel_format *, const struct frame *, size_t w, size_t h);
/* The bits that samples of the frame have set. */
unsigned pixel_format_bits(const struct frame *);
/* The frame, of w x h or less, as a picture of w x h, its last column and row repeated. Returns the
 * bits that samples of the frame have set: none above those of the format, or the picture is not
 * the frame's. */
unsigned pixel_format_put(const struct pixel_format *, const struct frame *, size_t w, size_t h,
    unsigned char *picture);
/* The first channel of a pixel in a picture whose rows have `columns` pixels. */
unsigned pixel_format_luma(const struct pixel_format *, const unsigned char *picture,
    size_t columns, size_t x, size_t y);
/* A channel of a frame as rows i h to (i + 1) h - 1 of plane 0 of a picture of w x (n h): samples
 * of `bits` bits, 1 or 8, that become as many as the picture's: 0 stays 0, the largest is the
 * largest. Of the kinds grey and yuv. Returns the bits that its samples have set. */
unsigned pixel_format_put_track(const struct pixel_format *, const struct frame *, size_t c,
    unsigned bits, size_t w, size_t h, size_t i, size_t n, unsigned char *picture);
/* The picture's first rows and columns as the frame's planes, as many as it has. */
void pixel_format_get(const struct pixel_format *, const unsigned char *picture, size_t w, size_t h,
    struct frame *);

#endif
