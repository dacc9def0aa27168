#include "splat_field.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

#define SAMPLES 40000	/* points of a view that are looked at, at most, but a row's */

struct field_sample {
	float *place[4];		/* u v d, in mm on an orthographic grid; and to the next */
	size_t n, room, unlit;
};

static int
grow(struct field_sample *sample, size_t more)
{
	if (sample->n + more <= sample->room)
		return 0;
	sample->room = 2 * (sample->n + more);
	for (size_t k = 0; k < 4; k++) {
		float *p = reallocarray(sample->place[k], sample->room, sizeof(*p));

		if (!p)
			return fail_memory();
		sample->place[k] = p;
	}
	return 0;
}

/* Does a point of the grid's frame lie beside the projector's picture? */
static bool
is_unlit(const struct pinhole *projector, const double picture_px[2], const double X[3])
{
	struct pinhole here = *projector;
	double uv[2];

	for (size_t i = 0; i < 9; i++)
		here.R[i] = i % 4 == 0;
	here.T[0] = here.T[1] = here.T[2] = 0;
	return picture_px[0] > 0 && (!pinhole_project(&here, X, uv) || !(uv[0] >= -1 &&
	    uv[1] >= -1 && uv[0] <= picture_px[0] && uv[1] <= picture_px[1]));
}

/* Every so many rows, all of their points. */
static int
add_view(const struct splat_grid *grid, const struct splat_source *source,
    const double picture_px[2], struct field_sample *sample)
{
	size_t step = source->w * source->h / SAMPLES + 1;

	for (size_t y = step / 2 < source->h ? step / 2 : 0; y < source->h; y += step) {
		const float *x[3];
		float *to[3];
		size_t n = 0;

		if (grow(sample, source->w) < 0)
			return -1;
		for (size_t k = 0; k < 3; k++) {
			x[k] = frame_floats(source->frame, source->xyz[k], y);
			to[k] = sample->place[k] + sample->n;
		}
		splat_grid_project(grid, &source->pose, x[0], x[1], x[2], source->w, to[0], to[1],
		    to[2]);
		for (size_t i = 0; i < source->w; i++) {
			if (!isfinite(to[0][i]) || !isfinite(to[1][i]) || !isfinite(to[2][i]))
				continue;
			for (size_t k = 0; k < 3; k++)
				to[k][n] = to[k][i];
			sample->place[3][sample->n + n] = n ? fmaxf(fabsf(to[0][n] - to[0][n - 1]),
			    fabsf(to[1][n] - to[1][n - 1])) : 0;
			if (grid->ortho)
				sample->unlit += is_unlit(&grid->projector, picture_px,
				    (double[3]){ (double)to[0][n], (double)to[1][n],
				    (double)to[2][n] });
			n++;
		}
		sample->n += n;
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const float *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

/* Columns u and rows v are in mm, and sorted. */
static void
find_covered(const struct splat_grid *grid, const struct field_sample *sample,
    struct splat_field *field)
{
	const double cells[2] = { (double)grid->w, (double)grid->h };
	size_t trim = sample->n / 200;

	for (size_t k = 0; k < 2; k++) {
		double extent = (double)sample->place[k][sample->n - 1 - trim] -
		    (double)sample->place[k][trim];

		field->covered[k] = extent / grid->pixel_mm;
		field->fitting_mm = fmax(field->fitting_mm, 1.1 * extent / cells[k]);
	}
}

int
splat_field_choose(struct splat_grid *grid, const struct splat_source *source, size_t views,
    double pixel_mm, const double center_mm[2], const double picture_px[2],
    struct splat_field *field)
{
	struct splat_grid in_mm = *grid;
	struct field_sample sample = { .n = 0 };
	int status = 0;

	if (grid->ortho) {
		in_mm.pixel_mm = 1;
		in_mm.corner_mm[0] = in_mm.corner_mm[1] = 0;
	}
	for (size_t k = 0; k < views && status == 0; k++)
		status = add_view(&in_mm, &source[k], picture_px, &sample);
	if (status == 0 && grid->ortho)
		status = splat_grid_field(grid, sample.place[0], sample.place[1], sample.n,
		    pixel_mm, center_mm);
	for (size_t k = 2; k < 4 && sample.n; k++)
		qsort(sample.place[k], sample.n, sizeof(float), compare);
	*field = (struct splat_field){ .depth = 1 };
	if (sample.n)
		*field = (struct splat_field){ .depth = (double)sample.place[2][sample.n / 2],
			.apart = (double)sample.place[3][sample.n / 2] /
			    (grid->ortho ? grid->pixel_mm : 1),
			.unlit = (double)sample.unlit / (double)sample.n };
	if (status == 0 && grid->ortho && sample.n)
		find_covered(grid, &sample, field);
	for (size_t k = 0; k < 4; k++)
		free(sample.place[k]);
	return status;
}
