/* Temporal phase unwrapping: absolute phase out of wrapped phases of several periods, or a Gray
 * code. */
#define _GNU_SOURCE
#include "fringe_line.h"
#include "residual_check.h"
#include "run/stage.h"
#include "temporal.h"
#include "unwrap2f.loops.h"
#include "unwrap2f.passes.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum method {
	METHOD_AUTO, METHOD_TWO, METHOD_HETERODYNE, METHOD_HIERARCHICAL, METHOD_GRAY, METHOD_BEST
};

struct parameters {
	struct temporal_options head;
	struct numbers line;
	bool fit_line;
	int method;
	double gray_offset, max_residual;
};

struct priv {
	enum method method;
	struct temporal_way way;
	struct temporal_search search;
	float max_residual;
	struct residuals residuals;	/* what they look like */
	size_t *passed;			/* the input channel of output channel c */
	struct fringe_line line;	/* --fit-line: what the planes seen so far say */
};

#define AT(field) offsetof(struct parameters, field)

static const char *const methods[] = {
	"auto", "two", "heterodyne", "hierarchical", "gray", "best", NULL
};
static const char *const axes[] = { "auto", "x", "y", NULL };
static const char *const cells[] = { "column", "period", "half", NULL };

static const struct opt options[] = {
	{ 'm', "method", "WORD", OPT_WORD, AT(method), "auto", 0, 0, NULL,
	    "how to find the fringe order", methods },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(head.period_px), NULL, 1e-3, 1e6, "projector px",
	    "period of every phase", NULL },
	{ 0, "count", "N,...", OPT_NUMBERS, AT(head.count), NULL, 1e-3, 1e6, "fringes",
	    "instead of the periods: fringes over the field, of every phase", NULL },
	{ 0, "field", "PX", OPT_NUMBER, AT(head.field_px), NULL, 1, 1e6, "projector px",
	    "width of the field along the axis", NULL },
	{ 'a', "axis", "WORD", OPT_WORD, AT(head.axis), "auto", 0, 0, NULL,
	    "phases to use; auto: those with the first one's axis", axes },
	{ 'u', "unwrap", "K", OPT_INTEGER, AT(head.unwrap), NULL, 1, 1000, NULL,
	    "unwrap phase K; if not given, the one of the shortest period", NULL },
	{ 0, "gray-cell", "WORD", OPT_WORD, AT(head.gray_cell), NULL, 0, 0, NULL,
	    "what the Gray code counts", cells },
	{ 0, "gray-offset", "DEG", OPT_ANGLE, AT(gray_offset), NULL, -360, 360, "degrees",
	    "edges of the Gray code lie at minus this phase; half a projector px if not given",
	    NULL },
	{ 'l', "line", "PX,DEG", OPT_NUMBERS, AT(line), NULL, 0, 0, NULL,
	    "a beat that repeats: its period in camera px, the offset of the lowest phase",
	    NULL },
	{ 0, "fit-line", NULL, OPT_FLAG, AT(fit_line), NULL, 0, 0, NULL,
	    "print --line from captures of a plane at the near and at the far end", NULL },
	{ 'r', "max-residual", "TURNS", OPT_NUMBER, AT(max_residual), "0.5", 0, 0.5, "periods",
	    "larger rounding errors make a pixel invalid", NULL },
	{ 0 },
};

/* The usual ladder; what is told of the residuals is told of those beyond the limit, too. */
static void
short_row(const struct priv *priv, const struct frame *in, struct frame *out, size_t y,
    uint count[RESIDUALS_BINS])
{
	float *absolute = frame_floats(out, 0, y), *residual = frame_floats(out, 1, y);

	climb_short(&priv->way, in, y, count ? FLT_MAX : priv->max_residual, absolute, residual);
	if (count) {
		residuals_add(&priv->residuals, 0, residual, NULL, in->head.w, count);
		limit(absolute, residual, priv->max_residual, in->head.w);
	}
}

static void
ladder_row(const struct priv *priv, const struct frame *in, struct frame *out, size_t y,
    uint count[RESIDUALS_BINS])
{
	struct tile tile;

	for (size_t x = 0, w = in->head.w; x < w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;

		memset(tile.bad, 0, sizeof(tile.bad));
		if (priv->method == METHOD_BEST)
			search(&priv->search, in, y, x, n, &tile);
		else
			climb_ladder(&priv->way, in, y, x, n, &tile);
		if (count)
			residuals_add(&priv->residuals, x, tile.residual, tile.bad, n, count);
		store(&tile, n, priv->max_residual, frame_floats(out, 0, y) + x,
		    frame_floats(out, 1, y) + x);
	}
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1)
{
	const struct priv *priv = run->priv;
	bool short_way = priv->method != METHOD_BEST && is_short(&priv->way);

	for (size_t y = y0; y < y1; y++) {
		bool wanted = residuals_wanted(&priv->residuals, y);
		uint count[RESIDUALS_BINS] = { 0 };

		if (short_way)
			short_row(priv, in, out, y, wanted ? count : NULL);
		else
			ladder_row(priv, in, out, y, wanted ? count : NULL);
		if (wanted)
			residuals_keep(&priv->residuals, y, count);
		for (size_t c = 2; c < out->head.c; c++)
			frame_pass(in, priv->passed[c], out, c, y);
	}
}

