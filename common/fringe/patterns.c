/* The plan of a measurement: its fringe images, Gray planes and flat images, and their heads. */
#include "fringe/patterns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/opt.h"

#define PERIOD_STANDARD_PX 60.0
#define NEARLY 1e-9		/* of a cell: bound of what a division loses */

static const char axis_letter[] = "xy";

static int
check_shifts(const struct numbers *shift)
{
	size_t different = 0;

	for (size_t i = 0; i < shift->n; i++) {
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new &= fabs(remainder(shift->v[i] - shift->v[k], 2.0 * M_PI)) > 1e-6;
		different += is_new;
	}
	if (different < 3)
		return fail_usage("--shift", "has %zu different shifts, a phase needs 3 at least",
		    different);
	return 0;
}

int
patterns_shifts(struct pattern_spec *spec, const struct numbers *own, long steps)
{
	size_t n = own->n ? own->n : steps == OPT_NONE_INTEGER ? 3 : (size_t)steps;
	struct numbers *out = &spec->shift_rad;

	if (own->n && steps != OPT_NONE_INTEGER && (size_t)steps != own->n)
		return fail_usage("--shift", "has %zu shifts for %ld steps", own->n, steps);
	if (own->n && check_shifts(own) < 0)
		return -1;
	out->v = calloc(n, sizeof(*out->v));
	if (!out->v)
		return fail_memory();
	out->n = n;
	for (size_t i = 0; i < n; i++)
		out->v[i] = own->n ? own->v[i] : n == 3 ? ((double)i - 1.0) * (2.0 * M_PI / 3.0) :
		    2.0 * M_PI * (double)i / (double)n;
	return 0;
}

static size_t
length_along(const struct pattern_spec *spec, size_t axis)
{
	return axis ? spec->h : spec->w;
}

static int
set_periods(struct pattern_spec *spec, size_t axis, const struct numbers *from, bool counts)
{
	struct numbers *out = &spec->period_px[axis];
	size_t length = length_along(spec, axis);

	out->v = calloc(from->n, sizeof(*out->v));
	if (!out->v)
		return fail_memory();
	out->n = from->n;
	for (size_t i = 0; i < from->n; i++) {
		double v = from->v[i];

		if (counts && v != floor(v))
			return fail_usage("--count", "must be whole numbers, not %g", v);
		if (v > (double)length)
			return fail_usage(counts ? "--count" : "--period", counts ?
			    "%g periods do not fit into the %zu px of axis %c" :
			    "%g px are more than the %zu px of axis %c", v, length,
			    axis_letter[axis]);
		out->v[i] = counts ? (double)length / v : v;
	}
	return 0;
}

int
patterns_periods(struct pattern_spec *spec, const struct numbers *period_px,
    const struct numbers *count)
{
	double standard = PERIOD_STANDARD_PX;
	const struct numbers one = { 1, &standard };
	const struct numbers *from = count->n ? count : period_px->n ? period_px : &one;

	if (count->n && period_px->n)
		return fail_usage("--count", "stands instead of --period, not beside it");
	for (size_t axis = 0; axis < 2; axis++)
		if (spec->along[axis] && set_periods(spec, axis, from, count->n > 0) < 0)
			return -1;
	return 0;
}

void
patterns_spec_free(struct pattern_spec *spec)
{
	numbers_free(&spec->period_px[0]);
	numbers_free(&spec->period_px[1]);
	numbers_free(&spec->shift_rad);
}

float
patterns_turn(double u, double period_px, double shift_rad)
{
	double t = u / period_px + shift_rad / (2.0 * M_PI);
	float turn = (float)(t - floor(t));

	return turn >= 1.0f ? 0.0f : turn;
}

size_t
patterns_cell(size_t u, double cell_px)
{
	return (size_t)floor((double)u / cell_px + NEARLY);
}

int
patterns_stair(struct pattern_spec *spec, long wanted)
{
	size_t most = 1;

	for (size_t axis = 0; axis < 2; axis++)
		for (size_t k = 0; k < spec->period_px[axis].n; k++) {
			size_t stairs = patterns_cell(length_along(spec, axis) - 1,
			    spec->period_px[axis].v[k]) + 1;

			most = stairs > most ? stairs : most;
		}
	spec->stair_levels = wanted != OPT_NONE_INTEGER ? wanted :
	    most > 256 ? 1 : 256 / (long)most;
	if ((size_t)spec->stair_levels * most > 256)
		return fail_usage("--stair", "%zu stairs of %ld grey levels need %zu, and 256 "
		    "are there", most, spec->stair_levels, (size_t)spec->stair_levels * most);
	return 0;
}

