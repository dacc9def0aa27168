/* A Phong picture of a measured surface, from the camera or from a turned view. */
#include "shade.h"

#include <math.h>

#include "pixels.h"
#include "survey.h"
#include "turned.h"

static const char *const by_words[] = { "none", "depth", "texture", NULL };

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
	{ 0, "ambient", "A", OPT_NUMBER, AT(ambient), "0.15", 0, 1, NULL,
	    "share of light from all sides", NULL },
	{ 0, "diffuse", "D", OPT_NUMBER, AT(diffuse), "0.75", 0, 1, NULL,
	    "share of diffuse reflection", NULL },
	{ 0, "specular", "S", OPT_NUMBER, AT(specular), "0.2", 0, 1, NULL, "share of the highlight",
	    NULL },
	{ 0, "shininess", "P", OPT_NUMBER, AT(shininess), "20", 1, 1000, NULL,
	    "power of the highlight", NULL },
	{ 'b', "background", "LEVEL", OPT_INTEGER, AT(background), "32", 0, 255, "grey levels",
	    "where nothing was measured", NULL },
	{ 0, "jump", "STEP", OPT_NUMBER, AT(jump), "0", 0, INFINITY, NULL,
	    "no surface across a larger step in z; 0: found from slopes and noise", NULL },
	{ 0 },
};

static const struct body camera = { .rows = pixels_rows, .passes = shade_passes };
static const struct body surveyed = { .survey = survey_frame, .rows = pixels_rows,
    .passes = shade_passes };
static const struct body turned = { .frame = turned_frame,
	.no_passes = "edges of triangles are exact in 128 bits" };

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	run->body = p->view.n ? &turned : &camera;
	if (p->view.n != 0 && p->view.n != 2)
		return fail_usage("--view", "wants two angles, not %zu", p->view.n);
	if (p->light.n != 2)
		return fail_usage("--light", "wants two angles, not %zu", p->light.n);
	if (p->range.n != 0 && (p->range.n != 2 || !(p->range.v[0] < p->range.v[1])))
		return fail_usage("--range", "wants two numbers, the first one smaller");
	if (p->range.n && p->by == BY_NONE)
		return fail_usage("--range", "needs --colour depth or texture");
	if (p->map >= 0 && p->by != BY_DEPTH)
		return fail_usage("--map", "needs --colour depth");
	if (p->samples != OPT_NONE_INTEGER && !p->view.n)
		return fail_usage("--samples", "needs --view");
	if (p->size.w && !p->view.n)
		return fail_usage(
		    "--size", "needs --view: without it a picture has the camera's pixels");
	priv->light = (struct shade_light){
		(float)(sin(p->light.v[0]) * cos(p->light.v[1])), (float)-sin(p->light.v[1]),
		(float)(-cos(p->light.v[0]) * cos(p->light.v[1])), (float)p->ambient,
		(float)p->diffuse, (float)p->specular, (float)p->shininess
	};
	priv->map = p->by == BY_TEXTURE ? COLORMAP_GRAY
	    : p->map < 0                ? COLORMAP_TURBO
					: (enum colormap)p->map;
	priv->low = p->range.n ? (float)p->range.v[0] : 0;
	priv->high = p->range.n ? (float)p->range.v[1] : 1;
	return 0;
}

/* Is there anything to be found in the frame as a whole? */
static bool
needs_survey(const struct parameters *p, const struct priv *priv)
{
	return (priv->value != NO_CHANNEL && p->range.n == 0) ||
	    (!mesh_has_normals(&priv->mesh) && !(p->jump > 0));
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
	if (p->view.n == 0)
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
	.agree = AGREE_EXACT,
	.example = { "shade", "normals", "picture" },
	.init = init,
	.plan = plan,
};
