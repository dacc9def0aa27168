/* Filters the lines of an image by its carrier's window: extended, transformed, cut, and back. */
#include "fourier_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "base/px.h"
#include "fourier_extend.h"
#include "fourier_mean.h"
#include "frame/pixel_store.h"
#include "lanes.h"
#include "line_fft.h"
#include "run/run.h"

#define REACH 3		/* periods of the half-width: the fringes go on so far beyond the image */
#define FIT 5		/* carrier periods that they are predicted from */
#define LANES LINE_FFT_LANES
#define SAMPLE LINE_FFT_SAMPLE
#define ROWS FOURIER_MEAN_LINES	/* that a thread takes at once: two a lane, real and imaginary */

_Static_assert(ROWS == LINE_FFT_SAMPLE && ROWS == LANES_SAMPLE,
    "a row of the image is a real or an imaginary part");

struct filter {
	const struct fourier_filter *how;
	const struct fourier_signal *signal;
	struct fourier_result *result;
	struct line_fft across, down;	/* down: of no samples for lines alone */
	struct fourier_extend row, column;
	long first;		/* frequency of the first column of the narrow plane */
	size_t n, stride;	/* its columns: frequencies that the window keeps; a row */
	struct pixel_store *store;	/* of the narrow plane, signal->h rows, and window */
	float *re, *im;
	float *window;		/* a row of stride, or one for each frequency down */
	unsigned char *known;	/* of each line: it has samples enough */
	bool failed;
};

/* Floats, aligned to 64; pixel_store_drop() them. NULL after fail(). */
static struct pixel_store *
memory(struct filter *filter, size_t floats, float **v)
{
	void *made = NULL;
	struct pixel_store *store = pixel_store_scratch(floats * sizeof(**v), &made);

	if (!store) {
		fail_memory();
		__atomic_store_n(&filter->failed, true, __ATOMIC_RELAXED);
	}
	*v = made;
	return store;
}

/* Of floats, so many that the next ones are aligned to 64 as well. */
static size_t
aligned(size_t floats)
{
	return (floats + 15) / 16 * 16;
}

/* The place of frequency k of N. */
static size_t
place(long k, size_t n)
{
	return k < 0 ? n - (size_t)-k : (size_t)k;
}

/* ---- rows ---- */

/* Samples of lines side by side; a line by itself, of which the first lane counts; what those who
 * go on with them work in. */
struct row_memory {
	float *lines, *alone, *other;
	unsigned char *known;
	bool holes[ROWS];
	size_t samples[ROWS];
	_Alignas(64) float rest[ROWS];	/* the mean of each row */
};

/* Lines y and on, as far as there are, so many at most. */
static struct lanes
lanes_of(const struct fourier_signal *signal, size_t y, size_t most)
{
	size_t lines = signal->h - y < most ? signal->h - y : most;

	return (struct lanes){ signal->w, lines, signal->along, signal->apart };
}

/* Rows y and on become lines. */
static void
take_rows(const struct filter *filter, size_t y, struct row_memory *rows)
{
	const struct fourier_signal *signal = filter->signal;
	size_t w = signal->w;
	struct lanes lanes = lanes_of(signal, y, ROWS);
	double sum[ROWS] = { 0 };
	uint32_t count[ROWS] = { 0 };

	if (lanes.lines < ROWS)
		memset(rows->lines, 0, w * ROWS * sizeof(*rows->lines));
	lanes_read(&lanes, signal->v + y * signal->apart, rows->lines);
	for (size_t x = 0; x < w; x++) {
		const float *restrict v = rows->lines + x * ROWS;

		CPU_SIMD
		for (size_t i = 0; i < ROWS; i++) {
			bool known = !px_isnan(v[i]);

			sum[i] += (double)px_select(known, v[i], 0);
			count[i] += known;
		}
	}
	for (size_t i = 0; i < ROWS; i++) {
		rows->samples[i] = count[i];
		rows->holes[i] = count[i] < w;
		rows->rest[i] = count[i] ? (float)(sum[i] / count[i]) : 0;
	}
}

