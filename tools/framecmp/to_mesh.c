/*
 * framecmp --to: measured points against a nominal mesh. Distances are signed, to the nearest point
 * of the mesh (mesh/nearest.h); --icp moves the points onto it first, by iterated closest points;
 * the coverage is the share of the surface facing the camera that has a point nearby.
 */
#include "framecmp.h"

#include "base/linear.h"
#include "base/numbers.h"
#include "base/px.h"
#include "base/text.h"
#include "image/statistics.h"
#include "io/source.h"
#include "io/target.h"
#include "mesh/mesh.h"
#include "mesh/mesh_file.h"
#include "mesh/nearest.h"

/* ---- points and distances ---- */

/* Takes the finite points of a frame of floats, with channels x y z, or z over known spacings; n
 * may be 0. The camera sees points x y z from their origin. It sees points over pixels, and those
 * whose z grows towards the camera, along z. -1 after fail(); mesh_points_free() in either case. */
static int
mesh_points_take(const struct frame *frame, struct mesh_points *points)
{
	const struct frame_head *head = &frame->head;
	const char *unit = meta_get(&head->meta, "length_unit");
	struct mesh mesh;
	size_t most;

	*points = (struct mesh_points){ .low = { INFINITY, INFINITY, INFINITY },
		.high = { -INFINITY, -INFINITY, -INFINITY } };
	if (mesh_channels(&mesh, NULL, head) < 0)
		return -1;
	if (!mesh.scaled)
		return fail(NULL, "%.40s without x and y, whose pixels have no known distance: "
		    "--to wants x y z", head->channel[mesh.point[2]]);
	snprintf(points->unit, sizeof(points->unit), "%.15s", unit ? unit : head->unit);
	points->camera[3] = mesh.point[0] != NO_CHANNEL && !mesh.towards;
	points->camera[2] = points->camera[3] != 0 ? 0 : mesh.towards ? 1 : -1;
	if (size_multiply(head->w, head->h, &most) < 0)
		return -1;
	points->x = must_alloc(most + 1, sizeof(*points->x));
	points->pixel = must_alloc(most + 1, sizeof(*points->pixel));
	for (size_t y = 0; y < head->h; y++)
		for (size_t x = 0; x < head->w; x++) {
			double *p = points->x[points->n];

			if (!mesh_point(&mesh, frame, x, y, p))
				continue;
			for (int i = 0; i < 3; i++) {
				points->low[i] = fmin(points->low[i], p[i]);
				points->high[i] = fmax(points->high[i], p[i]);
			}
			points->pixel[points->n++] = y * head->w + x;
		}
	return 0;
}

static void
mesh_points_free(struct mesh_points *points)
{
	free(points->x);
	free(points->pixel);
	*points = (struct mesh_points){ 0 };
}

static void
measure(struct run *run, struct measuring *measuring)
{
	run_for(run, (measuring->n + BLOCK - 1) / BLOCK, framecmp_rows()->measure, measuring);
}

/* ---- --icp ---- */

#define MAX_STEPS 100
#define FIRST_POINTS 5000	/* of the first steps */
#define MIN_PAIRS 1000
#define MIN_TURN_RAD 1e-6	/* a step that turns and shifts less is the last one */
#define MIN_SHIFT 1e-6		/* of the mesh's size */

struct mesh_fit {
	struct pose pose;	/* of the points, onto the mesh */
	size_t steps, pairs, used;
	double rms, cut;	/* of the pairs in use; 3 sigma of the residuals */
};

/* Steps on n points, every step-th. 1: the points are at rest; 0: not yet; -1 after fail(). */
static int
fit_some(struct run *run, struct measuring *measuring, double size, struct mesh_fit *fit)
{
	struct rigid_freedom freedom;
	struct rigid_step step;

	for (; fit->steps < MAX_STEPS; fit->steps++) {
		measure(run, measuring);
		fit->pairs = 0;
		for (size_t k = 0; k < measuring->n; k++)
			fit->pairs += !isnan(measuring->pair[k].residual);
		if (fit->pairs < MIN_PAIRS && (measuring->step == 1 || fit->pairs < 6))
			return fail("--icp", "%zu points lie on the mesh: it needs %d", fit->pairs,
			    MIN_PAIRS);
		if (rigid_step_solve(run, measuring->pair, measuring->n, measuring->within,
		    &step) < 0)
			return -1;
		rigid_step_freedom(run, measuring->pair, measuring->n, &step, &freedom);
		if (freedom.free)
			return fail("--icp", "%s is free: the mesh does not hold the points there",
			    freedom.motion);
		fit->used = step.used;
		fit->rms = step.rms;
		fit->cut = 3 * step.sigma;
		pose_compose(&step.motion, &fit->pose, &fit->pose);
		pose_orthonormalize(&fit->pose);
		if (step.turn_rad < MIN_TURN_RAD && step.shift < MIN_SHIFT * size)
			return 1;
	}
	return 0;
}

