/* A Phong picture of a measured surface, from the camera or from a turned view. */
#include "shade.h"

#include <math.h>

#include "annotated.h"
#include "image/quantity.h"
#include "image/ticks.h"
#include "one_colour.h"
#include "pixels.h"
#include "survey.h"
#include "turned.h"

static const char *const by_words[] = { "none", "depth", "texture", NULL };
static const char *const lightings[] = { "full", "soft", "none", NULL };

#define AT(field) offsetof(struct parameters, field)

static const struct opt options[] = {
	{ 0, "view", "YAW,PITCH", OPT_ANGLES, AT(view), NULL, -180, 180, NULL,
	    "turn the surface; without it the picture has the camera's own pixels", NULL },
	{ 's', "size", "WxH", OPT_SIZE, AT(size), NULL, 0, 0, NULL,
	    "size of the picture of a turned view; the input's if not given", NULL },
	{ 0, "samples", "N", OPT_INTEGER, AT(samples), NULL, 1, 4, NULL,
	    "N x N samples a pixel in a turned view; 2 if not given", NULL },
	{ 0, "light", "AZIMUTH,ELEVATION", OPT_ANGLES, AT(light), "-40,40", -180, 180, NULL,
	    "where the lamp stands as the viewer sees it: right, up", NULL },
	{ 'c', "colour", "WORD", OPT_WORD, AT(by), "none", 0, 0, NULL, "colour the surface by",
	    by_words },
	{ 'm', "map", "WORD", OPT_WORD, AT(map), NULL, 0, 0, NULL,
	    "colours of the depth; turbo if not given", colormap_names },
	{ 'r', "range", "LOW,HIGH", OPT_NUMBERS, AT(range), NULL, 0, 0, NULL,
	    "depth of the first and the last colour; 1st to 99th percentile if not given", NULL },
	{ 0, "lighting", "WORD", OPT_WORD, AT(lighting), NULL, 0, 0, NULL,
	    "how much light changes colours; full, or with --bar soft (none in gray)", lightings },
	{ 0, "nan-colour", "R,G,B", OPT_NUMBERS, AT(nan), NULL, 0, 255, NULL,
	    "of a surface without a value; black if not given, blue in gray", NULL },
	{ 0, "bar", NULL, OPT_FLAG, AT(bar), NULL, 0, 0, NULL,
	    "a colour bar beside the picture", NULL },
	{ 0, "scale-bar", NULL, OPT_FLAG, AT(scale_bar), NULL, 0, 0, NULL,
	    "a length below the picture", NULL },
	{ 0, "axes", NULL, OPT_FLAG, AT(axes), NULL, 0, 0, NULL,
	    "axes at the left of the picture and below it", NULL },
	{ 0, "ambient", "A", OPT_NUMBER, AT(ambient), "0.15", 0, 1, NULL,
	    "share of light from all sides", NULL },
	{ 0, "diffuse", "D", OPT_NUMBER, AT(diffuse), "0.75", 0, 1, NULL,
	    "share of diffuse reflection", NULL },
	{ 0, "specular", "S", OPT_NUMBER, AT(specular), "0.2", 0, 1, NULL, "share of the highlight",
	    NULL },
	{ 0, "shininess", "P", OPT_NUMBER, AT(shininess), "20", 1, 1000, NULL,
	    "power of the highlight", NULL },
	{ 'b', "background", "LEVEL", OPT_INTEGER, AT(background), NULL, 0, 255, "grey levels",
	    "where nothing was measured; 32 if not given, as NaN where light is soft or none",
	    NULL },
	{ 0, "jump", "STEP", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	    "no surface across a larger step in z; 0: found from slopes and noise", NULL },
	{ 0 },
};

static const struct body camera = { .rows = pixels_rows, .passes = shade_passes,
    .end = one_colour_end };
static const struct body surveyed = { .survey = survey_frame, .rows = pixels_rows,
    .passes = shade_passes, .end = one_colour_end };
