/* One subject: what is read, found and printed when frames are compared with a mesh. */
#define _GNU_SOURCE
#include "to_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/px.h"
#include "base/text.h"
#include "image/statistics.h"
#include "io/source.h"
#include "io/target.h"
#include "mesh/mesh_file.h"
#include "coverage.h"
#include "pair.h"

#define BINS 20
#define UNITS 20.0		/* sizes that differ more than that are in other units, as a rule */
#define AWAY 0.1		/* of the mesh's size, by the median: not in one place, as a rule */
#define AWAY_MOST 0.2		/* never; a closed mesh of half the points' size makes 0.25 */
#define BAD_FIT 0.01		/* of the mesh's size: a fit that leaves more is none */

struct comparing {
	struct run *run;
	const struct to_mesh_options *options;
	const struct compare_limits *limits;
	bool table;
	FILE *out;
	struct nearest *mesh;
	double size;			/* the diagonal of the mesh's box */
	struct coverage_surface surface;
	struct target *target;
	size_t frames;
	bool warned, read;		/* read: a frame was */
	struct fail_record no_mesh;	/* why the operand's file is none */
};

/* ---- reading ---- */

/* Six times the volume that a closed mesh holds; negative where its faces look inwards. */
static double
volume(const struct triangles *triangles, const double about[3])
{
	double sum = 0;

	for (size_t t = 0; t < triangles->n; t++) {
		double a[3][3];

		for (int i = 0; i < 9; i++)
			a[i / 3][i % 3] =
			    triangles->point[triangles->corner[t][i / 3]][i % 3] - about[i % 3];
		sum += a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) +
		    a[0][1] * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) +
		    a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
	}
	return sum;
}

static void
warn_sides(const char *path, const struct nearest_counts *counts, double holds)
{
	if (10 * counts->border > 9 * counts->edges)
		warn(path, "%zu of %zu edges belong to one triangle only: its triangles do not "
		    "join, and points over such an edge do not count", counts->border,
		    counts->edges);
	if (counts->against)
		warn(path, "%zu of %zu edges join triangles that face to opposite sides: the sign "
		    "of distances is not reliable", counts->against, counts->edges);
	else if (counts->border == 0 && holds < 0)
		warn(path, "is a closed mesh whose faces look inwards: distances are positive "
		    "inside");
}

static int
load_mesh(struct comparing *comparing)
{
	const char *path = comparing->options->mesh;
	struct source *source = source_open_also(path, mesh_file_codecs);
	struct triangles triangles = { 0 };
	const struct codec *codec;
	struct nearest_counts counts;
	double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY,
		-INFINITY };
	FILE *file = source ? source_other(source, &codec) : NULL;
	double holds = 0;
	int status;

	if (!source)
		return -1;
	status = file ? mesh_file_load(codec, path, file, &triangles) :
	    fail(path, "is no mesh: --to wants PLY, OBJ or STL");
	if (status == 0)
		status = nearest_new(path, &triangles, &comparing->mesh);
	for (size_t i = 0; i < triangles.points && status == 0; i++)
		for (int k = 0; k < 3; k++) {
			low[k] = fmin(low[k], triangles.point[i][k]);
			high[k] = fmax(high[k], triangles.point[i][k]);
		}
	comparing->size = sqrt(pow(high[0] - low[0], 2) + pow(high[1] - low[1], 2) +
	    pow(high[2] - low[2], 2));
	if (status == 0)
		holds = volume(&triangles, low);
	triangles_free(&triangles);
	source_close(source);
	if (status < 0)
		return -1;
	nearest_count(comparing->mesh, &counts);
	warn_sides(path, &counts, holds);
	comparing->surface = (struct coverage_surface){ comparing->mesh,
		counts.against ? SIDE_BOTH : counts.border ? SIDE_SEEN :
		holds < 0 ? SIDE_BACK : SIDE_FRONT, comparing->size, { 0 }, NULL, 0 };
	return 0;
}

/* The points of a mesh as a table. */
static int
table_of(const struct triangles *triangles, struct frame **out)
{
	struct frame_head head;
	int status = head_init(&head, triangles->points, 1, 3, SAMPLE_FLOAT);

	if (status == 0)
		status = head_set_channels(&head, "x y z");
	if (status == 0)
		status = head_set_points(&head, triangles->points);
	if (status == 0 && triangles->axes == AXES_CAMERA_TOWARDS)
		status = meta_set(&head.meta, "z_axis", "towards");
	if (status == 0)
		status = frame_new(&head, out);
	for (size_t i = 0; i < triangles->points && status == 0; i++)
		for (size_t k = 0; k < 3; k++)
			frame_floats(*out, k, 0)[i] = (float)triangles->point[i][k];
	head_free(&head);
	return status;
}

