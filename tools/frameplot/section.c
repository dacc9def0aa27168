/* Cross-sections: the curves of the channels of each frame along a line. */
#define _GNU_SOURCE
#include "section.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "channel.h"
#include "distance.h"

struct section {
	double x0, y0, x1, y1;		/* end points, pixels */
	size_t n;			/* samples */
};

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

/* Bilinear between the four pixels around; NaN if one that counts is NaN. */
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
	priv->name = calloc(n, sizeof(*priv->name));
	if (!priv->name)
		return fail_memory();
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
static int
name_upright_axis(struct priv *priv, const struct parameters *p, const struct frame_head *head)
{
	bool agree = units_agree(priv, head);
	struct text text = { 0 };

	if (!text_open(&text))
		return -1;
	for (size_t i = 0; i < priv->channels; i++) {
		const char *unit = channel_unit(head, priv->name[i]);
		bool last = i + 1 == priv->channels;

		fputs(priv->name[i], text.file);
		if (p->difference && (last || !agree))
			fputs(" difference", text.file);
		if (unit && (last || !agree))
			fprintf(text.file, " (%s)", unit);
		if (!last)
			fputs(", ", text.file);
	}
	priv->y_label = text_close(&text, NULL);
	return priv->y_label ? 0 : -1;
}

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

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The name of a frame's file, without folder and suffix, if each holds one frame and no two have
 * the same; else its number. */
static char *
frame_label(const struct run *run, const struct priv *priv, size_t frame)
{
	const char *base[2] = { NULL, NULL };
	char *label;
	bool named = run->position == 0 && run->operands == priv->frames && priv->frames > 1;

	for (size_t i = 0; i < run->operands && named; i++) {
		base[0] = base_name(run->operand[i]);
		for (size_t j = 0; j < i && named; j++) {
			base[1] = base_name(run->operand[j]);
			named = strcspn(base[0], ".") != strcspn(base[1], ".") ||
			    strncmp(base[0], base[1], strcspn(base[0], "."));
		}
		named = named && strcspn(base[0], ".") > 0 && strcmp(base[0], "-");
	}
	if (!named)
		return asprintf(&label, "%zu", frame + 1) < 0 ? NULL : label;
	base[0] = base_name(run->operand[frame]);
	return strndup(base[0], strcspn(base[0], "."));
}

/* "A,B,...": the name of curve number i; else that of its file, and of several channels its own. */
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
		return strndup(p, strcspn(p, ","));
	if (priv->channels > 1 && priv->frames == 1)
		return strdup(name);
	frame = frame_label(run, priv, i / priv->channels);
	if (!frame || priv->channels == 1)
		return frame;
	if (asprintf(&label, "%s %s", name, frame) < 0)
		label = NULL;
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
	point = calloc(s->n, 2 * sizeof(*point));
	if (!point)
		return fail_memory();
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

/* A curve without its label, which needs to know how many there are. */
static struct plot_curve *
new_curve(struct priv *priv, size_t n)
{
	struct plot_curve *more = reallocarray(priv->curve, priv->curves + 1, sizeof(*more));
	struct plot_curve *curve;

	if (!more) {
		fail_memory();
		return NULL;
	}
	priv->curve = more;
	curve = &more[priv->curves++];
	*curve = (struct plot_curve){ NULL, calloc(n, sizeof(double)), calloc(n, sizeof(double)),
		n };
	if (curve->x && curve->y)
		return curve;
	fail_memory();
	return NULL;
}

/* Warns of points that are not drawn, as their place along the section is not known. */
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

/* Warns, once, of a line without any value of a channel: its curve is not there. */
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

/* Warns where --range leaves nothing to be seen of all curves from number `first` on. */
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
	if (!curve)
		return -1;
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

int
section_add(struct run *run, const struct frame *frame)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const struct frame_head *head = &frame->head;
	struct section s;

	if (priv->frames == 0 && choose_channels(run, head) < 0)
		return -1;
	if (choose_section(p, head, &s) < 0)
		return -1;
	if (p->difference && priv->frames && s.n != priv->curve[0].n)
		return fail(NULL,
		    "a difference needs sections of the same length, not %zu and %zu samples",
		    priv->curve[0].n, s.n);
	for (size_t i = 0; i < priv->channels; i++)
		if (add_curve(run, frame, &s, priv->name[i]) < 0)
			return -1;
	if (priv->frames++ > 0)
		return 0;
	name_level_axis(priv, p, head);
	return name_upright_axis(priv, p, head);
}

static size_t
label_count(const char *labels)
{
	size_t n = labels != NULL;

	for (const char *p = labels; p && *p; p++)
		n += *p == ',';
	return n;
}

int
section_draw(struct run *run)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	size_t first = p->difference ? priv->channels : 0, names = label_count(p->labels);
	struct plot plot = { .title = p->title,
		.x_label = priv->x_label,
		.y_label = priv->y_label,
		.x_low = NAN,
		.x_high = NAN,
		.y_low = NAN,
		.y_high = NAN,
		.w = p->size.w,
		.h = p->size.h };

	if (names > priv->curves)
		return fail("--labels", "%zu names for %zu %s", names, priv->curves,
		    priv->channels > 1 ? "curves" : "frames");
	if (priv->frames < 1 + (size_t)p->difference)
		return fail(
		    NULL, p->difference ? "a difference needs two frames" : "no frame to plot");
	for (size_t i = 0; i < priv->curves; i++) {
		priv->curve[i].label = curve_label(run, priv, p->labels, i);
		if (!priv->curve[i].label)
			return fail_memory();
	}
	plot.curve = priv->curve + first;
	plot.curves = priv->curves - first;
	if (p->range.n) {
		plot.y_low = p->range.v[0];
		plot.y_high = p->range.v[1];
		warn_of_range(priv, first, p->range.v);
	}
	return plot_save(&plot, run->output);
}

void
section_free(struct priv *priv)
{
	for (size_t i = 0; i < priv->curves; i++) {
		free(priv->curve[i].label);
		free(priv->curve[i].x);
		free(priv->curve[i].y);
	}
	free(priv->curve);
	free(priv->name);
	free(priv->y_label);
}
