/*
 * Do matched points look alike? Phases of fringes that run up and down match in any row, so a pair
 * that is not rectified, or by the wrong side or calibration, gives as many points as a right one.
 * The textures tell: blocks of the left one are compared with what they match, moved up and down.
 * Moved to either side in the same row, they tell of phases that count from another place.
 */
#include "row_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "phasematch.px.h"

#define BLOCK 24		/* pixels a side */
#define STEP 3			/* rows from one shift to the next */
#define STEPS 6			/* up and down */
#define REACH (STEP * STEPS)
#define SHIFTS (2 * STEPS + 1)
#define PIXELS 400000		/* that are compared, about */
#define FILLED 0.8		/* of a block */
#define ALIKE 0.8		/* correlation of textures that show the same */
#define CLEAR 0.05		/* more of it than APART steps beside */
#define APART 2
#define ENOUGH 12		/* blocks: real pairs have 100 of them and more */

struct block {
	double n, a, aa, b[SHIFTS], bb[SHIFTS], ab[SHIFTS];
};

/* Blocks that look alike somewhere, and those that do so where they match. */
struct verdict {
	size_t decided, level;
};

struct row_check {
	const struct frame *in;
	size_t left, right;		/* channels of the textures */
	size_t right_w;
	size_t blocks;			/* of a strip */
	struct block *block, *aside;	/* moved up and down; to either side */
	float *disparity;
	struct verdict rows, columns;
};

static double
correlation(const struct block *block, size_t k)
{
	double ab = block->n * block->ab[k] - block->a * block->b[k];
	double aa = block->n * block->aa - block->a * block->a;
	double bb = block->n * block->bb[k] - block->b[k] * block->b[k];

	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

static void
decide(struct verdict *verdict, const struct block *block)
{
	double each[SHIFTS], other = -1;
	size_t best = 0;

	for (size_t k = 0; k < SHIFTS; k++) {
		each[k] = correlation(block, k);
		if (each[k] > each[best])
			best = k;
	}
	for (size_t k = 0; k < SHIFTS; k++)
		if (k + APART <= best || k >= best + APART)
			other = fmax(other, each[k]);
	if (block->n < FILLED * BLOCK * BLOCK || each[best] < ALIKE || each[best] - other < CLEAR)
		return;
	verdict->decided++;
	verdict->level += best == STEPS;
}

static double
read_between(const float *row, size_t i, double t)
{
	return (1 - t) * (double)row[i] + t * (double)row[i + 1];
}

/* A pixel of the left texture, and those that it is compared with. */
static void
add_values(struct block *block, double a, const double b[SHIFTS])
{
	double sum = a;

	for (size_t k = 0; k < SHIFTS; k++)
		sum += b[k];
	if (!isfinite(sum))
		return;
	block->n++;
	block->a += a;
	block->aa += a * a;
	for (size_t k = 0; k < SHIFTS; k++) {
		block->b[k] += b[k];
		block->bb[k] += b[k] * b[k];
		block->ab[k] += a * b[k];
	}
}

/* The pixel x of row y, which matches column x_right. */
static void
add_pixel(struct row_check *check, size_t x, size_t y, float x_right)
{
	const float *same = frame_row(check->in, check->right, y);
	size_t i = (size_t)x_right;
	double t = (double)x_right - (double)i, b[SHIFTS];
	double a = ((const float *)frame_row(check->in, check->left, y))[x];

	for (size_t k = 0; k < SHIFTS; k++)
		b[k] = read_between(frame_row(check->in, check->right, y + STEP * k - REACH), i, t);
	add_values(&check->block[x / BLOCK], a, b);
	if (i < REACH || i + REACH + 1 >= check->right_w)
		return;
	for (size_t k = 0; k < SHIFTS; k++)
		b[k] = read_between(same, i + STEP * k - REACH, t);
	add_values(&check->aside[x / BLOCK], a, b);
}

/* Rows y0 to y0 + BLOCK - 1. */
static void
add_strip(struct row_check *check, const struct matching *matching, struct match_memory *memory,
    size_t y0)
{
	struct match_counts counts;

	for (size_t i = 0; i < check->blocks; i++)
		check->block[i] = check->aside[i] = (struct block){ 0 };
	for (size_t y = y0; y < y0 + BLOCK; y++) {
		match_row(matching, memory, check->in, y, check->disparity, NULL, &counts);
		for (size_t x = 0; x < check->blocks * BLOCK; x++) {
			float x_right = (float)x - check->disparity[x];

			if (x_right >= 0 && x_right < (float)matching->right_w - 1)
				add_pixel(check, x, y, x_right);
		}
	}
	for (size_t i = 0; i < check->blocks; i++) {
		decide(&check->rows, &check->block[i]);
		decide(&check->columns, &check->aside[i]);
	}
}

static void
add_strips(struct row_check *check, const struct matching *matching, struct match_memory *memory)
{
	size_t room = check->in->head.h - 2 * REACH - BLOCK;
	size_t strips = PIXELS / (BLOCK * matching->w) + 1;

	if (strips > room / BLOCK + 1)
		strips = room / BLOCK + 1;
	for (size_t i = 0; i < strips; i++)
		add_strip(check, matching, memory, REACH + room * (2 * i + 1) / (2 * strips));
}

static bool
is_elsewhere(const struct verdict *verdict)
{
	return verdict->decided >= ENOUGH && 2 * verdict->level < verdict->decided;
}

/* Where one is wrong, fewer blocks look alike anywhere in the other direction. */
static void
warn_elsewhere(const char *path, const struct row_check *check)
{
	const struct verdict *rows = &check->rows, *columns = &check->columns;

	if (is_elsewhere(columns) && columns->decided > rows->decided)
		warn(path, "the textures of points that match look alike in other columns (at %zu "
		    "of %zu places): are the phases of one measurement, and decoded alike "
		    "(--phase-origin, --period, marker)?", columns->decided - columns->level,
		    columns->decided);
	else if (is_elsewhere(rows))
		warn(path, "the textures of points that match look alike in other rows (at %zu of "
		    "%zu places): are both frames rectified, each as its own --side, by this rig's "
		    "calibration?", rows->decided - rows->level, rows->decided);
}

int
row_check(const char *path, const struct frame *in, const struct matching *matching,
    struct match_memory *memory)
{
	struct row_check check = { in, head_channel(&in->head, "texture"),
		head_channel(&in->head, "right.texture"), matching->right_w, matching->w / BLOCK };

	if (check.left == NO_CHANNEL || check.right == NO_CHANNEL || check.blocks == 0 ||
	    in->head.h < BLOCK + 2 * REACH || matching->right_w < 2)
		return 0;
	check.block = calloc(check.blocks, sizeof(*check.block));
	check.aside = calloc(check.blocks, sizeof(*check.aside));
	check.disparity = calloc(matching->w, sizeof(*check.disparity));
	if (check.block && check.aside && check.disparity)
		add_strips(&check, matching, memory);
	else
		fail_memory();
	free(check.block);
	free(check.aside);
	free(check.disparity);
	if (fail_message())
		return -1;
	warn_elsewhere(path, &check);
	return 0;
}
