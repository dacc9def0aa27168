#include "gpu/gpu.glsl"
#include "normals.px.h"
#include "normals.block.h"

layout(buffer_reference, std430) readonly buffer block_at { normals_block b; };

/* Columns x - 1 to x + 4 of a row; 0 where something is missing. */
struct line {
	normals_vector at[6];
	float there[6];
};

void
put_point(inout line l, uint i, float x, float y, float z, bool inside)
{
	bool there = inside && normals_there(x) && normals_there(y) && normals_there(z);

	l.at[i].x = px_select(there, x, 0.0f);
	l.at[i].y = px_select(there, y, 0.0f);
	l.at[i].z = px_select(there, z, 0.0f);
	l.there[i] = px_select(there, 1.0f, 0.0f);
}

/* Row y, all missing where there is none. */
line
load_line(block_at at, uint x, int y)
{
	bool inside = y >= 0 && uint(y) < gpu.h;
	uint row = inside ? uint(y) : gpu_y();
	uint left = x > 0 ? x - 1 : 0, right = x + 4 < gpu.w ? x + 4 : x;
	vec4 z = gpu_in4(at.b.z, x, row), xs = z, ys = z;
	float zl = gpu_in(at.b.z, left, row), xl = zl, yl = zl;
	float zr = gpu_in(at.b.z, right, row), xr = zr, yr = zr;
	line l;

	if (at.b.depth == 0) {
		xs = gpu_in4(at.b.x, x, row);
		ys = gpu_in4(at.b.y, x, row);
		xl = gpu_in(at.b.x, left, row);
		yl = gpu_in(at.b.y, left, row);
		xr = gpu_in(at.b.x, right, row);
		yr = gpu_in(at.b.y, right, row);
	}
	put_point(l, 0, xl, yl, zl, inside && x > 0);
	for (uint i = 0; i < 4; i++)
		put_point(l, i + 1, xs[i], ys[i], z[i], inside && x + i < gpu.w);
	put_point(l, 5, xr, yr, zr, inside && x + 4 < gpu.w);
	return l;
}

normals_vector
difference(normals_vector a, normals_vector b)
{
	precise normals_vector d;

	d.x = a.x - b.x;
	d.y = a.y - b.y;
	d.z = a.z - b.z;
	return d;
}

/* What two triangles of the square give to A and D, or to B and C. */
normals_vector
corner_of_points(normals_vector v0, normals_vector h0, float weight0, normals_vector v1,
    normals_vector h1, float weight1)
{
	return normals_sum(normals_product(v0, h0, weight0), normals_product(v1, h1, weight1));
}

normals_vector
corner_of_depth(block_at at, normals_vector v0, normals_vector h0, float weight0, normals_vector v1,
    normals_vector h1, float weight1)
{
	precise float down0 = v0.z * at.b.per_row, right0 = h0.z * at.b.per_column;
	precise float down1 = v1.z * at.b.per_row, right1 = h1.z * at.b.per_column;
	precise float square0 = down0 * down0, square1 = down1 * down1;

	return normals_sum(
	    normals_of_falls(down0, right0, square0, normals_fall_square(right0), weight0),
	    normals_of_falls(down1, right1, square1, normals_fall_square(right1), weight1));
}

normals_vector
corner(block_at at, normals_vector v0, normals_vector h0, float weight0, normals_vector v1,
    normals_vector h1, float weight1)
{
	if (at.b.depth != 0)
		return corner_of_depth(at, v0, h0, weight0, v1, h1, weight1);
	return corner_of_points(v0, h0, weight0, v1, h1, weight1);
}

/* The square right of column i between two lines: its diagonal A D. */
normals_vector
falling(block_at at, line upper, line lower, uint i)
{
	precise float both = upper.there[i] * lower.there[i + 1];
	precise float right = both * upper.there[i + 1], left = both * lower.there[i];

	return corner(at, difference(upper.at[i + 1], lower.at[i + 1]),
	    difference(upper.at[i], upper.at[i + 1]), right, difference(upper.at[i], lower.at[i]),
	    difference(lower.at[i], lower.at[i + 1]), left);
}

/* Its diagonal B C. */
normals_vector
rising(block_at at, line upper, line lower, uint i)
{
	precise float both = upper.there[i + 1] * lower.there[i];
	precise float left = both * upper.there[i], right = both * lower.there[i + 1];

	return corner(at, difference(upper.at[i], lower.at[i]),
	    difference(upper.at[i], upper.at[i + 1]), left,
	    difference(upper.at[i + 1], lower.at[i + 1]),
	    difference(lower.at[i], lower.at[i + 1]), right);
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	line above, here, below;
	vec4 nx, ny, nz;

	if (gpu_outside(x, y))
		return;
	above = load_line(at, x, int(y) - 1);
	here = load_line(at, x, int(y));
	below = load_line(at, x, int(y) + 1);
	for (uint i = 0; i < 4; i++) {
		normals_vector upper = normals_sum(
		    falling(at, above, here, i), rising(at, above, here, i + 1));
		normals_vector lower = normals_sum(
		    rising(at, here, below, i), falling(at, here, below, i + 1));
		normals_vector normal =
		    normals_unit(normals_sum(upper, lower), here.there[i + 1], at.b.sign);

		nx[i] = normal.x;
		ny[i] = normal.y;
		nz[i] = normal.z;
	}
	gpu_out4(at.b.made, x, y, nx);
	gpu_out4(at.b.made + 1, x, y, ny);
	gpu_out4(at.b.made + 2, x, y, nz);
}
