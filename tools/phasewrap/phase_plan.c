/*
 * What is planned for a measurement: which image is what, the fits of the fringe sets, the halves
 * of --kind double, thresholds of Gray planes, limits, light, and the channels that come out.
 */
#include "phasewrap.h"

#include <stdio.h>

#include "base/text.h"

/* ---- --kind double: two sets of three steps ---- */

#define SAME_SHIFT_RAD 0.01

/* How far apart the angles are, modulo a third of a turn. */
static double
apart(double a, double b)
{
	return fabs(remainder(a - b, 2 * M_PI / 3));
}

/* Do three shifts stand a third of a turn apart? */
static bool
are_thirds(const double *shift_rad)
{
	for (size_t i = 0; i < 3; i++) {
		double step = fabs(remainder(shift_rad[(i + 1) % 3] - shift_rad[i], 2 * M_PI));

		if (fabs(step - 2 * M_PI / 3) > SAME_SHIFT_RAD)
			return false;
	}
	return true;
}

/* Puts the images into two sets, by their shifts. */
static int
split_steps(const struct capture_fringe *fringe, struct double_three *out)
{
	size_t n[2] = { 0 };
	char name[CAPTURE_SET_NAME_SIZE];

	for (size_t i = 0; i < fringe->n; i++) {
		size_t h = apart(fringe->shift_rad[i], fringe->shift_rad[0]) > SAME_SHIFT_RAD;

		if (fringe->n != 6 || n[h] == 3)
			break;
		out->plane[h][n[h]] = fringe->plane[i];
		out->shift_rad[h][n[h]++] = fringe->shift_rad[i];
	}
	if (n[0] != 3 || n[1] != 3 || !are_thirds(out->shift_rad[0]) ||
	    !are_thirds(out->shift_rad[1]) ||
	    fabs(apart(out->shift_rad[0][0], out->shift_rad[1][0]) - M_PI / 3) > SAME_SHIFT_RAD)
		return fail("--kind", "double wants two sets of three steps of 120 degrees, 60 "
		    "degrees apart, as --shift=-120,0,120,-60,60,180: those of %s are no such",
		    capture_set_name(fringe, name));
	for (size_t h = 0; h < 2; h++)
		out->half[h] = (struct capture_fringe){ .axis = fringe->axis,
			.period_px = fringe->period_px, .n = 3, .plane = out->plane[h],
			.shift_rad = out->shift_rad[h] };
	return 0;
}

/* Allocates wrap->halves for captures whose fits are solved. -1 after fail(), where the shifts are
 * not two such sets. */
static int
double_three_plan(struct phasewrap *wrap)
{
	size_t n = wrap->captures.fringes;

	wrap->halves = must_alloc(n + 1, sizeof(*wrap->halves));
	if (n == 0)
		return fail("--kind", "double wants six images of a period");
	for (size_t k = 0; k < n; k++) {
		struct double_three *own = &wrap->halves[k];

		if (split_steps(&wrap->captures.fringe[k], own) < 0)
			return -1;
		for (size_t h = 0; h < 2; h++)
			if (phase_shift_weights_solve(&own->half[h], wrap->sign, wrap->origin_rad,
			    &own->fit[h]) < 0)
				return -1;
	}
	return 0;
}

static void
double_three_free(struct phasewrap *wrap)
{
	for (size_t k = 0; wrap->halves && k < wrap->captures.fringes; k++)
		for (size_t h = 0; h < 2; h++)
			phase_shift_weights_free(&wrap->halves[k].fit[h]);
	free(wrap->halves);
	wrap->halves = NULL;
}

/* ---- which image is what ---- */

/* The fits of all fringe sets, see phase_shift_weights_solve(). -1 after fail(). */
static int
solve_fits(struct phasewrap *wrap, double sign, double origin_rad)
{
	wrap->sign = sign;
	wrap->origin_rad = origin_rad;
	wrap->fit = must_alloc(wrap->captures.fringes + 1, sizeof(*wrap->fit));
	for (size_t k = 0; k < wrap->captures.fringes; k++)
		if (phase_shift_weights_solve(&wrap->captures.fringe[k], sign, origin_rad,
		    &wrap->fit[k]) < 0)
			return -1;
	return 0;
}

