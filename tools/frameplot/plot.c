#include "plot.h"

#include <math.h>
#include <stdio.h>

#include "image/drawing.h"
#include "image/ticks.h"

/* Colours that also differ without hue (Okabe and Ito). */
static const double palette[][3] = {
	{ 0.00, 0.45, 0.70 }, { 0.84, 0.37, 0.00 }, { 0.00, 0.62, 0.45 }, { 0.80, 0.47, 0.65 },
	{ 0.34, 0.71, 0.91 }, { 0.90, 0.62, 0.00 }, { 0.20, 0.20, 0.20 },
};

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
	if (!ticks_range_fits(*low, *high))
		margin = *low ? 0.1 * fabs(*low) : 1;
	*low -= margin;
	*high += margin;
}

/* ---- drawing ---- */

static void
draw_ticks(const struct axes *axes, bool of_y)
{
	double low = of_y ? axes->y_low : axes->x_low, high = of_y ? axes->y_high : axes->x_high;
	double step = ticks_step(low, high, TICKS);
	struct ticks ticks = ticks_between(low, high, step);
	char text[32];

	for (size_t i = 0; i < ticks.n; i++) {
		double v = ticks_value(&ticks, i);
		double at = of_y ? drawing_at_y(axes, v) : drawing_at_x(axes, v);

		ticks_text(v, step, text);
		libcairo.set_source_rgb(axes->cr, 0.88, 0.88, 0.88);
		libcairo.set_line_width(axes->cr, 0.7);
		if (of_y)
			drawing_line(axes->cr, axes->left, at, axes->right, at);
		else
			drawing_line(axes->cr, at, axes->top, at, axes->bottom);
		drawing_use_ink(axes->cr);
		if (of_y)
			drawing_text(axes->cr, axes->left - 7, at + 0.35 * FONT, 1, text);
		else
			drawing_text(axes->cr, at, axes->bottom + 1.5 * FONT, 0.5, text);
	}
}

static void
use_colour(cairo_t *cr, size_t curve)
{
	const double *rgb = palette[curve % (sizeof(palette) / sizeof(*palette))];

	libcairo.set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
}

static void
draw_curve(const struct plot *plot, const struct axes *axes, size_t c)
{
	const struct plot_curve *curve = &plot->curve[c];
	bool pen_down = false;

	use_colour(axes->cr, c);
	libcairo.set_line_width(axes->cr, 1.3);
	libcairo.set_line_join(axes->cr, CAIRO_LINE_JOIN_ROUND);
	libcairo.set_line_cap(axes->cr, CAIRO_LINE_CAP_ROUND);
	for (size_t i = 0; i < curve->n; i++) {
		double x = drawing_at_x(axes, curve->x[i]), y = drawing_at_y(axes, curve->y[i]);

		if (!isfinite(curve->y[i]) || !isfinite(curve->x[i])) {
			pen_down = false;
			continue;
		}
		if (pen_down) {
			libcairo.line_to(axes->cr, x, y);
		} else {
			libcairo.move_to(axes->cr, x, y);
			libcairo.line_to(axes->cr, x, y);	/* a lone point shows as a dot */
		}
		pen_down = true;
	}
	libcairo.stroke(axes->cr);
}

/* The names of the curves; of more than there is room for the first ones, and how many more. */
static void
draw_legend(const struct plot *plot, const struct axes *axes)
{
	double y = axes->top + 1.5 * FONT, widest = 0, line = 1.4 * FONT;
	size_t lines = plot->curves, room = (size_t)fmax(2, (axes->bottom - axes->top - 10) / line);
	size_t names = lines > room ? room - 1 : lines;
	char more[32];

	if (plot->curves < 2)
		return;
	lines = lines > room ? room : lines;
	snprintf(more, sizeof(more), "and %zu more", plot->curves - names);
	for (size_t c = 0; c < names; c++)
		widest = fmax(widest, drawing_text_width(axes->cr, plot->curve[c].label));
	if (names < lines)
		widest = fmax(widest, drawing_text_width(axes->cr, more) - 30);
	libcairo.set_source_rgba(axes->cr, 1, 1, 1, 0.85);
	libcairo.rectangle(axes->cr, axes->right - widest - 44, axes->top + 4, widest + 40,
	    line * (double)lines + 6);
	libcairo.fill(axes->cr);
	for (size_t c = 0; c < names; c++, y += line) {
		use_colour(axes->cr, c);
		libcairo.set_line_width(axes->cr, 2);
		drawing_line(axes->cr, axes->right - widest - 38, y - 0.35 * FONT,
		    axes->right - widest - 16, y - 0.35 * FONT);
		drawing_use_ink(axes->cr);
		drawing_text(axes->cr, axes->right - widest - 8, y, 0, plot->curve[c].label);
	}
	if (names < lines)
		drawing_text(axes->cr, axes->right - widest - 38, y, 0, more);
}

static void
draw(const struct drawing *drawing, cairo_t *cr)
{
	const struct plot *plot = drawing->arg;
	struct axes axes = { .cr = cr, .left = LEFT, .top = plot->title ? 2.6 * FONT : FONT,
		.right = (double)plot->w - RIGHT, .bottom = (double)plot->h - BOTTOM,
		.x_low = plot->x_low, .x_high = plot->x_high, .y_low = plot->y_low,
		.y_high = plot->y_high };

	if (isnan(plot->x_low))
		find_range(plot, false, &axes.x_low, &axes.x_high);
	if (isnan(plot->y_low))
		find_range(plot, true, &axes.y_low, &axes.y_high);
	drawing_begin(cr);
	draw_ticks(&axes, false);
	draw_ticks(&axes, true);
	drawing_labels(&axes, plot->title, plot->x_label, plot->y_label);
	libcairo.save(cr);
	libcairo.rectangle(cr, axes.left, axes.top, axes.right - axes.left, axes.bottom - axes.top);
	libcairo.clip(cr);
	for (size_t c = 0; c < plot->curves; c++)
		draw_curve(plot, &axes, c);
	libcairo.restore(cr);
	drawing_frame(&axes);
	draw_legend(plot, &axes);
}

int
plot_save(const struct plot *plot, const char *path)
{
	struct drawing drawing = { draw, plot, plot->w, plot->h };

	return drawing_save(&drawing, path);
}
