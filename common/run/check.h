/*
 * What the runner says of results without a valid pixel; and what a check is: the facts that it
 * judges by, the sample that it sees, the line that it prints.
 */
#pragma once

#include "frame/frame.h"

struct calib;
struct calib_camera;
struct capture_set;
struct fringe_orders;
struct laser_line;
struct matched_pair;
struct phase_shift_fit;
struct run;

/*
 * A result without a single valid pixel, out of an input that has some, is worth a word: a
 * forgotten --origin or a limit that is too strict has no other sign. The runner looks at the first
 * channel of what a map reads and makes, row by row, until it finds a valid pixel in each; so it
 * costs nothing where there is one. It does the same with the whole frames that a flow takes and
 * emits.
 * An input without any is worth a word where it enters the chain, one empty frame among others too.
 * Where no frame of a run has a valid pixel, or no input, the run fails.
 */

struct all_invalid {			/* zeroed at the beginning of a run */
	/* A valid pixel of this frame was seen: in the first channel of the input, in another one,
	 * in the first channel of the output. Set by any thread. */
	bool in, others, out;
	bool whole;		/* an input's samples were whole numbers; set by any thread */
	bool warned, warned_empty;	/* of a result; of an input */
	bool inputs;			/* an input had a valid pixel, */
	bool concluded, results;	/* a frame was complete; one with a valid pixel */
	size_t frames;			/* taken by a flow, completed by a map */
};

/* Begins a frame. handed_on: the first channel is the input's own, so there is nothing to warn
 * about. */
void all_invalid_begin(struct all_invalid *, bool handed_on);
/* Rows y0 <= y < y1 of `out` are made; those of `in` can be read, whose channels from `own` on are
 * second inputs. */
void all_invalid_scan(struct all_invalid *, const struct frame *in, size_t own,
    const struct frame *out, size_t y0, size_t y1);
/* A flow takes a whole frame, without second inputs. */
void all_invalid_take(struct all_invalid *, const struct frame *in);
/* A flow emits a whole frame. */
void all_invalid_emit(struct all_invalid *, const struct frame *out);
/* All rows are made and the frame is counted, or one is emitted: warns, once in a run of each.
 * hint: the options to look at, may be NULL; first: the input is the chain's own. */
void all_invalid_warn(struct all_invalid *, const struct frame_head *out, const char *hint,
    bool first);

/*
 * Checks: how a stage's mistakes are found in what it reads and computes (checks(7) lists them).
 *
 * A check is a row that knows no tool. The stage lists its checks, and its plan fills in the facts
 * (run_check_facts()). The runner's sampler copies whole rows of every frame, until all checks that
 * look at them have fired: of the input and of what the stage computes, of a second input, on a
 * device too. When a frame is complete the runner lets each check judge them, in the order of the
 * list, and prints the lines: of checks that none of the fired ones explains, at most
 * CHECK_LINES_MOST a frame, by rank. A check fires once in a run.
 *
 * Lines do not depend on threads, bands or the device: frames are judged in their order, and which
 * rows are copied depends on the size of the frame alone.
 */

#define CHECK_TEXT_SIZE 700
#define CHECK_PHASES_MOST 16

/*
 * What a stage's plan knows, in words that all tools share. What a tool lacks is absent: NULL, NaN,
 * false. What pointers lead to stays as it is until the next plan.
 */
struct check_facts {
	/* What the planes of the input are (fringe/capture_set.h), and what options, keys or a
	 * manifest state of it. */
	const struct capture_set *captures;
	const struct phase_shift_fit *fit;	/* of each fringe set */
	bool shifts_stated;
	bool sign_stated;
	bool roles_stated;	/* what each image is, whatever its place */
	bool max_value_given;	/* by an option; else a key or the type states it */
	bool several_exposures;	/* and `captures` are the images of the first */
	/* Limits of samples, in their unit: saturated from here on; unlit below these means and
	 * amplitudes, or below this ratio of amplitude to mean. */
	double max_value, min_mean, min_amplitude, min_modulation;
	/* The files of all inputs, in their order, one image each; n = 0: not known. */
	char *const *file;
	size_t files;
	/* Wrapped phases, and how their fringe orders were found. */
	const struct fringe_orders *orders;
	/* Periods that an option, of this name, gives instead of those of the frame's own key, in
	 * pixels of the projector; of phases 1, 2 and so on, or with one of the only phase. */
	const char *period_option;
	size_t periods;
	double given_px[CHECK_PHASES_MOST], key_px[CHECK_PHASES_MOST];	/* NaN: not told apart */
	/* The calibration (optics/calib.h), and its file. The input's absolute phase gives rows of
	 * the projector if along_y, else columns: zero_px where it is 0, and period_px more for a
	 * whole turn. across_zero_px is the coordinate along the other axis where the other phase
	 * (of the second input) is 0. */
	const struct calib *calibration;
	const char *calibration_path;
	const struct calib_camera *other_camera;	/* of the same file, with their poses */
	size_t other_cameras;
	bool along_y;
	double zero_px, period_px, across_zero_px;
	/* Where the frame lies on the calibration's camera, and whether that, or the size of its
	 * pixels, is stated; the projector's size by option or key (0: neither). */
	double origin_px[2], bin[2], projector_px[2];
	bool origin_stated, bin_stated;
	bool depth_limited;	/* points may be left out on purpose */
	/* Depth is that above a reference plane, mm_per_rad times the phase above the plane's (NaN:
	 * not one number for all pixels). The plane's phase is that of a second input, or rises by
	 * so much from pixel to pixel along x and along y (NaN: measured). */
	bool above_plane;
	bool wrapped;		/* of a wrapped phase, whatever else the frame has */
	double plane_rad_per_px[2], mm_per_rad;
	/* Phases of two cameras are matched; what the matches show, for the frame at hand. */
	const struct matched_pair *pair;
	/* Images are of a laser's line; what its points show, for the frame that is emitted. */
	const struct laser_line *line;
	/* Points are fitted; how far they are from the shape, for the frame at hand. */
	const struct fitted_residuals *residuals;
	/* A surface is laid through points; what they tell of it, for the frame at hand. */
	const struct surface_points *surface;
};

