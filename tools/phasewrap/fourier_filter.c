#include "fourier_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "fourier_extend.h"
#include "run/run.h"

#define REACH 3		/* periods of the half-width: the fringes go on so far beyond the image */
#define FIT 5		/* carrier periods that they are predicted from */
#define LINES 8		/* that a thread takes at once; even */

struct filter {
	const struct fourier_filter *how;
	const struct fourier_signal *signal;
	struct fourier_result *result;
	struct fft *across, *down;	/* down: NULL for lines alone */
	struct fourier_extend row, column;
	long first;		/* frequency of the first column of the narrow plane */
	size_t n;		/* its columns: frequencies that the window keeps */
	struct fft_complex *narrow;	/* signal->h rows of n; NULL for lines alone */
	float *window;		/* n, or n columns of down's length each */
	unsigned char *known;	/* of each line: it has samples enough */
	bool failed;
};

static void *
memory(struct filter *filter, size_t n, size_t size)
{
	void *made = reallocarray(NULL, n, size);

	if (!made) {
		fail_memory();
		__atomic_store_n(&filter->failed, true, __ATOMIC_RELAXED);
	}
	return made;
}

/* The place of frequency k of N. */
static size_t
place(long k, size_t n)
{
	return k < 0 ? n - (size_t)-k : (size_t)k;
}

/* ---- forward ---- */

/* The sum of n cyclic samples up to a place that moves on by one: between sums[at] and the next. */
struct sum_to {
	size_t at;
	double turns, part;
};

static struct sum_to
sum_to(double place, size_t n, double all)
{
	double turns = floor(place / (double)n), rest = place - turns * (double)n;
	size_t at = (size_t)rest < n ? (size_t)rest : n - 1;

	return (struct sum_to){ at, turns * all, rest - (double)at };
}

static double
next_sum(struct sum_to *to, const double *sums, size_t n, double all)
{
	double sum = to->turns + sums[to->at] + to->part * (sums[to->at + 1] - sums[to->at]);

	if (++to->at == n) {
		to->at = 0;
		to->turns += all;
	}
	return sum;
}

/* The mean of v over `period` samples about each; cyclic, in place. */
static void
smooth(float *v, size_t n, double period, double *sums)
{
	double all = 0;
	struct sum_to from, to;

	for (size_t x = 0; x < n; x++) {
		sums[x] = all;
		all += (double)v[x];
	}
	sums[n] = all;
	from = sum_to(0.5 - period / 2, n, all);
	to = sum_to(0.5 + period / 2, n, all);
	for (size_t x = 0; x < n; x++)
		v[x] = (float)((next_sum(&to, sums, n, all) - next_sum(&from, sums, n, all)) /
		    period);
}

struct line_memory {
	float *row, *extend;
	double *sums;
	unsigned char *known;
	struct fft_complex *line, *spectrum;
};

/* Line y goes into `row`, longer, without holes. False where it has too few samples. */
static bool
extend_row(struct filter *filter, size_t y, const struct line_memory *line, float *row)
{
	const struct fourier_signal *signal = filter->signal;
	struct fourier_extend extend = filter->row;
	const float *from = signal->v + y * signal->w;
	double sum = 0;
	size_t n = 0;

	for (size_t x = 0; x < signal->w; x++) {
		bool known = !px_isnan(from[x]);

		line->known[x] = known;
		sum += known ? (double)from[x] : 0;
		n += known;
	}
	memcpy(row, from, signal->w * sizeof(*row));
	extend.rest = n ? (float)(sum / (double)n) : 0;
	fourier_extend_line(&extend, row, line->known, line->extend);
	if (filter->result->mean) {
		float *mean = filter->result->mean + y * signal->w;

		memcpy(line->extend, row, extend.total * sizeof(*row));
		for (int twice = 0; twice < 2; twice++)
			smooth(line->extend, extend.total, 1 / filter->how->carrier.x, line->sums);
		memcpy(mean, line->extend, signal->w * sizeof(*mean));
	}
	/* its level is no fringe: taken off, it does not leak */
	for (size_t x = 0; x < extend.total; x++)
		row[x] -= extend.rest;
	return (double)n * filter->how->carrier.x >= 1;
}

/* Back from the n frequencies of a line that the window has kept. */
static void
line_back(struct filter *filter, size_t y, const struct fft_complex *kept,
    const struct line_memory *line)
{
	size_t total = filter->row.total, w = filter->signal->w;

	memset(line->line, 0, total * sizeof(*line->line));
	for (size_t i = 0; i < filter->n; i++)
		line->line[place(filter->first + (long)i, total)] = kept[i];
	fft_line(filter->across, FFT_INVERSE, line->line, line->spectrum);
	memcpy(filter->result->z.v + y * w, line->spectrum, w * sizeof(*kept));
}