/*
 * Iterated closest points, point to plane, from where the points are: first on some of them, then
 * on all, until a step is small; `size` is the mesh's. -1 after fail(): too few pairs, a motion
 * that the surface leaves free, no rest after MAX_STEPS.
 */
static int
mesh_fit_points(struct run *run, const struct mesh_points *points, const struct nearest *mesh,
    double within, double size, struct mesh_fit *fit)
{
	size_t steps[2] = { points->n / FIRST_POINTS + 1, 1 };
	struct measuring measuring = { points, mesh, &fit->pose, within, 0, 1, NULL, NULL };
	int status = 0;

	*fit = (struct mesh_fit){ .pose = pose_identity };
	measuring.pair = must_alloc(points->n + 1, sizeof(*measuring.pair));
	for (size_t k = 0; k < 2 && status >= 0; k++) {
		measuring.step = steps[k];
		measuring.n = (points->n + steps[k] - 1) / steps[k];
		status = fit_some(run, &measuring, size, fit);
	}
	free(measuring.pair);
	if (status == 0)
		return fail("--icp", "has found no rest after %d steps: the points are too far "
		    "from where they belong, or belong to another part", MAX_STEPS);
	return status < 0 ? -1 : 0;
}

/*
 * ---- coverage: the share of the surface that has been measured ----
 * Places are spread evenly over the area of the triangles. Of those that the camera sees, it counts
 * which have a measured point nearby.
 */

#define AROUND 50		/* points in the 27 cubes around a point, about */
#define SPACING_POINTS 1000	/* where the spacing of points is measured */
#define WITHIN_SPACINGS 2.0	/* without --within, how far a place may lie from a point */
#define FINE_CUBES 8.0		/* side by side are as long as that distance */
#define MAX_CUBES 0x1p18	/* along the mesh: fewer than a grid has */

struct coverage {
	double share;		/* of the area that faces the camera; NaN: none does */
	double within;		/* a place counts as measured with a point nearer than that */
	double camera[4];	/* as the mesh sees it */
};

/* Keeps the places that the camera sees on the mesh's outer side. */
static void
keep_seen(struct looking *looking)
{
	struct coverage_surface *surface = looking->surface;
	size_t count[3] = { 0 };
	enum seen other = UNSEEN;

	for (size_t k = 0; k < PLACES; k++)
		count[looking->seen[k]]++;
	if (surface->side == SIDE_SEEN)
		other = count[BACK] > count[FRONT] ? FRONT : BACK;
	surface->n = 0;
	for (size_t k = 0; k < PLACES; k++)
		if (looking->seen[k] != UNSEEN && looking->seen[k] != other)
			memcpy(looking->place[surface->n++], looking->place[k],
			    sizeof(*looking->place));
	surface->place = looking->place;
}

/* Finds the places that the camera sees. */
static void
find_surface(struct run *run, struct coverage_surface *surface)
{
	struct looking looking = { .surface = surface };
	struct nearest_counts counts;

	free(surface->place);
	surface->place = NULL;
	nearest_count(surface->mesh, &counts);
	looking.triangles = counts.triangles;
	looking.area = must_alloc(counts.triangles + 1, sizeof(*looking.area));
	looking.place = must_alloc(PLACES, sizeof(*looking.place));
	looking.seen = must_alloc(PLACES, sizeof(*looking.seen));
	framecmp_rows()->add_areas(surface->mesh, looking.triangles, looking.area);
	run_for(run, PLACES / BLOCK, framecmp_rows()->see_places, &looking);
	keep_seen(&looking);
	free(looking.area);
	free(looking.seen);
}

