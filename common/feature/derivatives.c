#include "feature/derivatives.h"

#include <math.h>

#include "base/fail.h"
#include "feature/derivative_rows.h"

#define PAD 16	/* work rows have the radius, rounded up to this, on both sides */

size_t
derivatives_radius(double sigma)
{
	return (size_t)ceil(4 * sigma);
}

/* Solves the 3 x 3 system m a = b; m is overwritten. It is well conditioned here. */
static void
solve(double m[3][3], double b[3], double a[3])
{
	for (int i = 0; i < 3; i++) {
		for (int j = i + 1; j < 3; j++) {
			double f = m[j][i] / m[i][i];

			for (int k = i; k < 3; k++)
				m[j][k] -= f * m[i][k];
			b[j] -= f * b[i];
		}
	}
	for (int i = 2; i >= 0; i--) {
		double sum = b[i];

		for (int k = i + 1; k < 3; k++)
			sum -= m[i][k] * a[k];
		a[i] = sum / m[i][i];
	}
}

/* The first `conditions` moments of the weights about the offset become wanted[]: adds the Gaussian
 * times a polynomial, of which a kernel that is nearly right needs little. */
static void
set_moments(double *weight, const double *gaussian, size_t radius, double offset, double sigma,
    const double wanted[3], int conditions)
{
	double matrix[3][3] = { { 0 } }, missing[3] = { 0 }, a[3];

	for (int i = 0; i < conditions; i++)
		missing[i] = wanted[i];
	for (size_t j = 0; j <= 2 * radius; j++) {
		double u = ((double)j - (double)radius - offset) / sigma, power = 1;

		for (int i = 0; i < conditions; i++, power *= u) {
			double column = gaussian[j] * power;

			missing[i] -= weight[j] * power;
			for (int k = 0; k < conditions; k++, column *= u)
				matrix[i][k] += column;
		}
	}
	for (int i = conditions; i < 3; i++)
		matrix[i][i] = 1;
	solve(matrix, missing, a);
	for (size_t j = 0; j <= 2 * radius; j++) {
		double u = ((double)j - (double)radius - offset) / sigma;

		weight[j] += gaussian[j] * (a[0] + u * (a[1] + u * a[2]));
	}
}

void
derivative_weights(double sigma, size_t radius, double offset, double *const weight[3])
{
	const double wanted[3][3] =
	    { { 1, 0, 0 }, { 0, 1 / sigma, 0 }, { 0, 0, 2 / (sigma * sigma) } };
	double scale = 1 / (sigma * sqrt(2 * M_PI));

	for (size_t j = 0; j <= 2 * radius; j++) {
		double from = ((double)j - (double)radius - offset - 0.5) / sigma;
		double to = from + 1 / sigma;
		double g_from = scale * exp(-from * from / 2), g_to = scale * exp(-to * to / 2);

		/* of the same sign both, so that little is lost in the difference */
		weight[0][j] = from > 0 ?
		    (erfc(from * M_SQRT1_2) - erfc(to * M_SQRT1_2)) / 2 :
		    (erfc(-to * M_SQRT1_2) - erfc(-from * M_SQRT1_2)) / 2;
		weight[1][j] = g_from - g_to;
		weight[2][j] = (g_from * from - g_to * to) / sigma;
	}
	set_moments(weight[1], weight[0], radius, offset, sigma, wanted[1], 3);
	set_moments(weight[2], weight[0], radius, offset, sigma, wanted[2], 3);
	set_moments(weight[0], weight[0], radius, offset, sigma, wanted[0], 2);
}

int
derivative_kernels_init(struct derivative_kernels *k, double sigma, size_t radius)
{
	double full[3][2 * DERIVATIVES_RADIUS_MOST + 1];

	if (!(sigma >= DERIVATIVES_SIGMA_LEAST))
		return fail("sigma", "%g px is below %g px, too narrow for derivatives of pixels",
		    sigma, DERIVATIVES_SIGMA_LEAST);
	if (!radius)
		radius = sigma < DERIVATIVES_RADIUS_MOST ? derivatives_radius(sigma) :
		    DERIVATIVES_RADIUS_MOST + 1;
	if (radius > DERIVATIVES_RADIUS_MOST)
		return fail("sigma", "%g px needs a kernel of more than %d px on each side", sigma,
		    DERIVATIVES_RADIUS_MOST);
	if ((double)radius < 2 * sigma)
		return fail("sigma", "a kernel of %zu px on each side is too small for %g px",
		    radius, sigma);
	k->sigma = sigma;
	k->radius = radius;
	derivative_weights(sigma, radius, 0, (double *const[3]){ full[0], full[1], full[2] });
	for (int order = 0; order < 3; order++) {
		for (size_t j = 0; j <= radius; j++)
			k->weight[order][j] = (float)full[order][radius + j];
	}
	return 0;
}

