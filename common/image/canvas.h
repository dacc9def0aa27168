/* Rectangles and text in a frame r g b of type uchar. What lies outside of it is not drawn. */
#ifndef CANVAS_H
#define CANVAS_H

#include "frame/frame.h"
#include "image/font.h"

struct canvas_place {
	ptrdiff_t x, y;
};

enum canvas_align { CANVAS_LEFT, CANVAS_CENTRE, CANVAS_RIGHT };

/* Fills w x h pixels from `at` on. */
void canvas_fill(struct frame *, struct canvas_place at, size_t w, size_t h,
    const unsigned char rgb[3]);
/* Their outline, of this thickness, drawn inside of them. */
void canvas_outline(struct frame *, struct canvas_place at, size_t w, size_t h, size_t thick,
    const unsigned char rgb[3]);
/* A line of text in letters of FONT_HEIGHT times `scale` pixels; `at` is the top of its left end,
 * middle or right end. */
void canvas_text(struct frame *, struct canvas_place at, enum canvas_align, size_t scale,
    const unsigned char rgb[3], const char *text);
/* The same, read from below; `at` is the left side of its middle. */
void canvas_text_upright(struct frame *, struct canvas_place at, size_t scale,
    const unsigned char rgb[3], const char *text);

#endif
