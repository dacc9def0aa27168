#include "gpu/gpu.glsl"
#include "image/colormap.px.h"
#include "shade.px.h"
#include "shade.block.h"
#include "shade_normals.glsl"

layout(buffer_reference, std430) readonly buffer block_at { shade_block b; };

/* The frame's own, where there are points. */
void
take_normals(block_at at, surface s, uint x, uint y, out shade_vector normal[4])
{
	vec4 nx = gpu_in4(at.b.normal[0], x, y), ny = gpu_in4(at.b.normal[1], x, y);
	precise vec4 nz = gpu_in4(at.b.normal[2], x, y);

	nz = at.b.sign * nz;
	for (uint i = 0; i < 4; i++) {
		bool missing = px_isnan(point(s, x + i, y).z);

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
	surface s = surface(gpu.w, gpu.h, at.b.x, at.b.y, at.b.z, at.b.sign, at.b.right, at.b.down,
	    at.b.jump);
	shade_vector normal[4], colour;
	precise vec4 r, g, b;
	vec4 value = vec4(0), red = value, green = value, blue = value;

	if (gpu_outside(x, y))
		return;
	if (at.b.normal[0] == SHADE_NONE)
		find_normals(s, x, y, normal);
	else
		take_normals(at, s, x, y, normal);
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
			normal[i] = shade_facing(normal[i], !px_isnan(point(s, x + i, y).z));
		level = shade_levels(at.b.light, normal[i], colour, at.b.background);
		r[i] = level.x + 0.5f;
		g[i] = level.y + 0.5f;
		b[i] = level.z + 0.5f;
	}
	gpu_out4_uchar(0, x, y, r);
	gpu_out4_uchar(1, x, y, g);
	gpu_out4_uchar(2, x, y, b);
}
