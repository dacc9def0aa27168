#include "fourier_output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_level.h"
#include "base/fail.h"
#include "phasewrap.px.h"

#define BLOCK 16	/* rows that a thread takes at once */
#define SAMPLES 20000	/* pixels whose amplitudes are looked at, or some more */
#define MOST_AMPLITUDE 3e38f	/* of no fringes yet */

struct output {
	const struct phasewrap *wrap;
	const struct fourier_image *image;
	struct frame *frame;
	double *amplitude;	/* of every step-th pixel: of all images the smallest, or NaN */
	size_t step;
	uint64_t (*lost)[LOST_KINDS];	/* of each row */
	bool failed;
};

/* What is known of a row so far: of the frame; of its own; of one image of it. */
struct row {
	float *modulation, *texture;
	float *amplitude;
	unsigned char *lost;
	float *cosine, *sine, *tangent, *size;
};

/* Of one image of a row. */
struct signal_row {
	const float *re, *im, *mean, *unit;
	const float *level;		/* less so many times the signal that is the light */
	float part;
	const unsigned char *missing, *saturated;
};

static inline unsigned char
judge(const struct phasewrap_limits *limits, bool missing, bool saturated, float mean,
    float modulation, float amplitude)
{
	bool dark = !(mean >= limits->least_mean);
	bool weak = !(modulation >= limits->least_modulation);
	bool none = !(amplitude >= limits->least_amplitude) | !(amplitude > 0);
	unsigned char lost = none ? LOST_AMPLITUDE : LOST_NONE;

	lost = weak ? LOST_MODULATION : lost;
	lost = dark ? LOST_DARKNESS : lost;
	lost = saturated ? LOST_SATURATION : lost;
	return missing ? LOST_MISSING : lost;
}

/* What n pixels of an image add to their row; the cosine and the sine of their phase, times half
 * the amplitude. */
static void
take_signal(const struct phasewrap_limits *limits, const struct fourier_image *image,
    const struct signal_row *signal, const struct row *row, size_t n)
{
	const float *restrict re = signal->re, *restrict im = signal->im;
	const float *restrict means = signal->mean, *restrict unit = signal->unit;
	const float *restrict level = signal->level;
	const unsigned char *restrict missing = signal->missing;
	const unsigned char *restrict saturated = signal->saturated;
	float *restrict cosine = row->cosine, *restrict sine = row->sine;
	float *restrict sizes = row->size, *restrict amplitudes = row->amplitude;
	float *restrict modulations = row->modulation, *restrict texture = row->texture;
	unsigned char *restrict losts = row->lost;
	float turn_c = image->cosine, turn_s = image->sine, sign = image->falling ? -1 : 1;
	float part = signal->part;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float c = re[x], s = sign * im[x], mean = means[x];
		float size = px_sqrt(c * c + s * s), amplitude = 2 * size * unit[x];
		float ratio = amplitude / mean, modulation = px_select(mean > 0, ratio, 0);
		unsigned char lost = judge(limits, missing[x], saturated[x], mean, modulation,
		    amplitude);

		losts[x] = lost < losts[x] ? lost : losts[x];
		amplitudes[x] = px_min(amplitudes[x], amplitude);
		modulations[x] = px_min(modulations[x], modulation);
		texture[x] += level[x] - part * c + amplitude;
		sizes[x] = size;
		cosine[x] = c * turn_c + s * turn_s;
		sine[x] = s * turn_c - c * turn_s;
	}
}

static void
write_phase(const struct row *row, float *restrict phase, size_t n)
{
	const float *restrict cosine = row->cosine, *restrict sine = row->sine;
	float *restrict tangent = row->tangent;

	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		tangent[x] = px_atan2_tangent(sine[x], cosine[x]);
	CPU_SIMD
	for (size_t x = 0; x < n; x++)
		phase[x] = px_atan2_angle(tangent[x], sine[x], cosine[x]);
}

static void
write_vector(const struct row *row, float *restrict first, float *restrict second, size_t n)
{
	const float *restrict cosine = row->cosine, *restrict sine = row->sine;
	const float *restrict size = row->size;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		first[x] = cosine[x] / size[x];
		second[x] = sine[x] / size[x];
	}
}

/* The standard deviation of the phase of an analytic signal. */
static void
write_sigma(const struct row *row, const float *restrict variance, float *restrict sigma, size_t n)
{
	const float *restrict size = row->size;

	CPU_SIMD
	for (size_t x = 0; x < n; x++) {
		float v = px_min(px_sqrt(variance[x]) / size[x], PHASE_NOISE_MOST);

		sigma[x] = px_select(variance[x] > 0, v, PX_NAN);
	}
}

