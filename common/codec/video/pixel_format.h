/* Pixel formats of videos. */
#pragma once

#include "codec/video/ffmpeg.h"
#include "frame/frame.h"

/*
 * How ffmpeg's raw pictures lie in memory, and how they become the planes of a frame and back:
 * sample values stay what they are (no matrix, no range).
 *
 * Colour planes of half the resolution (4:2:2, 4:2:0) are means of 2 or 2x2 samples, centred on
 * them, and are read back by a triangle filter of weights 3/4 and 1/4, as those of JPEG are. Of
 * halves every other one is rounded up, so that no colour gets brighter.
 */

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
/* The bytes of a picture; a plane of half an odd size is rounded up. -1 after fail(). */
int pixel_format_bytes(const struct pixel_format *, size_t w, size_t h, size_t *bytes);
/* The bytes of the last planes, which frames of `channels` channels leave alone. */
size_t pixel_format_flat_bytes(const struct pixel_format *, size_t channels, size_t w, size_t h);
/* Makes samples flat, in the middle of their range. */
void pixel_format_flatten(const struct pixel_format *, size_t bytes, unsigned char *to);
/* The frame, of w x h or less, as a picture of w x h, its last column and row repeated. Returns the
 * bits that samples of the frame have set: none above those of the format, or the picture is not
 * the frame's. */
unsigned pixel_format_put(const struct pixel_format *, const struct frame *, size_t w, size_t h,
    unsigned char *picture);

/* A channel of a frame as rows i h to (i + 1) h - 1 of plane 0 of a picture of w x (n h): samples
 * of `bits` bits, 1 or 8, that become as many as the picture's: 0 stays 0, the largest is the
 * largest. Of the kinds grey and yuv. Returns the bits that its samples have set. */
unsigned pixel_format_put_track(const struct pixel_format *, const struct frame *, size_t c,
    unsigned bits, size_t w, size_t h, size_t i, size_t n, unsigned char *picture);
/* The picture's first rows and columns as n planes of the frame, from this one on. */
void pixel_format_get(const struct pixel_format *, const unsigned char *picture, size_t w, size_t h,
    struct frame *, size_t first, size_t n);
/* Makes the frame's first planes, luma and two of colour, red, green and blue. limited: the levels
 * are those of limited range; red, blue: what these count in luma. */
void pixel_format_to_rgb(const struct pixel_format *, struct frame *, bool limited, double red,
    double blue);

/*
 * Are a video's levels those that were written? A program that takes levels of one range for those
 * of the other, or makes them such, need not say so in the file. So a tag of ours says what luma is
 * at 8 x 8 places of the first frame, and a reader compares.
 */

#define LEVELS_KEY "video_check"
#define LEVELS_TEXT (2 * 8 * 8)		/* characters */

enum levels_found {
	LEVELS_UNKNOWN,		/* too few places tell */
	LEVELS_SAME,		/* those that were written, but for loss */
	LEVELS_LIMITED,		/* made 16 to 235 of, in 8 bits */
	LEVELS_STRETCHED,	/* made 0 to 255 of 16 to 235, and what was outside is lost */
	LEVELS_NEGATED,		/* the largest less what was written, and maybe turned */
	LEVELS_TURNED,		/* mirrored, turned or transposed */
	LEVELS_OTHER		/* another picture: more than a quarter of the places are far off */
};

/* What luma is in the upper left w x h of a picture whose rows have `columns` pixels: two digits to
 * the base 16 for each place, by rows, in 255ths of the largest level. */
void levels_describe(const struct pixel_format *, const unsigned char *picture, size_t columns,
    size_t w, size_t h, char text[LEVELS_TEXT + 1]);
/* text: another such description, of the same frame as it was. */
enum levels_found levels_compare(const struct pixel_format *, const unsigned char *picture,
    size_t columns, size_t w, size_t h, const char *text);
