#include "image/canvas.h"

#include <string.h>

static ptrdiff_t
within(ptrdiff_t v, size_t end)
{
	return v < 0 ? 0 : v > (ptrdiff_t)end ? (ptrdiff_t)end : v;
}

void
canvas_fill(struct frame *frame, struct canvas_place at, size_t w, size_t h,
    const unsigned char rgb[3])
{
	size_t x0 = (size_t)within(at.x, frame->head.w);
	size_t x1 = (size_t)within(at.x + (ptrdiff_t)w, frame->head.w);
	size_t y0 = (size_t)within(at.y, frame->head.h);
	size_t y1 = (size_t)within(at.y + (ptrdiff_t)h, frame->head.h);

	for (size_t y = y0; y < y1; y++)
		for (size_t k = 0; k < 3; k++)
			memset((unsigned char *)frame_row(frame, k, y) + x0, rgb[k], x1 - x0);
}

void
canvas_outline(struct frame *frame, struct canvas_place at, size_t w, size_t h, size_t thick,
    const unsigned char rgb[3])
{
	struct canvas_place right = { at.x + (ptrdiff_t)w - (ptrdiff_t)thick, at.y };
	struct canvas_place below = { at.x, at.y + (ptrdiff_t)h - (ptrdiff_t)thick };

	canvas_fill(frame, at, w, thick, rgb);
	canvas_fill(frame, below, w, thick, rgb);
	canvas_fill(frame, at, thick, h, rgb);
	canvas_fill(frame, right, thick, h, rgb);
}

/* Pixels that a text takes along its line. */
static size_t
canvas_text_width(size_t scale, const char *text)
{
	size_t n = font_length(text);

	return n ? scale * (n * FONT_ADVANCE - (FONT_ADVANCE - FONT_WIDTH)) : 0;
}

/* Where the pixel of column i and row j of a line of text lies. */
static struct canvas_place
place(struct canvas_place at, bool upright, ptrdiff_t scale, ptrdiff_t i, ptrdiff_t j)
{
	if (upright)
		return (struct canvas_place){ at.x + scale * j, at.y - scale * (i + 1) };
	return (struct canvas_place){ at.x + scale * i, at.y + scale * j };
}

static void
draw_text(struct frame *frame, struct canvas_place at, bool upright, size_t scale,
    const unsigned char rgb[3], const char *text)
{
	const uint8_t *glyph;

	for (ptrdiff_t left = 0; (glyph = font_next(&text)); left += FONT_ADVANCE)
		for (int j = 0; j < FONT_HEIGHT; j++)
			for (int i = 0; i < FONT_WIDTH; i++)
				if (glyph[j] >> (FONT_WIDTH - 1 - i) & 1)
					canvas_fill(frame, place(at, upright, (ptrdiff_t)scale,
					    left + i, j), scale, scale, rgb);
}

void
canvas_text(struct frame *frame, struct canvas_place at, enum canvas_align align, size_t scale,
    const unsigned char rgb[3], const char *text)
{
	ptrdiff_t width = (ptrdiff_t)canvas_text_width(scale, text);

	at.x -= align == CANVAS_LEFT ? 0 : align == CANVAS_RIGHT ? width : width / 2;
	draw_text(frame, at, false, scale, rgb, text);
}

void
canvas_text_upright(struct frame *frame, struct canvas_place at, size_t scale,
    const unsigned char rgb[3], const char *text)
{
	at.y += (ptrdiff_t)canvas_text_width(scale, text) / 2;
	draw_text(frame, at, true, scale, rgb, text);
}
