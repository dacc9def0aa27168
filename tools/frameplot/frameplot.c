/* Cross-sections of one or several frames, as a line plot. */
#define _GNU_SOURCE
#include "image/quantity.h"
#include "plot.h"
#include "run/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parameters {
	double row, column;
	struct numbers from, to, range;
	const char *channel, *title, *labels;
	struct opt_size size;
	bool difference;
};

struct priv {
	struct plot_curve *curve;
	size_t curves;
	char x_label[64], y_label[CHANNEL_NAME_SIZE + 32];
};

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 'r', "row", "Y", OPT_NUMBER, AT(row), NULL, 0, INFINITY, "px",
	    "section along this row; the middle one if nothing is said", NULL },
	{ 'x', "column", "X", OPT_NUMBER, AT(column), NULL, 0, INFINITY, "px",
	    "section along this column", NULL },
	{ 0, "from", "X,Y", OPT_NUMBERS, AT(from), NULL, 0, 0, "px", "section from this point",
	    NULL },
	{ 0, "to", "X,Y", OPT_NUMBERS, AT(to), NULL, 0, 0, "px", "to this one", NULL },
	{ 'c', "channel", "NAME", OPT_TEXT, AT(channel), NULL, 0, 0, NULL,
	    "channel to plot; depth, z, absphase or else the first if not given", NULL },
	{ 'D', "difference", NULL, OPT_FLAG, AT(difference), NULL, 0, 0, NULL,
	    "plot each frame minus the first one", NULL },
	{ 0, "range", "LOW,HIGH", OPT_NUMBERS, AT(range), NULL, 0, 0, NULL,
	    "range of the upright axis", NULL },
	{ 't', "title", "TEXT", OPT_TEXT, AT(title), NULL, 0, 0, NULL, "text above the plot",
	    NULL },
	{ 'l', "labels", "A,B,...", OPT_TEXT, AT(labels), NULL, 0, 0, NULL,
	    "names of the curves, separated by commas", NULL },
	{ 's', "size", "WxH", OPT_SIZE, AT(size), "800x450", 0, 0, "px", "size of the picture",
	    NULL },
	{ 0 },
};

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

static int
choose_channel(const struct run *run, const struct frame_head *head, size_t *c)
{
	static const char *const usual[] = { "depth", "z", "absphase", NULL };
	const struct parameters *p = run->parameters;

	if (p->channel)
		return run_channel(run, head, p->channel, c);
	for (size_t i = 0; usual[i]; i++) {
		*c = head_channel(head, usual[i]);
		if (*c != NO_CHANNEL)
			return 0;
	}
	*c = 0;
	return 0;
}

/* Lengths of unknown unit are taken for mm. */
static const char *
unit_of(const struct frame_head *head, const char *channel)
{
	const char *unit = quantity_unit(head, channel);

	return unit || !quantity_is_length(channel) ? unit : "mm";
}

static void
name_axes(struct priv *priv, const struct parameters *p, const struct frame_head *head, size_t c)
{
	const char *unit = unit_of(head, head->channel[c]);
	const char *along = p->from.n ? "distance" : isnan(p->column) ? "column" : "row";

	snprintf(priv->x_label, sizeof(priv->x_label), "%s (%s)", along,
	    *head->unit && !isnan(head->spacing[0]) ? head->unit : "px");
	if (head_is_table(head))
		strcpy(priv->x_label, "point");
	snprintf(priv->y_label, sizeof(priv->y_label), "%s%s%s%s%s", head->channel[c],
	    p->difference ? " difference" : "", unit ? " (" : "", unit ? unit : "",
	    unit ? ")" : "");
}

/* "A,B,...": the name of curve number i, or "1", "2", ... */
static char *
curve_label(const char *labels, size_t i)
{
	const char *p = labels;
	char *label;

	for (size_t k = 0; p && k < i; k++) {
		p = strchr(p, ',');
		p = p ? p + 1 : NULL;
	}
	if (p)
		return strndup(p, strcspn(p, ","));
	return asprintf(&label, "%zu", i + 1) < 0 ? NULL : label;
}

