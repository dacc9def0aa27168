/*
 * Pictures of a surface from a turned view (--view): the frame's triangles, turned and scaled into
 * the picture, are drawn with a depth buffer, so that hidden points do not show. shade_rows.c has
 * the loops over vertices and samples.
 */
#include "shade.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "mesh/mesh.h"

/* ---- the surface ---- */

struct surface_view {
	double yaw_rad, pitch_rad;	/* about the vertical, then about the horizontal axis */
	size_t w, h;			/* of the picture, in samples */
	double jump;			/* no surface across a larger step in z; 0: automatic */
	size_t value;			/* channel to colour by; NO_CHANNEL: depth along the
					 * frame's own z */
};

#define MARGIN 0.04		/* part of the picture that stays free on each side */

static void
surface_free(struct surface *surface)
{
	if (!surface)
		return;
	free(surface->vertex);
	free(surface->own);
	free(surface->first);
	free(surface->reach);
	mesh_free(&surface->mesh);
	free(surface);
}

/* Rotates first about the vertical axis (y), then about the horizontal one (x). */
static void
rotation(double yaw, double pitch, double r[9])
{
	double cy = cos(yaw), sy = sin(yaw), cp = cos(pitch), sp = sin(pitch);
	const double m[9] = { cy, 0, sy, sp * sy, cp, -sp * cy, -cp * sy, sp, cp * cy };

	memcpy(r, m, sizeof(m));
}

/* The range of coordinate k that the picture shows: all of it, except a few points that are far
 * out, as points of wrong fringe orders are. */
static int
find_extent(const struct surface *surface, int k, double *low, double *high)
{
	size_t n = surface->mesh.vertices;
	float *v = large_memory(n + 1, sizeof(*v)), at[2], least = INFINITY, most = -INFINITY;
	double span;

	if (!v)
		return fail_memory();
	for (size_t i = 0; i < n; i++) {
		v[i] = surface->own[i][k];
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	*low = *high = 0;
	if (n) {
		numbers_ranks(v, n, (size_t[2]){ n / 100, n - 1 - n / 100 }, 2, at);
		span = (double)at[1] - at[0];
		*low = fmax(least, at[0] - 0.25 * span);
		*high = fmin(most, at[1] + 0.25 * span);
	}
	free(v);
	return 0;
}

/* Turns all vertices and scales them into the picture; z grows in the same scale. */
static int
place_turned(struct run *run, struct surface *surface, const struct surface_view *view,
    double *pixels)
{
	size_t pieces = (surface->mesh.vertices + VERTICES - 1) / VERTICES;
	double low[2], high[2];

	rotation(view->yaw_rad, view->pitch_rad, surface->rotation);
	run_for(run, pieces, shade_rows()->turn_piece, surface);
	for (int k = 0; k < 2; k++) {
		if (find_extent(surface, k, &low[k], &high[k]) < 0)
			return -1;
		surface->middle[k] = (low[k] + high[k]) / 2;
	}
	surface->scale = (1 - 2 * MARGIN) *
	    fmin(((double)view->w - 1) / fmax(high[0] - low[0], 1e-30),
	    ((double)view->h - 1) / fmax(high[1] - low[1], 1e-30));
	*pixels = surface->mesh.scaled ? surface->scale : NAN;
	run_for(run, pieces, shade_rows()->place_piece, surface);
	return 0;
}

/* The frame's surface in the view. *scale: pixels of a unit of length, NaN if the frame's columns
 * and rows are no lengths. 0, or -1 after fail(); surface_free() in either case. */
static int
surface_new(struct run *run, const struct frame *frame, const struct surface_view *view,
    struct surface **out, double *scale)
{
	struct surface *surface = calloc(1, sizeof(*surface));
	struct mesh_options options = { .jump = view->jump };
	size_t bands;
	int status;

	*out = surface;
	if (!surface)
		return fail_memory();
	surface->w = view->w;
	surface->h = view->h;
	if (mesh_init(&surface->mesh, NULL, frame, &options) < 0)
		return -1;
	surface->vertex = large_memory(surface->mesh.vertices + 1, sizeof(*surface->vertex));
	surface->own = large_memory(surface->mesh.vertices + 1, sizeof(*surface->own));
	surface->first = calloc(surface->mesh.h + 1, sizeof(*surface->first));
	surface->pieces = (surface->mesh.w + PIECE - 1) / PIECE;
	surface->reach = calloc(surface->mesh.h, surface->pieces * sizeof(*surface->reach));
	if (!surface->vertex || !surface->own || !surface->first || !surface->reach)
		return fail_memory();
	shade_rows()->fill_vertices(surface, frame, view->value);
	bands = (surface->mesh.h + MESH_ROWS - 1) / MESH_ROWS;
	if (!mesh_has_normals(&surface->mesh))
		run_for(run, bands, shade_rows()->normals_band, surface);
	status = place_turned(run, surface, view, scale);
	if (status == 0)
		run_for(run, surface->mesh.h, shade_rows()->find_reach, surface);
	return status;
}

/* ---- the picture ---- */

#define STRIP 32		/* rows of samples, or a few more, drawn and lit together */

/* Sets the range of colours to that of the samples. */
static int
find_range(struct priv *priv, const struct raster *raster)
{
	float *value = malloc(raster->w * raster->h * sizeof(*value));
	size_t n = 0;

	if (!value)
		return fail_memory();
	for (size_t i = 0; i < raster->w * raster->h; i++) {
		float of = raster->attribute[i * SURFACE_PLANES + SURFACE_VALUE];

		if (raster->z[i] != INFINITY && shade_there(of))
			value[n++] = of;
	}
	colours_find_range(priv, value, n);
	free(value);
	return 0;
}

/* n rasters of `rows` rows of samples. -1 after fail(); free_rasters() in either case. */
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

/* Without --range: keeps all samples until the range of their values is known. */
static int
fill_whole(struct run *run, struct picture *picture)
{
	int status = new_rasters(picture, 1, picture->h);

	if (status == 0) {
		run_for(run, picture->strips, shade_rows()->draw_only, picture);
		status = find_range(run->priv, picture->raster);
	}
	if (status == 0)
		run_for(run, picture->strips, shade_rows()->paint_only, picture);
	free_rasters(picture, 1);
	return status;
}

/* With --range: draws and paints strip by strip. */
static int
fill_by_strips(struct run *run, struct picture *picture)
{
	size_t threads = run->threads > 1 ? (size_t)run->threads : 1;
	size_t n = threads < picture->strips ? threads : picture->strips;
	int status = new_rasters(picture, n, picture->rows);

	if (status == 0)
		run_for(run, n, shade_rows()->draw_and_paint, picture);
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

/* Sets the scale bar's length of a pixel; scale: samples of a unit of length. */
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
	double scale = NAN;
	int status;

	if (jump_check(in, p->jump, &priv->jump_checked) < 0) {
		frame_free(in);
		return -1;
	}
	shade_rows()->one_colour_look(run, in, 0, in->head.h);
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
