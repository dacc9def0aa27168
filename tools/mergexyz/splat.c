#include "splat.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/px.h"
#include "splat_strip.h"

int
splat_open(struct splat *splat, size_t views)
{
	splat->views = views;
	splat->view = calloc(views, sizeof(*splat->view));
	return splat->view ? 0 : fail_memory();
}

void
splat_close(struct splat *splat)
{
	for (size_t k = 0; k < splat->views && splat->view; k++)
		splat_view_free(&splat->view[k]);
	free(splat->view);
	splat_grid_free(&splat->grid);
	while (splat->scratch) {
		struct splat_scratch *scratch = splat->scratch;

		splat->scratch = scratch->next;
		splat_scratch_free(scratch);
	}
	free(splat->claimed);
	*splat = (struct splat){ 0 };
}

struct job {
	struct splat *splat;
	const struct splat_source *source;
	struct frame *out;
	pthread_mutex_t lock;		/* of the splat's scratch */
	bool failed;
};

/* ---- places, a row of points each ---- */

static size_t
find_view(const struct splat *splat, size_t *row)
{
	size_t k = 0;

	while (*row >= splat->view[k].h)
		*row -= splat->view[k++].h;
	return k;
}

static void
project(void *arg, size_t row)
{
	const struct job *job = arg;
	size_t k = find_view(job->splat, &row);

	splat_view_project(&job->splat->view[k], &job->splat->grid, &job->source[k], row);
}

static void
find_reach(void *arg, size_t row)
{
	const struct job *job = arg;
	size_t k = find_view(job->splat, &row);

	splat_view_reach(&job->splat->view[k], row);
}

/* ---- strips ---- */

static struct splat_scratch *
take_scratch(struct job *job)
{
	struct splat_scratch *scratch;

	pthread_mutex_lock(&job->lock);
	scratch = job->splat->scratch;
	if (scratch)
		job->splat->scratch = scratch->next;
	pthread_mutex_unlock(&job->lock);
	if (!scratch && !(scratch = calloc(1, sizeof(*scratch))))
		fail_memory();
	return scratch;
}

static void
give_scratch(struct job *job, struct splat_scratch *scratch, bool failed)
{
	pthread_mutex_lock(&job->lock);
	job->failed |= failed;
	if (scratch) {
		scratch->next = job->splat->scratch;
		job->splat->scratch = scratch;
	}
	pthread_mutex_unlock(&job->lock);
}

static void
fill(void *arg, size_t item)
{
	struct job *job = arg;
	struct splat_scratch *scratch = take_scratch(job);
	size_t y0 = item * STRIP_ROWS, h = job->splat->grid.h;
	size_t y1 = h - y0 < STRIP_ROWS ? h : y0 + STRIP_ROWS;

	give_scratch(job, scratch, !scratch || splat_strip_fill(job->splat, job->source, scratch,
	    job->out, y0, y1) < 0);
}

/* ---- holes of one cell ---- */

/* The pairs of neighbours, left and right or above and below, that hold a hole between them: cells
 * of one surface with points of their own. Returns the number of cells, their columns and rows. */
static size_t
find_around(const struct splat *splat, const struct frame *out, size_t x, size_t y,
    size_t cell[4][2])
{
	const size_t w = splat->grid.w, h = splat->grid.h;
	size_t n = 0;

	for (size_t k = 0; k < 2; k++) {
		size_t dx = k == 0, dy = k == 1;
		float a, b;

		if (x < dx || y < dy || x + dx >= w || y + dy >= h ||
		    !splat->claimed[(y - dy) * w + x - dx] ||
		    !splat->claimed[(y + dy) * w + x + dx])
			continue;
		a = frame_floats(out, 2, y - dy)[x - dx];
		b = frame_floats(out, 2, y + dy)[x + dx];
		if (!(px_abs(a - b) <= splat->jump))
			continue;
		cell[n][0] = x - dx;
		cell[n++][1] = y - dy;
		cell[n][0] = x + dx;
		cell[n++][1] = y + dy;
	}
	return n;
}

