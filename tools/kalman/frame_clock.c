#include "frame_clock.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "image/statistics.h"

/* The frame's own time; NaN: it has none. */
static int
read_time(const struct frame_head *head, double *time_s)
{
	if (meta_mean(&head->meta, "time_s", time_s) < 0)
		return -1;
	return isinf(*time_s) ? fail(NULL, "key time_s must be a time in seconds") : 0;
}

static void
add_interval(struct frame_clock *clock, double interval)
{
	double sorted[FRAME_CLOCK_INTERVALS];
	size_t n;

	clock->interval[clock->n++ % FRAME_CLOCK_INTERVALS] = interval;
	n = clock->n < FRAME_CLOCK_INTERVALS ? clock->n : FRAME_CLOCK_INTERVALS;
	memcpy(sorted, clock->interval, n * sizeof(*sorted));
	clock->usual = statistics_quantile(sorted, n, 0.5);
}

int
frame_clock_step(struct frame_clock *clock, const struct frame_head *head, size_t frames,
    double *elapsed)
{
	double time_s, since;

	if (read_time(head, &time_s) < 0)
		return -1;
	if (clock->started && clock->timed == isnan(time_s))
		return fail(NULL, "some frames have the key time_s, and some do not");
	clock->timed = !isnan(time_s);
	since = time_s - clock->last_s;
	if (!clock->started || clock->usual == 0)
		clock->usual = 1;
	if (clock->started && clock->timed && since > 0)
		add_interval(clock, since / (double)frames);
	if (clock->started && clock->timed && !(since > 0) && !clock->warned) {
		warn(NULL, "key time_s does not rise from frame to frame, %.9g s behind %.9g s: "
		    "counted as one frame later", time_s, clock->last_s);
		clock->warned = true;
	}
	*elapsed = clock->started && clock->timed && since > 0 ? since :
	    clock->usual * (double)frames;
	clock->last_s = time_s;
	clock->started = true;
	return 0;
}
