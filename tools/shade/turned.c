#include "turned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "annotated.h"
#include "colours.h"
#include "surface.h"

struct picture {
	const struct parameters *parameters;
	const struct priv *priv;
	const struct raster *raster;
	struct frame *out;
	size_t samples;
};

/* Adds the levels of one sample to sum. */
static void
add_sample(const struct picture *picture, size_t i, float sum[3])
{
	const struct parameters *p = picture->parameters;
	const struct priv *priv = picture->priv;
	const struct raster *raster = picture->raster;
	const float *plane = raster->attribute;
	size_t n = raster->w * raster->h;
	struct shade_vector colour = { PLASTER, PLASTER, PLASTER }, normal = { 0, 0, 0 }, level;

	if (raster->z[i] != INFINITY) {
		normal.x = plane[SURFACE_NX * n + i];
		normal.y = plane[SURFACE_NY * n + i];
		normal.z = plane[SURFACE_NZ * n + i];
		if (p->by != BY_NONE)
			colour = colours_of(priv, plane[SURFACE_VALUE * n + i]);
	}
	level = shade_levels(priv->light, normal, colour, priv->background);
	sum[0] += level.x;
	sum[1] += level.y;
	sum[2] += level.z;
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

/* The range of what is seen. */
static int
find_range(struct priv *priv, const struct raster *raster)
{
	size_t pixels = raster->w * raster->h, n = 0;
	float *value = malloc(pixels * sizeof(*value));

	if (!value)
		return fail_memory();
	for (size_t i = 0; i < pixels; i++)
		if (raster->z[i] != INFINITY &&
		    shade_there(raster->attribute[SURFACE_VALUE * pixels + i]))
			value[n++] = raster->attribute[SURFACE_VALUE * pixels + i];
	colours_find_range(priv, value, n);
	free(value);
	return 0;
}

static int
paint(struct run *run, const struct frame_head *in, const struct raster *raster, size_t samples)
{
	struct picture picture = { .parameters = run->parameters,
		.priv = run->priv,
		.raster = raster,
		.samples = samples };
	const struct parameters *p = run->parameters;

	if (p->by != BY_NONE && p->range.n == 0 && find_range(run->priv, raster) < 0)
		return -1;
	if (annotated_new(in, raster->w / samples, raster->h / samples, &picture.out) < 0)
		return -1;
	run_for(run, picture.out->head.h, paint_row, &picture);
	return annotated_emit(run, picture.out);
}

/* For the scale bar: pixels of the raster, `samples` of which are one, of a unit of length. */
static int
measure(struct priv *priv, const struct frame_head *in, double scale, size_t samples)
{
	const char *unit = priv->mesh.point[0] == NO_CHANNEL ? in->unit :
	    meta_get(&in->meta, "length_unit");

	if (!priv->annotation.scale_bar)
		return 0;
	if (isnan(scale))
		return fail("--scale-bar", "the length of a pixel is not known: the input has "
		    "neither spacings nor channels x y");
	priv->annotation.pixel_length = scale < 1e20 ? (double)samples / scale : NAN;
	snprintf(priv->annotation.length_unit, sizeof(priv->annotation.length_unit), "%s",
	    unit ? unit : "");
	return 0;
}

int
turned_frame(struct run *run, struct frame *in)
{
	const struct parameters *p = run->parameters;
	struct priv *priv = run->priv;
	size_t samples = p->samples == OPT_NONE_INTEGER ? 2 : (size_t)p->samples;
	struct surface_view view = { p->view.v[0], p->view.v[1], .jump = p->jump,
		.value = p->by == BY_TEXTURE ? priv->value : NO_CHANNEL };
	struct raster raster;
	double scale;
	int status;

	view.w = samples * (p->size.w ? p->size.w : in->head.w);
	view.h = samples * (p->size.w ? p->size.h : in->head.h);
	status = surface_draw(run, in, &view, &raster, &scale);
	if (status == 0) {
		status = measure(priv, &in->head, scale, samples);
		if (status == 0)
			status = paint(run, &in->head, &raster, samples);
		raster_free(&raster);
	}
	frame_free(in);
	return status;
}
