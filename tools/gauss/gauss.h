/* What gauss plans for a frame, and the loops that compute it. */
#pragma once

#include "base/cpu_level.h"
#include "gauss.block.h"
#include "run/stage.h"

#define GAUSS_SIZE_MOST 101
#define GAUSS_RADIUS_MOST (GAUSS_SIZE_MOST / 2)
/* Columns on each side of a tile: radius in whole GAUSS_LANES, and GAUSS_LANES. */
#define GAUSS_EDGE 80
/* So many missing pixels are taken off one by one, which costs less than all pairs and keeps most
 * of them: what remains is no small difference of large sums. */
#define GAUSS_FEW(size) ((size) * (size) / 6)

enum gauss_kind { KIND_PHASE, KIND_VECTOR, KIND_PLAIN };

/* One thing that is filtered. */
struct gauss_job {
	enum gauss_kind kind;
	size_t in[2];		/* phase; cos and sin; the channel, twice */
	size_t out[2];		/* phase; cos and sin; the channel */
};

/* The standard deviation of something that is filtered. */
struct gauss_sigma {
	size_t of, in, out;	/* channels: input that is filtered, input, output */
	size_t job;
};

/* What is planned for a frame. */
struct gauss {
	size_t radius, jobs;
	float kernel[2 * GAUSS_EDGE + 1]; /* along one axis, 1 at GAUSS_EDGE, 0 beyond the radius */
	struct gauss_job *job;
	size_t tile, tiles;		/* columns that rows filters together, and their number */
	bool keeps;	/* each tile of each job has its own window in the scratch memory */
	bool vectors;			/* what comes out for a phase or a vector */
	struct gauss_sigma *sigma;
	size_t sigmas, sigma_offset;	/* bytes of the scratch memory before theirs */
	float sharing;	/* how many times larger a filtered sigma is as neighbours share errors */
};

/* The sum of the kernel along one axis, on both sides as far as `radius`. */
float gauss_kernel_sum(const struct gauss *, size_t radius);

/* The loops of gauss_rows.c. */
struct gauss_rows {
	/* Of a thread's scratch memory, for frames of width w. */
	size_t (*sigma_bytes)(const struct gauss *, size_t w);
	/* Plans the tiles for frames of width w, after the jobs; returns struct run's
	 * scratch_bytes. */
	size_t (*plan_tiles)(struct gauss *, size_t w);
	/* struct body's `rows`. */
	body_rows *filter;
};
LEVELS_OF(gauss_rows)
