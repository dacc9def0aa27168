/*
 * A Phong picture of a measured surface, from the camera or from a turned view: what a picture
 * takes from the whole frame, the check of --range, pictures with bars and axes, the pass of the
 * device, options and plan. shade_turned.c has turned views, shade_rows.c and
 * turned_rows.c the loops.
 */
#include "shade.h"

#include <float.h>
#include <stdio.h>

#include "image/depth_range.h"
#include "image/texture.h"
#include "io/text_table.h"
#include "run/passes.h"
#include "shade.block.h"

BODY_ROWS(shade, pixels_rows)

/* ---- what a picture takes from the whole frame: the range of values, and the jump ---- */

void
colours_find_range(struct priv *priv, const float *value, size_t n)
{
	float range[2];

	colormap_range(priv->map, value, n, range);
	priv->low = range[0];
	priv->high = range[1];
}

/* Finds the range of the points' values. */
static int
find_values(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	struct values values = { .priv = priv, .in = in };
	size_t w = in->head.w, h = in->head.h, pixels, n = 0;

	if (size_multiply(w, h, &pixels) < 0)
		return -1;
	values.value = must_large(pixels, sizeof(*values.value));
	values.n = must_alloc(h, sizeof(*values.n));
	run_for(run, h, shade_rows()->find_row, &values);
	for (size_t y = 0; y < h; n += values.n[y++])
		if (n < y * w)
			memmove(values.value + n, values.value + y * w,
			    values.n[y] * sizeof(*values.value));
	colours_find_range(priv, values.value, n);
	free(values.value);
	free(values.n);
	return 0;
}

int
surface_jump(struct run *run, const struct mesh *channels, const struct frame *in, double *jump)
{
	struct mesh mesh = *channels;
	struct jump_steps steps;

	if (frame_to_float(in, &mesh.floats) < 0)
		return -1;
	jump_begin(&steps, &mesh, JUMP_PIXELS);
	run_for(run, JUMP_PIECES, jump_piece, &steps);
	*jump = jump_end(&steps);
	frame_free(mesh.floats);
	return 0;
}

void
colours_check_white(struct run *run, const struct frame *in)
{
	struct priv *priv = run->priv;
	float least = FLT_MAX, most = -FLT_MAX, low, high;

	if (!priv->checks_white || priv->told_black)
		return;
	for (int k = 0; k < 3; k++) {
		depth_range_find(run, in, priv->rgb[k], &low, &high);
		least = fminf(least, low);
		most = fmaxf(most, high);
	}
	priv->told_black = texture_warn_black("r g b", (double)least, (double)most,
	    (double)priv->high);
}

/* struct body's `survey`. */
static int
survey_frame(struct run *run, const struct frame *in)
{
	const struct parameters *parameters = run->parameters;
	struct priv *priv = run->priv;
	double jump = parameters->jump;

	colours_check_white(run, in);
	if (priv->value != NO_CHANNEL && parameters->range.n == 0 && find_values(run, in) < 0)
		return -1;
	if (jump > 0 && jump_check(in, jump, &priv->jump_checked) < 0)
		return -1;
	if (!mesh_has_normals(&priv->mesh) && !(jump > 0) &&
	    surface_jump(run, &priv->mesh, in, &jump) < 0)
		return -1;
	priv->jump = (float)jump;
	return 0;
}

/*
 * ---- does --range leave more than one colour? ----
 *
 * A surface has more than one colour if at least INSIDE_LEAST of its points are within the range;
 * that may be the tip of an object. A flat plate, shown in the range of what stood on it, is at the
 * range's end, within a few hundredths of its extent. A range in a wrong unit leaves at least
 * BESIDE_LEAST of the points far outside. The counts are of all frames: an object may come later,
 * in front of a background that is out of range.
 */
#define POINTS_LEAST 100	/* fewer are not judged */
#define INSIDE_LEAST 1e-4
#define BESIDE_LEAST 0.1
#define BEYOND_MOST 0.1		/* of the depth within the range: more is noise at its end */
#define CELLS_LEAST 3		/* of SHADE_CELLS: half a grey level of 256 */

/* Warns if all values are in so small a part of the range that it shows one colour. A surface of
 * one number, such as an ideal plane, has one colour in any range. */
