#include "clamped.h"

#include <math.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PIXELS 4096		/* of a channel, about */
#define SHARE 0.01		/* of its samples that are clamped, */
#define SHARE_SCALED 0.9	/* where the range is given: most may lie outside on purpose */
#define LEVELS_LEAST 4.0	/* of 16 bits; of 8 bits a flat object may have but one */
#define FRACTIONS 0.1		/* of its samples that are no whole numbers */

struct seen {
	double n, outside, min, max;
	double fractions;	/* of what lies between -1.5 and 1.5 */
};

static struct seen
look(const struct frame *frame, size_t c, double low, double high)
{
	struct seen seen = { .min = INFINITY, .max = -INFINITY };
	size_t step = coarse_grid_step(frame->head.w, frame->head.h, PIXELS);

	for (size_t y = 0; y < frame->head.h; y += step) {
		const float *row = frame_floats(frame, c, y);

		for (size_t x = 0; x < frame->head.w; x += step) {
			double v = (double)row[x];

			if (!isfinite(v))
				continue;
			seen.n++;
			seen.outside += v < low || v > high;
			seen.fractions += fabs(v) > 1e-3 && fabs(fabs(v) - 1) > 1e-3;
			seen.min = v < seen.min ? v : seen.min;
			seen.max = v > seen.max ? v : seen.max;
		}
	}
	return seen;
}

bool
clamped_warn(const struct frame *frame, const struct encoding *encoding)
{
	double largest = encoding->type == SAMPLE_UCHAR ? UINT8_MAX : UINT16_MAX;
	bool given = encoding->range.kind == RANGE_GIVEN;
	double low = given ? fmin(encoding->range.low, encoding->range.high) : 0;
	double high = given ? fmax(encoding->range.low, encoding->range.high) : largest;
	double half = given ? 0 : 0.5;		/* is rounded to what stands for it */

	if (encoding->type == SAMPLE_FLOAT || encoding->range.kind == RANGE_AUTO ||
	    encoding->fill < 0 || encoding->fill > largest)	/* which convert_encode() refuses */
		return false;
	for (size_t c = 0; c < frame->head.c; c++) {
		struct seen seen = look(frame, c, low - half, high + half);

		if (seen.outside > (given ? SHARE_SCALED : SHARE) * seen.n) {
			warn(given ? "--scale" : "--as", "about %.0f %% of channel %s, which goes "
			    "from %.4g to %.4g, lie outside %g to %g and are clamped: %s spans "
			    "them", fmax(1, 100 * seen.outside / seen.n), frame->head.channel[c],
			    seen.min, seen.max, low, high,
			    given ? "--scale auto" : "--scale LO,HI, or --scale auto,");
			return true;
		}
		if (given && encoding->type == SAMPLE_USHORT && seen.max > seen.min &&
		    (seen.max - seen.min) * largest < LEVELS_LEAST * (high - low)) {
			warn("--scale", "channel %s goes from %.4g to %.4g, fewer than %g levels "
			    "of 65535 on the scale %g to %g: is that in its unit? --scale auto "
			    "spans it", frame->head.channel[c], seen.min, seen.max, LEVELS_LEAST,
			    low, high);
			return true;
		}
		if (!given && seen.fractions > FRACTIONS * seen.n && seen.min > -1.5 &&
		    seen.max < 1.5) {
			warn("--as", "channel %s goes from %.4g to %.4g, of which whole numbers "
			    "leave nothing: --scale LO,HI, or --scale auto, spans it",
			    frame->head.channel[c], seen.min, seen.max);
			return true;
		}
	}
	return false;
}
