/* The fit: turns of all pixels, what is kept of them, and their levels. */
#ifndef UNDITHER3_FIT_H
#define UNDITHER3_FIT_H

#include "undither3.h"

/* Fills the first three channels of out. -1 after fail(). */
int fit_on_processor(struct run *run, const struct frame *in, struct frame *out);
/* The same on a device, where one is demanded: *done. -1 after fail(). */
int fit_on_device(struct run *, const struct frame *in, struct frame *out, bool *done);
/* What it does there, for the body's passes. */
int fit_passes(struct run *, struct passes *);

#endif
