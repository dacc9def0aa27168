/*
 * What a frame of wrapped phases says about itself, for temporal unwrapping (methods §5): which
 * channels are phases along one axis, their periods, the field they lie in, and the Gray code
 * beside them.
 */
#ifndef TEMPORAL_H
#define TEMPORAL_H

#include "frame/frame.h"
#include "beat_ladder.h"

#define TEMPORAL_ORDERS_MOST 65535

enum temporal_cell { GRAY_COLUMN, GRAY_PERIOD, GRAY_HALF };

struct temporal_options { /* as given on the command line; they win over the metadata */
	struct numbers period_px;	/* of every phase channel; n = 0: not given */
	struct numbers count;		/* or fringes over the field; n = 0: not given */
	double field_px;		/* NaN: not given */
	int axis;			/* 0: that of the first phase; 1 x, 2 y */
	long unwrap; /* number of the phase to unwrap, from 1; LONG_MIN: not given */
	int gray_cell;			/* -1: not given */
};

struct temporal {
	char axis;			/* x or y */
	size_t phases;			/* along that axis */
	size_t channel[LADDER_PHASES_MOST];
	double period_px[LADDER_PHASES_MOST];
	size_t target;			/* which of them is to be unwrapped */
	double field_px;		/* 0: not known */
	size_t index; /* channel of the Gray code's value; NO_CHANNEL: there is none */
	enum temporal_cell cell;	/* what it counts, if there is one */
};

/* -1 after fail() where the head is wrong or says too little. */
int temporal_read(const struct frame_head *, const struct temporal_options *, struct temporal *out);

/* A signal of the ladder, ready for pixels. */
struct temporal_rung {
	size_t n, channel[LADDER_PHASES_MOST];
	float weight[LADDER_PHASES_MOST];
	float ratio;			/* period of the rung before / this one */
	float lo, hi;			/* the absolute phase of the field lies in [lo, hi) */
	float span;			/* turns in the field, between which the seam lies */
};

enum temporal_start {
	START_FIELD,			/* the first rung's phase lies in the field */
	START_LINE,			/* in the turn above a line over the camera's pixels */
	START_PREDICTED,		/* where step V + offset says, V the Gray code */
	START_COUNTED			/* V counts its turns, from where it is -offset */
};

/* How a pixel's fringe order is found: from the start up the ladder. */
struct temporal_way {
	enum temporal_start start;
	size_t rungs;
	struct temporal_rung rung[LADDER_PHASES_MOST + 1];
	size_t index;				/* the Gray code's channel, if it takes part */
	float gray_step, gray_offset;		/* rad */
	float line_slope[2], line_offset;	/* rad per column, per row; rad */
};

/* All fringe orders of the field are tried; positions and slack in turns of the wanted phase. */
struct temporal_search {
	size_t phases, channel[LADDER_PHASES_MOST];	/* the wanted one first */
	float ratio[LADDER_PHASES_MOST];	/* turns of this phase in one of the wanted one */
	float norm;				/* 1/sum ratio^2 */
	float mean;				/* 1/phases */
	float lo, hi, slack;			/* the field */
	float chance;			/* median root mean square of random phases, in turns */
	long first, last;			/* orders to try */
};

int temporal_search_plan(const struct temporal *, struct temporal_search *out);

/* By phases alone; signals: enum ladder_signals. -1 after fail() where they do not span the field.
 */
int temporal_way_ladder(const struct temporal *, unsigned signals, struct temporal_way *out);
/* By the Gray code, whose edges lie where the first phase is -offset_rad; NaN: half a projector
 * pixel before the fringes' own beginning, as in patterns of ours. */
int temporal_way_gray(const struct temporal *, double offset_rad, struct temporal_way *out);
/* By the beat of two phases above the line 2 pi x/period + offset, x in pixels of the sensor. */
int temporal_way_line(const struct temporal *, const struct frame_head *, double line_period_px,
    double line_offset_rad, struct temporal_way *out);
/* Column 0 (row 0, for axis y) of the image in pixels of the sensor, and their number per pixel. */
int temporal_first_px(const struct temporal *, const struct frame_head *, double *first_px,
    double *bin);

/*
 * The output of unwrapping: channels absphase, residual and all that are neither phase nor index;
 * period_px and axis of the unwrapped phase. *passed: input channel of output channel c >= 2; a new
 * list. -1 after fail().
 */
int temporal_output(const struct temporal *, const struct frame_head *in, struct frame_head *out,
    size_t **passed);

#endif
