#include "image/depth_use.h"

#include <math.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PIXELS 4096		/* of the coarse grid, about */
#define LEAST 64		/* depths: fewer say nothing */
#define STRAY 1000		/* one in so many depths may lie elsewhere */
#define SMALL (1.0 / 32)	/* of the range */

void
depth_use_add(struct depth_use *use, const struct frame *frame, size_t channel, double low,
    double high)
{
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS);

	use->low = low;
	use->high = high;
	for (size_t y = 0; y < frame->head.h; y += step) {
		const float *row = frame_floats(frame, channel, y);

		for (size_t x = 0; x < frame->head.w; x += step) {
			double at = ((double)row[x] - low) / (high - low) * DEPTH_USE_PARTS;

			if (!(at >= 0 && at <= DEPTH_USE_PARTS))
				continue;
			use->above = use->above || at > 0;
			use->depths++;
			use->count[at < DEPTH_USE_PARTS ? (size_t)at : DEPTH_USE_PARTS - 1]++;
		}
	}
}

void
depth_use_count(struct depth_use *use, const struct run *run, const struct frame *frame,
    size_t channel, double low, double high)
{
	size_t number = run_inputs(run) + 1;

	if (use->last == number)
		return;		/* the runner may survey a frame twice */
	use->last = number;
	depth_use_add(use, frame, channel, low, high);
}

/* The fewest parts in a row that hold so many of the depths. */
static size_t
narrowest(const struct depth_use *use, size_t wanted)
{
	size_t least = DEPTH_USE_PARTS, from = 0, n = 0;

	for (size_t to = 0; to < DEPTH_USE_PARTS; to++) {
		n += use->count[to];
		while (n >= wanted) {
			least = to + 1 - from < least ? to + 1 - from : least;
			n -= use->count[from++];
		}
	}
	return least;
}

/* The share of the range that nearly all depths use; 1 where they say nothing. */
static double
share_used(const struct depth_use *use)
{
	/* what is all at the range's least depth has it exactly */
	if (use->depths < LEAST || !use->above)
		return 1;
	return (double)narrowest(use, use->depths - use->depths / STRAY) / DEPTH_USE_PARTS;
}

bool
depth_use_warn_stray(const struct frame *frame, size_t channel, double low, double high,
    double step)
{
	struct depth_use use = { 0 };
	double share;

	depth_use_add(&use, frame, channel, low, high);
	share = share_used(&use);
	if (share <= SMALL)
		warn(NULL, "the depths go from %.4g to %.4g, and 99.9 %% of them use %.2g %% of "
		    "that, in steps of %.3g: stray depths? give --depth-range", low, high,
		    100 * share, step);
	return share <= SMALL;
}

void
depth_use_conclude(const struct depth_use *use, double step)
{
	double share = share_used(use);

	if (share <= SMALL)
		warn("--depth-range", "99.9 %% of the depths use %.2g %% of the range %.6g to "
		    "%.6g, in steps of %.3g: is the range in the unit of the depths, and without "
		    "stray ones?", 100 * share, use->low, use->high, step);
}
