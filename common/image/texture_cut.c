#include "image/texture_cut.h"

#include <float.h>

#include "base/fail.h"
#include "base/px.h"

#define STRIPES 64		/* of rows, for the threads */
#define WHITE_MOST 127		/* of samples up to 1: a larger one leaves less than two levels */

struct cutting {
	const struct frame *frame;
	size_t channel;
	float least, most;		/* samples beyond are cut */
	size_t cut[STRIPES];
	float low[STRIPES], high[STRIPES];
};

static void
cut_stripe(void *arg, size_t i)
{
	struct cutting *cutting = arg;
	const struct frame_head *head = &cutting->frame->head;
	float least = cutting->least, most = cutting->most, low = FLT_MAX, high = -FLT_MAX;

	for (size_t y = head->h * i / STRIPES; y < head->h * (i + 1) / STRIPES; y++) {
		const float *restrict row = frame_floats(cutting->frame, cutting->channel, y);
		int cut = 0;

		_Pragma("omp simd reduction(min:low) reduction(max:high) reduction(+:cut)")
		for (size_t x = 0; x < head->w; x++) {
			float v = row[x];

			low = v < low ? v : low;
			high = v > high ? v : high;
			cut += (v < least) | (v > most);
		}
		cutting->cut[i] += (size_t)cut;
	}
	cutting->low[i] = low;
	cutting->high[i] = high;
}

bool
texture_warn_black(const char *name, double low, double high, double white)
{
	if (high > 0 && high <= 1 && white > WHITE_MOST)
		warn(NULL, "samples of %s go from %.3g to %.3g, and white is %.6g: the "
		    "texture becomes black; is key max_value what white is?", name, low, high,
		    white);
	return high > 0;
}

void
texture_cut_count(struct texture_cut *cut, struct run *run, const struct frame *frame,
    size_t channel, float levels_per_unit, float most)
{
	struct cutting cutting = { .frame = frame, .channel = channel,
		.least = -0.5f / levels_per_unit, .most = (most + 0.5f) / levels_per_unit };
	size_t n = 0, number = run_inputs(run) + 1;
	float low = FLT_MAX, high = -FLT_MAX;

	if (cut->last == number)
		return;		/* the runner may survey a frame twice */
	cut->last = number;
	run_for(run, STRIPES, cut_stripe, &cutting);
	for (size_t i = 0; i < STRIPES; i++) {
		n += cutting.cut[i];
		low = px_min(low, cutting.low[i]);
		high = px_max(high, cutting.high[i]);
	}
	cut->samples += n;
	if (!cut->bright)
		cut->bright = texture_warn_black(frame->head.channel[channel], (double)low,
		    (double)high, (double)(most / levels_per_unit));
	if (n && cut->frames++ == 0)
		warn("--texture", "%zu of %zu samples of %s, which go from %.6g to %.6g, lie "
		    "outside of 0 to %.6g and are cut: is key max_value what white is?", n,
		    frame->head.w * frame->head.h, frame->head.channel[channel], (double)low,
		    (double)high, (double)(most / levels_per_unit));
}

void
texture_cut_conclude(const struct texture_cut *cut)
{
	if (cut->frames > 1)
		warn("--texture", "in all %zu samples of %zu frames lay outside and were cut",
		    cut->samples, cut->frames);
}

void
texture_warn_colours(const struct frame_head *head, const char *cure, bool *warned)
{
	if (*warned || (head_channel(head, "depth") == NO_CHANNEL &&
	    head_channel(head, "z") == NO_CHANNEL) || head_channel(head, "r") == NO_CHANNEL ||
	    head_channel(head, "g") == NO_CHANNEL || head_channel(head, "b") == NO_CHANNEL)
		return;
	*warned = true;
	warn("r g b", "the frame's colours are dropped: %s", cure);
}
