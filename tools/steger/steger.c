/* Centres of laser lines, to a small part of a pixel. */
#include "run/stage.h"

#include <string.h>

#include "plausible.h"
#include "points.h"
#include "sharp.h"
#include "steger.h"
#include "steger_loops.h"

/* ---- a frame ---- */

static struct line_plane
plane_of(const struct frame *frame, size_t c)
{
	const struct plane *plane = &frame->plane[c];

	return (struct line_plane){ frame_row(frame, c, 0), plane->stride, plane->type };
}

static int
set_thresholds(struct run *run, const struct line_image *image)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;

	if (priv->thresholds_set)
		return 0;
	if (priv->automatic) {
		if (line_noise(image, &priv->noise) < 0)
			return -1;
		priv->noise = fmax(priv->noise, line_noise_least(image));
		priv->line.high = line_threshold(priv->noise, priv->line.sigma);
		priv->line.low = isnan(parameters->low) ? priv->line.high : parameters->low;
		if (priv->line.low > priv->line.high)
			return fail("--low", "%g is above the threshold that the noise of %g grey "
			    "levels gives, %g", priv->line.low, priv->noise, priv->line.high);
	}
	line_finder_set_thresholds(priv->finder, priv->line.low, priv->line.high);
	priv->thresholds_set = true;
	if (run->verbose && priv->automatic)
		note(NULL, "noise of %g grey levels: threshold %g", priv->noise, priv->line.high);
	return 0;
}

static void
warn_of_pairs(struct run *run, const struct line_image *image, const struct line_points *points)
{
	struct priv *priv = run->priv;
	double distance;

	if (priv->pairs_warned || !line_points_paired(priv->finder, image, points, &distance))
		return;
	priv->pairs_warned = true;
	warn(NULL, "points come in pairs %.1f px apart, as at the edges of a line that is too wide "
	    "for sigma %g: try --sigma %.1f", distance, priv->line.sigma,
	    steger_sigma_for_edges(distance, priv->line.sigma));
}

static int
find_points(struct run *run, struct frame *in, const struct line_image *image,
    struct line_points *points)
{
	struct priv *priv = run->priv;
	bool made;

	if (steger_find_on_device(run, in, image, points, &made) < 0)
		return -1;
	return made ? 0 : line_find(priv->finder, run, image, points);
}

/* The first image, and the first one that has points. */
static int
check(struct run *run, const struct line_image *image, const struct line_points *points)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct plausible with = { &priv->line, priv->automatic, parameters->per_row,
		parameters->per_column, parameters->channel };

	if (priv->frames == 0 && image->background.v &&
	    plausible_background(image, priv->noise) < 0)
		return -1;
	if (priv->points || !points->n || priv->pairs_warned)
		return 0;
	return plausible_points(run, priv->finder, image, points, &with);
}

static int
find(struct run *run, struct frame *in, struct frame **out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct line_image image = { .w = in->head.w, .h = in->head.h, .dark = parameters->dark };
	struct line_points points;
	double strongest;

	image.image = plane_of(in, priv->channel);
	if (priv->background != NO_CHANNEL)
		image.background = plane_of(in, priv->background);
	if (set_thresholds(run, &image) < 0 || find_points(run, in, &image, &points) < 0)
		return -1;
	if (parameters->sharp)
		sharp_correct(run, &priv->kernels, parameters->width, &points);
	warn_of_pairs(run, &image, &points);
	if (check(run, &image, &points) < 0)
		return -1;
	priv->points += points.n;
	priv->found += points.found;
	if (!priv->points) {
		if (line_strongest(priv->finder, run, &image, &strongest) < 0)
			return -1;
		if (strongest > priv->strongest && plausible_other(run, priv->finder, &image,
			strongest, &priv->other) < 0)
			return -1;
		priv->strongest = fmax(priv->strongest, strongest);
	}
	if (steger_set_keys(&priv->out.meta, &priv->line, &image, priv->noise) < 0)
		return -1;
	if (parameters->per_row || parameters->per_column)
		return points_per_line(&points, parameters->per_column, &image, &priv->out, out);
	return points_table(&points, &priv->out, out);
}

static int
take_frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	struct frame *out = NULL;
	int status = find(run, in, &out);

	frame_free(in);
	if (status < 0)
		return -1;
	priv->frames++;
	return run_emit(run, out);
}

static int
end(struct run *run)
{
	const struct priv *priv = run->priv;

	if (!priv->frames || priv->points)
		return 0;
	if (priv->other > priv->line.high)
		return fail(NULL, "no point in any image: the strongest response is %.3g grey "
		    "levels per px^2, --threshold %.3g, and that of %s line %.3g: --dark%s",
		    priv->strongest, priv->line.high, ((const struct parameters *)
		    run->parameters)->dark ? "a bright" : "a dark", priv->other,
		    priv->background != NO_CHANNEL ? ", or is --background the image?" : "");
	if (priv->strongest > priv->line.high && !priv->found)
		return fail(NULL, "no point in any image: responses reach %.3g, but at the edges "
		    "of something wider than %.3g px; --sigma", priv->strongest,
		    2 * sqrt(3) * priv->line.sigma);
	if (priv->strongest > priv->line.high)
		return fail(NULL, "no point in any image: lines above the threshold of %.3g have "
		    "fewer than %zu points; --min-length", priv->line.high, priv->line.min_length);
	return fail(NULL, "no point in any image: the strongest response is %.3g grey levels per "
	    "px^2, --threshold %.3g", priv->strongest, priv->line.high);
}

static const struct body body = { .frame = take_frame, .end = end, .passes = steger_passes };

/* ---- planning ---- */

static int
init(struct run *run)
{
	struct priv *priv = run->priv;

	run->body = &body;
	priv->noise = NAN;
	return steger_options(run, &priv->line, &priv->automatic) < 0 ||
	    derivative_kernels_init(&priv->kernels, priv->line.sigma, 0) < 0 ||
	    line_finder_new(&priv->line, &steger_loops, &priv->finder) < 0 ? -1 : 0;
}

static int
find_channels(struct run *run, const struct frame_head *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct frame_head *background = run_second_input_head(run, "background", 0);

	priv->background = NO_CHANNEL;
	if (steger_channel(run, in, parameters->channel, &priv->channel) < 0)
		return -1;
	if (!background)
		return 0;
	return run_second_input(run, in, "background",
	    background->c == 1 ? NULL : in->channel[priv->channel], &priv->background);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	struct priv *priv = run->priv;

	priv->role_warned = priv->role_warned || plausible_role(in);
	if (find_channels(run, in) < 0 || steger_check_roi(&priv->line, in) < 0)
		return -1;
	head_free(&priv->out);
	return points_head(out) < 0 ? -1 : head_copy(&priv->out, out);
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	line_finder_free(priv->finder);
	head_free(&priv->out);
}

STAGE(steger) = {
	.name = "steger",
	.summary = "centres of laser lines in images, to a small part of a pixel",
	.operands = "[FILE ...]",
	.options = steger_option_table,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_ANY_TYPE,
	.agree = AGREE_ABSOLUTE,
	.tolerance = 1e-4,	/* px; on a device that rounds as the processor does it is 0 */
	.init = init,
	.plan = plan,
	.release = release,
};
