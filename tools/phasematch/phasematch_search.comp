#include "phasematch.glsl"

/* The disparity of a pixel by bisection, as phasematch_rows.c walks to it. */

layout(buffer_reference, std430) readonly buffer block_at { phasematch_pair b; };

/* The last span that begins no later than the value; -1: it lies before all. */
int
find_span(phasematch_lists lists, float value, uint y)
{
	int low = -1, high = 2 * int(list_at(lists.runs, 0u, y));

	while (high - low > 1) {
		int middle = (low + high) / 2;

		if (list_at(lists.from, uint(middle), y) <= value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The left pixel of the bracket that holds the value; PHASEMATCH_NONE. */
uint
find(phasematch_lists lists, float value, uint y)
{
	int span = find_span(lists, value, y);
	uint first = 0u, last = 0u;

	if (span < 0)
		return PHASEMATCH_NONE;
	first = uint(list_at(lists.first, uint(span), y));
	last = uint(list_at(lists.last, uint(span), y));
	/* a run holds its last value too, where none begins there */
	while (first == last && span > 0 && list_at(lists.from, uint(span), y) == value) {
		span--;
		first = uint(list_at(lists.first, uint(span), y));
		last = uint(list_at(lists.last, uint(span), y));
	}
	if (first == last)
		return PHASEMATCH_NONE;
	while (last - first > 1u) {
		uint middle = first + (last - first) / 2u;

		if (list_at(lists.values, middle, y) <= value)
			first = middle;
		else
			last = middle;
	}
	return first;
}

/* Where in the left row the value of a right pixel lies; NaN. */
float
match_back(phasematch_lists left, float value, uint y)
{
	uint at = find(left, value, y);
	PX_F place;

	if (at == PHASEMATCH_NONE)
		return PX_NAN;
	place = float(at) + phasematch_within(value, list_at(left.values, at, y),
	    list_at(left.values, at + 1u, y));
	return place;
}

void
main()
{
	uint x = gl_GlobalInvocationID.x, y = gpu_y(), at = PHASEMATCH_NONE;
	block_at block = block_at(gpu.block);
	float value, a, b, within, found = PX_NAN, deviation = PX_NAN;

	if (gpu_outside(x, y))
		return;
	value = list_at(block.b.left.values, x, y);
	if (!px_isnan(value))
		at = find(block.b.right, value, y);
	if (at != PHASEMATCH_NONE) {
		PX_F step;
		bool agrees = true;

		a = list_at(block.b.right.values, at, y);
		b = list_at(block.b.right.values, at + 1u, y);
		step = b - a;
		within = phasematch_within(value, a, b);
		if (block.b.back != 0u)
			agrees = phasematch_agrees(match_back(block.b.left, within >= 0.5f ? b : a,
			    y), float(x), block.b.both_ways);
		if (agrees)
			found = phasematch_disparity(float(int(x) - int(at)), within);
		if (agrees && block.b.has_sigma != 0u && at >= 2u && at + 3u < block.b.right.w)
			step = phasematch_mean_step(step, list_at(block.b.right.values, at - 2u, y),
			    list_at(block.b.right.values, at + 3u, y));
		if (agrees && block.b.has_sigma != 0u)
			deviation = phasematch_sigma(list_at(block.b.left.sigmas, x, y),
			    list_at(block.b.right.sigmas, at, y),
			    list_at(block.b.right.sigmas, at + 1u, y), within, step,
			    block.b.correlation);
	}
	gpu_scratch_put(block.b.disparity, x, y, found);
	if (block.b.has_sigma != 0u)
		gpu_scratch_put(block.b.sigma, x, y, deviation);
}
