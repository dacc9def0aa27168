/*
 * Cross-sections of one or several frames as a line plot with axes. map.c draws one channel as a
 * map (--map), frameplot_rows.c has its loops.
 */
#include "frameplot.h"

#include <stdio.h>

#include "base/text.h"
#include "frame/head.h"
#include "image/depth_range.h"
#include "image/drawing.h"

static const char *const abscissas[] = { "pixels", "points", NULL };

static const struct opt options[] = {
	{ 'r', "row", "Y", OPT_NUMBER, AT(row), NULL, 0, INFINITY, "px",
	    "section along this row; the middle one if nothing is said" },
	{ 'x', "column", "X", OPT_NUMBER, AT(column), NULL, 0, INFINITY, "px",
	    "section along this column" },
	{ 0, "from", "X,Y", OPT_NUMBERS, AT(from), NULL, 0, 0, "px", "section from this point" },
	{ 0, "to", "X,Y", OPT_NUMBERS, AT(to), NULL, 0, 0, "px", "to this one" },
	{ 'c', "channel", "NAME,...", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	    "channels to plot, with commas; depth, z, absphase or else the first if not given" },
	{ 0, "abscissa", "WORD", OPT_WORD, AT(abscissa), "pixels", 0, 0, NULL,
	    "level axis by pixels and their spacings, or by the points x y", abscissas },
	FLAG_ROW('D', "difference", difference, "plot each frame minus the first one"),
	FLAG_ROW(0, "panels", panels, "two plots: the curves, and below them their differences"),
	{ 0, "range", "LOW,HIGH", OPT_NUMBERS, AT(range), NULL, 0, 0, NULL,
	    "range of the upright axis, or of the colours of --map" },
	FLAG_ROW(0, "map", map, "draw the channel as an image, with its statistics"),
	{ 0, "colormap", "NAME", OPT_WORD, AT(colormap), NULL, 0, 0, NULL,
	    "of --map; deviation where values lie on both sides of zero, else viridis",
	    colormap_names },
	{ 0, "nan-colour", "R,G,B", OPT_NUMBERS, AT(nan), NULL, 0, 255, NULL,
	    "of NaN in --map; black if not given, blue in gray" },
	{ 't', "title", "TEXT", OPT_TEXT, AT(title), NULL, 0, 0, NULL, "text above the plot" },
	{ 'l', "labels", "A,B,...", OPT_TEXT, AT(labels), NULL, 0, 0, NULL,
	    "names of the curves, separated by commas" },
	{ 's', "size", "WxH", OPT_SIZE, AT(size), "800x450", 0, 0, "px", "size of the picture" },
	{ 0 },
};

size_t
channel_usual(const struct frame_head *head)
{
	static const char *const usual[] = { "depth", "z", "absphase", NULL };

	for (size_t i = 0; usual[i]; i++) {
		size_t c = head_channel(head, usual[i]);

		if (c != NO_CHANNEL)
			return c;
	}
	return 0;
}

/* The unit of a channel, for a label; NULL: none. Lengths without a unit are in mm. */
static const char *
channel_unit(const struct frame_head *head, const char *channel)
{
	const char *unit = quantity_unit(head, channel);

	return unit || !quantity_is_length(channel) ? unit : "mm";
}

/* ---- line plots ---- */

struct plot_curve {
	char *label;
	double *x, *y;		/* NaN: a gap */
	size_t n;
};

struct plot {
	const char *title, *x_label, *y_label;	/* NULL: none */
	double y_low, y_high;			/* both NaN: from the curves */
	double top, right, bottom;		/* of the axes: points (SVG, PDF), pixels (PNG) */
	const struct plot_curve *curve;
	size_t curves, first_colour;
	size_t wide;		/* the first curves are, as others may cover them */
};

/* One plot, or two above each other, which have the level axis of the first. */
struct page {
	struct plot plot[2];
	size_t plots;
};

