/*
 * The phases of two rectified cameras, matched row by row, to disparity and points (methods §10):
 * the geometry of the pair, the phases that are matched, the passes of the device, options, plan.
 * phasematch_rows.c has the loops of the processor, phasematch_survey.c the checks of a frame.
 */
#include "phasematch.h"

#include <float.h>
#include <stdio.h>

#include "checks/checks.h"
#include "optics/calib.h"
#include "optics/stereo.h"
#include "run/passes.h"
#include "unwrap/absolute.h"
#include "phasematch.block.h"
#include "phasematch.px.h"

BODY_ROWS(phasematch, match_rows)

/* ---- the rectified pair, as its frames' keys or a calibration describe it ---- */

struct rig_options {
	const char *calib;
	bool assume_rectified;
	int frame;			/* enum rig_frame */
	double min_depth, max_depth;	/* NaN: no limit */
};

enum rig_frame { RIG_RECTIFIED, RIG_LEFT };

#define SAME_PX 0.01		/* px by which equal focal lengths and rows may differ */

/* Fails if the frame's own keys and the calibration describe different rectified cameras. Baselines
 * may differ: users correct a wrong unit of length that way. */
static int
check_same_camera(const char *path, const char *calib, const struct stereo_view *own,
    const struct stereo_view *view)
{
	double turned = 0;

	for (size_t i = 0; i < 9; i++)
		turned = fmax(turned, fabs(own->R[i] - view->R[i]));
	if (fabs(own->f_px - view->f_px) <= SAME_PX && fabs(own->cx_px - view->cx_px) <= SAME_PX &&
	    fabs(own->cy_px - view->cy_px) <= SAME_PX && turned * view->f_px <= SAME_PX)
		return 0;
	if (own->f_px != view->f_px || own->cx_px != view->cx_px || own->cy_px != view->cy_px)
		return fail(calib, "would rectify to f %.8g px, centre %.8g %.8g, the keys of %s "
		    "say f %.8g px, centre %.8g %.8g: it is not what the frame was rectified with",
		    view->f_px, view->cx_px, view->cy_px, path ? path : "the input", own->f_px,
		    own->cx_px, own->cy_px);
	return fail(calib, "would turn the camera otherwise than rect_rotation of %s says: it is "
	    "not what the frame was rectified with", path ? path : "the input");
}

/* Frames without keys are treated as the whole images of the calibration's rectified cameras: warns
 * if the size differs. */
static bool
warn_size(const struct stereo *stereo, const char *path, const struct frame_head *head)
{
	if (meta_get(&head->meta, "origin_px") || meta_get(&head->meta, "bin") ||
	    !(stereo->w > 0) || ((double)head->w == stereo->w && (double)head->h == stereo->h))
		return false;
	warn(path, "the frame has %zu x %zu px, those that --calib rectifies %g x %g: it is taken "
	    "for one that begins at the same pixel", head->w, head->h, stereo->w, stereo->h);
	return true;
}

/* Replaces the frame's keys, which *view has if `known`, by the calibration. path: NULL is the
 * input. */
static int
view_by_file(const struct run *run, const struct stereo *stereo, const char *calib,
    enum stereo_side side, const char *path, const struct frame_head *head, bool known,
    struct stereo_view *view)
{
	struct stereo_view keyed = *view;
	struct frame_head own = *head;
	bool found;
	int status;

	meta_copy(&own.meta, &head->meta);
	stereo_describe(stereo, known ? keyed.side : side, 1, &own.meta);
	status = stereo_view(run, &own, view, &found);
	if (status == 0 && known)
		status = check_same_camera(path, calib, &keyed, view);
	meta_free(&own.meta);
	return status;
}

static int
views_by_file(const struct run *run, const char *calib, const char *path,
    const struct frame_head *in, const struct frame_head *right, struct rig *rig,
    struct stereo_view view[2])
{
	struct stereo stereo;
	bool known = rig->known;