static bool
warn_wide(const struct parameters *p, const struct colour_counts *counts)
{
	double low = p->range.v[0], cell = (p->range.v[1] - p->range.v[0]) / SHADE_CELLS;
	size_t first = SHADE_CELLS, end = 0;

	for (size_t i = 0; i < SHADE_CELLS; i++)
		if (counts->cells[i / 64] >> i % 64 & 1) {
			first = first < i ? first : i;
			end = i + 1;
		}
	if (end >= first + CELLS_LEAST || !(counts->set & counts->unset))
		return false;
	warn("--range", "all of the surface lies within %.4g to %.4g, of %g to %g: it shows one "
	    "colour; is the range in the unit of the values?", low + cell * (double)first,
	    low + cell * (double)end, p->range.v[0], p->range.v[1]);
	return true;
}

/* struct body's `end`: judges what one_colour_look() counted. */
static int
one_colour_end(struct run *run)
{
	const struct parameters *p = run->parameters;
	const struct priv *priv = run->priv;
	const struct colour_counts *counts = &priv->counts;
	double n = (double)counts->points;

	if (counts->points < POINTS_LEAST || !p->range.n)
		return 0;
	if (counts->beyond <= (float)BEYOND_MOST * counts->depth && warn_wide(p, counts))
		return 0;
	if ((double)counts->inside >= INSIDE_LEAST * n ||
	    (double)(counts->below + counts->above) < BESIDE_LEAST * n)
		return 0;
	warn("--range", "%.0f %% of the surface lies far %s %g to %g, and nothing within: it shows "
	    "one colour; is the range in the unit of the values?",
	    100 * (double)(counts->below + counts->above) / n,
	    !counts->below ? "above" :
	    !counts->above ? "below" : "outside of", p->range.v[0], p->range.v[1]);
	return 0;
}

/* ---- pictures with --bar, --scale-bar or --axes, which are larger than what they show ---- */

#define BAND 16			/* rows that a thread shades at a time */

int
annotated_new(const struct frame_head *in, size_t w, size_t h, struct frame **picture)
{
	if (frame_new_named(w, h, 3, SAMPLE_UCHAR, NULL, picture) < 0)
		return -1;
	meta_copy(&(*picture)->head.meta, &in->meta);
	meta_remove(&(*picture)->head.meta, "points");
	return 0;
}

int
annotated_emit(struct run *run, struct frame *picture)
{
	struct priv *priv = run->priv;
	double ends[2] = { priv->low, priv->high };

	if (priv->falls) {
		ends[0] = priv->high;
		ends[1] = priv->low;
	}
	priv->annotation.low = (float)ends[0];
	priv->annotation.high = (float)ends[1];
	if (priv->annotation.bar) {
		meta_set(&picture->head.meta, "colormap", colormap_names[priv->map]);
		meta_set_numbers(&picture->head.meta, "colormap_range", ends, 2);
	}
	if (priv->annotates && annotate(&picture, &priv->annotation) < 0) {
		frame_free(picture);
		return -1;
	}
	return run_emit(run, picture);
}

struct job {
	const struct run *run;
	const struct frame *in;
	struct frame *out;
};

static void
paint_band(void *arg, size_t item)
{
	const struct job *job = arg;
	size_t y0 = item * BAND, y1 = y0 + BAND, h = job->in->head.h;

	shade_rows()->pixels_rows(job->run, job->in, job->out, y0, y1 < h ? y1 : h, NULL);
}

/* Sets the scale bar's length of a pixel. */
static int
measure(struct priv *priv, const struct frame *in)
{
	const char *unit;

	if (!priv->annotation.scale_bar)
		return 0;
	if (pixel_length_of(in, &priv->annotation.pixel_length, &unit) < 0)
		return -1;
	snprintf(priv->annotation.length_unit, sizeof(priv->annotation.length_unit), "%s",
	    unit ? unit : "");
	return 0;
}

/* struct body's `frame`, for pictures from the camera. */
static int
annotated_frame(struct run *run, struct frame *in)
{
	struct job job = { run, in, NULL };
	int status = -1;

	if (measure(run->priv, in) == 0 && survey_frame(run, in) == 0 &&
	    annotated_new(&in->head, in->head.w, in->head.h, &job.out) == 0) {
		run_for(run, (in->head.h + BAND - 1) / BAND, paint_band, &job);
		status = annotated_emit(run, job.out);
	}
	frame_free(in);
	return status;
}

/* ---- the device: one pass, for pictures from the camera ---- */