/* Colours that differ also for the colour-blind (Okabe and Ito). */
static const double palette[][3] = {
	{ 0.00, 0.45, 0.70 }, { 0.84, 0.37, 0.00 }, { 0.00, 0.62, 0.45 }, { 0.80, 0.47, 0.65 },
	{ 0.34, 0.71, 0.91 }, { 0.90, 0.62, 0.00 }, { 0.20, 0.20, 0.20 },
};

static void
widen(double v, double *low, double *high)
{
	if (!isfinite(v))
		return;
	*low = fmin(*low, v);
	*high = fmax(*high, v);
}

/* The range of x or y of all points that are drawn, with a margin for y. */
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

/* Ticks, numbers and lines of the grid along x or y. */
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

/* A line through the points, with gaps where a coordinate is NaN. */
static void
draw_curve(const struct plot *plot, const struct axes *axes, size_t c)
{
	const struct plot_curve *curve = &plot->curve[c];
	bool pen_down = false;

	use_colour(axes->cr, plot->first_colour + c);
	libcairo.set_line_width(axes->cr, c < plot->wide ? 3.5 : 1.3);
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

/* The names of the curves; without room for all, the first ones and the number of others. */
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
		use_colour(axes->cr, plot->first_colour + c);
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
draw_plot(const struct plot *plot, struct axes *axes)
{
	cairo_t *cr = axes->cr;

	axes->top = plot->top;
	axes->right = plot->right;
	axes->bottom = plot->bottom;
	axes->y_low = plot->y_low;
	axes->y_high = plot->y_high;
	if (isnan(plot->y_low))
		find_range(plot, true, &axes->y_low, &axes->y_high);
	draw_ticks(axes, false);
	draw_ticks(axes, true);
	drawing_labels(axes, plot->title, plot->x_label, plot->y_label);
	libcairo.save(cr);
	libcairo.rectangle(cr, axes->left, axes->top, axes->right - axes->left,
	    axes->bottom - axes->top);
	libcairo.clip(cr);
	for (size_t c = 0; c < plot->curves; c++)
		draw_curve(plot, axes, c);
	libcairo.restore(cr);
	drawing_frame(axes);
	draw_legend(plot, axes);
}

/* struct drawing's `draw`. */
static void
draw_page(const struct drawing *drawing, cairo_t *cr)
{
	const struct page *page = drawing->arg;
	struct axes axes = { .cr = cr, .left = LEFT };

	drawing_begin(cr);
	find_range(&page->plot[0], false, &axes.x_low, &axes.x_high);
	for (size_t i = 0; i < page->plots; i++)
		draw_plot(&page->plot[i], &axes);
}

/* ---- the line of a section ---- */

struct section {
	double x0, y0, x1, y1;		/* end points, pixels */
	size_t n;			/* samples */
};

/* The line of the options, or the middle row. -1 after fail() where it leaves the image. */
static int
choose_section(const struct parameters *p, const struct frame_head *head, struct section *section)
{
	double right = (double)head->w - 1, bottom = (double)head->h - 1, row = p->row;

	if (p->from.n) {
		*section =
		    (struct section){ p->from.v[0], p->from.v[1], p->to.v[0], p->to.v[1], 0 };
	} else if (!isnan(p->column)) {
		*section = (struct section){ p->column, 0, p->column, bottom, 0 };
	} else {
		row = isnan(row) ? floor(bottom / 2) : row;
		*section = (struct section){ 0, row, right, row, 0 };
	}
	if (fmin(fmin(section->x0, section->x1), fmin(section->y0, section->y1)) < 0 ||
	    fmax(section->x0, section->x1) > right || fmax(section->y0, section->y1) > bottom)
		return fail(NULL, "section from %g,%g to %g,%g leaves the image of %zu x %zu",
		    section->x0, section->y0, section->x1, section->y1, head->w, head->h);
	section->n =
	    1 + (size_t)ceil(hypot(section->x1 - section->x0, section->y1 - section->y0) - 1e-9);
	return 0;
}

/* Bilinear between the four pixels around; NaN where one with a weight is NaN. */
static double
sample(const struct frame *frame, size_t c, double x, double y)
{
	size_t x0 = (size_t)x, y0 = (size_t)y;
	double fx = x - (double)x0, fy = y - (double)y0, sum = 0;

	for (size_t j = 0; j < 2; j++)
		for (size_t i = 0; i < 2; i++) {
			double weight = (i ? fx : 1 - fx) * (j ? fy : 1 - fy);

			if (weight > 0)
				sum += weight * frame_floats(frame, c, y0 + j)[x0 + i];
		}
	return sum;
}

/* The place of sample i, in pixels. */
static void
place(const struct section *s, size_t i, double *x, double *y)
{
	double t = s->n > 1 ? (double)i / (double)(s->n - 1) : 0;

	*x = s->x0 + t * (s->x1 - s->x0);
	*y = s->y0 + t * (s->y1 - s->y0);
}

/* ---- names ---- */

/* The channels that are drawn: --channel, or the usual one of the first frame. */
static int
choose_channels(struct run *run, const struct frame_head *head)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const char *at = p->channel;
	size_t n = 1;

	for (const char *c = at; c && *c; c++)
		n += *c == ',';
	priv->name = must_alloc(n, sizeof(*priv->name));
	priv->channels = n;
	if (!at)
		memcpy(priv->name[0], head->channel[channel_usual(head)],
		    CHANNEL_NAME_SIZE);
	for (size_t i = 0; at && i < n; i++) {
		size_t length = strcspn(at, ",");

		if (length == 0 || length >= CHANNEL_NAME_SIZE)
			return fail_usage("--channel", "wants names with commas between, not "
			    "'%.60s'", p->channel);
		memcpy(priv->name[i], at, length);
		at += length + 1;
	}
	return 0;
}

