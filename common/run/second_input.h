/* Frames that an option of type OPT_FRAME names: they are read in step with the stage's input. */
#ifndef SECOND_INPUT_H
#define SECOND_INPUT_H

#include "run/segment.h"

/* Lists the second inputs that the options of a link name. -1 after fail(). */
int second_inputs_find(struct link *);
/* Reads the next frame of each, once per input. -1 after fail(). */
int second_inputs_read(struct link *);
/* The number of their channels. */
size_t second_inputs_channels(const struct link *);
/* "OPTION.CHANNEL": what channel k of a second input is called behind the input's own. */
void second_input_name(const struct second_input *, size_t k, char name[CHANNEL_NAME_SIZE]);
/* The head with the channels of the second inputs behind its own. -1 after fail(). */
int second_inputs_widen_head(const struct link *, const struct frame_head *,
    struct frame_head *wide);
/* Fills the planes from c on with those of the second inputs, which keep them. */
void second_inputs_lend(const struct link *, struct frame *to, size_t c);
/* Adds their planes to the frame itself, which a flow will own. -1 after fail(). */
int second_inputs_add(const struct link *, struct frame **);

#endif
