#include "meshview.h"

#include <math.h>
#include <stdlib.h>

#include "base/large_memory.h"
#include "mesh/raster.h"
#include "view.h"

#define BANDS_MOST 64
#define BAND_ROWS 16		/* at least */
#define TRIANGLES 8192		/* a thread's piece */
#define ROUNDED 1e-6		/* px; more than a corner moves by when it is drawn */
#define ENTRIES(n) (2 * (n) + 1000) /* of all bands, for n triangles, at most */

/* The triangles that reach into each band of rows, in their own order. */
struct bands {
	size_t rows, n;			/* rows of a band, number of bands */
	size_t first[BANDS_MOST + 1];
	uint32_t *triangle;		/* NULL: not worth it, every band goes through all */
};

struct scene {
	const struct triangles *triangles;
	struct raster raster;
	struct bands bands;
	unsigned char (*reach)[2];	/* of each triangle: its first and last band */
	size_t (*place)[BANDS_MOST];		/* of each piece: its next triangle in each band */
};

static size_t
piece_end(const struct scene *scene, size_t piece)
{
	size_t end = (piece + 1) * TRIANGLES;

	return end < scene->triangles->n ? end : scene->triangles->n;
}

/* The rows of pixel centres that a triangle reaches, or comes near to; false if there are none.
 * raster_triangle() finds them exactly, of far fewer triangles. */
static bool
find_rows(const double y[3], size_t h, size_t *from, size_t *to)
{
	double low = y[0] < y[1] ? y[0] : y[1], high = y[0] < y[1] ? y[1] : y[0];

	low = y[2] < low ? y[2] : low;
	high = y[2] > high ? y[2] : high;
	low -= ROUNDED;
	high += ROUNDED;
	/* of a NaN nothing is drawn, wherever it is sorted in */
	if (!(low < (double)h) || !(high >= 0))
		return false;
	*from = low > 0 ? (size_t)low : 0;
	*from += (double)*from < low;
	*to = high < (double)h ? (size_t)high : h - 1;
	return *from <= *to;
}

/* The first and the last band that triangles reach into; the last is before the first where one
 * covers no row of pixels. */
static void
find_reach(struct scene *scene, size_t piece)
{
	const struct triangles *t = scene->triangles;

	for (size_t i = piece * TRIANGLES; i < piece_end(scene, piece); i++) {
		const uint32_t *corner = t->corner[i];
		const double y[3] = { t->point[corner[0]][1], t->point[corner[1]][1],
			t->point[corner[2]][1] };
		size_t from, to;
		bool covers = find_rows(y, scene->raster.h, &from, &to);

		scene->reach[i][0] = covers ? (unsigned char)(from / scene->bands.rows) : 1;
		scene->reach[i][1] = covers ? (unsigned char)(to / scene->bands.rows) : 0;
	}
}

/* How many triangles of a piece reach into each band. */
static void
count_piece(void *arg, size_t piece)
{
	struct scene *scene = arg;
	size_t *count = scene->place[piece];

	find_reach(scene, piece);
	for (size_t i = piece * TRIANGLES; i < piece_end(scene, piece); i++)
		for (size_t b = scene->reach[i][0]; b <= scene->reach[i][1]; b++)
			count[b]++;
}

/* Where the first triangle of each piece comes in each band, in place of their number. */
static void
find_places(struct scene *scene, size_t pieces)
{
	struct bands *bands = &scene->bands;
	size_t at = 0;

	for (size_t b = 0; b < bands->n; b++) {
		bands->first[b] = at;
		for (size_t i = 0; i < pieces; i++) {
			size_t n = scene->place[i][b];

			scene->place[i][b] = at;
			at += n;
		}
	}
	bands->first[bands->n] = at;
}

static void
sort_piece(void *arg, size_t piece)
{
	struct scene *scene = arg;
	size_t *place = scene->place[piece];

	for (size_t i = piece * TRIANGLES; i < piece_end(scene, piece); i++)
		for (size_t b = scene->reach[i][0]; b <= scene->reach[i][1]; b++)
			scene->bands.triangle[place[b]++] = (uint32_t)i;
}

static int
sort_into_bands(struct run *run, struct scene *scene)
{
	struct bands *bands = &scene->bands;
	size_t pieces = (scene->triangles->n + TRIANGLES - 1) / TRIANGLES;

	bands->rows = (scene->raster.h + BANDS_MOST - 1) / BANDS_MOST;
	if (bands->rows < BAND_ROWS)
		bands->rows = BAND_ROWS;
	bands->n = (scene->raster.h + bands->rows - 1) / bands->rows;
	scene->reach = large_memory(scene->triangles->n + 1, sizeof(*scene->reach));
	scene->place = calloc(pieces + 1, sizeof(*scene->place));
	if (!scene->reach || !scene->place)
		return fail_memory();
	run_for(run, pieces, count_piece, scene);
	find_places(scene, pieces);
	if (bands->first[bands->n] > ENTRIES(scene->triangles->n))
		return 0;
	bands->triangle = large_memory(bands->first[bands->n] + 1, sizeof(*bands->triangle));
	if (!bands->triangle)
		return fail_memory();
	run_for(run, pieces, sort_piece, scene);
	return 0;
}

