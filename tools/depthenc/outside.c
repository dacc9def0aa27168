#include "outside.h"

#include <float.h>
#include <string.h>

#define BLOCKS 64		/* of rows, for the threads */

struct counting {
	const struct depthcode_code *code;
	const struct frame *frame;
	size_t channel;
	size_t depths[BLOCKS], outside[BLOCKS];
	float low[BLOCKS], high[BLOCKS];
};

static void
count_block(void *arg, size_t i)
{
	struct counting *counting = arg;
	const struct frame *frame = counting->frame;
	float zero = counting->code->zero, per_depth = counting->code->per_depth;
	size_t h = frame->head.h;
	float low = FLT_MAX, high = -FLT_MAX;
	int depths, outside;

	for (size_t y = h * i / BLOCKS; y < h * (i + 1) / BLOCKS; y++) {
		const float *restrict row = frame_floats(frame, counting->channel, y);

		depths = outside = 0;
		_Pragma("omp simd reduction(min:low) reduction(max:high) \
		    reduction(+:depths,outside)")
		for (size_t x = 0; x < frame->head.w; x++) {
			float depth = row[x];
			PX_F z = depthcode_normalise(depth, zero, per_depth);
			bool nan = px_isnan(depth), inside = depthcode_inside(z);
			float a = px_select(nan, FLT_MAX, depth);
			float b = px_select(nan, -FLT_MAX, depth);

			low = a < low ? a : low;
			high = b > high ? b : high;
			depths += !nan;
			outside += !nan & !inside;
		}
		counting->depths[i] += (size_t)depths;
		counting->outside[i] += (size_t)outside;
	}
	counting->low[i] = low;
	counting->high[i] = high;
}

void
outside_count(struct run *run, struct outside *outside, const struct depthcode_code *code,
    const struct frame *frame, size_t channel)
{
	struct counting counting = { .code = code, .frame = frame, .channel = channel };
	double least = (double)code->zero, most = (double)code->zero + (double)code->extent;
	const char *axis = meta_get(&frame->head.meta, "z_axis");
	float low = FLT_MAX, high = -FLT_MAX;
	size_t depths = 0, n = 0;

	depth_use_count(&outside->use, run, frame, channel, least, most);
	hole_value_judge(&outside->hole, frame, channel, least, most,
	    axis && !strcmp(axis, "towards"));
	run_for(run, BLOCKS, count_block, &counting);
	for (size_t i = 0; i < BLOCKS; i++) {
		depths += counting.depths[i];
		n += counting.outside[i];
		low = px_min(low, counting.low[i]);
		high = px_max(high, counting.high[i]);
	}
	outside->depths += n;
	if (n && outside->frames++ == 0)
		warn("--depth-range", "%zu of %zu depths, which go from %.6g to %.6g, lie outside "
		    "of %.6g to %.6g and are lost", n, depths, (double)low, (double)high,
		    least, most);
}

void
outside_conclude(const struct outside *outside, double step)
{
	if (outside->frames > 1)
		warn("--depth-range", "in all %zu depths of %zu frames lay outside and are lost",
		    outside->depths, outside->frames);
	depth_use_conclude(&outside->use, step);
}