/* Shares, 0 to 1. */
struct surface_points {
	double cell, two_sheets;	/* places where points of one side lie in two sheets */
	double sparse;			/* places where points are too far apart for cells */
	const char *seen_from;		/* what turned the normals; NULL: they were given */
	double turned;			/* places turned to the other side than their neighbours */
	double against;		/* triangles that look against the normals of their corners */
	bool inwards;			/* closed, and the normals look inwards */
};

/* Of a least-squares fit; points 0: nothing to tell, as where wrong points are left out anyway. */
struct fitted_residuals {
	size_t points, far;		/* far: beyond FAR_RESIDUAL scatters */
	/* Magnitudes in the points' unit, each times the root of its weight over the mean weight,
	 * so that points of a large sigma do not count as far. */
	double largest, distance;	/* the largest, and that point's distance itself */
	double scatter;			/* 1.4826 times the median magnitude */
	double rounding;		/* what floats of such coordinates leave */
	/* What a robust fit to some of the points changes: the rms of distances, in scatters and in
	 * the unit; the share of the points that it leaves out. 0 where it finds no shape. */
	double moved, moved_by, left_out;
	char unit[16];
};

#define FAR_RESIDUAL 5

/* Wrapped phases along one axis of the projector. */
struct fringe_orders {
	char axis;			/* x or y */
	size_t phases, channel[CHECK_PHASES_MOST];	/* of the input */
	size_t number[CHECK_PHASES_MOST];		/* phase3 is 3 */
	double period_px[CHECK_PHASES_MOST];
	size_t steps;			/* images of each phase; 0: not known, or not alike */
	/* How the orders were found: by a sequence of signals from a coarse one to finer ones, by a
	 * Gray code, or as those that fit all phases best. */
	enum { ORDERS_BY_SEQUENCE, ORDERS_BY_GRAY, ORDERS_BEST } method;
	size_t ordered;			/* the phase whose order was found so */
	size_t target;			/* the phase that absphase has the period of */
	bool averaged;			/* absphase is the mean of all phases */
	double beat_px;			/* of two phases, which orders one of them; 0: none does */
	/* The signal that spans the field and begins the sequence; 0: the beginning is told by
	 * something else than its phase. */
	double first_period_px;
	double field_px, assumed_field_px;	/* stated, or else assumed; 0: neither */
	double gray_cell_turns;		/* of a Gray code; NaN: residuals tell nothing */
	/* A Gray code of periods: its channel of the input, the phase that it is taken to belong
	 * to, and that phase's turns in a cell, 1 or 0.5 (0: there is no such code). */
	size_t index, gray_of;
	double code_turns;
	double max_residual;		/* turns: larger ones are NaN */
	bool other_losses;		/* residuals may be NaN for other reasons, too */
	/* Of the best orders: the field in which they were searched, the least distance of two
	 * orders in turns, and the median residual of random phases. */
	double searched_px, order_distance, random_residual;
};

#define ALIKE_REACH 18		/* pixels that textures are shifted by, at most */

/* Two rectified cameras; numbers are of the first frame. */
struct matched_pair {
	const char *path;		/* of the right one's phase */
	bool same;			/* both phases are the same in each pixel */
	/* Places where the textures of matched points look alike at one of several shifts up and
	 * down, or to either side; those of them that do so without a shift; and how many have each
	 * shift, in pixels of the right camera less ALIKE_REACH. */
	struct alike_places {
		size_t shifted, level, at[2 * ALIKE_REACH + 1];
	} rows, columns;
	size_t points, behind;		/* of surfaces; behind the cameras */
};

#define LASER_SHORT_POINTS 30	/* objects cut a laser's line into pieces of more points */

