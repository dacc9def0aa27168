/*
 * The projector's response, and the harmonics of its fringes, from captured images: options, the
 * images of a measurement, what is found of each set of fringes or of flats, tables. harmonic_fit.c
 * fits harmonics, response.c a gamma, report.c prints, fringegamma_rows.c has the loops.
 */
#include "fringegamma.h"

#include "io/safe_file.h"
#include "run/stage.h"

struct parameters {
	struct capture_options captures;
	const char *manifest, *lut, *harmonics;
	struct numbers levels;
	int sign, channel;
	long highest;
	double full, mean, amplitude, max_value, min_swing, phase_origin;
	bool json, vary;
};

static const char *const signs[] = { "+1", "-1", "1", NULL };
static const char *const channels[] = { "r", "g", "b", NULL };

static const struct opt options[] = {
	{ 'n', "steps", "N", OPT_INTEGER, AT(captures.steps), NULL, 3, FIT_IMAGES, NULL,
	  "images of one period", NULL },
	{ 'p', "period", "PX,...", OPT_NUMBERS, AT(captures.period_px), NULL, 1e-3, 1e6,
	  "projector px", "fringe periods, as many as there are", NULL },
	{ 'a', "axis", "x|y,...", OPT_TEXT, AT(captures.axis), NULL, 0, 0, NULL,
	  "along which the phase varies, one for all or one per period", NULL },
	{ 's', "shift", "DEG,...", OPT_ANGLES, AT(captures.shift_rad), NULL, -3600, 3600, "degrees",
	  "phase of each step; if not given -120,0,120 for 3, else 360 n/N", NULL },
	{ 0, "sign", "+1|-1", OPT_WORD, AT(sign), NULL, 0, 0, NULL,
	  "of the shifts, in foreign images: I = A + B cos(phase + sign * shift)", signs },
	{ 0, "phase-origin", "DEG", OPT_ANGLE, AT(phase_origin), NULL, -3600, 3600, "degrees",
	  "what the phase of foreign images is at projector column 0", NULL },
	{ 0, "order", "WORD,...", OPT_TEXT, AT(captures.order), NULL, 0, 0, NULL,
	  "how images come that do not say what they are, as of phasewrap", NULL },
	{ 'm', "manifest", "FILE", OPT_FILE, AT(manifest), NULL, 0, 0, NULL,
	  "list that says what the images are, in their order", NULL },
	{ 0, "levels", "LEVEL,...", OPT_NUMBERS, AT(levels), NULL, 0, 1e6, NULL,
	  "the images are flat, of these levels of the projector", NULL },
	{ 0, "full", "LEVEL", OPT_NUMBER, AT(full), "255", 1e-6, 1e6, NULL,
	  "full scale of --levels", NULL },
	{ 0, "channel", "WORD", OPT_WORD, AT(channel), NULL, 0, 0, NULL,
	  "take this one of colour images", channels },
	{ 0, "mean", "SHARE", OPT_NUMBER, AT(mean), "0.5", 0, 1, NULL,
	  "of the fringes' levels, of full scale", NULL },
	{ 0, "amplitude", "SHARE", OPT_NUMBER, AT(amplitude), "0.48", 1e-3, 0.5, NULL,
	  "likewise", NULL },
	{ 0, "highest", "K", OPT_INTEGER, AT(highest), NULL, 2, FIT_HIGHEST, NULL,
	  "harmonic; all that the steps tell if not given, 10 at most", NULL },
	{ 0, "min-swing", "LEVELS", OPT_NUMBER, AT(min_swing), NULL, 0, 1e30, "grey levels",
	  "pixels that change less from image to image have no fringes", NULL },
	{ 0, "max-value", "LEVEL", OPT_NUMBER, AT(max_value), NULL, 0, 1e30, "grey levels",
	  "an image that reaches it is saturated; else 255, 65535, none for float", NULL },
	{ 0, "lut", "FILE", OPT_FILE, AT(lut), NULL, 0, 0, NULL,
	  "write the table for fringegen --lut", NULL },
	{ 0, "harmonics", "FILE", OPT_FILE, AT(harmonics), NULL, 0, 0, NULL,
	  "write the table for phasewrap --harmonics", NULL },
	FLAG_ROW(0, "vary", vary,
	    "harmonics change over the picture, each along a plane: of seven steps and more"),
	FLAG_ROW(0, "json", json, "print JSON"),
	{ 0 },
};