static void
pack(const struct run *run, struct shade_block *block)
{
	const struct priv *priv = run->priv;
	const struct mesh *mesh = &priv->mesh;

	*block = (struct shade_block){
		.x = SHADE_NONE, .z = (uint)mesh->point[2], .normal[0] = SHADE_NONE,
		.value = SHADE_NONE, .sign = mesh->towards ? -1 : 1,
		.right = (float)mesh->spacing[0], .down = (float)mesh->spacing[1],
		.jump = priv->jump, .low = priv->low, .span = priv->high - priv->low,
		.lone = priv->lone, .plaster = PLASTER,
		.background = priv->background, .nan = priv->nan,
		.light = priv->light,
	};
	if (mesh->point[0] != NO_CHANNEL) {
		block->x = (uint)mesh->point[0];
		block->y = (uint)mesh->point[1];
	}
	for (int k = 0; k < 3 && mesh_has_normals(mesh); k++)
		block->normal[k] = (uint)mesh->normal[k];
	if (priv->value != NO_CHANNEL)
		block->value = (uint)priv->value;
	for (int k = 0; k < 3; k++)
		block->rgb[k] = priv->rgb[0] == NO_CHANNEL ? SHADE_NONE : (uint)priv->rgb[k];
}

/* struct body's `passes`. */
static int
shade_passes(struct run *run, struct passes *passes)
{
	const struct priv *priv = run->priv;
	struct shade_block block;
	struct pass pass = { PASS_OF(shade, block), PASS_FOURS };

	pack(run, &block);
	block.last = (float)(priv->anchors - 1);
	for (int k = 0; k < 3; k++) {
		passes_read(passes, priv->mesh.point[k]);
		if (mesh_has_normals(&priv->mesh))
			passes_read(passes, priv->mesh.normal[k]);
		if (priv->rgb[0] != NO_CHANNEL)
			passes_read(passes, priv->rgb[k]);
	}
	passes_read(passes, priv->value);
	if (passes_constant(passes, priv->anchor, priv->anchors * sizeof(*priv->anchor)) < 0)
		return -1;
	passes_add(passes, &pass);
	return 0;
}

/* ---- options ---- */

static const char *const by_words[] = { "none", "depth", "texture", "rgb", NULL };
static const char *const lightings[] = { "full", "soft", "none", NULL };

static const struct opt options[] = {
	{ 0, "view", "YAW,PITCH", OPT_ANGLES, AT(view), NULL, -180, 180, NULL,
	    "turn the surface; without it an image keeps the camera's own pixels" },
	{ 's', "size", "WxH", OPT_SIZE, AT(size), NULL, 0, 0, NULL,
	    "size of the picture of a turned view; the input's, or 800x600, if not given" },
	{ 0, "samples", "N", OPT_INTEGER, AT(samples), NULL, 1, 4, NULL,
	    "N x N samples a pixel in a turned view; 2 if not given" },
	{ 0, "light", "AZIMUTH,ELEVATION", OPT_ANGLES, AT(light), "-40,40", -180, 180, NULL,
	    "where the lamp stands as the viewer sees it: right, up" },
	{ 'c', "colour", "WORD", OPT_WORD, AT(by), "none", 0, 0, NULL, "colour the surface by",
	    by_words },
	{ 'm', "map", "WORD", OPT_WORD, AT(map), NULL, 0, 0, NULL,
	    "colours of the depth; viridis if not given", colormap_names },
	{ 'r', "range", "LOW,HIGH", OPT_NUMBERS, AT(range), NULL, 0, 0, NULL,
	    "depth of the first and the last colour; 1st to 99th percentile if not given" },
	{ 0, "lighting", "WORD", OPT_WORD, AT(lighting), NULL, 0, 0, NULL,
	    "how much light changes colours; full, or with --bar soft (none in gray)", lightings },
	{ 0, "nan-colour", "R,G,B", OPT_NUMBERS, AT(nan), NULL, 0, 255, NULL,
	    "of a surface without a value; black if not given, blue in gray" },
	FLAG_ROW(0, "bar", bar, "a colour bar beside the picture"),
	FLAG_ROW(0, "scale-bar", scale_bar, "a length below the picture"),
	FLAG_ROW(0, "axes", axes, "axes at the left of the picture and below it"),
	{ 0, "ambient", "A", OPT_NUMBER, AT(ambient), "0.15", 0, 1, NULL,
	    "share of light from all sides" },
	{ 0, "diffuse", "D", OPT_NUMBER, AT(diffuse), "0.75", 0, 1, NULL,
	    "share of diffuse reflection" },
	{ 0, "specular", "S", OPT_NUMBER, AT(specular), "0.2", 0, 1, NULL,
	  "share of the highlight" },
	{ 0, "shininess", "P", OPT_NUMBER, AT(shininess), "20", 1, 1000, NULL,
	    "power of the highlight" },
	{ 'b', "background", "LEVEL", OPT_INTEGER, AT(background), NULL, 0, 255, "grey levels",
	    "where nothing was measured; 32 if not given, as NaN where light is soft or none" },
	{ 0, "jump", "STEP", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	    "no surface across a larger step in z; 0: found from slopes and noise" },
	{ 0 },
};

