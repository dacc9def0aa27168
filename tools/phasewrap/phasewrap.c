/*
 * Wrapped phase, modulation and texture from phase-shifted fringe images, and the index of a Gray
 * code: options, the passes of the device, bodies, planning. phasewrap_rows.c has the loops of the
 * processor, phasewrap.px.h the formulas.
 */
#include "phasewrap.h"

#include <inttypes.h>

#include "checks/checks.h"
#include "fringe/patterns.h"
#include "run/check.h"
#include "run/passes.h"
#include "phasewrap.px.h"

BODY_ROWS(phasewrap, wrap)

/* ---- options ---- */

static const char *const kinds[] = { "auto", "step", "2+1", "gray", "double", NULL };
static const char *const cells[] = { "column", "period", "half", NULL };
static const char *const flats[] = { "1", "2", "3", "auto", NULL };
static const char *const exposure_orders[] = { "set", "step", NULL };
static const char *const saturateds[] = { "invalid", "solve", NULL };
static const char *const shifts[] = { "auto", NULL };
static const char *const droppeds[] = { "auto", "time", "number", "no", "images", NULL };
static const char *const forms[] = { "phase", "vector", NULL };
static const char *const textures[] = { "max", "mean", "flat", NULL };

static const struct opt options[] = {
	{ 'k', "kind", "WORD", OPT_WORD, AT(measurement.captures.kind), "auto", 0, 0, NULL,
	  "what the images are; auto: what they say themselves, else steps", kinds },
	{ 'n', "steps", "N", OPT_INTEGER, AT(measurement.captures.steps), NULL, 1, 1000, NULL,
	  "images of one period" },
	MEASUREMENT_PERIOD_OPTIONS(struct parameters, measurement),
	{ 's', "shift", "DEG,...", OPT_ANGLES, AT(measurement.captures.shift_rad), NULL, -3600,
	  3600, "degrees",
	  "phase of each step; if not given -120,0,120 for 3, else 360 n/N; found in the images",
	  shifts },
	{ 0, "light", "RATIO,...", OPT_NUMBERS, AT(light), NULL, 0.5, 2, NULL,
	  "how bright each step's image is, over their mean, as fringegamma prints it" },
	MEASUREMENT_ORIGIN_OPTIONS(struct parameters, measurement),
	{ 0, "order", "WORD,...", OPT_TEXT, AT(measurement.captures.order), NULL, 0, 0, NULL,
	  "how images come that do not say what they are: phase,gray,flat in some order, by-step, "
	  "pairs, lsb-first" },
	{ 'G', "gray", "N[,N]", OPT_NUMBERS, AT(measurement.captures.gray), NULL, 1, 24, "planes",
	  "Gray code, of one axis or of x and y" },
	FLAG_ROW('i', "inverse", measurement.captures.inverse,
	    "Gray planes come with their inverses"),
	{ 0, "gray-cell", "WORD", OPT_WORD, AT(measurement.captures.gray_cell), NULL, 0, 0, NULL,
	  "what the Gray code counts", cells },
	{ 'F', "flats", "N", OPT_INTEGER, AT(measurement.captures.flats), NULL, 0, 2, NULL,
	  "trailing flat images: 2 are white and black, 1 lies between" },
	{ 0, "flat", "WORD", OPT_WORD, AT(measurement.captures.flat), NULL, 0, 0, NULL,
	  "which of the 2+1 images is the flat one [3]", flats },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(measurement.manifest), NULL, 0, 0, NULL,
	  "list that says what the images are, in their order" },
	FLAG_ROW(0, "rgb", measurement.captures.rgb,
	    "red, green and blue of an image are three steps"),
	MEASUREMENT_LIMIT_OPTIONS(struct parameters, measurement),
	FLAG_ROW(0, "fit-residual", fit_residual,
	    "add channel fit_residual: what the fit leaves of the images, over the amplitude"),
	{ 0, "max-fit-residual", "RATIO", OPT_NUMBER, AT(max_fit_residual), NULL, 0, 1e6, NULL,
	  "more than this makes a pixel invalid" },
	FLAG_ROW(0, "edges", edges,
	    "of a Gray code alone, with inverses: add channels edge and edge_sigma"),
	{ 0, "as", "WORD", OPT_WORD, AT(as), "phase", 0, 0, NULL,
	  "phase, or vector: its cosine and sine", forms },
	{ 0, "texture-from", "WORD", OPT_WORD, AT(texture_from), NULL, 0, 0, NULL,
	  "texture: the fringes' maximum, their mean, or the flat one of 2+1 images; flat for 2+1, "
	  "else max", textures },
	{ 0, "dropped", "WORD", OPT_WORD, AT(measurement.dropped), "auto", 0, 0, NULL,
	  "how to detect missing images", droppeds },
	{ 0, "harmonics", "FILE", OPT_FILE, AT(harmonics), NULL, 0, 0, NULL,
	  "correct the phase by the fringes' harmonics, as fringegamma writes them" },
	{ 0, "exposures", "K", OPT_INTEGER, AT(exposures.n), "1", 1, EXPOSURES_MOST, NULL,
	  "every image was taken so many times, with as many exposure times" },
	{ 0, "exposure-order", "WORD", OPT_WORD, AT(exposures.order), NULL, 0, 0, NULL,
	  "whole sets of one exposure, or all exposures of a step before the next [set]",
	  exposure_orders },
	{ 0, "exposure-time", "S,...", OPT_NUMBERS, AT(exposures.time_s), NULL, 1e-9, 1e9, "s",
	  "of each exposure, or any ratios; if not given the key, else found" },
	FLAG_ROW(0, "exposure-map", exposures.map,
	    "add channel exposure: the longest that counts, from 1 on"),
	{ 0, "saturated", "WORD", OPT_WORD, AT(exposures.saturated), "invalid", 0, 0, NULL,
	  "saturated pixels are invalid, or solved from three and more other steps", saturateds },
	NOISE_OPTIONS(struct parameters, noise),
	/* what was part of phasewrap once */
	{ 'k', "kind", "WORD", OPT_STAGE, 0, "fourier", .help = "fourierphase" },
	{ 0, "carrier", "PX[,PX]", OPT_STAGE, 0, "", .help = "fourierphase" },
	{ 0, "mirrored", NULL, OPT_STAGE, 0, "", .help = "fourierphase" },
	{ 0, "transform", "WORD", OPT_STAGE, 0, "", .help = "fourierphase" },
	{ 0, "window", "WORD", OPT_STAGE, 0, "", .help = "fourierphase" },
	{ 0, "window-width", "RATIO", OPT_STAGE, 0, "", .help = "fourierphase" },
	{ 0, "flat-removal", "WORD", OPT_STAGE, 0, "", .help = "fourierphase" },
	{ 0, "fit-noise", NULL, OPT_STAGE, .help = "camnoise" },
	{ 0 },
};

