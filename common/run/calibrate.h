/* fringepipe --calibrate: measures what computing costs on this machine (cost.h). */
#ifndef CALIBRATE_H
#define CALIBRATE_H

#include <stddef.h>

#include "run/chain.h"

/*
 * Measures the processor with so many threads, and a device: which as -d, auto or NULL for the
 * fastest that is no processor itself. Prints what it finds and keeps it in the user's cache
 * folder. -1 after fail().
 */
int calibrate(const char *which, int threads);

/* How a chain is run to be measured. */
struct measure {
	const char *device;		/* as -d; NULL: the processor */
	const char *output;		/* as -o */
	int threads;
	size_t repeat;			/* as FRINGEPIPE_REPEAT */
};

/* Runs a chain of words (stage.c) and tells what its first stage took. -1 after fail(). */
int chain_measure(int words, char **word, const struct measure *, struct timing *);

#endif
