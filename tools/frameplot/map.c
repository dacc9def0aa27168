/*
 * --map: one channel, or its difference from the first frame's, as an image with axes, colour bar,
 * histogram and a line of statistics.
 */
#include "frameplot.h"

#include <stdio.h>

#include "image/depth_range.h"
#include "image/drawing.h"

#define BAR_W 14.0
#define GAP 18.0		/* between image and bar */
#define MIN_IMAGE 8.0		/* width and height of an image as it is drawn */
#define MAX_BINS 64

struct layout {
	struct axes image;		/* in the axes' unit; y grows downward */
	struct axes bar;		/* y: values */
	struct axes histogram;		/* x: share of valid pixels; y: values */
	size_t bins;
	double share[MAX_BINS];	/* of the valid pixels in each bin, from low to high */
};

/* ---- the image ---- */

/* How many of n columns or rows become one pixel, for a picture of size `room`. */
static size_t
block_size(size_t n, double room)
{
	size_t block = (size_t)((double)n / room);

	return block ? block : 1;
}

/* An image of as many pixels as can be seen. Without memory it is in cairo's error state, which the
 * drawing takes over. */
static cairo_surface_t *
make_image(const struct map_plot *plot, const struct axes *axes)
{
	double finer = plot->pixels ? 1 : 2;
	size_t across = block_size(plot->columns, finer * (axes->right - axes->left));
	size_t down = block_size(plot->rows, finer * (axes->bottom - axes->top));
	size_t w = (plot->columns + across - 1) / across, h = (plot->rows + down - 1) / down;
	cairo_surface_t *image = libcairo.image_surface_create(CAIRO_FORMAT_RGB24, (int)w, (int)h);
	unsigned char *bytes = libcairo.image_surface_get_data(image);
	size_t stride = (size_t)libcairo.image_surface_get_stride(image);

	for (size_t y = 0; y < h && bytes; y++)
		frameplot_rows()->image_row(plot, across, down, y, bytes + y * stride);
	if (bytes)
		libcairo.surface_mark_dirty(image);
	return image;
}

/* Draws the image; clips the last block of a row or column, which may have fewer pixels. */
static void
draw_image(const struct map_plot *plot, const struct axes *axes)
{
	cairo_surface_t *image = make_image(plot, axes);
	double finer = plot->pixels ? 1 : 2, w = axes->right - axes->left,
	    h = axes->bottom - axes->top;
	cairo_t *cr = axes->cr;

	libcairo.save(cr);
	libcairo.rectangle(cr, axes->left, axes->top, w, h);
	libcairo.clip(cr);
	libcairo.translate(cr, axes->left, axes->top);
	libcairo.scale(cr, w / (double)plot->columns * (double)block_size(plot->columns, finer * w),
	    h / (double)plot->rows * (double)block_size(plot->rows, finer * h));
	libcairo.set_source_surface(cr, image, 0, 0);
	libcairo.pattern_set_filter(libcairo.get_source(cr), CAIRO_FILTER_NEAREST);
	libcairo.paint(cr);
	libcairo.restore(cr);
	libcairo.surface_destroy(image);
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
	struct ticks ticks = ticks_between(axes->x_low, axes->x_high,
	    choose_step(axes, false, least));

	drawing_use_ink(axes->cr);
	libcairo.set_line_width(axes->cr, 1);
	drawing_level_ticks(axes, &ticks);
}

/* right: numbers are on the right side. */
static void
draw_upright_ticks(const struct axes *axes, bool right, double least)
{
	double low = fmin(axes->y_low, axes->y_high), high = fmax(axes->y_low, axes->y_high);
	struct ticks ticks = ticks_between(low, high, choose_step(axes, true, least));

	drawing_use_ink(axes->cr);
	libcairo.set_line_width(axes->cr, 1);
	drawing_upright_ticks(axes, &ticks, right);
}

/* ---- bar and histogram ---- */

