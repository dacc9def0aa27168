#include "gpu/gpu.glsl"
#include "unwrap2f.px.h"
#include "unwrap2f.block.h"

layout(buffer_reference, std430) readonly buffer block_at { unwrap2f_cells_block b; };

/* Channel c at pixel k of the line through (x, y) along the code's axis. */
float
sample_at(block_at at, uint c, uint x, uint y, int k)
{
	return at.b.along_y != 0 ? gpu_in(c, x, uint(k)) : gpu_in(c, uint(k), y);
}

/* As in unwrap2f_rows.c. */
unwrap2f_edge_at
find_edge(block_at at, uint x, uint y, int from, int step, float other)
{
	int here = int(at.b.along_y != 0 ? y : x), n = int(at.b.along_y != 0 ? gpu.h : gpu.w);

	for (int k = from; k >= 0 && k + 1 < n && abs(k - here) < UNWRAP2F_REACH; k += step) {
		float v = sample_at(at, at.b.index, x, y, k);
		float w = sample_at(at, at.b.index, x, y, k + 1);
		float edge = sample_at(at, at.b.edge, x, y, k), value = unwrap2f_edge(v, w);
		PX_F place = float(k - here) + edge;

		if (px_isnan(v) || px_isnan(w) || (px_isnan(edge) && v != w))
			break;
		if (!px_isnan(edge) && value != other)
			return unwrap2f_edge_at(true, k, place, value,
			    sample_at(at, at.b.edge_sigma, x, y, k), v, w);
	}
	return unwrap2f_edge_at(false, 0, 0.0f, PX_NAN, 0.0f, 0.0f, 0.0f);
}

unwrap2f_place
between_edges(block_at at, uint x, uint y)
{
	int here = int(at.b.along_y != 0 ? y : x);
	unwrap2f_edge_at none = unwrap2f_edge_at(false, 0, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f);
	unwrap2f_edge_at e[4] = unwrap2f_edge_at[4](none, none, none, none); /* left to right */

	for (int i = 0; i < 4; i++) { /* both inner ones, then those beyond them */
		int to = i < 2 ? i + 1 : 3 * i - 6, inner = to == 0 ? 1 : 2;
		int step = to < 2 ? -1 : 1, from = i == 0 ? here - 1 : i == 1 ? here : e[inner].k + step;
		float other = i == 0 ? PX_NAN : i == 1 ? e[1].value : e[inner].value;

		if (i < 2 || e[inner].found)
			e[to] = find_edge(at, x, y, from, step, other);
	}
	return unwrap2f_place_between(e[0], e[1], e[2], e[3]);
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y();
	block_at at = block_at(gpu.block);
	float place = 0.5f, sigma = UNWRAP2F_CELL_SIGMA, index, absolute;

	if (gpu_outside(x, y))
		return;
	index = gpu_in(at.b.index, x, y);
	if (at.b.edges != 0 && !px_isnan(index)) {
		unwrap2f_place between = between_edges(at, x, y);
		PX_F in_cell = between.code - index;

		if (between.found && unwrap2f_meets(in_cell)) {
			place = in_cell;
			sigma = between.sigma;
		}
	}
	absolute = unwrap2f_in_cell(index, place, at.b.offset, at.b.most);
	gpu_out(0, x, y, px_select(px_isnan(absolute), PX_NAN, absolute));
	gpu_out(1, x, y, px_select(px_isnan(absolute), PX_NAN, sigma));
}
