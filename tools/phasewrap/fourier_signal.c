#include "fourier_signal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/px.h"
#include "run/run.h"

#define LEAST_UNIT 0.1	/* of the mean one */
#define MOST 1e18f	/* squares of more are no floats */
#define ROWS 16		/* that a thread takes at once */

int
fourier_pixels_new(size_t n, struct fourier_pixels *pixels)
{
	*pixels = (struct fourier_pixels){ malloc(n * sizeof(float)), malloc(n * sizeof(float)),
		malloc(n * sizeof(float)), malloc(n), malloc(n) };
	return pixels->image && pixels->mean && pixels->unit && pixels->missing &&
		pixels->saturated
	    ? 0
	    : fail_memory();
}

void
fourier_pixels_free(struct fourier_pixels *pixels)
{
	free(pixels->image);
	free(pixels->mean);
	free(pixels->unit);
	free(pixels->missing);
	free(pixels->saturated);
}

#define READ(type) \
static void \
read_##type(const type *restrict row, size_t n, float most, float *restrict to, \
    unsigned char *restrict missing, unsigned char *restrict saturated) \
{ \
	for (size_t x = 0; x < n; x++) { \
		float v = (float)row[x]; \
\
		to[x] = v; \
		missing[x] |= sizeof(type) == sizeof(float) && !(v >= -MOST && v <= MOST); \
		saturated[x] |= v >= most; \
	} \
}
READ(uint8_t)
READ(uint16_t)
READ(float)

static void
read_plane(const struct fourier_source *source, size_t c, size_t y, float *to,
    const struct fourier_pixels *pixels)
{
	const void *row = frame_row(source->in, c, y);
	size_t n = source->in->head.w;

	if (source->in->head.type == SAMPLE_UCHAR)
		read_uint8_t(
		    row, n, source->max_value, to, pixels->missing, pixels->saturated);
	else if (source->in->head.type == SAMPLE_USHORT)
		read_uint16_t(
		    row, n, source->max_value, to, pixels->missing, pixels->saturated);
	else
		read_float(row, n, source->max_value, to, pixels->missing, pixels->saturated);
}

void
fourier_pixels_read(
    const struct fourier_source *source, size_t y, const struct fourier_pixels *pixels)
{
	size_t n = source->in->head.w;
	float *restrict mean = pixels->mean, *restrict unit = pixels->unit;
	float least = source->least_unit;

	memset(pixels->missing, 0, n);
	memset(pixels->saturated, 0, n);
	read_plane(source, source->fringe, y, pixels->image, pixels);
	if (source->flats == 0) {
		for (size_t x = 0; x < n; x++)
			unit[x] = 1;
		return;
	}
	read_plane(source, source->flat[0], y, mean, pixels);
	if (source->flats == 1) {
		memcpy(unit, mean, n * sizeof(*unit));
	} else {
		read_plane(source, source->flat[1], y, unit, pixels);
		for (size_t x = 0; x < n; x++) {
			float white = mean[x], black = unit[x];

			mean[x] = (white + black) * 0.5f;
			unit[x] = (white - black) * 0.5f;
		}
	}
	for (size_t x = 0; x < n; x++)
		unit[x] = source->removal == REMOVAL_DIFFERENCE ? 1 : px_max(unit[x], least);
}

struct job {
	const struct fourier_source *source;
	struct fourier_signal *signal;
	double *sum;
	size_t *count;
	bool failed;
};

/* Row y becomes signal, or what its units sum to. */
static void
make_rows(void *arg, size_t item)
{
	struct job *job = arg;
	size_t w = job->source->in->head.w, h = job->source->in->head.h;
	size_t end = (item + 1) * ROWS < h ? (item + 1) * ROWS : h;
	struct fourier_pixels pixels;

	if (fourier_pixels_new(w, &pixels) < 0)
		__atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
	else
		for (size_t y = item * ROWS; y < end; y++) {
			double sum = 0;
			size_t n = 0;

			fourier_pixels_read(job->source, y, &pixels);
			for (size_t x = 0; x < w; x++) {
				bool good = !pixels.missing[x] && !pixels.saturated[x];
				float mean = job->source->flats ? pixels.mean[x] : 0;

				n += good;
				sum += good ? (double)pixels.unit[x] : 0;
				if (job->signal)
					job->signal->v[y * w + x] = px_select(good,
					    (pixels.image[x] - mean) / pixels.unit[x], PX_NAN);
			}
			job->sum[y] = sum;
			job->count[y] = n;
		}
	fourier_pixels_free(&pixels);
}

/* The sum of all units, and of how many pixels. */
static int
make(struct run *run, const struct fourier_source *source, struct fourier_signal *signal,
    double *sum, size_t *count)
{
	size_t h = source->in->head.h;
	struct job job = { source, signal, calloc(h, sizeof(double)), calloc(h, sizeof(size_t)),
		false };
	int status = job.sum && job.count ? 0 : fail_memory();

	*sum = 0;
	*count = 0;
	if (status == 0) {
		run_for(run, (h + ROWS - 1) / ROWS, make_rows, &job);
		for (size_t y = 0; y < h; y++) {
			*sum += job.sum[y];
			*count += job.count[y];
		}
	}
	free(job.sum);
	free(job.count);
	return job.failed ? -1 : status;
}

int
fourier_signal_find_least(struct run *run, struct fourier_source *source)
{
	double sum;
	size_t n;

	source->least_unit = 0;
	if (source->flats == 0 || source->removal == REMOVAL_DIFFERENCE)
		return 0;
	if (make(run, source, NULL, &sum, &n) < 0)
		return -1;
	if (n > 0 && !(sum > 0))
		return fail(NULL, source->flats == 2
			? "white is nowhere brighter than black: are the flat images in this order?"
			: "the flat image is black");
	source->least_unit = n > 0 ? (float)(LEAST_UNIT * sum / (double)n) : 1;
	return 0;
}

int
fourier_signal_make(
    struct run *run, const struct fourier_source *source, struct fourier_signal *signal)
{
	void *memory = NULL;
	double sum;
	size_t n;

	*signal = (struct fourier_signal){ .w = source->in->head.w, .h = source->in->head.h,
		.along = 1, .apart = source->in->head.w };
	signal->store = pixel_store_scratch(signal->w * signal->h * sizeof(*signal->v), &memory);
	if (!signal->store)
		return fail_memory();
	signal->v = memory;
	if (make(run, source, signal, &sum, &n) < 0)
		return -1;
	signal->holes = signal->w * signal->h - n;
	return 0;
}

void
fourier_signal_free(struct fourier_signal *signal)
{
	pixel_store_drop(signal->store);
}

void
fourier_signal_turn(struct fourier_signal *signal)
{
	size_t w = signal->w, along = signal->along;

	signal->w = signal->h;
	signal->h = w;
	signal->along = signal->apart;
	signal->apart = along;
}