	if (stereo_load(calib, &stereo) < 0)
		return -1;
	if (stereo.contradiction[0] && !rig->asked) {
		warn(calib, "%s", stereo.contradiction);
		rig->asked = true;
	}
	if (!known && !rig->asked)
		rig->asked = warn_size(&stereo, NULL, in) || warn_size(&stereo, path, right);
	return view_by_file(run, &stereo, calib, STEREO_LEFT, NULL, in, known, &view[0]) < 0 ?
	    -1 : view_by_file(run, &stereo, calib, STEREO_RIGHT, path, right, known, &view[1]);
}

/* *known: the frames have keys. */
static int
views_by_keys(const struct run *run, const char *path, const struct frame_head *in,
    const struct frame_head *right, struct stereo_view view[2], bool *known)
{
	bool other;

	if (stereo_view(run, in, &view[0], known) < 0)
		return -1;
	if (stereo_view(run, right, &view[1], &other) < 0) {
		fail_prefix(path);
		return -1;
	}
	if (*known && !other)
		return fail(path, "is not rectified (no key rect_f_px), the input is");
	if (!*known && other)
		return fail(NULL, "the input is not rectified (no key rect_f_px), --right is");
	return 0;
}

/* Frames without keys must be cropped at the same row. */
static int
check_rows(const struct run *run, const char *path, const struct frame_head *in,
    const struct frame_head *right)
{
	static const double zero[2] = { 0 };
	double left_px[2], right_px[2], bin[2];

	if (!meta_get(&in->meta, "origin_px") || !meta_get(&right->meta, "origin_px"))
		return 0;
	if (sensor_crop_origin(run, &(struct numbers){ 0 }, in, zero, left_px, bin) < 0 ||
	    sensor_crop_origin(run, &(struct numbers){ 0 }, right, zero, right_px, bin) < 0)
		return -1;
	if (left_px[1] == right_px[1])
		return 0;
	return fail(path, "begins at row %g, the input at row %g (key origin_px): crop rectified "
	    "frames alike", right_px[1], left_px[1]);
}

static int
check_views(const char *path, const struct stereo_view view[2])
{
	double focal_px = view[0].f_px;

	if (view[0].side == view[1].side)
		return fail(path, "is of the %s camera, as the input is",
		    view[0].side == STEREO_LEFT ? "left" : "right");
	if (fabs(view[1].f_px / focal_px - 1) * fabs(view[0].cx_px + focal_px) > SAME_PX)
		return fail(path, "has a focal length of %g px, the input of %g px: both must be "
		    "rectified by one calibration and binned alike", view[1].f_px, focal_px);
	if (fabs(view[1].baseline_mm / view[0].baseline_mm - 1) > 1e-6)
		return fail(path, "has a baseline of %g mm, the input of %g mm: both must be "
		    "rectified by one calibration", view[1].baseline_mm, view[0].baseline_mm);
	if (fabs(view[1].cy_px - view[0].cy_px) > SAME_PX)
		return fail(path, "lies %g rows off the input: crop both alike (keys rect_cy_px, "
		    "origin_px)", view[1].cy_px - view[0].cy_px);
	return 0;
}

static void
set_rig(const struct stereo_view view[2], const struct rig_options *options, struct rig *rig)
{
	bool swapped = view[0].side == STEREO_RIGHT;
	const struct stereo_view *left = &view[swapped];
	double baseline_mm = swapped ? -left->baseline_mm : left->baseline_mm;

	rig->focal = (float)view[0].f_px;
	rig->focal_baseline = (float)(view[0].f_px * baseline_mm);
	rig->cx = (float)view[0].cx_px;
	rig->cy = (float)view[0].cy_px;
	rig->centres = (float)(view[0].cx_px - view[1].cx_px);
	rig->least = isnan(options->min_depth) ? -FLT_MAX : (float)options->min_depth;
	rig->most = isnan(options->max_depth) ? FLT_MAX : (float)options->max_depth;
	rig->turned = options->frame == RIG_LEFT;
	rig->shift[0] = swapped ? (float)left->baseline_mm : 0;
	rig->shift[1] = rig->shift[2] = 0;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++)
			rig->R[3 * i + k] = (float)left->R[3 * k + i];
}

/* An option that needs the rig; NULL: none was given. */
static const char *
needy_option(const struct rig_options *options)
{
	return options->frame == RIG_LEFT ? "--frame" : !isnan(options->min_depth) ? "--min-depth" :
	    !isnan(options->max_depth) ? "--max-depth" : NULL;
}