int
patterns_marker(struct pattern_spec *spec, double at_px)
{
	spec->marker = true;
	for (size_t axis = 0; axis < 2; axis++) {
		double length = (double)length_along(spec, axis), shortest = INFINITY, width, first;
		double at = isnan(at_px) ? (length - 1) / 2 : at_px;

		if (!spec->along[axis])
			continue;
		for (size_t k = 0; k < spec->period_px[axis].n; k++)
			shortest = fmin(shortest, spec->period_px[axis].v[k]);
		width = fmax(floor(shortest / 2), 1);
		first = floor(at - (width - 1) / 2 + 0.5);
		if (first < 0 || first + width > length)
			return fail_usage("--marker-at", "a stripe of %g px about %g is not within "
			    "the %g px of axis %c", width, at, length, axis_letter[axis]);
		spec->marker_px[axis] = first + (width - 1) / 2;
		spec->marker_width_px[axis] = width;
	}
	return 0;
}

static const struct pattern no_pattern = {
	.period_px = NAN, .step = MANIFEST_NO_STEP, .shift_rad = NAN, .bit = MANIFEST_NO_BIT,
	.cell_px = NAN, .marker_px = NAN, .marker_width_px = NAN
};

static int
append(struct patterns *patterns, const struct pattern *pattern)
{
	struct pattern *more = reallocarray(patterns->pattern, patterns->n + 1, sizeof(*more));

	if (!more)
		return fail_memory();
	patterns->pattern = more;
	more[patterns->n++] = *pattern;
	return 0;
}

void
patterns_free(struct patterns *patterns)
{
	free(patterns->pattern);
	*patterns = (struct patterns){ 0 };
}

/* "", "_x", "1" or "_x1": the part of a name that distinguishes axes and periods. */
static void
tag(const struct pattern_spec *spec, size_t axis, size_t k, size_t periods, char text[32])
{
	size_t used = 0;

	text[0] = '\0';
	if (spec->along[0] && spec->along[1])
		used = (size_t)snprintf(text, 32, "_%c", axis_letter[axis]);
	if (periods > 1)
		snprintf(text + used, 32 - used, "%zu", k + 1);
}

static int
plan_shifts(const struct pattern_spec *spec, struct pattern pattern, const char *tag,
    struct patterns *out)
{
	pattern.role = ROLE_PHASE;
	pattern.wave = spec->wave;
	for (size_t n = 0; n < spec->shift_rad.n; n++) {
		pattern.step = (long)n;
		pattern.shift_rad = spec->shift_rad.v[n];
		snprintf(pattern.name, sizeof(pattern.name), "phase%s_%02zu", tag, n);
		if (append(out, &pattern) < 0)
			return -1;
	}
	return 0;
}

static int
plan_sin_cos_flat(struct pattern pattern, const char *tag, struct patterns *out)
{
	static const enum manifest_role roles[] = { ROLE_SIN, ROLE_COS, ROLE_FLAT };

	for (size_t n = 0; n < 3; n++) {
		pattern.role = roles[n];
		snprintf(pattern.name, sizeof(pattern.name), "phase%s_%zu_%s", tag, n,
		    manifest_roles[roles[n]]);
		if (append(out, &pattern) < 0)
			return -1;
	}
	return 0;
}

static int
plan_fringes(const struct pattern_spec *spec, size_t axis, struct patterns *out)
{
	const struct numbers *period = &spec->period_px[axis];
	struct pattern pattern = no_pattern;
	char text[32];
	int status = 0;

	pattern.axis = axis_letter[axis];
	for (size_t k = 0; k < period->n && status == 0; k++) {
		pattern.period_px = period->v[k];
		tag(spec, axis, k, period->n, text);
		if (spec->family == FAMILY_SHIFTS)
			status = plan_shifts(spec, pattern, text, out);
		else if (spec->family == FAMILY_SIN_COS_FLAT)
			status = plan_sin_cos_flat(pattern, text, out);
		else {
			pattern.role = ROLE_COMPOSITE;
			snprintf(pattern.name, sizeof(pattern.name), "composite%s", text);
			status = append(out, &pattern);
		}
	}
	return status;
}

