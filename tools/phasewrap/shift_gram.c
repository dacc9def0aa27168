#include "shift_gram.h"

#include <math.h>
#include <string.h>

#include "fringe/phase_shift_weights.h"
#include "fringe/step_plane.h"

#define N SHIFT_IMAGES_MOST
#define ROUNDS 1000
#define ROUNDS_OF_PART 100	/* from shifts that are nearly right on */
#define SETTLED 1e-6		/* rad */
/* A's own share, which an image may have more or less of, is left at 1 where A hardly differs from
 * pixel to pixel: in that part of the square of the amplitude. */
#define EVEN 1e-3
#define INDEPENDENT 0.03	/* least eigenvalue of five columns, of which equal steps have 1 */
#define ALIKE 0.01		/* squared distance of two images to the largest one */
#define NOISE_RATIO 4.0		/* of the plane's second mean square to the others */

/* The products about the images' means over all pixels, but those of block `without` (or of all:
 * SHIFT_BLOCKS). False: no pixels are left. */
static bool
sum_blocks(const struct shift_sums *block, size_t without, size_t n, double *gram)
{
	double weight = 0, mean[N] = { 0 };

	memset(gram, 0, n * n * sizeof(*gram));
	for (size_t b = 0; b < SHIFT_BLOCKS; b++) {
		if (b == without)
			continue;
		weight += block[b].weight;
		for (size_t i = 0; i < n; i++)
			mean[i] += block[b].image[i];
		for (size_t i = 0; i < n * n; i++)
			gram[i] += block[b].product[i];
	}
	if (!(weight > 0))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			gram[i * n + j] = gram[i * n + j] / weight -
			    mean[i] / weight * (mean[j] / weight);
	return true;
}

/* ---- the circle ---- */

