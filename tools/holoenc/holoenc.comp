#include "gpu/gpu.glsl"
#include "holo/holoenc.px.h"
#include "holoenc.block.h"

layout(buffer_reference, std430) readonly buffer block_at { holoenc_block b; };

void
main()
{
	uint x = gpu_x4(), y = gpu_y();
	block_at at = block_at(gpu.block);
	vec4 depth, sine, cosine, stair;

	if (gpu_outside(x, y))
		return;
	depth = gpu_in4(at.b.depth, x, y);
	for (int i = 0; i < 4; i++) {
		PX_F z = holoenc_normalise(depth[i], at.b.depth_zero, at.b.per_depth);
		PX_F turns = holo_turns(px_float(x + uint(i)), holoenc_clamp(z),
		    at.b.turns_per_column, at.b.turns_per_depth);
		PX_F order = holo_order(turns, at.b.order_most), rest = turns - order;
		PX_F flat_stair = at.b.base + order * at.b.height;
		PX_F wave = holo_stair_level(rest, at.b.base, at.b.swing, at.b.waves);
		PX_F waves = order * at.b.height + wave;
		PX_F r = holo_sine_level(rest), g = holo_cosine_level(rest);
		bool inside = holoenc_inside(z);

		if (at.b.angle != 0u) {
			holoenc_pair pair = holoenc_nearest(r, g, holoenc_ratio(r, g));

			r = pair.r;
			g = pair.g;
		}
		sine[i] = px_select(inside, holo_round(r), 0.0f);
		cosine[i] = px_select(inside, holo_round(g), 0.0f);
		stair[i] = px_select(inside,
		    holo_round(px_select(at.b.swing > 0.0f, waves, flat_stair)), 0.0f);
	}
	gpu_out4_uchar(at.b.place[0], x, y, sine);
	gpu_out4_uchar(at.b.place[1], x, y, cosine);
	gpu_out4_uchar(at.b.place[2], x, y, stair);
	if (at.b.texture == HOLOENC_NONE)
		return;
	precise vec4 grey = gpu_in4(at.b.texture, x, y), level;
	for (int i = 0; i < 4; i++) {
		level[i] = holo_round(grey[i] * at.b.texture_scale);
		level[i] = px_min(px_max(level[i], 0.0f), 255.0f);
		level[i] = px_select(px_isnan(grey[i]), 0.0f, level[i]);
	}
	gpu_out4_uchar(3, x, y, level);
}