/* The colours from low to high, from the bottom up. */
static void
draw_bar(const struct map_plot *plot, const struct axes *axes)
{
	double h = axes->bottom - axes->top;

	for (double y = 0; y < h; y++) {
		double top = axes->top + y, v = plot->high - (y + 0.5) / h *
		    (plot->high - plot->low);
		uint32_t rgb = frameplot_rows()->colour(plot, v);

		/* each is a little higher, so that no gap shows where edges are smoothed */
		libcairo.set_source_rgb(axes->cr, (rgb >> 16 & 255) / 255.0,
		    (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
		libcairo.rectangle(axes->cr, axes->left, top, axes->right - axes->left,
		    fmin(h - y, 1.5));
		libcairo.fill(axes->cr);
	}
	drawing_frame(axes);
}

/* Fills the histogram, with bins about four pixels high. */
static void
count_bins(const struct map_plot *plot, struct layout *layout)
{
	double room = layout->bar.bottom - layout->bar.top;

	layout->bins = room / 4 > MAX_BINS ? MAX_BINS : (size_t)fmax(4, room / 4);
	frameplot_rows()->count_bins(plot, layout->bins, layout->share);
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

/* ---- the whole map ---- */

struct statistics_text {
	char line[2][160];
	size_t lines;
};

/* One line, or two where the plot is too narrow. */
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

/* Gives the image its own aspect ratio within the room for it, unless it becomes too thin. */
static void
fit_image(const struct map_plot *plot, struct axes *axes)
{
	double w = axes->right - axes->left, h = axes->bottom - axes->top;
	double wanted = (double)plot->columns * plot->spacing[0] /
	    ((double)plot->rows * plot->spacing[1]);
	double across = fmin(w, fmax(h * wanted, MIN_IMAGE));
	double down = fmin(h, fmax(w / wanted, MIN_IMAGE));

	axes->right = axes->left + across;
	axes->bottom = axes->top + down;
	axes->x_low = -0.5 * plot->spacing[0];
	axes->x_high = ((double)plot->columns - 0.5) * plot->spacing[0];
	axes->y_high = -0.5 * plot->spacing[1];
	axes->y_low = ((double)plot->rows - 0.5) * plot->spacing[1];
}

/* The approximate width of the widest number of the image's upright axis. */
static double
number_width(const struct map_plot *plot, cairo_t *cr)
{
	char text[32];

	snprintf(text, sizeof(text), plot->counts ? "%.0f" : "%.1f",
	    (double)plot->rows * plot->spacing[1]);
	return drawing_text_width(cr, text);
}

/* The width of the widest number at the bar. */
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

/* Places image, bar and histogram from left to right, above `lines` lines of text. */
static void
plan_layout(const struct map_plot *plot, cairo_t *cr, size_t lines, struct layout *layout)
{
	double w = (double)plot->w, h = (double)plot->h, histogram = fmin(fmax(0.14 * w, 44), 160);
	double top = (plot->title ? 4.2 : 2.2) * FONT;
	double bottom = h - BOTTOM - 1.4 * FONT * (double)lines, numbers;

	layout->histogram = layout->bar = layout->image = (struct axes){ .cr = cr, .top = top,
		.bottom = bottom, .y_low = plot->low, .y_high = plot->high };
	numbers = 15 + bar_number_width(plot, cr, &layout->bar);
	layout->image.left = 2.2 * FONT + number_width(plot, cr) + 8;
	layout->image.right = fmax(w - 14 - histogram - numbers - BAR_W - GAP,
	    layout->image.left + MIN_IMAGE);
	fit_image(plot, &layout->image);
	layout->bar.left = layout->image.right + GAP;
	layout->bar.right = layout->bar.left + BAR_W;
	layout->histogram.left = layout->bar.right + numbers;
	layout->histogram.right = fmin(w - 14, layout->histogram.left + fmax(histogram, 260));
}

/* The channel's name above the bar; where it is long, also to the left of it. */
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

/* struct drawing's `draw`. */
static void
draw(const struct drawing *drawing, cairo_t *cr)
{
	const struct map_plot *plot = drawing->arg;
	struct layout layout = { 0 };
	struct statistics_text text;
	double middle = (double)plot->w / 2, most = (double)plot->w - 16;

	drawing_begin(cr);
	write_statistics(plot, cr, &text);
	plan_layout(plot, cr, text.lines, &layout);
	draw_image(plot, &layout.image);
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

/* ---- frames ---- */

/* One channel of a frame as a new array, minus the first frame's. */
static int
take_values(struct run *run, const struct frame *frame, const char *channel, float **value)
{
	const struct priv *priv = run->priv;
	size_t w = frame->head.w, h = frame->head.h, pixels, c, first = NO_CHANNEL;

	if (run_channel(run, &frame->head, channel, &c) < 0 || size_multiply(w, h, &pixels) < 0)
		return -1;
	if (priv->first && (priv->first->head.w != w || priv->first->head.h != h))
		return fail("--difference", "the first frame has %zu x %zu pixels, the other one "
		    "%zu x %zu", priv->first->head.w, priv->first->head.h, w, h);
	if (priv->first && run_channel(run, &priv->first->head, channel, &first) < 0)
		return -1;
	*value = must_alloc(pixels, sizeof(**value));
	frameplot_rows()->take_values(frame, c, priv->first, first, *value);
	return 0;
}

/* Chooses the range of the colours, and their map: a diverging one where values have both signs. */
static void
choose_colours(const struct parameters *p, struct map_plot *plot, const float *finite)
{
	float range[2];
	bool both;

	colormap_range(COLORMAP_VIRIDIS, finite, plot->valid, range);
	both = p->range.n ? p->range.v[0] == -p->range.v[1] :
	    p->difference || (range[0] < 0 && range[1] > 0);
	plot->colormap = p->colormap >= 0 ? (enum colormap)p->colormap :
	    both ? COLORMAP_DEVIATION : COLORMAP_VIRIDIS;
	colormap_range(plot->colormap, finite, plot->valid, range);
	plot->low = p->range.n ? p->range.v[0] : range[0];
	plot->high = p->range.n ? p->range.v[1] : range[1];
}

/* Warns of a map of one colour, where no value is within the range. */
static void
warn_of_one_colour(const struct parameters *p, const struct map_plot *plot, const float *finite)
{
	float low, high;

	if (plot->valid == 0)
		warn("--map", "%s has no value", plot->label);
	if (!frameplot_rows()->any_between(finite, plot->valid, plot->low, plot->high, &low,
	    &high) && plot->valid && p->range.n)
		warn("--range", "no value lies within %g to %g: they go from %.4g to %.4g",
		    plot->low, plot->high, (double)low, (double)high);
}

/* Statistics, colours and warnings. */
static void
survey(const struct parameters *p, struct map_plot *plot)
{
	size_t pixels = plot->columns * plot->rows;
	float *finite = must_alloc(pixels, sizeof(*finite));
	double *sorted = must_alloc(pixels, 2 * sizeof(*sorted));

	frameplot_rows()->find_statistics(plot, finite, sorted, sorted + pixels);
	choose_colours(p, plot, finite);
	warn_of_one_colour(p, plot, finite);
	free(finite);
	free(sorted);
}

static int
draw_map(struct run *run, const struct frame *frame)
{
	const struct parameters *p = run->parameters;
	const struct frame_head *head = &frame->head;
	const char *name = p->channel ? p->channel : head->channel[channel_usual(head)];
	const char *unit = quantity_unit(head, name);
	bool measured = head->spacing[0] > 0 && head->spacing[1] > 0;
	struct map_plot plot = { .title = p->title, .columns = head->w, .rows = head->h,
		.w = p->size.w, .h = p->size.h, .pixels = drawing_has_pixels(run->output),
		.unit = unit ? unit : "",
		.spacing = { measured ? head->spacing[0] : 1, measured ? head->spacing[1] : 1 },
		.counts = !measured };
	struct drawing drawing = { draw, &plot, plot.w, plot.h };
	float *value = NULL;
	int status;

	if (head_is_table(head))
		return fail("--map", "is for images, the input is a table");
	snprintf(plot.label, sizeof(plot.label), unit ? "%s%s (%.30s)" : "%s%s", name,
	    p->difference ? " difference" : "", unit);
	for (int axis = 0; axis < 2; axis++) {
		const char *along = measured ? (axis ? "y" : "x") : axis ? "row" : "column";
		const char *in = measured ? head->unit : "px";

		snprintf(plot.axis_label[axis], sizeof(plot.axis_label[axis]),
		    *in ? "%s (%s)" : "%s", along, in);
	}
	if (take_values(run, frame, name, &value) < 0)
		return -1;
	plot.value = value;
	survey(p, &plot);
	status = colormap_nan(plot.colormap, "--nan-colour", &p->nan, plot.nan);
	if (status == 0)
		status = drawing_save(&drawing, run->output);
	free(value);
	return status;
}

int
map_take(struct run *run, struct frame *in)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	size_t wanted = p->difference ? 2 : 1;
	int status;

	if (++priv->frames < wanted) {
		priv->first = in;
		return 0;
	}
	status = priv->frames > wanted ? fail("--map", "draws one frame%s, and more came: "
	    "framecat --frames chooses", p->difference ? " minus another" : "") : draw_map(run, in);
	frame_free(in);
	return status;
}

int
map_end(struct run *run)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;

	if (priv->frames >= 1 + (size_t)p->difference)
		return 0;
	return fail(NULL, p->difference ? "a difference needs two frames" : "no frame to plot");
}