/* A row with holes is gone on with by itself. */
static void
extend_alone(const struct filter *filter, size_t i, struct row_memory *rows)
{
	struct fourier_extend extend = filter->row;
	size_t lanes = FOURIER_EXTEND_LANES_LEAST;
	_Alignas(64) float rest[FOURIER_EXTEND_LANES_LEAST];

	extend.lanes = lanes;
	for (size_t lane = 0; lane < lanes; lane++)
		rest[lane] = rows->rest[i];
	for (size_t x = 0; x < extend.n; x++) {
		float v = rows->lines[x * ROWS + i];

		rows->known[x] = !px_isnan(v);
		for (size_t lane = 0; lane < lanes; lane++)
			rows->alone[x * lanes + lane] = v;
	}
	fourier_extend_lines(&extend, rest, rows->alone, rows->known, rows->other);
	for (size_t x = 0; x < extend.total; x++)
		rows->lines[x * ROWS + i] = rows->alone[x * lanes];
}

/* Lines become longer, without holes. */
static void
extend_rows(const struct filter *filter, struct row_memory *rows)
{
	bool holes = false;

	for (size_t i = 0; i < ROWS; i++)
		holes |= rows->holes[i];
	if (!holes) {
		fourier_extend_lines(&filter->row, rows->rest, rows->lines, NULL, rows->other);
		return;
	}
	for (size_t i = 0; i < ROWS; i++)
		extend_alone(filter, i, rows);
}

/* Means over two periods, of rows y and on. */
static void
make_means(const struct filter *filter, size_t y, const struct row_memory *rows)
{
	double period = 1 / filter->how->carrier.x;
	const struct fourier_signal *signal = filter->signal;
	const struct lanes lanes = lanes_of(signal, y, ROWS);
	size_t total = filter->row.total;
	float *once = rows->other, *twice = once + total * ROWS;

	fourier_mean_lines(rows->lines, total, period, once);
	fourier_mean_lines(once, total, period, twice);
	lanes_write(&lanes, twice, NULL, 1, filter->result->mean + y * signal->apart);
}

/* What the window may keep of rows y and on; two real rows are the real and the imaginary part of a
 * line that was transformed. */
static void
keep_rows(const struct filter *filter, size_t y, const float *lines)
{
	size_t total = filter->row.total, h = filter->signal->h;

	for (size_t i = 0; i < filter->stride; i++) {
		long k = filter->first + (long)(i < filter->n ? i : 0);
		const float *a = lines + filter->across.place[place(k, total)] * SAMPLE;
		const float *b = lines + filter->across.place[place(-k, total) % total] * SAMPLE;

		for (size_t lane = 0; lane < LANES; lane++) {
			size_t first = (y + lane) * filter->stride + i;
			size_t second = first + LANES * filter->stride;

			if (y + lane < h) {
				filter->re[first] = (a[lane] + b[lane]) * 0.5f;
				filter->im[first] = (a[LANES + lane] - b[LANES + lane]) * 0.5f;
			}
			if (y + LANES + lane < h) {
				filter->re[second] = (a[LANES + lane] + b[LANES + lane]) * 0.5f;
				filter->im[second] = (b[lane] - a[lane]) * 0.5f;
			}
		}
	}
}

static void
forward(void *arg, size_t item)
{
	struct filter *filter = arg;
	size_t total = filter->row.total, h = filter->signal->h, y = item * ROWS;
	size_t others = aligned(fourier_extend_memory(&filter->row));
	size_t alone = aligned(total * FOURIER_EXTEND_LANES_LEAST);
	size_t known = aligned(filter->signal->w / sizeof(float) + 1);
	struct row_memory rows;
	struct pixel_store *store;

	if (others < 2 * total * ROWS)
		others = 2 * total * ROWS;
	store = memory(filter, total * SAMPLE + others + alone + known, &rows.lines);
	if (!store)
		return;
	rows.other = rows.lines + total * SAMPLE;
	rows.alone = rows.other + others;
	rows.known = (unsigned char *)(rows.alone + alone);
	take_rows(filter, y, &rows);
	extend_rows(filter, &rows);
	for (size_t i = 0; i < ROWS && y + i < h; i++)
		filter->known[y + i] = (double)rows.samples[i] * filter->how->carrier.x >= 1;
	if (filter->result->mean)
		make_means(filter, y, &rows);
	/* a row's level is no fringe: taken off, it does not leak */
	for (size_t x = 0; x < total; x++) {
		float *restrict v = rows.lines + x * ROWS;

		CPU_SIMD
		for (size_t i = 0; i < ROWS; i++)
			v[i] -= rows.rest[i];
	}
	line_fft_run(&filter->across, rows.lines);
	keep_rows(filter, y, rows.lines);
	pixel_store_drop(store);
}

