#include "distance.h"

#include <math.h>
#include <stdbool.h>

#include "base/fail.h"

static bool
known(const double point[2])
{
	return isfinite(point[0]) && isfinite(point[1]);
}

/* The direction of largest variance, a unit vector; false where there is no variance at all. */
static bool
find_direction(const double (*point)[2], size_t n, double direction[2])
{
	double mean[2] = { 0, 0 }, xx = 0, xy = 0, yy = 0, angle;
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (known(point[i])) {
			count++;
			for (int k = 0; k < 2; k++)
				mean[k] += (point[i][k] - mean[k]) / (double)count;
		}
	for (size_t i = 0; i < n; i++)
		if (known(point[i])) {
			double x = point[i][0] - mean[0], y = point[i][1] - mean[1];

			xx += x * x;
			xy += x * y;
			yy += y * y;
		}
	angle = atan2(2 * xy, xx - yy) / 2;
	direction[0] = cos(angle);
	direction[1] = sin(angle);
	return count < 2 || xx + yy > 0;
}

int
distance_along(const double (*point)[2], size_t n, double *distance)
{
	size_t first = 0, last = n;
	double direction[2], sign;

	if (!find_direction(point, n, direction))
		return fail("--abscissa", "all points of the section are at one place");
	while (first < n && !known(point[first]))
		first++;
	while (last > first && !known(point[last - 1]))
		last--;
	for (size_t i = 0; i < n; i++)
		distance[i] = NAN;
	if (first == last)
		return 0;
	sign = direction[0] * (point[last - 1][0] - point[first][0]) +
	    direction[1] * (point[last - 1][1] - point[first][1]) < 0 ? -1 : 1;
	for (size_t i = first; i < last; i++)
		if (known(point[i]))
			distance[i] = sign * (direction[0] * (point[i][0] - point[first][0]) +
			    direction[1] * (point[i][1] - point[first][1]));
	return 0;
}
