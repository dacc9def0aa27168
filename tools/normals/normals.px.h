/*
 * Normals of a surface on a grid (methods §9; Karpinsky 2014 §3.6): the cross products of
 * neighbouring difference vectors, each of unit length, are averaged.
 *
 * The eight products at a pixel belong to eight triangles, and each triangle serves two pixels: in
 * the square of four pixels A B C D the triangles ABD and ADC are two of the products at A and two
 * of those at D, the triangles ABC and BDC two of those at B and at C. So a square needs four
 * products, and a pixel adds up what its four squares give to the diagonal that it lies on.
 */
#include "base/px.h"

struct normals_vector {
	float x, y, z;
};

/* Is v a coordinate? Larger ones would overflow in the square of a product. */
PX_FN bool
normals_there(float v)
{
	return (px_bits(v) & 0x7fffffffu) <= 0x4e6e6b28u;	/* 1e9 */
}

/*
 * 1/sqrt(2 v) within 7.2e-7, times the sign (0, or 0x80000000 for -1), finite for 0: an estimate
 * from the exponent's bits and two Newton steps, the constants chosen for the least largest error.
 * A product's weight in the average depends on it, its direction does not; the root of 2 goes with
 * the average's length. Cheaper than a root and a division.
 */
PX_FN float
normals_inverse_root(float v, uint sign)
{
	PX_F y = px_from_bits((0x5ef757e0u | sign) - (px_bits(v) >> 1));

	y = y * (1.50089f - v * y * y);
	return y * (1.5000006f - v * y * y);
}

/* v x h, of one length times `weight` (1, or 0 where a corner is missing): v leads up, h left. */
PX_FN PX_STRUCT normals_vector
normals_product(PX_STRUCT normals_vector v, PX_STRUCT normals_vector h, float weight)
{
	PX_F x = v.y * h.z - v.z * h.y;
	PX_F y = v.z * h.x - v.x * h.z;
	PX_F z = v.x * h.y - v.y * h.x;
	PX_F scale = normals_inverse_root(x * x + y * y + z * z, 0u) * weight;
	PX_STRUCT normals_vector n = { x * scale, y * scale, z * scale };

	return n;
}

/* Of a fall to the right, for the following. */
PX_FN float
normals_fall_square(float right)
{
	return right * right + 1.0f;
}

/* The opposite of that for z on a regular grid, which falls so much to the right and down;
 * right_square is normals_fall_square(right), down_square is down^2. */
PX_FN PX_STRUCT normals_vector
normals_of_falls(float down, float right, float down_square, float right_square, float weight)
{
	PX_F scale = normals_inverse_root(right_square + down_square, 0u) * weight;
	PX_STRUCT normals_vector n = { right * scale, down * scale, scale };

	return n;
}

PX_FN PX_STRUCT normals_vector
normals_sum(PX_STRUCT normals_vector a, PX_STRUCT normals_vector b)
{
	a.x = a.x + b.x;
	a.y = a.y + b.y;
	a.z = a.z + b.z;
	return a;
}

/* The sum to unit length, times the sign of `sign`; NaN where nothing was added, or the pixel is
 * missing. */
PX_FN PX_STRUCT normals_vector
normals_unit(PX_STRUCT normals_vector sum, float there, float sign)
{
	PX_F half_l2 = 0.5f * (sum.x * sum.x + sum.y * sum.y + sum.z * sum.z);
	bool valid = there > 0.0f && half_l2 > 2.5e-11f;
	PX_F scale = normals_inverse_root(half_l2, px_bits(sign) & 0x80000000u);

	scale = scale * (1.5f - half_l2 * scale * scale);	/* one step more: within 2 ulp */
	sum.x = px_select(valid, sum.x * scale, PX_NAN);
	sum.y = px_select(valid, sum.y * scale, PX_NAN);
	sum.z = px_select(valid, sum.z * scale, PX_NAN);
	return sum;
}
