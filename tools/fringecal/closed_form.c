/* Homographies of a board's views, and Zhang's closed form for the device's matrix. */
#include "closed_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/symmetric.h"

#define ROUNDS 6	/* of weighing wrong points down */

struct normalised {		/* (v - mean) times scale has mean 0, size 1 */
	double mean[2], scale;
};

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
normalise(const double (*v)[2], size_t n, struct normalised *out)
{
	double sum = 0;

	*out = (struct normalised){ 0 };
	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < 2; c++)
			out->mean[c] += v[i][c] / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += hypot(v[i][0] - out->mean[0], v[i][1] - out->mean[1]) / (double)n;
	out->scale = sum > 0 ? 1 / sum : 1;
}

/* Least squares of h0 .. h7 (h8 = 1) between normalised points. */
static bool
fit(const double (*board)[2], const double (*pixel)[2], const double *weight, size_t n,
    double h[9])
{
	double A[64] = { 0 }, b[8] = { 0 }, most = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < 2; c++) {
			double x = board[i][0], y = board[i][1], u = pixel[i][c];
			double row[8] = { c ? 0 : x, c ? 0 : y, !c, c ? x : 0, c ? y : 0, c,
				-u * x, -u * y };

			for (size_t k = 0; k < 8; k++) {
				b[k] += weight[i] * row[k] * u;
				for (size_t l = 0; l < 8; l++)
					A[8 * k + l] += weight[i] * row[k] * row[l];
			}
		}
	for (size_t k = 0; k < 8; k++)
		most = fmax(most, A[9 * k]);
	if (!symmetric_factor(8, A, 0))
		return false;
	for (size_t k = 0; k < 8; k++)
		if (A[9 * k] * A[9 * k] < 1e-12 * most)
			return false;
	symmetric_solve(8, A, b, 1);
	memcpy(h, b, sizeof(b));
	h[8] = 1;
	return true;
}

/* Cauchy's weights by the distances, in units of their median. error: room for n. */
static void
weigh(const double h[9], const double (*board)[2], const double (*pixel)[2], size_t n,
    double *weight, double *error)
{
	double scale;

	for (size_t i = 0; i < n; i++) {
		double x = board[i][0], y = board[i][1], z = h[6] * x + h[7] * y + h[8];

		weight[i] = error[i] = hypot((h[0] * x + h[1] * y + h[2]) / z - pixel[i][0],
		    (h[3] * x + h[4] * y + h[5]) / z - pixel[i][1]);
	}
	qsort(error, n, sizeof(*error), compare);
	scale = 2 * error[n / 2] + 1e-9;
	for (size_t i = 0; i < n; i++)
		weight[i] = 1 / (1 + weight[i] * weight[i] / (scale * scale));
}

/* T_pixel^-1 h T_board */
static void
denormalise(const double h[9], const struct normalised *board, const struct normalised *pixel,
    double H[9])
{
	double half[9];

	for (size_t r = 0; r < 3; r++) {
		half[3 * r] = h[3 * r] * board->scale;
		half[3 * r + 1] = h[3 * r + 1] * board->scale;
		half[3 * r + 2] = h[3 * r + 2] - half[3 * r] * board->mean[0] -
		    half[3 * r + 1] * board->mean[1];
	}
	for (size_t k = 0; k < 3; k++) {
		H[k] = half[k] / pixel->scale + pixel->mean[0] * half[6 + k];
		H[3 + k] = half[3 + k] / pixel->scale + pixel->mean[1] * half[6 + k];
		H[6 + k] = half[6 + k];
	}
}

bool
closed_form_homography(const struct calib_board *board, const struct calib_point *point, size_t n,
    double H[9], double *error)
{
	static const double flat[2];
	double (*x)[2] = calloc(n + 1, sizeof(*x)), (*u)[2] = calloc(n + 1, sizeof(*u));
	double *weight = calloc(n + 1, 2 * sizeof(*weight)), h[9];
	struct normalised of_board, of_pixels;
	bool fits = n >= 4 && x && u && weight;

	for (size_t i = 0; i < n && fits; i++) {
		double X[3];

		calib_board_point(board, flat, point[i].i, point[i].j, X);
		memcpy(x[i], X, sizeof(x[i]));
		u[i][0] = point[i].u;
		u[i][1] = point[i].v;
		weight[i] = 1;
	}
	if (fits) {
		normalise((const double (*)[2])x, n, &of_board);
		normalise((const double (*)[2])u, n, &of_pixels);
	}
	for (size_t i = 0; i < n && fits; i++)
		for (size_t c = 0; c < 2; c++) {
			x[i][c] = (x[i][c] - of_board.mean[c]) * of_board.scale;
			u[i][c] = (u[i][c] - of_pixels.mean[c]) * of_pixels.scale;
		}
	for (size_t round = 0; round < ROUNDS && fits; round++) {
		fits = fit((const double (*)[2])x, (const double (*)[2])u, weight, n, h);
		if (fits)
			weigh(h, (const double (*)[2])x, (const double (*)[2])u, n, weight,
			    weight + n);
	}
	*error = fits ? weight[n + n / 2] : 0;
	if (fits)
		denormalise(h, &of_board, &of_pixels, H);
	free(x);
	free(u);
	free(weight);
	return fits;
}

static double
determinant(const double m[9])
{
	return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
	    m[2] * (m[3] * m[7] - m[4] * m[6]);
}