/* Tables of harmonics, and uneven light, are for plain fits with known shifts. shift_auto: --shift
 * auto. -1 after fail_usage(). */
static int
check_corrections(const struct parameters *parameters, bool shift_auto)
{
	int kind = parameters->measurement.captures.kind;
	const char *without = parameters->exposures.n > 1 ? "--exposures" :
	    parameters->exposures.saturated > 0 ? "--saturated solve" :
	    shift_auto ? "--shift auto" : kind == CAPTURES_DOUBLE ? "--kind double" : NULL;
	const char *option = parameters->harmonics ? "--harmonics" : "--light";

	if (parameters->light.n && (kind == CAPTURES_TWO_PLUS_ONE || kind == CAPTURES_GRAY))
		return fail_usage("--light", "is for --kind step");
	return (parameters->harmonics || parameters->light.n) && without
	    ? fail_usage(option, "does not correct phases by %s", without)
	    : 0;
}

/* ---- the device: one pass, whose shader reads a list of images after its block ---- */

/* Appends the images of a fringe set with their weights. */
static void
image_list_add_fringe(struct phasewrap_image **at, struct passes *passes,
    const struct capture_fringe *fringe, const struct phase_shift_fit *fit)
{
	for (size_t i = 0; i < fringe->n; i++) {
		const struct phase_shift_weights *weight = &fit->weights[i];

		passes_read(passes, fringe->plane[i]);
		*(*at)++ = (struct phasewrap_image){ (uint)fringe->plane[i], 0, weight->mean,
			weight->c, weight->s, fit->model[i].cosine, fit->model[i].sine };
	}
}

