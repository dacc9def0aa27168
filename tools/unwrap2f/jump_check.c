#include "jump_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "image/coarse_grid.h"

#define PAIRS 8192		/* looked at, about */
#define FAR_SHARE 0.001		/* of a Gray code: its first planes have few edges */
#define LEAST 6		/* pairs that jump by whole turns, from which on it is no chance */

/* Jumps by a beat: of pixels so far apart, for scatter lets pixels near the beat's end change
 * sides; by most of its turns, for the phase rises in between. No right phase jumps so far. */
#define APART 24
#define MOST_OF_BEAT 0.8
#define BEATS_LEAST 5		/* lines that do */
#define BEATS_SQUARE 90		/* the excess of one direction, squared, over all: random is 9 */

/* Shares of the weight. On right captures of seven rigs 0.0004 at most jump by whole turns; with
 * wrong orders 0.01 to 0.1 do. Jumps of any size are whole numbers, within NEAR, by a quarter. */
#define WHOLE_SHARE 0.004
#define NEAR 0.125		/* turns */

#define TURN 6.2831853f
#define BLOCK 64	/* pairs, of which most rows have none that jumps */
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

size_t
jump_check_kept_bytes(const struct jump_check *check)
{
	return check->rows * 2 * KEPT * check->w * sizeof(*check->kept);
}

void
jump_check_free(struct jump_check *check)
{
	free(check->row);
	free(check->kept);
	check->row = NULL;
	check->kept = NULL;
}

#define SUMS 8		/* of struct jump_sums */

_Static_assert(sizeof(struct jump_sums) == SUMS * sizeof(double), "nothing but sums");

/* Of two neighbours with these amplitudes; 0 where one is not known. */
static inline float
pair_weight(float a, float b)
{
	float weight = a * b * (a * b);

	return weight > 0 && weight < INFINITY ? weight : 0;
}

/* A pair of neighbours on its line that differ by half a turn or more, with the one before and the
 * one behind. */
static void
add_jump(double sum[SUMS], float before, float a, float b, float behind, float weight)
{
	float apart = b - a, turns = rintf(apart / TURN);
	bool whole = fabsf(apart / TURN - turns) < (float)NEAR;

	/* one that differs from both neighbours alone: noise does that, and the edge of a Gray
	 * plane */
	if (weight == 0 || fabsf(b - before) < TURN / 2 || fabsf(behind - a) < TURN / 2)
		return;
	sum[!whole ? 4 : turns == 1 ? 1 : turns == -1 ? 2 : 3] += (double)weight;
	sum[5] += whole;
}