/* Of these two frames; path: of --right. -1 after fail(). */
static int
rig_plan(const struct run *run, const struct rig_options *options, const char *path,
    const struct frame_head *in, const struct frame_head *right, struct rig *rig)
{
	const char *needy = needy_option(options);
	struct stereo_view view[2];

	rig->known = rig->turned = false;
	if (views_by_keys(run, path, in, right, view, &rig->known) < 0)
		return -1;
	if (!rig->known && !options->assume_rectified)
		return fail(NULL, "the frames are not rectified (no key rect_f_px): rectify makes "
		    "them so; --assume-rectified takes them as they are");
	if (options->calib &&
	    views_by_file(run, options->calib, path, in, right, rig, view) < 0)
		return -1;
	rig->known |= options->calib != NULL;
	if (!rig->known && needy)
		return fail(needy, "needs the rig, which neither the frames' keys nor --calib "
		    "describe");
	if (!rig->known)
		return check_rows(run, path, in, right);
	if (check_views(path, view) < 0)
		return -1;
	set_rig(view, options, rig);
	return 0;
}

/* Which channels of two frames are matched, and in which unit. */

#define TWO_PI 6.283185307179586

/* The phases that both sides have. */
struct phases {
	size_t n;
	size_t number[PHASES_MOST];	/* absphase2: 2; absphase: 0 */
	double period_px[PHASES_MOST];	/* NaN: not known */
};

/* The number of a channel absphase1, absphase2 and so on; 0 for other names. */
static size_t
number_of(const char *name)
{
	const char *digits = channel_number(name, "absphase");

	return digits && *digits > '0' ? (size_t)strtoul(digits, NULL, 10) : 0;
}

static int
find_phases(const struct run *run, const struct frame_head *in, size_t channels, struct phases *out)
{
	size_t c;

	out->n = 0;
	for (size_t i = 0; i < channels; i++) {
		size_t number = number_of(in->channel[i]), at = out->n;

		if (number == 0)
			continue;
		if (out->n == PHASES_MOST)
			return fail(NULL, "has more than %d absolute phases", PHASES_MOST);
		for (; at > 0 && out->number[at - 1] > number; at--)
			out->number[at] = out->number[at - 1];
		out->number[at] = number;
		out->n++;
	}
	if (out->n)
		return 0;
	out->n = 1;
	out->number[0] = 0;
	out->period_px[0] = NAN;
	return run_channel(run, in, "absphase", &c);
}

static bool
are_alike(const struct numbers *a, const struct numbers *b)
{
	bool alike = a->n == b->n;

	for (size_t i = 0; i < a->n && alike; i++)
		alike = fabs(a->v[i] - b->v[i]) <= 1e-9 * fabs(a->v[i]);
	return alike;
}

/* The periods of both sides must be the same. With a single phase either side may lack the key. */
static int
compare_periods(const char *path, const char *key, const struct frame_head *in,
    const struct frame_head *right, bool needed)
{
	struct numbers own, other;
	const char *left_text = meta_get(&in->meta, key), *right_text = meta_get(&right->meta, key);
	int status = 0;

	if (!needed && (!left_text || !right_text))
		return 0;
	if (!left_text || !right_text)
		return fail(left_text ? path : NULL, "there are several phases, but no key %s "
		    "with their periods (unwrap2f --all writes it)", key);
	if (meta_numbers(&in->meta, key, &own) < 0)
		return -1;
	if (meta_numbers(&right->meta, key, &other) < 0) {
		numbers_free(&own);
		fail_prefix(path);
		return -1;
	}
	if (!are_alike(&own, &other))
		status = fail(path, "%s is %s, that of the input %s", key, right_text, left_text);
	numbers_free(&own);
	numbers_free(&other);
	return status;
}

/* The key of the periods of several phases: absphase_period_px, or period_px if it has as many. */
static int
read_periods(const char *path, const struct frame_head *in, const struct frame_head *right,
    struct phases *phases)
{
	const char *key = "absphase_period_px";
	struct numbers periods;
	int status = 0;

