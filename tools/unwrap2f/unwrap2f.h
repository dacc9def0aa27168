/* What unwrap2f plans for a frame: its phases, the way to their fringe orders; and the loops that
 * compute it. */
#pragma once

#include <math.h>

#include "base/cpu_level.h"
#include "run/check.h"
#include "unwrap/absolute.h"

struct run;

/* ---- unwrap_sequence.c: the phases, and the sequence of signals that orders them ---- */

#define UNWRAP_PHASES_MOST 16

enum temporal_cell { GRAY_COLUMN, GRAY_PERIOD, GRAY_HALF };

struct temporal_options { /* as given on the command line; they win over the metadata */
	struct numbers period_px;	/* of every phase channel; n = 0: not given */
	struct numbers count;		/* or fringes over the field; n = 0: not given */
	double field_px;		/* NaN: not given */
	int axis;			/* 0: that of the first phase; 1 x, 2 y */
	long unwrap; /* number of the phase to unwrap, from 1; LONG_MIN: not given */
	int gray_cell;			/* -1: not given */
	long gray_of; /* number of the phase that the Gray code belongs to; LONG_MIN: not given */
};

/* The phases along one axis, as the head of a frame and the options describe them. */
struct temporal {
	char axis;			/* x or y */
	size_t phases;			/* along that axis */
	size_t channel[UNWRAP_PHASES_MOST];
	size_t number[UNWRAP_PHASES_MOST];	/* of the channel, from 1: phase3 is 3 */
	double period_px[UNWRAP_PHASES_MOST];
	size_t target;			/* which of them is to be unwrapped */
	double field_px;		/* 0: not known */
	size_t index; /* channel of the Gray code's value; NO_CHANNEL: there is none */
	enum temporal_cell cell;	/* what it counts, if there is one */
	size_t gray_of;			/* the phase whose periods these are */
	double cell_px;			/* the width of a cell, where there is no phase */
};

#define SAME_PERIOD 1e-3	/* relative: few digits, which change no order */

int temporal_read(const struct frame_head *, const struct temporal_options *, struct temporal *out);
size_t temporal_shortest(const struct temporal *);
size_t temporal_from_base(size_t base, size_t i);
int temporal_first_px(const struct temporal *, const struct frame_head *, double *first_px,
    double *bin);
int temporal_output(struct run *, const struct temporal *, bool all, const char *more,
    const struct frame_head *in, struct frame_head *out);

/* A signal of the sequence, ready for pixels. */
struct unwrap_step {
	size_t n, channel[UNWRAP_PHASES_MOST];
	float weight[UNWRAP_PHASES_MOST];
	float ratio;			/* period of the previous step / this one */
	float lo, hi;		/* the field, in turns; lo of the first step: rad, its turn */
	float span;			/* turns in a period of the first signal */
};

/* How the first step finds its absolute phase. unwrap2f.comp knows the numbers. */
enum unwrap_start {
	START_FIELD,			/* its phase lies in the field */
	START_LINE,			/* in the turn above a line over the camera's pixels */
	START_PREDICTED,		/* near V step + offset, V the Gray code */
	START_COUNTED,			/* V counts its turns, from where the phase is -offset */
	START_SPATIAL			/* it was unwrapped across the image */
};

/* From the start along the sequence. */
struct unwrap_steps {
	enum unwrap_start start;
	size_t n;
	struct unwrap_step step[UNWRAP_PHASES_MOST + 1];
	double period_px;			/* of the first signal */
	double field_px;			/* width that the first signal covers */
	size_t index;				/* the Gray code's channel, if it takes part */
	float gray_step, gray_offset;		/* rad */
	const struct frame *coarse;		/* START_SPATIAL: channel 0, absolute phase */
	float line_slope[2], line_offset;	/* rad per column, per row; rad */
};

enum unwrap_signals {
	UNWRAP_PHASES = 1,	/* starts from one of the phases (hierarchical) */
	UNWRAP_BEATS = 2	/* starts from, and goes over, beats (heterodyne) */
};

