/* Quantiles and means over a coarse grid of pixels. */
#include "image/statistics.h"

#include <math.h>

#include "base/process.h"

size_t
coarse_grid_step(size_t w, size_t h, size_t pixels)
{
	double step = sqrt((double)w * (double)h / (double)pixels);

	return step > 1 ? (size_t)step : 1;
}

struct coarse_grid
coarse_grid(size_t w, size_t h, size_t pixels)
{
	size_t step = coarse_grid_step(w, h, pixels);

	return (struct coarse_grid){ step, (w + step - 1) / step, (h + step - 1) / step };
}

size_t
coarse_grid_shift(const struct coarse_grid *grid, size_t y)
{
	double part = 0.618 * (double)(y / grid->step);

	return (size_t)((part - floor(part)) * (double)grid->step);
}

struct job {
	const struct frame *frame;
	struct statistics *row;		/* h per channel */
};

static const struct statistics none = { .min = INFINITY, .max = -INFINITY };

static struct statistics
of_row(const struct frame *frame, size_t c, size_t y)
{
	const void *row = frame_row(frame, c, y);
	struct statistics of = none;
	double sum = 0.0;

	for (size_t x = 0; x < frame->head.w; x++) {
		double v = (double)frame_sample_in(frame->head.type, row, x);

		of.nan += isnan(v) != 0;
		of.infinite += isinf(v) != 0;
		if (!isfinite(v))
			continue;
		of.n++;
		sum += v;
		of.min = v < of.min ? v : of.min;
		of.max = v > of.max ? v : of.max;
	}
	of.mean = of.n ? sum / (double)of.n : 0.0;
	for (size_t x = 0; x < frame->head.w; x++) {
		double v = (double)frame_sample_in(frame->head.type, row, x);

		if (isfinite(v))
			of.squares += (v - of.mean) * (v - of.mean);
	}
	return of;
}

static void
survey_row(void *arg, size_t y)
{
	struct job *job = arg;

	for (size_t c = 0; c < job->frame->head.c; c++)
		job->row[c * job->frame->head.h + y] = of_row(job->frame, c, y);
}

/* Chan, Golub and LeVeque: the mean and squares of two sets taken together. */
static void
merge(struct statistics *all, const struct statistics *more)
{
	double n = (double)(all->n + more->n), step = more->mean - all->mean;

	all->nan += more->nan;
	all->infinite += more->infinite;
	if (more->n == 0)
		return;
	all->squares += more->squares + step * step * (double)all->n * (double)more->n / n;
	all->mean += step * (double)more->n / n;
	all->n += more->n;
	all->min = more->min < all->min ? more->min : all->min;
	all->max = more->max > all->max ? more->max : all->max;
}

void
statistics_of(struct run *run, const struct frame *frame, struct statistics *all)
{
	size_t h = frame->head.h;
	struct job job = { frame, must_alloc(frame->head.c, h * sizeof(struct statistics)) };

	run_for(run, h, survey_row, &job);
	for (size_t c = 0; c < frame->head.c; c++) {
		all[c] = none;
		for (size_t y = 0; y < h; y++)
			merge(&all[c], &job.row[c * h + y]);
	}
	free(job.row);
}

/* Puts the k-th smallest in its place (Hoare), smaller ones before it. */
double
statistics_ranked(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			double swap = v[i];
			v[i++] = v[j];
			v[j--] = swap;
		}
		/* v[low .. j] <= pivot <= v[j + 1 .. high]; i == j means v[j] is the pivot */
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return v[k];
}

double
statistics_quantile(double *v, size_t n, double q)
{
	double rank = ceil(q * (double)n * (1.0 - 1e-12));	/* 0.9 * 10 may lie above 9 */
	size_t k = rank < 1.0 ? 0 : (size_t)rank - 1;

	if (n == 0)
		return NAN;
	if (k >= n)
		k = n - 1;
	return statistics_ranked(v, n, k);
}
