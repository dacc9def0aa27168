#include "fit.glsl"

/* vote(): the pixels around vote. */
struct votes {
	float against[UNDITHER3_TRIED];
	float same, broken;
};

void
vote(uint x, uint y, int dx, int dy, float here, float right, float down, inout votes votes)
{
	uint u = column(x, dx), v = row(y, dy);
	float turns = gpu_scratch(FIT_SURFACE, u, v);
	PX_F more = undither3_more(turns, here, right, down, float(dx), float(dy));
	PX_F counts = undither3_same(turns, more);
	PX_F over = gpu_scratch(FIT_ABOVE, u, v) - px_round(more);
	PX_F nearest = abs(dx) <= 1 && abs(dy) <= 1 ? 1.0f : 0.0f;
	PX_F same = votes.same + counts;
	PX_F broken = votes.broken + nearest * counts * gpu_scratch(FIT_BROKEN, u, v);
	float bit = bit_of(2, u, v);

	votes.same = same;
	votes.broken = broken;
	for (int k = 0; k < UNDITHER3_TRIED; k++) {
		PX_F against = votes.against[k] +
		    px_select(undither3_contradicts(bit, over, k), counts, 0.0f);

		votes.against[k] = against;
	}
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	float here, right, down, step;
	bool sure;
	votes v;

	if (gpu_outside(x, y) || gpu_scratch(FIT_INSIDE, x, y) == 0.0f)
		return;
	here = gpu_scratch(FIT_SURFACE, x, y);
	right = gpu_scratch(FIT_RIGHT, x, y);
	down = gpu_scratch(FIT_DOWN, x, y);
	v.same = v.broken = 0.0f;
	for (int k = 0; k < UNDITHER3_TRIED; k++)
		v.against[k] = 0.0f;
	for (int dy = -FIT_ORDERS; dy <= FIT_ORDERS; dy++)
		for (int dx = -FIT_ORDERS; dx <= FIT_ORDERS; dx++)
			vote(x, y, dx, dy, here, right, down, v);

	PX_F per_pixel = px_divide(at.b.height, 255.0f), orders = at.b.order_most + 1.0f;
	PX_F area = float((2 * FIT_ORDERS + 1) * (2 * FIT_ORDERS + 1));

	step = undither3_decide(v.against, v.same, v.broken, gpu_scratch(FIT_KEPT, x, y), area,
	    per_pixel);

	PX_F turns = gpu_scratch(FIT_MENDED, x, y) + step;

	sure = !px_isnan(step) && turns >= 0.0f && turns < orders;
	gpu_scratch_put(FIT_KEPT, x, y, sure ? 1.0f : 0.0f);
	if (sure)
		gpu_scratch_put(FIT_MENDED, x, y, turns);
}
