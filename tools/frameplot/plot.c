#define _GNU_SOURCE
#include "plot.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "image/ticks.h"
#include "io/safe_file.h"

#define FONT 13.0
#define LEFT 78.0
#define RIGHT 22.0
#define BOTTOM 54.0
#define TICKS 7			/* about as many on an axis */

/* Colours that also differ without hue (Okabe and Ito). */
static const double palette[][3] = {
	{ 0.00, 0.45, 0.70 }, { 0.84, 0.37, 0.00 }, { 0.00, 0.62, 0.45 }, { 0.80, 0.47, 0.65 },
	{ 0.34, 0.71, 0.91 }, { 0.90, 0.62, 0.00 }, { 0.20, 0.20, 0.20 },
};

struct axes {
	cairo_t *cr;
	double left, top, right, bottom;	/* of the frame, in points */
	double x_low, x_high, y_low, y_high;
};

static bool
has_suffix(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n >= k && !strcasecmp(path + n - k, suffix);
}

bool
plot_takes(const char *path)
{
	return has_suffix(path, ".svg") || has_suffix(path, ".png");
}

/* ---- ranges ---- */

static void
widen(double v, double *low, double *high)
{
	if (!isfinite(v))
		return;
	*low = fmin(*low, v);
	*high = fmax(*high, v);
}

static void
find_range(const struct plot *plot, bool of_y, double *low, double *high)
{
	double margin;

	*low = INFINITY;
	*high = -INFINITY;
	for (size_t c = 0; c < plot->curves; c++)
		for (size_t i = 0; i < plot->curve[c].n; i++)
			if (isfinite(plot->curve[c].y[i]) || !of_y)
				widen(of_y ? plot->curve[c].y[i] : plot->curve[c].x[i], low, high);
	if (!(*low <= *high)) {
		*low = 0;
		*high = 1;
	}
	margin = of_y ? 0.05 * (*high - *low) : 0;
	if (*high - *low <= 1e-12 * fmax(fabs(*low), fabs(*high)))
		margin = *low ? 0.1 * fabs(*low) : 1;
	*low -= margin;
	*high += margin;
}

/* ---- drawing ---- */

static double
at_x(const struct axes *axes, double x)
{
	return axes->left + (x - axes->x_low) / (axes->x_high - axes->x_low) *
	    (axes->right - axes->left);
}

static double
at_y(const struct axes *axes, double y)
{
	return axes->bottom - (y - axes->y_low) / (axes->y_high - axes->y_low) *
	    (axes->bottom - axes->top);
}

/* align: 0 left or top of (x, y), 0.5 centred, 1 right. */
static void
show_text(cairo_t *cr, double x, double y, double align, const char *text)
{
	cairo_text_extents_t extents;

	cairo_text_extents(cr, text, &extents);
	cairo_move_to(cr, x - align * extents.x_advance, y);
	cairo_show_text(cr, text);
}

static void
draw_line(cairo_t *cr, double x0, double y0, double x1, double y1)
{
	cairo_move_to(cr, x0, y0);
	cairo_line_to(cr, x1, y1);
	cairo_stroke(cr);
}

static void
draw_ticks(const struct axes *axes, bool of_y)
{
	double low = of_y ? axes->y_low : axes->x_low, high = of_y ? axes->y_high : axes->x_high;
	double step = ticks_step(low, high, TICKS);
	char text[32];

	for (double k = ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
		double at = of_y ? at_y(axes, k * step) : at_x(axes, k * step);

		ticks_text(k * step, step, text);
		cairo_set_source_rgb(axes->cr, 0.88, 0.88, 0.88);
		cairo_set_line_width(axes->cr, 0.7);
		if (of_y)
			draw_line(axes->cr, axes->left, at, axes->right, at);
		else
			draw_line(axes->cr, at, axes->top, at, axes->bottom);
		cairo_set_source_rgb(axes->cr, 0.15, 0.15, 0.15);
		if (of_y)
			show_text(axes->cr, axes->left - 7, at + 0.35 * FONT, 1, text);
		else
			show_text(axes->cr, at, axes->bottom + 1.5 * FONT, 0.5, text);
	}
}

static void
draw_labels(const struct plot *plot, const struct axes *axes)
{
	double middle = (axes->left + axes->right) / 2;

	cairo_set_source_rgb(axes->cr, 0.15, 0.15, 0.15);
	if (plot->x_label)
		show_text(axes->cr, middle, axes->bottom + 3.1 * FONT, 0.5, plot->x_label);
	if (plot->title)
		show_text(axes->cr, middle, 1.6 * FONT, 0.5, plot->title);
	if (plot->y_label) {
		cairo_save(axes->cr);
		cairo_translate(axes->cr, 1.3 * FONT, (axes->top + axes->bottom) / 2);
		cairo_rotate(axes->cr, -M_PI / 2);
		show_text(axes->cr, 0, 0, 0.5, plot->y_label);
		cairo_restore(axes->cr);
	}
}

static void
use_colour(cairo_t *cr, size_t curve)
{
	const double *rgb = palette[curve % (sizeof(palette) / sizeof(*palette))];

	cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
}

