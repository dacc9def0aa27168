/* What the files of framecmp share: comparisons and limits, --to, and the loops. */
#pragma once

#include <math.h>
#include <stdio.h>

#include "points/grid.h"
#include "points/icp.h"
#include "run/stage.h"

struct nearest;
struct rigid_pair;

/* ---- framecmp.c ---- */

struct comparison {		/* of one channel of A with one of B */
	size_t n;		/* samples that are numbers in both */
	size_t only_a, only_b;	/* samples that are NaN in one alone */
	size_t bits;		/* samples whose bits differ; two NaN are alike */
	double max, rms, mean;	/* of |a - b|, (a - b)^2, a - b; NaN where n = 0 */
	double relative;	/* largest |a - b| / max(|a|, |b|) */
	double ulp;		/* largest distance in representable numbers */
	double *size;		/* |a - b| of the n samples, in no order */
};

struct compare_limits {		/* NaN, or n = 0: no limit; without any, all bits must agree */
	double max, rms, relative, ulp;
	struct numbers quantile;	/* share, limit, share, limit ... */
	int nan;			/* enum compare_nan */
};

bool compare_limited(const struct compare_limits *);
/* Are all limits kept? Appends ", what was seen <= or > what is allowed" for each to line. */
bool compare_judge(struct comparison *, const struct compare_limits *, FILE *line);
/* Sets the exit status to different, and prints why, unless -q. */
int pair_differ(struct run *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- to_mesh.c: measured points and a nominal mesh ---- */

struct to_mesh_options {
	const char *mesh;	/* its file; NULL: two inputs are compared */
	bool icp;
	double within;		/* points farther off do not count; NaN: all do */
	double coverage;	/* least share of the surface that faces the camera; NaN: any */
	const char *deviation;	/* a file for the frames with the channel deviation; NULL: none */
};

/*
 * Compares the frames of one operand with the mesh and prints the result, with histograms if table
 * is true. run->status is 1 where a limit is not kept. -1 after fail().
 */
int to_mesh_compare(struct run *, const struct to_mesh_options *, const struct compare_limits *,
    bool table, FILE *out);

/* ---- framecmp_rows.c ---- */

/* Points, or places on a mesh, that a thread takes together. */
#define BLOCK 1024

struct mesh_points {
	size_t n;
	double (*x)[3];		/* as the frame has them */
	size_t *pixel;		/* y w + x of each */
	double low[3], high[3];	/* their box */
	char unit[16];		/* key length_unit; empty: not known */
	double camera[4];	/* x y z 1; or a direction towards it, far away, and 0 */
};

struct mesh_distance {
	float d;		/* signed; NaN: beyond the border, or farther than `within` */
	bool border, far;
};

/* A search for the point of a mesh that is nearest to each point. */
struct measuring {
	const struct mesh_points *points;
	const struct nearest *mesh;
	const struct pose *pose;
	double within;
	size_t n, step;			/* n points: every step-th of all */
	struct mesh_distance *out;	/* where distances go, or where pairs do */
	struct rigid_pair *pair;
};

/* Which side of its triangles a mesh shows to the outside. */
enum coverage_side {
	SIDE_FRONT,	/* a closed mesh whose faces look outwards */
	SIDE_BACK,	/* a closed mesh whose faces look inwards */
	SIDE_SEEN,	/* an open mesh: the side of which the camera sees more */
	SIDE_BOTH	/* triangles face to opposite sides: either */
};

/* Places on the mesh that a camera sees. Each represents the same area. */
struct coverage_surface {
	const struct nearest *mesh;
	enum coverage_side side;
	double size;		/* the diagonal of the mesh's box */
	double camera[4];	/* of `place`: x y z 1; or a direction towards it and 0 */
	double (*place)[3];
	size_t n;
};

#define PLACES 262144	/* on the whole surface: sigma is at most 0.1 % where half of them count */

enum seen { UNSEEN, FRONT, BACK };

/* All places of a mesh, of which the camera sees some. */
struct looking {
	struct coverage_surface *surface;
	size_t triangles;
	double *area;		/* of all triangles before each, and of all; doubled */
	double (*place)[3];
	unsigned char *seen;	/* enum seen, of each place */
};

/* The points in cubes of the search radius. Of each fine cube only the first point is in a coarse
 * one, so that a search looks at a bounded number of points. It looks at the others of a fine cube
 * only where the first is just too far. */
struct measured {
	float *xyz[3], *first[3];	/* points over the mesh, then those at its border */
	size_t n, over;
	double within;
	struct grid fine, coarse;	/* of all points; of the first ones */
	const struct coverage_surface *surface;
	struct pose to_points;		/* from the mesh */
	uint32_t *covered;		/* of each block of places */
};

struct framecmp_rows {
	/* Adds samples x0 <= x < x1 of a row of A and of B, of the same type, to sums, counts and
	 * extremes; compare_channels() computes the means. */
	void (*add_row)(struct comparison *, enum sample, const void *row_a, const void *row_b,
	    size_t x0, size_t x1, bool turns);
	/* Block `block` of a struct measuring, for run_for(). */
	void (*measure)(void *arg, size_t block);
	/* area[t + 1]: of triangles 0 to t, doubled; area[0] is 0. */
	void (*add_areas)(const struct nearest *, size_t triangles, double *area);
	/* Block `block` of a struct looking, for run_for(). */
	void (*see_places)(void *arg, size_t block);
	/* The distance of point i to its fourth nearest. */
	float (*fourth_nearest)(const struct grid *, size_t i);
	/* Block `block` of a struct measured, for run_for(). */
	void (*cover_places)(void *arg, size_t block);
};
LEVELS_OF(framecmp_rows)
