/*
 * Do matched points look alike? Phases of fringes that run up and down match in any row, so a pair
 * that is not rectified, or by the wrong side or calibration, gives as many points as a right one.
 * The textures tell: blocks of the left one are compared with what they match, moved up and down.
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

struct row_check {
	const struct frame *in;
	size_t left, right;		/* channels of the textures */
	size_t blocks;			/* of a strip */
	struct block *block;
	float *disparity;
	size_t decided, level;		/* blocks; those that look alike in the same row */
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
decide(struct row_check *check, const struct block *block)
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
	check->decided++;
	check->level += best == STEPS;
}

/* The pixel x of row y, which matches column x_right. */
static void
add_pixel(struct row_check *check, struct block *block, size_t x, size_t y, float x_right)
{
	size_t i = (size_t)x_right;
	double t = (double)x_right - (double)i, b[SHIFTS], sum = 0;
	double a = ((const float *)frame_row(check->in, check->left, y))[x];

	for (size_t k = 0; k < SHIFTS; k++) {
		const float *row = frame_row(check->in, check->right, y + STEP * k - REACH);

		b[k] = (1 - t) * (double)row[i] + t * (double)row[i + 1];
		sum += b[k];
	}
	if (!isfinite(a + sum))
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

/* Rows y0 to y0 + BLOCK - 1. */
static void
add_strip(struct row_check *check, const struct matching *matching, struct match_memory *memory,
    size_t y0)
{
	struct match_counts counts;

	for (size_t i = 0; i < check->blocks; i++)
		check->block[i] = (struct block){ 0 };
	for (size_t y = y0; y < y0 + BLOCK; y++) {
		match_row(matching, memory, check->in, y, check->disparity, NULL, &counts);
		for (size_t x = 0; x < check->blocks * BLOCK; x++) {
			float x_right = (float)x - check->disparity[x];

			if (x_right >= 0 && x_right < (float)matching->right_w - 1)
				add_pixel(check, &check->block[x / BLOCK], x, y, x_right);
		}
	}
	for (size_t i = 0; i < check->blocks; i++)
		decide(check, &check->block[i]);
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

int
row_check(const char *path, const struct frame *in, const struct matching *matching,
    struct match_memory *memory)
{
	struct row_check check = { in, head_channel(&in->head, "texture"),
		head_channel(&in->head, "right.texture"), matching->w / BLOCK };

	if (check.left == NO_CHANNEL || check.right == NO_CHANNEL || check.blocks == 0 ||
	    in->head.h < BLOCK + 2 * REACH || matching->right_w < 2)
		return 0;
	check.block = calloc(check.blocks, sizeof(*check.block));
	check.disparity = calloc(matching->w, sizeof(*check.disparity));
	if (check.block && check.disparity)
		add_strips(&check, matching, memory);
	else
		fail_memory();
	free(check.block);
	free(check.disparity);
	if (fail_message())
		return -1;
	if (check.decided >= ENOUGH && 2 * check.level < check.decided)
		warn(path, "the textures of points that match look alike in other rows (at %zu of "
		    "%zu places): are both frames rectified, each as its own --side, by this rig's "
		    "calibration?", check.decided - check.level, check.decided);
	return 0;
}
