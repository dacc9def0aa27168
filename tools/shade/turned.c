#include "turned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "annotated.h"
#include "colours.h"
#include "mesh/jump.h"
#include "one_colour.h"
#include "surface.h"

#define STRIP 32			/* rows of samples, or a few more, drawn and lit at once */

struct picture {
	const struct parameters *parameters;
	const struct priv *priv;
	const struct surface *surface;
	struct raster *raster;	/* all samples; or of each thread those of a strip */
	struct frame *out;
	size_t w, h, samples;	/* w, h: of the samples */
	size_t rows, strips;	/* rows of samples of a strip; how many strips there are */
	size_t next;		/* strip that no thread has taken yet */
};

/* Samples of a row that are lit at once. */
#define CHUNK 256

struct chunk {
	float colour[3][CHUNK], level[3][CHUNK];
};

/* Of n samples from `first` on. What was not drawn has no normal, and is background. */
static void
find_levels(const struct picture *picture, const struct raster *raster, size_t first, size_t n,
    struct chunk *chunk)
{
	const struct shade_light light = picture->priv->light;
	const struct shade_vector background = picture->priv->background;
	const float *restrict z = raster->z + first;
	const float *restrict attribute = raster->attribute + first * SURFACE_PLANES;
	float value[CHUNK];

	for (size_t i = 0; i < n; i++)
		value[i] = attribute[i * SURFACE_PLANES + SURFACE_VALUE];
	colours_fill(picture->priv, picture->parameters->by == BY_NONE ? NULL : value,
	    chunk->colour[0], chunk->colour[1], chunk->colour[2], n);
#pragma omp simd
	for (size_t i = 0; i < n; i++) {
		bool drawn = z[i] != INFINITY;
		float nx = attribute[i * SURFACE_PLANES + SURFACE_NX];
		float ny = attribute[i * SURFACE_PLANES + SURFACE_NY];
		float nz = attribute[i * SURFACE_PLANES + SURFACE_NZ];
		struct shade_vector normal = { px_select(drawn, nx, 0.0f),
			px_select(drawn, ny, 0.0f), px_select(drawn, nz, 0.0f) };
		struct shade_vector colour = { chunk->colour[0][i], chunk->colour[1][i],
			chunk->colour[2][i] };
		struct shade_vector level = shade_levels(light, normal, colour, background);

		chunk->level[0][i] = level.x;
		chunk->level[1][i] = level.y;
		chunk->level[2][i] = level.z;
	}
}

/* n samples to each pixel, from left to right; called with a constant. */
static inline void
add_n(const float *restrict level, size_t n, size_t pixels, float *restrict sum)
{
	for (size_t i = 0; i < pixels; i++)
		for (size_t k = 0; k < n; k++)
			sum[i] += level[i * n + k];
}

static void
add_samples(const float *level, size_t n, size_t pixels, float *sum)
{
	if (n == 2)		/* if not given otherwise */
		add_n(level, 2, pixels, sum);
	else
		add_n(level, n, pixels, sum);
}

/* The mean of n x n samples, n <= CHUNK. */
static void
paint_row(const struct picture *picture, const struct raster *raster, size_t y)
{
	size_t n = picture->samples, w = picture->out->head.w, most = CHUNK / n;
	struct chunk chunk;

	for (size_t x = 0, pixels; x < w; x += pixels) {
		float sum[3][CHUNK] = { 0 };

		pixels = w - x < most ? w - x : most;
		for (size_t j = 0; j < n; j++) {
			size_t first = (y * n + j - raster->top) * raster->w + x * n;

			find_levels(picture, raster, first, pixels * n, &chunk);
			for (size_t k = 0; k < 3; k++)
				add_samples(chunk.level[k], n, pixels, sum[k]);
		}
		for (size_t k = 0; k < 3; k++) {
			unsigned char *to = frame_row(picture->out, k, y);

			for (size_t i = 0; i < pixels; i++)
				to[x + i] = (unsigned char)(sum[k][i] / (float)(n * n) + 0.5f);
		}
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
		    shade_there(raster->attribute[i * SURFACE_PLANES + SURFACE_VALUE]))
			value[n++] = raster->attribute[i * SURFACE_PLANES + SURFACE_VALUE];
	colours_find_range(priv, value, n);
	free(value);
	return 0;
}