/* Floats of one work row for images of width w. */
static size_t
work_row(const struct derivative_kernels *k, size_t w)
{
	size_t pad = (k->radius + PAD - 1) / PAD * PAD;

	return (w + DERIVATIVE_BLOCK - 1) / DERIVATIVE_BLOCK * DERIVATIVE_BLOCK + 2 * pad;
}

size_t
derivatives_work(const struct derivative_kernels *k, size_t w)
{
	return 3 * work_row(k, w);
}

static size_t
clamped(size_t y, size_t offset, size_t radius, size_t h)
{
	size_t at = y + offset;

	return at < radius ? 0 : at - radius < h ? at - radius : h - 1;
}

void
derivatives_row(const struct derivative_kernels *k, const struct derivative_plane *in, size_t y,
    float *work, float *const out[DERIVATIVES])
{
	const float *row[2 * DERIVATIVES_RADIUS_MOST + 1];
	size_t pad = (k->radius + PAD - 1) / PAD * PAD, length = work_row(k, in->w);
	float *column[3];

	for (size_t i = 0; i <= 2 * k->radius; i++)
		row[i] = in->v + clamped(y, i, k->radius, in->h) * in->stride;
	for (size_t i = 0; i < 3; i++)
		column[i] = work + i * length + pad;
	for (size_t x = 0; x < in->w; x += DERIVATIVE_LANES)
		derivative_columns(k, row, x, column, x);
	for (size_t i = 0; i < 3; i++) {
		for (size_t x = 0; x < k->radius; x++) {
			column[i][-(ptrdiff_t)x - 1] = column[i][0];
			column[i][in->w + x] = column[i][in->w - 1];
		}
	}
	for (size_t x = 0; x < in->w; x += DERIVATIVE_LANES) {
		derivative_lanes five[DERIVATIVES];

		derivative_along(k, (const float *const[3]){ column[0] + x, column[1] + x,
		    column[2] + x }, five);
		for (size_t i = 0; i < DERIVATIVES; i++) {
			if (out[i])
				derivative_store(out[i] + x, five[i]);
		}
	}
}

void
derivatives_at(const struct derivative_kernels *k, const struct derivative_plane *in, double x,
    double y, struct derivatives *to)
{
	double weight[2][3][2 * DERIVATIVES_RADIUS_MOST + 3];
	double nearest[2] = { floor(x + 0.5), floor(y + 0.5) };
	/* one pixel more, so that neither side is cut shorter than in the middle of a pixel */
	size_t radius = k->radius + 1;

	for (int i = 0; i < 2; i++) {
		derivative_weights(k->sigma, radius, (i ? y : x) - nearest[i],
		    (double *const[3]){ weight[i][0], weight[i][1], weight[i][2] });
	}
	*to = (struct derivatives){ 0 };
	for (size_t j = 0; j <= 2 * radius; j++) {
		double at = nearest[1] + (double)j - (double)radius, sum[3] = { 0 };
		const float *row = in->v + in->stride *
		    (size_t)fmin(fmax(at, 0), (double)(in->h - 1));

		for (size_t i = 0; i <= 2 * radius; i++) {
			double column = nearest[0] + (double)i - (double)radius;
			double v = row[(size_t)fmin(fmax(column, 0), (double)(in->w - 1))];

			for (int order = 0; order < 3; order++)
				sum[order] += v * weight[0][order][i];
		}
		to->x += sum[1] * weight[1][0][j];
		to->y += sum[0] * weight[1][1][j];
		to->xx += sum[2] * weight[1][0][j];
		to->xy += sum[1] * weight[1][1][j];
		to->yy += sum[0] * weight[1][2][j];
	}
}
