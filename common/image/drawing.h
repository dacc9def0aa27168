/*
 * What plots have in common: text, axes, and files; drawn by cairo. Only tools that ask for cairo
 * in their NAME.mk may call it: without the library this file is not built.
 */
#ifndef DRAWING_H
#define DRAWING_H

#include <stdbool.h>
#include <stddef.h>

#include "image/libcairo.h"

#define FONT 13.0
#define LEFT 78.0
#define RIGHT 22.0
#define BOTTOM 54.0
#define TICKS 7			/* about as many on an axis */

struct axes {
	cairo_t *cr;
	double left, top, right, bottom;	/* of the frame, in points */
	double x_low, x_high, y_low, y_high;	/* at left, right, bottom, top */
};

struct drawing {
	void (*draw)(const struct drawing *, cairo_t *);
	const void *arg;
	size_t w, h;				/* points (SVG, PDF), pixels (PNG) */
};

/* Has a path one of the suffixes that drawing_save() takes: .svg, .png, .pdf? */
bool drawing_takes(const char *path);
/* Is it a picture of pixels? */
bool drawing_has_pixels(const char *path);
/* Draws into a file of this format; same drawing, same bytes. -1 after fail(). */
int drawing_save(const struct drawing *, const char *path);

/* White paper, and the font. */
void drawing_begin(cairo_t *);
/* Black as text and axes are. */
void drawing_use_ink(cairo_t *);
double drawing_at_x(const struct axes *, double x);
double drawing_at_y(const struct axes *, double y);
void drawing_line(cairo_t *, double x0, double y0, double x1, double y1);
/* The rectangle of the axes. */
void drawing_frame(const struct axes *);
double drawing_text_width(cairo_t *, const char *text);
/* align: 0: (x, y) is the left end of the text's base line, 0.5 its middle, 1 its right end. */
void drawing_text(cairo_t *, double x, double y, double align, const char *text);
/* The same in smaller letters where the text would be wider than `most`. */
void drawing_text_within(cairo_t *, double x, double y, double align, double most,
    const char *text);
/* The names of both axes and the title; NULL: none. */
void drawing_labels(const struct axes *, const char *title, const char *x, const char *y);

#endif
