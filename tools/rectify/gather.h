/* A channel's values at places between its samples: linear from 2x2 of them, cubic from 4x4. */
#ifndef RECTIFY_GATHER_H
#define RECTIFY_GATHER_H

#include "around.h"
#include "rectify.h"

struct gathering {
	struct rectify_channel channel;
	const float *from[2];		/* the channel, or its sines and cosines */
	const float *phase;		/* wrapped, where steps are limited */
	struct around_planes planes;	/* of those */
};

/* Of n places, AROUND_TILE at most. */
void gather_pairs(const struct gathering *, const uint *column, const uint *row, float *out, int n);
void gather_quads(const struct gathering *, const uint *column, const uint *row, float *out, int n);
/* Angles of means of directions; NaN where the sine is or they cancel. */
void gather_directions(const float *restrict sine, const float *restrict cosine,
    float *restrict out, int n);

#endif