static const struct body annotated = { .frame = annotated_frame, .end = one_colour_end,
	.no_passes = "a picture with bars or axes is larger than its input" };
static const struct body turned = { .frame = turned_frame, .end = one_colour_end,
	.no_passes = "edges of triangles are exact in 128 bits" };

static int
check_options(const struct parameters *p)
{
	if (p->view.n != 0 && p->view.n != 2)
		return fail_usage("--view", "wants two angles, not %zu", p->view.n);
	if (p->light.n != 2)
		return fail_usage("--light", "wants two angles, not %zu", p->light.n);
	if (p->range.n != 0 && (p->range.n != 2 || !(p->range.v[0] < p->range.v[1])))
		return fail_usage("--range", "wants two numbers, the first one smaller");
	if (p->range.n && !ticks_range_fits(p->range.v[0], p->range.v[1]))
		return fail_usage("--range", "%.17g to %.17g is too narrow or too wide a range",
		    p->range.v[0], p->range.v[1]);
	if (p->range.n && p->by == BY_NONE)
		return fail_usage("--range", "needs --colour depth or texture");
	if (p->map >= 0 && p->by != BY_DEPTH)
		return fail_usage("--map", "needs --colour depth");
	if (p->samples != OPT_NONE_INTEGER && !p->view.n)
		return fail_usage("--samples", "needs --view");
	if (p->size.w && !p->view.n)
		return fail_usage(
		    "--size", "needs --view: without it a picture has the camera's pixels");
	if (p->by == BY_NONE && (p->bar || p->nan.n || p->lighting > LIGHTING_FULL))
		return fail_usage(p->bar ? "--bar" : p->nan.n ? "--nan-colour" : "--lighting",
		    "needs --colour depth or texture");
	if (p->axes && p->view.n)
		return fail_usage("--axes", "a turned view has no columns and rows: --scale-bar "
		    "shows its scale");
	return 0;
}

/* Of colours that are to be read off, light changes the brightness within a third, or nothing. */
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
	priv->map = p->by == BY_TEXTURE ? COLORMAP_GRAY
	    : p->map < 0                ? COLORMAP_TURBO
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
	run->body = p->view.n ? &turned : priv->annotates ? &annotated : &camera;
	priv->low = p->range.n ? (float)p->range.v[0] : 0;
	priv->high = p->range.n ? (float)p->range.v[1] : 1;
	return 0;
}

/* Is there anything to be found in the frame as a whole? */
static bool
needs_survey(const struct parameters *p, const struct priv *priv)
{
	return (priv->value != NO_CHANNEL && p->range.n == 0) ||
	    !mesh_has_normals(&priv->mesh);
}

static int
plan(struct run *run, const struct frame_head *in, struct frame_head *out)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	if (mesh_channels(&priv->mesh, NULL, in) < 0)
		return -1;
	priv->value = p->by == BY_DEPTH ? priv->mesh.point[2] : NO_CHANNEL;
	if (p->by == BY_TEXTURE && run_channel(run, in, "texture", &priv->value) < 0)
		return -1;
	if (p->bar) {
		const char *name = in->channel[priv->value];

		annotation_set_title(&priv->annotation, name, quantity_unit(in, name));
	}
	annotation_set_spacing(&priv->annotation, in);
	if (p->view.n == 0 && !priv->annotates)
		run->body = needs_survey(p, priv) ? &surveyed : &camera;
	priv->jump = (float)p->jump;
	run->halo = mesh_has_normals(&priv->mesh) ? 0 : 1;
	out->type = SAMPLE_UCHAR;
	out->spacing[0] = out->spacing[1] = NAN;
	*out->unit = '\0';
	return head_set_channels(out, "r g b");
}

STAGE(shade) = {
	.name = "shade",
	.summary = "a shaded picture of depth or points",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.traits = STAGE_UNITS,
	.agree = AGREE_EXACT,
	.example = { "shade", "normals", "picture" },
	.init = init,
	.plan = plan,
};
