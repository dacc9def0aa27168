#include "wff.glsl"

/* Transforms of the windows' columns, of their rows, and back: a workgroup takes some lines of a
 * window, side by side in shared memory. */

shared float re[WFF_SHARED], im[WFF_SHARED];

/* Exclusive or keeps neighbours along either direction in different banks of the memory. */
uint
place_of(block_at at, uint i, uint line)
{
	return i * at.b.lines + (line ^ (i & (at.b.lines - 1u)));
}

/* Pixel x, y of a window, weighted; 0 outside the window and the image. */
vec2
taken(block_at at, uint j, uint k, uint x, uint y)
{
	uint column = centre_of(at, k, gpu.w) + x - at.b.reach;	/* left of the image: large */
	uint row = centre_of(at, at.b.row + j * at.b.apart, gpu.h) + y - at.b.reach;

	if (x >= at.b.weights || y >= at.b.weights || column >= gpu.w || row >= gpu.h)
		return vec2(0);
	float across = table(WFF_WEIGHT(at.b.n) + x), down = table(WFF_WEIGHT(at.b.n) + y);

	return vec2(wff_weighted(gpu_in(0, column, row), across, down),
	    wff_weighted(gpu_in(1, column, row), across, down));
}

/* Frequency x, y of a window, 0 where it does not exceed the noise or is outside the band. */
vec2
passed(block_at at, gpu_floats window, uint x, uint y)
{
	uint n = at.b.n;
	float a = window.at[y * n + x], b = window.at[WFF_IM(n) + y * n + x];

	if (table(WFF_KEEP(n) + x) > 0.0f && table(WFF_KEEP(n) + n + y) > 0.0f &&
	    wff_power(a, b) > window.at[WFF_LEAST(n)])
		return vec2(a, b);
	return vec2(0);
}

/* The lines from `first` on come to shared memory, or leave it. */
void
move(block_at at, gpu_floats window, uint j, uint first, bool leave)
{
	uint n = at.b.n, shift = findMSB(at.b.along_rows != 0u ? n : at.b.lines);

	for (uint i = gl_LocalInvocationID.x; i < at.b.lines * n; i += WFF_GROUP) {
		uint low = i & ((1u << shift) - 1u), high = i >> shift;
		uint along = at.b.along_rows != 0u ? low : high;
		uint line = at.b.along_rows != 0u ? high : low;
		uint x = at.b.along_rows != 0u ? low : first + low;
		uint y = at.b.along_rows != 0u ? first + high : high;
		uint to = place_of(at, along, line);
		vec2 v;

		if (leave) {
			window.at[y * n + x] = re[to];
			window.at[WFF_IM(n) + y * n + x] = im[to];
			continue;
		}
		if (at.b.along_rows != at.b.inverse)
			v = vec2(window.at[y * n + x], window.at[WFF_IM(n) + y * n + x]);
		else if (at.b.inverse != 0u)
			v = passed(at, window, x, y);
		else
			v = taken(at, j, gl_WorkGroupID.x, x, y);
		re[to] = v.x;
		im[to] = v.y;
	}
	barrier();
}

/* The sums of squares of the columns from `first` on. */
void
sum_squares(block_at at, gpu_floats window, uint first)
{
	for (uint line = gl_LocalInvocationID.x; line < at.b.lines; line += WFF_GROUP) {
		PX_F sum = 0.0f;

		for (uint i = 0u; i < at.b.weights; i++) {
			uint from = place_of(at, i, line);

			sum = sum + wff_power(re[from], im[from]);
		}
		window.at[WFF_SQUARES(at.b.n) + first + line] = sum;
	}
	barrier();
}

/* Blocks of two samples. */
void
pairs(block_at at)
{
	uint shift = findMSB(at.b.lines);

	for (uint i = gl_LocalInvocationID.x; i < at.b.lines * at.b.n / 2u; i += WFF_GROUP) {
		uint line = i & (at.b.lines - 1u), first = 2u * (i >> shift);
		uint a = place_of(at, first, line), b = place_of(at, first + 1u, line);
		PX_F sum_re = re[a] + re[b], difference_re = re[a] - re[b];
		PX_F sum_im = im[a] + im[b], difference_im = im[a] - im[b];

		re[a] = sum_re;
		im[a] = sum_im;
		re[b] = difference_re;
		im[b] = difference_im;
	}
	barrier();
}

/* Blocks of `size` samples: four, from 4 on. */
void
fours(block_at at, uint size)
{
	uint shift = findMSB(at.b.lines), n = at.b.n, quarter = size / 4u, mask = quarter - 1u;

	for (uint i = gl_LocalInvocationID.x; i < at.b.lines * n / 4u; i += WFF_GROUP) {
		uint line = i & (at.b.lines - 1u), number = i >> shift, k = number & mask;
		uint first = (number & ~mask) * 4u + k, a = place_of(at, first, line);
		uint b = place_of(at, first + quarter, line);
		uint c = place_of(at, first + 2u * quarter, line);
		uint d = place_of(at, first + 3u * quarter, line);
		uint m = n - 1u, step = k * (n / size);
		wff_twiddles w;
		wff_four v, to;

		w.c1 = table(step);
		w.s1 = table(WFF_SIN(n) + step);
		w.c2 = table(2u * step & m);
		w.s2 = table(WFF_SIN(n) + (2u * step & m));
		w.c3 = table(3u * step & m);
		w.s3 = table(WFF_SIN(n) + (3u * step & m));
		v.ar = re[a];
		v.ai = im[a];
		v.br = re[b];
		v.bi = im[b];
		v.cr = re[c];
		v.ci = im[c];
		v.dr = re[d];
		v.di = im[d];
		if (at.b.inverse != 0u)
			to = wff_join(v, w);
		else
			to = wff_split(v, w);
		re[a] = to.ar;
		im[a] = to.ai;
		re[b] = to.br;
		im[b] = to.bi;
		re[c] = to.cr;
		im[c] = to.ci;
		re[d] = to.dr;
		im[d] = to.di;
	}
	barrier();
}

/* The steps of columns_forward() and columns_inverse() of wff_rows.c. */
void
transform(block_at at)
{
	uint n = at.b.n, odd = findMSB(n) & 1u;

	if (at.b.inverse == 0u)
		for (uint size = n; size >= 4u; size /= 4u)
			fours(at, size);
	if (odd != 0u)
		pairs(at);
	if (at.b.inverse != 0u)
		for (uint size = odd != 0u ? 8u : 4u; size <= n; size *= 4u)
			fours(at, size);
}

void
main()
{
	block_at at = block_at(gpu.block);
	uint parts = at.b.n / at.b.lines;

	for (uint i = gl_WorkGroupID.y; i < at.b.items; i += gl_NumWorkGroups.y) {
		uint j = i / parts, first = i % parts * at.b.lines;
		gpu_floats window = window_at(at, j, gl_WorkGroupID.x);

		move(at, window, j, first, false);
		if (at.b.power > 0.0f && at.b.along_rows == 0u && at.b.inverse == 0u)
			sum_squares(at, window, first);
		transform(at);
		move(at, window, j, first, true);
	}
}
