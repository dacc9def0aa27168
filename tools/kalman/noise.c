#include "noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"
#include "kalman.px.h"

#define PIXELS 10000		/* looked at, about */
#define LEAST 24		/* pixels of a difference that tell something */
#define MEMORY 32		/* frames over which means go */
#define UNEVEN 0.02		/* by which intervals of a second difference may differ */
#define NORMAL_MEDIAN 0.67448975	/* of |v|, v normal of variance 1 */
/* Two standard errors of motion's mean square over the noise's variance, of one frame and the
 * pixels above: the median of |v| is known within 1.17 / sqrt(2 n). */
#define UNTOLD 0.1
#define DIGITS 2.4e-7		/* two units in the last place */

int
noise_begin(struct noise *noise, const struct frame_head *head)
{
	noise_free(noise);
	noise->grid = coarse_grid(head->w, head->h, PIXELS);
	for (size_t i = 0; i < NOISE_FRAMES; i++) {
		noise->frame[i] = calloc(coarse_grid_pixels(&noise->grid), sizeof(**noise->frame));
		if (!noise->frame[i])
			return fail_memory();
	}
	noise->work = calloc(coarse_grid_pixels(&noise->grid), sizeof(*noise->work));
	return noise->work ? 0 : fail_memory();
}

void
noise_free(struct noise *noise)
{
	for (size_t i = 0; i < NOISE_FRAMES; i++)
		free(noise->frame[i]);
	free(noise->work);
	*noise = (struct noise){ 0 };
}

/* Frames change places, the oldest one's is overwritten. */
static void
take_samples(struct noise *noise, const struct frame *in, const struct channels *channels)
{
	struct noise_sample *to = noise->frame[NOISE_FRAMES - 1];

	memmove(noise->frame + 1, noise->frame, (NOISE_FRAMES - 1) * sizeof(*noise->frame));
	noise->frame[0] = to;
	for (size_t row = 0; row < noise->grid.rows; row++)
		for (size_t column = 0; column < noise->grid.columns; column++, to++) {
			size_t x = column * noise->grid.step, y = row * noise->grid.step;

			*to = (struct noise_sample){ .variance = 1 };
			for (size_t i = 0; i < channels->values; i++)
				to->value[i] = frame_floats(in, channels->value[i], y)[x];
			if (channels->sigma_in != NO_CHANNEL)
				to->variance = kalman_variance(
				    frame_floats(in, channels->sigma_in, y)[x]);
		}
}

/* What rounding to float leaves of the largest value, at least. */
static void
find_rounding(struct noise *noise, const struct channels *channels)
{
	double most = 0;

	for (size_t pixel = 0; pixel < coarse_grid_pixels(&noise->grid); pixel++)
		for (size_t i = 0; i < channels->values; i++) {
			double v = fabs((double)noise->frame[0][pixel].value[i]);

			if (v > most && v <= (double)KALMAN_MOST)
				most = v;
		}
	most = fmax(DIGITS * most, (double)KALMAN_LEAST_SIGMA);
	noise->rounding = most * most;
}

/* Of what is to be 0: sum of factor * value over the frames, its length over what the variances
 * allow; NaN where something is missing. */
static double
deviation(const struct noise *noise, const struct channels *channels, size_t pixel,
    const double *factor, size_t frames)
{
	double square = 0, variance = 0;

	for (size_t i = 0; i < channels->values; i++) {
		double sum = 0;

		for (size_t k = 0; k < frames; k++)
			sum += factor[k] * (double)noise->frame[k][pixel].value[i];
		if (channels->angle)
			sum = remainder(sum, 2 * M_PI);
		square += sum * sum;
	}
	for (size_t k = 0; k < frames; k++)
		variance += factor[k] * factor[k] * (double)noise->frame[k][pixel].variance;
	return sqrt(square / variance);
}

