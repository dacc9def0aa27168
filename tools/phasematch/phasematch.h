/*
 * What the files of phasematch share: the plan of a frame, the index of a row, and the loops that
 * phasematch_rows.c exports.
 */
#pragma once

#include <math.h>

#include "run/check.h"
#include "run/stage.h"

#define PHASES_MOST 16

/* The phases of one side that give one map: an absolute phase alone, or the mean of several as a
 * projector column. A map has one value a pixel; values are what is matched. */
struct value_map {
	size_t phases;
	size_t channel[PHASES_MOST];
	size_t sigma[PHASES_MOST];	/* channels of their standard deviations, if has_sigma */
	bool has_sigma;
	float scale[PHASES_MOST];	/* turns of the first phase in one of this */
	float weight[PHASES_MOST];
	float unit;			/* of the map, in one radian of the first phase */
	float variance_most;		/* of the phases about their mean, in its radians squared */
};

/* ---- which pixels of a row bracket a value ---- */

/*
 * A row consists of runs: neighbouring pixels whose values rise from each to the next, by no more
 * than a step. A run holds every value between its first and last one in exactly one bracket. Where
 * runs overlap, the longest one counts, of equal ones the leftmost. The index keeps, in the order
 * of values, the run that counts from each value on. So the bracket of a value depends on the row
 * and the value alone, not on the path of the search.
 */
struct rising_run {
	float from, to;			/* values of its first and last pixel */
	uint32_t first, last;		/* pixels */
};

struct value_span {
	float from;			/* up to that of the next span */
	uint32_t first, last;		/* pixels of the run that counts; equal: there is none */
};

struct row_index {
	const float *values;
	size_t spans;
	struct value_span *span;	/* the first, from -inf, and the last have no run; one more
					 * follows that begins at +inf */
	struct rising_run *run, *sorted;	/* for row_index_build() */
	struct rising_run *active;
};

/* The position of a search; a zeroed one is at the first span. */
struct row_cursor {
	size_t span;
	uint32_t pixel;			/* where the bracket begins */
	int32_t drift;			/* half of what several values moved it more than by a
					 * pixel each, for row_index_find_all() */
};

#define ROW_BRACKETS 256

/* The brackets of neighbouring pixels: where they begin, -1 where there is none, and the values at
 * their two ends. */
struct row_brackets {
	int32_t pixel[ROW_BRACKETS] __attribute__((aligned(64)));
	float from[ROW_BRACKETS], to[ROW_BRACKETS];
};

/* The last pixel of the run whose value is no larger, but not the run's last one. */
static inline uint32_t
row_index_bisect(const float *values, uint32_t first, uint32_t last, float value)
{
	while (last - first > 1) {
		uint32_t middle = first + (last - first) / 2;

		if (values[middle] <= value)
			first = middle;
		else
			last = middle;
	}
	return first;
}

/* Moves the cursor to the left pixel of the bracket of the value, which must not be NaN. Returns
 * false if no run holds it. The nearer the value is to the previous one, the faster. */
static inline bool
row_index_find(const struct row_index *index, struct row_cursor *cursor, float value)
{
	const struct value_span *span = &index->span[cursor->span];
	const float *values = index->values;
	uint32_t pixel = cursor->pixel;

	while (span[1].from <= value)
		span++;
	while (span->from > value)
		span--;
	cursor->span = (size_t)(span - index->span);
	/* a run holds its last value too, where none begins there */
	if (span->first == span->last && span->from == value)
		span--;
	if (span->first == span->last)
		return false;
	if (pixel < span->first || pixel >= span->last) {
		pixel = row_index_bisect(values, span->first, span->last, value);
	} else {
		while (pixel + 1 < span->last && values[pixel + 1] <= value)
			pixel++;
		while (values[pixel] > value)
			pixel--;
	}
	cursor->pixel = pixel;
	return true;
}

/* ---- the plan ---- */

/* What became of the left pixels that have a phase: their number, and how many each test lost. */
enum match_count { COUNT_PIXELS, COUNT_RESIDUAL, COUNT_BRACKET, COUNT_BOTH_WAYS, COUNT_VOTE,
	COUNT_SUPPORT, COUNT_DEPTH, MATCH_COUNTS };

struct match_counts {
	size_t n[MATCH_COUNTS];
};

struct matching {
	size_t maps;			/* more than one: they vote */
	struct value_map left[PHASES_MOST], right[PHASES_MOST];
	float step_most[PHASES_MOST];	/* of a map */
	float sign;			/* -1: the values fall from left to right */
	float both_ways;		/* px; 0: they are not matched back */
	float vote;			/* px by which disparities that agree differ at most */
	size_t w, right_w;
	bool sigma;			/* the standard deviation of the disparity is wanted */
	float correlation;		/* of the errors of neighbours in a row */
};

/* From disparity to a point: the rectified pair, as its frames' keys or a calibration describe
 * it. */
struct rig {
	bool known;			/* else there are disparities only */
	bool turned;			/* points are those of the left camera before rectifying */
	float focal, focal_baseline;	/* px, px mm */
	float cx, cy;			/* of the input, px */
	float centres;			/* cx of the input - cx of --right */
	float least, most;		/* depths */
	float R[9], shift[3];		/* x_left = R (x + shift) */
	bool asked;			/* a warning about --calib was printed */
};

