/* -d auto: which maps the device does, by what they cost on either side (cost_model.h). */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include "run/segment.h"

/* on_device[k] for each of the segment's planned maps, whatever side they are on. Under -v says
 * what is expected. */
void placement_choose(const struct segment *, bool on_device[]);

/*
 * Opening a device takes longer than many a run. Where -d auto may gain by it, the chain begins on
 * the processor and this opens the device as soon as that has worked for as long as opening takes:
 * so at most twice of what the better choice had been is lost.
 */
void placement_open_device(struct chain *);
/* Does the device gain anything with any stage that may use it? */
bool placement_gains(const struct chain *);

#endif