static void
new_points(size_t n, float *xyz[3])
{
	xyz[0] = must_alloc(3 * n + 1, sizeof(float));
	xyz[1] = xyz[0] + n;
	xyz[2] = xyz[1] + n;
}

/* The median distance of points over the mesh to their fourth nearest: the pitch of a square grid,
 * 1.08 times that of random points. 0: there are too few points. -1 after fail(). */
static int
find_spacing(struct run *run, const struct measured *measured, double *spacing)
{
	const float *const xyz[3] = { measured->xyz[0], measured->xyz[1], measured->xyz[2] };
	struct grid grid;
	float apart[SPACING_POINTS];
	size_t n = 0;
	int status = grid_make_fitting(run, xyz, measured->over, 0, AROUND, true, &grid);

	for (size_t k = 0; k < SPACING_POINTS && status == 0; k++) {
		apart[n] = framecmp_rows()->fourth_nearest(&grid,
		    k * measured->over / SPACING_POINTS);
		n += isfinite(apart[n]);
	}
	grid_free(&grid);
	*spacing = (double)numbers_median(apart, n);
	return status;
}

/* Sorts the points into cubes. */
static int
sort_points(struct run *run, struct measured *measured)
{
	double least = measured->surface->size / MAX_CUBES, about[3];
	const float *const all[3] = { measured->xyz[0], measured->xyz[1], measured->xyz[2] };
	struct grid *fine = &measured->fine;

	pose_apply(&measured->to_points, measured->surface->place[0], about);
	if (grid_make(run, all, measured->n, fmax(measured->within / FINE_CUBES, least), about,
	    NULL, fine) < 0)
		return -1;
	new_points(fine->cells, measured->first);
	for (size_t cell = 0; cell < fine->cells; cell++)
		for (int k = 0; k < 3; k++)
			measured->first[k][cell] =
			    measured->xyz[k][fine->point[fine->first[cell]]];
	return grid_make(run, (const float *[3]){ measured->first[0], measured->first[1],
	    measured->first[2] }, fine->cells, fmax(measured->within, least), about, NULL,
	    &measured->coarse);
}

static size_t
count_covered(struct run *run, struct measured *measured)
{
	size_t blocks = (measured->surface->n + BLOCK - 1) / BLOCK, covered = 0;

	measured->covered = must_alloc(blocks + 1, sizeof(*measured->covered));
	run_for(run, blocks, framecmp_rows()->cover_places, measured);
	for (size_t block = 0; block < blocks; block++)
		covered += measured->covered[block];
	return covered;
}

/*
 * Finds the share of the surface that has a point within `within`; NaN: within twice the points'
 * spacing. pose takes the points, and their camera, to the mesh. Points that are far do not count.
 * `surface` keeps its places while the camera stays the same; the caller zeroes its last three
 * fields before the first call, and frees `place`. -1 after fail().
 */
static int
coverage_find(struct run *run, const struct mesh_points *points,
    const struct mesh_distance *distance, const struct pose *pose, double within,
    struct coverage_surface *surface, struct coverage *coverage)
{
	struct measured measured = { .surface = surface, .within = within };
	double camera[4] = { 0, 0, 0, points->camera[3] }, spacing;
	size_t covered = 0;
	int status = 0;

	pose_invert(pose, &measured.to_points);
	for (int i = 0; i < 3; i++) {
		camera[i] = camera[3] != 0 ? pose->T[i] : 0;
		for (int k = 0; k < 3; k++)
			camera[i] += pose->R[3 * i + k] * points->camera[k];
	}
	*coverage = (struct coverage){ .share = (double)NAN };
	memcpy(coverage->camera, camera, sizeof(camera));
	if (!surface->place || memcmp(camera, surface->camera, sizeof(camera)) != 0) {
		memcpy(surface->camera, camera, sizeof(camera));
		find_surface(run, surface);
	}
	if (surface->n == 0)
		return 0;
	new_points(points->n, measured.xyz);
	for (int border = 0; border < 2; border++) {
		for (size_t i = 0; i < points->n; i++) {
			if (distance[i].far || distance[i].border != border)
				continue;
			for (int k = 0; k < 3; k++)
				measured.xyz[k][measured.n] = (float)points->x[i][k];
			measured.n++;
		}
		measured.over = border ? measured.over : measured.n;
	}
	if (measured.over && isnan(within)) {
		status = find_spacing(run, &measured, &spacing);
		measured.within = WITHIN_SPACINGS * spacing;
	}
	if (status == 0 && measured.over && measured.within > 0)
		status = sort_points(run, &measured);
	if (status == 0 && measured.over && measured.within > 0)
		covered = count_covered(run, &measured);
	coverage->share = (double)covered / (double)surface->n;
	coverage->within = measured.within;
	grid_free(&measured.fine);
	grid_free(&measured.coarse);
	free_all(measured.first[0], measured.xyz[0], measured.covered);
	return status;
}