/* Appends a plane with the one that it is compared with, or itself. */
static void
image_list_add_plane(struct phasewrap_image **at, struct passes *passes, size_t plane,
    size_t inverse)
{
	passes_read(passes, plane);
	passes_read(passes, inverse);
	*(*at)++ = (struct phasewrap_image){ .plane = (uint)plane, .inverse = (uint)inverse };
}

/* as the shaders read them */
_Static_assert(sizeof(struct phase_noise_terms) == 9 * sizeof(float), "nine floats a set");

static const struct capture_set *
set_of(const struct phasewrap *wrap, size_t e)
{
	return exposures_get(&wrap->exposures, &wrap->captures, e);
}

/* Appends the planes of all Gray codes, each in all exposures, and sets the three fields of the
 * block that describe them. */
static void
pack_codes(struct passes *passes, const struct phasewrap *wrap, uint bits[2], uint inverse[2],
    uint reference[2], struct phasewrap_image **at)
{
	for (size_t i = 0; i < wrap->captures.codes; i++) {
		bits[i] = (uint)wrap->captures.code[i].n;
		inverse[i] = wrap->captures.code[i].inverse != NULL;
		reference[i] = (uint)wrap->reference[i];
		for (size_t bit = 0; bit < wrap->captures.code[i].n; bit++)
			for (size_t e = 0; e < wrap->exposures.n; e++) {
				const struct capture_code *code = &set_of(wrap, e)->code[i];
				size_t plane = code->plane[bit];

				image_list_add_plane(at, passes, plane,
				    code->inverse ? code->inverse[bit] : plane);
			}
	}
}

/* The flat images, or one of them twice. */
static void
pack_flats(struct passes *passes, const struct capture_set *captures, uint *first, uint *last)
{
	if (!captures->flats)
		return;
	*first = (uint)captures->flat[0];
	*last = (uint)captures->flat[captures->flats - 1];
	passes_read(passes, *first);
	passes_read(passes, *last);
}

/* The images of all fringe sets, in the order of each shader. */
static void
pack_fringes(struct passes *passes, const struct phasewrap *wrap, struct phasewrap_image **at)
{
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		for (size_t h = 0; wrap->halves && h < 2; h++)
			image_list_add_fringe(at, passes, &wrap->halves[k].half[h],
			    &wrap->halves[k].fit[h]);
		if (!wrap->halves)
			*(*at)++ = (struct phasewrap_image){
				.plane = (uint)wrap->captures.fringe[k].n };
		for (size_t e = 0; e < wrap->exposures.n; e++)
			image_list_add_fringe(at, passes, exposure_fringe(wrap, e, k),
			    &wrap->fit[k]);
	}
}

/* The tables that shaders read: corrections, and the terms of sigmas. -1 after fail(). */
static int
add_constants(struct passes *passes, const struct phasewrap *wrap)
{
	size_t fringes = wrap->captures.fringes;

	if (exposure_fit_used(wrap))
		return 0;
	if (wrap->correction && passes_constant(passes, wrap->correction, fringes *
	    (PHASEWRAP_CELLS + 1 + PHASEWRAP_LEVELS) * sizeof(*wrap->correction)) < 0)
		return -1;
	return wrap->sigmas ? passes_constant(passes, wrap->terms,
	    (wrap->halves ? 2 : 1) * fringes * sizeof(*wrap->terms)) : 0;
}

