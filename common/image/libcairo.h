/*
 * cairo, loaded when the first plot is drawn: with the 17 libraries behind it, it was 2.8 of the
 * 7.7 million instructions of a start of fringepipe. libcairo.move_to() is cairo_move_to().
 */
#ifndef LIBCAIRO_H
#define LIBCAIRO_H

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#define LIBCAIRO_FUNCTIONS \
	X(arc) X(clip) X(close_path) X(create) X(destroy) X(fill) X(fill_preserve) \
	X(get_source) X(image_surface_create) X(image_surface_get_data) \
	X(image_surface_get_stride) X(line_to) X(move_to) X(new_path) X(paint) \
	X(pattern_set_filter) X(pdf_surface_create_for_stream) X(pdf_surface_set_metadata) \
	X(rectangle) X(restore) X(rotate) X(save) X(scale) X(select_font_face) X(set_antialias) \
	X(set_dash) X(set_font_size) X(set_line_cap) X(set_line_join) X(set_line_width) \
	X(set_source_rgb) X(set_source_rgba) X(set_source_surface) X(show_text) X(status) \
	X(status_to_string) X(stroke) X(surface_destroy) X(surface_finish) \
	X(surface_mark_dirty) X(surface_status) X(surface_write_to_png_stream) \
	X(svg_surface_create_for_stream) X(text_extents) X(translate)

struct libcairo {
#define X(name) __typeof__(cairo_##name) *name;
	LIBCAIRO_FUNCTIONS
#undef X
};

extern struct libcairo libcairo;

/* Before its first function is called. 0 or -1 after fail(). */
int libcairo_load(void);

#endif
