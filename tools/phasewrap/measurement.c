#include "measurement.h"

#include <math.h>

#include "base/fail.h"
#include "capture_conflicts.h"
#include "double_three.h"
#include "manifest_conflicts.h"

/* The options with what the images, or their manifest, say. */
static int
compare(const struct measurement *measurement, const struct parameters *parameters, double sign,
    const struct frame_head *in, const struct capture_set *set)
{
	if (measurement->manifest_read)
		return manifest_conflicts_check(&measurement->captures, sign, parameters->manifest,
		    &measurement->manifest, in, set);
	return capture_conflicts_warn(&measurement->captures, sign, parameters->phase_origin, in,
	    set);
}

static int
solve(struct measurement *measurement, const struct parameters *parameters,
    const struct frame_head *in, struct phasewrap *wrap)
{
	static const double words[] = { 1, -1, 1 };
	double sign, origin_rad, given = parameters->sign >= 0 ? words[parameters->sign] : NAN;

	if (!measurement->compared &&
	    compare(measurement, parameters, given, in, &wrap->captures) < 0)
		return -1;
	measurement->compared = true;
	if (meta_number(&in->meta, "phase_sign", 1, &sign) < 0 ||
	    meta_number(&in->meta, "phase_origin_rad", 0, &origin_rad) < 0)
		return -1;
	if (!isnan(given))
		sign = given;
	if (sign != 1 && sign != -1)
		return fail("phase_sign", "must be 1 or -1, not %g", sign);
	if (!isnan(parameters->phase_origin))
		origin_rad = parameters->phase_origin;
	measurement->sign = sign;
	measurement->origin_rad = origin_rad;
	if (measurement->captures.kind == CAPTURES_FOURIER)	/* a plane is no fit */
		return 0;
	return phasewrap_solve(wrap, sign, origin_rad);
}

int
measurement_sort(struct measurement *measurement, const struct parameters *parameters,
    const struct frame_head *in, struct phasewrap *wrap)
{
	const struct capture_options *captures = &measurement->captures;
	const struct manifest *manifest = measurement_manifest(measurement);
	struct exposure_planes planes;
	int status;

	if (manifest && manifest_conflicts_kind(captures, parameters->manifest, manifest) < 0)
		return -1;
	status = exposure_planes_find(&parameters->exposures, captures, manifest, in, &planes);
	if (status == 0)
		status = exposure_planes_sort(&planes, captures, manifest, in, 0, &wrap->captures);
	if (status == 0 && parameters->exposures.n > 1 && wrap->captures.markers)
		status = fail("--exposures", "takes no marker: leave its image out");
	if (status == 0)
		status = solve(measurement, parameters, &planes.head, wrap);
	if (status == 0 && captures->kind == CAPTURES_DOUBLE)
		status = double_three_plan(wrap);
	if (status == 0)
		status = exposures_plan(&parameters->exposures, captures, manifest, in, &planes,
		    &wrap->captures, &wrap->exposures);
	exposure_planes_free(&planes);
	return status;
}
