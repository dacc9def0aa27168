#define _GNU_SOURCE
#include "run/all_invalid.h"

#include <stdio.h>

#include "base/fail.h"
#include "base/px.h"

void
all_invalid_begin(struct all_invalid *seen, bool handed_on)
{
	seen->in = seen->others = false;
	seen->out = handed_on;
}

static bool
any_valid(const struct frame *frame, size_t c, size_t channels, size_t y0, size_t y1)
{
	size_t points;

	if (frame->head.type != SAMPLE_FLOAT)
		return true;
	/* a table without rows is one of none, not of invalid ones */
	if (head_is_table(&frame->head) && head_points(&frame->head, &points) == 0 && points == 0)
		return true;
	for (; c < channels; c++)
		for (size_t y = y0; y < y1; y++) {
			const float *row = frame_row(frame, c, y);

			for (size_t x = 0; x < frame->head.w; x++)
				if (!px_isnan(row[x]))
					return true;
		}
	return false;
}

/* Of whole numbers nobody but the stage knows which are valid. */
static void
look_at_type(struct all_invalid *seen, const struct frame *in)
{
	if (in->head.type != SAMPLE_FLOAT)
		__atomic_store_n(&seen->whole, true, __ATOMIC_RELAXED);
}

/* At channels from c on, before `channels`. */
static void
look(bool *seen, const struct frame *frame, size_t c, size_t channels, size_t y0, size_t y1)
{
	if (!__atomic_load_n(seen, __ATOMIC_RELAXED) && any_valid(frame, c, channels, y0, y1))
		__atomic_store_n(seen, true, __ATOMIC_RELAXED);
}

static void
look_at_input(struct all_invalid *seen, const struct frame *in, size_t own, size_t y0, size_t y1)
{
	look_at_type(seen, in);
	look(&seen->in, in, 0, 1, y0, y1);
	look(&seen->others, in, 1, own, y0, y1);
}

void
all_invalid_scan(struct all_invalid *seen, const struct frame *in, size_t own,
    const struct frame *out, size_t y0, size_t y1)
{
	look_at_input(seen, in, own, y0, y1);
	look(&seen->out, out, 0, 1, y0, y1);
}

void
all_invalid_take(struct all_invalid *seen, const struct frame *in)
{
	seen->frames++;
	seen->in = seen->others = false;
	look_at_input(seen, in, in->head.c, 0, in->head.h);
	seen->inputs |= seen->in || seen->others;
}

void
all_invalid_emit(struct all_invalid *seen, const struct frame *out)
{
	seen->out = false;
	look(&seen->out, out, 0, 1, 0, out->head.h);
}

void
all_invalid_warn(struct all_invalid *seen, const struct frame_head *out, const char *hint,
    bool first)
{
	bool source = seen->frames == 0;	/* it has no input */
	bool empty = !seen->in && !seen->others && first && !source;
	char frame[40] = "";
	size_t points;

	seen->concluded = true;
	seen->inputs |= seen->in || seen->others;
	/* of an input whose first channel is empty a result has nothing there either; a picture of
	 * nothing is none */
	seen->results |= (seen->out && (seen->inputs || source)) || (!seen->in && seen->others);
	/* a table without rows has nothing that could be valid */
	if (head_is_table(out) && head_points(out, &points) == 0 && !points) {
		seen->results |= seen->inputs || source;
		return;
	}
	if (empty ? seen->warned_empty : seen->warned || seen->out || !seen->in)
		return;
	*(empty ? &seen->warned_empty : &seen->warned) = true;
	if (seen->frames > 1)
		snprintf(frame, sizeof(frame), " in frame %zu", seen->frames - 1);
	if (empty)
		warn(NULL, "no pixel of the input is valid%s", frame);
	else if (seen->whole && !hint)
		warn(NULL, "no pixel of %s is valid%s", out->channel[0], frame);
	else
		warn(NULL, "no pixel of %s is valid%s, though the input has some%s%s",
		    out->channel[0], frame, hint ? ": see " : "", hint ? hint : "");
}
