/* What the files of splatxyz share: the grid, the views, the memory of a strip, and the loops that
 * spread points over cells. */
#pragma once

#include <math.h>

#include "optics/calib.h"
#include "points/icp.h"
#include "run/stage.h"

/* ---- first_set.c: the grid, and what a set of frames tells ---- */

/* In a projector's frame (methods §14): orthographic, cells of equal size across the projector's
 * axis, or the projector's own picture. */
struct splat_grid {
	size_t w, h;			/* cells */
	bool ortho;
	struct pose pose;		/* takes points of the world to the grid's frame */
	/* orthographic: the centre of cell (0, 0), and the side of a cell, in mm */
	double corner_mm[2], pixel_mm;
	/* the projector's picture */
	struct pinhole projector;
	double bin[2];			/* a cell is so many of its pixels */
	double widest;			/* (x/z)^2 + (y/z)^2 at the picture's farthest corner */
	float *ray[2];			/* x/z, y/z of each cell, w h of them; NULL: orthographic */
};

void splat_grid_ortho(struct splat_grid *, const struct pinhole *projector, size_t w, size_t h);
int splat_grid_picture(struct splat_grid *, const struct pinhole *projector,
    const double size_px[2], size_t w, size_t h);
void splat_grid_free(struct splat_grid *);
double splat_grid_pixel(const struct splat_grid *, double depth);

#define SPLAT_ATTRIBUTES 12	/* channels that are merged with x y z, at most */
#define SPLAT_SEGMENT 128	/* points of a row that are worked on together */
#define SPLAT_REACH 4.0f	/* cells: points that lie farther apart leave holes */

/* Planes of a view's frame, of its own size. */
struct splat_source {
	const struct frame *frame;
	size_t w, h;
	size_t xyz[3];
	size_t weight, sigma;		/* NO_CHANNEL: all alike; not known */
	bool smoothed;			/* the errors of neighbours are nearly the same */
	size_t attributes, attribute[SPLAT_ATTRIBUTES];
	size_t normal;		/* the attribute that nx is, before ny and nz; NO_CHANNEL: none */
	struct pose pose;		/* takes its points to the grid's frame */
	double eye[3];			/* the camera's centre in the grid's frame, or NaN */
};

/* What the points of a set are like, in the grid's frame. */
struct splat_field {
	double depth;			/* their median */
	double apart;			/* cells from point to point along a row, median */
	double unlit;			/* the share of them that the projector's picture misses */
	/* of an orthographic grid: cells that the points cover along its sides, but for the
	 * outermost, and the side of a cell that would fit, in mm */
	double covered[2], fitting_mm;
};

int splat_field_choose(struct splat_grid *, const struct splat_source *source, size_t views,
    double pixel_mm, const double center_mm[2], const double picture_px[2],
    struct splat_field *field);
void splat_eye_find(const struct splat_source *, double eye[3]);

struct splat_channels {
	char names[20 * (4 + SPLAT_ATTRIBUTES)];	/* of the result */
	bool sigma;			/* all views have it */
};

int splat_channels_find(struct frame *const *view, size_t views, int weight, const char *unit,
    struct splat_channels *, struct splat_source *source);

#define SPLAT_CAMERAS_MOST 16

/* A calibration's cameras, in the frame that the points are said to be in. */
struct splat_cameras {
	const char *path, *frame;
	size_t n;
	struct splat_camera {
		struct pinhole pinhole;
		double origin_px[2];
		char name[64];
		size_t view;		/* that it sees, from 1; 0: none yet */
	} v[SPLAT_CAMERAS_MOST];
};

int splat_cameras_load(const char *path, const char *frame, struct splat_cameras *);
int splat_cameras_check(struct splat_cameras *, const struct run *,
    const struct splat_source *, size_t view);

/* ---- splatxyz.c: sets of frames, the merge of one set, and the stage ---- */

/* Sets: one frame of each stream, of the same time. */

#define SPLAT_SETS_WAIT 64	/* frames of a stream that wait for another one, at most */

struct splat_sets {
	size_t views;
	double late_s;			/* times that differ by less are one time */
	struct splat_queue {
		struct frame *frame[SPLAT_SETS_WAIT];
		struct pose pose[SPLAT_SETS_WAIT];
		double time_s[SPLAT_SETS_WAIT], last_s;	/* the newest one's */
		size_t first, n;
	} *queue;
	bool untimed;			/* a frame had no time_s: all are taken in step */
	bool timed;			/* a frame had one */
	size_t sets, dropped;		/* complete ones; times that some streams lacked */
};

