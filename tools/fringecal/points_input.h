/* The points of all devices, from what the command line names: tables of corners, phases,
 * captures. */
#ifndef POINTS_INPUT_H
#define POINTS_INPUT_H

#include "options.h"
#include "pose_captures.h"
#include "run/run.h"

struct points_input {
	struct phase_views views;
	struct pose_captures captures;	/* of --poses */
	char *cameras;			/* the names that its folders give them */
};

/* For init: do the options that name input go together? With --poses sets the names of the cameras
 * where the options do not. -1 after fail(). */
int points_input_check(struct points_input *, const struct run *, struct parameters *);
/* Adds all views to the problem, which has its devices. -1 after fail(). */
int points_input_read(struct points_input *, const struct run *, const struct parameters *,
    struct calib_problem *);
void points_input_free(struct points_input *);

#endif