struct phasematch {
	struct matching matching;
	struct rig rig;
	double radian[PHASES_MOST];	/* of the shortest period, in the unit of a map */
	const char *right;		/* the path, for messages */
	double step_most_rad;		/* --max-step; NaN: not given */
	size_t support;			/* neighbours that a disparity needs; 0: none */
	float support_range, steep;	/* phasematch_slope()'s */
	size_t sigma_disparity, x, y, z, sigma;	/* output channels; NO_CHANNEL: there is none */
	size_t phases, number[PHASES_MOST];	/* absphase2: 2; absphase: 0 */
	bool warned_sigma;
	bool checked_rows;		/* of the first frame */
	struct matched_pair pair;	/* what the checks are told */
	struct match_counts counts;	/* of a frame */
};

void phasematch_note_losses(struct run *);
/* struct body's, in phasematch_survey.c */
int phasematch_survey(struct run *, const struct frame *in);

/* ---- the loops ---- */

/* Memory for one row at a time. */
struct match_memory {
	float *left, *right, *left_sigma, *right_sigma, *back;
	float *disparity[PHASES_MOST];	/* of every map that votes */
	struct row_index left_index, right_index;
};

/* Textures are compared in square blocks, which are shifted in steps. */
#define BLOCK 24		/* pixels a side */
#define STEP 3			/* pixels from one shift to the next */
#define STEPS 6			/* each way */
#define REACH (STEP * STEPS)
#define SHIFTS (2 * STEPS + 1)
_Static_assert(REACH == ALIKE_REACH, "struct alike_places counts by pixels");

/* Sums over a block of the left texture a, and of the right one b at each shift. */
struct block {
	double n, a, aa, b[SHIFTS], bb[SHIFTS], ab[SHIFTS];
};

struct texture_comparison {
	const struct frame *in;
	size_t left, right;		/* channels of the textures */
	size_t right_w;
	size_t blocks;			/* of a strip */
	struct block *block, *aside;	/* shifted up and down; to either side */
	float *disparity;
	struct alike_places rows, columns;
};

/* Differences of values from pixel to pixel. */
struct steps {
	double *step;
	size_t n, most;
};

/* Left pixels with a value, and those whose value is outside the range of the right row. */
struct reach {
	size_t pixels, outside;
};

struct phasematch_rows {
	/* Bytes of an index of a row of w pixels, a multiple of 64. */
	size_t (*row_index_bytes)(size_t w);
	/* Lays an index out in memory of that size, aligned to 64. */
	void (*row_index_place)(struct row_index *, void *memory, size_t w);
	/* Builds the index of a row of rising values, with NaN for holes; it keeps `values`. */
	void (*row_index_build)(struct row_index *, const float *values, size_t w, float step_most);
	/* row_index_find() for n values, ROW_BRACKETS at most; NaN has no bracket. Fast where
	 * neighbouring values have neighbouring brackets. */
	void (*row_index_find_all)(const struct row_index *, struct row_cursor *,
	    const float *value, size_t n, struct row_brackets *);
	/*
	 * Row y of a map: values times `sign`, with NaN for holes. sigma: their standard deviation;
	 * NULL: not wanted. *inconsistent: the number of pixels whose phases differ by too much.
	 * Returns the number of pixels that have a phase.
	 */
	size_t (*value_map_row)(const struct value_map *, const struct frame *in, size_t y,
	    size_t w, float sign, float *values, float *sigma, size_t *inconsistent);
	size_t (*match_memory_bytes)(const struct matching *);
	/* Lays it out in memory of that size, aligned to 64. */
	void (*match_memory_place)(struct match_memory *, const struct matching *, void *memory);
	/* The disparities of row y, NaN where there is none, and their standard deviations where
	 * they are wanted (sigma, else NULL). Adds to counts all but support and depth. */
	void (*match_row)(const struct matching *, struct match_memory *, const struct frame *in,
	    size_t y, float *disparity, float *sigma, struct match_counts *);
	/* struct body's `rows`, and the bytes of memory that a thread needs for it. */
	body_rows *match_rows;
	size_t (*scratch_bytes)(const struct phasematch *);
	/* The rest is for the survey. *jumps: how often the row falls by a turn, less how often it
	 * rises by one, as noise at the ends of a fringe does both; 0 where the row spans more
	 * than a turn. Returns false if no pixel is valid. */
	bool (*row_jumps)(const float *v, size_t w, long *jumps);
	/* Compares the textures of rows y0 to y0 + BLOCK - 1. */
	void (*add_strip)(struct texture_comparison *, const struct matching *,
	    struct match_memory *, size_t y0);
	void (*count_row)(const struct rig *, const float *disparity, size_t w,
	    struct matched_pair *);
	/* Of pixels `first`, `first` + `apart` and so on, to steps->most at most. */
	void (*add_steps)(struct steps *, const float *values, size_t w, size_t first,
	    size_t apart);
	/* Is there a match in row y? If not, the row's values of the last map are in memory. */
	bool (*has_match)(const struct matching *, struct match_memory *, const struct frame *in,
	    size_t y);
	void (*add_reach)(const struct matching *, const struct match_memory *, struct reach *);
};
LEVELS_OF(phasematch_rows)