/* Fringe image k of row y. */
static void
write_image(const struct output *output, size_t k, size_t y, const struct fourier_pixels *pixels,
    const struct row *row)
{
	const struct fourier_image *image = &output->image[k];
	const struct fourier_result *result = &image->result;
	size_t w = output->frame->head.w, at = y * w;
	bool flats = image->source.flats > 0;
	struct signal_row signal = { result->re + at, result->im + at,
		flats ? pixels->mean : result->mean + at, pixels->unit,
		flats ? pixels->mean : pixels->image, flats ? 0 : 2, pixels->missing,
		pixels->saturated };

	take_signal(&output->wrap->limits, image, &signal, row, w);
	if (output->wrap->vector)
		write_vector(row, frame_floats(output->frame, 2 * k, y),
		    frame_floats(output->frame, 2 * k + 1, y), w);
	else
		write_phase(row, frame_floats(output->frame, k, y), w);
	if (image->variance)
		write_sigma(row, image->variance + at,
		    frame_floats(output->frame, output->wrap->channels.sigma + k, y), w);
}

/* Those of a row that have a phase. */
static size_t
count_good(const unsigned char *restrict lost, size_t w)
{
	uint32_t good = 0;

	_Pragma("omp simd reduction(+ : good)")
	for (size_t x = 0; x < w; x++)
		good += lost[x] == LOST_NONE;
	return good;
}

/* Pixels without a phase become NaN, and are counted. */
static void
lose_pixels(const struct output *output, size_t y, const struct row *row)
{
	const struct phasewrap_channels *at = &output->wrap->channels;

	for (size_t x = 0; x < output->frame->head.w; x++) {
		output->lost[y][row->lost[x]]++;
		if (row->lost[x] == LOST_NONE)
			continue;
		row->amplitude[x] = PX_NAN;
		if (row->lost[x] == LOST_MISSING)
			row->texture[x] = row->modulation[x] = PX_NAN;
		for (size_t c = 0; c < at->marker; c++)
			if (c < at->phases || c >= at->sigma)
				frame_floats(output->frame, c, y)[x] = PX_NAN;
	}
}

static void
write_row(const struct output *output, size_t y, const struct fourier_pixels *pixels,
    struct row *row)
{
	size_t w = output->frame->head.w, fringes = output->wrap->captures.fringes;
	const struct phasewrap_channels *at = &output->wrap->channels;
	size_t pixel = (y * w + output->step - 1) / output->step * output->step;
	float *restrict texture;

	row->modulation = frame_floats(output->frame, at->modulation, y);
	row->texture = texture = frame_floats(output->frame, at->texture, y);
	for (size_t x = 0; x < w; x++) {
		row->modulation[x] = row->amplitude[x] = MOST_AMPLITUDE;
		texture[x] = 0;
	}
	memset(row->lost, LOST_NONE, w);
	for (size_t k = 0; k < fringes; k++) {
		fourier_pixels_read(&output->image[k].source, y, pixels);
		write_image(output, k, y, pixels, row);
	}
	for (size_t x = 0; x < w; x++)
		texture[x] /= (float)fringes;
	if (count_good(row->lost, w) < w)
		lose_pixels(output, y, row);
	else
		output->lost[y][LOST_NONE] = w;
	for (; pixel < (y + 1) * w; pixel += output->step)
		output->amplitude[pixel / output->step] = (double)row->amplitude[pixel - y * w];
}

static void
write_rows(void *arg, size_t item)
{
	struct output *output = arg;
	size_t w = output->frame->head.w, h = output->frame->head.h;
	float *memory = malloc(5 * w * sizeof(*memory));
	struct row row = { .lost = malloc(w) };
	struct fourier_pixels pixels;

	if (fourier_pixels_new(w, &pixels) < 0 || !memory || !row.lost) {
		fail_memory();
		__atomic_store_n(&output->failed, true, __ATOMIC_RELAXED);
	} else {
		row.amplitude = memory;
		row.cosine = memory + w;
		row.sine = memory + 2 * w;
		row.tangent = memory + 3 * w;
		row.size = memory + 4 * w;
		for (size_t y = item * BLOCK; y < h && y < (item + 1) * BLOCK; y++)
			write_row(output, y, &pixels, &row);
	}
	free(memory);
	free(row.lost);
	fourier_pixels_free(&pixels);
}

int
fourier_output_write(struct run *run, const struct phasewrap *wrap,
    const struct fourier_image *image, struct fourier_report *report, struct frame *out)
{
	const struct phasewrap_limits *limits = &wrap->limits;
	size_t w = out->head.w, h = out->head.h, step = 1 + w * h / SAMPLES;
	size_t samples = (w * h + step - 1) / step;
	struct output output = { wrap, image, out, malloc(samples * sizeof(double)), step,
		calloc(h, sizeof(*output.lost)), false };
	uint64_t lost[LOST_KINDS] = { 0 };
	bool limited = limits->least_amplitude > 0 || limits->least_modulation > 0 ||
	    isfinite(limits->least_mean);
	int status = output.amplitude && output.lost ? 0 : fail_memory();

	if (status == 0)
		run_for(run, (h + BLOCK - 1) / BLOCK, write_rows, &output);
	if (output.failed)
		status = -1;
	for (size_t y = 0; status == 0 && y < h; y++)
		for (size_t i = 0; i < LOST_KINDS; i++)
			lost[i] += output.lost[y][i];
	if (status == 0)
		fourier_report_pixels(report, lost, output.amplitude, samples, limited);
	free(output.amplitude);
	free(output.lost);
	return status;
}