	if (phases->number[0] == 0)
		return compare_periods(path, "period_px", in, right, false);
	if (!meta_get(&in->meta, key) && meta_get(&in->meta, "period_px") &&
	    meta_words(meta_get(&in->meta, "period_px")) == phases->n)
		key = "period_px";
	if (compare_periods(path, key, in, right, true) < 0 ||
	    meta_numbers(&in->meta, key, &periods) < 0)
		return -1;
	if (periods.n != phases->n)
		status = fail(NULL, "key %s has %zu periods for %zu phases", key, periods.n,
		    phases->n);
	for (size_t i = 0; i < periods.n && status == 0; i++) {
		phases->period_px[i] = periods.v[i];
		if (!(periods.v[i] > 0 && periods.v[i] < 1e6))
			status = fail(NULL, "key %s: %g is no period", key, periods.v[i]);
	}
	numbers_free(&periods);
	return status;
}

/* A phase along y, or one that is known up to whole turns only, cannot be matched. */
static int
check_phase(const char *object, const struct frame_head *head)
{
	const char *axis = meta_get(&head->meta, "axis");

	if (axis && !strcmp(axis, "y"))
		return fail(object, "the phase runs along y (key axis): rows are matched by a "
		    "phase along x");
	if (phase_anchor_is_relative(&head->meta))
		return fail(object, "absphase is known up to whole turns only: "
		    "--anchor or a marker makes it absolute");
	return 0;
}

#define SAME_ORIGIN_RAD 1e-6	/* written and read with all digits */

/* Both cameras see one projector, so that their phases must be decoded with one sign and origin. */
static int
compare_decoding(const char *path, const struct frame_head *in, const struct frame_head *right)
{
	double sign[2], origin_rad[2];

	for (int i = 0; i < 2; i++) {
		const struct meta *meta = i ? &right->meta : &in->meta;

		if (meta_number(meta, "decoded_sign", 1, &sign[i]) < 0 ||
		    meta_number(meta, "decoded_origin_rad", 0, &origin_rad[i]) < 0)
			return -1;
	}
	if (sign[0] != sign[1])
		return fail(path, "was decoded with --sign %+g, the input with %+g (key "
		    "decoded_sign): one projector has one", sign[1], sign[0]);
	if (fabs(remainder(origin_rad[1] - origin_rad[0], TWO_PI)) > SAME_ORIGIN_RAD)
		return fail(path, "was decoded with --phase-origin %.6g, the input with %.6g (key "
		    "decoded_origin_rad): one projector has one", origin_rad[1] * 360 / TWO_PI,
		    origin_rad[0] * 360 / TWO_PI);
	return 0;
}

static int
find_phase(const struct run *run, const struct frame_head *in, bool of_right, size_t number,
    size_t *c)
{
	char name[32] = "absphase";

	if (number)
		snprintf(name, sizeof(name), "absphase%zu", number);
	return of_right ? run_second_input(run, in, "right", name, c) :
	    run_channel(run, in, name, c);
}

/* The channel of a phase's standard deviation, or NO_CHANNEL. */
static size_t
find_sigma(const struct frame_head *head, bool of_right, size_t number)
{
	const char *prefix = of_right ? "right." : "";
	char name[48] = "";

	if (number)
		snprintf(name, sizeof(name), "%ssigma%zu", prefix, number);
	else
		snprintf(name, sizeof(name), "%ssigma", prefix);
	return head_channel(head, name);
}

/* Phases first to first + n - 1 as one map. */
static int
make_map(const struct run *run, const struct frame_head *in, const struct phases *phases,
    size_t first, size_t n, bool of_right, double residual_most, struct value_map *map)
{
	const double *period_px = &phases->period_px[first];
	double weight[PHASES_MOST] = { 1 };
	double unit = isnan(period_px[0]) ? 1 : period_px[0] / TWO_PI;

	memset(map, 0, sizeof(*map));
	map->phases = n;
	map->unit = (float)unit;
	map->variance_most = (float)(residual_most / unit * (residual_most / unit));
	map->has_sigma = true;
	if (n > 1)
		phase_mean_weights(period_px, NULL, n, weight);
	for (size_t i = 0; i < n; i++) {
		size_t number = phases->number[first + i];

		if (find_phase(run, in, of_right, number, &map->channel[i]) < 0)
			return -1;
		map->sigma[i] = find_sigma(in, of_right, number);
		map->has_sigma &= map->sigma[i] != NO_CHANNEL;
		map->scale[i] = n > 1 ? (float)(period_px[i] / period_px[0]) : 1;
		map->weight[i] = (float)weight[i];
	}
	return 0;
}

