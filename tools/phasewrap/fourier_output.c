#include "fourier_output.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "phasewrap.px.h"

#define BLOCK 16	/* rows that a thread takes at once */

struct output {
	const struct phasewrap *wrap;
	const struct fourier_image *image;
	struct frame *frame;
	float *amplitude;	/* of all fringe images the smallest, or NaN */
	uint64_t (*lost)[LOST_KINDS];	/* of each row */
	bool failed;
};

/* What is known of a row so far. */
struct row {
	float *modulation, *texture, *amplitude;
	unsigned char *lost;
};

static unsigned char
judge(const struct phasewrap_limits *limits, bool saturated, float mean, float modulation,
    float amplitude)
{
	if (saturated)
		return LOST_SATURATION;
	if (!(mean >= limits->least_mean))
		return LOST_DARKNESS;
	if (!(modulation >= limits->least_modulation))
		return LOST_MODULATION;
	return amplitude >= limits->least_amplitude && amplitude > 0 ? LOST_NONE : LOST_AMPLITUDE;
}

/* The standard deviation of the phase of an analytic signal. */
static float
sigma_of(float variance, float size)
{
	return variance > 0 ? px_min(px_sqrt(variance) / size, PHASE_NOISE_MOST) : PX_NAN;
}

/* Fringe image k of row y. */
static void
write_image(const struct output *output, size_t k, size_t y, const struct fourier_pixels *pixels,
    const struct row *row)
{
	const struct fourier_image *image = &output->image[k];
	const struct fft_plane *z = &image->result.z;
	size_t w = output->frame->head.w;
	float *first = frame_floats(output->frame, output->wrap->vector ? 2 * k : k, y);
	float *second = output->wrap->vector ? frame_floats(output->frame, 2 * k + 1, y) : NULL;
	float *sigma = image->variance ?
	    frame_floats(output->frame, output->wrap->channels.sigma + k, y) : NULL;
	float sign = image->falling ? -1 : 1;

	for (size_t x = 0; x < w; x++) {
		size_t at = image->transposed ? x * z->w + y : y * z->w + x;
		struct fft_complex v = z->v[at];
		float unit = pixels->unit[x];
		float size = px_sqrt(v.re * v.re + v.im * v.im), amplitude = 2 * size * unit;
		float c = v.re, s = sign * v.im, mean, level, modulation;
		unsigned char lost;

		if (image->source.flats) {
			mean = level = pixels->mean[x];
		} else {
			mean = image->result.mean[at];
			level = pixels->image[x] - 2 * v.re;
		}
		modulation = mean > 0 ? amplitude / mean : 0;
		lost = pixels->missing[x]
		    ? LOST_MISSING
		    : judge(&output->wrap->limits, pixels->saturated[x], mean, modulation,
			  amplitude);
		row->lost[x] = lost < row->lost[x] ? lost : row->lost[x];
		row->amplitude[x] = px_min(row->amplitude[x], amplitude);
		row->modulation[x] = px_min(row->modulation[x], modulation);
		row->texture[x] += level + amplitude;
		if (sigma)
			sigma[x] = sigma_of(image->variance[y * w + x], size);
		if (second) {
			first[x] = (c * image->cosine + s * image->sine) / size;
			second[x] = (s * image->cosine - c * image->sine) / size;
		} else {
			first[x] = px_atan2(s * image->cosine - c * image->sine,
			    c * image->cosine + s * image->sine);
		}
	}
}

static void
write_row(const struct output *output, size_t y, const struct fourier_pixels *pixels,
    unsigned char *lost)
{
	size_t w = output->frame->head.w, fringes = output->wrap->captures.fringes;
	const struct phasewrap_channels *at = &output->wrap->channels;
	struct row row = { frame_floats(output->frame, at->modulation, y),
		frame_floats(output->frame, at->texture, y), output->amplitude + y * w, lost };

	for (size_t x = 0; x < w; x++) {
		row.modulation[x] = row.amplitude[x] = 3e38f;
		row.texture[x] = 0;
		lost[x] = LOST_NONE;
	}
	for (size_t k = 0; k < fringes; k++) {
		fourier_pixels_read(&output->image[k].source, y, pixels);
		write_image(output, k, y, pixels, &row);
	}
	for (size_t x = 0; x < w; x++) {
		output->lost[y][lost[x]]++;
		row.texture[x] = lost[x] == LOST_MISSING ? PX_NAN : row.texture[x] / (float)fringes;
		row.modulation[x] = lost[x] == LOST_MISSING ? PX_NAN : row.modulation[x];
		if (lost[x] != LOST_NONE) {
			row.amplitude[x] = PX_NAN;
			for (size_t c = 0; c < at->marker; c++)
				if (c < at->phases || c >= at->sigma)
					frame_floats(output->frame, c, y)[x] = PX_NAN;
		}
	}
}

static void
write_rows(void *arg, size_t item)
{
	struct output *output = arg;
	size_t w = output->frame->head.w, h = output->frame->head.h;
	unsigned char *lost = malloc(w);
	struct fourier_pixels pixels;

	if (fourier_pixels_new(w, &pixels) < 0 || !lost) {
		fail_memory();
		__atomic_store_n(&output->failed, true, __ATOMIC_RELAXED);
	} else {
		for (size_t y = item * BLOCK; y < h && y < (item + 1) * BLOCK; y++)
			write_row(output, y, &pixels, lost);
	}
	free(lost);
	fourier_pixels_free(&pixels);
}

int
fourier_output_write(struct run *run, const struct phasewrap *wrap,
    const struct fourier_image *image, struct fourier_report *report, struct frame *out)
{
	const struct phasewrap_limits *limits = &wrap->limits;
	size_t w = out->head.w, h = out->head.h;
	struct output output = { wrap, image, out, malloc(w * h * sizeof(float)),
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
		status = fourier_report_pixels(
		    report, lost, output.amplitude, w * h, limited);
	free(output.amplitude);
	free(output.lost);
	return status;
}
