/* The grid of the calibration's variance over a frame, and the rows that are read from it. */
#include "calib_sigma.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "phase2depth.px.h"

#define CELLS 64		/* of the grid, along the frame's longer side */

/* ---- the grid ---- */

/* The mean variance of the volume's points. */
static int
set_offset(struct calib_sigma *sigma)
{
	const struct rig_covariance *rig = &sigma->of.rig;
	double *scratch = calloc(6 * sigma->of.n, sizeof(*scratch)), sum = 0, n = 0;

	if (!scratch)
		return fail_memory();
	for (size_t p = 0; p < rig->points; p++) {
		double v = point_variance(&sigma->of, rig->X[p], scratch);

		sum += isnan(v) ? 0 : v;
		n += !isnan(v);
	}
	free(scratch);
	sigma->offset_mm2 = fmax(1e-30, sum / n);
	return 0;
}

/* The distances that the volume has from the camera, half of its depth more on either side. */
static void
set_distances(struct calib_sigma *sigma)
{
	const struct rig_covariance *rig = &sigma->of.rig;
	const struct pinhole *camera = &rig->camera.pinhole;
	double least = INFINITY, most = 0;

	for (size_t p = 0; p < rig->points; p++) {
		const double *R = camera->R, *X = rig->X[p];
		double z = R[6] * X[0] + R[7] * X[1] + R[8] * X[2] + camera->T[2];

		least = fmin(least, z);
		most = fmax(most, z);
	}
	sigma->middle_mm = (least + most) / 2;
	sigma->per_mm = 1 / fmax(fmin(most - least, 0.9 * sigma->middle_mm),
	    0.05 * sigma->middle_mm);
}

/* Where on -1 .. 1 the variance is computed: Chebyshev's points. */
static double
node(size_t k)
{
	return cos(M_PI * ((double)k + 0.5) / CALIB_SIGMA_TERMS);
}

/* The polynomial through the values at the nodes: Newton's differences, then powers. */
static void
polynomial(double v[CALIB_SIGMA_TERMS], float c[CALIB_SIGMA_TERMS])
{
	double sum[CALIB_SIGMA_TERMS + 1] = { 0 };

	for (size_t order = 1; order < CALIB_SIGMA_TERMS; order++)
		for (size_t k = CALIB_SIGMA_TERMS - 1; k >= order; k--)
			v[k] = (v[k] - v[k - 1]) / (node(k) - node(k - order));
	for (size_t k = CALIB_SIGMA_TERMS; k-- > 0;) {	/* sum (t - node) + v */
		for (size_t i = CALIB_SIGMA_TERMS; i > 0; i--)
			sum[i] = sum[i - 1] - node(k) * sum[i];
		sum[0] = v[k] - node(k) * sum[0];
	}
	for (size_t i = 0; i < CALIB_SIGMA_TERMS; i++)
		c[i] = (float)sum[i];
}

/* The point of a ray of the camera, so far along its axis, in the first device's frame. */
static void
point_on_ray(const struct pinhole *camera, const double xy[2], double s, double X[3])
{
	const double x[3] = { s * xy[0] - camera->T[0], s * xy[1] - camera->T[1],
		s - camera->T[2] };

	for (size_t i = 0; i < 3; i++)
		X[i] = camera->R[i] * x[0] + camera->R[3 + i] * x[1] + camera->R[6 + i] * x[2];
}

struct grid_job {
	const struct calib_sigma *sigma;
	double *scratch;		/* of each row */
};

static void
grid_row(void *arg, size_t row)
{
	const struct grid_job *job = arg;
	const struct calib_sigma *sigma = job->sigma;
	const struct pinhole *camera = &sigma->of.rig.camera.pinhole;
	double *scratch = job->scratch + 6 * sigma->of.n * row;

	for (size_t column = 0; column < sigma->columns; column++) {
		const double x = (double)(column * sigma->step_px);
		const double y = (double)(row * sigma->step_px);
		const double uv[2] = { sigma->origin_px[0] + (x + 0.5) * sigma->bin[0] - 0.5,
			sigma->origin_px[1] + (y + 0.5) * sigma->bin[1] - 0.5 };
		double v[CALIB_SIGMA_TERMS], xy[2], X[3];
		bool known = pinhole_undistort(camera, uv, xy);

		for (size_t k = 0; k < CALIB_SIGMA_TERMS; k++) {
			if (known)
				point_on_ray(camera, xy, sigma->middle_mm +
				    node(k) / sigma->per_mm, X);
			v[k] = known ? log(point_variance(&sigma->of, X, scratch) +
			    sigma->offset_mm2) : NAN;
		}
		polynomial(v, sigma->table +
		    CALIB_SIGMA_TERMS * (sigma->columns * row + column));
	}
}

