#include "fringe/step_plane.h"

#include <math.h>
#include <string.h>

#define ROUNDS 60	/* of the power iteration */

/* The largest eigenvalue, and its eigenvector v of length 1, orthogonal to `other` (NULL: none). */
static double
largest(const double *gram, size_t n, const double *other, double *v)
{
	double next[STEP_FIT_MOST], value = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = 1.0 + (double)(i * i % 7);
	for (int round = 0; round < ROUNDS; round++) {
		double length, along = other ? step_fit_dot(v, other, n) : 0;

		for (size_t i = 0; i < n && other; i++)
			v[i] -= along * other[i];
		length = sqrt(step_fit_dot(v, v, n));
		for (size_t i = 0; i < n; i++)
			v[i] /= length > 0 ? length : 1;
		for (size_t i = 0; i < n; i++)
			next[i] = step_fit_dot(gram + i * n, v, n);
		value = step_fit_dot(v, next, n);
		if (round + 1 < ROUNDS)
			memcpy(v, next, n * sizeof(*v));
	}
	return value;
}

struct step_plane
step_plane_find(const double *gram, size_t n)
{
	struct step_plane plane = { .n = n };
	double first[STEP_FIT_MOST];

	for (size_t k = 0; k < 2; k++) {
		double value = largest(gram, n, k ? first : NULL, plane.axis[k]);

		memcpy(first, plane.axis[k], n * sizeof(*first));
		for (size_t i = 0; i < n; i++)
			plane.axis[k][i] /= value > 0 ? sqrt(value) : 1;
	}
	return plane;
}

double
step_plane_turns(const struct step_plane *plane, const float *v)
{
	double c = 0, s = 0, turns;

	for (size_t i = 0; i < plane->n; i++) {
		c += plane->axis[0][i] * (double)v[i];
		s += plane->axis[1][i] * (double)v[i];
	}
	turns = atan2(s, c) / (2 * M_PI);
	turns -= floor(turns);
	return turns < 1 ? turns : 0;
}