/* Two real lines are the real and the imaginary part of one that is transformed. */
static void
transform_pair(struct filter *filter, size_t y, const struct line_memory *line,
    struct fft_complex *kept)
{
	size_t total = filter->row.total, lines = y + 1 < filter->signal->h ? 2 : 1;
	float *row = line->row;

	if (lines == 1)
		memset(row + total, 0, total * sizeof(*row));
	for (size_t i = 0; i < lines; i++) {
		bool known = extend_row(filter, y + i, line, row + i * total);

		if (filter->known)
			filter->known[y + i] = known;
	}
	for (size_t x = 0; x < total; x++)
		line->line[x] = (struct fft_complex){ row[x], row[total + x] };
	fft_line(filter->across, FFT_FORWARD, line->line, line->spectrum);
	for (size_t i = 0; i < filter->n; i++) {
		long k = filter->first + (long)i;
		struct fft_complex a = line->spectrum[place(k, total)];
		struct fft_complex b = line->spectrum[k == 0 ? 0 : place(-k, total)];

		kept[i] = (struct fft_complex){ (a.re + b.re) * 0.5f, (a.im - b.im) * 0.5f };
		kept[filter->n + i] =
		    (struct fft_complex){ (a.im + b.im) * 0.5f, (b.re - a.re) * 0.5f };
	}
}

static void
forward(void *arg, size_t item)
{
	struct filter *filter = arg;
	size_t total = filter->row.total, h = filter->signal->h, n = filter->n;
	size_t end = (item + 1) * LINES < h ? (item + 1) * LINES : h;
	size_t extend = fourier_extend_memory(&filter->row);
	struct line_memory line = {
		.row = memory(filter, 2 * total + (extend > total ? extend : total), sizeof(float)),
		.sums = memory(filter, total + 1, sizeof(double)),
		.known = memory(filter, filter->signal->w, 1),
		.line = memory(filter, 2 * total, sizeof(struct fft_complex)),
	};
	struct fft_complex *kept = memory(filter, 2 * n, sizeof(*kept));

	line.extend = line.row ? line.row + 2 * total : NULL;
	line.spectrum = line.line ? line.line + total : NULL;
	for (size_t y = item * LINES;
	     line.row && line.sums && line.known && line.line && kept && y < end; y += 2) {
		transform_pair(filter, y, &line, kept);
		for (size_t i = 0; i < 2 && y + i < h; i++) {
			struct fft_complex *own = kept + i * n;

			for (size_t k = 0; !filter->down && k < n; k++) {
				own[k].re *= filter->window[k];
				own[k].im *= filter->window[k];
			}
			if (filter->down)
				memcpy(filter->narrow + (y + i) * n, own, n * sizeof(*own));
			else
				line_back(filter, y + i, own, &line);
		}
	}
	free(line.row);
	free(line.sums);
	free(line.known);
	free(line.line);
	free(kept);
}

/* ---- columns, and back ---- */

static void
filter_columns(void *arg, size_t item)
{
	struct filter *filter = arg;
	size_t h = filter->signal->h, total = filter->column.total, n = filter->n;
	size_t end = (item + 1) * LINES < n ? (item + 1) * LINES : n;
	float *parts = memory(
	    filter, 2 * total + fourier_extend_memory(&filter->column), sizeof(*parts));
	struct fft_complex *line = memory(filter, 2 * total, sizeof(*line));
	struct fft_complex *spectrum = line ? line + total : NULL;

	for (size_t i = item * LINES; parts && line && i < end; i++) {
		const float *window = filter->window + i * total;
		struct fft_complex *column = filter->narrow + i;

		for (size_t y = 0; y < h; y++) {
			parts[y] = column[y * n].re;
			parts[total + y] = column[y * n].im;
		}
		fourier_extend_line(&filter->column, parts, filter->known, parts + 2 * total);
		for (size_t y = 0; y < total; y++)
			line[y] = (struct fft_complex){ parts[y], parts[total + y] };
		fft_line(filter->down, FFT_FORWARD, line, spectrum);
		for (size_t y = 0; y < total; y++) {
			spectrum[y].re *= window[y];
			spectrum[y].im *= window[y];
		}
		fft_line(filter->down, FFT_INVERSE, spectrum, line);
		for (size_t y = 0; y < h; y++)
			column[y * n] = line[y];
	}
	free(parts);
	free(line);
}