/* ---- columns, and back ---- */

/* LANES columns of the narrow plane, times the window. */
static void
filter_columns(void *arg, size_t item)
{
	struct filter *filter = arg;
	size_t h = filter->signal->h, total = filter->column.total, stride = filter->stride;
	size_t others = aligned(fourier_extend_memory(&filter->column));
	float *re = filter->re + item * LANES, *im = filter->im + item * LANES, *lines, *spectrum;
	static const _Alignas(64) float rest[LANES] = { 0 };
	const float scale = 1 / (float)total;
	struct pixel_store *store;

	store = memory(filter, 2 * total * SAMPLE + others, &lines);
	if (!store)
		return;
	spectrum = lines + total * SAMPLE;
	for (size_t y = 0; y < h; y++) {
		memcpy(lines + y * SAMPLE, re + y * stride, LANES * sizeof(*re));
		memcpy(lines + y * SAMPLE + LANES, im + y * stride, LANES * sizeof(*im));
	}
	fourier_extend_lines(
	    &filter->column, rest, lines, filter->known, spectrum + total * SAMPLE);
	line_fft_run(&filter->down, lines);
	/* parts change places for the way back, here and below */
	for (size_t y = 0; y < total; y++) {
		const float *restrict from = lines + filter->down.place[y] * SAMPLE;
		const float *restrict window = filter->window + y * stride + item * LANES;
		float *restrict to = spectrum + y * SAMPLE;

		CPU_SIMD
		for (size_t lane = 0; lane < LANES; lane++) {
			to[LANES + lane] = from[lane] * window[lane];
			to[lane] = from[LANES + lane] * window[lane];
		}
	}
	line_fft_run(&filter->down, spectrum);
	for (size_t y = 0; y < h; y++) {
		const float *restrict from = spectrum + filter->down.place[y] * SAMPLE;

		CPU_SIMD
		for (size_t lane = 0; lane < LANES; lane++) {
			re[y * stride + lane] = from[LANES + lane] * scale;
			im[y * stride + lane] = from[lane] * scale;
		}
	}
	pixel_store_drop(store);
}

/* LANES rows of the narrow plane become those of the result. */
static void
back(void *arg, size_t item)
{
	struct filter *filter = arg;
	const struct fourier_signal *signal = filter->signal;
	size_t total = filter->row.total, y = item * LANES;
	const struct lanes lanes = lanes_of(signal, y, LANES);
	const size_t *from = filter->across.place;
	const float scale = 1 / (float)total;
	float *v;
	struct pixel_store *store = memory(filter, total * SAMPLE, &v);

	if (!store)
		return;
	memset(v, 0, total * SAMPLE * sizeof(*v));
	for (size_t i = 0; i < filter->n; i++) {
		float *to = v + place(filter->first + (long)i, total) * SAMPLE;
		float weight = filter->down.n ? 1 : filter->window[i];

		for (size_t lane = 0; lane < lanes.lines; lane++) {
			to[lane] = filter->im[(y + lane) * filter->stride + i] * weight;
			to[LANES + lane] = filter->re[(y + lane) * filter->stride + i] * weight;
		}
	}
	line_fft_run(&filter->across, v);
	lanes_write(&lanes, v + LANES, from, scale, filter->result->re + y * signal->apart);
	lanes_write(&lanes, v, from, scale, filter->result->im + y * signal->apart);
	pixel_store_drop(store);
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
	extend->total = line_fft_length(n + 2 * extend->reach);
	return extend->total ? 0 : fail(NULL, "an image of %zu pixels is too long", n);
}

