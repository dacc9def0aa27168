#include "shade_surface.glsl"

/* Counts values of some lists by their next bits, of those whose first bits are a rank's
 * (shade_rank.comp). A workgroup counts one list, or all where there are few workgroups. */

shared uint bins[2u * VIEW_BINS];	/* of a workgroup */

/* A value of list number n, for one of its two ranks. */
void
count(uint n, uint k, float value, uint times)
{
	uint order = view_order(value), low = 21u - min(11u * VIEW.step, 21u);
	uint bin = VIEW.step < 2u ? order >> low & 2047u : order & 1023u;

	if (VIEW.step == 0u ||
	    order >> (VIEW.step == 1u ? 21u : 10u) == view_words().at[VIEW_PREFIX + 2u * n + k])
		atomicAdd(bins[k * VIEW_BINS + bin], times);
}

void
count_both(uint n, float value, uint times)
{
	if (!shade_there(value))
		return;
	count(n, 0u, value, times);
	count(n, 1u, value, times);
}

/* ---- steps: add_step() and add_row() of common/mesh/mesh.c ---- */

PX_FN float
distance_of(float x, float y)
{
	return px_sqrt(x * x + y * y);
}

void
count_step(uint n, uint x, uint y, uint to_x, uint to_y, float spacing)
{
	PX_F dz = px_abs(gpu_in(VIEW.z, to_x, to_y) - gpu_in(VIEW.z, x, y)), lateral = spacing;

	if (VIEW.x != VIEW_NONE)
		lateral = distance_of(gpu_in(VIEW.x, to_x, to_y) - gpu_in(VIEW.x, x, y),
		    gpu_in(VIEW.y, to_x, to_y) - gpu_in(VIEW.y, x, y));
	if (!shade_there(dz) || !shade_there(lateral) || (dz == 0.0f && VIEW.scaled == 0u))
		return;
	count(n, 0u, dz, 1u);
	count(n, 1u, lateral, 1u);
}

void
count_steps(uint n, uint pixel)
{
	uint x = pixel % VIEW.own_w, y = pixel / VIEW.own_w;

	if (x + 1u < VIEW.own_w)
		count_step(n, x, y, x + 1u, y, VIEW.right);
	if (y + 1u < VIEW.h)
		count_step(n, x, y, x, y + 1u, VIEW.down);
}

/* ---- the colours: each pixel that is lit once counts, and one sample of the others; or where few
 * pixels are seen all four samples, and the others four times (find_colours() in shade_turned.c). ---- */

void
count_sample(uint sample_at, uint times)
{
	if (view_plane(VIEW_LIGHTS).at[sample_at] != VIEW_EMPTY)
		count_both(0u, px_from_bits(view_plane(VIEW_VALUES).at[sample_at]), times);
}

void
count_pixel(uint pixel)
{
	uint mixed = view_words().at[VIEW_MIXED], x = pixel % gpu.w, y = pixel / gpu.w;
	uint samples = VIEW.samples;
	bool few = mixed > view_words().at[VIEW_ONCE] / VIEW_MIXED_SHARE && mixed < VIEW_MIXED_MOST;

	if (view_is_once(x, y))
		count_sample(view_sample(x, y, 0u), few ? 4u : 1u);
	else if (samples == 2u && !few)
		count_sample(view_sample(x, y, pixel % 4u), 1u);
	else
		for (uint i = 0u; i < samples * samples; i++)
			count_sample(view_sample(x, y, i), 1u);
}

/* ---- lists ---- */

uint
items_of(uint list)
{
	uint points = VIEW.w * VIEW.h, own = VIEW.own_w * VIEW.h;

	if (list == VIEW_STEPS)
		return VIEW.jump > 0.0f ? 0u : (own + VIEW.jump_stride - 1u) / VIEW.jump_stride;
	if (list < VIEW_TOLERANCE)
		return (VIEW.h - 1u) / (VIEW.h / VIEW_LOOK_ROWS + 1u) * VIEW.w + VIEW.w;
	if (list == VIEW_TOLERANCE)
		return VIEW.tolerance >= 0.0f ? 0u :
		    (points - 1u) / (points / VIEW_TOLERANCE_SAMPLES | 1u) + 1u;
	if (list < VIEW_COLOURS)
		return view_words().at[VIEW_OUTLIES + list - VIEW_ALL] != 0u ? points : 0u;
	return gpu.w * view_height();
}

/* n: the number of the list among those that are found together. */
void
count_item(uint list, uint n, uint i, shade_vector origin)
{
	uint point = i * (VIEW.w * VIEW.h / VIEW_TOLERANCE_SAMPLES | 1u);
	uint x = i % VIEW.w, y = i / VIEW.w;

	if (list == VIEW_STEPS)
		count_steps(n, i * VIEW.jump_stride);
	else if (list == VIEW_COLOURS)
		count_pixel(i);
	else if (list != VIEW_TOLERANCE)
		count_both(n, view_turned((list - VIEW_LOOK) % 3u, x,
		    list < VIEW_ALL ? y * (VIEW.h / VIEW_LOOK_ROWS + 1u) : y, origin), 1u);
	else if (VIEW.value == VIEW.z)
		count_both(n, view_z(point % VIEW.w, point / VIEW.w), 1u);
	else if (point % VIEW.w < VIEW.own_w)
		count_both(n, gpu_in(VIEW.value, point % VIEW.w, point / VIEW.w), 1u);
}

void
main()
{
	uint id = gl_LocalInvocationID.x, shares = max(view_groups() / VIEW.lists, 1u);
	bool all = view_groups() < VIEW.lists;
	shade_vector origin = view_origin();

	for (uint n = 0u; n < VIEW.lists; n++) {
		uint list = VIEW.list + n, items = items_of(list);
		uint share = all ? view_group() : view_group() / VIEW.lists;

		if (items == 0u || (!all && (view_group() % VIEW.lists != n || share >= shares)))
			continue;
		for (uint i = id; i < 2u * VIEW_BINS; i += VIEW_GROUP)
			bins[i] = 0u;
		barrier();
		for (uint i = share * VIEW_GROUP + id; i < items;
		    i += (all ? view_groups() : shares) * VIEW_GROUP)
			count_item(list, n, i, origin);
		barrier();
		for (uint i = id; i < 2u * VIEW_BINS; i += VIEW_GROUP)
			if (bins[i] > 0u)
				atomicAdd(view_bins().at[2u * n * VIEW_BINS + i], bins[i]);
		barrier();
	}
}
