#include "jump_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PAIRS 8192		/* looked at, about */
#define FAR_SHARE 0.001		/* of a Gray code: its first planes have few edges */
#define LEAST 6		/* pairs that jump by whole turns, from which on it is no chance */

/* Shares of the weight. On right captures of seven rigs 0.0004 at most jump by whole turns; with
 * wrong orders 0.01 to 0.1 do. Jumps of any size are whole numbers, within NEAR, by a quarter. */
#define WHOLE_SHARE 0.004
#define NEAR 0.125		/* turns */

#define TURN 6.2831853f

int
jump_check_plan(struct jump_check *check, const struct frame_head *head, char axis)
{
	size_t rows = PAIRS / head->w + 1;

	free(check->row);
	check->step = head->h > rows ? head->h / rows : 1;
	check->rows = coarse_grid_count(head->h, check->step);
	check->modulation = head_channel(head, "modulation");
	check->texture = head_channel(head, "texture");
	if (check->modulation == NO_CHANNEL || check->texture == NO_CHANNEL)
		check->modulation = check->texture = NO_CHANNEL;
	check->off = check->warned || axis != 'x';
	check->row = calloc(check->rows, sizeof(*check->row));
	return check->row ? 0 : fail_memory();
}

void
jump_check_free(struct jump_check *check)
{
	free(check->row);
	check->row = NULL;
}

static float
amplitude(const float *modulation, const float *texture, size_t x)
{
	return modulation ? modulation[x] * texture[x] : 1;
}

/* Is one of the two the only one that differs? Noise does that, and the edge of a Gray plane. */
static bool
is_alone(const float *absolute, size_t x, size_t w)
{
	bool first = x > 0 && fabsf(absolute[x + 1] - absolute[x - 1]) < TURN / 2;
	bool second = x + 2 < w && fabsf(absolute[x + 2] - absolute[x]) < TURN / 2;

	return first || second;
}

/* Bands may share rows: both store the same. */
void
jump_check_row(const struct jump_check *check, const struct frame *in, const float *absolute,
    size_t y)
{
	const float *modulation = NULL, *texture = NULL;
	double sum[6] = { 0 }, *kept;

	if (check->off || y % check->step)
		return;
	if (check->modulation != NO_CHANNEL) {
		modulation = frame_floats(in, check->modulation, y);
		texture = frame_floats(in, check->texture, y);
	}
	for (size_t x = 0; x + 1 < in->head.w; x++) {
		float jump = (absolute[x + 1] - absolute[x]) / TURN, turns = rintf(jump);
		float weight = amplitude(modulation, texture, x) *
		    amplitude(modulation, texture, x + 1);
		bool whole = fabsf(jump - turns) < (float)NEAR;

		weight *= weight;
		if (!(weight > 0 && weight < INFINITY) || isnan(jump))
			continue;
		sum[0] += (double)weight;
		if (fabsf(jump) < 0.5f || is_alone(absolute, x, in->head.w))
			continue;
		sum[!whole ? 4 : turns == 1 ? 1 : turns == -1 ? 2 : 3] += (double)weight;
		sum[5] += whole;
	}
	kept = (double *)&check->row[y / check->step];
	for (size_t i = 0; i < 6; i++)
		__atomic_store(&kept[i], &sum[i], __ATOMIC_RELAXED);
}

static const char *
cause(const struct jump_sums *sums, bool gray)
{
	double near = sums->up + sums->down;

	if (!gray)
		return "are the periods right, and in the order of the images?";
	if (sums->far > near)
		return "are the Gray planes in order, the most significant first "
		    "(phasewrap --order)?";
	if (fabs(sums->up - sums->down) < 0.2 * near)
		return "do --gray-cell and phasewrap --phase-origin (or --gray-offset) fit the "
		    "patterns?";
	return "do --gray-cell, --period and phasewrap --sign fit the patterns?";
}

void
jump_check_warn(struct jump_check *check, bool gray)
{
	struct jump_sums sums = { 0 };
	double whole;

	if (check->off)
		return;
	for (size_t i = 0; i < check->rows; i++) {
		sums.all += check->row[i].all;
		sums.up += check->row[i].up;
		sums.down += check->row[i].down;
		sums.far += check->row[i].far;
		sums.loose += check->row[i].loose;
		sums.pairs += check->row[i].pairs;
	}
	memset(check->row, 0, check->rows * sizeof(*check->row));
	whole = sums.up + sums.down + sums.far;
	if (sums.pairs < LEAST || whole < sums.loose ||
	    (whole - sums.loose / 3 < WHOLE_SHARE * sums.all &&
		!(gray && sums.far - sums.loose > FAR_SHARE * sums.all)))
		return;
	check->off = check->warned = true;
	warn("absphase", "%.2g %% of neighbours differ by whole turns, as wrong fringe orders do: "
	    "%s", 100 * whole / sums.all, cause(&sums, gray));
}
