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
#define KEPT 4		/* rows, of which the middle ones are a pair of neighbours */

int
jump_check_plan(struct jump_check *check, const struct frame_head *head, char axis)
{
	size_t rows = PAIRS / head->w + 1;

	jump_check_free(check);
	check->along_y = axis == 'y';
	check->w = head->w;
	check->step = head->h > rows ? head->h / rows : 1;
	if (check->along_y && check->step < KEPT)
		check->step = KEPT;
	check->rows = coarse_grid_count(head->h, check->step);
	check->modulation = head_channel(head, "modulation");
	check->texture = head_channel(head, "texture");
	if (check->modulation == NO_CHANNEL || check->texture == NO_CHANNEL)
		check->modulation = check->texture = NO_CHANNEL;
	check->off = check->warned;
	check->row = calloc(check->rows, sizeof(*check->row));
	if (!check->row)
		return fail_memory();
	if (!check->along_y)
		return 0;
	check->kept = calloc(check->rows * 2 * KEPT, check->w * sizeof(*check->kept));
	if (!check->kept)
		return fail_memory();
	for (size_t i = 0; i < check->rows * 2 * KEPT * check->w; i++)
		check->kept[i] = NAN;	/* rows below the last one */
	return 0;
}

void
jump_check_free(struct jump_check *check)
{
	free(check->row);
	free(check->kept);
	check->row = NULL;
	check->kept = NULL;
}

/* A pair of neighbours on its line, with the one before and the one behind; weight: the product of
 * their amplitudes. */
static inline void
add_pair(double sum[6], float before, float a, float b, float behind, float weight)
{
	float jump = (b - a) / TURN, turns = rintf(jump);
	bool whole = fabsf(jump - turns) < (float)NEAR;

	weight *= weight;
	if (!(weight > 0 && weight < INFINITY) || isnan(jump))
		return;
	sum[0] += (double)weight;
	/* one that differs from both neighbours alone: noise does that, and the edge of a Gray
	 * plane */
	if (fabsf(jump) < 0.5f || fabsf(b - before) < TURN / 2 || fabsf(behind - a) < TURN / 2)
		return;
	sum[!whole ? 4 : turns == 1 ? 1 : turns == -1 ? 2 : 3] += (double)weight;
	sum[5] += whole;
}

/* The amplitudes of row y of `in`, or 1. */
static float
amplitude(const struct jump_check *check, const struct frame *in, size_t y, size_t x)
{
	if (check->modulation == NO_CHANNEL)
		return 1;
	return frame_floats(in, check->modulation, y)[x] * frame_floats(in, check->texture, y)[x];
}

/* Bands may share rows: both store the same. */
static void
keep_row(const struct jump_check *check, const struct frame *in, const float *absolute, size_t y)
{
	float *to = check->kept + (y / check->step * 2 * KEPT + y % check->step) * check->w;

	for (size_t x = 0; x < check->w; x++) {
		float weight = amplitude(check, in, y, x);

		__atomic_store(&to[x], &absolute[x], __ATOMIC_RELAXED);
		__atomic_store(&to[KEPT * check->w + x], &weight, __ATOMIC_RELAXED);
	}
}

static void
look_along_row(const struct jump_check *check, const struct frame *in, const float *absolute,
    size_t y, double sum[6])
{
	const float *modulation = NULL, *texture = NULL;
	size_t w = check->w;
	float last, next;

	if (check->modulation != NO_CHANNEL) {
		modulation = frame_floats(in, check->modulation, y);
		texture = frame_floats(in, check->texture, y);
	}
	last = modulation ? modulation[0] * texture[0] : 1;
	for (size_t x = 0; x + 1 < w; x++, last = next) {
		next = modulation ? modulation[x + 1] * texture[x + 1] : 1;
		add_pair(sum, x > 0 ? absolute[x - 1] : NAN, absolute[x], absolute[x + 1],
		    x + 2 < w ? absolute[x + 2] : NAN, last * next);
	}
}

void
jump_check_row(const struct jump_check *check, const struct frame *in, const float *absolute,
    size_t y)
{
	double sum[6] = { 0 }, *kept;

	if (check->off)
		return;
	if (check->along_y && y % check->step < KEPT)
		keep_row(check, in, absolute, y);
	if (check->along_y || y % check->step)
		return;
	look_along_row(check, in, absolute, y, sum);
	kept = (double *)&check->row[y / check->step];
	for (size_t i = 0; i < 6; i++)
		__atomic_store(&kept[i], &sum[i], __ATOMIC_RELAXED);
}

/* The pairs of rows that were kept: the middle ones of four. */
static void
look_along_columns(struct jump_check *check)
{
	for (size_t i = 0; i < check->rows; i++) {
		const float *absolute = check->kept + i * 2 * KEPT * check->w;
		const float *weight = absolute + KEPT * check->w;
		size_t w = check->w;

		for (size_t x = 0; x < w; x++)
			add_pair((double *)&check->row[i], absolute[x], absolute[w + x],
			    absolute[2 * w + x], absolute[3 * w + x],
			    weight[w + x] * weight[2 * w + x]);
	}
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
	if (check->along_y)
		look_along_columns(check);
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