/* Do all channels have the same unit? */
static bool
units_agree(const struct priv *priv, const struct frame_head *head)
{
	const char *first = channel_unit(head, priv->name[0]);

	for (size_t i = 1; i < priv->channels; i++) {
		const char *unit = channel_unit(head, priv->name[i]);

		if (!unit != !first || (unit && strcmp(unit, first)))
			return false;
	}
	return true;
}

/* "depth difference (mm)", "a, b (mm)", "a (mm), b (rad)" */
static char *
name_upright_axis(const struct priv *priv, bool difference, const struct frame_head *head)
{
	bool agree = units_agree(priv, head);
	struct text text;

	text_open(&text);
	for (size_t i = 0; i < priv->channels; i++) {
		const char *unit = channel_unit(head, priv->name[i]);
		bool last = i + 1 == priv->channels;

		fputs(priv->name[i], text.file);
		if (difference && (last || !agree))
			fputs(" difference", text.file);
		if (unit && (last || !agree))
			fprintf(text.file, " (%s)", unit);
		if (!last)
			fputs(", ", text.file);
	}
	return text_close(&text, NULL);
}

/* "distance (mm)", "column (px)", "point" */
static void
name_level_axis(struct priv *priv, const struct parameters *p, const struct frame_head *head)
{
	const char *along = p->from.n || p->abscissa == ABSCISSA_POINTS ? "distance" :
	    isnan(p->column) ? "column" : "row";
	const char *length = meta_get(&head->meta, "length_unit");
	const char *unit = p->abscissa == ABSCISSA_POINTS ? (length ? length : "") :
	    isnan(head->spacing[0]) ? "px" : head->unit;

	snprintf(priv->x_label, sizeof(priv->x_label), *unit ? "%s (%.40s)" : "%s", along, unit);
	if (head_is_table(head) && p->abscissa != ABSCISSA_POINTS)
		strcpy(priv->x_label, "point");
}

/* The name of a frame's file, without folder and suffix, if each file holds one frame and names
 * differ; else the frame's number. */
