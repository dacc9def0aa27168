/*
 * The rows of one window while it goes down a tile of columns. Rows of a channel or a vector are
 * read where they lie as long as nothing is missing in them; rows of a phase, and rows with holes,
 * are copied into the window's ring. The window stands in the scratch memory: where the next call
 * makes the rows below, it goes on with what the last call left there.
 */
#ifndef GAUSS_WINDOW_H
#define GAUSS_WINDOW_H

#include "gauss.block.h"
#include "gauss_jobs.h"
#include "base/cpu_level.h"

#define GAUSS_TILE 272		/* columns filtered together: 11 rows of them stay in an L1 cache */
#define GAUSS_ACROSS (GAUSS_EDGE + GAUSS_TILE + GAUSS_EDGE)

/* Columns of a buffer, as many as the machine takes at once. The sums stay in registers over a
 * whole window, which compilers do not manage with a loop over columns inside one over
 * neighbours. */
#define WIDTH (CPU_VECTOR_BYTES / sizeof(float))
#define VECTOR_TYPE __attribute__((vector_size(CPU_VECTOR_BYTES), aligned(4), may_alias))
typedef float vector VECTOR_TYPE;
typedef int32_t whole VECTOR_TYPE;
#define VECTOR(p) (*(vector *)(p))
#define VECTOR_IN(p) (*(const vector *)(p))
#define WHOLE_IN(p) (*(const whole *)(p))
#define ALIGNED __attribute__((aligned(64)))
#define INLINED static inline __attribute__((always_inline))
/* Calls an INLINED function; for common windows the radius is a constant there. */
#define COMMON_RADIUS 5			/* the largest of these; 2 is the smallest */
#define IS_COMMON(radius) ((radius) >= 2 && (radius) <= COMMON_RADIUS)
#define BY_COMMON_RADIUS(function, radius, ...) ((radius) == 5 ? function(5, __VA_ARGS__) : \
    (radius) == 4 ? function(4, __VA_ARGS__) : (radius) == 3 ? function(3, __VA_ARGS__) : \
    function(2, __VA_ARGS__))
#define BY_RADIUS(function, radius, ...) (!IS_COMMON(radius) ? function(radius, __VA_ARGS__) : \
    BY_COMMON_RADIUS(function, radius, __VA_ARGS__))

/* Rows whose sums over columns are made together, where there are registers for all that they are
 * sums of: of a window of 11 rows, 14 loads do for what took 44. */
#if CPU_VECTOR_BYTES == 64
#define GAUSS_TOGETHER 4
#else
#define GAUSS_TOGETHER 1
#endif
/* Rows below the window that these need. */
#define GAUSS_BELOW (GAUSS_TOGETHER - 1)

/* A row of the window. Of these and the like, column x0 of the image is number GAUSS_EDGE. */
struct gauss_row {
	ptrdiff_t y;
	const float *tap[2];	/* column x0, here or in the input; only columns of the image */
	bool loaded;			/* what stands here is of this row */
	bool holed;		/* something is missing */
	bool filled;				/* what follows; 0 outside the image */
	ALIGNED float part[2][GAUSS_ACROSS];	/* cos and sin, or the value */
	float valid[GAUSS_ACROSS];		/* 1 or 0 */
};

/* 20 to 30 KiB, and 5 KiB for each row. */
struct gauss_window {
	/* from the top; then those below the window */
	struct gauss_row *row[GAUSS_SIZE_MOST + GAUSS_BELOW];
	ALIGNED uint32_t missing[GAUSS_WORDS][GAUSS_ACROSS];	/* a bit for each row */
	ALIGNED float column[GAUSS_TOGETHER][2][GAUSS_ACROSS];	/* sums over columns, by rows */
	/* from here on column x0 is number 0 */
	ALIGNED float sum[2][GAUSS_TILE], weight[GAUSS_TILE];
	float columns_weight[GAUSS_TILE];	/* of a row of the kernel, shortened at borders */
	int32_t reach[GAUSS_TILE];			/* and its radius */
	const struct frame *in;
	const struct gauss *gauss;
	const struct gauss_job *job;
	size_t x0, n, margin, size;
	bool copies;			/* rows without holes, too */
	size_t whole_rows;				/* since the last one with a hole */
	bool holed;					/* there was one: `missing` is valid */
	const float (*columns)[GAUSS_ACROSS];		/* that of the row at hand */
	struct gauss_row ring[];			/* memory of the rows */
};

/* How far a kernel of this radius reaches on both sides of pixel `at` of 0 .. n - 1. */
size_t gauss_window_reach(size_t at, size_t n, size_t radius);
/* If not all GAUSS_LANES columns from column i of the tile on have a whole window. */
bool gauss_window_near_border(const struct gauss_window *, size_t i);
/* The first of the tile's columns with their neighbours, and their number, as far as they are in
 * the image. */
size_t gauss_window_columns(const struct gauss_window *, size_t *n);
/* Before the first row of a call that continues: the input's rows may lie elsewhere now. */
void gauss_window_resume(struct gauss_window *);
/* No row is loaded yet. */
void gauss_window_empty(struct gauss_window *);
/* So many top rows leave the window, at most GAUSS_TOGETHER; then row y comes in at its bottom. */
void gauss_window_shift(struct gauss_window *, size_t rows);
void gauss_window_take(struct gauss_window *, ptrdiff_t y);
/* In place of the second, for row y of the output: the row that comes in and GAUSS_BELOW more are
 * read where they lie in the input. False if they are to be copied, or are loaded already. */
bool gauss_window_tap_ahead(struct gauss_window *, size_t y);
/* Or they are loaded. False if something is missing in them. */
bool gauss_window_load_ahead(struct gauss_window *, size_t y);
/* Nothing is missing in these: they have come in, those below the window, too. */
void gauss_window_keep_ahead(struct gauss_window *);
/* Are the input's rows better copied than read where they lie? */
bool gauss_window_must_copy(const struct frame *in, const struct gauss_job *, size_t radius);
/* Copies all rows that are not yet copied out of the input. */
void gauss_window_fill(struct gauss_window *);

#endif
