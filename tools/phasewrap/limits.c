#include "limits.h"

#include <math.h>

#include "fit_residual.h"

double
limits_usual_most(enum sample type)
{
	static const double most[] = { 255, 65535, INFINITY };

	return most[type];
}

bool
limits_need_flats(const struct limit_options *options)
{
	return options->min_amplitude > 0 || options->min_modulation > 0 || !isnan(options->dark);
}

int
limits_plan(const struct run *run, const struct limit_options *options, const struct frame_head *in,
    struct phasewrap *wrap)
{
	bool limited = !isnan(options->max_fit_residual);
	double most;

	if (run_number(run, options->max_value, in, "max_value", limits_usual_most(in->type),
	    &most) < 0)
		return -1;
	wrap->limits = (struct phasewrap_limits){ .max_value = (float)most,
		.least_amplitude = (float)options->min_amplitude,
		.least_modulation = (float)options->min_modulation,
		.least_mean = isnan(options->dark) ? -INFINITY : (float)options->dark,
		.most_misfit = limited ? (float)options->max_fit_residual : INFINITY };
	wrap->writes_fit = options->fit_residual;
	wrap->fits = options->fit_residual || limited;
	return wrap->fits ? fit_residual_check(&wrap->captures, wrap->exposures.n > 1) : 0;
}