/* The number of planes that distinguish `cells` cells: ceil(log2(cells)). */
static size_t
planes_for(size_t cells)
{
	size_t planes = 0;

	while (planes < 60 && ((size_t)1 << planes) < cells)
		planes++;
	return planes;
}

static int
check_planes(const struct pattern_spec *spec, size_t axis, size_t cells, size_t planes)
{
	static const char *const things[] = { "columns", "periods", "half periods" };
	const char *thing = spec->gray_cell == CELL_COLUMN && axis ? "rows" :
	    things[spec->gray_cell];

	if (planes == 0)
		return fail_usage("--gray", "one cell of axis %c needs no Gray code",
		    axis_letter[axis]);
	if (planes > PATTERNS_GRAY_MOST)
		return fail_usage("--gray", "%zu %s of axis %c need %zu planes, at most %d can be",
		    cells, thing, axis_letter[axis], planes, PATTERNS_GRAY_MOST);
	return 0;
}

/* Cells of half a period count half periods of the first period, and so on. */
static int
plan_gray(const struct pattern_spec *spec, size_t axis, struct patterns *out)
{
	size_t cells, planes;
	struct pattern pattern = no_pattern;
	char text[32];

	pattern.axis = axis_letter[axis];
	pattern.cell_px = 1.0;
	if (spec->gray_cell != CELL_COLUMN) {
		pattern.period_px = spec->period_px[axis].v[0];
		pattern.cell_px = pattern.period_px / (spec->gray_cell == CELL_HALF ? 2.0 : 1.0);
	}
	cells = patterns_cell(length_along(spec, axis) - 1, pattern.cell_px) + 1;
	planes = planes_for(cells);
	if (check_planes(spec, axis, cells, planes) < 0)
		return -1;
	tag(spec, axis, 0, 1, text);
	for (int inverse = 0; inverse <= spec->inverse; inverse++)
		for (size_t i = 0; i < planes; i++) {
			pattern.role = inverse ? ROLE_GRAY_INVERSE : ROLE_GRAY;
			pattern.bit = (long)(planes - 1 - i);
			snprintf(pattern.name, sizeof(pattern.name), "plane%s%s_%02zu", text,
			    inverse ? "_inverse" : "", i);
			if (append(out, &pattern) < 0)
				return -1;
		}
	return 0;
}

static int
plan_marker(const struct pattern_spec *spec, size_t axis, struct patterns *out)
{
	struct pattern marker = no_pattern;
	char text[32];

	marker.role = ROLE_MARKER;
	marker.axis = axis_letter[axis];
	marker.marker_px = spec->marker_px[axis];
	marker.marker_width_px = spec->marker_width_px[axis];
	tag(spec, axis, 0, 1, text);
	snprintf(marker.name, sizeof(marker.name), "stripe%s", text);
	return append(out, &marker);
}

static int
plan_flats(struct patterns *out)
{
	struct pattern white = no_pattern, black = no_pattern;

	white.role = ROLE_WHITE;
	black.role = ROLE_BLACK;
	snprintf(white.name, sizeof(white.name), "uniform_0_white");
	snprintf(black.name, sizeof(black.name), "uniform_1_black");
	return append(out, &white) < 0 ? -1 : append(out, &black);
}

/* Columns are bright or dark as a whole: a shift by a part of one does not move all edges alike. */
static void
warn_of_broken_shifts(const struct pattern_spec *spec)
{
	const struct numbers *shift = &spec->shift_rad;

	for (size_t axis = 0; axis < 2; axis++)
		for (size_t i = 0; i < shift->n * spec->period_px[axis].n; i++) {
			double period_px = spec->period_px[axis].v[i / shift->n];
			double turns = (shift->v[i % shift->n] - shift->v[0]) / (2.0 * M_PI);
			double px = fabs(turns) * period_px;

			if (fabs(px - round(px)) < 1e-6)
				continue;
			warn("--period", "square waves of %g px would move by %g px: columns are "
			    "whole, so that the phase has an error that no blur takes away (take a "
			    "multiple of %zu)", period_px, px, shift->n);
			return;
		}
}