/* ---- fringes ---- */

struct analysis {
	const struct parameters *parameters;
	double most;			/* a sample that reaches it is saturated */
	double sign, origin_rad;	/* of the shifts */
};

#define DEFAULT_HIGHEST 10
#define FEW_STEPS 7		/* fewer do not show harmonics up to the third without a model */
#define MAX_UNEXPLAINED 0.03	/* of the amplitude */
#define MAX_SPREAD 0.05		/* of the fundamental, between parts of the picture */
#define MAX_GAMMA_CHI 2.0	/* squares of differences over errors, per degree of freedom */

/* The highest harmonic to fit: 1 for none, where a gamma comes from three steps. */
static int
find_highest(long wanted, struct harmonic_fit *fit)
{
	long reach = harmonic_fit_reach(fit->shift_rad, fit->images);

	if (wanted == OPT_NONE_INTEGER)
		wanted = reach < DEFAULT_HIGHEST ? reach : DEFAULT_HIGHEST;
	else if (fit->images == 3)
		return fail("--highest", "three steps show no harmonics, only a gamma: at least 4 "
		    "are needed");
	fit->highest = wanted;
	return reach >= wanted ? 0 : fail("--highest", "harmonic %ld is not seen by these %zu "
	    "steps, which tell harmonics up to %ld: harmonic %ld needs %ld or more", wanted,
	    fit->images, reach, wanted, wanted + 2);
}

/* Replaces the measured harmonics by those of the gamma. */
static void
take_gamma(struct finding *f, struct response_levels levels)
{
	const struct response_gamma *g = &f->gamma;

	f->harmonics = (struct response_harmonics){ .highest = DEFAULT_HIGHEST };
	response_predict(levels, g->gamma, g->blur, DEFAULT_HIGHEST, f->harmonics.cosine);
	for (long k = 2; k <= DEFAULT_HIGHEST; k++)
		f->harmonics.error[k] = fmax(g->gamma_error, 1e-9);
	f->has_harmonics = true;
}

/* Judges the fit by what it leaves unexplained. -1 after fail(). */
static int
check_fit(const struct harmonic_fit *fit)
{
	if (fit->unexplained > MAX_UNEXPLAINED)
		return fail(NULL, "these images do not fit %zu steps with harmonics: %.3f of the "
		    "amplitude is left of their means (two are exchanged, one is missing, other "
		    "light changed, or pixels are saturated)", fit->images, fit->unexplained);
	if (fit->spread > MAX_SPREAD)
		warn(NULL, "the harmonics differ by %.3f of the fundamental from part to part of "
		    "the picture, bright or dark: the camera may be saturated or not linear, or "
		    "the blur differ", fit->spread);
	return 0;
}

/* The harmonics that the steps show. */
static struct response_harmonics
seen_harmonics(const struct harmonic_fit *fit)
{
	struct response_harmonics harmonics = { .highest = fit->highest };

	for (long k = 2; k <= fit->highest; k++) {
		if (!fit->seen[k])
			continue;
		harmonics.cosine[k] = fit->cosine[k];
		harmonics.sine[k] = fit->sine[k];
		harmonics.error[k] = fmax(fmax(fit->cosine_error[k], fit->sine_error[k]), 1e-9);
	}
	return harmonics;
}

/* Few steps: takes the harmonics that they do not show from the gamma of those that they do, and
 * fits again. */
static int
complete(struct run *run, const struct pixels *pixels, struct response_levels levels,
    struct harmonic_fit *fit)
{
	double predicted[RESPONSE_HIGHEST + 1];

	for (int round = 0; round < 3; round++) {
		struct response_harmonics harmonics = seen_harmonics(fit);
		struct response_gamma gamma = response_fit(levels, &harmonics);

		if (!gamma.fits)
			return 0;
		response_predict(levels, gamma.gamma, gamma.blur, DEFAULT_HIGHEST, predicted);
		for (long k = 2; k <= DEFAULT_HIGHEST; k++)
			if (k > fit->highest || !fit->seen[k])
				fit->cosine[k] = predicted[k];
		fit->known = DEFAULT_HIGHEST;
		if (fit_harmonics(run, pixels, fit) < 0)
			return -1;
	}
	return 0;
}

/* Do the measured harmonics differ from the gamma's by no more than their errors? Then those of the
 * gamma, which has two unknowns, are more accurate. */
