#include "holodec.glsl"

/* Columns x - 4 to x + 7 of a row of readings, NaN outside of the image. */
void
load_row(uint plane, uint x, uint y, out float v[12])
{
	for (uint k = 0; k < 3; k++) {
		uint first = x + 4 * k - 4;	/* below 0: large */
		vec4 four = first < gpu.w ? gpu_scratch4(plane, first, y) : vec4(PX_NAN);

		for (uint i = 0; i < 4; i++)
			v[4 * k + i] = first + i < gpu.w ? four[i] : PX_NAN;
	}
}

/* Medians of seven readings along the row, each as seen from the pixel in the middle. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	float rest[12], order[12], seen[7];
	vec4 median;

	if (gpu_outside(x, y))
		return;
	load_row(HOLODEC_REST, x, y, rest);
	load_row(HOLODEC_ORDER, x, y, order);
	for (uint i = 0; i < 4; i++) {
		float here = rest[i + 4];

		for (uint k = 0; k < 7; k++)
			seen[k] = seen_from(here, order[i + k + 1], rest[i + k + 1]);
		median[i] = holodec_median_of_7(seen[0], seen[1], seen[2], order[i + 4], seen[4],
		    seen[5], seen[6]);
		median[i] = px_select(px_isnan(here), PX_NAN, median[i]);
	}
	gpu_scratch4_put(HOLODEC_ALONG, x, y, median);
}
