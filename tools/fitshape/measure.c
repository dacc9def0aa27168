#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "find_balls.h"
#include "image/statistics.h"
#include "length.h"

#define CALIBRATED 1.7	/* a ratio to a calibrated length that is a mistake: a radius, a unit */

struct measuring {
	struct run *run;
	const struct parameters *parameters;
	const struct frame *frame;
	struct cloud_channels channels;
	struct measurement *found;
};

/* ---- acceptance figures ---- */

/* The largest ones; of equal ones the earlier. */
static int
mark_largest(const struct fit *fit, size_t trimmed, unsigned char *drop)
{
	double *size, least;

	if (trimmed == 0)
		return 0;
	size = calloc(fit->n + 1, sizeof(*size));
	if (!size)
		return fail_memory();
	for (size_t i = 0; i < fit->n; i++)
		size[i] = fabs(fit->distance[i]);
	least = statistics_ranked(size, fit->n, fit->n - trimmed);
	free(size);
	for (size_t i = 0; i < fit->n; i++) {
		drop[i] = fabs(fit->distance[i]) > least;
		trimmed -= drop[i];
	}
	for (size_t i = 0; i < fit->n && trimmed > 0; i++)
		if (fabs(fit->distance[i]) == least) {
			drop[i] = 1;
			trimmed--;
		}
	return 0;
}

/* The fit to all points, then that without those farthest off. */
static int
fit_trimmed(struct run *run, const struct cloud *all, const struct shape *shape, double per_mille,
    size_t *trimmed, struct cloud *kept, struct fit *fit)
{
	static const struct fit_options plain = { .robust = false };	/* signs do not matter */
	unsigned char *drop = calloc(all->n + 1, sizeof(*drop));
	struct cloud equal = *all;
	int status;

	*fit = (struct fit){ 0 };
	*kept = (struct cloud){ 0 };
	if (!drop)
		return fail_memory();
	equal.sigma = NULL;
	*trimmed = (size_t)floor(per_mille / 1000 * (double)all->n + 1e-9);
	status = fit_shape(run, &equal, shape, &plain, fit);
	if (status == 0)
		status = mark_largest(fit, *trimmed, drop);
	fit_free(fit);
	if (status == 0)
		status = cloud_without(&equal, drop, kept);
	if (status == 0)
		status = fit_shape(run, kept, shape, &plain, fit);
	free(drop);
	return status;
}

static int
find_acceptance(const struct measuring *measuring, const struct shape *shape, double diameter,
    struct part *part)
{
	struct acceptance *of = &part->acceptance;
	struct cloud kept;
	struct fit fit;
	int status = fit_trimmed(measuring->run, &part->cloud, shape, measuring->parameters->trim,
	    &of->trimmed, &kept, &fit);

	if (status < 0 && measuring->parameters->robust && !fail_is_memory()) {
		/* with points that are wrong no plain fit may be possible: no figures then */
		fail_clear();
		of->range = of->radius = of->size = (double)NAN;
		of->centre[0] = of->centre[1] = of->centre[2] = (double)NAN;
		status = 0;
	} else if (status == 0) {
		of->points = kept.n;
		of->range = fit.max - fit.min;
		of->radius = fit.shape.radius;
		of->size = 2 * of->radius - diameter;
		fit_centre(&kept, &fit, of->centre);
	}
	fit_free(&fit);
	cloud_free(&kept);
	return status;
}

/* ---- shapes ---- */

/* A length that ought to be near to a calibrated one. */
static int
check_unit(const char *what, const char *option, double seen, double calibrated, const char *unit)
{
	static const double factors[] = { 1000, 100, 10, 25.4, 1e6 };
	double ratio = seen / calibrated;

	if (isnan(calibrated) || (ratio > 1 / CALIBRATED && ratio < CALIBRATED))
		return 0;
	if (fabs(ratio / 2 - 1) < 0.1 && !strcmp(what, "diameter"))
		return fail(NULL, "the diameter is %.6g %s, twice %s %g: is that the radius?",
		    seen, unit, option, calibrated);
	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		for (int up = 0; up < 2; up++) {
			double factor = up ? factors[i] : 1 / factors[i];

			if (fabs(ratio / factor - 1) < 0.1)
				return fail(NULL, "the %s is %.6g %s, %g times %s %g: are the "
				    "coordinates in another unit?", what, seen, unit, factor,
				    option, calibrated);
		}
	return fail(NULL, "the %s is %.6g %s, not anywhere near %s %g", what, seen, unit, option,
	    calibrated);
}

static double
diameter_of(const struct parameters *parameters, size_t part)
{
	const struct numbers *diameter = &parameters->diameter;

	return diameter->n ? diameter->v[part < diameter->n ? part : 0] : (double)NAN;
}

/* With --fixed the diameter that is given is compared with what the points have, if they tell. */
static int
check_given(const struct measuring *measuring, const struct cloud *cloud, struct shape shape,
    const struct fit_options *options, double diameter)
{
	struct fit fit;
	int status = 0;

	shape.fixed = false;
	if (fit_shape(measuring->run, cloud, &shape, options, &fit) < 0) {
		status = fail_is_memory() ? -1 : 0;
		if (status == 0)
			fail_clear();
	} else if (fabs(fit.shape.radius - diameter / 2) > 4 * fit_sd_radius(&fit)) {
		status = check_unit("diameter", "--diameter", 2 * fit.shape.radius, diameter,
		    measuring->found->unit);
	}
	fit_free(&fit);
	return status;
}

