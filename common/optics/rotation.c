#include "optics/rotation.h"

#include <math.h>
#include <stddef.h>

/* -R [X]x Jr(r), Jr = I - a [r]x + b [r]x^2. */
void
rotation_derivative(const double R[9], const double X[3], double D[9])
{
	double r[3] = { R[7] - R[5], R[2] - R[6], R[3] - R[1] };
	double sine = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) / 2;
	double angle = atan2(sine, (R[0] + R[4] + R[8] - 1) / 2);
	double factor = sine > 1e-9 ? angle / (2 * sine) : 0.5;
	double a = angle > 1e-4 ? (1 - cos(angle)) / (angle * angle) : 0.5;
	double b = angle > 1e-3 ? (angle - sin(angle)) / (angle * angle * angle) : 1.0 / 6;
	double Jr[9], RX[9];

	for (size_t i = 0; i < 3; i++)
		r[i] *= factor;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			double square = r[i] * r[j] - (i == j ? angle * angle : 0);
			size_t k = 3 - i - j;	/* the third one, where i and j differ */
			double cross = i == j ? 0 : (j == (i + 1) % 3 ? -1 : 1) * r[k];

			Jr[3 * i + j] = (i == j) - a * cross + b * square;
		}
	for (size_t i = 0; i < 3; i++)		/* -R [X]x: rows of R times X */
		for (size_t j = 0; j < 3; j++) {
			size_t k = (j + 1) % 3, l = (j + 2) % 3;

			RX[3 * i + j] = -(R[3 * i + k] * X[l] - R[3 * i + l] * X[k]);
		}
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 3; j++) {
			D[3 * i + j] = 0;
			for (size_t k = 0; k < 3; k++)
				D[3 * i + j] += RX[3 * i + k] * Jr[3 * k + j];
		}
}

void
rotation_motions(const double X[3], const double middle[3], double M[3][6])
{
	for (size_t i = 0; i < 3; i++) {
		size_t j = (i + 1) % 3, k = (i + 2) % 3;

		for (size_t m = 0; m < 3; m++)
			M[m][i] = m == i;
		M[i][3 + i] = 0;
		M[j][3 + i] = -(X[k] - middle[k]);
		M[k][3 + i] = X[j] - middle[j];
	}
}
