/* The points of a turned view, as shade_turned.c and turned_rows.c have them. */
#include "shade_view.glsl"

/* z of a point; NaN where there is none. */
float
view_z(uint x, uint y)
{
	float z;

	if (x >= VIEW.own_w)
		return PX_NAN;
	z = gpu_in(VIEW.z, x, y);
	if (VIEW.x != VIEW_NONE && !(shade_there(gpu_in(VIEW.x, x, y)) &&
	    shade_there(gpu_in(VIEW.y, x, y))))
		z = PX_NAN;
	return z;
}

/* The point that number i is, which begin at the middle. */
uint
view_point(uint i)
{
	uint points = VIEW.w * VIEW.h, half_of = points / 2u;

	return i < points - half_of ? half_of + i : i - (points - half_of);
}

/* A point that the others' places are relative to, so that they are exact or nearly so. */
shade_vector
view_origin()
{
	uint i = view_words().at[VIEW_ORIGIN], point = view_point(i);
	uint x = point % VIEW.w, y = point / VIEW.w;
	shade_vector p;

	p.x = p.y = p.z = 0.0f;
	if (i == 0xffffffffu)
		return p;
	p.z = gpu_in(VIEW.z, x, y);
	if (VIEW.x != VIEW_NONE) {
		p.x = gpu_in(VIEW.x, x, y);
		p.y = gpu_in(VIEW.y, x, y);
	}
	return p;
}

/* The table of a depth map's columns and rows: their shares in turned X, and in Y; their places. */
float
view_share(uint i, uint x, uint y)
{
	gpu_floats table = gpu_floats(gpu_constant(1));

	return table.at[i * (VIEW.w + VIEW.h) + (x != VIEW_NONE ? x : VIEW.w + y)];
}

/* Turned X (k = 0) or Y (1) of a point. */
PX_FN float
view_turned(uint k, uint x, uint y, shade_vector origin)
{
	PX_F z = (view_z(x, y) - origin.z) * VIEW.sign, share;

	if (x >= VIEW.own_w)
		return PX_NAN;
	if (VIEW.x != VIEW_NONE)
		share = VIEW.rotation[3u * k] * (gpu_in(VIEW.x, x, y) - origin.x) +
		    VIEW.rotation[3u * k + 1u] * (gpu_in(VIEW.y, x, y) - origin.y);
	else
		share = view_share(k, x, VIEW_NONE) + view_share(k, VIEW_NONE, y);
	return share + VIEW.rotation[3u * k + 2u] * z;
}