/* The nearer pair where both are there and lie on two surfaces. */
static size_t
choose_nearer(const struct splat *splat, const struct frame *out, size_t cell[4][2], size_t n)
{
	float a, b;

	if (n < 4)
		return n;
	a = frame_floats(out, 2, cell[0][1])[cell[0][0]];
	b = frame_floats(out, 2, cell[2][1])[cell[2][0]];
	if (px_abs(a - b) <= splat->jump)
		return n;
	if (b < a)
		memcpy(cell[0], cell[2], 2 * sizeof(*cell));
	return 2;
}

static void
close_cell(const struct splat *splat, const struct splat_source *source, struct frame *out,
    size_t x, size_t y)
{
	size_t cell[4][2], n = find_around(splat, out, x, y, cell), first = 3;
	float *pz = frame_floats(out, 2, y);

	n = choose_nearer(splat, out, cell, n);
	if (n == 0)
		return;
	for (size_t c = 2; c < out->head.c; c++) {
		bool is_sigma = c == 3 && splat->keeps_sigma;
		float sum = 0;

		for (size_t i = 0; i < n; i++) {
			float value = frame_floats(out, c, cell[i][1])[cell[i][0]];

			sum += is_sigma ? value * value : value;
		}
		frame_floats(out, c, y)[x] = (is_sigma ? sqrtf(sum) : sum) / (float)n;
	}
	splat_grid_point(&splat->grid, x, y, pz[x], frame_floats(out, 0, y) + x,
	    frame_floats(out, 1, y) + x);
	first += splat->keeps_sigma;
	if (source->normal != NO_CHANNEL) {
		float *normal[3], length = 0;

		for (size_t i = 0; i < 3; i++) {
			normal[i] = frame_floats(out, first + source->normal + i, y) + x;
			length += *normal[i] * *normal[i];
		}
		for (size_t i = 0; i < 3; i++)
			*normal[i] = length > 0 ? *normal[i] / sqrtf(length) : PX_NAN;
	}
}

static void
close_row(void *arg, size_t y)
{
	const struct job *job = arg;
	const struct splat *splat = job->splat;
	const unsigned char *row = splat->claimed + y * splat->grid.w, *end = row + splat->grid.w;

	for (const unsigned char *hole = row; (hole = memchr(hole, 0, (size_t)(end - hole)));
	    hole++)
		close_cell(splat, job->source, job->out, (size_t)(hole - row), y);
}

/* ---- a set ---- */

static void
for_all(struct run *run, size_t n, void (*fn)(void *arg, size_t i), void *arg)
{
	if (run)
		run_for(run, n, fn, arg);
	for (size_t i = 0; i < n && !run; i++)
		fn(arg, i);
}

static int
fit(struct splat *splat, const struct splat_source *source, size_t *rows)
{
	size_t cells;

	*rows = 0;
	for (size_t k = 0; k < splat->views; k++) {
		if (splat_view_resize(&splat->view[k], source[k].w, source[k].h) < 0)
			return -1;
		splat->view[k].jump = splat->jump;
		*rows += source[k].h;
	}
	if (!splat->claimed && (size_multiply(splat->grid.w, splat->grid.h, &cells) < 0 ||
	    (!(splat->claimed = malloc(cells)) && fail_memory())))
		return -1;
	return 0;
}

int
splat_merge(struct splat *splat, struct run *run, const struct splat_source *source,
    struct frame *out, struct splat_counts *counts)
{
	struct job job = { .splat = splat, .source = source, .out = out,
		.lock = PTHREAD_MUTEX_INITIALIZER };
	size_t rows, h = splat->grid.h;

	if (fit(splat, source, &rows) < 0)
		return -1;
	for_all(run, rows, project, &job);
	for_all(run, rows, find_reach, &job);
	for_all(run, (h + STRIP_ROWS - 1) / STRIP_ROWS, fill, &job);
	pthread_mutex_destroy(&job.lock);
	if (job.failed)
		return -1;
	for_all(run, h, close_row, &job);
	for (size_t k = 0; k < splat->views; k++) {
		counts[k] = (struct splat_counts){ 0 };
		for (size_t y = 0; y < splat->view[k].h; y++) {
			counts[k].points += splat->view[k].points[y];
			counts[k].lost += splat->view[k].lost[y];
		}
	}
	return 0;
}
