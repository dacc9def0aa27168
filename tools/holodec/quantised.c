#include "quantised.h"

#include <limits.h>

#include "base/cpu_level.h"
#include "holodec.px.h"

#define SIDE 8			/* pixels of JPEG's blocks */
#define APART (2 * SIDE)	/* every second row of blocks is looked at */
#define STEP_LEAST 3		/* levels: the rounding of samples hides finer steps */
#define STEP_MOST 40
#define STEP_75 6
#define COARSER_MOST 6
#define ZERO 1.5f		/* levels: what is rounded to 0 is less */
#define SEEN_LEAST 20		/* frequencies that are not */
#define OFF_MOST 0.125f		/* steps that these are off multiples on average; 0.25 by chance */

/* cos((2 k + 1) pi / 16) / sqrt(32): the orthonormal transform of columns' sums. */
static const float weight[SIDE] = { 0.173379981f, 0.146984450f, 0.098211870f, 0.034487422f,
	-0.034487422f, -0.098211870f, -0.146984450f, -0.173379981f };

struct sums {
	float luma[TILE];	/* of columns */
	unsigned char cut[TILE];	/* a sample is at the end of its range */
};

static void
add_luma(const float *restrict level, float share, struct sums *restrict sums, size_t n)
{
	CPU_SIMD
	for (size_t i = 0; i < n; i++) {
		sums->luma[i] += share * level[i];
		sums->cut[i] |= (level[i] <= 0) | (level[i] >= UCHAR_MAX);
	}
}

static void
add_row(const struct growing *growing, size_t y, size_t x, size_t n, struct sums *sums)
{
	const struct reading *reading = growing->reading;
	const float share[3] = { 0.299f, 0.587f, 0.114f };
	float level[TILE];

	for (int c = reading->rgb ? 0 : 2; c < 3; c++) {
		tile_load_samples(growing->stored, reading->channel[c], y, x, n, level);
		add_luma(level, reading->rgb ? share[c] : 1, sums, n);
	}
}

/* The frequency of a block; 0 where it may not be that which JPEG rounded. */
static float
frequency(const struct sums *sums, size_t first)
{
	float sum = 0;

	for (size_t k = 0; k < SIDE; k++) {
		if (sums->cut[first + k])
			return 0;
		sum += weight[k] * sums->luma[first + k];
	}
	return px_abs(sum);
}

/* The frequencies of a row of blocks, the jth that is looked at. */
static void
transform_row(void *arg, size_t j)
{
	const struct growing *growing = arg;
	size_t w = growing->regions->w;
	float *out = growing->regions->certainty + j * (w / SIDE);

	for (size_t x = 0; x + SIDE <= w; x += TILE) {
		size_t n = w - x < TILE ? w - x : TILE;
		struct sums sums = { 0 };

		for (size_t y = j * APART; y < j * APART + SIDE; y++)
			add_row(growing, y, x, n, &sums);
		for (size_t i = 0; i + SIDE <= n; i += SIDE)
			*out++ = frequency(&sums, i);
	}
}

/* Are those of n frequencies that are not 0 multiples of the step? */
static bool
fits(const float *restrict value, size_t n, float step)
{
	float per_step = 1 / step;
	int seen = 0, off = 0;

#pragma omp simd reduction(+ : seen, off)
	for (size_t i = 0; i < n; i++) {
		PX_F steps = value[i] * per_step, away = px_abs(steps - px_round(steps));
		bool is = value[i] > ZERO;

		seen += is;
		off += is ? (int)(away * VOTE_STEPS) : 0;
	}
	return seen >= SEEN_LEAST && (float)off < OFF_MOST * VOTE_STEPS * (float)seen;
}

void
quantised_find(struct run *run, struct growing *growing)
{
	struct regions *regions = growing->regions;
	size_t rows = (regions->h + SIDE) / APART;
	int step = STEP_MOST;

	if (growing->stored->head.type != SAMPLE_UCHAR)
		return;
	run_for(run, rows, transform_row, growing);
	while (step >= STEP_LEAST &&
	    !fits(regions->certainty, rows * (regions->w / SIDE), (float)step))
		step--;
	if (step >= STEP_LEAST)
		growing->coarser = (float)(step - STEP_75 < COARSER_MOST ? step - STEP_75
								     : COARSER_MOST);
}
