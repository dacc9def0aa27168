#include "shade_surface.glsl"

/*
 * Draws the cells of the grid (turned_rows.c), one attribute at a time. The first pass leaves the
 * least key of each sample; a further one the least value of its attribute among the hits that have
 * what the passes before it left. So no order of the cells shows, the nearest hit is drawn, and of
 * hits with the same key the one that stays on the processor, too.
 *
 * An invocation takes a cell of few samples alone; a workgroup shares one of many.
 */

#define OWN_MOST 32u	/* samples */
/* Mesa's llvmpipe leaves a loop, without an error, when a shader has gone through loops 65535
 * times. */
#define LOOPS_MOST 60000u

struct cell {
	uint x, y;
	bool falling, first, second;	/* its diagonal, its triangles */
	float sign;			/* -1: seen from behind */
	float ux, uy, px, py, vx, vy, qx, qy;
	float left, top;		/* its samples: */
	uint columns, n;
};

/* What shade_rank.comp has left. */
float factor[8], jump;
shade_vector origin;

/* An attribute of a point; of one outside of the frame, which has no weight, that of the last
 * column. */
float
own(uint k, uint x, uint y)
{
	uint c = VIEW.channel[k];

	x = min(x, VIEW.own_w - 1u);
	if (c == VIEW_FOUND)
		return view_normals(k - 1u).at[y * VIEW.own_w + x];
	if (c == VIEW_COLUMN || c == VIEW_ROW)
		return view_share(2u, c == VIEW_COLUMN ? x : VIEW_NONE, y);
	return gpu_in(c, x, y);
}

bool
is_step(float a, float b)
{
	PX_F step = px_abs(a - b);

	return shade_there(a) && shade_there(b) && step <= jump;
}

/* Picture x (k = 0) or y (4) of a point. */
PX_FN float
place(uint k, uint x, uint y, float z)
{
	PX_F of_column = factor[k] * float(x), of_row = factor[k + 1u] * float(y);
	PX_F far = factor[k + 2u] * (z - origin.z), row = factor[k + 3u] + of_row;

	if (VIEW.x != VIEW_NONE) {
		x = min(x, VIEW.own_w - 1u);
		of_column = factor[k] * (gpu_in(VIEW.x, x, y) - origin.x) +
		    factor[k + 1u] * (gpu_in(VIEW.y, x, y) - origin.y);
		row = factor[k + 3u];
	}
	return (of_column + row) + far;
}

PX_FN float
cross_of(float ax, float ay, float bx, float by)
{
	return ax * by - ay * bx;
}

/* The samples of a row or column, of which there are n, between four places. */
bool
find_ends(float a, float b, float c, float d, uint n, out float low, out uint samples)
{
	PX_F least = px_min(px_min(a, b), px_min(c, d)), most = px_max(px_max(a, b), px_max(c, d));
	PX_F end = float(n), last = end - 1.0f;
	PX_F first = -px_floor(-px_min(px_max(least, 0.0f), end));
	PX_F final = floor(px_min(px_max(most, -1.0f), last));
	bool some = -1e9f <= least && most <= 1e9f && first <= final;
	PX_F more = final - first;

	low = first;
	samples = some ? uint(more) + 1u : 0u;
	return some;
}

cell
cell_at(uint id)
{
	uint w = VIEW.w - 1u, rows;
	cell c;

	c.x = id % w;
	c.y = id / w;
	c.n = 0u;
	float za = view_z(c.x, c.y), zb = view_z(c.x + 1u, c.y);
	float zc = view_z(c.x, c.y + 1u), zd = view_z(c.x + 1u, c.y + 1u);
	PX_F falls = px_abs(za - zd), rises = px_abs(zb - zc);
	bool whole = shade_there(za) && shade_there(zd), other = shade_there(zb) && shade_there(zc);
	bool above = is_step(za, zb), below = is_step(zc, zd);
	bool left = is_step(za, zc), right = is_step(zb, zd), split;

	c.falling = !other || (whole && falls < rises);
	split = c.falling ? whole && falls <= jump : rises <= jump;
	c.first = split && above && (c.falling ? right : left);
	c.second = split && below && (c.falling ? left : right);
	if (!c.first && !c.second)
		return c;

	PX_F ax = place(0u, c.x, c.y, za), ay = place(4u, c.x, c.y, za);
	PX_F bx = place(0u, c.x + 1u, c.y, zb), by = place(4u, c.x + 1u, c.y, zb);
	PX_F cx = place(0u, c.x, c.y + 1u, zc), cy = place(4u, c.x, c.y + 1u, zc);
	PX_F dx = place(0u, c.x + 1u, c.y + 1u, zd), dy = place(4u, c.x + 1u, c.y + 1u, zd);

	c.ux = c.falling ? ax : cx;
	c.uy = c.falling ? ay : cy;
	c.px = c.falling ? bx : ax;
	c.py = c.falling ? by : ay;
	c.vx = c.falling ? dx : bx;
	c.vy = c.falling ? dy : by;
	c.qx = c.falling ? cx : dx;
	c.qy = c.falling ? cy : dy;
	if (!find_ends(c.ux, c.vx, c.first ? c.px : c.ux, c.second ? c.qx : c.ux, VIEW.columns,
	    c.left, c.columns) || !find_ends(c.uy, c.vy, c.first ? c.py : c.uy,
	    c.second ? c.qy : c.uy, VIEW.rows, c.top, rows))
		return c;
	c.n = c.columns * rows;
	PX_F sx = (c.first ? c.px : c.vx) - c.ux, sy = (c.first ? c.py : c.vy) - c.uy;
	PX_F tx = (c.first ? c.vx : c.qx) - c.ux, ty = (c.first ? c.vy : c.qy) - c.uy;

	c.sign = cross_of(sx, sy, tx, ty) < 0.0f ? -1.0f : 1.0f;
	c.ux = c.sign * c.ux;
	c.px = c.sign * c.px;
	c.vx = c.sign * c.vx;
	c.qx = c.sign * c.qx;
	return c;
}

