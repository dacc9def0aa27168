/*
 * A bitmap font of our own for labels in pictures: ASCII and the micro sign, 5 x 7 pixels each, to
 * be drawn larger by whole factors. Needs no library and gives the same pixels everywhere.
 */
#ifndef FONT_H
#define FONT_H

#include <stddef.h>
#include <stdint.h>

#define FONT_WIDTH 5
#define FONT_HEIGHT 7
#define FONT_ADVANCE 6			/* from one character to the next */

/* How many characters a text in UTF-8 has. */
size_t font_length(const char *text);
/*
 * The next character of a text, which moves on: FONT_HEIGHT rows from the top, in each of which bit
 * FONT_WIDTH - 1 is the left pixel. A question mark where the font lacks it; NULL at the end.
 */
const uint8_t *font_next(const char **text);

#endif