/* The pass of a measurement's fits, and the one that adds the edges of codes. -1 after fail(). */
static int
phasewrap_passes(struct passes *passes, const struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	bool several = exposure_fit_used(wrap);
	size_t images = 2 * passes_input(passes)->c + captures->fringes;
	size_t bytes = sizeof(struct phasewrap_block) + images * sizeof(struct phasewrap_image);
	struct phasewrap_block *block = must_alloc(1, bytes);
	struct phasewrap_image *at = (struct phasewrap_image *)(block + 1);
	struct pass pass = { .block = block, .bytes = bytes, PASS_PIXELS };
	struct pass edges = pass, plain = { .block = block, .bytes = bytes, PASS_FOURS };
	int status;

	_Static_assert(EXPOSURE_GAINS == EXPOSURES_MOST, "a gain for each exposure");
	*block = (struct phasewrap_block){ .type = passes_input(passes)->type,
		.vectors = wrap->vector, .crest = wrap->crest, .fits = wrap->fits,
		.writes_fit = wrap->writes_fit,
		.sigmas = wrap->sigmas, .fringes = (uint)captures->fringes,
		.codes = (uint)captures->codes, .reference = { UINT32_MAX, UINT32_MAX },
		.max_value = wrap->limits.max_value,
		.least_amplitude = wrap->limits.least_amplitude,
		.least_mean = wrap->limits.least_mean,
		.least_modulation = wrap->limits.least_modulation,
		.most_misfit = wrap->most_misfit, .channels = wrap->channels,
		.flats = several && !captures->codes ? 0 : (uint)captures->flats,
		.corrects = wrap->correction != NULL, .variance = wrap->noise.variance,
		.gain = wrap->noise.gain, .least = wrap->noise.least,
		.markers = (uint)captures->markers, .code_alone = wrap->code_alone,
		.judges_codes = wrap->judges_codes,
		.least_code_variance = wrap->least_code_variance, .map = wrap->exposures.map,
		.exposures = (uint)wrap->exposures.n, .shortest = (uint)wrap->exposures.shortest,
		.least_images = wrap->exposures.solves ? 3 : 0 };
	for (size_t e = 0; e < wrap->exposures.n; e++)
		block->exposure_gain[e] = wrap->exposures.gain[e];
	for (size_t i = 0; i < captures->codes; i++)
		block->along_y[i] = captures->code[i].axis == 'y';
	pack_fringes(passes, wrap, &at);
	pack_codes(passes, wrap, block->bits, block->inverse, block->reference, &at);
	for (size_t e = 0; several && block->flats && e < wrap->exposures.n; e++) {
		const size_t *flat = set_of(wrap, e)->flat;

		image_list_add_plane(&at, passes, flat[0], flat[block->flats - 1]);
	}
	if (!several)
		pack_flats(passes, captures, &block->flat_0, &block->flat_1);
	for (size_t i = 0; i < captures->markers; i++) {
		block->marker[i] = (uint)captures->marker[i].plane;
		passes_read(passes, captures->marker[i].plane);
	}
	plain.shader = SHADER(phasewrap);
	pass.shader = wrap->halves ? SHADER(phasewrap_double) : SHADER(phasewrap_exposures);
	edges.shader = SHADER(phasewrap_edges);
	status = add_constants(passes, wrap);
	if (status == 0)
		passes_add(passes, several || wrap->halves ? &pass : &plain);
	if (status == 0 && wrap->edges)
		passes_add(passes, &edges);
	free(block);
	return status;
}

/* ---- -v: how many pixels each test removes ---- */

