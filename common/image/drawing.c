/* Plots: text, axes and files, drawn by cairo, which is loaded when the first plot is drawn. */
#include "image/drawing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#include "base/process.h"
#include "image/annotate.h"
#include "io/safe_file.h"

#ifndef LIBCAIRO
#define LIBCAIRO "libcairo.so.2"
#endif

struct libcairo libcairo;

/* Before its first function is called. 0 or -1 after fail(). */
static int
libcairo_load(void)
{
	static const char *const names[] = {
#define X(name) "cairo_" #name,
		LIBCAIRO_FUNCTIONS
#undef X
	};
	static const struct library library = { LIBCAIRO, sizeof(names) / sizeof(*names), names,
		&libcairo };

	return library_load(&library);
}

/* ---- letters on a picture ---- */

static void
choose_face(cairo_t *cr, double size)
{
	libcairo.select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
	    CAIRO_FONT_WEIGHT_NORMAL);
	libcairo.set_font_size(cr, size);
}

/* The size of letters of which digits are so high, less where a text would be wider than `most`;
 * *w: its width then. 0: there is no font. */
static double
fit_letters(const char *text, size_t height, size_t most, size_t *w)
{
	cairo_surface_t *surface = libcairo.image_surface_create(CAIRO_FORMAT_A8, 1, 1);
	cairo_t *cr = libcairo.create(surface);
	cairo_text_extents_t digit, all;
	double size = 100;

	choose_face(cr, size);
	libcairo.text_extents(cr, "0", &digit);
	libcairo.text_extents(cr, text, &all);
	size *= fmin((double)height / digit.height, (double)most / all.x_advance);
	if (libcairo.status(cr) != CAIRO_STATUS_SUCCESS || !isfinite(size))
		size = 0;
	*w = (size_t)ceil(all.x_advance * size / 100);
	libcairo.destroy(cr);
	libcairo.surface_destroy(surface);
	return size;
}

unsigned char *
drawing_letters(const char *text, size_t height, size_t margin, size_t most, size_t *w)
{
	size_t h = height + 2 * margin, stride;
	unsigned char *letters = NULL;
	cairo_surface_t *surface;
	cairo_t *cr;
	double size;

	if (libcairo_load() < 0) {
		fail_clear();
		return NULL;
	}
	size = fit_letters(text, height, most, w);
	if (!(size > 0) || *w == 0)
		return NULL;
	surface = libcairo.image_surface_create(CAIRO_FORMAT_A8, (int)*w, (int)h);
	cr = libcairo.create(surface);
	choose_face(cr, size);
	libcairo.move_to(cr, 0, (double)(margin + height));
	libcairo.show_text(cr, text);
	if (libcairo.status(cr) == CAIRO_STATUS_SUCCESS) {	/* it has limits of its own */
		libcairo.surface_flush(surface);
		letters = must_alloc(h, *w);
		stride = (size_t)libcairo.image_surface_get_stride(surface);
		for (size_t y = 0; y < h; y++)
			memcpy(letters + y * *w, libcairo.image_surface_get_data(surface) +
			    y * stride, *w);
	}
	libcairo.destroy(cr);
	libcairo.surface_destroy(surface);
	return letters;
}

/* ---- files ---- */

static bool
has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n >= k && !strcasecmp(path + n - k, suffix);
}

bool
drawing_takes(const char *path)
{
	return has_suffix(path, ".svg") || has_suffix(path, ".png") || has_suffix(path, ".pdf");
}

bool
drawing_has_pixels(const char *path)
{
	return has_suffix(path, ".png");
}

/* Where cairo's bytes go: it says that they could not be written, not why. */
struct drawn_file {
	FILE *file;
	int error;	/* errno of the first piece that could not be written, or 0 */
};

static cairo_status_t
write_bytes(void *to, const unsigned char *bytes, unsigned n)
{
	struct drawn_file *drawn = to;

	if (fwrite(bytes, 1, n, drawn->file) == n)
		return CAIRO_STATUS_SUCCESS;
	if (!drawn->error)
		drawn->error = errno;
	return CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t *
new_surface(const struct drawing *drawing, struct drawn_file *file, const char *path)
{
	double w = (double)drawing->w, h = (double)drawing->h;
	cairo_surface_t *surface;

	if (has_suffix(path, ".svg"))
		return libcairo.svg_surface_create_for_stream(write_bytes, file, w, h);
	if (drawing_has_pixels(path))
		return libcairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)drawing->w,
		    (int)drawing->h);
	surface = libcairo.pdf_surface_create_for_stream(write_bytes, file, w, h);
	/* the time of the run would make every file another one */
	libcairo.pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE,
	    "1970-01-01T00:00:00Z");
	return surface;
}

