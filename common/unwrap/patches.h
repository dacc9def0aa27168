/*
 * The first step of spatial unwrapping: patches, squares of pixels in which every loop of
 * neighbours closes, so that each pixel's turns within its patch are certain whichever way one
 * goes. A square where a loop stays open, that has an invalid pixel or neighbours more than
 * PATCH_STEP_MOST apart is cut in four; the smallest patch is one pixel.
 */
#ifndef PATCHES_H
#define PATCHES_H

#include <math.h>
#include <stdint.h>

#include "run/stage.h"

#define PATCH_SIDE 16
#define PATCH_STEP_MOST                                                                            \
	0.35f /* turns: neighbours that differ more are judged together with all others */
#define NO_PATCH (-1)
#define PHASE_MOST 1e6f /* turns; what is larger is as invalid as NaN */

/* patches_cut_row() of patches_loops.h at a tool's instruction level. It cuts a row of squares into
 * patches, numbered in each square by themselves, and writes to `first` how many there are. */
typedef void patches_cut(void *job, size_t row);

struct patches {
	size_t w, h, across, down; /* pixels; squares of PATCH_SIDE */
	int32_t *patch;            /* of each pixel; NO_PATCH where the phase is invalid */
	int32_t *turns; /* whole turns to add to the phase, 0 at the patch's first pixel */
	int32_t *first; /* of each square, and behind the last one how many there are */
	patches_cut *cut;
};

/* A wrapped phase of any offset. */
struct phase_plane {
	const struct frame *frame;
	size_t channel;
	float turns; /* of a unit: 1/(2 pi) where it is in rad */
};

static inline const float *
phase_row(const struct phase_plane *phase, size_t y)
{
	return frame_floats(phase->frame, phase->channel, y);
}

/* Rounds to a whole number, half to even, as rintf() does, but vectorises on any processor. |v| is
 * below 2^22, as two valid phases are apart. */
static inline float
phase_round(float v)
{
	const float shift = 12582912; /* 1.5 2^23 */

	return (v + shift) - shift;
}

/* The whole turns that bring the phase of b nearest to that of a, `step` turns below; from b to a
 * they are their negative. */
static inline int32_t
phase_turns(float step)
{
	return (int32_t)-phase_round(step);
}

/* How far two phases that are `step` turns apart are from whole turns: 0 to 0.5. NaN if one is. */
static inline float
phase_distance(float step)
{
	return fabsf(step - phase_round(step));
}

static inline bool
phase_is_valid(float v, float turns)
{
	return fabsf(v * turns) < PHASE_MOST;
}

/* What patches_cut() gets. */
struct patches_job {
	struct patches *patches;
	const struct phase_plane *phase;
};

/* Memory for frames of a size; what was there is freed. -1 after fail(). */
int patches_begin(struct patches *patches, patches_cut *cut, size_t w, size_t h);
/* The patches of a phase of that size. */
void patches_find(struct run *, struct patches *, const struct phase_plane *);
void patches_free(struct patches *);

/* How far the square that begins at `start` reaches in an image of that size. */
static inline size_t
patches_side(size_t size, size_t start)
{
	return size - start < PATCH_SIDE ? size - start : PATCH_SIDE;
}

/* Is a row of a square, from its first pixel on, of one patch? Smaller ones do not reach from its
 * first to its last pixel. */
static inline bool
patches_is_whole(const int32_t *patch)
{
	return patch[0] != NO_PATCH && patch[0] == patch[PATCH_SIDE - 1];
}

static inline size_t
patches_count(const struct patches *patches)
{
	return (size_t)patches->first[patches->across * patches->down];
}

#endif