/* How many radians are a jump by a beat. */
static float
check_beat(const struct jump_check *check)
{
	return check->beat_turns >= 2 ? TURN * (float)(MOST_OF_BEAT * check->beat_turns) : INFINITY;
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

/* Of n pairs of neighbours, BLOCK at most: the weight of those that both have a phase. *jumps: one
 * differs by half a turn. modulation and texture may be NULL. */
static float
sum_block(const float *modulation, const float *texture, const float *absolute, size_t n,
    bool *jumps)
{
	uint32_t far = 0;
	float all = 0;

#pragma omp simd reduction(| : far)
	for (size_t x = 0; x < n; x++)
		far |= fabsf(absolute[x + 1] - absolute[x]) >= TURN / 2;
	*jumps = far;
	if (!modulation) {
#pragma omp simd reduction(+ : all)
		for (size_t x = 0; x < n; x++)
			all += isnan(absolute[x + 1] - absolute[x]) ? 0.0f : 1.0f;
		return all;
	}
#pragma omp simd reduction(+ : all)
	for (size_t x = 0; x < n; x++) {
		float weight = pair_weight(modulation[x] * texture[x],
		    modulation[x + 1] * texture[x + 1]);

		all += isnan(absolute[x + 1] - absolute[x]) ? 0.0f : weight;
	}
	return all;
}

static void
look_along_row(const struct jump_check *check, const struct frame *in, const float *absolute,
    size_t y, double sum[SUMS])
{
	const float *modulation = NULL, *texture = NULL;
	size_t w = check->w, end;

	if (check->modulation != NO_CHANNEL) {
		modulation = frame_floats(in, check->modulation, y);
		texture = frame_floats(in, check->texture, y);
	}
	for (size_t first = 0; first + 1 < w; first = end) {
		bool jumps;

		end = w - 1 - first < BLOCK ? w - 1 : first + BLOCK;
		sum[0] += (double)sum_block(modulation ? modulation + first : NULL,
		    modulation ? texture + first : NULL, absolute + first, end - first, &jumps);
		for (size_t x = first; jumps && x < end; x++) {
			float weight;

			if (!(fabsf(absolute[x + 1] - absolute[x]) >= TURN / 2))
				continue;
			weight = modulation ? pair_weight(modulation[x] * texture[x],
			    modulation[x + 1] * texture[x + 1]) : 1;
			add_jump(sum, x ? absolute[x - 1] : NAN, absolute[x], absolute[x + 1],
			    x + 2 < w ? absolute[x + 2] : NAN, weight);
		}
	}
}

static void
look_apart(const struct jump_check *check, const float *absolute, double sum[SUMS])
{
	uint32_t up = 0, down = 0;
	float beat = check_beat(check);

	if (!(beat < INFINITY) || check->w <= APART)
		return;
#pragma omp simd reduction(+ : up, down)
	for (size_t x = 0; x < check->w - APART; x++) {
		float jump = absolute[x + APART] - absolute[x];

		up += jump > beat;
		down += -jump > beat;
	}
	sum[6] += up;
	sum[7] += down;
}

bool
jump_check_wanted(const struct jump_check *check, size_t y)
{
	return !check->off && y % check->step < (check->along_y ? KEPT : 1);
}

void
jump_check_row(const struct jump_check *check, const struct frame *in, const float *absolute,
    size_t y)
{
	double sum[SUMS] = { 0 }, *kept;

	if (check->along_y) {
		keep_row(check, in, absolute, y);
		return;
	}
	look_along_row(check, in, absolute, y, sum);
	look_apart(check, absolute, sum);
	kept = (double *)&check->row[y / check->step];
	for (size_t i = 0; i < SUMS; i++)
		__atomic_store(&kept[i], &sum[i], __ATOMIC_RELAXED);
}

/* How many pairs that are so far apart a jump lies between, in a line. */
static size_t
pairs_apart(const struct jump_check *check)
{
	if (!check->along_y)
		return APART;
	return check->step < APART ? APART / check->step : 1;
}

/* The pairs of rows that were kept: the middle ones of four, and those further apart. */
static void
look_along_columns(struct jump_check *check)
{
	size_t apart = pairs_apart(check), stride = 2 * KEPT * check->w;
	float beat = check_beat(check);

	for (size_t i = 0; i + apart < check->rows; i++) {
		const float *a = check->kept + i * stride, *b = a + apart * stride;

		for (size_t x = 0; x < check->w; x++) {
			check->row[i].beat_up += b[x] - a[x] > beat;
			check->row[i].beat_down += a[x] - b[x] > beat;
		}
	}
	for (size_t i = 0; i < check->rows; i++) {
		const float *absolute = check->kept + i * 2 * KEPT * check->w;
		const float *weight = absolute + KEPT * check->w;
		size_t w = check->w;

		for (size_t x = 0; x < w; x++) {
			float a = absolute[w + x], b = absolute[2 * w + x];
			float pair = pair_weight(weight[w + x], weight[2 * w + x]);

			check->row[i].all += isnan(b - a) ? 0 : (double)pair;
			if (fabsf(b - a) >= TURN / 2)
				add_jump((double *)&check->row[i], absolute[x], a, b,
				    absolute[3 * w + x], pair);
		}
	}
}

static const char *
cause(const struct jump_sums *sums, bool gray)
{
	double near = sums->up + sums->down;

	if (!gray)
		return "are the periods right, and in the order of the images?";
	if (sums->far > near)
		return "are the Gray planes in order, the most significant first, and not "
		    "inverted (phasewrap --order, or the rows of its manifest)?";
	if (fabs(sums->up - sums->down) < 0.2 * near)
		return "do --gray-cell and phasewrap --phase-origin (or --gray-offset) fit the "
		    "patterns?";
	return "do --gray-cell, --period and phasewrap --sign fit the patterns?";
}

/* In several lines, in one direction. */
static bool
passes_beat(const struct jump_check *check, const struct jump_sums *sums)
{
	double excess = fabs(sums->beat_up - sums->beat_down);

	return excess >= (double)(BEATS_LEAST * pairs_apart(check)) &&
	    excess * excess > BEATS_SQUARE * (sums->beat_up + sums->beat_down);
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
		sums.beat_up += check->row[i].beat_up;
		sums.beat_down += check->row[i].beat_down;
	}
	memset(check->row, 0, check->rows * sizeof(*check->row));
	whole = sums.up + sums.down + sums.far;
	if (passes_beat(check, &sums)) {
		check->off = check->warned = true;
		warn("absphase",
		    "%s by %.3g turns from a pixel to the next, as at the end of a beat that is "
		    "too short: is more than %.5g px of the projector seen? %s, a Gray code or "
		    "--line tells",
		    sums.beat_up > sums.beat_down ? "rises" : "falls", check->beat_turns,
		    check->beat_px, check->field_tells ? "Their number (--field)" :
		    "A third period");
		return;
	}
	if (sums.pairs < LEAST || whole < sums.loose ||
	    (whole - sums.loose / 3 < WHOLE_SHARE * sums.all &&
		!(gray && sums.far - sums.loose > FAR_SHARE * sums.all)))
		return;
	check->off = check->warned = true;
	warn("absphase", "%.2g %% of neighbours differ by whole turns, as wrong fringe orders do: "
	    "%s", 100 * whole / sums.all, cause(&sums, gray));
}
