/* gauss on the device. */
#ifndef GAUSS_PASSES_H
#define GAUSS_PASSES_H

struct passes;
struct run;

/* struct body's `passes`. */
int gauss_passes(struct run *, struct passes *);

#endif
