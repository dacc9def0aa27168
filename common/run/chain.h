/*
 * The runner: frames are pushed through a chain of stages (stage.h). Consecutive maps are taken
 * through together, band by band; flows get whole frames.
 */
#ifndef CHAIN_H
#define CHAIN_H

#include "run/segment.h"

/* Runs what has been set up: 0 or -1 after fail(). */
int chain_run(struct chain *);
/* -o null: frames are counted and dropped, so that a chain can be timed without its output. */
bool chain_drops(const struct chain *);

#endif
