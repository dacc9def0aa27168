/*
 * What rectify.c plans for a frame, and the loops of rectify_rows.c.
 */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "optics/stereo.h"
#include "rectify.px.h"

/* What decides where in the input each pixel of a rectified frame comes from. */
struct source_geometry {
	const struct stereo *stereo;
	enum stereo_side side;
	size_t w, h;			/* of the result */
	size_t in_w, in_h;
	double origin_px[2], bin;	/* of the input on its full frame */
	bool cubic;
};

/* The place in the input of each pixel of the result. */
struct source_map {
	struct source_geometry geometry;
	/* Planes of columns and of rows, see rectify.px.h: RECTIFY_NOWHERE (and row 0) where the
	 * input lacks a sample of non-zero weight. */
	uint *column, *row;
	size_t stride;			/* pixels from row to row, a multiple of 64 bytes */
};

struct map_job {
	struct source_map *map;
	double most_r2;			/* up to which the lens model holds, on the image plane */
};

enum rectify_kind { RECTIFY_PLAIN, RECTIFY_WRAPPED, RECTIFY_SIGMA, RECTIFY_NEAREST };

/* How a channel is interpolated. */
struct rectify_channel {
	enum rectify_kind kind;
	float max_step, saturated;	/* INFINITY: no limit */
};

/* Planes of floats that values are gathered from: floats from row to row, and their size. */
struct sample_planes {
	int stride, w, h;
};

/* A channel of which values at places between its samples are wanted. */
struct gathering {
	struct rectify_channel channel;
	const float *from[2];		/* the channel, or its sines and cosines */
	const float *phase;		/* wrapped, where steps are limited */
	struct sample_planes planes;	/* of those */
};

/* One channel of a frame that is being rectified. */
struct channel_job {
	const struct source_map *map;
	bool cubic;
	const struct frame *in;
	struct frame *out;
	size_t c;
	struct frame *plane;		/* float copies: the channel, or its sine and cosine */
	struct gathering gathering;
};

/* Each does row y of the job, for run_for(). */
struct rectify_rows {
	/* Row y of a struct map_job's map. */
	void (*map_source_row)(void *job, size_t y);
	/* Row y of a struct channel_job's float copies. */
	void (*prepare_row)(void *job, size_t y);
	/* Row y of a struct channel_job's output. */
	void (*gather_row)(void *job, size_t y);
};
LEVELS_OF(rectify_rows)