bool
closed_form_mirrors(const double H[9], const struct calib_board *board)
{
	static const double flat[2];
	double X[3];

	calib_board_point(board, flat, (int)board->w / 2, (int)board->h / 2, X);
	return determinant(H) * (H[6] * X[0] + H[7] * X[1] + H[8]) < 0;
}

/* The homography to pixels from the middle, in units of the width; its two columns of length 1. */
static void
centre(const double H[9], size_t w, size_t h, double G[9])
{
	double middle[2] = { ((double)w - 1) / 2, ((double)h - 1) / 2 }, sum = 0;

	for (size_t k = 0; k < 3; k++) {
		G[k] = (H[k] - middle[0] * H[6 + k]) / (double)w;
		G[3 + k] = (H[3 + k] - middle[1] * H[6 + k]) / (double)w;
		G[6 + k] = H[6 + k];
	}
	for (size_t k = 0; k < 9; k++)
		sum += k % 3 < 2 ? G[k] * G[k] : 0;
	for (size_t k = 0; k < 9; k++)
		G[k] /= sqrt(sum);
}

bool
closed_form_square(const double (*H)[9], size_t n, size_t w, size_t h, double core[4])
{
	double a = 0, b = 0;

	for (size_t i = 0; i < n; i++) {
		double G[9], p[2], q[2];

		centre(H[i], w, h, G);
		p[0] = G[0] * G[1] + G[3] * G[4];
		q[0] = G[6] * G[7];
		p[1] = G[0] * G[0] + G[3] * G[3] - G[1] * G[1] - G[4] * G[4];
		q[1] = G[6] * G[6] - G[7] * G[7];
		for (size_t k = 0; k < 2; k++) {
			a += p[k] * p[k];
			b -= p[k] * q[k];
		}
	}
	if (!(b / a > 1e-4 && b / a < 1e2))	/* focal lengths of 0.1 to 100 widths */
		return false;
	core[0] = core[1] = sqrt(a / b) * (double)w;
	core[2] = ((double)w - 1) / 2;
	core[3] = ((double)h - 1) / 2;
	return true;
}

bool
closed_form_free(const double (*H)[9], size_t n, size_t w, size_t h, double core[4])
{
	double A[25] = { 0 }, value[5], vector[25], *B = vector + 4 * 5, lambda;

	for (size_t i = 0; i < n; i++) {
		double G[9];

		centre(H[i], w, h, G);
		for (size_t e = 0; e < 2; e++) {
			/* h1' B h2 = 0; h1' B h1 = h2' B h2. B: 11 22 13 23 33 */
			double row[5] = { G[0] * G[1], G[3] * G[4], G[0] * G[7] + G[6] * G[1],
				G[3] * G[7] + G[6] * G[4], G[6] * G[7] };
			double other[5] = { G[0] * G[0] - G[1] * G[1], G[3] * G[3] - G[4] * G[4],
				2 * (G[0] * G[6] - G[1] * G[7]), 2 * (G[3] * G[6] - G[4] * G[7]),
				G[6] * G[6] - G[7] * G[7] };
			const double *v = e ? other : row;

			for (size_t k = 0; k < 5; k++)
				for (size_t l = 0; l < 5; l++)
					A[5 * k + l] += v[k] * v[l];
		}
	}
	symmetric_eigen(5, A, value, vector);
	for (size_t k = 5; k-- > 0;)
		B[k] = B[0] < 0 ? -B[k] : B[k];
	if (!(B[0] > 0 && B[1] > 0))
		return false;
	lambda = B[4] - B[2] * B[2] / B[0] - B[3] * B[3] / B[1];
	if (!(lambda > 0))
		return false;
	core[0] = sqrt(lambda / B[0]) * (double)w;
	core[1] = sqrt(lambda / B[1]) * (double)w;
	core[2] = -B[2] / B[0] * (double)w + ((double)w - 1) / 2;
	core[3] = -B[3] / B[1] * (double)w + ((double)h - 1) / 2;
	return core[0] > 0.5 * core[1] && core[1] > 0.5 * core[0];
}

void
closed_form_pose(const double H[9], const double core[4], struct calib_pose *pose)
{
	double column[3][3], length[2], sum = 0, difference = 0, *R = pose->R;

	for (size_t k = 0; k < 3; k++) {
		column[k][2] = H[6 + k];
		column[k][0] = (H[k] - core[2] * H[6 + k]) / core[0];
		column[k][1] = (H[3 + k] - core[3] * H[6 + k]) / core[1];
	}
	for (size_t k = 0; k < 2; k++)
		length[k] = sqrt(column[k][0] * column[k][0] + column[k][1] * column[k][1] +
		    column[k][2] * column[k][2]);
	/* The two unit columns, bent alike until they stand at right angles. */
	for (size_t i = 0; i < 3; i++) {
		double a = column[0][i] / length[0], b = column[1][i] / length[1];

		sum += (a + b) * (a + b);
		difference += (a - b) * (a - b);
		pose->T[i] = 2 * column[2][i] / (length[0] + length[1]);
	}
	for (size_t i = 0; i < 3; i++) {
		double a = column[0][i] / length[0], b = column[1][i] / length[1];
		double c = (a + b) / sqrt(2 * sum), d = (a - b) / sqrt(2 * difference);

		R[3 * i] = c + d;
		R[3 * i + 1] = c - d;
	}
	R[2] = R[3] * R[7] - R[6] * R[4];
	R[5] = R[6] * R[1] - R[0] * R[7];
	R[8] = R[0] * R[4] - R[3] * R[1];
}
