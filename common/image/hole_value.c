#include "image/hole_value.h"

#include <float.h>
#include <stddef.h>
#include <stdio.h>

#include "base/fail.h"
#include "base/px.h"
#include "image/coarse_grid.h"

#define PIXELS 16384		/* of the coarse grid, about */
#define DEPTHS_LEAST 256	/* fewer say nothing */
#define HOLES_LEAST 16
#define SHARE_LEAST 0.001	/* of the depths; fewer are stray ones */
/* Nothing lies between the number and this share of the way to the other end of the depths: a
 * surface that meets it, as a relief its ground, has depths there. */
#define EMPTY 0.1

static const float below[] = { 0, -1, -999, -9999, -32768 };
#define ABOVE 65535.0f

/* The depths of a coarse grid: the two ends, what comes next to each, and how many have an end. */
struct ends {
	size_t n, n_low, n_high;
	float low, high, next_low, next_high;
};

static void
add(struct ends *ends, float depth)
{
	if (!(px_abs(depth) <= FLT_MAX))
		return;
	ends->n++;
	if (depth < ends->low) {
		ends->next_low = ends->low;
		ends->low = depth;
		ends->n_low = 0;
	} else if (depth > ends->low && depth < ends->next_low) {
		ends->next_low = depth;
	}
	if (depth > ends->high) {
		ends->next_high = ends->high;
		ends->high = depth;
		ends->n_high = 0;
	} else if (depth < ends->high && depth > ends->next_high) {
		ends->next_high = depth;
	}
	ends->n_low += depth == ends->low;
	ends->n_high += depth == ends->high;
}

static bool
is_filler(float low, bool towards)
{
	bool found = false;

	for (size_t i = towards; i < sizeof(below) / sizeof(*below); i++)
		found |= low == below[i];
	return found;
}

/* Do enough depths have the end, and does nothing lie near it? */
static bool
stands_apart(const struct ends *ends, size_t n, double gap, double others)
{
	return n >= HOLES_LEAST && (double)n >= SHARE_LEAST * (double)ends->n && n < ends->n &&
	    gap >= EMPTY * (gap + others);
}

void
hole_value_judge(struct hole_value *hole, const struct frame *frame, size_t channel, double low,
    double high, bool towards)
{
	struct coarse_grid grid = coarse_grid(frame->head.w, frame->head.h, PIXELS);
	struct ends ends = { .low = FLT_MAX, .high = -FLT_MAX, .next_low = FLT_MAX,
		.next_high = -FLT_MAX };
	bool is_low, is_high;
	double top, bottom;
	char others[64];
	float value;
	size_t n;

	if (hole->judged)
		return;
	for (size_t y = 0; y < frame->head.h; y += grid.step)
		for (size_t x = coarse_grid_shift(&grid, y); x < frame->head.w; x += grid.step)
			add(&ends, frame_sample(frame, channel, y, x));
	if (ends.n < DEPTHS_LEAST)
		return;
	hole->judged = true;
	is_high = ends.high == ABOVE && (double)ends.high <= high &&
	    stands_apart(&ends, ends.n_high, (double)ends.high - (double)ends.next_high,
	    (double)ends.next_high - (double)ends.low);
	top = is_high ? (double)ends.next_high : (double)ends.high;
	is_low = is_filler(ends.low, towards) && (double)ends.low >= low &&
	    stands_apart(&ends, ends.n_low, (double)ends.next_low - (double)ends.low,
	    top - (double)ends.next_low);
	if (!is_low && !is_high)
		return;
	n = is_low ? ends.n_low : ends.n_high;
	value = is_low ? ends.low : ABOVE;
	bottom = is_low ? (double)ends.next_low : (double)ends.low;
	if (bottom < top)
		snprintf(others, sizeof(others), "go from %.4g to %.4g", bottom, top);
	else
		snprintf(others, sizeof(others), "are %.4g", top);
	warn(NULL, "%.2g %% of the depths are exactly %g, and the others %s: are these holes? "
	    "framecat --invalid %g makes them so%s", 100 * (double)n / (double)ends.n,
	    (double)value, others, (double)value,
	    value == 0 ? "; if 0 is a plane behind, framecat --set z_axis=towards says so" : "");
}
