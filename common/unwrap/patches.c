#include "unwrap/patches.h"

#include <stdlib.h>

int
patches_begin(struct patches *patches, size_t w, size_t h)
{
	patches_free(patches);
	if (w == 0 || h == 0 || w > INT32_MAX / h)
		return fail(NULL, "images of %zux%zu are too large to be unwrapped", w, h);
	patches->w = w;
	patches->h = h;
	patches->across = (w + PATCH_SIDE - 1) / PATCH_SIDE;
	patches->down = (h + PATCH_SIDE - 1) / PATCH_SIDE;
	patches->patch = malloc(w * h * sizeof(*patches->patch));
	patches->turns = malloc(w * h * sizeof(*patches->turns));
	patches->first = malloc((patches->across * patches->down + 1) * sizeof(*patches->first));
	if (patches->patch && patches->turns && patches->first)
		return 0;
	patches_free(patches);
	return fail_memory();
}

void
patches_free(struct patches *patches)
{
	free(patches->patch);
	free(patches->turns);
	free(patches->first);
	*patches = (struct patches){ 0 };
}

struct square {
	size_t x0, y0, x1, y1;
};

/* The turns from n pixels to their neighbours, and whether each step is a small one. */
static inline int32_t
find_turns(const float *restrict from, const float *restrict to, float unit,
    int32_t *restrict turns, size_t n)
{
	int32_t small = 1;

	_Pragma("omp simd reduction(&:small)")
	for (size_t x = 0; x < n; x++) {
		float step = (to[x] - from[x]) * unit, whole = phase_round(step);

		/* NaN compares as false */
		small &= (fabsf(step - whole) < PATCH_STEP_MOST) & (fabsf(step) < 2 * PHASE_MOST);
		turns[x] = -(int32_t)whole;
	}
	return small;
}

/* Counts the turns of a row from its first pixel on; above: the row before, NULL for the square's
 * first. false: a loop is open, a pixel invalid or a step too large; what was counted then is of no
 * use. */
static bool
close_row(const float *restrict phase, const float *restrict above, int32_t *restrict turns,
    const int32_t *restrict turns_above, size_t n, float unit)
{
	int32_t along[PATCH_SIDE], down[PATCH_SIDE], open = 0;

	if (!phase_is_valid(phase[0], unit) ||
	    (n > 1 && !find_turns(phase, phase + 1, unit, along, n - 1)) ||
	    (above && !find_turns(above, phase, unit, down, n)))
		return false;
	turns[0] = above ? turns_above[0] + down[0] : 0;
	for (size_t x = 1; x < n; x++)
		turns[x] = turns[x - 1] + along[x - 1];
	for (size_t x = 1; above && x < n; x++)
		open |= turns[x] - turns_above[x] - down[x];
	return open == 0;
}

static bool
close_square(struct patches *patches, const struct phase_plane *phase, const struct square *square)
{
	for (size_t y = square->y0; y < square->y1; y++) {
		int32_t *turns = patches->turns + y * patches->w + square->x0;
		bool top = y == square->y0;

		if (!close_row(phase_row(phase, y) + square->x0,
			top ? NULL : phase_row(phase, y - 1) + square->x0, turns,
			top ? NULL : turns - patches->w, square->x1 - square->x0, phase->turns))
			return false;
	}
	return true;
}

static void
give_number(struct patches *patches, const struct square *square, int32_t number)
{
	for (size_t y = square->y0; y < square->y1; y++)
		for (size_t x = square->x0; x < square->x1; x++)
			patches->patch[y * patches->w + x] = number;
}

/* The square of this side at x0, y0, as far as the image goes. `next` is the next patch's number;
 * returned: the one behind the last that was given. */
static int32_t
cut_square(struct patches *patches, const struct phase_plane *phase, size_t x0, size_t y0,
    size_t side, int32_t next)
{
	struct square square = { x0, y0, x0 + side, y0 + side };
	size_t half = side / 2;

	if (x0 >= patches->w || y0 >= patches->h)
		return next;
	if (square.x1 > patches->w)
		square.x1 = patches->w;
	if (square.y1 > patches->h)
		square.y1 = patches->h;
	if (close_square(patches, phase, &square)) {
		give_number(patches, &square, next);
		return next + 1;
	}
	if (side == 1) { /* NaN */
		patches->turns[y0 * patches->w + x0] = 0;
		give_number(patches, &square, NO_PATCH);
		return next;
	}
	for (size_t i = 0; i < 4; i++)
		next = cut_square(patches, phase, x0 + i % 2 * half, y0 + i / 2 * half, half, next);
	return next;
}

struct job {
	struct patches *patches;
	const struct phase_plane *phase;
};

static void
cut_squares_row(void *arg, size_t j)
{
	const struct job *job = arg;
	struct patches *patches = job->patches;

	for (size_t i = 0; i < patches->across; i++)
		patches->first[j * patches->across + i] =
		    cut_square(patches, job->phase, i * PATCH_SIDE, j * PATCH_SIDE, PATCH_SIDE, 0);
}

/* From numbers within a square to numbers within the image. */
static void
number_row(void *arg, size_t y)
{
	const struct job *job = arg;
	const struct patches *patches = job->patches;
	const int32_t *first = patches->first + y / PATCH_SIDE * patches->across;
	int32_t *patch = patches->patch + y * patches->w;

	for (size_t x = 0; x < patches->w; x++)
		if (patch[x] != NO_PATCH)
			patch[x] += first[x / PATCH_SIDE];
}

void
patches_find(struct run *run, struct patches *patches, const struct phase_plane *phase)
{
	struct job job = { patches, phase };
	int32_t before = 0;

	run_for(run, patches->down, cut_squares_row, &job);
	for (size_t i = 0; i < patches->across * patches->down; i++) {
		int32_t count = patches->first[i];

		patches->first[i] = before;
		before += count;
	}
	patches->first[patches->across * patches->down] = before;
	run_for(run, patches->h, number_row, &job);
}
