/*
 * A triangle mesh through points: frames and options. cloud.c has the points and their normals,
 * surface.c the mesh, xyz2mesh_rows.c the loops.
 */
#include "xyz2mesh.h"

#include "checks/checks.h"
#include "io/target.h"
#include "mesh/mesh.h"
#include "run/stage.h"

#define LEAST_POINTS 16
#define REACH_CELLS 1.75
#define MOST_DISAGREE 0.05	/* pairs of neighbours whose normals may look to two sides */
#define MANY_ALONE 0.05		/* of the points: so many without a surface get a line */

struct parameters {
	double cell, reach;
	struct numbers towards;
	bool ascii, close;
};

struct priv {
	size_t meshes;
	struct surface_points told;	/* of the frame at hand, for the checks */
};

static const struct opt options[] = {
	FLAG_ROW(0, "ascii", ascii, "text files, where a format has them"),
	{ 0, "cell", "MM", OPT_NUMBER, AT(cell), NULL, 1e-9, 1e9, NULL,
	  "side of a cell; if not given, 1.5 spacings of the points or 1.25 sigma of their noise" },
	FLAG_ROW(0, "close", close,
	    "fill every hole, and the open side of a surface, by a membrane"),
	{ 0, "normals-towards", "X,Y,Z", OPT_NUMBERS, AT(towards), NULL, 0, 0, NULL,
	  "where the points were seen from: normals by their neighbours look there" },
	{ 0, "reach", "MM", OPT_NUMBER, AT(reach), NULL, 1e-9, 1e9, NULL,
	  "no surface farther from all points; if not given, 1.75 cells" },
	{ 0 },
};

/* ---- their surface ---- */

/* Sorts the points, and makes their normals unless they are given. *cell: what the user gave (NaN:
 * nothing), then the one to take. -1 after fail(). */
static int
prepare(struct run *run, struct cloud *cloud, double *cell)
{
	struct priv *priv = run->priv;
	double noise;
	bool found = isnan(*cell);

	if (cloud_scale(run, cloud, cell, &noise) < 0)
		return -1;
	priv->told.sparse = cloud_sparse(run, cloud);
	if (cloud->sides != CLOUD_NORMALS && cloud_normals(run, cloud, false) < 0)
		return -1;
	if (cloud->n < LEAST_POINTS)
		return fail(NULL, "the points lie on lines, or too far from each other for cells "
		    "of %.4g (--cell)", *cell);
	if (run->verbose && found)
		note(NULL, "spacing %.4g, noise %.3g, cells of %.4g", cloud->spacing, noise,
		    *cell);
	return 0;
}

/* For the checks: the triangles that look against the normals of their corners; is a closed surface
 * inside out? */
static void
tell_surface(const struct frame *vertices, const uint32_t (*triangle)[3], size_t triangles,
    size_t between, bool closed, struct surface_points *told)
{
	double volume = 0;
	size_t against = 0;

	for (size_t t = 0; t < triangles; t++) {
		double normal[3], along = 0;

		mesh_triangle_normal(vertices, triangle[t], normal);
		for (size_t k = 0; k < 3; k++)
			volume += normal[k] *
			    ((double)frame_floats(vertices, k, 0)[triangle[t][0]] -
			    (double)frame_floats(vertices, k, 0)[0]);
		for (size_t k = 0; k < 9; k++)
			along += normal[k % 3] *
			    (double)frame_floats(vertices, 3 + k % 3, 0)[triangle[t][k / 3]];
		against += t < between && along < 0;
	}
	told->against = (double)against / (double)between;
	told->inwards = closed && volume < 0;
}

static int
write_mesh(struct run *run, const struct frame_head *in, const struct cloud *cloud,
    const struct surface_options *options)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct frame *vertices = NULL;
	uint32_t (*triangle)[3] = NULL;
	const double cell = cloud->grid.size / BRICK;
	size_t triangles = 0, between;
	struct frame_head head;
	bool closed = false;
	char *path;
	int status;

	head_copy(&head, in);
	head_set_channels(&head, options->values == 3 ? "x y z nx ny nz r g b" :
	    options->values == 1 ? "x y z nx ny nz texture" : "x y z nx ny nz");
	head.type = SAMPLE_FLOAT;
	status = surface_make(run, cloud, options, &head, &vertices, &triangle, &triangles,
	    &between, &closed);
	head_free(&head);
	if (status == 0 && triangles == 0)
		status = fail(NULL, "no triangle: cells of %.4g are too large for these points, "
		    "or too small (--cell)", cell);
	if (status == 0) {
		tell_surface(vertices, (const uint32_t (*)[3])triangle, triangles, between, closed,
		    &priv->told);
		run_judge(run);
	}
	path = status == 0 ? target_file_name(run->output, priv->meshes, in) : NULL;
	if (status == 0 && (!path || mesh_save(path, vertices,
	    (const uint32_t (*)[3])triangle, triangles, parameters->ascii) < 0))
		status = -1;
	if (status == 0 && run->verbose)
		note(path, "%zu vertices, %zu triangles", vertices->head.w, triangles);
	free(path);
	free(triangle);
	frame_free(vertices);
	return status;
}

