#include "image/fft.h"

#include <kiss_fft.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "run/run.h"

/* Lines that a thread takes at once: of columns, whole cache lines of each row. */
#define LINES 16

_Static_assert(sizeof(struct fft_complex) == sizeof(kiss_fft_cpx), "kissfft's samples are floats");

struct fft {
	size_t length;
	kiss_fft_cfg tables[2];	/* by enum fft_direction */
};

size_t
fft_fast_length(size_t n)
{
	size_t best = 0;

	if (n > INT_MAX)
		return 0;
	for (size_t a = 1; a <= INT_MAX; a *= 2)
		for (size_t b = a; b <= INT_MAX; b *= 3)
			for (size_t c = b; c <= INT_MAX; c *= 5)
				if (c >= n && (best == 0 || c < best))
					best = c;
	return best;
}

int
fft_new(size_t length, struct fft **out)
{
	struct fft *fft = calloc(1, sizeof(*fft));

	*out = NULL;
	if (!fft)
		return fail_memory();
	if (length == 0 || length > INT_MAX) {
		free(fft);
		return fail(NULL, "a Fourier transform of %zu samples is too long", length);
	}
	fft->length = length;
	for (int direction = 0; direction < 2; direction++)
		fft->tables[direction] = kiss_fft_alloc((int)length, direction, NULL, NULL);
	if (!fft->tables[0] || !fft->tables[1]) {
		fft_free(fft);
		return fail_memory();
	}
	*out = fft;
	return 0;
}

void
fft_free(struct fft *fft)
{
	if (!fft)
		return;
	for (int direction = 0; direction < 2; direction++)
		kiss_fft_free(fft->tables[direction]);
	free(fft);
}

size_t
fft_length(const struct fft *fft)
{
	return fft->length;
}

void
fft_line(const struct fft *fft, enum fft_direction direction,
    const struct fft_complex *restrict from, struct fft_complex *restrict to)
{
	float scale = 1 / (float)fft->length;

	kiss_fft(fft->tables[direction], (const kiss_fft_cpx *)from, (kiss_fft_cpx *)to);
	for (size_t i = 0; direction == FFT_INVERSE && i < fft->length; i++)
		to[i] = (struct fft_complex){ scale * to[i].re, scale * to[i].im };
}

/* ---- planes ---- */

struct job {
	const struct fft *fft;
	enum fft_direction direction;
	const struct fft_plane *plane;
	size_t first, n;	/* lines */
	bool failed;
};

static struct fft_complex *
lines_new(struct job *job, size_t lines)
{
	struct fft_complex *made = reallocarray(NULL, lines * job->fft->length, sizeof(*made));

	if (!made) {
		fail_memory();
		__atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
	}
	return made;
}

static size_t
lines_of(const struct job *job, size_t item)
{
	size_t left = job->n - item * LINES;

	return left < LINES ? left : LINES;
}

static void
transform_rows(void *arg, size_t item)
{
	struct job *job = arg;
	size_t n = lines_of(job, item), w = job->fft->length;
	struct fft_complex *line = lines_new(job, 1);

	for (size_t i = 0; line && i < n; i++) {
		struct fft_complex *row = job->plane->v + (job->first + item * LINES + i) * w;

		fft_line(job->fft, job->direction, row, line);
		memcpy(row, line, w * sizeof(*row));
	}
	free(line);
}

/* Some columns become lines of their own, which are transformed behind them. */
static void
transform_columns(void *arg, size_t item)
{
	struct job *job = arg;
	size_t n = lines_of(job, item), h = job->fft->length, w = job->plane->w;
	struct fft_complex *line = lines_new(job, LINES + 1);
	struct fft_complex *column = job->plane->v + job->first + item * LINES;

	if (!line)
		return;
	for (size_t y = 0; y < h; y++)
		for (size_t i = 0; i < n; i++)
			line[(i + 1) * h + y] = column[y * w + i];
	/* each goes to where the one before it has been */
	for (size_t i = 0; i < n; i++)
		fft_line(job->fft, job->direction, line + (i + 1) * h, line + i * h);
	for (size_t y = 0; y < h; y++)
		for (size_t i = 0; i < n; i++)
			column[y * w + i] = line[i * h + y];
	free(line);
}

static int
transform(struct run *run, struct job *job, void (*fn)(void *arg, size_t item))
{
	size_t items = (job->n + LINES - 1) / LINES;

	if (run)
		run_for(run, items, fn, job);
	for (size_t item = 0; !run && item < items; item++)
		fn(job, item);
	return job->failed ? -1 : 0;
}

int
fft_rows(struct run *run, const struct fft *fft, enum fft_direction direction,
    const struct fft_plane *plane)
{
	struct job job = { fft, direction, plane, 0, plane->h, false };

	return transform(run, &job, transform_rows);
}

int
fft_columns(struct run *run, const struct fft *fft, enum fft_direction direction,
    const struct fft_plane *plane, size_t first, size_t n)
{
	struct job job = { fft, direction, plane, first, n, false };

	return transform(run, &job, transform_columns);
}
