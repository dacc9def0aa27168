/* Temporal phase unwrapping: absolute phase out of wrapped phases of several periods, or a Gray code. */
#define _GNU_SOURCE
#include "stage.h"
#include "temporal.h"
#include "unwrap2f.px.h"

#include <stdlib.h>
#include <string.h>

#define TILE 256	/* pixels of a row that go up the ladder together */

enum method { METHOD_AUTO, METHOD_TWO, METHOD_HETERODYNE, METHOD_HIERARCHICAL, METHOD_GRAY };

struct parameters {
	struct temporal_options head;
	struct numbers line;
	int method;
	double gray_offset, max_residual;
};

/* A signal of the ladder, ready for pixels. */
struct rung {
	size_t n, channel[LADDER_PHASES_MOST];
	float weight[LADDER_PHASES_MOST];
	float ratio;		/* period of the rung before / this one */
	float lo, hi;		/* the absolute phase of the field lies in [lo, hi) */
	float span;		/* turns in the field */
};

enum start { START_FIELD, START_LINE, START_PREDICTED, START_COUNTED };

struct priv {
	enum start start;
	size_t rungs;
	struct rung rung[LADDER_PHASES_MOST + 1];
	size_t index;			/* the Gray code's channel */
	float gray_step, gray_offset;	/* phase = step V + offset; COUNTED: the code's edge is at -offset */
	float line_slope[2], line_offset;	/* rad per column, per row */
	float max_residual;
	size_t *passed;			/* the input channel of output channel c */
};

#define AT(field) offsetof(struct parameters, field)

static const char *const methods[] = { "auto", "two", "heterodyne", "hierarchical", "gray", NULL };
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
	  "edges of the Gray code lie where the phase is minus this; half a projector px if not given",
	  NULL },
	{ 'l', "line", "PX,DEG", OPT_NUMBERS, AT(line), NULL, 0, 0, NULL,
	  "two periods whose beat repeats: its period in camera px and the offset of the lowest phase",
	  NULL },
	{ 'r', "max-residual", "TURNS", OPT_NUMBER, AT(max_residual), "0.5", 0, 0.5, "periods",
	  "larger rounding errors make a pixel invalid", NULL },
	{ 0 },
};

/* ---- pixels ---- */

struct tile {
	float signal[TILE], absolute[TILE], residual[TILE];
	uint bad[TILE];			/* a phase is missing */
};

static void
add_phase(const float *restrict phase, float weight, struct tile *restrict tile, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		tile->signal[i] += weight * phase[i];
		tile->bad[i] |= px_isnan(phase[i]);
	}
}

static void
wrap_signal(struct tile *restrict tile, size_t n)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++)
		tile->signal[i] = px_wrap(tile->signal[i]);
}

/* A single phase stays as it is, to the bit. */
static void
load_signal(const struct frame *in, const struct rung *rung, size_t y, size_t x, size_t n,
    struct tile *tile)
{
	memset(tile->signal, 0, sizeof(tile->signal));
	for (size_t i = 0; i < rung->n; i++)
		add_phase(frame_floats(in, rung->channel[i], y) + x, rung->weight[i], tile, n);
	if (rung->n > 1)
		wrap_signal(tile, n);
}

static void
start_above(struct tile *restrict tile, size_t n, float lo, float slope)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];

		tile->absolute[i] = unwrap2f_absolute(phi,
		    unwrap2f_turns_above(phi, lo + slope * (float)(int)i));
		tile->residual[i] = 0;
	}
}

static void
start_predicted(struct tile *restrict tile, size_t n, const float *restrict index, float step,
    float offset)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F lack = unwrap2f_lack(index[i] * step + offset, 1, phi);
		PX_F k = px_round(lack);

		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = lack - k;
		tile->bad[i] |= px_isnan(index[i]);
	}
}

static void
start_counted(struct tile *restrict tile, size_t n, const float *restrict index, float offset)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F k = unwrap2f_counted(index[i], phi, offset);

		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = index[i] + 0.5f - (phi + offset) * UNWRAP2F_TURN - k;
		tile->bad[i] |= px_isnan(index[i]);
	}
}

/* The rung's own phase tells finely where the field ends, so what the coarser one put on the wrong side
 * of the seam is brought back by a whole field. */