static const struct body camera = { .rows = shade_pixels_rows, .passes = shade_passes,
    .end = one_colour_end };
static const struct body surveyed = { .survey = survey_frame, .rows = shade_pixels_rows,
    .passes = shade_passes, .end = one_colour_end };
static const struct body annotated = { .frame = annotated_frame, .end = one_colour_end,
	.no_passes = "a picture with bars or axes is larger than its input" };
static const struct body turned = { .frame = turned_frame, .passes = turned_passes,
	.made = turned_made, .cost = "shade--view" };
static const struct body turned_checked = { .survey = turned_survey, .frame = turned_frame,
	.passes = turned_passes, .made = turned_made, .end = one_colour_end,
	.cost = "shade--view" };

static int
check_options(const struct parameters *p)
{
	if (p->range.n && !(p->range.v[0] < p->range.v[1]))
		return fail_usage("--range", "wants two numbers, the first one smaller");
	if (p->range.n && !ticks_range_fits(p->range.v[0], p->range.v[1]))
		return fail_usage("--range", "%.17g to %.17g is too narrow or too wide a range",
		    p->range.v[0], p->range.v[1]);
	if (p->range.n && p->by == BY_NONE)
		return fail_usage("--range", "needs --colour depth, texture or rgb");
	if (p->map >= 0 && p->by != BY_DEPTH)
		return fail_usage("--map", "needs --colour depth");
	if (p->bar && p->by == BY_RGB)
		return fail_usage("--bar", "a surface in its own colours has no scale");
	if (p->by == BY_NONE && (p->bar || p->nan.n || p->lighting > LIGHTING_FULL))
		return fail_usage(p->bar ? "--bar" : p->nan.n ? "--nan-colour" : "--lighting",
		    "needs --colour depth or texture");
	if (p->axes && p->view.n)
		return fail_usage("--axes", "a turned view has no columns and rows: --scale-bar "
		    "shows its scale");
	return 0;
}

/* The lamp and the background. So that colours can be read off a bar, light changes their
 * brightness by a third at most, or not at all. */
static int
choose_light(const struct parameters *p, struct priv *priv)
{
	bool shares = p->ambient != 0.15 || p->diffuse != 0.75 || p->specular != 0.2;
	enum lighting lighting = p->lighting >= 0 ? (enum lighting)p->lighting :
	    !p->bar || shares ? LIGHTING_FULL :
	    priv->map == COLORMAP_GRAY ? LIGHTING_NONE : LIGHTING_SOFT;
	float level = p->background == OPT_NONE_INTEGER ? 32 : (float)p->background;

	if (lighting != LIGHTING_FULL && shares)
		return fail_usage("--lighting", "%s has shares of its own: --ambient, --diffuse "
		    "and --specular do not go with it", lightings[lighting]);
	priv->light = (struct shade_light){
		(float)(sin(p->light.v[0]) * cos(p->light.v[1])), (float)-sin(p->light.v[1]),
		(float)(-cos(p->light.v[0]) * cos(p->light.v[1])), (float)p->ambient,
		(float)p->diffuse, (float)p->specular, (float)p->shininess
	};
	priv->lone = lighting != LIGHTING_FULL;
	if (priv->lone) {
		priv->light.ambient = lighting == LIGHTING_SOFT ? 0.7f : 1;
		priv->light.diffuse = lighting == LIGHTING_SOFT ? 0.3f : 0;
		priv->light.specular = 0;
	}
	priv->background = (struct shade_vector){ level, level, level };
	if (p->background == OPT_NONE_INTEGER && lighting != LIGHTING_FULL)
		priv->background = (struct shade_vector){ 255 * priv->nan.x, 255 * priv->nan.y,
			255 * priv->nan.z };
	return 0;
}

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	float nan[3];

	if (check_options(p) < 0)
		return -1;
	priv->map = p->by >= BY_TEXTURE ? COLORMAP_GRAY
	    : p->map < 0                ? COLORMAP_VIRIDIS
					: (enum colormap)p->map;
	if (colormap_nan(priv->map, "--nan-colour", &p->nan, nan) < 0)
		return -1;
	if (p->range.n)
		colormap_check_white(priv->map, "--range", p->range.v[0], p->range.v[1]);
	priv->nan = (struct shade_vector){ nan[0], nan[1], nan[2] };
	if (choose_light(p, priv) < 0)
		return -1;
	priv->annotates = p->bar || p->scale_bar || p->axes;
	priv->annotation = (struct annotation){ .bar = p->bar, .scale_bar = p->scale_bar,
		.axes = p->axes, .map = priv->map, .nan = { priv->background.x / 255,
		priv->background.y / 255, priv->background.z / 255 } };
	run->body = p->view.n ? p->range.n || p->jump > 0 ? &turned_checked : &turned :
	    priv->annotates ? &annotated : &camera;
	priv->low = p->range.n ? (float)p->range.v[0] : 0;
	priv->high = p->range.n ? (float)p->range.v[1] : 1;
	return 0;
}