/*
 * The input's absphase, or its absphase1, absphase2, ..., and those of --right (path, for
 * messages): sets the maps of matching, and radian. residual_most: projector px by which phases of
 * one map may differ from their mean; votes: each phase is a map of its own. -1 after fail().
 */
static int
matching_plan(const struct run *run, const char *path, const struct frame_head *in,
    double residual_most, bool votes, struct phasematch *priv)
{
	const struct frame_head *right = run_second_input_head(run, "right", 0);
	struct matching *matching = &priv->matching;
	struct phases phases;
	double shortest_px = INFINITY, window_px;
	size_t each, c;

	if (find_phases(run, in, in->c - right->c, &phases) < 0)
		return -1;
	for (size_t i = 0; i < phases.n; i++)
		if (find_phase(run, in, true, phases.number[i], &c) < 0) {
			fail_prefix(path);
			return -1;
		}
	if (check_phase(NULL, in) < 0 || check_phase(path, right) < 0 ||
	    compare_decoding(path, in, right) < 0 ||
	    read_periods(path, in, right, &phases) < 0)
		return -1;
	for (size_t i = 0; i < phases.n; i++)
		shortest_px = fmin(shortest_px, phases.period_px[i]);
	if (votes && phases.n < 2)
		return fail("--vote", "there is one phase: nothing can vote (unwrap2f --all gives "
		    "several)");
	if (meta_number(&right->meta, "sigma_window_px", 0, &window_px) < 0)
		return -1;
	matching->correlation = window_px > 0 ? (float)exp(-1 / (4 * window_px * window_px)) : 0;
	matching->maps = votes ? phases.n : 1;
	each = votes ? 1 : phases.n;
	matching->sigma = !votes;
	priv->phases = phases.n;
	memcpy(priv->number, phases.number, sizeof(priv->number));
	for (size_t k = 0; k < matching->maps; k++) {
		double period_px = votes ? phases.period_px[k] : shortest_px;

		if (make_map(run, in, &phases, k, each, false, residual_most, &matching->left[k]) <
		    0 || make_map(run, in, &phases, k, each, true, residual_most,
		    &matching->right[k]) < 0)
			return -1;
		matching->sigma &= matching->left[k].has_sigma && matching->right[k].has_sigma;
		priv->radian[k] = isfinite(period_px) ? period_px / TWO_PI : 1;
	}
	return 0;
}

/* ---- the device: values, runs and spans of both sides, search, points ---- */

_Static_assert(PHASEMATCH_PHASES == PHASES_MOST, "as many in the shaders");

/* One workgroup per row. */
#define PASS_ROWS .tile = { INT32_MAX, 1 }, .local = { PHASEMATCH_GROUP, 1 }

/* Takes scratch planes for a list of `entries` a row; *next is the first that is free. */
static uint
take_list(uint *next, size_t entries, size_t w)
{
	uint list = *next;

	*next += (uint)((entries + w - 1) / w);
	return list;
}

static void
place_lists(struct phasematch_lists *lists, size_t own_w, size_t w, bool sigma, uint *next)
{
	lists->w = (uint)own_w;
	lists->values = take_list(next, own_w, w);
	lists->sigmas = sigma ? take_list(next, own_w, w) : PHASEMATCH_NONE;
	lists->run_first = take_list(next, own_w / 2 + 1, w);
	lists->run_last = take_list(next, own_w / 2 + 1, w);
	lists->from = take_list(next, own_w + 2, w);
	lists->first = take_list(next, own_w + 2, w);
	lists->last = take_list(next, own_w + 2, w);
	lists->runs = take_list(next, 1, w);
}