int unwrap_steps_by_phases(const struct temporal *, unsigned signals, struct unwrap_steps *out);
int unwrap_steps_by_space(const struct temporal *, unsigned signals, struct unwrap_steps *out);
int unwrap_steps_by_gray(const struct temporal *, double offset_rad, struct unwrap_steps *out);
int unwrap_steps_by_line(const struct temporal *, const struct frame_head *, double line_period_px,
    double line_offset_rad, struct unwrap_steps *out);

/* Every phase with its own order, and their mean. */
struct phase_orders {
	bool wanted;			/* the result needs more than the base's absolute phase */
	bool fuse;		/* absphase is the mean of all phases that are there */
	bool all;		/* every phase has a channel of its own after the residual */
	size_t phases, channel[UNWRAP_PHASES_MOST];	/* the base first */
	size_t own[UNWRAP_PHASES_MOST];		/* the channel of its own */
	float ratio[UNWRAP_PHASES_MOST];	/* turns of this phase in one of the base */
	float scale[UNWRAP_PHASES_MOST];	/* turns of the base in one of this phase */
	float weight[UNWRAP_PHASES_MOST];	/* in the mean; their sum is 1 */
	size_t target;				/* which of these is to be unwrapped */
};

int phase_orders_plan(const struct temporal *, const struct frame_head *,
    const struct numbers *scatter, struct phase_orders *);

/* ---- order_search.c: the orders that fit all phases best, and those that compete ---- */

#define ORDER_TABLE_SIDE 128		/* cells, a power of two */
#define ORDER_TABLE_BASE 0.501f		/* limit of the first phase's size, in turns */

/* The highest bits of a cell: which further orders it has, or that it has too many. */
enum order_table_has {
	HAS_SECOND = 1, HAS_THIRD = 2, HAS_FOURTH = 4, HAS_TOO_MANY = 8
};

/*
 * The orders that may fit three phases best, by the distance of the other two phases from where the
 * first one, at order 0, puts them: a square of a turn by a turn, in cells. Nearly all cells have
 * one order, those on the border of two or three orders have as many.
 */
struct order_table {
	/*
	 * By round(SIDE e) modulo SIDE, e of the second and of the third phase. Four orders of 7
	 * bits each, less search->first, the one nearest to the middle of the cell in the lowest
	 * bits; a cell with fewer repeats that one.
	 */
	uint32_t cell[ORDER_TABLE_SIDE][ORDER_TABLE_SIDE];
};

/* The line that is so many orders further lies at this distance. */
struct order_gap {
	float distance;			/* turns; first, to sort by it */
	float orders;
};

/* All fringe orders of the field are tried; positions and slack in turns of the base. */
struct order_search {
	/* the base, of the shortest period, is the first phase */
	size_t phases, channel[UNWRAP_PHASES_MOST];
	float ratio[UNWRAP_PHASES_MOST];	/* turns of this phase in one of the base */
	float norm;		/* 1/sum ratio^2 */
	float lo, hi, slack;	/* the field */
	float distance;		/* the least one between two lines of the field, in turns */
	float sure;		/* cost, a distance squared, up to which no other line is nearer */
	/* the same between these positions: closer to an end of the field, lines of the other end
	 * may be nearer */
	float inner_sure, inner_lo, inner_hi;
	float near;		/* cost up to which the gaps tell which lines may be nearer */
	float chance;		/* median distance of random phases over the least one of lines */
	long first, last;	/* orders to try */
	bool complete;		/* pixels that lack a phase are bad; set by the caller */
	struct order_gap *gap;			/* by distance; owned */
	size_t gaps;
	struct order_table *table;		/* of three phases; owned; NULL: none */
};

int order_search_plan(const struct temporal *, double field_px, struct order_search *out);
void order_search_free(struct order_search *);

#define UNWRAP_RIVALS 16		/* orders that may be taken instead, on each side */

/* How sigmas go into the mean of all phases. */
enum unwrap_mean { MEAN_NONE, MEAN_WEIGHTS, MEAN_SIGMAS };