static void
release(struct run *run)
{
	struct priv *priv = run->priv;

	free(priv->arena.memory);
}

/* ---- the plan ---- */

/* Near has the last colour, whichever way z points; a cycle, and a map about zero, stay. */
static void
choose_anchors(struct priv *priv, bool depth)
{
	const float (*anchor)[3];
	size_t n = colormap_anchors(priv->map, &anchor);

	priv->anchors = n;
	priv->falls = depth && !priv->mesh.towards && priv->map < COLORMAP_PHASE;
	for (size_t i = 0; i < n; i++)
		memcpy(priv->anchor[i], anchor[priv->falls ? n - 1 - i : i], sizeof(*anchor));
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	const bool table = head_is_table(in);

	if (!table && p->samples != OPT_NONE_INTEGER && !p->view.n)
		return fail_usage("--samples", "needs --view");
	if (!table && p->size.w && !p->view.n)
		return fail_usage(
		    "--size", "needs --view: without it a picture has the camera's pixels");
	if (mesh_channels(&priv->mesh, NULL, in) < 0)
		return -1;
	if (table && table_has_points(NULL, in) < 0)
		return -1;
	if (table && (p->jump > 0 || p->axes))
		return fail(p->axes ? "--axes" : "--jump", "is of images: the points of a table "
		    "are drawn as discs");
	choose_anchors(priv, p->by == BY_DEPTH);
	priv->value = p->by == BY_DEPTH ? priv->mesh.point[2] : NO_CHANNEL;
	if (p->by == BY_TEXTURE && run_channel(run, in, "texture", &priv->value) < 0)
		return -1;
	priv->rgb[0] = NO_CHANNEL;
	for (int k = 0; k < 3 && p->by == BY_RGB; k++)
		if (run_channel(run, in, (const char *[]){ "r", "g", "b" }[k], &priv->rgb[k]) < 0)
			return -1;
	if (p->by == BY_RGB && p->range.n == 0) {
		double white;

		if (head_number(in, "max_value", priv->rgb[0], 255, &white) < 0)
			return -1;
		priv->low = 0;
		priv->high = white > 0 ? (float)white : 255;
	}
	if (p->bar) {
		const char *name = in->channel[priv->value];

		annotation_set_title(&priv->annotation, name, quantity_unit(in, name));
	}
	annotation_set_spacing(&priv->annotation, in);
	priv->checks_white = p->by == BY_RGB && p->range.n == 0 && in->type == SAMPLE_FLOAT &&
	    !meta_get(&in->meta, "max_value");
	if (p->view.n || table)
		run->body = p->range.n || p->jump > 0 || priv->checks_white ? &turned_checked :
		    &turned;
	else
		run->body = priv->annotates ? &annotated :
		    (priv->value != NO_CHANNEL && p->range.n == 0) || priv->checks_white ||
		    !mesh_has_normals(&priv->mesh) ? &surveyed : &camera;
	priv->jump = (float)p->jump;
	run->halo = mesh_has_normals(&priv->mesh) ? 0 : 1;
	out->type = SAMPLE_UCHAR;
	out->spacing[0] = out->spacing[1] = NAN;
	*out->unit = '\0';
	if (p->view.n || table) {
		const char *unit = priv->mesh.point[0] == NO_CHANNEL ? in->unit :
		    meta_get(&in->meta, "length_unit");

		snprintf(priv->annotation.length_unit, sizeof(priv->annotation.length_unit), "%s",
		    unit ? unit : "");
		turned_size(run, in, &out->w, &out->h);
		out->h++;	/* of results; struct body's `made` takes it away */
	}
	head_set_channels(out, "r g b");
	meta_remove(&out->meta, "points");
	return 0;
}

const struct stage stage_shade = {
	.name = "shade",
	.summary = "a shaded picture of depth or points",
	.options = options,
	.usual = "view size colour map range bar scale-bar axes",
	STAGE_MEMORY(priv),
	.traits = STAGE_UNITS | STAGE_TABLES,
	.example = { "shade", "normals", "picture" },
	.second_example = { "shade --view 30,20", "normals", "turned", "shade--view" },
	.init = init,
	.plan = plan,
	.release = release,
};
