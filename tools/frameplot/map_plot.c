#include "map_plot.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "image/drawing.h"
#include "image/ticks.h"

#define BAR_W 14.0
#define GAP 18.0
#define THIN 8.0		/* an image is drawn no thinner */
#define BINS_MOST 64

struct layout {
	struct axes image;		/* in the axes' unit; y grows downward */
	struct axes bar;		/* y: values */
	struct axes histogram;		/* x: share of valid pixels; y: values */
	double left;			/* of the bar's numbers */
	size_t bins;
	double share[BINS_MOST];	/* of the valid pixels in each bin, from low to high */
};

/* The drawing that is at hand, and what its pixels are made of. */
struct map_drawing {
	const struct map_plot *plot;
	bool pixels;			/* the drawing is made of pixels */
	cairo_surface_t *image;
};

/* ---- the image ---- */

static uint32_t
colour_of(const struct map_plot *plot, double v)
{
	float rgb[3] = { plot->nan[0], plot->nan[1], plot->nan[2] };
	uint32_t level = 0;

	if (!isnan(v))
		colormap_rgb(plot->colormap, (float)((v - plot->low) / (plot->high - plot->low)),
		    rgb);
	for (int k = 0; k < 3; k++)
		level = level << 8 | (uint32_t)(rgb[k] * 255.0f + 0.5f);
	return level;
}

/* Mean of the values of a block, where there are any. */
static double
block_mean(const struct map_plot *plot, size_t x0, size_t x1, size_t y0, size_t y1)
{
	double sum = 0;
	size_t n = 0;

	for (size_t y = y0; y < y1; y++)
		for (size_t x = x0; x < x1; x++)
			if (!isnan(plot->value[y * plot->columns + x])) {
				sum += plot->value[y * plot->columns + x];
				n++;
			}
	return n ? sum / (double)n : NAN;
}

/* How many pixels of the image become one of a picture of `room`. */
static size_t
block_size(size_t n, double room)
{
	size_t block = (size_t)((double)n / room);

	return block ? block : 1;
}

/* An image of as many pixels as there are to be seen. Where memory is short it is in cairo's error
 * state, which whatever is painted with it takes over. */
static cairo_surface_t *
make_image(const struct map_plot *plot, const struct axes *axes, bool pixels)
{
	double finer = pixels ? 1 : 2;
	size_t across = block_size(plot->columns, finer * (axes->right - axes->left));
	size_t down = block_size(plot->rows, finer * (axes->bottom - axes->top));
	size_t w = (plot->columns + across - 1) / across, h = (plot->rows + down - 1) / down;
	cairo_surface_t *image = libcairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)w, (int)h);
	unsigned char *bytes = libcairo.image_surface_get_data(image);
	size_t stride = (size_t)libcairo.image_surface_get_stride(image);

	for (size_t y = 0; y < h && bytes; y++)
		for (size_t x = 0; x < w; x++) {
			size_t x1 = (x + 1) * across, y1 = (y + 1) * down;
			uint32_t rgb = colour_of(plot, block_mean(plot, x * across,
			    x1 < plot->columns ? x1 : plot->columns, y * down,
			    y1 < plot->rows ? y1 : plot->rows));

			memcpy(bytes + y * stride + 4 * x, &rgb, sizeof(rgb));
		}
	if (bytes)
		libcairo.surface_mark_dirty(image);
	return image;
}

/* The last block of a row or column may have fewer pixels: what it lacks is cut off. */
static void
draw_image(const struct map_drawing *drawing, const struct axes *axes)
{
	const struct map_plot *plot = drawing->plot;
	double finer = drawing->pixels ? 1 : 2, w = axes->right - axes->left,
	    h = axes->bottom - axes->top;
	cairo_t *cr = axes->cr;

	libcairo.save(cr);
	libcairo.rectangle(cr, axes->left, axes->top, w, h);
	libcairo.clip(cr);
	libcairo.translate(cr, axes->left, axes->top);
	libcairo.scale(cr, w / (double)plot->columns * (double)block_size(plot->columns, finer * w),
	    h / (double)plot->rows * (double)block_size(plot->rows, finer * h));
	libcairo.set_source_surface(cr, drawing->image, 0, 0);
	libcairo.pattern_set_filter(libcairo.get_source(cr), CAIRO_FILTER_NEAREST);
	libcairo.paint(cr);
	libcairo.restore(cr);
	drawing_frame(axes);
}