/* ---- the mesh ---- */

/* Of a box. */
static double
diagonal(const double low[3], const double high[3])
{
	double sum = 0;

	for (int i = 0; i < 3; i++)
		sum += pow(high[i] - low[i], 2);
	return sqrt(sum);
}

#define HISTOGRAM_BINS 20
#define MAX_SIZE_RATIO 20.0	/* sizes that differ more are probably in other units */
/* Median distance, in sizes of the mesh: above the first, points and mesh are probably in different
 * places, above the second, certainly. A closed mesh of half the points' size has 0.25. */
#define WARN_DISTANCE 0.1
#define FAIL_DISTANCE 0.2
#define MAX_FIT_RESIDUAL 0.01	/* in sizes of the mesh: a fit that leaves more is wrong */

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
	bool warned;			/* of units or places that differ */
	bool read;			/* a frame was read */
	struct fail_record no_mesh;	/* why the operand's file is no mesh */
};

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

/* Widens the box low, high by the points. Returns six times the volume that a closed mesh holds;
 * negative where its faces look inwards. */
static double
measure_mesh(const struct triangles *triangles, double low[3], double high[3])
{
	double sum = 0;

	for (size_t i = 0; i < triangles->points; i++)
		for (int k = 0; k < 3; k++) {
			low[k] = fmin(low[k], triangles->point[i][k]);
			high[k] = fmax(high[k], triangles->point[i][k]);
		}
	for (size_t t = 0; t < triangles->n; t++) {
		double a[9];

		for (int i = 0; i < 9; i++)
			a[i] = triangles->point[triangles->corner[t][i / 3]][i % 3] - low[i % 3];
		sum += matrix3_determinant(a);
	}
	return sum;
}

static int
load_mesh(struct comparing *comparing)
{
	const char *path = comparing->options->mesh;
	struct source *source = source_open_as(path, mesh_file_codecs, NULL);
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
	if (status == 0)
		holds = measure_mesh(&triangles, low, high);
	comparing->size = diagonal(low, high);
	triangles_free(&triangles);
	source_close(source);
	if (status != 0)
		return -1;
	nearest_count(comparing->mesh, &counts);
	warn_sides(path, &counts, holds);
	comparing->surface = (struct coverage_surface){ comparing->mesh,
		counts.against ? SIDE_BOTH : counts.border ? SIDE_SEEN :
		holds < 0 ? SIDE_BACK : SIDE_FRONT, comparing->size, { 0 }, NULL, 0 };
	return 0;
}

/* A mesh's points as a table, which the caller frees. */
static int
table_of(const struct triangles *triangles, struct frame **out)
{
	struct frame_head head;

	head_init(&head, 1, 1, 3, SAMPLE_FLOAT);
	head_set_channels(&head, "x y z");
	head_set_points(&head, triangles->points);
	if (triangles->axes == AXES_CAMERA_TOWARDS)
		meta_set(&head.meta, "z_axis", "towards");
	if (frame_new_if(0, &head, out) < 0)
		return -1;
	for (size_t i = 0; i < triangles->points; i++)
		for (size_t k = 0; k < 3; k++)
			frame_floats(*out, k, 0)[i] = (float)triangles->point[i][k];
	return 0;
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
	size_t bin[HISTOGRAM_BINS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double at = (d[i] - low) / (high - low) * HISTOGRAM_BINS;

		bin[at >= HISTOGRAM_BINS ? HISTOGRAM_BINS - 1 : at > 0 ? (size_t)at : 0]++;
	}
	for (size_t k = 0; k < HISTOGRAM_BINS; k++)
		fprintf(out, "%12.5g %12.5g %9zu %7.3f %%\n",
		    low + (high - low) * (double)k / HISTOGRAM_BINS,
		    low + (high - low) * (double)(k + 1) / HISTOGRAM_BINS, bin[k],
		    100 * (double)bin[k] / (double)n);
}

