#include "cloud.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/px.h"
#include "base/vector3.h"
#include "cloud_surface.h"

#define CHUNK 16384		/* points that a thread takes at a time */
#define BANDS_MOST 64
#define BAND_ROWS 16		/* at least */
#define DISC 1.5		/* mean distances of the nearest: random points leave no hole */
#define PIXELS_LEAST 0.75	/* so that a disc covers the pixel that it lies in */

/* A point as the camera sees it. */
struct disc {
	double seen[3], normal[3];	/* in the camera's frame */
	double uv[2], radius;		/* radius: 0 draws nothing */
	size_t across[2], down[2];	/* first and last column and row of the picture */
};

struct drawing {
	struct visible *visible;
	const struct cloud_surface *surface;
	const size_t *row;		/* of the table, of each point of the surface */
	struct frame *out;		/* x y z nx ny nz */
	bool given;			/* the table has normals */
	struct disc *disc;		/* of each point of the surface */
	size_t rows;			/* of a band */
};

/* ---- points ---- */

/* The rows or columns of the picture that a disc can reach, within 0 .. n - 1. */
static bool
find_range(double at, double reach, size_t n, size_t range[2])
{
	double low = ceil(at - reach), high = floor(at + reach);

	if (!(high >= 0 && low <= (double)(n - 1)))
		return false;
	range[0] = (size_t)fmax(low, 0);
	range[1] = (size_t)fmin(high, (double)(n - 1));
	return low <= high;
}

/* Where a disc can lie in the picture: its near side reaches farther than its radius at the middle.
 */
static bool
find_ranges(const struct visible_view *view, struct disc *disc)
{
	const double *s = disc->seen, *K = view->camera->K;
	double reach = disc->radius / (s[2] - disc->radius);

	return s[2] > disc->radius &&
	    find_range(disc->uv[0], reach * hypot(1, s[0] / s[2]) * fabs(K[0] / view->bin[0]),
	    view->w, disc->across) &&
	    find_range(disc->uv[1], reach * hypot(1, s[1] / s[2]) * fabs(K[4] / view->bin[1]),
	    view->h, disc->down);
}

static void
see_point(const struct drawing *drawing, size_t i)
{
	const struct visible_view *view = &drawing->visible->view;
	const struct cloud_surface *surface = drawing->surface;
	struct disc *disc = &drawing->disc[i];
	double X[3], normal[3], pixel;
	size_t x = drawing->row[i];

	disc->radius = 0;
	for (size_t k = 0; k < 3; k++) {
		X[k] = frame_floats(drawing->out, k, 0)[x];
		normal[k] = surface->normal[k][i];
	}
	if (isnan(surface->apart[i]) || !visible_project(view, X, disc->seen, disc->uv))
		return;
	for (size_t k = 0; k < 3; k++)
		disc->normal[k] = vector3_dot(view->camera->R + 3 * k, normal);
	pixel = disc->seen[2] * fmax(fabs(view->bin[0] / view->camera->K[0]),
	    fabs(view->bin[1] / view->camera->K[4]));
	disc->radius = fmax(DISC * (double)surface->apart[i], PIXELS_LEAST * pixel);
	if (!find_ranges(view, disc))
		disc->radius = 0;
}

static void
see_points(void *arg, size_t part)
{
	const struct drawing *drawing = arg;
	size_t end = (part + 1) * CHUNK;

	for (size_t i = part * CHUNK; i < end && i < drawing->surface->n; i++) {
		const struct disc *disc = &drawing->disc[i];
		bool alone = isnan(drawing->surface->apart[i]);
		double sign;

		see_point(drawing, i);
		sign = !alone && vector3_dot(disc->normal, disc->seen) > 0 ? -1 : 1;
		for (size_t k = 0; k < 3; k++) {
			float *n = frame_floats(drawing->out, 3 + k, 0) + drawing->row[i];

			if (alone)
				*n = PX_NAN;
			else if (!drawing->given)
				*n = (float)(sign * drawing->surface->normal[k][i]);
		}
	}
}

/* ---- discs ---- */

/* The lens is taken for a perfect one across a disc. */
static void
draw_disc(const struct drawing *drawing, const struct disc *disc, size_t y0, size_t y1)
{
	struct raster *depth = &drawing->visible->depth;
	const struct visible_view *view = &drawing->visible->view;
	const double *K = view->camera->K, *s = disc->seen;
	double per_px[2] = { view->bin[0] / K[0], view->bin[1] / K[4] };
	double away = vector3_dot(disc->normal, s);

	for (size_t y = disc->down[0] < y0 ? y0 : disc->down[0]; y <= disc->down[1] && y < y1; y++)
		for (size_t x = disc->across[0]; x <= disc->across[1]; x++) {
			double ray[3] = { s[0] / s[2] + ((double)x - disc->uv[0]) * per_px[0],
				s[1] / s[2] + ((double)y - disc->uv[1]) * per_px[1], 1 };
			double z = away / vector3_dot(disc->normal, ray), square = 0;
			float q = (float)(-1 / z);

			for (size_t k = 0; k < 3; k++)
				square += (z * ray[k] - s[k]) * (z * ray[k] - s[k]);
			if (z > 0 && square <= disc->radius * disc->radius &&
			    q < depth->z[y * depth->w + x])
				depth->z[y * depth->w + x] = q;
		}
}