/* ---- results ---- */

static int
put_deviation(struct comparing *comparing, const struct frame *in,
    const struct mesh_points *points, const struct mesh_distance *distance)
{
	size_t c, w = in->head.w;
	struct frame *out;
	int status = frame_add_channel(in, "deviation", &out);

	if (status == 0) {
		c = out->head.c - 1;
		for (size_t i = 0; i < points->n; i++)
			frame_floats(out, c, points->pixel[i] / w)[points->pixel[i] % w] =
			    distance[i].d;
		status = target_put(comparing->target, out);
	}
	frame_free(out);
	return status;
}

static void
print_histogram(FILE *out, const double *d, size_t n, double low, double high)
{
	size_t bin[BINS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double at = (d[i] - low) / (high - low) * BINS;

		bin[at >= BINS ? BINS - 1 : at > 0 ? (size_t)at : 0]++;
	}
	for (size_t k = 0; k < BINS; k++)
		fprintf(out, "%12.5g %12.5g %9zu %7.3f %%\n", low + (high - low) * (double)k / BINS,
		    low + (high - low) * (double)(k + 1) / BINS, bin[k],
		    100 * (double)bin[k] / (double)n);
}

/* d is reordered. */
static void
print_statistics(const struct comparing *comparing, double *d, size_t n, const char *of)
{
	char unit[20];
	double sum = 0, squares = 0, scatter = 0, low, high, mean;
	FILE *out = comparing->out;

	snprintf(unit, sizeof(unit), *of ? " %s" : "%s", of);
	for (size_t i = 0; i < n; i++) {
		sum += d[i];
		squares += d[i] * d[i];
	}
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		scatter += (d[i] - mean) * (d[i] - mean);
	low = statistics_quantile(d, n, 0);
	high = statistics_quantile(d, n, 1);
	fprintf(out, "mean            %.6g%s, sd %.6g\n", mean, unit,
	    sqrt(scatter / (double)n));
	fprintf(out, "rms             %.6g%s\n", sqrt(squares / (double)n), unit);
	fprintf(out, "median          %.6g%s\n", statistics_quantile(d, n, 0.5) + 0.0, unit);
	fprintf(out, "extremes        %.6g %.6g%s\n", low + 0.0, high + 0.0, unit);
	fprintf(out, "interval_95     %.6g %.6g%s\n", statistics_quantile(d, n, 0.025) + 0.0,
	    statistics_quantile(d, n, 0.975) + 0.0, unit);
	if (comparing->table)
		print_histogram(out, d, n, low, high);
}

/* The limits of the command line, of |d|. */
static int
judge(struct comparing *comparing, double *d, size_t n)
{
	struct comparison of = { .n = n, .mean = (double)NAN, .size = d };
	double squares = 0;
	struct text line;
	char *text;
	bool same;

	if (!compare_limited(comparing->limits))
		return 0;
	for (size_t i = 0; i < n; i++) {
		d[i] = fabs(d[i]);
		of.max = fmax(of.max, d[i]);
		squares += d[i] * d[i];
	}
	of.rms = sqrt(squares / (double)n);
	if (!text_open(&line))
		return -1;
	fprintf(line.file, "frame %zu deviation", comparing->frames);
	same = compare_judge(&of, comparing->limits, line.file);
	text = text_close(&line, NULL);
	if (!text)
		return -1;
	if (!same)
		pair_differ(comparing->run, "%s", text);
	free(text);
	return 0;
}

