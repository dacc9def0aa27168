#include "range.h"

#include <float.h>

#include "base/px.h"
#include "image/coarse_grid.h"

#define PIXELS 4096		/* of the coarse grid, about */
#define RANGE_BLOCKS 64		/* of rows, each with a range of its own */

struct ranging {
	const struct frame *frame;
	size_t channel;
	float low[RANGE_BLOCKS], high[RANGE_BLOCKS];
};

static void
range_block(void *arg, size_t i)
{
	struct ranging *ranging = arg;
	const struct frame *frame = ranging->frame;
	size_t h = frame->head.h, end = h * (i + 1) / RANGE_BLOCKS;
	float low = FLT_MAX, high = -FLT_MAX;

	for (size_t y = h * i / RANGE_BLOCKS; y < end; y++) {
		const float *restrict row = frame_floats(frame, ranging->channel, y);

		_Pragma("omp simd reduction(min:low) reduction(max:high)")
		for (size_t x = 0; x < frame->head.w; x++) {
			bool finite = px_abs(row[x]) <= FLT_MAX;
			float a = px_select(finite, row[x], FLT_MAX);
			float b = px_select(finite, row[x], -FLT_MAX);

			low = a < low ? a : low;
			high = b > high ? b : high;
		}
	}
	ranging->low[i] = low;
	ranging->high[i] = high;
}

void
range_find(struct run *run, const struct frame *frame, size_t channel, float *low, float *high)
{
	struct ranging ranging = { .frame = frame, .channel = channel };

	run_for(run, RANGE_BLOCKS, range_block, &ranging);
	*low = FLT_MAX;
	*high = -FLT_MAX;
	for (size_t i = 0; i < RANGE_BLOCKS; i++) {
		*low = px_min(*low, ranging.low[i]);
		*high = px_max(*high, ranging.high[i]);
	}
}

double
range_outside(const struct frame *frame, size_t channel, double low, double high, float *least,
    float *most)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS), n = 0, outside = 0;

	*least = FLT_MAX;
	*most = -FLT_MAX;
	for (size_t y = 0; y < frame->head.h; y += step) {
		const float *row = frame_floats(frame, channel, y);

		for (size_t x = 0; x < frame->head.w; x += step) {
			if (!(px_abs(row[x]) <= FLT_MAX))
				continue;
			*least = px_min(*least, row[x]);
			*most = px_max(*most, row[x]);
			outside += (double)row[x] < low || (double)row[x] > high;
			n++;
		}
	}
	return n ? (double)outside / (double)n : 0;
}
