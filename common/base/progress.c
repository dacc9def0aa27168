#define _GNU_SOURCE
#include "base/progress.h"

#include <stdio.h>
#include <time.h>

#include "base/fail.h"

static struct {
	bool show, shown;
	double start, last;
	size_t operand, operands;
} state;

double
progress_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void
progress_start(bool show)
{
	state.show = show;
	state.shown = false;
	state.start = state.last = progress_seconds();
	state.operand = state.operands = 0;
}

void
progress_input(size_t operand, size_t operands)
{
	state.operand = operand;
	state.operands = operands;
}

void
progress_tick(size_t frames)
{
	double now, spent;

	if (!state.show)
		return;
	now = progress_seconds();
	spent = now - state.start;
	if (spent < 1.0 || now - state.last < 0.2)
		return;
	state.last = now;
	state.shown = true;
	fprintf(stderr, "\r%s: %zu frames, %.1f frames/s", fail_program(), frames,
	    (double)frames / spent);
	if (state.operand > 0)
		fprintf(stderr, ", %.0f s left  ",
		    spent / (double)state.operand * (double)(state.operands - state.operand));
	fflush(stderr);
}

void
progress_end(void)
{
	if (state.shown)
		fputs("\r\033[K", stderr);
}