static cairo_status_t
draw_file(const struct drawing *drawing, struct drawn_file *file, const char *path)
{
	cairo_surface_t *surface = new_surface(drawing, file, path);
	cairo_t *cr = libcairo.create(surface);
	cairo_status_t status;

	drawing->draw(drawing, cr);
	status = libcairo.status(cr);
	libcairo.destroy(cr);
	if (status == CAIRO_STATUS_SUCCESS && drawing_has_pixels(path))
		status = libcairo.surface_write_to_png_stream(surface, write_bytes, file);
	libcairo.surface_finish(surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = libcairo.surface_status(surface);
	libcairo.surface_destroy(surface);
	return status;
}

int
drawing_save(const struct drawing *drawing, const char *path)
{
	struct safe_file *temporary;
	struct drawn_file drawn = { 0 };
	cairo_status_t status;
	bool good;

	if (!drawing_takes(path))
		return fail_usage(path, "a plot is written as .svg, .png or .pdf");
	if (libcairo_load() < 0)
		return -1;
	drawn.file = safe_file_open(path, &temporary);
	if (!drawn.file)
		return -1;
	status = draw_file(drawing, &drawn, path);
	good = status == CAIRO_STATUS_SUCCESS && !drawn.error;	/* PDF keeps it to itself */
	if (drawn.error) {
		errno = drawn.error;
		fail_errno(path, "cannot be written");
	} else if (!good) {
		fail(path, "could not be drawn: %s", libcairo.status_to_string(status));
	}
	if (safe_file_close(drawn.file, path, temporary, good) < 0)
		return -1;
	return good ? 0 : -1;
}

/* ---- what is drawn ---- */

void
drawing_begin(cairo_t *cr)
{
	libcairo.set_source_rgb(cr, 1, 1, 1);
	libcairo.paint(cr);
	choose_face(cr, FONT);
}

void
drawing_use_ink(cairo_t *cr)
{
	libcairo.set_source_rgb(cr, 0.15, 0.15, 0.15);
}

double
drawing_at_x(const struct axes *axes, double x)
{
	return axes->left + (x - axes->x_low) / (axes->x_high - axes->x_low) *
	    (axes->right - axes->left);
}

double
drawing_at_y(const struct axes *axes, double y)
{
	return axes->bottom - (y - axes->y_low) / (axes->y_high - axes->y_low) *
	    (axes->bottom - axes->top);
}

double
drawing_text_width(cairo_t *cr, const char *text)
{
	cairo_text_extents_t extents;

	libcairo.text_extents(cr, text, &extents);
	return extents.x_advance;
}

void
drawing_text(cairo_t *cr, double x, double y, double align, const char *text)
{
	libcairo.move_to(cr, x - align * drawing_text_width(cr, text), y);
	libcairo.show_text(cr, text);
}

void
drawing_text_within(cairo_t *cr, double x, double y, double align, double most, const char *text)
{
	double width = drawing_text_width(cr, text);

	if (width > most)
		libcairo.set_font_size(cr, FONT * most / width);
	drawing_text(cr, x, y, align, text);
	libcairo.set_font_size(cr, FONT);
}

void
drawing_line(cairo_t *cr, double x0, double y0, double x1, double y1)
{
	libcairo.move_to(cr, x0, y0);
	libcairo.line_to(cr, x1, y1);
	libcairo.stroke(cr);
}

void
drawing_frame(const struct axes *axes)
{
	drawing_use_ink(axes->cr);
	libcairo.set_line_width(axes->cr, 1);
	libcairo.rectangle(axes->cr, axes->left, axes->top, axes->right - axes->left,
	    axes->bottom - axes->top);
	libcairo.stroke(axes->cr);
}

void
drawing_level_ticks(const struct axes *axes, const struct ticks *ticks)
{
	char text[32];

	for (size_t i = 0; i < ticks->n; i++) {
		double v = ticks_value(ticks, i), at = drawing_at_x(axes, v);

		ticks_text(v, ticks->step, text);
		drawing_line(axes->cr, at, axes->bottom, at, axes->bottom + 4);
		drawing_text(axes->cr, at, axes->bottom + 1.5 * FONT, 0.5, text);
	}
}

void
drawing_upright_ticks(const struct axes *axes, const struct ticks *ticks, bool right)
{
	double side = right ? axes->right : axes->left, outward = right ? 1 : -1;
	char text[32];

	for (size_t i = 0; i < ticks->n; i++) {
		double v = ticks_value(ticks, i), at = drawing_at_y(axes, v);

		ticks_text(v, ticks->step, text);
		drawing_line(axes->cr, side, at, side + outward * 4, at);
		drawing_text(axes->cr, side + outward * 7, at + 0.35 * FONT, right ? 0 : 1, text);
	}
}

void
drawing_labels(const struct axes *axes, const char *title, const char *x, const char *y)
{
	double middle = (axes->left + axes->right) / 2;

	drawing_use_ink(axes->cr);
	if (x)
		drawing_text(axes->cr, middle, axes->bottom + 3.1 * FONT, 0.5, x);
	if (title)
		drawing_text(axes->cr, middle, 1.6 * FONT, 0.5, title);
	if (y) {
		libcairo.save(axes->cr);
		libcairo.translate(axes->cr, 1.3 * FONT, (axes->top + axes->bottom) / 2);
		libcairo.rotate(axes->cr, -M_PI / 2);
		drawing_text_within(axes->cr, 0, 0, 0.5, axes->bottom + 3.5 * FONT, y);
		libcairo.restore(axes->cr);
	}
}
