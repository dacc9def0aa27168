/* Plots drawn by cairo, which is loaded on demand: text, axes, files. */
#pragma once

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

#include "image/annotate.h"

/*
 * cairo, loaded when the first plot is drawn: with the 17 libraries behind it, it was 2.8 of the
 * 7.7 million instructions of a start of fringepipe. libcairo.move_to() is cairo_move_to().
 */

#define LIBCAIRO_FUNCTIONS \
	X(arc) X(clip) X(close_path) X(create) X(destroy) X(fill) X(fill_preserve) \
	X(get_source) X(image_surface_create) X(image_surface_get_data) \
	X(image_surface_get_stride) X(line_to) X(move_to) X(new_path) X(paint) \
	X(pattern_set_filter) X(pdf_surface_create_for_stream) X(pdf_surface_set_metadata) \
	X(rectangle) X(restore) X(rotate) X(save) X(scale) X(select_font_face) X(set_antialias) \
	X(set_dash) X(set_font_size) X(set_line_cap) X(set_line_join) X(set_line_width) \
	X(set_source_rgb) X(set_source_rgba) X(set_source_surface) X(show_text) X(status) \
	X(status_to_string) X(stroke) X(surface_destroy) X(surface_finish) \
	X(surface_flush) X(surface_mark_dirty) X(surface_status) X(surface_write_to_png_stream) \
	X(svg_surface_create_for_stream) X(text_extents) X(translate)

struct libcairo {
#define X(name) __typeof__(cairo_##name) *name;
	LIBCAIRO_FUNCTIONS
#undef X
};

extern struct libcairo libcairo;

/*
 * What plots have in common: text, axes, and files; drawn by cairo. Only tools that ask for cairo
 * in their NAME.mk may call it: without the library this file is not built.
 */

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
/* Ticks with their numbers below the axes; and at their left, or right. */
void drawing_level_ticks(const struct axes *, const struct ticks *);
void drawing_upright_ticks(const struct axes *, const struct ticks *, bool right);
/* The names of both axes and the title; NULL: none. */
void drawing_labels(const struct axes *, const char *title, const char *x, const char *y);