/* A laser's line in an image: numbers are 0 where an image does not tell them. */
struct laser_line {
	double sigma_px;		/* of the smoothing */
	double threshold, noise;	/* the least response of a point; grey levels */
	bool threshold_given, dark, per_row, per_column, channel_given, background_given;
	/* The share of pixels that differ from the background by more grey levels than so many. */
	double differing_share, differing_levels;
	size_t points, lines, side_px;	/* of the image's longer side */
	size_t short_points;		/* in lines of fewer than LASER_SHORT_POINTS */
	size_t rows, columns;		/* that have a point */
	double strongest, other_strongest;	/* responses; of the other sign, if much more */
	double pairs_px, pairs_sigma_px;	/* the distance of points in pairs; what sees one */
	double wider_sigma_px;		/* sees twice as many points */
	size_t wider_points;
};

/* What comes in, with the second inputs behind it, and what goes out. */
struct check_heads {
	const struct frame_head *in, *out;
	size_t own;		/* channels of `in` that are no second input's */
};

#define CHECK_GROUPS 32		/* of rows, in a frame that has more */
#define CHECK_GROUP_MOST 4	/* neighbouring rows */
#define CHECK_TABLE_COLUMNS 4096	/* of a table, at least */

/* Sampled rows of a frame, in groups of neighbours that are spread over its height. Of a table: its
 * one row, every column_step-th column. */
struct check_rows {
	/* Row i is row y[i] of the image; head.h is the number of rows. The planes that no check
	 * has asked for have no memory (host NULL). */
	struct frame frame;
	size_t y[CHECK_GROUPS * CHECK_GROUP_MOST];
	size_t height;		/* of the image */
	size_t group;		/* rows of a group: i = group g, ..., group (g + 1) - 1 */
	size_t column_step;
	const char *option;	/* of a second input; else NULL */
	size_t planes, bytes;	/* room, the sampler's own */
	void *memory;
};

/* What the checks of a stage see of one frame. */
struct check_sample {
	struct check_rows in, out;	/* `in`: without second inputs */
	struct check_rows *second;	/* those that are given */
	size_t seconds;
	size_t number;		/* of the frame, from 0 on, lost ones counted */
	bool lost;		/* an earlier one is: nobody knows which files this one has */
	bool on;		/* some check looks at rows of the stage's frames */
	/* All of the input, second inputs behind it, until the frame is judged; NULL: it is not in
	 * memory as a whole, or --valid leaves out pixels of it. */
	const struct frame *whole;
	/* --valid, of integers: which sampled pixels count; NULL: all. The others are NaN in both,
	 * and the samples of `in` are floats. */
	bool *valid;
};

/* Pixels of the sampled rows: every step-th column, about so many pixels together. */
struct check_grid {
	size_t step, columns, rows;	/* the number of rows is that of the sample */
};

struct check_grid check_grid(const struct check_rows *, size_t pixels);
/* Where sampled row i begins, so that not all rows look at the same columns, which would see
 * upright fringes at few phases: less than the step. */
size_t check_grid_shift(const struct check_grid *, size_t i);
/* The rows of a second input; NULL where it is not given. */
const struct check_rows *check_second(const struct check_sample *, const char *option);

/* The line of a check that fires. */
struct check_line {
	char object[1024], text[CHECK_TEXT_SIZE];
	bool notes;		/* notes are wanted: -v, the first time that the check judges */
	bool undecided;		/* judge sets it: there is too little to see in this frame */
	double *kept;		/* the check's own, from frame to frame: 0 at first */
};

/* Fires: the line is "object: text"; object may be NULL. Returns true. */
bool check_fire(struct check_line *, const char *object, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum check_looks {
	CHECK_INPUT = 1,	/* at rows of the input */
	CHECK_OUTPUT = 2,	/* of what the stage computes */
	CHECK_SECOND = 4,	/* of second inputs */
	CHECK_FIRST = 8,	/* what it looks for cannot change: the first frame of each plan
				 * that is not `undecided` */
	CHECK_RESULTS = 16	/* at facts that a flow knows of a complete result, at no rows */
};

/* Names of checks, ended by NULL. */
#define CHECK_NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct check {
	const char *name;	/* as --no-check and checks(7) have it */
	/* Of the lines of a frame those of smaller ranks are printed first: 1 a result is wrong, 2
	 * a part of it, 3 it could be better. */
	int rank;
	unsigned looks;		/* enum check_looks; 0: it judges the facts of the plan */
	/* Neighbouring rows that it needs, of fringes along y group_along_y; 0: single rows. */
	size_t group, group_along_y;
	const char *const *explains;	/* CHECK_NAMES(), or NULL */
	/* Has it anything to look for? Called after each plan; NULL: always. */
	bool (*applies)(const struct check_facts *, const struct check_heads *);
	/* Marks the channels that it looks at; NULL: all of them. out may have more channels than
	 * the check knows. */
	void (*channels)(const struct check_facts *, const struct check_heads *, bool *in,
	    bool *out);
	/* True: it fires, with check_fire()'s line. Called by one thread, frame after frame. */
	bool (*judge)(const struct check_facts *, const struct check_sample *,
	    struct check_line *);
};

/* For flows that emit no frame for an input: its facts are known, and checks of results judge
 * them. */
void run_judge(struct run *);
/* For plan: the facts of the stage's run, absent until plan sets them. */
struct check_facts *run_check_facts(struct run *);