static void
draw_band(void *arg, size_t band)
{
	const struct drawing *drawing = arg;
	size_t y0 = band * drawing->rows, y1 = y0 + drawing->rows;

	y1 = y1 < drawing->visible->depth.h ? y1 : drawing->visible->depth.h;
	for (size_t i = 0; i < drawing->surface->n; i++)
		if (drawing->disc[i].radius > 0 && drawing->disc[i].down[1] >= y0 &&
		    drawing->disc[i].down[0] < y1)
			draw_disc(drawing, &drawing->disc[i], y0, y1);
}

/* ---- the table ---- */

/* x y z nx ny nz of the table; the normals are unset where it has none. */
static int
begin_surface(const struct frame *table, struct frame **surface, bool *given)
{
	static const char *const names[] = { "x", "y", "z", "nx", "ny", "nz" };
	struct frame_head head;
	int status;

	*given = true;
	for (size_t k = 3; k < 6; k++)
		*given = *given && head_channel(&table->head, names[k]) != NO_CHANNEL;
	if (head_init(&head, table->head.w, 1, 6, SAMPLE_FLOAT) < 0)
		return -1;
	status = head_set_channels(&head, "x y z nx ny nz");
	if (status == 0)
		status = frame_new(&head, surface);
	head_free(&head);
	for (size_t k = 0; k < (*given ? 6u : 3u) && status == 0; k++) {
		const float *from = frame_floats(table, head_channel(&table->head, names[k]), 0);

		for (size_t x = 0; x < table->head.w; x++)
			frame_floats(*surface, k, 0)[x] = from[x];
	}
	return status;
}

/* The valid points: their rows of the table, and x, y and z behind one another. */
static int
take_points(const struct frame *surface, size_t **row, float **xyz, size_t *n)
{
	size_t w = surface->head.w;

	*row = calloc(w, sizeof(**row));
	*xyz = calloc(w, 3 * sizeof(**xyz));
	if (!*row || !*xyz)
		return fail_memory();
	*n = 0;
	for (size_t x = 0; x < w; x++) {
		bool valid = true;

		for (size_t k = 0; k < 3; k++) {
			(*xyz)[k * w + *n] = frame_floats(surface, k, 0)[x];
			valid = valid && isfinite((*xyz)[k * w + *n]);
		}
		(*row)[*n] = x;
		*n += valid;
	}
	return 0;
}

static int
draw(struct drawing *drawing, struct run *run)
{
	size_t n = drawing->surface->n, h = drawing->visible->depth.h;

	drawing->disc = calloc(n + 1, sizeof(*drawing->disc));
	if (!drawing->disc)
		return fail_memory();
	run_for(run, (n + CHUNK - 1) / CHUNK, see_points, drawing);
	drawing->rows = (h + BANDS_MOST - 1) / BANDS_MOST;
	if (drawing->rows < BAND_ROWS)
		drawing->rows = BAND_ROWS;
	run_for(run, (h + drawing->rows - 1) / drawing->rows, draw_band, drawing);
	free(drawing->disc);
	return 0;
}

int
cloud_draw(struct visible *visible, struct run *run, const struct visible_view *view,
    const struct frame *table, struct frame **surface)
{
	struct cloud_surface cloud = { 0 };
	struct drawing drawing = { .visible = visible, .surface = &cloud };
	size_t *row = NULL, n = 0, w = table->head.w;
	float *xyz = NULL;
	int status;

	*visible = (struct visible){ .view = *view };
	*surface = NULL;
	status = raster_new(&visible->depth, view->w, view->h, 0);
	if (status == 0)
		raster_clear(&visible->depth, 0, view->h);
	if (status == 0)
		status = begin_surface(table, surface, &drawing.given);
	if (status == 0)
		status = take_points(*surface, &row, &xyz, &n);
	if (status == 0)
		status = cloud_surface_make(run, (const float *[3]){ xyz, xyz + w, xyz + 2 * w }, n,
		    &cloud);
	if (status == 0) {
		drawing.row = row;
		drawing.out = *surface;
		status = draw(&drawing, run);
		visible->points = (struct visible_points){ *surface, { 0, 1, 2 }, cloud.spacing,
			cloud.noise };
	}
	cloud_surface_free(&cloud);
	free(row);
	free(xyz);
	return status;
}
