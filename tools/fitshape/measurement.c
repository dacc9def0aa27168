/*
 * Measures a frame: takes its points, or those of two balls or faces, fits shapes to them (fit.c),
 * computes the figures of an acceptance test, and distances of two parts.
 */
#include "fitshape.h"

#include <float.h>
#include <stdio.h>

#include "frame/frame.h"
#include "image/statistics.h"
#include "mesh/mesh.h"

/* ---- channels ---- */

/* Where a frame's coordinates are. */
struct cloud_channels {
	struct mesh of;		/* its channels, spacing and direction of z */
	size_t sigma;
	unsigned char *valid;	/* struct cloud's */
	double window_px, shared;
	char unit[16];
};

#define WINDOW_PX_MOST 1000.0	/* that errors are followed over */

/* Coordinates must be lengths: x y z, or z over pixels whose distance is known in the same unit. */
static int
check_lengths(const struct frame_head *head, const struct mesh *mesh, const struct numbers *pixel,
    const char *unit)
{
	if (!strcmp(unit, "px") || !strcmp(unit, "pixel") || !strcmp(unit, "pixels"))
		return fail("length_unit", "is %.40s: a shape wants coordinates in mm (phase2depth "
		    "--calib)", unit);
	if (mesh->point[0] != NO_CHANNEL)
		return pixel->n ? fail("--pixel", "the input has x and y") : 0;
	if ((!mesh->scaled && !pixel->n) || head_is_table(head))
		return fail(NULL, "%.40s without x and y, whose pixels have no known distance: "
		    "give x y z (phase2depth --calib), or --pixel",
		    head->channel[mesh->point[2]]);
	if (!pixel->n && *head->unit && strcmp(head->unit, unit))
		return fail(NULL, "the pixels' distance is in %s, %.40s in %.40s: other units",
		    head->unit, head->channel[mesh->point[2]], unit);
	return 0;
}

/* Finds the coordinates. pixel: the distance of columns and of rows, or one number for both; empty:
 * the frame's spacing. -1 after fail(): no coordinates, or pixels instead of lengths. */
static int
cloud_find(const struct numbers *pixel, const struct frame_head *head,
    struct cloud_channels *channels)
{
	const char *unit = meta_get(&head->meta, "length_unit");
	struct mesh *mesh = &channels->of;

	if (mesh_channels(mesh, NULL, head) < 0)
		return -1;
	if (head->c == 1 && mesh->point[0] == NO_CHANNEL && strcmp(head->channel[0], "z") &&
	    strcmp(head->channel[0], "depth") && strcmp(head->channel[0], "height"))
		return fail(NULL, "a shape needs channels x y z, or one of z, depth, height, not "
		    "%s", head->channel[0]);
	unit = unit ? unit : *head->unit ? head->unit : "mm";
	if (check_lengths(head, mesh, pixel, unit) < 0)
		return -1;
	snprintf(channels->unit, sizeof(channels->unit), "%.15s", unit);
	for (size_t i = 0; i < 2 && pixel->n; i++)
		mesh->spacing[i] = pixel->v[i < pixel->n ? i : 0];
	channels->sigma = head_channel(head, "sigma");
	if (meta_number(&head->meta, "sigma_window_px", 0, &channels->window_px) < 0 ||
	    meta_number(&head->meta, "sigma_shared",
	    4 * M_PI * channels->window_px * channels->window_px, &channels->shared) < 0)
		return -1;
	channels->window_px = fmin(fmax(channels->window_px, 0), WINDOW_PX_MOST);
	channels->shared = fmax(channels->shared, 1);
	return 0;
}

/* Where neighbours share errors: marks the pixels that a filter has mixed. */
static void
mark_valid(const struct frame *frame, struct cloud_channels *channels)
{
	size_t w = frame->head.w, h = frame->head.h;

	channels->valid = NULL;
	if (!(channels->window_px > 0) || head_is_table(&frame->head))
		return;
	channels->valid = must_alloc(h, w);
	for (size_t i = 0; i < w * h; i++)
		channels->valid[i] =
		    isfinite(frame_floats(frame, channels->of.point[2], i / w)[i % w]);
}

