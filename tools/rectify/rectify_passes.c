/* rectify on the device. */
#include "rectify.h"

#include "run/passes.h"
#include "run/stage.h"

int
rectify_frame_on_device(struct run *run, const struct rectify *rectify, struct frame *in,
    struct frame **out)
{
	(void)run, (void)rectify, (void)in;
	*out = NULL;
	return 0;
}

int
rectify_passes(struct run *run, struct passes *passes)
{
	(void)run;
	return passes_refuse(passes, "x");
}