/* ---- ticks ---- */

/* The distance of ticks whose numbers do not touch. */
static double
choose_step(const struct axes *axes, bool upright, double least)
{
	double low = upright ? fmin(axes->y_low, axes->y_high) : axes->x_low;
	double high = upright ? fmax(axes->y_low, axes->y_high) : axes->x_high;
	double room = upright ? axes->bottom - axes->top : axes->right - axes->left, step;

	for (double n = TICKS; ; n--) {
		char text[2][32];
		double width;

		step = fmax(ticks_step(low, high, n < 1 ? 0.5 : n), least);
		ticks_text(floor(high / step) * step, step, text[0]);
		ticks_text(ceil(low / step) * step, step, text[1]);
		width = upright ? 1.7 * FONT : FONT + fmax(drawing_text_width(axes->cr, text[0]),
		    drawing_text_width(axes->cr, text[1]));
		if (n < 1 || step / (high - low) * room >= width)
			return step;
	}
}

static void
draw_level_ticks(const struct axes *axes, double least)
{
	double step = choose_step(axes, false, least);
	struct ticks ticks = ticks_between(axes->x_low, axes->x_high, step);
	char text[32];

	drawing_use_ink(axes->cr);
	libcairo.set_line_width(axes->cr, 1);
	for (size_t i = 0; i < ticks.n; i++) {
		double v = ticks_value(&ticks, i), at = drawing_at_x(axes, v);

		ticks_text(v, step, text);
		drawing_line(axes->cr, at, axes->bottom, at, axes->bottom + 4);
		drawing_text(axes->cr, at, axes->bottom + 1.5 * FONT, 0.5, text);
	}
}

/* right: numbers stand at the right side. */
static void
draw_upright_ticks(const struct axes *axes, bool right, double least)
{
	double low = fmin(axes->y_low, axes->y_high), high = fmax(axes->y_low, axes->y_high);
	double step = choose_step(axes, true, least);
	double side = right ? axes->right : axes->left, outward = right ? 1 : -1;
	struct ticks ticks = ticks_between(low, high, step);
	char text[32];

	drawing_use_ink(axes->cr);
	libcairo.set_line_width(axes->cr, 1);
	for (size_t i = 0; i < ticks.n; i++) {
		double v = ticks_value(&ticks, i), at = drawing_at_y(axes, v);

		ticks_text(v, step, text);
		drawing_line(axes->cr, side, at, side + outward * 4, at);
		drawing_text(axes->cr, side + outward * 7, at + 0.35 * FONT, right ? 0 : 1, text);
	}
}

/* ---- bar and histogram ---- */