int
phasewrap_sort(struct measurement *measurement, const struct parameters *parameters,
    const struct frame_head *in, struct phasewrap *wrap)
{
	const struct capture_options *captures = &measurement->captures;
	const struct manifest *manifest = measurement_manifest(measurement);
	struct exposure_planes planes;
	int status = exposure_planes_find(&parameters->exposures, captures, manifest, in, &planes);

	if (status == 0)
		status = exposure_planes_sort(&planes, captures, manifest, in, 0, &wrap->captures);
	if (status == 0 && parameters->exposures.n > 1 && wrap->captures.markers)
		status = fail("--exposures", "takes no marker: leave its image out");
	if (status == 0)
		status = measurement_solve(measurement, &planes.head, &wrap->captures);
	if (status == 0)
		status = solve_fits(wrap, measurement->sign, measurement->origin_rad);
	if (status == 0 && captures->kind == CAPTURES_DOUBLE)
		status = double_three_plan(wrap);
	if (status == 0)
		status = exposures_plan(&parameters->exposures, captures, manifest, in, &planes,
		    &wrap->captures, &wrap->exposures);
	exposure_planes_free(&planes);
	return status;
}

/* ---- thresholds, limits, light ---- */

/* Is it Gray code alone, with inverses, of one exposure? */
static bool
has_code_alone(const struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	bool alone = captures->fringes == 0 && captures->codes && wrap->exposures.n <= 1;

	for (size_t i = 0; i < captures->codes; i++)
		alone = alone && captures->code[i].inverse;
	return alone;
}

/* --edges. -1 after fail(). */
static int
edges_plan(struct run *run, const struct frame_head *in, struct phasewrap *wrap)
{
	const struct parameters *parameters = run->parameters;

	wrap->edges = parameters->edges;
	wrap->code_alone = has_code_alone(wrap);
	wrap->judges_codes = wrap->code_alone && wrap->captures.flats < 2;
	/* two samples, each rounded with a variance of 1/12 */
	wrap->least_code_variance = in->type == SAMPLE_FLOAT ? 0 : 1.0f / 6;
	run->halo = 0;
	if (!wrap->edges)
		return 0;
	if (!wrap->code_alone)
		return fail("--edges", "is for a Gray code with inverses, without fringes and of "
		    "one exposure (--kind gray --inverse)");
	for (size_t i = 0; i < wrap->captures.codes; i++)
		if (wrap->captures.code[i].axis == 'y')
			run->halo = 2;
	return 0;
}

/* For each code sets wrap->reference, the fringe set whose mean is its threshold. -1 after fail().
 */
static int
thresholds_plan(struct phasewrap *wrap, const struct measurement_options *options)
{
	const struct capture_set *captures = &wrap->captures;
	size_t *reference = wrap->reference;
	bool limited = options->min_amplitude > 0 || options->min_modulation > 0 ||
	    !isnan(options->dark);

	for (size_t i = 0; i < captures->codes; i++) {
		reference[i] = 0;
		for (size_t k = captures->fringes; k > 0; k--)
			if (captures->fringe[k - 1].axis == captures->code[i].axis)
				reference[i] = k - 1;
		if (!captures->fringes && !captures->flats && !captures->code[i].inverse)
			return fail(NULL, "nothing tells dark from bright in the Gray planes: "
			    "their inverses do (--inverse), white and black (--flats 2), or "
			    "fringe images");
	}
	if (!captures->fringes && captures->flats < 2 && limited && !wrap->judges_codes)
		return fail(NULL, "without fringe images --min-amplitude, --min-modulation and "
		    "--dark need white and black (--flats 2), or inverses (--inverse)");
	return 0;
}

/* Does a fringe set have more than three images, counting all exposures? Else its fit leaves no
 * residual. -1 after fail(). */
