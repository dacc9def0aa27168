#include "shade_surface.glsl"

/* step 0: the first point from the middle of the frame on. 1: the ends of turned X and Y. */

shared uint first, least[2], most[2];

void
main()
{
	uint points = VIEW.w * VIEW.h, id = gl_LocalInvocationID.x;
	shade_vector origin;

	if (id == 0u) {
		first = least[0] = least[1] = VIEW_UNSET;
		most[0] = most[1] = 0u;
	}
	barrier();
	if (VIEW.step == 1u)
		origin = view_origin();
	for (uint i = view_invocation(); i < points; i += view_groups() * VIEW_GROUP) {
		uint point = VIEW.step == 0u ? view_point(i) : i;
		uint x = point % VIEW.w, y = point / VIEW.w;

		if (VIEW.step == 0u) {
			if (shade_there(view_z(x, y)))
				atomicMin(first, i);
			continue;
		}
		PX_F across = view_turned(0u, x, y, origin), down = view_turned(1u, x, y, origin);

		if (!(shade_there(across) && shade_there(down)))
			continue;
		atomicMin(least[0], view_order(across));
		atomicMin(least[1], view_order(down));
		atomicMax(most[0], view_order(across));
		atomicMax(most[1], view_order(down));
	}
	barrier();
	if (id == 0u && VIEW.step == 0u)
		atomicMin(view_words().at[VIEW_ORIGIN], first);
	if (id < 2u && VIEW.step == 1u) {
		atomicMin(view_words().at[VIEW_LEAST + id], least[id]);
		atomicMax(view_words().at[VIEW_MOST + id], most[id]);
	}
}
