/*
 * Triangle meshes, or frames and tables of points, seen from afar: orthographic depth. This file
 * has options and inputs, points/virtual_camera.c places the mesh in the view and draws it,
 * mesh2depth_rows.c has the loops.
 */
#include "mesh2depth.h"

#include <unistd.h>

#include "io/source.h"
#include "mesh/mesh.h"
#include "points/grid.h"

struct parameters {
	struct view_options view;
	struct opt_size size;
	const char *unit;
	double jump;
};

static const struct opt options[] = {
	{ 's', "size", "WxH", OPT_SIZE, AT(size), "512x512", 0, 0, "px", "size of the picture" },
	{ 0, "view", "YAW,PITCH,ROLL", OPT_ANGLES, AT(view.view), NULL, -360, 360, NULL,
	  "turn the mesh as it is seen: about the vertical, the horizontal, the line of sight" },
	{ 0, "forward", "X,Y,Z", OPT_NUMBERS, AT(view.forward), NULL, 0, 0, NULL,
	  "the direction in which the viewer looks; 0,0,-1 for meshes" },
	{ 0, "up", "X,Y,Z", OPT_NUMBERS, AT(view.up), NULL, 0, 0, NULL,
	  "the direction that is up in the picture; 0,1,0 for meshes" },
	{ 0, "margin", "PX", OPT_NUMBER, AT(view.margin_px), "0", 0, 1e6, "px",
	  "left free on each side where the scale is not given" },
	{ 0, "scale", "LENGTH", OPT_NUMBER, AT(view.scale), NULL, 1e-30, 1e30, NULL,
	  "length of a pixel in the mesh's unit; such that the mesh fits if not given" },
	{ 0, "center", "X,Y,Z", OPT_NUMBERS, AT(view.center), NULL, 0, 0, NULL,
	  "the point that lies in the middle, at depth 0; the mesh's own middle if not given" },
	FLAG_ROW(0, "away", view.away, "depth grows away from the viewer, not towards"),
	{ 0, "unit", "NAME", OPT_TEXT, AT(unit), NULL, 0, 0, NULL,
	  "the mesh's unit of length; mm for meshes, a frame's own" },
	{ 0, "jump", "STEP", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	  "of frames: no surface across a larger step in z; 0: automatic" },
	{ 0 },
};

/* ---- frames as triangles ---- */

static void
list_all(struct run *run, struct listing *listing)
{
	const struct mesh *mesh = listing->mesh;
	struct triangles *triangles = listing->triangles;

	triangles->points = mesh->vertices;
	triangles->point = must_large(mesh->vertices + 1, sizeof(*triangles->point));
	if (mesh_has_colours(mesh))
		triangles->texture = must_large(mesh->vertices + 1, sizeof(*triangles->texture));
	run_for(run, listing->bands, mesh2depth_rows()->begin_band, listing);
	for (size_t band = 0; band < listing->bands; band++)
		listing->first[band + 1] += listing->first[band];
	triangles->n = listing->first[listing->bands];
	triangles->corner = must_large(triangles->n + 1, sizeof(*triangles->corner));
	run_for(run, listing->bands, mesh2depth_rows()->list_band, listing);
}

/* A frame of points, or of depth, as triangles (mesh.h), to be freed also after a failure. */
static int
frame_triangles(struct run *run, const char *name, const struct frame *frame, double jump,
    struct triangles *triangles)
{
	struct mesh_options options = { .jump = jump };
	struct listing listing = { .triangles = triangles };
	struct mesh mesh;
	int status = mesh_init(&mesh, name, frame, &options);

	*triangles = (struct triangles){ 0 };
	listing.mesh = &mesh;
	listing.bands = (mesh.h + LISTED_ROWS - 1) / LISTED_ROWS;
	if (status == 0) {
		listing.first = must_alloc(listing.bands + 1, sizeof(*listing.first));
		list_all(run, &listing);
	}
	triangles->axes = mesh.towards ? AXES_CAMERA_TOWARDS : AXES_CAMERA_AWAY;
	free(listing.first);
	mesh_free(&mesh);
	return status;
}

/* ---- a mesh that is seen from behind ---- */

#define SAMPLED_TRIANGLES 4096	/* approximately */
#define MAX_TANGENT 1.5		/* |x| and |y| over z: no camera sees 112 degrees and more */
#define MIN_DISTANCE 0.1	/* of the nearest point, over the largest extent in x and y */
/* Share of the area, seen along z, that faces the camera, less the share that faces away: 1 for a
 * surface that a camera measured, 0 for a closed mesh. */
#define MIN_FACING 0.8

/* Warns of a mesh without known axes that lies before a camera which looks along z, with triangles
 * that face this camera, while the options put the viewer on the other side. */
static void
warn_behind(const char *name, const struct triangles *triangles,
    const struct view_options *options)
{
	struct grid_extent box = GRID_NOWHERE;
	double facing = 0, area = 0;
	bool in_cone = true;
	size_t step = triangles->n / SAMPLED_TRIANGLES + 1;

	if (triangles->axes != AXES_MODEL || options->forward.n || options->view.n)
		return;
	for (size_t i = 0; i < triangles->n && in_cone; i += step) {
		const uint32_t *t = triangles->corner[i];
		const double *a = triangles->point[t[0]], *b = triangles->point[t[1]],
			     *c = triangles->point[t[2]];
		double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

		facing -= twice;	/* towards the origin of a camera that looks along z */
		area += fabs(twice);
		for (int k = 0; k < 3; k++) {
			const double *v = triangles->point[t[k]];

			grid_widen(&box, v, v);
			in_cone &= fabs(v[0]) < MAX_TANGENT * v[2] &&
			    fabs(v[1]) < MAX_TANGENT * v[2];
		}
	}
	if (!in_cone || !(facing > MIN_FACING * area) || box.low[2] < MIN_DISTANCE *
	    fmax(box.high[0] - box.low[0], box.high[1] - box.low[1]))
		return;
	warn(name, "is seen from behind: it lies from %.3g to %.3g before a camera in 0,0,0 that "
	    "looks along z, as depth cameras do; --forward 0,0,1 --up 0,-1,0 looks as it does",
	    box.low[2], box.high[2]);
}