static int
fit_residual_check(const struct capture_set *captures, bool several_exposures)
{
	for (size_t k = 0; k < captures->fringes; k++)
		if (captures->fringe[k].n > 3 || several_exposures)
			return 0;
	return fail(NULL, captures->fringes ? "the fit of three images leaves no residual: "
	    "--fit-residual and --max-fit-residual want four or more of a period" :
	    "without fringe images there is no fit: --fit-residual and --max-fit-residual want "
	    "them");
}

/* light: of each step, the same for all periods, or of all steps of one period before the next;
 * none: it is even. *scratch_bytes: each thread's, for uneven_light_row(). -1 after fail(). */
static int
uneven_light_plan(const struct numbers *light, const struct frame_head *in, struct phasewrap *wrap,
    size_t *scratch_bytes)
{
	size_t steps = 0, next = 0;

	*scratch_bytes = 0;
	if (light->n == 0)
		return 0;
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		if (wrap->captures.fringe[k].two_plus_one)
			return fail("--light", "is for steps, and these are 2+1 images");
		steps += wrap->captures.fringe[k].n;
	}
	if (wrap->captures.fringes == 0)
		return fail("--light", "there are no fringe images");
	wrap->per_light = must_alloc(in->c, sizeof(*wrap->per_light));
	for (size_t k = 0; k < wrap->captures.fringes; k++) {
		const struct capture_fringe *fringe = &wrap->captures.fringe[k];

		if (light->n != steps && light->n != fringe->n)
			return fail("--light", "%zu values for %zu images%s", light->n, fringe->n,
			    wrap->captures.fringes > 1 ? " of each period" : "");
		if (light->n != steps)
			next = 0;
		for (size_t i = 0; i < fringe->n; i++)
			wrap->per_light[fringe->plane[i]] = (float)(1 / light->v[next++]);
	}
	*scratch_bytes = in->c * (sizeof(struct plane) + frame_stride(in->w, SAMPLE_FLOAT)) + 64 +
	    in->w * sizeof(uint);
	return 0;
}

/* What the texture is, and the key that says so where it is not A + B. -1 after fail(). */
static int
texture_plan(int from, struct phasewrap *wrap, struct meta *meta)
{
	size_t flat = 0;

	for (size_t k = 0; k < wrap->captures.fringes; k++)
		flat += wrap->captures.fringe[k].two_plus_one;
	if (from >= 0 && wrap->captures.fringes == 0)
		return fail("--texture-from", "there are no fringe images");
	if (from == TEXTURE_FLAT && flat < wrap->captures.fringes)
		return fail("--texture-from", "flat is for 2+1 images: mean takes the fringes out "
		    "of these");
	if (from < 0)
		from = flat && flat == wrap->captures.fringes ? TEXTURE_FLAT : TEXTURE_MAX;
	wrap->crest = from == TEXTURE_MAX;
	meta_remove(meta, "texture_from");
	if (!(wrap->crest || wrap->captures.fringes == 0))
		meta_set(meta, "texture_from", from == TEXTURE_FLAT ? "flat" : "mean");
	return 0;
}

int
phasewrap_limit(struct run *run, const struct frame_head *in, struct phasewrap *wrap)
{
	const struct parameters *parameters = run->parameters;
	bool limited = !isnan(parameters->max_fit_residual);

	if (edges_plan(run, in, wrap) < 0 || thresholds_plan(wrap, &parameters->measurement) < 0 ||
	    measurement_limit(run, &parameters->measurement, in, &wrap->limits) < 0)
		return -1;
	wrap->most_misfit = limited ? (float)parameters->max_fit_residual : INFINITY;
	wrap->writes_fit = parameters->fit_residual;
	wrap->fits = parameters->fit_residual || limited;
	if (wrap->fits && fit_residual_check(&wrap->captures, wrap->exposures.n > 1) < 0)
		return -1;
	return uneven_light_plan(&parameters->light, in, wrap, &run->scratch_bytes);
}

/* ---- the channels that come out ---- */