/* ---- points ---- */

/* Which part of a frame counts: all (n = 0), or a rectangle of pixels or a box. */
struct region {
	size_t n;		/* 0, 4 (x, y, w, h in pixels) or 6 (x0, y0, z0, x1, y1, z1) */
	const double *v;
};

static int
check_rectangle(const struct frame_head *head, const double v[4])
{
	if (head_is_table(head))
		return fail("--roi", "the input is a table, which has no pixels: give a box "
		    "x0,y0,z0,x1,y1,z1");
	if (v[0] + v[2] > (double)head->w || v[1] + v[3] > (double)head->h)
		return fail("--roi", "%g,%g,%g,%g reaches beyond the %zu x %zu pixels", v[0], v[1],
		    v[2], v[3], head->w, head->h);
	return 0;
}

static void
make_room(struct cloud *cloud, size_t most, bool weighted)
{
	cloud->x = must_alloc(most, sizeof(*cloud->x));
	cloud->pixel = must_alloc(most, sizeof(*cloud->pixel));
	cloud->sigma = weighted ? must_alloc(most, sizeof(*cloud->sigma)) : NULL;
}

static bool
in_box(const double v[6], const double x[3])
{
	for (int i = 0; i < 3; i++)
		if (x[i] < v[i] || x[i] > v[3 + i])
			return false;
	return true;
}

static int
add_point(const struct frame *frame, const struct cloud_channels *channels, size_t x, size_t y,
    struct cloud *cloud)
{
	double point[3];

	if (!mesh_point(&channels->of, frame, x, y, point))
		return 0;
	if (cloud->sigma) {
		double sigma = (double)frame_floats(frame, channels->sigma, y)[x];

		if (isnan(sigma))
			return 0;
		if (!(sigma > 0) || isinf(sigma))
			return fail("sigma", "is %g at pixel %zu %zu: a standard deviation is more "
			    "than 0; --no-weights leaves them out", sigma, x, y);
		cloud->sigma[cloud->n] = sigma;
	}
	memcpy(cloud->x[cloud->n], point, sizeof(point));
	cloud->pixel[cloud->n++] = y * frame->head.w + x;
	return 0;
}

static void
middle_of(const struct cloud *cloud, double middle[3])
{
	middle[0] = middle[1] = middle[2] = 0;
	for (size_t i = 0; i < cloud->n; i++)
		for (int k = 0; k < 3; k++)
			middle[k] += cloud->x[i][k];
	for (int k = 0; k < 3 && cloud->n; k++)
		middle[k] /= (double)cloud->n;
}

/* Moves the points to coordinates about their middle. */
static void
centre(struct cloud *cloud)
{
	middle_of(cloud, cloud->about);
	for (size_t i = 0; i < cloud->n; i++)
		for (int k = 0; k < 3; k++)
			cloud->x[i][k] -= cloud->about[k];
}

/*
 * The finite points of a frame of floats in a region, with their standard deviations unless
 * weighted is false or the frame has none. -1 after fail(): the region lies outside, sigma is not
 * positive. n may be 0. cloud_free() in either case.
 */
static int
cloud_take(const struct frame *frame, const struct cloud_channels *channels,
    const struct region *region, bool weighted, struct cloud *cloud)
{
	const struct frame_head *head = &frame->head;
	size_t x0 = 0, y0 = 0, w = head->w, h = head->h;

	*cloud = (struct cloud){ .along = channels->of.point[0] == NO_CHANNEL ? ALONG_Z : ALONG_RAY,
		.w = head_is_table(head) ? 0 : head->w, .h = head->h, .valid = channels->valid,
		.window_px = channels->window_px, .shared = channels->shared };
	if (region->n == 4) {
		if (check_rectangle(head, region->v) < 0)
			return -1;
		x0 = (size_t)region->v[0];
		y0 = (size_t)region->v[1];
		w = (size_t)region->v[2];
		h = (size_t)region->v[3];
	}
	make_room(cloud, w * h, weighted && channels->sigma != NO_CHANNEL);
	for (size_t y = y0; y < y0 + h; y++)
		for (size_t x = x0; x < x0 + w; x++) {
			size_t kept = cloud->n;

			if (add_point(frame, channels, x, y, cloud) < 0)
				return -1;
			if (region->n == 6 && cloud->n > kept && !in_box(region->v, cloud->x[kept]))
				cloud->n = kept;
		}
	centre(cloud);
	return 0;
}