static void
after(struct run *run)
{
	struct priv *priv = run->priv;

	residuals_tell(&priv->residuals, "residual");
}

static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;

	return list_passes(passes, &priv->way, priv->method == METHOD_BEST ? &priv->search : NULL,
	    priv->max_residual);
}

static const struct body body = { .rows = rows, .after = after, .passes = passes };

/* ---- fitting the line: a plane per frame, text at the end ---- */

static int
fit_line(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	int status;

	if (!in)
		return fringe_line_print(&priv->line, run->output);
	status = fringe_line_add(&priv->line, in);
	frame_free(in);
	return status;
}

static const struct body body_line = { .flow = fit_line };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct numbers *line = &parameters->line;

	run->body = parameters->fit_line ? &body_line : &body;
	run->sink = parameters->fit_line;
	if (line->n && parameters->fit_line)
		return fail_usage(NULL, "give --line or --fit-line, not both");
	if (line->n && (line->n != 2 || line->v[0] == 0))
		return fail_usage("--line", "wants a period in camera px and an offset in degrees");
	return 0;
}

/* ---- planning ---- */

static int
choose_way(const struct parameters *parameters, const struct frame_head *in,
    const struct temporal *temporal, struct priv *priv)
{
	static const unsigned signals[] = {
		[METHOD_AUTO] = LADDER_PHASES | LADDER_BEATS, [METHOD_TWO] = LADDER_BEATS,
		[METHOD_HETERODYNE] = LADDER_BEATS, [METHOD_HIERARCHICAL] = LADDER_PHASES
	};
	const struct numbers *line = &parameters->line;

	if ((priv->method == METHOD_TWO || line->n || parameters->fit_line) &&
	    temporal->phases != 2)
		return fail(NULL, "%s is for two phases, the input has %zu",
		    parameters->fit_line ? "--fit-line" : line->n ? "--line" : "--method=two",
		    temporal->phases);
	if (parameters->fit_line)
		return fringe_line_plan(&priv->line, in, temporal);
	if (line->n)
		return temporal_way_line(temporal, in, line->v[0], line->v[1] * M_PI / 180,
		    &priv->way);
	if (priv->method == METHOD_GRAY)
		return temporal_way_gray(temporal, parameters->gray_offset, &priv->way);
	if (priv->method == METHOD_BEST)
		return temporal_search_plan(temporal, &priv->search);
	return temporal_way_ladder(temporal, signals[priv->method], &priv->way);
}

/* A code of periods leaves residuals of any size, however right it is; so does nothing at all. */
static int
plan_residuals(const struct temporal *temporal, const struct frame_head *in, struct priv *priv)
{
	bool best = priv->method == METHOD_BEST;

	if (priv->method == METHOD_GRAY && temporal->cell == GRAY_PERIOD)
		priv->residuals.off = true;
	return residuals_plan(&priv->residuals, in->w, in->h, best ? priv->search.chance : 0);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct temporal temporal;

	free(priv->passed);
	priv->passed = NULL;
	priv->method = (enum method)parameters->method;
	priv->max_residual = (float)parameters->max_residual;
	if (temporal_read(in, &parameters->head, &temporal) < 0)
		return -1;
	if (priv->method == METHOD_GRAY && temporal.index == NO_CHANNEL)
		return run_channel(run, in, "index", &temporal.index);
	if (priv->method == METHOD_AUTO && temporal.index != NO_CHANNEL && parameters->line.n == 0)
		priv->method = METHOD_GRAY;
	if (choose_way(parameters, in, &temporal, priv) < 0 ||
	    plan_residuals(&temporal, in, priv) < 0)
		return -1;
	if (temporal_output(&temporal, in, out, &priv->passed) < 0)
		return -1;
	for (size_t c = 2; c < out->c; c++)
		if (run_pass(run, c, priv->passed[c]) < 0)
			return -1;
	return 0;
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	free(priv->passed);
	residuals_free(&priv->residuals);
	fringe_line_free(&priv->line);
}

STAGE(unwrap2f) = {
	.name = "unwrap2f",
	.summary = "absolute phase out of wrapped phases of several periods, or a Gray code",
	.operands = "[FILE ...]",
	.advice = "--max-residual",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.end = end,
};
