/*
 * The second step of spatial unwrapping: votes of neighbouring pixels that belong to different
 * patches. Each such pair votes for the whole turns that bring it nearest together, with a weight
 * that falls with what then still lies between them.
 */
#ifndef VOTES_H
#define VOTES_H

#include "unwrap/patches.h"

#define VOTE_LEAST 64   /* the weight of a pair half a turn apart, */
#define VOTE_STEPS 1024 /* and so much more of one that agrees */

/* What votes, about patches of a phase of w x h pixels. quality: weights of pixels, of which 1 unit
 * and more counts fully, 0 and NaN hardly; NULL: all count alike. */
struct votes {
	size_t w, h;
	const int32_t *patch, *turns; /* of each pixel */
	const float *phase, *quality; /* rows that are so many samples apart */
	size_t stride, quality_stride;
	float unit, quality_unit; /* a sample of 1 is so much */
};

/* A pair: a pixel, and its neighbour `out` further; places in the list of patches, and in the
 * phase, whose rows may be longer. */
struct pair {
	size_t at, phase_at;
	ptrdiff_t out, phase_out;
};

/* Where a plane's rows begin; samples from one to the next. */
static inline const float *
votes_rows(const struct phase_plane *plane, size_t *stride)
{
	const float *rows = phase_row(plane, 0);

	*stride = plane->frame->head.h > 1 ? (size_t)(phase_row(plane, 1) - rows) : 0;
	return rows;
}

static inline struct votes
votes_of(const struct patches *patches, const struct phase_plane *phase,
    const struct phase_plane *quality)
{
	struct votes votes = { .w = patches->w, .h = patches->h, .patch = patches->patch,
		.turns = patches->turns, .unit = phase->turns };

	votes.phase = votes_rows(phase, &votes.stride);
	if (quality) {
		votes.quality = votes_rows(quality, &votes.quality_stride);
		votes.quality_unit = quality->turns;
	}
	return votes;
}

/* How far a pixel's vote counts, 0 to 1. */
static inline float
vote_share(float quality, float unit)
{
	float q = quality * unit;

	return q > 0 ? (q < 1 ? q : 1) : 0;
}

/* The weight of a pair that `distance` turns part when they are nearest together. */
static inline int32_t
vote_weight(float distance, float share)
{
	return 1 + (int32_t)phase_round((VOTE_LEAST + VOTE_STEPS * (1 - 2 * distance)) * share);
}

static inline float
vote_step(const struct votes *votes, const struct pair *pair)
{
	const float *phase = votes->phase + pair->phase_at;

	return (phase[pair->phase_out] - *phase) * votes->unit;
}

/* The turns that the pair's second patch needs beside the first one's. */
static inline int32_t
vote_turns(const struct votes *votes, const struct pair *pair, float step)
{
	const int32_t *turns = votes->turns + pair->at;

	return *turns - turns[pair->out] - (int32_t)phase_round(step);
}

/* The lesser share of the pair's pixels. */
static inline float
vote_pair_share(const struct votes *votes, const struct pair *pair)
{
	size_t at = pair->at, other = at + (size_t)pair->out, w = votes->w;
	float a, b;

	if (!votes->quality)
		return 1;
	a = vote_share(votes->quality[at / w * votes->quality_stride + at % w],
	    votes->quality_unit);
	b = vote_share(votes->quality[other / w * votes->quality_stride + other % w],
	    votes->quality_unit);
	return a < b ? a : b;
}

#endif
