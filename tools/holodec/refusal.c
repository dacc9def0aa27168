#include "refusal.h"

#include <stdio.h>

#include "base/px.h"

#define WARNED_MOST 5	/* refused pictures that get a line each */

const char *const refusal_words[] = { "nan", "skip", "stop", NULL };

int
refusal_take(struct run *run, struct refusals *refusals, int word)
{
	size_t number = run_inputs(run) + 1;
	bool again = refusals->last == number;	/* the runner may survey a frame twice */
	struct fail_record reason;
	char object[40];

	if (word < 0)
		word = run_keeps_going(run) || !refusals->decoded ? REFUSAL_STOP : REFUSAL_NAN;
	if (word == REFUSAL_STOP || fail_is_memory())
		return -1;
	fail_take(&reason);
	refusals->refused += !again;
	refusals->all = refusals->last = number;
	refusals->now = word == REFUSAL_NAN;
	snprintf(object, sizeof(object), "frame %zu", number - 1);
	if (!again && refusals->refused <= WARNED_MOST)
		warn(object, "%s: %s", word == REFUSAL_SKIP ? "is left out" : "is NaN",
		    reason.message);
	return word == REFUSAL_SKIP ? SURVEY_SKIPS : 0;
}

void
refusal_none(const struct run *run, struct refusals *refusals)
{
	refusals->all = run_inputs(run) + 1;
	refusals->decoded = true;
	refusals->now = false;
}

void
refusal_rows(struct frame *out, size_t texture, size_t y0, size_t y1)
{
	for (size_t c = 0; c < out->head.c; c++)
		for (size_t y = y0; y < y1 && c != texture; y++) {
			float *row = frame_floats(out, c, y);

			for (size_t x = 0; x < out->head.w; x++)
				row[x] = PX_NAN;
		}
}

int
refusal_end(const struct refusals *refusals, int word)
{
	if (word != REFUSAL_SKIP || refusals->refused == 0 || refusals->decoded)
		return 0;
	return fail("--on-refusal", "skip leaves nothing: every picture was refused");
}

void
refusal_conclude(const struct refusals *refusals)
{
	if (refusals->refused > WARNED_MOST)
		warn(NULL, "%zu of %zu frames were refused", refusals->refused,
		    refusals->all);
}
