#include "phasewrap_plan.h"

#include <math.h>

#include "fringe/compensation.h"
#include "run/check.h"
#include "options.h"
#include "thresholds.h"
#include "uneven_light.h"

/* rad: with --light, both being what fringegamma measured, --shift corrects those that are known */
#define SHIFT_SLACK 0.1

int
phasewrap_take_captures(const struct parameters *parameters, struct priv *priv)
{
	struct capture_options *captures = &priv->measurement.captures;

	*captures = parameters->captures;
	captures->shift_slack_rad = parameters->light.n ? SHIFT_SLACK : 0;
	priv->shift_search.on = captures->shift_rad.n == 1 && isnan(captures->shift_rad.v[0]);
	if (priv->shift_search.on)
		captures->shift_rad = (struct numbers){ 0 };
	if (priv->shift_search.on && captures->kind != CAPTURES_ALL &&
	    captures->kind != CAPTURES_STEP)
		return fail_usage("--shift", "auto is for --kind step");
	if (priv->shift_search.on && parameters->exposures.n > 1)
		return fail_usage("--shift", "auto is for one exposure");
	return 0;
}

/* What checks may know (run/check.h). */
static void
state_facts(struct run *run, const struct frame_head *in)
{
	const struct parameters *parameters = run->parameters;
	const struct priv *priv = run->priv;
	struct check_facts *facts = run_check_facts(run);

	facts->captures = &priv->wrap.captures;
	facts->fit = priv->wrap.fit;
	facts->shifts_stated = priv->measurement.captures.shift_rad.n > 0 || priv->shift_search.on;
	facts->sign_stated = parameters->sign >= 0 || meta_get(&in->meta, "phase_sign");
	facts->roles_stated = priv->roles_known;
	facts->several_exposures = priv->wrap.exposures.n > 1;
	facts->max_value_given = !isnan(parameters->limits.max_value);
	facts->max_value = (double)priv->wrap.limits.max_value;
	facts->min_mean = (double)priv->wrap.limits.least_mean;
	facts->min_amplitude = (double)priv->wrap.limits.least_amplitude;
	facts->min_modulation = (double)priv->wrap.limits.least_modulation;
	facts->file = run->operand;
	facts->files = run->position || priv->measurement.captures.rgb ? 0 : run->operands;
}

int
phasewrap_plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	size_t operands = run->position ? 0 : run->operands;

	if (parameters->noise.fit_noise)
		return 0;
	priv->roles_known = priv->measurement.manifest_read ||
	    (meta_get(&in->meta, "role") && !priv->measurement.captures.order);
	if (parameters->harmonics && harmonics_check(&priv->harmonics, in) < 0)
		return -1;
	phasewrap_forget(&priv->wrap);
	priv->wrap.vector = parameters->as == AS_VECTOR;
	if (capture_set_check_names(&priv->measurement.captures,
	    measurement_manifest(&priv->measurement), in, run->operand, operands) < 0 ||
	    measurement_sort(&priv->measurement, parameters, in, &priv->wrap) < 0 ||
	    shift_search_plan(&priv->shift_search, &priv->wrap, &out->meta) < 0 ||
	    thresholds_plan(&priv->wrap.captures, limits_need_flats(&parameters->limits),
		priv->wrap.reference) < 0 ||
	    limits_plan(run, &parameters->limits, in, &priv->wrap) < 0 ||
	    uneven_light_plan(&parameters->light, in, &priv->wrap, &run->scratch_bytes) < 0)
		return -1;
	if (parameters->captures.kind == CAPTURES_FOURIER)
		return noise_plan(&parameters->noise, in, &priv->wrap, &priv->finds_noise) < 0 ?
		    -1 : fourier_plan(run, &priv->wrap, priv->measurement.sign,
		    priv->measurement.origin_rad, in, out, &priv->fourier);
	/* of several exposures they know the first alone */
	priv->removed.off |= priv->wrap.exposures.n > 1;
	if (phasewrap_correct(&priv->wrap, &priv->harmonics, parameters->noise.sigma,
		priv->measurement.sign, priv->measurement.origin_rad) < 0 ||
	    noise_plan(&parameters->noise, in, &priv->wrap, &priv->finds_noise) < 0 ||
	    removed_plan(&priv->removed, in) < 0)
		return -1;
	if (parameters->harmonics &&
	    compensation_set_file(&out->meta, "phase_correction", parameters->harmonics) < 0)
		return -1;
	state_facts(run, in);
	return phasewrap_describe(&priv->wrap, out);
}