/* The standard deviation of the absolute phase, and the probability that its order is wrong. */
struct unwrap_sigma {
	size_t phases;			/* of the input that have a sigma; 0: none is computed */
	size_t channel[UNWRAP_PHASES_MOST];	/* their sigmas; as in phase_orders */
	size_t sigma, p_order;		/* of the output; p_order NO_CHANNEL: it is not known */
	enum unwrap_mean mean;
	size_t rivals;			/* orders further, both signs */
	float rival[2 * UNWRAP_RIVALS];
	float lo, hi;			/* of the field: where the base lies, in turns */
	/* All phases repeat after so many orders, if that reaches the field, from first to last;
	 * 0: it does not. */
	float seam, first, last;
};

int unwrap_sigma_plan(const struct temporal *, const struct frame_head *,
    const struct phase_orders *, bool weights, struct unwrap_sigma *);
void unwrap_sigma_rivals(const struct temporal *, double field_px, double line_turns,
    struct unwrap_sigma *);

/* ---- unwrap2f.c ---- */

/* --coarse spatial: the first signal, unwrapped across the image. */
struct spatial {
	bool on;
	struct absolute absolute;
	struct unwrapping unwrapping;
	struct frame_head head; /* of `found` */
	struct frame *found;	/* the signal's absolute phase; label */
	double ratio;		/* rad of the result for one of the signal */
};

/* The rows of such a frame: spatial_sum() and spatial_place(). */
struct spatial_job {
	const struct frame *in;
	const struct unwrap_step *step;
	const struct components *components;
	struct frame *found;
};

/* --fit-line: the planes seen so far. */
struct fringe_line {
	struct temporal temporal;	/* which channels; from the plan */
	double first_px, bin;
	size_t n;			/* planes */
	struct fringe_line_plane {
		double slope;		/* rad per sensor pixel */
		double middle_rad;	/* beat in the middle of the image, mod 2 pi */
		double first_px, last_px;	/* the image's ends on the sensor */
	} *plane;
};

/* A beat as unit vectors, 0 where it is missing; w runs along its axis. */
struct beat_field {
	size_t w, h;
	float *re, *im;
};

/* A Gray code without a phase: absphase is where a pixel lies in the code. */
struct gray_cells {
	bool on, along_y;
	size_t index, edge, edge_sigma;	/* of the input; edge NO_CHANNEL: there are none */
	float offset;			/* rad: absphase at the lower edge of cell 0 */
	float most;			/* cells of the projector; INFINITY: not known */
};

enum unwrap2f_method {
	METHOD_AUTO, METHOD_TWO, METHOD_HETERODYNE, METHOD_HIERARCHICAL, METHOD_GRAY, METHOD_BEST
};

/* What is planned for a frame. */
struct unwrap2f {
	enum unwrap2f_method method;
	struct unwrap_steps steps;
	struct order_search search;
	struct phase_orders orders;
	struct spatial spatial;
	struct unwrap_sigma sigma;
	struct gray_cells cells;
	float max_residual;
	bool noted;			/* what cannot be checked was told: -v, --fuse */
	struct fringe_orders told;	/* to the checks */
	size_t made;			/* computed channels; those that pass follow */
	struct fringe_line line;
};

/* The loops of unwrap2f_rows.c. */
struct unwrap2f_rows {
	/* struct body's `rows`. */
	body_rows *compute;
	/* Row y of a struct spatial_job: the sum of the step's phases, which need not be wrapped;
	 * then, with its components, their turns and labels. */
	void (*spatial_sum)(void *job, size_t y);
	void (*spatial_place)(void *job, size_t y);
	/* Of unwrap/regions.h. */
	patches_cut *cut_patches;
	/* The beat of a frame of two phases, into a field of its size, all 0. */
	void (*beat_load)(const struct fringe_line *, const struct frame *, struct beat_field *);
	/* The mean turn from a pixel to the one `lag` further on, less `expected`, and how much the
	 * turns agree, up to 1; returns the number of pairs. */
	size_t (*beat_turn)(const struct beat_field *, size_t lag, double expected, double *turn,
	    double *coherence);
	/* The mean phase of the beat in the middle of its axis. */
	double (*beat_middle)(const struct beat_field *, double slope);
	/* The cost of the best order for random phases, number i. */
	float (*chance_cost)(const struct order_search *, uint32_t i);
};
LEVELS_OF(unwrap2f_rows)
