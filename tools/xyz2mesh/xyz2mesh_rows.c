/*
 * The loops over points near a brick: the signed distance of its nodes, and weighted sums about a
 * place. Sums are made in NEAR_LANES lanes, so that every instruction level has the same.
 */
#include "xyz2mesh.h"

#include "base/px.h"

#define ABOVE_SQUARE 4.0f	/* two cells above the surface: farther than its cubes' corners */
#define AGREES -0.3f	/* cosine of a normal and the nearest point's, from which on it counts */

/*
 * f = (sum w n (x - p) + m sum w (x - p))/(2 sum w), m the mean normal. Planes through the points
 * lie outside of a surface that bends, their mean point inside, by the same: half of both is right
 * to the second order (implicit moving least squares; Alexa and Adamson 2004). Of two sheets
 * that lie back to back only the nearer one counts.
 */
static uint64_t
distances(const struct near *near, float reach_square, float f[BRICK_NODES])
{
	float node[3][BRICK_NODES], least[BRICK_NODES], facing[3][BRICK_NODES] = { 0 };
	float sum[BRICK_NODES] = { 0 }, along[BRICK_NODES] = { 0 };
	float beside[BRICK_NODES];	/* the least square along a point's plane */
	float means[3][BRICK_NODES] = { 0 }, from[3][BRICK_NODES] = { 0 };
	uint64_t known = 0;

	for (size_t k = 0; k < BRICK_NODES; k++) {
		node[0][k] = (float)(k >> 4);
		node[1][k] = (float)(k >> 2 & 3);
		node[2][k] = (float)(k & 3);
		least[k] = beside[k] = INFINITY;
	}
	for (size_t i = 0; i < near->n; i++) {
		const float x = near->place[0][i], y = near->place[1][i], z = near->place[2][i];
		const float nx = near->value[0][i], ny = near->value[1][i], nz = near->value[2][i];

		CPU_SIMD
		for (size_t k = 0; k < BRICK_NODES; k++) {
			float dx = node[0][k] - x, dy = node[1][k] - y, dz = node[2][k] - z;
			float square = dx * dx + dy * dy + dz * dz;
			float above = nx * dx + ny * dy + nz * dz;
			float flat = px_select(above * above <= ABOVE_SQUARE,
			    square - above * above, INFINITY);
			bool nearer = square < least[k];

			beside[k] = flat < beside[k] ? flat : beside[k];
			least[k] = px_select(nearer, square, least[k]);
			facing[0][k] = px_select(nearer, nx, facing[0][k]);
			facing[1][k] = px_select(nearer, ny, facing[1][k]);
			facing[2][k] = px_select(nearer, nz, facing[2][k]);
		}
	}
	for (size_t i = 0; i < near->n; i++) {
		const float x = near->place[0][i], y = near->place[1][i], z = near->place[2][i];
		const float nx = near->value[0][i], ny = near->value[1][i], nz = near->value[2][i];

		CPU_SIMD
		for (size_t k = 0; k < BRICK_NODES; k++) {
			float dx = node[0][k] - x, dy = node[1][k] - y, dz = node[2][k] - z;
			float w = near_weight(dx * dx + dy * dy + dz * dz, WEIGHT_SQUARE);
			float turn = nx * facing[0][k] + ny * facing[1][k] + nz * facing[2][k];

			w = px_select(turn > AGREES, w, 0.0f);
			sum[k] += w;
			along[k] += w * (nx * dx + ny * dy + nz * dz);
			means[0][k] += w * nx;
			means[1][k] += w * ny;
			means[2][k] += w * nz;
			from[0][k] += w * dx;
			from[1][k] += w * dy;
			from[2][k] += w * dz;
		}
	}
	for (size_t k = 0; k < BRICK_NODES; k++) {
		float length = sqrtf(means[0][k] * means[0][k] + means[1][k] * means[1][k] +
		    means[2][k] * means[2][k]);
		float plane = means[0][k] * from[0][k] + means[1][k] * from[1][k] +
		    means[2][k] * from[2][k];

		if (!(beside[k] <= reach_square) || !(sum[k] > 0) || !(length > 0))
			continue;
		f[k] = 0.5f * (along[k] + plane / length) / sum[k];
		known |= (uint64_t)1 << k;
	}
	return known;
}

/* The point that is nearest; of several the first one in the first lane. */
static size_t
nearest(const struct near *near, const float at[3])
{
	float least[NEAR_LANES];
	uint32_t point[NEAR_LANES];
	size_t best = 0;

	for (size_t k = 0; k < NEAR_LANES; k++)
		least[k] = INFINITY;
	for (size_t i = 0; i < near->n; i += NEAR_LANES) {
		CPU_SIMD
		for (size_t k = 0; k < NEAR_LANES; k++) {
			float x = near->place[0][i + k] - at[0], y = near->place[1][i + k] - at[1];
			float z = near->place[2][i + k] - at[2], square = x * x + y * y + z * z;
			bool nearer = square < least[k];

			point[k] = nearer ? (uint32_t)(i + k) : point[k];
			least[k] = px_select(nearer, square, least[k]);
		}
	}
	for (size_t k = 1; k < NEAR_LANES; k++)
		best = least[k] < least[best] ? k : best;
	return point[best];
}

static double
means(const struct near *near, const float at[3], size_t n, double *sums)
{
	float lane[NEAR_VALUES][NEAR_LANES] = { 0 }, weights[NEAR_LANES] = { 0 };
	const size_t first = nearest(near, at);
	const float fx = near->value[0][first], fy = near->value[1][first];
	const float fz = near->value[2][first];
	double all = 0;

	for (size_t i = 0; i < near->n; i += NEAR_LANES) {
		float w[NEAR_LANES];

		CPU_SIMD
		for (size_t k = 0; k < NEAR_LANES; k++) {
			float x = near->place[0][i + k] - at[0], y = near->place[1][i + k] - at[1];
			float z = near->place[2][i + k] - at[2];
			float turn = near->value[0][i + k] * fx + near->value[1][i + k] * fy +
			    near->value[2][i + k] * fz;

			w[k] = px_select(turn > AGREES,
			    near_weight(x * x + y * y + z * z, MEAN_SQUARE), 0.0f);
			weights[k] += w[k];
		}
		for (size_t s = 0; s < n; s++) {
			CPU_SIMD
			for (size_t k = 0; k < NEAR_LANES; k++)
				lane[s][k] += w[k] * near->value[s][i + k];
		}
	}
	for (size_t s = 0; s < n; s++) {
		sums[s] = 0;
		for (size_t k = 0; k < NEAR_LANES; k++)
			sums[s] += (double)lane[s][k];
	}
	for (size_t k = 0; k < NEAR_LANES; k++)
		all += (double)weights[k];
	return all;
}

const struct xyz2mesh_rows AT_LEVEL(xyz2mesh_rows) = {
	.distances = distances,
	.means = means,
};
