#include "shade_surface.glsl"
#include "shade_normals.glsl"

/* The normals of a frame that has none. */
void
main()
{
	surface s = surface(VIEW.own_w, VIEW.h, VIEW.x, VIEW.y, VIEW.z, VIEW.sign, VIEW.right, VIEW.down,
	    view_float(VIEW_JUMP));
	uint across = (s.w + 3u) / 4u;

	for (uint i = view_invocation(); i < across * s.h; i += view_groups() * VIEW_GROUP) {
		uint x = 4u * (i % across), y = i / across;
		shade_vector normal[4];

		find_normals(s, x, y, normal);
		for (uint k = 0u; k < min(4u, s.w - x); k++) {
			view_normals(0u).at[y * s.w + x + k] = normal[k].x;
			view_normals(1u).at[y * s.w + x + k] = normal[k].y;
			view_normals(2u).at[y * s.w + x + k] = normal[k].z;
		}
	}
}
