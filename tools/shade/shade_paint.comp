#include "image/colormap.px.h"
#include "shade_view.glsl"

/* The colours of lit pixels: those of a pixel that is lit once, or the mean of its samples'. */

PX_FN float
level_of(float colour, float part, float shine)
{
	return 255.0f * px_min(1.0f, colour * part + shine);
}

/* Levels of 255. */
shade_vector
levels_at(uint at, float low, float high)
{
	gpu_floats anchors = gpu_floats(gpu_constant(0));
	uint light = view_plane(VIEW_LIGHTS).at[at];
	PX_F value = px_from_bits(view_plane(VIEW_VALUES).at[at]);
	PX_F part = float(light & 0xffffu) * (1.0f / VIEW_LIGHT);
	PX_F shine = float(light >> 16) * (1.0f / VIEW_LIGHT);
	PX_F place = colormap_place(px_divide(value - low, high - low), VIEW.last);
	PX_F before = colormap_anchor(place, VIEW.last), share = place - before;
	uint first = 3u * uint(before);
	shade_vector rgb;

	if (light == VIEW_EMPTY)
		return VIEW.background;
	rgb.x = colormap_between(anchors.at[first], anchors.at[first + 3u], share);
	rgb.y = colormap_between(anchors.at[first + 1u], anchors.at[first + 4u], share);
	rgb.z = colormap_between(anchors.at[first + 2u], anchors.at[first + 5u], share);
	if (px_isnan(value))
		rgb = VIEW.nan;
	if (VIEW.by_value == 0u)
		rgb.x = rgb.y = rgb.z = VIEW.plaster;
	rgb.x = level_of(rgb.x, part, shine);
	rgb.y = level_of(rgb.y, part, shine);
	rgb.z = level_of(rgb.z, part, shine);
	return rgb;
}

shade_vector
pixel_levels(uint x, uint y, float low, float high)
{
	uint n = VIEW.samples * VIEW.samples;
	PX_F r = 0.0f, g = 0.0f, b = 0.0f;
	shade_vector mean;

	if (view_is_once(x, y))
		return levels_at(view_sample(x, y, 0u), low, high);
	for (uint i = 0u; i < n; i++) {
		shade_vector one = levels_at(view_sample(x, y, i), low, high);

		r = r + one.x;
		g = g + one.y;
		b = b + one.z;
	}
	mean.x = px_divide(r, float(n));
	mean.y = px_divide(g, float(n));
	mean.z = px_divide(b, float(n));
	return mean;
}

void
main()
{
	uint across = (gpu.w + 3u) / 4u, id = view_invocation();
	uint x = 4u * (id % across), y = id / across;
	float low = VIEW.low, high = VIEW.high;
	precise vec4 r, g, b;

	for (uint i = id; i < VIEW_RESULTS; i += view_groups() * VIEW_GROUP)
		gpu_words(gpu_row(gpu.outputs, view_height())).at[i] = view_words().at[i];
	if (y >= view_height())
		return;
	if (VIEW.finds != 0u) {
		low = px_from_bits(view_words().at[VIEW_LOW]);
		high = px_from_bits(view_words().at[VIEW_HIGH]);
	}
	for (uint i = 0u; i < 4u; i++) {
		shade_vector level = pixel_levels(min(x + i, gpu.w - 1u), y, low, high);

		r[i] = level.x + 0.5f;
		g[i] = level.y + 0.5f;
		b[i] = level.z + 0.5f;
	}
	if (VIEW.paints == VIEW_NONE || VIEW.paints == 0u)
		gpu_out4_uchar(0, x, y, r);
	if (VIEW.paints == VIEW_NONE || VIEW.paints == 1u)
		gpu_out4_uchar(1, x, y, g);
	if (VIEW.paints == VIEW_NONE || VIEW.paints == 2u)
		gpu_out4_uchar(2, x, y, b);
}