/* The product of a weight and what a corner has; 0 without weight, of a corner that is missing as well.
 */
PX_FN float
weighted(float weight, float of_corner)
{
	return px_select(weight == 0.0f, 0.0f, weight * of_corner);
}

/* Settles a hit, whose weights are of_u, of_v, and of_third of the corner p of a first triangle or
 * q of a second one. */
void
put_hit(cell c, uint sample_at, bool first, float of_u, float of_v, float of_third)
{
	PX_F sum = of_u + of_v + of_third, size = px_abs(sum);
	/* by a power of two, so that the division has no extreme number */
	PX_F by = px_select(size < 1e-9f, 281474976710656.0f,
	    px_select(size > 1e9f, 3.552713678800501e-15f, 1.0f));
	PX_F near_1 = sum * by;

	if (sum == 0.0f)		/* no area */
		return;
	if (!px_moderate(near_1)) {
		view_words().at[VIEW_FAILED] = 1u;
		return;
	}
	PX_F all = px_divide(1.0f, near_1) * by;
	PX_F u = of_u * all, v = of_v * all, third = of_third * all;
	float p = first ? third : 0.0f, q = first ? 0.0f : third;
	float wa = c.falling ? u : p, wb = c.falling ? p : v;
	float wc = c.falling ? q : u, wd = c.falling ? v : q;

	for (uint k = 0u; k <= VIEW.step; k++) {
		PX_F above = weighted(wa, own(k, c.x, c.y)) + weighted(wb, own(k, c.x + 1u, c.y));
		PX_F below = weighted(wc, own(k, c.x, c.y + 1u)) +
		    weighted(wd, own(k, c.x + 1u, c.y + 1u));
		PX_F value = above + below;
		uint order;

		if (k == 0u)
			value = value * VIEW.facing;
		order = view_order(value);
		if (k == 0u && order >= view_order(px_from_bits(0x7f800000u)))
			return;
		if (k == VIEW.step)
			atomicMin(view_plane(k).at[sample_at], order);
		else if (view_plane(k).at[sample_at] != order)
			return;
	}
}

bool
same_sign(float a, float b, float c)
{
	return ((px_bits(a) ^ px_bits(b) | px_bits(b) ^ px_bits(c)) & 0x80000000u) == 0u;
}

/* Is sample i of the cell in a triangle, and where? */
void
test_sample(cell c, uint i)
{
	PX_F x = c.left + float(i % c.columns), y = c.top + float(i / c.columns);
	PX_F across = c.sign * x;
	PX_F ux = c.ux - across, uy = c.uy - y, px = c.px - across, py = c.py - y;
	PX_F vx = c.vx - across, vy = c.vy - y, qx = c.qx - across, qy = c.qy - y;
	PX_F up = cross_of(ux, uy, px, py), pv = cross_of(px, py, vx, vy);
	PX_F vu = cross_of(vx, vy, ux, uy), vq = cross_of(vx, vy, qx, qy);
	PX_F qu = cross_of(qx, qy, ux, uy), uv = cross_of(ux, uy, vx, vy);
	uint at = uint(y) * VIEW.columns + uint(x);

	if (c.first && same_sign(up, pv, vu))
		put_hit(c, at, true, pv, up, vu);
	if (c.second && same_sign(vq, qu, uv))
		put_hit(c, at, false, vq, qu, uv);
}

shared uint wide[VIEW_GROUP], wides, most;

void
main()
{
	uint id = gl_LocalInvocationID.x, cells = (VIEW.w - 1u) * (VIEW.h - 1u), loops = 0u;
	uint loops_of_sample = 3u + 2u * VIEW.step;

	for (uint i = 0u; i < 8u; i++)
		factor[i] = view_float(VIEW_FACTOR + i);
	jump = view_float(VIEW_JUMP);
	origin = view_origin();
	for (uint from = view_group() * VIEW_GROUP; from < cells;
	    from += view_groups() * VIEW_GROUP) {
		cell c;

		if (id == 0u)
			wides = most = 0u;
		barrier();
		c.n = 0u;
		if (from + id < cells)
			c = cell_at(from + id);
		if (c.n > OWN_MOST) {
			wide[atomicAdd(wides, 1u)] = from + id;
			c.n = 0u;
		}
		atomicMax(most, c.n);
		for (uint i = 0u; i < c.n; i++)
			test_sample(c, i);
		barrier();
		loops += 1u + most * loops_of_sample;
		for (uint k = 0u; k < wides && loops <= LOOPS_MOST; k++) {
			c = cell_at(wide[k]);
			loops += 1u + (1u + c.n / VIEW_GROUP) * loops_of_sample;
			for (uint i = id; i < c.n && loops <= LOOPS_MOST; i += VIEW_GROUP)
				test_sample(c, i);
		}
		if (loops > LOOPS_MOST) {
			view_words().at[VIEW_FAILED] = 1u;
			break;
		}
		barrier();
	}
}
