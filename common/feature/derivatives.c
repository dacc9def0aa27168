#include "feature/derivatives.h"

#include <math.h>

#include "base/fail.h"
#include "feature/derivative_rows.h"

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
 * times a polynomial, of which a kernel that is nearly right needs little. moment[]: the
 * Gaussian's. */
static void
set_moments(double *weight, const double *gaussian, const double moment[5], size_t radius,
    double offset, double sigma, const double wanted[3], int conditions)
{
	double matrix[3][3] = { { 0 } }, missing[3] = { 0 }, a[3];

	for (int i = 0; i < conditions; i++) {
		missing[i] = wanted[i];
		for (int k = 0; k < conditions; k++)
			matrix[i][k] = moment[i + k];
	}
	for (int i = conditions; i < 3; i++)
		matrix[i][i] = 1;
	for (size_t j = 0; j <= 2 * radius; j++) {
		double u = ((double)j - (double)radius - offset) / sigma;

		missing[0] -= weight[j];
		missing[1] -= weight[j] * u;
		missing[2] -= weight[j] * u * u;
	}
	for (int i = conditions; i < 3; i++)
		missing[i] = 0;
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
	double scale = 1 / (sigma * sqrt(2 * M_PI)), moment[5] = { 0 };
	double from = (-(double)radius - offset - 0.5) / sigma;
	double g_from = scale * exp(-from * from / 2), beyond_from = erfc(fabs(from) * M_SQRT1_2);

	for (size_t j = 0; j <= 2 * radius; j++) {
		double to = ((double)j - (double)radius - offset + 0.5) / sigma;
		double g_to = scale * exp(-to * to / 2), beyond_to = erfc(fabs(to) * M_SQRT1_2);
		double u = ((double)j - (double)radius - offset) / sigma, power;

		/* of the same sign both, so that little is lost in the difference */
		weight[0][j] = (from > 0 ? beyond_from - beyond_to :
		    to < 0 ? beyond_to - beyond_from : 2 - beyond_from - beyond_to) / 2;
		weight[1][j] = g_from - g_to;
		weight[2][j] = (g_from * from - g_to * to) / sigma;
		power = weight[0][j];
		for (int i = 0; i < 5; i++, power *= u)
			moment[i] += power;
		from = to;
		g_from = g_to;
		beyond_from = beyond_to;
	}
	set_moments(weight[1], weight[0], moment, radius, offset, sigma, wanted[1], 3);
	set_moments(weight[2], weight[0], moment, radius, offset, sigma, wanted[2], 3);
	set_moments(weight[0], weight[0], moment, radius, offset, sigma, wanted[0], 2);
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
	k->row = derivatives_row;
	derivative_weights(sigma, radius, 0, (double *const[3]){ full[0], full[1], full[2] });
	for (int order = 0; order < 3; order++) {
		for (size_t j = 0; j <= radius; j++)
			k->weight[order][j] = (float)full[order][radius + j];
	}
	return 0;
}

size_t
derivatives_work(const struct derivative_kernels *k, size_t w)
{
	return 3 * derivative_work_row(k, w);
}

void
derivatives_row(const struct derivative_kernels *k, const struct derivative_plane *in, size_t y,
    float *work, float *const out[DERIVATIVES])
{
	derivative_row(k, in, y, work, out);
}

const float *
derivative_window(const struct derivative_plane *in, double x, double y, size_t n, float *room)
{
	const float *row = in->v + in->stride * (size_t)fmin(fmax(y, 0), (double)(in->h - 1));

	if (x >= 0 && x + (double)n <= (double)in->w)
		return row + (size_t)x;
	for (size_t i = 0; i < n; i++)
		room[i] = row[(size_t)fmin(fmax(x + (double)i, 0), (double)(in->w - 1))];
	return room;
}

/* Sums of n samples by the three weights. */
static void
sum_row(const float *v, double *const weight[3], size_t n, double sum[3])
{
	const double *smooth = weight[0], *first = weight[1], *second = weight[2];
	double a = 0, b = 0, c = 0;

#pragma omp simd reduction(+ : a, b, c)
	for (size_t i = 0; i < n; i++) {
		a += (double)v[i] * smooth[i];
		b += (double)v[i] * first[i];
		c += (double)v[i] * second[i];
	}
	sum[0] = a;
	sum[1] = b;
	sum[2] = c;
}

void
derivatives_at(const struct derivative_kernels *k, const struct derivative_plane *in, double x,
    double y, struct derivatives *to)
{
	double weight[2][3][2 * DERIVATIVES_RADIUS_MOST + 3];
	float room[2 * DERIVATIVES_RADIUS_MOST + 3];
	double nearest[2] = { floor(x + 0.5), floor(y + 0.5) };
	/* one pixel more, so that neither side is cut shorter than in the middle of a pixel */
	size_t radius = k->radius + 1, n = 2 * radius + 1;

	for (int i = 0; i < 2; i++) {
		derivative_weights(k->sigma, radius, (i ? y : x) - nearest[i],
		    (double *const[3]){ weight[i][0], weight[i][1], weight[i][2] });
	}
	*to = (struct derivatives){ 0 };
	for (size_t j = 0; j < n; j++) {
		double sum[3];

		sum_row(derivative_window(in, nearest[0] - (double)radius,
			nearest[1] + (double)j - (double)radius, n, room),
		    (double *const[3]){ weight[0][0], weight[0][1], weight[0][2] }, n, sum);
		to->x += sum[1] * weight[1][0][j];
		to->y += sum[0] * weight[1][1][j];
		to->xx += sum[2] * weight[1][0][j];
		to->xy += sum[1] * weight[1][1][j];
		to->yy += sum[0] * weight[1][2][j];
	}
}