static char *
frame_label(const struct run *run, const struct priv *priv, size_t frame)
{
	const char *base[2] = { NULL, NULL };
	bool named = run->position == 0 && run->operands == priv->frames && priv->frames > 1;

	for (size_t i = 0; i < run->operands && named; i++) {
		base[0] = path_name(run->operand[i]);
		for (size_t j = 0; j < i && named; j++) {
			base[1] = path_name(run->operand[j]);
			named = strcspn(base[0], ".") != strcspn(base[1], ".") ||
			    strncmp(base[0], base[1], strcspn(base[0], "."));
		}
		named = named && strcspn(base[0], ".") > 0 && strcmp(base[0], "-");
	}
	if (!named)
		return must_format("%zu", frame + 1);
	base[0] = path_name(run->operand[frame]);
	return must_format("%.*s", (int)strcspn(base[0], "."), base[0]);
}

/* The name of curve i: from the labels "A,B,...", else that of its channel, its file or both. */
static char *
curve_label(const struct run *run, const struct priv *priv, const char *labels, size_t i)
{
	const char *p = labels, *name = priv->name[i % priv->channels];
	char *label, *frame;

	for (size_t k = 0; p && k < i; k++) {
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
	if (p)
		return must_format("%.*s", (int)strcspn(p, ","), p);
	if (priv->channels > 1 && priv->frames == 1)
		return must_strdup(name);
	frame = frame_label(run, priv, i / priv->channels);
	if (priv->channels == 1)
		return frame;
	label = must_format("%s %s", name, frame);
	free(frame);
	return label;
}

/* ---- curves ---- */

/* The level axis of a frame's samples by its pixels and their spacings. */
static void
measure_pixels(const struct parameters *p, const struct frame_head *head, const struct section *s,
    double *distance)
{
	double dx = isnan(head->spacing[0]) ? 1 : head->spacing[0];
	double dy = isnan(head->spacing[1]) ? 1 : head->spacing[1];

	for (size_t i = 0; i < s->n; i++) {
		double x, y;

		place(s, i, &x, &y);
		distance[i] = p->from.n ? hypot((x - s->x0) * dx, (y - s->y0) * dy) :
		    isnan(p->column) ? x * dx : y * dy;
	}
}

static bool
known(const double point[2])
{
	return isfinite(point[0]) && isfinite(point[1]);
}

/* The direction of largest variance, a unit vector. False: there is no variance. */
static bool
find_direction(const double (*point)[2], size_t n, double direction[2])
{
	double mean[2] = { 0, 0 }, xx = 0, xy = 0, yy = 0, angle;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (known(point[i])) {
			count++;
			for (int k = 0; k < 2; k++)
				mean[k] += (point[i][k] - mean[k]) / (double)count;
		}
	for (size_t i = 0; i < n; i++)
		if (known(point[i])) {
			double x = point[i][0] - mean[0], y = point[i][1] - mean[1];

			xx += x * x;
			xy += x * y;
			yy += y * y;
		}
	angle = atan2(2 * xy, xx - yy) / 2;
	direction[0] = cos(angle);
	direction[1] = sin(angle);
	return count < 2 || xx + yy > 0;
}

/*
 * The section seen from above: projects each point's x, y onto the straight line that fits them
 * best, by least squares of the distances from it, from the first finite point towards the last.
 * The sum of steps from point to point would be longer, by their noise; so a plot of z has the
 * object's own widths and slopes. NaN where a point is NaN. -1 after fail() where all points are at
 * one place.
 */
static int
distance_along(const double (*point)[2], size_t n, double *distance)
{
	size_t first = 0, last = n;
	double direction[2], sign;

	if (!find_direction(point, n, direction))
		return fail("--abscissa", "all points of the section are at one place");
	while (first < n && !known(point[first]))
		first++;
	while (last > first && !known(point[last - 1]))
		last--;
	for (size_t i = 0; i < n; i++)
		distance[i] = NAN;
	if (first == last)
		return 0;
	sign = direction[0] * (point[last - 1][0] - point[first][0]) +
	    direction[1] * (point[last - 1][1] - point[first][1]) < 0 ? -1 : 1;
	for (size_t i = first; i < last; i++)
		if (known(point[i]))
			distance[i] = sign * (direction[0] * (point[i][0] - point[first][0]) +
			    direction[1] * (point[i][1] - point[first][1]));
	return 0;
}

/* The same by the channels x and y. -1 after fail(). */
static int
measure_points(const struct run *run, const struct frame *frame, const struct section *s,
    double *distance)
{
	size_t channel[2];
	double *point;
	int status;

	if (run_channel(run, &frame->head, "x", &channel[0]) < 0 ||
	    run_channel(run, &frame->head, "y", &channel[1]) < 0)
		return -1;
	point = must_alloc(s->n, 2 * sizeof(*point));
	for (size_t i = 0; i < s->n; i++) {
		double x, y;

		place(s, i, &x, &y);
		for (int k = 0; k < 2; k++)
			point[2 * i + (size_t)k] = sample(frame, channel[k], x, y);
	}
	status = distance_along((const double (*)[2])point, s->n, distance);
	free(point);
	return status;
}

/* A curve without a label, which depends on the number of curves. */
static struct plot_curve *
new_curve(struct priv *priv, size_t n)
{
	struct plot_curve *curve;

	priv->curve = must_resize(priv->curve, priv->curves + 1, sizeof(*priv->curve));
	curve = &priv->curve[priv->curves++];
	*curve = (struct plot_curve){ NULL, must_alloc(n, sizeof(double)),
		must_alloc(n, sizeof(double)), n };
	return curve;
}

/* Warns of values that are not drawn because their place along the section is not known. */
static void
warn_of_lost_points(const struct plot_curve *curve, const char *channel)
{
	size_t lost = 0, n = 0;

	for (size_t i = 0; i < curve->n; i++) {
		n += isfinite(curve->y[i]) != 0;
		lost += isfinite(curve->y[i]) && !isfinite(curve->x[i]);
	}
	if (lost)
		warn("--abscissa", "%zu of %zu values of %s have no x and y, and are not drawn",
		    lost, n, channel);
}

/* Warns, once, where a channel has no value on the line, so that it has no curve. */
static void
warn_of_empty_line(struct priv *priv, const struct plot_curve *curve, const struct section *s,
    const char *channel)
{
	char where[40];

	for (size_t i = 0; i < curve->n; i++)
		if (isfinite(curve->y[i]))
			return;
	snprintf(where, sizeof(where), "frame %zu", priv->frames);
	if (!priv->warned)
		warn(where, "%s has no value on the line from %g,%g to %g,%g: --row, --column or "
		    "--from and --to choose another", channel, s->x0, s->y0, s->x1, s->y1);
	priv->warned = true;
}

/* Warns where --range shows nothing of the curves from number `first` on. */
static void
warn_of_range(const struct priv *priv, size_t first, const double range[2])
{
	double low = INFINITY, high = -INFINITY;

	for (size_t k = first; k < priv->curves; k++)
		for (size_t i = 0; i < priv->curve[k].n; i++) {
			double y = priv->curve[k].y[i];

			if (y >= range[0] && y <= range[1])
				return;
			low = isfinite(y) ? fmin(low, y) : low;
			high = isfinite(y) ? fmax(high, y) : high;
		}
	if (low <= high)
		warn("--range", "no value lies within %g to %g: they go from %.4g to %.4g",
		    range[0], range[1], low, high);
}

/* Samples one channel along the section, minus the first frame's curve where that is asked for. */
static int
add_curve(struct run *run, const struct frame *frame, const struct section *s, const char *name)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	size_t c;
	struct plot_curve *curve;

	if (run_channel(run, &frame->head, name, &c) < 0)
		return -1;
	curve = new_curve(priv, s->n);
	if (p->abscissa == ABSCISSA_POINTS && measure_points(run, frame, s, curve->x) < 0)
		return -1;
	if (p->abscissa != ABSCISSA_POINTS)
		measure_pixels(p, &frame->head, s, curve->x);
	for (size_t i = 0; i < s->n; i++) {
		double x, y;

		place(s, i, &x, &y);
		curve->y[i] = sample(frame, c, x, y);
		if (p->difference && priv->curves > priv->channels)
			curve->y[i] -= priv->curve[(priv->curves - 1) % priv->channels].y[i];
	}
	warn_of_lost_points(curve, name);
	warn_of_empty_line(priv, curve, s, name);
	return 0;
}