static void
draw_triangle(struct scene *scene, size_t i, size_t y0, size_t y1)
{
	const struct triangles *t = scene->triangles;
	struct raster_vertex v[3];

	for (int k = 0; k < 3; k++) {
		uint32_t at = t->corner[i][k];

		v[k].x = t->point[at][0];
		v[k].y = t->point[at][1];
		v[k].z = t->point[at][2];
		v[k].attribute[0] = t->texture ? t->texture[at] : 0;
	}
	raster_triangle(&scene->raster, y0, y1, &v[0], &v[1], &v[2]);
}

static void
draw_band(void *arg, size_t band)
{
	struct scene *scene = arg;
	const struct bands *bands = &scene->bands;
	size_t y0 = band * bands->rows, y1 = y0 + bands->rows;

	raster_clear(&scene->raster, y0, y1);
	if (!bands->triangle) {
		for (size_t i = 0; i < scene->triangles->n; i++)
			draw_triangle(scene, i, y0, y1);
		return;
	}
	for (size_t i = bands->first[band]; i < bands->first[band + 1]; i++)
		draw_triangle(scene, bands->triangle[i], y0, y1);
}

/* ---- the frame ---- */

static int
write_keys(const struct view *view, bool away, struct meta *meta)
{
	double rotation[9];

	for (int k = 0; k < 9; k++) {
		double v = view->axes[k / 3][k % 3];

		rotation[k] = k >= 6 && !away ? 0 - v : v;
	}
	/* of the image that the points came from */
	meta_remove(meta, "origin_px");
	meta_remove(meta, "bin");
	return meta_set(meta, "z_axis", away ? "away" : "towards") < 0 ||
	    meta_set_number(meta, "scale_mm", view->scale) < 0 ||
	    meta_set_numbers(meta, "center_mm", view->center, 3) < 0 ||
	    meta_set_numbers(meta, "view_rotation", rotation, 9) < 0 ? -1 : 0;
}

static int
make_frame(const struct scene *scene, const struct view *view, bool away, const struct meta *meta,
    struct frame **out)
{
	const struct raster *raster = &scene->raster;
	struct frame_head head;
	int status;

	if (head_init(&head, raster->w, raster->h, 1 + raster->attributes, SAMPLE_FLOAT) < 0)
		return -1;
	head.spacing[0] = head.spacing[1] = view->scale;
	if (meta)
		meta_copy(&head.meta, meta);
	status = head_set_channels(&head, raster->attributes ? "depth texture" : "depth");
	if (status == 0)
		status = write_keys(view, away, &head.meta);
	if (status == 0)
		status = frame_new(&head, out);
	head_free(&head);
	return status;
}

struct filling {
	const struct raster *raster;
	bool away;
	struct frame *out;
	bool hit;			/* any pixel */
};

static void
fill_row(void *arg, size_t y)
{
	struct filling *filling = arg;
	const struct raster *raster = filling->raster;
	bool hits = false;

	for (size_t x = 0; x < raster->w; x++) {
		size_t i = y * raster->w + x;
		bool hit = raster->z[i] < INFINITY;
		float depth = filling->away ? raster->z[i] : 0 - raster->z[i];

		frame_floats(filling->out, 0, y)[x] = hit ? depth : NAN;
		if (raster->attributes)
			frame_floats(filling->out, 1, y)[x] = hit ? raster->attribute[i] : NAN;
		hits |= hit;
	}
	if (hits)
		__atomic_store_n(&filling->hit, true, __ATOMIC_RELAXED);
}

int
meshview_draw(struct run *run, const char *name, struct triangles *triangles,
    const struct meshview_options *options, const struct meta *meta, struct frame **out)
{
	struct scene scene = { .triangles = triangles };
	struct view view = { .warned = false };
	int status;

	*out = NULL;
	if (view_turn(&view, options, triangles->axes) < 0 ||
	    view_place(run, name, triangles, options, &view) < 0)
		return -1;
	status = raster_new(&scene.raster, options->w, options->h, triangles->texture != NULL);
	if (status == 0)
		status = sort_into_bands(run, &scene);
	if (status == 0)
		status = make_frame(&scene, &view, options->away, meta, out);
	if (status == 0) {
		struct filling filling = { &scene.raster, options->away, *out, false };

		run_for(run, scene.bands.n, draw_band, &scene);
		run_for(run, scene.raster.h, fill_row, &filling);
		if (!filling.hit && !view.warned)
			warn(name, "no pixel is hit");
	}
	free(scene.bands.triangle);
	free(scene.reach);
	free(scene.place);
	raster_free(&scene.raster);
	return status;
}
