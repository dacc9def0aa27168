/* Passes that a flow owns: run_passes() of passes.h. For the runner's parts only. */
#ifndef FLOW_GPU_H
#define FLOW_GPU_H

#include "run/chain.h"

/* Tells times under -v, and frees. */
void flow_gpu_end(struct chain *, struct link *);

#endif
