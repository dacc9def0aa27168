#version 450
#extension GL_GOOGLE_include_directive : require
#include "gpu/gpu.glsl"
#include "image/colormap.px.h"
#include "shade.px.h"
#include "shade.block.h"

layout(buffer_reference, std430) readonly buffer block_at { shade_block b; };

/* Columns x - 1 to x + 4 of a row; z is NaN where a point is missing, as outside of the image. */
struct line {
	shade_vector at[6];
};

/* Of a depth map only z: its x and y count by their steps. Outside of the image the nearest row is
 * read instead: the device may have no other. */
shade_vector
point(block_at at, uint x, uint y)
{
	shade_vector p;
	bool there = x < gpu.w && y < gpu.h;
	uint u = min(x, gpu.w - 1), v = y == ~0u ? 0 : min(y, gpu.h - 1);
	precise float z = gpu_in(at.b.z, u, v), away = at.b.sign * z;

	there = there && shade_there(z);
	p.x = p.y = 0.0f;
	if (at.b.x != SHADE_NONE) {
		p.x = gpu_in(at.b.x, u, v);
		p.y = gpu_in(at.b.y, u, v);
		there = there && shade_there(p.x) && shade_there(p.y);
	}
	p.z = px_select(there, away, PX_NAN);
	return p;
}

/* x - 1 and y may be left of the image and above it: large. */
line
load_line(block_at at, uint x, uint y)
{
	line l;

	for (uint i = 0; i < 6; i++)
		l.at[i] = point(at, x + i - 1, y);
	return l;
}

/* The squares right of columns x - 1 to x + 3 between two lines. */
void
find_squares(block_at at, line upper, line lower, out shade_square square[5])
{
	for (uint i = 0; i < 5; i++) {
		shade_vector a = upper.at[i], b = upper.at[i + 1];
		shade_vector c = lower.at[i], d = lower.at[i + 1];

		if (at.b.x == SHADE_NONE) {
			b.x = d.x = at.b.right;
			c.y = d.y = at.b.down;
		}
		square[i] = shade_square_of(a, b, c, d, at.b.jump);
	}
}

/* By the triangles around each of four pixels. */
void
find_normals(block_at at, uint x, uint y, out shade_vector normal[4])
{
	line here = load_line(at, x, y);
	shade_square above[5], below[5];

	find_squares(at, load_line(at, x, y - 1), here, above);
	find_squares(at, here, load_line(at, x, y + 1), below);
	for (uint i = 0; i < 4; i++)
		normal[i] = shade_add(shade_add(shade_add(above[i].d, above[i + 1].c), below[i].b),
		    below[i + 1].a);
}

/* The frame's own, where there are points. */
void
take_normals(block_at at, uint x, uint y, out shade_vector normal[4])
{
	vec4 nx = gpu_in4(at.b.normal[0], x, y), ny = gpu_in4(at.b.normal[1], x, y);
	precise vec4 nz = gpu_in4(at.b.normal[2], x, y);

	nz = at.b.sign * nz;
	for (uint i = 0; i < 4; i++) {
		bool missing = px_isnan(point(at, x + i, y).z);

		normal[i].x = px_select(missing, 0.0f, nx[i]);
		normal[i].y = px_select(missing, 0.0f, ny[i]);
		normal[i].z = px_select(missing, 0.0f, nz[i]);
	}
}

shade_vector
colour_of(block_at at, float value)
{
	gpu_floats anchors = gpu_floats(gpu_constant(0));
	PX_F t = px_divide(value - at.b.low, at.b.span);
	PX_F place = colormap_place(t, at.b.last), before = colormap_anchor(place, at.b.last);
	PX_F share = place - before;
	uint first = 3 * uint(before);
	shade_vector rgb;

	rgb.x = colormap_between(anchors.at[first], anchors.at[first + 3], share);
	rgb.y = colormap_between(anchors.at[first + 1], anchors.at[first + 4], share);
	rgb.z = colormap_between(anchors.at[first + 2], anchors.at[first + 5], share);
	if (px_isnan(value))
		rgb = at.b.nan;
	return rgb;
}

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	shade_vector normal[4], colour;
	precise vec4 r, g, b;
	vec4 value = vec4(0), red = value, green = value, blue = value;

	if (gpu_outside4(x, y))
		return;
	if (at.b.normal[0] == SHADE_NONE)
		find_normals(at, x, y, normal);
	else
		take_normals(at, x, y, normal);
	if (at.b.value != SHADE_NONE)
		value = gpu_in4(at.b.value, x, y);
	if (at.b.rgb[0] != SHADE_NONE) {
		red = gpu_in4(at.b.rgb[0], x, y);
		green = gpu_in4(at.b.rgb[1], x, y);
		blue = gpu_in4(at.b.rgb[2], x, y);
	}
	colour.x = colour.y = colour.z = at.b.plaster;
	for (uint i = 0; i < 4; i++) {
		shade_vector level;

		if (at.b.value != SHADE_NONE)
			colour = colour_of(at, value[i]);
		if (at.b.rgb[0] != SHADE_NONE) {
			colour.x = colour_of(at, red[i]).x;
			colour.y = colour_of(at, green[i]).y;
			colour.z = colour_of(at, blue[i]).z;
		}
		if (at.b.lone != 0)
			normal[i] = shade_facing(normal[i], !px_isnan(point(at, x + i, y).z));
		level = shade_levels(at.b.light, normal[i], colour, at.b.background);
		r[i] = level.x + 0.5f;
		g[i] = level.y + 0.5f;
		b[i] = level.z + 0.5f;
	}
	gpu_out4_uchar(0, x, y, r);
	gpu_out4_uchar(1, x, y, g);
	gpu_out4_uchar(2, x, y, b);
}
