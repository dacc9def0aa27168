#include "feature/homography.h"

#include <math.h>

#include "feature/linear_solve.h"

void
homography_apply(const double H[9], const double xy[2], double uv[2])
{
	double z = H[6] * xy[0] + H[7] * xy[1] + H[8];

	uv[0] = (H[0] * xy[0] + H[1] * xy[1] + H[2]) / z;
	uv[1] = (H[3] * xy[0] + H[4] * xy[1] + H[5]) / z;
}

/* Middle and 1/size of points, so that sums of powers stay near 1. */
static void
scale_of(const struct homography_pair *pair, size_t n, int side, double mid[2], double *scale)
{
	double size = 0;

	mid[0] = mid[1] = 0;
	for (size_t k = 0; k < n; k++)
		for (int i = 0; i < 2; i++)
			mid[i] += (side ? pair[k].to[i] : pair[k].from[i]) / (double)n;
	for (size_t k = 0; k < n; k++)
		for (int i = 0; i < 2; i++)
			size += fabs((side ? pair[k].to[i] : pair[k].from[i]) - mid[i]) / (double)n;
	*scale = size > 0 ? 1 / size : 1;
}

static void
multiply(const double a[9], const double b[9], double to[9])
{
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			to[3 * i + k] =
			    a[3 * i] * b[k] + a[3 * i + 1] * b[3 + k] + a[3 * i + 2] * b[6 + k];
}

bool
homography_fit(const struct homography_pair *pair, size_t n, double H[9], double *rms)
{
	double a[8 * 9] = { 0 }, mid[2][2], scale[2], inner[9], half[9], sum = 0;

	scale_of(pair, n, 0, mid[0], &scale[0]);
	scale_of(pair, n, 1, mid[1], &scale[1]);
	for (size_t k = 0; k < n; k++) {
		double x = (pair[k].from[0] - mid[0][0]) * scale[0];
		double y = (pair[k].from[1] - mid[0][1]) * scale[0];

		for (int i = 0; i < 2; i++) {
			double u = (pair[k].to[i] - mid[1][i]) * scale[1];
			double row[9] = { i ? 0 : x, i ? 0 : y, i ? 0 : 1, i ? x : 0, i ? y : 0,
				i ? 1 : 0, -u * x, -u * y, u };

			for (int p = 0; p < 8; p++)
				for (int q = 0; q < 9; q++)
					a[9 * p + q] += row[p] * row[q];
		}
	}
	if (!linear_solve(a, 8))
		return false;
	for (int k = 0; k < 8; k++)
		inner[k] = a[9 * k + 8];
	inner[8] = 1;
	multiply(inner,
	    (double[9]){
		scale[0], 0, -scale[0] * mid[0][0], 0, scale[0], -scale[0] * mid[0][1], 0, 0, 1 },
	    half);
	multiply((double[9]){ 1 / scale[1], 0, mid[1][0], 0, 1 / scale[1], mid[1][1], 0, 0, 1 },
	    half, H);
	for (size_t k = 0; k < n; k++) {
		double uv[2];

		homography_apply(H, pair[k].from, uv);
		sum += (uv[0] - pair[k].to[0]) * (uv[0] - pair[k].to[0]) +
		    (uv[1] - pair[k].to[1]) * (uv[1] - pair[k].to[1]);
	}
	*rms = sqrt(sum / (2 * (double)n));
	return isfinite(*rms);
}