static size_t
strip_end(const struct picture *picture, size_t strip)
{
	size_t end = (strip + 1) * picture->rows;

	return end < picture->h ? end : picture->h;
}

static void
paint_strip(const struct picture *picture, const struct raster *raster, size_t strip)
{
	size_t end = strip_end(picture, strip) / picture->samples;

	for (size_t y = strip * picture->rows / picture->samples; y < end; y++)
		paint_row(picture, raster, y);
}

/* A thread's strips, one after another, in memory of its own that stays in its cache. */
static void
draw_and_paint(void *arg, size_t thread)
{
	struct picture *picture = arg;
	struct raster *raster = &picture->raster[thread];
	size_t strip;

	while ((strip = __atomic_fetch_add(&picture->next, 1, __ATOMIC_RELAXED)) <
	    picture->strips) {
		raster->top = strip * picture->rows;
		surface_draw(picture->surface, raster, raster->top, strip_end(picture, strip));
		paint_strip(picture, raster, strip);
	}
}

static void
draw_only(void *arg, size_t strip)
{
	const struct picture *picture = arg;

	surface_draw(picture->surface, picture->raster, strip * picture->rows,
	    strip_end(picture, strip));
}

static void
paint_only(void *arg, size_t strip)
{
	const struct picture *picture = arg;

	paint_strip(picture, picture->raster, strip);
}

/* n rasters of so many rows of samples. -1 after fail(); free_rasters() in either case. */
static int
new_rasters(struct picture *picture, size_t n, size_t rows)
{
	int status = 0;

	picture->raster = calloc(n, sizeof(*picture->raster));
	if (!picture->raster)
		return fail_memory();
	for (size_t i = 0; i < n && status == 0; i++)
		status = raster_new(&picture->raster[i], picture->w, rows, SURFACE_PLANES);
	return status;
}

static void
free_rasters(struct picture *picture, size_t n)
{
	for (size_t i = 0; i < n && picture->raster; i++)
		raster_free(&picture->raster[i]);
	free(picture->raster);
}

/* Where the range is that of all samples these are kept until it is known. */
static int
fill_whole(struct run *run, struct picture *picture)
{
	int status = new_rasters(picture, 1, picture->h);

	if (status == 0) {
		run_for(run, picture->strips, draw_only, picture);
		status = find_range(run->priv, picture->raster);
	}
	if (status == 0)
		run_for(run, picture->strips, paint_only, picture);
	free_rasters(picture, 1);
	return status;
}

static int
fill_by_strips(struct run *run, struct picture *picture)
{
	size_t threads = run->threads > 1 ? (size_t)run->threads : 1;
	size_t n = threads < picture->strips ? threads : picture->strips;
	int status = new_rasters(picture, n, picture->rows);

	if (status == 0)
		run_for(run, n, draw_and_paint, picture);
	free_rasters(picture, n);
	return status;
}

static int
paint(struct run *run, const struct frame_head *in, struct picture *picture)
{
	const struct parameters *p = run->parameters;
	size_t n = picture->samples;
	bool ranged = p->by == BY_NONE || p->range.n != 0;

	picture->rows = (STRIP + n - 1) / n * n;
	picture->strips = (picture->h + picture->rows - 1) / picture->rows;
	if (annotated_new(in, picture->w / n, picture->h / n, &picture->out) < 0)
		return -1;
	if ((ranged ? fill_by_strips(run, picture) : fill_whole(run, picture)) < 0) {
		frame_free(picture->out);
		return -1;
	}
	return annotated_emit(run, picture->out);
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
	struct surface *surface;
	double scale;
	int status;

	if (jump_check(in, p->jump, &priv->jump_checked) < 0) {
		frame_free(in);
		return -1;
	}
	one_colour_look(run, in, 0, in->head.h);
	view.w = samples * (p->size.w ? p->size.w : in->head.w);
	view.h = samples * (p->size.w ? p->size.h : in->head.h);
	status = surface_new(run, in, &view, &surface, &scale);
	if (status == 0)
		status = measure(priv, &in->head, scale, samples);
	if (status == 0) {
		struct picture picture = { .parameters = p, .priv = priv, .surface = surface,
			.w = view.w, .h = view.h, .samples = samples };

		status = paint(run, &in->head, &picture);
	}
	surface_free(surface);
	frame_free(in);
	return status;
}