/* Adds the curves of one frame. */
static int
add_section(struct run *run, const struct frame *frame)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const struct frame_head *head = &frame->head;
	struct section s;

	if (priv->frames == 0 && choose_channels(run, head) < 0)
		return -1;
	if (choose_section(p, head, &s) < 0)
		return -1;
	if ((p->difference || p->panels) && priv->frames && s.n != priv->curve[0].n)
		return fail(NULL,
		    "a difference needs sections of the same length, not %zu and %zu samples",
		    priv->curve[0].n, s.n);
	for (size_t i = 0; i < priv->channels; i++)
		if (add_curve(run, frame, &s, priv->name[i]) < 0)
			return -1;
	if (priv->frames++ > 0)
		return 0;
	name_level_axis(priv, p, head);
	priv->y_label = name_upright_axis(priv, p->difference, head);
	priv->difference_label = p->panels ? name_upright_axis(priv, true, head) : NULL;
	return 0;
}

#define UPPER_SHARE 0.6	/* of the height, of two panels */

/* The number of labels in "A,B,...". */
static size_t
label_count(const char *labels)
{
	size_t n = labels != NULL;

	for (const char *p = labels; p && *p; p++)
		n += *p == ',';
	return n;
}

/* The lower panel: what each frame's curves are more than those of the first. They keep their
 * colours and names. */
