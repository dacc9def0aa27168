/* Frames that are lost under --keep-going. */
#pragma once

#include "io/background_io.h"
#include "run/segment.h"

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
/* So many measurements of this stage lack images, as fail() has recorded: of a stream they are left
 * out, and counted at the end. -1: the run ends. */
int losses_leave_out(struct chain *, size_t at, size_t measurements);
/* The measurement that this stage gathers, or the first stage that gathers one, gets no more images
 * because `what` has ended. -1 after fail(): the run ends. */
int losses_break_measurement(struct chain *, size_t at, const char *object, const char *what);
int losses_end_measurement(struct chain *, const char *what);
/* At the end: under -v the numbers; -1 after fail() with the count if there are any. */
int losses_conclude(const struct chain *);
/* What its inputs are called: measurement, or frame. */
const char *losses_word(const struct chain *);