/* For frames of this head. */
static void
removed_plan(struct removed *removed, const struct frame_head *head)
{
	free(removed->row);
	removed->row = NULL;
	if (removed->off)
		return;
	removed->rows = head->h;
	removed->row = must_alloc(head->h, sizeof(*removed->row));
}

/* Prints the counts after the last row, once in a run. */
static void
removed_report(struct removed *removed)
{
	struct { uint64_t by[REMOVED_KINDS], good; } sum = { 0 };	/* of all rows */
	uint64_t lost = 0;

	if (removed->off)
		return;
	for (size_t y = 0; y < removed->rows; y++) {
		for (size_t i = 0; i < REMOVED_KINDS; i++)
			sum.by[i] += removed->row[y].by[i];
		sum.good += removed->row[y].good;
	}
	for (size_t i = 0; i < REMOVED_KINDS; i++)
		lost += sum.by[i];
	note(NULL, "of %" PRIu64 " pixels %" PRIu64 " are invalid: saturation %" PRIu64
	    ", darkness %" PRIu64 ", modulation %" PRIu64 ", amplitude %" PRIu64 ", residual %"
	    PRIu64 ", missing %" PRIu64, lost + sum.good, lost,
	    sum.by[REMOVED_SATURATION], sum.by[REMOVED_DARKNESS], sum.by[REMOVED_MODULATION],
	    sum.by[REMOVED_AMPLITUDE], sum.by[REMOVED_RESIDUAL], sum.by[REMOVED_MISSING]);
	removed->off = true;
}

/* ---- bodies ---- */

/* After the rows of a frame, with -v. */
static void
after(struct run *run)
{
	struct priv *priv = run->priv;

	if (!priv->noted && !priv->measurement.roles_known)
		late_start_note(&priv->wrap.captures);
	priv->noted = true;
	removed_report(&priv->removed);
}

/* What is found in the images is found in each measurement anew: the camera may have begun anywhere
 * in the cycle, and its settings may have changed. */
static int
survey(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct step_search *search = &priv->step_search;
	struct meta *meta = &run_output(run)->meta;

	search->sign = priv->wrap.sign;
	search->origin_rad = priv->wrap.origin_rad;
	search->max_value = priv->wrap.limits.max_value;
	search->least_amplitude = priv->wrap.limits.least_amplitude;
	if (step_search_run(search, run, in, &priv->wrap.captures, priv->wrap.fit) < 0 ||
	    exposure_gains_find(&priv->wrap, in) < 0)
		return -1;
	if (run->verbose && priv->wrap.exposures.n > 1)
		exposure_gains_note(&priv->wrap.exposures);
	for (size_t k = 0; k < priv->wrap.captures.fringes &&
	    priv->measurement.captures.flat == FLAT_AUTO; k++)
		if (priv->wrap.captures.fringe[k].two_plus_one)
			flatness_turn(run, in, priv->wrap.captures.fringe[k].plane);
	if (priv->wrap.sigmas && priv->step_search.on)
		phase_sigma_set_terms(&priv->wrap);
	if (!priv->finds_noise)
		return 0;
	if (noise_find(in, &priv->wrap) < 0)
		return -1;
	if (run->verbose)
		note("--sigma", "variance of a sample: %.4g + %.4g level, at least %.4g, over %zu "
		    "pixel%s, shared in a window of %g px", (double)priv->wrap.noise.variance,
		    (double)priv->wrap.noise.gain, (double)priv->wrap.noise.least,
		    priv->wrap.noise_distance, priv->wrap.noise_distance == 1 ? "" : "s",
		    priv->wrap.noise_window_px);
	meta_remove(meta, "sigma_window_px");
	if (priv->wrap.noise_window_px > 0)
		meta_set_number(meta, "sigma_window_px", priv->wrap.noise_window_px);
	return 0;
}