/* Prints the statistics of distances; reorders d. */
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

/* Judges the limits of the command line for |d|; overwrites d. */
static void
judge(struct comparing *comparing, double *d, size_t n)
{
	struct comparison of = { .n = n, .mean = (double)NAN, .size = d };
	double squares = 0;
	struct text line;
	char *text;
	bool same;

	if (!compare_limited(comparing->limits))
		return;
	for (size_t i = 0; i < n; i++) {
		d[i] = fabs(d[i]);
		of.max = fmax(of.max, d[i]);
		squares += d[i] * d[i];
	}
	of.rms = sqrt(squares / (double)n);
	text_open(&line);
	fprintf(line.file, "frame %zu deviation", comparing->frames);
	same = compare_judge(&of, comparing->limits, line.file);
	text = text_close(&line, NULL);
	if (!same)
		pair_differ(comparing->run, "%s", text);
	free(text);
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
	/* rounded down: 100 % is the whole surface, and a share below a limit looks so */
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

static void
warn_sizes(struct comparing *comparing, const struct mesh_points *points)
{
	double ratio = diagonal(points->low, points->high) / comparing->size;

	if (comparing->warned || (ratio < MAX_SIZE_RATIO && ratio > 1 / MAX_SIZE_RATIO))
		return;
	comparing->warned = true;
	warn("--to", "the points span %.4g, the mesh %.4g: are they in the same unit?",
	    diagonal(points->low, points->high), comparing->size);
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
	if (fit.cut > 3 * MAX_FIT_RESIDUAL * comparing->size)
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

/* Counts the distances of a frame, prints their statistics, and judges them. */
static int
report(struct comparing *comparing, const struct mesh_points *points,
    const struct mesh_distance *distance, const struct pose *pose)
{
	double *d = must_alloc(2 * points->n + 1, sizeof(*d)), median;
	size_t n = 0, border = 0, far = 0;
	int status;

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
	if (n && median > FAIL_DISTANCE * comparing->size) {
		free(d);
		return fail("--to", "the points, which span %.4g, lie %.4g away, by the median, "
		    "from a mesh of %.4g: another place, or another unit%s",
		    diagonal(points->low, points->high), median, comparing->size,
		    isnan(comparing->options->within) ?
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
		judge(comparing, d, n);
	free(d);
	if (median > WARN_DISTANCE * comparing->size && !comparing->warned) {
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
		distance = must_alloc(points.n + 1, sizeof(*distance));
		if (points.n)
			warn_sizes(comparing, &points);
		if (!comparing->run->quiet)
			fprintf(comparing->out, "frame %zu\n", comparing->frames);
		status = comparing->options->icp && points.n ?
		    fit_frame(comparing, &points, within, &pose) : 0;
	}
	if (status == 0) {
		measure(comparing->run, &(struct measuring){ &points, comparing->mesh, &pose,
		    within, points.n, 1, distance, NULL });
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

/* Compares the points of a file that may be a mesh. 1: it is none, but perhaps a cloud. */
static int
compare_points(struct comparing *comparing, const char *path, const struct codec *codec,
    FILE *file)
{
	struct triangles triangles;
	struct frame *table = NULL;
	int status = mesh_file_load(codec, path, file, &triangles);

	if (status != 0)
		status = triangles.n || fail_is_memory() || !strcmp(path, "-") ? -1 : 1;
	if (status > 0)
		fail_take(&comparing->no_mesh);
	if (status == 0)
		status = table_of(&triangles, &table);
	triangles_free(&triangles);
	if (status == 0)
		status = compare_frame(comparing, table);
	frame_free(table);
	return status;
}

/* The operand is a mesh, or else frames. */
static int
compare_operand(struct comparing *comparing, const char *path)
{
	struct source *source = source_open_as(path, mesh_file_codecs, NULL);
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
		status = compare_operand(&comparing, run->operand[0]);
	if (comparing.target && target_close(comparing.target, status == 0) < 0)
		status = -1;
	nearest_free(comparing.mesh);
	free(comparing.surface.place);
	return status;
}