static void
set_lower_plot(struct page *page, const struct priv *priv)
{
	struct plot *upper = &page->plot[0], *lower = &page->plot[1];
	struct plot_curve *curve = must_alloc(priv->curves, sizeof(*curve));
	double page_bottom = upper->bottom;

	for (size_t k = priv->channels; k < priv->curves; k++) {
		const struct plot_curve *of = &priv->curve[k % priv->channels];
		struct plot_curve *to = &curve[k - priv->channels];

		*to = priv->curve[k];
		to->y = must_alloc(to->n, sizeof(*to->y));
		for (size_t i = 0; i < to->n; i++)
			to->y[i] = priv->curve[k].y[i] - of->y[i];
	}
	upper->bottom = upper->top + UPPER_SHARE * (page_bottom - upper->top) - 2 * FONT;
	upper->x_label = NULL;
	upper->wide = priv->channels;
	*lower = (struct plot){ .x_label = priv->x_label, .y_label = priv->difference_label,
		.y_low = NAN, .top = upper->bottom + 3 * FONT, .right = upper->right,
		.bottom = page_bottom, .curve = curve, .curves = priv->curves - priv->channels,
		.first_colour = priv->channels };
	page->plots = 2;
}

/* struct body's `end`. */
static int
draw_sections(struct run *run)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	size_t first = p->difference ? priv->channels : 0, names = label_count(p->labels);
	struct page page = { .plots = 1 };
	struct plot *plot = &page.plot[0], *lower = &page.plot[1];
	struct drawing drawing = { draw_page, &page, p->size.w, p->size.h };
	int status;

	if (names > priv->curves)
		return fail("--labels", "%zu names for %zu %s", names, priv->curves,
		    priv->channels > 1 ? "curves" : "frames");
	if (priv->frames < (p->difference || p->panels ? 2 : 1))
		return fail(NULL, p->difference || p->panels ? "a difference needs two frames" :
		    "no frame to plot");
	for (size_t i = 0; i < priv->curves; i++)
		priv->curve[i].label = curve_label(run, priv, p->labels, i);
	*plot = (struct plot){ .title = p->title, .x_label = priv->x_label,
		.y_label = priv->y_label, .y_low = NAN, .y_high = NAN,
		.top = p->title ? 2.6 * FONT : FONT, .right = (double)p->size.w - RIGHT,
		.bottom = (double)p->size.h - BOTTOM, .curve = priv->curve + first,
		.curves = priv->curves - first };
	if (p->range.n) {
		plot->y_low = p->range.v[0];
		plot->y_high = p->range.v[1];
		warn_of_range(priv, first, p->range.v);
	}
	if (p->panels)
		set_lower_plot(&page, priv);
	status = drawing_save(&drawing, run->output);
	for (size_t i = 0; i < lower->curves; i++)
		free(lower->curve[i].y);
	free((void *)lower->curve);
	return status;
}

