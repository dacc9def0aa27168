#include "length.h"

#include <math.h>
#include <string.h>

#include "base/symmetric.h"
#include "base/vector3.h"

/* Middle of the weighted points, and their scatter about it added to a. */
static void
add_scatter(const struct length_points *points, bool equal, double middle[3], double a[9])
{
	const struct cloud *cloud = points->cloud;
	double sum = 0;

	memset(middle, 0, 3 * sizeof(*middle));
	for (size_t i = 0; i < cloud->n; i++) {
		double w = equal ? points->weight[i] > 0 : points->weight[i];

		sum += w;
		for (int k = 0; k < 3; k++)
			middle[k] += w * cloud->x[i][k];
	}
	for (int k = 0; k < 3; k++)
		middle[k] /= sum;
	for (size_t i = 0; i < cloud->n; i++) {
		double w = equal ? points->weight[i] > 0 : points->weight[i], q[3];

		for (int k = 0; k < 3; k++)
			q[k] = cloud->x[i][k] - middle[k];
		for (int k = 0; k < 9; k++)
			a[k] += w * q[k / 3] * q[k % 3];
	}
}

/* From the middle of a to that of b. */
static void
between(const struct length_points *a, const struct length_points *b, bool equal, double step[3],
    double scatter[9])
{
	double m[2][3];

	memset(scatter, 0, 9 * sizeof(*scatter));
	add_scatter(a, equal, m[0], scatter);
	add_scatter(b, equal, m[1], scatter);
	for (int k = 0; k < 3; k++)
		step[k] = m[1][k] - m[0][k] + b->cloud->about[k] - a->cloud->about[k];
}

double
length_between(const struct length_points *a, const struct length_points *b, double normal[3])
{
	double scatter[9], step[3], value[3], vector[9], distance;

	between(a, b, false, step, scatter);
	symmetric_eigen(3, scatter, value, vector);
	distance = vector3_dot(vector + 6, step);
	for (int k = 0; k < 3; k++)
		normal[k] = copysign(1, distance) * vector[6 + k];
	return fabs(distance);
}

void
length_find(struct measurement *found)
{
	const struct fit *fit[2] = { &found->part[0].fit, &found->part[1].fit };
	struct length_points a = { &found->part[0].cloud, fit[0]->weight };
	struct length_points b = { &found->part[1].cloud, fit[1]->weight };
	double scatter[9], step[3], value[3], vector[9], variance = 0, n = 0, lever;

	found->distance = length_between(&a, &b, found->normal);
	found->angle_deg = 57.29577951308232 *
	    acos(fmin(fabs(vector3_dot(fit[0]->shape.axis, fit[1]->shape.axis)), 1));
	found->distance_sd = 0;
	for (int k = 0; k < 2; k++) {
		double used = (double)fit[k]->used, offset = fit[k]->cov[8];

		found->distance_sd += offset;
		variance += offset * used * used;
		n += used;
	}
	/* the common tilt acts by the sideways distance of the faces' middles */
	between(&a, &b, true, step, scatter);
	symmetric_eigen(3, scatter, value, vector);
	for (int k = 0; k < 2; k++) {
		lever = vector3_dot(vector + 3 * k, step);
		found->distance_sd += variance / n * lever * lever / value[k];
	}
	found->distance_sd = sqrt(found->distance_sd);
}
