/*
 * Absolute phases: is a phase wrapped, is it known up to turns only, its mean with others, and the
 * options that make components absolute.
 */
#include "unwrap/absolute.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "frame/meta.h"
#include "unwrap/marker.h"

#define ROUNDING 1.02	/* turns */
#define WHOLE 0.95	/* of a turn */

bool
wrapped_range_fits(double least, double most, double turn)
{
	return most - least <= ROUNDING * turn;
}

bool
wrapped_range_is_turns(double least, double most)
{
	return ((least >= 0 && most <= 1) || (least >= -0.5 && most <= 0.5)) &&
	    most - least > WHOLE;
}

bool
phase_anchor_is_relative(const struct meta *meta)
{
	const char *anchor = meta_get(meta, "phase_anchor");

	return anchor && strcmp(anchor, "pixel") && strcmp(anchor, "ref") &&
	    strcmp(anchor, "marker");
}

void
phase_mean_weights(const double *period_px, const double *scatter, size_t n, double *weight)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double sigma = period_px[i] * (scatter ? scatter[i] : 1);

		weight[i] = 1 / (sigma * sigma);
		sum += weight[i];
	}
	for (size_t i = 0; i < n; i++)
		weight[i] /= sum;
}

const char *
absolute_given(const struct absolute_options *options)
{
	return options->anchor.n	  ? "--anchor"
	    : options->ref		  ? "--ref"
	    : options->marker.file	  ? "--marker"
	    : options->marker.at.n	  ? "--marker-at"
	    : options->min_size > 1	  ? "--min-size"
					  : NULL;
}

int
absolute_check(const struct absolute_options *options)
{
	const struct numbers *anchor = &options->anchor, *at = &options->marker.at;

	if (anchor->n % 3)
		return fail_usage("--anchor",
		    "wants a column, a row and a phase in rad for each pixel, not %zu "
		    "numbers",
		    anchor->n);
	for (size_t i = 2; i < anchor->n; i += 3)
		if (!(fabs(anchor->v[i]) < 2 * M_PI * (double)PHASE_MOST))
			return fail_usage("--anchor", "%g rad is no phase", anchor->v[i]);
	if (anchor->n && options->ref)
		return fail_usage(NULL, "give --anchor or --ref, not both");
	if ((options->marker.file || options->marker.at.n) && (anchor->n || options->ref))
		return fail_usage(
		    NULL, "give --marker or --%s, not both", anchor->n ? "anchor" : "ref");
	if (at->n > 2)
		return fail_usage("--marker-at", "wants a place and a width, not %zu numbers",
		    at->n);
	if (at->n > 1 && at->v[1] <= 0)
		return fail_usage("--marker-at", "a width of %g px is none", at->v[1]);
	return 0;
}

/* Radians of two periods cannot be compared. */
static int
check_period(const struct meta *own, const struct meta *ref)
{
	double own_px, ref_px;

	if (!meta_get(own, "period_px") || !meta_get(ref, "period_px") ||
	    meta_words(meta_get(own, "period_px")) > 1)
		return 0;
	if (meta_number(own, "period_px", 0, &own_px) < 0 ||
	    meta_number(ref, "period_px", 0, &ref_px) < 0)
		return -1;
	return fabs(own_px - ref_px) <= 1e-6 * own_px
	    ? 0
	    : fail("--ref", "is a phase of fringes of %g px, the input one of %g px", ref_px,
		  own_px);
}

/* The word of phase_anchor. Beside a reference that is off by turns itself, the phase is off by the
 * same. */
static const char *
find_word(const struct absolute *absolute, const struct frame_head *ref)
{
	bool relative = ref && phase_anchor_is_relative(&ref->meta);

	return ref				 ? relative ? "relative" : "ref"
	    : absolute->options->anchor.n	 ? "pixel"
	    : absolute->marker.channel != NO_CHANNEL ? "marker"
						 : "none";
}

int
absolute_plan(const struct run *run, const struct absolute_options *options,
    const struct frame_head *in, double period_px, struct meta *out, struct absolute *absolute)
{
	const struct frame_head *ref = run_second_input_head(run, "ref", 0);

	absolute->options = options;
	absolute->ref = absolute->marker.channel = NO_CHANNEL;
	if (options->ref && run_second_input(run, in, "ref", "absphase", &absolute->ref) < 0)
		return -1;
	if (ref && (ref->type != SAMPLE_FLOAT || meta_get(&ref->meta, "role")))
		return fail("--ref", "holds an image, not an absolute phase");
	if (ref && check_period(out, &ref->meta) < 0)
		return -1;
	if (options->anchor.n == 0 && !options->ref &&
	    marker_input_plan(run, &options->marker, in, out, period_px, &absolute->marker) < 0)
		return -1;
	return meta_set(out, "phase_anchor", find_word(absolute, ref));
}

int
absolute_place(const struct absolute *absolute, struct components *components,
    const struct frame *in, double rad)
{
	const struct absolute_options *options = absolute->options;
	struct marker marker = absolute->marker;
	bool by_marker = marker.channel != NO_CHANNEL;
	bool anchored = options->anchor.n > 0 || options->ref || by_marker;
	size_t lost = 0, kept = 0, all = 0;

	marker.frame = in;
	if (!anchored)
		components_center(components);
	else if (options->ref)
		components_refer(components, in, absolute->ref, rad);
	else if (by_marker)
		marker_place(components, &marker);
	else if (components_anchor(components, &options->anchor, rad) < 0)
		return -1;
	components_number(components, (size_t)options->min_size, anchored);
	for (size_t i = 0; i < components->n; i++) {
		const struct component *component = &components->component[i];

		all += component->size;
		kept += component->label > 0;
		lost += anchored && !component->anchored ? component->size : 0;
	}
	if (all > 0 && by_marker && lost == all)
		warn(NULL, "no pixel is valid: the marker is found nowhere");
	else if (all > 0 && kept == 0)
		warn(NULL, "no pixel is valid: no component has --min-size %ld pixels%s",
		    options->min_size,
		    !anchored       ? ""
			: by_marker ? " and the marker"
				    : " and an anchor or a reference");
	else if (10 * lost > all)
		warn(NULL, "%.1f %% of the valid pixels are connected to no %s and become invalid",
		    100 * (double)lost / (double)all,
		    options->ref	? "pixel of --ref"
			: by_marker ? "marker"
				    : "--anchor");
	return 0;
}