static int
make_mesh(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct surface_options surface = { .reach = REACH_CELLS, .close = parameters->close };
	struct cloud cloud = { 0 };
	double cell = parameters->cell, share;
	bool normals;
	int status = 0;

	for (size_t k = 0, channel; k < 3; k++)
		if (run_channel(run, &in->head, (char[2]){ "xyz"[k] }, &channel) < 0)
			return -1;
	if (priv->meshes > 0 && !strchr(run->output, '%'))
		return fail_usage(run->output, "is the name of one mesh: name%%04d.ply takes one "
		    "of each frame");
	cloud.has_sensor = parameters->towards.n > 0;
	if (cloud.has_sensor)
		memcpy(cloud.sensor, parameters->towards.v, sizeof(cloud.sensor));
	status = cloud_take(in, &cloud);
	normals = cloud.sides == CLOUD_NORMALS;
	surface.values = cloud.values;
	if (status == 0 && cloud.sides == CLOUD_NO_SIDES)
		status = fail("--normals-towards", "is needed: neither channels nx ny nz nor the "
		    "key seen_from_mm tell the outside from the inside (normals makes them, view "
		    "by view)");
	if (status == 0 && cloud.n < LEAST_POINTS)
		status = fail(NULL, "points%s: %zu, too few for a surface",
		    normals ? " with a normal" : "", cloud.n);
	if (status == 0)
		status = prepare(run, &cloud, &cell);
	if (status == 0 && !isnan(parameters->reach))
		surface.reach = parameters->reach / cell;
	if (status == 0 && (surface.reach < 1 || surface.reach > MOST_REACH))
		status = fail("--reach", "must be %.4g to %.4g, 1 to %g cells (--cell)", cell,
		    MOST_REACH * cell, MOST_REACH);
	if (status == 0 && (share = cloud_disagreement(run, &cloud)) > MOST_DISAGREE)
		status = fail("nx", "%.0f %% of the normals of neighbouring points look to "
		    "opposite sides: they do not tell the outside from the inside", 100 * share);
	if (status == 0) {
		priv->told.cell = cell;
		priv->told.two_sheets = cloud_two_sheets(run, &cloud);
		priv->told.seen_from = cloud.sides != CLOUD_SENSOR ? NULL :
		    parameters->towards.n ? "--normals-towards" : "seen_from_mm";
		priv->told.turned = priv->told.seen_from ? cloud_turned(&cloud) : 0;
	}
	if (status == 0)
		status = write_mesh(run, &in->head, &cloud, &surface);
	if (status == 0 && (double)(cloud.points - cloud.n) > MANY_ALONE * (double)cloud.points)
		warn(normals ? "nx" : "--cell", "%.0f %% of the points have no surface: they %s",
		    100 * (double)(cloud.points - cloud.n) / (double)cloud.points, normals ?
		    "have no normal" : "lie alone, or on lines, and larger cells join them");
	cloud_free(&cloud);
	priv->meshes++;
	return status;
}

/* ---- frames ---- */

static int
take_frame(struct run *run, struct frame *in)
{
	int status = make_mesh(run, in);

	frame_free(in);
	return status;
}

static int
plan(struct run *run, const struct frame_head *, struct frame_head *)
{
	struct priv *priv = run->priv;

	run_check_facts(run)->surface = &priv->told;
	return 0;
}

static const struct check *const checks[] = { &check_inside_out, &check_against, &check_sheets,
	&check_sparse, &check_inwards, NULL };

static const struct body body = { .frame = take_frame,
	.no_passes = "nobody has written them for the search of neighbours" };

static int
init(struct run *run)
{
	run->body = &body;
	if (!run->output || !mesh_saves(run->output))
		return fail_usage(run->output, "needs -o FILE.ply, FILE.obj or FILE.stl");
	return target_check(run->output, run->force);
}

const struct stage stage_xyz2mesh = {
	.name = "xyz2mesh",
	.summary = "a triangle mesh through points of a surface",
	.options = options,
	STAGE_MEMORY(priv),
	.checks = checks,
	.traits = STAGE_SINK | STAGE_TABLES | STAGE_UNITS,
	.init = init,
	.plan = plan,
};