static void
draw_curve(const struct plot *plot, const struct axes *axes, size_t c)
{
	const struct plot_curve *curve = &plot->curve[c];
	bool pen_down = false;

	use_colour(axes->cr, c);
	cairo_set_line_width(axes->cr, 1.3);
	cairo_set_line_join(axes->cr, CAIRO_LINE_JOIN_ROUND);
	cairo_set_line_cap(axes->cr, CAIRO_LINE_CAP_ROUND);
	for (size_t i = 0; i < curve->n; i++) {
		double x = at_x(axes, curve->x[i]), y = at_y(axes, curve->y[i]);

		if (!isfinite(curve->y[i])) {
			pen_down = false;
			continue;
		}
		if (pen_down) {
			cairo_line_to(axes->cr, x, y);
		} else {
			cairo_move_to(axes->cr, x, y);
			cairo_line_to(axes->cr, x, y);	/* a lone point shows as a dot */
		}
		pen_down = true;
	}
	cairo_stroke(axes->cr);
}

static void
draw_legend(const struct plot *plot, const struct axes *axes)
{
	double y = axes->top + 1.5 * FONT, widest = 0;

	if (plot->curves < 2)
		return;
	for (size_t c = 0; c < plot->curves; c++) {
		cairo_text_extents_t extents;

		cairo_text_extents(axes->cr, plot->curve[c].label, &extents);
		widest = fmax(widest, extents.x_advance);
	}
	cairo_set_source_rgba(axes->cr, 1, 1, 1, 0.85);
	cairo_rectangle(axes->cr, axes->right - widest - 44, axes->top + 4, widest + 40,
	    1.4 * FONT * (double)plot->curves + 6);
	cairo_fill(axes->cr);
	for (size_t c = 0; c < plot->curves; c++, y += 1.4 * FONT) {
		use_colour(axes->cr, c);
		cairo_set_line_width(axes->cr, 2);
		draw_line(axes->cr, axes->right - widest - 38, y - 0.35 * FONT,
		    axes->right - widest - 16, y - 0.35 * FONT);
		cairo_set_source_rgb(axes->cr, 0.15, 0.15, 0.15);
		show_text(axes->cr, axes->right - widest - 8, y, 0, plot->curve[c].label);
	}
}

static void
draw(const struct plot *plot, cairo_t *cr)
{
	struct axes axes = { .cr = cr, .left = LEFT, .top = plot->title ? 2.6 * FONT : FONT,
		.right = (double)plot->w - RIGHT, .bottom = (double)plot->h - BOTTOM,
		.x_low = plot->x_low, .x_high = plot->x_high, .y_low = plot->y_low,
		.y_high = plot->y_high };

	if (isnan(plot->x_low))
		find_range(plot, false, &axes.x_low, &axes.x_high);
	if (isnan(plot->y_low))
		find_range(plot, true, &axes.y_low, &axes.y_high);
	cairo_set_source_rgb(cr, 1, 1, 1);
	cairo_paint(cr);
	cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(cr, FONT);
	draw_ticks(&axes, false);
	draw_ticks(&axes, true);
	draw_labels(plot, &axes);
	cairo_save(cr);
	cairo_rectangle(cr, axes.left, axes.top, axes.right - axes.left, axes.bottom - axes.top);
	cairo_clip(cr);
	for (size_t c = 0; c < plot->curves; c++)
		draw_curve(plot, &axes, c);
	cairo_restore(cr);
	cairo_set_source_rgb(cr, 0.15, 0.15, 0.15);
	cairo_set_line_width(cr, 1);
	cairo_rectangle(cr, axes.left, axes.top, axes.right - axes.left, axes.bottom - axes.top);
	cairo_stroke(cr);
	draw_legend(plot, &axes);
}

static cairo_status_t
write_bytes(void *file, const unsigned char *bytes, unsigned n)
{
	return fwrite(bytes, 1, n, file) == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static cairo_status_t
draw_file(const struct plot *plot, FILE *file, bool svg)
{
	cairo_surface_t *surface = svg
	    ? cairo_svg_surface_create_for_stream(
		  write_bytes, file, (double)plot->w, (double)plot->h)
	    : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)plot->w, (int)plot->h);
	cairo_t *cr = cairo_create(surface);
	cairo_status_t status;

	draw(plot, cr);
	status = cairo_status(cr);
	cairo_destroy(cr);
	if (status == CAIRO_STATUS_SUCCESS && !svg)
		status = cairo_surface_write_to_png_stream(surface, write_bytes, file);
	cairo_surface_finish(surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = cairo_surface_status(surface);
	cairo_surface_destroy(surface);
	return status;
}

int
plot_save(const struct plot *plot, const char *path)
{
	struct safe_file *temporary;
	FILE *file;
	cairo_status_t status;

	if (!plot_takes(path))
		return fail_usage(path, "a plot is written as .svg or .png");
	file = safe_file_open(path, &temporary);
	if (!file)
		return -1;
	status = draw_file(plot, file, has_suffix(path, ".svg"));
	if (status != CAIRO_STATUS_SUCCESS)
		fail(path, "could not be drawn: %s", cairo_status_to_string(status));
	if (safe_file_close(file, path, temporary, status == CAIRO_STATUS_SUCCESS) < 0)
		return -1;
	return status == CAIRO_STATUS_SUCCESS ? 0 : -1;
}