static void
describe_side(const struct matching *matching, const struct value_map *map, struct passes *passes,
    struct phasematch_side *side)
{
	side->phases = (uint)map->phases;
	side->factor = matching->sign * map->unit;
	side->unit = map->unit;
	side->variance_most = map->variance_most;
	side->step_most = matching->step_most[0];
	side->has_sigma = matching->sigma;
	for (size_t k = 0; k < map->phases; k++) {
		side->channel[k] = (uint)map->channel[k];
		side->scale[k] = map->scale[k];
		side->weight[k] = map->weight[k];
		passes_read(passes, map->channel[k]);
		if (!matching->sigma)
			continue;
		side->sigma[k] = (uint)map->sigma[k];
		passes_read(passes, map->sigma[k]);
	}
}

/* The passes of one side: values, and if `index` the runs and spans that find them. beyond: rows
 * above and below. */
static void
list_side(struct passes *passes, const struct phasematch_side *side, bool index, size_t beyond)
{
	struct pass values = { .shader = SHADER(phasematch_values), .block = side,
		.bytes = sizeof(*side), PASS_PIXELS, .beyond = beyond };
	struct pass runs = { .shader = SHADER(phasematch_runs), .block = side,
		.bytes = sizeof(*side), PASS_ROWS, .beyond = beyond };
	struct pass spans = { .shader = SHADER(phasematch_spans), .block = side,
		.bytes = sizeof(*side), PASS_ROWS, .beyond = beyond };

	passes_add(passes, &values);
	if (!index)
		return;
	passes_add(passes, &runs);
	passes_add(passes, &spans);
}

static uint
channel_or_none(size_t c)
{
	return c == NO_CHANNEL ? PHASEMATCH_NONE : (uint)c;
}

static struct phasematch_output
describe_output(const struct phasematch *priv)
{
	const struct rig *rig = &priv->rig;
	const float *R = rig->R, *shift = rig->shift;

	return (struct phasematch_output){ .support = (uint)priv->support,
		.range = priv->support_range, .steep = priv->steep,
		.sigma_disparity = channel_or_none(priv->sigma_disparity),
		.x = channel_or_none(priv->x), .y = channel_or_none(priv->y),
		.z = channel_or_none(priv->z), .sigma_z = channel_or_none(priv->sigma),
		.turned = rig->turned, .focal = rig->focal, .focal_baseline = rig->focal_baseline,
		.cx = rig->cx, .cy = rig->cy, .centres = rig->centres, .least = rig->least,
		.most = rig->most, .r0 = R[0], .r1 = R[1], .r2 = R[2], .r3 = R[3], .r4 = R[4],
		.r5 = R[5], .r6 = R[6], .r7 = R[7], .r8 = R[8], .shift0 = shift[0],
		.shift1 = shift[1], .shift2 = shift[2] };
}

static int
phasematch_passes(struct run *run, struct passes *passes)
{
	const struct phasematch *priv = run->priv;
	const struct matching *matching = &priv->matching;
	struct phasematch_side left = { 0 }, right = { 0 };
	struct phasematch_pair pair = { .has_sigma = matching->sigma,
		.back = matching->both_ways > 0, .both_ways = matching->both_ways,
		.correlation = matching->correlation };
	struct phasematch_output output = describe_output(priv);
	struct pass search = { PASS_OF(phasematch_search, pair), PASS_PIXELS, .beyond = run->halo };
	struct pass points = { PASS_OF(phasematch_points, output), PASS_PIXELS };
	uint next = 0;

	if (matching->maps > 1)
		return passes_refuse(passes, "votes are counted there");
	place_lists(&left.lists, matching->w, matching->w, matching->sigma, &next);
	place_lists(&right.lists, matching->right_w, matching->w, matching->sigma, &next);
	pair.left = left.lists;
	pair.right = right.lists;
	output.disparity = pair.disparity = next++;
	output.sigma = pair.sigma = matching->sigma ? next++ : PHASEMATCH_NONE;
	passes_scratch(passes, next);
	describe_side(matching, &matching->left[0], passes, &left);
	describe_side(matching, &matching->right[0], passes, &right);
	list_side(passes, &left, pair.back != 0, run->halo);
	list_side(passes, &right, true, run->halo);
	passes_add(passes, &search);
	passes_add(passes, &points);
	return 0;
}

/* ---- options ---- */

