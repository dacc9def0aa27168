/*
 * The metadata of a frame of wrapped phases, for temporal unwrapping (methods §5): which
 * channels are phases along one axis, their periods, the field they lie in, and the Gray code.
 */
#ifndef TEMPORAL_H
#define TEMPORAL_H

#include "frame/frame.h"
#include "unwrap_sequence.h"

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
	size_t channel[UNWRAP_PHASES_MOST];
	size_t number[UNWRAP_PHASES_MOST];	/* of the channel, from 1: phase3 is 3 */
	double period_px[UNWRAP_PHASES_MOST];
	size_t target;			/* which of them is to be unwrapped */
	double field_px;		/* 0: not known */
	size_t index; /* channel of the Gray code's value; NO_CHANNEL: there is none */
	enum temporal_cell cell;	/* what it counts, if there is one */
};

/* -1 after fail() where the head is wrong or incomplete. */
int temporal_read(const struct frame_head *, const struct temporal_options *, struct temporal *out);

/* The phase of the shortest period, the first of several. */
size_t temporal_shortest(const struct temporal *);
/* Phase i (from 0) of a list that begins with phase `base` and goes on with the others in turn. */
size_t temporal_from_base(size_t base, size_t i);

/* Column 0 (row 0, for axis y) of the image in pixels of the sensor, and their number per pixel. */
int temporal_first_px(const struct temporal *, const struct frame_head *, double *first_px,
    double *bin);

/*
 * The output of unwrapping: channels absphase, residual, with `all` one absphase of every phase,
 * then the words of `more`, and all that are neither phase nor index nor sigma nor one of those;
 * period_px and axis of the unwrapped phase.
 * *source_channel: input channel of every output channel behind those; a new list. -1 after fail().
 */
int temporal_output(const struct temporal *, bool all, const char *more,
    const struct frame_head *in, struct frame_head *out, size_t **source_channel);

#endif