static void
back(void *arg, size_t item)
{
	struct filter *filter = arg;
	size_t h = filter->signal->h, end = (item + 1) * LINES < h ? (item + 1) * LINES : h;
	size_t total = filter->row.total;
	struct line_memory line = { .line = memory(
					filter, 2 * total, sizeof(struct fft_complex)) };

	line.spectrum = line.line ? line.line + total : NULL;
	for (size_t y = item * LINES; line.line && y < end; y++)
		line_back(filter, y, filter->narrow + y * filter->n, &line);
	free(line.line);
}

/* ---- planning ---- */

/* Cyclic lines of n samples, for frequencies of this half-width about a carrier. */
static int
plan_line(size_t n, double half_width, double carrier, struct fourier_extend *extend)
{
	double reach = ceil(REACH / half_width), fit = ceil(FIT / carrier);

	extend->n = n;
	extend->reach = reach < 4 * (double)n ? (size_t)reach : 4 * n;
	extend->reach += extend->reach < 2;
	extend->fit = fit < (double)n ? (size_t)fit : n;
	extend->total = fft_fast_length(n + 2 * extend->reach);
	return extend->total ? 0 : fail(NULL, "an image of %zu pixels is too long", n);
}

static void
make_window(struct filter *filter)
{
	const struct fourier_filter *how = filter->how;
	size_t down = filter->down ? filter->column.total : 1;
	double squares = 0;

	for (size_t i = 0; i < filter->n; i++)
		for (size_t y = 0; y < down; y++) {
			double k = (double)(filter->first + (long)i) / (double)filter->row.total;
			double l = (double)(2 * y < down ? (long)y : (long)y - (long)down) /
			    (double)down;
			double u = filter->down ? hypot(k - how->carrier.x, l - how->carrier.y)
						: fabs(k - how->carrier.x);
			float v = fourier_window(how->shape, u / how->half_width);

			filter->window[i * down + y] = v;
			squares += (double)(v * v);
		}
	filter->result->noise_bandwidth = squares / ((double)filter->row.total * (double)down);
}

static int
plan(struct filter *filter)
{
	const struct fourier_filter *how = filter->how;
	const struct fourier_signal *signal = filter->signal;
	double n, last;
	size_t down = 1;

	filter->row.channels = 1;
	filter->column.channels = 2;
	if (plan_line(signal->w, how->half_width, how->carrier.x, &filter->row) < 0 ||
	    fft_new(filter->row.total, &filter->across) < 0)
		return -1;
	n = (double)filter->row.total;
	/* from the Nyquist frequency on the other side lobe lies */
	last = fmin(floor((how->carrier.x + how->half_width) * n), floor((n - 1) / 2));
	filter->first = (long)ceil((how->carrier.x - how->half_width) * n);
	if ((long)last < filter->first)
		return fail("--window-width", "the window holds no frequency of an image so small");
	filter->n = (size_t)((long)last - filter->first + 1);
	if (how->transform == TRANSFORM_2D) {
		if (plan_line(signal->h, how->half_width,
			fmax(fabs(how->carrier.y), how->half_width), &filter->column) < 0 ||
		    fft_new(filter->column.total, &filter->down) < 0)
			return -1;
		down = filter->column.total;
		filter->narrow = reallocarray(NULL, signal->h * filter->n, sizeof(*filter->narrow));
		filter->known = malloc(signal->h);
	}
	filter->window = reallocarray(NULL, filter->n * down, sizeof(*filter->window));
	if (!filter->window || (filter->down && (!filter->narrow || !filter->known)))
		return fail_memory();
	make_window(filter);
	return 0;
}

int
fourier_filter_run(struct run *run, const struct fourier_filter *how,
    const struct fourier_signal *signal, bool mean, struct fourier_result *result)
{
	struct filter filter = { .how = how, .signal = signal, .result = result };
	size_t pixels = signal->w * signal->h, blocks = (signal->h + LINES - 1) / LINES;
	int status = -1;

	*result = (struct fourier_result){ .z = { signal->w, signal->h, NULL } };
	result->z.v = reallocarray(NULL, pixels, sizeof(*result->z.v));
	result->mean = mean ? reallocarray(NULL, pixels, sizeof(*result->mean)) : NULL;
	if (!result->z.v || (mean && !result->mean))
		fail_memory();
	else
		status = plan(&filter);
	if (status == 0)
		run_for(run, blocks, forward, &filter);
	if (status == 0 && filter.down && !filter.failed)
		run_for(run, (filter.n + LINES - 1) / LINES, filter_columns, &filter);
	if (status == 0 && filter.down && !filter.failed)
		run_for(run, blocks, back, &filter);
	fft_free(filter.across);
	fft_free(filter.down);
	free(filter.narrow);
	free(filter.window);
	free(filter.known);
	return filter.failed ? -1 : status;
}