/* Prints how much of the surface that faces the camera the points cover, and judges it. */
static int
report_coverage(struct comparing *comparing, const struct mesh_points *points,
    const struct mesh_distance *distance, const struct pose *pose)
{
	double least = comparing->options->coverage;
	struct coverage coverage;
	const double *camera = coverage.camera;
	char from[100];

	if (isnan(least) && comparing->run->quiet)
		return 0;
	if (coverage_find(comparing->run, points, distance, pose, comparing->options->within,
	    &comparing->surface, &coverage) < 0)
		return -1;
	snprintf(from, sizeof(from), "%s%.6g %.6g %.6g", camera[3] != 0 ? "at " :
	    "in the direction ", camera[0], camera[1], camera[2]);
	if (isnan(coverage.share) && !isnan(least))
		return fail("--coverage", "no surface of the mesh faces the camera, %s: are the "
		    "points in a camera's coordinates?", from);
	/* rounded down, so that 100 % is all of it, and a share below a limit looks so */
	if (!comparing->run->quiet && isnan(coverage.share))
		fprintf(comparing->out, "covers nothing: no surface faces the camera, %s\n", from);
	else if (!comparing->run->quiet && isnan(coverage.within))
		fprintf(comparing->out, "covers 0 %% of the surface that faces the camera: there "
		    "are too few points\n");
	else if (!comparing->run->quiet)
		fprintf(comparing->out, "covers %.4g %% of the surface that faces the camera, a "
		    "point within %.3g%s%s\n", floor(coverage.share * 1000 + 1e-9) / 10,
		    coverage.within, *points->unit ? " " : "", points->unit);
	if (coverage.share < least)
		pair_differ(comparing->run, "frame %zu coverage %.6g < %.6g", comparing->frames,
		    coverage.share, least);
	return 0;
}

/* ---- frames ---- */

static double
diagonal(const struct mesh_points *points)
{
	double sum = 0;

	for (int i = 0; i < 3; i++)
		sum += pow(points->high[i] - points->low[i], 2);
	return sqrt(sum);
}

static void
warn_sizes(struct comparing *comparing, const struct mesh_points *points)
{
	double ratio = diagonal(points) / comparing->size;

	if (comparing->warned || (ratio < UNITS && ratio > 1 / UNITS))
		return;
	comparing->warned = true;
	warn("--to", "the points span %.4g, the mesh %.4g: are they in the same unit?",
	    diagonal(points), comparing->size);
}

static int
fit_frame(struct comparing *comparing, const struct mesh_points *points, double within,
    struct pose *pose)
{
	struct mesh_fit fit;

	if (mesh_fit_points(comparing->run, points, comparing->mesh, within, comparing->size,
	    &fit) < 0)
		return -1;
	*pose = fit.pose;
	if (fit.cut > 3 * BAD_FIT * comparing->size)
		warn("--icp", "leaves %.3g: the points are too far from where they belong, or "
		    "belong to another part", fit.cut / 3);
	if (comparing->run->quiet)
		return 0;
	fprintf(comparing->out, "icp             %zu steps, rms %.6g, %.2f %% of %zu points within "
	    "3 sigma, %.6g\n", fit.steps + 1, fit.rms,
	    100 * (double)fit.used / (double)fit.pairs, fit.pairs, fit.cut);
	fprintf(comparing->out, "pose           ");
	for (int i = 0; i < 12; i++)
		fprintf(comparing->out, " %.9g", i % 4 == 3 ? pose->T[i / 4] :
		    pose->R[3 * (i / 4) + i % 4]);
	fputc('\n', comparing->out);
	return 0;
}

static int
report(struct comparing *comparing, const struct mesh_points *points,
    const struct mesh_distance *distance, const struct pose *pose)
{
	double *d = calloc(2 * points->n + 1, sizeof(*d)), median;
	size_t n = 0, border = 0, far = 0;
	int status;

	if (!d)
		return fail_memory();
	for (size_t i = 0; i < points->n; i++) {
		border += distance[i].border;
		far += distance[i].far;
		if (!isnan(distance[i].d))
			d[n++] = (double)distance[i].d;
	}
	if (!comparing->run->quiet) {
		fprintf(comparing->out, "points          %zu of %zu", n, points->n);
		if (border)
			fprintf(comparing->out, ", %zu beyond the mesh's border", border);
		if (far)
			fprintf(comparing->out, ", %zu farther than --within", far);
		fputc('\n', comparing->out);
	}
	for (size_t i = 0; i < n; i++)
		d[n + i] = fabs(d[i]);
	median = statistics_quantile(d + n, n, 0.5);
	if (n && median > AWAY_MOST * comparing->size) {
		free(d);
		return fail("--to", "the points, which span %.4g, lie %.4g away, by the median, "
		    "from a mesh of %.4g: another place, or another unit%s", diagonal(points),
		    median, comparing->size, isnan(comparing->options->within) ?
		    "; --within leaves out what is around it" : "");
	}
	if (n == 0 && isnan(comparing->options->coverage)) {
		free(d);
		return fail(NULL, "no point lies on the mesh: %zu beyond its border, %zu farther "
		    "than --within", border, far);
	}
	status = report_coverage(comparing, points, distance, pose);
	if (status == 0 && n && !comparing->run->quiet)
		print_statistics(comparing, d, n, points->unit);
	if (status == 0 && n)
		status = judge(comparing, d, n);
	free(d);
	if (median > AWAY * comparing->size && !comparing->warned) {
		comparing->warned = true;
		warn("--to", "the points lie %.4g away, by the median, from a mesh of %.4g: are "
		    "both in one place? --icp moves them, from nearby", median, comparing->size);
	}
	return status;
}

