#include "holodec.glsl"

/* Is there background so near in the row? Outside of the image is none. */
void
main()
{
	uint x = gpu_x4(), y = gpu_y(), edge, first;
	block_at at = block_at(gpu.block);
	vec4 black = vec4(0.0f);

	if (gpu_outside(x, y))
		return;
	edge = at.b.edge;
	first = (x - min(x, edge)) & ~3u;
	for (uint group = first; group < min(x + 4 + edge, gpu.w); group += 4) {
		vec4 sine = levels4(at, at.b.sine, group, y);
		vec4 cosine = levels4(at, at.b.cosine, group, y);

		for (uint k = 0; k < 4; k++)
			for (uint i = 0; i < 4; i++)
				if (group + k < gpu.w && holodec_black(sine[k], cosine[k]) &&
				    abs(int(group + k) - int(x + i)) <= int(edge))
					black[i] = 1.0f;
	}
	gpu_scratch4_put(HOLODEC_BLACK, x, y, black);
}