static bool
is_gamma(const struct harmonic_fit *fit, const struct response_gamma *gamma,
    struct response_levels levels)
{
	double predicted[RESPONSE_HIGHEST + 1], chi = 0, n = 0;

	if (!gamma->fits)
		return false;
	response_predict(levels, gamma->gamma, gamma->blur, fit->highest, predicted);
	for (long k = 2; k <= fit->highest; k++) {
		double c = (fit->cosine[k] - predicted[k]) / fit->cosine_error[k];
		double s = fit->sine[k] / fit->sine_error[k];

		if (!fit->seen[k])
			continue;
		chi += c * c + s * s;
		n += 2;
	}
	return chi < MAX_GAMMA_CHI * (n - 2);
}

static int
by_harmonics(struct run *run, const struct pixels *pixels, struct response_levels levels,
    struct finding *f)
{
	struct harmonic_fit *fit = f->fit;

	if (fit_harmonics(run, pixels, fit) < 0)
		return -1;
	if (fit->images < FEW_STEPS && complete(run, pixels, levels, fit) < 0)
		return -1;
	if (check_fit(fit) < 0)
		return -1;
	f->harmonics = seen_harmonics(fit);
	f->gamma = response_fit(levels, &f->harmonics);
	f->of_gamma = fit->images >= FEW_STEPS && !fit->slopes && is_gamma(fit, &f->gamma, levels);
	f->method = fit->images < FEW_STEPS ? BY_GAMMA : BY_HARMONICS;
	f->has_harmonics = true;
	if (f->method == BY_GAMMA && !f->gamma.fits)
		return fail(NULL, "no gamma explains the harmonics of these %zu steps (%.3f leaves "
		    "%.0f %% of them): take %d steps or more", fit->images, f->gamma.gamma,
		    100 * f->gamma.left, FEW_STEPS);
	if (f->method == BY_GAMMA || f->of_gamma)
		take_gamma(f, levels);
	return 0;
}

/* The fit of one set of fringes, planned. -1 after fail(). */
static int
plan_fit(const struct analysis *analysis, const struct capture_fringe *fringe,
    struct harmonic_fit *fit)
{
	if (fringe->two_plus_one)
		return fail(NULL, "sine, cosine and flat (2+1) show no harmonics: take steps");
	if (fringe->n > FIT_IMAGES)
		return fail(NULL, "%zu steps are more than %d", fringe->n, FIT_IMAGES);
	if (analysis->parameters->vary && fringe->n < FEW_STEPS)
		return fail("--vary", "needs %d steps or more, these are %zu", FEW_STEPS,
		    fringe->n);
	fit->images = fringe->n;
	fit->slopes = analysis->parameters->vary;
	for (size_t n = 0; n < fringe->n; n++)
		fit->shift_rad[n] = analysis->sign * fringe->shift_rad[n] + analysis->origin_rad;
	if (find_highest(analysis->parameters->highest, fit) < 0)
		return -1;
	return fit->highest > 1 || fringe->n == 3 ? 0 : fail(NULL, "the shifts of these %zu steps "
	    "show no harmonics", fringe->n);
}

/* Analyses one set of fringes. -1 after fail(); out->fit is the caller's in either case. */
static int
analyse_fringes(struct run *run, const struct analysis *analysis, const struct frame *in,
    const struct capture_fringe *fringe, struct response_levels levels, struct finding *out)
{
	struct harmonic_fit *fit = must_alloc(1, sizeof(*fit));
	struct pixels *pixels = &out->pixels;
	char name[CAPTURE_SET_NAME_SIZE];
	int status;

	*out = (struct finding){ .axis = fringe->axis, .period_px = fringe->period_px,
		.images = fringe->n, .fit = fit, .w = in->head.w, .h = in->head.h,
		.sign = analysis->sign, .origin_rad = analysis->origin_rad };
	if (plan_fit(analysis, fringe, fit) < 0)
		return -1;
	status = pixels_take(in, fringe->plane, fringe->n, analysis->most,
	    analysis->parameters->min_swing, pixels);
	if (status == 0 && fit->highest > 1) {
		status = by_harmonics(run, pixels, levels, out);
	} else if (status == 0) {	/* three steps, which every pixel fits: a gamma */
		out->method = BY_UNEVEN;
		status = uneven_fit(in, fringe->plane, pixels, fit->shift_rad, levels,
		    &out->uneven);
		out->gamma = (struct response_gamma){ .gamma = out->uneven.gamma,
			.gamma_error = out->uneven.gamma_error, .fits = true };
		if (status == 0)
			take_gamma(out, levels);
	}
	free(pixels->v);
	if (out->method == BY_UNEVEN) {
		free(out->fit);
		out->fit = NULL;
	}
	if (status < 0)
		fail_prefix(capture_set_name(fringe, name));
	return status;
}

