#include "map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "channel.h"
#include "image/colormap.h"
#include "image/quantity.h"
#include "image/statistics.h"
#include "map_plot.h"

/* One channel of a frame as float samples of a new array, minus the first frame's. */
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
	*value = malloc(pixels * sizeof(**value));
	if (!*value)
		return fail_memory();
	for (size_t y = 0; y < h; y++)
		for (size_t x = 0; x < w; x++) {
			float v = frame_floats(frame, c, y)[x];

			(*value)[y * w + x] = priv->first ?
			    v - frame_floats(priv->first, first, y)[x] : v;
		}
	return 0;
}

/* Statistics of the finite values, which lose their order; magnitude: room for as many. */
static void
find_statistics(struct map_plot *plot, double *finite, double *magnitude)
{
	double sum = 0, squares = 0;
	size_t n = plot->valid;

	for (size_t i = 0; i < n; i++) {
		sum += finite[i];
		squares += finite[i] * finite[i];
		magnitude[i] = fabs(finite[i]);
	}
	plot->mean = sum / (double)n;
	plot->rms = sqrt(squares / (double)n);
	plot->median = statistics_quantile(finite, n, 0.5);
	plot->p95 = statistics_quantile(magnitude, n, 0.95);
}

/* The colours' range, and their map: diverging where there is something to diverge from. */
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

/* A map of one colour: none of the values, which lost their order, lies within the range. */
static void
warn_of_one_colour(const struct parameters *p, const struct map_plot *plot, const float *finite)
{
	float low = INFINITY, high = -INFINITY;

	if (plot->valid == 0)
		warn("--map", "%s has no value", plot->label);
	for (size_t i = 0; i < plot->valid; i++) {
		if (finite[i] >= plot->low && finite[i] <= plot->high)
			return;
		low = fminf(low, finite[i]);
		high = fmaxf(high, finite[i]);
	}
	if (plot->valid && p->range.n)
		warn("--range", "no value lies within %g to %g: they go from %.4g to %.4g",
		    plot->low, plot->high, (double)low, (double)high);
}

static int
survey(const struct parameters *p, struct map_plot *plot)
{
	size_t pixels = plot->columns * plot->rows;
	float *finite = malloc(pixels * sizeof(*finite));
	double *sorted = calloc(pixels, 2 * sizeof(*sorted));
	int status = finite && sorted ? 0 : fail_memory();

	for (size_t i = 0; i < pixels && status == 0; i++)
		if (isfinite(plot->value[i])) {
			sorted[plot->valid] = plot->value[i];
			finite[plot->valid++] = plot->value[i];
		}
	if (status == 0) {
		choose_colours(p, plot, finite);
		if (plot->valid)
			find_statistics(plot, sorted, sorted + pixels);
		warn_of_one_colour(p, plot, finite);
	}
	free(finite);
	free(sorted);
	return status;
}

static int
draw(struct run *run, const struct frame *frame)
{
	const struct parameters *p = run->parameters;
	const struct frame_head *head = &frame->head;
	const char *name = p->channel ? p->channel : head->channel[channel_usual(head)];
	const char *unit = quantity_unit(head, name);
	bool measured = head->spacing[0] > 0 && head->spacing[1] > 0;
	struct map_plot plot = { .title = p->title, .columns = head->w, .rows = head->h,
		.w = p->size.w, .h = p->size.h, .unit = unit ? unit : "",
		.spacing = { measured ? head->spacing[0] : 1, measured ? head->spacing[1] : 1 },
		.counts = !measured };
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
	status = survey(p, &plot);
	if (status == 0)
		status = colormap_nan(plot.colormap, "--nan-colour", &p->nan, plot.nan);
	if (status == 0)
		status = map_plot_save(&plot, run->output);
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
	    "framecat --frames chooses", p->difference ? " minus another" : "") : draw(run, in);
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