static int
take_frame(struct run *run, struct frame *in)
{
	int status = add_section(run, in);

	frame_free(in);
	return status;
}

static const struct body maps = { .frame = map_take, .end = map_end };
static const struct body sections = { .frame = take_frame, .end = draw_sections };

/* ---- options at the start ---- */

/* Checks options that need --map, or that it refuses. */
static int
check_map(const struct parameters *p)
{
	float rgb[3];

	if (!p->map)
		return p->colormap >= 0 || p->nan.n ? fail_usage(p->nan.n ? "--nan-colour" :
		    "--colormap", "needs --map") : 0;
	if (p->from.n || !isnan(p->row) || !isnan(p->column))
		return fail_usage("--map", "draws the whole image: --row, --column and --from do "
		    "not go with it");
	if (p->labels || p->panels || p->abscissa != ABSCISSA_PIXELS)
		return fail_usage("--map", "--labels, --panels and --abscissa are for curves");
	if (p->channel && strchr(p->channel, ','))
		return fail_usage("--map", "draws one channel, not %s", p->channel);
	if (p->size.w < MIN_MAP_W || p->size.h < MIN_MAP_H)
		return fail_usage("--size", "must be %dx%d at least for a map", MIN_MAP_W,
		    MIN_MAP_H);
	if (p->range.n && p->colormap >= 0)
		colormap_check_white((enum colormap)p->colormap, "--range", p->range.v[0],
		    p->range.v[1]);
	return colormap_nan(COLORMAP_GRAY, "--nan-colour", &p->nan, rgb);
}

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;

	run->body = p->map ? &maps : &sections;
	if (!run->output || !drawing_takes(run->output))
		return fail_usage(run->output, "needs -o FILE.svg, FILE.png or FILE.pdf");
	if (p->from.n != p->to.n)
		return fail_usage("--from", "and --to want X,Y each");
	if (p->panels && p->difference)
		return fail_usage("--panels", "draws the differences, too: leave out --difference");
	if ((p->from.n > 0) + !isnan(p->row) + !isnan(p->column) > 1)
		return fail_usage(NULL, "one of --row, --column, --from can be given");
	if (p->range.n && !(p->range.v[0] < p->range.v[1]))
		return fail_usage("--range", "wants two numbers, the first one smaller");
	if (p->range.n && !ticks_range_fits(p->range.v[0], p->range.v[1]))
		return fail_usage("--range", "%.17g to %.17g is too narrow or too wide a range",
		    p->range.v[0], p->range.v[1]);
	if (p->size.w < 160 || p->size.h < 120 || p->size.w > 20000 || p->size.h > 20000)
		return fail_usage("--size", "must be 160x120 to 20000x20000");
	return check_map(p);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	for (size_t i = 0; i < priv->curves; i++)
		free_all(priv->curve[i].label, priv->curve[i].x, priv->curve[i].y);
	free_all(priv->curve, priv->name, priv->y_label, priv->difference_label);
	frame_free(priv->first);
}

const struct stage stage_frameplot = {
	.name = "frameplot",
	.summary = "cross-sections of frames as a plot with axes",
	.options = options,
	.usual = "row column from to channel difference panels map",
	STAGE_MEMORY(priv),
	.traits = STAGE_SINK | STAGE_TABLES | STAGE_UNITS,
	.init = init,
	.release = end,
};