static void
draw_bar(const struct map_plot *plot, const struct axes *axes)
{
	double h = axes->bottom - axes->top;

	for (double y = 0; y < h; y++) {
		double top = axes->top + y, v = plot->high - (y + 0.5) / h *
		    (plot->high - plot->low);
		uint32_t rgb = colour_of(plot, v);

		/* each a little longer, so that no gap shines through where edges are smoothed */
		libcairo.set_source_rgb(axes->cr, (rgb >> 16 & 255) / 255.0,
		    (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
		libcairo.rectangle(axes->cr, axes->left, top, axes->right - axes->left,
		    fmin(h - y, 1.5));
		libcairo.fill(axes->cr);
	}
	drawing_frame(axes);
}

static void
count_bins(const struct map_plot *plot, struct layout *layout)
{
	double room = layout->bar.bottom - layout->bar.top;

	layout->bins = room / 4 > BINS_MOST ? BINS_MOST : (size_t)fmax(4, room / 4);
	for (size_t i = 0; i < plot->columns * plot->rows; i++) {
		double t = (plot->value[i] - plot->low) / (plot->high - plot->low);
		size_t bin = t >= 0 && t <= 1 ? (size_t)(t * (double)layout->bins) : SIZE_MAX;

		if (bin == layout->bins)
			bin--;			/* the upper end */
		if (bin < layout->bins)
			layout->share[bin] += 1.0 / (double)plot->valid;
	}
	layout->histogram.x_high = 0;
	for (size_t i = 0; i < layout->bins; i++)
		layout->histogram.x_high = fmax(layout->histogram.x_high, layout->share[i]);
	if (layout->histogram.x_high == 0)
		layout->histogram.x_high = 1;
}

static void
draw_histogram(const struct layout *layout)
{
	const struct axes *axes = &layout->histogram;
	double bin = (axes->bottom - axes->top) / (double)layout->bins;
	char text[32];

	libcairo.set_source_rgb(axes->cr, 0.55, 0.55, 0.55);
	for (size_t i = 0; i < layout->bins; i++)
		libcairo.rectangle(axes->cr, axes->left, axes->bottom - (double)(i + 1) * bin,
		    drawing_at_x(axes, layout->share[i]) - axes->left, bin);
	libcairo.fill(axes->cr);
	drawing_use_ink(axes->cr);
	libcairo.set_line_width(axes->cr, 1);
	drawing_line(axes->cr, axes->left, axes->top, axes->left, axes->bottom);
	drawing_line(axes->cr, axes->left, axes->bottom, axes->right, axes->bottom);
	drawing_line(axes->cr, axes->right, axes->bottom, axes->right, axes->bottom + 4);
	snprintf(text, sizeof(text), "%.3g %%", 100 * axes->x_high);
	drawing_text(axes->cr, axes->right, axes->bottom + 1.5 * FONT, 1, text);
}

/* ---- all of it ---- */

struct statistics_text {
	char line[2][160];
	size_t lines;
};

/* In one line, or in two where one is too narrow. */
static void
write_statistics(const struct map_plot *plot, cairo_t *cr, struct statistics_text *text)
{
	size_t pixels = plot->columns * plot->rows;
	char all[2 * sizeof(text->line)];

	text->lines = 1;
	snprintf(text->line[0], sizeof(text->line[0]), "no value in any of %zu pixels", pixels);
	if (plot->valid == 0)
		return;
	snprintf(text->line[0], sizeof(text->line[0]), "mean %.6g   rms %.6g   median %.6g",
	    plot->mean, plot->rms, plot->median);
	snprintf(text->line[1], sizeof(text->line[1]), "95 %% within %.6g%s%s   %zu of %zu pixels",
	    plot->p95, *plot->unit ? " " : "", plot->unit, plot->valid, pixels);
	snprintf(all, sizeof(all), "%s   %s", text->line[0], text->line[1]);
	if (drawing_text_width(cr, all) > (double)plot->w - 16 || strlen(all) >=
	    sizeof(text->line[0]))
		text->lines = 2;
	else
		strcpy(text->line[0], all);
}

/* The image's own shape within the room for it, as long as it is not too thin. */
static void
fit_image(const struct map_plot *plot, struct axes *axes)
{
	double w = axes->right - axes->left, h = axes->bottom - axes->top;
	double wanted = (double)plot->columns * plot->spacing[0] /
	    ((double)plot->rows * plot->spacing[1]);
	double across = fmin(w, fmax(h * wanted, THIN)), down = fmin(h, fmax(w / wanted, THIN));

	axes->right = axes->left + across;
	axes->bottom = axes->top + down;
	axes->x_low = -0.5 * plot->spacing[0];
	axes->x_high = ((double)plot->columns - 0.5) * plot->spacing[0];
	axes->y_high = -0.5 * plot->spacing[1];
	axes->y_low = ((double)plot->rows - 0.5) * plot->spacing[1];
}

/* Widest number of the image's upright axis, about: digits are alike. */
static double
number_width(const struct map_plot *plot, cairo_t *cr)
{
	char text[32];

	snprintf(text, sizeof(text), plot->counts ? "%.0f" : "%.1f",
	    (double)plot->rows * plot->spacing[1]);
	return drawing_text_width(cr, text);
}

static double
bar_number_width(const struct map_plot *plot, cairo_t *cr, const struct axes *bar)
{
	double step = choose_step(bar, true, 0), widest = 0;
	struct ticks ticks = ticks_between(plot->low, plot->high, step);
	char text[32];

	for (size_t i = 0; i < ticks.n; i++) {
		ticks_text(ticks_value(&ticks, i), step, text);
		widest = fmax(widest, drawing_text_width(cr, text));
	}
	return widest;
}

static void
plan(const struct map_plot *plot, cairo_t *cr, size_t lines, struct layout *layout)
{
	double w = (double)plot->w, h = (double)plot->h, histogram = fmin(fmax(0.14 * w, 44), 160);
	double top = (plot->title ? 4.2 : 2.2) * FONT;
	double bottom = h - BOTTOM - 1.4 * FONT * (double)lines, numbers;

	layout->histogram = layout->bar = layout->image = (struct axes){ .cr = cr, .top = top,
		.bottom = bottom, .y_low = plot->low, .y_high = plot->high };
	numbers = 15 + bar_number_width(plot, cr, &layout->bar);
	layout->image.left = 2.2 * FONT + number_width(plot, cr) + 8;
	layout->image.right = fmax(w - 14 - histogram - numbers - BAR_W - GAP,
	    layout->image.left + THIN);
	fit_image(plot, &layout->image);
	layout->bar.left = layout->image.right + GAP;
	layout->bar.right = layout->bar.left + BAR_W;
	layout->histogram.left = layout->bar.right + numbers;
	layout->histogram.right = fmin(w - 14, layout->histogram.left + fmax(histogram, 260));
}

/* The channel's name above the bar, and to the left of it where it is long. */
static void
draw_label(const struct map_plot *plot, const struct layout *layout, cairo_t *cr)
{
	double most = (double)plot->w - 8 - layout->bar.left, y = layout->bar.top - 0.9 * FONT;

	if (drawing_text_width(cr, plot->label) <= most)
		drawing_text(cr, layout->bar.left, y, 0, plot->label);
	else
		drawing_text_within(cr, (double)plot->w - 8, y, 1, (double)plot->w - 16,
		    plot->label);
}

static void
draw(const struct drawing *base, cairo_t *cr)
{
	struct map_drawing drawing = *(const struct map_drawing *)base->arg;
	const struct map_plot *plot = drawing.plot;
	struct layout layout = { 0 };
	struct statistics_text text;
	double middle = (double)plot->w / 2, most = (double)plot->w - 16;

	drawing_begin(cr);
	write_statistics(plot, cr, &text);
	plan(plot, cr, text.lines, &layout);
	drawing.image = make_image(plot, &layout.image, drawing.pixels);
	draw_image(&drawing, &layout.image);
	libcairo.surface_destroy(drawing.image);
	draw_level_ticks(&layout.image, plot->counts ? 1 : 0);
	draw_upright_ticks(&layout.image, false, plot->counts ? 1 : 0);
	drawing_labels(&layout.image, NULL, plot->axis_label[0], plot->axis_label[1]);
	draw_bar(plot, &layout.bar);
	draw_upright_ticks(&layout.bar, true, 0);
	count_bins(plot, &layout);
	draw_histogram(&layout);
	draw_label(plot, &layout, cr);
	if (plot->title)
		drawing_text_within(cr, middle, 1.6 * FONT, 0.5, most, plot->title);
	for (size_t i = 0; i < text.lines; i++)
		drawing_text_within(cr, middle, (double)plot->h - FONT * (0.8 + 1.4 *
		    (double)(text.lines - 1 - i)), 0.5, most, text.line[i]);
}

int
map_plot_save(const struct map_plot *plot, const char *path)
{
	struct map_drawing arg = { .plot = plot, .pixels = drawing_has_pixels(path) };
	struct drawing drawing = { draw, &arg, plot->w, plot->h };

	return drawing_save(&drawing, path);
}