static int
make_grid(struct run *run, struct calib_sigma *sigma)
{
	size_t longer = sigma->w > sigma->h ? sigma->w : sigma->h;
	struct grid_job job = { .sigma = sigma };

	sigma->step_px = (longer + CELLS - 1) / CELLS;
	sigma->columns = sigma->w / sigma->step_px + 2;
	sigma->rows = sigma->h / sigma->step_px + 2;
	free(sigma->table);
	sigma->table = calloc(CALIB_SIGMA_TERMS * sigma->columns * sigma->rows,
	    sizeof(*sigma->table));
	job.scratch = calloc(6 * sigma->of.n * sigma->rows, sizeof(*job.scratch));
	if (!sigma->table || !job.scratch) {
		free(job.scratch);
		return fail_memory();
	}
	run_for(run, sigma->rows, grid_row, &job);
	free(job.scratch);
	return 0;
}

int
calib_sigma_plan(struct run *run, struct calib_sigma *sigma, const struct triangulation *t)
{
	if (sigma->table && t->w == sigma->w && t->h == sigma->h &&
	    t->along_y == sigma->of.along_y &&
	    !memcmp(t->origin_px, sigma->origin_px, sizeof(t->origin_px)) &&
	    !memcmp(t->bin, sigma->bin, sizeof(t->bin)))
		return 0;
	sigma->w = t->w;
	sigma->h = t->h;
	memcpy(sigma->origin_px, t->origin_px, sizeof(t->origin_px));
	memcpy(sigma->bin, t->bin, sizeof(t->bin));
	set_distances(sigma);
	if (point_variance_set_axis(&sigma->of, t->along_y) < 0 || set_offset(sigma) < 0)
		return -1;
	return make_grid(run, sigma);
}

/* ---- rows ---- */

struct cell_row {
	const float *c, *next;		/* the polynomials at both ends of the cell */
	const float *x, *y, *z;
	float *out, per_step;
};

static void
cell(const struct calib_sigma *sigma, const struct triangulation *rays, const struct cell_row *row,
    int n)
{
	const float *restrict px = row->x, *restrict py = row->y, *restrict pz = row->z;
	float *restrict out = row->out, per_step = row->per_step;
	float c[CALIB_SIGMA_TERMS], next[CALIB_SIGMA_TERMS];
	const struct triangulation t = *rays;
	double middle_mm = sigma->middle_mm, per_mm = sigma->per_mm;
	float offset_mm2 = (float)sigma->offset_mm2;

	memcpy(c, row->c, sizeof(c));
	memcpy(next, row->next, sizeof(next));
	CPU_SIMD
	for (int i = 0; i < n; i++) {
		double s = PHASE2DEPTH_AHEAD(t.R, t.T, px[i], py[i], pz[i]);
		float at = (float)((s - middle_mm) * per_mm), part = (float)i * per_step;
		float v = phase2depth_between(c[CALIB_SIGMA_TERMS - 1],
		    next[CALIB_SIGMA_TERMS - 1], part);

		for (int k = CALIB_SIGMA_TERMS - 1; k-- > 0;)
			v = phase2depth_power(v, at, phase2depth_between(c[k], next[k], part));
		out[i] = px_select(px_isnan(px[i]), PX_NAN,
		    phase2depth_deviation(v, at, offset_mm2));
	}
}

void
calib_sigma_row(const struct calib_sigma *sigma, const struct triangulation *t,
    const float *const xyz[3], float *out, size_t n, size_t y)
{
	const size_t terms = CALIB_SIGMA_TERMS * sigma->columns, step = sigma->step_px;
	const float *above = sigma->table + terms * (y / step), *below = above + terms;
	const float per_step = 1.0f / (float)step, part = (float)(y % step) * per_step;
	float c[CALIB_SIGMA_TERMS * (CELLS + 2)];

	for (size_t i = 0; i < terms; i++)
		c[i] = phase2depth_between(above[i], below[i], part);
	for (size_t x = 0; x < n; x += step) {
		const float *left = c + CALIB_SIGMA_TERMS * (x / step);
		struct cell_row row = { left, left + CALIB_SIGMA_TERMS, xyz[0] + x, xyz[1] + x,
			xyz[2] + x, out + x, per_step };

		cell(sigma, t, &row, (int)(n - x < step ? n - x : step));
	}
}

void
calib_sigma_free(struct calib_sigma *sigma)
{
	point_variance_free(&sigma->of);
	free(sigma->table);
	sigma->table = NULL;
}
