/* A Phong picture of a measured surface, from the camera or from a turned view. */
#include "colormap.h"
#include "mesh.h"
#include "surface.h"
#include "shade.px.h"

#include <stdlib.h>
#include <string.h>

enum colour_by { BY_NONE, BY_DEPTH, BY_TEXTURE };

struct parameters {
	struct numbers view, light, range;
	struct opt_size size;
	int by, map;
	long samples, background;
	double ambient, diffuse, specular, shininess, jump;
};

struct priv {
	float light[3];			/* unit vector to the lamp, view coordinates */
};

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

/* What the rows of the picture are made from. */
struct picture {
	const struct parameters *parameters;
	const struct priv *priv;
	const struct raster *raster;
	struct frame *out;
	size_t samples;
	float low, high;
};

/* Adds the colour of one sample to sum. */
static void
add_sample(const struct picture *picture, size_t i, float sum[3])
{
	const struct parameters *p = picture->parameters;
	const struct raster *raster = picture->raster;
	const float *plane = raster->attribute, *l = picture->priv->light;
	size_t n = raster->w * raster->h;
	float nx = plane[SURFACE_NX * n + i], ny = plane[SURFACE_NY * n + i];
	float nz = plane[SURFACE_NZ * n + i], length = px_sqrt(nx * nx + ny * ny + nz * nz);
	float t = (plane[SURFACE_VALUE * n + i] - picture->low) / (picture->high - picture->low);
	float colour[3] = { 0.9f, 0.9f, 0.9f }, diffuse, specular;

	if (raster->z[i] == INFINITY || px_isnan(length) || length == 0.0f) {
		for (int k = 0; k < 3; k++)
			sum[k] += (float)p->background;
		return;
	}
	nx /= length;
	ny /= length;
	nz /= length;
	if (p->by != BY_NONE)
		colormap_rgb(p->by == BY_TEXTURE ? COLORMAP_GRAY
			: p->map < 0             ? COLORMAP_TURBO
						 : (enum colormap)p->map,
		    t, colour);
	diffuse = shade_diffuse(nx, ny, nz, l[0], l[1], l[2], (float)p->ambient, (float)p->diffuse);
	specular = shade_specular(nx, ny, nz, l[0], l[1], l[2], (float)p->specular,
	    (float)p->shininess);
	for (int k = 0; k < 3; k++)
		sum[k] += 255.0f * px_min(colour[k] * diffuse + specular, 1.0f);
}

static void
paint_row(void *arg, size_t y)
{
	const struct picture *picture = arg;
	size_t n = picture->samples, w = picture->out->head.w;

	for (size_t x = 0; x < w; x++) {
		float sum[3] = { 0 };

		for (size_t j = 0; j < n; j++)
			for (size_t i = 0; i < n; i++)
				add_sample(
				    picture, (y * n + j) * picture->raster->w + x * n + i, sum);
		for (size_t k = 0; k < 3; k++)
			((unsigned char *)frame_row(picture->out, k, y))[x] =
			    (unsigned char)(sum[k] / (float)(n * n) + 0.5f);
	}
}

/* The 1st and 99th percentile of what is seen. */
static int
find_range(const struct raster *raster, float *low, float *high)
{
	size_t pixels = raster->w * raster->h, n = 0;
	float *value = malloc(pixels * sizeof(*value)), limit[2] = { 0, 1 };

	if (!value)
		return fail_memory();
	for (size_t i = 0; i < pixels; i++)
		if (raster->z[i] != INFINITY &&
		    !px_isnan(raster->attribute[SURFACE_VALUE * pixels + i]))
			value[n++] = raster->attribute[SURFACE_VALUE * pixels + i];
	if (n)
		numbers_ranks(value, n, (size_t[2]){ n / 100, n - 1 - n / 100 }, 2, limit);
	*low = limit[0];
	*high = limit[1];
	if (*high <= *low)
		*high = *low + 1;
	free(value);
	return 0;
}

static int
set_range(const struct parameters *p, const struct raster *raster, float *low, float *high)
{
	*low = 0;
	*high = 1;
	if (p->by == BY_NONE)
		return 0;
	if (p->range.n == 0)
		return find_range(raster, low, high);
	*low = (float)p->range.v[0];
	*high = (float)p->range.v[1];
	return 0;
}

static int
paint(struct run *run, const struct frame_head *in, const struct raster *raster, size_t samples)
{
	struct picture picture = { .parameters = run->parameters,
		.priv = run->priv,
		.raster = raster,
		.samples = samples };
	struct frame_head head;
	int status;

	if (set_range(picture.parameters, raster, &picture.low, &picture.high) < 0 ||
	    head_init(&head, raster->w / samples, raster->h / samples, 3, SAMPLE_UCHAR) < 0)
		return -1;
	status = meta_copy(&head.meta, &in->meta);
	if (status == 0)
		status = frame_new(&head, &picture.out);
	head_free(&head);
	if (status < 0)
		return -1;
	run_for(run, picture.out->head.h, paint_row, &picture);
	return run_emit(run, picture.out);
}

static int
flow(struct run *run, struct frame *in)
{
	const struct parameters *p = run->parameters;
	size_t samples = !p->view.n ? 1 : p->samples == OPT_NONE_INTEGER ? 2 : (size_t)p->samples;
	struct surface_view view = {
		.turned = p->view.n > 0, .jump = p->jump, .value = NO_CHANNEL
	};
	struct raster raster;
	int status;

	if (!in)
		return 0;
	if (view.turned) {
		view.yaw_rad = p->view.v[0];
		view.pitch_rad = p->view.v[1];
	}
	view.w = samples * (view.turned && p->size.w ? p->size.w : in->head.w);
	view.h = samples * (view.turned && p->size.w ? p->size.h : in->head.h);
	if (p->by == BY_TEXTURE && run_channel(run, &in->head, "texture", &view.value) < 0)
		status = -1;
	else
		status = surface_draw(run, in, &view, &raster);
	if (status == 0) {
		status = paint(run, &in->head, &raster, samples);
		raster_free(&raster);
	}
	frame_free(in);
	return status;
}

static const struct body body = { .flow = flow };

static int
init(struct run *run)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;

	run->body = &body;
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
	priv->light[0] = (float)(sin(p->light.v[0]) * cos(p->light.v[1]));
	priv->light[1] = (float)-sin(p->light.v[1]);
	priv->light[2] = (float)(-cos(p->light.v[0]) * cos(p->light.v[1]));
	return 0;
}

STAGE(shade) = {
	.name = "shade",
	.summary = "a shaded picture of depth or points",
	.operands = "[FILE ...]",
	.options = options,
	.parameter_size = sizeof(struct parameters),
	.private_size = sizeof(struct priv),
	.agree = AGREE_ABSOLUTE,
	.tolerance = 1,
	.init = init,
};