static void
climb(struct tile *restrict tile, size_t n, const struct rung *restrict rung)
{
	float ratio = rung->ratio, lo = rung->lo, hi = rung->hi, span = rung->span;

	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		PX_F phi = tile->signal[i];
		PX_F lack = unwrap2f_lack(tile->absolute[i], ratio, phi);
		PX_F k = px_round(lack);

		lack = lack + span * unwrap2f_seam(unwrap2f_absolute(phi, k), lo, hi);
		k = px_round(lack);
		tile->absolute[i] = unwrap2f_absolute(phi, k);
		tile->residual[i] = unwrap2f_worse(tile->residual[i], lack - k);
	}
}

static void
store(const struct tile *restrict tile, size_t n, float most, float *restrict absolute,
    float *restrict residual)
{
	ROWS_SIMD
	for (size_t i = 0; i < n; i++) {
		bool bad = (tile->bad[i] != 0) | !(px_abs(tile->residual[i]) <= most);

		absolute[i] = px_select(bad, PX_NAN, tile->absolute[i]);
		residual[i] = px_select(bad, PX_NAN, tile->residual[i]);
	}
}

static void
start(const struct priv *priv, const struct frame *in, size_t y, size_t x, size_t n,
    struct tile *tile)
{
	const float *slope = priv->line_slope;
	const float *index = frame_floats(in, priv->index, y) + x;

	memset(tile->bad, 0, sizeof(tile->bad));
	load_signal(in, &priv->rung[0], y, x, n, tile);
	switch (priv->start) {
	case START_FIELD:
		start_above(tile, n, priv->rung[0].lo, 0);
		break;
	case START_LINE:
		start_above(tile, n, priv->line_offset + slope[0] * (float)x + slope[1] * (float)y,
		    slope[0]);
		break;
	case START_PREDICTED:
		start_predicted(tile, n, index, priv->gray_step, priv->gray_offset);
		break;
	case START_COUNTED:
		start_counted(tile, n, index, priv->gray_offset);
		break;
	}
}

static void
rows(const struct run *run, const struct frame *in, struct frame *out, size_t y0, size_t y1)
{
	const struct priv *priv = run->priv;
	struct tile tile;

	for (size_t y = y0; y < y1; y++) {
		for (size_t x = 0; x < in->head.w; x += TILE) {
			size_t n = in->head.w - x < TILE ? in->head.w - x : TILE;

			start(priv, in, y, x, n, &tile);
			for (size_t r = 1; r < priv->rungs; r++) {
				load_signal(in, &priv->rung[r], y, x, n, &tile);
				climb(&tile, n, &priv->rung[r]);
			}
			store(&tile, n, priv->max_residual, frame_floats(out, 0, y) + x,
			    frame_floats(out, 1, y) + x);
		}
		for (size_t c = 2; c < out->head.c; c++)
			memcpy(frame_row(out, c, y), frame_row(in, priv->passed[c], y), in->stride);
	}
}

static const struct body body = { .rows = rows };

static int
init(struct run *run)
{
	run->body = &body;
	return 0;
}

/* ---- planning ---- */

/* The field lies in the middle of the turn that the first signal covers, so that its scatter reaches
 * neither end of what is not used. */
static void
set_rungs(const struct temporal *temporal, const struct ladder *ladder, bool field,
    struct priv *priv)
{
	double period_px = ladder->signal[0].period_px;
	double field_px = temporal->field_px > 0 ? temporal->field_px : period_px;
	double end_px = (field_px + period_px - 1) / 2;

	priv->rungs = ladder->n;
	for (size_t r = 0; r < ladder->n; r++) {
		const struct ladder_signal *signal = &ladder->signal[r];
		double rad_per_px = 2 * M_PI / signal->period_px;
		struct rung *rung = &priv->rung[r];

		*rung = (struct rung){ .lo = -INFINITY, .hi = INFINITY };
		for (size_t i = 0; i < temporal->phases; i++)
			if (signal->weight[i]) {
				rung->channel[rung->n] = temporal->channel[i];
				rung->weight[rung->n++] = (float)signal->weight[i];
			}
		if (r > 0)
			rung->ratio = (float)(ladder->signal[r - 1].period_px / signal->period_px);
		if (!field)
			continue;
		rung->lo = (float)(rad_per_px * (end_px - period_px));
		rung->hi = (float)(rad_per_px * end_px);
		rung->span = (float)(period_px / signal->period_px);
	}
}

