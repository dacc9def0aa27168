#include "holes.h"

#include <math.h>

#include "base/fail.h"
#include "fringe/channel_kinds.h"
#include "image/coarse_grid.h"

#define PIXELS 4096		/* of a channel, about */
#define SHARE 0.01		/* of the pixels that are NaN, and of the values that become 0 */

/* What a picture shows as it is. */
static const char *const light[] = { "image", "texture", "modulation", "gray", "r", "g", "b", "a",
	NULL };

struct ends {
	double first, last;	/* what the samples 0 and the largest stand for */
};

/* Of every step-th pixel of every step-th row. */
static struct ends
find_ends(const struct frame *frame, size_t c, size_t step)
{
	struct ends ends = { INFINITY, -INFINITY };

	for (size_t y = 0; y < frame->head.h; y += step)
		for (size_t x = 0; x < frame->head.w; x += step) {
			double v = (double)frame_floats(frame, c, y)[x];

			if (!isfinite(v))
				continue;
			ends.first = fmin(ends.first, v);
			ends.last = fmax(ends.last, v);
		}
	return ends;
}

/* Warns of one channel. */
static bool
warn_channel(const struct frame *frame, size_t c, size_t step, struct ends ends, double largest)
{
	double all = 0, missing = 0, zeros = 0, limit = (ends.last - ends.first) / largest / 2;

	for (size_t y = 0; y < frame->head.h; y += step)
		for (size_t x = 0; x < frame->head.w; x += step) {
			double v = (double)frame_floats(frame, c, y)[x];

			all++;
			missing += isnan(v);
			zeros += limit > 0 ? v - ends.first < limit : v - ends.first > limit;
		}
	if (missing < SHARE * all || zeros < SHARE * (all - missing))
		return false;
	warn("--as", "%.2g %% of channel %s are NaN and become 0, as %.2g %% do that are numbers: "
	    "--fill V keeps holes apart", 100 * missing / all, frame->head.channel[c],
	    100 * zeros / all);
	return true;
}

bool
holes_warn(const struct frame *frame, const struct encoding *encoding)
{
	double largest = encoding->type == SAMPLE_UCHAR ? UINT8_MAX : UINT16_MAX;
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS);

	if (encoding->type == SAMPLE_FLOAT || !isnan(encoding->fill))
		return false;
	for (size_t c = 0; c < frame->head.c; c++) {
		struct ends ends = { 0, largest };

		if (channel_is_named(frame->head.channel[c], light))
			continue;
		if (encoding->range.kind == RANGE_GIVEN)
			ends = (struct ends){ encoding->range.low, encoding->range.high };
		else if (encoding->range.kind == RANGE_AUTO)
			ends = find_ends(frame, c, step);
		if (ends.first != ends.last && warn_channel(frame, c, step, ends, largest))
			return true;
	}
	return false;
}
