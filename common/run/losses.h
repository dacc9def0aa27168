/* Lost frames, chosen frames, times of stages. */
#ifndef LOSSES_H
#define LOSSES_H

#include "io/background_io.h"
#include "run/segment.h"

/* ---- what stages took and are expected to take, for -v and for -d auto ---- */

/* How much longer the processor takes than measured, with fewer threads than were measured. */
double times_fewer_threads(const struct chain *);
/* Expected seconds for a frame; NaN where it is not known. */
double times_expected(const struct link *, bool on_device);
/* " NAME 0.123 ms (0.120 expected)": a frame of a map that ran on that side. */
void times_print(const char *before, const struct link *, bool on_device);
/* Under -v: the processor's times, frames and frames per second. */
void times_report(const struct chain *);

/* ---- which frames are made at once (frame_jobs.h), and how many ---- */

/* Bytes that the frames of so many threads may take. */
size_t frame_choice_bytes(size_t threads);
/* Frames at once, where that allows as many. */
size_t frame_choice_room(size_t threads);
/* Frames like the segment's at once. */
size_t frame_choice_most(const struct segment *);
/* Shall the frame of a planned segment be made beside others? Its maps allow that, none has state
 * or a survey, it is small, and others wait. */
bool frame_choice_wanted(const struct segment *);

/*
 * --keep-going: what cannot be read or computed costs one measurement, which goes through the chain
 * in the place of its result, so that second inputs, flows and numbers stay in step. Without the
 * option every function here returns -1 behind a failure.
 */

/* The next frame comes from this file; the name is kept. */
void losses_enter_file(struct chain *, const char *path);
/* Frames of the operands cannot be read, as fail() has recorded. -1: the run ends. */
int losses_of_file(struct chain *, const struct read_ahead_loss *);
/* The recorded failure costs an input of this stage, or a frame before its gathering. -1: the run
 * ends. */
int losses_survive(struct chain *, size_t at);
int losses_survive_image(struct chain *, size_t at);
/* The recorded failure costs the input that this stage has read by itself. -1: the run ends. */
int losses_of_input(struct chain *, size_t at);
/* The recorded failure at this stage ends the run: what came before completes, and fails in its
 * place where it does. Once in a run; the failure stays, or the earlier one is recorded. */
void losses_deliver(struct chain *, size_t at);
/* Feeds a stage that gathers with the inputs that are complete. */
int losses_feed_gathered(struct chain *, size_t at);
/* The measurement that this stage gathers gets no more images, as fail() has recorded. -1: the run
 * ends. */
int losses_drop_measurement(struct chain *, size_t at);
/* The measurement that this stage gathers, or the first stage that gathers one, gets no more images
 * because `what` has ended. -1 after fail(): the run ends. */
int losses_break_measurement(struct chain *, size_t at, const char *object, const char *what);
int losses_end_measurement(struct chain *, const char *what);
/* At the end: under -v the numbers; -1 after fail() with the count if there are any. */
int losses_conclude(const struct chain *);
/* What its inputs are called: measurement, or frame. */
const char *losses_word(const struct chain *);
void losses_free(struct chain *);

#endif
