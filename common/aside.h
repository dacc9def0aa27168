/* Passes that a flow owns: run_passes() of passes.h. For the runner's parts only. */
#ifndef ASIDE_H
#define ASIDE_H

#include "chain.h"

/* Tells times under -v, and frees. */
void aside_end(struct chain *, struct link *);

#endif