/* What is left of the products without the mean of all images in each pixel. */
static void
centre(const double *gram, size_t n, double *out)
{
	double row[N], all = 0;

	for (size_t i = 0; i < n; i++) {
		row[i] = 0;
		for (size_t j = 0; j < n; j++)
			row[i] += gram[i * n + j] / (double)n;
		all += row[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			out[i * n + j] = gram[i * n + j] - row[i] - row[j] + all;
}

/* The images as points of a plane, whose distances are the root mean squares of their differences:
 * an orthonormal basis of the plane, times a root of the products within it. */
static bool
place_images(const double *gram, size_t n, double point[2][N])
{
	struct step_plane plane = step_plane_find(gram, n);
	double inner[2][2], root[3], rest;

	for (size_t k = 0; k < 2; k++) {
		double length = sqrt(step_fit_dot(plane.axis[k], plane.axis[k], n));

		if (!(length > 0) || !isfinite(length))
			return false;
		for (size_t i = 0; i < n; i++)
			plane.axis[k][i] /= length;
	}
	for (size_t a = 0; a < 2; a++)
		for (size_t b = 0; b < 2; b++) {
			inner[a][b] = 0;
			for (size_t i = 0; i < n; i++)
				inner[a][b] += plane.axis[a][i] *
				    step_fit_dot(gram + i * n, plane.axis[b], n);
		}
	rest = 0;
	for (size_t i = 0; i < n; i++)
		rest += gram[i * n + i];
	rest -= inner[0][0] + inner[1][1];
	root[0] = sqrt(inner[0][0]);
	root[1] = inner[0][1] / root[0];
	root[2] = sqrt(inner[1][1] - root[1] * root[1]);
	if (!(root[0] > 0) || !(root[2] > 1e-6 * root[0]) ||
	    (n > 3 && root[2] * root[2] * (double)(n - 3) < NOISE_RATIO * rest))
		return false;
	for (size_t i = 0; i < n; i++) {
		point[0][i] = plane.axis[0][i] * root[0] + plane.axis[1][i] * root[1];
		point[1][i] = plane.axis[1][i] * root[2];
	}
	return true;
}

/* The angles of n points about the centre c of the circle that fits best: least squares of
 * |p|^2 - 2 c p - k. */
static bool
fit_circle(double point[2][N], size_t n, double *angle)
{
	double normal[3][3] = { { 0 } }, inverse[3][3], right[3] = { 0 }, c[2] = { 0 };

	for (size_t i = 0; i < n; i++) {
		double row[3] = { 2 * point[0][i], 2 * point[1][i], 1 };
		double square = (row[0] * row[0] + row[1] * row[1]) / 4;

		for (size_t a = 0; a < 3; a++) {
			right[a] += row[a] * square;
			for (size_t b = 0; b < 3; b++)
				normal[a][b] += row[a] * row[b];
		}
	}
	if (!(phase_shift_invert(normal, inverse) > 0))
		return false;
	for (size_t a = 0; a < 2; a++)
		for (size_t b = 0; b < 3; b++)
			c[a] += inverse[a][b] * right[b];
	for (size_t i = 0; i < n; i++)
		angle[i] = atan2(point[1][i] - c[1], point[0][i] - c[0]);
	return isfinite(angle[0]);
}

/* Of few images no two may show the same, or noise makes their shift. */
static bool
are_apart(double point[2][N], size_t n)
{
	double least = INFINITY, most = 0;

	for (size_t j = 1; j < n; j++)
		for (size_t i = 0; i < j; i++) {
			double x = point[0][j] - point[0][i], y = point[1][j] - point[1][i];

			least = fmin(least, x * x + y * y);
			most = fmax(most, x * x + y * y);
		}
	return n >= SHIFT_FREE_LEAST || least > ALIKE * most;
}

static bool
begin(const double *gram, size_t n, double *shift_rad)
{
	double own[N * N], point[2][N];

	centre(gram, n, own);
	return place_images(own, n, point) && are_apart(point, n) &&
	    fit_circle(point, n, shift_rad);
}

/* Are the shifts five different ones, so that they follow from the images alone? The normal matrix
 * of the five columns less INDEPENDENT has a Cholesky root then. */
static bool
are_independent(const double *shift_rad, size_t n)
{
	double m[5][5] = { { 0 } };

	for (size_t i = 0; i < n; i++) {
		double d = shift_rad[i];
		double row[5] = { cos(2 * d), sin(2 * d), cos(d), sin(d), M_SQRT1_2 };

		for (size_t a = 0; a < 5; a++)
			for (size_t b = 0; b < 5; b++)
				m[a][b] += row[a] * row[b] * 2 / (double)n;
	}
	for (size_t a = 0; a < 5; a++) {
		m[a][a] -= INDEPENDENT;
		for (size_t k = 0; k < a; k++)
			m[a][a] -= m[a][k] * m[a][k];
		if (!(m[a][a] > 0))
			return false;
		m[a][a] = sqrt(m[a][a]);
		for (size_t b = a + 1; b < 5; b++) {
			for (size_t k = 0; k < a; k++)
				m[b][a] -= m[b][k] * m[a][k];
			m[b][a] /= m[a][a];
		}
	}
	return true;
}

/* ---- the rounds ---- */

bool
shift_gram_pixels(const double *shift_rad, size_t n, double k[3][N])
{
	double normal[3][3] = { { 0 } }, inverse[3][3];

	for (size_t i = 0; i < n; i++) {
		double row[3] = { 1, cos(shift_rad[i]), -sin(shift_rad[i]) };

		for (size_t a = 0; a < 3; a++)
			for (size_t b = 0; b < 3; b++)
				normal[a][b] += row[a] * row[b];
	}
	if (!(phase_shift_invert(normal, inverse) > 1e-9))
		return false;
	for (size_t i = 0; i < n; i++) {
		double row[3] = { 1, cos(shift_rad[i]), -sin(shift_rad[i]) };

		for (size_t a = 0; a < 3; a++)
			k[a][i] = inverse[a][0] * row[0] + inverse[a][1] * row[1] +
			    inverse[a][2] * row[2];
	}
	return true;
}

/* One round: the pixels by the shifts, the shifts by the pixels. */
static bool
improve(const double *gram, size_t n, struct shift_found *found)
{
	double *shift_rad = found->shift_rad;
	double k[3][N], cross[N][3] = { { 0 } }, square[3][3] = { { 0 } }, inverse[3][3], even;
	double next[N];

	if (!shift_gram_pixels(shift_rad, n, k))
		return false;
	for (size_t i = 0; i < n; i++)
		for (size_t a = 0; a < 3; a++)
			cross[i][a] = step_fit_dot(gram + i * n, k[a], n);
	for (size_t a = 0; a < 3; a++)
		for (size_t b = 0; b < 3; b++)
			for (size_t i = 0; i < n; i++)
				square[a][b] += k[a][i] * cross[i][b];
	even = EVEN * (square[1][1] + square[2][2]);
	square[0][0] += even;
	if (!(phase_shift_invert(square, inverse) > 0))
		return false;
	found->settled_rad = 0;
	for (size_t i = 0; i < n; i++) {
		double t[2] = { 0 };

		cross[i][0] += even;
		for (size_t a = 0; a < 2; a++)
			for (size_t b = 0; b < 3; b++)
				t[a] += inverse[a + 1][b] * cross[i][b];
		next[i] = atan2(-t[1], t[0]);
	}
	for (size_t i = 0; i < n; i++) {
		double moved = remainder(next[i] - next[0] - shift_rad[i] + shift_rad[0], 2 * M_PI);

		found->settled_rad = fmax(found->settled_rad, fabs(moved));
	}
	memcpy(shift_rad, next, n * sizeof(*next));
	return isfinite(next[0]);
}

/* The shifts that the products give; of a part of the picture those of all, from `out` on. */
static bool
find(const double *gram, size_t n, bool part, struct shift_found *out)
{
	size_t most = part ? ROUNDS_OF_PART : ROUNDS;
	bool assumed = part ? out->assumed : n < SHIFT_FREE_LEAST;

	out->settled_rad = 0;
	out->rounds = 0;
	out->assumed = assumed;
	if ((!part || assumed) && !begin(gram, n, out->shift_rad))
		return false;
	if (assumed)
		return true;
	do {
		if (!improve(gram, n, out))
			return false;
		out->rounds++;
	} while (out->rounds < most && out->settled_rad > SETTLED);
	if (part || are_independent(out->shift_rad, n))
		return true;
	out->assumed = true;
	out->settled_rad = 0;
	return begin(gram, n, out->shift_rad);
}

/* How near the shifts, turned round, come to the expected ones: n if they are the same. */
static double
likeness(const double *shift_rad, double sense, const double *expected, size_t n)
{
	double c = 0, s = 0;

	for (size_t i = 0; i < n; i++) {
		c += cos(sense * shift_rad[i] - expected[i]);
		s += sin(sense * shift_rad[i] - expected[i]);
	}
	return sqrt(c * c + s * s);
}

/* Gives the shifts the sense of the expected ones, and the first its own. */
static void
align(const double *expected, size_t n, struct shift_found *found)
{
	double as_is = likeness(found->shift_rad, 1, expected, n);
	double mirrored = likeness(found->shift_rad, -1, expected, n), first = found->shift_rad[0];
	double sense = as_is >= mirrored ? 1 : -1;

	found->sense = fmax(as_is, mirrored) / fmax(fmin(as_is, mirrored), 1e-9);
	for (size_t i = 0; i < n; i++)
		found->shift_rad[i] = expected[i] + remainder(expected[0] - expected[i] +
		    sense * (found->shift_rad[i] - first), 2 * M_PI);
}

/* The jackknife: how much the shifts change where one part of the picture after another is left
 * out. */
static double
estimate_error(const struct shift_sums *block, size_t n, const struct shift_found *all)
{
	double gram[N * N], off[SHIFT_BLOCKS][N], worst = 0;
	size_t parts = 0;

	for (size_t b = 0; b < SHIFT_BLOCKS; b++) {
		struct shift_found part = *all;

		if (!(block[b].weight > 0))
			continue;
		if (!sum_blocks(block, b, n, gram) || !find(gram, n, true, &part))
			return INFINITY;
		align(all->shift_rad, n, &part);
		for (size_t i = 0; i < n; i++)
			off[parts][i] = remainder(part.shift_rad[i] - all->shift_rad[i], 2 * M_PI);
		parts++;
	}
	if (parts < 4)
		return NAN;
	for (size_t i = 0; i < n; i++) {
		double mean = 0, square = 0;

		for (size_t b = 0; b < parts; b++)
			mean += off[b][i] / (double)parts;
		for (size_t b = 0; b < parts; b++)
			square += (off[b][i] - mean) * (off[b][i] - mean);
		worst = fmax(worst, sqrt(square * (double)(parts - 1) / (double)parts));
	}
	return worst;
}

bool
shift_gram_settled(const struct shift_found *found)
{
	return found->settled_rad <= SETTLED;
}

bool
shift_gram_find(const struct shift_sums block[SHIFT_BLOCKS], size_t n, const double *expected,
    struct shift_found *out)
{
	double gram[N * N];

	if (!sum_blocks(block, SHIFT_BLOCKS, n, gram) || !find(gram, n, false, out))
		return false;
	align(expected, n, out);
	out->error_rad = estimate_error(block, n, out);
	return true;
}
