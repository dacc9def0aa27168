/*
 * Second inputs: frames that options of type OPT_FRAME, OPT_STREAM, OPT_PICTURE and OPT_STREAMS
 * name. They are read ahead on all threads, in step with the stage's input, and their planes stand
 * behind its own, named "OPTION.CHANNEL" (for OPT_STREAMS "OPTION1.CHANNEL", "OPTION2.CHANNEL",
 * ...).
 */
#pragma once

#include "run/segment.h"

/*
 * --valid: a mask of the frames that the first stage reads, a frame for all or one for each of its
 * inputs. Where these are float, pixels become NaN before the stage sees them; of integers, the
 * pixels of its result.
 */

/* Names the mask of a link. -1 after fail_usage(): the stage reads no frames. */
int frame_mask_find(struct link *, const char *path);
/* Masks an input of the link whose mask was read, or notes that its result is to be masked. Frees
 * and replaces the frame. -1 after fail(). */
int frame_mask_input(struct link *, struct frame **);
/* The input at hand will become this result, whenever it is complete. -1 after fail(). */
int frame_mask_expect(struct link *, const struct frame *result);
/* Masks a result of the first stage if it is to be masked. -1 after fail(). */
int frame_mask_result(struct chain *, struct frame *);
/* Does a mask leave a pixel in? */
bool frame_mask_keeps(const struct frame *mask, size_t x, size_t y);

/* Lists the second inputs that the options of a link name. */
void second_inputs_find(struct link *);
/* How many of a link are read: its second inputs, and the mask. */
size_t second_inputs_read_count(const struct link *);
/* Reads the next frame of each, once per input. -1 after fail(). */
int second_inputs_read(struct link *);
/* The input at hand is done: they go on with the next one. */
void second_inputs_advance(struct link *);
/* The input at hand is lost: so are the frames that belong to it. -1 after fail(). */
int second_inputs_skip(struct link *);
/* The stage's input has ended: so must they. -1 after fail() naming the one that goes on. */
int second_inputs_end(struct link *);
/* The whole input comes once more (FRINGEPIPE_REPEAT): so do they. -1 after fail(). */
int second_inputs_restart(struct link *);
/* Does each input have its own frame of one of them? Not known before the second input. */
bool second_inputs_in_step(const struct link *);
void second_inputs_close(struct link *);
/* The number of their channels. */
size_t second_inputs_channels(const struct link *);
/* Are their frames of now what the link was planned for? */
bool second_inputs_planned(const struct link *);
/* The head with the channels of the second inputs behind its own, which the link is to be planned
 * for. -1 after fail(). */
int second_inputs_widen_head(struct link *, const struct frame_head *, struct frame_head *wide);
/* Has each second input of type OPT_FRAME the input's size? -1 after fail(). */
int second_inputs_check_size(const struct link *, const struct frame_head *);
/* Fills planes with those of the second inputs, which keep them. */
void second_inputs_lend(const struct link *, struct plane *to);
/* Adds their planes to the frame itself, which a flow will own. -1 after fail(). */
int second_inputs_add(const struct link *, struct frame **);