static int
measure_cloud(const struct measuring *measuring, size_t which)
{
	static const enum shape_kind kinds[MODES] = { SHAPE_PLANE, SHAPE_SPHERE, SHAPE_CYLINDER,
		SHAPE_SPHERE, SHAPE_PLANE };
	const struct parameters *parameters = measuring->parameters;
	struct measurement *found = measuring->found;
	struct part *part = &found->part[which];
	struct fit_options options = { parameters->robust, measuring->channels.towards };
	double diameter = diameter_of(parameters, which);
	struct shape shape = { kinds[found->mode], parameters->fixed, { 0 }, { 0 },
		parameters->fixed ? diameter / 2 : 0 };

	if (parameters->along >= 0)
		part->cloud.along = (enum along)parameters->along;
	else if (head_channel(&measuring->frame->head, "sigma_disparity") != NO_CHANNEL)
		part->cloud.along = ALONG_Z;
	if (parameters->fixed &&
	    check_given(measuring, &part->cloud, shape, &options, diameter) < 0)
		return -1;
	if (fit_shape(measuring->run, &part->cloud, &shape, &options, &part->fit) < 0 ||
	    check_unit("diameter", "--diameter", 2 * part->fit.shape.radius, diameter,
	    found->unit) < 0)
		return -1;
	return found->mode == MODE_CYLINDER ? 0 :
	    find_acceptance(measuring, &shape, diameter, part);
}

static int
measure_part(const struct measuring *measuring, size_t which)
{
	const struct parameters *parameters = measuring->parameters;
	struct measurement *found = measuring->found;
	size_t n = parameters->roi.n / found->parts;
	struct region region = { n, n ? parameters->roi.v + which * n : NULL };
	char name[32];
	int status = cloud_take(measuring->frame, &measuring->channels, &region,
	    !parameters->no_weights, &found->part[which].cloud);

	if (status == 0)
		status = measure_cloud(measuring, which);
	if (status < 0 && found->parts > 1) {
		snprintf(name, sizeof(name), "%s %zu",
		    found->mode == MODE_SPHERES ? "ball" : "face", which + 1);
		fail_prefix(name);
	}
	return status;
}

/* ---- two ---- */

static int
find_distance(const struct measuring *measuring)
{
	struct measurement *found = measuring->found;
	const struct part *part = found->part;
	double e[3], c[2][3] = { { 0 } }, spacing = 0, variance = 0;

	if (found->mode == MODE_LENGTH) {
		length_find(found);
		found->spacing = found->distance;
		return check_unit("distance", "--distance", found->distance,
		    measuring->parameters->distance, found->unit);
	}
	found->distance = 0;
	for (int k = 0; k < 2; k++)
		fit_centre(&part[k].cloud, &part[k].fit, c[k]);
	for (int i = 0; i < 3; i++) {
		e[i] = c[1][i] - c[0][i];
		found->distance += e[i] * e[i];
		spacing += pow(part[1].acceptance.centre[i] - part[0].acceptance.centre[i], 2);
	}
	found->distance = sqrt(found->distance);
	found->spacing = sqrt(spacing);
	if (!(found->distance > (part[0].fit.shape.radius + part[1].fit.shape.radius) / 2))
		return fail(NULL, "the balls are %.6g %s apart, which is within each other: the "
		    "same ball twice?", found->distance, found->unit);
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 9; i++)
			variance += e[i / 3] * e[i % 3] *
			    part[k].fit.cov[(size_t)(i / 3) * part[k].fit.unknowns +
			    (size_t)(i % 3)];
	found->distance_sd = sqrt(variance) / found->distance;
	return check_unit("distance", "--distance", found->distance,
	    measuring->parameters->distance, found->unit);
}

int
measure(struct run *run, const struct parameters *parameters, enum mode mode,
    const struct frame *frame, struct measurement *found)
{
	struct measuring measuring = { run, parameters, frame, { { 0 } }, found };
	struct cloud all = { 0 };
	int status;

	*found = (struct measurement){ .mode = mode, .parts = mode >= MODE_SPHERES ? 2 : 1 };
	if (cloud_find(&parameters->pixel, &frame->head, &measuring.channels) < 0)
		return -1;
	memcpy(found->unit, measuring.channels.unit, sizeof(found->unit));
	if (mode == MODE_SPHERES && !parameters->roi.n) {
		double diameter[2] = { diameter_of(parameters, 0), diameter_of(parameters, 1) };

		status = cloud_take(frame, &measuring.channels, &(struct region){ 0, NULL },
		    !parameters->no_weights, &all);
		if (status == 0)
			status = find_balls(&all, diameter, found->unit, &found->part[0].cloud,
			    &found->part[1].cloud);
		for (size_t k = 0; k < 2 && status == 0; k++)
			status = measure_cloud(&measuring, k);
		cloud_free(&all);
	} else {
		status = 0;
		for (size_t k = 0; k < found->parts && status == 0; k++)
			status = measure_part(&measuring, k);
	}
	if (status == 0 && found->parts == 2)
		status = find_distance(&measuring);
	if (found->parts == 2)
		found->spacing_error = found->spacing - parameters->distance;
	return status;
}

void
measurement_free(struct measurement *found)
{
	for (size_t k = 0; k < 2; k++) {
		cloud_free(&found->part[k].cloud);
		fit_free(&found->part[k].fit);
	}
}
