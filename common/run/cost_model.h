/*
 * What computing costs here: a stage's work and the copies around it take
 *
 *	t = sum over copies (o + k G) + L + samples / P
 *
 * on the device, and samples / P on the processor [Liu 2015, IV.C; methods.md 15]: o the overhead
 * of a copy, k its bytes, G the time of a byte, L the latency of a job, P the samples in a second.
 * A sample is a pixel of a channel that comes in or goes out. That is a frame by itself. In a
 * stream the processor, copies up, the device and copies down work on frames of their own at the
 * same time, so that a frame comes every
 *
 *	t = max(processor, copies up, device, copies down) + sum of L
 *
 * unless frames wait for each other's state. `fringepipe --calibrate` measures all that once, a
 * file in the user's cache keeps it, -d auto decides by it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct chain;
struct link;
struct segment;

#define COST_MAPS_MOST 64
#define COST_MAPS_TRIED 12	/* of more consecutive ones the least sum is taken */

struct cost_span {		/* seconds, or seconds per byte */
	double best, likely, worst;
};

struct cost_stage {		/* P of each side, as seconds per sample; NaN where not measured */
	char name[32];
	double processor_s, device_s;
};

struct costs {
	char device[256];		/* the one that was measured */
	int threads;			/* of the processor, when that was measured */
	double open_s;			/* from asking for the device till it can be used */
	double latency_s, copy_s;	/* L and o */
	struct cost_span up, down;	/* G to the device and back, per byte */
	struct cost_stage *stage;
	size_t stages;
};

/* What is known of a stage; NULL if nothing. */
struct cost_stage *costs_stage(const struct costs *, const char *name);
/* Adds a stage, or a side of one that was measured (not NaN). */
void costs_add(struct costs *, const char *name, double processor_s, double device_s);
void costs_free(struct costs *);

/* The cache's: 1, or 0 where there are none or they cannot be read. costs is overwritten. */
int costs_load(struct costs *);
/* The same from a file's content, ended by a 0, which is changed; and that content. */
int costs_parse(char *text, size_t bytes, struct costs *);
void costs_write(FILE *, const struct costs *);
/* Writes them there. -1 after fail(). */
int costs_save(const struct costs *);

/* One of consecutive maps, each of which hands its output to the next. */
struct cost_map {
	double processor_s, device_s;	/* a frame; NaN where it is not known or not possible */
	size_t up_copies, up_bytes;	/* where the map before runs on the processor */
	size_t down_copies, down_bytes;	/* where the map behind does */
	bool on_device;
};

/* Sets on_device so that the whole takes the least time; where none is known, the processor's.
 * overlap: frames follow each other and none needs another's state. */
void costs_decide(const struct costs *, struct cost_map *, size_t n, bool overlap);
/* How long these maps take together, best to worst by the spread of G. NaN where not known. */
struct cost_span costs_predict(const struct costs *, const struct cost_map *, size_t n,
    bool overlap);

/* " NAME 0.123 ms (0.120 expected)": a frame of a map that ran on that side. */
void times_print(const char *before, const struct link *, bool on_device);
/* Under -v: the processor's times, frames and frames per second. */
void times_report(const struct chain *);

/* Would a flow whose passes are its own (run_passes()) take less time with the device? */
bool placement_flow_gains(const struct link *);
/* Does the device gain anything with any stage that may use it? */
bool placement_gains(const struct chain *);
/*
 * Opening a device takes longer than many a run. Where -d auto may gain by it, the chain begins on
 * the processor and this opens the device as soon as that has worked for as long as opening takes:
 * so at most twice of what the better choice had been is lost.
 */
void placement_open_device(struct chain *);
/* on_device[k] for each of the segment's planned maps, whatever side they are on. Under -v prints
 * what is expected. */
void placement_choose(const struct segment *, bool on_device[]);

/*
 * fringepipe --calibrate (calibrate.c): measures the processor with so many threads, and a device:
 * which as -d, auto or NULL for the fastest that is no processor itself. Prints what it finds and
 * keeps it in the user's cache folder. -1 after fail().
 */
int calibrate(const char *which, int threads);