/* ---- inputs ---- */

struct priv {
	bool jump_checked;
};

/* Sets the unit of the frame's lengths. */
static int
set_unit(const struct run *run, const char *otherwise, struct frame *frame)
{
	const struct parameters *parameters = run->parameters;
	const char *unit = parameters->unit ? parameters->unit : otherwise;

	if (!unit || !*unit)
		return 0;
	snprintf(frame->head.unit, sizeof(frame->head.unit), "%s", unit);
	return meta_set(&frame->head.meta, "length_unit", unit);
}

static int
draw(struct run *run, const char *name, struct triangles *triangles, const struct frame_head *from)
{
	const struct parameters *parameters = run->parameters;
	const char *own = from ? meta_get(&from->meta, "length_unit") : triangles->unit;
	const char *unit = from ? own : *triangles->unit ? triangles->unit : "mm";
	struct frame *out;
	int status = view_draw(run, name, triangles, &parameters->view,
	    from ? &from->meta : NULL, &out);

	if (status < 0)
		return -1;
	if (parameters->unit && own && *own && strcmp(own, parameters->unit))
		warn("--unit", "says %s, and %s itself length_unit %.15s: the option counts",
		    parameters->unit, name, own);
	status = set_unit(run, unit ? unit : from->unit, out);
	if (status == 0 && !from && strcmp(name, "standard input"))
		status = meta_set_file_name(&out->head.meta, name);
	return run_emit_if(run, status, out);
}

/* Draws a frame, which it frees. */
static int
draw_frame(struct run *run, const char *name, struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	struct triangles triangles = { 0 };
	int status = head_is_table(&in->head) ? table_triangles(run, in, &triangles) :
	    jump_check(in, parameters->jump, &priv->jump_checked) < 0 ? -1 :
	    frame_triangles(run, name, in, parameters->jump, &triangles);

	if (status == 0)
		status = draw(run, name, &triangles, &in->head);
	triangles_free(&triangles);
	frame_free(in);
	return status;
}

/* 1: it holds points alone. */
static int
draw_mesh(struct run *run, const char *name, const struct codec *codec, FILE *file)
{
	const struct parameters *parameters = run->parameters;
	struct triangles triangles;
	int status = mesh_file_load(codec, name, file, &triangles);

	if (status > 0 && strcmp(name, "standard input"))
		fail_clear();		/* the reader of clouds takes it from its start */
	else if (status > 0)
		status = -1;
	if (status == 0)
		warn_behind(name, &triangles, &parameters->view);
	if (status == 0)
		status = draw(run, name, &triangles, NULL);
	triangles_free(&triangles);
	return status;
}

static int
draw_operand(struct run *run, const char *path)
{
	struct source *source = source_open_as(path, mesh_file_codecs, NULL);
	const char *name = strcmp(path, "-") ? path : "standard input";
	const struct codec *codec;
	struct frame *frame;
	FILE *file;
	int got;

	if (!source)
		return -1;
	file = source_other(source, &codec);
	got = file ? draw_mesh(run, name, codec, file) : 1;
	if (file && got > 0) {
		source_close(source);
		source = source_open(path);
		got = source ? 1 : -1;
	}
	while (got > 0 && (got = source_next(source, &frame)) > 0)
		got = draw_frame(run, name, frame) < 0 ? -1 : 1;
	source_close(source);
	return got;
}

static int
start(struct run *run)
{
	if (run->operands == 0)
		return draw_operand(run, "-");
	for (size_t i = 0; i < run->operands; i++) {
		run_begin_input(run);
		if (draw_operand(run, run->operand[i]) < 0 && run_lose_input(run) < 0)
			return -1;
	}
	return 0;
}

/* struct body's `frame`, after other stages: a frame of points or depth. */
static int
take_frame(struct run *run, struct frame *in)
{
	return draw_frame(run, "input", in);
}

static const struct body body = { .start = start, .frame = take_frame,
	.no_passes = "edges of triangles are exact in 128 bits" };

static int
init(struct run *run)
{
	struct parameters *parameters = run->parameters;

	run->body = &body;
	parameters->view.w = parameters->size.w;
	parameters->view.h = parameters->size.h;
	if (run->position == 0 && run->operands == 0 && isatty(STDIN_FILENO))
		return fail_usage(NULL, "no input: name files, or pipe one in; see --help");
	if (parameters->unit &&
	    (strlen(parameters->unit) >= sizeof(((struct frame_head *)0)->unit) ||
		strpbrk(parameters->unit, " \t\n\"\\:") || !*parameters->unit))
		return fail_usage("--unit", "must be a short word, not '%.60s'", parameters->unit);
	return view_check(&parameters->view);
}

const struct stage stage_mesh2depth = {
	.name = "mesh2depth",
	.summary = "orthographic depth of a mesh or a cloud",
	.options = options,
	.usual = "size view scale margin away unit",
	STAGE_MEMORY(priv),
	.traits = STAGE_OPERANDS | STAGE_TABLES,
	.agree = AGREE_ABSOLUTE,
	.init = init,
};
