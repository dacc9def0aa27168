/* Which channels of a frame kalman filters, and whose standard deviation they carry. */
#ifndef CHANNELS_H
#define CHANNELS_H

#include "frame/frame.h"

struct run;

struct channels {
	size_t values;			/* 1, or 3: x y z, which one gain moves along their ray */
	size_t value[3], value_out[3];	/* of the input and of the output */
	size_t sigma_in, sigma_out;	/* NO_CHANNEL: none */
	bool angle;			/* a wrapped phase */
	char name[CHANNEL_NAME_SIZE];	/* in messages */
	size_t *source;			/* of the output's channels, those of the input; malloced */
};

/*
 * name: of --channel, or NULL: depth, else x y z, absphase, phase, the only one. Gives `out`, a
 * copy of `in`, the channel of the result's standard deviation, and passes on what is not filtered,
 * but what is said of one frame's orders alone.
 * use_sigma: the input's own may be read. -1 after fail().
 */
int channels_plan(struct run *, const char *name, bool use_sigma, const struct frame_head *in,
    struct frame_head *out, struct channels *);
/* Is this one of the output's channels that are made? */
bool channels_makes(const struct channels *, size_t c);

#endif