int
patterns_plan(const struct pattern_spec *spec, struct patterns *out)
{
	int status = 0;

	*out = (struct patterns){ 0 };
	if (spec->family == FAMILY_SHIFTS && spec->wave == WAVE_SQUARE)
		warn_of_broken_shifts(spec);
	for (size_t axis = 0; axis < 2 && status == 0; axis++)
		if (spec->along[axis] && spec->family != FAMILY_GRAY)
			status = plan_fringes(spec, axis, out);
	for (size_t axis = 0; axis < 2 && status == 0; axis++)
		if (spec->along[axis] && spec->gray_cell != CELL_NONE)
			status = plan_gray(spec, axis, out);
	for (size_t axis = 0; axis < 2 && status == 0; axis++)
		if (spec->along[axis] && spec->marker)
			status = plan_marker(spec, axis, out);
	if (status == 0 && spec->flats)
		status = plan_flats(out);
	if (status < 0)
		patterns_free(out);
	return status;
}

static int
set_number(struct meta *meta, const char *key, double v)
{
	return isnan(v) ? meta_set(meta, key, "-") : meta_set_number(meta, key, v);
}

static int
set_whole(struct meta *meta, const char *key, long v)
{
	return v < 0 ? meta_set(meta, key, "-") : meta_setf(meta, key, "%ld", v);
}

static int
describe_set(const struct pattern_spec *spec, const struct patterns *patterns, struct meta *meta)
{
	size_t steps = spec->family == FAMILY_SHIFTS ? spec->shift_rad.n :
	    spec->family == FAMILY_SIN_COS_FLAT ? 3 : 0;

	if (steps && meta_setf(meta, "steps", "%zu", steps) < 0)
		return -1;
	if (spec->gray_cell != CELL_NONE &&
	    meta_set(meta, "gray_cell", manifest_cells[spec->gray_cell]) < 0)
		return -1;
	if (meta_setf(meta, "set_images", "%zu", patterns->n) < 0)
		return -1;
	return meta_setf(meta, "projector_px", "%zu %zu", spec->w, spec->h);
}

static int
describe(const struct pattern_spec *spec, const struct patterns *patterns, size_t i,
    struct meta *meta)
{
	const struct pattern *pattern = &patterns->pattern[i];
	char axis[2] = { pattern->axis ? pattern->axis : '-', '\0' };

	if (meta_set(meta, "role", manifest_roles[pattern->role]) < 0 ||
	    meta_set(meta, "axis", axis) < 0 ||
	    set_number(meta, "period_px", pattern->period_px) < 0 ||
	    set_whole(meta, "step", pattern->step) < 0 ||
	    set_number(meta, "shift_rad", pattern->shift_rad) < 0 ||
	    set_whole(meta, "bit", pattern->bit) < 0 ||
	    meta_set(meta, "name", pattern->name) < 0)
		return -1;
	if (spec->marker && (set_number(meta, "marker_px", pattern->marker_px) < 0 ||
	    set_number(meta, "marker_width_px", pattern->marker_width_px) < 0))
		return -1;
	if (pattern->role == ROLE_COMPOSITE &&
	    meta_setf(meta, "stair_levels", "%ld", spec->stair_levels) < 0)
		return -1;
	return describe_set(spec, patterns, meta);
}

int
patterns_head(const struct pattern_spec *spec, const struct patterns *patterns, size_t i,
    struct frame_head *head)
{
	enum sample type = spec->bits == BITS_FLOAT ? SAMPLE_FLOAT :
	    spec->bits == BITS_16 ? SAMPLE_USHORT : SAMPLE_UCHAR;
	bool colour = patterns->pattern[i].role == ROLE_COMPOSITE;

	if (head_init(head, spec->w, spec->h, colour ? 3 : 1, type) < 0)
		return -1;
	if ((colour && head_set_channels(head, "r g b") < 0) ||
	    (spec->bits == BITS_1 && meta_set(&head->meta, "bits", "1") < 0) ||
	    describe(spec, patterns, i, &head->meta) < 0) {
		head_free(head);
		return -1;
	}
	return 0;
}