struct parameters {
	const char *right;
	double step_most_rad, residual_px, both_ways_px, support_px, vote_px;
	long support;
	struct rig_options rig;
};

static const char *const frames[] = { "rectified", "left", NULL };

static const struct opt options[] = {
	{ 0, "right", "FILE", OPT_STREAM, AT(right), NULL, 0, 0, NULL,
	  "the other camera's phases, as many frames as the input has" },
	{ 0, "max-step", "RAD", OPT_NUMBER, AT(step_most_rad), NULL, FLT_MIN, 1e6, "rad",
	  "largest step between neighbours that are matched; 1, or 3 usual steps" },
	{ 0, "max-residual", "PX", OPT_NUMBER, AT(residual_px), "1", FLT_MIN, 1e6, "px",
	  "how far several phases may lie about their mean, in projector pixels" },
	{ 0, "both-ways", "PX", OPT_NUMBER, AT(both_ways_px), "1", 0, 1e6, "px",
	  "the right pixel's own match must lie as near; 0: it is not asked" },
	{ 0, "support", "N", OPT_INTEGER, AT(support), "4", 0, 8, NULL,
	  "of the 8 neighbours, so many must have a like disparity; 0: none" },
	{ 0, "support-range", "PX", OPT_NUMBER, AT(support_px), "1", 0, 1e6, "px",
	  "disparities that are alike differ by no more" },
	{ 0, "vote", "PX", OPT_NUMBER, AT(vote_px), NULL, 0, 1e6, "px",
	  "match each phase alone; two or all must agree so closely" },
	FLAG_ROW(0, "assume-rectified", rig.assume_rectified,
	    "take frames that no key calls rectified"),
	{ 0, "calib", "FILE", OPT_FILE, AT(rig.calib), NULL, 0, 0, NULL,
	  "both cameras' calibration, in the place of the frames' own keys" },
	{ 0, "frame", "WORD", OPT_WORD, AT(rig.frame), "rectified", 0, 0, NULL,
	  "x y z of the left camera as rectified, or as it stands", frames },
	{ 0, "min-depth", "Z", OPT_NUMBER, AT(rig.min_depth), NULL, 0, 0, "mm",
	  "nearer is invalid" },
	{ 0, "max-depth", "Z", OPT_NUMBER, AT(rig.max_depth), NULL, 0, 0, "mm",
	  "farther is invalid" },
	{ 0 },
};

/* ---- planning ---- */

/* The names of the output channels, and their places. */
static int
plan_channels(struct run *run, struct frame_head *out)
{
	struct phasematch *priv = run->priv;
	bool sigma = priv->matching.sigma, points = priv->rig.known;
	char made[80] = "disparity", replaced[8 * CHANNEL_NAME_SIZE * (PHASES_MOST + 1)] = "";
	char *end = replaced;

	priv->sigma_disparity = sigma ? 1 : NO_CHANNEL;
	priv->x = points ? 1 + (size_t)sigma : NO_CHANNEL;
	priv->y = points ? 2 + (size_t)sigma : NO_CHANNEL;
	priv->z = points ? 3 + (size_t)sigma : NO_CHANNEL;
	priv->sigma = points && sigma ? 5 : NO_CHANNEL;
	strcat(strcat(strcat(made, sigma ? " sigma_disparity" : ""), points ? " x y z" : ""),
	    points && sigma ? " sigma" : "");
	end += sprintf(end, "absphase sigma p_order depth disparity sigma_disparity x y z");
	for (size_t k = 0; k < priv->phases; k++)
		end += sprintf(end, " absphase%zu sigma%zu", priv->number[k], priv->number[k]);
	return run_pass_others(run, out, made, replaced, "");
}