/* The code orders the first phase, from which a ladder may lead to the one that is wanted. */
static int
plan_gray(const struct parameters *parameters, const struct temporal *temporal, struct priv *priv)
{
	double period_px = temporal->period_px[0], offset = parameters->gray_offset;
	struct ladder ladder;

	if (isnan(offset))
		offset = M_PI / period_px;
	priv->index = temporal->index;
	priv->start = temporal->cell == GRAY_PERIOD ? START_COUNTED : START_PREDICTED;
	priv->gray_offset = (float)offset;
	if (temporal->cell == GRAY_HALF) {
		priv->gray_step = (float)M_PI;
		priv->gray_offset = (float)(M_PI / 2 - offset);
	} else if (temporal->cell == GRAY_COLUMN) {
		priv->gray_step = (float)(2 * M_PI / period_px);
		priv->gray_offset = 0;
	}
	if (ladder_find_from(temporal->period_px, temporal->phases, temporal->target, 0, &ladder) < 0)
		return -1;
	set_rungs(temporal, &ladder, false, priv);
	return 0;
}

/* Eq 14: camera pixels are counted on the sensor, wherever this image lies on it. */
static int
plan_line(const struct parameters *parameters, const struct frame_head *in,
    const struct temporal *temporal, struct priv *priv)
{
	struct numbers origin;
	double bin, first_px, slope, axis = temporal->axis == 'y';
	struct ladder ladder;

	if (parameters->line.n != 2 || parameters->line.v[0] == 0)
		return fail_usage("--line", "wants a period in camera px and an offset in degrees");
	if (temporal->phases != 2)
		return fail(NULL, "--line is for two phases, the input has %zu", temporal->phases);
	if (meta_number(&in->meta, "bin", 1, &bin) < 0 ||
	    meta_numbers(&in->meta, "origin_px", &origin) < 0)
		return -1;
	first_px = (bin - 1) / 2 + (origin.n == 2 ? origin.v[(int)axis] : 0);
	numbers_free(&origin);
	slope = 2 * M_PI / parameters->line.v[0];
	priv->start = START_LINE;
	priv->line_slope[(int)axis] = (float)(slope * bin);
	priv->line_offset = (float)(parameters->line.v[1] * M_PI / 180 + slope * first_px);
	if (ladder_find(temporal->period_px, 2, temporal->target, 0, LADDER_BEATS, &ladder) < 0)
		return -1;
	set_rungs(temporal, &ladder, false, priv);
	return 0;
}

static int
plan_ladder(int method, const struct temporal *temporal, struct priv *priv)
{
	static const unsigned signals[] = {
		[METHOD_AUTO] = LADDER_PHASES | LADDER_BEATS, [METHOD_TWO] = LADDER_BEATS,
		[METHOD_HETERODYNE] = LADDER_BEATS, [METHOD_HIERARCHICAL] = LADDER_PHASES
	};
	struct ladder ladder;

	if (temporal->phases == 1 && temporal->field_px == 0)
		return fail(NULL, "one phase of %g px in a field of unknown width: give --field",
		    temporal->period_px[0]);
	if (method == METHOD_TWO && temporal->phases != 2)
		return fail(NULL, "--method=two is for two phases, the input has %zu",
		    temporal->phases);
	if (ladder_find(temporal->period_px, temporal->phases, temporal->target, temporal->field_px,
	    signals[method], &ladder) < 0)
		return -1;
	priv->start = START_FIELD;
	set_rungs(temporal, &ladder, true, priv);
	return 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct temporal temporal;
	int method = parameters->method, status;

	free(priv->passed);
	memset(priv, 0, sizeof(*priv));
	priv->max_residual = (float)parameters->max_residual;
	if (temporal_read(in, &parameters->head, &temporal) < 0)
		return -1;
	if (method == METHOD_GRAY && temporal.index == NO_CHANNEL)
		return run_channel(run, in, "index", &temporal.index);
	if (method == METHOD_AUTO && temporal.index != NO_CHANNEL)
		method = METHOD_GRAY;
	if (parameters->line.n)
		status = plan_line(parameters, in, &temporal, priv);
	else if (method == METHOD_GRAY)
		status = plan_gray(parameters, &temporal, priv);
	else
		status = plan_ladder(method, &temporal, priv);
	return status < 0 ? -1 : temporal_output(&temporal, in, out, &priv->passed);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	free(priv->passed);
}

STAGE(unwrap2f) = {
	.name = "unwrap2f",
	.summary = "absolute phase out of wrapped phases of several periods, or a Gray code",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.agree = AGREE_EXACT,
	.init = init,
	.plan = plan,
	.end = end,
};