static int
compare_frame(struct comparing *comparing, const struct frame *in)
{
	double within = isnan(comparing->options->within) ? (double)INFINITY :
	    comparing->options->within;
	struct mesh_distance *distance = NULL;
	struct pose pose = pose_identity;
	struct mesh_points points;
	int status = mesh_points_take(in, &points);

	if (status == 0 && points.n == 0 && isnan(comparing->options->coverage))
		status = fail(NULL, "no point: all are NaN");
	if (status == 0) {
		distance = calloc(points.n + 1, sizeof(*distance));
		status = distance ? 0 : fail_memory();
	}
	if (status == 0) {
		if (points.n)
			warn_sizes(comparing, &points);
		if (!comparing->run->quiet)
			fprintf(comparing->out, "frame %zu\n", comparing->frames);
		status = comparing->options->icp && points.n ?
		    fit_frame(comparing, &points, within, &pose) : 0;
	}
	if (status == 0) {
		mesh_distances(comparing->run, &points, comparing->mesh, &pose, within, distance);
		status = report(comparing, &points, distance, &pose);
	}
	if (status == 0 && comparing->target)
		status = put_deviation(comparing, in, &points, distance);
	free(distance);
	mesh_points_free(&points);
	return status;
}

static int
compare_source(struct comparing *comparing, struct source *source)
{
	struct frame *frame, *floats;
	char name[40];
	int got;

	while ((got = source_next(source, &frame)) > 0) {
		comparing->read = true;
		run_begin_input(comparing->run);
		got = frame_to_float(frame, &floats);
		if (got == 0)
			got = compare_frame(comparing, floats);
		frame_free(frame);
		if (got == 0 || frame != floats)
			frame_free(floats);
		if (got < 0) {
			snprintf(name, sizeof(name), "frame %zu", comparing->frames);
			fail_prefix(name);
			return -1;
		}
		comparing->frames++;
	}
	return got;
}

/* The points of a mesh. 1, and no message: it is none, but maybe a cloud. */
static int
compare_points(struct comparing *comparing, const char *path, const struct codec *codec,
    FILE *file)
{
	struct triangles triangles;
	struct frame *table = NULL;
	int status = mesh_file_load(codec, path, file, &triangles);

	if (status < 0 && triangles.n == 0 && !fail_is_memory() && strcmp(path, "-")) {
		fail_take(&comparing->no_mesh);
		status = 1;
	}
	if (status == 0)
		status = table_of(&triangles, &table);
	triangles_free(&triangles);
	if (status == 0)
		status = compare_frame(comparing, table);
	frame_free(table);
	return status;
}

static int
compare_all(struct comparing *comparing, const char *path)
{
	struct source *source = source_open_also(path, mesh_file_codecs);
	const struct codec *codec;
	FILE *file = source ? source_other(source, &codec) : NULL;
	int status;

	if (!source)
		return -1;
	status = file ? compare_points(comparing, path, codec, file) :
	    compare_source(comparing, source);
	source_close(source);
	if (status <= 0)
		return status;
	source = source_open(path);
	status = source ? compare_source(comparing, source) : -1;
	source_close(source);
	if (status < 0 && comparing->frames == 0 && !comparing->read) {
		fail_clear();
		fail_put(&comparing->no_mesh);
	}
	return status;
}

int
to_mesh_compare(struct run *run, const struct to_mesh_options *options,
    const struct compare_limits *limits, bool table, FILE *out)
{
	struct comparing comparing = { .run = run, .options = options, .limits = limits,
		.table = table, .out = out };
	int status = load_mesh(&comparing);

	if (status == 0 && options->deviation) {
		comparing.target = target_open(options->deviation, run->force, NULL);
		status = comparing.target ? 0 : -1;
	}
	if (status == 0)
		status = compare_all(&comparing, run->operand[0]);
	if (comparing.target && target_close(comparing.target, status == 0) < 0)
		status = -1;
	nearest_free(comparing.mesh);
	free(comparing.surface.place);
	return status;
}