static void
warn_sigma(struct phasematch *priv, const struct parameters *parameters)
{
	const struct matching *matching = &priv->matching;
	bool left = matching->left[0].has_sigma, right = matching->right[0].has_sigma;

	if (left == right || priv->warned_sigma || matching->maps > 1)
		return;
	priv->warned_sigma = true;
	warn(left ? parameters->right : NULL, "the %s phase has no channel sigma, the other one "
	    "has: no sigma comes out", left ? "right" : "input's");
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	const struct frame_head *right = run_second_input_head(run, "right", 0);
	struct phasematch *priv = run->priv;
	struct frame_head own = *in;

	own.c = in->c - right->c;
	if (right->h != in->h)
		return fail(parameters->right, "has %zu rows, the input %zu: rectified frames have "
		    "the same", right->h, in->h);
	if (matching_plan(run, parameters->right, in, parameters->residual_px,
	    !isnan(parameters->vote_px), priv) < 0 ||
	    rig_plan(run, &parameters->rig, parameters->right, &own, right, &priv->rig) < 0)
		return -1;
	priv->matching.w = in->w;
	priv->matching.right_w = right->w;
	warn_sigma(priv, parameters);
	priv->pair.path = parameters->right;
	run_check_facts(run)->pair = &priv->pair;
	priv->steep = priv->rig.known ? PHASEMATCH_STEEPEST / priv->rig.focal : 0;
	run->halo = priv->support > 0;
	run->scratch_bytes = phasematch_rows()->scratch_bytes(priv);
	meta_remove(&out->meta, "absphase_period_px");
	if (priv->rig.known && (meta_set(&out->meta, "length_unit", "mm") < 0 ||
	    meta_set(&out->meta, "seen_from_mm", "0 0 0") < 0 ||
	    meta_set(&out->meta, "z_axis", "away") < 0))
		return -1;
	return plan_channels(run, out);
}

/* ---- -v: the pixels that each test rejected ---- */

/* Of the last frame, under -v. All its rows are made when the next one's survey, or release,
 * begins. */
void
phasematch_note_losses(struct run *run)
{
	struct phasematch *priv = run->priv;
	static const char *const tests[MATCH_COUNTS] = { "", "residual", "bracket", "both ways",
		"vote", "support", "depth" };
	const struct match_counts counts = priv->counts;
	size_t pixels = counts.n[COUNT_PIXELS], lost = 0, used = 0;
	double percent = 100.0 / (double)pixels;
	char text[400] = "";

	priv->counts = (struct match_counts){ 0 };
	if (!run->verbose || pixels == 0)
		return;
	for (size_t i = COUNT_RESIDUAL; i < MATCH_COUNTS; i++) {
		lost += counts.n[i];
		if ((i == COUNT_VOTE && priv->matching.maps == 1) ||
		    (i == COUNT_DEPTH && !priv->rig.known))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s %zu (%.2f %%)",
		    used ? "," : "", tests[i], counts.n[i], percent * (double)counts.n[i]);
	}
	note(NULL, "left pixels %zu, matched %zu (%.2f %%); lost by%s", pixels, pixels - lost,
	    percent * (double)(pixels - lost), text);
}

static const struct body body = { .survey = phasematch_survey, .rows = phasematch_match_rows,
	.passes = phasematch_passes };

static int
init(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct rig_options *rig = &parameters->rig;
	struct phasematch *priv = run->priv;

	run->body = &body;
	if (!parameters->right)
		return fail_usage("--right", "is needed");
	priv->right = parameters->right;
	priv->step_most_rad = parameters->step_most_rad;
	priv->support = (size_t)parameters->support;
	priv->support_range = (float)parameters->support_px;
	priv->matching.both_ways = (float)parameters->both_ways_px;
	priv->matching.vote = (float)parameters->vote_px;
	if (rig->min_depth > rig->max_depth)
		return fail_usage("--min-depth", "%g is more than --max-depth %g: no depth lies "
		    "between", rig->min_depth, rig->max_depth);
	return 0;
}

static void
release(struct run *run)
{
	if (!fail_message())
		phasematch_note_losses(run);
}

static const struct check *const checks[] = { &check_same_phase, &check_textures,
	&check_behind_cameras, NULL };

const struct stage stage_phasematch = {
	.name = "phasematch",
	.summary = "match the phases of two rectified cameras: disparity and points",
	.hint = "--max-step, --max-residual, --support, --min-depth and --max-depth",
	.options = options,
	.usual = "right calib min-depth max-depth frame",
	STAGE_MEMORY(phasematch),
	.checks = checks,
	.traits = STAGE_UNITS,
	.init = init,
	.plan = plan,
	.release = release,
};