/* Sets the window; what lies beyond its half-width is 0. */
static void
make_window(struct filter *filter)
{
	const struct fourier_filter *how = filter->how;
	size_t down = filter->down.n ? filter->down.n : 1;
	double squares = 0, carrier = filter->down.n ? how->carrier.y : 0;

	memset(filter->window, 0, down * filter->stride * sizeof(*filter->window));
	for (size_t y = 0; y < down; y++) {
		double l = (double)(2 * y < down ? (long)y : (long)y - (long)down) / (double)down;

		for (size_t i = 0; fabs(l - carrier) < how->half_width && i < filter->n; i++) {
			double k = (double)(filter->first + (long)i) / (double)filter->across.n;
			double u = hypot(k - how->carrier.x, l - carrier);
			float v = fourier_window(how->shape, u / how->half_width);

			filter->window[y * filter->stride + i] = v;
			squares += (double)(v * v);
		}
	}
	filter->result->noise_bandwidth = squares / ((double)filter->across.n * (double)down);
}

static int
plan(struct filter *filter)
{
	const struct fourier_filter *how = filter->how;
	const struct fourier_signal *signal = filter->signal;
	double n, last;
	size_t down = 1, plane;

	filter->row.channels = 1;
	filter->row.lanes = ROWS;
	filter->column.channels = 2;
	filter->column.lanes = LANES;
	if (plan_line(signal->w, how->half_width, how->carrier.x, &filter->row) < 0 ||
	    line_fft_new(filter->row.total, &filter->across) < 0)
		return -1;
	n = (double)filter->row.total;
	/* from the Nyquist frequency on the other side lobe lies */
	last = fmin(floor((how->carrier.x + how->half_width) * n), floor((n - 1) / 2));
	filter->first = (long)ceil((how->carrier.x - how->half_width) * n);
	if ((long)last < filter->first)
		return fail("--window-width", "the window holds no frequency of an image so small");
	filter->n = (size_t)((long)last - filter->first + 1);
	filter->stride = aligned(filter->n);
	if (how->transform == TRANSFORM_2D) {
		if (plan_line(signal->h, how->half_width,
			fmax(fabs(how->carrier.y), how->half_width), &filter->column) < 0 ||
		    line_fft_new(filter->column.total, &filter->down) < 0)
			return -1;
		down = filter->column.total;
	}
	plane = signal->h * filter->stride;
	filter->store = memory(filter, 2 * plane + down * filter->stride, &filter->re);
	filter->known = malloc(signal->h);
	if (!filter->store || !filter->known)
		return fail_memory();
	filter->im = filter->re + plane;
	filter->window = filter->im + plane;
	make_window(filter);
	return 0;
}

int
fourier_filter_run(struct run *run, const struct fourier_filter *how,
    const struct fourier_signal *signal, bool mean, struct fourier_result *result)
{
	struct filter filter = { .how = how, .signal = signal, .result = result };
	size_t plane = aligned(signal->w * signal->h), h = signal->h;
	int status = -1;

	*result = (struct fourier_result){ .w = signal->along == 1 ? signal->w : h,
		.h = signal->along == 1 ? h : signal->w };
	result->store = memory(&filter, (mean ? 3 : 2) * plane, &result->re);
	if (result->store) {
		result->im = result->re + plane;
		result->mean = mean ? result->im + plane : NULL;
		status = plan(&filter);
	}
	if (status == 0)
		run_for(run, (h + ROWS - 1) / ROWS, forward, &filter);
	if (status == 0 && filter.down.n && !filter.failed)
		run_for(run, filter.stride / LANES, filter_columns, &filter);
	if (status == 0 && !filter.failed)
		run_for(run, (h + LANES - 1) / LANES, back, &filter);
	line_fft_free(&filter.across);
	line_fft_free(&filter.down);
	pixel_store_drop(filter.store);
	free(filter.known);
	return filter.failed ? -1 : status;
}

void
fourier_filter_free(struct fourier_result *result)
{
	pixel_store_drop(result->store);
}