/* Copies the points whose `drop` is 0. */
static void
cloud_without(const struct cloud *cloud, const unsigned char *drop, struct cloud *out)
{
	*out = *cloud;
	out->n = 0;
	make_room(out, cloud->n, cloud->sigma);
	for (size_t i = 0; i < cloud->n; i++) {
		if (drop[i])
			continue;
		memcpy(out->x[out->n], cloud->x[i], sizeof(*out->x));
		out->pixel[out->n] = cloud->pixel[i];
		if (cloud->sigma)
			out->sigma[out->n] = cloud->sigma[i];
		out->n++;
	}
}

void
cloud_free(struct cloud *cloud)
{
	free_all(cloud->x, cloud->sigma, cloud->pixel);
	*cloud = (struct cloud){ 0 };
}

/* ---- the two balls of a ball bar among all points of a frame ---- */

#define MAX_SCATTERS 10		/* standard deviations: points farther off are not the ball's */
#define MIN_BALL_POINTS 30	/* of BALL_POINTS */

/* Fits the points near the ball, in three rounds; *shell: how far off its points may be. */
static void
refine(const struct search *search, double *weight, struct shape *ball, double *shell)
{
	const struct cloud *cloud = search->cloud;
	struct shape_points points = { NULL, (const double (*)[3])cloud->x, weight, cloud->n };
	static const double nears[] = { 0.05, 0.03, 0.03 };
	float *size = must_alloc(cloud->n, sizeof(*size));
	size_t n = 0;

	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < cloud->n; i++)
			weight[i] = !search->taken[i] && fabs(shape_distance(ball, cloud->x[i])) <
			    nears[round] * ball->radius;
		shape_fit(&points, ball);
	}
	for (size_t i = 0; i < cloud->n; i++)
		if (weight[i] > 0)
			size[n++] = (float)fabs(shape_distance(ball, cloud->x[i]));
	*shell = fmin(BALL_SHELL * ball->radius, n ? MAX_SCATTERS * 1.4826 *
	    (double)numbers_median(size, n) + 1e-6 * ball->radius : 0);
	free(size);
}

static int
find_ball(struct search *search, unsigned char *taken, double diameter, const char *unit,
    unsigned char *drop, struct cloud *out)
{
	struct shape ball = { .kind = SHAPE_SPHERE };
	double *weight, shell;

	if (fitshape_rows()->best_ball(search, diameter / 2, &ball) < MIN_BALL_POINTS)
		return fail(NULL, "no ball of --diameter %g %s among the points: give --roi",
		    diameter, unit);
	weight = must_alloc(search->cloud->n, sizeof(*weight));
	refine(search, weight, &ball, &shell);
	free(weight);
	for (size_t i = 0; i < search->cloud->n; i++) {
		double d = shape_distance(&ball, search->cloud->x[i]);

		drop[i] = taken[i] || fabs(d) > shell;
		taken[i] |= d < BALL_SHELL * ball.radius;
	}
	cloud_without(search->cloud, drop, out);
	return 0;
}

/* Has a's middle a smaller x, then y, then z, than b's? */
static bool
lies_left(const struct cloud *a, const struct cloud *b)
{
	double ma[3], mb[3];

	middle_of(a, ma);
	middle_of(b, mb);
	for (int k = 0; k < 3; k++)
		if (ma[k] != mb[k])
			return ma[k] < mb[k];
	return true;
}