static int
gather(struct run *run, const struct frame_head *head, size_t *planes)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	const struct manifest *manifest = measurement_manifest(&priv->measurement);

	if (capture_set_count(&priv->measurement.captures, manifest, head, planes) < 0)
		return -1;
	exposures_count(&parameters->exposures, manifest, planes);
	return 0;
}

static int
arrives(struct run *run, const struct frame_head *head, const char *path, size_t have,
    size_t wanted, bool *begins)
{
	return measurement_arrives(run, &((struct priv *)run->priv)->measurement, head, path, have,
	    wanted, begins);
}

static int
holds(struct run *run, const struct frame *in, bool ended, size_t *images, size_t *measurements)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t planes = 0;

	if (!priv->measurement.places_begun && in && (priv->step_search.on ||
	    parameters->exposures.n > 1 || gather(run, &in->head, &planes) < 0)) {
		fail_clear();
		priv->measurement.places_begun = true;
	}
	measurement_holds(run, &priv->measurement, in, planes, ended, images, measurements);
	return 0;
}

static int
passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	const struct phasewrap *wrap = &priv->wrap;

	if (wrap->sigmas && priv->step_search.on)
		return passes_refuse(passes, "--sigma goes with shifts that stay as they are");
	if (wrap->per_light)
		return passes_refuse(passes, "light is even");
	if (wrap->correction_slopes)
		return passes_refuse(passes, "harmonics are the same all over the picture");
	if (wrap->captures.markers && (wrap->halves || exposure_fit_used(wrap)))
		return passes_refuse(passes, "markers go with fits of one exposure and set");
	return phasewrap_passes(passes, wrap);
}

/* Phase shifting and Gray code. */
static const struct body body = { .gather = gather, .arrives = arrives, .holds = holds,
	.rows = phasewrap_wrap, .passes = passes };

/* ---- planning ---- */

/* With --light fringegamma measured --shift too, which corrects the shifts that are known. */
#define SHIFT_SLACK_RAD 0.1

/* The options without --shift auto, which sorts captures as if nothing was given. -1 after
 * fail_usage(). */
static int
take_captures(const struct parameters *parameters, struct priv *priv)
{
	struct capture_options *captures = &priv->measurement.captures;

	captures->shift_slack_rad = parameters->light.n ? SHIFT_SLACK_RAD : 0;
	priv->step_search.on = captures->shift_rad.n == 1 && isnan(captures->shift_rad.v[0]);
	if (priv->step_search.on)
		captures->shift_rad = (struct numbers){ 0 };
	if (priv->step_search.on && captures->kind != CAPTURES_ALL &&
	    captures->kind != CAPTURES_STEP)
		return fail_usage("--shift", "auto is for --kind step");
	if (priv->step_search.on && parameters->exposures.n > 1)
		return fail_usage("--shift", "auto is for one exposure");
	return 0;
}