/* The first output channel of each kind. */
static struct phasewrap_channels
lay_out(const struct phasewrap *wrap)
{
	const struct capture_set *captures = &wrap->captures;
	struct phasewrap_channels at = { 0 };
	uint n = at.phases = (uint)(captures->fringes * (wrap->vector ? 2 : 1));

	at.modulation = n;
	at.texture = captures->fringes ? n + 1 : n;
	n += captures->fringes ? 2 : 0;
	at.fit_residual = n;
	n += wrap->writes_fit;
	at.exposure = n;
	n += wrap->exposures.map;
	at.sigma = n;
	n += wrap->sigmas ? (uint)captures->fringes : 0;
	at.marker = n;
	at.index = n + (uint)captures->markers;
	at.edge = at.index + (uint)captures->codes;
	return at;
}

/* Appends the channels edge and edge_sigma of all codes. -1 after fail(). */
static int
describe_edges(const struct capture_set *captures, struct frame_head *out)
{
	static const char *const names[] = { "edge", "edge_sigma" };
	size_t codes = captures->codes;
	char name[CHANNEL_NAME_SIZE];

	for (size_t i = 0; i < 2 * codes; i++) {
		snprintf(name, sizeof(name), codes > 1 ? "%s%zu" : "%s", names[i / codes],
		    i % codes + 1);
		if (head_add_channels(out, name) < 0)
			return -1;
	}
	return 0;
}

int
phasewrap_describe(struct phasewrap *wrap, int texture_from, struct frame_head *out)
{
	const struct capture_set *captures = &wrap->captures;
	struct text text;
	FILE *to = text_open(&text);
	char *qualities;
	int status;

	wrap->channels = lay_out(wrap);
	fprintf(to, "modulation texture%s%s", wrap->writes_fit ? " fit_residual" : "",
	    wrap->exposures.map ? " exposure" : "");
	for (size_t k = 0; wrap->sigmas && k < captures->fringes; k++)
		fprintf(to, captures->fringes > 1 ? " sigma%zu" : " sigma", k + 1);
	qualities = text_close(&text, NULL);
	if (wrap->exposures.n > 1)
		meta_remove(&out->meta, "exposure_time_s");
	status = capture_set_describe(captures, wrap->vector ? "cos sin" : "phase", qualities,
	    out);
	free(qualities);
	if (status == 0)
		status = texture_plan(texture_from, wrap, &out->meta);
	return status == 0 && wrap->edges ? describe_edges(captures, out) : status;
}

void
phasewrap_forget(struct phasewrap *wrap)
{
	double_three_free(wrap);
	for (size_t k = 0; wrap->fit && k < wrap->captures.fringes; k++)
		phase_shift_weights_free(&wrap->fit[k]);
	free(wrap->fit);
	wrap->fit = NULL;
	free(wrap->correction);
	wrap->correction = NULL;
	free(wrap->correction_slopes);
	wrap->correction_slopes = NULL;
	free(wrap->terms);
	wrap->terms = NULL;
	free(wrap->per_light);
	wrap->per_light = NULL;
	capture_set_free(&wrap->captures);
	exposures_free(&wrap->exposures);
}

/* ---- the flat one of 2+1 images ---- */

void
flatness_turn(struct run *run, const struct frame *in, size_t plane[3])
{
	double *row = must_alloc(in->head.h, sizeof(*row)), rough[3];
	size_t own[3], flat = 0;

	memcpy(own, plane, sizeof(own));
	for (size_t i = 0; i < 3; i++) {
		struct rough_rows rows = { in, own[i], row };

		run_for(run, in->head.h, phasewrap_rows()->roughness, &rows);
		rough[i] = 0;
		for (size_t y = 0; y < in->head.h; y++)	/* in their order, whatever the threads */
			rough[i] += row[y];
		if (rough[i] < rough[flat] || (rough[i] == rough[flat] && own[i] > own[flat]))
			flat = i;
	}
	for (size_t i = 0; i < 3; i++)
		plane[i] = own[(flat + 1 + i) % 3];
	free(row);
}
