/* How noisy an image is, and what that means for thresholds. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "feature/line.h"

#define PAIRS_MOST 1000000
#define NEGATIVE_PART 0.484	/* of a Gaussian's second derivative, times sigma^2 */

static double
sample_of(const struct line_plane *plane, size_t y, size_t x)
{
	const unsigned char *row = (const unsigned char *)plane->v + y * plane->stride;

	return (double)frame_sample_in(plane->type, row, x);
}

static double
value_at(const struct line_image *image, size_t y, size_t x)
{
	double v = sample_of(&image->image, y, x);

	return image->background.v ? v - sample_of(&image->background, y, x) : v;
}

/* The median of absolute differences; whole numbers stand for an interval of 1. */
static double
median_of(const float *v, size_t n, bool whole)
{
	size_t middle = n / 2, below = 0, equal = 0;
	double from, width;
	float median;

	numbers_ranks(v, n, &middle, 1, &median);
	if (!whole)
		return (double)median;
	for (size_t i = 0; i < n; i++) {
		below += v[i] < median;
		equal += v[i] == median;
	}
	from = median > 0 ? (double)median - 0.5 : 0;
	width = median > 0 ? 1 : 0.5;
	return from + width * ((double)n / 2 - (double)below) / (double)equal;
}

/* Is a sample at an end of its type's range, where noise is cut off? */
static bool
clipped(const struct line_plane *plane, size_t y, size_t x)
{
	double v = sample_of(plane, y, x);

	return v <= 0 || v >= (plane->type == SAMPLE_UCHAR ? 255 : 65535);
}

/* Magnitudes of neighbours' differences in every step-th row; unclipped: but for pairs of which
 * both are clipped. */
static size_t
differences(const struct line_image *image, size_t step, bool unclipped, float *v)
{
	size_t n = 0;

	for (size_t y = 0; y < image->h; y += step) {
		for (size_t x = 0; x + 1 < image->w; x++) {
			double d = fabs(value_at(image, y, x + 1) - value_at(image, y, x));

			if (isfinite(d) && !(unclipped && clipped(&image->image, y, x) &&
			    clipped(&image->image, y, x + 1)))
				v[n++] = (float)d;
		}
	}
	return n;
}

int
line_noise(const struct line_image *image, double *sigma)
{
	bool whole = image->image.type != SAMPLE_FLOAT &&
	    (!image->background.v || image->background.type != SAMPLE_FLOAT);
	size_t columns = image->w - 1, n, step;
	float *v;

	*sigma = 0;
	if (!columns)
		return 0;
	step = image->h / (PAIRS_MOST / columns + 1) + 1;
	v = malloc((image->h / step + 1) * columns * sizeof(*v));
	if (!v)
		return fail_memory();
	n = differences(image, step, whole, v);
	/* a line on black leaves few pairs but its own slopes */
	if (n < columns * ((image->h - 1) / step + 1) / 2)
		n = differences(image, step, false, v);
	if (n)
		*sigma = 1.482602218505602 * M_SQRT1_2 * median_of(v, n, whole);
	free(v);
	return 0;
}

double
line_threshold(double sigma_noise, double sigma)
{
	return 9 * NEGATIVE_PART * sigma_noise / (sigma * sigma);
}

/* Half the sum of magnitudes of the kernel across a line of that direction: grey levels within a
 * range of 1 give no more, since its weights sum to 0. */
static double
bound_of(const struct derivative_kernels *k, double angle)
{
	double c = cos(angle), s = sin(angle), sum = 0;
	ptrdiff_t r = (ptrdiff_t)k->radius;

	for (ptrdiff_t j = -r; j <= r; j++) {
		size_t aj = (size_t)labs(j);
		double g = (double)k->weight[0][aj], g2 = (double)k->weight[2][aj];
		double g1 = j < 0 ? -(double)k->weight[1][aj] : (double)k->weight[1][aj];

		for (ptrdiff_t i = -r; i <= r; i++) {
			size_t ai = (size_t)labs(i);
			double h1 = i < 0 ? -(double)k->weight[1][ai] : (double)k->weight[1][ai];

			sum += fabs(c * c * (double)k->weight[2][ai] * g + 2 * c * s * h1 * g1 +
			    s * s * (double)k->weight[0][ai] * g2);
		}
	}
	return sum / 2;
}

double
line_response_bound(const struct derivative_kernels *k)
{
	double most = 0;

	/* a wide kernel is as good as the integral, in all directions */
	if (k->radius > 40)
		return 0.4865 / (k->sigma * k->sigma);
	for (int i = 0; i <= 32; i++)
		most = fmax(most, bound_of(k, M_PI / 64 * i));
	return most;
}
