/* The passes that a map lists (passes.h), as the runner sees them, and the open device. */
#ifndef PASS_LIST_H
#define PASS_LIST_H

#include "run/passes.h"
#include "run/segment.h"

struct device {
	struct gpu *gpu;
	bool verbose;
};

struct constant {
	struct gpu_block *host, *device;
	bool there;			/* on the device */
};

struct passes {
	struct gpu *gpu;
	const struct frame_head *in, *out;
	struct pass *pass;
	size_t n;
	bool *reads;			/* by channel of the input */
	size_t scratches;
	struct constant *constant;
	size_t constants;
	const char *refused;
	bool exact;			/* declared to give the processor's bytes */
	bool doubles;			/* some shader has them: Vulkan does not say how exact */
};

/* Lists a planned link's passes; *able: whether there are any. -1 after fail(). */
int passes_plan(struct device *, struct link *, bool *able);
/* Forgets them. */
void passes_unplan(struct link *);
/* Says, once and under -v, why the processor does this. */
void passes_refused(const struct device *, struct link *, const char *why);

#endif
