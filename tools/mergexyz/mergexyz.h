/* What the files of mergexyz share: the pieces of the cloud, sums over cubes, the search for
 * --noise, --icp; and the loops over points. */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "base/opt.h"
#include "base/process.h"
#include "frame/frame.h"
#include "points/grid.h"
#include "points/icp.h"
#include "points/views.h"
#include "run/run.h"

/* ---- pieces.c: the frames of all views, the cloud of their points, and --grid ---- */

struct pieces {
	struct view_frame *v;
	size_t n, room;
};

/*
 * Errors that the points of a piece share, because a filter has mixed neighbouring pixels: those of
 * a Gaussian window. Of a cloud of many pieces, whose points follow each other.
 */
struct shared_errors {
	size_t n;
	struct shared_piece {
		size_t end;		/* its points lie before this one */
		double window_px;	/* the window's standard deviation; 0: none is shared */
	} *piece;
};

#define GATHER_POINTS 65536	/* pixels that a thread takes at a time */

/* The points of a piece that go into the cloud. */
struct gathering {
	const struct view_frame *piece;
	bool moved;			/* its pose is not the identity */
	struct frame *cloud;
	const size_t *channel;		/* of the piece, for each one of the cloud */
	size_t x[3], n[3];		/* of the piece: x y z; nx ny nz or NO_CHANNEL */
	size_t *first;			/* of each chunk: how many points; then where they go */
};

int pieces_add(struct pieces *, const struct view_frame *);
int pieces_cloud(struct run *, struct pieces *, struct shared_errors *, struct frame **cloud);
int pieces_compact(struct run *, struct view_frame *);
void pieces_free(struct pieces *);

#define GRID_CUBES 8192		/* that a thread takes at a time */

int thin_cloud(struct run *, double size, const struct shared_errors *, struct frame **cloud);

#define NO_CUBE UINT32_MAX

/* One point per cube, cloud by cloud, so that no points need to be kept: sums over the points of
 * cubes, which are numbered in the order in which points first use them. */
struct cube_sums {
	double size;
	struct frame_head head;		/* of the first cloud, less what later ones lack */
	struct cube_channel {
		double *sum;		/* of each cube */
		uint32_t *valid;	/* how many values it is of */
	} *channel;			/* head.c of them */
	size_t cells, room;		/* cubes; how many the channels hold */
	size_t points, clouds;
	size_t noisy;			/* points whose sigma is large for a cube */
	struct cube_place {
		int32_t place[3];	/* less base */
		uint32_t number;
	} *cube;			/* sorted by their places */
	int64_t base[3];
	struct grid_extent extent;	/* of all points */
	double shared;			/* shared_variance() of all points */
};

/* A cloud that is added to the sums. */
struct adding {
	struct cube_sums *sums;
	const struct frame *cloud;
	struct grid grid;		/* the cloud's own cubes */
	uint32_t *number;		/* that each of these has in the sums */
	size_t before;			/* cubes before this cloud */
	const struct shared_errors *errors;
};

/* The cloud that the sums become. */
struct dividing {
	const struct cube_sums *sums;
	struct frame *cloud;
};

bool fold_is_due(const struct pieces *);
int fold_pieces(struct run *, struct cube_sums *, struct pieces *);
int cube_sums_cloud(struct cube_sums *, struct run *, struct frame **cloud);
void cube_sums_free(struct cube_sums *);

/* ---- outliers.c: --noise ---- */

#define NEIGHBOURS_MOST 100
#define NEIGHBOUR_CUBES 256		/* that a thread takes at a time */
#define NEIGHBOUR_POINTS 256

/* The search for the nearest of many points. */
struct neighbours {
	const float *xyz[3];
	size_t n, k;
	struct grid grid;
	float *sorted[3];		/* xyz in the order of grid.point */
	float *distance;		/* mean to the k nearest, or less where uncertain */
	bool *uncertain;		/* it is at least that */
	double cut;			/* points with a larger distance are outliers */
};

/* The points that are kept. */
struct keeping {
	struct frame *from, *to;
	const uint32_t *point;
	size_t n;
};

int outliers_drop(struct run *, size_t k, double sigmas, struct shared_errors *,
    struct frame **cloud);

/* ---- poses.c: --icp ---- */

struct align_options {
	bool ring;
	double max_rms;			/* NaN: what noise explains */
	const struct opt_list *write_pose;	/* files for the poses of view 1, 2, ... */
};

int align_pieces(struct run *, const struct align_options *, struct pieces *);

/* The loops of mergexyz_rows.c; those with a void pointer are items of run_for(). */
struct mergexyz_rows {
	/* Of a struct gathering: counts the points of a chunk of pixels, and takes them. */
	void (*count_points)(void *gathering, size_t chunk);
	void (*take_points)(void *gathering, size_t chunk);
	/* GRID_CUBES cubes of a struct adding or dividing. */
	void (*add_cubes)(void *adding, size_t part);
	void (*divide_cubes)(void *dividing, size_t part);
	/* Of a struct neighbours: distance and uncertain of the points of NEIGHBOUR_CUBES cubes, by
	 * those next to theirs; and, for NEIGHBOUR_POINTS points, makes those certain whose
	 * distance is not beyond the cut. */
	void (*search_cubes)(void *neighbours, size_t part);
	void (*search_farther)(void *neighbours, size_t part);
	/* |v - middle|, and how many points may be on either side of the cut. */
	void (*deviations)(const float *v, size_t n, float middle, float *out);
	size_t (*count_uncertain)(const struct neighbours *);
	/* Channel c of a struct keeping. */
	void (*keep_channel)(void *keeping, size_t c);
};
LEVELS_OF(mergexyz_rows)