/* Fills in what the checks know (run/check.h). */
static void
state_facts(struct run *run, const struct frame_head *in)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	struct check_facts *facts = run_check_facts(run);

	facts->captures = &priv->wrap.captures;
	facts->fit = priv->wrap.fit;
	facts->shifts_stated = priv->measurement.captures.shift_rad.n > 0 || priv->step_search.on;
	facts->sign_stated = parameters->measurement.sign >= 0 || meta_get(&in->meta, "phase_sign");
	facts->roles_stated = priv->measurement.roles_known;
	facts->several_exposures = priv->wrap.exposures.n > 1;
	facts->max_value_given = !isnan(parameters->measurement.max_value);
	facts->max_value = (double)priv->wrap.limits.max_value;
	facts->min_mean = (double)priv->wrap.limits.least_mean;
	facts->min_amplitude = (double)priv->wrap.limits.least_amplitude;
	facts->min_modulation = (double)priv->wrap.limits.least_modulation;
	facts->file = run->operand;
	facts->files = run->position || priv->measurement.captures.rgb ? 0 : run->operands;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct measurement *measurement = &priv->measurement;

	if (parameters->harmonics && harmonics_check(&priv->harmonics, in) < 0)
		return -1;
	phasewrap_forget(&priv->wrap);
	priv->wrap.vector = parameters->as == AS_VECTOR;
	if (measurement_begin(run, measurement, in) < 0 ||
	    phasewrap_sort(measurement, parameters, in, &priv->wrap) < 0 ||
	    step_search_plan(&priv->step_search, &priv->wrap.captures, &out->meta) < 0 ||
	    phasewrap_limit(run, in, &priv->wrap) < 0)
		return -1;
	/* its tests know one exposure only */
	priv->removed.off |= priv->wrap.exposures.n > 1;
	if (harmonics_correct(&priv->harmonics, &priv->wrap, parameters->noise.sigma) < 0 ||
	    noise_plan(&parameters->noise, in, &priv->wrap, &priv->finds_noise) < 0)
		return -1;
	removed_plan(&priv->removed, in);
	if (parameters->harmonics &&
	    compensation_set_file(&out->meta, "phase_correction", parameters->harmonics) < 0)
		return -1;
	state_facts(run, in);
	if (phasewrap_describe(&priv->wrap, parameters->texture_from, out) < 0)
		return -1;
	measurement_describe(measurement, &out->meta);
	return 0;
}

static int
init(struct run *run)
{
	struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct measurement *measurement = &priv->measurement;
	long steps = parameters->measurement.captures.steps;

	priv->step_search.verbose = run->verbose;
	priv->body = body;
	priv->body.after = run->verbose ? after : NULL;
	priv->removed.off = !run->verbose;
	run->body = &priv->body;
	if (steps == 1 || steps == 2)
		return fail_usage("--steps", "must be 3 to 1000, not '%ld': fourierphase takes a "
		    "single image of fringes, steger images of a laser's line", steps);
	if (noise_check(&parameters->noise) < 0 ||
	    measurement_init(run, &parameters->measurement, parameters->exposures.n <= 1,
		measurement) < 0 || take_captures(parameters, priv) < 0 ||
	    capture_set_check(&measurement->captures) < 0 ||
	    exposures_check(&parameters->exposures, &measurement->captures) < 0 ||
	    check_corrections(parameters, priv->step_search.on) < 0)
		return -1;
	if (parameters->harmonics && harmonics_load(parameters->harmonics, &priv->harmonics) < 0)
		return -1;
	if (measurement->captures.flat == FLAT_AUTO || priv->step_search.on ||
	    parameters->exposures.n > 1 || noise_unknown(&parameters->noise))
		priv->body.survey = survey;
	return measurement_read_manifest(run, measurement);
}

static void
end(struct run *run)
{
	struct priv *priv = run->priv;

	phasewrap_forget(&priv->wrap);
	free(priv->harmonics.row);
	free(priv->removed.row);
	step_search_free(&priv->step_search);
	measurement_free(&priv->measurement);
}

static const struct check *const checks[] = { &check_max_value, &check_min_amplitude,
	&check_saturation, &check_clipped, &check_dark_image, &check_no_fringes, &check_unlit,
	&check_steps, &check_assumed_shifts, &check_direction, &check_gray, NULL };

const struct stage stage_phasewrap = {
	.name = "phasewrap",
	.summary = "wrapped phase out of phase-shifted fringe images, index out of a Gray code",
	.hint = "--min-amplitude, --min-modulation, --dark, --max-value, --max-fit-residual, and "
	    "whether the images show fringes",
	.options = options,
	.usual = "kind steps period count field axis shift sign phase-origin order gray inverse "
	    "gray-cell flats manifest min-amplitude min-modulation dark max-value as",
	STAGE_MEMORY(priv),
	.checks = checks,
	.traits = STAGE_ANY_TYPE | STAGE_CONCURRENT,
	.example = { "phasewrap", "images", "phases" },
	.init = init,
	.plan = plan,
	.release = end,
};