/* ---- flats ---- */

/* Analyses flats, in the order of their levels. */
static int
analyse_flats(const struct analysis *analysis, const struct frame *in, const struct numbers *level,
    struct response_levels levels, struct finding *out)
{
	size_t *plane = must_alloc(level->n, sizeof(*plane));
	int status;

	*out = (struct finding){ .method = BY_FLATS, .period_px = NAN, .images = level->n };
	for (size_t i = 0; i < level->n; i++)
		plane[i] = i;
	status = pixels_take(in, plane, level->n, analysis->most, analysis->parameters->min_swing,
	    &out->pixels);
	if (status == 0)
		status = flats_fit(&out->pixels, level, analysis->parameters->full, &out->flats);
	out->gamma = out->flats.gamma;
	if (status == 0)
		out->has_harmonics = flats_harmonics(&out->flats, levels, &out->harmonics);
	free(out->pixels.v);
	free(plane);
	return status;
}

/* ---- tables ---- */

#define MAX_SINES 0.2		/* of the harmonics: a table cannot undo sines */
#define MIN_HARMONICS 1e-3	/* smaller ones are no reason to refuse a table */

/* The share of sines in the harmonics; *all: their size. */
static double
sines(const struct response_harmonics *h, double *all)
{
	double sum = 0;

	*all = 0;
	for (long k = 2; k <= h->highest; k++) {
		sum += h->sine[k] * h->sine[k];
		*all += h->sine[k] * h->sine[k] + h->cosine[k] * h->cosine[k];
	}
	*all = sqrt(*all);
	return *all > 0 ? sqrt(sum) / *all : 0;
}

/* Fills the table from the finding whose fringes are blurred least. NULL after fail(). */
static const struct finding *
analyse_table(const struct findings *all, double *table)
{
	const struct finding *best = &all->finding[0];
	double size, share;

	for (size_t i = 1; i < all->n; i++)
		if (all->finding[i].period_px > best->period_px)
			best = &all->finding[i];
	if (*all->compensation) {
		fail("--lut", "the patterns were compensated already (%s), and a table would "
		    "stand in its place: measure without", all->compensation);
		return NULL;
	}
	if (best->gamma.fits || best->method == BY_FLATS) {
		if (!best->gamma.fits)
			response_table_flats(&best->flats, table);
		else
			for (size_t i = 0; i < RESPONSE_ROWS; i++)
				table[i] = pow((double)i / (RESPONSE_ROWS - 1),
				    1 / best->gamma.gamma);
		return best;
	}
	share = sines(&best->harmonics, &size);
	if (share > MAX_SINES && size > MIN_HARMONICS) {
		fail("--lut", "%.0f %% of the harmonics are sines, which come from no response of "
		    "levels: no table undoes them, phasewrap --harmonics does", 100 * share);
		return NULL;
	}
	return response_table_harmonics(all->levels, &best->harmonics, table) < 0 ? NULL : best;
}

/* ---- planning ---- */

struct priv {
	struct manifest manifest, measurement;	/* the second: the rows of one measurement */
	bool manifest_read;
	char **file;				/* of the manifest, where no operands are given */
	struct capture_set captures;
	struct analysis analysis;
	struct findings findings;
	size_t measurements;
};

static int
gather(struct run *run, const struct frame_head *head, size_t *planes)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;

	if (parameters->levels.n) {
		*planes = parameters->levels.n;
		return 0;
	}
	return capture_set_count(&parameters->captures,
	    priv->manifest_read ? &priv->measurement : NULL, head, planes);
}

