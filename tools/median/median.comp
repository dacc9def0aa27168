#include "gpu/gpu.glsl"
#include "image/median.px.h"
#include "median.block.h"

layout(buffer_reference, std430) readonly buffer block_at { median_block b; };

/* Index i + by, mirrored about i where it lies outside 0 .. n - 1; i where both do. */
uint
mirrored(uint i, int by, uint n)
{
	uint there = i + by, mirror = i - by;	/* below 0: large */

	return there < n ? there : mirror < n ? mirror : i;
}

/* Columns x - 4 to x + 7 of row y, which are in the image as far as pixels look. */
void
load_row(uint c, uint x, uint y, out float v[12])
{
	for (uint k = 0; k < 3; k++) {
		vec4 four = gpu_in4(c, x + 4 * k - 4, y);

		for (uint i = 0; i < 4; i++)
			v[4 * k + i] = four[i];
	}
}

vec4
inside_row(uint c, uint x, uint y)
{
	float v[12];
	vec4 median;

	load_row(c, x, y, v);
	for (uint i = 0; i < 4; i++)
		median[i] = median_of_5(v[i + 2], v[i + 3], v[i + 4], v[i + 5], v[i + 6]);
	return median;
}

vec4
inside_box(uint c, uint x, uint above, uint y, uint below)
{
	float a[12], b[12], d[12];
	vec4 median;

	load_row(c, x, above, a);
	load_row(c, x, y, b);
	load_row(c, x, below, d);
	for (uint i = 0; i < 4; i++)
		median[i] = median_of_9(a[i + 3], a[i + 4], a[i + 5], b[i + 3], b[i + 4], b[i + 5],
		    d[i + 3], d[i + 4], d[i + 5]);
	return median;
}

float
border_row(uint c, uint x, uint y)
{
	float v[5];

	for (int k = 0; k < 5; k++)
		v[k] = gpu_in(c, mirrored(x, k - 2, gpu.w), y);
	return median_of_5(v[0], v[1], v[2], v[3], v[4]);
}

float
border_box(uint c, uint x, uint above, uint y, uint below)
{
	uint l = mirrored(x, -1, gpu.w), r = mirrored(x, 1, gpu.w);

	return median_of_9(gpu_in(c, l, above), gpu_in(c, x, above), gpu_in(c, r, above),
	    gpu_in(c, l, y), gpu_in(c, x, y), gpu_in(c, r, y),
	    gpu_in(c, l, below), gpu_in(c, x, below), gpu_in(c, r, below));
}

vec4
in_column(uint c, uint x, uint y)
{
	vec4 v[5], median;

	for (int k = 0; k < 5; k++)
		v[k] = gpu_in4(c, x, mirrored(y, k - 2, gpu.h));
	for (uint i = 0; i < 4; i++)
		median[i] = median_of_5(v[0][i], v[1][i], v[2][i], v[3][i], v[4][i]);
	return median;
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y(), c, above, below;
	block_at at = block_at(gpu.block);
	vec4 v, median;
	bool inside;

	if (gpu_outside(x, y))
		return;
	c = at.b.channel;
	above = mirrored(y, -1, gpu.h);
	below = mirrored(y, 1, gpu.h);
	inside = x >= 4 && x + 6 <= gpu.w;
	if (at.b.shape == MEDIAN_COLUMN) {
		median = in_column(c, x, y);
	} else if (at.b.shape == MEDIAN_ROW) {
		if (inside)
			median = inside_row(c, x, y);
		else
			for (uint i = 0; i < 4; i++)
				median[i] = border_row(c, x + i, y);
	} else {
		if (inside)
			median = inside_box(c, x, above, y, below);
		else
			for (uint i = 0; i < 4; i++)
				median[i] = border_box(c, x + i, above, y, below);
	}
	v = gpu_in4(c, x, y);
	for (uint i = 0; i < 4; i++)
		v[i] = median_unspike(v[i], median[i]);
	gpu_out4(at.b.to, x, y, v);
}