/*
 * Takes the points of a ball of each of these diameters. A ball is the sphere of that diameter,
 * within 5 %, that most points lie near to, fitted to those. Its points lie within 10 standard
 * deviations (1.4826 medians) of it, and a tenth of its radius. Points within the first ball are
 * not in the second. Unless the diameters differ, a is the ball farther left. -1 after fail().
 */
static int
find_balls(const struct cloud *cloud, const double diameter[2], const char *unit, struct cloud *a,
    struct cloud *b)
{
	unsigned char *taken = must_alloc(2 * cloud->n, sizeof(*taken));
	struct search *search = must_alloc(1, sizeof(*search));
	int status;

	search->cloud = cloud;
	search->taken = taken;
	status = find_ball(search, taken, diameter[0], unit, taken + cloud->n, a);
	if (status == 0)
		status = find_ball(search, taken, diameter[1], unit, taken + cloud->n, b);
	if (status == 0 && diameter[0] == diameter[1] && !lies_left(a, b)) {
		struct cloud other = *a;

		*a = *b;
		*b = other;
	}
	free(search);
	free(taken);
	return status;
}

/* ---- length: two faces as parallel planes ---- */

/* The middle of the weighted points; adds their scatter about it to a. equal: weights above 0 count
 * as 1. */
static void
add_scatter(const struct cloud *cloud, const double *weight, bool equal, double middle[3],
    double a[9])
{
	double sum = 0;

	memset(middle, 0, 3 * sizeof(*middle));
	for (size_t i = 0; i < cloud->n; i++) {
		double w = equal ? weight[i] > 0 : weight[i];

		sum += w;
		for (int k = 0; k < 3; k++)
			middle[k] += w * cloud->x[i][k];
	}
	for (int k = 0; k < 3; k++)
		middle[k] /= sum;
	for (size_t i = 0; i < cloud->n; i++) {
		double w = equal ? weight[i] > 0 : weight[i], q[3];

		for (int k = 0; k < 3; k++)
			q[k] = cloud->x[i][k] - middle[k];
		for (int k = 0; k < 9; k++)
			a[k] += w * q[k / 3] * q[k % 3];
	}
}

/* The step from the middle of the first face to that of the second, and the scatter of both about
 * their middles. equal: weights above 0 count as 1. */
static void
between(const struct part part[2], bool equal, double step[3], double scatter[9])
{
	double m[2][3];

	memset(scatter, 0, 9 * sizeof(*scatter));
	for (int k = 0; k < 2; k++)
		add_scatter(&part[k].cloud, part[k].fit.weight, equal, m[k],
		    scatter);
	for (int k = 0; k < 3; k++)
		step[k] = m[1][k] - m[0][k] + part[1].cloud.about[k] - part[0].cloud.about[k];
}

/* Finds distance, distance_sd, normal and angle_deg of parts whose planes are fitted. */
static void
length_find(struct measurement *found)
{
	const struct fit *fit[2] = { &found->part[0].fit, &found->part[1].fit };
	double scatter[9], step[3], value[3], vector[9], distance, variance = 0, n = 0, lever;

	between(found->part, false, step, scatter);
	symmetric_eigen(3, scatter, value, vector);
	distance = vector3_dot(vector + 6, step);
	for (int k = 0; k < 3; k++)
		found->normal[k] = copysign(1, distance) * vector[6 + k];
	found->distance = fabs(distance);
	found->angle_deg = DEGREES *
	    acos(fmin(fabs(vector3_dot(fit[0]->shape.axis, fit[1]->shape.axis)), 1));
	found->distance_sd = 0;
	for (int k = 0; k < 2; k++) {
		double used = (double)fit[k]->used, offset = fit[k]->cov[8];

		found->distance_sd += offset;
		variance += offset * used * used;
		n += used;
	}
	/* the lever of a common tilt is the sideways distance of the faces' middles */
	between(found->part, true, step, scatter);
	symmetric_eigen(3, scatter, value, vector);
	for (int k = 0; k < 2; k++) {
		lever = vector3_dot(vector + 3 * k, step);
		found->distance_sd += variance / n * lever * lever / value[k];
	}
	found->distance_sd = sqrt(found->distance_sd);
}