void splat_sets_open(struct splat_sets *, size_t views, double late_s);
void splat_sets_close(struct splat_sets *);
int splat_sets_add(struct splat_sets *, size_t view, struct frame *, const struct pose *);
bool splat_sets_take(struct splat_sets *, struct frame **set, struct pose *pose);
void splat_sets_end(struct splat_sets *);

/* The rows of the grid that a segment of points reaches. */
struct splat_span {
	float low, high;		/* row, of the points; low > high: there are none */
	float reach;			/* rows that a footprint reaches beyond its point */
};

/* One camera's points before they are splatted: their places, with a margin of NaN. */
struct splat_view {
	size_t w, h, stride, segments;	/* of a row */
	float *u, *v, *d;
	float jump;			/* mm: neighbours farther apart in depth are none */
	struct splat_span *span;	/* h rows of segments */
	/* per row of points: with x y z; outside of the grid; farther from their neighbours than
	 * the footprint reaches */
	uint32_t *points, *lost;
};

typedef float lanes __attribute__((vector_size(16)));

/* A point whose footprint is larger. */
struct splat_far {
	float u, v, d, gx, gy, su, sv, weight, noise;
	bool smoothed;
};

/* The points of a segment that reach the strip, most by their index in the segment. */
struct splat_block {
	lanes depth[SPLAT_SEGMENT];	/* at the 2 x 2 cells around the point, row by row */
	lanes weight[SPLAT_SEGMENT];	/* and what it weighs there */
	lanes noise[SPLAT_SEGMENT];	/* weight times variance there, where `noisy` */
	int32_t cell[SPLAT_SEGMENT];	/* the first of these */
	uint8_t kept[SPLAT_SEGMENT];	/* the indices: those of 2 x 2 cells first */
	size_t near, n;			/* how many of 2 x 2 cells, and all */
	struct splat_far far[SPLAT_SEGMENT];	/* n - near of them, in the order of kept */
	bool noisy;
	const float *attribute[SPLAT_ATTRIBUTES];
	float normal[3][SPLAT_SEGMENT];	/* turned to the grid's frame */
};

#define STRIP_ROWS 32		/* of the grid, that one thread fills together */

/* The memory of a thread, which its strips use in turn. */
struct splat_scratch {
	size_t cells, vectors;		/* of a strip; of a cell */
	float *nearest;			/* depth; INFINITY: no point's own cell */
	float (*sum)[2];		/* weight, weight times depth beyond the nearest */
	lanes *more;			/* vectors for each cell */
	struct splat_block **block;	/* room for `room` of them */
	size_t blocks, room;
};

struct splat {
	struct splat_grid grid;
	struct splat_view *view;
	size_t views;
	float jump;			/* mm */
	bool keeps_sigma;		/* the output has a channel sigma */
	struct splat_scratch *scratch;	/* of each thread, kept from frame to frame */
	size_t threads;
	unsigned char *claimed;		/* w h: a point's own cell */
};

/* The rows of points, strips and rows of cells of a merge. */
struct splat_job {
	struct splat *splat;
	const struct splat_source *source;
	struct frame *out;
	size_t next;			/* the strip that the next free thread takes */
};

/* What became of a set's points. */
struct splat_counts {
	size_t points, lost;		/* with x y z; of them beside the grid */
};

void splat_open(struct splat *, size_t views);
void splat_close(struct splat *);
int splat_merge(struct splat *, struct run *run, const struct splat_source *source,
    struct frame *out, struct splat_counts *counts);

enum splat_weight { SPLAT_BY_SIGMA, SPLAT_BY_MODULATION, SPLAT_ALIKE };

/* The loops of splatxyz_rows.c. */
struct splatxyz_rows {
	/*
	 * n points, which the pose takes to the grid's frame: the column and row that they lie on
	 * (0, 0 is the centre of the first cell) and their depth along the projector's axis. NaN:
	 * no point, or one behind the projector.
	 */
	void (*grid_project)(const struct splat_grid *, const struct pose *, const float *x,
	    const float *y, const float *z, size_t n, float *column, float *row, float *depth);
	/* A cell of this depth as a point of the grid's frame. */
	void (*grid_point)(const struct splat_grid *, size_t column, size_t row, float depth,
	    float *x, float *y);
	/* Of a struct splat_job: a row of points, counted through all views: their places, then the
	 * rows that they reach; and a row of cells, whose holes of one cell are closed. */
	void (*project)(void *job, size_t row);
	void (*find_reach)(void *job, size_t row);
	void (*close_holes)(void *job, size_t y);
	/* Fills the rows y0 <= y < y1 of out and of splat->claimed. */
	void (*strip_fill)(const struct splat *, const struct splat_source *,
	    struct splat_scratch *, struct frame *out, size_t y0, size_t y1);
};
LEVELS_OF(splatxyz_rows)