static int
find_limits(const struct run *run, const struct frame_head *in, struct analysis *analysis)
{
	static const double usual[] = { 255, 65535, INFINITY }, words[] = { 1, -1, 1 };
	const struct parameters *parameters = run->parameters;

	analysis->parameters = parameters;
	if (run_number(run, parameters->max_value, in, "max_value", usual[in->type],
	    &analysis->most) < 0 ||
	    meta_number(&in->meta, "phase_sign", 1, &analysis->sign) < 0 ||
	    meta_number(&in->meta, "phase_origin_rad", 0, &analysis->origin_rad) < 0)
		return -1;
	if (parameters->sign >= 0)
		analysis->sign = words[parameters->sign];
	if (analysis->sign != 1 && analysis->sign != -1)
		return fail("phase_sign", "must be 1 or -1, not %g", analysis->sign);
	if (!isnan(parameters->phase_origin))
		analysis->origin_rad = parameters->phase_origin;
	return 0;
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	const struct manifest *manifest = priv->manifest_read ? &priv->measurement : NULL;
	size_t operands = run->position ? 0 : run->operands;
	const char *compensation = meta_get(&in->meta, "compensation");

	capture_set_free(&priv->captures);
	priv->captures = (struct capture_set){ 0 };
	snprintf(priv->findings.compensation, sizeof(priv->findings.compensation), "%s",
	    compensation ? compensation : "");
	if (meta_get(&in->meta, "phase_correction"))
		return fail("phase_correction", "these are phases that are corrected already, not "
		    "images");
	if (find_limits(run, in, &priv->analysis) < 0)
		return -1;
	if (parameters->levels.n)
		return 0;
	if (capture_set_check_names(&parameters->captures, manifest, in, run->operand,
	    operands) < 0 ||
	    capture_set_sort(&parameters->captures, manifest, in, &priv->captures) < 0)
		return -1;
	return priv->captures.fringes ? 0 : fail(NULL, "there are no fringe images among these");
}

/* ---- results ---- */

static int
write_file(const char *path, const struct findings *findings, const struct finding *of,
    const double *table)
{
	struct safe_file *place;
	FILE *out = safe_file_open(path, &place);

	if (!out)
		return -1;
	if (table)
		report_lut(findings, of, table, out);
	else
		report_harmonics(findings, out);
	return safe_file_close(out, path, place, true);
}

/* Computes the tables first: if one is impossible, nothing is written. */
static int
report(struct run *run)
{
	const struct parameters *parameters = run->parameters;
	const struct findings *findings = &((const struct priv *)run->priv)->findings;
	const struct finding *of = NULL;
	double table[RESPONSE_ROWS];
	struct safe_file *place;
	bool any = false;
	FILE *out;

	for (size_t i = 0; i < findings->n; i++)
		any |= findings->finding[i].has_harmonics;
	if (parameters->harmonics && !any)
		return fail("--harmonics", "the flats do not reach from %g to %g of full scale, as "
		    "fringes do: give --mean and --amplitude",
		    findings->levels.mean - findings->levels.amplitude,
		    findings->levels.mean + findings->levels.amplitude);
	if (parameters->lut && !(of = analyse_table(findings, table)))
		return -1;
	if (parameters->lut && write_file(parameters->lut, findings, of, table) < 0)
		return -1;
	if (parameters->harmonics && write_file(parameters->harmonics, findings, NULL, NULL) < 0)
		return -1;
	out = safe_file_open(run->output, &place);
	if (!out)
		return -1;
	(parameters->json ? report_json : report_text)(findings, out);
	return safe_file_close(out, run->output, place, true);
}

static void
forget(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		free(findings->finding[i].fit);
		free(findings->finding[i].flats.level);
	}
	free(findings->finding);
	findings->finding = NULL;
	findings->n = 0;
}

static int
analyse(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct findings *findings = &priv->findings;
	size_t n = parameters->levels.n ? 1 : priv->captures.fringes;
	int status = 0;

	findings->levels = (struct response_levels){ parameters->mean, parameters->amplitude };
	findings->finding = must_alloc(n, sizeof(*findings->finding));
	while (findings->n < n && status == 0) {
		struct finding *finding = &findings->finding[findings->n];

		status = parameters->levels.n ?
		    analyse_flats(&priv->analysis, in, &parameters->levels, findings->levels,
			finding) :
		    analyse_fringes(run, &priv->analysis, in, &priv->captures.fringe[findings->n],
			findings->levels, finding);
		findings->n++;
	}
	return status;
}

