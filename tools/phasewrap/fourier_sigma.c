#include "fourier_sigma.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "run/run.h"

#define STEPS 1000	/* of integrals over the window */
#define ROWS 16		/* that a thread takes at once */
#define REACHES 3	/* standard deviations that count */

struct job {
	const struct fourier_source *source;
	struct phase_noise_model noise;
	size_t w, h, radius;
	float *kernel;			/* radius + 1, from the middle outwards */
	float *v, *n, *to_v, *to_n;	/* variances and how many pixels count; what they become */
	bool down, failed;
};

double
fourier_sigma_reach(const struct fourier_filter *how)
{
	bool plane = how->transform == TRANSFORM_2D;
	double power = 0, slopes = 0;

	for (int i = 0; i + 1 < STEPS; i++) {
		double u = (i + 0.5) / STEPS, around = plane ? u : 1;
		double here = (double)fourier_window(how->shape, (double)i / STEPS);
		double next = (double)fourier_window(how->shape, (i + 1.0) / STEPS);
		double mean = (here + next) / 2, slope = (next - here) * STEPS;

		power += around * mean * mean;
		slopes += around * slope * slope;
	}
	return sqrt(slopes / power / (plane ? 2 : 1)) / (2 * M_PI * how->half_width);
}

/* Of a sample of the camera. */
static float
of_level(struct phase_noise_model noise, float level)
{
	return px_max(noise.variance + noise.gain * level, noise.least);
}

/* (1 + s)^2, but half of s^2: of noise in proportion to the fringes themselves a half goes into
 * their amplitude alone, as it is largest at their crests, where the phase does not feel it. */
static float
across_phase(float s)
{
	return 1 + 2 * s + s * s / 2;
}

/* Of one of the signal: (I - mean) / unit, where the flat images have noise as well. */
static float
of_signal(const struct job *job, const struct fourier_pixels *pixels, size_t x)
{
	const struct fourier_source *source = job->source;
	float unit = pixels->unit[x], mean, half, share;
	float sum = of_level(job->noise, pixels->image[x]);

	if (source->flats == 0)
		return sum;
	mean = pixels->mean[x];
	half = source->flats == 2 ? unit : mean;
	/* how much the signal says of its own divisor's noise */
	share = source->removal == REMOVAL_QUOTIENT && unit > source->least_unit ?
	    (pixels->image[x] - mean) / half : 0;
	if (source->flats == 1) {
		sum += across_phase(share) * of_level(job->noise, mean);
	} else {
		float rise = source->removal == REMOVAL_QUOTIENT ? unit : 0;

		sum += 0.25f * across_phase(share) * of_level(job->noise, mean + rise);
		sum += 0.25f * across_phase(-share) * of_level(job->noise, mean - rise);
	}
	return sum / (unit * unit);
}

static void
read_rows(void *arg, size_t item)
{
	struct job *job = arg;
	struct fourier_pixels pixels;

	if (fourier_pixels_new(job->w, &pixels) < 0)
		__atomic_store_n(&job->failed, true, __ATOMIC_RELAXED);
	else
		for (size_t y = item * ROWS; y < job->h && y < (item + 1) * ROWS; y++) {
			fourier_pixels_read(job->source, y, &pixels);
			for (size_t x = 0; x < job->w; x++) {
				bool good = !pixels.missing[x] && !pixels.saturated[x];

				job->v[y * job->w + x] = good ? of_signal(job, &pixels, x) : 0;
				job->n[y * job->w + x] = good;
			}
		}
	fourier_pixels_free(&pixels);
}

static void
add_line(const float *restrict from, float weight, float *restrict to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += weight * from[i];
}

/* Rows of a plane, each the weighted sum of those about it. */
static void
smooth_down(const struct job *job, const float *from, float *to, size_t y)
{
	for (size_t x = 0; x < job->w; x++)
		to[y * job->w + x] = 0;
	for (size_t k = 0; k <= job->radius; k++) {
		if (y >= k)
			add_line(from + (y - k) * job->w, job->kernel[k], to + y * job->w, job->w);
		if (k > 0 && y + k < job->h)
			add_line(from + (y + k) * job->w, job->kernel[k], to + y * job->w, job->w);
	}
}

/* A row, likewise. */
static void
smooth_across(const struct job *job, const float *from, float *to, size_t y)
{
	from += y * job->w;
	to += y * job->w;
	for (size_t x = 0; x < job->w; x++)
		to[x] = 0;
	for (size_t k = 0; k <= job->radius && k < job->w; k++) {
		add_line(from, job->kernel[k], to + k, job->w - k);
		if (k > 0)
			add_line(from + k, job->kernel[k], to, job->w - k);
	}
}

static void
smooth_rows(void *arg, size_t item)
{
	const struct job *job = arg;

	for (size_t y = item * ROWS; y < job->h && y < (item + 1) * ROWS; y++) {
		(job->down ? smooth_down : smooth_across)(job, job->v, job->to_v, y);
		(job->down ? smooth_down : smooth_across)(job, job->n, job->to_n, y);
	}
}

static void
smooth(struct run *run, struct job *job, bool down)
{
	float *v = job->v, *n = job->n;

	job->down = down;
	run_for(run, (job->h + ROWS - 1) / ROWS, smooth_rows, job);
	job->v = job->to_v;
	job->n = job->to_n;
	job->to_v = v;
	job->to_n = n;
}

int
fourier_sigma_make(struct run *run, const struct fourier_source *source,
    struct phase_noise_model noise, const struct fourier_filter *how, double noise_bandwidth,
    bool down, float **variance)
{
	double reach = fourier_sigma_reach(how);
	size_t w = source->in->head.w, h = source->in->head.h, longest = w > h ? w : h;
	struct job job = { .source = source, .noise = noise, .w = w, .h = h };
	float *planes = reallocarray(NULL, w * h, 4 * sizeof(*planes));
	float scale = (float)(noise_bandwidth / 2);

	job.radius = (size_t)fmin(ceil(REACHES * reach), (double)longest);
	job.kernel = calloc(job.radius + 1, sizeof(*job.kernel));
	*variance = malloc(w * h * sizeof(**variance));
	job.failed = !planes || !job.kernel || !*variance;
	if (job.failed)
		fail_memory();
	for (size_t k = 0; k <= job.radius && !job.failed; k++)
		job.kernel[k] = (float)exp(-0.5 * (double)(k * k) / (reach * reach));
	job.v = planes;
	job.n = planes + w * h;
	job.to_v = planes + 2 * w * h;
	job.to_n = planes + 3 * w * h;
	if (!job.failed)
		run_for(run, (h + ROWS - 1) / ROWS, read_rows, &job);
	if (!job.failed && (how->transform == TRANSFORM_2D || !down))
		smooth(run, &job, false);
	if (!job.failed && (how->transform == TRANSFORM_2D || down))
		smooth(run, &job, true);
	for (size_t i = 0; i < w * h && !job.failed; i++)
		(*variance)[i] = job.n[i] > 0 ? job.v[i] / job.n[i] * scale : PX_NAN;
	free(planes);
	free(job.kernel);
	return job.failed ? -1 : 0;
}