/* ---- acceptance figures, VDI/VDE 2634 part 2 ---- */

#define MAX_RATIO 1.7	/* to a calibrated length: more is a mistake, such as a radius, or a unit */

struct measuring {
	struct run *run;
	const struct parameters *parameters;
	const struct frame *frame;
	struct cloud_channels channels;
	struct measurement *found;
};

/* Drops the largest distances; of equal ones the earlier. */
static void
mark_largest(const struct fit *fit, size_t trimmed, unsigned char *drop)
{
	double *size, least;

	if (trimmed == 0)
		return;
	size = must_alloc(fit->n, sizeof(*size));
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
}

/* Fits all points, then those without the farthest ones. */
static int
fit_trimmed(struct run *run, const struct cloud *all, const struct shape *shape, double per_mille,
    size_t *trimmed, struct cloud *kept, struct fit *fit)
{
	static const struct fit_options plain = { .robust = false };	/* signs do not matter */
	unsigned char *drop = must_alloc(all->n, sizeof(*drop));
	struct cloud equal = *all;
	int status;

	*kept = (struct cloud){ 0 };
	equal.sigma = NULL;
	equal.valid = NULL;	/* its error bars are not asked for */
	*trimmed = (size_t)floor(per_mille / 1000 * (double)all->n + 1e-9);
	status = fit_shape(run, &equal, shape, &plain, fit);
	if (status == 0)
		mark_largest(fit, *trimmed, drop);
	fit_free(fit);
	if (status == 0) {
		cloud_without(&equal, drop, kept);
		status = fit_shape(run, kept, shape, &plain, fit);
	}
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

	if (status < 0 && measuring->parameters->robust) {
		/* points that are wrong may prevent a plain fit: there are no figures then */
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

/* Fails where a length is not near the calibrated one, and guesses why. */
static int
check_unit(const char *what, const char *option, double seen, double calibrated, const char *unit)
{
	static const double factors[] = { 1000, 100, 10, 25.4, 1e6 };
	double ratio = seen / calibrated;

	if (isnan(calibrated) || (ratio > 1 / MAX_RATIO && ratio < MAX_RATIO))
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

/* With --fixed: compares the given diameter with that of the points, if they determine one. */
static int
check_given(const struct measuring *measuring, const struct cloud *cloud, struct shape shape,
    const struct fit_options *options, double diameter)
{
	struct fit fit;
	int status = 0;

	shape.fixed = false;
	if (fit_shape(measuring->run, cloud, &shape, options, &fit) < 0)
		fail_clear();
	else if (fabs(fit.shape.radius - diameter / 2) > 4 * fit_sd_radius(&fit))
		status = check_unit("diameter", "--diameter", 2 * fit.shape.radius, diameter,
		    measuring->found->unit);
	fit_free(&fit);
	return status;
}

#define RIGHT_LEAST 0.6		/* of the points, for the advice of --robust */

/* Fits a shape. Where only wrong points prevent a plain fit, the message says so. */
static int
fit_or_advise(const struct measuring *measuring, const struct cloud *cloud,
    const struct shape *shape, const struct fit_options *options, struct fit *fit)
{
	struct fit_options robust = { true, options->towards };
	struct fail_record plain;

	if (fit_shape(measuring->run, cloud, shape, options, fit) == 0)
		return 0;
	if (options->robust)
		return -1;
	fail_take(&plain);
	fit_free(fit);
	if (fit_shape(measuring->run, cloud, shape, &robust, fit) == 0 && fit->used < fit->n &&
	    (double)fit->used > RIGHT_LEAST * (double)fit->n)
		return fail(NULL, "%s: without %zu of %zu points, which are far off, they do: "
		    "--robust leaves them out", plain.message, fit->n - fit->used, fit->n);
	fail_clear();
	fail_put(&plain);
	return -1;
}

static int
measure_cloud(const struct measuring *measuring, size_t which)
{
	static const enum shape_kind kinds[MODES] = { SHAPE_PLANE, SHAPE_SPHERE, SHAPE_CYLINDER,
		SHAPE_SPHERE, SHAPE_PLANE };
	const struct parameters *parameters = measuring->parameters;
	struct measurement *found = measuring->found;
	struct part *part = &found->part[which];
	struct fit_options options = { parameters->robust, measuring->channels.of.towards };
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
	if (fit_or_advise(measuring, &part->cloud, &shape, &options, &part->fit) < 0 ||
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

/* ---- the distance of two parts ---- */

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
	mark_valid(frame, &measuring.channels);
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
	free(measuring.channels.valid);
	return status;
}

/* ---- wrong points ---- */

#define TESTED_POINTS 4000	/* of all, evenly: their fits are within 0.05 scatters */

/*
 * Compares a plain fit with a robust one to some of its points. Wrong points that lie on one side
 * move a plain fit, even where none of them is far off: `moved` is the root mean square of what its
 * distances change by without them. Where the robust fit determines no shape, nothing is filled.
 */
static void
compare_robust(const struct part *part, struct fitted_residuals *of)
{
	static const struct fit_options robust = { .robust = true };
	const struct shape *plain = &part->fit.shape;
	size_t n = part->cloud.n, step = n / TESTED_POINTS + 1;
	unsigned char *drop = must_alloc(n, sizeof(*drop));
	struct cloud all = part->cloud, some = { 0 };
	struct fit fit = { 0 };
	double squares = 0, sds = 0;

	for (size_t i = 0; i < n; i++)
		drop[i] = i % step != 0;
	all.valid = NULL;	/* its own error bars are not asked for */
	cloud_without(&all, drop, &some);
	free(drop);
	if (fit_shape(NULL, &some, plain, &robust, &fit) == 0) {
		/* a plane's normal may point to either side */
		double side = plain->kind == SHAPE_PLANE ?
		    copysign(1, vector3_dot(plain->axis, fit.shape.axis)) : 1;

		for (size_t i = 0; i < some.n; i++) {
			double step_by = shape_distance(plain, some.x[i]) - side * fit.distance[i];
			double sd = some.sigma ? some.sigma[i] : 1;

			squares += step_by * step_by / (sd * sd);
			sds += sd / (double)some.n;
		}
		of->moved = sqrt(squares / (double)some.n) / fit.scale;
		of->moved_by = of->moved * fit.scale * sds;
		of->left_out = 1 - (double)fit.used / (double)some.n;
	} else {
		fail_clear();
	}
	fit_free(&fit);
	cloud_free(&some);
}

/* The figures of the part whose largest residual is most scatters. */
void
measurement_residuals(const struct measurement *found, struct fitted_residuals *told)
{
	*told = (struct fitted_residuals){ 0 };
	for (size_t k = 0; k < found->parts; k++) {
		const struct part *part = &found->part[k];
		size_t n = part->fit.n;
		struct fitted_residuals of = { .points = n };
		float *size = must_alloc(n, sizeof(*size));
		double weights = 0;

		for (size_t i = 0; i < n; i++)
			weights += part->fit.weight[i] / (double)n;
		for (size_t i = 0; i < n; i++) {
			double distance = fabs(part->fit.distance[i]);

			size[i] = (float)(distance * sqrt(part->fit.weight[i] / weights));
			if ((double)size[i] > of.largest) {
				of.largest = (double)size[i];
				of.distance = distance;
			}
		}
		of.scatter = 1.4826 * (double)numbers_median(size, n);
		for (size_t i = 0; i < n; i++)
			of.far += (double)size[i] > FAR_RESIDUAL * of.scatter;
		free(size);
		of.rounding = FLT_EPSILON * vector3_length(part->cloud.about);
		memcpy(of.unit, found->unit, sizeof(of.unit));
		compare_robust(part, &of);
		if (k == 0 || of.largest * told->scatter > told->largest * of.scatter)
			*told = of;
	}
}

void
measurement_free(struct measurement *found)
{
	for (size_t k = 0; k < 2; k++) {
		cloud_free(&found->part[k].cloud);
		fit_free(&found->part[k].fit);
	}
}