static int
frame(struct run *run, struct frame *in)
{
	struct priv *priv = run->priv;
	int status;

	if (priv->measurements) {
		status = fail(NULL, "takes one measurement, and these images are several: give "
		    "--steps, or fewer images");
	} else {
		status = analyse(run, in);
		if (status < 0)
			forget(&priv->findings);
		else
			priv->measurements++;
	}
	frame_free(in);
	return status;
}

static int
finish(struct run *run)
{
	return ((const struct priv *)run->priv)->measurements ? report(run) : 0;
}

/* ---- beginning and end ---- */

#define MIN_FLATS 4

static int
check_outputs(const struct run *run, const struct parameters *p)
{
	const char *const paths[] = { p->lut, p->harmonics };
	const char *const names[] = { "--lut", "--harmonics" };

	for (int i = 0; i < 2; i++) {
		if (paths[i] && !strcmp(paths[i], "-"))
			return fail_usage(names[i], "wants a file: the report goes to standard "
			    "output");
		if (safe_file_same(paths[i], run->output))
			return fail_usage(names[i], "is the file that -o writes");
	}
	return safe_file_same(p->lut, p->harmonics) ?
	    fail_usage("--harmonics", "is the file that --lut writes") : 0;
}

static int
check_levels(const struct parameters *p)
{
	const struct capture_options *c = &p->captures;

	if (p->vary && !p->harmonics)
		return fail_usage("--vary", "is for the table of --harmonics");
	if (p->levels.n == 0)
		return 0;
	if (p->vary)
		return fail_usage("--vary", "flats show no change over the picture");
	if (c->steps != OPT_NONE_INTEGER || c->period_px.n || c->shift_rad.n || c->axis ||
	    c->order || p->manifest || p->highest != OPT_NONE_INTEGER || p->sign >= 0 ||
	    !isnan(p->phase_origin))
		return fail_usage("--levels", "says that the images are flat: no --steps, "
		    "--period, --axis, --shift, --sign, --phase-origin, --order, --manifest or "
		    "--highest");
	if (p->levels.n < MIN_FLATS)
		return fail_usage("--levels", "needs %d levels or more, has %zu", MIN_FLATS,
		    p->levels.n);
	for (size_t i = 0; i < p->levels.n; i++)
		if (!(p->levels.v[i] <= p->full))
			return fail_usage("--levels", "%g is above full scale, %g (--full)",
			    p->levels.v[i], p->full);
	return 0;
}

static int
check_options(const struct run *run, const struct parameters *p)
{
	if (p->amplitude > p->mean + 1e-9 || p->amplitude > 1 - p->mean + 1e-9)
		return fail_usage("--amplitude", "%g about a mean of %g is not within 0 to 1",
		    p->amplitude, p->mean);
	return check_levels(p) < 0 ? -1 : check_outputs(run, p);
}

static const struct body body = { .gather = gather, .frame = frame, .end = finish,
	.no_passes = "one fit of all pixels" };

static int
read_manifest(struct run *run, const char *path)
{
	struct priv *priv = run->priv;

	if (manifest_load(path, &priv->manifest) < 0)
		return -1;
	priv->manifest_read = true;
	priv->measurement = (struct manifest){ manifest_measurement(&priv->manifest),
		priv->manifest.row };
	return manifest_operands(&priv->manifest, path, run, &priv->file);
}

static int
init(struct run *run)
{
	struct parameters *p = run->parameters;

	run->body = &body;
	run->sink = true;
	run->colour = p->channel >= 0 ? (enum colour)(COLOUR_RED + p->channel) : COLOUR_GREY;
	p->captures.flats = OPT_NONE_INTEGER;
	p->captures.gray_cell = -1;
	p->captures.flat = FLAT_DESCRIBED;
	if (check_options(run, p) < 0)
		return -1;
	if (p->levels.n == 0 && capture_set_check(&p->captures) < 0)
		return -1;
	return p->manifest ? read_manifest(run, p->manifest) : 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	forget(&priv->findings);
	capture_set_free(&priv->captures);
	free(priv->file);
	if (priv->manifest_read)
		manifest_free(&priv->manifest);
}

const struct stage stage_fringegamma = {
	.name = "fringegamma",
	.summary = "the projector's response and the harmonics of its fringes",
	.options = options,
	.usual = "steps period manifest mean amplitude lut harmonics vary levels full",
	STAGE_MEMORY(priv),
	.traits = STAGE_SINK | STAGE_ANY_TYPE,
	.init = init,
	.plan = plan,
	.release = release,
};