/* The variance of one value that the deviations of all pixels show; NaN: too few. */
static double
variance_of(struct noise *noise, const struct channels *channels, const double *factor,
    size_t frames)
{
	size_t n = 0;
	double median;

	for (size_t pixel = 0; pixel < coarse_grid_pixels(&noise->grid); pixel++) {
		double v = deviation(noise, channels, pixel, factor, frames);

		if (isfinite(v))
			noise->work[n++] = v;
	}
	if (n < LEAST)
		return NAN;
	median = statistics_quantile(noise->work, n, 0.5) / NORMAL_MEDIAN;
	return median * median;
}

/* The median variance of the last frame's values. */
static double
usual_variance(struct noise *noise)
{
	size_t n = 0;

	for (size_t pixel = 0; pixel < coarse_grid_pixels(&noise->grid); pixel++)
		if (isfinite(noise->frame[0][pixel].variance))
			noise->work[n++] = (double)noise->frame[0][pixel].variance;
	return statistics_quantile(noise->work, n, 0.5);
}

/* Are the values of two frames the same, and are there some? */
static bool
are_alike(const struct noise *noise, const struct channels *channels)
{
	size_t valid = 0;

	for (size_t pixel = 0; pixel < coarse_grid_pixels(&noise->grid); pixel++)
		for (size_t i = 0; i < channels->values; i++) {
			float a = noise->frame[0][pixel].value[i];
			float b = noise->frame[1][pixel].value[i];

			if (px_bits(a) != px_bits(b) && !(px_isnan(a) && px_isnan(b)))
				return false;
			valid += !px_isnan(a);
		}
	return valid >= LEAST;
}

/* Second differences of frames that follow each other evenly. */
static void
add_differences(struct noise *noise, const struct channels *channels, double elapsed)
{
	static const double twice[] = { 1, -2, 1 }, apart[] = { 1, 0, -1 };
	double second = variance_of(noise, channels, twice, 3), moved, drift, n;

	if (isnan(second) || isnan(noise->first))
		return;
	drift = (variance_of(noise, channels, apart, 3) - noise->first) * noise->usual /
	    (1.5 * elapsed * elapsed);
	moved = 2 * (noise->first - second) * noise->usual / (elapsed * elapsed);
	noise->means++;
	n = (double)(noise->means < MEMORY ? noise->means : MEMORY);
	noise->variance += (second - noise->variance) / n;
	noise->moved += (moved - noise->moved) / n;
	noise->drift += (drift - noise->drift) / n;
}

void
noise_add(struct noise *noise, const struct frame *in, const struct channels *channels,
    double elapsed, bool *alike)
{
	static const double once[] = { 1, -1 };

	take_samples(noise, in, channels);
	find_rounding(noise, channels);
	noise->usual = channels->sigma_in == NO_CHANNEL ? 1 : usual_variance(noise);
	noise->frames++;
	*alike = noise->frames > 1 && are_alike(noise, channels);
	if (*alike)
		noise->frames = 1;
	if (noise->frames < 2)
		return;
	noise->first = variance_of(noise, channels, once, 2);
	if (noise->frames > 2 && fabs(elapsed - noise->elapsed) <= UNEVEN * elapsed)
		add_differences(noise, channels, elapsed);
	noise->elapsed = elapsed;
}

double
noise_variance(const struct noise *noise)
{
	double variance = noise->means ? noise->variance : noise->first;

	return noise->frames > 1 || noise->means ? variance : NAN;
}

double
noise_motion(const struct noise *noise)
{
	double n = (double)(noise->means < MEMORY ? noise->means : MEMORY), least;

	if (noise->means == 0)
		return 0;
	least = UNTOLD * noise->variance * noise->usual / sqrt(n);
	return noise->moved * noise->elapsed * noise->elapsed > least ? noise->moved : 0;
}

double
noise_drift(const struct noise *noise)
{
	return noise->means ? fmax(noise->drift, 0) : 0;
}