static int
add_curve(struct run *run, const struct frame *frame)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const struct frame_head *head = &frame->head;
	struct plot_curve *more, *curve;
	struct section s;
	size_t c;
	double dx, dy;

	if (choose_channel(run, head, &c) < 0 || choose_section(p, head, &s) < 0)
		return -1;
	more = reallocarray(priv->curve, priv->curves + 1, sizeof(*more));
	if (!more)
		return fail_memory();
	priv->curve = more;
	if (p->difference && priv->curves && s.n != more[0].n)
		return fail(NULL,
		    "a difference needs sections of the same length, not %zu and %zu samples",
		    more[0].n, s.n);
	curve = &more[priv->curves++];
	*curve = (struct plot_curve){ curve_label(p->labels, priv->curves - 1),
		calloc(s.n, sizeof(double)), calloc(s.n, sizeof(double)), s.n };
	if (!curve->label || !curve->x || !curve->y)
		return fail_memory();
	dx = isnan(head->spacing[0]) ? 1 : head->spacing[0];
	dy = isnan(head->spacing[1]) ? 1 : head->spacing[1];
	for (size_t i = 0; i < s.n; i++) {
		double t = s.n > 1 ? (double)i / (double)(s.n - 1) : 0;
		double x = s.x0 + t * (s.x1 - s.x0), y = s.y0 + t * (s.y1 - s.y0);

		curve->y[i] = sample(frame, c, x, y);
		curve->x[i] = p->from.n ? hypot((x - s.x0) * dx, (y - s.y0) * dy) :
		    isnan(p->column) ? x * dx : y * dy;
		if (p->difference && priv->curves > 1)
			curve->y[i] -= more[0].y[i];
	}
	if (priv->curves == 1)
		name_axes(priv, p, head, c);
	return 0;
}

static size_t
label_count(const char *labels)
{
	size_t n = labels != NULL;

	for (const char *p = labels; p && *p; p++)
		n += *p == ',';
	return n;
}

static int
draw(struct run *run)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	size_t first = p->difference, names = label_count(p->labels);
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
		return fail("--labels", "%zu names for %zu frames", names, priv->curves);
	if (priv->curves <= first)
		return fail(
		    NULL, p->difference ? "a difference needs two frames" : "no frame to plot");
	plot.curve = priv->curve + first;
	plot.curves = priv->curves - first;
	if (p->range.n) {
		plot.y_low = p->range.v[0];
		plot.y_high = p->range.v[1];
	}
	return plot_save(&plot, run->output);
}

static int
take_frame(struct run *run, struct frame *in)
{
	int status = add_curve(run, in);

	frame_free(in);
	return status;
}

static const struct body body = { .frame = take_frame, .end = draw };

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;

	run->body = &body;
	if (!run->output || !plot_takes(run->output))
		return fail_usage(run->output, "needs -o FILE.svg or -o FILE.png");
	if ((p->from.n || p->to.n) && (p->from.n != 2 || p->to.n != 2))
		return fail_usage("--from", "and --to want X,Y each");
	if ((p->from.n > 0) + !isnan(p->row) + !isnan(p->column) > 1)
		return fail_usage(NULL, "one of --row, --column, --from can be given");
	if (p->range.n && (p->range.n != 2 || !(p->range.v[0] < p->range.v[1])))
		return fail_usage("--range", "wants two numbers, the first one smaller");
	if (p->size.w < 160 || p->size.h < 120 || p->size.w > 20000 || p->size.h > 20000)
		return fail_usage("--size", "must be 160x120 to 20000x20000");
	return 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	for (size_t i = 0; i < priv->curves; i++) {
		free(priv->curve[i].label);
		free(priv->curve[i].x);
		free(priv->curve[i].y);
	}
	free(priv->curve);
}

STAGE(frameplot) = {
	.name = "frameplot",
	.summary = "cross-sections of frames as a plot with axes",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_SINK | STAGE_TABLES,
	.init = init,
	.release = end,
};
