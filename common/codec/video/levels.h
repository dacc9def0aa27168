/*
 * Are a video's levels those that were written? A program that takes levels of one range for those
 * of the other, or makes them such, need not say so in the file. So a tag of ours says what luma is
 * at 8 x 8 places of the first frame, and a reader compares.
 */
#ifndef VIDEO_LEVELS_H
#define VIDEO_LEVELS_H

#include "pixel_format.h"

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

#endif
